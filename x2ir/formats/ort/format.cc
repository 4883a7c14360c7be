// Registers the format "ort".
#include "x2ir/formats/format.h"

#include <optional>

#include "x2ir/formats/onnx/files_internal.h"
#include "x2ir/formats/ort/ort_internal.h"

namespace x2ir {
namespace {

std::optional<OrtOperators>& RegisteredOperators() {
  static std::optional<OrtOperators> operators;
  return operators;
}

}  // namespace

bool RegisterOrtOperators(OrtOperators operators) {
  RegisteredOperators() = operators;
  return true;
}

namespace ort_format {

const OrtOperators& Operators() {
  static constexpr OrtOperators kNone = {
      [](std::string_view, std::string_view, int64_t) { return int64_t{0}; },
      [](std::string_view, std::string_view,
         int64_t) -> absl::StatusOr<std::optional<OrtOperator>> { return std::nullopt; }};
  return RegisteredOperators() ? *RegisteredOperators() : kNone;
}

}  // namespace ort_format

namespace {

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "ort",
    .dialect = "onnx",
    .extensions = {".ort"},
    .doc = "Models of ONNX Runtime's own format, for its mobile and web builds",
    .recognize =
        [](const Candidate& file) {
          return !file.is_folder && LooksLikeOrt(file.head) ? Match::kCertain : Match::kNo;
        },
    .names_files = true,
    .read = [](const Source& source, const ReadRequest&) { return ReadOrt(source); },
    .write_options = onnx_format::ModelOptionDefs(),
    .write = [](const Model& model, const Sink& sink,
                const FormatOptions&) { return WriteOrt(model, sink); },
    // ONNX defines them by functions. ONNX Runtime has no kernels for them, and writes functions
    // out when it reads an ONNX file, not when it reads one of its own.
    .lacks_ops = {"Bernoulli", "CastLike", "CenterCropPad", "GroupNormalization", "HardSwish",
                  "Mish", "NegativeLogLikelihoodLoss", "SequenceMap", "SoftmaxCrossEntropyLoss"},
    .input_defaults = true,
    .metadata = true,
});

}  // namespace
}  // namespace x2ir
