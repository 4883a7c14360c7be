#include "tests/formats/tf_proto_util.h"

#include <algorithm>
#include <cstring>

#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir::tf_proto {
namespace {

std::string Entry(std::string_view key, std::string_view value) {
  return Bytes(1, key) + Bytes(2, value);
}

// A block of a table: entries whose keys share nothing or as much as they can, one restart.
std::string Block(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string block, last;
  for (const auto& [key, value] : entries) {
    size_t shared = 0;
    while (shared < std::min(key.size(), last.size()) && key[shared] == last[shared]) ++shared;
    block += Varint(shared) + Varint(key.size() - shared) + Varint(value.size()) +
             key.substr(shared) + value;
    last = key;
  }
  return block + std::string(4, '\0') + std::string("\1\0\0\0", 4);
}

// Bytes as Snappy has those that do not repeat.
std::string Literal(std::string_view bytes) {
  std::string out;
  for (; !bytes.empty(); bytes.remove_prefix(std::min<size_t>(bytes.size(), 60))) {
    const std::string_view some = bytes.substr(0, 60);
    out.push_back(static_cast<char>((some.size() - 1) << 2));
    out += some;
  }
  return out;
}

}  // namespace

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}
std::string Int(uint32_t field, int64_t value) {
  return Varint(field << 3) + Varint(static_cast<uint64_t>(value));
}
std::string Bytes(uint32_t field, std::string_view bytes) {
  return Varint(field << 3 | 2) + Varint(bytes.size()) + std::string(bytes);
}
std::string Float(float value) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &value, 4);
  return bytes;
}

std::string TypeAttr(int64_t type) { return Int(6, type); }
std::string IntAttr(int64_t value) { return Int(3, value); }
std::string StringAttr(std::string_view text) { return Bytes(2, text); }
std::string FuncAttr(std::string_view name) { return Bytes(10, Bytes(1, name)); }
std::string ShapeAttr(const std::vector<int64_t>& dims) { return Bytes(7, ShapeProto(dims)); }
std::string TensorAttr(std::string_view tensor) { return Bytes(8, tensor); }

std::string ShapeProto(const std::vector<int64_t>& dims) {
  std::string shape;
  for (const int64_t dim : dims) shape += Bytes(2, Int(1, dim));
  return shape;
}

std::string TensorProto(int64_t type, const std::vector<int64_t>& dims, std::string_view content) {
  return Int(1, type) + Bytes(2, ShapeProto(dims)) + Bytes(4, content);
}

std::string NodeDef(std::string_view name, std::string_view op,
                    const std::vector<std::string>& inputs, const Attrs& attrs) {
  std::string node = Bytes(1, name) + Bytes(2, op);
  for (const std::string& input : inputs) node += Bytes(3, input);
  for (const auto& [key, value] : attrs) node += Bytes(5, Entry(key, value));
  return node;
}

std::string GraphDef(const std::vector<std::string>& nodes,
                     const std::vector<std::string>& functions, int64_t producer) {
  std::string graph;
  for (const std::string& node : nodes) graph += Bytes(1, node);
  std::string library;
  for (const std::string& function : functions) library += Bytes(1, function);
  if (!functions.empty()) graph += Bytes(2, library);
  return graph + Bytes(4, Int(1, producer));
}

std::string FunctionDef(std::string_view name, const std::vector<Arg>& inputs,
                        const std::vector<Arg>& outputs, const std::vector<std::string>& nodes,
                        const std::vector<std::pair<std::string, std::string>>& rets,
                        const std::vector<std::string>& control_rets) {
  std::string signature = Bytes(1, name);
  for (const Arg& arg : inputs) signature += Bytes(2, Bytes(1, arg.name) + Int(3, arg.type));
  for (const Arg& arg : outputs) signature += Bytes(3, Bytes(1, arg.name) + Int(3, arg.type));
  std::string function = Bytes(1, signature);
  for (const std::string& node : nodes) function += Bytes(3, node);
  for (const auto& [output, from] : rets) function += Bytes(4, Entry(output, from));
  for (const std::string& node : control_rets) function += Bytes(6, Entry(node, node));
  return function;
}

std::string MetaGraph(const Meta& meta) {
  const auto port = [](const Port& p) {
    return Entry(p.name, Bytes(1, p.tensor) + Int(2, p.type) + Bytes(3, ShapeProto(p.dims)));
  };
  std::string def, info;
  for (const Port& p : meta.inputs) def += Bytes(1, port(p));
  for (const Port& p : meta.outputs) def += Bytes(2, port(p));
  for (const std::string& tag : meta.tags) info += Bytes(4, tag);
  const std::string saver = Bytes(1, meta.checkpoint_name) + Bytes(3, meta.restore_op);
  return Bytes(1, info + Bytes(5, "2.15.0")) + Bytes(2, meta.graph) + Bytes(3, saver) +
         Bytes(5, Entry(meta.signature, def));
}

std::string SavedModel(const std::vector<std::string>& meta_graphs) {
  std::string model = Int(1, 1);
  for (const std::string& meta : meta_graphs) model += Bytes(2, meta);
  return model;
}

std::string SavedModel(std::string_view graph, std::string_view signature,
                       const std::vector<Port>& inputs, const std::vector<Port>& outputs) {
  return SavedModel({MetaGraph({std::string(graph), std::string(signature), inputs, outputs})});
}

std::string TableBlock(const Entries& entries, bool snappy) {
  std::string block = Block(entries);
  if (snappy) block = Varint(block.size()) + Literal(block);
  block.push_back(snappy ? '\1' : '\0');
  return block + Masked(Crc(block));
}

std::string TableOf(std::string blocks, const Entries& index, bool snappy) {
  std::string footer;
  for (const Entries& entries : {Entries(), index}) {
    const std::string block = TableBlock(entries, snappy);
    footer += Varint(blocks.size()) + Varint(block.size() - 5);
    blocks += block;
  }
  footer.resize(40, '\0');
  return blocks + footer + std::string("\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
}

std::string SortedTable(const std::vector<Entries>& blocks, bool snappy) {
  std::string bytes;
  Entries index;
  for (const Entries& entries : blocks) {
    const std::string block = TableBlock(entries, snappy);
    index.emplace_back((entries.empty() ? "" : entries.back().first) + "~",
                       Varint(bytes.size()) + Varint(block.size() - 5));
    bytes += block;
  }
  return TableOf(bytes, index, snappy);
}

CheckpointFiles Checkpoint(std::vector<Variable> variables, size_t shards, bool snappy) {
  std::sort(variables.begin(), variables.end(),
            [](const Variable& a, const Variable& b) { return a.key < b.key; });
  CheckpointFiles files;
  files.data.resize(shards);
  Entries entries = {{"", Int(1, static_cast<int64_t>(shards))}};
  for (const Variable& v : variables) {
    std::string& data = files.data[v.shard];
    entries.emplace_back(v.key, Int(1, v.type) + Bytes(2, ShapeProto(v.dims)) +
                                    Int(3, static_cast<int64_t>(v.shard)) +
                                    Int(4, static_cast<int64_t>(data.size())) +
                                    Int(5, static_cast<int64_t>(v.bytes.size())) +
                                    Varint(6 << 3 | 5) + Masked(v.crc) + v.slices);
    data += v.bytes;
  }
  // Two blocks, so that the index of blocks is used.
  const size_t half = (entries.size() + 1) / 2;
  std::vector<Entries> blocks(2);
  for (size_t i = 0; i < entries.size(); ++i) blocks[i >= half].push_back(entries[i]);
  files.index = SortedTable(blocks, snappy);
  return files;
}

Variable StringVariable(std::string_view key, const std::vector<int64_t>& dims,
                        const std::vector<std::string>& strings) {
  Variable variable{std::string(key), kString, dims, ""};
  for (const std::string& text : strings) {
    const auto size = static_cast<uint32_t>(text.size());
    variable.bytes += Varint(size);
    variable.crc = Crc({reinterpret_cast<const char*>(&size), sizeof(size)}, variable.crc);
  }
  const std::string lengths = Masked(variable.crc);
  variable.crc = Crc(lengths, variable.crc);
  variable.bytes += lengths;
  for (const std::string& text : strings) {
    variable.bytes += text;
    variable.crc = Crc(text, variable.crc);
  }
  return variable;
}

Variable ObjectGraph(const std::vector<std::pair<std::string, std::string>>& names) {
  std::string graph;
  for (const auto& [name, key] : names) {
    graph += Bytes(1, Bytes(2, Bytes(1, "VARIABLE_VALUE") + Bytes(2, name) + Bytes(3, key)));
  }
  return StringVariable("_CHECKPOINTABLE_OBJECT_GRAPH", {}, {graph});
}

// By its definition, bit by bit.
uint32_t Crc(std::string_view bytes, uint32_t crc) {
  crc = ~crc;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc % 2 == 1 ? 0x82f63b78u : 0u);
  }
  return ~crc;
}

std::string Masked(uint32_t crc) {
  const uint32_t masked = ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
  return {reinterpret_cast<const char*>(&masked), sizeof(masked)};
}

std::string PlaceholderOf(std::string_view name, const std::vector<int64_t>& dims) {
  return NodeDef(name, "Placeholder", {},
                 {{"dtype", TypeAttr(kFloat)}, {"shape", ShapeAttr(dims)}});
}

std::string SavedSum() {
  const std::string graph = GraphDef(
      {PlaceholderOf("serving_default_x", {-1, 2}),
       NodeDef("dense/kernel", "VarHandleOp", {}, {{"shared_name", StringAttr("dense/kernel")}}),
       NodeDef("StatefulPartitionedCall", "StatefulPartitionedCall",
               {"serving_default_x", "dense/kernel"}, {{"f", FuncAttr("__inference")}})},
      {FunctionDef(
          "__inference", {{"x", kFloat}, {"w", kResource}}, {{"out", kFloat}},
          {NodeDef("read", "ReadVariableOp", {"w"}), NodeDef("add", "Add", {"x", "read:value:0"})},
          {{"out", "add:z:0"}})});
  return SavedModel(graph, "serving_default", {{"x", "serving_default_x:0", kFloat, {-1, 2}}},
                    {{"y", "StatefulPartitionedCall:0", kFloat, {-1, 2}}});
}

std::string ImportedText(const std::string& bytes, const TensorFlowOptions& options) {
  absl::StatusOr<Model> model = ParseTensorFlow(bytes, options);
  if (!model.ok()) return model.status().ToString();
  if (const absl::Status s = ToIr(*model); !s.ok()) return s.ToString();
  if (const auto problems = model->graph->Validate(); !problems.empty()) return problems[0];
  return ToText(*model->graph);
}

}  // namespace x2ir::tf_proto
