// How operators of Caffe2 become IR. The meaning is that of Caffe2's kernels and its operator
// catalog, at inference. Rows only read.
#ifndef X2IR_HANDLERS_CAFFE2_CAFFE2_H_
#define X2IR_HANDLERS_CAFFE2_CAFFE2_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace X2IR_API x2ir {

class Caffe2Args : public NodeReader {
 public:
  using NodeReader::NodeReader;

  // A number of either kind.
  double Number(std::string_view name, double fallback);
  std::vector<int64_t> Ints(std::string_view name, std::vector<int64_t> fallback = {}) {
    return IntList(Symbol(name), std::move(fallback));
  }
  bool ChannelsLast();  // by the argument "order"
  void Drop(std::initializer_list<std::string_view> names);
};

using Caffe2Fn = std::function<absl::StatusOr<Values>(Caffe2Args&)>;
absl::StatusOr<Values> FromCaffe2(const Caffe2Fn& fn, Rewrite& r);

// Rows of an IR op: it is what the operator mostly is, for the tables.
class Caffe2Spec {
 public:
  explicit Caffe2Spec(Symbol ir_op, SourcePlace place = SourcePlace::Here())
      : spec_("caffe2", ir_op, place) {}
  // `fn` takes Caffe2Args& and gives Values, an Expr, a Value*, or a StatusOr of the first or last.
  template <typename Fn>
  Caffe2Spec& From(std::initializer_list<std::string_view> ops, Fn fn) {
    for (const std::string_view op : ops) {
      Reads(op, [fn](Caffe2Args& a) { return ValuesOf(fn, a); });
    }
    return *this;
  }
  template <typename Fn>
  Caffe2Spec& From(std::string_view op, Fn fn) {
    return From({op}, fn);
  }

 private:
  void Reads(std::string_view op, Caffe2Fn fn);
  Spec spec_;
};

#define X2IR_CAFFE2(ir_op)                                                                  \
  [[maybe_unused]] static ::x2ir::Caffe2Spec X2IR_CONCAT_(x2ir_caffe2_spec_, __COUNTER__) = \
      ::x2ir::Caffe2Spec(#ir_op)

inline auto PlainOp(const char* op) {
  return [op](Caffe2Args& a) { return a.Op(op, {a.in(0)}); };
}

}  // namespace x2ir

#endif  // X2IR_HANDLERS_CAFFE2_CAFFE2_H_
