#include "x2ir/handlers/torch/script/value.h"

#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::torch_script {

namespace {

// What belongs to a thread that runs code: nothing of the library is local to threads by itself.
struct OfThread {
  HeapScope* scope = nullptr;
  std::vector<std::vector<Val>>* waiting = nullptr;  // values that end, while others do
};
class Threads {
 public:
  static Threads& All() {
    static auto* all = new Threads;
    return *all;
  }
  // Lives until the thread forgets it.
  OfThread& Mine() {
    const std::lock_guard lock(mutex_);
    return of_[std::this_thread::get_id()];
  }
  HeapScope* Scope() {
    const std::lock_guard lock(mutex_);
    const auto it = of_.find(std::this_thread::get_id());
    return it == of_.end() ? nullptr : it->second.scope;
  }
  void ForgetIfDone() {
    const std::lock_guard lock(mutex_);
    const auto it = of_.find(std::this_thread::get_id());
    if (it != of_.end() && !it->second.scope && !it->second.waiting) of_.erase(it);
  }

 private:
  std::mutex mutex_;
  std::map<std::thread::id, OfThread> of_;
};

// The end of values, one after another however deep they are in each other.
void LetGo(std::vector<Val> values) {
  if (values.empty()) return;
  OfThread& mine = Threads::All().Mine();
  if (mine.waiting) {
    mine.waiting->push_back(std::move(values));
    return;
  }
  std::vector<std::vector<Val>> own;
  mine.waiting = &own;
  own.push_back(std::move(values));
  while (!own.empty()) {
    const std::vector<Val> last = std::move(own.back());
    own.pop_back();
  }
  mine.waiting = nullptr;
  Threads::All().ForgetIfDone();
}

}  // namespace

HeapScope::HeapScope() : outer_(std::exchange(Threads::All().Mine().scope, this)) {}
HeapScope::~HeapScope() {
  std::vector<std::shared_ptr<Heap>> all;
  for (Heap* heap : live_) {
    if (auto held = heap->weak_from_this().lock()) all.push_back(std::move(held));
  }
  for (const auto& heap : all) heap->Clear();
  all.clear();
  Threads::All().Mine().scope = outer_;
  Threads::All().ForgetIfDone();
}
Heap::Heap() : id(NextId()) {
  if (HeapScope* scope = Threads::All().Scope()) scope->live_.insert(this);
}
Heap::~Heap() {
  if (HeapScope* scope = Threads::All().Scope()) scope->live_.erase(this);
}
void ListHeap::Clear() { LetGo(std::exchange(items, {})); }
void DictHeap::Clear() {
  std::vector<Val> all;
  for (auto& [key, v] : items) {
    all.push_back(std::move(key));
    all.push_back(std::move(v));
  }
  items.clear();
  LetGo(std::move(all));
}
void ObjectHeap::Clear() {
  std::vector<Val> all = {std::exchange(state, {})};
  for (auto& [name, v] : attributes) all.push_back(std::move(v));
  attributes.clear();
  LetGo(std::move(all));
}

const Val* DictHeap::Find(const Val& key) const {
  for (const auto& [own, v] : items) {
    if (SameVal(own, key)) return &v;
  }
  return nullptr;
}
Val* ObjectHeap::Find(std::string_view name) {
  for (auto& [own, v] : attributes) {
    if (own == name) return &v;
  }
  return nullptr;
}

uint64_t Heap::NextId() {
  static std::atomic<uint64_t> next{kFirstId};
  return next.fetch_add(1, std::memory_order_relaxed);
}

Val Val::Number(Kind kind, int64_t i, double d) {
  Val v;
  v.kind = kind;
  v.i = i;
  v.d = kind == kFloat ? d : static_cast<double>(i);
  return v;
}
Val Val::Complex(double re, double im) {
  Val v;
  v.kind = kComplex;
  v.d = re;
  v.im = im;
  return v;
}
Val Val::Computed(Kind kind, Value* value) {
  Val v;
  v.kind = kind;
  v.value = value;
  return v;
}
Val Val::Text(Kind kind, std::string text) {
  Val v;
  v.kind = kind;
  v.text = std::make_shared<const std::string>(std::move(text));
  return v;
}
Val Val::Unset() {
  Val v = Lost("it is used before it is set");
  v.i = 1;
  return v;
}
Val Val::Maybe(Val value, Val present) {
  Val v = Tuple({std::move(value), std::move(present)});
  v.kind = kMaybe;
  return v;
}
Val Val::Tuple(std::vector<Val> items) {
  Val v;
  v.kind = kTuple;
  v.items = std::shared_ptr<const std::vector<Val>>(new std::vector<Val>(std::move(items)),
                                                    [](std::vector<Val>* dead) {
                                                      LetGo(std::move(*dead));
                                                      delete dead;
                                                    });
  return v;
}
Val Val::List(std::vector<Val> items) {
  auto heap = std::make_shared<ListHeap>();
  heap->items = std::move(items);
  return Of(kList, std::move(heap));
}
Val Val::Of(Kind kind, std::shared_ptr<Heap> heap) {
  Val v;
  v.kind = kind;
  v.heap = std::move(heap);
  return v;
}

const std::vector<Val>& Val::tuple() const {
  static const std::vector<Val> none;
  return items ? *items : none;
}
ListHeap& Val::list() const { return static_cast<ListHeap&>(*heap); }
DictHeap& Val::dict() const { return static_cast<DictHeap&>(*heap); }
ObjectHeap& Val::object() const { return static_cast<ObjectHeap&>(*heap); }
TensorHeap& Val::tensor() const { return static_cast<TensorHeap&>(*heap); }

DType DTypeOfKind(Val::Kind kind) {
  return kind == Val::kFloat ? DType::kFloat64 : kind == Val::kBool ? DType::kBool : DType::kInt64;
}
Val::Kind KindOfDType(DType dtype) {
  return dtype == DType::kBool ? Val::kBool : IsInteger(dtype) ? Val::kInt : Val::kFloat;
}

std::string Describe(const Val& v) {
  switch (v.kind) {
    case Val::kNone: return "None";
    case Val::kBool: return v.value ? "a computed bool" : v.i ? "True" : "False";
    case Val::kInt: return v.value ? "a computed int" : StrCat(v.i);
    case Val::kFloat: return v.value ? "a computed float" : StrCat(v.d);
    case Val::kComplex: return "a complex number";
    case Val::kString: return StrCat("'", v.str(), "'");
    case Val::kTensor: return "a tensor";
    case Val::kTuple: return StrCat("a tuple of ", v.tuple().size());
    case Val::kList:
      return v.list().computed ? "a list" : StrCat("a list of ", v.list().items.size());
    case Val::kDict: return "a dict";
    case Val::kObject: return StrCat("an object of ", v.object().class_name);
    case Val::kFunction: return "a function";
    case Val::kClass: return StrCat("class ", v.str());
    case Val::kBuiltin: return std::string(v.str());
    case Val::kDevice: return StrCat("device '", v.str(), "'");
    case Val::kRange: return "a range";
    case Val::kMaybe: return StrCat(Describe(v.tuple()[0]), " or None");
    case Val::kLost: return StrCat("a value that is not known: ", v.str());
  }
  return "";
}

namespace {

// Values that hold each other in many ways would take time without end; past this many steps they
// count as different.
bool SameVal(const Val& a, const Val& b, int64_t& steps) {
  if (++steps > 1'000'000) return false;
  if (a.kind != b.kind || a.value != b.value || a.function != b.function) return false;
  if (a.is_number()) {
    if (a.value) return true;
    if (a.kind == Val::kBool || a.kind == Val::kInt) return a.i == b.i;
    const auto same = [](double x, double y) {
      return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
    };
    return same(a.d, b.d) && same(a.im, b.im);
  }
  if (a.heap || b.heap) return a.heap == b.heap;
  if (a.str() != b.str()) return false;
  if (a.items == b.items) return true;
  if (a.tuple().size() != b.tuple().size()) return false;
  for (size_t i = 0; i < a.tuple().size(); ++i) {
    if (!SameVal(a.tuple()[i], b.tuple()[i], steps)) return false;
  }
  return true;
}

}  // namespace

bool SameVal(const Val& a, const Val& b) {
  int64_t steps = 0;
  return SameVal(a, b, steps);
}

namespace {
// Scales are often the same constants, made twice.
bool SameConstant(const Value* a, const Value* b) {
  if (a == b) return true;
  const Tensor *x = a->fixed_constant(), *y = b->fixed_constant();
  return x && y && *x == *y;
}
}  // namespace

bool SameQuantization(const Quantization* a, const Quantization* b) {
  if (a == b) return true;
  return a && b && a->axis == b->axis && a->dtype == b->dtype && SameConstant(a->scale, b->scale) &&
         SameConstant(a->zero_point, b->zero_point);
}

}  // namespace x2ir::torch_script
