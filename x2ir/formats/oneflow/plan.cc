// The names in a file of the parts of a graph.
#include <algorithm>
#include <complex>
#include <utility>

#include "x2ir/formats/oneflow/writer_internal.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::oneflow {
namespace {

constexpr size_t kMaxName = 200;

class Planner {
 public:
  explicit Planner(const Model& model) : graph_(*model.graph) {}

  absl::StatusOr<Written> Plan() {
    plan_.job = Safe(graph_.name().empty() ? "graph" : graph_.name());
    for (const Value* input : graph_.inputs()) AddPort(input, &plan_.inputs);
    // Names that other code uses take precedence over those of nodes.
    for (const Value* output : graph_.outputs()) {
      plan_.outputs.emplace_back(output, OpName(output->name()));
    }
    // Variables in the order of their uses, which is that of the nodes.
    for (const Node* node : graph_.nodes()) {
      for (const Value* input : node->inputs()) {
        if (input) X2IR_RETURN_IF_ERROR(AddVariable(*input));
      }
    }
    for (const Value* output : graph_.outputs()) X2IR_RETURN_IF_ERROR(AddVariable(*output));
    for (const Node* node : graph_.nodes()) {
      X2IR_RETURN_IF_ERROR(Annotate(AddNode(*node), StrCat("op '", node->op().str(), "'")));
    }
    return std::move(plan_);
  }

 private:
  // A name that is also one of a folder, and of a blob's owner: no slashes.
  static std::string Safe(std::string_view name) {
    std::string safe;
    for (const char c : name.substr(0, kMaxName)) {
      const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
      safe += fine ? c : '_';
    }
    if (safe.empty() || safe[0] == '.') safe.insert(0, "_");
    return safe;
  }
  std::string OpName(std::string_view wanted) {
    const std::string base = Safe(wanted);
    std::string name = base;
    while (!names_.insert(name).second) name = StrCat(base, "_", ++suffixes_[base]);
    return name;
  }
  void AddPort(const Value* value, std::vector<std::pair<const Value*, std::string>>* ports) {
    std::string name = OpName(value->name());
    plan_.lbns.emplace(value, StrCat(name, "/out"));
    ports->emplace_back(value, std::move(name));
  }

  absl::Status AddVariable(const Value& value) {
    if (!value.constant() || value.is_input() || plan_.lbns.contains(&value)) {
      return absl::OkStatus();
    }
    if (DataTypeOf(value.dtype()) == 0 || value.constant()->is_sparse()) {
      return CannotExpress("constant '", value.name(), "' of ", Name(value.dtype()));
    }
    AddPort(&value, &plan_.variables);
    return absl::OkStatus();
  }

  // The number of operands or results of each name.
  template <typename At>
  static absl::StatusOr<std::vector<int64_t>> Counts(const std::vector<OperandSpec>& names,
                                                     size_t given, const Attribute* said,
                                                     const At& at) {
    std::vector<int64_t> counts(names.size(), 0);
    const auto* segments = said ? said->get<Attribute::Ints>() : nullptr;
    const size_t fixed = names.size() - 1;
    size_t next = 0;
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i].count == Count::kMany) {
        if (segments) {
          counts[i] = i < segments->size() ? (*segments)[i] : 0;
        } else {
          counts[i] = static_cast<int64_t>(given) - static_cast<int64_t>(fixed);
        }
        if (counts[i] < 0 || counts[i] > static_cast<int64_t>(given - std::min(next, given))) {
          return Invalid("it has too few operands");
        }
        next += static_cast<size_t>(counts[i]);
        continue;
      }
      counts[i] = at(next++) ? 1 : 0;
    }
    return next < given ? absl::StatusOr<std::vector<int64_t>>(Invalid("it has too many operands"))
                        : counts;
  }

  absl::Status AddNode(const Node& node) {
    if (node.dialect() != Symbol(kDialect)) return Internal("it is of another dialect");
    WrittenNode written{&node, FindOp(node.op().view()), "", {}, {}, {}};
    if (!written.spec) return CannotExpress("OneFlow's table of operators does not have it");
    const OpSpec& spec = *written.spec;
    const Value* first = nullptr;
    for (const Value* value : node.outputs()) first = first ? first : value;
    written.name = OpName(!node.name().empty() ? node.name() : first ? first->name() : spec.name);
    X2IR_ASSIGN_OR_RETURN(written.inputs,
                          Counts(spec.inputs, node.num_inputs(), node.attrs().Find(kSegments),
                                 [&](size_t i) { return node.input(i); }));
    X2IR_ASSIGN_OR_RETURN(written.outputs, Counts(spec.outputs, node.num_outputs(), nullptr,
                                                  [&](size_t i) { return node.output(i); }));
    size_t next = 0;
    for (size_t i = 0; i < spec.outputs.size(); ++i) {
      for (int64_t k = 0; k < written.outputs[i]; ++k, ++next) {
        const Value* value = node.output(next);
        if (!value) return Invalid("result '", spec.outputs[i].name, "' is left out");
        plan_.lbns.emplace(value, StrCat(written.name, "/", spec.outputs[i].name, "_", k));
      }
      if (written.outputs[i] == 0 && spec.outputs[i].count == Count::kOne) {
        return Invalid("result '", spec.outputs[i].name, "' is left out");
      }
      if (written.outputs[i] == 0) ++next;
    }
    for (const AttrSpec& attr : spec.attrs) {
      X2IR_ASSIGN_OR_RETURN(Attribute value, AttrOf(node, attr));
      written.attrs.push_back({&attr, std::move(value)});
    }
    std::sort(written.attrs.begin(), written.attrs.end(),
              [](const auto& a, const auto& b) { return a.spec->name < b.spec->name; });
    plan_.nodes.push_back(std::move(written));
    return absl::OkStatus();
  }

  static absl::StatusOr<Attribute> AttrOf(const Node& node, const AttrSpec& attr) {
    if (const Attribute* own = node.attrs().Find(attr.name)) {
      const bool empty = own->kind() == AttrKind::kInts && own->get<Attribute::Ints>()->empty() &&
                         KindOf(attr.type) >= AttrKind::kInts;
      if (own->kind() != KindOf(attr.type) && !empty) {
        return Invalid("attribute '", attr.name, "' is of another kind: ", own->ToString());
      }
      if (own->kind() == KindOf(attr.type)) return *own;
    } else if (attr.default_value) {
      return *attr.default_value;
    }
    // On one device a tensor is there as a whole.
    if (attr.name == "nd_sbp") return Attribute(std::vector<std::string>{"B"});
    switch (attr.type) {
      case AttrType::kString:
      case AttrType::kBytes: return Attribute("");
      case AttrType::kInt32s:
      case AttrType::kInt64s: return Attribute(Attribute::Ints());
      case AttrType::kFloats: return Attribute(Attribute::Floats());
      case AttrType::kStrings:
      case AttrType::kShapes:
      case AttrType::kDataTypes: return Attribute(Attribute::Strings());
      case AttrType::kComplex: return Attribute(Tensor::Scalar(std::complex<double>(0)));
      default: return Invalid("attribute '", attr.name, "' is missing");
    }
  }

  const Graph& graph_;
  Written plan_;
  absl::flat_hash_set<std::string> names_;
  StringMap<int64_t> suffixes_;
};

}  // namespace

absl::StatusOr<Written> PlanOf(const Model& model) { return Planner(model).Plan(); }

absl::StatusOr<std::vector<int64_t>> DimsOf(const Value& value) {
  if (DataTypeOf(value.dtype()) == 0) {
    return CannotExpress("'", value.name(), "' is of ", Name(value.dtype()),
                         ", which OneFlow does not have");
  }
  const auto dims = value.shape() ? value.shape()->Static() : std::nullopt;
  if (!dims) {
    return CannotExpress("a job of OneFlow needs inputs and outputs of known sizes; the sizes of '",
                         value.name(), "' are not known; ", OptionText("shapes"),
                         " NAME:1,3,... sets the sizes of inputs");
  }
  return *dims;
}

}  // namespace x2ir::oneflow
