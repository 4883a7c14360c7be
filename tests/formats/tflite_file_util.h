// TFLite's files of one operator, made with FlatBuffers' own builder.
#ifndef X2IR_TESTS_FORMATS_TFLITE_FILE_UTIL_H_
#define X2IR_TESTS_FORMATS_TFLITE_FILE_UTIL_H_

#include <tflite_generated.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace x2ir::tflite_files {

namespace fb = ::x2ir::tflite_fb;
using FlatBuilder = flatbuffers::FlatBufferBuilder;
template <typename T>
using Offset = flatbuffers::Offset<T>;

template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// A model of one subgraph with one operator, of which a test changes what it is about.
struct File {
  struct Tensor {
    std::string name;
    fb::TensorType type = fb::TensorType::FLOAT32;
    std::vector<int32_t> shape{};
    std::string bytes{};
    std::vector<int32_t> signature{};
    std::function<Offset<fb::QuantizationParameters>(FlatBuilder&)> quantization{};
    std::function<Offset<fb::SparsityParameters>(FlatBuilder&)> sparsity{};
    bool variable = false;
    uint32_t external = 0;
  };
  std::vector<Tensor> tensors;
  std::vector<int32_t> inputs{0}, outputs{1};
  fb::BuiltinOperator op = fb::BuiltinOperator::ABS;
  std::string custom{};
  std::vector<uint8_t> custom_options{};
  std::vector<int32_t> op_inputs{0}, op_outputs{1};
  std::function<std::pair<fb::BuiltinOptions, Offset<void>>(FlatBuilder&)> options{};
  bool behind = false;  // bytes stand behind the FlatBuffer
  std::string external_name{};
  std::vector<std::pair<std::string, uint32_t>> signatures{};  // names and subgraphs
  int copies = 1;                                              // of the subgraph

  std::string Make(const std::vector<uint64_t>* places = nullptr) const {
    FlatBuilder b;
    std::vector<Offset<fb::Buffer>> buffers = {fb::CreateBuffer(b)};
    std::vector<Offset<fb::Tensor>> all;
    std::string rest;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const Tensor& t = tensors[i];
      uint32_t buffer = 0;
      if (!t.bytes.empty() && t.external == 0) {
        buffer = static_cast<uint32_t>(buffers.size());
        if (behind) {
          buffers.push_back(
              fb::CreateBuffer(b, 0, places ? (*places)[i] : 1u << 30, t.bytes.size()));
        } else {
          b.ForceVectorAlignment(t.bytes.size(), 1, 16);
          buffers.push_back(fb::CreateBuffer(
              b, b.CreateVector(reinterpret_cast<const uint8_t*>(t.bytes.data()), t.bytes.size())));
        }
      }
      const auto shape = b.CreateVector(t.shape);
      const auto name = b.CreateString(t.name);
      const auto signature = t.signature.empty() ? 0 : b.CreateVector(t.signature);
      const auto quantization =
          t.quantization ? t.quantization(b) : Offset<fb::QuantizationParameters>();
      const auto sparsity = t.sparsity ? t.sparsity(b) : Offset<fb::SparsityParameters>();
      fb::TensorBuilder tensor(b);
      tensor.add_shape(shape);
      tensor.add_type(t.type);
      tensor.add_buffer(buffer);
      tensor.add_name(name);
      if (!signature.IsNull()) tensor.add_shape_signature(signature);
      if (!quantization.IsNull()) tensor.add_quantization(quantization);
      if (!sparsity.IsNull()) tensor.add_sparsity(sparsity);
      tensor.add_is_variable(t.variable);
      tensor.add_external_buffer(t.external);
      all.push_back(tensor.Finish());
    }
    const auto made = options ? options(b)
                              : std::pair<fb::BuiltinOptions, Offset<void>>(
                                    fb::BuiltinOptions::NONE, Offset<void>());
    const auto ins = b.CreateVector(op_inputs), outs = b.CreateVector(op_outputs);
    const auto bytes = custom_options.empty() ? 0 : b.CreateVector(custom_options);
    fb::OperatorBuilder operation(b);
    operation.add_inputs(ins);
    operation.add_outputs(outs);
    if (!made.second.IsNull()) {
      operation.add_builtin_options_type(made.first);
      operation.add_builtin_options(made.second);
    }
    if (!bytes.IsNull()) operation.add_custom_options(bytes);
    const std::vector<Offset<fb::Operator>> operators = {operation.Finish()};
    std::vector<Offset<fb::SubGraph>> graphs;
    for (int i = 0; i < copies; ++i) {
      graphs.push_back(fb::CreateSubGraph(b, b.CreateVector(all), b.CreateVector(inputs),
                                          b.CreateVector(outputs), b.CreateVector(operators)));
    }
    const auto custom_code = custom.empty() ? 0 : b.CreateString(custom);
    const int small = std::min(static_cast<int>(op), 127);
    const std::vector<Offset<fb::OperatorCode>> codes = {
        fb::CreateOperatorCode(b, static_cast<int8_t>(small), custom_code, 1, op)};
    std::vector<Offset<fb::SignatureDef>> defs;
    for (const auto& [name, subgraph] : signatures) {
      const auto map = [&](const char* port, int32_t tensor) {
        const std::vector<Offset<fb::TensorMap>> maps = {
            fb::CreateTensorMap(b, b.CreateString(port), static_cast<uint32_t>(tensor))};
        return b.CreateVector(maps);
      };
      const auto in = map("in", inputs[0]), out = map("out", outputs[0]);
      defs.push_back(fb::CreateSignatureDef(b, in, out, b.CreateString(name), subgraph));
    }
    const auto codes_at = b.CreateVector(codes);
    const auto graphs_at = b.CreateVector(graphs);
    const auto buffers_at = b.CreateVector(buffers);
    const auto defs_at = b.CreateVector(defs);
    flatbuffers::Offset<flatbuffers::Vector<Offset<fb::ExternalBufferGroup>>> groups;
    flatbuffers::Offset<flatbuffers::Vector<Offset<fb::ExternalBuffer>>> externals;
    if (!external_name.empty()) {
      const std::vector<Offset<fb::ExternalBufferGroup>> group = {
          fb::CreateExternalBufferGroup(b, b.CreateString(external_name))};
      const std::vector<Offset<fb::ExternalBuffer>> external = {
          fb::CreateExternalBuffer(b, /*id=*/7, /*group=*/0, /*offset=*/4, /*length=*/8)};
      groups = b.CreateVector(group);
      externals = b.CreateVector(external);
    }
    fb::ModelBuilder model(b);
    model.add_version(3);
    model.add_operator_codes(codes_at);
    model.add_subgraphs(graphs_at);
    model.add_buffers(buffers_at);
    model.add_signature_defs(defs_at);
    if (!groups.IsNull()) {
      model.add_external_buffer_groups(groups);
      model.add_external_buffers(externals);
    }
    b.Finish(model.Finish(), fb::ModelIdentifier());
    std::string file(reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize());
    if (!behind) return file;
    // The places are known when the FlatBuffer's size is.
    std::vector<uint64_t> at(tensors.size());
    uint64_t end = file.size();
    for (size_t i = 0; i < tensors.size(); ++i) {
      at[i] = end;
      end += tensors[i].bytes.size();
      rest += tensors[i].bytes;
    }
    return places ? file + rest : Make(&at);
  }
};

}  // namespace x2ir::tflite_files

#endif  // X2IR_TESTS_FORMATS_TFLITE_FILE_UTIL_H_
