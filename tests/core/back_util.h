// A model of the IR written in a dialect and read again, which must compute the same.
#ifndef X2IR_TESTS_CORE_BACK_UTIL_H_
#define X2IR_TESTS_CORE_BACK_UTIL_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir {

// "" when the dialect says it and it comes back the same: of each list of inputs the outputs agree
// with those of `ir` up to rounding (`random`: in type and shape). Else why not, in one line.
// `wrong`: it came back, but not the same, or what was written is not what the dialect allows.
struct Back {
  std::string problem;
  bool wrong = false;
};
// `file`: what was written goes through it, and is read from there.
using ThroughFile = std::function<absl::StatusOr<Model>(const Model& written)>;
Back ThereAndBack(const Model& ir, const std::string& dialect,
                  const std::vector<std::vector<Tensor>>& inputs, bool random = false,
                  const ThroughFile& file = nullptr);

// Cases that do not come back, with the reason: lines of the form "case: reason" of a file of the
// repository. A case that it lacks, or has in excess, is a failure; X2IR_UPDATE_GOLDEN=1 writes it.
// `not_here`: how the names begin of cases that this machine does not have.
void CheckOneWay(const std::string& file, const std::string& about,
                 const std::map<std::string, std::string>& found, std::string_view not_here = "");

}  // namespace x2ir

#endif  // X2IR_TESTS_CORE_BACK_UTIL_H_
