// ONNX: ops on text.
#include "x2ir/core/spec.h"

namespace x2ir {

X2IR_ONNX(regex_full_match).Is("RegexFullMatch", Since(20));
X2IR_ONNX(string_concat).Is("StringConcat", Since(20));
X2IR_ONNX(string_split).Is("StringSplit", Since(20), Attr("delimiter", ""), Attr("maxsplit", -1));
X2IR_ONNX(string_normalizer)
    .Is("StringNormalizer", Since(10), Attr("stopwords", Attribute::Strings{}));
X2IR_ONNX(tf_idf_vectorizer).Is("TfIdfVectorizer", Since(9));

}  // namespace x2ir
