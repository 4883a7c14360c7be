#include "x2ir/formats/checkpoint/gguf.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/formats/checkpoint/gguf_config.h"
#include "x2ir/formats/checkpoint/gguf_families.h"
#include "x2ir/formats/checkpoint/gguf_file.h"
#include "x2ir/formats/checkpoint/gguf_weights.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::checkpoint {
namespace {

// --- Files ---------------------------------------------------------------------------------------

// The ending of file i of several, which llama-gguf-split writes: "-00001-of-00003.gguf".
constexpr size_t kDigits = 5;
constexpr std::string_view kOf = "-of-", kExtension = ".gguf";

std::string PartEnding(int64_t number, int64_t count) {
  const auto digits = [](int64_t n) {
    const std::string text = StrCat(n);
    return text.size() < kDigits ? std::string(kDigits - text.size(), '0') + text : text;
  };
  return StrCat("-", digits(number), kOf, digits(count), kExtension);
}

absl::StatusOr<gguf::File> OpenFile(BlobPtr blob) {
  const std::string path = blob->path();
  absl::StatusOr<gguf::File> file = gguf::ReadFile(std::move(blob));
  return file.ok() ? std::move(file) : Annotate(file.status(), path);
}

int64_t WholeOr(const gguf::File& file, std::string_view key, int64_t fallback) {
  const gguf::Value* value = file.Find(key);
  return value && value->is_integer() ? value->whole : fallback;
}

// The file and those beside it that belong to it, in their order.
absl::StatusOr<std::vector<gguf::File>> OpenFiles(const Source& source) {
  X2IR_ASSIGN_OR_RETURN(BlobPtr blob, source.Open());
  std::vector<gguf::File> files;
  X2IR_ASSIGN_OR_RETURN(gguf::File given, OpenFile(std::move(blob)));
  const int64_t count = WholeOr(given, "split.count", 1);
  if (count <= 1) {
    files.push_back(std::move(given));
    return files;
  }
  const int64_t number = WholeOr(given, "split.no", -1);
  const std::string name = std::filesystem::path(source.name()).filename().string();
  if (number < 0 || number >= count || !name.ends_with(PartEnding(number + 1, count))) {
    return DataLoss(source.name(), ": it is number ", number, " (from 0) of ", count,
                    " files, and its name does not end in '", PartEnding(1, count), "' or so");
  }
  const std::string stem = name.substr(0, name.size() - PartEnding(number + 1, count).size());
  int64_t tensors = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (i == number) {
      files.push_back(std::move(given));
    } else {
      const std::string other = StrCat(stem, PartEnding(i + 1, count));
      X2IR_ASSIGN_OR_RETURN(BlobPtr beside, source.FindBeside(other));
      if (!beside)
        return NotFound("'", name, "' is one of ", count, " files, and '", other,
                        "' is not beside it");
      X2IR_ASSIGN_OR_RETURN(gguf::File file, OpenFile(std::move(beside)));
      if (WholeOr(file, "split.no", -1) != i || WholeOr(file, "split.count", -1) != count) {
        return DataLoss("'", other, "' does not say that it is number ", i, " (from 0) of ", count,
                        " files");
      }
      files.push_back(std::move(file));
    }
    tensors += static_cast<int64_t>(files.back().tensors.size());
  }
  if (const int64_t all = WholeOr(files[0], "split.tensors.count", tensors); all != tensors) {
    return DataLoss(source.name(), ": its ", count, " files have ", tensors, " tensors together; ",
                    all, " are expected");
  }
  return files;
}

// --- Weights -------------------------------------------------------------------------------------

constexpr int64_t kMaxParts = 4096;    // of a stack
constexpr size_t kMinPart = 32;        // bytes: what it is called takes as many
constexpr int64_t kMaxFactors = 4096;  // of rotary positions

// "blk.12.attn_q.weight" as "blk.#.attn_q", "12" and ".weight".
struct TensorName {
  std::string pattern;
  std::string_view layer, ending;
};
TensorName Split(std::string_view name) {
  constexpr std::string_view kBlock = "blk.";
  TensorName split;
  for (const std::string_view ending : {".weight", ".bias"}) {
    if (!name.ends_with(ending)) continue;
    split.ending = ending;
    name.remove_suffix(ending.size());
  }
  const size_t dot = name.find('.', kBlock.size());
  if (name.starts_with(kBlock) && dot != name.npos) {
    split.layer = name.substr(kBlock.size(), dot - kBlock.size());
    split.pattern = StrCat(kBlock, "#", name.substr(dot));
  } else {
    split.pattern = name;
  }
  const bool is_number = split.layer.find_first_not_of("0123456789") == split.layer.npos;
  if (!is_number || split.ending.empty()) split.pattern.clear();
  return split;
}

std::string Replaced(std::string_view text, char mark, std::string_view by) {
  const size_t at = text.find(mark);
  return at == text.npos ? std::string(text) : StrCat(text.substr(0, at), by, text.substr(at + 1));
}

absl::Status AddWeight(const gguf::File& file, const gguf::TensorInfo& tensor,
                       const gguf::Family& family, Program& program) {
  const TensorName split = Split(tensor.name);
  const gguf::NameRow* row = gguf::FindName(family, split.pattern);
  if (!row) {
    return Unimplemented("it is not known for architecture '", family.architecture, "'");
  }
  const std::string name = StrCat(Replaced(row->name, '#', split.layer), split.ending);
  X2IR_ASSIGN_OR_RETURN(gguf::Weight weight, gguf::WeightOf(file, tensor));
  if (row->as_row && weight.dims.size() == 1) weight.MakeRow();
  if (name.find('@') == name.npos) return weight.AddTo(program, name);
  if (weight.dims.size() < 2 || weight.dims[0] > kMaxParts ||
      weight.bytes.nbytes() / static_cast<size_t>(weight.dims[0]) < kMinPart) {
    return DataLoss("it is no stack of weights");
  }
  for (int64_t i = 0; i < weight.dims[0]; ++i) {
    X2IR_ASSIGN_OR_RETURN(const gguf::Weight part, weight.Part(i));
    X2IR_RETURN_IF_ERROR(part.AddTo(program, Replaced(name, '@', StrCat(i))));
  }
  return absl::OkStatus();
}

// Whether it holds factors of rotary positions; they become numbers of `stored`.
absl::StatusOr<bool> TakeFactors(const gguf::File& file, const gguf::TensorInfo& tensor,
                                 gguf::Stored& stored) {
  std::vector<double>* to =
      tensor.name == "rope_freqs.weight" || tensor.name == "rope_factors_short.weight"
          ? &stored.rope_factors
      : tensor.name == "rope_factors_long.weight" ? &stored.long_rope_factors
                                                  : nullptr;
  if (!to) return false;
  X2IR_ASSIGN_OR_RETURN(const gguf::Weight weight, gguf::WeightOf(file, tensor));
  if (tensor.type->number != ggml::kF32 || weight.dims.size() != 1 ||
      weight.dims[0] > kMaxFactors || !to->empty()) {
    return DataLoss("it is no list of float32");
  }
  const Tensor numbers = weight.bytes.AlignedCopyIfNeeded();
  for (const float x : numbers.span<float>()) {
    if (!(x > 0)) return DataLoss("a factor of ", x);
    to->push_back(x);
  }
  return true;
}

absl::Status ReadWeights(const std::vector<gguf::File>& files, Program& program) {
  gguf::Stored stored;
  for (const gguf::File& file : files) {
    for (const gguf::TensorInfo& tensor : file.tensors) {
      if (!stored.dims.try_emplace(tensor.name, tensor.dims).second) {
        return DataLoss("two files have a tensor '", tensor.name, "'");
      }
    }
  }
  X2IR_ASSIGN_OR_RETURN(const gguf::Family* family, gguf::FamilyOf(files[0], stored));
  for (const gguf::File& file : files) {
    for (const gguf::TensorInfo& tensor : file.tensors) {
      const std::string where = StrCat("tensor '", tensor.name.substr(0, 200), "'");
      absl::StatusOr<bool> taken = false;
      if (family->rotary) taken = TakeFactors(file, tensor, stored);
      if (!taken.ok()) return Annotate(taken.status(), where);
      if (*taken) continue;
      const absl::Status status = AddWeight(file, tensor, *family, program);
      if (!status.ok()) return Annotate(status, where);
    }
  }
  X2IR_ASSIGN_OR_RETURN(gguf::Config config, gguf::ConfigOf(files[0], *family, stored));
  // BERT without types of tokens: they would add nothing.
  if (family->architecture == "bert" && !stored.dims.contains("token_types.weight")) {
    const int64_t width = stored.dims.find("token_embd.weight")->second[1];
    program.weights.tensors.emplace("embeddings.token_type_embeddings.weight",
                                    Tensor::Zeros(DType::kFloat32, {1, width}));
  }
  program.config = std::move(config.config);
  program.extras = std::move(config.extras);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<Program>> ReadGguf(const Source& source) {
  auto program = std::make_shared<Program>();
  program->origin = source.name();
  X2IR_ASSIGN_OR_RETURN(const std::vector<gguf::File> files, OpenFiles(source));
  const absl::Status status = ReadWeights(files, *program);
  if (!status.ok()) return Annotate(status, source.name());
  return program;
}

}  // namespace x2ir::checkpoint
