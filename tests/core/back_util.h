// A model of the IR written in a dialect and read again, which must compute the same.
#ifndef X2IR_TESTS_CORE_BACK_UTIL_H_
#define X2IR_TESTS_CORE_BACK_UTIL_H_

#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/golden/golden_util.h"
#include "x2ir/formats/format.h"
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

// The same; what does not come back is tried again with its inputs of rank 0 and 1 (axes, sizes,
// scales; first only integers) as constants, as they are in models.
Back ThereAndBackOrSettled(const Model& ir, const std::string& dialect,
                           const std::vector<std::vector<Tensor>>& inputs, bool random,
                           const ThroughFile& file);

// What a conversion that fails says of ops, in one line: without the line before them and their
// places.
std::string RefusalOf(const absl::Status& status);

// Whether a run draws random numbers, in nested graphs too.
bool DrawsNumbers(const Graph& graph);

// Files that a writer makes, kept in memory: where they are written to, and from where they are
// read again. `folder` stands before the names that a reader asks for.
using MemoryFiles = std::shared_ptr<std::map<std::string, std::string>>;
Sink IntoMemory(const std::string& name, const MemoryFiles& files);
Source FromMemory(const std::string& folder, const std::string& name, const MemoryFiles& files);

// Which cases come back, and why the others do not.
class BackTally {
 public:
  // `variable`: of the environment; a REGEX of the names that are wanted, each told with its
  // reason.
  explicit BackTally(const char* variable = "X2IR_CASES");
  bool Wants(const std::string& name) const;
  // A case that was tried. `reason`: what the file lists, where it is not the whole problem.
  void Add(const std::string& name, const Back& back, std::string_view reason = "");
  // Prints "<dialect>: N of M <come back>", and checks the file (ExpectReasons) where all were
  // wanted.
  void Finish(const std::string& dialect, const std::string& come_back, const std::string& file,
              const std::string& about) const;
  const Reasons& one_way() const { return one_way_; }

 private:
  std::string filter_;
  std::regex wanted_;
  Reasons one_way_;
  size_t tried_ = 0;
};

}  // namespace x2ir

#endif  // X2IR_TESTS_CORE_BACK_UTIL_H_
