// Expressions, names and calls.
#include <algorithm>
#include <limits>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/script/machine.h"
#include "x2ir/ops/infer.h"

namespace x2ir::torch_script {

constexpr size_t kMaxCalls = 200;  // inside of each other

std::string Machine::DottedName(const Expr& e) const {
  if (e.kind == Expr::kName) return std::string(e.text);
  if (e.kind != Expr::kAttribute) return "";
  const std::string base = DottedName(*e.args[0]);
  return base.empty() ? "" : StrCat(base, ".", e.text);
}

Val Machine::Evaluate(const Expr& e, int64_t wanted) {
  CheckStack();
  switch (e.kind) {
    case Expr::kName: return EvaluateName(e);
    case Expr::kInt: return Val::Int(e.number);
    case Expr::kFloat: return Val::Float(e.real);
    case Expr::kImaginary: return Val::Complex(0, e.real);
    case Expr::kString: return Val::String(std::string(e.text));
    case Expr::kTrue: return Val::Bool(true);
    case Expr::kFalse: return Val::Bool(false);
    case Expr::kNone: return Val::None();
    case Expr::kAttribute: {
      // A dotted name is a name of the file's, unless its first part is a variable.
      const Expr* first = &e;
      while (first->kind == Expr::kAttribute) first = first->args[0];
      if (first->kind == Expr::kName && !frames_.back().vars.contains(first->text)) {
        return Resolve(DottedName(e));
      }
      return GetAttribute(Evaluate(*e.args[0]), e.text);
    }
    case Expr::kCall: return EvaluateCall(e, wanted);
    case Expr::kIndex: return EvaluateIndex(e);
    case Expr::kTuple:
    case Expr::kList: {
      std::vector<Val> items;
      for (const Expr* item : e.args) {
        if (item->kind == Expr::kStarred) {
          for (Val& v : Iterate(Evaluate(*item->args[0]))) items.push_back(std::move(v));
        } else {
          items.push_back(Evaluate(*item));
        }
      }
      return e.kind == Expr::kList ? Val::List(std::move(items)) : Val::Tuple(std::move(items));
    }
    case Expr::kDict: {
      const Val made = Val::Of(Val::kDict, std::make_shared<DictHeap>());
      for (size_t i = 0; i + 1 < e.args.size(); i += 2) {
        const Val key = Evaluate(*e.args[i]);
        Call("aten::_set_item", {{made, key, Evaluate(*e.args[i + 1])}, {}});
      }
      return made;
    }
    case Expr::kListOf:
    case Expr::kDictOf: return EvaluateListOf(e);
    case Expr::kUnary: {
      const Val v = Evaluate(*e.args[0]);
      if (e.text == "+") return v;
      if (e.text == "not") return Call("aten::__not__", {{Convert(v, "bool")}, {}});
      return Call(e.text == "-" ? "aten::neg" : "aten::bitwise_not", {{v}, {}});
    }
    case Expr::kBinary: return EvaluateBinary(e);
    case Expr::kConditional: return Choose(Evaluate(*e.args[1]), *e.args[0], *e.args[2]);
    case Expr::kSlice:
    case Expr::kEllipsis:
    case Expr::kStarred: break;
  }
  Stop(Invalid("an expression that has no value here", PlaceText()));
}

Val Machine::EvaluateName(const Expr& e) {
  const auto& vars = frames_.back().vars;
  if (const auto it = vars.find(e.text); it != vars.end()) return it->second;
  return Resolve(e.text);
}

// A name that is no variable: of the files' functions and classes, of operators, of constants.
Val Machine::Resolve(std::string_view name) {
  constexpr std::string_view kConstants = "CONSTANTS.c";
  if (name.starts_with(kConstants)) {
    size_t index = 0;
    for (const char c : name.substr(kConstants.size())) {
      if (c < '0' || c > '9' || index > 100'000'000) index = SIZE_MAX / 16;
      index = index * 10 + static_cast<size_t>(c - '0');
    }
    if (index >= program_.constant_values.size()) {
      Stop(DataLoss("there is no constant ", name, PlaceText()));
    }
    const Val v = Load(*program_.constant_values[index], StrCat("constants.", index));
    if (v.kind == Val::kTensor) v.tensor().is_constant = true;
    return v;
  }
  if (name.starts_with("__torch__.")) {
    if (const FunctionDef* function = program_.FindFunction(name)) {
      Val v;
      v.kind = Val::kFunction;
      v.function = function;
      return v;
    }
    if (program_.FindClass(name)) return Val::Text(Val::kClass, std::string(name));
    // An attribute of a class: a value of an enum.
    const size_t dot = name.rfind('.');
    if (const ClassDef* cls = program_.FindClass(name.substr(0, dot))) {
      if (const ClassDef::Field* field = cls->FindField(name.substr(dot + 1));
          field && field->value) {
        return Instantiate(name.substr(0, dot), {{Evaluate(*field->value)}, {}});
      }
    }
    return Val::Text(Val::kClass, std::string(name));
  }
  if (name == "inf" || name == "math.inf") {
    return Val::Float(std::numeric_limits<double>::infinity());
  }
  if (name == "nan" || name == "math.nan") {
    return Val::Float(std::numeric_limits<double>::quiet_NaN());
  }
  if (name == "math.pi") return Val::Float(3.141592653589793);
  if (name.starts_with("math.")) return Val::Text(Val::kBuiltin, StrCat("aten::", name.substr(5)));
  // torch.add, ops.prim.min, torch.ops.quantized.add, ops.torchvision.nms
  if (name.starts_with("torch.ops."))
    name.remove_prefix(10);
  else if (name.starts_with("ops."))
    name.remove_prefix(4);
  else if (name.starts_with("torch._C._nn."))
    return Val::Text(Val::kBuiltin, StrCat("aten::", name.substr(13)));
  else if (name.starts_with("torch.") && name.find('.', 6) == name.npos) {
    return Val::Text(Val::kBuiltin, StrCat("aten::", name.substr(6)));
  }
  if (const size_t dot = name.find('.'); dot != name.npos && name.find('.', dot + 1) == name.npos) {
    return Val::Text(Val::kBuiltin, StrCat(name.substr(0, dot), "::", name.substr(dot + 1)));
  }
  return Val::Text(Val::kBuiltin, std::string(name));
}

Val Machine::EvaluateCall(const Expr& e, int64_t wanted) {
  CountStep();
  const Expr& callee = *e.args[0];
  const size_t named = e.keywords.size(), positional = e.args.size() - 1 - named;
  // Forms of the language.
  if (callee.kind == Expr::kName && !frames_.back().vars.contains(callee.text)) {
    const std::string_view name = callee.text;
    if ((name == "annotate" || name == "unchecked_cast") && positional == 2) {
      return Annotated(*e.args[1], Evaluate(*e.args[2]), name == "unchecked_cast");
    }
    if (name == "uninitialized") return Val::Unset();
    if (name == "isinstance" && positional == 2) {
      return Val::Bool(IsInstance(Evaluate(*e.args[1]), *e.args[2]));
    }
    if (name == "getattr" && positional >= 2 && e.args[2]->kind == Expr::kString) {
      return GetAttribute(Evaluate(*e.args[1]), e.args[2]->text);
    }
    if (name == "hasattr" && positional == 2 && e.args[2]->kind == Expr::kString) {
      const Val object = Evaluate(*e.args[1]);
      const ObjectHeap* heap = object.kind == Val::kObject ? &object.object() : nullptr;
      return Val::Bool(heap && heap->cls && heap->cls->FindField(e.args[2]->text));
    }
    if (name == "fork" && positional >= 1) {
      Args args;
      for (size_t i = 2; i <= positional; ++i) args.positional.push_back(Evaluate(*e.args[i]));
      return CallValue(Evaluate(*e.args[1]), std::move(args), -1);
    }
  }
  // x.forward(...): of objects, and of tensors and containers.
  std::optional<Val> object;
  std::string_view method;
  Val function;
  if (callee.kind == Expr::kAttribute) {
    const Expr* first = &callee;
    while (first->kind == Expr::kAttribute) first = first->args[0];
    const bool dotted = first->kind == Expr::kName && !frames_.back().vars.contains(first->text);
    if (dotted) {
      const std::string name = DottedName(callee);
      if (name.ends_with(".__new__")) {
        return Instantiate(name.substr(0, name.size() - 8), {});
      }
      function = Resolve(name);
    } else {
      object = Evaluate(*callee.args[0]);
      method = callee.text;
    }
  } else {
    function = Evaluate(callee);
  }
  Args args;
  for (size_t i = 1; i <= positional; ++i) {
    if (e.args[i]->kind == Expr::kStarred) {
      for (Val& v : Iterate(Evaluate(*e.args[i]->args[0]))) args.positional.push_back(std::move(v));
    } else {
      args.positional.push_back(Evaluate(*e.args[i]));
    }
  }
  for (size_t i = 0; i < named; ++i) {
    args.named.emplace_back(e.keywords[i], Evaluate(*e.args[1 + positional + i]));
  }
  if (!object) return CallValue(function, std::move(args), wanted);
  if (object->kind == Val::kObject) {
    if (HasMethod(*object, method)) return CallMethod(*object, method, std::move(args));
    if (!object->object().cls) {  // a class of PyTorch's own
      args.positional.insert(args.positional.begin(), *object);
      return Call(StrCat("packed::", method), args, wanted);
    }
    const Val attribute = GetAttribute(*object, method);
    return CallValue(attribute, std::move(args), wanted);
  }
  args.positional.insert(args.positional.begin(), *object);
  return Call(StrCat("aten::", method), args, wanted);
}

Val Machine::CallValue(const Val& callee, Args args, int64_t wanted) {
  switch (callee.kind) {
    case Val::kFunction: return CallFunction(*callee.function, std::move(args), path());
    case Val::kClass: return Instantiate(callee.str(), std::move(args));
    case Val::kObject: return CallMethod(callee, "forward", std::move(args));
    case Val::kBuiltin: {
      const std::string_view name = callee.str();
      if (name.find("::") != name.npos) return Call(name, args, wanted);
      const bool one = args.positional.size() == 1 && args.named.empty();
      if (one && (name == "int" || name == "float" || name == "bool" || name == "str" ||
                  name == "complex")) {
        return Convert(args.positional[0], name);
      }
      if (name == "range") {
        Val range;
        range.kind = Val::kRange;
        std::vector<Val> items = std::move(args.positional);
        if (items.size() == 1) items.insert(items.begin(), Val::Int(0));
        if (items.size() == 2) items.push_back(Val::Int(1));
        if (items.size() != 3) break;
        range.items = std::make_shared<const std::vector<Val>>(std::move(items));
        return range;
      }
      if (name == "list" && args.size() == 0) return Val::List({});
      if (name == "dict" && args.size() == 0) {
        return Val::Of(Val::kDict, std::make_shared<DictHeap>());
      }
      if (name == "print") return Val::None();
      if (name == "max" || name == "min" || name == "abs" || name == "sum") {
        return Call(StrCat(args.has_tensor() ? "aten::" : "prim::", name), args, wanted);
      }
      return Call(StrCat("aten::", name), args, wanted);
    }
    case Val::kLost: Refuse(callee.str());
    default: break;
  }
  Stop(Invalid("a call of ", Describe(callee), PlaceText()));
}

Val Machine::CallFunction(const FunctionDef& function, Args args, const std::string& path) {
  if (frames_.size() >= kMaxCalls) Refuse("calls are nested more than ", kMaxCalls, " deep");
  Frame frame;
  frame.function = &function;
  frame.file = function.file;
  frame.path = path;
  frame.offset = function.offset;
  // A nested function sees the variables around it.
  if (!frames_.empty() && frames_.back().file == function.file &&
      function.name.starts_with("__fork")) {
    frame.vars = frames_.back().vars;
  }
  if (args.positional.size() > function.parameters.size()) {
    Stop(Invalid(function.name, " takes ", function.parameters.size(), " arguments, not ",
                 args.positional.size(), PlaceText()));
  }
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter& p = function.parameters[i];
    const Val* given = args.Get(i, p.name);
    Val v;
    if (given) {
      v = *given;
    } else if (p.default_value) {
      v = Evaluate(*p.default_value);
    } else {
      Stop(Invalid("argument '", p.name, "' of ", function.name, " is missing", PlaceText()));
    }
    frame.vars[p.name] = p.type ? Annotated(*p.type, v, false) : v;
  }
  for (const auto& [name, v] : args.named) {
    if (!frame.vars.contains(name)) {
      Stop(Invalid(function.name, " has no argument '", name, "'", PlaceText()));
    }
  }
  frames_.push_back(std::move(frame));
  struct Pop {
    std::vector<Frame>& frames;
    ~Pop() { frames.pop_back(); }
  } pop{frames_};
  Execute(function.body);
  Val result = std::move(frames_.back().result);
  if (function.returns) result = Annotated(*function.returns, result, false);
  return result;
}

bool Machine::HasMethod(const Val& object, std::string_view name) const {
  const ObjectHeap& heap = object.object();
  return heap.cls && heap.cls->Method(name);
}

Val Machine::CallMethod(const Val& object, std::string_view name, Args args) {
  const ObjectHeap& heap = object.object();
  const FunctionDef* method = heap.cls ? heap.cls->Method(name) : nullptr;
  if (!method) {
    Stop(Invalid("class ", heap.class_name, " has no method '", name, "'", PlaceText()));
  }
  args.positional.insert(args.positional.begin(), object);
  // Methods of a module's own objects work at the place of the module.
  const bool module = heap.cls->base == "Module";
  return CallFunction(*method, std::move(args), module ? heap.path : path());
}

Val Machine::Instantiate(std::string_view name, Args args) {
  const ClassDef* cls = program_.FindClass(name);
  if (cls && cls->base == "NamedTuple") {
    std::vector<Val> items;
    std::string fields;
    for (size_t i = 0; i < cls->fields.size(); ++i) {
      const ClassDef::Field& field = cls->fields[i];
      const Val* given = args.Get(i, field.name);
      if (!given && !field.value) {
        Stop(Invalid("field '", field.name, "' of ", name, " is missing", PlaceText()));
      }
      items.push_back(given ? *given : Evaluate(*field.value));
      StrAppend(&fields, field.name, "\n");
    }
    Val v = Val::Tuple(std::move(items));
    v.text = std::make_shared<const std::string>(std::move(fields));
    return v;
  }
  if (cls && cls->base == "Enum") {
    auto heap = std::make_shared<ObjectHeap>();
    heap->class_name = std::string(name);
    heap->cls = cls;
    if (args.positional.size() == 1) heap->attributes.emplace_back("value", args.positional[0]);
    return Val::Of(Val::kObject, std::move(heap));
  }
  if (!cls) Refuse("an object of class ", name, ", which the file does not hold");
  auto heap = std::make_shared<ObjectHeap>();
  heap->class_name = std::string(name);
  heap->cls = cls;
  heap->path = path();
  Val object = Val::Of(Val::kObject, std::move(heap));
  if (args.size() != 0 && cls->Method("__init__")) CallMethod(object, "__init__", std::move(args));
  return object;
}

// --- Types ---------------------------------------------------------------------------------------

std::string Machine::TypeText(const Expr& type) const {
  if (type.kind == Expr::kString) return std::string(type.text);
  if (type.kind == Expr::kNone) return "NoneType";
  if (type.kind == Expr::kIndex) {
    const Expr& inner = *type.args[1];
    std::string text = StrCat(TypeText(*type.args[0]), "[");
    if (inner.kind == Expr::kTuple) {
      for (size_t i = 0; i < inner.args.size(); ++i) {
        StrAppend(&text, i ? ", " : "", TypeText(*inner.args[i]));
      }
    } else {
      text += TypeText(inner);
    }
    return text + "]";
  }
  return DottedName(type);
}

// A value under a declared type: tensors become numbers where numbers are declared, and lists learn
// what they hold.
Val Machine::Annotated(const Expr& type, const Val& v, bool cast) {
  if (v.kind == Val::kMaybe && cast && TypeText(type) != "NoneType") return v.tuple()[0];
  if (v.kind == Val::kTensor && type.kind == Expr::kName) {
    if (type.text == "int" || type.text == "float" || type.text == "bool") {
      return Convert(v, type.text);
    }
    if (type.text == "number") return Call("aten::item", {{v}, {}});
  }
  if (v.kind == Val::kInt && type.kind == Expr::kName && type.text == "float") {
    return Convert(v, "float");
  }
  if (v.kind == Val::kList && v.list().type.empty() && type.kind == Expr::kIndex &&
      type.args[0]->kind == Expr::kName && type.args[0]->text == "List") {
    v.list().type = TypeText(*type.args[1]);
  }
  return v;
}

bool Machine::IsInstance(const Val& v, const Expr& type) {
  CountStep();
  if (type.kind == Expr::kTuple || type.kind == Expr::kList) {
    return std::any_of(type.args.begin(), type.args.end(),
                       [&](const Expr* t) { return IsInstance(v, *t); });
  }
  if (v.kind == Val::kLost) Refuse(v.str());
  const std::string text = TypeText(type);
  const std::string_view outer = std::string_view(text).substr(0, text.find('['));
  switch (v.kind) {
    case Val::kNone: return outer == "NoneType" || outer == "None" || outer == "Optional";
    case Val::kBool: return outer == "bool" || outer == "int";
    case Val::kInt: return outer == "int" || outer == "number";
    case Val::kFloat: return outer == "float" || outer == "number";
    case Val::kComplex: return outer == "complex" || outer == "number";
    case Val::kString: return outer == "str";
    case Val::kTensor: return outer == "Tensor";
    case Val::kTuple: return outer == "Tuple" || outer == "tuple";
    case Val::kDevice: return outer == "Device" || outer == "device";
    case Val::kDict: return outer == "Dict" || outer == "dict";
    case Val::kObject: return v.object().class_name == text;
    case Val::kList: {
      if (outer != "List" && outer != "list") return false;
      if (type.kind != Expr::kIndex) return true;
      if (!v.list().type.empty()) return v.list().type == TypeText(*type.args[1]);
      if (v.list().computed) return true;
      const auto& items = v.list().items;
      return std::all_of(items.begin(), items.end(),
                         [&](const Val& item) { return IsInstance(item, *type.args[1]); });
    }
    default: return false;
  }
}

// int(x), float(x), bool(x), str(x) of numbers, tensors and texts.
Val Machine::Convert(const Val& v, std::string_view type) {
  if (v.kind == Val::kLost) Refuse(v.str());
  if (type == "str") return Val::String(Format(v));
  if (v.kind == Val::kString) {
    if (type == "bool") return Val::Bool(!v.str().empty());
    const std::string text(v.str());
    if (type == "int" || type == "float") {
      // As PyTorch's interpreter reads it: with spaces before it, but with nothing after it, and
      // without the underscores of Python.
      Val number;
      size_t used = 0;
      try {
        number =
            type == "int" ? Val::Int(std::stoll(text, &used)) : Val::Float(std::stod(text, &used));
      } catch (const std::exception&) {
        used = 0;
      }
      if (used == 0 || used != text.size()) throw Raised{StrCat("'", text, "' is no number")};
      return number;
    }
  }
  if (v.kind == Val::kTensor) {
    return Call(type == "int"     ? "aten::Int"
                : type == "float" ? "aten::Float"
                : type == "bool"  ? "aten::Bool"
                                  : "aten::item",
                {{v}, {}});
  }
  if (!v.is_number()) {
    if (type == "bool") return Val::Bool(v.kind != Val::kNone);
    Stop(Invalid(type, "() of ", Describe(v), PlaceText()));
  }
  if (type == "complex") return Val::Complex(v.d, v.im);
  const Val::Kind kind = type == "int" ? Val::kInt : type == "float" ? Val::kFloat : Val::kBool;
  if (v.kind == kind) return v;
  if (!v.value) {
    if (kind == Val::kFloat) return Val::Float(v.d);
    if (kind == Val::kBool) return Val::Bool(v.kind == Val::kFloat ? v.d != 0 : v.i != 0);
    if (v.kind == Val::kBool) return Val::Int(v.i);
    if (!(v.d >= -9.2e18 && v.d <= 9.2e18)) throw Raised{"a float that is no int"};
    return Val::Int(static_cast<int64_t>(v.d));
  }
  const char* to = kind == Val::kInt ? "int64" : kind == Val::kFloat ? "float64" : "bool";
  return NumberOf(kind, Op("cast", {v.value}, {{"to", std::string(to)}}));
}

// --- Indexing, operators, comprehensions
// -----------------------------------------------------------

Val Machine::EvaluateIndex(const Expr& e) {
  const Val base = Evaluate(*e.args[0]);
  const Expr& index = *e.args[1];
  if (index.kind == Expr::kSlice) {
    Args args{{base}, {}};
    if (base.kind == Val::kTensor) args.positional.push_back(Val::Int(0));
    for (const Expr* part : index.args) {
      args.positional.push_back(part ? Evaluate(*part) : Val::None());
    }
    while (args.positional.back().kind == Val::kNone && args.positional.size() > 1) {
      args.positional.pop_back();
    }
    return Call("aten::slice", args);
  }
  if (base.kind == Val::kTensor) {
    const Val at = Evaluate(index);
    if (at.kind == Val::kInt) return Call("aten::select", {{base, Val::Int(0), at}, {}});
    if (at.kind == Val::kTensor) return Call("aten::index", {{base, Val::List({at})}, {}});
    Refuse("an index of a tensor by ", Describe(at));
  }
  return Call("aten::__getitem__", {{base, Evaluate(index)}, {}});
}

Val Machine::EvaluateBinary(const Expr& e) {
  static constexpr std::pair<std::string_view, std::string_view> kOps[] = {
      {"+", "add"},         {"-", "sub"},         {"*", "mul"},     {"/", "div"},
      {"//", "floordiv"},   {"%", "remainder"},   {"**", "pow"},    {"==", "eq"},
      {"!=", "ne"},         {"<", "lt"},          {"<=", "le"},     {">", "gt"},
      {">=", "ge"},         {"&", "__and__"},     {"|", "__or__"},  {"^", "__xor__"},
      {"<<", "__lshift__"}, {">>", "__rshift__"}, {"is", "__is__"}, {"is not", "__isnot__"},
      {"@", "matmul"}};
  if (e.text == "and" || e.text == "or") {
    const Val a = Convert(Evaluate(*e.args[0]), "bool");
    if (!a.value) {
      if ((a.i != 0) == (e.text == "or")) return a;
      return Convert(Evaluate(*e.args[1]), "bool");
    }
    return Call(e.text == "and" ? "aten::__and__" : "aten::__or__",
                {{a, Convert(Evaluate(*e.args[1]), "bool")}, {}});
  }
  const Val a = Evaluate(*e.args[0]), b = Evaluate(*e.args[1]);
  if (e.text == "in") return Call("aten::__contains__", {{b, a}, {}});
  if (e.text == "not in") {
    return Call("aten::__not__", {{Call("aten::__contains__", {{b, a}, {}})}, {}});
  }
  for (const auto& [text, op] : kOps) {
    if (text != e.text) continue;
    // Of tensors // is floor_divide.
    const bool tensors = a.kind == Val::kTensor || b.kind == Val::kTensor;
    if (op == "floordiv" && tensors) return Call("aten::floor_divide", {{a, b}, {}});
    return Call(StrCat("aten::", op), {{a, b}, {}});
  }
  Stop(Invalid("operator ", e.text, PlaceText()));
}

Val Machine::EvaluateListOf(const Expr& e) {
  const bool dict = e.kind == Expr::kDictOf;
  const size_t n = dict ? 2 : 1;
  const Val made = Val::Of(Val::kDict, std::make_shared<DictHeap>());
  std::vector<Val> items;
  for (const Val& v : Iterate(Evaluate(*e.args[n + 1]))) {
    Assign(*e.args[n], v);
    if (e.args.size() > n + 2 && e.args[n + 2] && !Truth(Evaluate(*e.args[n + 2]))) continue;
    Val first = Evaluate(*e.args[0]);
    if (dict) {
      Call("aten::_set_item", {{made, first, Evaluate(*e.args[1])}, {}});
    } else {
      items.push_back(std::move(first));
    }
  }
  return dict ? made : Val::List(std::move(items));
}

std::vector<Val> Machine::Iterate(const Val& v) {
  switch (v.kind) {
    case Val::kTuple: return v.tuple();
    case Val::kList: {
      ListHeap& list = v.list();
      if (!list.computed) return list.items;
      const Shape* shape = list.computed->shape();
      if (list.element != Val::kTensor && shape && shape->rank() == 1 && (*shape)[0].is_static()) {
        std::vector<Val> items;
        for (int64_t i = 0; i < (*shape)[0].value(); ++i) {
          items.push_back(Call("aten::__getitem__", {{v, Val::Int(i)}, {}}));
        }
        return items;
      }
      Refuse("the code iterates over a list whose length is not known");
    }
    case Val::kDict: {
      std::vector<Val> keys;
      for (const auto& [key, item] : v.dict().items) keys.push_back(key);
      return keys;
    }
    case Val::kString: {
      std::vector<Val> items;
      CountSteps(static_cast<int64_t>(v.str().size()));
      for (const char c : v.str()) items.push_back(Val::String(std::string(1, c)));
      return items;
    }
    case Val::kRange: {
      std::vector<Val> items;
      const int64_t start = KnownInt(v.tuple()[0], "a range"),
                    end = KnownInt(v.tuple()[1], "a range"),
                    step = KnownInt(v.tuple()[2], "a range");
      if (step == 0) throw Raised{"range() with a step of 0"};
      for (int64_t i = start; step > 0 ? i < end : i > end;) {
        items.push_back(Val::Int(i));
        if (items.size() > kMaxItems) Refuse("a list of more than ", kMaxItems, " numbers");
        CountStep();
        if (__builtin_add_overflow(i, step, &i)) break;
      }
      return items;
    }
    case Val::kTensor: return Iterate(Call("aten::unbind", {{v}, {}}));
    case Val::kLost: Refuse(v.str());
    default: Stop(Invalid("a loop over ", Describe(v), PlaceText()));
  }
}

const std::vector<Val>& Machine::Items(const Val& v, std::string_view what) {
  if (v.kind == Val::kTuple) return v.tuple();
  if (v.kind == Val::kList && !v.list().computed) return v.list().items;
  if (v.kind == Val::kLost) Refuse(v.str());
  if (v.kind == Val::kList) Refuse(what, " is a list of an unknown number of items");
  Stop(Invalid(what, " is ", Describe(v), ", not a list", PlaceText()));
}

bool Machine::Truth(const Val& v) {
  const Val b = Convert(v, "bool");
  if (b.value) Refuse("what depends on data must be known here");
  return b.i != 0;
}

int64_t Machine::KnownInt(const Val& v, std::string_view what) {
  if (v.kind == Val::kLost) Refuse(v.str());
  if ((v.kind != Val::kInt && v.kind != Val::kBool) || v.value) {
    Refuse(what, " must be a known int, but is ", Describe(v));
  }
  return v.i;
}

std::string Machine::Format(const Val& v, int depth) {
  CountStep();
  if (depth > 16) return "...";
  switch (v.kind) {
    case Val::kString: return std::string(v.str());
    case Val::kTuple:
    case Val::kList: {
      if (v.kind == Val::kList && v.list().computed) return "[...]";
      std::string text;
      for (const Val& item : v.kind == Val::kTuple ? v.tuple() : v.list().items) {
        StrAppend(&text, text.empty() ? "" : ", ", Format(item, depth + 1));
        if (text.size() > kMaxItems) Refuse("a text of more than ", kMaxItems, " characters");
      }
      CountSteps(static_cast<int64_t>(text.size() / 64));
      return v.kind == Val::kTuple ? StrCat("(", text, ")") : StrCat("[", text, "]");
    }
    case Val::kTensor: return "<tensor>";
    case Val::kFloat: {
      // 1.0, as Python has it.
      if (v.value) return "<computed>";
      std::string text = Describe(v);
      if (text.find_first_not_of("-0123456789") == text.npos) text += ".0";
      return text;
    }
    default: return v.value ? "<computed>" : Describe(v);
  }
}

}  // namespace x2ir::torch_script
