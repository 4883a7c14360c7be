// An unpickler of a few opcodes (protocols 2 to 5) and fewer globals.
#include "x2ir/formats/torch/pickle.h"

#include <cstring>
#include <deque>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// All of a pickle's values are kept in one place, so that no depth of nesting matters.
struct Item {
  enum Kind : uint8_t {
    kMark,
    kNone,
    kInt,
    kOther,  // a float
    kString,
    kGlobal,
    kTuple,
    kList,
    kDict,  // keys and values in turn
    kStorage,
    kTensor,
  } kind = kNone;
  int64_t number = 0;
  std::string_view text;
  std::vector<Item*> items;
  TorchTensor tensor;  // also of a storage, without sizes
};

struct StorageType {
  std::string_view global;
  DType dtype;
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

class Unpickler {
 public:
  Unpickler(ZipArchive& zip, std::string_view prefix, std::string_view code)
      : zip_(zip), prefix_(prefix), rest_(code) {}

  // The value that the pickle is, or null and status().
  const Item* Run() {
    while (status_.ok()) {
      if (rest_.empty()) {
        Fail(DataLoss("the pickle is cut off"));
      } else if (const char op = Byte(); op == '.') {
        if (stack_.size() == 1) return stack_[0];
        Fail(DataLoss("the pickle ends with ", stack_.size(), " values"));
      } else {
        Step(op);
      }
    }
    return nullptr;
  }
  const absl::Status& status() const { return status_; }

 private:
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
  std::string_view Line() {
    const size_t end = rest_.find('\n');
    const std::string_view line = Take(end == rest_.npos ? rest_.size() + 1 : end);
    Take(1);
    return line;
  }

  // --- The stack ---
  Item* Make(Item::Kind kind) {
    items_.emplace_back().kind = kind;
    return &items_.back();
  }
  Item* Push(Item::Kind kind) {
    stack_.push_back(Make(kind));
    return stack_.back();
  }
  Item* Pop() {
    if (stack_.empty() || stack_.back()->kind == Item::kMark) {
      Fail(DataLoss("the pickle takes a value that does not exist"));
      return Make(Item::kNone);
    }
    Item* item = stack_.back();
    stack_.pop_back();
    return item;
  }
  Item* Top(Item::Kind kind) {
    if (!stack_.empty() && stack_.back()->kind == kind) return stack_.back();
    Fail(DataLoss("the pickle changes a value of the wrong kind"));
    return Make(kind);
  }
  std::vector<Item*> PopToMark() {
    size_t mark = stack_.size();
    while (mark > 0 && stack_[mark - 1]->kind != Item::kMark) --mark;
    if (mark == 0) {
      Fail(DataLoss("the pickle has no mark"));
      return {};
    }
    std::vector<Item*> items(stack_.begin() + static_cast<ptrdiff_t>(mark), stack_.end());
    stack_.resize(mark - 1);
    return items;
  }
  void PushTuple(size_t n) {
    std::vector<Item*> items(n);
    for (size_t i = n; i-- > 0;) items[i] = Pop();
    Push(Item::kTuple)->items = std::move(items);
  }
  void PushInt(int64_t value) { Push(Item::kInt)->number = value; }
  void Get(uint64_t key) {
    auto it = memo_.find(key);
    if (it == memo_.end()) return Fail(DataLoss("the pickle refers to nothing"));
    stack_.push_back(it->second);
  }
  void Put(uint64_t key) {
    Item* item = Pop();
    memo_[key] = item;
    stack_.push_back(item);
  }
  static void Extend(Item* to, const std::vector<Item*>& items) {
    to->items.insert(to->items.end(), items.begin(), items.end());
  }

  void Step(char op) {
    switch (static_cast<unsigned char>(op)) {
      case 0x80: Take(1); break;  // PROTO
      case 0x95: Take(8); break;  // FRAME
      case '(': Push(Item::kMark); break;
      case '0': Pop(); break;
      case '1': PopToMark(); break;
      case 'N': Push(Item::kNone); break;
      case 0x88: PushInt(1); break;
      case 0x89: PushInt(0); break;
      case 'J': PushInt(static_cast<int32_t>(Number(4))); break;
      case 'K': PushInt(static_cast<int64_t>(Number(1))); break;
      case 'M': PushInt(static_cast<int64_t>(Number(2))); break;
      case 0x8a: Long(); break;
      case 'G': Take(8), Push(Item::kOther); break;
      case 'X': Text(Number(4)); break;
      case 0x8c: Text(Number(1)); break;
      case 0x8d: Text(Number(8)); break;
      case 'U': Text(Number(1)); break;
      case 'T': Text(Number(4)); break;
      case ')': PushTuple(0); break;
      case 0x85: PushTuple(1); break;
      case 0x86: PushTuple(2); break;
      case 0x87: PushTuple(3); break;
      case 't': {
        std::vector<Item*> items = PopToMark();
        Push(Item::kTuple)->items = std::move(items);
        break;
      }
      case ']': Push(Item::kList); break;
      case '}': Push(Item::kDict); break;
      case 'a': {
        Item* item = Pop();
        Extend(Top(Item::kList), {item});
        break;
      }
      case 'e': {
        const std::vector<Item*> items = PopToMark();
        Extend(Top(Item::kList), items);
        break;
      }
      case 's': {
        Item* value = Pop();
        Item* key = Pop();
        Extend(Top(Item::kDict), {key, value});
        break;
      }
      case 'u': {
        const std::vector<Item*> items = PopToMark();
        if (items.size() % 2 != 0) return Fail(DataLoss("the pickle has a key without value"));
        Extend(Top(Item::kDict), items);
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
        const std::string_view name = Pop()->text;
        Global(Pop()->text, name);
        break;
      }
      case 'Q': Storage(); break;
      case 'R': {
        const Item* arguments = Pop();
        Call(Pop(), arguments);
        break;
      }
      case 'b':  // BUILD: a state dict's own metadata
        Pop();
        Top(Item::kDict);
        break;
      default:
        Fail(Unimplemented("the pickle has opcode ", static_cast<int>(static_cast<uint8_t>(op)),
                           ", which no tensor needs"));
    }
  }

  void Long() {
    const uint64_t size = Number(1);
    if (size > 8) return Fail(Unimplemented("the pickle has a number of ", size, " bytes"));
    uint64_t value = Number(size);
    if (size != 0 && size < 8 && (value >> (8 * size - 1)) != 0)
      value |= ~uint64_t{0} << (8 * size);
    PushInt(static_cast<int64_t>(value));
  }
  void Text(uint64_t size) {
    const std::string_view text = Take(size);
    Push(Item::kString)->text = text;
  }
  void Global(std::string_view module, std::string_view name) {
    names_.push_back(StrCat(module, ".", name));
    Push(Item::kGlobal)->text = names_.back();
  }

  static bool IsInts(const Item& item) {
    if (item.kind != Item::kTuple && item.kind != Item::kList) return false;
    for (const Item* i : item.items) {
      if (i->kind != Item::kInt) return false;
    }
    return true;
  }
  static std::vector<int64_t> Ints(const Item& item) {
    std::vector<int64_t> numbers;
    for (const Item* i : item.items) numbers.push_back(i->number);
    return numbers;
  }

  // ("storage", type, key, location, number of elements)
  void Storage() {
    const Item* id = Pop();
    const auto& parts = id->items;
    if (id->kind != Item::kTuple || parts.size() != 5 || parts[0]->text != "storage" ||
        parts[1]->kind != Item::kGlobal || parts[2]->kind != Item::kString) {
      return Fail(Unimplemented("the pickle refers to something that is not a storage"));
    }
    const StorageType* type = nullptr;
    for (const StorageType& row : kStorageTypes) {
      if (row.global == parts[1]->text) type = &row;
    }
    if (!type) return Fail(Unimplemented("the pickle has a storage of ", parts[1]->text));
    const std::string path = StrCat(prefix_, "data/", parts[2]->text);
    const ZipEntry* entry = zip_.Find(path);
    if (!entry) return Fail(DataLoss("there is no storage '", path, "'"));
    auto storage = StorageOf(zip_, *entry);
    if (!storage.ok()) return Fail(storage.status());
    Item* item = Push(Item::kStorage);
    item->tensor.storage = *std::move(storage);
    item->tensor.dtype = type->dtype;
  }

  void Call(const Item* function, const Item* arguments) {
    if (function->kind != Item::kGlobal || arguments->kind != Item::kTuple) {
      return Fail(DataLoss("the pickle calls something that is not a function"));
    }
    const auto& args = arguments->items;
    const std::string_view name = function->text;
    const bool v3 = name == "torch._utils._rebuild_tensor_v3";
    if (name == "collections.OrderedDict" && args.empty()) {
      Push(Item::kDict);
    } else if (name == "torch._utils._rebuild_parameter" && !args.empty() &&
               args[0]->kind == Item::kTensor) {
      stack_.push_back(args[0]);
    } else if (v3 || name == "torch._utils._rebuild_tensor_v2") {
      if (args.size() < (v3 ? 7 : 6) || args[0]->kind != Item::kStorage ||
          args[1]->kind != Item::kInt || !IsInts(*args[2]) || !IsInts(*args[3]) ||
          args[2]->items.size() != args[3]->items.size()) {
        return Fail(DataLoss("the pickle has a broken tensor"));
      }
      // Bits that change what the bytes mean (conj, neg).
      const size_t metadata = v3 ? 7 : 6;
      if (args.size() > metadata && !args[metadata]->items.empty()) {
        return Fail(Unimplemented("the pickle has a tensor with metadata"));
      }
      TorchTensor tensor = args[0]->tensor;
      if (v3) {
        for (const StorageType& row : kDTypes) {
          if (row.global == args[6]->text) tensor.dtype = row.dtype;
        }
      }
      if (tensor.dtype == DType::kUndefined) {
        return Fail(
            Unimplemented("the pickle has a tensor of an element type that x2ir does not have"));
      }
      tensor.storage_offset = args[1]->number;
      tensor.sizes = Ints(*args[2]);
      tensor.strides = Ints(*args[3]);
      Push(Item::kTensor)->tensor = std::move(tensor);
    } else {
      Fail(Unimplemented("the pickle calls ", name, "; only tensors are read"));
    }
  }

  ZipArchive& zip_;
  const std::string prefix_;
  std::string_view rest_;
  std::deque<Item> items_;
  std::deque<std::string> names_;
  std::vector<Item*> stack_;
  absl::flat_hash_map<uint64_t, Item*> memo_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<std::vector<std::pair<std::string, TorchTensor>>> ReadTorchSave(ZipArchive& zip) {
  const ZipEntry* pickle = nullptr;
  for (const ZipEntry& entry : zip.entries()) {
    if (entry.name == "data.pkl" || entry.name.ends_with("/data.pkl")) pickle = &entry;
  }
  if (!pickle) return DataLoss("not an archive of torch.save: it has no data.pkl");
  const std::string prefix(pickle->name.substr(0, pickle->name.size() - 8));
  if (const ZipEntry* order = zip.Find(prefix + "byteorder")) {
    X2IR_ASSIGN_OR_RETURN(const std::string text, zip.ReadWord(*order));
    if (text != "little") return Unimplemented("weights of byte order '", text, "'");
  }
  X2IR_ASSIGN_OR_RETURN(const ZipArchive::Bytes code, zip.ReadText(*pickle));
  Unpickler unpickler(zip, prefix, code.view);
  const Item* root = unpickler.Run();
  if (!root) return unpickler.status();
  std::vector<std::pair<std::string, TorchTensor>> tensors;
  if (root->kind == Item::kTensor) {
    tensors.emplace_back("", root->tensor);
  } else if (root->kind == Item::kDict) {
    for (size_t i = 0; i + 1 < root->items.size(); i += 2) {
      const Item& key = *root->items[i];
      const Item& value = *root->items[i + 1];
      if (key.kind != Item::kString || value.kind != Item::kTensor) continue;
      tensors.emplace_back(key.text, value.tensor);
    }
  } else {
    return Unimplemented("the pickle is neither a tensor nor a dict");
  }
  return tensors;
}

}  // namespace x2ir
