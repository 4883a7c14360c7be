// See tables_internal.h.
#include <algorithm>

#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/tensorflow/table_contents.h"
#include "x2ir/formats/tensorflow/tables_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {
namespace {

constexpr int kMaxCallDepth = 100;  // of calls
constexpr int kMaxHops = 100;       // over identities
constexpr size_t kMaxFile = size_t{1} << 28;

constexpr std::string_view kTables[] = {"HashTable", "HashTableV2", "MutableHashTable",
                                        "MutableHashTableV2"};
constexpr std::string_view kFillers[] = {
    "InitializeTable",   "InitializeTableFromTextFile", "InitializeTableFromTextFileV2",
    "InitializeTableV2", "LookupTableImport",           "LookupTableImportV2"};
// After these ops the content of a table is not known.
constexpr std::string_view kChangers[] = {"LookupTableInsert", "LookupTableInsertV2",
                                          "LookupTableRemoveV2"};

bool IsOneOf(std::string_view op, absl::Span<const std::string_view> ops) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}
bool Touches(std::string_view op) { return FillsTable(op) || IsOneOf(op, kChangers); }
bool ReadsFile(std::string_view op) { return op.starts_with("InitializeTableFromTextFile"); }

// What an attribute says, or nothing.
template <typename T>
std::optional<T> Get(const Source& source, const NodeProto& node, std::string_view name) {
  const std::string_view bytes = node.attr(name);
  if (bytes.empty()) return std::nullopt;
  const absl::StatusOr<AttrProto> attr = ReadAttr(source, bytes);
  const T* value = attr.ok() ? attr->value.get<T>() : nullptr;
  return value ? std::optional<T>(*value) : std::nullopt;
}

absl::StatusOr<Tensor> ConstantOf(const Source& source, const NodeProto& node) {
  WireReader in = source.Fields(node.attr("value"));
  std::optional<std::string_view> bytes;
  while (in.Next()) {
    if (in.field() == attr_value_field::kTensor) bytes = in.Bytes();
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (!bytes) return Invalid("'", node.name, "' is not a constant");
  return ReadTensor(source, *bytes);
}

// Text as the bytes of an element of that type.
absl::StatusOr<std::string> Element(std::string_view text, DType dtype) {
  const auto number = [&](auto value) -> absl::StatusOr<std::string> {
    const auto number = ParseNumber<decltype(value)>(text);
    if (!number) return Invalid("'", text.substr(0, 40), "' is no ", Name(dtype));
    return std::string(reinterpret_cast<const char*>(&*number), sizeof(value));
  };
  switch (dtype) {
    case DType::kString: return std::string(text);
    case DType::kInt32: return number(int32_t{});
    case DType::kInt64: return number(int64_t{});
    default: return Unimplemented("text as ", Name(dtype));
  }
}

}  // namespace

bool IsTable(std::string_view op) { return IsOneOf(op, kTables); }
bool FillsTable(std::string_view op) { return IsOneOf(op, kFillers); }

// --- Who fills what -----------------------------------------------------------------------------

void Tables::FindFillers(const GraphProto& proto) {
  absl::flat_hash_map<const FunctionProto*, std::vector<const FunctionProto*>> callers;
  std::vector<const FunctionProto*> todo;
  for (const FunctionProto& function : proto.functions) {
    if (std::any_of(function.nodes.begin(), function.nodes.end(),
                    [](const NodeProto& node) { return Touches(node.op); })) {
      fillers_.insert(&function);
      todo.push_back(&function);
    }
  }
  if (todo.empty()) return;
  for (const FunctionProto& function : proto.functions) {
    for (const NodeProto& node : function.nodes) {
      for (const FunctionProto* callee : library_.NamedBy(node)) {
        callers[callee].push_back(&function);
      }
    }
  }
  while (!todo.empty()) {
    const FunctionProto* callee = todo.back();
    todo.pop_back();
    for (const FunctionProto* caller : callers[callee]) {
      if (fillers_.insert(caller).second) todo.push_back(caller);
    }
  }
}

absl::Status Tables::Scan(const GraphProto& proto, const Body& graph) {
  const bool any = std::any_of(proto.nodes.begin(), proto.nodes.end(),
                               [](const NodeProto& node) { return Touches(node.op); });
  FindFillers(proto);
  return any || !fillers_.empty() ? Walk(graph, {}, 0) : absl::OkStatus();
}

Tables::Origin Tables::OriginOf(const Body& body, std::string_view input,
                                const std::vector<Origin>& args, bool may_restore) {
  for (int hops = 0; hops < kMaxHops; ++hops) {
    const absl::StatusOr<Ref> ref = body.Resolve(input);
    if (!ref.ok()) return {};
    const auto index = static_cast<size_t>(ref->index);
    if (!ref->node) return index < args.size() ? args[index] : Origin();
    const NodeProto& node = *ref->node;
    if (node.op == "RestoreV2" && node.inputs.size() == 3 && may_restore && left_ > 0) {
      const Origin names = OriginOf(body, node.inputs[1], args, /*may_restore=*/false);
      const absl::StatusOr<Tensor> keys = ValueOf(names);
      if (!keys.ok() || !keys->is_string() || index >= keys->strings().size()) return {};
      left_ -= keys->num_elements();
      return {&node, body.is_graph(), keys->strings()[index]};
    }
    if (index != 0) return {};
    if (node.op == "Const" || IsTable(node.op)) return {&node, body.is_graph(), {}};
    if (node.op != "Identity" || node.inputs.empty()) return {};
    input = node.inputs[0];
  }
  return {};
}

absl::Status Tables::Walk(const Body& body, const std::vector<Origin>& args, int depth) {
  if (depth > 0) left_ -= 1 + static_cast<int64_t>(body.nodes().size());
  if (left_ < 0) return Invalid("the functions that fill tables are too many nodes");
  if (depth > kMaxCallDepth) return Invalid("calls are nested more than ", kMaxCallDepth, " deep");
  for (const NodeProto& node : body.nodes()) {
    std::vector<Origin> operands;
    const auto look = [&] {
      for (const std::string_view input : node.inputs) {
        if (!input.starts_with('^')) operands.push_back(OriginOf(body, input, args));
      }
    };
    if (Touches(node.op)) {
      look();
      const NodeProto* table = operands.empty() ? nullptr : operands[0].node;
      if (!table || !IsTable(table->op)) {
        unknown_ = true;
        continue;
      }
      X2IR_ASSIGN_OR_RETURN(const std::string name, NameOf(*table));
      fillings_[name].push_back({&node, std::move(operands)});
      continue;
    }
    for (const FunctionProto* callee : library_.NamedBy(node)) {
      if (!fillers_.contains(callee)) continue;
      if (callee != library_.Called(node)) {
        unknown_ = true;  // of a branch or a loop
        continue;
      }
      look();
      if (operands.size() != callee->inputs.size())
        return Invalid("the arguments of a call do not match its function");
      Body inner(library_, callee->nodes, callee, 0);
      X2IR_RETURN_IF_ERROR(inner.Index());
      X2IR_RETURN_IF_ERROR(Walk(inner, operands, depth + 1));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Tables::NameOf(const NodeProto& table) const {
  const auto shared = Get<std::string>(library_.source(), table, "shared_name");
  return shared && !shared->empty() ? *shared : std::string(table.name);
}

// --- What a table holds -------------------------------------------------------------------------

absl::StatusOr<Tensor> Tables::Contents(const NodeProto& table) {
  X2IR_ASSIGN_OR_RETURN(const std::string name, NameOf(table));
  if (const auto it = contents_.find(name); it != contents_.end()) return it->second;
  const auto read = [&]() -> absl::StatusOr<Tensor> {
    if (unknown_) return Unimplemented("an op in the file fills a table that cannot be identified");
    const auto it = fillings_.find(name);
    if (it == fillings_.end()) return Unimplemented("no op in the file fills it");
    std::optional<Tensor> contents;
    for (const Filling& filling : it->second) {
      absl::StatusOr<Tensor> got = Read(filling, table);
      if (!got.ok()) return Annotate(got.status(), StrCat("'", filling.node->name, "'"));
      if (contents && *contents != *got)
        return Unimplemented("two ops fill it with different entries");
      contents = *std::move(got);
    }
    return *std::move(contents);
  };
  return contents_.emplace(name, read()).first->second;
}

absl::StatusOr<Tensor> Tables::ValueOf(const Origin& origin) const {
  if (!origin.node) return Unimplemented("its entries are computed in the graph");
  if (origin.restored.empty()) return ConstantOf(library_.source(), *origin.node);
  const Variables* variables = library_.variables();
  if (!variables) return Unimplemented("its entries are in a checkpoint that is missing");
  X2IR_RETURN_IF_ERROR(variables->checkpoint.status());
  return (*variables->checkpoint)->Variable(origin.restored);
}

absl::StatusOr<Tensor> Tables::Read(const Filling& filling, const NodeProto& table) const {
  const Source& source = library_.source();
  if (!FillsTable(filling.node->op)) return Unimplemented("its entries change at run time");
  const Type key_type = Get<Type>(source, table, "key_dtype").value_or(Type());
  const Type value_type = Get<Type>(source, table, "value_dtype").value_or(Type());
  const DType key = key_type.is_tensor() ? key_type.dtype() : DType::kUndefined;
  const DType value = value_type.is_tensor() ? value_type.dtype() : DType::kUndefined;
  const auto whole = [](DType t) { return t == DType::kString || BitWidth(t) % 8 == 0; };
  if (key == DType::kUndefined || value == DType::kUndefined || !whole(key) || !whole(value)) {
    return Unimplemented("a table whose key or value type is unknown");
  }
  if (ReadsFile(filling.node->op)) return ReadFile(filling, key, value);
  if (filling.operands.size() != 3) return Invalid("expected keys and values");
  X2IR_ASSIGN_OR_RETURN(const Tensor keys, ValueOf(filling.operands[1]));
  X2IR_ASSIGN_OR_RETURN(const Tensor values, ValueOf(filling.operands[2]));
  if (keys.dtype() != key || values.dtype() != value) {
    return Invalid("keys of ", Name(keys.dtype()), " and values of ", Name(values.dtype()),
                   " for a table of ", Name(key), " and ", Name(value));
  }
  return PackTfTable(keys, values);
}

absl::StatusOr<Tensor> Tables::ReadFile(const Filling& filling, DType key, DType value) const {
  const Source& source = library_.source();
  const NodeProto& node = *filling.node;
  if (filling.operands.size() != 2) return Invalid("expected a file's name");
  const Origin& origin = filling.operands[1];
  if (!origin.node) return Unimplemented("the file's name is computed");
  const auto named = origin.in_graph ? files_.find(StrCat(origin.node->name, ":0")) : files_.end();
  if (named == files_.end() || !assets_.exist()) {
    return Unimplemented("the file with its entries is not one of the model's files");
  }
  const std::string_view name = named->second;
  X2IR_ASSIGN_OR_RETURN(const BlobPtr file, assets_.OpenAsset(name));
  if (file->size() > kMaxFile) {
    return Unimplemented("'", file->path(), "' is larger than ", kMaxFile, " bytes");
  }

  const std::string delimiter = Get<std::string>(source, node, "delimiter").value_or("\t");
  const int64_t size = Get<int64_t>(source, node, "vocab_size").value_or(-1);
  if (Get<int64_t>(source, node, "offset").value_or(0) != 0) return Unimplemented("an offset");
  if (delimiter.size() != 1)
    return Invalid("the delimiter '", delimiter, "' is not a single character");
  std::vector<std::string> all[2];  // keys, values
  std::string_view rest = file->view();
  std::string line;
  for (int64_t number = 0; !rest.empty() && (size < 0 || number < size); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    std::erase(line, '\r');
    for (const bool is_value : {false, true}) {
      const char* attr = is_value ? "value_index" : "key_index";
      const DType dtype = is_value ? value : key;
      const auto index = Get<int64_t>(source, node, attr);
      if (!index || *index < kWholeLine) return Invalid("attribute '", attr, "' is not a column");
      std::string_view text = line;
      if (*index == kLineNumber) {
        if (dtype != DType::kInt64) return Invalid("numbers of lines are int64");
        all[is_value].emplace_back(reinterpret_cast<const char*>(&number), sizeof(number));
        continue;
      }
      for (int64_t i = 0; i < *index; ++i) {
        const size_t at = text.find(delimiter[0]);
        if (at == std::string_view::npos) {
          return Invalid("line ", number + 1, " of '", name, "' has ", i + 1, " columns");
        }
        text.remove_prefix(at + 1);
      }
      if (*index >= 0) text = text.substr(0, text.find(delimiter[0]));
      X2IR_ASSIGN_OR_RETURN(std::string element, Element(text, dtype));
      all[is_value].push_back(std::move(element));
    }
  }
  if (size >= 0 && static_cast<int64_t>(all[0].size()) != size) {
    return Invalid("'", name, "' has ", all[0].size(), " lines, vocab_size is ", size);
  }
  const auto count = static_cast<int64_t>(all[0].size());
  return PackTfTable(Tensor::Strings({count}, std::move(all[0])),
                     Tensor::Strings({count}, std::move(all[1])));
}

}  // namespace x2ir::tf_format
