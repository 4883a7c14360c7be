// Toy's own files, as a format of x2ir. With this registration x2ir::Import, Export and Convert
// take paths that end in .toy, and any program that links this file does.
//
//   toy 1
//   inputs 3
//   Dense 3 4 <12 weights> <4 biases>
//   ReluLayer
//   Scale 0.5
#include "x2ir/formats/format.h"

#include <sstream>
#include <string_view>

#include "toy.h"

namespace toy {
namespace {

constexpr std::string_view kMark = "toy 1\n";

x2ir::Match Recognize(const x2ir::Candidate& file) {
  const std::string_view head(reinterpret_cast<const char*>(file.head.data()), file.head.size());
  return head.substr(0, kMark.size()) == kMark ? x2ir::Match::kCertain : x2ir::Match::kNo;
}

bool ReadNumbers(std::istream& in, size_t count, Vector* numbers) {
  for (float number; numbers->size() < count && in >> number;) numbers->push_back(number);
  return numbers->size() == count;
}

absl::StatusOr<x2ir::Model> Read(const x2ir::Source& source, const x2ir::ReadRequest&) {
  X2IR_ASSIGN_OR_RETURN(const auto file, source.Open());
  std::istringstream in{std::string(file->view())};
  std::string word;
  Network network;
  if (!(in >> word >> word >> word >> network.inputs) || word != "inputs" || network.inputs < 1) {
    return x2ir::DataLoss("'", source.name(), "': the size of the input is missing");
  }
  while (in >> word) {
    size_t n = 0, m = 0;
    Vector weights, bias;
    if (word == "ReluLayer") {
      network.layers.push_back(MakeRelu());
    } else if (word == "Scale" && ReadNumbers(in, 1, &weights)) {
      network.layers.push_back(MakeScale(weights[0]));
    } else if (word == "Dense" && in >> n >> m && n > 0 && m <= file->size() / n &&
               ReadNumbers(in, n * m, &weights) && ReadNumbers(in, m, &bias)) {
      network.layers.push_back(MakeDense(n, m, std::move(weights), std::move(bias)));
    } else {
      return x2ir::DataLoss("'", source.name(), "': layer ", network.layers.size(), " is broken");
    }
  }
  return ToModel(network);
}

absl::Status Write(const x2ir::Model& model, const x2ir::Sink& sink, const x2ir::FormatOptions&) {
  X2IR_ASSIGN_OR_RETURN(const Network network, FromModel(model));
  X2IR_ASSIGN_OR_RETURN(x2ir::AtomicFile file, sink.Create(sink.name()));
  X2IR_RETURN_IF_ERROR(file.Append(x2ir::StrCat(kMark, "inputs ", network.inputs, "\n")));
  for (const auto& layer : network.layers) {
    X2IR_RETURN_IF_ERROR(file.Append(x2ir::StrCat(layer->Line(), "\n")));
  }
  return file.Commit();
}

[[maybe_unused]] const bool kRegistered = x2ir::RegisterFormat({
    .name = "toy",
    .dialect = "toy",
    .extensions = {".toy"},
    .doc = "Networks of Toy",
    .recognize = Recognize,
    .read = Read,
    .write = Write,
});

}  // namespace
}  // namespace toy
