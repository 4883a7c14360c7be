// What protobuf's two ways of text share.
#ifndef X2IR_FORMATS_PROTO_TEXT_INTERNAL_H_
#define X2IR_FORMATS_PROTO_TEXT_INTERNAL_H_

#include <bitset>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/proto_text.h"
#include "x2ir/formats/wire.h"

namespace x2ir {

// Text on its way to `put`.
class ProtoOutput {
 public:
  explicit ProtoOutput(const ProtoPut& put) : put_(put) {}
  std::string& text() { return text_; }
  absl::Status FlushIfLarge() { return text_.size() < kLarge ? absl::OkStatus() : Flush(); }
  absl::Status Flush() {
    const absl::Status status = put_(text_);
    text_.clear();
    return status;
  }

 private:
  static constexpr size_t kLarge = size_t{1} << 16;
  const ProtoPut& put_;
  std::string text_;
};

// The fields of a message that were there, by their places in the table.
using ProtoSeen = std::bitset<kMaxProtoFields>;
// What is wrong with a field called `name` (`field` is null where there is none), given those that
// were `seen` in the message; empty: nothing, and it is noted as seen.
std::string ProtoFieldProblem(const ProtoMessage& message, const ProtoField* field,
                              std::string_view name, ProtoSeen* seen);
// The field of that number, which text can hold; FailedPrecondition where it cannot.
absl::StatusOr<const ProtoField*> KnownProtoField(const ProtoMessage& message, uint32_t number,
                                                  ProtoSeen* seen);

struct ProtoScalar {
  int64_t integer = 0;  // also bool and enum
  double number = 0;    // float, double
  std::string_view bytes{};
};
// What a way of text calls the numbers that have no digits.
struct ProtoNumberNames {
  std::string_view nan, infinity, minus_infinity;
};
// A float or double with as few digits as give it back.
void AppendProtoNumber(std::string* text, const ProtoField& field, double number,
                       const ProtoNumberNames& names);

// Calls `f` for the value of the reader's current field, which is not a message, or for each of
// them where they are packed.
absl::Status ForEachProtoScalar(WireReader& in, const ProtoField& field,
                                const std::function<absl::Status(const ProtoScalar&)>& f);

}  // namespace x2ir

#endif  // X2IR_FORMATS_PROTO_TEXT_INTERNAL_H_
