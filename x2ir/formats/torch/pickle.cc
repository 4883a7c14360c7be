// An unpickler of the opcodes (protocols 2 to 5) and globals that data needs.
#include "x2ir/formats/torch/pickle.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

struct StorageType {
  std::string_view global;
  DType dtype;
  bool quantized = false;
};
constexpr StorageType kStorageTypes[] = {
    {"torch.FloatStorage", DType::kFloat32},
    {"torch.DoubleStorage", DType::kFloat64},
    {"torch.HalfStorage", DType::kFloat16},
    {"torch.BFloat16Storage", DType::kBFloat16},
    {"torch.LongStorage", DType::kInt64},
    {"torch.IntStorage", DType::kInt32},
    {"torch.ShortStorage", DType::kInt16},
    {"torch.CharStorage", DType::kInt8},
    {"torch.ByteStorage", DType::kUInt8},
    {"torch.BoolStorage", DType::kBool},
    {"torch.ComplexFloatStorage", DType::kComplex64},
    {"torch.ComplexDoubleStorage", DType::kComplex128},
    {"torch.storage.UntypedStorage", DType::kUndefined},  // the tensor says it
    {"torch.QInt8Storage", DType::kInt8, true},
    {"torch.QUInt8Storage", DType::kUInt8, true},
    {"torch.QInt32Storage", DType::kInt32, true},
};
// What _rebuild_tensor_v3 is told.
constexpr StorageType kDTypes[] = {
    {"torch.uint16", DType::kUInt16},
    {"torch.uint32", DType::kUInt32},
    {"torch.uint64", DType::kUInt64},
    {"torch.float8_e4m3fn", DType::kFloat8E4M3FN},
    {"torch.float8_e4m3fnuz", DType::kFloat8E4M3FNUZ},
    {"torch.float8_e5m2", DType::kFloat8E5M2},
    {"torch.float8_e5m2fnuz", DType::kFloat8E5M2FNUZ},
    {"torch.float8_e8m0fnu", DType::kFloat8E8M0},
};
// Calls that give their list, which the pickler tags so.
constexpr std::pair<std::string_view, std::string_view> kListBuilders[] = {
    {"torch.jit._pickle.build_intlist", "List[int]"},
    {"torch.jit._pickle.build_doublelist", "List[float]"},
    {"torch.jit._pickle.build_boollist", "List[bool]"},
    {"torch.jit._pickle.build_tensorlist", "List[Tensor]"},
};

// Bounds of what a few bytes of a pickle may make. A value takes 250 bytes. Picklers write two
// bytes for each at least, for values that are not shared.
constexpr size_t kMaxValues = size_t{1} << 23, kFewValues = size_t{1} << 16;
constexpr size_t kMaxGlobal = 1024;  // bytes of a global's name
constexpr size_t kMaxRank = 64;      // PyTorch's own

bool IsSizes(const PickleValue& value) {
  return value.is_sequence() && value.items.size() <= kMaxRank &&
         std::all_of(value.items.begin(), value.items.end(),
                     [](const PickleValue* item) { return item->kind == PickleValue::kInt; });
}
std::vector<int64_t> Ints(const PickleValue& value) {
  std::vector<int64_t> numbers;
  for (const PickleValue* item : value.items) numbers.push_back(item->number);
  return numbers;
}
bool IsReal(const PickleValue& value) {
  return value.kind == PickleValue::kInt || value.kind == PickleValue::kFloat;
}
double Real(const PickleValue& value) {
  return value.kind == PickleValue::kInt ? static_cast<double>(value.number) : value.real;
}

}  // namespace

// All of a pickle's values are kept in one place, so that no depth of nesting matters.
class Unpickler {
 public:
  enum Mode : uint8_t {
    kTensors,  // no objects, no quantized tensors
    kData,
    kLook,  // calls of anything are objects: their names, and arguments
  };
  Unpickler(ZipArchive& zip, std::string_view folder, Mode mode)
      : zip_(zip), folder_(folder), mode_(mode) {}

  absl::StatusOr<Pickle> Run(const ZipEntry& entry) {
    X2IR_ASSIGN_OR_RETURN(pickle_.bytes_, zip_.ReadText(entry));
    rest_ = pickle_.bytes_.view;
    max_weight_ = std::min(kMaxValues, kFewValues + rest_.size() / 2);
    while (status_.ok()) {
      if (rest_.empty()) {
        Fail(DataLoss("the pickle is cut off"));
      } else if (const char op = Byte(); op != '.') {
        Step(op);
      } else if (stack_.size() == 1 && stack_[0]) {
        pickle_.root_ = stack_[0];
        return std::move(pickle_);
      } else {
        Fail(DataLoss("the pickle ends with ", stack_.size(), " values"));
      }
    }
    return status_;
  }

 private:
  using Value = PickleValue;

  void Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  // --- Reading ---
  std::string_view Take(uint64_t n) {
    if (n > rest_.size()) {
      Fail(DataLoss("the pickle is cut off"));
      rest_ = {};
      return {};
    }
    const std::string_view bytes = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return bytes;
  }
  char Byte() {
    const std::string_view byte = Take(1);
    return byte.empty() ? '\0' : byte[0];
  }
  uint64_t Number(size_t bytes) {
    uint64_t value = 0;
    int shift = 0;
    for (const char c : Take(bytes)) {
      value |= static_cast<uint64_t>(static_cast<unsigned char>(c)) << shift;
      shift += 8;
    }
    return value;
  }
  double BigEndianDouble() {
    uint64_t bits = 0;
    for (const char c : Take(8)) bits = bits << 8 | static_cast<unsigned char>(c);
    return std::bit_cast<double>(bits);
  }
  std::string_view Line() {
    const size_t end = rest_.find('\n');
    const std::string_view line = Take(end == rest_.npos ? rest_.size() + 1 : end);
    Take(1);
    return line;
  }

  // --- The stack, where null is a mark ---
  bool Count(size_t weight) {
    weight_ += weight;
    if (weight_ > max_weight_) Fail(Unimplemented("the pickle has too many values for its size"));
    return weight_ <= max_weight_;
  }
  Value* Make(Value::Kind kind, size_t weight = 1) {
    if (!Count(weight)) {
      nothing_.kind = kind;
      return &nothing_;
    }
    pickle_.values_.emplace_back().kind = kind;
    return &pickle_.values_.back();
  }
  Value* Push(Value::Kind kind, size_t weight = 1) {
    stack_.push_back(Make(kind, weight));
    return stack_.back();
  }
  // Values that never change are one, made when first used.
  void PushShared(Value*& shared, Value::Kind kind, int64_t number = 0) {
    if (!shared) {
      shared = Make(kind);
      shared->number = number;
    }
    stack_.push_back(shared);
  }
  Value* Pop() {
    if (stack_.empty() || !stack_.back()) {
      Fail(DataLoss("the pickle takes a value that does not exist"));
      nothing_.kind = Value::kNone;
      return &nothing_;
    }
    Value* value = stack_.back();
    stack_.pop_back();
    return value;
  }
  // What is changed in place; null and an error where it is of another kind.
  Value* Top(Value::Kind kind) {
    if (!stack_.empty() && stack_.back() && stack_.back()->kind == kind) return stack_.back();
    Fail(DataLoss("the pickle changes a value of the wrong kind"));
    return nullptr;
  }
  std::vector<Value*> PopToMark() {
    size_t mark = stack_.size();
    while (mark > 0 && stack_[mark - 1]) --mark;
    if (mark == 0) {
      Fail(DataLoss("the pickle has no mark"));
      return {};
    }
    std::vector<Value*> items(stack_.begin() + static_cast<ptrdiff_t>(mark), stack_.end());
    stack_.resize(mark - 1);
    return items;
  }
  void PushTuple(size_t n) {
    std::vector<const Value*> items(n);
    for (size_t i = n; i-- > 0;) items[i] = Pop();
    Push(Value::kTuple)->items = std::move(items);
  }
  void PushInt(int64_t value) { Push(Value::kInt)->number = value; }
  void Get(uint64_t key) {
    auto it = memo_.find(key);
    if (it == memo_.end()) return Fail(DataLoss("the pickle refers to nothing"));
    stack_.push_back(it->second);
  }
  void Put(uint64_t key) {
    Value* value = Pop();
    memo_[key] = value;
    stack_.push_back(value);
  }
  static void Extend(Value* to, const std::vector<Value*>& items) {
    if (to) to->items.insert(to->items.end(), items.begin(), items.end());
  }
  void ExtendDict(Value* to, const std::vector<Value*>& items) {
    if (items.size() % 2 != 0) return Fail(DataLoss("the pickle has a key without value"));
    Extend(to, items);
  }

  void Step(char op) {
    switch (static_cast<unsigned char>(op)) {
      case 0x80: Take(1); break;  // PROTO
      case 0x95: Take(8); break;  // FRAME
      case '(': stack_.push_back(nullptr); break;
      case '0': Pop(); break;
      case '1': PopToMark(); break;
      case 'N': PushShared(none_, Value::kNone); break;
      case 0x88: PushShared(true_, Value::kBool, 1); break;
      case 0x89: PushShared(false_, Value::kBool, 0); break;
      case 'J': PushInt(static_cast<int32_t>(Number(4))); break;
      case 'K': {
        const uint64_t number = Number(1);
        PushShared(small_[number], Value::kInt, static_cast<int64_t>(number));
        break;
      }
      case 'M': PushInt(static_cast<int64_t>(Number(2))); break;
      case 0x8a: Long(Number(1)); break;
      case 0x8b: Long(Number(4)); break;
      case 'G': {
        const double real = BigEndianDouble();
        Push(Value::kFloat)->real = real;
        break;
      }
      case 'X': Text(Number(4)); break;
      case 0x8c: Text(Number(1)); break;
      case 0x8d: Text(Number(8)); break;
      case 'U': Text(Number(1)); break;
      case 'T': Text(Number(4)); break;
      case ')': PushShared(no_items_, Value::kTuple); break;
      case 0x85: PushTuple(1); break;
      case 0x86: PushTuple(2); break;
      case 0x87: PushTuple(3); break;
      case 't': {
        const std::vector<Value*> items = PopToMark();
        Extend(Push(Value::kTuple), items);
        break;
      }
      case 'l': {
        const std::vector<Value*> items = PopToMark();
        Extend(Push(Value::kList), items);
        break;
      }
      case 'd': {
        const std::vector<Value*> items = PopToMark();
        ExtendDict(Push(Value::kDict), items);
        break;
      }
      case ']': Push(Value::kList); break;
      case '}': Push(Value::kDict); break;
      case 'a': {
        Value* item = Pop();
        Extend(Top(Value::kList), {item});
        break;
      }
      case 'e': {
        const std::vector<Value*> items = PopToMark();
        Extend(Top(Value::kList), items);
        break;
      }
      case 's': {
        Value* value = Pop();
        Value* key = Pop();
        Extend(Top(Value::kDict), {key, value});
        break;
      }
      case 'u': {
        const std::vector<Value*> items = PopToMark();
        ExtendDict(Top(Value::kDict), items);
        break;
      }
      case 'q': Put(Number(1)); break;
      case 'r': Put(Number(4)); break;
      case 'h': Get(Number(1)); break;
      case 'j': Get(Number(4)); break;
      case 0x94: Put(memo_.size()); break;  // MEMOIZE
      case 'c': {
        const std::string_view module = Line();
        Global(module, Line());
        break;
      }
      case 0x93: {  // STACK_GLOBAL
        const Value* name = Pop();
        const Value* module = Pop();
        if (name->kind != Value::kString || module->kind != Value::kString) {
          return Fail(DataLoss("the pickle has a global whose name is not a text"));
        }
        Global(module->text, name->text);
        break;
      }
      case 'Q': Storage(); break;
      case 'R': {
        const Value* arguments = Pop();
        Call(Pop(), arguments);
        break;
      }
      case 0x81: {  // NEWOBJ
        const Value* arguments = Pop();
        NewObject(Pop(), arguments);
        break;
      }
      case 'b': Build(Pop()); break;
      default:
        Fail(Unimplemented("the pickle has opcode ", static_cast<int>(static_cast<uint8_t>(op)),
                           ", which no tensor needs"));
    }
  }

  void Long(uint64_t size) {
    if (size > 8) return Fail(Unimplemented("the pickle has a number of ", size, " bytes"));
    uint64_t value = Number(size);
    if (size != 0 && size < 8 && (value >> (8 * size - 1)) != 0)
      value |= ~uint64_t{0} << (8 * size);
    PushInt(static_cast<int64_t>(value));
  }
  void Text(uint64_t size) {
    const std::string_view text = Take(size);
    Push(Value::kString)->text = text;
  }
  // Globals of the same name are one.
  void Global(std::string_view module, std::string_view name) {
    if (module.size() > kMaxGlobal || name.size() > kMaxGlobal) {
      return Fail(DataLoss("the pickle has a global with a name of ", module.size() + name.size(),
                           " bytes"));
    }
    const std::string full = StrCat(module, ".", name);
    auto it = globals_.find(std::string_view(full));
    if (it == globals_.end()) {
      Value* global = Make(Value::kGlobal);
      global->text = pickle_.names_.emplace_back(full);
      it = globals_.emplace(global->text, global).first;
    }
    stack_.push_back(it->second);
  }

  // ("storage", type, key, location, number of elements)
  void Storage() {
    const Value* id = Pop();
    const auto& parts = id->items;
    if (id->kind != Value::kTuple || parts.size() != 5 || parts[0]->text != "storage" ||
        parts[1]->kind != Value::kGlobal || parts[2]->kind != Value::kString) {
      return Fail(Unimplemented("the pickle refers to something that is not a storage"));
    }
    const StorageType* type = nullptr;
    for (const StorageType& row : kStorageTypes) {
      if (row.global == parts[1]->text) type = &row;
    }
    if (!type || (type->quantized && mode_ == kTensors)) {
      return Fail(Unimplemented("the pickle has a storage of ", parts[1]->text));
    }
    // A storage of several tensors is read once.
    auto [it, fresh] = storages_.try_emplace(parts[2]->text);
    if (fresh) {
      const std::string path = StrCat(folder_, parts[2]->text);
      const bool empty = parts[4]->kind == Value::kInt && parts[4]->number == 0;
      if (const ZipEntry* entry = zip_.Find(path)) {
        auto storage = StorageOf(zip_, *entry);
        if (!storage.ok()) return Fail(storage.status());
        it->second = *std::move(storage);
      } else if (!empty) {
        return Fail(DataLoss("there is no storage '", path, "'"));
      }
    }
    Value* value = Push(Value::kStorage);
    value->tensor.storage = it->second;
    value->tensor.dtype = type->dtype;
  }

  // --- Objects and calls: only names of what would be called ---
  void NewObject(const Value* type, const Value* arguments) {
    if (type->kind != Value::kGlobal || arguments->kind != Value::kTuple) {
      return Fail(DataLoss("the pickle has an object of something that is not a class"));
    }
    if (mode_ == kTensors) {
      return Fail(
          Unimplemented("the pickle has an object of ", type->text, "; only tensors are read"));
    }
    Object(type, arguments);
  }
  void Object(const Value* type, const Value* arguments) {
    Value* object = Push(Value::kObject);
    object->text = type->text;
    if (arguments->kind == Value::kTuple) {
      // They are copied, and the tuple may be used again.
      if (Count(arguments->items.size() / 16)) object->items = arguments->items;
    } else {
      object->items = {arguments};
    }
  }
  void Build(const Value* state) {
    if (!stack_.empty() && stack_.back() && stack_.back()->kind == Value::kObject) {
      stack_.back()->state = state;
    } else if (mode_ != kLook) {
      Top(Value::kDict);  // a state dict's own metadata, which is dropped
    }
  }

  void Call(const Value* function, const Value* arguments) {
    if (function->kind != Value::kGlobal) {
      return Fail(DataLoss("the pickle calls something that is not a function"));
    }
    const std::string_view name = function->text;
    // The value of an enum is not in a tuple.
    if (name.starts_with("__torch__.") && mode_ != kTensors) return Object(function, arguments);
    if (arguments->kind != Value::kTuple) {
      return Fail(DataLoss("the pickle calls something that is not a function"));
    }
    const auto& args = arguments->items;
    const auto is = [&](size_t i, Value::Kind kind) {
      return i < args.size() && args[i]->kind == kind;
    };
    if (name == "collections.OrderedDict" && args.empty()) {
      Push(Value::kDict);
    } else if (name == "torch._utils._rebuild_parameter" && is(0, Value::kTensor)) {
      Again(args[0]);
    } else if (name == "torch._utils._rebuild_tensor_v2") {
      Rebuild(args, false);
    } else if (name == "torch._utils._rebuild_tensor_v3") {
      Rebuild(args, true);
    } else if (name == "torch._utils._rebuild_qtensor" && mode_ != kTensors) {
      RebuildQuantized(args);
    } else if (name == "torch._utils._rebuild_sparse_tensor" && mode_ != kLook) {
      Fail(Unimplemented("the pickle has a sparse tensor; only dense tensors are read"));
    } else if (name == "torch.Size" && args.size() == 1 && args[0]->is_sequence()) {
      Again(args[0]);
    } else if (name == "torch.device" && is(0, Value::kString)) {
      Device(args);
    } else if ((name == "builtins.complex" || name == "__builtin__.complex") && args.size() == 2 &&
               IsReal(*args[0]) && IsReal(*args[1])) {
      Value* value = Push(Value::kComplex);
      value->real = Real(*args[0]);
      value->imaginary = Real(*args[1]);
    } else if (name == "torch.jit._pickle.restore_type_tag" && args.size() == 2 &&
               is(1, Value::kString) && (is(0, Value::kList) || is(0, Value::kDict))) {
      Again(args[0])->type = args[1]->text;
    } else {
      for (const auto& [builder, type] : kListBuilders) {
        if (name != builder || args.size() != 1 || !is(0, Value::kList)) continue;
        Again(args[0])->type = type;
        return;
      }
      if (mode_ == kLook) return Object(function, arguments);
      Fail(Unimplemented("the pickle calls ", name, "; only ",
                         mode_ == kTensors ? "tensors are" : "data is", " read"));
    }
  }
  // The value itself. All values are the unpickler's own; only containers' items are const.
  Value* Again(const Value* value) {
    stack_.push_back(const_cast<Value*>(value));
    return stack_.back();
  }

  void Device(const std::vector<const Value*>& args) {
    std::string_view text = args[0]->text;
    if (args.size() == 2 && args[1]->kind == Value::kInt) {
      if (text.size() > kMaxGlobal) return Fail(DataLoss("the pickle has a broken device"));
      text = pickle_.names_.emplace_back(StrCat(text, ":", args[1]->number));
    }
    Push(Value::kDevice)->text = text;
  }

  // (storage, offset, sizes, strides, ...)
  bool StartsTensor(const std::vector<const Value*>& args, size_t least) {
    const bool good = args.size() >= least && args[0]->kind == Value::kStorage &&
                      args[1]->kind == Value::kInt && IsSizes(*args[2]) && IsSizes(*args[3]) &&
                      args[2]->items.size() == args[3]->items.size();
    if (!good) Fail(DataLoss("the pickle has a broken tensor"));
    return good;
  }
  Value* PushTensor(const std::vector<const Value*>& args, DType dtype) {
    const size_t rank = args[2]->items.size();
    Value* value = Push(Value::kTensor, 1 + rank / 8);
    value->tensor = args[0]->tensor;
    value->tensor.dtype = dtype;
    value->tensor.storage_offset = args[1]->number;
    value->tensor.sizes = Ints(*args[2]);
    value->tensor.strides = Ints(*args[3]);
    return value;
  }
  void Rebuild(const std::vector<const Value*>& args, bool v3) {
    const size_t metadata = v3 ? 7 : 6;
    if (!StartsTensor(args, metadata)) return;
    // Bits that change what the bytes mean (conj, neg).
    if (args.size() > metadata && !args[metadata]->items.empty()) {
      return Fail(Unimplemented("the pickle has a tensor with metadata"));
    }
    DType dtype = args[0]->tensor.dtype;
    if (v3) {
      for (const StorageType& row : kDTypes) {
        if (row.global == args[6]->text) dtype = row.dtype;
      }
    }
    if (dtype == DType::kUndefined) {
      return Fail(
          Unimplemented("the pickle has a tensor of an element type that x2ir does not have"));
    }
    PushTensor(args, dtype);
  }
  // (storage, offset, sizes, strides, quantizer, requires_grad, hooks)
  void RebuildQuantized(const std::vector<const Value*>& args) {
    if (!StartsTensor(args, 5)) return;
    const auto broken = [&] { Fail(DataLoss("the pickle has a broken quantized tensor")); };
    const auto& parts = args[4]->items;
    if (args[4]->kind != Value::kTuple || parts.empty() || parts[0]->kind != Value::kGlobal) {
      return broken();
    }
    const std::string_view scheme = parts[0]->text;
    auto quantizer = std::make_shared<Value::Quantizer>();
    if (scheme == "torch.per_tensor_affine") {
      if (parts.size() != 3 || !IsReal(*parts[1]) || parts[2]->kind != Value::kInt) return broken();
      quantizer->scale = Real(*parts[1]);
      quantizer->zero_point = parts[2]->number;
    } else if (scheme == "torch.per_channel_affine" ||
               scheme == "torch.per_channel_affine_float_qparams") {
      if (parts.size() != 4 || parts[1]->kind != Value::kTensor ||
          parts[2]->kind != Value::kTensor || parts[3]->kind != Value::kInt ||
          parts[3]->number < 0 || parts[3]->number >= static_cast<int64_t>(args[2]->items.size())) {
        return broken();
      }
      quantizer->scales = parts[1]->tensor;
      quantizer->zero_points = parts[2]->tensor;
      quantizer->axis = parts[3]->number;
    } else {
      return Fail(Unimplemented("the pickle has a tensor that is quantized by ", scheme));
    }
    PushTensor(args, args[0]->tensor.dtype)->quantizer = std::move(quantizer);
  }

  ZipArchive& zip_;
  const std::string folder_;
  const Mode mode_;
  Pickle pickle_;
  std::string_view rest_;
  std::vector<Value*> stack_;
  absl::flat_hash_map<uint64_t, Value*> memo_;
  absl::flat_hash_map<std::string_view, Value*> globals_;
  absl::flat_hash_map<std::string_view, TorchStorage> storages_;
  Value *none_ = nullptr, *true_ = nullptr, *false_ = nullptr, *no_items_ = nullptr;
  Value* small_[256] = {};
  Value nothing_;  // after an error
  // Values, and what they own.
  size_t weight_ = 0, max_weight_ = 0;
  absl::Status status_;
};

namespace {

// The pickle of torch.save, which lies beside its storages.
absl::StatusOr<Pickle> ReadSaved(ZipArchive& zip, Unpickler::Mode mode) {
  const ZipEntry* pickle = nullptr;
  for (const ZipEntry& entry : zip.entries()) {
    if (entry.name == "data.pkl" || entry.name.ends_with("/data.pkl")) pickle = &entry;
  }
  if (!pickle) return DataLoss("not an archive of torch.save: it has no data.pkl");
  const std::string prefix(pickle->name.substr(0, pickle->name.size() - 8));
  X2IR_RETURN_IF_ERROR(CheckByteOrder(zip, zip.Find(prefix + "byteorder")));
  return Unpickler(zip, prefix + "data/", mode).Run(*pickle);
}

size_t CountTensors(const PickleValue& dict) {
  size_t count = 0;
  for (size_t i = 1; i < dict.items.size(); i += 2) {
    if (dict.items[i]->kind == PickleValue::kTensor) ++count;
  }
  return count;
}

}  // namespace

absl::Status CheckByteOrder(ZipArchive& zip, const ZipEntry* order) {
  if (!order) return absl::OkStatus();
  X2IR_ASSIGN_OR_RETURN(const std::string text, zip.ReadWord(*order));
  if (text != "little") return Unimplemented("weights of byte order '", text, "'");
  return absl::OkStatus();
}

const PickleValue* PickleValue::Find(std::string_view key) const {
  if (kind != kDict) return nullptr;
  // The last one counts.
  for (size_t i = items.size() / 2; i-- > 0;) {
    if (items[2 * i]->kind == kString && items[2 * i]->text == key) return items[2 * i + 1];
  }
  return nullptr;
}

absl::StatusOr<Pickle> Pickle::Read(ZipArchive& zip, const ZipEntry& entry,
                                    std::string_view folder) {
  return Unpickler(zip, folder, Unpickler::kData).Run(entry);
}

absl::StatusOr<std::vector<std::pair<std::string, TorchTensor>>> ReadTorchSave(ZipArchive& zip) {
  X2IR_ASSIGN_OR_RETURN(const Pickle pickle, ReadSaved(zip, Unpickler::kTensors));
  const PickleValue& root = pickle.root();
  std::vector<std::pair<std::string, TorchTensor>> tensors;
  if (root.kind == PickleValue::kTensor) {
    tensors.emplace_back("", root.tensor);
  } else if (root.kind == PickleValue::kDict) {
    for (size_t i = 0; i + 1 < root.items.size(); i += 2) {
      const PickleValue& key = *root.items[i];
      const PickleValue& value = *root.items[i + 1];
      if (key.kind != PickleValue::kString || value.kind != PickleValue::kTensor) continue;
      tensors.emplace_back(key.text, value.tensor);
    }
  } else {
    return Unimplemented("the pickle is neither a tensor nor a dict");
  }
  return tensors;
}

absl::StatusOr<TorchSaveContents> LookIntoTorchSave(ZipArchive& zip) {
  X2IR_ASSIGN_OR_RETURN(const Pickle pickle, ReadSaved(zip, Unpickler::kLook));
  const PickleValue& root = pickle.root();
  TorchSaveContents contents;
  if (root.kind == PickleValue::kObject) contents.class_name = std::string(root.text);
  if (root.kind != PickleValue::kDict) return contents;
  contents.tensors = CountTensors(root);
  if (contents.tensors != 0) return contents;
  // {"epoch": 3, "state_dict": {...}, "optimizer": {...}}, {"model": Model(...)}
  for (size_t i = 0; i + 1 < root.items.size(); i += 2) {
    const PickleValue& key = *root.items[i];
    const PickleValue& value = *root.items[i + 1];
    if (key.kind != PickleValue::kString) continue;
    if (value.kind == PickleValue::kDict && CountTensors(value) > contents.tensors) {
      contents = {std::string(key.text), CountTensors(value), ""};
    } else if (contents.tensors == 0 && contents.class_name.empty() &&
               value.kind == PickleValue::kObject && value.state && value.state->Find("_modules")) {
      contents = {std::string(key.text), 0, std::string(value.text)};
    }
  }
  return contents;
}

}  // namespace x2ir
