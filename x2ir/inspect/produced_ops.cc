#include "x2ir/inspect/produced_ops.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_split.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

struct Row {
  std::string_view op, made;  // "caffe.LRN", "lrn mul"
};
constexpr Row kRows[] = {
// by op
#include "x2ir/inspect/produced_ops.inc"
};

}  // namespace

std::vector<std::string> ProducedOps(const Form& form) {
  if (!form.code) return {form.ir_op.str()};
  const std::string op = StrCat(form.dialect.str(), ".", form.op.str());
  const auto* row =
      std::lower_bound(std::begin(kRows), std::end(kRows), op,
                       [](const Row& r, const std::string& name) { return r.op < name; });
  if (row == std::end(kRows) || row->op != op) return {};
  return absl::StrSplit(absl::string_view(row->made.data(), row->made.size()), ' ');
}

bool MakesItsIrOp(const Form& form) {
  if (form.exports) return true;
  const std::vector<std::string> made = ProducedOps(form);
  return std::find(made.begin(), made.end(), form.ir_op.str()) != made.end();
}

}  // namespace x2ir
