// Binding the tensors of an io file to a graph's inputs and outputs, and running them.
#include "x2ir/core/io_file.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "x2ir/core/usual_inputs.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

constexpr std::string_view kCase = "case";

// "case12.in_0" is case 12 and "in_0"; without a prefix the case is -1.
std::pair<int64_t, std::string_view> SplitCase(std::string_view name) {
  const size_t dot = name.find('.');
  if (name.starts_with(kCase) && dot != std::string_view::npos) {
    if (const auto number = ParseIndex(name.substr(kCase.size(), dot - kCase.size()))) {
      return {*number, name.substr(dot + 1)};
    }
  }
  return {-1, name};
}

// One side of a graph: its inputs, or its outputs.
struct Side {
  std::string_view prefix;  // "in_"
  std::string_view what;    // "input"
  absl::Span<const Value* const> values;

  std::optional<size_t> Named(std::string_view name) const {
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i]->name() == name) return i;
    }
    return std::nullopt;
  }
  // 3 of "in_3".
  std::optional<int64_t> Position(std::string_view name) const {
    if (!name.starts_with(prefix)) return std::nullopt;
    return ParseIndex(name.substr(prefix.size()));
  }
  std::string Names() const {
    std::string names;
    for (const Value* value : values) StrAppend(&names, names.empty() ? "" : ", ", value->name());
    return names.empty() ? "none" : names;
  }
};

Side Inputs(const Graph& graph) { return {"in_", "input", graph.inputs()}; }
Side Outputs(const Graph& graph) { return {"out_", "output", graph.outputs()}; }

using Tensors = std::vector<std::pair<std::string_view, const Tensor*>>;

// Binds what belongs to this side and takes it out of `tensors`.
// The complex numbers that pairs along the last axis are; what is no pairs stays.
Tensor FromPairs(const Tensor& pairs) {
  if (pairs.is_sparse() || pairs.rank() == 0 || pairs.dims().back() != 2 ||
      (pairs.dtype() != DType::kFloat32 && pairs.dtype() != DType::kFloat64)) {
    return pairs;
  }
  const bool narrow = pairs.dtype() == DType::kFloat32;
  std::vector<int64_t> dims = pairs.dims();
  dims.pop_back();
  return *Tensor::View(narrow ? DType::kComplex64 : DType::kComplex128, std::move(dims),
                       pairs.bytes(), std::make_shared<Tensor>(pairs));
}

absl::Status BindSide(const Side& side, Tensors& tensors,
                      std::vector<std::optional<Tensor>>* bound) {
  bound->resize(side.values.size());
  // A model may really call its inputs in_0, in_1, ..., in whatever order. Those names are real
  // ones only if all tensors of the file with such a name are.
  bool real = true;
  for (const auto& entry : tensors) {
    if (side.Position(entry.first)) real = real && side.Named(entry.first).has_value();
  }
  // Where all are there by position, a name may mean the other side: an input may be called out_1.
  std::set<int64_t> positions;
  for (const auto& entry : tensors) {
    if (const auto at = side.Position(entry.first)) positions.insert(*at);
  }
  const bool by_position = !real && positions.size() == side.values.size();
  Tensors others;
  for (const auto& [name, tensor] : tensors) {
    const std::optional<int64_t> at = side.Position(name);
    std::optional<size_t> index;
    if (real || (!at && !by_position)) index = side.Named(name);
    if (!index && at) {
      if (*at >= static_cast<int64_t>(side.values.size())) {
        return Invalid("tensor '", name, "': the model has only ", side.values.size(), " ",
                       side.what, side.values.size() == 1 ? "" : "s", " (", side.Names(), ")");
      }
      index = static_cast<size_t>(*at);
    }
    if (!index) {
      others.emplace_back(name, tensor);
      continue;
    }
    if ((*bound)[*index]) {
      return Invalid("tensor '", name, "': there are two tensors for ", side.what, " '",
                     side.values[*index]->name(), "'");
    }
    const Type& type = side.values[*index]->type();
    const bool pairs = IsComplex(tensor->dtype()) && type.is_tensor() && IsFloating(type.dtype());
    // Those who write such files often make a vector of one element of a scalar.
    const bool scalar = side.prefix == "in_" && type.has_shape() && type.shape()->rank() == 0 &&
                        tensor->rank() == 1 && tensor->dim(0) == 1 && !tensor->is_sparse();
    // And pairs of floats of complex numbers.
    const bool parts = type.is_tensor() && IsComplex(type.dtype()) && IsFloating(tensor->dtype());
    (*bound)[*index] = pairs    ? AsPairs(*tensor)
                       : parts  ? FromPairs(*tensor)
                       : scalar ? tensor->Reshaped({})
                                : *tensor;
  }
  tensors = std::move(others);
  return absl::OkStatus();
}

// Tensors by position whose real names the file says take these, where all of a side are known: a
// reader of another order has the same names.
void TakeRealNames(const SafetensorsMetadata& metadata, const Side& side,
                   std::vector<NamedTensor>& tensors) {
  std::map<std::string, std::string_view, std::less<>> real;  // of "in_0", ...
  std::set<std::string_view> taken;
  for (const NamedTensor& t : tensors) {
    const std::string_view name = SplitCase(t.name).second;
    if (side.Named(t.name)) return;
    if (!side.Position(name) || real.contains(name)) continue;
    const auto said = std::find_if(metadata.begin(), metadata.end(),
                                   [&](const auto& entry) { return entry.first == name; });
    if (said == metadata.end() || !side.Named(said->second) || !taken.insert(said->second).second) {
      return;
    }
    real.emplace(name, said->second);
  }
  for (NamedTensor& t : tensors) {
    const std::string_view name = SplitCase(t.name).second;
    const auto found = real.find(name);
    if (found == real.end()) continue;
    t.name = StrCat(t.name.substr(0, t.name.size() - name.size()), found->second);
  }
}

absl::StatusOr<IoCase> BindCase(std::string name, Tensors tensors, const Graph& graph) {
  IoCase io;
  io.name = std::move(name);
  const Side inputs = Inputs(graph), outputs = Outputs(graph);
  const std::string where = io.name.empty() ? "" : StrCat(io.name, ": ");
  for (const auto& [side, bound] : {std::pair(&inputs, &io.inputs), {&outputs, &io.outputs}}) {
    if (absl::Status s = BindSide(*side, tensors, bound); !s.ok()) {
      return where.empty() ? s : Annotate(s, io.name);
    }
  }
  if (!tensors.empty()) {
    return Invalid(where, "tensor '", tensors[0].first,
                   "' is neither an input nor an output of the model; inputs: ", inputs.Names(),
                   "; outputs: ", outputs.Names());
  }
  return io;
}

}  // namespace

Tensor AsPairs(const Tensor& complex) {
  if (!IsComplex(complex.dtype()) || complex.is_sparse()) return complex;
  const DType part = complex.dtype() == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64;
  std::vector<int64_t> dims = complex.dims();
  dims.push_back(2);
  return *Tensor::View(part, std::move(dims), complex.bytes(), std::make_shared<Tensor>(complex));
}

namespace {

// Cases in order: those with numbers, then those with names of their own ("batch.input_ids").
using CaseKey = std::pair<int64_t, std::string>;
constexpr int64_t kNamedCase = std::numeric_limits<int64_t>::max();

bool IsOfModel(std::string_view name, const Graph& graph) {
  const Side inputs = Inputs(graph), outputs = Outputs(graph);
  return inputs.Named(name) || outputs.Named(name) || inputs.Position(name) ||
         outputs.Position(name);
}

// The case of a tensor, and its name there. Nothing: it has no prefix.
std::optional<std::pair<CaseKey, std::string_view>> CaseOf(std::string_view name,
                                                           const Graph& graph) {
  // A model's own name may look like a prefix.
  if (Inputs(graph).Named(name) || Outputs(graph).Named(name)) return std::nullopt;
  if (const auto [number, rest] = SplitCase(name); number >= 0) {
    return std::pair{CaseKey{number, StrCat(kCase, number)}, rest};
  }
  const size_t dot = name.find('.');
  if (dot == name.npos || dot == 0 || name.substr(0, dot) == kCase ||
      !IsOfModel(name.substr(dot + 1), graph)) {
    return std::nullopt;
  }
  return std::pair{CaseKey{kNamedCase, std::string(name.substr(0, dot))}, name.substr(dot + 1)};
}

}  // namespace

absl::StatusOr<std::vector<IoCase>> BindIo(absl::Span<const NamedTensor> tensors,
                                           const Graph& graph) {
  std::map<CaseKey, Tensors> cases;
  Tensors of_all;
  for (const NamedTensor& t : tensors) {
    if (const auto of = CaseOf(t.name, graph)) {
      cases[of->first].emplace_back(of->second, &t.tensor);
    } else {
      of_all.emplace_back(t.name, &t.tensor);
    }
  }
  std::vector<IoCase> result;
  if (cases.empty()) {
    X2IR_ASSIGN_OR_RETURN(IoCase io, BindCase("", std::move(of_all), graph));
    result.push_back(std::move(io));
  }
  // Tensors that other cases have too are a case of their own, the first.
  const auto has = [](const Tensors& in, std::string_view name) {
    return std::any_of(in.begin(), in.end(), [&](const auto& t) { return t.first == name; });
  };
  const bool first = std::any_of(cases.begin(), cases.end(), [&](const auto& entry) {
    return std::any_of(of_all.begin(), of_all.end(),
                       [&](const auto& t) { return has(entry.second, t.first); });
  });
  if (first) cases[CaseKey{0, StrCat(kCase, 0)}];
  for (auto& [key, own] : cases) {
    for (const auto& t : of_all) {
      if (!first || !has(own, t.first)) own.push_back(t);
    }
    X2IR_ASSIGN_OR_RETURN(IoCase io, BindCase(key.second, std::move(own), graph));
    result.push_back(std::move(io));
  }
  return result;
}

namespace {

// The names of a file's cases, by the tensors' prefixes: "case0", ...; tensors without one are of
// `first`, where other cases have them too, or else of every case.
struct CaseNames {
  explicit CaseNames(const Safetensors& file) {
    std::set<std::string> prefixed, plain;
    for (const NamedTensor& entry : file.tensors) {
      const auto [number, name] = SplitCase(entry.name);
      (number < 0 ? plain : prefixed).insert(std::string(name));
      if (number >= 0) all.insert(number);
    }
    const bool own = std::any_of(plain.begin(), plain.end(),
                                 [&](const std::string& name) { return prefixed.contains(name); });
    if (own && !all.contains(0)) all.insert(0);
    if (own) plain_is = 0;
  }
  std::set<int64_t> all;  // empty: one case without a name
  int64_t plain_is = -1;
};

}  // namespace

absl::StatusOr<std::vector<std::vector<std::string>>> IoCaseGroups(const std::string& path) {
  X2IR_ASSIGN_OR_RETURN(const Safetensors file, ReadSafetensors(path));
  const CaseNames names(file);
  std::map<std::map<std::string, std::string>, std::vector<std::string>> groups;
  for (const int64_t number : names.all) {
    std::map<std::string, std::string> types;
    for (const NamedTensor& entry : file.tensors) {
      const auto [of, name] = SplitCase(entry.name);
      if (of != number && (of >= 0 || (names.plain_is >= 0 && names.plain_is != number))) continue;
      if (name.starts_with("out_")) continue;
      types[std::string(name)] = StrCat(Name(entry.tensor.dtype()), " ", entry.tensor.rank());
    }
    groups[types].push_back(StrCat(kCase, number));
  }
  std::vector<std::vector<std::string>> result;
  for (auto& [types, cases] : groups) result.push_back(std::move(cases));
  std::sort(result.begin(), result.end());
  return result;
}

absl::Status TypesFromIoFile(const std::string& path, Graph& graph,
                             const std::vector<std::string>& cases) {
  X2IR_ASSIGN_OR_RETURN(const Safetensors file, ReadSafetensors(path));
  const CaseNames names(file);
  const Side side = Inputs(graph);
  std::vector<std::vector<const Tensor*>> of_input(graph.inputs().size());
  // By position: all inputs, or, where there are no more tensors, those that are not optional.
  int64_t given = 0;
  for (const NamedTensor& entry : file.tensors) {
    given = std::max(given, side.Position(SplitCase(entry.name).second).value_or(-1) + 1);
  }
  const auto optional = [&](size_t i) {
    return graph.inputs()[i]->type().kind() == Type::kOptional;
  };
  std::vector<size_t> places;
  for (size_t i = 0; i < of_input.size(); ++i) {
    if (!optional(i)) places.push_back(i);
  }
  if (given > static_cast<int64_t>(places.size())) {
    places.resize(of_input.size());
    std::iota(places.begin(), places.end(), size_t{0});
  }
  for (const NamedTensor& entry : file.tensors) {
    auto [number, name] = SplitCase(entry.name);
    if (number < 0) number = names.plain_is;
    const std::string own = StrCat(kCase, number);
    if (!cases.empty() && number >= 0 &&
        std::find(cases.begin(), cases.end(), own) == cases.end()) {
      continue;
    }
    std::optional<size_t> at = side.Named(name);
    if (!at) {
      const auto position = side.Position(name);
      if (position && *position < static_cast<int64_t>(places.size())) {
        at = places[static_cast<size_t>(*position)];
      }
    }
    if (at) of_input[*at].push_back(&entry.tensor);
  }
  for (size_t i = 0; i < of_input.size(); ++i) {
    Value* input = graph.inputs()[i];
    if (of_input[i].empty()) continue;
    if (input->type() == Type::Optional(Type::Tensor(DType::kUndefined))) {
      input->set_type(Type::Tensor(DType::kUndefined));
    }
    if (input->type().is_known() && !input->type().is_tensor()) continue;
    const Tensor& first = *of_input[i][0];
    const DType dtype = input->dtype() == DType::kUndefined ? first.dtype() : input->dtype();
    for (const Tensor* tensor : of_input[i]) {
      if (tensor->dtype() == first.dtype() || input->dtype() != DType::kUndefined) continue;
      return Unimplemented("'", path, "': the cases have input '", input->name(),
                           "' in different element types, ", Name(first.dtype()), " and ",
                           Name(tensor->dtype()), "; ", OptionText("dtypes"), " ", input->name(),
                           ":", Name(first.dtype()), " picks one");
    }
    if (input->shape()) {
      input->set_type(Type::Tensor(dtype, *input->shape()));
      continue;
    }
    std::vector<Dim> dims;
    for (int64_t axis = 0; axis < first.rank(); ++axis) {
      bool same = true;
      for (const Tensor* tensor : of_input[i]) {
        if (tensor->rank() != first.rank()) {
          return Unimplemented("'", path, "': the cases have input '", input->name(),
                               "' in different ranks");
        }
        const auto k = static_cast<size_t>(axis);
        same = same && tensor->dims()[k] == first.dims()[k];
      }
      dims.push_back(same ? Dim(first.dims()[static_cast<size_t>(axis)])
                          : Dim::Symbol(StrCat(input->name(), "_", axis)));
    }
    input->set_type(Type::Tensor(dtype, Shape(std::move(dims))));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<IoCase>> ReadIoFile(const std::string& path, const Graph& graph) {
  X2IR_ASSIGN_OR_RETURN(Safetensors file, ReadSafetensors(path));
  for (const Side& side : {Inputs(graph), Outputs(graph)}) {
    TakeRealNames(file.metadata, side, file.tensors);
  }
  auto cases = BindIo(file.tensors, graph);
  if (!cases.ok()) return Annotate(cases.status(), StrCat("'", path, "'"));
  return cases;
}

absl::Status WriteIoFile(const std::string& path, absl::Span<const IoCase> cases,
                         const Graph& graph) {
  std::vector<NamedTensor> tensors;
  SafetensorsMetadata metadata;
  auto add = [&](const IoCase& io, std::string_view prefix,
                 const std::vector<std::optional<Tensor>>& values) {
    const std::string first = io.name.empty() ? "" : StrCat(io.name, ".");
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i]) tensors.push_back({StrCat(first, prefix, i), *values[i]});
    }
  };
  for (const IoCase& io : cases) {
    add(io, "in_", io.inputs);
    add(io, "out_", io.outputs);
  }
  // What the positions mean, for people.
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    metadata.emplace_back(StrCat("in_", i), graph.inputs()[i]->name());
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    metadata.emplace_back(StrCat("out_", i), graph.outputs()[i]->name());
  }
  return WriteSafetensors(path, tensors, metadata);
}

namespace {

// "0=d0,2=d2": axes of known sizes of which the tensor has others.
std::string OtherSizes(const Shape& shape, const Tensor& tensor) {
  std::string axes;
  for (int64_t d = 0; d < tensor.rank(); ++d) {
    if (!shape[d].is_static() || shape[d].value() == tensor.dim(d)) continue;
    StrAppend(&axes, axes.empty() ? "" : ",", d, "=d", d);
  }
  return axes;
}

}  // namespace

absl::Status CheckInputs(const Graph& graph, absl::Span<const std::optional<Tensor>> inputs) {
  const absl::Span<const Value* const> declared = graph.inputs();
  if (inputs.size() != declared.size()) {
    return Invalid("expected ", declared.size(), " inputs, got ", inputs.size());
  }
  struct Size {
    int64_t value;
    const Value* input;
  };
  StringMap<Size> sizes;  // of symbolic names
  // Plain names first: an expression of another input may be over them.
  for (const bool expressions : {false, true}) {
    for (size_t i = 0; i < declared.size(); ++i) {
      const Value& input = *declared[i];
      // An optional tensor is given as one, or not at all.
      const bool optional = input.type().kind() == Type::kOptional;
      const Type& type = optional ? input.type().element() : input.type();
      if (!inputs[i]) {
        if (input.constant() || optional) continue;
        return Invalid("input '", input.name(), "' (", input.type().ToString(), ") is missing");
      }
      const Tensor& tensor = *inputs[i];
      auto mismatch = [&](std::string_view why) {
        return Invalid("input '", input.name(), "': expected ", input.type().ToString(), ", got ",
                       tensor.type().ToString(), why);
      };
      if (type.is_known() && !type.is_tensor()) return mismatch("");
      if (type.dtype() != DType::kUndefined && type.dtype() != tensor.dtype()) {
        return mismatch("");
      }
      const Shape* shape = type.shape();
      if (!shape) continue;
      if (shape->rank() != tensor.rank()) return mismatch("");
      if (const std::string axes = OtherSizes(*shape, tensor); !axes.empty()) {
        return mismatch(StrCat("; to accept any size there: ", OptionText("dynamic"), " ",
                               input.name(), ":", axes));
      }
      for (int64_t d = 0; d < tensor.rank(); ++d) {
        const Dim& dim = (*shape)[d];
        if (!dim.is_symbolic()) continue;
        const std::vector<std::string> names = dim.SymbolNames();
        const bool plain = names.size() == 1 && dim == Dim::Symbol(names[0]);
        if (plain && !expressions) {
          const auto [it, is_new] = sizes.try_emplace(names[0], Size{tensor.dim(d), &input});
          if (!is_new && it->second.value != tensor.dim(d)) {
            return mismatch(StrCat("; '", names[0], "' is ", it->second.value, " in input '",
                                   it->second.input->name(), "'"));
          }
        } else if (!plain && expressions) {
          const Dim known = dim.Substitute([&](std::string_view name) -> std::optional<Dim> {
            const auto it = sizes.find(name);
            return it == sizes.end() ? std::nullopt : std::optional<Dim>(it->second.value);
          });
          if (known.is_static() && known.value() != tensor.dim(d)) {
            return mismatch(StrCat("; ", dim.ToString(), " is ", known.value()));
          }
        }
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Datum>> RunCaseWith(const Graph& graph, const IoCase& io,
                                               const RunOptions& options) {
  const std::string_view where = io.name;
  auto at = [&](const absl::Status& s) { return where.empty() ? s : Annotate(s, where); };
  const std::vector<std::optional<Tensor>> given = WithUsualInputs(graph, io.inputs);
  if (absl::Status s = CheckInputs(graph, given); !s.ok()) return at(s);
  std::vector<Datum> inputs;
  for (const std::optional<Tensor>& input : given) {
    inputs.push_back(input ? Datum(*input) : Datum());
  }
  auto outputs = RunGraph(graph, std::move(inputs), options);
  if (!outputs.ok()) return at(outputs.status());
  return outputs;
}

RunOptions WithProgress(const Graph& graph, RunProgress progress) {
  RunOptions options;
  if (!progress) return options;
  auto done = std::make_shared<int64_t>(0);
  options.on_node = [done](const Node&, size_t index, size_t) {
    *done = static_cast<int64_t>(index);
  };
  const auto total = static_cast<int64_t>(graph.num_nodes());
  options.go_on = [done, total, progress = std::move(progress)] { return progress(*done, total); };
  return options;
}

absl::StatusOr<std::vector<Datum>> RunCase(const Graph& graph, const IoCase& io,
                                           const RunProgress& progress) {
  return RunCaseWith(graph, io, WithProgress(graph, progress));
}

}  // namespace x2ir
