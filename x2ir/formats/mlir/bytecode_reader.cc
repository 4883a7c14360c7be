// Reads the operations of MLIR bytecode.
#include <algorithm>
#include <utility>

#include "x2ir/formats/mlir/bytecode.h"
#include "x2ir/formats/mlir/bytecode_values_internal.h"

namespace x2ir::mlir {
namespace {

constexpr int kMaxRegionDepth = 200;

// The properties of operations that no table of facts has, in the order of their names. An
// operation has several rows: newer versions added some, and the one that holds all bytes is meant.
// A name that ends with "?" may be left out.
struct PropertiesRow {
  std::string_view op;
  std::vector<std::string_view> names;
};
const std::vector<PropertiesRow>& PropertiesRows() {
  static const auto& rows = *new std::vector<PropertiesRow>{
      {"builtin.module", {"sym_name?", "sym_visibility?"}},
      {"func.func", {"arg_attrs?", "function_type", "res_attrs?", "sym_name", "sym_visibility?"}},
      {"func.func",
       {"arg_attrs?", "function_type", "no_inline?", "res_attrs?", "sym_name", "sym_visibility?"}},
      {"func.call", {"callee"}},
      {"func.call", {"callee", "no_inline?"}},
      {"func.call", {"arg_attrs?", "callee", "no_inline?", "res_attrs?"}},
      {"func.return", {}},
  };
  return rows;
}

class Reader {
 public:
  explicit Reader(BytecodeFile file) : file_(std::move(file)), values_(file_) {}

  absl::StatusOr<Module> Read() {
    module_.producer = file_.producer;
    scopes_.emplace_back();
    ByteReader in = file_.ir;
    ir_end_ = in.position() + in.remaining();
    Block block;
    RegionState none;
    ReadBlock(in, none, block, 0);
    if (in.ok() && !in.empty()) in.Fail("bytes behind the operations");
    X2IR_RETURN_IF_ERROR(in.status());
    if (block.ops.size() == 1 && block.ops[0].name == "builtin.module") {
      module_.top = std::move(block.ops[0]);
    } else {
      module_.top.name = "builtin.module";
      module_.top.regions.emplace_back().blocks.push_back(std::move(block));
    }
    return std::move(module_);
  }

 private:
  // The values that a region defines itself: their numbers in its scope.
  struct RegionState {
    size_t next = 0, end = 0;
  };

  void ReadRegion(ByteReader& in, Region& region, int depth) {
    const size_t num_blocks = in.Count();
    if (num_blocks == 0) return;
    const size_t num_values = in.Count();
    // Each takes a byte at least where it is defined, which is yet to come.
    pending_ += num_values;
    if (in.ok() && pending_ > ir_end_ - in.position()) in.Fail("more values than bytes");
    if (!in.ok()) return;
    std::vector<ValueId>& scope = scopes_.back();
    const size_t base = scope.size();
    RegionState state{base, base + num_values};
    scope.resize(state.end, -1);
    region.blocks.resize(num_blocks);
    for (Block& block : region.blocks) {
      if (in.ok()) ReadBlock(in, state, block, depth);
    }
    pending_ -= state.end - state.next;
    std::vector<ValueId>& same = scopes_.back();  // it may have moved
    for (size_t i = base; i < same.size() && in.ok(); ++i) {
      if (same[i] >= 0 && module_.type(same[i]) == nullptr) in.Fail("a value is not defined");
    }
    same.resize(base);
  }

  void ReadBlock(ByteReader& in, RegionState& state, Block& block, int depth) {
    bool has_arguments = false;
    const uint64_t num_ops = in.Flagged(&has_arguments);
    if (has_arguments) {
      const size_t count = in.Count();
      for (size_t i = 0; i < count && in.ok(); ++i) {
        bool has_location = true;
        const uint64_t type =
            file_.version >= kElidedLocations ? in.Flagged(&has_location) : in.Varint();
        if (has_location) in.Varint();
        block.arguments.push_back(Define(values_.TypeAt(type, in), state, in));
      }
      if (file_.version >= kUseListOrdering && in.Byte() != 0) SkipUseOrders(in, count);
    }
    for (uint64_t i = 0; i < num_ops && in.ok(); ++i) {
      if (in.empty()) return in.Fail("operations are missing");
      block.ops.emplace_back();
      ReadOp(in, state, block.ops.back(), depth);
    }
  }

  void ReadOp(ByteReader& in, RegionState& state, Op& op, int depth) {
    const uint64_t name = in.Varint();
    if (in.ok() && name >= file_.op_names.size()) in.Fail("no such operation name");
    if (!in.ok()) return;
    const BytecodeFile::OpName& named = file_.op_names[name];
    op.name = named.name;
    const uint8_t mask = in.Byte();
    in.Varint();  // the location
    if (mask & kHasAttrs) {
      const Attr& attrs = values_.NextAttr(in);
      if (in.ok() && attrs.kind != Attr::kDict) in.Fail("attributes are not a dictionary");
      op.attrs = attrs.fields;
    }
    if (mask & kHasProperties) ReadProperties(in, named, op);
    std::vector<TypeRef> types;
    if (mask & kHasResults) {
      const size_t count = in.Count();
      for (size_t i = 0; i < count && in.ok(); ++i) types.push_back(values_.NextType(in));
    }
    if (mask & kHasOperands) {
      const size_t count = in.Count();
      for (size_t i = 0; i < count && in.ok(); ++i) op.operands.push_back(Operand(in));
    }
    if (mask & kHasSuccessors) {
      in.Fail(Unimplemented("operation '", op.name.view(), "' jumps to blocks"));
    }
    if (file_.version >= kUseListOrdering && (mask & kHasUseListOrders)) {
      SkipUseOrders(in, types.size());
    }
    bool isolated = false;
    size_t num_regions = 0;
    if (mask & kHasRegions) {
      const uint64_t count = in.Flagged(&isolated);
      if (in.ok() && count > in.remaining()) in.Fail("too many regions");
      if (in.ok()) num_regions = static_cast<size_t>(count);
    }
    for (TypeRef& type : types) {
      if (in.ok()) op.results.push_back(Define(std::move(type), state, in));
    }
    if (num_regions == 0 || !in.ok()) return;
    if (depth >= kMaxRegionDepth) return in.Fail("regions are nested too deeply");
    op.regions.resize(num_regions);
    ByteReader own;
    ByteReader* from = &in;
    if (isolated && file_.version >= kIsolatedSections) {
      uint8_t id = 0;
      own = in.Section(&id);
      if (in.ok() && id != kIrSection) in.Fail("no section of operations");
      if (!in.ok()) return;
      from = &own;
    }
    if (isolated) scopes_.emplace_back();
    for (Region& region : op.regions) {
      if (from->ok()) ReadRegion(*from, region, depth + 1);
    }
    if (isolated) scopes_.pop_back();
    if (from == &own) {
      if (own.ok() && !own.empty()) own.Fail("bytes behind a region");
      if (!own.ok()) in.Fail(own.status());
    }
  }

  // Attributes that an operation declares are not named in the file: the order of their names says
  // which is which.
  void ReadProperties(ByteReader& in, const BytecodeFile::OpName& named, Op& op) {
    const uint64_t index = in.Varint();
    if (in.ok() && index >= file_.properties.size()) in.Fail("no such properties");
    if (!in.ok()) return;
    const ByteReader& bytes = file_.properties[index];
    if (!named.registered) {
      ByteReader own = bytes;
      const Attr& attrs = values_.NextAttr(own);
      if (own.ok()) op.attrs.insert(op.attrs.end(), attrs.fields.begin(), attrs.fields.end());
      if (!own.ok()) in.Fail(own.status());
      return;
    }
    absl::Status status;
    if (const OpFact* fact = FindOp(op.name)) {
      const bool all_there = op.name.view().starts_with("vhlo.");
      std::vector<std::pair<std::string_view, bool>> names;
      for (const AttrFact& attr : fact->attributes) {
        names.emplace_back(attr.name, attr.optional && !all_there);
      }
      status = TakeProperties(bytes, names, op);
    } else {
      status =
          Unimplemented("operation '", op.name.view(), "' is not known (producer '", file_.producer,
                        "'); artifacts of StableHLO ", KnownReleases(), " are read");
      for (const PropertiesRow& row : PropertiesRows()) {
        if (row.op != op.name) continue;
        std::vector<std::pair<std::string_view, bool>> names;
        for (std::string_view name : row.names) {
          const bool optional = name.ends_with('?');
          names.emplace_back(name.substr(0, name.size() - (optional ? 1 : 0)), optional);
        }
        status = TakeProperties(bytes, names, op);
        if (status.ok()) break;
      }
    }
    if (!status.ok()) in.Fail(status);
  }

  absl::Status TakeProperties(ByteReader in,
                              const std::vector<std::pair<std::string_view, bool>>& names, Op& op) {
    AttrList attrs;
    for (const auto& [name, optional] : names) {
      bool present = true;
      Attr attr = optional ? values_.NextOptionalAttr(in, &present) : values_.NextAttr(in);
      if (present) attrs.emplace_back(Symbol(name), std::move(attr));
    }
    if (in.ok() && !in.empty())
      in.Fail(StrCat("properties of '", op.name.view(), "' are not read"));
    X2IR_RETURN_IF_ERROR(in.status());
    op.attrs.insert(op.attrs.end(), std::make_move_iterator(attrs.begin()),
                    std::make_move_iterator(attrs.end()));
    return absl::OkStatus();
  }

  ValueId NewValue(TypeRef type) {
    module_.values.push_back({"", std::move(type)});
    return static_cast<ValueId>(module_.values.size() - 1);
  }

  ValueId Define(TypeRef type, RegionState& state, ByteReader& in) {
    if (!in.ok()) return -1;
    if (state.next == state.end) {
      if (state.end != 0) in.Fail("more values than their region has");
      return NewValue(std::move(type));
    }
    --pending_;
    ValueId& id = scopes_.back()[state.next++];
    if (id < 0) {
      id = NewValue(std::move(type));
    } else {
      module_.values[static_cast<size_t>(id)].type = std::move(type);  // it was used before
    }
    return id;
  }

  ValueId Operand(ByteReader& in) {
    const uint64_t index = in.Varint();
    std::vector<ValueId>& scope = scopes_.back();
    if (in.ok() && index >= scope.size()) in.Fail("no such value");
    if (!in.ok()) return -1;
    ValueId& id = scope[index];
    if (id < 0) id = NewValue(nullptr);
    return id;
  }

  // The order in which the uses of a value were made has no meaning.
  static void SkipUseOrders(ByteReader& in, size_t num_values) {
    const size_t values = num_values > 1 ? in.Count() : 1;
    for (size_t i = 0; i < values && in.ok(); ++i) {
      if (num_values > 1) in.Varint();
      bool pairs = false;
      const uint64_t count = in.Flagged(&pairs);
      for (uint64_t k = 0; k < count && in.ok(); ++k) in.Varint();
    }
  }

  const BytecodeFile file_;
  BytecodeValues values_;
  Module module_;
  std::vector<std::vector<ValueId>> scopes_;  // values by their number; -1: not seen yet
  uint64_t pending_ = 0;                      // values that are yet to be defined
  uint64_t ir_end_ = 0;
};

}  // namespace

bool IsBytecode(std::string_view head) { return head.starts_with("ML\xefR"); }

absl::StatusOr<Module> ReadBytecode(const BlobPtr& blob, uint64_t begin, uint64_t size) {
  if (begin > blob->size() || size > blob->size() - begin) {
    return DataLoss("MLIR bytecode lies outside of '", blob->path(), "'");
  }
  X2IR_ASSIGN_OR_RETURN(BytecodeFile file, ReadBytecodeTables(blob, begin, size));
  return Reader(std::move(file)).Read();
}

absl::StatusOr<Module> ReadBytecode(const BlobPtr& blob) {
  return ReadBytecode(blob, 0, blob->size());
}

}  // namespace x2ir::mlir
