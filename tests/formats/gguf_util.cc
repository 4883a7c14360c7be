#include "tests/formats/gguf_util.h"

#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {

std::string GgufMaker::Sized(std::string_view text) const {
  return StrCat(Number(uint64_t{text.size()}), text);
}

GgufMaker& GgufMaker::Key(std::string_view key, uint32_t type, std::string_view value) {
  return Raw(key, StrCat(Number(type), value));
}
GgufMaker& GgufMaker::Raw(std::string_view key, std::string_view bytes) {
  StrAppend(&metadata_, Sized(key), bytes);
  ++keys_;
  return *this;
}
GgufMaker& GgufMaker::Text(std::string_view key, std::string_view value) {
  return Key(key, 8, Sized(value));
}
GgufMaker& GgufMaker::U32(std::string_view key, uint32_t value) {
  return Key(key, 4, Number(value));
}
GgufMaker& GgufMaker::F32(std::string_view key, float value) { return Key(key, 6, Number(value)); }
GgufMaker& GgufMaker::Bool(std::string_view key, bool value) {
  return Key(key, 7, std::string(1, value ? '\1' : '\0'));
}
GgufMaker& GgufMaker::U32s(std::string_view key, const std::vector<uint32_t>& values) {
  std::string bytes = StrCat(Number(uint32_t{4}), Number(uint64_t{values.size()}));
  for (const uint32_t value : values) bytes += Number(value);
  return Key(key, 9, bytes);
}
GgufMaker& GgufMaker::Texts(std::string_view key, const std::vector<std::string>& values) {
  std::string bytes = StrCat(Number(uint32_t{8}), Number(uint64_t{values.size()}));
  for (const std::string& value : values) bytes += Sized(value);
  return Key(key, 9, bytes);
}

GgufMaker& GgufMaker::Tensor(std::string_view name, const std::vector<uint64_t>& dims,
                             uint32_t type, std::string_view bytes) {
  StrAppend(&infos_, Sized(name), Number(static_cast<uint32_t>(dims.size())));
  for (const uint64_t dim : dims) infos_ += Number(dim);
  StrAppend(&infos_, Number(type), Number(offset_));
  data_ += bytes;
  data_.resize((data_.size() + alignment_ - 1) / alignment_ * alignment_);
  offset_ = data_.size();
  ++tensors_;
  return *this;
}
GgufMaker& GgufMaker::Floats(std::string_view name, const std::vector<uint64_t>& dims) {
  uint64_t count = 1;
  for (const uint64_t dim : dims) count *= dim;
  std::string bytes;
  for (uint64_t i = 0; i < count; ++i) bytes += Number(static_cast<float>(i % 7) / 8 - 0.25F);
  return Tensor(name, dims, 0, bytes);
}
GgufMaker& GgufMaker::At(uint64_t offset) {
  offset_ = offset;
  return *this;
}
GgufMaker& GgufMaker::Counts(uint64_t tensors, uint64_t keys) {
  counted_ = true;
  said_tensors_ = tensors, said_keys_ = keys;
  return *this;
}
GgufMaker& GgufMaker::Alignment(uint64_t alignment) {
  alignment_ = alignment;
  return *this;
}

std::string GgufMaker::Make() const {
  std::string file = StrCat("GGUF", Number(version_), Number(counted_ ? said_tensors_ : tensors_),
                            Number(counted_ ? said_keys_ : keys_), metadata_, infos_);
  file.resize((file.size() + alignment_ - 1) / alignment_ * alignment_);
  return file + data_;
}

namespace {

// All but the embedding.
GgufMaker Llama(bool big_endian, uint32_t width) {
  const uint64_t w = width;
  GgufMaker file(big_endian);
  file.Text("general.architecture", "llama")
      .U32("llama.block_count", 1)
      .U32("llama.context_length", 16)
      .U32("llama.embedding_length", width)
      .U32("llama.feed_forward_length", 8)
      .U32("llama.attention.head_count", 2)
      .U32("llama.attention.head_count_kv", 1)
      .F32("llama.attention.layer_norm_rms_epsilon", 1e-5F)
      .F32("llama.rope.freq_base", 10000)
      .Texts("tokenizer.ggml.tokens", {"a", "b", "c"})
      .Floats("output_norm.weight", {w})
      .Floats("blk.0.attn_norm.weight", {w})
      .Floats("blk.0.attn_q.weight", {w, w})
      .Floats("blk.0.attn_k.weight", {w, w / 2})
      .Floats("blk.0.attn_v.weight", {w, w / 2})
      .Floats("blk.0.attn_output.weight", {w, w})
      .Floats("blk.0.ffn_norm.weight", {w})
      .Floats("blk.0.ffn_gate.weight", {w, 8})
      .Floats("blk.0.ffn_up.weight", {w, 8})
      .Floats("blk.0.ffn_down.weight", {8, w});
  return file;
}

}  // namespace

GgufMaker SmallLlama(bool big_endian) {
  GgufMaker file = Llama(big_endian, 4);
  return file.Floats("token_embd.weight", {4, 8});
}

GgufMaker BlockLlama() {
  GgufMaker file = Llama(false, 32);
  return file.Tensor("token_embd.weight", {32, 8}, 3, std::string(8 * 20, '\x31'))
      .Tensor("output.weight", {32, 8}, 8, std::string(8 * 34, '\x32'));
}

}  // namespace x2ir
