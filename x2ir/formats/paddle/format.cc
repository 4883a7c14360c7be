// Registers the format "paddle".
#include "x2ir/formats/format.h"

#include "x2ir/formats/paddle/paddle.h"

namespace x2ir {
namespace {

Match RecognizePaddle(const Candidate& file) {
  if (file.is_folder) return IsPaddleFolder(file.path) ? Match::kCertain : Match::kNo;
  if (LooksLikePaddleProgram(file.head, file.size) || LooksLikePaddlePir(file.head)) {
    return Match::kCertain;
  }
  return file.path.ends_with(".pdiparams") || file.path.ends_with("__params__") ? Match::kPossible
                                                                                : Match::kNo;
}

[[maybe_unused]] const bool kRegistered = RegisterFormat(FormatWithParams(
    "paddle", {".pdmodel", ".pdiparams"}, "Inference models of PaddlePaddle: programs and PIR",
    RecognizePaddle, ReadPaddle));

}  // namespace
}  // namespace x2ir
