// Numbers that PyTorch gives to element types, layouts and memory formats. Programs of torch.export
// have those of its schema (torch/_export/serde/schema.py), the code of TorchScript those of c10
// (c10/core/ScalarType.h, Layout.h, MemoryFormat.h).
#ifndef X2IR_FORMATS_TORCH_ENUMS_H_
#define X2IR_FORMATS_TORCH_ENUMS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "x2ir/graph_wrapper/dtype.h"

namespace X2IR_API x2ir {

// Element types in torch.export. kUndefined and 0: the other side does not have it.
DType TorchDType(int64_t number);
int64_t TorchNumberOf(DType dtype);
// Element types in c10. kUndefined and -1: the other side does not have it. A quantized type is
// read as the type of its integers, and is never given for one.
DType ScalarTypeOf(int64_t number);
int64_t ScalarTypeNumber(DType dtype);
// qint8, quint8 and qint32.
inline bool IsQuantizedScalarType(int64_t number) { return number >= 12 && number <= 14; }
// Of the quantized type with these integers, which are int8, uint8 or int32.
int64_t QuantizedScalarTypeNumber(DType integers);

// Names by number, as arguments of calls have them.
using TorchEnumNames = absl::Span<const std::string_view>;
struct TorchEnums {
  TorchEnumNames layouts, memory_formats;
};
const TorchEnums& ExportEnums();
const TorchEnums& C10Enums();
// The name, or the number as text where there is none.
std::string NameInEnum(int64_t number, TorchEnumNames names);
// The number of the name, or the count of names where it is none of them.
int64_t NumberInEnum(std::string_view name, TorchEnumNames names);

}  // namespace x2ir

#endif  // X2IR_FORMATS_TORCH_ENUMS_H_
