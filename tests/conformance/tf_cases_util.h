// Cases of frozen TensorFlow graphs with TensorFlow's own outputs, as ../shared has them: a folder
// with frozen_model.pb, inputs NAME.placeholder.csv and outputs NAME[.k].prediction.csv, one value
// a line, each beside a .shape; "____" in a name stands for '/', as a folder does.
#ifndef X2IR_TESTS_CONFORMANCE_TF_CASES_UTIL_H_
#define X2IR_TESTS_CONFORMANCE_TF_CASES_UTIL_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir {

struct TfCase {
  struct File {
    std::string value;  // "node", "node:1"
    std::string path;   // of the .csv
  };
  std::string name;   // "abs/rank2_float32"
  std::string model;  // the file
  std::vector<File> inputs, outputs;
  std::map<std::string, DType> dtypes;  // of values, where the case says so
};

// All cases, unpacked once a build folder; empty where the archive is not there.
std::vector<TfCase> TfCases();

// How the graph of a case is read: its outputs are those that the case has values of.
ImportOptions TfImportOptions(const TfCase& c);
// Its inputs and outputs, in the order of the graph that is read so. NotFound: an input without
// values.
absl::StatusOr<IoCase> ReadTfIo(const TfCase& c, const Graph& graph);

// Constants of floats that the graphs call in_0, in_1, ... become inputs of the IR, with values.
absl::Status FeedTfConstants(Graph& graph, IoCase* io);

// The values of a file as a tensor of that type.
absl::StatusOr<Tensor> ReadTfValues(const std::string& csv, DType dtype);

// How far TensorFlow's numbers, as the files have them, may be from ours.
struct TfTolerance {
  double rtol = 0, atol = 0;
};
TfTolerance TfToleranceOf(DType dtype);
// "" when they agree; else where they first do not.
std::string TfDifference(const Tensor& got, const Tensor& want);

}  // namespace x2ir

#endif  // X2IR_TESTS_CONFORMANCE_TF_CASES_UTIL_H_
