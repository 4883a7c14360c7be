// A TorchScript archive as a model: the inputs of the method that is read.
#include <charconv>

#include "x2ir/formats/torch/script.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::torch_script {
namespace {

class ArgumentReader {
 public:
  ArgumentReader(Program& program, Graph& graph) : program_(program), graph_(graph) {}

  absl::Status Run(const std::vector<std::string>& arguments) {
    for (const std::string& text : arguments) {
      const size_t equals = text.rfind('=');
      if (equals == text.npos || equals == 0) {
        return OptionError("arguments", "'", text,
                           "': expected NAME=VALUE, as in k=5, NAME=none or NAME=input");
      }
      given_[text.substr(0, equals)] = text.substr(equals + 1);
    }
    const auto& parameters = program_.method->parameters;
    std::string names;
    for (size_t i = 1; i < parameters.size(); ++i) {
      StrAppend(&names, names.empty() ? "" : ", ", parameters[i].name);
    }
    for (const auto& [name, value] : given_) {
      bool known = false;
      for (size_t i = 1; i < parameters.size(); ++i) known = known || parameters[i].name == name;
      if (!known) {
        return OptionError("arguments", program_.method->name, " has no argument '", name,
                           "'; it has: ", names);
      }
    }
    for (size_t i = 1; i < parameters.size(); ++i) {
      const Parameter& p = parameters[i];
      const auto it = given_.find(p.name);
      const std::string* said = it == given_.end() ? nullptr : &it->second;
      X2IR_ASSIGN_OR_RETURN(InputLayout layout,
                            LayoutOf(p.type, std::string(p.name), p.default_value, said, 0));
      program_.inputs.push_back(std::move(layout));
    }
    return absl::OkStatus();
  }

 private:
  InputLayout Input(InputLayout::Kind kind, const std::string& name) {
    const Type type = kind == InputLayout::kInt     ? Type::Tensor(DType::kInt64, Shape())
                      : kind == InputLayout::kFloat ? Type::Tensor(DType::kFloat64, Shape())
                      : kind == InputLayout::kBool  ? Type::Tensor(DType::kBool, Shape())
                                                    : Type::Tensor(DType::kUndefined);
    InputLayout layout;
    layout.kind = kind;
    layout.name = graph_.AddInput(graph_.UniqueName(name), type)->name();
    return layout;
  }

  absl::StatusOr<InputLayout> LayoutOf(const Expr* type, const std::string& name,
                                       const Expr* fallback, const std::string* said, int depth) {
    InputLayout layout;
    layout.name = name;
    if (said && *said == "none") {
      layout.kind = InputLayout::kNone;
      return layout;
    }
    const bool is_index = type && type->kind == Expr::kIndex && type->args[0]->kind == Expr::kName;
    const std::string_view outer = is_index                            ? type->args[0]->text
                                   : type && type->kind == Expr::kName ? type->text
                                   : type && type->kind == Expr::kNone ? "NoneType"
                                                                       : std::string_view();
    if (!type || outer == "Tensor") {
      if (fallback && !said) return OptionalInput(name, fallback);
      return Input(InputLayout::kTensor, name);
    }
    if (depth > 8) return Unimplemented("argument '", name, "' is nested too deep");
    if (outer == "Optional" && is_index) {
      const Expr& inner = *type->args[1];
      const bool tensor = inner.kind == Expr::kName && inner.text == "Tensor";
      if (tensor && !said) return OptionalInput(name, fallback);
      if (!said && fallback) return Default(layout, fallback);
      if (!said) {
        layout.kind = InputLayout::kNone;
        return layout;
      }
      return LayoutOf(&inner, name, nullptr, said, depth + 1);
    }
    if (outer == "Union" && is_index && type->args[1]->kind == Expr::kTuple) {
      for (const Expr* one : type->args[1]->args) {
        if (one->kind == Expr::kName && one->text == "Tensor") {
          return LayoutOf(one, name, fallback, said, depth + 1);
        }
      }
    }
    if (fallback && !said) return Default(layout, fallback);
    static constexpr std::pair<std::string_view, InputLayout::Kind> kNumbers[] = {
        {"int", InputLayout::kInt}, {"float", InputLayout::kFloat}, {"bool", InputLayout::kBool}};
    for (const auto& [kind_name, kind] : kNumbers) {
      if (outer != kind_name) continue;
      if (!said || *said == "input") return Input(kind, name);
      return Literal(layout, kind, *said);
    }
    if (outer == "str" && said) {
      layout.kind = InputLayout::kText;
      layout.text = *said;
      return layout;
    }
    if (outer == "NoneType") {
      layout.kind = InputLayout::kNone;
      return layout;
    }
    if (outer == "List" && is_index) {
      layout.kind = InputLayout::kList;
      int64_t count = 1;
      if (said && *said != "input") {
        const auto [end, error] = std::from_chars(said->data(), said->data() + said->size(), count);
        if (error != std::errc() || end != said->data() + said->size() || count < 0 ||
            count > 10'000) {
          return OptionError("arguments", "'", name, "=", *said,
                             "': expected how many items the list has");
        }
      }
      for (int64_t i = 0; i < count; ++i) {
        X2IR_ASSIGN_OR_RETURN(InputLayout part, LayoutOf(type->args[1], StrCat(name, "_", i),
                                                         nullptr, nullptr, depth + 1));
        layout.parts.push_back(std::move(part));
      }
      return layout;
    }
    if (outer == "Tuple" && is_index) {
      layout.kind = InputLayout::kTuple;
      const Expr& inner = *type->args[1];
      const std::vector<const Expr*> items =
          inner.kind == Expr::kTuple ? inner.args : std::vector<const Expr*>{&inner};
      for (size_t i = 0; i < items.size(); ++i) {
        X2IR_ASSIGN_OR_RETURN(InputLayout part, LayoutOf(items[i], StrCat(name, "_", i), nullptr,
                                                         nullptr, depth + 1));
        layout.parts.push_back(std::move(part));
      }
      return layout;
    }
    std::string dotted;
    for (const Expr* e = type; e; e = e->kind == Expr::kAttribute ? e->args[0] : nullptr) {
      dotted = dotted.empty() ? std::string(e->text) : StrCat(e->text, ".", dotted);
    }
    if (const ClassDef* cls = program_.FindClass(dotted); cls && cls->base == "NamedTuple") {
      layout.kind = InputLayout::kTuple;
      for (const ClassDef::Field& field : cls->fields) {
        X2IR_ASSIGN_OR_RETURN(InputLayout part, LayoutOf(field.type, StrCat(name, "_", field.name),
                                                         field.value, nullptr, depth + 1));
        layout.parts.push_back(std::move(part));
        StrAppend(&layout.fields, field.name, "\n");
      }
      return layout;
    }
    return Unimplemented("argument '", name, "' of ", program_.method->name, " is of type ",
                         is_index ? StrCat(outer, "[...]") : dotted,
                         "; tensors, numbers, lists and tuples of them can be inputs");
  }

  static absl::StatusOr<InputLayout> Literal(InputLayout layout, InputLayout::Kind kind,
                                             const std::string& text) {
    layout.kind = kind;
    layout.literal = true;
    const char* end = text.data() + text.size();
    bool ok = false;
    if (kind == InputLayout::kBool) {
      ok = text == "true" || text == "false" || text == "True" || text == "False";
      layout.number = text == "true" || text == "True";
    } else if (kind == InputLayout::kInt) {
      int64_t i = 0;
      const auto [stop, error] = std::from_chars(text.data(), end, i);
      ok = error == std::errc() && stop == end;
      layout.integer = i;
    } else {
      const auto [stop, error] = std::from_chars(text.data(), end, layout.number);
      ok = error == std::errc() && stop == end;
    }
    if (ok) return layout;
    return OptionError("arguments", "'", layout.name, "=", text, "': expected ",
                       kind == InputLayout::kBool  ? "true or false"
                       : kind == InputLayout::kInt ? "a whole number"
                                                   : "a number",
                       ", none or input");
  }
  InputLayout OptionalInput(const std::string& name, const Expr* fallback) {
    InputLayout layout = Input(InputLayout::kTensor, name);
    layout.optional = true;
    layout.default_value = fallback;
    graph_.Find(layout.name)->set_type(Type::Optional(Type::Tensor(DType::kUndefined)));
    return layout;
  }
  static InputLayout Default(InputLayout layout, const Expr* value) {
    layout.kind = InputLayout::kDefault;
    layout.default_value = value;
    return layout;
  }

  Program& program_;
  Graph& graph_;
  StringMap<std::string> given_;
};

}  // namespace

absl::StatusOr<Model> ReadScript(ZipArchive zip, const std::string& method,
                                 const std::vector<std::string>& arguments) {
  X2IR_ASSIGN_OR_RETURN(std::shared_ptr<Program> program, OpenScript(std::move(zip)));
  const PickleValue& saved = program->data->root();
  const ClassDef* cls =
      saved.kind == PickleValue::kObject ? program->FindClass(saved.text) : nullptr;
  if (!cls) return DataLoss("the archive holds no module whose class is in its code");
  const std::string name = method.empty() ? "forward" : method;
  program->method = cls->Method(name);
  if (!program->method) {
    std::string all;
    for (const FunctionDef* m : cls->methods) {
      StrAppend(&all, all.empty() ? "" : ", ", m->name);
    }
    return OptionError("function", "class ", saved.text, " has no method '", name, "'",
                       all.empty() ? "" : StrCat("; it has: ", all));
  }
  Model model;
  model.source_dialect = "torch";
  model.producer_name = "pytorch";
  model.SetOpset("aten", 1);
  Graph& graph = *model.graph;
  X2IR_RETURN_IF_ERROR(ArgumentReader(*program, graph).Run(arguments));
  // What the method does is made of its code when the types of the inputs are decided.
  Node* node = graph.AppendNode("torch", StrCat("script::", name), graph.inputs());
  node->SetAttr("class", std::string(saved.text));
  graph.AddOutput(graph.AddNodeOutput(node, graph.UniqueName("output")));
  model.program = std::move(program);
  return model;
}

}  // namespace x2ir::torch_script
