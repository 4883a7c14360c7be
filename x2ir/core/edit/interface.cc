#include "x2ir/core/edit/interface.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "x2ir/core/edit/cut.h"
#include "x2ir/core/edit/edit.h"
#include "x2ir/core/json_list.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/optimizer/transpose/io_layout.h"

namespace x2ir {
namespace {

using Strings = std::vector<std::string>;
using PortList = std::vector<InterfaceChange>;

constexpr char kMap[] = "map";
constexpr std::string_view kForm =
    "FILE.json, the report of the conversion, or SOURCE=NAME, SOURCE=NAME:nchw, :nhwc, :TYPE, or "
    "SOURCE==NUMBER or SOURCE==FILE.npy for an input that became a constant";

// Inputs without a default value.
std::vector<Value*> RequiredInputs(Graph& graph) {
  std::vector<Value*> values;
  for (Value* input : graph.inputs()) {
    if (!input->constant()) values.push_back(input);
  }
  return values;
}
std::vector<const Value*> RequiredInputs(const Graph& graph) {
  std::vector<const Value*> values;
  for (const Value* input : graph.inputs()) {
    if (!input->constant()) values.push_back(input);
  }
  return values;
}

template <typename Values>
auto Named(const Values& values, std::string_view name) {
  const auto it = std::find_if(values.begin(), values.end(),
                               [&](const Value* value) { return value->name() == name; });
  return it == values.end() ? nullptr : *it;
}

template <typename Values>
std::string NamesOf(const Values& values) {
  std::string names;
  for (const Value* value : values) StrAppend(&names, names.empty() ? "" : ", ", value->name());
  return names;
}

InterfaceChange PortOf(const Value& value) {
  return {value.name(), value.name(), value.type(), value.type(), {}, {}};
}

template <typename Values>
bool UpdatePorts(const Values& values, PortList& ports) {
  size_t next = 0;
  for (InterfaceChange& port : ports) {
    if (port.name.empty()) continue;
    if (next == values.size()) return false;
    port.name = values[next]->name();
    port.type = values[next]->type();
    ++next;
  }
  return next == values.size();
}

std::string PortJson(const InterfaceChange& port) {
  std::string json = StrCat("{\"source\": ", ReadableJson(port.source));
  const auto add = [&](std::string_view key, const std::string& text) {
    StrAppend(&json, ", \"", key, "\": ", text);
  };
  if (!port.name.empty()) add("name", ReadableJson(port.name));
  if (!port.perm.empty())
    add("perm", JsonList(port.perm, [](int64_t axis) { return StrCat(axis); }));
  if (port.source_type.is_known()) add("source_type", ReadableJson(port.source_type.ToString()));
  if (!port.name.empty() && port.type.is_known()) {
    add("type", ReadableJson(port.type.ToString()));
  }
  if (!port.constant.empty()) add("constant", ReadableJson(port.constant));
  return json + "}";
}

// --- Reports ---------------------------------------------------------------------------------

void ReadType(JsonReader& json, Type* type) {
  absl::StatusOr<Type> read = Type::Parse(json.String());
  if (read.ok()) *type = *std::move(read);
}

PortList ReadPorts(JsonReader& json) {
  PortList ports;
  json.Array([&](size_t) {
    InterfaceChange port;
    json.Object([&](std::string_view key) {
      if (key == "source") {
        port.source = json.String();
      } else if (key == "name") {
        port.name = json.String();
      } else if (key == "constant") {
        port.constant = json.String();
      } else if (key == "perm") {
        json.Array([&](size_t) { port.perm.push_back(json.Int()); });
      } else if (key == "source_type") {
        ReadType(json, &port.source_type);
      } else if (key == "type") {
        ReadType(json, &port.type);
      } else {
        json.Skip();
      }
    });
    ports.push_back(std::move(port));
  });
  return ports;
}

absl::StatusOr<Interface> ReadReport(const std::string& path) {
  auto file = MappedFile::Open(path);
  if (!file.ok()) {
    return OptionError(kMap, "'", path, "': expected ", kForm, " (",
                       std::string(file.status().message()), ")");
  }
  Interface interface;
  JsonReader json((*file)->view());
  json.Object([&](std::string_view key) {
    if (key != "interface") return json.Skip();
    interface.known = true;
    json.Object([&](std::string_view side) {
      if (side == "inputs") {
        interface.inputs = ReadPorts(json);
      } else if (side == "outputs") {
        interface.outputs = ReadPorts(json);
      } else {
        json.Skip();
      }
    });
  });
  json.Finish();
  if (!json.ok()) {
    return OptionError(kMap, "'", path, "': ", std::string(json.status().message()));
  }
  if (!interface.known) {
    return OptionError(kMap, "'", path,
                       "' does not describe inputs and outputs; expected the report that ",
                       "convert --report wrote for a model");
  }
  return interface;
}

// --- By hand ---------------------------------------------------------------------------------

struct Said {
  InterfaceChange port;
  std::string layout;  // "nchw", "nhwc"
  bool used = false;
};

absl::StatusOr<Said> ParseSaid(const std::string& text) {
  Said said;
  const size_t at = text.rfind('=');
  if (at == 0 || at + 1 == text.size()) return OptionError(kMap, "'", text, "': expected ", kForm);
  if (text[at - 1] == '=') {
    said.port.source = text.substr(0, at - 1);
    said.port.constant = text.substr(at + 1);
    if (said.port.source.empty()) return OptionError(kMap, "'", text, "': expected ", kForm);
    return said;
  }
  said.port.source = text.substr(0, at);
  std::string name = text.substr(at + 1);
  for (size_t colon = name.rfind(':'); colon != name.npos && colon > 0; colon = name.rfind(':')) {
    const std::string word = name.substr(colon + 1);
    const std::optional<DType> dtype = ParseDType(word);
    if (word == "nchw" || word == "nhwc") {
      said.layout = word;
    } else if (dtype && *dtype != DType::kUndefined) {
      said.port.type = Type::Tensor(*dtype);
    } else {
      break;
    }
    name.resize(colon);
  }
  said.port.name = std::move(name);
  return said;
}

absl::StatusOr<Interface> Complete(std::vector<Said> all, const Graph* source,
                                   const Graph& result) {
  Interface interface;
  const auto complete = [&](const auto& from, const auto& to, PortList& ports) -> absl::Status {
    // In the source's order, where that is known, else in the result's.
    for (const Value* value : source ? from : to) {
      const auto it = std::find_if(all.begin(), all.end(), [&](const Said& said) {
        return (source || said.port.name.empty() ? said.port.source : said.port.name) ==
               value->name();
      });
      if (it == all.end()) {
        if (Named(to, value->name())) ports.push_back(PortOf(*value));
        continue;
      }
      it->used = true;
      InterfaceChange port = it->port;
      if (source) port.source_type = value->type();
      if (port.name.empty()) {
        ports.push_back(std::move(port));
        continue;
      }
      const Value* there = Named(to, port.name);
      if (!there) {
        return OptionError(kMap, "the converted model has no '", port.name,
                           "'; it has: ", NamesOf(to));
      }
      if (port.type.is_known() && !source) {
        return OptionError(kMap, "'", port.source, "': its original element type is not known ",
                           "from one model; give a report (FILE.json)");
      }
      if (!port.type.is_known() && source) {
        port.source_type.set_dtype(there->type().dtype());
      }
      port.type = there->type();
      if (!source) port.source_type = there->type();
      if (!it->layout.empty()) {
        const Shape* shape = there->shape();
        if (!shape || shape->rank() < 3 || shape->rank() > 5) {
          return OptionError(kMap, "'", port.name, "' is ", there->type().ToString(),
                             "; expected a tensor of rank 3, 4 or 5");
        }
        port.perm = AsInts(it->layout == "nchw" ? ToChannelsFirst(shape->rank())
                                                : ToChannelsLast(shape->rank()));
      }
      ports.push_back(std::move(port));
    }
    return absl::OkStatus();
  };
  const auto inputs = RequiredInputs(result);
  const auto of_source = source ? RequiredInputs(*source) : std::vector<const Value*>();
  X2IR_RETURN_IF_ERROR(complete(of_source, inputs, interface.inputs));
  const std::vector<const Value*> outputs(result.outputs().begin(), result.outputs().end());
  std::vector<const Value*> source_outputs;
  if (source) source_outputs.assign(source->outputs().begin(), source->outputs().end());
  X2IR_RETURN_IF_ERROR(complete(source_outputs, outputs, interface.outputs));
  for (const Said& said : all) {
    if (said.used) continue;
    if (!source && said.port.name.empty()) {
      return OptionError(kMap, "'", said.port.source, "': an input that became a constant needs ",
                         "the model that still has the input; only one model is given");
    }
    const std::string& name = source ? said.port.source : said.port.name;
    return OptionError(kMap, source ? "the source" : "the model", " has no input or output '", name,
                       "'; it has: ", NamesOf(source ? of_source : inputs), ", ",
                       NamesOf(source ? source_outputs : outputs));
  }
  return interface;
}

// --- Graphs ----------------------------------------------------------------------------------

// The values that ports are: by their names, else by position.
absl::StatusOr<std::vector<Value*>> ValuesOf(const std::vector<Value*>& values,
                                             const PortList& ports, std::string_view what) {
  std::vector<const InterfaceChange*> left;
  for (const InterfaceChange& port : ports) {
    if (!port.name.empty()) left.push_back(&port);
  }
  std::vector<Value*> found;
  for (const InterfaceChange* port : left) {
    if (Value* value = Named(values, port->name)) found.push_back(value);
  }
  if (found.size() == left.size()) return found;
  // Formats that have names of their own keep the order.
  if (values.size() == left.size()) return values;
  return OptionError(kMap, "the model has ", values.size(), " ", what, "s, but ", left.size(),
                     " are given; it has: ", NamesOf(values));
}

absl::Status CheckCast(const InterfaceChange& port, DType from, DType to) {
  const auto kind = [](DType t) { return IsFloating(t) ? 0 : IsInteger(t) ? 1 : 2; };
  if (kind(from) == kind(to) && kind(from) != 2) return absl::OkStatus();
  return OptionError(kMap, "'", port.source, "' is ", Name(from), " in one model and ", Name(to),
                     " in the other, which represents it with a scale; convert with ",
                     OptionText("io_type"), " float32, or give inputs of that type by --io");
}

bool ChangesType(const InterfaceChange& port) {
  return port.source_type.is_tensor() && port.type.is_tensor() &&
         port.source_type.dtype() != DType::kUndefined && port.type.dtype() != DType::kUndefined &&
         port.source_type.dtype() != port.type.dtype();
}

absl::Status CheckPerm(const InterfaceChange& port, const Value& value) {
  if (port.perm.empty()) return absl::OkStatus();
  std::vector<int64_t> sorted = port.perm;
  std::sort(sorted.begin(), sorted.end());
  bool fits = value.shape() && value.shape()->rank() == static_cast<int64_t>(sorted.size());
  for (size_t i = 0; i < sorted.size(); ++i) fits = fits && sorted[i] == static_cast<int64_t>(i);
  if (fits) return absl::OkStatus();
  return OptionError(kMap, "'", value.name(), "' is ", value.type().ToString(),
                     ", which does not match the layout that the conversion gave it");
}

void SetElementType(Value* value, DType dtype) {
  Type type = value->type();
  type.set_dtype(dtype);
  value->set_type(std::move(type));
}

Node* InsertCast(Graph& graph, Node* before, DType to) {
  Node* cast = graph.InsertNode(before, kIrDialect, "cast", std::vector<Value*>{nullptr});
  cast->SetAttr("to", std::string(Name(to)));
  cast->SetAttr("saturate", int64_t{1});
  cast->SetAttr("round_mode", std::string("up"));
  return cast;
}

void CastInput(Graph& graph, Value* input, DType to) {
  const DType inside_type = input->dtype();
  Node* cast = InsertCast(graph, graph.first(), inside_type);
  Value* inside = graph.AddNodeOutput(cast, "", input->type());
  graph.NameValues(cast, StrCat(input->name(), "_", Name(inside_type)));
  graph.ReplaceAllUses(input, inside);
  cast->SetInput(0, input);
  SetElementType(input, to);
}

Value* AppendCopy(Graph& graph, Value* value, Node* node) {
  Value* copy = graph.AddNodeOutput(node, "", value->type());
  graph.NameValues(node, StrCat(value->name(), "_out"));
  return copy;
}

absl::Status RestoreInputs(Graph& graph, const PortList& ports, NamePairs& names) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> values,
                        ValuesOf(RequiredInputs(graph), ports, "input"));
  std::vector<Value*> order;
  size_t next = 0;
  for (const InterfaceChange& port : ports) {
    if (port.name.empty()) {
      if (!port.source_type.is_known()) {
        return OptionError(kMap, "'", port.source, "': its type is not known");
      }
      order.push_back(graph.AddInput(graph.UniqueName(port.source), port.source_type));
      names.emplace_back(order.back()->name(), port.source);
      continue;
    }
    Value* input = values[next++];
    X2IR_RETURN_IF_ERROR(CheckPerm(port, *input));
    if (!port.perm.empty()) {
      X2IR_RETURN_IF_ERROR(PermuteInput(graph, input, Inverse(AsPerm(port.perm)), "_inside"));
    }
    if (ChangesType(port) && input->dtype() != port.source_type.dtype()) {
      X2IR_RETURN_IF_ERROR(CheckCast(port, port.source_type.dtype(), input->dtype()));
      CastInput(graph, input, port.source_type.dtype());
    }
    names.emplace_back(input->name(), port.source);
    order.push_back(input);
  }
  for (Value* input : graph.inputs()) {
    if (std::find(order.begin(), order.end(), input) == order.end()) order.push_back(input);
  }
  for (size_t i = 0; i < order.size(); ++i) graph.ReplaceInputAt(i, order[i]);
  return absl::OkStatus();
}

absl::Status RestoreOutputs(Graph& graph, const PortList& ports, NamePairs& names) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> values,
                        ValuesOf(graph.outputs(), ports, "output"));
  for (size_t k = 0; k < values.size(); ++k) {
    const InterfaceChange& port = ports[k];
    Value* output = values[k];
    const size_t at =
        std::find(graph.outputs().begin(), graph.outputs().end(), output) - graph.outputs().begin();
    X2IR_RETURN_IF_ERROR(CheckPerm(port, *output));
    const bool casts = ChangesType(port) && output->dtype() != port.source_type.dtype();
    if (casts) X2IR_RETURN_IF_ERROR(CheckCast(port, port.source_type.dtype(), output->dtype()));
    const bool changes = casts || !port.perm.empty() || port.source != output->name();
    if (changes && (output->is_input() || output->graph_output_count() > 1)) {
      Node* node = graph.AppendNode(kIrDialect, "identity", {output});
      output = AppendCopy(graph, output, node);
      graph.SetOutput(at, output);
    }
    if (!port.perm.empty()) {
      PermuteOutput(graph, output, Inverse(AsPerm(port.perm)), "_inside");
      output = graph.outputs()[at];
    }
    if (casts) {
      Node* cast = InsertCast(graph, nullptr, port.source_type.dtype());
      Value* copy = AppendCopy(graph, output, cast);
      graph.SetOutput(at, copy);
      graph.SwapNames(output, copy);
      cast->SetInput(0, output);
      SetElementType(copy, port.source_type.dtype());
      output = copy;
    }
    names.emplace_back(output->name(), port.source);
  }
  return absl::OkStatus();
}

}  // namespace

std::string Interface::ToJson() const {
  return StrCat("{\n    \"inputs\": ", JsonList(inputs, PortJson),
                ",\n    \"outputs\": ", JsonList(outputs, PortJson), "\n  }");
}

Interface InterfaceOf(const Graph& graph) {
  Interface interface;
  interface.known = true;
  for (const Value* input : RequiredInputs(graph)) interface.inputs.push_back(PortOf(*input));
  for (const Value* output : graph.outputs()) interface.outputs.push_back(PortOf(*output));
  return interface;
}

void Update(const Graph& graph, Interface& interface) {
  if (!interface.known) return;
  if (!UpdatePorts(RequiredInputs(graph), interface.inputs) ||
      !UpdatePorts(graph.outputs(), interface.outputs)) {
    interface = {};
  }
}

void NoteConstant(const std::string& file_or_number, const std::string& name, PortList& inputs) {
  for (InterfaceChange& port : inputs) {
    if (port.source != name) continue;
    port.name.clear();
    port.constant = file_or_number;
  }
}

void NoteTypes(const Graph& graph, bool but_elements, Interface& interface) {
  Update(graph, interface);
  for (InterfaceChange& port : interface.inputs) {
    if (port.name.empty()) continue;
    const DType before = port.source_type.dtype();
    port.source_type = port.type;
    if (but_elements && before != DType::kUndefined) port.source_type.set_dtype(before);
  }
  for (InterfaceChange& port : interface.outputs)
    port.source_type = but_elements ? Type() : port.type;
}

void NotePerm(const std::vector<int64_t>& perm, const std::string& name,
              std::vector<InterfaceChange>& ports) {
  for (InterfaceChange& port : ports) {
    if (port.name == name && !name.empty()) {
      port.perm = AsInts(Compose(AsPerm(port.perm), AsPerm(perm)));
    }
  }
}

absl::StatusOr<Interface> ReadInterface(const Strings& texts, const Graph* source,
                                        const Graph& result) {
  std::vector<Said> said;
  for (const std::string& text : texts) {
    if (text.find('=') == text.npos) {
      if (texts.size() > 1) {
        return OptionError(kMap, "a report cannot be combined with other values; '", text,
                           "' is one of ", texts.size(), " values");
      }
      return ReadReport(text);
    }
    X2IR_ASSIGN_OR_RETURN(said.emplace_back(), ParseSaid(text));
  }
  return Complete(std::move(said), source, result);
}

absl::Status AsConverted(Graph& source, Interface& interface) {
  Strings inputs, outputs;
  bool cuts = false;
  for (const InterfaceChange& port : interface.inputs) {
    const Value* value = source.Find(port.source);
    cuts = cuts || !value || !value->is_input();
    inputs.push_back(port.source);
  }
  if (cuts) cuts = !inputs.empty();
  for (const InterfaceChange& port : interface.outputs) outputs.push_back(port.source);
  Strings own;
  for (const Value* output : std::as_const(source).outputs()) own.push_back(output->name());
  // Two outputs may be one value.
  const bool fewer = outputs != own &&
                     !std::is_permutation(outputs.begin(), outputs.end(), own.begin(), own.end());
  if (interface.known && (cuts || fewer)) {
    if (absl::Status s = Cut(source, cuts ? inputs : Strings(), fewer ? outputs : Strings());
        !s.ok()) {
      return OptionError(kMap, "it does not describe this model: ", std::string(s.message()));
    }
  }
  for (const InterfaceChange& port : interface.inputs) {
    if (port.constant.empty()) continue;
    const auto names = RequiredInputs(source);
    Value* input = Named(names, port.source);
    if (!input) {
      return OptionError(kMap, "the model has no input '", port.source,
                         "'; its inputs are: ", NamesOf(names));
    }
    const auto& all = source.inputs();
    const size_t at = std::find(all.begin(), all.end(), input) - all.begin();
    const Type type = input->type();
    X2IR_RETURN_IF_ERROR(FoldInputs(source, {{port.source, port.constant}}));
    source.Rename(input, source.UniqueName(StrCat(port.source, "_constant")));
    // The input stays in its place, unused.
    std::vector<Value*> order = source.inputs();
    order.insert(order.begin() + static_cast<ptrdiff_t>(at), source.AddInput(port.source, type));
    for (size_t i = 0; i < order.size(); ++i) source.ReplaceInputAt(i, order[i]);
  }
  for (InterfaceChange& port : interface.outputs) {
    const Value* output = source.Find(port.source);
    if (!port.source_type.is_known() && output) port.source_type = output->type();
  }
  return absl::OkStatus();
}

absl::Status AsSource(Graph& result, const Interface& interface) {
  NamePairs names;
  X2IR_RETURN_IF_ERROR(RestoreInputs(result, interface.inputs, names));
  X2IR_RETURN_IF_ERROR(RestoreOutputs(result, interface.outputs, names));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (absl::Status s = RenameValues(result, names); !s.ok()) {
    return OptionError(kMap, std::string(s.message()));
  }
  return absl::OkStatus();
}

Strings MissingMap(const Graph& source, const Graph& result) {
  Strings missing;
  const auto compare = [&](const auto& from, const auto& to, bool inputs) {
    for (size_t i = 0; i < from.size(); ++i) {
      const Value* there = Named(to, from[i]->name());
      if (!there && from.size() == to.size()) there = to[i];
      if (!there) {
        if (inputs) missing.push_back(StrCat(from[i]->name(), "==FILE.npy"));
        continue;
      }
      const Type &a = from[i]->type(), &b = there->type();
      if (!a.is_tensor() || !b.is_tensor()) continue;
      std::string change;
      if (a.shape() && b.shape() && a.shape()->rank() == b.shape()->rank() &&
          a.shape()->rank() >= 3 && a.shape()->rank() <= 5 && *a.shape() != *b.shape()) {
        const int64_t rank = a.shape()->rank();
        if (Permuted(*a.shape(), ToChannelsFirst(rank)) == *b.shape()) {
          change += ":nchw";
        } else if (Permuted(*a.shape(), ToChannelsLast(rank)) == *b.shape()) {
          change += ":nhwc";
        }
      }
      const bool floats = IsFloating(a.dtype()) && IsFloating(b.dtype());
      const bool ints = IsInteger(a.dtype()) && IsInteger(b.dtype());
      if (a.dtype() != b.dtype() && (floats || ints)) StrAppend(&change, ":", Name(b.dtype()));
      if (!change.empty()) {
        missing.push_back(StrCat(from[i]->name(), "=", there->name(), change));
      }
    }
  };
  compare(RequiredInputs(source), RequiredInputs(result), true);
  compare(source.outputs(), result.outputs(), false);
  return missing;
}

}  // namespace x2ir
