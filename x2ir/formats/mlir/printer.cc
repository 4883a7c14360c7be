// Modules as text: functions, constants and operations by element in their printed form, all else
// in the generic one.
#include <algorithm>

#include "x2ir/formats/mlir/attr_printer_internal.h"
#include "x2ir/formats/mlir/syntax_internal.h"
#include "x2ir/formats/mlir/text.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::mlir {
namespace {

class Printer : public AttrPrinter {
 public:
  Printer(const Module& module, const TextOptions& options, AtomicFile& file)
      : AttrPrinter(options, file), module_(module) {}

  absl::Status Print() {
    out_ += "module";
    if (const Attr* name = module_.top.Find("sym_name")) {
      out_ += " @";
      PutSymbol(name->s);
    }
    out_ += " {\n";
    for (const Region& region : module_.top.regions) {
      for (const Block& block : region.blocks) {
        for (const Op& op : block.ops) X2IR_RETURN_IF_ERROR(PutOp(op, 1));
      }
    }
    out_ += "}\n";
    if (!resources_.empty()) {
      out_ += "\n{-#\n  dialect_resources: {\n    builtin: {\n";
      for (size_t i = 0; i < resources_.size(); ++i) {
        const auto& [name, tensor] = resources_[i];
        // The alignment comes first.
        out_ += StrCat("      ", name, ": \"0x10000000");
        X2IR_RETURN_IF_ERROR(PutHex(*tensor));
        out_ += i + 1 < resources_.size() ? "\",\n" : "\"\n";
      }
      out_ += "    }\n  }\n#-}\n";
    }
    return Flush();
  }

 private:
  void PutValue(ValueId value) {
    out_ += '%';
    const std::string& name = module_.values[static_cast<size_t>(value)].name;
    if (name.empty()) {
      out_ += StrCat("v_", value);
    } else {
      out_ += name;
    }
  }

  void PutValues(absl::Span<const ValueId> values) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (i != 0) out_ += ", ";
      PutValue(values[i]);
    }
  }

  std::vector<TypeRef> TypesOf(absl::Span<const ValueId> values) const {
    std::vector<TypeRef> types;
    for (const ValueId value : values) types.push_back(module_.type(value));
    return types;
  }

  void PutFunctionalType(const Op& op) {
    out_ += "(";
    PutTypes(TypesOf(op.operands));
    out_ += ") -> ";
    PutResultTypes(TypesOf(op.results));
  }

  // --- Operations -------------------------------------------------------------------------------
  absl::Status PutOp(const Op& op, int depth) {
    Indent(depth);
    if (op.name == "func.func") return PutFunction(op, depth);
    if (!op.results.empty()) {
      PutValues(op.results);
      out_ += " = ";
    }
    const bool is_return = op.name == "func.return" || op.name == "stablehlo.return";
    if (is_return) {
      out_ += op.name.view();
      if (!op.operands.empty()) {
        out_ += " ";
        PutValues(op.operands);
        out_ += " : ";
        PutTypes(TypesOf(op.operands));
      }
    } else if (op.name == "func.call") {
      out_ += "func.call @";
      const Attr* callee = op.Find("callee");
      PutSymbol(callee == nullptr ? "" : callee->s);
      out_ += "(";
      PutValues(op.operands);
      out_ += ") : ";
      PutFunctionalType(op);
    } else if (const Attr* value = op.Find("value");
               op.name == "stablehlo.constant" && value != nullptr && op.attrs.size() == 1 &&
               value->kind == Attr::kTensor &&
               module_.type(op.results[0])->quantization == nullptr) {
      out_ += "stablehlo.constant ";
      X2IR_RETURN_IF_ERROR(PutDense(*value));
    } else {
      bool printed = false;
      X2IR_RETURN_IF_ERROR(PutPrinted(op, &printed));
      if (!printed) X2IR_RETURN_IF_ERROR(PutGeneric(op, depth));
    }
    out_ += "\n";
    if (out_.size() > (size_t{1} << 20)) return Flush();
    return absl::OkStatus();
  }

  // Whether an operation has a printed form of elements that are known here, and all its attributes
  // are in it.
  bool CanPrint(const Op& op, const OpSyntax& syntax) const {
    if (syntax.custom || !op.regions.empty()) return false;
    size_t attrs = 0;
    for (const SyntaxElement& element : syntax.elements) {
      if (element.kind == SyntaxElement::kAttr) {
        const Attr* attr = op.Find(element.text);
        if (attr == nullptr || attr->kind == Attr::kTensor) return false;
        ++attrs;
      }
      if (element.kind == SyntaxElement::kCustom && element.text != "SameOperandsAndResultType") {
        return false;
      }
      if (element.kind == SyntaxElement::kOptional || element.kind == SyntaxElement::kRegions) {
        return false;
      }
      // "[0, 1]" of lists, but not "array<i1>".
      if (element.kind == SyntaxElement::kType) return false;
    }
    return attrs == op.attrs.size();
  }

  absl::Status PutPrinted(const Op& op, bool* printed) {
    const OpSyntax* syntax = FindSyntax(op.name);
    *printed = syntax != nullptr && CanPrint(op, *syntax);
    if (!*printed) return absl::OkStatus();
    out_ += op.name.view();
    size_t operand = 0;
    for (const SyntaxElement& element : syntax->elements) {
      switch (element.kind) {
        case SyntaxElement::kLiteral:
          if (element.text != ",") out_ += " ";
          out_ += element.text;
          break;
        case SyntaxElement::kOperand:
          out_ += " ";
          if (operand >= op.operands.size()) return Internal("an operand is missing");
          PutValue(op.operands[operand++]);
          break;
        case SyntaxElement::kOperandList:
        case SyntaxElement::kOperands:
          out_ += " ";
          PutValues(op.operands);
          break;
        case SyntaxElement::kAttr:
          out_ += " ";
          X2IR_RETURN_IF_ERROR(PutAttr(*op.Find(element.text), false));
          break;
        case SyntaxElement::kFunctionalType:
          out_ += " ";
          PutFunctionalType(op);
          break;
        case SyntaxElement::kCustom: {  // SameOperandsAndResultType
          out_ += " ";
          const TypeRef& type = module_.type(op.results[0]);
          const bool same = std::all_of(op.operands.begin(), op.operands.end(), [&](ValueId id) {
            return SameType(*module_.type(id), *type);
          });
          if (same) {
            PutType(*type);
          } else {
            PutFunctionalType(op);
          }
          break;
        }
        default: break;
      }
    }
    return absl::OkStatus();
  }

  static bool SameType(const MlirType& a, const MlirType& b) {
    if (&a == &b) return true;
    if (a.kind != MlirType::kTensor || b.kind != MlirType::kTensor) return false;
    if (a.quantization != nullptr || b.quantization != nullptr) return false;
    if (a.bounds != b.bounds || a.text != b.text || a.type.dtype() != b.type.dtype()) return false;
    const Shape *x = a.type.shape(), *y = b.type.shape();
    if (x == nullptr || y == nullptr || x->rank() != y->rank()) return false;
    for (int64_t i = 0; i < x->rank(); ++i) {
      // Sizes with names are printed as "?".
      if ((*x)[i].is_static() != (*y)[i].is_static()) return false;
      if ((*x)[i].is_static() && (*x)[i].value() != (*y)[i].value()) return false;
    }
    return true;
  }

  absl::Status PutGeneric(const Op& op, int depth) {
    PutString(op.name);
    out_ += "(";
    PutValues(op.operands);
    out_ += ")";
    if (!op.regions.empty()) {
      out_ += " (";
      for (size_t i = 0; i < op.regions.size(); ++i) {
        if (i != 0) out_ += ", ";
        X2IR_RETURN_IF_ERROR(PutRegion(op.regions[i], depth));
      }
      out_ += ")";
    }
    if (!op.attrs.empty()) {
      out_ += " ";
      X2IR_RETURN_IF_ERROR(PutDict(op.attrs));
    }
    out_ += " : ";
    PutFunctionalType(op);
    return absl::OkStatus();
  }

  absl::Status PutRegion(const Region& region, int depth) {
    out_ += "{\n";
    for (const Block& block : region.blocks) {
      if (!block.arguments.empty()) {
        Indent(depth);
        out_ += "^bb0(";
        for (size_t i = 0; i < block.arguments.size(); ++i) {
          if (i != 0) out_ += ", ";
          PutValue(block.arguments[i]);
          out_ += ": ";
          PutType(*module_.type(block.arguments[i]));
        }
        out_ += "):\n";
      }
      for (const Op& op : block.ops) X2IR_RETURN_IF_ERROR(PutOp(op, depth + 1));
    }
    Indent(depth);
    out_ += "}";
    return absl::OkStatus();
  }

  absl::Status PutFunction(const Op& op, int depth) {
    out_ += "func.func ";
    const Attr* name = op.Find("sym_name");
    const Attr* visibility = op.Find("sym_visibility");
    const Attr* type = op.Find("function_type");
    if (name == nullptr || type == nullptr || type->type == nullptr) {
      return Internal("a function without a name or type");
    }
    if (visibility != nullptr && !visibility->s.empty()) out_ += visibility->s + " ";
    out_ += "@";
    PutSymbol(name->s);
    const auto dict = [&](const char* list, size_t i) -> absl::Status {
      const Attr* attrs = op.Find(list);
      if (attrs == nullptr || i >= attrs->items.size() || attrs->items[i].fields.empty()) {
        return absl::OkStatus();
      }
      out_ += " ";
      return PutDict(attrs->items[i].fields);
    };
    const MlirType& function = *type->type;
    const Block* block =
        op.regions.empty() || op.regions[0].blocks.empty() ? nullptr : &op.regions[0].blocks[0];
    out_ += "(";
    for (size_t i = 0; i < function.num_arguments; ++i) {
      if (i != 0) out_ += ", ";
      if (block != nullptr && i < block->arguments.size()) {
        PutValue(block->arguments[i]);
        out_ += ": ";
      }
      PutType(*function.items[i]);
      X2IR_RETURN_IF_ERROR(dict("arg_attrs", i));
    }
    out_ += ")";
    if (function.items.size() > function.num_arguments) {
      out_ += " -> (";
      for (size_t i = function.num_arguments; i < function.items.size(); ++i) {
        if (i != function.num_arguments) out_ += ", ";
        PutType(*function.items[i]);
        X2IR_RETURN_IF_ERROR(dict("res_attrs", i - function.num_arguments));
      }
      out_ += ")";
    }
    if (block == nullptr) {
      out_ += "\n";
      return absl::OkStatus();
    }
    out_ += " {\n";
    for (const Op& inner : block->ops) X2IR_RETURN_IF_ERROR(PutOp(inner, depth + 1));
    Indent(depth);
    out_ += "}\n";
    return absl::OkStatus();
  }

  const Module& module_;
};

class OneAttr : public AttrPrinter {
 public:
  using AttrPrinter::AttrPrinter;
  absl::Status Print(const Attr& attr) {
    X2IR_RETURN_IF_ERROR(PutAttr(attr));
    return Flush();
  }
};

}  // namespace

absl::StatusOr<std::string> AttrText(const Attr& attr) {
  std::string text;
  AtomicFile file = AtomicFile::ToFunction("", [&](std::string_view bytes) {
    text += bytes;
    return absl::OkStatus();
  });
  const TextOptions options;
  X2IR_RETURN_IF_ERROR(OneAttr(options, file).Print(attr));
  X2IR_RETURN_IF_ERROR(file.Commit());
  return text;
}

absl::Status WriteText(const Module& module, const TextOptions& options, const Sink& sink) {
  X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create(sink.name()));
  X2IR_RETURN_IF_ERROR(Printer(module, options, file).Print());
  return file.Commit();
}

}  // namespace x2ir::mlir
