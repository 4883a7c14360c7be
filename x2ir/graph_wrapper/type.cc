// Types: construction, text both ways, and merging.
#include "x2ir/graph_wrapper/type.h"

#include <utility>

#include "x2ir/graph_wrapper/check.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text_internal.h"

namespace x2ir {

Type Type::Sequence(Type element) {
  return Type(kSequence, DType::kUndefined, std::make_shared<const Type>(std::move(element)));
}

Type Type::Optional(Type element) {
  return Type(kOptional, DType::kUndefined, std::make_shared<const Type>(std::move(element)));
}

Type Type::Map(DType key, Type value) {
  return Type(kMap, key, std::make_shared<const Type>(std::move(value)));
}

Type Type::Opaque(std::string domain, std::string name) {
  return Type(kOpaque, DType::kUndefined,
              std::make_shared<const OpaqueName>(std::move(domain), std::move(name)));
}

void Type::set_shape(std::optional<Shape> shape) {
  X2IR_CHECK(kind_ == kTensor || kind_ == kSparseTensor, "only tensors have shapes");
  rest_ = shape ? std::make_shared<const Shape>(*std::move(shape)) : nullptr;
}

const Type& Type::element() const {
  static const Type* unknown = new Type;
  const bool has = kind_ == kSequence || kind_ == kOptional || kind_ == kMap;
  return has && rest_ ? *static_cast<const Type*>(rest_.get()) : *unknown;
}

const std::string& Type::opaque_domain() const {
  static const std::string* empty = new std::string;
  return kind_ == kOpaque && rest_ ? static_cast<const OpaqueName*>(rest_.get())->first : *empty;
}

const std::string& Type::opaque_name() const {
  static const std::string* empty = new std::string;
  return kind_ == kOpaque && rest_ ? static_cast<const OpaqueName*>(rest_.get())->second : *empty;
}

std::string Type::ToString() const {
  const std::string tensor =
      StrCat(Name(dtype_), "[", has_shape() ? shape()->ToString() : "...", "]");
  switch (kind_) {
    case kUnknown: return "?";
    case kTensor: return tensor;
    case kSparseTensor: return StrCat("sparse(", tensor, ")");
    case kSequence: return StrCat("sequence(", element().ToString(), ")");
    case kOptional: return StrCat("optional(", element().ToString(), ")");
    case kMap: return StrCat("map(", Name(dtype_), ", ", element().ToString(), ")");
    case kOpaque:
      return StrCat("opaque(", text_internal::QuoteUnlessIdentifier(opaque_domain()), ", ",
                    text_internal::QuoteUnlessIdentifier(opaque_name()), ")");
  }
  return "?";
}

template <typename Rest>
static bool SameRest(const std::shared_ptr<const void>& a, const std::shared_ptr<const void>& b) {
  return *static_cast<const Rest*>(a.get()) == *static_cast<const Rest*>(b.get());
}

bool operator==(const Type& a, const Type& b) {
  if (a.kind_ != b.kind_ || a.dtype_ != b.dtype_) return false;
  if (a.rest_ == b.rest_) return true;
  if (!a.rest_ || !b.rest_) return false;
  switch (a.kind_) {
    case Type::kUnknown: return true;
    case Type::kTensor:
    case Type::kSparseTensor: return SameRest<Shape>(a.rest_, b.rest_);
    case Type::kSequence:
    case Type::kOptional:
    case Type::kMap: return SameRest<Type>(a.rest_, b.rest_);
    case Type::kOpaque: return SameRest<Type::OpaqueName>(a.rest_, b.rest_);
  }
  return false;
}

// --- Reading ------------------------------------------------------------------------------

namespace text_internal {
namespace {

constexpr int kMaxTypeDepth = 64;

class TypeReader {
 public:
  TypeReader(std::string_view text, size_t* pos) : text_(text), pos_(*pos), out_pos_(pos) {}
  ~TypeReader() { *out_pos_ = pos_; }

  absl::StatusOr<Type> Read(int depth = 0) {
    if (depth > kMaxTypeDepth) return Invalid("types nested too deeply");
    if (Take('?')) return Type();
    const size_t start = pos_;
    const std::string_view word = ReadIdentifier(text_, &pos_);
    if (word.empty()) return Invalid("expected a type");
    if (Take('(')) return Compound(word, start, depth);
    X2IR_ASSIGN_OR_RETURN(const DType dtype, ToDType(word, start));
    X2IR_RETURN_IF_ERROR(Expect('['));
    if (Take(']')) return Type::Tensor(dtype, Shape());
    if (text_.substr(pos_, 3) == "...") {
      pos_ += 3;
      X2IR_RETURN_IF_ERROR(Expect(']'));
      return Type::Tensor(dtype);
    }
    std::vector<Dim> dims;
    do {
      const size_t dim_start = pos_;
      X2IR_ASSIGN_OR_RETURN(Dim dim, ReadDim(text_, &pos_));
      if (dim.is_static() && dim.value() < 0) {
        pos_ = dim_start;
        return Invalid("a dimension is never negative, got ", dim.value());
      }
      dims.push_back(std::move(dim));
    } while (Take(','));
    X2IR_RETURN_IF_ERROR(Expect(']'));
    return Type::Tensor(dtype, Shape(std::move(dims)));
  }

 private:
  absl::StatusOr<Type> Compound(std::string_view word, size_t start, int depth) {
    Type type;
    if (word == "sequence" || word == "optional" || word == "sparse") {
      X2IR_ASSIGN_OR_RETURN(Type element, Read(depth + 1));
      if (word == "sequence") {
        type = Type::Sequence(std::move(element));
      } else if (word == "optional") {
        type = Type::Optional(std::move(element));
      } else if (element.is_tensor()) {
        const auto shape = element.shape() ? std::optional(*element.shape()) : std::nullopt;
        type = Type::SparseTensor(element.dtype(), shape);
      } else {
        return Invalid("sparse(...) takes a tensor type, got ", element.ToString());
      }
    } else if (word == "map") {
      Skip();
      const size_t key_start = pos_;
      X2IR_ASSIGN_OR_RETURN(const DType key, ToDType(ReadIdentifier(text_, &pos_), key_start));
      X2IR_RETURN_IF_ERROR(Expect(','));
      X2IR_ASSIGN_OR_RETURN(Type value, Read(depth + 1));
      type = Type::Map(key, std::move(value));
    } else if (word == "opaque") {
      X2IR_ASSIGN_OR_RETURN(std::string domain, Word());
      X2IR_RETURN_IF_ERROR(Expect(','));
      X2IR_ASSIGN_OR_RETURN(std::string name, Word());
      type = Type::Opaque(std::move(domain), std::move(name));
    } else {
      pos_ = start;
      return Invalid("unknown type '", word, "(...)'");
    }
    X2IR_RETURN_IF_ERROR(Expect(')'));
    return type;
  }

  absl::StatusOr<DType> ToDType(std::string_view word, size_t start) {
    if (word == "undefined") return DType::kUndefined;
    if (const auto dtype = ParseDType(word)) return *dtype;
    pos_ = start;
    return Invalid("unknown element type '", word, "'");
  }

  absl::StatusOr<std::string> Word() {
    Skip();
    if (pos_ < text_.size() && text_[pos_] == '"') return ReadQuoted(text_, &pos_);
    const std::string_view word = ReadIdentifier(text_, &pos_);
    if (word.empty()) return Invalid("expected a name");
    return std::string(word);
  }

  void Skip() { SkipSpace(text_, &pos_); }
  bool Take(char c) {
    Skip();
    if (pos_ >= text_.size() || text_[pos_] != c) return false;
    ++pos_;
    Skip();
    return true;
  }
  absl::Status Expect(char c) {
    Skip();
    if (pos_ >= text_.size() || text_[pos_] != c) {
      return Invalid("expected '", std::string(1, c), "' in a type");
    }
    ++pos_;  // text after the type is not skipped here
    return absl::OkStatus();
  }

  std::string_view text_;
  size_t pos_;
  size_t* out_pos_;
};

}  // namespace

absl::StatusOr<Type> ReadType(std::string_view text, size_t* pos) {
  return TypeReader(text, pos).Read();
}

}  // namespace text_internal

absl::StatusOr<Type> Type::Parse(std::string_view text) {
  size_t pos = 0;
  auto type = text_internal::ReadType(text, &pos);
  text_internal::SkipSpace(text, &pos);
  if (type.ok() && pos == text.size()) return type;
  return Invalid("type '", text, "', column ", pos + 1, ": ",
                 type.ok() ? "text after the type" : type.status().message());
}

// --- Merging ------------------------------------------------------------------------------

namespace {

absl::Status Contradiction(const Type& declared, const Type& inferred) {
  return Invalid("expected ", declared.ToString(), ", got ", inferred.ToString());
}

// nullopt when they contradict each other.
std::optional<DType> MergeDTypes(DType a, DType b) {
  if (a == DType::kUndefined) return b;
  if (b == DType::kUndefined || a == b) return a;
  return std::nullopt;
}

std::optional<Shape> MergeShapes(const Shape& declared, const Shape& inferred) {
  if (declared.rank() != inferred.rank()) return std::nullopt;
  Shape merged = declared;
  for (int64_t i = 0; i < declared.rank(); ++i) {
    const Dim &d = declared[i], &f = inferred[i];
    if (d.is_static() && f.is_static() && d != f) return std::nullopt;
    if (d.is_unknown() || (d.is_symbolic() && f.is_static())) merged[i] = f;
  }
  return merged;
}

}  // namespace

absl::StatusOr<Type> MergeTypes(const Type& declared, const Type& inferred) {
  if (!declared.is_known()) return inferred;
  if (!inferred.is_known()) return declared;
  if (declared.kind() != inferred.kind()) return Contradiction(declared, inferred);
  const auto dtype = MergeDTypes(declared.dtype(), inferred.dtype());
  if (!dtype) return Contradiction(declared, inferred);
  switch (declared.kind()) {
    case Type::kTensor:
    case Type::kSparseTensor: {
      Type merged = declared;
      merged.set_dtype(*dtype);
      if (!inferred.shape()) return merged;
      if (!declared.shape()) {
        merged.rest_ = inferred.rest_;
        return merged;
      }
      if (*declared.shape() == *inferred.shape()) return merged;
      std::optional<Shape> shape = MergeShapes(*declared.shape(), *inferred.shape());
      if (!shape) return Contradiction(declared, inferred);
      merged.set_shape(std::move(shape));
      return merged;
    }
    case Type::kOpaque:
      if (declared != inferred) return Contradiction(declared, inferred);
      return declared;
    default: break;
  }
  auto element = MergeTypes(declared.element(), inferred.element());
  if (!element.ok()) return Contradiction(declared, inferred);
  switch (declared.kind()) {
    case Type::kSequence: return Type::Sequence(*std::move(element));
    case Type::kOptional: return Type::Optional(*std::move(element));
    default: return Type::Map(*dtype, *std::move(element));
  }
}

}  // namespace x2ir
