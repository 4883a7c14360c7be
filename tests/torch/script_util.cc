#include "tests/torch/script_util.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <sstream>

#include "tests/formats/torch_zip_util.h"
#include "x2ir/graph_wrapper/dtype.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

std::string GlobalOf(std::string_view module, std::string_view name) {
  return StrCat("c", module, "\n", name, "\n");
}

std::vector<std::string> SplitText(std::string_view text, char by) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(by), text.size());
    std::string_view part = text.substr(0, end);
    while (part.starts_with(' ')) part.remove_prefix(1);
    parts.emplace_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string TextOfNumber(double x) {
  if (std::isnan(x)) return "nan";
  std::ostringstream out;
  out.precision(7);
  out << x;
  return out.str();
}

}  // namespace

// --- Pickles ---

std::string ScriptPickle::Int(int64_t value) {
  return "\x8a\x08" + torch_zip::Number(static_cast<uint64_t>(value), 8);
}
std::string ScriptPickle::Float(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  const std::string bytes = torch_zip::Number(bits, 8);
  return "G" + std::string(bytes.rbegin(), bytes.rend());
}
std::string ScriptPickle::Text(std::string_view value) {
  return StrCat("X", torch_zip::Number(value.size(), 4), value);
}
std::string ScriptPickle::List(const std::vector<std::string>& items) {
  std::string text = "](";
  for (const std::string& item : items) text += item;
  return text + "e";
}
std::string ScriptPickle::Tuple(const std::vector<std::string>& items) {
  std::string text = "(";
  for (const std::string& item : items) text += item;
  return text + "t";
}
std::string ScriptPickle::Dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string text = "}(";
  for (const auto& [key, value] : items) StrAppend(&text, key, value);
  return text + "u";
}
std::string ScriptPickle::Ints(const std::vector<int64_t>& items) {
  std::vector<std::string> numbers;
  for (const int64_t item : items) numbers.push_back(Int(item));
  return GlobalOf("torch.jit._pickle", "build_intlist") + Tuple({List(numbers)}) + "R";
}
std::string ScriptPickle::Object(std::string_view class_name, const Attributes& attributes) {
  const size_t dot = class_name.rfind('.');
  const std::string_view module =
      dot == class_name.npos ? std::string_view("__torch__") : class_name.substr(0, dot);
  const std::string_view name = dot == class_name.npos ? class_name : class_name.substr(dot + 1);
  std::vector<std::pair<std::string, std::string>> items;
  for (const auto& [key, value] : attributes) items.emplace_back(Text(key), value);
  return GlobalOf(module, name) + ")\x81" + Dict(items) + "b";
}
std::string ScriptPickle::Whole(std::string_view value) { return StrCat("\x80\x02", value, "."); }

std::string ScriptPickle::Tensor(std::string_view text) {
  const x2ir::Tensor tensor = TensorOfText(text);
  const char* type = tensor.dtype() == DType::kInt64     ? "LongStorage"
                     : tensor.dtype() == DType::kFloat64 ? "DoubleStorage"
                     : tensor.dtype() == DType::kBool    ? "BoolStorage"
                                                         : "FloatStorage";
  const std::string key = StrCat(storages_.size());
  const auto bytes = tensor.bytes();
  storages_.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::string> sizes, strides;
  int64_t stride = 1;
  for (size_t i = tensor.dims().size(); i-- > 0;) {
    sizes.insert(sizes.begin(), Int(tensor.dims()[i]));
    strides.insert(strides.begin(), Int(stride));
    stride *= tensor.dims()[i];
  }
  return GlobalOf("torch._utils", "_rebuild_tensor_v2") +
         Tuple({Tuple({Text("storage"), GlobalOf("torch", type), Text(key), Text("cpu"),
                       Int(tensor.num_elements())}) +
                    "Q",
                Int(0), Tuple(sizes), Tuple(strides), Bool(false),
                GlobalOf("collections", "OrderedDict") + ")R"}) +
         "R";
}

// --- Archives ---

namespace {

void AddStorages(const std::vector<std::string>& storages, std::string_view folder,
                 std::vector<torch_zip::Entry>& entries) {
  for (size_t i = 0; i < storages.size(); ++i) {
    entries.push_back({StrCat("m/", folder, "/", i), storages[i]});
  }
}

}  // namespace

std::string ScriptArchiveOf(const std::vector<ScriptFile>& code, const std::string& data,
                            const std::string& constants,
                            const std::vector<std::string>& storages) {
  std::vector<torch_zip::Entry> entries = {{"m/data.pkl", data}};
  AddStorages(storages, "data", entries);
  for (const ScriptFile& file : code) entries.push_back({StrCat("m/code/", file.path), file.text});
  entries.push_back({"m/constants.pkl", constants});
  entries.push_back({"m/version", "3\n"});
  return torch_zip::Zip().Make(entries);
}

std::string ScriptArchive(const std::vector<ScriptFile>& code,
                          const ScriptPickle::Attributes& attributes, const ScriptPickle& pickle,
                          const std::vector<std::string>& constants) {
  return ScriptArchiveOf(code, ScriptPickle::Whole(ScriptPickle::Object("M", attributes)),
                         ScriptPickle::Whole(ScriptPickle::Tuple(constants)), pickle.storages());
}

std::string LiteArchiveOf(const std::string& data, const std::string& bytecode,
                          const std::vector<std::string>& storages) {
  std::vector<torch_zip::Entry> entries = {{"m/data.pkl", data}};
  AddStorages(storages, "data", entries);
  AddStorages(storages, "constants", entries);
  entries.push_back({"m/bytecode.pkl", bytecode});
  entries.push_back({"m/version", "3\n"});
  return torch_zip::Zip().Make(entries);
}

std::string ScriptModule(std::string_view body, std::string_view parameters,
                         std::string_view before, std::string_view fields) {
  std::string text(before);
  StrAppend(&text, "class M(Module):\n  training : bool\n", fields,
            "  def forward(self: __torch__.M", parameters.empty() ? "" : ", ", parameters, "):\n");
  for (const std::string& line : [&] {
         std::vector<std::string> lines;
         for (size_t at = 0; at < body.size();) {
           const size_t end = std::min(body.find('\n', at), body.size());
           lines.emplace_back(body.substr(at, end - at));
           at = end + 1;
         }
         return lines;
       }()) {
    StrAppend(&text, "    ", line, "\n");
  }
  return text;
}

// --- Tensors in text ---

Tensor TensorOfText(std::string_view text) {
  const size_t open = text.find('['), close = text.find(']');
  const std::string_view type = text.substr(0, open);
  std::vector<int64_t> dims;
  for (const std::string& dim : SplitText(text.substr(open + 1, close - open - 1), ',')) {
    dims.push_back(std::stoll(dim));
  }
  std::vector<double> numbers;
  for (const std::string& word : SplitText(text.substr(close + 1), ' ')) {
    if (!word.empty()) numbers.push_back(std::stod(word));
  }
  const auto as = [&]<typename T>(T) {
    return Tensor::Of<T>(dims, std::vector<T>(numbers.begin(), numbers.end()));
  };
  if (type == "int64") return as(int64_t{});
  if (type == "int32") return as(int32_t{});
  if (type == "float64") return as(double{});
  if (type == "bool") {
    Tensor bools = Tensor::Zeros(DType::kBool, dims);
    for (size_t i = 0; i < numbers.size(); ++i) {
      bools.mutable_bytes()[i] = static_cast<std::byte>(numbers[i] != 0);
    }
    return bools;
  }
  return as(float{});
}

std::vector<Tensor> TensorsOfText(std::string_view text) {
  std::vector<Tensor> tensors;
  for (const std::string& part : SplitText(text, ';')) tensors.push_back(TensorOfText(part));
  return tensors;
}

std::string TextOfTensor(const Tensor& tensor) {
  std::string text = tensor.dtype() == DType::kFloat32 ? "[" : StrCat(Name(tensor.dtype()), "[");
  for (size_t i = 0; i < tensor.dims().size(); ++i) {
    StrAppend(&text, i ? "," : "", tensor.dims()[i]);
  }
  text += "]";
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (IsInteger(tensor.dtype()) || tensor.dtype() == DType::kBool) {
      StrAppend(&text, " ", tensor.AsInt(i));
    } else {
      StrAppend(&text, " ", TextOfNumber(tensor.AsDouble(i)));
    }
  }
  return text;
}

// --- Running ---

absl::StatusOr<Model> ImportScript(const std::string& archive, const std::vector<Tensor>& inputs,
                                   std::string_view shapes,
                                   const std::vector<std::string>& arguments) {
  ImportOptions options{.format = "torchscript"};
  if (!arguments.empty()) options.format_options.Set("arguments", arguments);
  X2IR_ASSIGN_OR_RETURN(const Model raw, Load(Source::Bytes(archive), "torchscript",
                                              {.format_options = options.format_options}));
  const std::vector<std::string> said = SplitText(shapes, ';');
  for (size_t i = 0; i < raw.graph->inputs().size() && i < inputs.size(); ++i) {
    const Value* input = raw.graph->inputs()[i];
    if (input->type().is_tensor() && input->dtype() != DType::kUndefined) continue;  // a number
    options.dtypes.emplace_back(input->name(), inputs[i].dtype());
    std::vector<Dim> dims;
    if (i < said.size() && said[i] == "?") continue;
    if (i < said.size() && !said[i].empty()) {
      for (const std::string& dim : SplitText(said[i], ',')) {
        const bool number = dim.find_first_not_of("0123456789") == dim.npos;
        dims.push_back(number ? Dim(int64_t{std::stoll(dim)}) : Dim::Symbol(dim));
      }
    } else {
      for (const int64_t dim : inputs[i].dims()) dims.emplace_back(dim);
    }
    options.shapes.emplace_back(input->name(), Shape(std::move(dims)));
  }
  return Import(Source::Bytes(archive), options);
}

std::string RunModel(const Model& model, const std::vector<Tensor>& inputs) {
  if (const auto problems = model.graph->Validate(); !problems.empty()) {
    return StrCat("not valid: ", problems[0]);
  }
  std::vector<Datum> values(inputs.begin(), inputs.end());
  values.resize(model.graph->inputs().size());
  const auto results = RunGraph(*model.graph, std::move(values));
  if (!results.ok()) return StrCat("error: evaluation: ", results.status().message());
  std::string text;
  for (const Datum& result : *results) {
    StrAppend(&text, text.empty() ? "" : "; ",
              result.tensor() ? TextOfTensor(*result.tensor()) : "no tensor");
  }
  return text;
}

std::string RunScript(const std::string& archive, std::string_view inputs,
                      std::string_view shapes) {
  const std::vector<Tensor> tensors = TensorsOfText(inputs);
  const auto model = ImportScript(archive, tensors, shapes);
  if (!model.ok()) return StrCat("error: ", model.status().message());
  return RunModel(*model, tensors);
}

}  // namespace x2ir
