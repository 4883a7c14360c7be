// Operations whose printed form has code of its own: functions, calls, constants, loops,
// reductions.
#include "x2ir/formats/mlir/parser_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::mlir {
namespace {

Attr StringAttr(std::string text) {
  Attr attr;
  attr.kind = Attr::kString;
  attr.s = std::move(text);
  return attr;
}

// A number of rank 0 of a tensor's element type.
TypeRef ElementTensor(const TypeRef& type) {
  auto element = std::make_shared<MlirType>(*type);
  element->type = Type::Tensor(type->type.dtype(), Shape());
  element->bounds.clear();
  return element;
}

}  // namespace

absl::Status OpParser::ParseNestedModule(Draft& draft) {
  draft.op.name = "builtin.module";
  if (Next() == '@') {
    X2IR_ASSIGN_OR_RETURN(std::string name, SymbolName());
    draft.op.attrs.emplace_back("sym_name", StringAttr(std::move(name)));
  }
  if (TakeText("attributes")) X2IR_RETURN_IF_ERROR(ParseDict(&draft.op.attrs));
  return ParseRegion(draft.op, {});
}

absl::Status OpParser::ParseFunction(Draft& draft) {
  Op& op = draft.op;
  std::string_view visibility;
  if (Next() != '@') {
    X2IR_ASSIGN_OR_RETURN(visibility, Word());
  }
  X2IR_ASSIGN_OR_RETURN(std::string name, SymbolName());
  op.attrs.emplace_back("sym_name", StringAttr(std::move(name)));
  if (!visibility.empty()) {
    op.attrs.emplace_back("sym_visibility", StringAttr(std::string(visibility)));
  }
  Arguments arguments;
  std::vector<TypeRef> types, results;
  Attr argument_attrs, result_attrs;
  argument_attrs.kind = result_attrs.kind = Attr::kArray;
  const auto attrs_of = [&](Attr& list) -> absl::Status {
    Attr& dict = list.items.emplace_back();
    dict.kind = Attr::kDict;
    if (Next() == '{') X2IR_RETURN_IF_ERROR(ParseDict(&dict.fields));
    return SkipLocation();
  };
  X2IR_RETURN_IF_ERROR(ExpectChar('('));
  if (!TakeChar(')')) {
    do {
      std::string argument;
      if (Next() == '%') {
        X2IR_ASSIGN_OR_RETURN(const std::string_view text, ValueName());
        argument = text;
        X2IR_RETURN_IF_ERROR(ExpectChar(':'));
      }
      X2IR_ASSIGN_OR_RETURN(types.emplace_back(), ParseType());
      arguments.emplace_back(std::move(argument), types.back());
      X2IR_RETURN_IF_ERROR(attrs_of(argument_attrs));
    } while (TakeChar(','));
    X2IR_RETURN_IF_ERROR(ExpectChar(')'));
  }
  if (TakeText("->")) {
    if (TakeChar('(')) {
      if (!TakeChar(')')) {
        do {
          X2IR_ASSIGN_OR_RETURN(results.emplace_back(), ParseType());
          X2IR_RETURN_IF_ERROR(attrs_of(result_attrs));
        } while (TakeChar(','));
        X2IR_RETURN_IF_ERROR(ExpectChar(')'));
      }
    } else {
      X2IR_ASSIGN_OR_RETURN(results.emplace_back(), ParseType());
    }
  }
  Attr type;
  type.kind = Attr::kType;
  type.type = FunctionType(types, std::move(results));
  op.attrs.emplace_back("function_type", std::move(type));
  op.attrs.emplace_back("arg_attrs", std::move(argument_attrs));
  op.attrs.emplace_back("res_attrs", std::move(result_attrs));
  if (TakeText("attributes")) X2IR_RETURN_IF_ERROR(ParseDict(&op.attrs));
  if (Next() != '{') return absl::OkStatus();  // only declared
  // A function sees no value from outside.
  StringMap<ValueId> outside;
  std::vector<std::pair<std::string, ValueId>> defined;
  names_.swap(outside);
  defined_.swap(defined);
  X2IR_RETURN_IF_ERROR(ParseRegion(op, arguments));
  names_.swap(outside);
  defined_.swap(defined);
  return absl::OkStatus();
}

absl::Status OpParser::ParseCall(Draft& draft) {
  draft.op.name = "func.call";
  Attr callee;
  callee.kind = Attr::kSymbol;
  X2IR_ASSIGN_OR_RETURN(callee.s, SymbolName());
  draft.op.attrs.emplace_back("callee", std::move(callee));
  X2IR_RETURN_IF_ERROR(ExpectChar('('));
  X2IR_RETURN_IF_ERROR(UseList(&draft.op));
  X2IR_RETURN_IF_ERROR(ExpectChar(')'));
  if (Next() == '{') X2IR_RETURN_IF_ERROR(ParseDict(&draft.op.attrs));
  X2IR_RETURN_IF_ERROR(ExpectChar(':'));
  return ParseFunctionalType(draft);
}

absl::Status OpParser::ParseReturn(Draft& draft) {
  X2IR_RETURN_IF_ERROR(UseList(&draft.op));
  if (Next() == '{') X2IR_RETURN_IF_ERROR(ParseDict(&draft.op.attrs));
  if (!TakeChar(':')) return absl::OkStatus();
  return ParseTypeList().status();
}

absl::Status OpParser::ParseConstant(Draft& draft) {
  Op& op = draft.op;
  op.name = "stablehlo.constant";
  if (TakeChar('(')) {  // () {value = dense<...> : T} : () -> T
    X2IR_RETURN_IF_ERROR(ExpectChar(')'));
    if (TakeChar('<')) {
      X2IR_RETURN_IF_ERROR(ParseDict(&op.attrs));
      X2IR_RETURN_IF_ERROR(ExpectChar('>'));
    }
    if (Next() == '{') X2IR_RETURN_IF_ERROR(ParseDict(&op.attrs));
    X2IR_RETURN_IF_ERROR(ExpectChar(':'));
    return ParseFunctionalType(draft);
  }
  if (Next() == '{') X2IR_RETURN_IF_ERROR(ParseDict(&op.attrs));
  X2IR_ASSIGN_OR_RETURN(Attr value, ParseAttr());
  if (value.kind == Attr::kBool && TakeChar(':')) {
    X2IR_ASSIGN_OR_RETURN(value.type, ParseType());
  }
  if (value.type == nullptr) return Fail("a constant has no type");
  draft.types = {value.type};
  op.attrs.emplace_back("value", std::move(value));
  return absl::OkStatus();
}

// "tensor.cast %0 : T to U".
absl::Status OpParser::ParseCast(Draft& draft) {
  draft.op.name = "tensor.cast";
  X2IR_RETURN_IF_ERROR(UseList(&draft.op));
  X2IR_RETURN_IF_ERROR(ExpectChar(':'));
  X2IR_RETURN_IF_ERROR(ParseType().status());
  X2IR_RETURN_IF_ERROR(ExpectText("to"));
  X2IR_ASSIGN_OR_RETURN(draft.types.emplace_back(), ParseType());
  return absl::OkStatus();
}

// "reduce(%x init: %a), (%y init: %b) across dimensions = [1] : (...) -> ... reducer(%l: T, %r: T)
// (...) {" or "reduce(%x init: %a) applies stablehlo.add across dimensions = [1] : (...) -> T".
absl::Status OpParser::ParseReduce(Draft& draft) {
  Op& op = draft.op;
  op.name = "stablehlo.reduce";
  std::vector<ValueId> inits;
  do {
    X2IR_RETURN_IF_ERROR(ExpectChar('('));
    X2IR_ASSIGN_OR_RETURN(const ValueId input, Use());
    op.operands.push_back(input);
    X2IR_RETURN_IF_ERROR(ExpectText("init"));
    X2IR_RETURN_IF_ERROR(ExpectChar(':'));
    X2IR_ASSIGN_OR_RETURN(inits.emplace_back(), Use());
    X2IR_RETURN_IF_ERROR(ExpectChar(')'));
  } while (TakeChar(','));
  for (const ValueId init : inits) op.operands.push_back(init);
  std::string_view applied;
  if (TakeText("applies")) {
    X2IR_ASSIGN_OR_RETURN(applied, Word());
  }
  X2IR_RETURN_IF_ERROR(ExpectText("across"));
  X2IR_RETURN_IF_ERROR(ExpectText("dimensions"));
  X2IR_RETURN_IF_ERROR(ExpectChar('='));
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> dimensions, ParseInts());
  op.attrs.emplace_back("dimensions", IntsAttr(std::move(dimensions)));
  if (Next() == '{') X2IR_RETURN_IF_ERROR(ParseDict(&op.attrs));
  X2IR_RETURN_IF_ERROR(ExpectChar(':'));
  X2IR_RETURN_IF_ERROR(ParseFunctionalType(draft));
  if (!applied.empty()) return ParseAppliedBody(draft, applied);
  X2IR_RETURN_IF_ERROR(SkipLocation());
  X2IR_RETURN_IF_ERROR(ExpectText("reducer"));
  // "(%l0: T, %r0: T) (%l1: U, %r1: U)": the region takes all on the left first.
  Arguments lefts, rights;
  while (Next() == '(') {
    Arguments pair;
    X2IR_RETURN_IF_ERROR(ParseArguments(&pair));
    if (pair.size() != 2) return Fail("a reducer has pairs of arguments");
    lefts.push_back(std::move(pair[0]));
    rights.push_back(std::move(pair[1]));
  }
  for (auto& argument : rights) lefts.push_back(std::move(argument));
  return ParseRegion(op, lefts);
}

absl::Status OpParser::ParseAppliedBody(Draft& draft, std::string_view inner) {
  if (draft.op.operands.size() != 2) return Fail("'applies' is for one operand");
  const TypeRef type = ElementTensor(module_.type(draft.op.operands[1]));
  Block& block = draft.op.regions.emplace_back().blocks.emplace_back();
  const auto add = [&] {
    module_.values.push_back({"", type});
    return static_cast<ValueId>(module_.values.size() - 1);
  };
  block.arguments = {add(), add()};
  Op& op = block.ops.emplace_back();
  op.name = inner.starts_with("mhlo.") ? StrCat("stablehlo.", inner.substr(5)) : std::string(inner);
  op.operands = {block.arguments[0], block.arguments[1]};
  op.results = {add()};
  op.line = draft.op.line;
  const ValueId result = op.results[0];
  Op& end = block.ops.emplace_back();
  end.name = "stablehlo.return";
  end.operands = {result};
  return absl::OkStatus();
}

// "while(%a = %x, %b = %y) : T, U attributes {...} cond { ... } do { ... }".
absl::Status OpParser::ParseWhile(Draft& draft) {
  Op& op = draft.op;
  op.name = "stablehlo.while";
  X2IR_RETURN_IF_ERROR(ExpectChar('('));
  Arguments arguments;
  if (!TakeChar(')')) {
    do {
      X2IR_ASSIGN_OR_RETURN(const std::string_view name, ValueName());
      arguments.emplace_back(name, nullptr);
      X2IR_RETURN_IF_ERROR(ExpectChar('='));
      X2IR_ASSIGN_OR_RETURN(const ValueId value, Use());
      op.operands.push_back(value);
    } while (TakeChar(','));
    X2IR_RETURN_IF_ERROR(ExpectChar(')'));
  }
  if (TakeChar(':')) {
    X2IR_ASSIGN_OR_RETURN(draft.types, ParseTypeList());
  }
  if (draft.types.size() != arguments.size()) {
    return Fail("operands and their types differ in number");
  }
  for (size_t i = 0; i < arguments.size(); ++i) arguments[i].second = draft.types[i];
  X2IR_RETURN_IF_ERROR(SkipLocation());
  if (TakeText("attributes")) X2IR_RETURN_IF_ERROR(ParseDict(&op.attrs));
  X2IR_RETURN_IF_ERROR(ExpectText("cond"));
  X2IR_RETURN_IF_ERROR(ParseRegion(op, arguments));
  X2IR_RETURN_IF_ERROR(ExpectText("do"));
  return ParseRegion(op, arguments);
}

// "scan (%x) inits (%c) dimension = 0 attributes {...} { ^bb0(...): ... } : (...) -> (...)".
absl::Status OpParser::ParseScan(Draft& draft) {
  Op& op = draft.op;
  op.name = "chlo.scan";
  X2IR_RETURN_IF_ERROR(ExpectChar('('));
  X2IR_RETURN_IF_ERROR(UseList(&op));
  X2IR_RETURN_IF_ERROR(ExpectChar(')'));
  const auto inputs = static_cast<int64_t>(op.operands.size());
  X2IR_RETURN_IF_ERROR(ExpectText("inits"));
  X2IR_RETURN_IF_ERROR(ExpectChar('('));
  X2IR_RETURN_IF_ERROR(UseList(&op));
  X2IR_RETURN_IF_ERROR(ExpectChar(')'));
  X2IR_RETURN_IF_ERROR(ExpectText("dimension"));
  X2IR_RETURN_IF_ERROR(ExpectChar('='));
  X2IR_ASSIGN_OR_RETURN(const int64_t dimension, Integer());
  op.attrs.emplace_back("dimension", IntAttr(dimension));
  op.attrs.emplace_back("operandSegmentSizes",
                        IntsAttr({inputs, static_cast<int64_t>(op.operands.size()) - inputs}));
  if (TakeText("attributes")) X2IR_RETURN_IF_ERROR(ParseDict(&op.attrs));
  X2IR_RETURN_IF_ERROR(ParseRegion(op, {}));
  X2IR_RETURN_IF_ERROR(ExpectChar(':'));
  return ParseFunctionalType(draft);
}

}  // namespace x2ir::mlir
