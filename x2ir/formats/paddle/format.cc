// Registers the format "paddle".
#include "x2ir/formats/format.h"

#include "x2ir/formats/io/side_file.h"
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

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "paddle",
    .dialect = std::string(paddle::kDialect),
    .extensions = {".pdmodel", ".pdiparams"},
    .doc = "Inference models of PaddlePaddle: programs and PIR",
    .recognize = RecognizePaddle,
    .read_options = {ParamsOption()},
    .read = ReadWithParams(ReadPaddle),
});

}  // namespace
}  // namespace x2ir
