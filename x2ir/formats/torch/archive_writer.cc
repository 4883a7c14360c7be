// The archive around a program, in the layout that archive.cc reads as the current one.
#include "x2ir/formats/io/atomic_file.h"
#include "x2ir/formats/io/zip_writer.h"
#include "x2ir/formats/torch/torch.h"
#include "x2ir/formats/torch/writer_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace torch_format {
namespace {

// Weights in their folder, and the table of them.
class Payload {
 public:
  Payload(ZipWriter& zip, std::string_view folder, std::string_view prefix)
      : zip_(zip), folder_(folder), prefix_(prefix) {}

  absl::Status Add(const WrittenWeight& weight) {
    const std::string file = StrCat(prefix_, count_++);
    const Tensor& tensor = *weight.tensor;
    const bool parameter = weight.kind == WrittenWeight::kParameter;
    StrAppend(&config_, config_.empty() ? "\"" : ", \"", weight.name, "\": {\"path_name\": \"",
              file, "\", \"is_param\": ", parameter ? "true" : "false",
              ", \"use_pickle\": false, \"tensor_meta\": ");
    const auto list = [&](const std::vector<int64_t>& numbers) {
      for (size_t i = 0; i < numbers.size(); ++i) {
        StrAppend(&config_, i ? ", " : "", "{\"as_int\": ", numbers[i], "}");
      }
    };
    std::vector<int64_t> strides(tensor.dims().size(), 1);
    for (size_t i = strides.size(); i-- > 1;) {
      strides[i - 1] = strides[i] * std::max<int64_t>(tensor.dims()[i], 1);
    }
    AppendTensorMeta(
        &config_, tensor.dtype(), parameter, [&] { list(tensor.dims()); }, [&] { list(strides); });
    config_ += "}";
    return zip_.Add(StrCat("model/data/", folder_, "/", file), tensor);
  }
  absl::Status Finish() {
    return zip_.Add(StrCat("model/data/", folder_, "/model_", folder_, "_config.json"),
                    StrCat("{\"config\": {", config_, "}}"));
  }

 private:
  ZipWriter& zip_;
  std::string_view folder_, prefix_;
  std::string config_;
  int count_ = 0;
};

absl::Status WriteArchive(ZipWriter& zip, const WrittenProgram& program) {
  Payload weights(zip, "weights", "weight_"), constants(zip, "constants", "tensor_");
  for (const WrittenWeight& weight : program.weights) {
    if (weight.kind != WrittenWeight::kConstant) X2IR_RETURN_IF_ERROR(weights.Add(weight));
  }
  X2IR_RETURN_IF_ERROR(weights.Finish());
  for (const WrittenWeight& weight : program.weights) {
    if (weight.kind == WrittenWeight::kConstant) X2IR_RETURN_IF_ERROR(constants.Add(weight));
  }
  X2IR_RETURN_IF_ERROR(constants.Finish());
  X2IR_ASSIGN_OR_RETURN(const std::string inputs,
                        WriteSampleInputs(program.arguments, program.inputs));
  for (const auto& [name, bytes] :
       {std::pair<std::string_view, std::string_view>("models/model.json", program.json),
        {"data/sample_inputs/model.pt", inputs},
        {"archive_format", "pt2"},
        {"archive_version", "0"},
        {"byteorder", "little"},
        {".data/version", "6\n"}}) {
    X2IR_RETURN_IF_ERROR(zip.Add(StrCat("model/", name), bytes));
  }
  return zip.Finish();
}

}  // namespace
}  // namespace torch_format

absl::Status WriteTorch(const Model& model, const Sink& sink) {
  X2IR_ASSIGN_OR_RETURN(const torch_format::WrittenProgram program,
                        torch_format::WriteProgram(model));
  X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create(sink.name()));
  ZipWriter zip(file);
  X2IR_RETURN_IF_ERROR(torch_format::WriteArchive(zip, program));
  return file.Commit();
}

}  // namespace x2ir
