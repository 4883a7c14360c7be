#include "x2ir/formats/relay/program_of_graph.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/relay/attr_table.h"
#include "x2ir/formats/relay/graph_maker.h"
#include "x2ir/formats/relay/relay.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace relay {
namespace {

bool IsNumber(const Tensor& tensor) { return tensor.rank() == 0; }

bool HasType(DType t) {
  if (t == DType::kBool) return true;
  if (t == DType::kString || IsComplex(t)) return false;
  return (IsFloating(t) && BitWidth(t) >= 16) || (IsInteger(t) && BitWidth(t) >= 8);
}

// Whether a node inside of a nested graph uses the value.
bool IsCaptured(const Value& value, const Graph& graph) {
  return std::any_of(value.uses().begin(), value.uses().end(),
                     [&](const Use& use) { return use.node->graph() != &graph; });
}

class GraphProgram {
 public:
  explicit GraphProgram(std::vector<NamedTensor>* params) : params_(params) {}

  absl::StatusOr<std::unique_ptr<Program>> Make(const Graph& graph) {
    RelayExpr* main = program_->Make(ExprKind::kFunction);
    for (const Value* input : graph.inputs()) {
      if (input->constant()) return CannotExpress("input '", input->name(), "' with a default");
      X2IR_ASSIGN_OR_RETURN(const RelayExpr* var, VarOf(*input));
      main->args.push_back(var);
    }
    if (params_) {
      for (const Value* constant : graph.constants()) {
        if (IsNumber(*constant->fixed_constant())) continue;
        X2IR_ASSIGN_OR_RETURN(const RelayExpr* var, VarOf(*constant));
        main->args.push_back(var);
        params_->push_back({var->name, *constant->fixed_constant()});
      }
    }
    X2IR_ASSIGN_OR_RETURN(main->body, BodyOf(graph));
    program_->functions["main"] = main;
    program_->main = main;
    return std::move(program_);
  }

 private:
  using ExprOr = absl::StatusOr<const RelayExpr*>;

  std::string UniqueName(std::string_view base) {
    std::string name;
    for (const char c : base) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    if (name.empty() || !std::isalpha(static_cast<unsigned char>(name[0]))) {
      name.insert(0, "v");
    }
    std::string unique = name;
    for (int& i = suffixes_[name]; !names_.insert(unique).second; ++i) {
      unique = StrCat(name, "_", i + 1);
    }
    return unique;
  }

  absl::StatusOr<RelayType> TypeOf(const Type& type, std::string_view name) {
    RelayType relay;
    if (!type.is_tensor()) return CannotExpress("'", name, "' of type ", type.ToString());
    if (type.dtype() == DType::kUndefined || !HasType(type.dtype())) {
      return CannotExpress("'", name, "' of type ", type.ToString(),
                           ": Relay has no such elements");
    }
    if (!type.shape()) return CannotExpress("'", name, "' of unknown rank");
    relay.kind = RelayType::Kind::kTensor;
    relay.tensor = type;
    return relay;
  }

  RelayExpr* NewVar(std::string_view name) {
    RelayExpr* var = program_->Make(ExprKind::kVar);
    var->name = UniqueName(name);
    if (var->name != name) var->span = std::string(name);
    return var;
  }
  absl::StatusOr<RelayExpr*> VarOf(const Value& value) {
    RelayExpr* var = NewVar(value.name());
    X2IR_ASSIGN_OR_RETURN(var->type, TypeOf(value.type(), value.name()));
    values_[&value] = var;
    return var;
  }

  ExprOr Operand(const Value* value) {
    if (!value) return CannotExpress("an operand that is left out");
    const auto it = values_.find(value);
    if (it != values_.end()) return it->second;
    const Tensor* tensor = value->fixed_constant();
    if (!tensor) return Internal("'", value->name(), "' comes after its use");
    if (tensor->is_sparse() || !HasType(tensor->dtype())) {
      return CannotExpress("constant '", value->name(), "' of type ", tensor->type().ToString());
    }
    RelayExpr* constant = program_->Make(ExprKind::kConstant);
    constant->constant = *tensor;
    values_[value] = constant;
    return constant;
  }

  // The nodes of a graph and its results. They are the arguments of a call that begins with
  // `call`, where this is not empty, else a tuple.
  ExprOr BodyOf(const Graph& graph, std::vector<const RelayExpr*> call = {}) {
    const bool is_call = !call.empty();
    std::vector<RelayExpr*> lets;
    for (const Node* node : graph.nodes()) {
      X2IR_RETURN_IF_ERROR(Annotate(AddNode(*node, &lets), node->op().view()));
    }
    for (const Value* output : graph.outputs()) {
      X2IR_ASSIGN_OR_RETURN(const RelayExpr* result, Operand(output));
      call.push_back(result);
    }
    const RelayExpr* body =
        TupleOf(std::move(call), is_call, is_call ? ExprKind::kCall : ExprKind::kTuple);
    for (size_t i = lets.size(); i-- > 0;) {
      lets[i]->args.push_back(body);
      body = lets[i];
    }
    return body;
  }
  const RelayExpr* TupleOf(std::vector<const RelayExpr*> fields, bool always = false,
                           ExprKind kind = ExprKind::kTuple) {
    if (fields.size() == 1 && !always) return fields[0];
    RelayExpr* tuple = program_->Make(kind);
    tuple->args = std::move(fields);
    return tuple;
  }
  const RelayExpr* Let(const RelayExpr* value, std::string_view name,
                       std::vector<RelayExpr*>* lets) {
    RelayExpr* let = program_->Make(ExprKind::kLet);
    let->args = {NewVar(name), value};
    lets->push_back(let);
    return let->args[0];
  }
  RelayExpr* CallOf(std::string_view op, std::vector<const RelayExpr*> args) {
    RelayExpr*& callee = ops_[op];
    if (!callee) {
      callee = program_->Make(ExprKind::kOp);
      callee->name = std::string(op);
    }
    RelayExpr* call = program_->Make(ExprKind::kCall);
    args.insert(args.begin(), callee);
    call->args = std::move(args);
    return call;
  }

  void SetResults(const Node& node, const RelayExpr* result, bool is_tuple) {
    for (size_t i = 0; i < node.num_outputs(); ++i) {
      if (!node.output(i)) continue;
      if (!is_tuple) {
        values_[node.output(i)] = result;
        continue;
      }
      RelayExpr* field = program_->Make(ExprKind::kGetItem);
      field->args = {result};
      field->index = static_cast<int64_t>(i);
      values_[node.output(i)] = field;
    }
  }

  absl::Status AddNode(const Node& node, std::vector<RelayExpr*>* lets) {
    if (node.dialect() != Symbol(kDialect)) return CannotExpress("it is not an operator of Relay");
    const Value* first = nullptr;
    for (const Value* output : node.outputs()) first = first ? first : output;
    if (!first) return CannotExpress("it has no result");
    if (node.op() == Symbol(kIf)) return AddIf(node, *first, lets);
    if (node.op() == Symbol(kLoop)) return AddLoop(node, *first, lets);
    std::vector<const RelayExpr*> args;
    for (const Value* operand : node.inputs()) {
      X2IR_ASSIGN_OR_RETURN(const RelayExpr* arg, Operand(operand));
      args.push_back(arg);
    }
    const std::string_view op = node.op().view();
    const size_t operands = args.size();
    if (TakesTuple(op)) {
      std::vector<const RelayExpr*> tuples;
      size_t from = 0;
      // A quantized concatenation has lists of parts, of scales and of zero points.
      const bool lists = op == "qnn.concatenate" && operands > 2 && (operands - 2) % 3 == 0;
      const size_t count = lists ? (operands - 2) / 3 : operands;
      for (int i = 0; i < (lists ? 3 : 1); ++i, from += count) {
        tuples.push_back(TupleOf({args.begin() + static_cast<ptrdiff_t>(from),
                                  args.begin() + static_cast<ptrdiff_t>(from + count)},
                                 true));
      }
      tuples.insert(tuples.end(), args.begin() + static_cast<ptrdiff_t>(from), args.end());
      args = std::move(tuples);
    }
    RelayExpr* call = CallOf(op, std::move(args));
    for (const auto& [name, attr] : node.attrs()) {
      const auto* text = attr.get<std::string>();
      if (!text) return CannotExpress("attribute '", name.str(), "' is not a string");
      call->attrs.emplace_back(name.str(), *text);
    }
    const int64_t fields = TupleSizeOf(op, call->attrs, operands);
    if (fields < 0) return CannotExpress("its attributes do not say how many parts it has");
    if (fields == 0 && node.num_outputs() > 1) return CannotExpress("it has more than one result");
    if (fields > 0 && node.num_outputs() > static_cast<size_t>(fields)) {
      return CannotExpress("it has more results than the operator");
    }
    call->span = first->name();
    if (fields == 0) {
      if (const auto type = TypeOf(first->type(), ""); type.ok()) call->type = *type;
    }
    const RelayExpr* result = call;
    for (const Value* output : node.outputs()) {
      if (!output || !IsCaptured(*output, *node.graph())) continue;
      result = Let(call, first->name(), lets);
      break;
    }
    SetResults(node, result, fields > 0);
    return absl::OkStatus();
  }

  absl::Status AddIf(const Node& node, const Value& first, std::vector<RelayExpr*>* lets) {
    RelayExpr* e = program_->Make(ExprKind::kIf);
    X2IR_ASSIGN_OR_RETURN(const RelayExpr* condition, Operand(node.input(0)));
    X2IR_ASSIGN_OR_RETURN(const RelayExpr* then, BodyOf(node.attrs().SubGraph("then_branch")));
    X2IR_ASSIGN_OR_RETURN(const RelayExpr* other, BodyOf(node.attrs().SubGraph("else_branch")));
    e->args = {condition, then, other};
    SetResults(node, Let(e, first.name(), lets), node.num_outputs() != 1);
    return absl::OkStatus();
  }

  // A function of the round, the condition and what is carried. It calls itself as long as there
  // are rounds and the condition holds.
  absl::Status AddLoop(const Node& node, const Value& first, std::vector<RelayExpr*>* lets) {
    const Graph& body = node.attrs().SubGraph("body");
    const size_t carried = node.num_inputs() < 2 ? 0 : node.num_inputs() - 2;
    if (node.num_outputs() > carried) return CannotExpress("a loop that collects its results");
    if (body.inputs().size() != carried + 2 || body.outputs().size() != carried + 1) {
      return CannotExpress("a loop whose body does not fit");
    }
    RelayExpr* function = program_->Make(ExprKind::kFunction);
    RelayExpr* self = NewVar("while_loop");
    std::vector<const RelayExpr*> start, state;
    for (size_t i = 0; i < body.inputs().size(); ++i) {
      const Value* input = body.inputs()[i];
      X2IR_ASSIGN_OR_RETURN(RelayExpr * var, VarOf(*input));
      if (i < 2) {
        // Numbers, whatever the body says.
        var->type.tensor =
            Type::Tensor(i == 0 ? DType::kInt64 : DType::kBool, Shape(std::vector<Dim>()));
      } else {
        function->result.fields.push_back(var->type);
        state.push_back(var);
      }
      function->args.push_back(var);
    }
    function->result.kind = RelayType::Kind::kTuple;
    start.push_back(NumberOf(Tensor::Scalar<int64_t>(0)));
    for (size_t i = 1; i < node.num_inputs(); ++i) {
      if (i == 1 && !node.input(1)) {
        start.push_back(NumberOf(Tensor::ScalarOf(DType::kBool, 1)));
        continue;
      }
      X2IR_ASSIGN_OR_RETURN(const RelayExpr* value, Operand(node.input(i)));
      start.push_back(value);
    }
    const RelayExpr *round = function->args[0], *test = function->args[1];
    if (node.input(0)) {
      X2IR_ASSIGN_OR_RETURN(const RelayExpr* rounds, Operand(node.input(0)));
      test = CallOf("logical_and", {CallOf("less", {round, rounds}), test});
    }
    // The results of the body are the arguments of the next call.
    X2IR_ASSIGN_OR_RETURN(
        const RelayExpr* results,
        BodyOf(body, {self, CallOf("add", {round, NumberOf(Tensor::Scalar<int64_t>(1))})}));
    RelayExpr* branch = program_->Make(ExprKind::kIf);
    branch->args = {test, results, TupleOf(std::move(state), true)};
    function->body = branch;
    RelayExpr* let = program_->Make(ExprKind::kLet);
    let->args = {self, function};
    lets->push_back(let);
    RelayExpr* call = program_->Make(ExprKind::kCall);
    start.insert(start.begin(), self);
    call->args = std::move(start);
    SetResults(node, Let(call, first.name(), lets), true);
    return absl::OkStatus();
  }
  const RelayExpr* NumberOf(Tensor tensor) {
    RelayExpr* number = program_->Make(ExprKind::kConstant);
    number->constant = std::move(tensor);
    return number;
  }

  std::vector<NamedTensor>* params_;
  std::unique_ptr<Program> program_ = std::make_unique<Program>();
  absl::flat_hash_map<const Value*, const RelayExpr*> values_;
  absl::flat_hash_map<std::string_view, RelayExpr*> ops_;
  absl::flat_hash_set<std::string> names_;
  absl::flat_hash_map<std::string, int> suffixes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Program>> ProgramOfGraph(const Graph& graph,
                                                        std::vector<NamedTensor>* params) {
  return GraphProgram(params).Make(graph);
}

std::string TypeText(const RelayType& type) {
  if (type.kind == RelayType::Kind::kTuple) {
    std::string text = "(";
    for (const RelayType& field : type.fields) {
      StrAppend(&text, text.size() == 1 ? "" : ", ", TypeText(field));
    }
    return text + (type.fields.size() == 1 ? ",)" : ")");
  }
  if (type.kind != RelayType::Kind::kTensor || !type.tensor.shape()) return "";
  std::string dims;
  for (const Dim& dim : *type.tensor.shape()) {
    StrAppend(&dims, dims.empty() ? "" : ", ", dim.is_static() ? StrCat(dim.value()) : "?");
  }
  return StrCat("Tensor[(", dims, "), ", x2ir::Name(type.tensor.dtype()), "]");
}

}  // namespace relay
}  // namespace x2ir
