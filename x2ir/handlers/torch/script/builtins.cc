// Functions of containers, texts and numbers, and what the code asks of tensors.
#include <algorithm>
#include <functional>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/script/machine.h"
#include "x2ir/ops/infer.h"

namespace x2ir::torch_script {
namespace {

using Function = std::optional<Val> (*)(Machine&, const Args&, int64_t);

const Val& At(Machine& m, const Args& args, size_t i) {
  if (i >= args.positional.size()) m.Stop(Invalid("a call with too few arguments"));
  if (args.positional[i].kind == Val::kLost) m.Refuse(args.positional[i].str());
  return args.positional[i];
}
bool Is(const Args& args, size_t i, Val::Kind kind) {
  return i < args.positional.size() && args.positional[i].kind == kind;
}

// Counts the work of making a list of n items, or a text of n characters.
void CountItems(Machine& m, size_t n) { m.CountSteps(static_cast<int64_t>(n / 2)); }
void CountText(Machine& m, size_t n) { m.CountSteps(static_cast<int64_t>(n / 64)); }

void CheckLength(Machine& m, size_t n) {
  if (n > kMaxItems) m.Refuse("more than ", kMaxItems, " items");
}

// A place counted from the back where it is negative.
size_t Place(Machine& m, const Val& index, size_t size, std::string_view what) {
  int64_t i = m.KnownInt(index, what);
  if (i < 0) i += static_cast<int64_t>(size);
  if (i < 0 || i >= static_cast<int64_t>(size)) throw Raised{StrCat(what, " out of range")};
  return static_cast<size_t>(i);
}

// The bounds that x[start:end:step] means for as many items. With a negative step the end may be
// -1: to the first item.
struct Bounds {
  int64_t start, end, step;
  std::vector<size_t> Places() const {
    std::vector<size_t> places;
    for (int64_t i = start; step > 0 ? i < end : i > end; i += step) {
      places.push_back(static_cast<size_t>(i));
    }
    return places;
  }
};
Bounds SliceOf(Machine& m, const Args& args, size_t from, size_t size) {
  const auto given = [&](size_t i, int64_t fallback) {
    const bool none = i >= args.positional.size() || args.positional[i].kind == Val::kNone;
    return none ? fallback : m.KnownInt(args.positional[i], "a slice");
  };
  const auto n = static_cast<int64_t>(size);
  // Steps longer than the list are as good as any that leave it.
  const int64_t step = std::clamp<int64_t>(given(from + 2, 1), -n - 1, n + 1);
  if (step == 0) throw Raised{"slice step cannot be zero"};
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
  // One that is left out is past all items.
  constexpr int64_t kFar = INT64_MAX / 2;
  Bounds b{given(from, step > 0 ? 0 : kFar), given(from + 1, step > 0 ? kFar : -kFar), step};
  for (int64_t* bound : {&b.start, &b.end}) {
    if (*bound < 0 && *bound != -kFar) *bound += n;
    *bound = std::clamp<int64_t>(*bound, low, high);
  }
  return b;
}

bool EqualVals(Machine& m, const Val& a, const Val& b, int depth = 0);
bool EqualItems(Machine& m, const std::vector<Val>& a, const std::vector<Val>& b, int depth) {
  if (a.size() != b.size() || depth > 16) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!EqualVals(m, a[i], b[i], depth + 1)) return false;
  }
  return true;
}
bool EqualVals(Machine& m, const Val& a, const Val& b, int depth) {
  if (depth > 0) m.CountStep();
  if (a.is_number() && b.is_number()) return m.Truth(Arithmetic(m, "eq", a, b));
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Val::kNone: return true;
    case Val::kTuple: return EqualItems(m, a.tuple(), b.tuple(), depth);
    case Val::kList: return EqualItems(m, m.Items(a, "a list"), m.Items(b, "a list"), depth);
    case Val::kDict: {
      const auto &x = a.dict().items, &y = b.dict().items;
      return x.size() == y.size() && std::all_of(x.begin(), x.end(), [&](const auto& item) {
               return std::any_of(y.begin(), y.end(), [&](const auto& other) {
                 return EqualVals(m, item.first, other.first, depth + 1) &&
                        EqualVals(m, item.second, other.second, depth + 1);
               });
             });
    }
    case Val::kObject: {
      if (a.heap == b.heap) return true;
      const bool enums = a.object().cls && a.object().cls->base == "Enum" &&
                         a.object().class_name == b.object().class_name;
      if (!enums && m.HasMethod(a, "__eq__")) {
        return m.Truth(m.CallMethod(a, "__eq__", {{b}, {}}));
      }
      return enums &&
             EqualVals(m, m.GetAttribute(a, "value"), m.GetAttribute(b, "value"), depth + 1);
    }
    default: return SameVal(a, b);
  }
}

Val* FindKey(Machine& m, DictHeap& dict, const Val& key) {
  m.CountSteps(static_cast<int64_t>(dict.items.size() / 64));
  for (auto& [k, v] : dict.items) {
    if (k.kind == key.kind && EqualVals(m, k, key)) return &v;
  }
  return nullptr;
}
void SetKey(Machine& m, DictHeap& dict, const Val& key, const Val& v) {
  m.Change(dict);
  if (Val* old = FindKey(m, dict, key)) {
    *old = v;
  } else {
    CheckLength(m, dict.items.size());
    dict.items.emplace_back(key, v);
  }
}

int64_t RankOf(Machine& m, Value* x) {
  if (!x->shape()) {
    m.GuessRank(x);
    m.Refuse("the number of dims of '", x->name(), "' is not known, and the code asks for it; ",
             OptionText("shapes"), " of the inputs gives it");
  }
  return x->shape()->rank();
}

Val SizeAt(Machine& m, Value* x, int64_t axis) {
  const int64_t rank = RankOf(m, x);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) throw Raised{"Dimension out of range"};
  const Dim& dim = (*x->shape())[axis];
  if (dim.is_static()) return Val::Int(dim.value());
  TorchCallRecord call{"aten::sym_size.int", {x}, {"self"}, {{"dim", axis}}};
  return m.NumberOf(Val::kInt, m.Emit(call, 1, DType::kInt64)[0]);
}

// A tensor of one element as a number.
Val NumberIn(Machine& m, const Val& tensor, Val::Kind kind) {
  Value* x = m.Read(tensor);
  if (const Tensor* known = x->fixed_constant();
      known && known->num_elements() == 1 &&
      (kind == Val::kFloat ? !IsComplex(x->dtype()) : kind == Val::kInt && IsInteger(x->dtype()))) {
    return m.NumberOf(kind, x);
  }
  if (!x->shape() || x->shape()->rank() != 0) {
    x = m.Op("reshape", {x, m.Constant("none", Tensor::Zeros(DType::kInt64, {0}))});
  }
  const DType to = DTypeOfKind(kind);
  if (x->dtype() != to) x = m.Op("cast", {x}, {{"to", std::string(Name(to))}});
  return m.NumberOf(kind, x);
}

template <Val::Kind kind>
std::optional<Val> ToNumber(Machine& m, const Args& args, int64_t) {
  const Val& v = At(m, args, 0);
  if (v.kind == Val::kTensor) return NumberIn(m, v, kind);
  return std::nullopt;
}

// --- Tensors of numbers
// ----------------------------------------------------------------------------

struct Gathered {
  std::vector<int64_t> sizes;
  std::vector<Val> numbers;
};
void Gather(Machine& m, const Val& v, size_t depth, Gathered& g) {
  m.CountStep();
  if (v.kind == Val::kList || v.kind == Val::kTuple) {
    const auto& items = m.Items(v, "a list");
    if (depth > 16) m.Refuse("lists are nested too deep");
    if (depth == g.sizes.size()) g.sizes.push_back(static_cast<int64_t>(items.size()));
    if (g.sizes[depth] != static_cast<int64_t>(items.size())) {
      throw Raised{"a tensor of lists of different lengths"};
    }
    for (const Val& item : items) Gather(m, item, depth + 1, g);
    return;
  }
  CheckLength(m, g.numbers.size());
  g.numbers.push_back(v.kind == Val::kTensor ? NumberIn(m, v, KindOfDType(m.Read(v)->dtype())) : v);
}

Val TensorOf(Machine& m, const Val& data, const Val* dtype) {
  std::optional<DType> to;
  const auto cast = [&](Value* x) {
    return to && *to != x->dtype() ? m.Op("cast", {x}, {{"to", std::string(Name(*to))}}) : x;
  };
  if (dtype && dtype->kind == Val::kInt) {
    to = ScalarTypeOf(m.KnownInt(*dtype, "dtype"));
    if (*to == DType::kUndefined) m.Refuse("element type ", dtype->i);
  }
  if (data.kind == Val::kList && data.list().computed && data.list().element != Val::kTensor) {
    if (!to && data.list().element == Val::kFloat) to = DType::kFloat32;
    return m.Fresh(cast(data.list().computed));
  }
  Gathered g;
  Gather(m, data, 0, g);
  Val::Kind kind = Val::kBool;
  bool known = true;
  for (const Val& v : g.numbers) {
    if (!v.is_number()) m.Refuse("a tensor of ", Describe(v));
    kind = std::max(kind, v.kind);
    known = known && !v.value;
  }
  if (g.numbers.empty()) kind = Val::kFloat;
  const DType own = kind == Val::kComplex ? DType::kComplex128 : DTypeOfKind(kind);
  if (!to && kind == Val::kFloat) to = DType::kFloat32;
  if (!to && kind == Val::kComplex) to = DType::kComplex64;
  if (known) {
    Tensor tensor;
    std::vector<int64_t> ints;
    std::vector<double> doubles;
    std::vector<std::complex<double>> complex;
    for (const Val& v : g.numbers) {
      ints.push_back(v.i);
      doubles.push_back(v.d);
      complex.emplace_back(v.d, v.im);
    }
    if (own == DType::kBool) {
      tensor = Tensor::Zeros(DType::kBool, g.sizes);
      for (size_t i = 0; i < ints.size(); ++i) {
        tensor.mutable_bytes()[i] = static_cast<std::byte>(ints[i] != 0);
      }
    } else if (own == DType::kInt64) {
      tensor = Tensor::Of<int64_t>(g.sizes, ints);
    } else if (own == DType::kFloat64) {
      tensor = Tensor::Of<double>(g.sizes, doubles);
    } else {
      tensor = Tensor::Of<std::complex<double>>(g.sizes, complex);
    }
    return m.Fresh(cast(m.Constant("tensor", std::move(tensor))));
  }
  std::vector<Value*> parts;
  Value* one = m.Constant("one", Tensor::Of<int64_t>({1}, {1}));
  for (const Val& v : g.numbers) {
    Value* x = m.ValueOf(v);
    if (x->dtype() != own) x = m.Op("cast", {x}, {{"to", std::string(Name(own))}});
    parts.push_back(g.sizes.empty() ? x : m.Op("reshape", {x, one}));
  }
  Value* x = parts.size() == 1 ? parts[0] : m.Op("concat", parts, {{"axis", 0}});
  if (g.sizes.size() > 1) {
    const auto rank = static_cast<int64_t>(g.sizes.size());
    x = m.Op("reshape", {x, m.Constant("sizes", Tensor::Of<int64_t>({rank}, g.sizes))});
  }
  return m.Fresh(cast(x));
}

// A tensor of a list of an unknown number of items.
constexpr char kInList[] =
    "a write to a tensor that is an item of a list whose length, or which item it is, only data "
    "says";
Val ItemOf(Machine& m, Value* sequence, Value* index) {
  Val v = m.Fresh(m.Op("sequence_at", {sequence, index}));
  v.heap->frozen = kInList;
  return v;
}

// A list of an unknown number of items gets one more.
void AppendTo(Machine& m, ListHeap& list, const Val& v) {
  m.Change(list);
  if (!list.computed) {
    CheckLength(m, list.items.size());
    list.items.push_back(v);
    return;
  }
  if (list.element == Val::kTensor) {
    list.computed = m.Op("sequence_insert", {list.computed, m.Read(v)});
    m.Freeze(v.tensor().root(), kInList);
    return;
  }
  Value* one = m.Constant("one", Tensor::Of<int64_t>({1}, {1}));
  const Val number =
      list.element == Val::kFloat && v.kind == Val::kInt && !v.value ? Val::Float(v.d) : v;
  list.computed =
      m.Op("concat", {list.computed, m.Op("reshape", {m.ValueOf(number), one})}, {{"axis", 0}});
}

// --- The table
// -------------------------------------------------------------------------------------

std::optional<Val> GetItem(Machine& m, const Args& args, int64_t) {
  const Val &base = At(m, args, 0), &index = At(m, args, 1);
  if (base.kind == Val::kTuple) {
    return base.tuple()[Place(m, index, base.tuple().size(), "tuple index")];
  }
  if (base.kind == Val::kString) {
    const size_t at = Place(m, index, base.str().size(), "string index");
    return Val::String(std::string(base.str().substr(at, 1)));
  }
  if (base.kind == Val::kDict) {
    if (const Val* v = FindKey(m, base.dict(), index)) {
      if (v->kind == Val::kLost) m.Refuse(v->str());
      return *v;
    }
    throw Raised{StrCat("KeyError: ", m.Format(index))};
  }
  if (base.kind != Val::kList) return std::nullopt;
  ListHeap& list = base.list();
  if (list.computed && list.element == Val::kTensor) {
    return ItemOf(m, list.computed, m.ValueOf(index));
  }
  if (list.computed) {
    return m.NumberOf(list.element,
                      m.Op("gather", {list.computed, m.ValueOf(index)}, {{"axis", 0}}));
  }
  if (!index.value) return list.items[Place(m, index, list.items.size(), "list index")];
  // An item that data chooses: of tensors by a sequence, of numbers out of a vector.
  const bool tensors = std::all_of(list.items.begin(), list.items.end(),
                                   [](const Val& v) { return v.kind == Val::kTensor; });
  if (tensors && !list.items.empty()) {
    std::vector<Value*> values;
    for (const Val& v : list.items) values.push_back(m.Read(v));
    return ItemOf(m, m.Op("sequence_construct", values), index.value);
  }
  const Val vector = TensorOf(m, base, nullptr);
  Value* x = m.Read(vector);
  if (!list.items.empty() && list.items[0].kind == Val::kFloat) {
    x = m.Op("cast", {x}, {{"to", std::string("float64")}});
  }
  return m.NumberOf(KindOfDType(x->dtype()), m.Op("gather", {x, index.value}, {{"axis", 0}}));
}

std::optional<Val> Length(Machine& m, const Args& args, int64_t) {
  const Val& v = At(m, args, 0);
  const auto n = [](size_t size) { return Val::Int(static_cast<int64_t>(size)); };
  switch (v.kind) {
    case Val::kTuple: return n(v.tuple().size());
    case Val::kString: return n(v.str().size());
    case Val::kDict: return n(v.dict().items.size());
    case Val::kTensor: return SizeAt(m, m.Read(v), 0);
    case Val::kObject: return m.CallMethod(v, "__len__", {});
    case Val::kList:
      if (!v.list().computed) return n(v.list().items.size());
      if (v.list().element == Val::kTensor) {
        return m.NumberOf(Val::kInt, m.Op("sequence_length", {v.list().computed}));
      }
      return SizeAt(m, v.list().computed, 0);
    default: return std::nullopt;
  }
}

std::optional<Val> SliceAny(Machine& m, const Args& args, int64_t) {
  const Val& base = At(m, args, 0);
  if (base.kind == Val::kString) {
    const Bounds b = SliceOf(m, args, 1, base.str().size());
    CountText(m, base.str().size());
    std::string text;
    for (const size_t i : b.Places()) text += base.str()[i];
    return Val::String(std::move(text));
  }
  if (base.kind != Val::kList && base.kind != Val::kTuple) return std::nullopt;
  if (base.kind == Val::kList && base.list().computed) return std::nullopt;
  const auto& items = m.Items(base, "a list");
  const Bounds b = SliceOf(m, args, 1, items.size());
  CountItems(m, static_cast<size_t>(std::max<int64_t>((b.end - b.start) / b.step, 0)));
  std::vector<Val> part;
  for (const size_t i : b.Places()) part.push_back(items[i]);
  return base.kind == Val::kTuple ? Val::Tuple(std::move(part)) : Val::List(std::move(part));
}

std::optional<Val> Append(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kList)) return std::nullopt;
  AppendTo(m, args.positional[0].list(), At(m, args, 1));
  return args.positional[0];
}
std::optional<Val> Extend(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kList)) return std::nullopt;
  const std::vector<Val> items = m.Items(At(m, args, 1), "a list");
  CountItems(m, items.size());
  for (const Val& v : items) AppendTo(m, args.positional[0].list(), v);
  return Val::None();
}
std::optional<Val> Insert(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kList)) return std::nullopt;
  ListHeap& list = args.positional[0].list();
  const auto n = static_cast<int64_t>(m.Items(args.positional[0], "a list").size());
  int64_t at = m.KnownInt(At(m, args, 1), "a place in a list");
  at = std::clamp<int64_t>(at < 0 ? at + n : at, 0, n);
  CheckLength(m, list.items.size());
  m.CountSteps(static_cast<int64_t>(list.items.size() / 64));
  m.Change(list);
  list.items.insert(list.items.begin() + at, At(m, args, 2));
  return Val::None();
}
std::optional<Val> Pop(Machine& m, const Args& args, int64_t) {
  if (Is(args, 0, Val::kDict)) {
    DictHeap& dict = args.positional[0].dict();
    for (size_t i = 0; i < dict.items.size(); ++i) {
      if (!EqualVals(m, dict.items[i].first, At(m, args, 1))) continue;
      const Val v = dict.items[i].second;
      m.Change(dict);
      dict.items.erase(dict.items.begin() + static_cast<ptrdiff_t>(i));
      return v;
    }
    if (args.positional.size() > 2) return args.positional[2];
    throw Raised{"KeyError"};
  }
  if (!Is(args, 0, Val::kList)) return std::nullopt;
  ListHeap& list = args.positional[0].list();
  const auto& items = m.Items(args.positional[0], "a list");
  if (items.empty()) throw Raised{"pop from an empty list"};
  const size_t at = args.positional.size() > 1
                        ? Place(m, args.positional[1], items.size(), "pop index")
                        : items.size() - 1;
  const Val v = items[at];
  m.CountSteps(static_cast<int64_t>((items.size() - at) / 64));
  m.Change(list);
  list.items.erase(list.items.begin() + static_cast<ptrdiff_t>(at));
  return v;
}
std::optional<Val> SetItem(Machine& m, const Args& args, int64_t) {
  const Val &base = At(m, args, 0), &v = At(m, args, 2);
  if (base.kind == Val::kDict) {
    SetKey(m, base.dict(), At(m, args, 1), v);
    return Val::None();
  }
  if (base.kind != Val::kList) return std::nullopt;
  const auto& items = m.Items(base, "a list");
  const size_t at = Place(m, At(m, args, 1), items.size(), "list index");
  m.Change(base.list());
  base.list().items[at] = v;
  return base;
}
std::optional<Val> Delete(Machine& m, const Args& args, int64_t) {
  return Pop(m, args, -1) ? std::optional(Val::None()) : std::nullopt;
}
std::optional<Val> Clear(Machine& m, const Args& args, int64_t) {
  if (Is(args, 0, Val::kDict)) {
    m.Change(args.positional[0].dict());
    args.positional[0].dict().items.clear();
  } else if (Is(args, 0, Val::kList)) {
    m.Change(args.positional[0].list());
    args.positional[0].list().items.clear();
    args.positional[0].list().computed = nullptr;
  } else {
    return std::nullopt;
  }
  return Val::None();
}
std::optional<Val> Reverse(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kList)) return std::nullopt;
  CountItems(m, m.Items(args.positional[0], "a list").size());
  auto& list = args.positional[0].list();
  m.Change(list);
  std::reverse(list.items.begin(), list.items.end());
  return Val::None();
}
std::vector<Val> SortedItems(Machine& m, std::vector<Val> items, bool reverse) {
  const auto less = [&](const Val& a, const Val& b) {
    m.CountStep();
    if (a.kind == Val::kString && b.kind == Val::kString) return a.str() < b.str();
    if (a.kind == Val::kObject && m.HasMethod(a, "__lt__")) {
      return m.Truth(m.CallMethod(a, "__lt__", {{b}, {}}));
    }
    return m.Truth(Arithmetic(m, "lt", a, b));
  };
  CountItems(m, items.size());
  const auto all = [&](Val::Kind kind) {
    return std::all_of(items.begin(), items.end(), [&](const Val& v) { return v.is_known(kind); });
  };
  if (all(Val::kString) || all(Val::kInt)) {
    std::stable_sort(items.begin(), items.end(),
                     [&](const Val& a, const Val& b) { return reverse ? less(b, a) : less(a, b); });
    return items;
  }
  // An order that the code defines need not be one: insertion holds for any.
  std::vector<Val> sorted;
  for (const Val& v : items) {
    size_t at = sorted.size();
    while (at > 0 && (reverse ? less(sorted[at - 1], v) : less(v, sorted[at - 1]))) --at;
    sorted.insert(sorted.begin() + static_cast<ptrdiff_t>(at), v);
  }
  return sorted;
}
std::optional<Val> Sort(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kList)) return std::nullopt;
  const Val* flag = args.Get(1, "reverse");
  const bool reverse = flag && flag->kind == Val::kBool && m.Truth(*flag);
  auto sorted = SortedItems(m, m.Items(args.positional[0], "a list"), reverse);
  m.Change(args.positional[0].list());
  args.positional[0].list().items = std::move(sorted);
  return Val::None();
}
std::optional<Val> Sorted(Machine& m, const Args& args, int64_t) {
  const Val* flag = args.Get(1, "reverse");
  const bool reverse = flag && m.Truth(*flag);
  return Val::List(SortedItems(m, m.Items(At(m, args, 0), "a list"), reverse));
}
std::optional<Val> CopyList(Machine& m, const Args& args, int64_t) {
  const Val& v = At(m, args, 0);
  if (v.kind == Val::kDict) {
    CountItems(m, v.dict().items.size());
    auto dict = std::make_shared<DictHeap>();
    dict->items = v.dict().items;
    return Val::Of(Val::kDict, std::move(dict));
  }
  if (v.kind == Val::kList) {
    auto list = std::make_shared<ListHeap>();
    const ListHeap& from = v.list();
    CountItems(m, from.items.size());
    list->items = from.items;
    list->computed = from.computed;
    list->element = from.element;
    list->type = from.type;
    return Val::Of(Val::kList, std::move(list));
  }
  if (v.kind == Val::kTuple) return Val::List(v.tuple());
  if (v.kind == Val::kString) {
    std::vector<Val> items;
    CountItems(m, 2 * v.str().size());
    for (const char c : v.str()) items.push_back(Val::String(std::string(1, c)));
    return Val::List(std::move(items));
  }
  return std::nullopt;
}
std::optional<Val> Contains(Machine& m, const Args& args, int64_t) {
  const Val &base = At(m, args, 0), &v = At(m, args, 1);
  if (base.kind == Val::kString) return Val::Bool(base.str().find(v.str()) != base.str().npos);
  if (base.kind == Val::kDict) return Val::Bool(FindKey(m, base.dict(), v) != nullptr);
  if (base.kind != Val::kList && base.kind != Val::kTuple) return std::nullopt;
  m.CountSteps(static_cast<int64_t>(m.Items(base, "a list").size() / 64));
  for (const Val& item : m.Items(base, "a list")) {
    if (item.kind == v.kind && item.kind != Val::kTensor && EqualVals(m, item, v)) {
      return Val::Bool(true);
    }
    if (item.is_number() && v.is_number() && EqualVals(m, item, v)) return Val::Bool(true);
  }
  return Val::Bool(false);
}
template <int which>  // 0 keys, 1 values, 2 both
std::optional<Val> DictParts(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kDict)) return std::nullopt;
  CountItems(m, args.positional[0].dict().items.size() * (which == 2 ? 4 : 1));
  std::vector<Val> parts;
  for (const auto& [key, v] : args.positional[0].dict().items) {
    parts.push_back(which == 0 ? key : which == 1 ? v : Val::Tuple({key, v}));
  }
  return Val::List(std::move(parts));
}
std::optional<Val> GetKey(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kDict)) return std::nullopt;
  if (const Val* v = FindKey(m, args.positional[0].dict(), At(m, args, 1))) return *v;
  return args.positional.size() > 2 ? args.positional[2] : Val::None();
}
std::optional<Val> SetDefault(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kDict)) return std::nullopt;
  DictHeap& dict = args.positional[0].dict();
  if (const Val* v = FindKey(m, dict, At(m, args, 1))) return *v;
  SetKey(m, dict, At(m, args, 1), At(m, args, 2));
  return args.positional[2];
}
std::optional<Val> Update(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kDict) || !Is(args, 1, Val::kDict)) return std::nullopt;
  const auto items = args.positional[1].dict().items;
  for (const auto& [key, v] : items) SetKey(m, args.positional[0].dict(), key, v);
  return Val::None();
}
std::optional<Val> MakeDict(Machine& m, const Args& args, int64_t) {
  auto dict = std::make_shared<DictHeap>();
  if (args.positional.empty()) return Val::Of(Val::kDict, std::move(dict));
  if (Is(args, 0, Val::kDict)) return CopyList(m, args, -1);
  for (const Val& pair : m.Items(At(m, args, 0), "a list")) {
    const auto& parts = m.Items(pair, "a pair");
    if (parts.size() != 2) m.Stop(Invalid("a dict of what are no pairs"));
    SetKey(m, *dict, parts[0], parts[1]);
  }
  return Val::Of(Val::kDict, std::move(dict));
}
std::optional<Val> IndexOf(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kList)) return std::nullopt;
  const auto& items = m.Items(args.positional[0], "a list");
  m.CountSteps(static_cast<int64_t>(items.size() / 64));
  for (size_t i = 0; i < items.size(); ++i) {
    if (EqualVals(m, items[i], At(m, args, 1))) return Val::Int(static_cast<int64_t>(i));
  }
  throw Raised{"the list has no such item"};
}
std::optional<Val> CountOf(Machine& m, const Args& args, int64_t) {
  if (Is(args, 0, Val::kString)) {
    const std::string_view text = args.positional[0].str(), part = At(m, args, 1).str();
    int64_t n = 0;
    for (size_t at = text.find(part); !part.empty() && at != text.npos;
         at = text.find(part, at + part.size())) {
      ++n;
    }
    return Val::Int(n);
  }
  if (!Is(args, 0, Val::kList)) return std::nullopt;
  int64_t n = 0;
  for (const Val& item : m.Items(args.positional[0], "a list"))
    n += EqualVals(m, item, At(m, args, 1));
  return Val::Int(n);
}
std::optional<Val> Remove(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kList)) return std::nullopt;
  const std::optional<Val> at = IndexOf(m, args, -1);
  m.Change(args.positional[0].list());
  auto& items = args.positional[0].list().items;
  items.erase(items.begin() + at->i);
  return Val::None();
}

// Arithmetic, of numbers, lists and texts.
std::optional<Val> Plus(Machine& m, const Args& args) {
  const Val &a = At(m, args, 0), &b = At(m, args, 1);
  if (a.kind == Val::kString && b.kind == Val::kString) {
    CheckLength(m, a.str().size() + b.str().size());
    CountText(m, a.str().size() + b.str().size());
    return Val::String(StrCat(a.str(), b.str()));
  }
  if ((a.kind == Val::kList || a.kind == Val::kTuple) && b.kind == a.kind) {
    if (a.kind == Val::kList && (a.list().computed || b.list().computed)) {
      const Val copy = *CopyList(m, {{a}, {}}, -1);
      if (copy.list().computed && copy.list().element != Val::kTensor && b.list().computed) {
        copy.list().computed =
            m.Op("concat", {copy.list().computed, b.list().computed}, {{"axis", 0}});
        return copy;
      }
      for (const Val& v : m.Items(b, "a list")) AppendTo(m, copy.list(), v);
      return copy;
    }
    std::vector<Val> items = m.Items(a, "a list");
    const auto& more = m.Items(b, "a list");
    CheckLength(m, items.size() + more.size());
    CountItems(m, items.size() + more.size());
    items.insert(items.end(), more.begin(), more.end());
    return a.kind == Val::kTuple ? Val::Tuple(std::move(items)) : Val::List(std::move(items));
  }
  return std::nullopt;
}
std::optional<Val> Times(Machine& m, const Args& args) {
  const Val &a = At(m, args, 0), &b = At(m, args, 1);
  if (b.kind != Val::kInt || (a.kind != Val::kList && a.kind != Val::kString)) return std::nullopt;
  const int64_t n = std::max<int64_t>(0, m.KnownInt(b, "a number of copies"));
  if (n > static_cast<int64_t>(kMaxItems)) m.Refuse("more than ", kMaxItems, " items");
  if (a.kind == Val::kString) {
    CheckLength(m, a.str().size() * static_cast<size_t>(n));
    CountText(m, a.str().size() * static_cast<size_t>(n));
    std::string text;
    for (int64_t i = 0; i < n; ++i) text += a.str();
    return Val::String(std::move(text));
  }
  const auto& items = m.Items(a, "a list");
  CheckLength(m, items.size() * static_cast<size_t>(n));
  CountItems(m, items.size() * static_cast<size_t>(n));
  std::vector<Val> all;
  for (int64_t i = 0; i < n; ++i) all.insert(all.end(), items.begin(), items.end());
  return Val::List(std::move(all));
}

std::optional<Val> Binary(Machine& m, std::string_view op, const Args& args) {
  if (args.positional.size() != 2) return std::nullopt;
  const Val &a = At(m, args, 0), &b = At(m, args, 1);
  if (a.is_number() && b.is_number()) return Arithmetic(m, op, a, b);
  if (op == "add") return Plus(m, args);
  if (op == "mul") return Times(m, args);
  if (a.kind == Val::kTensor || b.kind == Val::kTensor) return std::nullopt;
  if (op == "eq") return Val::Bool(EqualVals(m, a, b));
  if (op == "ne") return Val::Bool(!EqualVals(m, a, b));
  if (a.kind == Val::kString && b.kind == Val::kString) {
    if (op == "lt") return Val::Bool(a.str() < b.str());
    if (op == "gt") return Val::Bool(a.str() > b.str());
    if (op == "le") return Val::Bool(a.str() <= b.str());
    if (op == "ge") return Val::Bool(a.str() >= b.str());
  }
  return std::nullopt;
}

std::optional<Val> Not(Machine& m, const Args& args, int64_t) {
  Val v = At(m, args, 0);
  if (v.kind == Val::kTensor) v = NumberIn(m, v, Val::kBool);
  if (!v.value) return Val::Bool(!m.Truth(v));
  return m.NumberOf(Val::kBool, m.Op("not", {v.value}));
}

template <bool negated>
std::optional<Val> IsSame(Machine& m, const Args& args, int64_t) {
  const Val &a = At(m, args, 0), &b = At(m, args, 1);
  if (a.kind == Val::kMaybe && b.kind == Val::kNone) {
    const Val& present = a.tuple()[1];
    return negated ? std::optional(present) : Not(m, {{present}, {}}, -1);
  }
  bool same = SameVal(a, b);
  if (a.is_number() && b.is_number()) {
    const Val equal = Arithmetic(m, "eq", a, b);
    if (equal.value) m.Refuse("`is` of computed numbers");
    same = a.kind == b.kind && equal.i;
  }
  return Val::Bool(same != negated);
}
// prim::min and max of two numbers, or of a list of them.
template <bool largest>
std::optional<Val> Extreme(Machine& m, const Args& args, int64_t) {
  std::vector<Val> items = args.positional;
  if (items.size() == 1) items = m.Items(items[0], "a list");
  if (items.empty()) throw Raised{"the least or largest of nothing"};
  if (items.size() == 2 && items[0].kind == Val::kList && items[1].kind == Val::kList) {
    m.Refuse("the larger of two lists");
  }
  Val best = items[0];
  for (size_t i = 1; i < items.size(); ++i) {
    best = Arithmetic(m, largest ? "max" : "min", best, items[i]);
  }
  return best;
}
template <bool all>
std::optional<Val> AnyAll(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kList)) return std::nullopt;
  Val result = Val::Bool(all);
  for (const Val& v : m.Items(args.positional[0], "a list")) {
    Val flag = v;
    if (v.kind != Val::kBool) flag = Val::Bool(m.Truth(v));
    result = Arithmetic(m, all ? "__and__" : "__or__", result, flag);
  }
  return result;
}
std::optional<Val> SumOf(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kList)) return std::nullopt;
  Val result = Val::Int(0);
  for (const Val& v : m.Items(args.positional[0], "a list"))
    result = Arithmetic(m, "add", result, v);
  return result;
}

// --- Texts

std::optional<Val> FormatText(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kString)) return std::nullopt;
  const std::string_view format = args.positional[0].str();
  std::string text;
  size_t next = 1;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] == '{' && i + 1 < format.size() && format[i + 1] == '{') {
      text += format[i++];
    } else if (format[i] == '}' && i + 1 < format.size() && format[i + 1] == '}') {
      text += format[i++];
    } else if (format[i] == '{') {
      const size_t end = std::min(format.find('}', i), format.size() - 1);
      i = end;
      if (next < args.positional.size()) text += m.Format(args.positional[next]);
      ++next;
    } else {
      text += format[i];
    }
    CheckLength(m, text.size());
  }
  CountText(m, text.size());
  return Val::String(std::move(text));
}
// "%d of %s" % (a, b)
std::optional<Val> PercentFormat(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kString)) return std::nullopt;
  const std::string_view format = args.positional[0].str();
  std::vector<Val> values(args.positional.begin() + 1, args.positional.end());
  if (values.size() == 1 && values[0].kind == Val::kTuple) values = values[0].tuple();
  std::string text;
  size_t next = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      text += format[i];
    } else if (format[++i] == '%') {
      text += '%';
    } else {
      while (i + 1 < format.size() &&
             std::string_view("0123456789.+- #").find(format[i]) != std::string_view::npos) {
        ++i;
      }
      if (next < values.size()) text += m.Format(values[next++]);
    }
    CheckLength(m, text.size());
  }
  CountText(m, text.size());
  return Val::String(std::move(text));
}
std::optional<Val> Split(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kString)) return std::nullopt;
  std::vector<Val> parts;
  const std::string_view text = args.positional[0].str();
  const Val* by = args.Get(1, "separator");
  CountText(m, text.size() * 32);
  if (!by || by->kind == Val::kNone) {
    for (const auto part : absl::StrSplit(absl::string_view(text.data(), text.size()),
                                          absl::ByAnyChar(" \t\n\r\f\v"), absl::SkipEmpty())) {
      parts.push_back(Val::String(std::string(part)));
    }
    return Val::List(std::move(parts));
  }
  const std::string_view separator = by->str();
  if (separator.empty()) throw Raised{"an empty separator"};
  const Val* limit = args.Get(2, "max");
  int64_t left = limit ? m.KnownInt(*limit, "a number of splits") : -1;
  size_t at = 0;
  for (size_t end = text.find(separator); end != text.npos && left != 0;
       end = text.find(separator, at), --left) {
    parts.push_back(Val::String(std::string(text.substr(at, end - at))));
    at = end + separator.size();
  }
  parts.push_back(Val::String(std::string(text.substr(at))));
  return Val::List(std::move(parts));
}
std::string_view StripOf(std::string_view text, std::string_view chars, bool left, bool right) {
  while (left && !text.empty() && chars.find(text.front()) != chars.npos) text.remove_prefix(1);
  while (right && !text.empty() && chars.find(text.back()) != chars.npos) text.remove_suffix(1);
  return text;
}
template <bool left, bool right>
std::optional<Val> Strip(Machine&, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kString)) return std::nullopt;
  const Val* chars = args.Get(1, "chars");
  return Val::String(std::string(
      StripOf(args.positional[0].str(),
              chars && chars->kind == Val::kString ? chars->str() : " \t\n\r\f\v", left, right)));
}
template <int (*f)(int)>
std::optional<Val> EachChar(Machine&, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kString)) return std::nullopt;
  std::string text(args.positional[0].str());
  for (char& c : text) c = static_cast<char>(f(static_cast<unsigned char>(c)));
  return Val::String(std::move(text));
}
int Lower(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }
int Upper(int c) { return c >= 'a' && c <= 'z' ? c - 32 : c; }
std::optional<Val> Join(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kString)) return std::nullopt;
  std::string text;
  bool first = true;
  for (const Val& v : m.Items(At(m, args, 1), "a list")) {
    StrAppend(&text, first ? "" : args.positional[0].str(), v.str());
    first = false;
    CheckLength(m, text.size());
  }
  CountText(m, text.size());
  return Val::String(std::move(text));
}
std::optional<Val> Replace(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kString)) return std::nullopt;
  const std::string_view from = At(m, args, 1).str(), to = At(m, args, 2).str();
  std::string text;
  std::string_view rest = args.positional[0].str();
  for (size_t at = rest.find(from); !from.empty() && at != rest.npos; at = rest.find(from)) {
    StrAppend(&text, rest.substr(0, at), to);
    rest.remove_prefix(at + from.size());
    CheckLength(m, text.size());
  }
  text += rest;
  CountText(m, text.size());
  return Val::String(std::move(text));
}
std::optional<Val> StartsWith(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kString)) return std::nullopt;
  return Val::Bool(args.positional[0].str().starts_with(At(m, args, 1).str()));
}
std::optional<Val> EndsWith(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kString)) return std::nullopt;
  return Val::Bool(args.positional[0].str().ends_with(At(m, args, 1).str()));
}
std::optional<Val> FindText(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kString)) return std::nullopt;
  const size_t at = args.positional[0].str().find(At(m, args, 1).str());
  return Val::Int(at == std::string_view::npos ? -1 : static_cast<int64_t>(at));
}
template <int (*f)(int)>
std::optional<Val> AllChars(Machine&, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kString)) return std::nullopt;
  const std::string_view text = args.positional[0].str();
  return Val::Bool(!text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return f(static_cast<unsigned char>(c)) != 0;
  }));
}
int IsDigit(int c) { return c >= '0' && c <= '9'; }
int IsAlpha(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
int IsSpace(int c) { return c == ' ' || (c >= 9 && c <= 13); }
std::optional<Val> Ord(Machine& m, const Args& args, int64_t) {
  const std::string_view text = At(m, args, 0).str();
  if (text.size() != 1) throw Raised{"ord() of a text that is no character"};
  return Val::Int(static_cast<unsigned char>(text[0]));
}
std::optional<Val> Chr(Machine& m, const Args& args, int64_t) {
  return Val::String(std::string(1, static_cast<char>(m.KnownInt(At(m, args, 0), "chr()"))));
}

// --- What the code asks of tensors

std::optional<Val> Dims(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kTensor)) return std::nullopt;
  return Val::Int(RankOf(m, m.Read(args.positional[0])));
}
std::optional<Val> Size(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kTensor)) return std::nullopt;
  Value* x = m.Read(args.positional[0]);
  if (const Val* dim = args.Get(1, "dim")) return SizeAt(m, x, m.KnownInt(*dim, "dim"));
  std::vector<Val> sizes;
  for (int64_t i = 0, rank = RankOf(m, x); i < rank; ++i) sizes.push_back(SizeAt(m, x, i));
  return Val::List(std::move(sizes));
}
std::optional<Val> NumElements(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kTensor)) return std::nullopt;
  Value* x = m.Read(args.positional[0]);
  Val product = Val::Int(1);
  for (int64_t i = 0, rank = RankOf(m, x); i < rank; ++i) {
    product = Arithmetic(m, "mul", product, SizeAt(m, x, i));
  }
  return product;
}
DType KnownType(Machine& m, const Value* x) {
  if (x->dtype() == DType::kUndefined) {
    m.Refuse("the element type of '", x->name(), "' is not known, and the code asks for it");
  }
  return x->dtype();
}
std::optional<Val> ElementType(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kTensor)) return std::nullopt;
  const DType dtype = KnownType(m, m.Read(args.positional[0]));
  if (const auto& q = args.positional[0].tensor().quantized) {
    return Val::Int(QuantizedScalarTypeNumber(q->dtype));
  }
  return Val::Int(ScalarTypeNumber(dtype));
}
std::optional<Val> DeviceOf(Machine&, const Args&, int64_t) {
  return Val::Text(Val::kDevice, "cpu");
}
template <bool (*f)(DType)>
std::optional<Val> TypeIs(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kTensor)) return std::nullopt;
  return Val::Bool(f(KnownType(m, m.Read(args.positional[0]))));
}
bool IsOfFloats(DType t) { return IsFloating(t) && !IsComplex(t); }
bool IsOfComplexNumbers(DType t) { return IsComplex(t); }
bool IsOfSignedNumbers(DType t) {
  return t != DType::kBool && t != DType::kUInt8 && t != DType::kUInt16 && t != DType::kUInt32 &&
         t != DType::kUInt64;
}

std::optional<Val> False(Machine&, const Args&, int64_t) { return Val::Bool(false); }
std::optional<Val> True(Machine&, const Args&, int64_t) { return Val::Bool(true); }
std::optional<Val> Nothing(Machine&, const Args&, int64_t) { return Val::None(); }
std::optional<Val> Unwrap(Machine& m, const Args& args, int64_t) {
  const Val& v = At(m, args, 0);
  if (v.kind == Val::kNone) throw Raised{"Unwrapping null optional"};
  return v.kind == Val::kMaybe ? v.tuple()[0] : v;
}
std::optional<Val> Same(Machine& m, const Args& args, int64_t) { return At(m, args, 0); }

// As PyTorch has it by default: true for parameters. Code asks this to choose a faster path.
std::optional<Val> RequiresGrad(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kTensor)) return std::nullopt;
  const TensorHeap& t = args.positional[0].tensor();
  return Val::Bool(!t.buffer.empty() && IsFloating(m.Read(args.positional[0])->dtype()));
}

std::optional<Val> Item(Machine& m, const Args& args, int64_t) {
  const Val& v = At(m, args, 0);
  if (v.kind != Val::kTensor) return v.is_number() ? std::optional(v) : std::nullopt;
  const DType t = m.Read(v)->dtype();
  if (IsComplex(t)) m.Refuse("a complex number that is computed");
  return NumberIn(m, v, KindOfDType(t));
}
std::optional<Val> NumToTensor(Machine& m, const Args& args, int64_t) {
  const Val& v = At(m, args, 0);
  if (v.kind == Val::kTensor) return v;
  if (v.kind == Val::kComplex) return TensorOf(m, v, nullptr);
  return m.Fresh(m.ValueOf(v));
}
std::optional<Val> MakeTensor(Machine& m, const Args& args, int64_t) {
  const Val& v = At(m, args, 0);
  const Val* dtype = args.Get(1, "dtype");
  if (v.kind == Val::kTensor) {
    if (!dtype || dtype->kind == Val::kNone) return m.Call("aten::clone", {{v}, {}});
    return m.Call("aten::clone", {{m.Call("aten::to", {{v, *dtype}, {}})}, {}});
  }
  return TensorOf(m, v, dtype);
}
std::optional<Val> AsTensor(Machine& m, const Args& args, int64_t) {
  const Val& v = At(m, args, 0);
  const Val* dtype = args.Get(1, "dtype");
  if (v.kind != Val::kTensor) return TensorOf(m, v, dtype);
  if (!dtype || dtype->kind == Val::kNone) return v;
  return m.Call("aten::to", {{v, *dtype}, {}});
}
std::optional<Val> ShapeAsTensor(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kTensor)) return std::nullopt;
  const Val sizes = *Size(m, {{args.positional[0]}, {}}, -1);
  if (sizes.list().items.empty()) {
    return m.Fresh(m.Constant("sizes", Tensor::Zeros(DType::kInt64, {0})));
  }
  return TensorOf(m, sizes, nullptr);
}
// The elements of a tensor as lists of numbers.
Val ListOf(Machine& m, const Val& tensor, Value* x, int depth) {
  const int64_t rank = RankOf(m, x);
  if (rank == 0) return NumberIn(m, tensor, KindOfDType(x->dtype()));
  const Dim& dim = (*x->shape())[0];
  if (!dim.is_static()) {
    if (rank > 1) m.Refuse("the elements of a tensor of unknown size as lists");
    auto list = std::make_shared<ListHeap>();
    list->element = KindOfDType(x->dtype());
    const DType to = DTypeOfKind(list->element);
    list->computed = x->dtype() == to ? x : m.Op("cast", {x}, {{"to", std::string(Name(to))}});
    return Val::Of(Val::kList, std::move(list));
  }
  std::vector<Val> items;
  CheckLength(m, static_cast<size_t>(dim.value()));
  for (int64_t i = 0; i < dim.value(); ++i) {
    const Val part = m.Call("aten::select", {{tensor, Val::Int(0), Val::Int(i)}, {}});
    items.push_back(ListOf(m, part, m.Read(part), depth + 1));
  }
  return Val::List(std::move(items));
}
std::optional<Val> ToList(Machine& m, const Args& args, int64_t) {
  const Val& v = At(m, args, 0);
  if (v.kind != Val::kTensor) return std::nullopt;
  return ListOf(m, v, m.Read(v), 0);
}

// Of a list of an unknown number of tensors.
template <bool stack>
std::optional<Val> JoinTensors(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kList)) return std::nullopt;
  const ListHeap& list = args.positional[0].list();
  if (!list.computed || list.element != Val::kTensor) return std::nullopt;
  const Val* dim = args.Get(1, "dim");
  const int64_t axis = dim ? m.KnownInt(*dim, "dim") : 0;
  // What a loop collects is there as one tensor.
  const Node* split = list.computed->producer();
  if (split && split->Is("split_to_sequence") && !split->input(1) &&
      split->attrs().Int("keepdims", 1) == 0 && split->attrs().Int("axis", 0) == 0) {
    const Val all = m.Fresh(split->input(0));
    if (stack && axis == 0) return all;
    if (stack) return m.Call("aten::movedim", {{all, Val::Int(0), Val::Int(axis)}, {}});
    if (axis == 0 && RankOf(m, split->input(0)) > 1) {
      return m.Call("aten::flatten", {{all, Val::Int(0), Val::Int(1)}, {}});
    }
  }
  return m.Fresh(
      m.Op("concat_from_sequence", {list.computed}, {{"axis", axis}, {"new_axis", stack ? 1 : 0}}));
}

std::optional<Val> Raise(Machine& m, const Args& args, int64_t) {
  throw Raised{args.positional.empty() ? "an exception" : m.Format(args.positional[0])};
}
std::optional<Val> DeriveIndex(Machine& m, const Args& args, int64_t) {
  return Arithmetic(m, "add", At(m, args, 1), Arithmetic(m, "mul", At(m, args, 0), At(m, args, 2)));
}
std::optional<Val> RangeLength(Machine& m, const Args& args, int64_t) {
  const Val way = Arithmetic(m, "sub", At(m, args, 1), At(m, args, 0));
  return Arithmetic(m, "max", CeilDivide(m, way, At(m, args, 2)), Val::Int(0));
}
std::optional<Val> MakeDevice(Machine& m, const Args& args, int64_t) {
  const Val& v = At(m, args, 0);
  if (v.kind == Val::kDevice) return v;
  return Val::Text(Val::kDevice, v.kind == Val::kString ? std::string(v.str()) : "cpu");
}
std::optional<Val> Contiguous(Machine& m, const Args& args, int64_t) {
  if (!Is(args, 0, Val::kTensor)) return std::nullopt;
  return m.IsInOrder(args.positional[0]);
}
std::optional<Val> ComplexOf(Machine& m, const Args& args, int64_t) {
  const Val &a = At(m, args, 0), &b = At(m, args, 1);
  if (!a.is_known_number() || !b.is_known_number()) return std::nullopt;
  const auto real = [](const Val& v) {
    return v.kind == Val::kFloat ? v.d : static_cast<double>(v.i);
  };
  return Val::Complex(real(a), real(b));
}
// The shape that tensors of these shapes are broadcast to.
std::optional<Val> BroadcastShapes(Machine& m, const Args& args, int64_t) {
  std::vector<Val> result;
  for (const Val& list : args.positional) {
    const std::vector<Val> shape = m.Items(list, "a shape");
    if (shape.size() > result.size()) {
      result.insert(result.begin(), shape.size() - result.size(), Val::Int(1));
    }
    for (size_t i = 0; i < shape.size(); ++i) {
      Val& size = result[result.size() - shape.size() + i];
      const Val& other = shape[i];
      if (SameVal(size, other) || (other.is_known(Val::kInt) && other.i == 1)) continue;
      if (size.is_known(Val::kInt) && size.i == 1) {
        size = other;
      } else if (other.is_known(Val::kInt)) {
        if (size.is_known(Val::kInt)) throw Raised{"shapes cannot be broadcast"};
        size = other;
      } else if (!size.is_known(Val::kInt)) {
        m.Refuse("shapes are broadcast whose sizes are not known");
      }
    }
  }
  return Val::List(std::move(result));
}
std::optional<Val> Zip(Machine& m, const Args& args, int64_t) {
  std::vector<Val> rows;
  for (size_t i = 0;; ++i) {
    std::vector<Val> row;
    for (const Val& list : args.positional) {
      const auto& items = m.Items(list, "a list");
      if (i >= items.size()) return Val::List(std::move(rows));
      row.push_back(items[i]);
    }
    if (row.empty()) return Val::List({});
    CountItems(m, 2 * (row.size() + 1));
    rows.push_back(Val::Tuple(std::move(row)));
  }
}
std::optional<Val> Enumerate(Machine& m, const Args& args, int64_t) {
  std::vector<Val> rows;
  for (const Val& v : m.Items(At(m, args, 0), "a list")) {
    CountItems(m, 6);
    rows.push_back(Val::Tuple({Val::Int(static_cast<int64_t>(rows.size())), v}));
  }
  return Val::List(std::move(rows));
}

const absl::flat_hash_map<std::string_view, Function>& Table() {
  static const auto* table = new absl::flat_hash_map<std::string_view, Function>{
      {"aten::__getitem__", GetItem},
      {"aten::len", Length},
      {"aten::slice", SliceAny},
      {"aten::append", Append},
      {"aten::extend", Extend},
      {"aten::insert", Insert},
      {"aten::pop", Pop},
      {"aten::_set_item", SetItem},
      {"aten::__setitem__", SetItem},
      {"aten::Delete", Delete},
      {"aten::clear", Clear},
      {"aten::reverse", Reverse},
      {"aten::sort", Sort},
      {"aten::sorted", Sorted},
      {"aten::copy", CopyList},
      {"aten::list", CopyList},
      {"aten::__contains__", Contains},
      {"aten::keys", DictParts<0>},
      {"aten::values", DictParts<1>},
      {"aten::items", DictParts<2>},
      {"aten::get", GetKey},
      {"aten::setdefault", SetDefault},
      {"aten::update", Update},
      {"aten::dict", MakeDict},
      {"aten::index", IndexOf},
      {"aten::count", CountOf},
      {"aten::remove", Remove},
      {"aten::__is__", IsSame<false>},
      {"aten::__isnot__", IsSame<true>},
      {"aten::__not__", Not},
      {"prim::min", Extreme<false>},
      {"prim::max", Extreme<true>},
      {"aten::any", AnyAll<false>},
      {"aten::all", AnyAll<true>},
      {"aten::sum", SumOf},
      {"prim::sum", SumOf},
      {"aten::format", FormatText},
      {"aten::percentFormat", PercentFormat},
      {"aten::split", Split},
      {"aten::strip", Strip<true, true>},
      {"aten::lstrip", Strip<true, false>},
      {"aten::rstrip", Strip<false, true>},
      {"aten::lower", EachChar<Lower>},
      {"aten::upper", EachChar<Upper>},
      {"aten::join", Join},
      {"aten::replace", Replace},
      {"aten::startswith", StartsWith},
      {"aten::endswith", EndsWith},
      {"aten::find", FindText},
      {"aten::isdigit", AllChars<IsDigit>},
      {"aten::isalpha", AllChars<IsAlpha>},
      {"aten::isspace", AllChars<IsSpace>},
      {"aten::ord", Ord},
      {"aten::chr", Chr},
      {"aten::dim", Dims},
      {"aten::ndimension", Dims},
      {"prim::ndim", Dims},
      {"aten::size", Size},
      {"prim::shape", Size},
      {"aten::numel", NumElements},
      {"prim::dtype", ElementType},
      {"prim::device", DeviceOf},
      {"prim::layout", [](Machine&, const Args&, int64_t) { return std::optional(Val::Int(0)); }},
      {"aten::get_device",
       [](Machine&, const Args&, int64_t) { return std::optional(Val::Int(-1)); }},
      {"aten::is_floating_point", TypeIs<IsOfFloats>},
      {"aten::is_complex", TypeIs<IsOfComplexNumbers>},
      {"aten::is_signed", TypeIs<IsOfSignedNumbers>},
      {"prim::is_cuda", False},
      {"prim::is_cpu", True},
      {"prim::is_quantized",
       [](Machine&, const Args& args, int64_t) -> std::optional<Val> {
         return Val::Bool(Is(args, 0, Val::kTensor) && args.positional[0].tensor().quantized);
       }},
      {"prim::is_sparse", False},
      {"prim::is_mkldnn", False},
      {"prim::is_meta", False},
      {"prim::is_mps", False},
      {"prim::is_xla", False},
      {"prim::is_vulkan", False},
      {"prim::is_nested", False},
      {"prim::requires_grad", RequiresGrad},
      {"aten::is_grad_enabled", True},
      {"aten::is_autocast_enabled", False},
      {"aten::is_autocast_cpu_enabled", False},
      {"aten::is_contiguous", Contiguous},
      {"prim::is_leaf", True},
      {"aten::set_grad_enabled", Nothing},
      {"aten::manual_seed", Nothing},
      {"aten::warn", Nothing},
      {"prim::Print", Nothing},
      {"prim::RaiseException", Raise},
      {"prim::unchecked_unwrap_optional", Unwrap},
      {"aten::_unwrap_optional", Unwrap},
      {"prim::unchecked_cast", Same},
      {"aten::wait", Same},
      {"aten::requires_grad_", Same},
      {"aten::cpu", Same},
      {"aten::pin_memory", Same},
      {"prim::type",
       [](Machine&, const Args& args, int64_t) -> std::optional<Val> {
         if (Is(args, 0, Val::kDevice)) {
           const std::string_view text = args.positional[0].str();
           return Val::String(std::string(text.substr(0, text.find(':'))));
         }
         return std::nullopt;
       }},
      {"prim::index", [](Machine&, const Args&, int64_t) { return std::optional(Val::None()); }},
      {"prim::name",
       [](Machine& m, const Args& args, int64_t) -> std::optional<Val> {
         return Val::String(m.Format(At(m, args, 0)));
       }},
      {"aten::Int", ToNumber<Val::kInt>},
      {"aten::IntImplicit", ToNumber<Val::kInt>},
      {"aten::Float", ToNumber<Val::kFloat>},
      {"aten::FloatImplicit", ToNumber<Val::kFloat>},
      {"aten::Bool", ToNumber<Val::kBool>},
      {"aten::is_nonzero", ToNumber<Val::kBool>},
      {"aten::ScalarImplicit", Item},
      {"aten::item", Item},
      {"aten::Complex", ComplexOf},
      {"aten::complex", ComplexOf},
      {"prim::NumToTensor", NumToTensor},
      {"aten::scalar_to_tensor", NumToTensor},
      {"aten::tensor", MakeTensor},
      {"aten::as_tensor", AsTensor},
      {"aten::_shape_as_tensor", ShapeAsTensor},
      {"prim::tolist", ToList},
      {"aten::tolist", ToList},
      {"aten::cat", JoinTensors<false>},
      {"aten::concat", JoinTensors<false>},
      {"aten::stack", JoinTensors<true>},
      {"aten::__derive_index", DeriveIndex},
      {"aten::__range_length", RangeLength},
      {"aten::device", MakeDevice},
      {"aten::zip", Zip},
      {"aten::broadcast_shapes", BroadcastShapes},
      {"aten::_infer_size", BroadcastShapes},
      {"aten::enumerate", Enumerate},
  };
  return *table;
}

}  // namespace

std::optional<Val> CallBuiltin(Machine& m, std::string_view op, const Args& args, int64_t wanted) {
  if (const auto it = Table().find(op); it != Table().end()) {
    if (std::optional<Val> v = it->second(m, args, wanted)) return v;
  }
  const size_t colons = op.find("::");
  const std::string_view space = op.substr(0, colons),
                         name = op.substr(std::min(colons + 2, op.size()));
  if (space != "aten" && space != "prim") return std::nullopt;
  static constexpr std::string_view kBinary[] = {
      "add",     "sub",    "mul",     "div",        "floordiv",  "remainder", "fmod",
      "pow",     "eq",     "ne",      "lt",         "le",        "gt",        "ge",
      "__and__", "__or__", "__xor__", "__lshift__", "__rshift__"};
  for (const std::string_view binary : kBinary) {
    if (binary != name) continue;
    if (std::optional<Val> v = Binary(m, name, args)) return v;
  }
  const bool one = args.positional.size() == 1 && args.named.empty();
  if (one && args.positional[0].kind == Val::kLost) m.Refuse(args.positional[0].str());
  if (one && args.positional[0].is_number()) {
    const Val& v = args.positional[0];
    if (name == "neg") return Arithmetic(m, "neg", v, {});
    if (name == "bitwise_not" && !v.value && (v.kind == Val::kInt || v.kind == Val::kBool)) {
      return Val::Int(~v.i);
    }
    if (v.kind != Val::kComplex) return UnaryNumber(m, name, v);
  }
  if (name == "add_" && Is(args, 0, Val::kList)) {
    Extend(m, args, -1);
    return args.positional[0];
  }
  return std::nullopt;
}

}  // namespace x2ir::torch_script
