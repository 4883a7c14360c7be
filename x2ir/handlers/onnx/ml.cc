// ONNX: classical machine learning, domain ai.onnx.ml.
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/core/spec.h"

namespace x2ir {

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

}  // namespace x2ir
