#include "x2ir/formats/python/python.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "x2ir/formats/io/side_file.h"
#include "x2ir/formats/json.h"
#include "x2ir/formats/python/classes_internal.h"
#include "x2ir/formats/python/framework_internal.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace python {
namespace {

constexpr std::string_view kMadeFor = "x2ir.python";  // metadata: the file that the weights are of
constexpr std::string_view kSourceName = "x2ir.name.";

std::string FileName(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

// The size of an axis where an example is made.
int64_t ExampleSize(const Dim& dim) { return dim.is_static() ? dim.value() : 8; }

std::string Example(const Type& type, const Framework& framework) {
  if (type.kind() == Type::kSequence) return StrCat("[", Example(type.element(), framework), "]");
  if (type.kind() == Type::kOptional) return Example(type.element(), framework);
  std::vector<std::string> dims;
  const Shape* shape = type.shape();
  for (int64_t i = 0; shape && i < shape->rank(); ++i)
    dims.push_back(StrCat(ExampleSize((*shape)[i])));
  const std::string size = dims.empty() ? "()" : absl::StrJoin(dims, ", ");
  const std::string dtype = framework.TypeName(type.dtype());
  const std::string_view package = framework.package;
  if (type.dtype() == DType::kBool) return StrCat(package, ".ones(", size, ", dtype=", dtype, ")");
  if (IsFloating(type.dtype())) {
    return StrCat(package, ".rand(", size, ")",
                  type.dtype() == DType::kFloat32 ? "" : StrCat(".to(", dtype, ")"));
  }
  return StrCat(package, ".randint(0, 2, ", dims.empty() ? "()" : Tuple(dims),
                type.dtype() == DType::kInt64 ? "" : StrCat(", dtype=", dtype), ")");
}

// The file's text.
class SourceWriter {
 public:
  SourceWriter(Program& program, std::string weights_name, const PythonWriteOptions& options)
      : p_(program),
        f_(program.framework()),
        weights_name_(std::move(weights_name)),
        options_(options) {}

  absl::StatusOr<std::string> Run() {
    NameOutputs();
    X2IR_ASSIGN_OR_RETURN(const ClassTexts texts,
                          WriteClasses(p_, outputs_, {.frozen = options_.frozen}));
    inputs_ = texts.inputs;
    std::string code;
    for (const std::string& text : texts.classes) StrAppend(&code, "\n\n", text);
    const bool weights = HasWeights();
    const bool several = outputs_.size() > 1;
    code += Load();
    std::string head = Docstring();
    const std::string helpers = HelpersOf(code);
    if (weights) StrAppend(&head, f_.standard_imports, "from pathlib import Path\n");
    if (several) head += "from typing import NamedTuple\n";
    if (weights || several) head += "\n";
    if (weights) head += f_.other_imports;
    StrAppend(&head, "import ", f_.module,
              f_.package == f_.module ? "" : StrCat(" as ", f_.package), "\n");
    if (Mentions(code + helpers, "F.")) {
      StrAppend(&head, "import ", f_.module, ".nn.functional as F\n");
    }
    StrAppend(&head, "from ", f_.module, " import nn\n");
    if (weights) StrAppend(&head, f_.load_file);
    head += helpers;
    if (several) {
      head += "\n\nclass Outputs(NamedTuple):\n";
      for (size_t i = 0; i < outputs_.size(); ++i) {
        StrAppend(&head, "    ", outputs_[i], ": ", Hint(p_.graph().outputs()[i]->type()), "\n");
      }
    }
    return head + code + Main();
  }

 private:
  bool HasWeights() const {
    return std::any_of(p_.weights().begin(), p_.weights().end(),
                       [](const Weight& weight) { return weight.code.empty(); });
  }

  std::string Hint(const Type& type) const {
    return type.kind() == Type::kSequence ? "list"
           : type.is_tensor()             ? StrCat(f_.package, ".Tensor")
                                          : "object";
  }
  template <typename Values>
  static bool AreTensors(const Values& values) {
    return std::all_of(values.begin(), values.end(),
                       [](const Value* value) { return value->type().is_tensor(); });
  }

  // The functions that the code calls, and those that these call.
  std::string HelpersOf(std::string code) const {
    std::string text;
    for (const Helper& helper : f_.helpers) {
      if (!Calls(code, helper.name)) continue;
      const std::string fitted = Fitted(helper.text, code);
      text += fitted;
      code += fitted;
    }
    return text;
  }
  // A helper's text, of which only that is left which calls need.
  static std::string Fitted(std::string_view text, std::string_view code) {
    const auto passes = [&](std::string_view names) {
      while (!names.empty()) {
        const size_t end = std::min(names.find(','), names.size());
        for (const char* before : {" ", "("}) {
          if (code.find(StrCat(before, names.substr(0, end), "=")) != code.npos) return true;
        }
        names.remove_prefix(std::min(end + 1, names.size()));
      }
      return false;
    };
    std::string out;
    while (!text.empty()) {
      const size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      text.remove_prefix(end + 1);
      if (line.starts_with('?')) {
        const size_t bar = line.find('|');
        if (!passes(line.substr(1, bar - 1))) continue;
        line.remove_prefix(bar + 1);
      }
      std::string fitted;
      for (size_t open = line.find('{'); open != line.npos; open = line.find('{')) {
        const size_t bar = line.find('|', open), close = line.find('}', open);
        if (bar == line.npos || close < bar) break;  // Python's own
        fitted += line.substr(0, open);
        if (passes(line.substr(open + 1, bar - open - 1))) {
          fitted += line.substr(bar + 1, close - bar - 1);
        }
        line.remove_prefix(close + 1);
      }
      fitted += line;
      const size_t indent = std::min(fitted.find_first_not_of(' '), fitted.size());
      AppendLine(out, indent / 4, fitted.substr(indent));
    }
    return out;
  }
  static bool Calls(std::string_view code, std::string_view name) {
    return Mentions(code, StrCat(name, "("));
  }
  // Whether there is a name that begins so, and that is not being defined there.
  static bool Mentions(std::string_view code, std::string_view name) {
    for (size_t at = code.find(name); at != code.npos; at = code.find(name, at + 1)) {
      const char before = at == 0 ? ' ' : code[at - 1];
      const bool defined = at >= 4 && code.substr(at - 4, 4) == "def ";
      if (before != '.' && before != '_' && !absl::ascii_isalnum(before) && !defined) return true;
    }
    return false;
  }

  void NameOutputs() {
    Names names;
    for (const char* name : {"count", "index"}) names.Take(name);
    for (const Value* output : p_.graph().outputs()) {
      std::string name = Identifier(output->name(), "output");
      // A NamedTuple has no fields that begin so.
      if (name.starts_with('_')) name = StrCat("output", name);
      outputs_.push_back(names.Unique(name));
    }
  }

  std::string Docstring() const {
    const std::string title = StrCat("\"\"\"A", f_.name.starts_with('O') ? "n " : " ", f_.name,
                                     " module written by x2ir.\n\n    model = Model.load()\n");
    std::string out = title;
    std::vector<std::string> names = inputs_;
    out += StrCat("    output = model(", absl::StrJoin(names, ", "), ")\n");
    if (out.size() > 2000 || LongestLine(out) > 88) out = title;
    return out + "\"\"\"\n\n";
  }
  static size_t LongestLine(std::string_view text) {
    size_t longest = 0, start = 0;
    for (size_t i = 0; i <= text.size(); ++i) {
      if (i != text.size() && text[i] != '\n') continue;
      longest = std::max(longest, i - start);
      start = i + 1;
    }
    return longest;
  }

  std::string Load() const {
    if (!HasWeights()) {
      return "\n    @classmethod\n    def load(cls):\n"
             "        \"\"\"The model, which has no weights.\"\"\"\n"
             "        return cls().eval()\n";
    }
    const bool transposed = std::any_of(p_.weights().begin(), p_.weights().end(),
                                        [](const Weight& w) { return w.transposed; });
    const bool counts = std::any_of(p_.steps().begin(), p_.steps().end(), [](const auto& step) {
      return step->layer && step->layer->type.starts_with("nn.BatchNorm");
    });
    std::string out = "\n    @classmethod\n";
    AppendLine(out, 1,
               StrCat("def load(cls, path=Path(__file__).with_name(", StringLiteral(weights_name_),
                      ")):"));
    out +=
        "        \"\"\"The model with its weights, by default those beside this file.\"\"\"\n"
        "        model = cls()\n        weights = load_file(path)\n";
    if (transposed) {
      StrAppend(&out,
                "        for name in [name for name in weights if name.endswith(\".T\")]:\n"
                "            weights[name[:-2]] = weights.pop(name)",
                f_.transposed, "\n");
    }
    out += counts ? "        missing = {\n"
                    "            name\n"
                    "            for name in model.state_dict().keys() ^ weights.keys()\n"
                    "            if not name.endswith(\"num_batches_tracked\")\n"
                    "        }\n"
                  : "        missing = model.state_dict().keys() ^ weights.keys()\n";
    out +=
        "        if missing:\n"
        "            raise ValueError(f\"{path}: other weights: {sorted(missing)[:5]}\")\n";
    StrAppend(&out, f_.set_weights, options_.frozen ? f_.freeze : "",
              "        return model.eval()\n");
    return out;
  }

  std::string Main() const {
    std::string out = "\n\ndef example_inputs():\n    \"\"\"Random inputs, in order.\"\"\"\n";
    if (p_.graph().inputs().empty()) {
      out += "    return ()\n";
    } else {
      std::vector<std::string> examples;
      for (const Value* input : p_.graph().inputs()) examples.push_back(Example(input->type(), f_));
      AppendLine(out, 1, StrCat("return ", Tuple(examples)));
    }
    out += "\n\nif __name__ == \"__main__\":\n";
    out += "    model = Model.load()\n";
    StrAppend(&out, "    inputs = example_inputs()\n    with ", f_.package, ".no_grad():\n");
    out += "        outputs = model(*inputs)\n";
    const auto print = [](std::string_view what, bool tensors) {
      return StrCat("        print(f\"", what,
                    " {name}: ", tensors ? "{x.dtype} {tuple(x.shape)}" : "{x}", "\")\n");
    };
    out += "    for name, x in zip(INPUTS, inputs):\n";
    out += print("input", AreTensors(p_.graph().inputs()));
    out += outputs_.size() == 1 ? "    for name, x in zip(OUTPUTS, (outputs,)):\n"
                                : "    for name, x in zip(OUTPUTS, outputs):\n";
    out += print("output", AreTensors(p_.graph().outputs()));
    const auto names = [](const std::vector<std::string>& all) {
      std::vector<std::string> texts;
      for (const std::string& name : all) texts.push_back(StrCat("\"", name, "\""));
      return Tuple(texts);
    };
    std::string inputs, outputs;
    AppendLine(inputs, 0, StrCat("INPUTS = ", names(inputs_)));
    AppendLine(outputs, 0, StrCat("OUTPUTS = ", names(outputs_)));
    return StrCat("\n\n", inputs, outputs, out);
  }

  Program& p_;
  const Framework& f_;
  const std::string weights_name_;
  const PythonWriteOptions& options_;
  std::vector<std::string> inputs_, outputs_;
};

absl::Status Write(const Model& model, const Sink& sink, const PythonWriteOptions& options) {
  const Framework& framework = options.oneflow ? OneFlow() : PyTorch();
  X2IR_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program,
                        Program::Read(*model.graph, framework));
  X2IR_RETURN_IF_ERROR(program->Arrange());
  const std::string& path = sink.name();
  const std::string weights_path = PythonWeightsPath(path);
  X2IR_ASSIGN_OR_RETURN(const std::string text,
                        SourceWriter(*program, FileName(weights_path), options).Run());
  std::vector<NamedTensor> tensors;
  SafetensorsMetadata metadata = {{std::string(kMadeFor), FileName(path)}, {"format", "pt"}};
  for (const Weight& weight : program->weights()) {
    if (!weight.code.empty()) continue;
    const std::string key = weight.transposed ? StrCat(weight.key, ".T") : weight.key;
    tensors.push_back({key, weight.tensor});
    if (weight.source && weight.source->name() != weight.key) {
      std::string name = weight.source->name();
      if (IsValidUtf8(name)) metadata.emplace_back(StrCat(kSourceName, key), std::move(name));
    }
  }
  X2IR_ASSIGN_OR_RETURN(AtomicFile source, sink.Create(path));
  X2IR_RETURN_IF_ERROR(source.Append(text));
  if (tensors.empty()) return source.Commit();
  if (sink.is_path() && !options.force) {
    X2IR_RETURN_IF_ERROR(CheckSideFile(weights_path, [&] {
      const auto old = ReadSafetensors(weights_path);
      if (!old.ok()) return false;
      return std::find(old->metadata.begin(), old->metadata.end(),
                       std::pair(std::string(kMadeFor), FileName(path))) != old->metadata.end();
    }));
  }
  X2IR_ASSIGN_OR_RETURN(AtomicFile weights, sink.Create(weights_path));
  X2IR_RETURN_IF_ERROR(AppendSafetensors(weights, tensors, metadata));
  AtomicFile* const files[] = {&weights, &source};
  return AtomicFile::CommitAll(files);
}

}  // namespace
}  // namespace python

absl::Status WritePython(const Model& model, const Sink& sink, const PythonWriteOptions& options) {
  return python::Write(model, sink, options);
}

std::string PythonWeightsPath(const std::string& path) {
  const std::string stem = path.ends_with(".py") ? path.substr(0, path.size() - 3) : path;
  return StrCat(stem, ".safetensors");
}

}  // namespace x2ir
