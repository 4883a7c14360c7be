// Statements.
#include <algorithm>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/script/machine.h"

namespace x2ir::torch_script {

void Machine::Stop(absl::Status status) { throw Stopped{std::move(status)}; }

absl::Status Machine::Unsupported(std::string text) const {
  return Unimplemented(text, PlaceText());
}

// " (model.py, line 12)", of the source that the code was made from, where the file says it.
std::string Machine::PlaceText() const {
  if (frames_.empty() || !frames_.back().file) return "";
  const SourcePlaceOf place = program_.PlaceOf(*frames_.back().file, frames_.back().offset);
  if (!place.file.empty()) return StrCat(" (", place.file, ", line ", place.line, ")");
  const std::string_view before = frames_.back().file->text.substr(
      0, std::min<size_t>(frames_.back().offset, frames_.back().file->text.size()));
  return StrCat(" (code/", frames_.back().file->path, ", line ",
                std::count(before.begin(), before.end(), '\n') + 1, ")");
}

void Machine::Warn(std::string text) {
  if (warned_.insert(text).second) warnings_.push_back(std::move(text));
}

Machine::Flow Machine::Execute(const Block& block) {
  for (const Statement* s : block) {
    frames_.back().offset = s->offset;
    if (const Flow flow = Execute(*s); flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Machine::Flow Machine::Execute(const Statement& s) {
  CountStep();
  CheckStack();
  switch (s.kind) {
    case Statement::kExpression: {
      // What is only printed, warned of or checked is no result.
      Evaluate(*s.value);
      return Flow::kNext;
    }
    case Statement::kAssign: {
      if (!s.value) return Flow::kNext;
      int64_t wanted = -1;
      if (s.targets.size() == 1 && s.targets[0]->kind == Expr::kTuple) {
        wanted = static_cast<int64_t>(s.targets[0]->args.size());
      }
      Val v = Evaluate(*s.value, wanted);
      if (s.type) v = Annotated(*s.type, v, false);
      for (const Expr* target : s.targets) Assign(*target, v);
      return Flow::kNext;
    }
    case Statement::kAugmented: {
      static constexpr std::pair<std::string_view, std::string_view> kOps[] = {
          {"+", "add"},           {"-", "sub"},       {"*", "mul"},
          {"/", "div"},           {"%", "remainder"}, {"**", "pow"},
          {"//", "floor_divide"}, {"&", "__and__"},   {"|", "__or__"}};
      const Val old = Evaluate(*s.targets[0]), by = Evaluate(*s.value);
      for (const auto& [text, op] : kOps) {
        if (text != s.text) continue;
        const bool tensor = old.kind == Val::kTensor;
        const bool list = old.kind == Val::kList && text == "+";
        std::string name(op);
        if (op == "floor_divide" && !tensor) name = "floordiv";
        Assign(*s.targets[0], list     ? (Call("aten::extend", {{old, by}, {}}), old)
                              : tensor ? Call(StrCat("aten::", name, "_"), {{old, by}, {}})
                                       : Call(StrCat("aten::", name), {{old, by}, {}}));
        return Flow::kNext;
      }
      Stop(Invalid("operator ", s.text, "=", PlaceText()));
    }
    case Statement::kIf: return If(s);
    case Statement::kWhile: return While(s);
    case Statement::kFor: return For(s);
    case Statement::kReturn:
      frames_.back().result = s.value ? Evaluate(*s.value) : Val::None();
      return Flow::kReturn;
    case Statement::kRaise: throw Raised{s.value ? Format(Evaluate(*s.value)) : "an exception"};
    case Statement::kAssert: {
      const Val v = Convert(Evaluate(*s.value), "bool");
      // An assertion about data is taken to hold.
      if (!v.value && !v.i) throw Raised{s.type ? Format(Evaluate(*s.type)) : "AssertionError"};
      return Flow::kNext;
    }
    case Statement::kPass: return Flow::kNext;
    case Statement::kDef: {
      Val v;
      v.kind = Val::kFunction;
      v.function = s.function;
      frames_.back().vars[s.function->name] = v;
      return Flow::kNext;
    }
    case Statement::kWith: {
      // Contexts say how PyTorch works (profiling, gradients), not what it computes.
      const Val context = Evaluate(*s.value);
      if (context.kind == Val::kObject && HasMethod(context, "__enter__")) {
        const Val entered = CallMethod(context, "__enter__", {});
        if (!s.targets.empty()) Assign(*s.targets[0], entered);
      }
      const Flow flow = Execute(s.body);
      if (context.kind == Val::kObject && HasMethod(context, "__exit__")) {
        CallMethod(context, "__exit__", {{Val::None(), Val::None(), Val::None()}, {}});
      }
      return flow;
    }
    case Statement::kDelete:
      for (const Expr* target : s.targets) {
        if (target->kind != Expr::kIndex) continue;
        Call("aten::Delete", {{Evaluate(*target->args[0]), Evaluate(*target->args[1])}, {}});
      }
      return Flow::kNext;
    case Statement::kBreak: return Flow::kBreak;
    case Statement::kContinue: return Flow::kContinue;
  }
  return Flow::kNext;
}

void Machine::Assign(const Expr& target, const Val& value) {
  switch (target.kind) {
    case Expr::kName: frames_.back().vars[target.text] = value; return;
    case Expr::kAttribute: SetAttribute(Evaluate(*target.args[0]), target.text, value); return;
    case Expr::kIndex:
      if (target.args[0]->kind == Expr::kName && target.args[0]->text == "__annotations__") return;
      if (const Val base = Evaluate(*target.args[0]); base.kind == Val::kTensor) {
        const Expr& index = *target.args[1];
        if (index.kind != Expr::kSlice) {
          const Val at = Evaluate(index);
          if (at.kind == Val::kTensor) {
            const Val filling =
                value.kind == Val::kTensor ? value : Call("aten::tensor", {{value}, {}});
            Call("aten::index_put_", {{base, Val::List({at}), filling}, {}});
            return;
          }
        }
        const Val part = EvaluateIndex(target);
        Call(
            "aten::copy_",
            {{part, value.kind == Val::kTensor ? value : Call("aten::tensor", {{value}, {}})}, {}});
      } else {
        Call("aten::_set_item", {{base, Evaluate(*target.args[1]), value}, {}});
      }
      return;
    case Expr::kTuple:
    case Expr::kList: {
      const std::vector<Val> items = Iterate(value);
      if (target.args.size() == 1 && target.args[0]->kind == Expr::kStarred) {
        return Assign(*target.args[0]->args[0], Val::List(items));
      }
      if (items.size() != target.args.size()) {
        throw Raised{StrCat("expected ", target.args.size(), " values, got ", items.size())};
      }
      for (size_t i = 0; i < items.size(); ++i) Assign(*target.args[i], items[i]);
      return;
    }
    default: Stop(Invalid("an assignment to something that is no variable", PlaceText()));
  }
}

}  // namespace x2ir::torch_script
