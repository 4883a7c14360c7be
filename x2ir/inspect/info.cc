// Collects and prints what ModelInfo says of a model.
#include "x2ir/inspect/info.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "x2ir/core/convert.h"
#include "x2ir/core/json_list.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/columns.h"

namespace x2ir {
namespace {

std::vector<ModelInfo::Port> Ports(const std::vector<Value*>& values) {
  std::vector<ModelInfo::Port> ports;
  for (const Value* value : values) {
    ports.push_back(
        {value->name(), value->type(), value->is_input() && value->constant() != nullptr});
  }
  return ports;
}

// Whether the rank or a dim is not known, not even by name.
bool IsOpen(const Type& type) {
  if (!type.is_known()) return true;
  if (!type.is_tensor()) return false;
  if (!type.shape() || type.dtype() == DType::kUndefined) return true;
  return std::any_of(type.shape()->begin(), type.shape()->end(),
                     [](const Dim& dim) { return dim.is_unknown(); });
}

// What the file leaves open: many formats do not state the types of outputs, or their ranks.
void FillOpen(std::vector<ModelInfo::Port>& ports, absl::Span<const Value* const> values) {
  for (size_t i = 0; i < ports.size() && i < values.size(); ++i) {
    if (!IsOpen(ports[i].type) || !values[i]->type().is_known()) continue;
    const bool says_more = values[i]->shape() || !ports[i].type.shape();
    if (says_more) ports[i].type = values[i]->type();
  }
}

int64_t BytesOf(const Tensor& tensor) {
  if (tensor.is_sparse()) return BytesOf(tensor.sparse().values) + BytesOf(tensor.sparse().indices);
  if (!tensor.is_string()) return static_cast<int64_t>(tensor.nbytes());
  int64_t bytes = 0;
  for (const std::string& text : tensor.strings()) bytes += static_cast<int64_t>(text.size());
  return bytes;
}

// A sum that a hostile file cannot make overflow.
void Add(int64_t& sum, int64_t n) {
  sum =
      n > std::numeric_limits<int64_t>::max() - sum ? std::numeric_limits<int64_t>::max() : sum + n;
}

void AddWeight(ModelInfo& info, const Tensor& tensor) {
  const int64_t bytes = BytesOf(tensor);
  for (ModelInfo::Weights* w : {&info.weights[std::string(Name(tensor.dtype()))], &info.total}) {
    Add(w->tensors, 1);
    Add(w->elements, tensor.num_elements());
    Add(w->bytes, bytes);
  }
}

void Visit(ModelInfo& info, const Graph& graph) {
  for (const Value* input : graph.inputs()) {
    if (input->constant()) AddWeight(info, *input->constant());
  }
  for (const Value* constant : graph.constants()) AddWeight(info, *constant->constant());
  for (const Node* node : graph.nodes()) {
    ++info.nodes;
    for (const auto& [name, attr] : node->attrs()) {
      // ONNX's Constant nodes are weights too.
      if (const Tensor* tensor = attr.get<Tensor>()) AddWeight(info, *tensor);
    }
    for (const Graph* inner : node->subgraphs()) Visit(info, *inner);
  }
}

// Of inputs past_key_values.N.key and the like: bytes of one step of one sequence.
int64_t CacheBytesPerToken(const Graph& graph) {
  int64_t all = 0;
  for (const Value* input : graph.inputs()) {
    const Shape* shape = input->shape();
    if (!input->name().starts_with("past_key_values.") || !shape) continue;
    int64_t elements = 1, open = 0;
    for (const Dim& dim : *shape) {
      open += dim.is_static() ? 0 : 1;
      elements = dim.is_static() ? CheckedProduct({elements, dim.value()}).value_or(0) : elements;
    }
    if (open == 2) Add(all, ByteSize(input->dtype(), elements).value_or(0));
  }
  return all;
}

std::string Padded(std::string_view text, size_t width) {
  return StrCat(text, std::string(text.size() < width ? width - text.size() : 1, ' '));
}

template <typename Range, typename F>
std::string JsonMap(const Range& range, F item) {
  std::string text = "{";
  for (const auto& [key, value] : range) {
    StrAppend(&text, text.size() > 1 ? ", " : "", JsonString(key), ": ", item(value));
  }
  return text + "}";
}

}  // namespace

ModelInfo DescribeModel(const Model& model) {
  ModelInfo info;
  info.graph = model.graph->name();
  info.producer = model.producer_name;
  if (!model.producer_version.empty()) {
    StrAppend(&info.producer, info.producer.empty() ? "" : " ", model.producer_version);
  }
  info.ir_version = model.ir_version;
  info.opsets = model.opset_imports;
  info.inputs = Ports(model.graph->inputs());
  info.outputs = Ports(model.graph->outputs());
  info.functions = static_cast<int64_t>(model.functions.size());
  info.ops = CountOps(*model.graph);
  Visit(info, *model.graph);
  return info;
}

absl::StatusOr<ModelInfo> Inspect(const Source& source, const LoadOptions& options) {
  X2IR_ASSIGN_OR_RETURN(const std::string format, DetectFormat(source));
  X2IR_ASSIGN_OR_RETURN(Model model, Load(source, format, options));
  ModelInfo info = DescribeModel(model);
  info.format = format;
  const bool has_graph = info.nodes > 0 || !info.inputs.empty();
  absl::StatusOr<Model> ir = ToIr(std::move(model), {}, &info.report);
  info.conversion = ir.status();
  if (ir.ok()) info.cache_bytes_per_token = CacheBytesPerToken(*ir->graph);
  if (ir.ok() && !has_graph) {
    // A checkpoint has no graph: the one that is made of it is described.
    ModelInfo made = DescribeModel(*ir);
    info.inputs = std::move(made.inputs), info.outputs = std::move(made.outputs);
    info.nodes = made.nodes, info.ops = std::move(made.ops);
    info.weights = std::move(made.weights), info.total = made.total;
  }
  if (!ir.ok() && !info.report.failures.empty()) {
    // What the rest of the model says of its outputs, beside what would not convert. The failed
    // attempt took the model.
    ImportOptions keeping;
    keeping.foreign.all = true;
    ir = Load(source, format, options);
    if (ir.ok()) ir = ToIr(*std::move(ir), keeping);
  }
  if (ir.ok()) {
    FillOpen(info.inputs, ir->graph->inputs());
    FillOpen(info.outputs, ir->graph->outputs());
  }
  return info;
}

std::string ModelInfo::ToText() const {
  std::string text;
  auto field = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) StrAppend(&text, Padded(name, 12), value, "\n");
  };
  field("format", ir_version == 0 ? format : StrCat(format, ", file version ", ir_version));
  field("graph", graph);
  field("producer", producer);
  std::string list;
  for (const OpsetImport& opset : opsets) {
    StrAppend(&list, list.empty() ? "" : ", ",
              opset.domain.empty() ? "" : StrCat(opset.domain, " "), opset.version);
  }
  field("opsets", list);

  auto ports = [&](std::string_view name, const std::vector<Port>& all) {
    size_t defaults = 0;
    std::string_view title = name;
    for (const Port& port : all) {
      if (port.has_default) {
        ++defaults;
        continue;
      }
      field(title.empty() ? " " : title, StrCat(port.name, ": ", port.type.ToString()));
      title = "";
    }
    if (defaults != 0) {
      field(title.empty() ? " " : title, StrCat("and ", defaults, " with a default value"));
    }
  };
  ports("inputs", inputs);
  ports("outputs", outputs);
  std::string open;
  for (const Port& input : inputs) {
    if (IsOpen(input.type) && !input.has_default)
      StrAppend(&open, open.empty() ? "" : ", ", input.name);
  }
  if (!open.empty()) {
    field("unknown", StrCat("dims of ", open, "; ", OptionText("shapes"),
                            " NAME:1,3,... at conversion fixes them"));
  }

  field("parameters",
        StrCat(Grouped(total.elements), " in ", Grouped(total.tensors),
               total.tensors == 1 ? " tensor, " : " tensors, ", SizeText(total.bytes)));
  if (weights.size() > 1) {
    for (const auto& [type, w] : weights) {
      field(" ", StrCat(type, " ", Grouped(w.elements), " in ", Grouped(w.tensors), ", ",
                        SizeText(w.bytes)));
    }
  }
  if (cache_bytes_per_token != 0) {
    field("cache", StrCat(SizeText(cache_bytes_per_token), " for each token of a sequence"));
  }
  if (functions != 0) field("functions", Grouped(functions));
  field("nodes", Grouped(nodes));
  std::vector<std::pair<std::string, int64_t>> by_count(ops.begin(), ops.end());
  std::stable_sort(by_count.begin(), by_count.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [op, count] : by_count) field(" ", StrCat(Padded(Grouped(count), 8), op));

  if (conversion.ok()) {
    field("converts", "yes, every op");
  } else if (!report.failures.empty()) {
    field("converts",
          StrCat("no, ", report.failures.size(), report.failures.size() == 1 ? " op" : " ops",
                 " cannot be converted:"));
    text += report.FailuresText();
  } else {
    field("converts", StrCat("no: ", std::string(conversion.message())));
  }
  return text;
}

std::string ModelInfo::ToJson() const {
  auto ports = [](const std::vector<Port>& all) {
    return JsonList(all, [](const Port& port) {
      const Type& type = port.type;
      const auto size = [](const Dim& dim) {
        return dim.is_static()    ? StrCat(dim.value())
               : dim.is_unknown() ? "null"
                                  : JsonString(dim.ToString());
      };
      return StrCat("\n    {\"name\": ", JsonString(port.name),
                    ", \"type\": ", JsonString(type.ToString()), ", \"dtype\": ",
                    type.is_tensor() && type.dtype() != DType::kUndefined
                        ? JsonString(Name(type.dtype()))
                        : "null",
                    ", \"shape\": ", type.shape() ? JsonList(*type.shape(), size) : "null",
                    ", \"has_default\": ", port.has_default ? "true" : "false", "}");
    });
  };
  auto counts = [](const Weights& w) {
    return StrCat("{\"tensors\": ", w.tensors, ", \"elements\": ", w.elements,
                  ", \"bytes\": ", w.bytes, "}");
  };
  std::string failures = JsonList(report.failures, [](const Failure& f) {
    return StrCat("\n    {\"op\": ", JsonString(f.op), ", \"count\": ", f.count,
                  ", \"reason\": ", JsonString(f.reason),
                  ", \"nodes\": ", JsonList(f.nodes, JsonString),
                  ", \"hint\": ", JsonString(f.hint), "}");
  });
  return StrCat("{\n  \"format\": ", JsonString(format), ",\n  \"ir_version\": ", ir_version,
                ",\n  \"graph\": ", JsonString(graph), ",\n  \"producer\": ", JsonString(producer),
                ",\n  \"opsets\": ",
                JsonList(opsets,
                         [](const OpsetImport& opset) {
                           return StrCat("{\"domain\": ", JsonString(opset.domain),
                                         ", \"version\": ", opset.version, "}");
                         }),
                ",\n  \"inputs\": ", ports(inputs), ",\n  \"outputs\": ", ports(outputs),
                ",\n  \"nodes\": ", nodes, ",\n  \"functions\": ", functions,
                ",\n  \"ops\": ", JsonMap(ops, [](int64_t n) { return StrCat(n); }),
                ",\n  \"parameters\": ", counts(total),
                ",\n  \"weights\": ", JsonMap(weights, counts),
                ",\n  \"cache_bytes_per_token\": ", cache_bytes_per_token,
                ",\n  \"converts\": ", conversion.ok() ? "true" : "false",
                ",\n  \"error\": ", JsonString(std::string(conversion.message())),
                ",\n  \"failures\": ", failures, "\n}\n");
}

}  // namespace x2ir
