// TypeProto <-> Type. A Type says what a value is; denotations, spellings of symbolic dims
// that are not canonical, and fields newer than this code are kept beside it and written
// back where the type is still the same.
#include <utility>
#include <vector>

#include "x2ir/formats/onnx/onnx_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::onnx_format {
namespace {

// What a TypeProto says beside the Type.
struct TypeNotes {
  std::string denotation;
  std::vector<std::string> dim_denotations;  // of a tensor; as many as dims, or none
  bool exact = true;                         // no other information is lost
};

absl::StatusOr<DType> ToDType(int64_t number, TypeNotes* notes) {
  if (number == 0) notes->exact = false;
  if (number == 0 || IsKnownDType(number)) return static_cast<DType>(number);
  return Invalid("unknown element type ", number);
}

absl::StatusOr<Dim> ReadDim(std::string_view bytes, const char* origin, TypeNotes* notes,
                            std::string* denotation) {
  Dim dim;
  WireReader in(bytes, origin);
  while (in.Next()) {
    switch (in.field()) {
      case type_field::kDimValue: {
        const int64_t value = in.Int();
        // Some exporters write -1 for what they do not know.
        dim = value >= 0 ? Dim(value) : Dim::Unknown();
        if (value < 0) notes->exact = false;
        break;
      }
      case type_field::kDimParam: {
        const std::string_view text = in.Bytes();
        dim = text.empty() ? Dim::Unknown() : Dim::Symbol(text);
        if (text.empty() || dim.ToString() != text) notes->exact = false;
        break;
      }
      case type_field::kDimDenotation: *denotation = in.Bytes(); break;
      default: notes->exact = false;
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  return dim;
}

absl::StatusOr<Shape> ReadShape(std::string_view bytes, const char* origin, TypeNotes* notes) {
  Shape shape;
  bool any = false;
  std::vector<std::string> denotations;
  WireReader in(bytes, origin);
  while (in.Next()) {
    if (in.field() != type_field::kDim) {
      notes->exact = false;
      continue;
    }
    denotations.emplace_back();
    X2IR_ASSIGN_OR_RETURN(Dim dim, ReadDim(in.Bytes(), origin, notes, &denotations.back()));
    shape.Append(std::move(dim));
    any = any || !denotations.back().empty();
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (any) notes->dim_denotations = std::move(denotations);
  return shape;
}

absl::StatusOr<Type> ReadTypeAt(std::string_view bytes, const char* origin, int depth,
                                TypeNotes* notes);

// An element of a sequence, optional or map. Its denotations have no name of their own.
absl::StatusOr<Type> ReadElement(std::string_view bytes, const char* origin, int depth,
                                 TypeNotes* notes) {
  TypeNotes inner;
  X2IR_ASSIGN_OR_RETURN(Type type, ReadTypeAt(bytes, origin, depth + 1, &inner));
  if (!inner.exact || !inner.denotation.empty() || !inner.dim_denotations.empty()) {
    notes->exact = false;
  }
  return type;
}

absl::StatusOr<Type> ReadTensorType(std::string_view bytes, const char* origin, bool sparse,
                                    TypeNotes* notes) {
  int64_t elem_type = 0;
  std::optional<Shape> shape;
  WireReader in(bytes, origin);
  while (in.Next()) {
    switch (in.field()) {
      case type_field::kElemType: elem_type = in.Int(); break;
      case type_field::kShape: {
        X2IR_ASSIGN_OR_RETURN(shape, ReadShape(in.Bytes(), origin, notes));
        break;
      }
      default: notes->exact = false;
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  X2IR_ASSIGN_OR_RETURN(DType dtype, ToDType(elem_type, notes));
  return sparse ? Type::SparseTensor(dtype, std::move(shape))
                : Type::Tensor(dtype, std::move(shape));
}

absl::StatusOr<Type> ReadContainer(std::string_view bytes, const char* origin, uint32_t kind,
                                   int depth, TypeNotes* notes) {
  int64_t key_type = 0;
  Type element;
  std::string_view domain, name;
  WireReader in(bytes, origin);
  while (in.Next()) {
    if (kind == type_field::kOpaque) {
      if (in.field() == type_field::kOpaqueDomain) {
        domain = in.Bytes();
      } else if (in.field() == type_field::kOpaqueName) {
        name = in.Bytes();
      } else {
        notes->exact = false;
      }
    } else if (kind == type_field::kMap && in.field() == type_field::kKeyType) {
      key_type = in.Int();
    } else if (in.field() ==
               (kind == type_field::kMap ? type_field::kValueType : type_field::kElement)) {
      X2IR_ASSIGN_OR_RETURN(element, ReadElement(in.Bytes(), origin, depth, notes));
    } else {
      notes->exact = false;
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (kind == type_field::kOpaque) return Type::Opaque(std::string(domain), std::string(name));
  if (!element.is_known()) notes->exact = false;
  if (kind == type_field::kSequence) return Type::Sequence(std::move(element));
  if (kind == type_field::kOptional) return Type::Optional(std::move(element));
  X2IR_ASSIGN_OR_RETURN(DType key, ToDType(key_type, notes));
  return Type::Map(key, std::move(element));
}

absl::StatusOr<Type> ReadTypeAt(std::string_view bytes, const char* origin, int depth,
                                TypeNotes* notes) {
  if (depth > kMaxWireDepth) return Invalid("types are nested too deeply");
  Type type;
  WireReader in(bytes, origin);
  while (in.Next()) {
    switch (in.field()) {
      case type_field::kTensor:
      case type_field::kSparseTensor: {
        const bool sparse = in.field() == type_field::kSparseTensor;
        X2IR_ASSIGN_OR_RETURN(type, ReadTensorType(in.Bytes(), origin, sparse, notes));
        break;
      }
      case type_field::kSequence:
      case type_field::kOptional:
      case type_field::kMap:
      case type_field::kOpaque: {
        X2IR_ASSIGN_OR_RETURN(type, ReadContainer(in.Bytes(), origin, in.field(), depth, notes));
        break;
      }
      case type_field::kDenotation: notes->denotation = in.Bytes(); break;
      default: notes->exact = false;
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  return type;
}

void WriteTypeField(WireWriter& out, uint32_t field, const Type& type, std::string_view denotation,
                    const std::vector<std::string_view>& dims) {
  out.Begin(field);
  switch (type.kind()) {
    case Type::kTensor:
    case Type::kSparseTensor: {
      out.Begin(type.is_tensor() ? type_field::kTensor : type_field::kSparseTensor);
      out.Int(type_field::kElemType, static_cast<int64_t>(type.dtype()));
      if (const Shape* shape = type.shape()) {
        out.Begin(type_field::kShape);
        for (int64_t i = 0; i < shape->rank(); ++i) {
          const Dim& dim = (*shape)[i];
          out.Begin(type_field::kDim);
          if (dim.is_static()) out.Int(type_field::kDimValue, dim.value());
          if (dim.is_symbolic()) out.Bytes(type_field::kDimParam, dim.ToString());
          if (!dims.empty()) out.BytesUnlessEmpty(type_field::kDimDenotation, dims[i]);
          out.End();
        }
        out.End();
      }
      out.End();
      break;
    }
    case Type::kSequence:
      out.Begin(type_field::kSequence);
      WriteTypeField(out, type_field::kElement, type.element(), "", {});
      out.End();
      break;
    case Type::kOptional:
      out.Begin(type_field::kOptional);
      WriteTypeField(out, type_field::kElement, type.element(), "", {});
      out.End();
      break;
    case Type::kMap:
      out.Begin(type_field::kMap);
      out.Int(type_field::kKeyType, static_cast<int64_t>(type.dtype()));
      WriteTypeField(out, type_field::kValueType, type.element(), "", {});
      out.End();
      break;
    case Type::kOpaque:
      out.Begin(type_field::kOpaque);
      out.BytesUnlessEmpty(type_field::kOpaqueDomain, type.opaque_domain());
      out.BytesUnlessEmpty(type_field::kOpaqueName, type.opaque_name());
      out.End();
      break;
    case Type::kUnknown: break;
  }
  out.BytesUnlessEmpty(type_field::kDenotation, denotation);
  out.End();
}

// The kept bytes, if they still mean this type.
const std::string* StillValid(const AnnotationsPtr& annotations, const std::string& key,
                              const Type& type) {
  const std::string* kept = FindExtra(annotations, key);
  if (kept == nullptr) return nullptr;
  TypeNotes ignored;
  const auto parsed = ReadTypeAt(*kept, kept->data(), 0, &ignored);
  return parsed.ok() && *parsed == type ? kept : nullptr;
}

std::vector<std::string_view> SplitAtCommas(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t comma; (comma = text.find(',')) != text.npos; text.remove_prefix(comma + 1)) {
    parts.push_back(text.substr(0, comma));
  }
  parts.push_back(text);
  return parts;
}

}  // namespace

absl::StatusOr<Type> ReadType(std::string_view bytes, const char* origin,
                              AnnotationsPtr* annotations) {
  TypeNotes notes;
  X2IR_ASSIGN_OR_RETURN(Type type, ReadTypeAt(bytes, origin, 0, &notes));
  if (annotations == nullptr) return type;
  if (!notes.denotation.empty()) {
    annotations->GetOrMake().extra[kDenotationKey] = notes.denotation;
  }
  if (!notes.dim_denotations.empty()) {
    std::string joined;
    for (const std::string& denotation : notes.dim_denotations) {
      if (denotation.find(',') != denotation.npos) notes.exact = false;
      StrAppend(&joined, &denotation == notes.dim_denotations.data() ? "" : ",", denotation);
    }
    annotations->GetOrMake().extra[kDimDenotationKey] = std::move(joined);
  }
  if (!notes.exact) annotations->GetOrMake().extra[kTypeKey] = bytes;
  return type;
}

bool IsWritable(const Type& type) {
  switch (type.kind()) {
    case Type::kUnknown: return false;
    case Type::kTensor:
    case Type::kSparseTensor: return type.dtype() != DType::kUndefined;
    case Type::kSequence:
    case Type::kOptional: return IsWritable(type.element());
    case Type::kMap: return type.dtype() != DType::kUndefined && IsWritable(type.element());
    case Type::kOpaque: return true;
  }
  return false;
}

void WriteType(WireWriter& out, uint32_t field, const Type& type,
               const AnnotationsPtr& annotations) {
  if (const std::string* kept = StillValid(annotations, kTypeKey, type)) {
    return out.Bytes(field, *kept);
  }
  if (!IsWritable(type)) return;
  const std::string* denotation = FindExtra(annotations, kDenotationKey);
  std::vector<std::string_view> dims;
  if (const std::string* joined = FindExtra(annotations, kDimDenotationKey)) {
    dims = SplitAtCommas(*joined);
    if (!type.has_shape() || static_cast<int64_t>(dims.size()) != type.shape()->rank()) {
      dims.clear();
    }
  }
  WriteTypeField(out, field, type, denotation ? std::string_view(*denotation) : "", dims);
}

absl::StatusOr<Type> ReadAttrType(std::string_view bytes, const char* origin,
                                  const std::string& key, AnnotationsPtr* annotations) {
  TypeNotes notes;
  X2IR_ASSIGN_OR_RETURN(Type type, ReadTypeAt(bytes, origin, 0, &notes));
  if (!notes.exact || !notes.denotation.empty() || !notes.dim_denotations.empty()) {
    annotations->GetOrMake().extra[key] = bytes;
  }
  return type;
}

void WriteAttrType(WireWriter& out, uint32_t field, const Type& type, const std::string& key,
                   const AnnotationsPtr& annotations) {
  if (const std::string* kept = StillValid(annotations, key, type)) {
    return out.Bytes(field, *kept);
  }
  WriteTypeField(out, field, type, "", {});
}

}  // namespace x2ir::onnx_format
