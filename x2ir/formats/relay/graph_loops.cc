// Recursive functions: loops, and TVM's functions of lists.
#include <algorithm>
#include <utility>

#include "x2ir/formats/relay/graph_maker_internal.h"

namespace x2ir {
namespace relay {
namespace {

using Kind = RunValue::Kind;

// Whether an expression names a function that calls itself: its variable, or its global name.
bool IsItself(const RelayExpr& e, const RunValue& function) {
  if (function.self) return &e == function.self;
  return e.kind == ExprKind::kGlobal && !function.name.empty() && e.name == function.name;
}

// Whether what is sought is reached from an expression; counts the expressions that it looks at.
template <typename Found>
bool Reaches(const RelayExpr* from, int64_t* steps, const Found& found) {
  absl::flat_hash_set<const RelayExpr*> seen;
  std::vector<const RelayExpr*> stack = {from};
  while (!stack.empty()) {
    const RelayExpr* e = stack.back();
    stack.pop_back();
    if (!e || !seen.insert(e).second) continue;
    ++*steps;
    if (found(*e)) return true;
    stack.insert(stack.end(), e->args.begin(), e->args.end());
    stack.push_back(e->body);
    for (const Clause& clause : e->clauses) stack.push_back(clause.value);
  }
  return false;
}

}  // namespace

// A function that matches data is not one: the data tells which way it goes, so it is written out.
bool GraphMaker::CallsItself(const RunValue& function) {
  if (!function.self && function.name.empty()) return false;
  const auto [it, fresh] = recursive_.try_emplace(function.function, false);
  if (fresh) {
    it->second = Reaches(function.function->body, &spent_,
                         [&](const RelayExpr& e) { return IsItself(e, function); }) &&
                 !Reaches(function.function->body, &spent_,
                          [](const RelayExpr& e) { return e.kind == ExprKind::kMatch; });
  }
  return it->second;
}

absl::StatusOr<const RelayExpr*> GraphMaker::RunToBranch(const RunValue& function,
                                                         const std::vector<RunValue>& args,
                                                         Frame* frame) {
  for (size_t i = 0; i < args.size(); ++i) frame->known[function.function->args[i]] = args[i];
  X2IR_ASSIGN_OR_RETURN(const RelayExpr* end, RunLets(function.function->body, frame));
  if (end->kind != ExprKind::kIf) {
    return Unimplemented(
        "a function that calls itself and does not end in a branch: it is no loop");
  }
  return end;
}

// What a loop carries are the arguments of the function, and whether it goes on.
GraphMaker::ValueOr GraphMaker::RunLoop(const RunValue& function,
                                        const std::vector<RunValue>& args) {
  if (nesting_ >= kMaxNesting) return Invalid("loops are nested too deep");
  const RelayExpr* branch = nullptr;
  bool goes_on_if = true;
  // Whether there is another round, of a state.
  const auto goes_on = [&](const std::vector<RunValue>& state) -> absl::StatusOr<Value*> {
    Frame* frame = NewFrame(function.around);
    X2IR_ASSIGN_OR_RETURN(branch, RunToBranch(function, state, frame));
    const auto again = [&](size_t i) {
      return Reaches(branch->args[i], &spent_,
                     [&](const RelayExpr& e) { return IsItself(e, function); });
    };
    goes_on_if = again(1);
    if (again(0) || again(1) == again(2)) {
      return Unimplemented("a function that calls itself other than in one of two branches");
    }
    X2IR_ASSIGN_OR_RETURN(const RunValue test, Run(branch->args[0], frame));
    if (test.kind != Kind::kTensor) return Invalid("a condition that is no tensor");
    if (goes_on_if) return test.tensor;
    return AddResult(AddNode("logical_not", {test.tensor}), "logical_not");
  };
  X2IR_ASSIGN_OR_RETURN(Value * starts, goes_on(args));
  Values first;
  for (const RunValue& arg : args) X2IR_RETURN_IF_ERROR(Flatten(arg, &first));

  Values operands = {nullptr, starts};
  operands.insert(operands.end(), first.begin(), first.end());
  Node* loop = AddNode(kLoop, operands);
  Graph* const outside = graph_;
  auto body = std::make_shared<Graph>();
  loop->SetAttr("body", body);
  const auto fill = [&]() -> absl::Status {
    body->AddInput(body->UniqueName("round"),
                   Type::Tensor(DType::kInt64, Shape(std::vector<Dim>())));
    body->AddInput(body->UniqueName("goes_on"),
                   Type::Tensor(DType::kBool, Shape(std::vector<Dim>())));
    Values inputs;
    for (size_t i = 0; i < first.size(); ++i) {
      inputs.push_back(body->AddInput(body->UniqueName("state"), Type()));
    }
    size_t at = 0;
    std::vector<RunValue> state, next;
    for (const RunValue& arg : args) state.push_back(Rebuilt(arg, inputs, &at));
    Frame* frame = NewFrame(function.around);
    X2IR_RETURN_IF_ERROR(RunToBranch(function, state, frame).status());
    Frame* inner = NewFrame(frame);
    X2IR_ASSIGN_OR_RETURN(const RelayExpr* call, RunLets(branch->args[goes_on_if ? 1 : 2], inner));
    if (call->kind != ExprKind::kCall || !IsItself(*call->args[0], function)) {
      return Unimplemented("a function that calls itself before its last step: it is no loop");
    }
    if (call->args.size() != args.size() + 1) return Invalid("a call with other arguments");
    Values results;
    for (size_t i = 1; i < call->args.size(); ++i) {
      X2IR_ASSIGN_OR_RETURN(const RunValue value, Run(call->args[i], inner));
      next.push_back(value);
      X2IR_RETURN_IF_ERROR(Flatten(value, &results));
    }
    if (results.size() != first.size()) return Invalid("a loop whose state changes its structure");
    X2IR_ASSIGN_OR_RETURN(Value * again, goes_on(next));
    results.insert(results.begin(), again);
    AddOutputs(body.get(), results);
    return absl::OkStatus();
  };
  ++nesting_;
  graph_ = body.get();
  const absl::Status filled = fill();
  graph_ = outside;
  --nesting_;
  X2IR_RETURN_IF_ERROR(filled);

  Values last;
  for (size_t i = 0; i < first.size(); ++i) last.push_back(AddResult(loop, "loop"));
  size_t at = 0;
  std::vector<RunValue> state;
  for (const RunValue& arg : args) state.push_back(Rebuilt(arg, last, &at));
  Frame* frame = NewFrame(function.around);
  X2IR_RETURN_IF_ERROR(RunToBranch(function, state, frame).status());
  return Run(branch->args[goes_on_if ? 2 : 1], NewFrame(frame));
}

// Lists are Cons(first, rest) and Nil.
absl::StatusOr<RunValue> GraphMaker::BuiltIn(std::string_view name,
                                             const std::vector<RunValue>& args) {
  const auto list = [&](size_t i) -> absl::StatusOr<std::vector<RunValue>> {
    std::vector<RunValue> items;
    if (i >= args.size()) return Invalid("@", name, " with ", args.size(), " arguments");
    const RunValue* at = &args[i];
    while (at->kind == Kind::kData && at->name == "Cons" && at->fields->size() == 2) {
      X2IR_RETURN_IF_ERROR(Spend(1));
      items.push_back((*at->fields)[0]);
      at = &(*at->fields)[1];
    }
    if (at->kind != Kind::kData || at->name != "Nil") {
      return Unimplemented("@", name, " of a list whose length is not known");
    }
    return items;
  };
  const auto cons = [&](const std::vector<RunValue>& items, RunValue rest) {
    for (size_t i = items.size(); i-- > 0;) rest = Tuple({items[i], rest}, "Cons");
    return rest;
  };
  const auto needs = [&](size_t count) {
    return args.size() == count
               ? absl::OkStatus()
               : Invalid("@", name, " with ", args.size(), " arguments, and not ", count);
  };
  if (name == "hd" || name == "tl" || name == "length" || name == "rev") {
    X2IR_RETURN_IF_ERROR(needs(1));
    X2IR_ASSIGN_OR_RETURN(std::vector<RunValue> items, list(0));
    if (name == "length") {
      return Tensor_(
          root_->AddConstant(root_->UniqueName("length"),
                             Tensor::Scalar<int32_t>(static_cast<int32_t>(items.size()))));
    }
    if (name == "rev") {
      std::reverse(items.begin(), items.end());
      return cons(items, Tuple({}, "Nil"));
    }
    if (items.empty()) return Invalid("@", name, " of an empty list");
    return (*args[0].fields)[name == "hd" ? 0 : 1];
  }
  if (name == "nth" || name == "update") {
    X2IR_RETURN_IF_ERROR(needs(name == "nth" ? 2 : 3));
    X2IR_ASSIGN_OR_RETURN(std::vector<RunValue> items, list(0));
    const Tensor* place =
        args[1].kind == Kind::kTensor ? args[1].tensor->fixed_constant() : nullptr;
    if (!place || place->num_elements() != 1 || !IsInteger(place->dtype())) {
      return Unimplemented("@", name, " at a place that is computed");
    }
    const int64_t i = place->AsInt(0);
    if (i < 0 || i >= static_cast<int64_t>(items.size())) {
      return Invalid("@", name, " at ", i, " of a list of ", items.size());
    }
    if (name == "nth") return items[static_cast<size_t>(i)];
    items[static_cast<size_t>(i)] = args[2];
    return cons(items, Tuple({}, "Nil"));
  }
  if (name == "concat") {
    X2IR_RETURN_IF_ERROR(needs(2));
    X2IR_ASSIGN_OR_RETURN(const std::vector<RunValue> items, list(0));
    return cons(items, args[1]);
  }
  const auto call = [&](const std::vector<RunValue>& with) -> ValueOr {
    if (args[0].kind != Kind::kFunction) return Unimplemented("@", name, " of what is no function");
    return Call(args[0], with, nullptr);
  };
  if (name == "map") {
    X2IR_RETURN_IF_ERROR(needs(2));
    X2IR_ASSIGN_OR_RETURN(std::vector<RunValue> items, list(1));
    for (RunValue& item : items) {
      X2IR_ASSIGN_OR_RETURN(item, call({item}));
    }
    return cons(items, Tuple({}, "Nil"));
  }
  X2IR_RETURN_IF_ERROR(needs(3));
  X2IR_ASSIGN_OR_RETURN(std::vector<RunValue> items, list(2));
  RunValue sum = args[1];
  if (name == "foldr") std::reverse(items.begin(), items.end());
  for (const RunValue& item : items) {
    X2IR_ASSIGN_OR_RETURN(sum, name == "foldl" ? call({sum, item}) : call({item, sum}));
  }
  return sum;
}

}  // namespace relay
}  // namespace x2ir
