// The protobuf wire format, without a protobuf library: messages are read in place and
// written as a list of pieces, so that weights are neither copied nor limited to 2 GB.
//
//   WireReader in(bytes, origin);
//   while (in.Next()) {
//     switch (in.field()) {
//       case 1: name = in.Bytes(); break;
//       case 2: in.AppendInts(&dims); break;
//       default: absl::StrAppend(&unknown, in.raw());
//     }
//   }
//   X2IR_RETURN_IF_ERROR(in.status());
#ifndef X2IR_FORMATS_WIRE_H_
#define X2IR_FORMATS_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

enum class WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,  // strings, messages, packed lists
  kGroup = 3,  // deprecated; skipped as a whole
  kEndGroup = 4,
  kFixed32 = 5,
};

// The maximum nesting of messages. Formats that recurse (graphs in attributes of nodes of graphs)
// count their own recursion against it.
inline constexpr int kMaxWireDepth = 200;

// A cursor over the fields of one message. Errors (DataLoss, with the offset in the file) are kept:
// Next() is false from then on, and the accessors give zeros.
class WireReader {
 public:
  // `origin` is the base of offsets in messages: the begin of the file.
  WireReader(std::string_view message, const char* origin)
      : p_(message.data()), end_(message.data() + message.size()), origin_(origin), start_(p_) {}

  // Moves to the next field; false at the end or on an error.
  bool Next();
  const absl::Status& status() const { return status_; }

  uint32_t field() const { return field_; }
  WireType type() const { return type_; }
  // The whole field, tag included, to be written back as it is.
  std::string_view raw() const { return {start_, static_cast<size_t>(p_ - start_)}; }

  // The value of this field, which must be of that wire type (else DataLoss).
  uint64_t Varint();
  int64_t Int() { return static_cast<int64_t>(Varint()); }
  float Float();
  double Double();
  std::string_view Bytes();  // lies in the message
  std::string String() { return std::string(Bytes()); }
  // Repeated numbers: one element, or many where they are packed; of floats and doubles also those
  // fields that follow with the same tag.
  void AppendInts(std::vector<int64_t>* out);
  void AppendFloats(std::vector<float>* out);
  void AppendDoubles(std::vector<double>* out);
  // A list of `least` floats or more that this field begins or is, as it lies in the message:
  // fields of one tag, which it takes, or one that is packed. Of fewer: nothing, and nothing is
  // taken.
  struct FloatRun {
    const char* first;
    size_t step, count;  // from one number to the next, in bytes
  };
  std::optional<FloatRun> TakeFloatRun(size_t least);

  // Makes the reader fail here: DataLoss "<what> at byte <offset of this field>".
  void Fail(std::string_view what);

 private:
  bool ReadVarint(uint64_t* value);
  bool SkipGroup();
  bool Expect(WireType type);
  template <typename T>
  void AppendFixed(WireType type, std::vector<T>* out);

  const char* p_;
  const char* end_;
  const char* origin_;
  const char* start_;
  uint32_t field_ = 0;
  WireType type_ = WireType::kVarint;
  uint64_t number_ = 0;
  std::string_view bytes_;
  absl::Status status_;
};

// Builds a message. Bytes of tensors are not copied until Emit. Fields come out in the order of the
// calls; lengths of nested messages are filled in by End().
class WireWriter {
 public:
  void Varint(uint32_t field, uint64_t value);
  void Int(uint32_t field, int64_t value) { Varint(field, static_cast<uint64_t>(value)); }
  void Float(uint32_t field, float value);
  void Double(uint32_t field, double value);
  void Bytes(uint32_t field, std::string_view value);
  // As above, unless the value is the default (0 or empty).
  void IntUnlessZero(uint32_t field, int64_t value);
  void BytesUnlessEmpty(uint32_t field, std::string_view value);
  // A field of the tensor's bytes (neither string nor sparse).
  void TensorBytes(uint32_t field, const Tensor& tensor);
  // Whole fields, as WireReader::raw() gave them.
  void Raw(std::string_view fields);

  // All that was written to another one.
  void Append(const WireWriter& fields);
  // A hint: the approximate number of bytes that follow, without tensors.
  void Expect(size_t bytes) { buffer_.reserve(buffer_.size() + bytes); }

  void Begin(uint32_t field);  // of a nested message
  void End();

  // Of all that was written; complete once every Begin has its End.
  uint64_t size() const { return size_; }
  // The whole message; for messages without large tensors.
  std::string ToString() const;
  // Calls `bytes` and `tensor` for the pieces, in order, until one fails.
  absl::Status Emit(const std::function<absl::Status(std::string_view)>& bytes,
                    const std::function<absl::Status(const Tensor&)>& tensor) const;

 private:
  void Tag(uint32_t field, WireType type);
  void PutVarint(uint64_t value);

  // A position where data is spliced into buffer_: a tensor's bytes, or a message's length in place
  // of the one byte that Begin reserved for it.
  struct Splice {
    size_t position;
    int64_t tensor;  // index into tensors_; -1: a length
    uint64_t length;
  };
  struct Open {
    size_t position;  // of the reserved byte
    size_t splices;   // how many there were
    uint64_t size;    // of the output, at the message's first byte
  };
  std::string buffer_;
  std::vector<Splice> splices_;
  std::vector<Tensor> tensors_;
  std::vector<Open> open_;
  uint64_t size_ = 0;
};

// The varint at bytes[*at], which is then the place behind it; nothing where it does not end in
// sight, or has more than `most` bytes. For a look at the head of a file.
std::optional<uint64_t> VarintAt(std::string_view bytes, size_t* at, int most);

// The number of bytes of a varint.
int VarintSize(uint64_t value);

}  // namespace x2ir

#endif  // X2IR_FORMATS_WIRE_H_
