// Modules to graphs.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_join.h"
#include "x2ir/formats/mlir/dialects_internal.h"
#include "x2ir/formats/stablehlo/attr_forms.h"
#include "x2ir/formats/stablehlo/checks.h"
#include "x2ir/formats/stablehlo/composites.h"
#include "x2ir/formats/stablehlo/stablehlo.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace stablehlo {
namespace {

using mlir::Attr;
using mlir::Block;
using mlir::MlirType;
using mlir::Op;
using mlir::TypeRef;
using mlir::ValueId;

// Splats of more elements stay one element.
constexpr int64_t kLargestExpandedSplat = 4096;

class GraphReader {
 public:
  GraphReader(const mlir::Module& module, const GraphOptions& options)
      : module_(module), options_(options), values_(module.values.size()), composites_(module) {}

  absl::StatusOr<Model> Read() {
    for (const mlir::Region& region : module_.top.regions) {
      for (const Block& block : region.blocks) {
        for (const Op& op : block.ops) {
          if (op.name == "func.func") functions_.push_back(&op);
        }
      }
    }
    std::vector<const Op*> entries = SelfContained();
    if (entries.empty()) {
      X2IR_ASSIGN_OR_RETURN(entries.emplace_back(), Entry());
    }
    model_.source_dialect = kDialect;
    model_.producer_name = module_.producer;
    model_.SetOpset("", 1);
    model_.graph->set_name(NameOf(*entries[0]));
    keeps_checks_ = options_.checks;
    for (const Op* entry : entries) X2IR_RETURN_IF_ERROR(ReadFunction(*entry, model_.graph.get()));
    keeps_checks_ = false;
    NameInterface(*entries[0]);
    for (Value* value : checks_.values()) model_.graph->AddOutput(value);
    // Functions that are called, each once.
    while (!called_.empty()) {
      const std::string name = called_.back();
      called_.pop_back();
      const Op* op = Find(name);
      if (op == nullptr) return Invalid("function '@", name, "' is called but not defined");
      auto function = std::make_shared<Function>();
      function->domain = kFunctionDomain;
      function->name = name;
      function->opset_imports = model_.opset_imports;
      function->body = std::make_shared<Graph>(name);
      X2IR_RETURN_IF_ERROR(ReadFunction(*op, function->body.get()));
      model_.functions.push_back(std::move(function));
    }
    composites_.NoteOn(model_);
    checks_.StoreIn(model_);
    return std::move(model_);
  }

 private:
  static std::string NameOf(const Op& function) {
    const Attr* name = function.Find("sym_name");
    return name == nullptr ? std::string() : name->s;
  }
  static bool IsPrivate(const Op& function) {
    const Attr* visibility = function.Find("sym_visibility");
    return visibility != nullptr && (visibility->s == "private" || visibility->s == "nested");
  }
  const Op* Find(std::string_view name) const {
    for (const Op* function : functions_) {
      if (NameOf(*function) == name && !function->regions.empty()) return function;
    }
    return nullptr;
  }

  // A module of tests: all functions that take and give nothing, where checks are asked for.
  std::vector<const Op*> SelfContained() const {
    std::vector<const Op*> found;
    if (!options_.checks || !options_.entry.empty() || Find("main")) return found;
    for (const Op* function : functions_) {
      const Attr* type = function->Find("function_type");
      const bool closed = type != nullptr && type->type != nullptr && type->type->items.empty();
      if (closed && !function->regions.empty() && !IsPrivate(*function)) found.push_back(function);
    }
    return found;
  }

  absl::StatusOr<const Op*> Entry() const {
    std::vector<std::string> names;
    const Op* only = nullptr;
    for (const Op* function : functions_) {
      if (function->regions.empty() || IsPrivate(*function)) continue;
      names.push_back(NameOf(*function));
      only = function;
    }
    if (!options_.entry.empty()) {
      if (const Op* found = Find(options_.entry)) return found;
      return OptionError("entry", StrCat("there is no function '", options_.entry,
                                         "'; there is: ", absl::StrJoin(names, ", ")));
    }
    if (const Op* main = Find("main")) return main;
    if (names.empty()) return DataLoss("the module has no function that others can call");
    if (names.size() == 1) return only;
    constexpr size_t kMostNames = 8;
    if (names.size() > kMostNames) {
      const size_t more = names.size() - kMostNames;
      names.resize(kMostNames);
      names.push_back(StrCat("and ", more, " more"));
    }
    return OptionError("entry", StrCat("the module has several functions and none is main: ",
                                       absl::StrJoin(names, ", "), "; choose one by it"));
  }

  // What the file calls arguments and results of the function, if it does.
  void NameInterface(const Op& function) {
    const auto name_all = [&](const char* list, const char* key, absl::Span<Value* const> values) {
      const Attr* attrs = function.Find(list);
      if (attrs == nullptr || attrs->items.size() != values.size()) return;
      for (size_t i = 0; i < values.size(); ++i) {
        const Attr* name = attrs->items[i].Find(key);
        if (name == nullptr || name->s.empty() || values[i]->name() == name->s) continue;
        if (list == std::string_view("res_attrs") && values[i]->is_input()) continue;
        Graph& graph = *model_.graph;
        if (Value* other = graph.Find(name->s)) graph.Rename(other, graph.UniqueName(name->s));
        graph.Rename(values[i], name->s);
      }
    };
    name_all("arg_attrs", kArgumentName, model_.graph->inputs());
    name_all("res_attrs", kResultName, model_.graph->outputs());
  }

  // --- Types ----------------------------------------------------------------------------------
  // The tensors of a type: of a tuple all that are inside, of a token none.
  absl::Status Flatten(const TypeRef& type, std::vector<const MlirType*>* tensors) const {
    switch (type->kind) {
      case MlirType::kTuple:
        for (const TypeRef& item : type->items) X2IR_RETURN_IF_ERROR(Flatten(item, tensors));
        return absl::OkStatus();
      case MlirType::kToken: return absl::OkStatus();
      case MlirType::kTensor:
      case MlirType::kScalar:
      case MlirType::kIndex: tensors->push_back(type.get()); return absl::OkStatus();
      default:
        return Unimplemented("a value of type ",
                             type->text.empty()
                                 ? "function"
                                 : std::string_view(type->text).substr(0, type->text.find('<')));
    }
  }

  static absl::StatusOr<Type> TypeOf(const MlirType& type) {
    if (type.kind == MlirType::kIndex) return Type::Tensor(DType::kInt64, Shape());
    if (type.type.dtype() == DType::kUndefined) {
      return Unimplemented("tensors of ", type.text, " are not supported");
    }
    return type.type;
  }

  absl::Status Describe(Value* value, const MlirType& type) const {
    X2IR_ASSIGN_OR_RETURN(Type made, TypeOf(type));
    value->set_type(std::move(made));
    if (type.quantization != nullptr) {
      value->annotations().GetOrMake().extra[kQuantized] = QuantizationText(*type.quantization);
    }
    return absl::OkStatus();
  }

  // --- Values ---------------------------------------------------------------------------------
  using Values = absl::InlinedVector<Value*, 1>;
  Values& Of(ValueId id) { return values_[static_cast<size_t>(id)]; }
  const std::string& Name(ValueId id) const { return module_.values[static_cast<size_t>(id)].name; }

  absl::Status AddInputs(ValueId id, Graph* graph) {
    std::vector<const MlirType*> tensors;
    X2IR_RETURN_IF_ERROR(Flatten(module_.type(id), &tensors));
    Values& values = Of(id);
    values.clear();
    for (size_t i = 0; i < tensors.size(); ++i) {
      const std::string base = tensors.size() == 1 ? Name(id) : StrCat(Name(id), ".", i);
      values.push_back(graph->AddInput(graph->UniqueName(base.empty() ? "arg" : base), Type()));
      X2IR_RETURN_IF_ERROR(Describe(values.back(), *tensors[i]));
    }
    return absl::OkStatus();
  }

  std::vector<Value*> Operands(const Op& op) {
    std::vector<Value*> operands;
    for (const ValueId id : op.operands) {
      for (Value* value : Of(id)) operands.push_back(value);
    }
    return operands;
  }

  // --- Operations -----------------------------------------------------------------------------
  absl::Status ReadFunction(const Op& function, Graph* graph) {
    if (function.regions.empty() || function.regions[0].blocks.empty()) {
      return DataLoss("function '@", NameOf(function), "' has no body");
    }
    return ReadBlock(function.regions[0].blocks[0], graph);
  }

  absl::Status ReadBlock(const Block& block, Graph* graph) {
    for (const ValueId argument : block.arguments) X2IR_RETURN_IF_ERROR(AddInputs(argument, graph));
    for (const Op& op : block.ops) {
      if (op.name == "func.return" || op.name == "stablehlo.return") {
        for (Value* value : Operands(op)) graph->AddOutput(value);
        break;
      }
      const absl::Status status = ReadOp(op, graph);
      if (!status.ok()) {
        const std::string where = op.line == 0 ? "" : StrCat(" of line ", op.line);
        return WithMessage(status, StrCat("operation '", op.name.view(), "'", where, ": ",
                                          std::string(status.message())));
      }
    }
    return absl::OkStatus();
  }
  static absl::Status WithMessage(const absl::Status& status, const std::string& message) {
    absl::Status with(status.code(), message);
    status.ForEachPayload(
        [&](absl::string_view url, const absl::Cord& payload) { with.SetPayload(url, payload); });
    return with;
  }

  absl::Status ReadOp(const Op& op, Graph* graph) {
    X2IR_RETURN_IF_ERROR(mlir::CheckCounts(op));
    const std::string_view name = op.name.view();
    if (name == "stablehlo.tuple" || name == "stablehlo.optimization_barrier" ||
        name == "tensor.cast" || name == "builtin.unrealized_conversion_cast") {
      return Alias(op);
    }
    if (name == "stablehlo.get_tuple_element") return TupleElement(op);
    if (name == "stablehlo.after_all" || name == "stablehlo.create_token") return absl::OkStatus();
    if (name == "stablehlo.constant" || name == "arith.constant") return Constant(op, graph);
    if (name == "func.call" || name == "stablehlo.composite") return Call(op, graph);
    if (name.starts_with("check.") || IsCheckCall(op)) {
      if (!keeps_checks_) {
        checks_.LeaveOut();
        return absl::OkStatus();
      }
      return checks_.Add(op, Operands(op), *graph);
    }
    if (name == "stablehlo.custom_call") {
      // Says of sizes what must hold; nothing is computed.
      const Attr* target = op.Find("call_target_name");
      if (target != nullptr && target->s == "shape_assertion") return absl::OkStatus();
    }
    const std::string_view node_op =
        name.starts_with("stablehlo.") ? name.substr(sizeof("stablehlo.") - 1) : name;
    Node* node = graph->AppendNode(kDialect, node_op, Operands(op));
    X2IR_ASSIGN_OR_RETURN(GraphAttrs attrs, GraphAttrsOf(op));
    for (auto& [key, value] : attrs) node->SetAttr(key, std::move(value));
    X2IR_RETURN_IF_ERROR(SetRegions(op, node));
    if (name == "stablehlo.custom_call") X2IR_RETURN_IF_ERROR(SetComparator(op, node));
    return AddResults(op, node, graph);
  }

  // The function by which a call of ApproxTopK orders elements, as a region of it.
  absl::Status SetComparator(const Op& op, Node* node) {
    const Attr *target = op.Find("call_target_name"), *called = op.Find("called_computations");
    if (target == nullptr || target->s != "ApproxTopK" || called == nullptr ||
        called->items.size() != 1) {
      return absl::OkStatus();
    }
    const std::string& name = called->items[0].s;
    const Op* function = Find(name);
    if (function == nullptr) return Invalid("function '@", name, "' is called but not defined");
    auto region = std::make_shared<Graph>(name);
    X2IR_RETURN_IF_ERROR(ReadFunction(*function, region.get()));
    node->SetAttr("comparator", std::move(region));
    return absl::OkStatus();
  }

  absl::Status AddResults(const Op& op, Node* node, Graph* graph) {
    for (const ValueId id : op.results) {
      std::vector<const MlirType*> tensors;
      X2IR_RETURN_IF_ERROR(Flatten(module_.type(id), &tensors));
      Values& values = Of(id);
      values.clear();
      for (const MlirType* type : tensors) {
        const std::string& name = Name(id);
        values.push_back(
            graph->AddNodeOutput(node, graph->UniqueName(name.empty() ? node->op().view() : name)));
        X2IR_RETURN_IF_ERROR(Describe(values.back(), *type));
      }
    }
    return absl::OkStatus();
  }

  // The results are the operands, one by one or all together in a tuple.
  absl::Status Alias(const Op& op) {
    const std::vector<Value*> operands = Operands(op);
    size_t at = 0;
    for (const ValueId id : op.results) {
      std::vector<const MlirType*> tensors;
      X2IR_RETURN_IF_ERROR(Flatten(module_.type(id), &tensors));
      if (at + tensors.size() > operands.size()) return Invalid("a result has no operand");
      Of(id).assign(operands.begin() + static_cast<ptrdiff_t>(at),
                    operands.begin() + static_cast<ptrdiff_t>(at + tensors.size()));
      at += tensors.size();
    }
    return absl::OkStatus();
  }

  absl::Status TupleElement(const Op& op) {
    const Attr* index = op.Find("index");
    if (index == nullptr || op.operands.size() != 1 || op.results.size() != 1) {
      return Invalid("it needs a tuple and an index");
    }
    const TypeRef& type = module_.type(op.operands[0]);
    if (type->kind != MlirType::kTuple || index->i < 0 ||
        index->i >= static_cast<int64_t>(type->items.size())) {
      return Invalid("the tuple has no element ", index->i);
    }
    size_t at = 0;
    for (int64_t i = 0; i <= index->i; ++i) {
      std::vector<const MlirType*> tensors;
      X2IR_RETURN_IF_ERROR(Flatten(type->items[static_cast<size_t>(i)], &tensors));
      if (i == index->i) {
        const Values& all = Of(op.operands[0]);
        Of(op.results[0])
            .assign(all.begin() + static_cast<ptrdiff_t>(at),
                    all.begin() + static_cast<ptrdiff_t>(at + tensors.size()));
      }
      at += tensors.size();
    }
    return absl::OkStatus();
  }

  absl::Status Constant(const Op& op, Graph* graph) {
    const Attr* value = op.Find("value");
    if (value == nullptr || op.results.size() != 1) return Invalid("it needs a value");
    Tensor tensor;
    const MlirType& type = *module_.type(op.results[0]);
    if (value->kind == Attr::kTensor) {
      tensor = value->tensor;
      const auto dims = type.type.shape() ? type.type.shape()->Static() : std::nullopt;
      if (!dims) return Invalid("its sizes are not known");
      const auto count = CheckedProduct(*dims);
      if (!count) return Invalid("a tensor is too large");
      if (value->splat && *count > kLargestExpandedSplat) {
        Node* node = graph->AppendNode(kDialect, "constant", {});
        node->SetAttr("value", tensor.Reshaped({}));
        return AddResults(op, node, graph);
      }
      if (value->splat) {
        X2IR_ASSIGN_OR_RETURN(tensor, mlir::ExpandSplat(tensor, *dims));
      }
      if (tensor.num_elements() != *count) return Invalid("its value does not fit its type");
      tensor = tensor.Reshaped(*dims);
    } else if (value->kind == Attr::kFloat || value->kind == Attr::kInt ||
               value->kind == Attr::kBool) {
      const DType dtype = type.kind == MlirType::kIndex ? DType::kInt64 : type.type.dtype();
      if (value->kind == Attr::kFloat) {
        tensor = Tensor::ScalarOf(dtype, value->f);
      } else {
        tensor = Tensor::ScalarOf(dtype, static_cast<double>(value->i));
      }
    } else {
      return Unimplemented("its value is ", value->s.empty() ? "of an unknown kind" : value->s);
    }
    if (type.type.dtype() != DType::kUndefined && tensor.dtype() != type.type.dtype() &&
        BitWidth(tensor.dtype()) == BitWidth(type.type.dtype())) {
      tensor = tensor.Reinterpreted(type.type.dtype());
    }
    const std::string& name = Name(op.results[0]);
    Value* made =
        graph->AddConstant(graph->UniqueName(name.empty() ? "constant" : name), std::move(tensor));
    if (type.quantization != nullptr) {
      made->annotations().GetOrMake().extra[kQuantized] = QuantizationText(*type.quantization);
    }
    Of(op.results[0]) = {made};
    return absl::OkStatus();
  }

  absl::Status Call(const Op& op, Graph* graph) {
    const Attr* callee = op.Find(op.name == "func.call" ? "callee" : "decomposition");
    if (callee == nullptr || callee->s.empty()) return Invalid("it names no function");
    composites_.Add(op, callee->s);
    if (seen_.insert(callee->s).second) called_.push_back(callee->s);
    Node* node =
        graph->AppendNode(kDialect, StrCat(kFunctionDomain, "::", callee->s), Operands(op));
    return AddResults(op, node, graph);
  }

  absl::Status SetRegions(const Op& op, Node* node) {
    if (op.regions.empty()) return absl::OkStatus();
    const absl::Span<const std::string_view> names = RegionNames(op.name);
    std::vector<std::shared_ptr<Graph>> graphs;
    for (const mlir::Region& region : op.regions) {
      auto& graph = graphs.emplace_back(std::make_shared<Graph>());
      if (region.blocks.size() != 1) return Invalid("its regions need one block each");
      X2IR_RETURN_IF_ERROR(ReadBlock(region.blocks[0], graph.get()));
    }
    if (names.empty()) {
      node->SetAttr("regions", std::move(graphs));
      return absl::OkStatus();
    }
    if (names[0].ends_with('*')) {
      node->SetAttr(names[0].substr(0, names[0].size() - 1), std::move(graphs));
      return absl::OkStatus();
    }
    for (size_t i = 0; i < names.size(); ++i) {
      if (i >= graphs.size()) return Invalid("region '", names[i], "' is missing");
      node->SetAttr(names[i], std::move(graphs[i]));
    }
    return absl::OkStatus();
  }

  const mlir::Module& module_;
  const GraphOptions& options_;
  Model model_;
  std::vector<Values> values_;
  std::vector<const Op*> functions_;
  std::vector<std::string> called_;
  absl::flat_hash_set<std::string> seen_;
  CompositeCalls composites_;
  CheckReader checks_;
  bool keeps_checks_ = false;
};

}  // namespace

absl::StatusOr<Model> GraphOf(const mlir::Module& module, const GraphOptions& options) {
  return GraphReader(module, options).Read();
}

}  // namespace stablehlo
}  // namespace x2ir
