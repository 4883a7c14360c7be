// The printed forms of operations.
#include <algorithm>

#include "x2ir/formats/mlir/parser_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::mlir {

Attr OpParser::IntAttr(int64_t value) {
  Attr attr;
  attr.kind = Attr::kInt;
  attr.i = value;
  return attr;
}

Attr OpParser::IntsAttr(std::vector<int64_t> values) {
  Attr attr;
  attr.kind = Attr::kInts;
  attr.ints = std::move(values);
  return attr;
}

absl::Status OpParser::ParsePrinted(Draft& draft, std::string_view name) {
  if (name == "module" || name == "builtin.module") return ParseNestedModule(draft);
  if (name == "func.func" || name == "func" || name == "oneflow.job") {
    draft.op.name = name == "func" ? "func.func" : name;
    return ParseFunction(draft);
  }
  if (name == "call" || name == "func.call") return ParseCall(draft);
  if (name == "return" || name == "func.return" || name == "oneflow.return") {
    draft.op.name = "func.return";
    return ParseReturn(draft);
  }
  if (name == "arith.constant" || name == "stablehlo.constant" || name == "mhlo.constant") {
    return ParseConstant(draft);
  }
  if (name == "tensor.cast") return ParseCast(draft);
  if (name == "sdy.mesh") {  // which devices there are
    X2IR_RETURN_IF_ERROR(SymbolName().status());
    X2IR_RETURN_IF_ERROR(ExpectChar('='));
    if (Next() != '<') return Fail("expected '<'");
    return Balanced().status();
  }
  const std::string full =
      name.starts_with("mhlo.") ? StrCat("stablehlo.", name.substr(5)) : std::string(name);
  if (full == "stablehlo.reduce") return ParseReduce(draft);
  if (full == "stablehlo.while") return ParseWhile(draft);
  if (full == "chlo.scan") return ParseScan(draft);
  const OpSyntax* syntax = FindSyntax(full);
  if (syntax == nullptr) {
    const std::string place = PlaceInText(text_, pos_);
    if (name.starts_with("interpreter.")) {
      return Unimplemented("the operation '", name, "' in ", place,
                           " is one of StableHLO's interpreter alone");
    }
    return Unimplemented("the operation '", name, "' in ", place,
                         " is of a dialect whose printed form is not known; mlir-opt "
                         "--mlir-print-op-generic writes it in the generic form");
  }
  draft.op.name = full;
  return ParseElements(draft, *syntax, syntax->elements);
}

absl::Status OpParser::ParseElements(Draft& draft, const OpSyntax& syntax,
                                     const std::vector<SyntaxElement>& elements) {
  Op& op = draft.op;
  for (const SyntaxElement& element : elements) {
    switch (element.kind) {
      case SyntaxElement::kLiteral:
        if (element.text.empty() || element.text == " ") break;
        X2IR_RETURN_IF_ERROR(ExpectText(element.text));
        break;
      case SyntaxElement::kOperand: {
        if (Next() != '%') {  // an attribute in older releases: "k = 5" of top_k
          X2IR_ASSIGN_OR_RETURN(Attr value, ParseUntypedAttr());
          op.attrs.emplace_back(element.text, std::move(value));
          break;
        }
        X2IR_ASSIGN_OR_RETURN(const ValueId value, Use());
        op.operands.push_back(value);
        break;
      }
      case SyntaxElement::kOperandList:
      case SyntaxElement::kOperands: X2IR_RETURN_IF_ERROR(UseList(&op)); break;
      case SyntaxElement::kAttr: {
        X2IR_ASSIGN_OR_RETURN(Attr value, ParseUntypedAttr());
        op.attrs.emplace_back(element.text, std::move(value));
        break;
      }
      case SyntaxElement::kAttrDict:
        if (Next() == '{') X2IR_RETURN_IF_ERROR(ParseDict(&op.attrs));
        break;
      case SyntaxElement::kFunctionalType: X2IR_RETURN_IF_ERROR(ParseFunctionalType(draft)); break;
      case SyntaxElement::kType: {
        bool one = true, of_results = true;
        for (const std::string& name : element.arguments) {
          if (name == "operands" || name == "results") one = false;
          for (const auto* names : {&syntax.operands, &syntax.results}) {
            for (const std::string& known : *names) {
              if (known == name + "*") one = false;
              if (known == name || known == name + "*") of_results = names == &syntax.results;
            }
          }
        }
        std::vector<TypeRef> types;
        if (one) {
          X2IR_ASSIGN_OR_RETURN(types.emplace_back(), ParseType());
        } else {
          X2IR_ASSIGN_OR_RETURN(types, ParseTypeList());
        }
        if (of_results) {
          for (TypeRef& type : types) draft.types.push_back(std::move(type));
        }
        break;
      }
      case SyntaxElement::kCustom: X2IR_RETURN_IF_ERROR(ParseDirective(draft, element)); break;
      case SyntaxElement::kOptional:
        if (Begins(element.inside.front())) {
          X2IR_RETURN_IF_ERROR(ParseElements(draft, syntax, element.inside));
        } else {
          X2IR_RETURN_IF_ERROR(ParseElements(draft, syntax, element.otherwise));
        }
        break;
      case SyntaxElement::kRegions: do { X2IR_RETURN_IF_ERROR(ParseRegion(op, {}));
        } while (TakeChar(','));
        break;
    }
  }
  return absl::OkStatus();
}

bool OpParser::Begins(const SyntaxElement& element) {
  if (element.kind == SyntaxElement::kOperand || element.kind == SyntaxElement::kOperandList) {
    return Next() == '%';
  }
  const size_t at = pos_;
  const bool begins = element.text == " " ? Next() == '(' : TakeText(element.text);
  pos_ = at;
  return begins;
}

absl::Status OpParser::ParseDirective(Draft& draft, const SyntaxElement& element) {
  Op& op = draft.op;
  const std::string_view name = element.text;
  if (name == "SameOperandsAndResultType" || name == "VariadicSameOperandsAndResultType") {
    return ParseSameTypes(draft);
  }
  if (name == "PairwiseOpType") {
    X2IR_ASSIGN_OR_RETURN(draft.types, ParseTypeList());
    return absl::OkStatus();
  }
  if (name == "TupleOpType") {
    X2IR_ASSIGN_OR_RETURN(draft.types, ParseTypes());
    return absl::OkStatus();
  }
  if (name == "ComplexOpType") return ParseSameTypes(draft);
  if (name == "SelectOpType") {
    X2IR_ASSIGN_OR_RETURN(std::vector<TypeRef> types, ParseTypeList());
    if (types.size() == 1 && types[0]->kind == MlirType::kFunction) {
      draft.types.assign(types[0]->items.begin() + static_cast<ptrdiff_t>(types[0]->num_arguments),
                         types[0]->items.end());
    } else {
      draft.types.push_back(types.back());
    }
    return absl::OkStatus();
  }
  if (name == "VariadicOperandWithAttribute") {  // "%a, %b, dim": a comma after each
    while (Next() == '%') {
      X2IR_ASSIGN_OR_RETURN(const ValueId value, Use());
      op.operands.push_back(value);
      X2IR_RETURN_IF_ERROR(ExpectChar(','));
    }
    return absl::OkStatus();
  }
  if (name == "ConvolutionDimensions") {
    X2IR_ASSIGN_OR_RETURN(AttrList fields, ParseConvLists());
    for (auto& field : fields) op.attrs.push_back(std::move(field));
    return absl::OkStatus();
  }
  if (name == "WindowAttributes") return ParseWindow(op);
  if (name == "DotDimensionNumbers") return ParseDotNumbers(op);
  if (name == "PrecisionConfig") return ParsePrecision(op, false);
  if (name == "PrecisionConfigAndAlgorithm") return ParsePrecision(op, true);
  if (name == "CustomCallTarget") {
    Attr target;
    target.kind = Attr::kString;
    X2IR_ASSIGN_OR_RETURN(target.s, SymbolName());
    op.attrs.emplace_back("call_target_name", std::move(target));
    return absl::OkStatus();
  }
  if (name == "SliceRanges") return ParseSliceRanges(op);
  if (name == "ExponentMantissa") {  // "e5m10"
    X2IR_ASSIGN_OR_RETURN(const std::string_view format, Word());
    const size_t m = format.find('m');
    const auto exponent = m == format.npos ? std::nullopt : ParseIndex(format.substr(1, m - 1));
    const auto mantissa = m == format.npos ? std::nullopt : ParseIndex(format.substr(m + 1));
    if (!exponent || !mantissa || format[0] != 'e') return Fail("not a format of numbers");
    op.attrs.emplace_back("exponent_bits", IntAttr(*exponent));
    op.attrs.emplace_back("mantissa_bits", IntAttr(*mantissa));
    return absl::OkStatus();
  }
  return Fail(StrCat("'", op.name.view(), "' has a form that is not known,"));
}

// "T", the type of all operands and results, or "(T, T) -> T".
absl::Status OpParser::ParseSameTypes(Draft& draft) {
  X2IR_ASSIGN_OR_RETURN(TypeRef type, ParseType());
  if (type->kind != MlirType::kFunction) {
    draft.types = {std::move(type)};
    return absl::OkStatus();
  }
  draft.types.assign(type->items.begin() + static_cast<ptrdiff_t>(type->num_arguments),
                     type->items.end());
  return absl::OkStatus();
}

// "stride = [2, 1], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], reverse = [true, false]".
absl::Status OpParser::ParseWindow(Op& op) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"stride", "window_strides"},
      {"pad", "padding"},
      {"lhs_dilate", "lhs_dilation"},
      {"rhs_dilate", "rhs_dilation"},
      {"reverse", "window_reversal"}};
  while (Next() != '}') {
    X2IR_ASSIGN_OR_RETURN(const std::string_view word, Word());
    const auto* name = std::find_if(std::begin(kNames), std::end(kNames),
                                    [&](const auto& entry) { return entry.first == word; });
    if (name == std::end(kNames)) return Fail(StrCat("a window has no '", word, "'"));
    X2IR_RETURN_IF_ERROR(ExpectChar('='));
    X2IR_ASSIGN_OR_RETURN(Attr value, ParseAttr());
    if (word == "pad" && value.kind == Attr::kArray) {  // pairs
      std::vector<int64_t> pads;
      for (const Attr& pair : value.items) {
        const auto ints = IntsOf(pair);
        if (!ints || ints->size() != 2) return Fail("padding is pairs of integers");
        pads.insert(pads.end(), ints->begin(), ints->end());
      }
      value = IntsAttr(std::move(pads));
    } else if (value.kind == Attr::kArray) {
      const auto ints = IntsOf(value);
      if (!ints) return Fail("expected integers");
      value = IntsAttr(*ints);
    }
    op.attrs.emplace_back(name->second, std::move(value));
    if (!TakeChar(',')) break;
  }
  return absl::OkStatus();
}

// "batching_dims = [0] x [0], contracting_dims = [2] x [1]"; the comma after it is another's.
absl::Status OpParser::ParseDotNumbers(Op& op) {
  const auto lists = [&](std::string_view kind) -> absl::Status {
    X2IR_RETURN_IF_ERROR(ExpectChar('='));
    X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> lhs, ParseInts());
    X2IR_RETURN_IF_ERROR(ExpectChar('x'));
    X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> rhs, ParseInts());
    op.attrs.emplace_back(StrCat("lhs_", kind), IntsAttr(std::move(lhs)));
    op.attrs.emplace_back(StrCat("rhs_", kind), IntsAttr(std::move(rhs)));
    return absl::OkStatus();
  };
  if (TakeText("batching_dims")) {
    X2IR_RETURN_IF_ERROR(lists("batching_dimensions"));
    if (!TakeChar(',')) return absl::OkStatus();
  }
  X2IR_RETURN_IF_ERROR(ExpectText("contracting_dims"));
  return lists("contracting_dimensions");
}

absl::Status OpParser::ParsePrecision(Op& op, bool with_algorithm) {
  while (TakeChar(',')) {
    if (TakeText("precision")) {
      X2IR_RETURN_IF_ERROR(ExpectChar('='));
      X2IR_ASSIGN_OR_RETURN(Attr value, ParseAttr());
      op.attrs.emplace_back("precision_config", std::move(value));
    } else if (with_algorithm && TakeText("algorithm")) {
      X2IR_RETURN_IF_ERROR(ExpectChar('='));
      X2IR_RETURN_IF_ERROR(ExpectChar('<'));
      Attr algorithm;
      algorithm.kind = Attr::kStruct;
      algorithm.name = "stablehlo.dot_algorithm";
      while (Next() != '>' && Next() != '\0') {
        X2IR_ASSIGN_OR_RETURN(const std::string_view field, Word());
        X2IR_RETURN_IF_ERROR(ExpectChar('='));
        X2IR_ASSIGN_OR_RETURN(Attr value, ParseAttr());
        algorithm.fields.emplace_back(field, std::move(value));
        if (!TakeChar(',')) break;
      }
      X2IR_RETURN_IF_ERROR(ExpectChar('>'));
      op.attrs.emplace_back("algorithm", std::move(algorithm));
    } else {
      return Fail("expected a precision");
    }
  }
  return absl::OkStatus();
}

// "[0:1, 2:8:2]".
absl::Status OpParser::ParseSliceRanges(Op& op) {
  std::vector<int64_t> starts, limits, strides;
  X2IR_RETURN_IF_ERROR(ExpectChar('['));
  if (!TakeChar(']')) {
    do {
      X2IR_ASSIGN_OR_RETURN(starts.emplace_back(), Integer());
      X2IR_RETURN_IF_ERROR(ExpectChar(':'));
      X2IR_ASSIGN_OR_RETURN(limits.emplace_back(), Integer());
      strides.push_back(1);
      if (TakeChar(':')) {
        X2IR_ASSIGN_OR_RETURN(strides.back(), Integer());
      }
    } while (TakeChar(','));
    X2IR_RETURN_IF_ERROR(ExpectChar(']'));
  }
  op.attrs.emplace_back("start_indices", IntsAttr(std::move(starts)));
  op.attrs.emplace_back("limit_indices", IntsAttr(std::move(limits)));
  op.attrs.emplace_back("strides", IntsAttr(std::move(strides)));
  return absl::OkStatus();
}

}  // namespace x2ir::mlir
