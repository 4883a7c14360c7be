// The files of weights.
#include <algorithm>
#include <utility>

#include "x2ir/formats/tfjs/writer_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tfjs {
namespace {

constexpr uint64_t kShardSize = uint64_t{4} << 20;
constexpr uint64_t kMaxShards = 512;  // all are open until the model is complete

class ShardWriter {
 public:
  using CreateFn = std::function<absl::StatusOr<AtomicFile>(const std::string& name)>;

  ShardWriter(uint64_t size, std::string_view prefix, const CreateFn& create)
      : limit_(std::max(kShardSize, (size + kMaxShards - 1) / kMaxShards)), create_(create) {
    const uint64_t count = (size + limit_ - 1) / limit_;
    for (uint64_t i = 1; i <= count; ++i) {
      names_.push_back(StrCat(prefix, "group1-shard", i, "of", count, ".bin"));
    }
  }

  absl::Status Put(std::string_view bytes) {
    return InShards(bytes.size(), [&](AtomicFile& file, uint64_t at, uint64_t n) {
      return file.Append(bytes.substr(at, n));
    });
  }
  absl::Status Put(const Tensor& tensor) {
    if (left_ >= tensor.nbytes() && !files_.empty()) {
      left_ -= tensor.nbytes();
      return files_.back().Append(tensor);
    }
    return InShards(tensor.nbytes(), [&](AtomicFile& file, uint64_t at, uint64_t n) {
      return AppendPart(file, tensor, at, n);
    });
  }

  std::vector<std::string>& names() { return names_; }
  std::vector<AtomicFile>& files() { return files_; }

 private:
  // Calls append(file, at, n) for the parts of `size` bytes that go to different files.
  template <typename F>
  absl::Status InShards(uint64_t size, const F& append) {
    for (uint64_t at = 0; at < size;) {
      if (left_ == 0) {
        X2IR_ASSIGN_OR_RETURN(AtomicFile file, create_(names_[files_.size()]));
        files_.push_back(std::move(file));
        left_ = limit_;
      }
      const uint64_t n = std::min(left_, size - at);
      X2IR_RETURN_IF_ERROR(append(files_.back(), at, n));
      left_ -= n;
      at += n;
    }
    return absl::OkStatus();
  }

  // Of a mapped file by its range, so that no byte is copied here.
  static absl::Status AppendPart(AtomicFile& file, const Tensor& tensor, uint64_t at, uint64_t n) {
    if (const auto range = tensor.file_range()) {
      X2IR_ASSIGN_OR_RETURN(const Tensor part,
                            Tensor::FromFile(DType::kUInt8, {static_cast<int64_t>(n)}, range->file,
                                             range->offset + at, n));
      return file.Append(part);
    }
    constexpr uint64_t kPiece = uint64_t{1} << 20;
    std::vector<std::byte> bytes(std::min(n, kPiece));
    for (uint64_t done = 0; done < n;) {
      const uint64_t size = std::min(n - done, kPiece);
      tensor.Read(at + done, absl::MakeSpan(bytes.data(), size));
      X2IR_RETURN_IF_ERROR(file.Append(absl::MakeConstSpan(bytes.data(), size)));
      done += size;
    }
    return absl::OkStatus();
  }

  const uint64_t limit_;
  const CreateFn& create_;
  std::vector<std::string> names_;
  std::vector<AtomicFile> files_;
  uint64_t left_ = 0;  // of the last file
};

Json SpecOf(const NamedWeight& weight, const StoredForm& form) {
  std::vector<Json> shape;
  for (const int64_t size : weight.tensor.dims()) shape.emplace_back(size);
  Json spec = Json::Object();
  spec.Set("name", Json(weight.name));
  spec.Set("shape", Json::Array(std::move(shape)));
  spec.Set("dtype", Json(std::string(form.dtype)));
  if (form.kind != StoredForm::kPlain) spec.Set("quantization", form.Quantization());
  return spec;
}

}  // namespace

absl::StatusOr<WrittenShards> WriteShards(
    const std::vector<NamedWeight>& weights, std::string_view prefix, std::string_view quantize,
    const std::function<absl::StatusOr<AtomicFile>(const std::string& name)>& create) {
  std::vector<StoredForm> forms;
  uint64_t size = 0;
  for (const NamedWeight& weight : weights) {
    absl::StatusOr<StoredForm> form = FormOf(weight.tensor, quantize);
    if (!form.ok()) return Annotate(form.status(), StrCat("weight '", weight.name, "'"));
    size += form->nbytes;
    forms.push_back(*std::move(form));
  }
  ShardWriter writer(size, prefix, create);
  std::vector<Json> specs, paths;
  for (size_t i = 0; i < weights.size(); ++i) {
    X2IR_RETURN_IF_ERROR(PutStored(
        weights[i].tensor, forms[i], [&](const Tensor& tensor) { return writer.Put(tensor); },
        [&](std::string_view bytes) { return writer.Put(bytes); }));
    specs.push_back(SpecOf(weights[i], forms[i]));
  }
  for (const std::string& name : writer.names()) paths.emplace_back(name);
  Json group = Json::Object();
  group.Set("paths", Json::Array(std::move(paths)));
  group.Set("weights", Json::Array(std::move(specs)));
  std::vector<Json> groups;
  if (!weights.empty()) groups.push_back(std::move(group));
  return WrittenShards{Json::Array(std::move(groups)), std::move(writer.names()),
                       std::move(writer.files())};
}

}  // namespace x2ir::tfjs
