// Example inputs: tensors of zeros in the form of torch.save, a zip archive of a pickle and of the
// storages that it names.
#include <algorithm>

#include "x2ir/formats/io/atomic_file.h"
#include "x2ir/formats/io/zip_writer.h"
#include "x2ir/formats/json.h"
#include "x2ir/formats/torch/writer_internal.h"
#include "x2ir/graph_wrapper/dtype.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::torch_format {
namespace {

constexpr int64_t kMaxBytes = int64_t{16} << 20;  // of all together

// Storages of these types have classes of their own; the others are bytes, and the tensor says what
// they are.
std::string_view StorageClassOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return "DoubleStorage";
    case DType::kFloat32: return "FloatStorage";
    case DType::kFloat16: return "HalfStorage";
    case DType::kBFloat16: return "BFloat16Storage";
    case DType::kInt64: return "LongStorage";
    case DType::kInt32: return "IntStorage";
    case DType::kInt16: return "ShortStorage";
    case DType::kInt8: return "CharStorage";
    case DType::kUInt8: return "ByteStorage";
    case DType::kBool: return "BoolStorage";
    case DType::kComplex64: return "ComplexFloatStorage";
    case DType::kComplex128: return "ComplexDoubleStorage";
    default: return "";
  }
}
std::string_view TorchNameOf(DType dtype) {
  switch (dtype) {
    case DType::kUInt16: return "uint16";
    case DType::kUInt32: return "uint32";
    case DType::kUInt64: return "uint64";
    case DType::kFloat8E4M3FN: return "float8_e4m3fn";
    case DType::kFloat8E4M3FNUZ: return "float8_e4m3fnuz";
    case DType::kFloat8E5M2: return "float8_e5m2";
    case DType::kFloat8E5M2FNUZ: return "float8_e5m2fnuz";
    default: return "float8_e8m0fnu";
  }
}

// Opcodes of pickle, protocol 2.
class Pickle {
 public:
  void Op(char code) { bytes_ += code; }
  void Text(std::string_view text) {
    Op('X');
    Number(static_cast<uint64_t>(text.size()), 4);
    bytes_ += text;
  }
  void Int(int64_t value) {
    if (value >= INT32_MIN && value <= INT32_MAX) {
      Op('J');
      Number(static_cast<uint64_t>(value), 4);
    } else {
      bytes_ += "\x8a\x08";
      Number(static_cast<uint64_t>(value), 8);
    }
  }
  void Ints(const std::vector<int64_t>& values) {
    Op('(');
    for (const int64_t value : values) Int(value);
    Op('t');
  }
  void Global(std::string_view module, std::string_view name) {
    StrAppend(&bytes_, "c", module, "\n", name, "\n");
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void Number(uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }
  std::string bytes_;
};

void PutTensor(Pickle& pickle, const WrittenInput& input, size_t key, int64_t count,
               int64_t bytes) {
  const std::string_view storage = StorageClassOf(input.dtype);
  pickle.Global("torch._utils", storage.empty() ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2");
  pickle.Op('(');
  pickle.Op('(');
  pickle.Text("storage");
  if (storage.empty()) {
    pickle.Global("torch.storage", "UntypedStorage");
  } else {
    pickle.Global("torch", storage);
  }
  pickle.Text(StrCat(key));
  pickle.Text("cpu");
  pickle.Int(storage.empty() ? bytes : count);
  pickle.Op('t');
  pickle.Op('Q');
  pickle.Int(0);
  pickle.Ints(input.sizes);
  std::vector<int64_t> strides(input.sizes.size(), 1);
  for (size_t i = strides.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * std::max<int64_t>(input.sizes[i], 1);
  }
  pickle.Ints(strides);
  pickle.Op('\x89');  // it needs no gradient
  pickle.Global("collections", "OrderedDict");
  pickle.Op(')');
  pickle.Op('R');
  if (storage.empty()) pickle.Global("torch", TorchNameOf(input.dtype));
  pickle.Op('t');
  pickle.Op('R');
}

// Puts trees of tensors of zeros; false: not of these.
struct Samples {
  explicit Samples(const std::vector<WrittenInput>& all) : inputs(all) {}

  bool Put(const Tree& tree) {
    if (tree.type.empty()) return PutLeaf();
    const auto put = [this](const Tree& child) { return Put(child); };
    if (tree.type == "builtins.tuple") {
      pickle.Op('(');
      if (!std::all_of(tree.children.begin(), tree.children.end(), put)) return false;
      pickle.Op('t');
      return true;
    }
    if (tree.type == "builtins.list") {
      pickle.Op(']');
      pickle.Op('(');
      if (!std::all_of(tree.children.begin(), tree.children.end(), put)) return false;
      pickle.Op('e');
      return true;
    }
    if (tree.type != "builtins.dict") return false;
    pickle.Op('}');
    if (tree.children.empty()) return true;
    pickle.Op('(');
    JsonReader keys(tree.context);
    size_t next = 0;
    bool complete = true;
    keys.Array([&](size_t) {
      complete = complete && next < tree.children.size();
      pickle.Text(keys.String());
      complete = complete && keys.ok() && Put(tree.children[next++]);
    });
    pickle.Op('u');
    return complete && keys.ok() && next == tree.children.size();
  }

  const std::vector<WrittenInput>& inputs;
  Pickle pickle;
  std::vector<int64_t> sizes;  // of storages, in bytes

 private:
  bool PutLeaf() {
    if (next_ == inputs.size()) return false;
    const WrittenInput& input = inputs[next_++];
    if (input.dtype == DType::kUndefined) {
      pickle.Op('N');
      return true;
    }
    const auto count = CheckedProduct(input.sizes);
    const auto bytes = count ? ByteSize(input.dtype, *count) : std::nullopt;
    if (!bytes || *bytes > kMaxBytes || (all_ += *bytes) > kMaxBytes) return false;
    PutTensor(pickle, input, sizes.size(), *count, *bytes);
    sizes.push_back(*bytes);
    return true;
  }
  size_t next_ = 0;
  int64_t all_ = 0;
};

}  // namespace

absl::StatusOr<std::string> WriteSampleInputs(const Tree& arguments,
                                              const std::vector<WrittenInput>& inputs) {
  Samples samples(inputs);
  Pickle& pickle = samples.pickle;
  pickle.Op('\x80');
  pickle.Op('\x02');
  if (arguments.children.size() != 2 || !samples.Put(arguments.children[0]) ||
      !samples.Put(arguments.children[1])) {
    return std::string();
  }
  pickle.Op('\x86');
  pickle.Op('.');
  const std::vector<int64_t>& sizes = samples.sizes;
  std::string archive;
  AtomicFile file = AtomicFile::ToFunction("sample inputs", [&](std::string_view bytes) {
    archive += bytes;
    return absl::OkStatus();
  });
  ZipWriter zip(file);
  X2IR_RETURN_IF_ERROR(zip.Add("model/data.pkl", pickle.bytes()));
  X2IR_RETURN_IF_ERROR(zip.Add("model/byteorder", "little"));
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::string zeros(static_cast<size_t>(sizes[i]), '\0');
    X2IR_RETURN_IF_ERROR(zip.Add(StrCat("model/data/", i), zeros));
  }
  X2IR_RETURN_IF_ERROR(zip.Add("model/version", "3\n"));
  X2IR_RETURN_IF_ERROR(zip.Finish());
  X2IR_RETURN_IF_ERROR(file.Commit());
  return archive;
}

}  // namespace x2ir::torch_format
