// Type: what a value is: a tensor, sparse tensor, sequence, optional or map, or not known.
#ifndef X2IR_GRAPH_WRAPPER_TYPE_H_
#define X2IR_GRAPH_WRAPPER_TYPE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/dtype.h"
#include "x2ir/graph_wrapper/shape.h"

namespace x2ir {

class Type {
 public:
  enum Kind : uint8_t { kUnknown, kTensor, kSparseTensor, kSequence, kOptional, kMap, kOpaque };

  Type() = default;                                                               // not known
  static Type Tensor(DType dtype) { return Type(kTensor, dtype, std::nullopt); }  // rank not known
  static Type Tensor(DType dtype, Shape shape) { return Type(kTensor, dtype, std::move(shape)); }
  static Type Tensor(DType dtype, std::optional<Shape> shape) {
    return Type(kTensor, dtype, std::move(shape));
  }
  static Type SparseTensor(DType dtype, std::optional<Shape> shape) {
    return Type(kSparseTensor, dtype, std::move(shape));
  }
  static Type Sequence(Type element);
  static Type Optional(Type element);
  static Type Map(DType key, Type value);
  static Type Opaque(std::string domain, std::string name);

  Kind kind() const { return kind_; }
  bool is_known() const { return kind_ != kUnknown; }
  bool is_tensor() const { return kind_ == kTensor; }
  DType dtype() const { return dtype_; }  // of a (sparse) tensor, or a map's key
  bool has_shape() const { return shape_.has_value(); }
  const Shape* shape() const { return shape_ ? &*shape_ : nullptr; }  // null: rank not known
  void set_shape(std::optional<Shape> shape) { shape_ = std::move(shape); }
  void set_dtype(DType t) { dtype_ = t; }
  const Type& element() const;  // of sequence, optional; a map's value
  const std::string& opaque_domain() const;
  const std::string& opaque_name() const;

  // "float32[2,seq,?]", "float32[...]" (rank not known), "float32[]" (rank 0), "?",
  // "sequence(int64[?])", "optional(T)", "map(string, T)", "sparse(float32[3])",
  // "opaque(domain, name)". A dim_param that is not a plain expression is quoted.
  std::string ToString() const;
  static absl::StatusOr<Type> Parse(std::string_view text);

  friend bool operator==(const Type& a, const Type& b);
  friend bool operator!=(const Type& a, const Type& b) { return !(a == b); }

 private:
  Type(Kind kind, DType dtype, std::optional<Shape> shape)
      : kind_(kind), dtype_(dtype), shape_(std::move(shape)) {}
  Kind kind_ = kUnknown;
  DType dtype_ = DType::kUndefined;
  std::optional<Shape> shape_;
  std::shared_ptr<const Type> element_;
  std::shared_ptr<const std::pair<std::string, std::string>> opaque_;
};

// What both say together: `declared` (of the file) refined by `inferred`. Where both know
// a dim and one is a number, the number wins; two different names: the declared one is kept.
// InvalidArgument when they contradict each other (kinds, dtypes, ranks, two numbers).
absl::StatusOr<Type> MergeTypes(const Type& declared, const Type& inferred);

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_TYPE_H_
