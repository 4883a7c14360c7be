// Graphs as Python sees and edits them.
#include "graphs.h"

#include <pybind11/stl.h>

#include "errors.h"
#include "tensors.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/schema_check.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/draw.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/op.h"

namespace x2ir::python {
namespace {

using NodePtr = std::shared_ptr<NodeHandle>;
using ValuePtr = std::shared_ptr<ValueHandle>;
using GraphPtr = std::shared_ptr<GraphHandle>;

Type ToType(const py::object& type) {
  if (type.is_none()) return Type();
  absl::StatusOr<Type> parsed = Type::Parse(Words(type));
  if (!parsed.ok()) throw py::value_error(std::string(parsed.status().message()));
  return *parsed;
}

py::object FromShape(const Shape* shape) {
  if (!shape) return py::none();
  py::tuple dims(static_cast<size_t>(shape->rank()));
  for (size_t i = 0; i < dims.size(); ++i) {
    const Dim& dim = shape->dims()[i];
    if (dim.is_static()) {
      dims[i] = dim.value();
    } else if (dim.is_symbolic()) {
      dims[i] = TextOf(dim.ToString());
    } else {
      dims[i] = py::none();
    }
  }
  return dims;
}

template <typename Range>
py::tuple Handles(Scope& scope, const Range& things) {
  py::tuple all(things.size());
  size_t i = 0;
  for (auto* thing : things) all[i++] = py::cast(scope.Of(thing));
  return all;
}

// --- Attributes -------------------------------------------------------------------------------

Attribute ToAttribute(const py::handle& value, const Attribute* like) {
  const auto kind = [&](AttrKind k) { return like && like->kind() == k; };
  if (py::isinstance<py::bool_>(value)) return Attribute(value.cast<bool>());
  if (py::isinstance<py::int_>(value)) {
    if (kind(AttrKind::kFloat)) return Attribute(value.cast<float>());
    if (kind(AttrKind::kDouble)) return Attribute(value.cast<double>());
    return Attribute(value.cast<int64_t>());
  }
  if (py::isinstance<py::float_>(value)) {
    if (kind(AttrKind::kDouble)) return Attribute(value.cast<double>());
    return Attribute(static_cast<float>(value.cast<double>()));
  }
  if (py::isinstance<py::str>(value)) {
    if (kind(AttrKind::kType)) return Attribute(ToType(py::reinterpret_borrow<py::object>(value)));
    return Attribute(Words(value));
  }
  if (py::isinstance<py::bytes>(value)) return Attribute(value.cast<std::string>());
  if (py::isinstance<PyTensor>(value)) return Attribute(value.cast<const PyTensor&>().tensor);
  if (py::isinstance<GraphHandle>(value)) {
    return Attribute(value.cast<const GraphHandle&>().get().Clone());
  }
  if (py::isinstance<py::sequence>(value)) {
    const auto items = py::reinterpret_borrow<py::sequence>(value);
    bool ints = true, numbers = true, texts = true, tensors = true;
    for (const auto& item : items) {
      const bool is_int = py::isinstance<py::int_>(item);
      ints = ints && is_int;
      numbers = numbers && (is_int || py::isinstance<py::float_>(item));
      texts = texts && (py::isinstance<py::str>(item) || py::isinstance<py::bytes>(item));
      tensors = tensors && py::isinstance<PyTensor>(item);
    }
    const bool empty = items.size() == 0;
    if (ints && !kind(AttrKind::kFloats) && !(empty && like && !kind(AttrKind::kInts))) {
      Attribute::Ints list;
      for (const auto& item : items) list.push_back(item.cast<int64_t>());
      return Attribute(std::move(list));
    }
    if (numbers && !(empty && !kind(AttrKind::kFloats))) {
      Attribute::Floats list;
      for (const auto& item : items) list.push_back(static_cast<float>(item.cast<double>()));
      return Attribute(std::move(list));
    }
    if (texts && !(empty && !kind(AttrKind::kStrings))) {
      Attribute::Strings list;
      for (const auto& item : items) {
        list.push_back(py::isinstance<py::bytes>(item) ? item.cast<std::string>() : Words(item));
      }
      return Attribute(std::move(list));
    }
    if (tensors) {
      std::vector<Tensor> list;
      for (const auto& item : items) list.push_back(item.cast<const PyTensor&>().tensor);
      return Attribute(std::move(list));
    }
  }
  throw py::type_error("no attribute can hold " + py::repr(value).cast<std::string>());
}

struct FromVariant {
  Scope& scope;
  py::object operator()(int64_t v) const { return py::int_(v); }
  py::object operator()(float v) const { return py::float_(static_cast<double>(v)); }
  py::object operator()(double v) const { return py::float_(v); }
  py::object operator()(const std::string& v) const { return TextOf(v); }
  py::object operator()(const Tensor& v) const { return py::cast(PyTensor{v}); }
  py::object operator()(const std::shared_ptr<Graph>& v) const {
    return py::cast(scope.Of(v.get()));
  }
  py::object operator()(const Type& v) const { return TextOf(v.ToString()); }
  py::object operator()(const AttrRef& v) const { return TextOf(v.name); }
  template <typename T>
  py::object operator()(const std::vector<T>& list) const {
    py::list items;
    for (const T& item : list) items.append((*this)(item));
    return items;
  }
};

// --- Nodes ------------------------------------------------------------------------------------

// Values are of the same graph as the node that takes them, or of one around it.
void CheckInScope(const Graph& graph, const Value* value) {
  if (!value) return;
  for (const Graph* g = &graph; g; g = const_cast<Graph*>(g)->parent()) {
    if (value->graph() == g) return;
  }
  throw py::value_error("value '" + value->name() + "' is not of this graph");
}

void SetInput(const NodePtr& self, size_t i, const py::object& value) {
  Node& node = self->edit();
  if (i >= node.num_inputs()) throw py::index_error("the node has no such input");
  const std::vector<Value*> values = ToValues(*self->scope, py::make_tuple(value));
  CheckInScope(*node.graph(), values[0]);
  node.SetInput(i, values[0]);
}

void Erase(const NodePtr& self) {
  Node& node = self->edit();
  for (const Value* output : node.outputs()) {
    if (!output || output->is_unused()) continue;
    throw py::value_error("value '" + output->name() + "' of the node is still used");
  }
  self->scope->ForgetNode(&node);
  Check(node.graph()->Erase(&node));
}

void SetAttribute(const NodePtr& self, const std::string& name, const py::object& value) {
  Node& node = self->edit();
  Attribute attribute = ToAttribute(value, node.attrs().Find(name));
  if (const Attribute* old = node.attrs().Find(name);
      old && (old->kind() == AttrKind::kGraph || old->kind() == AttrKind::kGraphs)) {
    throw py::type_error("a nested graph can be edited, but not replaced");
  }
  node.SetAttr(name, std::move(attribute));
}

std::string Brief(const Node& node) {
  TextOptions options;
  options.max_constant_elements = 4;
  return ToText(node, options);
}

// --- Values -----------------------------------------------------------------------------------

void ReplaceAllUses(const ValuePtr& self, const ValuePtr& with) {
  Value& from = self->edit();
  Value& to = with->edit();
  if (self->scope != with->scope) throw py::value_error("the two values are of different models");
  if (&from == &to) return;
  CheckInScope(*from.graph(), &to);
  // A model's outputs keep their names.
  from.graph()->ReplaceAllUsesKeepingOutputNames(&from, &to);
}

py::list UsesOf(const ValuePtr& self) {
  py::list uses;
  for (const Use& use : self->get().uses()) {
    uses.append(py::make_tuple(self->scope->Of(use.node), use.index));
  }
  return uses;
}

py::object ConstantOf(const ValuePtr& self) {
  const Tensor* tensor = self->get().constant();
  return tensor ? py::cast(PyTensor{*tensor}) : py::none();
}

// --- Graphs -----------------------------------------------------------------------------------

NodePtr Insert(const GraphPtr& self, const std::string& op, const py::iterable& inputs,
               const py::dict& attributes, const std::vector<py::str>& outputs,
               const NodePtr& before, const std::string& dialect, const std::string& name) {
  Graph& graph = self->edit();
  Node* const at = before ? &before->edit() : nullptr;
  if (at && at->graph() != &graph) throw py::value_error("`before` is of another graph");
  std::vector<Value*> operands = ToValues(*self->scope, inputs);
  for (const Value* operand : operands) CheckInScope(graph, operand);
  Builder b(graph, at);
  AttributeMap attrs = ToAttributes(attributes);
  const std::vector<bool> wanted(outputs.size(), true);
  const std::vector<Value*> made =
      dialect.empty() ? b.Ops(op, std::move(operands), std::move(attrs), wanted)
                      : b.Node(dialect, op, std::move(operands), std::move(attrs), wanted);
  if (!b.status().ok()) {
    const std::string problem(b.status().message());
    b.Rollback();
    throw py::value_error(problem);
  }
  Node* node = made.at(0)->producer();
  node->set_name(name);
  for (size_t i = 0; i < made.size(); ++i) {
    const std::string wish = Words(outputs[i]);
    graph.Rename(made[i], graph.UniqueName(wish.empty() ? op : wish));
  }
  return self->scope->Of(node);
}

ValuePtr AddInput(const GraphPtr& self, const std::string& name, const py::object& type) {
  Graph& graph = self->edit();
  if (graph.Find(name)) throw py::value_error("there is a value '" + name + "' already");
  return self->scope->Of(graph.AddInput(name, ToType(type)));
}

ValuePtr AddInitializer(const GraphPtr& self, const std::string& name, const PyTensor& tensor) {
  Graph& graph = self->edit();
  return self->scope->Of(graph.AddConstant(graph.UniqueName(name), tensor.tensor));
}

void RemoveValue(const GraphPtr& self, const ValuePtr& value) {
  Graph& graph = self->edit();
  Value& gone = value->edit();
  if (gone.graph() != &graph || gone.producer()) {
    throw py::value_error("it is neither an input nor an initializer of this graph");
  }
  if (!gone.is_unused()) throw py::value_error("value '" + gone.name() + "' is still used");
  value->scope->Forget(&gone);
  if (gone.is_input()) {
    graph.RemoveInput(&gone);
  } else {
    graph.RemoveConstant(&gone);
  }
}

py::dict Initializers(const GraphPtr& self) {
  py::dict all;
  for (Value* value : self->get().constants()) all[TextOf(value->name())] = self->scope->Of(value);
  return all;
}

void SetOutput(const GraphPtr& self, size_t i, const ValuePtr& value) {
  Graph& graph = self->edit();
  Value& to = value->edit();
  CheckInScope(graph, &to);
  if (i > graph.outputs().size()) throw py::index_error("the graph has no such output");
  if (i == graph.outputs().size()) {
    graph.AddOutput(&to);
  } else {
    graph.SetOutput(i, &to);
  }
}

void AddOutput(const GraphPtr& self, const ValuePtr& value) {
  SetOutput(self, self->get().outputs().size(), value);
}

// What nodes of the IR do that their ops do not allow, those of nested graphs too.
void CheckNodes(const Graph& graph, std::vector<std::string>& problems) {
  for (const Node* node : graph.nodes()) {
    for (const Graph* inner : node->subgraphs()) CheckNodes(*inner, problems);
    if (!node->is_ir()) continue;
    const OpDef* op = FindOp(node->op());
    const absl::Status status = op ? op->Check(*node) : NoSuchOp(node->op());
    if (!status.ok()) {
      problems.push_back(StrCat(Brief(*node), ": ", std::string(status.message())));
    }
  }
}

std::vector<std::string> Problems(const GraphPtr& self) {
  const Graph& graph = self->get();
  std::vector<std::string> problems = graph.Validate();
  CheckNodes(graph, problems);
  auto* const model = dynamic_cast<ModelScope*>(self->scope.get());
  if (!model || model->is_ir || model->model.graph.get() != &graph) return problems;
  const Dialect* dialect = FindDialect(model->model.source_dialect);
  if (!dialect || !dialect->schema) return problems;
  ImportWhatNodesNeed(*model);
  for (std::string& problem : SchemaProblems(model->model, *dialect)) {
    problems.push_back(std::move(problem));
  }
  return problems;
}

py::list NodesOf(const GraphPtr& self) {
  py::list nodes;
  for (Node* node : self->get().nodes()) nodes.append(self->scope->Of(node));
  return nodes;
}

void BindValue(py::module_& m) {
  py::class_<ValueHandle, ValuePtr>(
      m, "Value",
      "An input, a constant or a node's output; it knows its producer and its uses.\n\n"
      "type: \"float32[2,n]\". shape: numbers, names of sizes, None where not known; None for no "
      "rank.")
      .def_property(
          "name", [](const ValuePtr& v) { return TextOf(v->get().name()); },
          [](const ValuePtr& v, const py::str& name) {
            Value& value = v->edit();
            const std::string text = Words(name);
            const Value* other = value.graph()->Find(text);
            if (text.empty() || (other && other != &value)) {
              throw py::value_error("the name is taken, or empty");
            }
            value.graph()->Rename(&value, text);
          })
      .def_property(
          "type", [](const ValuePtr& v) { return TextOf(v->get().type().ToString()); },
          [](const ValuePtr& v, const py::object& type) { v->edit().set_type(ToType(type)); })
      .def_property_readonly("dtype",
                             [](const ValuePtr& v) -> py::object {
                               const DType dtype = v->get().dtype();
                               if (dtype == DType::kUndefined) return py::none();
                               return TextOf(Name(dtype));
                             })
      .def_property_readonly("shape", [](const ValuePtr& v) { return FromShape(v->get().shape()); })
      .def_property_readonly("producer",
                             [](const ValuePtr& v) { return v->scope->Of(v->get().producer()); })
      .def_property_readonly("graph",
                             [](const ValuePtr& v) { return v->scope->Of(v->get().graph()); })
      .def_property_readonly("is_input", [](const ValuePtr& v) { return v->get().is_input(); })
      .def_property_readonly("is_output",
                             [](const ValuePtr& v) { return v->get().is_graph_output(); })
      .def_property_readonly("constant", &ConstantOf)
      .def("uses", &UsesOf)
      .def("replace_all_uses", &ReplaceAllUses, py::arg("with_"))
      .def("__repr__", [](const ValuePtr& v) -> py::str {
        if (!v->it) return "<x2ir.Value, gone>";
        return TextOf(StrCat("<x2ir.Value ", v->it->name(), ": ", v->it->type().ToString(), ">"));
      });
}

void BindNode(py::module_& m) {
  py::class_<NodeHandle, NodePtr>(m, "Node",
                                  "An op of the IR (dialect \"\") or of a dialect. inputs, "
                                  "outputs: values, None where left out.")
      .def_property_readonly("op", [](const NodePtr& n) { return TextOf(n->get().op().view()); })
      .def_property_readonly("dialect",
                             [](const NodePtr& n) { return TextOf(n->get().dialect().view()); })
      .def_property(
          "name", [](const NodePtr& n) { return TextOf(n->get().name()); },
          [](const NodePtr& n, const py::str& name) { n->edit().set_name(Words(name)); })
      .def_property_readonly("inputs",
                             [](const NodePtr& n) { return Handles(*n->scope, n->get().inputs()); })
      .def_property_readonly(
          "outputs", [](const NodePtr& n) { return Handles(*n->scope, n->get().outputs()); })
      .def_property_readonly("graph",
                             [](const NodePtr& n) { return n->scope->Of(n->get().graph()); })
      .def_property_readonly("next", [](const NodePtr& n) { return n->scope->Of(n->get().next()); })
      .def_property_readonly("prev", [](const NodePtr& n) { return n->scope->Of(n->get().prev()); })
      .def_property_readonly(
          "subgraphs", [](const NodePtr& n) { return Handles(*n->scope, n->get().subgraphs()); })
      .def_property_readonly("is_erased", [](const NodePtr& n) { return n->it == nullptr; })
      .def("_attribute_names",
           [](const NodePtr& n) {
             py::list names;
             for (const auto& [name, attribute] : n->get().attrs())
               names.append(TextOf(name.view()));
             return names;
           })
      .def("_attribute",
           [](const NodePtr& n, const std::string& name) {
             const Attribute* attribute = n->get().attrs().Find(name);
             if (!attribute) throw py::key_error(name);
             return FromAttribute(*n->scope, *attribute);
           })
      .def("_set_attribute", &SetAttribute)
      .def("_erase_attribute",
           [](const NodePtr& n, const std::string& name) {
             Node& node = n->edit();
             const Attribute* attribute = node.attrs().Find(name);
             if (!attribute) throw py::key_error(name);
             if (attribute->kind() == AttrKind::kGraph || attribute->kind() == AttrKind::kGraphs) {
               throw py::type_error("a nested graph is removed only with its node");
             }
             node.EraseAttr(name);
           })
      .def("replace_input", &SetInput, py::arg("index"), py::arg("value"))
      .def("erase", &Erase)
      .def("__repr__", [](const NodePtr& n) -> py::str {
        if (!n->it) return "<x2ir.Node, gone>";
        return TextOf(StrCat("<x2ir.Node ", Brief(*n->it), ">"));
      });
}

}  // namespace

AttributeMap ToAttributes(const py::dict& attributes, const AttributeMap* like) {
  AttributeMap map;
  for (const auto& [name, value] : attributes) {
    if (value.is_none()) continue;
    const std::string key = Words(name);
    map.Set(key, ToAttribute(value, like ? like->Find(key) : nullptr));
  }
  return map;
}

py::object FromAttribute(Scope& scope, const Attribute& attribute) {
  return std::visit(FromVariant{scope}, attribute.variant());
}

std::vector<Value*> ToValues(Scope& scope, const py::iterable& values) {
  std::vector<Value*> all;
  for (const auto& value : values) {
    if (value.is_none()) {
      all.push_back(nullptr);
      continue;
    }
    const auto& handle = value.cast<const ValueHandle&>();
    if (handle.scope.get() != &scope) throw py::value_error("the value is of another model");
    all.push_back(&handle.get());
  }
  return all;
}

void BindGraph(py::module_& m) {
  BindValue(m);
  BindNode(m);
  py::class_<GraphHandle, GraphPtr>(
      m, "Graph",
      "Nodes in order, inputs, outputs and constants. str() is what `x2ir show` prints.")
      .def_property(
          "name", [](const GraphPtr& g) { return TextOf(g->get().name()); },
          [](const GraphPtr& g, const py::str& name) { g->edit().set_name(Words(name)); })
      .def_property_readonly(
          "inputs", [](const GraphPtr& g) { return Handles(*g->scope, g->get().inputs()); })
      .def_property_readonly(
          "outputs", [](const GraphPtr& g) { return Handles(*g->scope, g->get().outputs()); })
      .def_property_readonly("nodes", &NodesOf)
      .def_property_readonly("first",
                             [](const GraphPtr& g) { return g->scope->Of(g->get().first()); })
      .def_property_readonly("last",
                             [](const GraphPtr& g) { return g->scope->Of(g->get().last()); })
      .def_property_readonly("initializers", &Initializers)
      .def_property_readonly("parent_node",
                             [](const GraphPtr& g) { return g->scope->Of(g->get().parent_node()); })
      .def(
          "find",
          [](const GraphPtr& g, const py::str& name) {
            return g->scope->Of(g->get().Find(Words(name)));
          },
          py::arg("name"))
      .def("_insert", &Insert)
      .def("add_input", &AddInput, py::arg("name"), py::arg("type"))
      .def("_add_initializer", &AddInitializer)
      .def("_replace_initializer",
           [](const GraphPtr& g, const ValuePtr& value, const PyTensor& tensor) {
             Graph& graph = g->edit();
             Value& old = value->edit();
             if (old.graph() != &graph || old.is_input() || !old.constant()) {
               throw py::value_error("it is no initializer of this graph");
             }
             graph.ReplaceConstant(&old, tensor.tensor);
           })
      .def("remove", &RemoveValue, py::arg("value"))
      .def("set_output", &SetOutput, py::arg("index"), py::arg("value"))
      .def("add_output", &AddOutput, py::arg("value"))
      .def("sort", [](const GraphPtr& g) { Check(g->edit().Sort()); })
      .def("validate", &Problems)
      .def("to_svg", [](const GraphPtr& g) { return TextOf(ToSvg(g->get())); })
      .def("to_dot", [](const GraphPtr& g) { return TextOf(ToDot(g->get())); })
      .def("__len__", [](const GraphPtr& g) { return g->get().num_nodes(); })
      .def("__str__", [](const GraphPtr& g) { return TextOf(ToText(g->get())); })
      .def("__repr__", [](const GraphPtr& g) -> py::str {
        if (!g->it) return "<x2ir.Graph, gone>";
        return TextOf(StrCat("<x2ir.Graph ", g->it->name(), ": ", g->it->num_nodes(), " nodes>"));
      });
}

}  // namespace x2ir::python
