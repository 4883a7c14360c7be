// TensorFlow's messages made byte by byte, for tests.
#ifndef X2IR_TESTS_FORMATS_TF_PROTO_UTIL_H_
#define X2IR_TESTS_FORMATS_TF_PROTO_UTIL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/formats/tensorflow/tensorflow.h"

namespace x2ir::tf_proto {

// Pieces of wire format.
std::string Varint(uint64_t value);
std::string Int(uint32_t field, int64_t value);
std::string Bytes(uint32_t field, std::string_view bytes);  // strings and messages
std::string Float(float value);                             // four bytes

enum : int64_t { kFloat = 1, kInt32 = 3, kString = 7, kInt64 = 9, kBool = 10, kResource = 20 };

// AttrValues.
std::string TypeAttr(int64_t type);
std::string IntAttr(int64_t value);
std::string StringAttr(std::string_view text);
std::string FuncAttr(std::string_view name);
std::string ShapeAttr(const std::vector<int64_t>& dims);
std::string TensorAttr(std::string_view tensor);

std::string ShapeProto(const std::vector<int64_t>& dims);
// TensorProto with tensor_content.
std::string TensorProto(int64_t type, const std::vector<int64_t>& dims, std::string_view content);

using Attrs = std::vector<std::pair<std::string, std::string>>;
std::string NodeDef(std::string_view name, std::string_view op,
                    const std::vector<std::string>& inputs, const Attrs& attrs = {});
// A placeholder of float32; dims of -1 are not known.
std::string PlaceholderOf(std::string_view name, const std::vector<int64_t>& dims);
// GraphDef of NodeDefs; FunctionDefs; of that producer.
std::string GraphDef(const std::vector<std::string>& nodes,
                     const std::vector<std::string>& functions = {}, int64_t producer = 200);
// FunctionDef. Arguments: name and type; results: name and "node:argument:index".
struct Arg {
  std::string name;
  int64_t type;
};
std::string FunctionDef(std::string_view name, const std::vector<Arg>& inputs,
                        const std::vector<Arg>& outputs, const std::vector<std::string>& nodes,
                        const std::vector<std::pair<std::string, std::string>>& rets,
                        const std::vector<std::string>& control_rets = {});

// A tensor of a signature.
struct Port {
  std::string name, tensor;
  int64_t type;
  std::vector<int64_t> dims;
};
// One graph of a SavedModel, with a signature; and the SavedModel of graphs.
struct Meta {
  std::string graph, signature;
  std::vector<Port> inputs, outputs;
  std::vector<std::string> tags = {"serve"};
  std::string checkpoint_name{}, restore_op{};  // of its saver
};
std::string MetaGraph(const Meta& meta);
std::string SavedModel(const std::vector<std::string>& meta_graphs);
std::string SavedModel(std::string_view graph, std::string_view signature,
                       const std::vector<Port>& inputs, const std::vector<Port>& outputs);

// y = x + w, in a function that is given the variable "dense/kernel": a SavedModel.
std::string SavedSum();
// The graph of a file's bytes in IR as text, or the error.
std::string ImportedText(const std::string& bytes, const TensorFlowOptions& options = {});

// A checkpoint: the bytes of variables.index, and of the data files.
struct Variable {
  std::string key;
  int64_t type;
  std::vector<int64_t> dims;
  std::string bytes;
  size_t shard = 0;
  std::string slices{};  // fields of the entry that say which slices there are
  uint32_t crc = 0;
};
struct CheckpointFiles {
  std::string index;
  std::vector<std::string> data;
};
CheckpointFiles Checkpoint(std::vector<Variable> variables, size_t shards = 1, bool snappy = false);
// A file of blocks, each of these entries, made as the index is.
using Entries = std::vector<std::pair<std::string, std::string>>;
std::string SortedTable(const std::vector<Entries>& blocks, bool snappy = false);
// The pieces of one: a block with its checksum, and a file of blocks that lie where `index` says
// (names, and offsets and sizes without checksums).
std::string TableBlock(const Entries& entries, bool snappy = false);
std::string TableOf(std::string blocks, const Entries& index, bool snappy = false);
// A tensor of strings as a variable.
Variable StringVariable(std::string_view key, const std::vector<int64_t>& dims,
                        const std::vector<std::string>& strings);
// The object graph's bytes as a variable of it: variables' names and keys.
Variable ObjectGraph(const std::vector<std::pair<std::string, std::string>>& names);
// As files have it, of `bytes` behind others whose (unmasked) checksum is `crc`.
uint32_t Crc(std::string_view bytes, uint32_t crc = 0);
std::string Masked(uint32_t crc);

}  // namespace x2ir::tf_proto

#endif  // X2IR_TESTS_FORMATS_TF_PROTO_UTIL_H_
