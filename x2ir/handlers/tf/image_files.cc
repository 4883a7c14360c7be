// TensorFlow: files of pictures. ONNX decodes bytes, TensorFlow a text that holds them, which
// no op of ONNX takes apart: so only a file that is a constant of the graph is decoded; else the
// graph must begin after it.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// How to convert the rest, with the flags as they are to be given.
absl::Status CutBehind(TfArgs& a, std::string_view why, std::string_view dtype) {
  const std::string& name = a.node().output(0)->name();
  return Unimplemented(
      why, "; decode pictures before they are given to the model, and convert what follows: ",
      OptionText("inputs"), " ", name, " ", OptionText("shapes"), " ", name, ":h,w,3 ",
      OptionText("dtypes"), " ", name, ":", dtype);
}

absl::StatusOr<Value*> DecodedImage(TfArgs& a) {
  const int64_t channels = a.Int("channels", 0);
  const DType dtype = a.Type("dtype", DType::kUInt8);
  for (const char* name : {"fancy_upscaling", "ratio", "try_recover_truncated",
                           "acceptable_fraction", "dct_method", "expand_animations"}) {
    a.Ignore(name);
  }
  const std::string_view op = a.op();
  const bool one_picture = op == "DecodeJpeg" || op == "DecodePng" || op == "DecodeBmp";
  const Tensor* file = a.num_inputs() == 1 ? ConstantBehind(a.node().input(0)) : nullptr;
  if (!file || !file->is_string() || file->num_elements() != 1) {
    return CutBehind(a, "a file that is not known when the model is converted", Name(dtype));
  }
  const bool plain =
      one_picture && channels == 3 && dtype == DType::kUInt8 && a.Int("ratio", 1) == 1;
  if (!plain) return CutBehind(a, "this form of decoding a file", Name(dtype));
  const std::string& bytes = file->strings()[0];
  const std::vector<uint8_t> stream(bytes.begin(), bytes.end());
  Value* encoded =
      a.b().Constant(Tensor::Of<uint8_t>({static_cast<int64_t>(stream.size())}, stream));
  return a.Op("image_decoder", {encoded}, {{"pixel_format", "RGB"}}).value();
}

}  // namespace

X2IR_TF(image_decoder)
    .From({{"DecodeJpeg", DecodedImage},
           {"DecodePng", DecodedImage},
           {"DecodeBmp", DecodedImage},
           {"DecodeGif", DecodedImage},
           {"DecodeImage", DecodedImage},
           {"DecodeAndCropJpeg", DecodedImage},
           {"DecodeWebP", DecodedImage}});

}  // namespace x2ir
