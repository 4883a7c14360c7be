#include "x2ir/formats/stablehlo/composites.h"

#include <algorithm>

#include "x2ir/formats/mlir/text.h"

namespace x2ir {
namespace stablehlo {
namespace {

using mlir::Attr;

constexpr size_t kLongestComposite = size_t{1} << 16;

bool IsPlainTensor(const mlir::MlirType& type) {
  return type.kind == mlir::MlirType::kTensor && !type.quantization && type.bounds.empty();
}

// Attributes of a composite, if that is what they are.
bool IsComposite(const mlir::AttrList& attrs) {
  bool named = false;
  for (const auto& [name, attr] : attrs) {
    if (name == "name") {
      named = attr.kind == Attr::kString && !attr.s.empty();
    } else if (name == "version" ? attr.kind != Attr::kInt
                                 : name != "composite_attributes" || attr.kind != Attr::kDict) {
      return false;
    }
  }
  return named;
}

// Fields in the order of their names, as MLIR has them: texts may have another one.
void SortFields(Attr& attr) {
  std::ranges::stable_sort(attr.fields, {}, [](const auto& field) { return field.first.view(); });
  for (auto& [name, field] : attr.fields) SortFields(field);
  for (Attr& item : attr.items) SortFields(item);
}

// Empty where it cannot be kept.
std::string TextOf(const mlir::Op& op) {
  Attr all;
  all.kind = Attr::kDict;
  for (const auto& [name, attr] : op.attrs) {
    if (name != "decomposition") all.fields.emplace_back(name, attr);
  }
  if (!IsComposite(all.fields)) return "";
  SortFields(all);
  const auto text = mlir::AttrText(all);
  const bool fits = text.ok() && text->size() <= kLongestComposite;
  // What MLIR's text does not hold is not read again.
  return fits && mlir::ParseAttrText(*text).ok() ? *text : "";
}

}  // namespace

void CompositeCalls::Add(const mlir::Op& op, const std::string& function) {
  const auto plain = [&](mlir::ValueId id) { return IsPlainTensor(*module_.type(id)); };
  const bool is_composite = op.name == "stablehlo.composite" && op.regions.empty() &&
                            std::ranges::all_of(op.operands, plain) &&
                            std::ranges::all_of(op.results, plain);
  const std::string text = is_composite ? TextOf(op) : "";
  const auto [known, fresh] = of_.try_emplace(function, text);
  if (!fresh && known->second != text) known->second.clear();
}

void CompositeCalls::NoteOn(Model& model) const {
  for (const auto& function : model.functions) {
    const auto found = of_.find(function->name);
    if (found == of_.end() || found->second.empty()) continue;
    function->annotations.GetOrMake().metadata.emplace_back(kComposite, found->second);
  }
}

mlir::AttrList CompositeOf(const Function& function) {
  const Annotations* notes = function.annotations.get();
  if (notes == nullptr) return {};
  for (const auto& [key, text] : notes->metadata) {
    if (key != kComposite || text.size() > kLongestComposite) continue;
    absl::StatusOr<Attr> attr = mlir::ParseAttrText(text);
    if (!attr.ok() || attr->kind != Attr::kDict || !IsComposite(attr->fields)) return {};
    return std::move(attr->fields);
  }
  return {};
}

}  // namespace stablehlo
}  // namespace x2ir
