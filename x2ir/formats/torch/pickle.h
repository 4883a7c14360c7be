// Pickles in archives of PyTorch: those of torch.save, and those of TorchScript's own pickler
// (data.pkl, constants.pkl, bytecode.pkl, *.debug_pkl). A pickle is a program. Here it makes data
// only: numbers, texts, containers, tensors, and objects, of which the class is a name and the
// state is data. Nothing else that a pickle may do is done.
#ifndef X2IR_FORMATS_TORCH_PICKLE_H_
#define X2IR_FORMATS_TORCH_PICKLE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/zip.h"
#include "x2ir/formats/torch/strided.h"

namespace X2IR_API x2ir {

// A value of a pickle. Values refer to each other; one that is referred to twice is one object.
struct PickleValue {
  enum Kind : uint8_t {
    kNone,
    kBool,     // number
    kInt,      // number
    kFloat,    // real
    kComplex,  // real, imaginary
    kString,   // text
    kTuple,    // items
    kList,     // items
    kDict,     // items: keys and values in turn
    kTensor,   // tensor, quantizer
    kObject,   // text: its class, "__torch__.a.B"; state: what it was built from, or null;
               // items: the arguments of a call of its class (an enum's value)
    kGlobal,   // text: a class or function
    kDevice,   // text: "cpu"
    kStorage,  // tensor, without sizes
  } kind = kNone;
  int64_t number = 0;
  double real = 0, imaginary = 0;
  std::string_view text;
  std::vector<const PickleValue*> items;
  const PickleValue* state = nullptr;
  // Of lists and dicts that the pickler tagged with their type: "List[int]"; else empty.
  std::string_view type;
  TorchTensor tensor;
  // Of a quantized tensor (its bytes are the integers): one scale and zero point, or one of each
  // channel of `axis`.
  struct Quantizer {
    double scale = 1;
    int64_t zero_point = 0;
    TorchTensor scales, zero_points;
    int64_t axis = -1;  // -1: one scale
  };
  std::shared_ptr<const Quantizer> quantizer;  // null: not quantized

  // The value of a key of a dict, null when there is none.
  const PickleValue* Find(std::string_view key) const;
  bool is_sequence() const { return kind == kTuple || kind == kList; }
};

// OK where weights are little-endian. `order`: the archive's entry "byteorder", null in older ones.
absl::Status CheckByteOrder(ZipArchive& zip, const ZipEntry* order);

class Pickle {
 public:
  // The pickle in `entry`; its storages are the entries `folder` + key ("model/data/" + "0").
  static absl::StatusOr<Pickle> Read(ZipArchive& zip, const ZipEntry& entry,
                                     std::string_view folder);
  const PickleValue& root() const { return *root_; }

 private:
  friend class Unpickler;
  const PickleValue* root_ = nullptr;
  std::deque<PickleValue> values_;
  std::deque<std::string> names_;
  ZipArchive::Bytes bytes_;
};

// The tensors of a dict that torch.save wrote by name, in its order; a lone tensor has the name "".
// What else a dict holds is left out. Objects are Unimplemented.
absl::StatusOr<std::vector<std::pair<std::string, TorchTensor>>> ReadTorchSave(ZipArchive& zip);

// What torch.save wrote, for a message to who takes it for a program. Nothing of it may be known.
struct TorchSaveContents {
  std::string key;         // where it lies: {"state_dict": {...}}; empty: it is the file's own
  size_t tensors = 0;      // of a dict
  std::string class_name;  // of an object: "torchvision.models.resnet.ResNet"
};
absl::StatusOr<TorchSaveContents> LookIntoTorchSave(ZipArchive& zip);

}  // namespace x2ir

#endif  // X2IR_FORMATS_TORCH_PICKLE_H_
