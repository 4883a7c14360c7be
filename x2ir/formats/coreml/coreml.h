// Models of Core ML, read naively in dialect "coreml". Three kinds of programs are in a file
// (protobuf, CoreML.Specification.Model), each with ops of a domain of its own:
//
//   ML Programs       a node has the name of MIL's operation ("conv"). Its operands are those that
//                     the table of operations says (mil_ops.h), in that order, and then its
//                     parameters are attributes: constants are in the place of `const`. Compressed
//                     weights (constexpr_...) are constants. Blocks are nested graphs ("block_0",
//                     "block_1").
//   neural networks   a node is "nn::LAYER" ("nn::convolution"). Its operands are the layer's
//                     inputs, then its weights (flat), which kWeightNames names; attributes are the
//                     other fields (decode.h). A layer that writes a value again makes a new one.
//   other models      a node is "model::KIND" ("model::treeEnsembleClassifier").
//
// A pipeline is the graphs of its models, one after the other. Images are float32; the scale and
// bias of a network's preprocessing are nodes before it.
//
// Inputs and outputs are those of the description, in its order. Sizes that it leaves open are
// symbols, "<input>_<axis>".
#ifndef X2IR_FORMATS_COREML_COREML_H_
#define X2IR_FORMATS_COREML_COREML_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

namespace coreml {
inline constexpr std::string_view kDialect = "coreml";
// Of a layer's node: the paths of the weights that its last operands are.
inline constexpr char kWeightNames[] = "weights#";
// Of a node of MIL whose operation the table does not have: the names of its operands.
inline constexpr char kOperandNames[] = "operands#";
// Of a `classify` whose classes are integers: they, in the place of the strings "classes".
inline constexpr char kIntClasses[] = "classes#";
// Of a node that writes to a list: an int, 1, where the list's length stays.
inline constexpr char kFixedList[] = "fixed#";
// Annotations of inputs and outputs.
// Of an input that is an image: its layout of colours, as the file names it ("RGB", "BGR",
// "GRAYSCALE", "GRAYSCALE_FLOAT16").
inline constexpr char kImage[] = "coreml.image";
inline constexpr std::pair<int64_t, std::string_view> kColorSpaces[] = {
    {10, "GRAYSCALE"}, {20, "RGB"}, {30, "BGR"}, {40, "GRAYSCALE_FLOAT16"}};  // with their numbers
// Of an output: it is the label that a classifier gives.
inline constexpr char kLabel[] = "coreml.label";
// What it was before it was written, "NAME|TYPE", which the file's metadata has; kNoPort: there was
// none.
inline constexpr char kPort[] = "coreml.port";
inline constexpr char kNoPort[] = "|";
}  // namespace coreml

struct CoremlReadOptions {
  bool raw_images = false;  // without the scale and bias of image inputs
  std::string function{};   // of an ML Program with several; empty: the default one
};

// A .mlmodel, a .mlpackage (folder), or the .mlmodel in one. Errors: DataLoss where bytes are no
// such file, InvalidArgument where the model makes no sense, NotFound for a missing weight file.
absl::StatusOr<Model> ReadCoreml(const Source& source, const CoremlReadOptions& options = {});

// Writes an ML Program as a .mlpackage: the model, its weights and a manifest. What was there under
// these names is replaced only where it is such a package, or `force`. Inputs with kImage are
// images; the results of a `classify` are a classifier's outputs.
struct CoremlWriteOptions {
  bool force = false;
  // Of the program (targets.h): FailedPrecondition where the model needs a later one. 0: iOS16's,
  // or the least later one that has all.
  int opset = 0;
};
absl::Status WriteMlPackage(const Model& model, const Sink& sink,
                            const CoremlWriteOptions& options = {});

// The files of the package that a model is written as.
std::vector<std::string> MlPackageFiles(const std::string& path);

bool LooksLikeCoreml(absl::Span<const std::byte> head, uint64_t file_size);
bool IsMlPackage(const std::string& path);
// The .mlmodel or .mlpackage in a folder that is none itself; empty where there is none, or are
// several.
std::string OnlyModelIn(const std::string& folder);

}  // namespace x2ir

#endif  // X2IR_FORMATS_COREML_COREML_H_
