// Calls of operators: which overload the arguments are for, and the call as a node.
#include <algorithm>
#include <cmath>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/script/machine.h"
#include "x2ir/handlers/torch/strides.h"
#include "x2ir/ops/infer.h"

namespace x2ir::torch_script {
namespace {

// Operators that facts/torch-ops.json leaves out: those of torchvision, those of older versions,
// those of backward passes, and those that update statistics, which is no part of a model.
constexpr std::string_view kMoreSchemas[] = {
    "torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int "
    "pooled_width, int sampling_ratio, bool aligned) -> Tensor",
    "torchvision::roi_pool(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int "
    "pooled_width) -> (Tensor, Tensor)",
    "torchvision::ps_roi_align(Tensor input, Tensor rois, float spatial_scale, int pooled_height, "
    "int pooled_width, int sampling_ratio) -> (Tensor, Tensor)",
    "torchvision::ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, int pooled_height, "
    "int pooled_width) -> (Tensor, Tensor)",
    "torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor "
    "bias, int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int "
    "groups, int offset_groups, bool use_mask) -> Tensor",
    "aten::_scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? "
    "attn_mask=None, float dropout_p=0., bool need_attn_weights=False, bool is_causal=False) -> "
    "(Tensor, Tensor)",
    "aten::cholesky(Tensor self, bool upper=False) -> Tensor",
    "aten::qr(Tensor self, bool some=True) -> (Tensor, Tensor)",
    "aten::_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor "
    "running_mean, Tensor running_var, bool training, float momentum, float eps) -> (Tensor, "
    "Tensor, Tensor)",
    "aten::_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor "
    "running_mean, "
    "Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)",
    "aten::_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType "
    "input_dtype) -> Tensor",
    "aten::_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType "
    "input_dtype) -> Tensor",
    "aten::native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
    "aten::max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, "
    "int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor",
};

// All overloads of "aten::add", by their names in the table of schemas.
const std::vector<const TorchSchema*>& OverloadsOf(std::string_view op) {
  static const auto* table = [] {
    auto* all = new StringMap<std::vector<const TorchSchema*>>;
    for (const TorchSchema* schema : AllTorchSchemas()) {
      (*all)[std::string(schema->name.substr(0, schema->name.rfind('.')))].push_back(schema);
    }
    for (const std::string_view text : kMoreSchemas) {
      const auto* schema = new TorchSchema(ParseTorchSchema(text));
      (*all)[std::string(schema->name.substr(0, schema->name.rfind('.')))].push_back(schema);
    }
    // PyTorch takes the first that fits, and has those without a name of their own before others.
    for (auto& [name, overloads] : *all) {
      std::stable_partition(overloads.begin(), overloads.end(), [](const TorchSchema* schema) {
        return schema->name.ends_with(".default");
      });
    }
    return all;
  }();
  static const std::vector<const TorchSchema*> none;
  const auto it = table->find(op);
  return it == table->end() ? none : it->second;
}

bool IsPredicate(std::string_view name) {
  static constexpr std::string_view kPredicates[] = {"eq",
                                                     "ne",
                                                     "lt",
                                                     "le",
                                                     "gt",
                                                     "ge",
                                                     "not_equal",
                                                     "less",
                                                     "less_equal",
                                                     "greater",
                                                     "greater_equal",
                                                     "logical_and",
                                                     "logical_or",
                                                     "logical_xor",
                                                     "logical_not"};
  return std::find(std::begin(kPredicates), std::end(kPredicates), name) != std::end(kPredicates);
}

}  // namespace

const Val* Args::Named(std::string_view name) const {
  for (const auto& [key, v] : named) {
    if (key == name) return &v;
  }
  return nullptr;
}
const Val* Args::Get(size_t i, std::string_view name) const {
  return i < positional.size() ? &positional[i] : Named(name);
}
namespace {
bool HasTensor(const Val& v, int64_t& items_left, int depth = 0) {
  if (--items_left < 0) return false;
  if (v.kind == Val::kTensor) return true;
  if (depth > 8) return false;
  const std::vector<Val>* items = v.kind == Val::kTuple  ? &v.tuple()
                                  : v.kind == Val::kList ? &v.list().items
                                                         : nullptr;
  if (v.kind == Val::kList && v.list().computed && v.list().element == Val::kTensor) return true;
  return items && std::any_of(items->begin(), items->end(), [&](const Val& item) {
           return HasTensor(item, items_left, depth + 1);
         });
}
}  // namespace
bool Args::has_tensor() const {
  int64_t items = 1'000'000;
  return std::any_of(positional.begin(), positional.end(),
                     [&](const Val& v) { return HasTensor(v, items); }) ||
         std::any_of(named.begin(), named.end(),
                     [&](const auto& arg) { return HasTensor(arg.second, items); });
}

bool Machine::Fits(const TorchParameter& p, const Val& v, bool loose, int depth) {
  if (v.kind == Val::kLost) Refuse(v.str());
  const std::string_view element = p.element();
  if (v.kind == Val::kNone) {
    if (depth > 0) return p.type.find("?[") != p.type.npos;
    return p.is_optional() || element == "Generator";
  }
  if (p.is_list() && depth == 0) {
    if (v.kind == Val::kTuple || (v.kind == Val::kList && !v.list().computed)) {
      const auto& items = v.kind == Val::kTuple ? v.tuple() : v.list().items;
      return std::all_of(items.begin(), items.end(),
                         [&](const Val& item) { return Fits(p, item, loose, 1); });
    }
    if (v.kind == Val::kList) {
      return element == "Tensor" ? v.list().element == Val::kTensor
                                 : v.list().element != Val::kTensor;
    }
    // "int[2]": one number is used for all.
    if (p.type.ends_with("[]") || p.type.ends_with("[]?")) return false;
    return Fits(p, v, loose, 1);
  }
  const auto is = [&](Val::Kind kind) { return v.kind == kind; };
  if (element == "Tensor") return is(Val::kTensor);
  if (element == "int" || element == "SymInt") {
    return is(Val::kInt) || (loose && (is(Val::kBool) || is(Val::kTensor)));
  }
  if (element == "float" || element == "SymFloat") {
    return is(Val::kFloat) || (loose && (is(Val::kInt) || is(Val::kTensor)));
  }
  if (element == "bool" || element == "SymBool") return is(Val::kBool) || (loose && is(Val::kInt));
  if (element == "complex") return is(Val::kComplex) || (loose && v.is_number());
  if (element == "Scalar") return v.is_number() || (loose && is(Val::kTensor));
  if (element == "str") return is(Val::kString);
  if (element == "Device") return is(Val::kDevice) || (loose && is(Val::kString));
  if (element == "ScalarType" || element == "Layout" || element == "MemoryFormat") {
    return v.is_known(Val::kInt);
  }
  return false;
}

void Machine::AddArgument(const TorchParameter& p, const Val& v, TorchCallRecord& call) {
  const std::string_view element = p.element();
  const std::string name(p.name);
  const auto operand = [&](Value* value, std::string place) {
    call.operands.push_back(value);
    call.names.push_back(std::move(place));
  };
  if (v.kind == Val::kNone) {
    call.attrs.Set(name, Type());
    return;
  }
  // Tensors where numbers are expected: of one element.
  const auto number = [&](const Val& item) {
    if (item.kind != Val::kTensor) return item;
    const DType t = Read(item)->dtype();
    const char* op = element == "float"                         ? "aten::Float"
                     : element == "Scalar" && (IsFloating(t))   ? "aten::Float"
                     : element == "Scalar" && t == DType::kBool ? "aten::Bool"
                                                                : "aten::Int";
    return Call(op, {{item}, {}});
  };
  const char* const kind_of = element == "float" || element == "SymFloat" ? ":float"
                              : element == "bool" || element == "SymBool" ? ":bool"
                                                                          : ":int";
  if (p.is_list()) {
    std::vector<Val> items;
    if (v.kind == Val::kList && v.list().computed) {
      if (element == "Tensor") {
        Refuse("argument '", name, "' is a list of an unknown number of tensors");
      }
      items = Iterate(v);
    } else if (v.kind == Val::kList) {
      items = v.list().items;
    } else if (v.kind == Val::kTuple) {
      items = v.tuple();
    } else {
      items = {v};
    }
    if (element == "Tensor") {
      Attribute::Ints present;
      for (size_t i = 0; i < items.size(); ++i) {
        present.push_back(items[i].kind != Val::kNone);
        if (present.back()) operand(Read(items[i]), StrCat(name, "[", i, "]"));
      }
      const bool all = std::find(present.begin(), present.end(), 0) == present.end();
      if (!all || present.empty()) call.attrs.Set(name, std::move(present));
    } else if (element == "float" || element == "SymFloat") {
      std::vector<double> floats;
      for (const Val& item : items) {
        const Val n = number(item);
        if (n.value) Refuse("argument '", name, "' must be known, but is computed");
        floats.push_back(n.d);
      }
      call.attrs.Set(name, Tensor::Of<double>({static_cast<int64_t>(floats.size())}, floats));
    } else if (element == "bool") {
      Tensor bools = Tensor::Zeros(DType::kBool, {static_cast<int64_t>(items.size())});
      for (size_t i = 0; i < items.size(); ++i) {
        bools.mutable_bytes()[i] = static_cast<std::byte>(Truth(items[i]));
      }
      call.attrs.Set(name, std::move(bools));
    } else if (element == "str") {
      Attribute::Strings texts;
      for (const Val& item : items) texts.emplace_back(item.str());
      call.attrs.Set(name, std::move(texts));
    } else if (element == "int" || element == "SymInt") {
      Attribute::Ints ints;
      for (size_t i = 0; i < items.size(); ++i) {
        const Val n = number(items[i]);
        ints.push_back(n.value ? 0 : n.i);
        if (n.value) operand(n.value, StrCat(name, "[", i, "]:int"));
      }
      call.attrs.Set(name, std::move(ints));
    } else {
      Refuse("argument '", name, "' of type ", p.type);
    }
    return;
  }
  if (element == "Tensor") return operand(Read(v), name);
  if (element == "str") {
    call.attrs.Set(name, std::string(v.str()));
  } else if (element == "Device") {
    const std::string_view text = v.str();
    call.attrs.Set(name, std::string(text.substr(0, text.find(':'))));
  } else if (element == "ScalarType") {
    const DType type = ScalarTypeOf(v.i);
    call.attrs.Set(name, type == DType::kUndefined ? Type::Opaque("torch", StrCat("dtype ", v.i))
                                                   : Type::Tensor(type));
  } else if (element == "Layout") {
    call.attrs.Set(name, NameInEnum(v.i, C10Enums().layouts));
  } else if (element == "MemoryFormat") {
    call.attrs.Set(name, NameInEnum(v.i, C10Enums().memory_formats));
  } else {
    const Val n = number(v);
    if (n.value) {
      const bool scalar = element == "Scalar";
      const char* kind = !scalar                 ? kind_of
                         : n.kind == Val::kFloat ? ":float"
                         : n.kind == Val::kBool  ? ":bool"
                                                 : ":int";
      return operand(n.value, StrCat(name, kind));
    }
    if (element == "float" || element == "SymFloat") {
      call.attrs.Set(name, n.d);
    } else if (element == "bool" || element == "SymBool") {
      call.attrs.Set(name, Tensor::Scalar<bool>(n.i != 0));
    } else if (n.kind == Val::kFloat) {
      call.attrs.Set(name, n.d);
    } else if (n.kind == Val::kComplex) {
      call.attrs.Set(name, Tensor::Scalar(std::complex<double>(n.d, n.im)));
    } else if (n.kind == Val::kBool && element == "Scalar") {
      call.attrs.Set(name, Tensor::Scalar<bool>(n.i != 0));
    } else {
      call.attrs.Set(name, n.i);
    }
  }
}

std::optional<TorchCallRecord> Machine::Bind(const TorchSchema& schema, const Args& args,
                                             bool loose) {
  const auto& parameters = schema.parameters;
  std::vector<const Val*> given(parameters.size(), nullptr);
  size_t place = 0;
  for (const Val& v : args.positional) {
    if (place >= parameters.size() || parameters[place].keyword_only) return std::nullopt;
    given[place++] = &v;
  }
  for (const auto& [name, v] : args.named) {
    size_t i = 0;
    while (i < parameters.size() && parameters[i].name != name) ++i;
    if (i == parameters.size() || given[i]) return std::nullopt;
    given[i] = &v;
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (given[i] ? !Fits(parameters[i], *given[i], loose) : parameters[i].default_value.empty()) {
      return std::nullopt;
    }
  }
  TorchCallRecord call;
  call.op = schema.name;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (given[i]) AddArgument(parameters[i], *given[i], call);
  }
  return call;
}

int64_t Machine::CountOfList(std::string_view name, const TorchCallRecord& call, int64_t wanted) {
  const auto number = [&](Symbol key, int64_t fallback) -> std::optional<int64_t> {
    const Attribute* attr = call.attrs.Find(key);
    if (!attr) {
      const std::string place = StrCat(key.view(), ":");
      const bool computed = std::any_of(call.names.begin(), call.names.end(),
                                        [&](const std::string& n) { return n.starts_with(place); });
      return computed ? std::nullopt : std::optional(fallback);
    }
    const int64_t* value = attr->get<int64_t>();
    return value ? std::optional(*value) : std::nullopt;
  };
  const auto list = [&](Symbol key) -> std::optional<int64_t> {
    const Attribute* attr = call.attrs.Find(key);
    const auto* ints = attr ? attr->get<Attribute::Ints>() : nullptr;
    return ints ? std::optional(static_cast<int64_t>(ints->size())) : std::nullopt;
  };
  const auto size = [&](std::optional<int64_t> dim) -> std::optional<int64_t> {
    const Shape* shape = call.operands.empty() ? nullptr : call.operands[0]->shape();
    if (!shape || !dim) return std::nullopt;
    const int64_t axis = *dim < 0 ? *dim + shape->rank() : *dim;
    if (axis < 0 || axis >= shape->rank() || !(*shape)[axis].is_static()) return std::nullopt;
    return (*shape)[axis].value();
  };
  const std::string_view overload = AtenParts(call.op.view()).second;
  std::optional<int64_t> count;
  if (name == "split_with_sizes" || name == "split_with_sizes_copy" || overload == "sizes") {
    count = list(name == "split" ? "split_size" : "split_sizes");
  } else if (name == "split" || name == "unsafe_split" || name == "split_copy") {
    const auto total = size(number("dim", 0)), each = number("split_size", -1);
    if (total && each && *each > 0) count = std::max<int64_t>(1, (*total + *each - 1) / *each);
  } else if (name == "chunk" || name == "unsafe_chunk") {
    const auto total = size(number("dim", 0)), parts = number("chunks", -1);
    if (total && parts && *parts > 0) {
      const int64_t each = std::max<int64_t>(1, (*total + *parts - 1) / *parts);
      count = *total == 0 ? *parts : (*total + each - 1) / each;
    }
  } else if (name == "unbind" || name == "unbind_copy") {
    count = size(number("dim", 0));
  } else if (name == "tensor_split" || name == "hsplit" || name == "vsplit" || name == "dsplit") {
    const auto at = list("indices");
    count = at ? std::optional(*at + 1) : number("sections", -1);
    if (overload == "indices" && at) count = *at + 1;
  } else if (name == "where" || name == "nonzero_numpy") {
    const Shape* shape = call.operands.empty() ? nullptr : call.operands[0]->shape();
    if (shape) count = std::max<int64_t>(1, shape->rank());
  } else if (name == "gradient") {
    const Attribute* dim = call.attrs.Find("dim");
    const auto* ints = dim ? dim->get<Attribute::Ints>() : nullptr;
    if (ints)
      count = static_cast<int64_t>(ints->size());
    else if (dim && dim->get<int64_t>())
      count = 1;
    else if (!call.operands.empty() && call.operands[0]->shape()) {
      count = call.operands[0]->shape()->rank();
    }
  } else if (!call.names.empty() && call.names[0].ends_with("[0]")) {
    count = static_cast<int64_t>(call.operands.size());  // one of each
  }
  if (count && *count >= 0) return std::min<int64_t>(*count, 100'000);
  if (wanted >= 0) return wanted;
  Refuse("aten::", name, " gives a number of tensors that is not known before the model runs");
}

// An operator that has no schema here stays as a node, which the driver reports, with all that
// stay.
Val Machine::CallUnknown(std::string_view op, const Args& args, int64_t wanted) {
  TorchCallRecord call;
  call.op = StrCat(op, ".default");
  const auto add = [&](const Val& v, const std::string& name) {
    if (v.kind == Val::kTensor) {
      call.operands.push_back(Read(v));
      call.names.push_back(name);
    } else if (v.value) {
      call.operands.push_back(v.value);
      call.names.push_back(StrCat(name, v.kind == Val::kFloat  ? ":float"
                                        : v.kind == Val::kBool ? ":bool"
                                                               : ":int"));
    } else if (v.kind == Val::kInt) {
      call.attrs.Set(name, v.i);
    } else if (v.kind == Val::kFloat) {
      call.attrs.Set(name, v.d);
    } else if (v.kind == Val::kBool) {
      call.attrs.Set(name, Tensor::Scalar<bool>(v.i != 0));
    } else if (v.kind == Val::kString) {
      call.attrs.Set(name, std::string(v.str()));
    } else if (v.kind == Val::kNone) {
      call.attrs.Set(name, Type());
    } else {
      call.attrs.Set(name, Type::Opaque("torch", Describe(v)));
    }
  };
  for (size_t i = 0; i < args.positional.size(); ++i) {
    const Val& v = args.positional[i];
    const std::string name = StrCat("arg", i);
    if (v.kind == Val::kList && !v.list().computed) {
      for (size_t k = 0; k < v.list().items.size(); ++k) {
        add(v.list().items[k], StrCat(name, "[", k, "]"));
      }
    } else {
      add(v, name);
    }
  }
  for (const auto& [name, v] : args.named) add(v, std::string(name));
  std::vector<Val> results;
  for (Value* value : Emit(call, static_cast<size_t>(std::clamp<int64_t>(wanted, 1, 100)))) {
    results.push_back(Fresh(value));
  }
  return results.size() == 1 ? results[0] : Val::Tuple(std::move(results));
}

// Sums, differences, products and quotients by a constant of rank 0 are by its number when code
// runs optimized, as it does by default: the result has the type that a number gives it.
void Machine::TakeConstantAsNumber(std::string& op, Args& args) {
  const std::string_view name = AtenParts(op).first;
  static constexpr std::string_view kOps[] = {
      "add", "sub", "mul", "div", "subtract", "multiply", "divide", "true_divide", "rsub"};
  if (std::find(std::begin(kOps), std::end(kOps), name) == std::end(kOps)) return;
  if (args.Named("rounding_mode")) return;
  const size_t place = name == "rsub" ? 0 : 1;
  const Val* given = args.Get(place, place == 0 ? "self" : "other");
  const Val* with = args.Get(1 - place, place == 0 ? "other" : "self");
  if (!given || given->kind != Val::kTensor || !with || with->kind != Val::kTensor) return;
  if (!given->tensor().is_constant || given->tensor().quantized) return;
  Value* value = Read(*given);
  const Tensor* tensor = value->fixed_constant();
  if (!tensor || !value->shape() || value->shape()->rank() != 0) return;
  const DType t = value->dtype();
  Val number;
  if (IsFloating(t))
    number = Val::Float(tensor->AsDouble(0));
  else if (IsInteger(t))
    number = Val::Int(tensor->AsInt(0));
  else
    return;
  if (name == "rsub") {
    args.positional = {*with, number};
    std::erase_if(args.named,
                  [](const auto& a) { return a.first == "self" || a.first == "other"; });
    op = "aten::sub";
    return;
  }
  for (auto& [key, v] : args.named) {
    if (key == "other") v = number;
  }
  if (place < args.positional.size()) args.positional[place] = number;
}

// Operators that meant something else in files of older versions: the arguments with which the
// operator of today does what that one did.
Args Machine::AsOfVersion(std::string_view name, const Args& args) {
  struct Change {
    std::string_view name;
    int64_t last;  // the last version that had the old meaning
  };
  static constexpr Change kChanges[] = {
      {"div", 3},       // of integers: rounded towards zero
      {"div_", 3},      //
      {"full", 4},      // without a dtype: floats, whatever the value is
      {"linspace", 7},  // without steps: 100
      {"logspace", 8},  //
  };
  const auto change = std::find_if(std::begin(kChanges), std::end(kChanges),
                                   [&](const Change& c) { return c.name == name; });
  Args now = args;
  if (change == std::end(kChanges) || program_.version > change->last || program_.version <= 0) {
    return now;
  }
  const auto is_none = [](const Val* v) { return !v || v->kind == Val::kNone; };
  if (name == "full") {
    if (!is_none(args.Named("dtype"))) return now;
    Val* value = now.positional.size() > 1 ? &now.positional[1] : nullptr;
    for (auto& [key, v] : now.named) {
      if (key == "fill_value") value = &v;
    }
    if (value && value->is_number() && value->kind != Val::kComplex)
      *value = Convert(*value, "float");
    return now;
  }
  if (name == "linspace" || name == "logspace") {
    if (!is_none(args.Get(2, "steps"))) return now;
    std::erase_if(now.named, [](const auto& arg) { return arg.first == "steps"; });
    if (now.positional.size() > 2) {
      now.positional[2] = Val::Int(100);
    } else {
      now.named.emplace_back("steps", Val::Int(100));
    }
    return now;
  }
  if (args.Named("rounding_mode")) return now;
  for (const Val* v : {args.Get(0, "self"), args.Get(1, "other")}) {
    if (!v) return now;
    const bool whole = v->kind == Val::kTensor
                           ? IsInteger(Read(*v)->dtype()) || Read(*v)->dtype() == DType::kBool
                           : v->kind == Val::kInt || v->kind == Val::kBool;
    if (!whole) return now;
  }
  now.named.emplace_back("rounding_mode", Val::String("trunc"));
  return now;
}

// What the call gives is the memory of operands, or memory of its own.
Val Machine::CallSchema(std::string_view op, const Args& given, int64_t wanted) {
  std::string name(op);
  const std::string_view called = AtenParts(op).first;
  const Args args = AsOfVersion(called, given);
  const bool in_place = !called.empty() && WritesInPlace(called);
  if (in_place) name = StrCat("aten::", NameWithoutWrite(called));
  Args rest = args;
  if (!in_place) TakeConstantAsNumber(name, rest);
  // The only operator in place whose tensor is not its first argument.
  if (in_place && called == "polygamma_" && rest.positional.size() == 2) {
    std::swap(rest.positional[0], rest.positional[1]);
  }
  std::optional<Val> out;
  if (const Val* given = args.Named("out"); given && !in_place) {
    out = *given;
    std::erase_if(rest.named, [](const auto& arg) { return arg.first == "out"; });
  }
  const auto& overloads = OverloadsOf(name);
  // Where data tells whether an argument is None, and where it tells what a flag is: both calls.
  const auto both = [&](const Val& condition) {
    return ChooseOf(condition, [&](bool holds) {
      Args known = args;
      for (Val& v : known.positional) v = Where(v, condition, holds);
      for (auto& [key, v] : known.named) v = Where(v, condition, holds);
      return CallSchema(op, known, wanted);
    });
  };
  for (size_t i = 0; i < args.size() && !overloads.empty(); ++i) {
    const size_t count = args.positional.size();
    const Val& v = i < count ? args.positional[i] : args.named[i - count].second;
    if (v.kind == Val::kMaybe && v.tuple()[1].value) return both(v.tuple()[1]);
  }
  if (overloads.empty()) return CallUnknown(op, args, wanted);
  std::optional<TorchCallRecord> call;
  const TorchSchema* schema = nullptr;
  for (const bool loose : {false, true}) {
    for (const TorchSchema* candidate : overloads) {
      if (call) break;
      call = Bind(*candidate, rest, loose);
      if (call) schema = candidate;
    }
  }
  if (!call) {
    std::string kinds;
    for (const Val& v : rest.positional) StrAppend(&kinds, kinds.empty() ? "" : ", ", Describe(v));
    for (const auto& [key, v] : rest.named) {
      StrAppend(&kinds, kinds.empty() ? "" : ", ", key, "=", Describe(v));
    }
    Stop(Invalid("no overload of ", name, " takes (", kinds, ")", PlaceText()));
  }
  for (size_t i = 0; i < schema->parameters.size() && !in_place && !out; ++i) {
    const TorchParameter& p = schema->parameters[i];
    const Val* v = p.element() == "bool" && !p.is_list() ? rest.Get(i, p.name) : nullptr;
    if (v && v->kind == Val::kBool && v->value) return both(*v);
  }
  if (call->op == "aten::_native_batch_norm_legit.default") {
    call->op = "aten::native_batch_norm.default";
  }
  if (call->op == "aten::split.default") call->op = "aten::split_with_sizes.default";
  if (call->op == "aten::split.sizes") {
    call->op = "aten::split_with_sizes.default";
    if (const auto sizes = call->attrs.Take("split_size")) call->attrs.Set("split_sizes", *sizes);
    for (std::string& n : call->names) {
      if (n.starts_with("split_size[")) n.insert(10, "s");
    }
  }
  // Elements by their places in memory.
  if (AtenParts(call->op.view()).first.starts_with("as_strided") && !call->operands.empty()) {
    const auto it = strides_.find(call->operands[0]);
    const Shape* sizes = call->operands[0]->shape();
    if (it != strides_.end() && sizes && IsContiguous(*sizes, it->second) == Proof(true)) {
      call->attrs.Set(kSelfStrides, Type::Tensor(DType::kInt64, it->second));
    }
  }
  // Overloads of numbers are read as those of tensors, which take numbers too.
  if (!FindImportForm("torch", call->op, 1)) {
    for (const TorchSchema* other : overloads) {
      if (!FindImportForm("torch", other->name, 1)) continue;
      const bool has_all = std::all_of(
          schema->parameters.begin(), schema->parameters.end(), [&](const TorchParameter& p) {
            const TorchParameter* same = other->Find(p.name);
            return same && (same->type == p.type || (p.type == "Scalar" && same->type == "Tensor"));
          });
      if (!has_all || other->results != schema->results) continue;
      call->op = other->name;
      break;
    }
  }

  const std::string_view stem = AtenParts(call->op.view()).first;
  if (in_place) {
    const Val* self = args.Get(0, "self");
    if (!self || self->kind != Val::kTensor) Refuse(op, " does not write to a tensor");
    TensorHeap& heap = self->tensor();
    if (ChangesShapeInPlace(called)) {
      if (ViewKindOf(stem) != ViewKind::kView)
        Refuse(op, " changes the shape of a tensor in place");
      // The tensor becomes a view of what it was.
      auto before = std::static_pointer_cast<TensorHeap>(heap.Copy());
      Value* value = Emit(*call, 1)[0];
      if (heap.views > 0) Refuse(op, " changes the shape of a tensor that has views in place");
      Change(heap);
      heap.base = before;
      heap.depth = before->depth + 1;
      heap.view = *call;
      heap.output = 0;
      heap.kind = ViewKind::kView;
      heap.value = value;
      heap.version = heap.root().writes;
      return *self;
    }
    // What a comparison gives is stored as numbers.
    Value* before = Read(*self);
    const bool predicate = IsPredicate(stem);
    Value* value = Emit(*call, 1, predicate ? DType::kBool : before->dtype())[0];
    if (predicate && before->dtype() != DType::kBool) {
      value = Op("cast", {value}, {{"to", std::string(Name(before->dtype()))}});
    }
    Write(heap, value);
    return *self;
  }
  if (out) {
    if (out->kind != Val::kTensor) Refuse(op, " writes to several outputs");
    Value* before = Read(*out);
    Value* value = Emit(*call, 1)[0];
    if (value->dtype() != before->dtype()) Refuse("`out` has another element type than the result");
    Write(out->tensor(), value);
    return *out;
  }

  std::vector<Val> results;
  const bool list = schema->results.size() == 1 && schema->results[0].ends_with("[]");
  size_t count = schema->results.size();
  if (list) count = static_cast<size_t>(CountOfList(stem, *call, wanted));
  std::vector<Value*> values = Emit(*call, count);
  TellOfTraining(*call, stem);
  const ViewKind view = writes_ ? ViewKindOf(stem) : ViewKind::kNone;
  const bool of_list = !call->names.empty() && call->names[0].ends_with("[0]");
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string_view type = list ? schema->results[0] : schema->results[i];
    if (!values[i]) {
      results.push_back(Val::Lost(StrCat("x2ir does not compute result ", i, " of ", op)));
      continue;
    }
    if (type == "int" || type == "int[]" || type == "SymInt") {
      results.push_back(NumberOf(Val::kInt, values[i]));
    } else if (type == "float" || type == "float[]") {
      results.push_back(NumberOf(Val::kFloat, values[i]));
    } else if (type == "bool") {
      results.push_back(NumberOf(Val::kBool, values[i]));
    } else if (type == "Scalar") {
      results.push_back(NumberOf(KindOfDType(values[i]->dtype()), values[i]));
    } else {
      Val result = Fresh(values[i]);
      // Of one tensor einsum may be a view, of more it is none.
      const size_t place = stem == "einsum" ? 1 : 0;
      const Val* self = rest.Get(
          place, schema->parameters.size() <= place ? "self" : schema->parameters[place].name);
      if (place == 1 && call->operands.size() > 1) self = nullptr;
      if (self && of_list && view != ViewKind::kNone) {
        const std::vector<Val>* items = self->kind == Val::kTuple  ? &self->tuple()
                                        : self->kind == Val::kList ? &self->list().items
                                                                   : nullptr;
        self = items && i < items->size() ? &(*items)[i] : nullptr;
      }
      if (view != ViewKind::kNone && self && self->kind == Val::kTensor) {
        ViewKind kind = view;
        if (kind == ViewKind::kSometimes) {
          const Shape* known = nullptr;
          const auto it = strides_.find(call->operands[of_list ? i : 0]);
          if (it != strides_.end()) known = &it->second;
          kind =
              DecidedViewKind(stem, call->attrs, call->operands[of_list ? i : 0], values[i], known);
        }
        if (kind == ViewKind::kSame) {
          result = *self;
        } else if (kind != ViewKind::kNone) {
          constexpr int64_t kMaxViews = 1000;
          TensorHeap& heap = result.tensor();
          heap.base = std::static_pointer_cast<TensorHeap>(self->heap);
          heap.depth = heap.base->depth + 1;
          if (heap.depth > kMaxViews) Refuse("views of views, more than ", kMaxViews, " deep");
          Change(*heap.base);
          ++heap.base->views;
          heap.view = *call;
          heap.output = i;
          heap.kind = kind;
          heap.version = heap.root().writes;
        }
      }
      NoteStrides(*call, stem, values[i]);
      results.push_back(std::move(result));
    }
  }
  if (list) return Val::List(std::move(results));
  if (results.empty()) return Val::None();
  return results.size() == 1 ? results[0] : Val::Tuple(std::move(results));
}

Val Machine::Call(std::string_view op, const Args& args, int64_t wanted) {
  CountStep();
  if (std::optional<Val> v = CallPacked(*this, op, args)) return *std::move(v);
  if (std::optional<Val> v = CallBuiltin(*this, op, args, wanted)) return *std::move(v);
  if (std::optional<Val> v = CallQuantized(*this, op, args)) return *std::move(v);
  return CallSchema(op, args, wanted);
}

Val Machine::CallWith(std::string_view op, const Named& arguments) {
  return Call(op, {{}, arguments});
}

// Of results that are in order in memory whatever their operands are, and of the views that are
// followed: what tells views from copies later.
void Machine::NoteStrides(const TorchCallRecord& call, std::string_view stem, Value* result) {
  if (!writes_) return;
  const Shape* shape = result->shape();
  if (!shape) return;
  const auto strides_of = [&](Value* v) -> const Shape* {
    const auto it = strides_.find(v);
    return it == strides_.end() ? nullptr : &it->second;
  };
  const ViewKind kind = ViewKindOf(stem);
  if (kind == ViewKind::kNone) {
    // Where no operand is in another order, no result is.
    for (Value* operand : call.operands) {
      if (!operand->shape()) return;
      const Shape* strides = strides_of(operand);
      if (!strides || IsContiguous(*operand->shape(), *strides) != std::optional(true)) return;
    }
    SetStrides(result, ContiguousStrides(*shape));
    return;
  }
  Value* self = call.operands.empty() ? nullptr : call.operands[0];
  const Shape* of_self = self && self->shape() ? strides_of(self) : nullptr;
  if (!of_self) return;
  const bool in_order = IsContiguous(*self->shape(), *of_self) == std::optional(true);
  if ((stem == "view" || stem == "reshape" || stem == "flatten" || stem == "unflatten" ||
       stem == "contiguous" || stem == "unsqueeze" || stem == "squeeze") &&
      in_order) {
    SetStrides(result, ContiguousStrides(*shape));
    return;
  }
  std::vector<Dim> dims = of_self->dims();
  const auto axis = [&](Symbol key, int64_t fallback) -> size_t {
    const Attribute* attr = call.attrs.Find(key);
    const int64_t* given = attr ? attr->get<int64_t>() : nullptr;
    const int64_t at = given ? *given : fallback, rank = static_cast<int64_t>(dims.size());
    return static_cast<size_t>(at < 0 ? at + rank : at);
  };
  if (stem == "transpose") {
    const size_t a = axis("dim0", 0), b = axis("dim1", 0);
    if (a >= dims.size() || b >= dims.size()) return;
    std::swap(dims[a], dims[b]);
  } else if (stem == "t" && dims.size() == 2) {
    std::swap(dims[0], dims[1]);
  } else if (stem == "permute") {
    const Attribute* attr = call.attrs.Find("dims");
    const auto* perm = attr ? attr->get<Attribute::Ints>() : nullptr;
    if (!perm || perm->size() != dims.size()) return;
    const std::vector<Dim> old = dims;
    for (size_t i = 0; i < dims.size(); ++i) {
      const int64_t from = (*perm)[i] < 0 ? (*perm)[i] + shape->rank() : (*perm)[i];
      if (from < 0 || from >= shape->rank()) return;
      dims[i] = old[static_cast<size_t>(from)];
    }
  } else if (stem == "select") {
    const size_t a = axis("dim", 0);
    if (a >= dims.size()) return;
    dims.erase(dims.begin() + static_cast<ptrdiff_t>(a));
  } else if (stem == "slice") {
    const Attribute* step = call.attrs.Find("step");
    const int64_t* by = step ? step->get<int64_t>() : nullptr;
    const size_t a = axis("dim", 0);
    if (a >= dims.size() || (step && !by)) return;
    if (by) dims[a] = dims[a] * Dim(*by);
  } else if (stem != "detach" && stem != "alias") {
    return;
  }
  SetStrides(result, Shape(std::move(dims)));
}

// Dropout and norms of a module that was saved while it was trained.
void Machine::TellOfTraining(const TorchCallRecord& call, std::string_view stem) {
  static constexpr std::string_view kOps[] = {"dropout",
                                              "feature_dropout",
                                              "alpha_dropout",
                                              "feature_alpha_dropout",
                                              "native_dropout",
                                              "batch_norm",
                                              "native_batch_norm",
                                              "instance_norm",
                                              "rrelu",
                                              "lstm",
                                              "gru",
                                              "rnn_tanh",
                                              "rnn_relu"};
  if (std::find(std::begin(kOps), std::end(kOps), stem) == std::end(kOps)) return;
  for (const char* name : {"train", "training", "use_input_stats"}) {
    const Attribute* attr = call.attrs.Find(name);
    const Tensor* on = attr ? attr->get<Tensor>() : nullptr;
    if (!on || on->num_elements() != 1 || on->AsInt(0) == 0) continue;
    if (stem == "instance_norm") continue;  // which has no statistics as a rule
    const Attribute* rate = call.attrs.Find(stem.ends_with("dropout") ? "p" : "dropout");
    const double* p = rate ? rate->get<double>() : nullptr;
    if (p && *p == 0) continue;
    if (!p && stem != "rrelu" && !stem.ends_with("batch_norm")) continue;
    Warn(StrCat("module '", path(), "' was saved in training mode: its ", stem,
                stem.ends_with("batch_norm") ? " uses the statistics of each batch"
                                             : " draws random numbers",
                "; model.eval() before torch.jit.save changes that"));
  }
}

Val Machine::IsInOrder(const Val& tensor) {
  Value* x = Read(tensor);
  const auto it = strides_.find(x);
  if (it != strides_.end() && x->shape()) {
    if (const Proof proof = IsContiguous(*x->shape(), it->second)) return Val::Bool(*proof);
  }
  Refuse("is_contiguous() of a tensor whose strides are not known");
}

void Machine::CountSteps(int64_t steps) {
  constexpr int64_t kMaxSteps = 2'000'000;
  if ((steps_ += steps) > kMaxSteps) {
    Refuse("the code runs more than ", kMaxSteps,
           " steps with the sizes that are known: a loop without end?");
  }
}

// Threads have 8 MiB as a rule.
void Machine::CheckStack() {
  constexpr ptrdiff_t kMaxBytes = 3 << 20;
  const auto* here = static_cast<const char*>(__builtin_frame_address(0));
  if (!stack_) stack_ = here;
  if (std::abs(stack_ - here) > kMaxBytes) Refuse("the code is nested too deep");
}

}  // namespace x2ir::torch_script
