// The lines of a forward. A result that is used once goes into the line that uses it, as far as
// that stays readable; a variable whose last use a line is may be what the line assigns to.
#include <algorithm>
#include <list>
#include <map>

#include "absl/strings/str_join.h"
#include "x2ir/formats/python/call_text_internal.h"
#include "x2ir/formats/python/classes_internal.h"
#include "x2ir/formats/python/framework_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::python {
namespace {

constexpr size_t kMaxColumns = 80;  // of a line after its indentation
constexpr int kMaxCalls = 4;        // in one line

// Functions that a local name would hide.
bool IsBuiltin(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "abs",   "all",   "any", "bool",  "dict",   "filter", "float", "hash",  "id",     "input",
      "int",   "iter",  "len", "list",  "map",    "max",    "min",   "next",  "object", "pow",
      "range", "round", "set", "slice", "sorted", "str",    "sum",   "super", "tuple",  "zip"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// Calls whose result is still what went in, in another form: it keeps the name.
bool KeepsName(std::string_view op) {
  constexpr std::string_view kOps[] = {"aten::reshape.default", "aten::permute.default",
                                       "aten::squeeze.dims",    "aten::unsqueeze.default",
                                       "aten::clone.default",   "aten::_to_copy.default",
                                       "aten::expand.default",  "aten::flatten.using_ints",
                                       "aten::relu.default",    "aten::clamp.default",
                                       "aten::silu.default",    "aten::gelu.default",
                                       "python::relu6"};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

class ForwardWriter {
 public:
  ForwardWriter(Program& program, const Module& module, const ClassKeys& keys,
                const std::vector<std::string>& outputs)
      : p_(program), module_(module), keys_(keys), output_fields_(outputs) {}

  absl::StatusOr<Forward> Run() {
    is_root_ = module_.parent == nullptr;
    for (const char* name : {"self", "nn", "F", "Model", "Outputs", "min", "max", "range", "len",
                             "int", "float", "bool", "list"}) {
      names_.Take(name);
    }
    names_.Take(p_.framework().package);
    for (const Helper& helper : p_.framework().helpers) names_.Take(helper.name);
    NameInputs();
    CountUses();
    NameSizes();
    for (size_t i = 0; i < module_.items.size();) {
      const size_t end = LoopEnd(i);
      if (end > i + 1) {
        X2IR_RETURN_IF_ERROR(WriteLoop(i, end));
        i = end;
      } else {
        X2IR_RETURN_IF_ERROR(WriteItem(module_.items[i++]));
      }
    }
    WriteReturn();
    X2IR_RETURN_IF_ERROR(status_);
    Forward forward;
    WriteSizes(forward.lines);
    forward.parameters = std::move(parameters_);
    for (std::string& line : lines_) forward.lines.push_back(std::move(line));
    return forward;
  }

 private:
  struct Variable {
    Expr expr;
    int calls = 0;                   // in an expression that is not written yet
    bool pending = false;            // it is not
    std::string name;                // of a variable
    std::vector<std::string> reads;  // variables that a pending one names
    std::string base;                // what it would be called
    size_t order = 0;
  };

  // --- Names ----------------------------------------------------------------------------------

  // "/m/Where_1_output_0", "view_13" -> "where", "view"
  static std::string BaseName(const Value& value) {
    std::string_view name = value.name();
    if (name.ends_with("_output_0")) name.remove_suffix(9);
    if (const size_t slash = name.rfind('/'); slash != name.npos) name = name.substr(slash + 1);
    if (const size_t colon = name.rfind(':'); colon != name.npos && colon + 1 < name.size()) {
      const std::string_view suffix = name.substr(colon + 1);
      name = suffix == "0" || suffix == "1" ? name.substr(0, colon) : suffix;
    }
    while (!name.empty() && (name.back() == '_' || (name.back() >= '0' && name.back() <= '9'))) {
      name.remove_suffix(1);
    }
    std::string text(name.substr(0, 200));
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    text = Identifier(text, "value");
    if (IsBuiltin(text)) text += '_';
    return text.size() > 24 ? "value" : text;
  }

  void NameInputs() {
    for (const Value* input : module_.inputs) {
      std::string base;
      if (is_root_) {
        base = Identifier(input->name(), "input");
      } else if (parameters_.empty()) {
        base = "x";
      } else if (p_.WeightOf(input) && !p_.ProducerOf(input)) {
        base = Identifier(p_.WeightOf(input)->path.back(), "weight");
      } else {
        base = BaseName(*input);
      }
      const std::string name = names_.Unique(base);
      parameters_.push_back(name);
      SetVariable(input, name);
    }
  }

  void SetVariable(const Value* value, const std::string& name) {
    Variable& v = values_[value];
    v = Variable();
    v.expr = {name};
    v.name = name;
    holder_[name] = value;
    pending_.erase(value);
  }

  // --- Uses -----------------------------------------------------------------------------------

  template <typename Fn>
  static void ForOperands(const Module::Item& item, const Fn& fn) {
    if (item.module) {
      for (const Value* value : item.module->inputs) fn(value);
      return;
    }
    const auto visit = [&](const Item& i) {
      if (const Operand* operand = std::get_if<Operand>(&i)) fn(operand->value);
    };
    if (item.step->layer) {
      for (const Item& i : item.step->layer->inputs) visit(i);
    } else {
      for (const Argument& argument : item.step->call.arguments) {
        for (const Item& i : argument.items) visit(i);
      }
    }
  }
  static const std::vector<const Value*>& ResultsOf(const Module::Item& item) {
    return item.module ? item.module->outputs : item.step->results;
  }

  void CountUses() {
    for (const Module::Item& item : module_.items) {
      ForOperands(item, [&](const Value* value) { ++uses_[value]; });
    }
    for (const Value* output : Returned()) ++uses_[output];
  }

  std::vector<const Value*> Returned() const {
    if (!is_root_) return module_.outputs;
    return p_.outputs();
  }

  // --- Sizes ----------------------------------------------------------------------------------

  // Names of sizes that the calls need, as variables that the first lines take from shapes.
  void NameSizes() {
    for (const Module::Item& item : module_.items) {
      if (!item.step || item.step->layer) continue;
      for (const Argument& argument : item.step->call.arguments) {
        for (const Item& i : argument.items) {
          const Dim* dim = std::get_if<Dim>(&i);
          if (!dim) continue;
          for (const std::string& name : dim->SymbolNames()) NameSize(name);
        }
      }
    }
  }

  void NameSize(const std::string& name) {
    if (sizes_.contains(name)) return;
    const Dim dim = Dim::Symbol(name);
    for (const Value* input : module_.inputs) {
      const Shape* shape = input->shape();
      for (int64_t i = 0; shape && i < shape->rank(); ++i) {
        if ((*shape)[i] != dim) continue;
        AddSize(name, input, i);
        return;
      }
    }
    const auto source = p_.FindSize(name);
    const bool is_input = source && std::find(module_.inputs.begin(), module_.inputs.end(),
                                              source->value) != module_.inputs.end();
    if (is_input) AddSize(name, source->value, source->axis);
  }

  void AddSize(const std::string& name, const Value* value, int64_t axis) {
    std::string base = name.starts_with('\x03') ? "size" : Identifier(name, "size");
    sizes_[name] = names_.Unique(base);
    size_lines_[values_[value].name][axis] = sizes_[name];
  }

  // "b, s = x.shape[:2]"
  void WriteSizes(std::vector<std::string>& lines) const {
    for (const std::string& parameter : parameters_) {
      const auto it = size_lines_.find(parameter);
      if (it == size_lines_.end()) continue;
      const std::map<int64_t, std::string>& axes = it->second;
      const int64_t last = axes.rbegin()->first;
      if (axes.size() == 1) {
        lines.push_back(StrCat(axes.begin()->second, " = ", parameter, ".shape[", last, "]"));
        continue;
      }
      std::vector<std::string> names;
      for (int64_t i = 0; i <= last; ++i) {
        const auto name = axes.find(i);
        names.push_back(name == axes.end() ? "_" : name->second);
      }
      lines.push_back(
          StrCat(absl::StrJoin(names, ", "), " = ", parameter, ".shape[:", last + 1, "]"));
    }
  }

  Expr Size(const Dim& dim, const Step& step) {
    StringMap<std::string> names;
    for (const std::string& name : dim.SymbolNames()) {
      if (const auto it = sizes_.find(name); it != sizes_.end()) {
        names[name] = it->second;
        continue;
      }
      std::string& found = names[name] = SizeOf(Dim::Symbol(name), step);
      const auto source = p_.FindSize(name);
      if (found.empty() && source) found = ShapeOf(source->value, source->axis);
      if (!found.empty()) continue;
      // A sum of sizes that other modules know may be a size here.
      if (std::string whole = SizeOf(dim, step); !whole.empty()) return {std::move(whole)};
      if (status_.ok()) {
        status_ = CannotExpress("'", step.node ? step.node->name() : "", "' (", step.call.op,
                                "): a size that no tensor of its module has");
      }
    }
    return SizeExpr(dim, names);
  }

  // "x.shape[1]" of an operand of the call, or else of another variable; empty: none has that size.
  std::string SizeOf(const Dim& dim, const Step& step) {
    std::string found;
    const auto look = [&](const Value* value) {
      const Shape* shape = value->shape();
      for (int64_t i = 0; shape && found.empty() && i < shape->rank(); ++i) {
        if ((*shape)[i] == dim) found = ShapeOf(value, i);
      }
    };
    ForOperands({const_cast<Step*>(&step), nullptr}, look);
    if (!found.empty()) return found;
    for (const std::string& parameter : parameters_) {
      if (const auto it = holder_.find(parameter); it != holder_.end()) look(it->second);
    }
    for (const Module::Item& item : module_.items) {
      if (!found.empty() || item.step == &step) break;
      for (const Value* value : ResultsOf(item)) {
        if (values_.contains(value)) look(value);
      }
    }
    return found;
  }

  std::string ShapeOf(const Value* value, int64_t axis) {
    const auto it = values_.find(value);
    if (it == values_.end()) return "";
    if (it->second.pending) {
      Materialize(value);
    } else if (const auto held = holder_.find(it->second.name);
               held != holder_.end() && held->second != value) {
      return "";  // its variable is another's by now
    }
    return StrCat(values_[value].expr.In(kAtom), ".shape[", axis, "]");
  }

  // --- Weights --------------------------------------------------------------------------------

  // "self.encoder.layer[0].weight", as this module sees it.
  std::string PathTo(const Module* module) const {
    std::vector<const Module*> chain;
    for (const Module* m = module; m && m != &module_; m = m->parent) chain.push_back(m);
    std::string text = "self";
    for (size_t i = chain.size(); i-- > 0;) {
      const bool numbered = chain[i]->parent->is_list;
      StrAppend(&text, numbered ? "[" : ".", chain[i]->attribute, numbered ? "]" : "");
    }
    return text;
  }

  Expr WeightExpr(const Weight& weight) const {
    const std::string text = StrCat(PathTo(weight.home), ".", weight.attribute);
    return {weight.transposed ? StrCat(text, ".t()") : text};
  }

  // --- Expressions ----------------------------------------------------------------------------

  struct Line {
    Expr expr;
    int calls = 1;
    std::vector<const Value*> used;  // pending ones, which are in the text
  };

  Expr Use(const Value* value, Line& line) {
    if (const Weight* weight = p_.WeightOf(value);
        weight && !p_.ProducerOf(value) && !values_.contains(value)) {
      return WeightExpr(*weight);
    }
    const auto it = values_.find(value);
    if (it == values_.end()) return {"None"};
    const Variable& v = it->second;
    if (v.pending) {
      line.calls += v.calls;
      line.used.push_back(value);
    }
    return v.expr;
  }

  absl::StatusOr<Line> Render(const Module::Item& item) {
    Line line;
    if (item.module) {
      std::vector<std::string> arguments;
      for (const Value* input : item.module->inputs) arguments.push_back(Use(input, line).text);
      line.expr = {StrCat(PathTo(item.module), "(", absl::StrJoin(arguments, ", "), ")")};
      return line;
    }
    const Step& step = *item.step;
    CallContext context;
    context.framework = &p_.framework();
    context.operand = [&](const Operand& operand, bool) { return Use(operand.value, line); };
    context.size = [&](const Dim& dim) { return Size(dim, step); };
    context.device = Device();
    const Value* result = step.results.empty() ? nullptr : step.results[0];
    context.exact = result && result->dtype() == DType::kFloat64;
    if (step.layer) {
      const Layer& layer = *step.layer;
      const Module* module = LayerModule(step);
      std::vector<std::string> arguments;
      const auto text = [&](const Item& i) {
        return TextOfArgument({"", {i}, false}, context).text;
      };
      if (!layer.inputs.empty()) arguments.push_back(text(layer.inputs[0]));
      if (layer.inputs.size() == 2) arguments.push_back(text(layer.inputs[1]));
      if (layer.inputs.size() == 3) {
        arguments.push_back(StrCat("(", text(layer.inputs[1]), ", ", text(layer.inputs[2]), ")"));
      }
      line.expr = {StrCat(PathTo(module), "(", absl::StrJoin(arguments, ", "), ")")};
      return line;
    }
    X2IR_ASSIGN_OR_RETURN(line.expr, TextOfCall(step.call, context));
    return line;
  }

  static const Module* LayerModule(const Step& step) { return step.layer_module; }

  std::string Device() const {
    for (size_t i = 0; i < module_.inputs.size(); ++i) {
      if (module_.inputs[i]->type().is_tensor()) {
        return StrCat(", device=", parameters_[i], ".device");
      }
    }
    return "";
  }

  // --- Lines ----------------------------------------------------------------------------------

  absl::Status WriteItem(const Module::Item& item) {
    if (item.step && !item.step->blocks.empty()) return WriteControl(*item.step);
    Line line;
    while (true) {
      const size_t written = lines_.size();
      X2IR_ASSIGN_OR_RETURN(line, Render(item));
      if (lines_.size() != written) continue;  // something in it has a variable by now
      if (line.used.empty() ||
          (line.expr.text.size() <= kMaxColumns - 12 && line.calls <= kMaxCalls)) {
        break;
      }
      // The longest of what is in it gets a line of its own.
      const Value* longest = *std::max_element(
          line.used.begin(), line.used.end(), [&](const Value* a, const Value* b) {
            return values_[a].expr.text.size() < values_[b].expr.text.size();
          });
      Materialize(longest);
    }
    const std::vector<const Value*>& results = ResultsOf(item);
    const size_t wanted = static_cast<size_t>(
        std::count_if(results.begin(), results.end(), [](const Value* v) { return v; }));
    const bool several = results.size() > 1;
    std::vector<std::string> reads = ReadsOf(item);
    const std::string kept = KeptName(item);
    ForOperands(item, [&](const Value* value) { --uses_[value]; });
    for (const Value* value : line.used) {
      values_.erase(value);
      pending_.erase(value);
    }
    if (!several && wanted == 1 && uses_[results[0]] == 1) {
      Variable& v = values_[results[0]];
      v.expr = line.expr;
      v.calls = line.calls;
      v.pending = true;
      v.reads = std::move(reads);
      v.base = kept.empty() ? NameFor(item, *results[0]) : kept;
      v.order = ++order_;
      pending_.insert(results[0]);
      return absl::OkStatus();
    }
    Assign(item, results, line.expr.text, kept, reads);
    return absl::OkStatus();
  }

  // The name of what a call gives in another form; empty where it is something new.
  std::string KeptName(const Module::Item& item) {
    if (!item.step || item.step->layer || !KeepsName(item.step->call.op)) return "";
    const auto it = values_.find(item.step->call.Tensor("self"));
    if (it == values_.end() || !it->second.pending) return "";
    return it->second.base;
  }

  std::vector<std::string> ReadsOf(const Module::Item& item) {
    std::vector<std::string> reads;
    ForOperands(item, [&](const Value* value) {
      const auto it = values_.find(value);
      if (it == values_.end()) return;
      if (!it->second.pending) {
        reads.push_back(it->second.name);
      } else {
        reads.insert(reads.end(), it->second.reads.begin(), it->second.reads.end());
      }
    });
    return reads;
  }

  // What a result would be called.
  std::string NameFor(const Module::Item& item, const Value& result) const {
    const Module* called = item.module        ? item.module
                           : item.step->layer ? LayerModule(*item.step)
                                              : nullptr;
    if (!called) {
      std::string_view op = item.step->call.op;
      if (op == "aten::scaled_dot_product_attention.default") return "attention";
      const std::string base = BaseName(result);
      // "aten::maximum.default"
      if (base != "value" || !op.starts_with("aten::")) return base;
      op = op.substr(6, op.find('.') - 6);
      return IsIdentifier(op) && !IsBuiltin(op) && op[0] != '_' ? std::string(op) : base;
    }
    while (called->parent && called->parent->is_list) called = called->parent;
    std::string name = called->attribute;
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return IsIdentifier(name) && name.size() <= 24 ? name : "y";
  }

  // The variable that a line may assign to again: the first operand's, where this was its last use.
  std::string Reusable(const std::vector<std::string>& reads) {
    if (reads.empty()) return "";
    const std::string& first = reads[0];
    const bool alone = std::all_of(reads.begin(), reads.end(),
                                   [&](const std::string& name) { return name == first; });
    if (uses_[holder_[first]] != 0 || (!alone && first != "x")) return "";
    if (is_root_ && std::find(parameters_.begin(), parameters_.end(), first) != parameters_.end()) {
      return "";
    }
    return first;
  }

  // Pending expressions that name a variable are written before it gets another value.
  void FlushReaders(const std::string& name) {
    std::vector<std::pair<size_t, const Value*>> readers;
    for (const Value* value : pending_) {
      const Variable& v = values_[value];
      if (std::find(v.reads.begin(), v.reads.end(), name) != v.reads.end()) {
        readers.emplace_back(v.order, value);
      }
    }
    std::sort(readers.begin(), readers.end());
    for (const auto& [order, value] : readers) Materialize(value);
  }

  void Materialize(const Value* value) {
    Variable& v = values_[value];
    const std::string text = v.expr.text;
    const std::string name = names_.Unique(v.base);
    SetVariable(value, name);
    Emit(StrCat(name, " = ", text));
  }

  void Assign(const Module::Item& item, const std::vector<const Value*>& results,
              const std::string& text, const std::string& kept,
              const std::vector<std::string>& reads) {
    std::vector<std::string> targets;
    const std::string again = Reusable(reads);
    for (const Value* result : results) {
      if (!result) {
        targets.push_back("_");
        continue;
      }
      std::string name;
      if (targets.empty() && !again.empty()) {
        name = again;
      } else {
        name = names_.Unique(kept.empty() ? StreamName(item, *result) : kept);
      }
      targets.push_back(name);
    }
    if (!again.empty()) FlushReaders(again);
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i]) SetVariable(results[i], targets[i]);
    }
    if (item.step && item.step->layer && targets.size() == 3) {  // an LSTM
      if (targets[1] == "_" && targets[2] == "_") {
        Emit(StrCat(targets[0], ", _ = ", text));
        return;
      }
      targets = {targets[0], StrCat("(", targets[1], ", ", targets[2], ")")};
    }
    Emit(targets.empty() ? text : StrCat(absl::StrJoin(targets, ", "), " = ", text));
  }

  // The model's own stream of values is called x, as in the modules.
  std::string StreamName(const Module::Item& item, const Value& result) {
    if (is_root_ && !names_.Has("x") && ResultsOf(item).size() == 1) return "x";
    return NameFor(item, result);
  }

  void Emit(std::string line) { lines_.push_back(std::move(line)); }

  // --- if and while ---------------------------------------------------------------------------

  absl::Status WriteControl(const Step& step) {
    const Module::Item item{const_cast<Step*>(&step), nullptr};
    // What is not written yet is written before: a branch may not be taken.
    MaterializeAll();
    for (const auto& [value, count] : CountsIn(step)) uses_[value] += count;
    // Nothing around is assigned to in it.
    constexpr int kMany = 1 << 20;
    std::vector<const Value*> around;
    ForOperands(item, [&](const Value* value) { around.push_back(value); });
    for (const Value* value : around) uses_[value] += kMany;
    const absl::Status status =
        step.call.op == "higher_order::cond" ? WriteIf(step) : WriteWhile(step);
    for (const Value* value : around) uses_[value] -= kMany + 1;
    return status;
  }

  void MaterializeAll() {
    std::vector<std::pair<size_t, const Value*>> all;
    for (const Value* value : pending_) all.emplace_back(values_[value].order, value);
    std::sort(all.begin(), all.end());
    for (const auto& [order, value] : all) Materialize(value);
  }

  static absl::flat_hash_map<const Value*, int> CountsIn(const Step& step) {
    absl::flat_hash_map<const Value*, int> counts;
    for (const Block& block : step.blocks) {
      for (const auto& inner : block.steps) {
        ForOperands({inner.get(), nullptr}, [&](const Value* value) { ++counts[value]; });
      }
      for (const Value* output : block.outputs) ++counts[output];
    }
    return counts;
  }

  // The lines of a block, and its results as expressions.
  absl::StatusOr<std::vector<std::string>> WriteBlock(const Block& block,
                                                      std::vector<std::string>& lines) {
    std::vector<std::string> outer;
    std::swap(lines_, outer);
    for (const auto& inner : block.steps) {
      const absl::Status status = WriteItem({inner.get(), nullptr});
      if (!status.ok()) return status;
    }
    std::vector<std::string> results;
    for (const Value* output : block.outputs) {
      Line line;
      results.push_back(Use(output, line).text);
      --uses_[output];
    }
    for (const Value* output : block.outputs) {
      if (pending_.erase(output) != 0) values_.erase(output);
    }
    MaterializeAll();
    std::swap(lines_, outer);
    lines = std::move(outer);
    return results;
  }

  void EmitIn(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) Emit(StrCat("    ", line));
  }

  absl::Status WriteIf(const Step& step) {
    Line line;
    const std::string condition = Use(step.call.Tensor("arg0"), line).text;
    std::vector<std::string> targets;
    for (const Value* result : step.results) {
      targets.push_back(result ? names_.Unique(BaseName(*result)) : "_");
    }
    for (size_t i = 0; i < 2; ++i) {
      std::vector<std::string> lines;
      X2IR_ASSIGN_OR_RETURN(const std::vector<std::string> results,
                            WriteBlock(step.blocks[i], lines));
      Emit(i == 0 ? StrCat("if ", condition, ":") : std::string("else:"));
      EmitIn(lines);
      bool any = !lines.empty();
      for (size_t k = 0; k < std::min(results.size(), targets.size()); ++k) {
        if (!step.results[k]) continue;
        Emit(StrCat("    ", targets[k], " = ", results[k]));
        any = true;
      }
      if (!any) Emit("    pass");
    }
    for (size_t i = 0; i < targets.size(); ++i) {
      if (step.results[i]) SetVariable(step.results[i], targets[i]);
    }
    return absl::OkStatus();
  }

  absl::Status WriteWhile(const Step& step) {
    const Argument* carried = step.call.Find("arg2");
    const Block &again = step.blocks[0], &body = step.blocks[1];
    const size_t count = carried ? carried->items.size() : 0;
    if (again.outputs.size() != 1 || body.inputs.size() < count || again.inputs.size() < count ||
        body.outputs.size() != count) {
      return Unimplemented("higher_order::while_loop of that form");
    }
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      const Operand* operand = std::get_if<Operand>(&carried->items[i]);
      if (!operand) return Unimplemented("higher_order::while_loop of that form");
      names.push_back(names_.Unique(BaseName(*body.inputs[i])));
      Line line;
      Emit(StrCat(names[i], " = ", Use(operand->value, line).text));
      // Neither is assigned to before the end of a round.
      uses_[body.inputs[i]] += 1 << 20;
      uses_[again.inputs[i]] += 1 << 20;
      SetVariable(body.inputs[i], names[i]);
      SetVariable(again.inputs[i], names[i]);
    }
    std::vector<std::string> lines;
    X2IR_ASSIGN_OR_RETURN(const std::vector<std::string> condition, WriteBlock(again, lines));
    if (lines.empty()) {
      Emit(StrCat("while ", condition[0], ":"));
    } else {
      Emit("while True:");
      EmitIn(lines);
      Emit(StrCat("    if not ", condition[0], ":"));
      Emit("        break");
    }
    X2IR_ASSIGN_OR_RETURN(const std::vector<std::string> results, WriteBlock(body, lines));
    EmitIn(lines);
    std::vector<std::string> targets, values;
    for (size_t i = 0; i < count; ++i) {
      if (results[i] == names[i]) continue;
      targets.push_back(names[i]);
      values.push_back(results[i]);
    }
    if (!targets.empty()) {
      Emit(StrCat("    ", absl::StrJoin(targets, ", "), " = ", absl::StrJoin(values, ", ")));
    } else if (lines.empty()) {
      Emit("    pass");
    }
    for (size_t i = 0; i < step.results.size() && i < count; ++i) {
      if (step.results[i]) SetVariable(step.results[i], names[i]);
    }
    return absl::OkStatus();
  }

  // --- Loops ----------------------------------------------------------------------------------

  // The end of the items from `begin` on that are children of one list, of one class, each of which
  // takes the result of the one before it.
  size_t LoopEnd(size_t begin) {
    const Module* first = module_.items[begin].module;
    if (!first || !first->parent->is_list || first->outputs.empty()) return begin + 1;
    size_t end = begin + 1;
    for (; end < module_.items.size(); ++end) {
      const Module *before = module_.items[end - 1].module, *next = module_.items[end].module;
      if (!next || next->parent != first->parent || keys_.key(next) != keys_.key(first) ||
          std::stoll(next->segment) != std::stoll(before->segment) + 1 ||
          next->inputs.size() != first->inputs.size() ||
          !Carries(*before, *next, *first, end > begin + 1)) {
        break;
      }
    }
    return end;
  }

  // Whether each input of `next` is the result of `before` in the same place as the first has it,
  // or the same as before; and the results go nowhere else.
  bool Carries(const Module& before, const Module& next, const Module& first, bool known) {
    if (!known) carried_.assign(first.inputs.size(), -1);
    std::vector<int> carried(next.inputs.size(), -1);
    for (size_t i = 0; i < next.inputs.size(); ++i) {
      const auto it = std::find(before.outputs.begin(), before.outputs.end(), next.inputs[i]);
      if (it != before.outputs.end()) {
        carried[i] = static_cast<int>(it - before.outputs.begin());
      } else if (next.inputs[i] != before.inputs[i]) {
        return false;
      }
    }
    if (known && carried != carried_) return false;
    for (const Value* output : before.outputs) {
      const auto n = std::count(next.inputs.begin(), next.inputs.end(), output);
      if (n != 1 || uses_[output] != 1) return false;
    }
    carried_ = std::move(carried);
    return true;
  }

  absl::Status WriteLoop(size_t begin, size_t end) {
    const Module& first = *module_.items[begin].module;
    const Module& last = *module_.items[end - 1].module;
    const Module* list = first.parent;
    // What is carried needs a variable.
    std::vector<std::string> arguments(first.inputs.size());
    std::vector<std::string> targets(first.outputs.size());
    for (size_t i = 0; i < first.inputs.size(); ++i) {
      const Value* input = first.inputs[i];
      auto it = values_.find(input);
      if (it == values_.end()) {
        Line line;
        arguments[i] = Use(input, line).text;
        continue;
      }
      if (carried_[i] < 0) {
        if (it->second.pending) Materialize(input);
        arguments[i] = values_[input].name;
        continue;
      }
      std::string name;
      if (it->second.pending) {
        name = names_.Unique(names_.Has("x") ? it->second.base : std::string("x"));
        const std::string text = it->second.expr.text;
        Emit(StrCat(name, " = ", text));
        SetVariable(input, name);
      } else if (uses_[input] == 1 &&
                 !(is_root_ && std::find(parameters_.begin(), parameters_.end(), it->second.name) !=
                                   parameters_.end())) {
        name = it->second.name;
        FlushReaders(name);
      } else {
        name = names_.Unique(names_.Has("x") ? NameFor(module_.items[begin], *input)
                                             : std::string("x"));
        Emit(StrCat(name, " = ", it->second.name));
      }
      arguments[i] = name;
      targets[static_cast<size_t>(carried_[i])] = name;
    }
    for (size_t i = 0; i < targets.size(); ++i) {
      if (targets[i].empty()) {
        targets[i] = names_.Unique(NameFor(module_.items[begin], *first.outputs[i]));
      }
    }
    const size_t count = list->children.size();
    std::string what = PathTo(list);
    if (end - begin != count) {
      const auto place = [&](const Module& m) {
        return std::find(list->children.begin(), list->children.end(), &m) - list->children.begin();
      };
      const auto from = place(first), to = place(last) + 1;
      StrAppend(&what, "[", from == 0 ? "" : StrCat(from), ":",
                static_cast<size_t>(to) == count ? "" : StrCat(to), "]");
    }
    std::string item = Identifier(list->segment, "block");
    if (item.size() > 2 && item.ends_with('s')) item.pop_back();
    if (!IsIdentifier(item) || item.size() < 2) item = "block";
    item = names_.Unique(item);
    Emit(StrCat("for ", item, " in ", what, ":"));
    Emit(StrCat("    ", absl::StrJoin(targets, ", "), " = ", item, "(",
                absl::StrJoin(arguments, ", "), ")"));
    for (size_t i = begin; i < end; ++i) {
      ForOperands(module_.items[i], [&](const Value* value) { --uses_[value]; });
    }
    for (size_t i = 0; i < targets.size(); ++i) SetVariable(last.outputs[i], targets[i]);
    return absl::OkStatus();
  }

  // --- The end --------------------------------------------------------------------------------

  void WriteReturn() {
    const std::vector<const Value*> outputs = Returned();
    while (true) {
      Line line;
      std::vector<std::string> texts;
      for (const Value* output : outputs) texts.push_back(Use(output, line).text);
      std::string text = absl::StrJoin(texts, ", ");
      if (is_root_ && outputs.size() > 1) {
        for (size_t i = 0; i < texts.size(); ++i) {
          if (output_fields_[i] != texts[i] || outputs.size() > 1) {
            texts[i] = StrCat(output_fields_[i], "=", texts[i]);
          }
        }
        text = StrCat("Outputs(", absl::StrJoin(texts, ", "), ")");
      }
      const bool fits = text.size() <= kMaxColumns - 10 || outputs.size() > 1;
      if (line.used.empty() || (fits && line.calls <= kMaxCalls + 1)) {
        Emit(outputs.empty() ? "return None" : StrCat("return ", text));
        return;
      }
      const Value* longest = *std::max_element(
          line.used.begin(), line.used.end(), [&](const Value* a, const Value* b) {
            return values_[a].expr.text.size() < values_[b].expr.text.size();
          });
      Materialize(longest);
    }
  }

  Program& p_;
  const Module& module_;
  const ClassKeys& keys_;
  const std::vector<std::string>& output_fields_;
  bool is_root_ = false;
  Names names_;
  std::vector<std::string> parameters_, lines_;
  absl::flat_hash_map<const Value*, Variable> values_;
  absl::flat_hash_map<const Value*, int> uses_;
  StringMap<std::string> sizes_;
  std::map<std::string, std::map<int64_t, std::string>> size_lines_;
  std::vector<int> carried_;
  absl::flat_hash_set<const Value*> pending_;
  StringMap<const Value*> holder_;  // of each variable
  absl::Status status_;
  size_t order_ = 0;
};

}  // namespace

absl::StatusOr<Forward> WriteForward(Program& program, const Module& module, const ClassKeys& keys,
                                     const std::vector<std::string>& outputs) {
  return ForwardWriter(program, module, keys, outputs).Run();
}

}  // namespace x2ir::python
