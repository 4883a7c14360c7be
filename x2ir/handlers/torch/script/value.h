// Values of TorchScript while its code is run at reading: what is known is a number, a text, a
// container or an object; what is not is a value of the graph under construction.
#ifndef X2IR_HANDLERS_TORCH_SCRIPT_VALUE_H_
#define X2IR_HANDLERS_TORCH_SCRIPT_VALUE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "x2ir/formats/torch/script.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/handlers/torch/memory_ops.h"

namespace X2IR_API x2ir {
namespace torch_script {

struct Val;

// What values share and code changes: lists, dicts, objects and the memory of tensors. Branches
// that both must be followed begin with the same contents, so changes are recorded by copies.
struct Heap : std::enable_shared_from_this<Heap> {
  Heap();
  Heap(const Heap&) = default;
  Heap& operator=(const Heap&) = default;
  virtual ~Heap();
  static uint64_t NextId();  // grows: what has a smaller one was there before
  // What the archive holds was there before all else, whenever it is loaded.
  static constexpr uint64_t kFirstId = uint64_t{1} << 32;
  uint64_t id;
  // Why it must not be changed: which other objects would change with it is not known. Empty: it
  // may be changed. Of a tensor, the text of its memory (root()) counts.
  std::string frozen;
  virtual std::shared_ptr<Heap> Copy() const = 0;
  virtual void Restore(const Heap& copy) = 0;
  virtual void Clear() {}  // lets go of all that it holds
};

// While it lives, what the thread makes on the heap is known; afterwards none of it holds anything:
// lists may hold themselves.
class HeapScope {
 public:
  HeapScope();
  ~HeapScope();
  HeapScope(const HeapScope&) = delete;
  HeapScope& operator=(const HeapScope&) = delete;

 private:
  friend struct Heap;
  absl::flat_hash_set<Heap*> live_;
  HeapScope* outer_;
};

struct ListHeap;
struct DictHeap;
struct ObjectHeap;
struct TensorHeap;

struct Val {
  enum Kind : uint8_t {
    kNone,
    kBool,
    kInt,
    kFloat,
    kComplex,  // always known
    kString,
    kTensor,
    kTuple,     // items; text: the names of its fields, each with a line break, where it has some
    kList,      // list
    kDict,      // dict
    kObject,    // object
    kFunction,  // function, and object that it is a method of
    kClass,     // text: its name
    kBuiltin,   // text: "aten::add", "prim::max", "torch"
    kDevice,    // text
    kRange,     // items: start, end and step
    kMaybe,     // items: a value, and a bool that says whether it is that or None
    kLost,      // text: why it cannot be used; i is 1 where the code never reads it
  } kind = kNone;
  int64_t i = 0;           // of kBool and kInt, where `value` is null
  double d = 0, im = 0;    // of kFloat and kComplex, where `value` is null
  Value* value = nullptr;  // of a number that is computed: rank 0, bool, int64 or float64
  std::shared_ptr<const std::string> text;
  std::shared_ptr<const std::vector<Val>> items;
  std::shared_ptr<Heap> heap;
  const FunctionDef* function = nullptr;

  bool is_number() const { return kind >= kBool && kind <= kComplex; }
  bool is_known_number() const { return is_number() && !value; }
  bool is_known(Kind k) const { return kind == k && !value; }
  std::string_view str() const { return text ? std::string_view(*text) : std::string_view(); }
  const std::vector<Val>& tuple() const;
  ListHeap& list() const;
  DictHeap& dict() const;
  ObjectHeap& object() const;
  TensorHeap& tensor() const;

  static Val None() { return {}; }
  static Val Bool(bool b) { return Number(kBool, b, 0); }
  static Val Int(int64_t i) { return Number(kInt, i, 0); }
  static Val Float(double d) { return Number(kFloat, 0, d); }
  static Val Complex(double re, double im);
  static Val Computed(Kind kind, Value* value);
  static Val String(std::string text) { return Text(kString, std::move(text)); }
  static Val Text(Kind kind, std::string text);
  static Val Lost(std::string why) { return Text(kLost, std::move(why)); }
  // What the code says it sets before it reads it.
  static Val Unset();
  bool is_unset() const { return kind == kLost && i == 1; }
  static Val Maybe(Val v, Val present);
  static Val Tuple(std::vector<Val> items);
  static Val List(std::vector<Val> items);
  static Val Of(Kind kind, std::shared_ptr<Heap> heap);

 private:
  static Val Number(Kind kind, int64_t i, double d);
};

// A list: its items, or, where their number is not known, a sequence of tensors or a vector of
// numbers of the graph.
struct ListHeap : Heap {
  std::vector<Val> items;
  Value* computed = nullptr;       // a sequence of tensors, or a tensor of rank 1
  Val::Kind element = Val::kNone;  // of `computed`
  std::string type;                // what the code calls the type of the items; empty: not said
  ListHeap() = default;
  ListHeap(const ListHeap&) = default;
  ListHeap& operator=(const ListHeap&) = default;
  ~ListHeap() override { ListHeap::Clear(); }
  void Clear() override;
  std::shared_ptr<Heap> Copy() const override { return std::make_shared<ListHeap>(*this); }
  void Restore(const Heap& copy) override { *this = static_cast<const ListHeap&>(copy); }
};

struct DictHeap : Heap {
  std::vector<std::pair<Val, Val>> items;  // in the order of insertion
  const Val* Find(const Val& key) const;   // of the same key in every run; null: none is
  DictHeap() = default;
  DictHeap(const DictHeap&) = default;
  DictHeap& operator=(const DictHeap&) = default;
  ~DictHeap() override { DictHeap::Clear(); }
  void Clear() override;
  std::shared_ptr<Heap> Copy() const override { return std::make_shared<DictHeap>(*this); }
  void Restore(const Heap& copy) override { *this = static_cast<const DictHeap&>(copy); }
};

// An instance of a class. Attributes of the saved module are read when they are asked for first.
struct ObjectHeap : Heap {
  std::string class_name;         // "__torch__.a.B"
  const ClassDef* cls = nullptr;  // null: a class of PyTorch's own
  std::vector<std::pair<std::string, Val>> attributes;
  Val* Find(std::string_view name);  // null: it is not in `attributes`
  const Val* Find(std::string_view name) const { return const_cast<ObjectHeap*>(this)->Find(name); }
  const PickleValue* saved = nullptr;  // a dict of what is not in `attributes` yet
  std::string path;                    // "layer1.0"; of the module itself ""
  Val state;                           // of a class of PyTorch's own: what it was made from
  ObjectHeap() = default;
  ObjectHeap(const ObjectHeap&) = default;
  ObjectHeap& operator=(const ObjectHeap&) = default;
  ~ObjectHeap() override { ObjectHeap::Clear(); }
  void Clear() override;
  std::shared_ptr<Heap> Copy() const override { return std::make_shared<ObjectHeap>(*this); }
  void Restore(const Heap& copy) override { *this = static_cast<const ObjectHeap&>(copy); }
};

// Of a quantized tensor, of which the value holds the integers.
struct Quantization {
  Value* scale = nullptr;       // float32, rank 0, or rank 1 with an axis
  Value* zero_point = nullptr;  // of the integers' type, or of int32
  int64_t axis = -1;            // -1: one scale
  DType dtype = DType::kUndefined;
};

// Whether both are quantized in the same way, or both are not (null).
bool SameQuantization(const Quantization* a, const Quantization* b);

// Of packed sequences: the padded ones, steps first, are in their place.
struct Packed {
  Value* lengths = nullptr;  // int64, of each sequence
  Value* padded = nullptr;   // steps, sequences, features
};

// A tensor, as the code knows it: views of one memory are tensors of their own.
struct TensorHeap : Heap {
  Value* value = nullptr;  // what it holds, as of `version` of its memory
  int64_t version = 0;
  std::shared_ptr<TensorHeap> base;  // the tensor of which it is a view; null: it is the memory
  TorchCallRecord view;              // the call that made it one
  size_t output = 0;                 // of that call
  ViewKind kind = ViewKind::kSame;   // kSometimes: perhaps a copy
  int64_t views = 0;                 // made of it
  int64_t writes = 0;                // of the memory: its version now
  std::string lost;                  // why it is not known what it holds; empty: it is
  std::shared_ptr<const Quantization> quantized;  // null: an ordinary tensor
  std::shared_ptr<const Packed> packed;  // it is the data, or the batch sizes, of packed sequences
  bool batch_sizes = false;
  std::string buffer;        // the name of the weight that the memory is
  bool is_input = false;     // the memory is an input of the model
  bool is_constant = false;  // a constant of the code, not of a module
  std::shared_ptr<Heap> Copy() const override { return std::make_shared<TensorHeap>(*this); }
  void Restore(const Heap& copy) override { *this = static_cast<const TensorHeap&>(copy); }
  // How often the memory was written, in runs of branches too that were undone. Unlike `writes` it
  // outlives the tensor.
  std::shared_ptr<int64_t> ever_written = std::make_shared<int64_t>(0);
  // Of a memory: others that it may be, and how often these had been written when that was so.
  struct Perhaps {
    std::weak_ptr<TensorHeap> other;
    int64_t version = -1;
    std::shared_ptr<const int64_t> ever_written{};
    int64_t ever = 0;
    // As of now.
    void Update(const TensorHeap& held) {
      version = held.writes;
      ever_written = held.ever_written;
      ever = *held.ever_written;
    }
  };
  std::vector<Perhaps> perhaps;
  int64_t depth = 0;  // how many views it is one of the other
  void Clear() override { base.reset(); }
  TensorHeap& root() {
    TensorHeap* t = this;
    while (t->base) t = t->base.get();
    return *t;
  }
};

// The element type of tensors and of computed numbers of a kind: bool, int64 and float64.
DType DTypeOfKind(Val::Kind kind);
// The kind that an element of a tensor has as a number.
Val::Kind KindOfDType(DType dtype);

// What code means by a value, for messages: "a tensor", "3", "a list".
std::string Describe(const Val& v);
// Whether both are the same value in every run.
bool SameVal(const Val& a, const Val& b);

}  // namespace torch_script
}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_SCRIPT_VALUE_H_
