// ONNX: classical machine learning, domain ai.onnx.ml.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/core/spec.h"

namespace x2ir {
namespace {

using Strings = std::vector<std::string>;

Tensor StringTensor(const Strings& strings) {
  return Tensor::Strings({static_cast<int64_t>(strings.size())}, strings);
}

// The tensor of the one attribute among STEM_strings, STEM_int64s, STEM_floats and STEM_tensor.
absl::StatusOr<Tensor> ListOf(const AttributeMap& attrs, const std::string& stem) {
  std::vector<Tensor> found;
  for (const auto& [name, attr] : attrs) {
    if (name == stem + "_strings") {
      if (const auto* v = attr.get<Strings>()) found.push_back(StringTensor(*v));
    } else if (name == stem + "_int64s") {
      if (const auto* v = attr.get<Attribute::Ints>()) found.push_back(Tensor::Vector(*v));
    } else if (name == stem + "_floats") {
      if (const auto* v = attr.get<Attribute::Floats>()) {
        found.push_back(Tensor::Of<float>({static_cast<int64_t>(v->size())}, *v));
      }
    } else if (name == stem + "_tensor") {
      if (const auto* v = attr.get<Tensor>()) {
        X2IR_ASSIGN_OR_RETURN(Tensor dense, v->ToDense());
        if (dense.rank() != 1) return Invalid(name.str(), ": expected rank 1, got ", dense.rank());
        found.push_back(std::move(dense));
      }
    }
  }
  // An empty list next to a full one says nothing.
  std::erase_if(found, [&](const Tensor& t) { return found.size() > 1 && t.num_elements() == 0; });
  if (found.size() == 1) return found[0];
  return Invalid("expected one ", stem, "_* attribute, got ", found.size());
}

// What ONNX says that a key without a value becomes, where the model does not say it.
Tensor UsualDefault(DType dtype) {
  if (dtype == DType::kString) return Tensor::Strings({}, {"_Unused"});
  return Tensor::ScalarOf(dtype, IsFloating(dtype) ? -0.0 : -1.0);
}

absl::StatusOr<Tensor> DefaultOf(const AttributeMap& attrs, DType dtype) {
  const Attribute* attr = attrs.Find("default_tensor");
  if (const Tensor* tensor = attr ? attr->get<Tensor>() : nullptr;
      tensor && tensor->num_elements() > 0) {
    X2IR_ASSIGN_OR_RETURN(Tensor dense, tensor->ToDense());
    if (dense.num_elements() != 1) return Invalid("default_tensor: expected one element");
    return dense.Reshaped({});
  }
  if (dtype == DType::kString) {
    return Tensor::Strings({}, {attrs.String("default_string", "_Unused")});
  }
  if (dtype == DType::kInt64) return Tensor::Scalar<int64_t>(attrs.Int("default_int64", -1));
  if (dtype == DType::kFloat32) {
    return Tensor::Scalar<float>(static_cast<float>(attrs.Float("default_float", -0.0)));
  }
  return UsualDefault(dtype);
}

absl::StatusOr<Values> MakeEncoder(Rewrite& r, Tensor keys, Tensor values, Tensor otherwise) {
  return Values{r.b.Op("label_encoder", {r.in(0)},
                       {{"keys", std::move(keys)},
                        {"values", std::move(values)},
                        {"default", std::move(otherwise)}})};
}

absl::StatusOr<Values> FromLabelEncoder(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(Tensor keys, ListOf(r.attrs(), "keys"));
  X2IR_ASSIGN_OR_RETURN(Tensor values, ListOf(r.attrs(), "values"));
  X2IR_ASSIGN_OR_RETURN(Tensor otherwise, DefaultOf(r.attrs(), values.dtype()));
  return MakeEncoder(r, std::move(keys), std::move(values), std::move(otherwise));
}

// STEM_strings, STEM_int64s or STEM_floats where the type has one, else STEM_tensor, which came
// with version 4.
absl::Status SetList(AttributeMap& attrs, const std::string& stem, const Tensor& given, int opset) {
  X2IR_ASSIGN_OR_RETURN(Tensor tensor, given.ToDense());
  tensor = tensor.AlignedCopyIfNeeded();
  switch (tensor.dtype()) {
    case DType::kString: attrs.Set(stem + "_strings", tensor.strings()); break;
    case DType::kInt64: {
      const auto values = tensor.span<int64_t>();
      attrs.Set(stem + "_int64s", Attribute::Ints(values.begin(), values.end()));
      break;
    }
    case DType::kFloat32: {
      const auto values = tensor.span<float>();
      attrs.Set(stem + "_floats", Attribute::Floats(values.begin(), values.end()));
      break;
    }
    default:
      if (opset < 4) {
        return CannotExpress(stem, " of type ", Name(tensor.dtype()),
                             "; version 4 of ai.onnx.ml has them");
      }
      attrs.Set(stem + "_tensor", tensor.Reshaped({tensor.num_elements()}));
  }
  return absl::OkStatus();
}

struct Encoder {
  Tensor keys, values, otherwise;
};

Encoder EncoderOf(const Rewrite& r) {
  return {*r.attrs().Find("keys")->get<Tensor>(), *r.attrs().Find("values")->get<Tensor>(),
          *r.attrs().Find("default")->get<Tensor>()};
}

absl::Status SetDefault(AttributeMap& attrs, const Tensor& otherwise) {
  if (otherwise.num_elements() != 1) return Invalid("the default is no single element");
  if (otherwise.Reshaped({}) == UsualDefault(otherwise.dtype())) return absl::OkStatus();
  switch (otherwise.dtype()) {
    case DType::kString: attrs.Set("default_string", otherwise.strings()[0]); break;
    case DType::kInt64: attrs.Set("default_int64", otherwise.AsInt(0)); break;
    case DType::kFloat32:
      attrs.Set("default_float", static_cast<float>(otherwise.AsDouble(0)));
      break;
    default: attrs.Set("default_tensor", otherwise.Reshaped({1}));
  }
  return absl::OkStatus();
}

absl::StatusOr<Values> ToLabelEncoder(Rewrite& r) {
  const Encoder e = EncoderOf(r);
  AttributeMap attrs;
  X2IR_RETURN_IF_ERROR(SetDefault(attrs, e.otherwise));
  X2IR_RETURN_IF_ERROR(SetList(attrs, "keys", e.keys, r.opset));
  X2IR_RETURN_IF_ERROR(SetList(attrs, "values", e.values, r.opset));
  return r.b.Node(r.dialect, "ai.onnx.ml::LabelEncoder", {r.in(0)}, std::move(attrs), {true});
}

// One list of strings: strings become their positions, and positions strings.
absl::StatusOr<Values> FromClasses(Rewrite& r) {
  static const auto* none = new Strings;
  const Attribute* attr = r.attrs().Find("classes_strings");
  const Strings* classes = attr ? attr->get<Strings>() : nullptr;
  if (!classes) classes = none;
  const Tensor strings = StringTensor(*classes);
  Attribute::Ints positions;
  for (size_t i = 0; i < classes->size(); ++i) positions.push_back(static_cast<int64_t>(i));
  if (r.dtype(0) == DType::kInt64) {
    Tensor otherwise = Tensor::Strings({}, {r.attrs().String("default_string", "_Unused")});
    return MakeEncoder(r, Tensor::Vector(positions), strings, std::move(otherwise));
  }
  if (r.dtype(0) != DType::kString) {
    return Unimplemented("strings and integers need to be told apart, and the operand's type is ",
                         "not known");
  }
  // Of a string that is there twice the last position counts here, and the first one in IR.
  StringSet seen;
  Strings keys;
  Attribute::Ints last;
  for (size_t i = classes->size(); i-- > 0;) {
    if (!seen.insert((*classes)[i]).second) continue;
    keys.push_back((*classes)[i]);
    last.push_back(positions[i]);
  }
  std::reverse(keys.begin(), keys.end());
  std::reverse(last.begin(), last.end());
  Tensor otherwise = Tensor::Scalar<int64_t>(r.attrs().Int("default_int64", -1));
  return MakeEncoder(r, StringTensor(keys), Tensor::Vector(last), std::move(otherwise));
}

absl::StatusOr<Values> ToClasses(Rewrite& r) {
  const Encoder e = EncoderOf(r);
  const bool from_strings = e.keys.is_string();
  const Tensor& strings = from_strings ? e.keys : e.values;
  const Tensor& positions = from_strings ? e.values : e.keys;
  bool counts = strings.is_string() && positions.dtype() == DType::kInt64 &&
                strings.num_elements() == positions.num_elements();
  StringSet seen;
  for (int64_t i = 0; counts && i < positions.num_elements(); ++i) {
    counts = positions.AsInt(i) == i && (!from_strings || seen.insert(strings.strings()[i]).second);
  }
  if (!counts) {
    return CannotExpress("LabelEncoder of version 1 of ai.onnx.ml replaces strings by their ",
                         "positions, or positions by strings; version 2 replaces more");
  }
  AttributeMap attrs;
  attrs.Set("classes_strings", strings.strings());
  X2IR_RETURN_IF_ERROR(SetDefault(attrs, e.otherwise));
  return r.b.Node(r.dialect, "ai.onnx.ml::LabelEncoder", {r.in(0)}, std::move(attrs), {true});
}

}  // namespace

X2IR_ONNX(array_feature_extractor).Is("ai.onnx.ml::ArrayFeatureExtractor", Since(1));
X2IR_ONNX(binarizer).Is("ai.onnx.ml::Binarizer", Since(1));
X2IR_ONNX(cast_map).Is("ai.onnx.ml::CastMap", Since(1));
X2IR_ONNX(category_mapper).Is("ai.onnx.ml::CategoryMapper", Since(1));
X2IR_ONNX(dict_vectorizer).Is("ai.onnx.ml::DictVectorizer", Since(1));
X2IR_ONNX(feature_vectorizer).Is("ai.onnx.ml::FeatureVectorizer", Since(1));
X2IR_ONNX(imputer).Is("ai.onnx.ml::Imputer", Since(1));
X2IR_ONNX(linear_classifier).Is("ai.onnx.ml::LinearClassifier", Since(1));
X2IR_ONNX(linear_regressor).Is("ai.onnx.ml::LinearRegressor", Since(1));
X2IR_ONNX(ml_normalizer).Is("ai.onnx.ml::Normalizer", Since(1));
X2IR_ONNX(ml_scaler).Is("ai.onnx.ml::Scaler", Since(1));
X2IR_ONNX(one_hot_encoder).Is("ai.onnx.ml::OneHotEncoder", Since(1));
X2IR_ONNX(svm_classifier).Is("ai.onnx.ml::SVMClassifier", Since(1));
X2IR_ONNX(svm_regressor).Is("ai.onnx.ml::SVMRegressor", Since(1));
X2IR_ONNX(zip_map).Is("ai.onnx.ml::ZipMap", Since(1));
X2IR_ONNX(label_encoder)
    .Is("ai.onnx.ml::LabelEncoder", In(1, 1), Code{FromClasses, ToClasses})
    .Is("ai.onnx.ml::LabelEncoder", Since(2), Code{FromLabelEncoder, ToLabelEncoder});

}  // namespace x2ir
