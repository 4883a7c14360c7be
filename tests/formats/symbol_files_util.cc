#include "tests/formats/symbol_files_util.h"

#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::symbol_files {
namespace {

// Little-endian, byte by byte.
template <typename T>
std::string Le(T value) {
  std::string out;
  auto bits = static_cast<uint64_t>(value);
  for (size_t i = 0; i < sizeof(T); ++i, bits >>= 8) out.push_back(static_cast<char>(bits & 0xff));
  return out;
}

std::string Dims(const std::vector<int64_t>& shape) {
  std::string out = Le<uint32_t>(static_cast<uint32_t>(shape.size()));
  for (const int64_t dim : shape) out += Le<int64_t>(dim);
  return out;
}

std::string FloatBytes(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}
std::string LongBytes(const std::vector<int64_t>& values) {
  std::string out;
  for (const int64_t value : values) out += Le<int64_t>(value);
  return out;
}

std::string Text(const std::string& text) { return Le<uint64_t>(text.size()) + text; }

}  // namespace

Array Floats(std::vector<int64_t> shape, const std::vector<float>& values) {
  return {std::move(shape), FloatBytes(values)};
}

std::string ArrayBytes(const Array& array, Version version) {
  std::string out;
  switch (version) {
    case Version::kLegacy:
      out = Le<uint32_t>(static_cast<uint32_t>(array.shape.size()));
      for (const int64_t dim : array.shape) out += Le<uint32_t>(static_cast<uint32_t>(dim));
      break;
    case Version::k1: out = Le<uint32_t>(0xF993FAC8) + Dims(array.shape); break;
    case Version::k2: out = Le<uint32_t>(0xF993FAC9) + Le<int32_t>(0) + Dims(array.shape); break;
    case Version::k3: out = Le<uint32_t>(0xF993FACA) + Le<int32_t>(0) + Dims(array.shape); break;
  }
  return out + Le<int32_t>(1) + Le<int32_t>(0) + Le<int32_t>(array.mxnet_type) + array.bytes;
}

std::string RowSparse(const std::vector<int64_t>& shape, const std::vector<int64_t>& rows,
                      const std::vector<float>& values) {
  std::vector<int64_t> stored = shape;
  stored[0] = static_cast<int64_t>(rows.size());
  return Le<uint32_t>(0xF993FAC9) + Le<int32_t>(1) + Dims(stored) + Dims(shape) + Le<int32_t>(1) +
         Le<int32_t>(0) + Le<int32_t>(0) + Le<int32_t>(6) + Dims({stored[0]}) + FloatBytes(values) +
         LongBytes(rows);
}

std::string Csr(const std::vector<int64_t>& shape, const std::vector<int64_t>& starts,
                const std::vector<int64_t>& columns, const std::vector<float>& values) {
  const auto count = static_cast<int64_t>(values.size());
  return Le<uint32_t>(0xF993FAC9) + Le<int32_t>(2) + Dims({count}) + Dims(shape) + Le<int32_t>(1) +
         Le<int32_t>(0) + Le<int32_t>(0) + Le<int32_t>(6) +
         Dims({static_cast<int64_t>(starts.size())}) + Le<int32_t>(6) + Dims({count}) +
         FloatBytes(values) + LongBytes(starts) + LongBytes(columns);
}

std::string MxnetList(const Named& arrays) {
  std::string out = Le<uint64_t>(0x112) + Le<uint64_t>(0) + Le<uint64_t>(arrays.size());
  for (const auto& entry : arrays) out += entry.second;
  out += Le<uint64_t>(arrays.size());
  for (const auto& entry : arrays) out += Text(entry.first);
  return out;
}

std::string TvmList(const std::vector<std::pair<std::string, Array>>& arrays) {
  std::string out =
      Le<uint64_t>(0xF7E58D4F05049CB7) + Le<uint64_t>(0) + Le<uint64_t>(arrays.size());
  for (const auto& entry : arrays) out += Text(entry.first);
  out += Le<uint64_t>(arrays.size());
  for (const auto& entry : arrays) {
    const Array& a = entry.second;
    out += Le<uint64_t>(0xDD5E40F096B4A13F) + Le<uint64_t>(0) + Le<int32_t>(1) + Le<int32_t>(0) +
           Le<int32_t>(static_cast<int32_t>(a.shape.size())) + Le<uint8_t>(a.tvm_code) +
           Le<uint8_t>(a.tvm_bits) + Le<uint16_t>(1);
    for (const int64_t dim : a.shape) out += Le<int64_t>(dim);
    out += Le<int64_t>(static_cast<int64_t>(a.bytes.size())) + a.bytes;
  }
  return out;
}

std::string SymbolJson(const std::vector<SymbolLine>& nodes, const std::string& heads,
                       const std::string& attrs) {
  std::string out = "{\n  \"nodes\": [", args;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const SymbolLine& node = nodes[i];
    std::string inputs;
    for (const std::vector<int>& entry : node.inputs) {
      std::string numbers;
      for (const int number : entry) StrAppend(&numbers, numbers.empty() ? "" : ", ", number);
      StrAppend(&inputs, inputs.empty() ? "" : ", ", "[", numbers, "]");
    }
    StrAppend(&out, i == 0 ? "" : ",", "\n    {\"op\": \"", node.op, "\", \"name\": \"", node.name,
              "\"");
    if (!node.attrs.empty()) StrAppend(&out, ", \"", node.key, "\": ", node.attrs);
    StrAppend(&out, ", \"inputs\": [", inputs, "]", node.more, "}");
    if (node.op == "null") StrAppend(&args, args.empty() ? "" : ", ", i);
  }
  StrAppend(&out, "\n  ],\n  \"arg_nodes\": [", args, "],\n  \"heads\": ", heads);
  if (!attrs.empty()) StrAppend(&out, ",\n  \"attrs\": ", attrs);
  return out + "\n}\n";
}

std::string NetworkJson(int version) {
  const bool old = version < 900;
  const std::string key = old ? "param" : version < 10000 ? "attr" : "attrs";
  const auto entry = [&](int node) {
    return old ? std::vector<int>{node, 0} : std::vector<int>{node, 0, 0};
  };
  const std::string back = old ? ", \"backward_source_id\": -1" : "";
  const std::string conv =
      R"j({"kernel": "(3, 3)", "num_filter": "2", "no_bias": "True", "pad": "(1, 1)"})j";
  const std::string bn = R"({"eps": "0.0", "fix_gamma": "True", "momentum": "0.9"})";
  std::vector<SymbolLine> nodes = {{"null", "data"},
                                   {"null", "conv_weight"},
                                   {"Convolution", "conv", {entry(0), entry(1)}, conv, key, back},
                                   {"null", "bn_gamma"},
                                   {"null", "bn_beta"}};
  std::vector<std::vector<int>> operands = {entry(2), entry(3), entry(4)};
  if (!old) {
    nodes.push_back({"null", "bn_moving_mean"});
    nodes.push_back({"null", "bn_moving_var"});
    operands.push_back({5, 0, 1});
    operands.push_back({6, 0, 1});
  }
  const int at = static_cast<int>(nodes.size());
  // Hints for training stand under keys of their own, or among the attributes.
  const std::string hints = old ? ", \"attr\": {\"lr_mult\": \"2\"}" : "";
  nodes.push_back({"BatchNorm", "bn", operands, bn, key, back + hints});
  nodes.push_back({"Pooling",
                   "pool",
                   {entry(at)},
                   R"j({"global_pool": "True", "kernel": "(1, 1)", "pool_type": "avg"})j",
                   key,
                   back});
  nodes.push_back({"Flatten", "flat", {entry(at + 1)}, old ? "{}" : "", key, back});
  nodes.push_back({"null", "softmax_label"});
  nodes.push_back({"SoftmaxOutput",
                   "softmax",
                   {entry(at + 2), entry(at + 3)},
                   old ? R"({"grad_scale": "1", "multi_output": "False"})" : "",
                   key,
                   back});
  const std::string heads = old ? StrCat("[[", at + 4, ", 0]]") : StrCat("[[", at + 4, ", 0, 0]]");
  return SymbolJson(nodes, heads,
                    old ? "" : StrCat("{\"mxnet_version\": [\"int\", ", version, "]}"));
}

std::string NetworkParams(Version version) {
  const auto array = [&](std::vector<int64_t> shape, const std::vector<float>& values) {
    return ArrayBytes(Floats(std::move(shape), values), version);
  };
  return MxnetList({{"arg:conv_weight", array({2, 1, 3, 3}, std::vector<float>(18, 1))},
                    {"arg:bn_gamma", array({2}, {5, 5})},
                    {"arg:bn_beta", array({2}, {0, 1})},
                    {"aux:bn_moving_mean", array({2}, {0, 0})},
                    {"aux:bn_moving_var", array({2}, {1, 1})}});
}

}  // namespace x2ir::symbol_files
