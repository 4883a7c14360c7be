// Ops on maps from labels to numbers: zip_map, cast_map, dict_vectorizer.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "x2ir/ops/choice_attr.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/ml_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

// --- zip_map --------------------------------------------------------------------------------

absl::StatusOr<ClassLabels> ZipMapLabels(const AttributeMap& attrs) {
  return ClassLabels::Of(attrs, "classlabels_strings", "classlabels_int64s");
}

absl::Status InferZipMap(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const ClassLabels labels, ZipMapLabels(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const RowDims x, InferRows(ctx));
  if (labels.size() != 0) X2IR_RETURN_IF_ERROR(SameDim(x.features, labels.size()).status());
  if (ctx.dtype(0) != DType::kUndefined && ctx.dtype(0) != DType::kFloat32) {
    return Invalid("expected float32, got ", Name(ctx.dtype(0)));
  }
  return ctx.Return(Type::Sequence(Type::Map(labels.dtype(), Type::Tensor(DType::kFloat32))));
}

absl::Status EvalZipMap(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const ClassLabels labels, ZipMapLabels(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const RowShape shape, RowsOf(ctx.input(0)));
  if (ctx.dtype(0) != DType::kFloat32) return Invalid("expected float32, got ", Name(ctx.dtype(0)));
  if (labels.size() == 0) return Invalid("expected class labels, got none");
  if (labels.size() != shape.features) {
    return Invalid(labels.size(), " class labels for ", shape.features, " features");
  }
  // Each entry is two tensors of its own.
  if (ctx.input(0).num_elements() > int64_t{1} << 24) {
    return Unimplemented("maps of ", ctx.input(0).num_elements(), " entries");
  }
  const absl::Span<const float> x = ctx.input(0).span<float>();
  auto zip = [&](const auto& keys, auto key_tensor) {
    DatumSequence maps;
    for (int64_t row = 0; row < shape.rows; ++row) {
      std::map<typename std::decay_t<decltype(keys)>::value_type, float> sorted;
      for (int64_t f = 0; f < shape.features; ++f) sorted[keys[f]] = x[row * shape.features + f];
      auto map = std::make_shared<DatumMap>();
      for (const auto& [key, value] : sorted) {
        map->emplace_back(key_tensor(key), Tensor::Scalar<float>(value));
      }
      maps.emplace_back(std::shared_ptr<const DatumMap>(std::move(map)));
    }
    ctx.Set(0, Datum(std::move(maps)));
  };
  if (labels.are_strings()) {
    zip(labels.strings(), [](const std::string& key) { return Tensor::Strings({}, {key}); });
  } else {
    zip(labels.ints(), [](int64_t key) { return Tensor::Scalar<int64_t>(key); });
  }
  return absl::OkStatus();
}

X2IR_OP(zip_map)
    .Signature("x -> z")
    .Attrs("classlabels_int64s: ints?, classlabels_strings: strings?")
    .Functions(InferZipMap, EvalZipMap)
    .With(ClassicOp)
    .Doc("For each row a map from the class labels to its features.");

// --- Reading maps ---------------------------------------------------------------------------

absl::Status ExpectMap(const Type& type) {
  if (!type.is_known() || type.kind() == Type::kMap) return absl::OkStatus();
  return Invalid("expected a map, got ", type.ToString());
}

// The map's values by key. Keys are of type K, values tensors of one element.
template <typename K>
absl::StatusOr<std::map<K, const Tensor*>> Read(const Datum& datum) {
  if (!datum.map()) return Invalid("expected a map");
  std::map<K, const Tensor*> values;
  DType dtype = DType::kUndefined;
  for (const auto& [key, value] : *datum.map()) {
    const Tensor* k = key.tensor();
    const Tensor* v = value.tensor();
    constexpr bool kStrings = std::is_same_v<K, std::string>;
    if (!k || k->num_elements() != 1 || k->dtype() != (kStrings ? DType::kString : DType::kInt64)) {
      return Invalid("expected a map of ", kStrings ? "strings" : "int64");
    }
    if (!v || v->num_elements() != 1 || v->is_sparse()) return Invalid("expected a map to scalars");
    if (dtype != DType::kUndefined && dtype != v->dtype()) {
      return Invalid("expected a map to one type, got ", Name(dtype), " and ", Name(v->dtype()));
    }
    dtype = v->dtype();
    if constexpr (kStrings) {
      values[k->strings()[0]] = v;
    } else {
      values[k->AsInt(0)] = v;
    }
  }
  return values;
}

// [1,n] of these scalars, `otherwise` where there is none.
absl::StatusOr<Tensor> Row(absl::Span<const Tensor* const> cells, const Tensor& otherwise) {
  const std::vector<int64_t> dims = {1, static_cast<int64_t>(cells.size())};
  std::vector<Cells> keep;
  keep.reserve(cells.size());
  for (const Tensor* cell : cells) {
    keep.emplace_back((cell ? *cell : otherwise).AlignedCopyIfNeeded());
  }
  CellsOut out(otherwise.dtype(), dims);
  DispatchCell(out.size(), [&](auto c) {
    using C = decltype(c);
    for (size_t i = 0; i < cells.size(); ++i) out.as<C>()[i] = keep[i].template as<C>()[0];
  });
  return out.Finish();
}

// --- dict_vectorizer ------------------------------------------------------------------------

absl::StatusOr<ClassLabels> VocabularyOf(const AttributeMap& attrs) {
  return ClassLabels::Of(attrs, "string_vocabulary", "int64_vocabulary");
}

absl::Status InferDictVectorizer(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const ClassLabels words, VocabularyOf(ctx.attrs()));
  const Type& x = ctx.type(0);
  X2IR_RETURN_IF_ERROR(ExpectMap(x));
  if (x.is_known() && words.size() != 0 && x.dtype() != words.dtype()) {
    return Invalid("a vocabulary of ", Name(words.dtype()), " for a map of ", Name(x.dtype()));
  }
  return ctx.Return(x.is_known() ? x.element().dtype() : DType::kUndefined,
                    Shape{1, words.size() == 0 ? Dim() : Dim(words.size())});
}

absl::Status EvalDictVectorizer(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const ClassLabels words, VocabularyOf(ctx.attrs()));
  if (words.size() == 0) return Invalid("expected a vocabulary, got none");
  std::vector<const Tensor*> cells;
  DType dtype = DType::kUndefined;
  auto read = [&](const auto& vocabulary) -> absl::Status {
    using K = typename std::decay_t<decltype(vocabulary)>::value_type;
    X2IR_ASSIGN_OR_RETURN(const auto values, Read<K>(ctx.datum(0)));
    if (!values.empty()) dtype = values.begin()->second->dtype();
    for (const K& word : vocabulary) {
      auto it = values.find(word);
      cells.push_back(it == values.end() ? nullptr : it->second);
    }
    return absl::OkStatus();
  };
  X2IR_RETURN_IF_ERROR(words.are_strings() ? read(words.strings()) : read(words.ints()));
  if (dtype == DType::kUndefined && ctx.node().input(0)) {
    dtype = ctx.node().input(0)->type().element().dtype();  // of an empty map
  }
  if (dtype == DType::kUndefined) return Invalid("the type of an empty map's values is not known");
  const Tensor zero =
      dtype == DType::kString ? Tensor::Strings({}, {""}) : Tensor::Zeros(dtype, {});
  X2IR_ASSIGN_OR_RETURN(Tensor row, Row(cells, zero));
  return ctx.Return(std::move(row));
}

X2IR_OP(dict_vectorizer)
    .Signature("x -> y")
    .Attrs("int64_vocabulary: ints?, string_vocabulary: strings?")
    .Functions(InferDictVectorizer, EvalDictVectorizer)
    .With(ClassicOp)
    .Doc("The map's values at the keys of the vocabulary as one row; 0 where there is none.");

// --- cast_map -------------------------------------------------------------------------------

absl::StatusOr<DType> CastTo(const AttributeMap& attrs) {
  constexpr DType kTypes[] = {DType::kFloat32, DType::kInt64, DType::kString};
  X2IR_ASSIGN_OR_RETURN(
      const size_t to, ChoiceAttr<size_t>(attrs, "cast_to", {"TO_FLOAT", "TO_INT64", "TO_STRING"}));
  return kTypes[to];
}

absl::StatusOr<bool> IsSparse(const AttributeMap& attrs) {
  X2IR_ASSIGN_OR_RETURN(const bool sparse,
                        ChoiceAttr<bool>(attrs, "map_form", {"DENSE", "SPARSE"}));
  if (sparse && attrs.Int("max_map") < 0) return Invalid("max_map: ", attrs.Int("max_map"));
  return sparse;
}

absl::Status InferCastMap(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectMap(ctx.type(0)));
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CastTo(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const bool sparse, IsSparse(ctx.attrs()));
  return ctx.Return(dtype, Shape{1, sparse ? Dim(ctx.attrs().Int("max_map")) : Dim()});
}

absl::StatusOr<Tensor> CastValue(const Tensor& value, DType to) {
  if (to == DType::kString && IsFloating(value.dtype())) {
    // Six digits after the point, as runtimes write them here.
    return Tensor::Strings({}, {absl::StrFormat("%f", value.AsDouble(0))});
  }
  return CastTensor(value.AlignedCopyIfNeeded(), to);
}

absl::Status EvalCastMap(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CastTo(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const bool sparse, IsSparse(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const auto values, Read<int64_t>(ctx.datum(0)));
  const int64_t count = sparse ? ctx.attrs().Int("max_map") : static_cast<int64_t>(values.size());
  // Each cell is a tensor of its own here.
  if (count > int64_t{1} << 24) return Invalid("max_map: ", count, " is too much to be evaluated");
  if (sparse && !values.empty() && values.begin()->first < 0) {
    return Invalid("a sparse map has the key ", values.begin()->first);
  }
  std::vector<Tensor> cast;
  cast.reserve(values.size());
  std::vector<const Tensor*> cells(count, nullptr);
  int64_t next = 0;
  for (const auto& [key, value] : values) {
    const int64_t at = sparse ? key : next++;
    if (at >= count) break;
    X2IR_ASSIGN_OR_RETURN(Tensor one, CastValue(*value, dtype));
    cast.push_back(std::move(one));
    cells[at] = &cast.back();
  }
  // What runtimes fill strings up with.
  const Tensor filler =
      dtype == DType::kString ? Tensor::Strings({}, {"0.f"}) : Tensor::Zeros(dtype, {});
  X2IR_ASSIGN_OR_RETURN(Tensor row, Row(cells, filler));
  return ctx.Return(std::move(row));
}

X2IR_OP(cast_map)
    .Signature("x -> y")
    .Attrs("cast_to = 'TO_FLOAT', map_form = 'DENSE', max_map = 1")
    .Functions(InferCastMap, EvalCastMap)
    .With(ClassicOp)
    .Doc(
        "The map's values as one row of another type: all of them in the order of the keys "
        "(DENSE), or each at the place that its key says, of max_map places (SPARSE).");

}  // namespace
}  // namespace x2ir
