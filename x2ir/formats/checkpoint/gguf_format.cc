// Registers the format "gguf".
#include <utility>

#include "x2ir/formats/checkpoint/checkpoint.h"
#include "x2ir/formats/checkpoint/gguf.h"
#include "x2ir/formats/checkpoint/gguf_file.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::checkpoint {
namespace {

[[maybe_unused]] const bool kGgufIsRegistered = RegisterFormat({
    .name = "gguf",
    .dialect = kDialect,
    .extensions = {".gguf"},
    .doc = "Models of llama.cpp",
    .recognize =
        [](const Candidate& file) {
          return file.text().starts_with(gguf::kMagic) ? Match::kCertain : Match::kNo;
        },
    .read_options = ReadOptions(),
    .read = [](const Source& source, const ReadRequest& request) -> absl::StatusOr<Model> {
      X2IR_ASSIGN_OR_RETURN(auto program, ReadGguf(source));
      Model model = ModelOf(std::move(program), request);
      model.producer_name = "llama.cpp";
      return model;
    },
});

}  // namespace
}  // namespace x2ir::checkpoint
