// What Python holds of a graph. A handle represents one node, value or graph, and keeps what owns
// it alive; there is one handle for each, so that `is` and `==` mean the same thing. When the thing
// goes (a node is erased, a handler's call ends), its handle stays and says so. All of it is used
// with the GIL held.
#ifndef X2IR_PYTHON_SCOPE_H_
#define X2IR_PYTHON_SCOPE_H_

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>

#include "x2ir/core/report.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/model.h"

namespace x2ir::python {

namespace py = pybind11;

class Scope;

template <typename T>
struct Handle {
  Handle(std::shared_ptr<Scope> owner, T* thing) : scope(std::move(owner)), it(thing) {}
  ~Handle();
  Handle(const Handle&) = delete;
  // ReferenceError when it is gone.
  T& get() const {
    if (it) return *it;
    PyErr_SetString(PyExc_ReferenceError, "this node, value or graph is gone");
    throw py::error_already_set();
  }
  // The same, to be changed: RuntimeError while another thread works on the model.
  T& edit() const;

  const std::shared_ptr<Scope> scope;
  T* it;  // null: gone
};
using NodeHandle = Handle<Node>;
using ValueHandle = Handle<Value>;
using GraphHandle = Handle<Graph>;

// What handles live in: a model, or one call of a handler.
class Scope : public std::enable_shared_from_this<Scope> {
 public:
  virtual ~Scope() = default;

  // The handle, made when it is first asked for; null for null.
  template <typename T>
  std::shared_ptr<Handle<T>> Of(T* thing) {
    if (!thing) return nullptr;
    std::weak_ptr<Handle<T>>& known = of<T>()[thing];
    std::shared_ptr<Handle<T>> handle = known.lock();
    if (!handle) {
      handle = std::make_shared<Handle<T>>(shared_from_this(), thing);
      known = handle;
    }
    return handle;
  }
  template <typename T>
  void Forget(T* thing) {
    const auto at = of<T>().find(thing);
    if (at == of<T>().end()) return;
    if (const auto handle = at->second.lock()) handle->it = nullptr;
    of<T>().erase(thing);
  }
  void ForgetNode(Node* node);  // with its outputs, and all that is nested in it
  void ForgetAll();

  // How many threads work on the graph without the GIL.
  int readers = 0;
  bool read_only = false;
  bool edited = false;  // since the last validation
  virtual void CheckEditable() const;

 private:
  template <typename T>
  friend struct Handle;
  template <typename T>
  using Map = std::unordered_map<T*, std::weak_ptr<Handle<T>>>;
  template <typename T>
  Map<T>& of() {
    return std::get<Map<T>>(maps_);
  }
  void ForgetGraph(Graph* graph);

  std::tuple<Map<Node>, Map<Value>, Map<Graph>> maps_;
};

struct ModelScope : Scope {
  explicit ModelScope(Model m) : model(std::move(m)) {}
  Model model;
  std::shared_ptr<Report> report = std::make_shared<Report>();
  bool is_ir = true;
  std::string format;  // of the file; empty: there was none
  bool made = false;   // built node by node: the properties of its file are not set yet
};

// A model that was made gets the opset imports that its nodes need and it has not: the version that
// came with the opset of the dialect, or 1.
void ImportWhatNodesNeed(ModelScope& scope);
// A copy, which shares the weights.
std::shared_ptr<ModelScope> CopyOf(const ModelScope& scope);

// While it lives, the graph is not changed.
class Reading {
 public:
  explicit Reading(Scope& scope) : scope_(scope) { ++scope_.readers; }
  ~Reading() { --scope_.readers; }
  Reading(const Reading&) = delete;

 private:
  Scope& scope_;
};

template <typename T>
Handle<T>::~Handle() {
  if (!it) return;
  auto& map = scope->of<T>();
  const auto at = map.find(it);
  if (at != map.end() && at->second.expired()) map.erase(at);
}

template <typename T>
T& Handle<T>::edit() const {
  T& thing = get();
  scope->CheckEditable();
  scope->edited = true;
  return thing;
}

}  // namespace x2ir::python

#endif  // X2IR_PYTHON_SCOPE_H_
