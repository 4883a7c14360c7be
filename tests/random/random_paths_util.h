// A random graph written in a format, read back and evaluated, and run by those who run that
// format.
#ifndef X2IR_TESTS_RANDOM_RANDOM_PATHS_UTIL_H_
#define X2IR_TESTS_RANDOM_RANDOM_PATHS_UTIL_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/random/random_graphs_util.h"

namespace x2ir {

// A graph with what it computes, reduced to outputs that do not hang on rounding.
struct RandomCaseOfGraph {
  RandomGraph random;
  std::vector<Datum> want;  // of its outputs
  double rtol = 1e-3;       // what its types allow
};
// Outputs that change when results on the way are rounded otherwise are taken away: nothing can be
// asked of them. False where none is left, or the graph cannot be evaluated.
bool Settle(RandomGraph random, uint64_t seed, RandomCaseOfGraph* made);

// One way through the product.
struct RandomPath {
  std::string target;  // "onnx", "tflite", ... as the table of results counts them
  std::string extension;
  int opset = 0;  // of ONNX; 0: the target's own
  bool optimize = true;
  std::string Name() const;
};
// Those that a seed takes: every target, some opsets of ONNX.
std::vector<RandomPath> PathsOf(uint64_t seed);

enum class RandomResult : uint8_t { kRight, kRefused, kKnown, kFailed };
struct RandomVerdict {
  RandomResult result = RandomResult::kRight;
  std::string stage;  // "write", "read", "evaluate", "compare", or the runtime's name and its stage
  std::string text;
  bool run = false;  // a runtime ran it, too
  // What is the same where the defect is: the stage and the message without names and numbers.
  std::string Kind() const;
};

class RandomJudges;
std::shared_ptr<RandomJudges> StartJudges();

// `folder` takes the files.
RandomVerdict TryPath(const RandomCaseOfGraph& made, const RandomPath& path,
                      const std::filesystem::path& folder, RandomJudges* judges);

// The graph as IR and as the path's file, with inputs and outputs, for whoever mends it.
void WriteFailure(const RandomCaseOfGraph& made, const RandomPath& path,
                  const RandomVerdict& verdict, const std::filesystem::path& base);

}  // namespace x2ir

#endif  // X2IR_TESTS_RANDOM_RANDOM_PATHS_UTIL_H_
