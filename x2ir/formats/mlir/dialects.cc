// Tables of the dialects vhlo, stablehlo and chlo.
#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "x2ir/formats/mlir/dialects_internal.h"

namespace x2ir::mlir {
namespace {

struct OpRow {
  std::string_view name;
  size_t first, count;
  int since, until, operands;
};
struct BytecodeVersion {
  int since, version;
};
struct EnumRow {
  size_t first, count;
};
struct CodedRow {
  std::string_view dialect;
  int64_t code;
  std::string_view name;
  size_t first, count;
  int since, enumeration;
};
#include "x2ir_stablehlo_tables.inc"

Coded CodedOf(const CodedRow& row) {
  Coded coded{row.dialect, row.code, row.name, {}, row.since, {}};
  coded.fields = absl::MakeConstSpan(kFields).subspan(row.first, row.count);
  if (row.enumeration >= 0) {
    const EnumRow& e = kEnumRows[row.enumeration];
    coded.cases = absl::MakeConstSpan(kCases).subspan(e.first, e.count);
  }
  return coded;
}

template <typename Match>
std::optional<Coded> FindCoded(absl::Span<const CodedRow> rows, std::string_view dialect,
                               const Match& match) {
  for (const CodedRow& row : rows) {
    if (row.dialect == dialect && match(row)) return CodedOf(row);
  }
  return std::nullopt;
}

}  // namespace

const OpFact* FindOp(std::string_view name) {
  static const auto& ops = *[] {
    auto* map = new absl::flat_hash_map<std::string_view, OpFact>;
    for (const OpRow& row : kOps) {
      const auto attributes = absl::MakeConstSpan(kAttrFacts).subspan(row.first, row.count);
      map->emplace(row.name, OpFact{row.name, attributes, row.since, row.until, row.operands});
    }
    return map;
  }();
  const auto found = ops.find(name);
  return found == ops.end() ? nullptr : &found->second;
}

std::string_view KnownReleases() { return kReleases; }

int BytecodeVersionOf(int release) {
  int version = 0;
  for (const BytecodeVersion& row : kBytecodeVersions) {
    if (row.since <= release) version = row.version;
  }
  return version;
}

std::optional<Coded> AttrByCode(std::string_view dialect, uint64_t code) {
  return FindCoded(kAttrCodes, dialect,
                   [&](const CodedRow& row) { return static_cast<uint64_t>(row.code) == code; });
}
std::optional<Coded> AttrByName(std::string_view dialect, std::string_view name) {
  return FindCoded(kAttrCodes, dialect, [&](const CodedRow& row) { return row.name == name; });
}
std::optional<Coded> TypeByCode(std::string_view dialect, uint64_t code) {
  return FindCoded(kTypeCodes, dialect,
                   [&](const CodedRow& row) { return static_cast<uint64_t>(row.code) == code; });
}
std::optional<Coded> TypeByName(std::string_view dialect, std::string_view name) {
  return FindCoded(kTypeCodes, dialect, [&](const CodedRow& row) { return row.name == name; });
}

}  // namespace x2ir::mlir
