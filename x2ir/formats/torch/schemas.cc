#include "x2ir/formats/torch/schemas.h"

#include <algorithm>
#include <deque>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

constexpr std::string_view kSchemas[] = {
#include "x2ir_torch_schema_data.inc"
};

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// The parts between commas that are not in brackets or quotes.
std::vector<std::string_view> SplitList(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    quoted ^= c == '"';
    if (quoted) continue;
    depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    if (c != ',' || depth > 0) continue;
    parts.push_back(Trimmed(text.substr(start, i - start)));
    start = i + 1;
  }
  if (!Trimmed(text).empty()) parts.push_back(Trimmed(text.substr(start)));
  return parts;
}

TorchParameter ParseParameter(std::string_view text) {
  TorchParameter p;
  const size_t space = text.find(' ');
  p.type = text.substr(0, space);
  std::string_view rest = space == text.npos ? std::string_view() : text.substr(space + 1);
  if (const size_t equals = rest.find('='); equals != rest.npos) {
    p.default_value = rest.substr(equals + 1);
    rest = rest.substr(0, equals);
  }
  p.name = rest;
  return p;
}

TorchSchema Parse(std::string_view text) {
  TorchSchema schema;
  schema.name = std::string(text.substr(0, text.find('(')));
  if (schema.name.find('.') == std::string::npos) schema.name += ".default";
  const size_t open = text.find('('), arrow = text.rfind("->");
  const size_t close = text.rfind(')', arrow);
  bool keyword_only = false;
  for (const std::string_view part : SplitList(text.substr(open + 1, close - open - 1))) {
    if (part == "*") {
      keyword_only = true;
      continue;
    }
    schema.parameters.push_back(ParseParameter(part));
    schema.parameters.back().keyword_only = keyword_only;
  }
  std::string_view results = Trimmed(text.substr(arrow + 2));
  if (results.starts_with('(')) results = results.substr(1, results.size() - 2);
  for (const std::string_view part : SplitList(results)) {
    schema.results.push_back(part.substr(0, part.find(' ')));
  }
  return schema;
}

const std::map<std::string, TorchSchema, std::less<>>& Table() {
  static const auto* table = [] {
    auto* all = new std::map<std::string, TorchSchema, std::less<>>;
    for (const std::string_view text : kSchemas) {
      TorchSchema schema = Parse(text);
      std::string name = schema.name;
      all->emplace(std::move(name), std::move(schema));
    }
    return all;
  }();
  return *table;
}

// --- Checks ---------------------------------------------------------------------------------

// What a call gives for one argument.
struct Given {
  const Attribute* attr = nullptr;
  std::vector<TorchOperandName> operands;
};

bool IsNumberKind(std::string_view element) {
  return element == "int" || element == "SymInt" || element == "float" || element == "bool" ||
         element == "Scalar" || element == "SymBool" || element == "SymFloat";
}

bool TakesNumber(std::string_view element, char kind) {
  if (element == "Scalar") return true;
  if (element == "float" || element == "SymFloat") return kind == 'f';
  if (element == "bool" || element == "SymBool") return kind == 'b';
  return kind == 'i';
}

bool TakesAttribute(const TorchParameter& p, const Attribute& attr) {
  const std::string_view element = p.element();
  const Tensor* tensor = attr.get<Tensor>();
  const Type* type = attr.get<Type>();
  if (type && type->kind() == Type::kUnknown) return p.is_optional();
  // "int[2]": one number is used for all.
  const bool one_for_all = p.is_list() && !p.type.ends_with("[]") && !p.type.ends_with("[]?");
  const auto tensors = [&](DType dtype, int64_t rank) {
    return tensor && tensor->dtype() == dtype && tensor->rank() == rank;
  };
  if (element == "int" || element == "SymInt") {
    return p.is_list() ? attr.get<Attribute::Ints>() || (one_for_all && attr.get<int64_t>())
                       : attr.get<int64_t>() != nullptr;
  }
  if (element == "float")
    return p.is_list() ? tensors(DType::kFloat64, 1) : attr.get<double>() != nullptr;
  if (element == "bool") return tensors(DType::kBool, p.is_list() ? 1 : 0);
  if (element == "Scalar") {
    return !p.is_list() && (attr.get<int64_t>() || attr.get<double>() || tensors(DType::kBool, 0) ||
                            tensors(DType::kComplex128, 0));
  }
  if (element == "ScalarType") return type && type->is_tensor();
  if (element == "str")
    return p.is_list() ? attr.get<Attribute::Strings>() != nullptr
                       : attr.get<std::string>() != nullptr;
  if (element == "Device" || element == "Layout" || element == "MemoryFormat") {
    return attr.get<std::string>() != nullptr;
  }
  // Of tensors those that are None, or none at all.
  if (element == "Tensor") return p.is_list() && attr.get<Attribute::Ints>();
  return false;
}

std::string Problem(const TorchParameter& p, const Given& given) {
  const auto wrong = [&](std::string_view got) {
    return StrCat("argument '", p.name, "': expected ", p.type, ", got ", got);
  };
  if (given.attr && !TakesAttribute(p, *given.attr)) return wrong(given.attr->ToString());
  const std::string_view element = p.element();
  std::vector<int64_t> places;
  for (const TorchOperandName& operand : given.operands) {
    if ((operand.index >= 0) != p.is_list()) {
      return wrong(operand.index >= 0 ? "a list" : "one value");
    }
    if (IsNumberKind(element) ? !TakesNumber(element, operand.number)
                              : element != "Tensor" || operand.number != 0) {
      return wrong(operand.number ? "a number" : "a tensor");
    }
    places.push_back(operand.index);
  }
  if (std::adjacent_find(places.begin(), places.end(), std::greater_equal<>()) != places.end()) {
    return StrCat("argument '", p.name, "' is given twice");
  }
  return "";
}

// --- Kernels --------------------------------------------------------------------------------

// Element types of operands that the CPU of PyTorch 2.14 has no kernel for, though the schema takes
// them: unsigned integers of more than 8 bits most of all. A table of what x2ir might write.
struct Gap {
  std::string_view dtypes, ops;  // between spaces
};
constexpr Gap kGaps[] = {
    {" uint16 uint32 uint64 ",
     " abs add addmm affine_grid_generator amax amin arange argmax argmin avg_pool1d avg_pool2d "
     "avg_pool3d bitwise_left_shift bitwise_not bitwise_right_shift clamp col2im conv1d conv2d "
     "conv3d cumprod cumsum div einsum fmod ge gt index_put le linear logical_and logical_not "
     "logical_or logical_xor lt matmul max_pool1d max_pool2d max_pool3d maximum minimum neg "
     "nonzero pad pixel_shuffle pow prelu prod relu remainder scatter_reduce sign sub sum topk "
     "tril "
     "triu "},
    {" bool ",
     " abs addmm arange argmax argmin avg_pool1d avg_pool2d avg_pool3d conv1d conv2d conv3d "
     "cumprod cumsum div einsum fmod linear matmul max_pool1d max_pool2d max_pool3d neg pad pow "
     "prelu relu remainder sub topk "},
    {" bool int8 int16 int32 int64 uint16 uint32 uint64 ",
     " upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d "
     "_upsample_nearest_exact2d _upsample_nearest_exact3d upsample_bilinear2d "
     "upsample_bicubic2d "},
    {" uint8 int8 int16 int32 int64 ",
     " max_pool1d col2im conv_transpose1d conv_transpose2d conv_transpose3d prelu leaky_relu elu "
     "celu linalg_vector_norm upsample_linear1d upsample_trilinear3d grid_sampler "},
    {" uint8 int8 int16 int32 ", " avg_pool1d avg_pool2d avg_pool3d "},
    {" float16 bfloat16 ",
     " avg_pool3d linalg_cholesky linalg_det linalg_solve linalg_solve_triangular fft_fft fft_ifft "
     "fft_rfft fft_irfft "},
};

std::string GapOf(const Node& call) {
  std::string_view op = call.op().view().substr(6);  // after "aten::"
  op = op.substr(0, op.find('.'));
  const Value* first = call.input(0);
  if (!first || first->dtype() == DType::kUndefined) return "";
  for (const Gap& gap : kGaps) {
    if (gap.dtypes.find(StrCat(" ", Name(first->dtype()), " ")) == gap.dtypes.npos) continue;
    if (gap.ops.find(StrCat(" ", op, " ")) == gap.ops.npos) continue;
    return StrCat("has no kernel for ", Name(first->dtype()));
  }
  return "";
}

}  // namespace

std::string_view TorchParameter::element() const {
  return type.substr(0, std::min(type.find('['), type.find('?')));
}

const TorchParameter* TorchSchema::Find(std::string_view parameter) const {
  for (const TorchParameter& p : parameters) {
    if (p.name == parameter) return &p;
  }
  return nullptr;
}

TorchSchema ParseTorchSchema(std::string_view text) { return Parse(text); }

const TorchSchema* FindTorchSchema(std::string_view op) {
  const auto it = Table().find(op);
  return it == Table().end() ? nullptr : &it->second;
}

std::vector<const TorchSchema*> AllTorchSchemas() {
  std::vector<const TorchSchema*> all;
  for (const auto& [name, schema] : Table()) all.push_back(&schema);
  return all;
}

TorchOperandName ParseTorchOperandName(std::string_view text) {
  TorchOperandName result;
  if (const size_t colon = text.find(':'); colon != text.npos) {
    result.number = colon + 1 < text.size() ? text[colon + 1] : 0;
    text = text.substr(0, colon);
  }
  if (const size_t open = text.find('['); open != text.npos && text.back() == ']') {
    result.index = 0;
    for (const char c : text.substr(open + 1, text.size() - open - 2)) {
      if (c < '0' || c > '9' || result.index > 1'000'000'000) break;
      result.index = result.index * 10 + (c - '0');
    }
    text = text.substr(0, open);
  }
  result.name = text;
  return result;
}

std::vector<std::string> CheckTorchCall(const Node& call) {
  std::vector<std::string> problems;
  const TorchSchema* schema = FindTorchSchema(call.op().view());
  if (!schema) {
    if (call.op().view().starts_with("aten::")) problems.push_back("there is no such operator");
    return problems;
  }
  std::map<std::string_view, Given> all;
  const Attribute* names = call.attrs().Find("operands");
  const auto* operands = names ? names->get<Attribute::Strings>() : nullptr;
  if ((operands ? operands->size() : 0) != call.num_inputs()) {
    problems.push_back("some operands have no names");
    return problems;
  }
  for (size_t i = 0; i < call.num_inputs(); ++i) {
    const TorchOperandName name = ParseTorchOperandName((*operands)[i]);
    all[name.name].operands.push_back(name);
    const Type& type = call.input(i)->type();
    if (type.is_known() && (!type.is_tensor() || type.dtype() == DType::kString)) {
      problems.push_back(StrCat("argument '", name.name, "' may not be ", type.ToString()));
    }
  }
  for (const auto& [name, attr] : call.attrs()) {
    if (name != "operands") all[name.view()].attr = &attr;
  }
  for (const auto& [name, given] : all) {
    const TorchParameter* parameter = schema->Find(name);
    std::string problem =
        parameter ? Problem(*parameter, given) : StrCat("there is no argument '", name, "'");
    if (!problem.empty()) problems.push_back(std::move(problem));
  }
  for (const TorchParameter& p : schema->parameters) {
    if (p.default_value.empty() && !all.contains(p.name)) {
      problems.push_back(StrCat("argument '", p.name, "' is missing"));
    }
  }
  if (schema->name.starts_with("aten::")) {
    if (std::string gap = GapOf(call); !gap.empty()) problems.push_back(std::move(gap));
  }
  const bool list = schema->results.size() == 1 && schema->results[0].ends_with("[]");
  if (!list && call.num_outputs() > schema->results.size()) {
    problems.push_back(
        StrCat("has ", schema->results.size(), " results, not ", call.num_outputs()));
  }
  return problems;
}

}  // namespace x2ir
