// Writes MLIR bytecode. Everything is numbered in the order in which it is needed, so that equal
// modules give equal bytes.
#include <algorithm>
#include <utility>
#include <vector>

#include "x2ir/formats/mlir/byte_reader_internal.h"
#include "x2ir/formats/mlir/bytecode.h"
#include "x2ir/formats/mlir/bytecode_encoder_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::mlir {
namespace {

constexpr int kMaxWrittenDepth = 200;

// Operations whose regions see no values from outside.
bool IsIsolated(std::string_view op) {
  return op == "builtin.module" || op == "func.func" || op == "vhlo.func_v1";
}

class Writer {
 public:
  Writer(const Module& module, const BytecodeOptions& options)
      : module_(module), version_(options.version), numbers_(module.values.size(), -1) {}

  absl::Status Write(const BytecodeOptions& options, const Sink& sink) {
    ByteWriter ir;
    ir.Flagged(1, false);  // one operation, no arguments
    WriteOp(module_.top, ir, 0, 0);
    X2IR_RETURN_IF_ERROR(status_);
    X2IR_RETURN_IF_ERROR(encoder_.status());

    ByteWriter dialects = Dialects();
    ByteWriter offsets = Offsets();
    uint64_t size = 0;
    for (const auto* entries : {&encoder_.attrs(), &encoder_.types()}) {
      for (const BytecodeEncoder::Entry& entry : *entries) size += entry.size();
    }
    X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create(sink.name()));
    ByteWriter head;
    head.Raw("ML\xefR");
    head.Varint(static_cast<uint64_t>(version_));
    head.Raw(options.producer);
    head.Byte(0);
    head.Section(kDialectSection, dialects.bytes());
    head.Section(kAttrTypeOffsetSection, offsets.bytes());
    head.SectionHead(kAttrTypeSection, size);
    X2IR_RETURN_IF_ERROR(file.Append(head.bytes()));
    for (const auto* entries : {&encoder_.attrs(), &encoder_.types()}) {
      for (const BytecodeEncoder::Entry& entry : *entries) {
        X2IR_RETURN_IF_ERROR(file.Append(entry.bytes));
        if (entry.tensor) X2IR_RETURN_IF_ERROR(file.Append(*entry.tensor));
      }
    }
    ByteWriter tail;
    tail.Section(kIrSection, ir.bytes());
    if (version_ >= kNativeProperties) {
      ByteWriter properties;
      properties.Varint(properties_.texts().size());
      for (const std::string& each : properties_.texts()) {
        properties.Varint(each.size());
        properties.Raw(each);
      }
      tail.Section(kPropertiesSection, properties.bytes());
    }
    tail.Section(kStringSection, Strings().bytes());
    X2IR_RETURN_IF_ERROR(file.Append(tail.bytes()));
    return file.Commit();
  }

 private:
  void Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  // Runs of entries of one dialect.
  template <typename Of, typename Emit>
  static void Groups(size_t count, const Of& dialect_of, const Emit& emit, ByteWriter& out) {
    for (size_t i = 0; i < count;) {
      size_t end = i + 1;
      while (end < count && dialect_of(end) == dialect_of(i)) ++end;
      out.Varint(dialect_of(i));
      out.Varint(end - i);
      for (; i < end; ++i) emit(i);
    }
  }

  ByteWriter Dialects() {
    std::vector<std::pair<uint64_t, uint64_t>> ops;  // dialect, name
    for (const std::string& name : op_names_.texts()) {
      const size_t dot = std::min(name.find('.'), name.size());
      const std::string_view rest = std::string_view(name).substr(std::min(dot + 1, name.size()));
      ops.emplace_back(encoder_.dialects().IndexOf(std::string_view(name).substr(0, dot)),
                       encoder_.strings().IndexOf(rest));
    }
    ByteWriter out;
    const std::vector<std::string>& dialects = encoder_.dialects().texts();
    out.Varint(dialects.size());
    for (const std::string& dialect : dialects) {
      const uint64_t name = encoder_.strings().IndexOf(dialect);
      if (version_ < kDialectVersioning) out.Varint(name);
      if (version_ >= kDialectVersioning) out.Flagged(name, false);
    }
    if (version_ >= kElidedLocations) out.Varint(ops.size());
    Groups(
        ops.size(), [&](size_t i) { return ops[i].first; },
        [&](size_t i) {
          if (version_ < kNativeProperties) out.Varint(ops[i].second);
          if (version_ >= kNativeProperties) out.Flagged(ops[i].second, true);
        },
        out);
    return out;
  }

  ByteWriter Offsets() const {
    ByteWriter out;
    out.Varint(encoder_.attrs().size());
    out.Varint(encoder_.types().size());
    for (const auto* entries : {&encoder_.attrs(), &encoder_.types()}) {
      Groups(
          entries->size(), [&](size_t i) { return (*entries)[i].dialect; },
          [&](size_t i) { out.Flagged((*entries)[i].size(), true); }, out);
    }
    return out;
  }

  ByteWriter Strings() {
    const std::vector<std::string>& texts = encoder_.strings().texts();
    ByteWriter out;
    out.Varint(texts.size());
    for (size_t i = texts.size(); i-- > 0;) out.Varint(texts[i].size() + 1);
    for (const std::string& text : texts) {
      out.Raw(text);
      out.Byte(0);
    }
    return out;
  }

  // The values of a region are numbered before its operations are written: some are used earlier
  // than they are made. `base` is the number of values that it sees from outside.
  void WriteRegion(const Region& region, ByteWriter& out, int64_t base, int depth) {
    out.Varint(region.blocks.size());
    if (region.blocks.empty()) return;
    int64_t next = base;
    for (const Block& block : region.blocks) {
      for (const ValueId value : block.arguments) numbers_[static_cast<size_t>(value)] = next++;
      for (const Op& op : block.ops) {
        for (const ValueId value : op.results) numbers_[static_cast<size_t>(value)] = next++;
      }
    }
    out.Varint(static_cast<uint64_t>(next - base));
    for (const Block& block : region.blocks) {
      out.Flagged(block.ops.size(), !block.arguments.empty());
      if (!block.arguments.empty()) WriteArguments(block, out);
      for (const Op& op : block.ops) WriteOp(op, out, next, depth);
    }
  }

  void WriteArguments(const Block& block, ByteWriter& out) {
    out.Varint(block.arguments.size());
    for (const ValueId value : block.arguments) {
      const uint64_t type = encoder_.TypeIndex(*module_.type(value), flavor_);
      if (version_ >= kElidedLocations) {
        out.Flagged(type, false);
      } else {
        out.Varint(type);
        out.Varint(encoder_.UnknownLocation());
      }
    }
    if (version_ >= kUseListOrdering) out.Byte(0);
  }

  void WriteOp(const Op& op, ByteWriter& out, int64_t base, int depth) {
    if (depth > kMaxWrittenDepth) return Fail(CannotExpress("regions are nested too deeply"));
    const bool is_vhlo = op.name.view().starts_with("vhlo.");
    flavor_ = is_vhlo ? BytecodeEncoder::kVhlo : BytecodeEncoder::kBuiltin;
    AttrList rest = op.attrs;
    std::optional<std::string> properties;
    if (version_ >= kNativeProperties) properties = Properties(op, rest);
    const bool has_regions = !op.regions.empty();
    uint8_t mask = 0;
    if (!rest.empty()) mask |= kHasAttrs;
    if (!op.results.empty()) mask |= kHasResults;
    if (!op.operands.empty()) mask |= kHasOperands;
    if (has_regions) mask |= kHasRegions;
    if (properties) mask |= kHasProperties;
    out.Varint(op_names_.IndexOf(op.name));
    out.Byte(mask);
    out.Varint(encoder_.UnknownLocation());
    if (!rest.empty()) out.Varint(encoder_.Dictionary(rest, flavor_));
    if (properties) out.Varint(properties_.IndexOf(*properties));
    if (!op.results.empty()) {
      out.Varint(op.results.size());
      for (const ValueId value : op.results) {
        out.Varint(encoder_.TypeIndex(*module_.type(value), flavor_));
      }
    }
    if (!op.operands.empty()) {
      out.Varint(op.operands.size());
      for (const ValueId value : op.operands) {
        const int64_t number = numbers_[static_cast<size_t>(value)];
        if (number < 0) {
          Fail(Internal("an operand of '", op.name.view(), "' is a value that no operation makes"));
        }
        out.Varint(static_cast<uint64_t>(number));
      }
    }
    if (!has_regions) return;
    const bool isolated = IsIsolated(op.name);
    out.Flagged(op.regions.size(), isolated);
    ByteWriter own;
    const bool section = isolated && version_ >= kIsolatedSections;
    ByteWriter& to = section ? own : out;
    const BytecodeEncoder::Flavor flavor = flavor_;
    for (const Region& region : op.regions) {
      flavor_ = flavor;
      WriteRegion(region, to, isolated ? 0 : base, depth + 1);
    }
    if (section) out.Section(kIrSection, own.bytes());
  }

  // What the operation declares, in the order of the names; removed from `rest`. Nullopt: nothing.
  std::optional<std::string> Properties(const Op& op, AttrList& rest) {
    std::vector<std::pair<std::string_view, bool>> names;
    const OpFact* fact = FindOp(op.name);
    if (op.name == "builtin.module") {
      names = {{"sym_name", true}, {"sym_visibility", true}};
    } else if (fact != nullptr) {
      const bool all_there = op.name.view().starts_with("vhlo.");
      for (const AttrFact& attr : fact->attributes) {
        names.emplace_back(attr.name, attr.optional && !all_there);
      }
    }
    if (names.empty()) return std::nullopt;
    ByteWriter out;
    for (const auto& [name, optional] : names) {
      const auto at = std::find_if(rest.begin(), rest.end(),
                                   [name = name](const auto& attr) { return attr.first == name; });
      if (at == rest.end()) {
        if (!optional) Fail(CannotExpress("'", op.name.view(), "' has no attribute '", name, "'"));
        out.Varint(0);
        continue;
      }
      const uint64_t index = encoder_.AttrIndex(at->second, flavor_);
      if (optional) out.Flagged(index, true);
      if (!optional) out.Varint(index);
      rest.erase(at);
    }
    return out.bytes();
  }

  const Module& module_;
  const int version_;
  std::vector<int64_t> numbers_;  // of values in their scope; -1: not made yet
  BytecodeEncoder encoder_;
  BytecodeEncoder::Flavor flavor_ = BytecodeEncoder::kBuiltin;
  TextTable op_names_, properties_;
  absl::Status status_;
};

}  // namespace

absl::Status WriteBytecode(const Module& module, const BytecodeOptions& options, const Sink& sink) {
  if (options.version < 0 || options.version > kNewestBytecode) {
    return Invalid("MLIR bytecode of version ", options.version, " cannot be written: 0 to ",
                   kNewestBytecode, " can");
  }
  return Writer(module, options).Write(options, sink);
}

}  // namespace x2ir::mlir
