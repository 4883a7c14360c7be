// Graphs of TensorFlow in text form, which are converted and evaluated.
#ifndef X2IR_TESTS_HANDLERS_TF_TEXT_UTIL_H_
#define X2IR_TESTS_HANDLERS_TF_TEXT_UTIL_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir::tf_text {

// "y: Op(a, b)"; attributes in text form.
std::string N(const std::string& name, const std::string& op,
              const std::vector<std::string>& inputs,
              const std::vector<std::pair<std::string, std::string>>& attrs = {},
              const std::string& field = "node");
// A placeholder.
std::string In(const std::string& name, const std::string& dtype, const std::string& dims = "");
// int32 constants: a scalar that may wait for something, a vector.
std::string Const(const std::string& name, int64_t value,
                  const std::vector<std::string>& after = {}, const std::string& field = "node");
std::string Vector(const std::string& name, const std::vector<int64_t>& values);

absl::StatusOr<Model> Load(const std::string& text, const std::vector<std::string>& outputs);
// The elements of all results, one after another; or the error. As imported, as optimized, and
// exported at two opsets.
std::string Results(const std::string& text, const std::vector<std::string>& outputs,
                    const std::vector<Tensor>& inputs = {});

inline Tensor B(bool value) { return Tensor::Scalar<bool>(value); }
inline Tensor I(int32_t value) { return Tensor::Scalar<int32_t>(value); }

}  // namespace x2ir::tf_text

#endif  // X2IR_TESTS_HANDLERS_TF_TEXT_UTIL_H_
