// How operators of Caffe2 become IR. The meaning is that of Caffe2's kernels and its operator
// catalog, at inference. Rows only read.
#ifndef X2IR_HANDLERS_CAFFE2_CAFFE2_H_
#define X2IR_HANDLERS_CAFFE2_CAFFE2_H_

#include <cstdint>
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
#include "x2ir/core/dialect_spec.h"
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

// Rows (core/dialect_spec.h).
struct Caffe2Dialect : DialectDefaults {
  static constexpr std::string_view kName = "caffe2";
  using Args = Caffe2Args;
  static constexpr bool kFewerValues = true;
  static absl::Status Finish(Caffe2Args& args);
};

#define X2IR_CAFFE2(ir_op) X2IR_ROWS(::x2ir::Caffe2Dialect, ir_op)

inline auto PlainOp(const char* op) {
  return [op](Caffe2Args& a) { return a.Op(op, {a.in(0)}); };
}

}  // namespace x2ir

#endif  // X2IR_HANDLERS_CAFFE2_CAFFE2_H_
