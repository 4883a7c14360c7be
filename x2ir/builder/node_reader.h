// What readers of all dialects share: a node of the dialect as an import form sees it, with
// operands by position and attributes by name. Every attribute must be read, or ignored by
// name: one that is not read is an error, so nothing is dropped silently. The first error ends
// the form there (the builder stops at it, and ReadNode catches): a form may rely on what it asked
// for.
//
// A dialect's own reader is a class on top of this one, which decodes what is peculiar to its
// nodes. Files often leave out an attribute that has its default, so each is taken with it.
#ifndef X2IR_BUILDER_NODE_READER_H_
#define X2IR_BUILDER_NODE_READER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/builder/expr.h"
#include "x2ir/builder/node_view.h"

namespace X2IR_API x2ir {

class NodeReader : public NodeView {
 public:
  using NodeView::NodeView;

  std::string_view op() const { return node().op().view(); }
  // How many spatial axes the name of the op says: 1 of "Conv1D", 3 of "max_pool_3d"; 2 where it
  // has no such number.
  size_t SpatialAxes() const;

  // --- Operands -------------------------------------------------------------------------------
  Expr in(size_t i);  // Invalid when it is missing
  std::vector<Value*> inputs(size_t from = 0) const;
  int64_t rank(size_t i) const { return r_.rank(i); }  // -1: not known
  // The rank; Unimplemented where it is not known.
  absl::StatusOr<int64_t> Rank(size_t i);
  // The same; an unknown one ends the form.
  int64_t RankOf(size_t i = 0);
  // An axis of a tensor of that rank (of operand 0), counted from the front; Invalid where there is
  // none.
  int64_t AxisOf(int64_t axis, int64_t rank);
  int64_t AxisOf(int64_t axis) { return AxisOf(axis, RankOf()); }
  // Integers that are known in every run, through shape arithmetic too.
  std::optional<std::vector<int64_t>> Ints(size_t i) const;
  // The same, or Unimplemented: "operand 1 (axis) must be known".
  absl::StatusOr<std::vector<int64_t>> KnownInts(size_t i, std::string_view what);
  absl::StatusOr<int64_t> KnownInt(size_t i, std::string_view what);

  // --- Attributes, each with its default ------------------------------------------------------
  bool HasAttr(Symbol name) const { return attrs().Has(name); }
  int64_t Int(Symbol name, int64_t fallback);
  bool Bool(Symbol name, bool fallback) { return Int(name, fallback) != 0; }
  float Float(Symbol name, float fallback);
  std::string String(Symbol name, std::string_view fallback);
  DType Type(Symbol name, DType fallback);  // Unimplemented for an element type of others
  std::vector<int64_t> IntList(Symbol name, std::vector<int64_t> fallback);
  std::vector<float> FloatList(Symbol name, std::vector<float> fallback);
  std::vector<std::string> StringList(Symbol name);
  std::vector<DType> TypeList(Symbol name);
  // A shape; nullopt when the rank is not known, or it is left out.
  std::optional<Shape> ShapeAttr(Symbol name);
  // A nested graph; Invalid when there is none.
  std::shared_ptr<Graph> SubGraph(Symbol name);
  std::vector<std::shared_ptr<Graph>> SubGraphs(Symbol name);
  // Of no meaning for results.
  void Ignore(Symbol name) { taken_.insert(name); }
  void IgnoreAll(bool (*which)(std::string_view name));

  // Notes the error and ends the form. (What it returns is for `return reader.Fail(...)`.)
  Values Fail(absl::Status status);
  // What must be so for this form, else Unimplemented.
  void Require(bool holds, std::string_view what);

  // --- Pieces of graph; more in the files beside this one -------------------------------------
  Expr Op(Symbol op, Builder::Operands operands, AttributeMap attrs = {});
  Expr Cast(Value* v, DType to) { return Expr(b(), v).To(to); }
  // Integers as int64, as IR's ops want sizes and axes.
  Expr AsInt64(Value* v) { return Cast(v, DType::kInt64); }

  // Unimplemented names the first attribute that the form does not read.
  absl::Status CheckAllTaken() const;

 protected:
  // The attribute of that C++ type; null when it is left out, Invalid for another type.
  template <typename T>
  const T* Take(Symbol name, std::string_view kind);
  // The same; an empty list has no type, so it fits every type.
  template <typename T>
  const T* TakeList(Symbol name, std::string_view kind);
  bool IsTaken(Symbol name) const { return taken_.contains(name); }

 private:
  absl::flat_hash_set<Symbol> taken_;
};

// Runs a form on a node that it reads: until its first error, with all outputs that are used.
absl::StatusOr<Values> ReadNode(Rewrite& r, const std::function<absl::StatusOr<Values>()>& form);

}  // namespace x2ir

#endif  // X2IR_BUILDER_NODE_READER_H_
