// How layers of Caffe become IR. The meaning is that of BVLC's kernels (src/caffe/layers) at
// inference, and for layers of other branches that of the branch that brought them (SSD's,
// PSPNet's, py-faster-rcnn's). Rows only read: only Caffe itself writes such files.
//
//   Expr Elu(CaffeArgs& a) { return a.Op("elu", {a.in(0)}, {{"alpha", a.Float("alpha", 1)}}); }
//   X2IR_CAFFE(elu).From("ELU", "elu_param", Elu);
//
// A layer reads one message of its parameters, and a function asks for its fields; those of
// other messages mean nothing to the layer, as in Caffe.
#ifndef X2IR_HANDLERS_CAFFE_CAFFE_H_
#define X2IR_HANDLERS_CAFFE_CAFFE_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace X2IR_API x2ir {

class CaffeArgs : public NodeReader {
 public:
  CaffeArgs(Rewrite& r, std::string_view param);

  // --- Operands: bottoms, then weights -----------------------------------------------------------
  size_t num_bottoms() const { return num_bottoms_; }
  size_t num_blobs() const { return num_inputs() - num_bottoms_; }
  // A weight with so many axes: sizes of 1 at the front come and go, as old files have four always.
  Expr blob(size_t i, int64_t rank);
  Expr blob(size_t i);  // as it is

  // --- Fields of the layer's parameters, each with its default -----------------------------------
  bool Has(std::string_view field) const { return HasAttr(Named(field)); }
  int64_t Int(std::string_view field, int64_t fallback) {
    return NodeReader::Int(Named(field), fallback);
  }
  bool Bool(std::string_view field, bool fallback) { return Int(field, fallback) != 0; }
  float Float(std::string_view field, float fallback) {
    return NodeReader::Float(Named(field), fallback);
  }
  std::string Text(std::string_view field, std::string_view fallback) {
    return NodeReader::String(Named(field), fallback);
  }
  std::vector<int64_t> Ints(std::string_view field) {
    return NodeReader::IntList(Named(field), {});
  }
  std::vector<float> Floats(std::string_view field) {
    return NodeReader::FloatList(Named(field), {});
  }
  void Drop(std::initializer_list<std::string_view> fields) {
    for (const std::string_view field : fields) Ignore(Named(field));
  }

 private:
  friend absl::StatusOr<Values> FromCaffe(
      const std::function<absl::StatusOr<Values>(CaffeArgs&)>& fn, std::string_view param,
      Rewrite& r);
  Symbol Named(std::string_view field) const { return Symbol(StrCat(param_, ".", field)); }
  const std::string param_;
  size_t num_bottoms_ = 0;
};

using CaffeFn = std::function<absl::StatusOr<Values>(CaffeArgs&)>;
// Results past those that the layer has are dropped; one that is used and not made is an error.
absl::StatusOr<Values> FromCaffe(const CaffeFn& fn, std::string_view param, Rewrite& r);

// Rows of an IR op, which tables name as the layer's main IR op.
class CaffeSpec {
 public:
  explicit CaffeSpec(Symbol ir_op, SourcePlace place = SourcePlace::Here())
      : spec_("caffe", ir_op, place) {}
  // `fn` takes CaffeArgs& and gives Values, an Expr, a Value*, or a StatusOr of the first or last.
  template <typename Fn>
  CaffeSpec& From(std::string_view type, std::string_view param, Fn fn) {
    return Reads(type, param, [fn](CaffeArgs& a) { return ValuesOf(fn, a); });
  }

 private:
  CaffeSpec& Reads(std::string_view type, std::string_view param, CaffeFn fn);
  Spec spec_;
};

#define X2IR_CAFFE(ir_op)                                                                 \
  [[maybe_unused]] static ::x2ir::CaffeSpec X2IR_CONCAT_(x2ir_caffe_spec_, __COUNTER__) = \
      ::x2ir::CaffeSpec(#ir_op)

}  // namespace x2ir

#endif  // X2IR_HANDLERS_CAFFE_CAFFE_H_
