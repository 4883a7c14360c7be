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

namespace X2IR_API x2ir {

class Type {
 public:
  enum Kind : uint8_t { kUnknown, kTensor, kSparseTensor, kSequence, kOptional, kMap, kOpaque };

  Type() = default;                                                          // not known
  static Type Tensor(DType dtype) { return Type(kTensor, dtype, nullptr); }  // rank not known
  static Type Tensor(DType dtype, Shape shape) {
    return Type(kTensor, dtype, std::make_shared<const Shape>(std::move(shape)));
  }
  static Type Tensor(DType dtype, std::optional<Shape> shape) {
    return shape ? Tensor(dtype, *std::move(shape)) : Tensor(dtype);
  }
  static Type SparseTensor(DType dtype, std::optional<Shape> shape) {
    Type type = Tensor(dtype, std::move(shape));
    type.kind_ = kSparseTensor;
    return type;
  }
  static Type Sequence(Type element);
  static Type Optional(Type element);
  static Type Map(DType key, Type value);
  static Type Opaque(std::string domain, std::string name);

  Kind kind() const { return kind_; }
  bool is_known() const { return kind_ != kUnknown; }
  bool is_tensor() const { return kind_ == kTensor; }
  DType dtype() const { return dtype_; }  // of a (sparse) tensor, or a map's key
  bool has_shape() const { return shape() != nullptr; }
  // Null: rank not known, or no tensor.
  const Shape* shape() const {
    const bool may_have = kind_ == kTensor || kind_ == kSparseTensor;
    return may_have ? static_cast<const Shape*>(rest_.get()) : nullptr;
  }
  void set_shape(std::optional<Shape> shape);  // of a (sparse) tensor (CHECK)
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
  friend absl::StatusOr<Type> MergeTypes(const Type& declared, const Type& inferred);

 private:
  using OpaqueName = std::pair<std::string, std::string>;
  Type(Kind kind, DType dtype, std::shared_ptr<const void> rest)
      : kind_(kind), dtype_(dtype), rest_(std::move(rest)) {}
  Kind kind_ = kUnknown;
  DType dtype_ = DType::kUndefined;
  // A (sparse) tensor's Shape; the element's Type of a sequence, optional or map; an OpaqueName.
  // It never changes, and copies share it: most values of a large graph have one of few shapes.
  std::shared_ptr<const void> rest_;
};

// What both say together: `declared` (of the file) refined by `inferred`. Where both know
// a dim and one is a number, the number wins; two different names: the declared one is kept.
// InvalidArgument when they contradict each other (kinds, dtypes, ranks, two numbers).
absl::StatusOr<Type> MergeTypes(const Type& declared, const Type& inferred);

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_TYPE_H_
