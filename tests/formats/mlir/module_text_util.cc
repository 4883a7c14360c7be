#include "tests/formats/mlir/module_text_util.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/escaping.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

using mlir::Attr;
using mlir::MlirType;

std::string TypeText(const mlir::TypeRef& type) {
  if (type == nullptr) return "-";
  std::string text = StrCat(int64_t{type->kind}, type->type.ToString(), type->text);
  for (const int64_t bound : type->bounds) StrAppend(&text, " bound ", bound);
  for (const mlir::TypeRef& item : type->items) StrAppend(&text, " (", TypeText(item), ")");
  if (type->kind == MlirType::kFunction) StrAppend(&text, "/", type->num_arguments);
  if (type->quantization != nullptr) {
    const mlir::Quantization& q = *type->quantization;
    StrAppend(&text, " q", Name(q.storage), Name(q.expressed), q.storage_min, q.storage_max);
    for (const double scale : q.scales) StrAppend(&text, " ", scale);
    for (const int64_t zero : q.zero_points) StrAppend(&text, " ", zero);
    for (const int64_t axis : q.axes) StrAppend(&text, " axis ", axis);
  }
  return text;
}

std::string AttrText(const Attr& attr) {
  std::string text = StrCat(int64_t{attr.kind}, attr.splat ? "splat" : "", " ", attr.i, " ", attr.f,
                            " '", attr.s, "' ", attr.name);
  if (attr.type != nullptr) StrAppend(&text, " ", TypeText(attr.type));
  if (attr.tensor.is_string()) {
    for (const std::string& each : attr.tensor.strings()) StrAppend(&text, " '", each, "'");
  } else if (attr.tensor.dtype() != DType::kUndefined) {
    const auto bytes = attr.tensor.bytes();
    StrAppend(&text, " ", attr.tensor.type().ToString(), "=",
              absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  }
  for (const int64_t i : attr.ints) StrAppend(&text, " ", i);
  for (const double f : attr.floats) StrAppend(&text, " ", f);
  for (const Attr& item : attr.items) StrAppend(&text, " [", AttrText(item), "]");
  for (const auto& [name, field] : attr.fields) {
    StrAppend(&text, " {", name.view(), ": ", AttrText(field), "}");
  }
  return text;
}

class Printer {
 public:
  explicit Printer(const mlir::Module& module) : module_(module) {}

  void Print(const mlir::Op& op, const std::string& indent) {
    StrAppend(&text_, indent);
    for (const mlir::ValueId value : op.results) Define(value);
    StrAppend(&text_, op.name.view());
    for (const mlir::ValueId value : op.operands) StrAppend(&text_, " %", Number(value));
    std::map<std::string, std::string> attrs;
    for (const auto& [name, attr] : op.attrs) attrs[name.str()] = AttrText(attr);
    for (const auto& [name, attr] : attrs) StrAppend(&text_, "\n", indent, "  .", name, " ", attr);
    StrAppend(&text_, "\n");
    for (const mlir::Region& region : op.regions) {
      for (const mlir::Block& block : region.blocks) {
        StrAppend(&text_, indent, " ^ ");
        for (const mlir::ValueId value : block.arguments) Define(value);
        StrAppend(&text_, "\n");
        for (const mlir::Op& inner : block.ops) Print(inner, indent + "  ");
      }
    }
  }
  std::string Take() { return std::move(text_); }

 private:
  // In the order in which they are seen.
  size_t Number(mlir::ValueId value) {
    return numbers_.emplace(value, numbers_.size()).first->second;
  }
  void Define(mlir::ValueId value) {
    StrAppend(&text_, "%", Number(value), ": ", TypeText(module_.type(value)), ", ");
  }

  const mlir::Module& module_;
  std::map<mlir::ValueId, size_t> numbers_;
  std::string text_;
};

}  // namespace

std::string ModuleText(const mlir::Module& module) {
  Printer printer(module);
  printer.Print(module.top, "");
  return printer.Take();
}

}  // namespace x2ir
