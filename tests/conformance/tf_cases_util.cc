#include "tests/conformance/tf_cases_util.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "tests/core/host_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

std::string Replaced(std::string_view text) {
  constexpr std::string_view kSlash = "____";
  std::string result;
  for (size_t at; (at = text.find(kSlash)) != std::string_view::npos;) {
    StrAppend(&result, text.substr(0, at), "/");
    text.remove_prefix(at + kSlash.size());
  }
  return StrCat(result, text);
}

// "a/b.1" is output 1 of node a/b.
std::string ValueOf(std::string name) {
  name = Replaced(name);
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot + 1 == name.size() ||
      name.find_first_not_of("0123456789", dot + 1) != std::string::npos) {
    return name;
  }
  const std::string index = name.substr(dot + 1);
  return index == "0" ? name.substr(0, dot) : StrCat(name.substr(0, dot), ":", index);
}

TfCase ReadCase(const fs::path& root, const fs::path& folder) {
  TfCase c;
  c.name = fs::relative(folder, root).string();
  c.model = (folder / "frozen_model.pb").string();
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    const std::string name = fs::relative(entry.path(), folder).string();
    for (const auto& [ending, list] :
         {std::pair<std::string, std::vector<TfCase::File>*>{".prediction.csv", &c.outputs},
          {".placeholder.csv", &c.inputs}}) {
      if (!name.ends_with(ending)) continue;
      list->push_back(
          {ValueOf(name.substr(0, name.size() - ending.size())), entry.path().string()});
    }
  }
  for (auto* list : {&c.inputs, &c.outputs}) {
    std::sort(list->begin(), list->end(),
              [](const auto& a, const auto& b) { return a.value < b.value; });
  }
  std::ifstream dtypes((folder / "dtypes").string());
  for (std::string name, dtype; dtypes >> name >> dtype;) {
    if (const auto known = ParseDType(dtype)) c.dtypes[ValueOf(name)] = *known;
  }
  return c;
}

absl::StatusOr<std::vector<std::string>> Lines(const std::string& path) {
  std::ifstream file(path);
  if (!file) return NotFound("'", path, "'");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    line.erase(line.find_last_not_of(" \r\n\t") + 1);
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

double Number(const std::string& text) {
  if (text == "True" || text == "true") return 1;
  if (text == "False" || text == "false") return 0;
  return std::strtod(text.c_str(), nullptr);
}

}  // namespace

std::vector<TfCase> TfCases() {
  const fs::path root = Unpacked("tf-frozen-graphs.tar.xz", "tf-frozen-graphs");
  if (root.empty()) return {};
  std::vector<TfCase> cases;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "frozen_model.pb") continue;
    cases.push_back(ReadCase(root, entry.path().parent_path()));
  }
  std::sort(cases.begin(), cases.end(),
            [](const TfCase& a, const TfCase& b) { return a.name < b.name; });
  return cases;
}

ImportOptions TfImportOptions(const TfCase& c) {
  ImportOptions options;
  options.format = "tensorflow";
  for (const TfCase::File& file : c.outputs) options.outputs.push_back(file.value);
  return options;
}

absl::StatusOr<IoCase> ReadTfIo(const TfCase& c, const Graph& graph) {
  IoCase io;
  for (const Value* input : graph.inputs()) {
    const auto found =
        std::find_if(c.inputs.begin(), c.inputs.end(),
                     [&](const TfCase::File& file) { return file.value == input->name(); });
    if (found == c.inputs.end()) return NotFound("values of input '", input->name(), "'");
    X2IR_ASSIGN_OR_RETURN(Tensor tensor, ReadTfValues(found->path, input->dtype()));
    io.inputs.push_back(std::move(tensor));
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const auto known = c.dtypes.find(c.outputs[i].value);
    const DType dtype = known == c.dtypes.end() ? graph.outputs()[i]->dtype() : known->second;
    X2IR_ASSIGN_OR_RETURN(Tensor tensor, ReadTfValues(c.outputs[i].path, dtype));
    io.outputs.push_back(std::move(tensor));
  }
  return io;
}

namespace {

// Whether a convolution has it as kernel, which is in its order of axes after import.
bool IsKernelOfTf(const Value& constant) {
  return std::any_of(constant.uses().begin(), constant.uses().end(), [](const auto& use) {
    return use.index == 1 && use.node->op().view().starts_with("conv");
  });
}

}  // namespace

absl::Status FeedTfConstants(Graph& graph, IoCase* io) {
  for (Value* constant : graph.constants()) {
    const Tensor tensor = *constant->constant();
    const std::string name(constant->name());
    if (!name.starts_with("in_") || !IsFloating(tensor.dtype()) || IsKernelOfTf(*constant))
      continue;
    Value* input = graph.AddInput(graph.UniqueName(name + "_fed"), tensor.type());
    graph.ReplaceAllUses(constant, input);
    io->inputs.push_back(tensor);
  }
  return InferGraph(graph);
}

absl::StatusOr<Tensor> ReadTfValues(const std::string& csv, DType dtype) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<std::string> values, Lines(csv));
  const std::string shape = csv.substr(0, csv.size() - 4) + ".shape";
  X2IR_ASSIGN_OR_RETURN(const std::vector<std::string> sizes, Lines(shape));
  std::vector<int64_t> dims;
  for (const std::string& size : sizes) dims.push_back(std::strtoll(size.c_str(), nullptr, 10));
  if (dims == std::vector<int64_t>{0} && values.size() == 1) dims.clear();  // a scalar
  const auto count = CheckedProduct(dims);
  if (!count || static_cast<size_t>(*count) != values.size()) {
    return Invalid("'", csv, "' has ", values.size(), " values, and its shape another number");
  }
  if (dtype == DType::kString) return Tensor::Strings(std::move(dims), values);
  Tensor tensor = Tensor::Zeros(dtype, std::move(dims));
  for (int64_t i = 0; i < *count; ++i) {
    const std::string& text = values[i];
    Tensor element;
    if (dtype == DType::kBool) {
      element = Tensor::Scalar<bool>(Number(text) != 0);
    } else if (dtype == DType::kInt64) {
      element = Tensor::Scalar<int64_t>(text.find('.') == std::string::npos
                                            ? std::strtoll(text.c_str(), nullptr, 10)
                                            : static_cast<int64_t>(Number(text)));
    } else if (dtype == DType::kUInt64) {
      element = Tensor::Scalar<uint64_t>(std::strtoull(text.c_str(), nullptr, 10));
    } else if (IsFloating(dtype) || IsInteger(dtype)) {
      element = Tensor::ScalarOf(dtype, Number(text));
    } else {
      return Unimplemented("values of ", Name(dtype));
    }
    const auto bytes = element.bytes();
    std::copy(bytes.begin(), bytes.end(), tensor.mutable_bytes().begin() + i * bytes.size());
  }
  return tensor;
}

TfTolerance TfToleranceOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return {5e-3, 1e-3};
    case DType::kBFloat16: return {2e-2, 1e-2};
    case DType::kFloat32: return {1e-4, 1e-5};
    case DType::kFloat64: return {1e-5, 1e-7};
    default: return {};  // everything else is exact
  }
}

std::string TfDifference(const Tensor& got, const Tensor& want) {
  if (got.dtype() != want.dtype() || got.dims() != want.dims()) {
    return StrCat("expected ", want.type().ToString(), ", got ", got.type().ToString());
  }
  if (got == want) return "";
  const TfTolerance tolerance = TfToleranceOf(want.dtype());
  int64_t wrong = 0;
  std::string first;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    std::string is, should_be;
    if (want.is_string()) {
      if (got.strings()[i] == want.strings()[i]) continue;
      is = got.strings()[i];
      should_be = want.strings()[i];
    } else if (!IsFloating(want.dtype())) {
      if (got.AsInt(i) == want.AsInt(i)) continue;
      is = StrCat(got.AsInt(i));
      should_be = StrCat(want.AsInt(i));
    } else {
      const double g = got.AsDouble(i), w = want.AsDouble(i);
      if (g == w || (std::isnan(g) && std::isnan(w))) continue;
      if (std::isfinite(w) && std::abs(g - w) <= tolerance.atol + tolerance.rtol * std::abs(w)) {
        continue;
      }
      is = StrCat(g);
      should_be = StrCat(w);
    }
    if (wrong++ == 0) first = StrCat("element ", i, ": expected ", should_be, ", got ", is);
  }
  return wrong == 0 ? "" : StrCat(first, " (", wrong, " of ", want.num_elements(), " differ)");
}

}  // namespace x2ir
