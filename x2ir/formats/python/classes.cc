// Classes: modules whose code is the same but for numbers are one class, which takes the numbers
// that differ as arguments.
#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "x2ir/formats/python/classes_internal.h"
#include "x2ir/formats/python/framework_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::python {
namespace {

constexpr char kClassBegin = '\x04', kClassEnd = '\x05';  // around the number of a class

// Text of a constructor, taken apart.
struct Piece {
  enum Kind { kText, kNumber, kClass } kind = kText;
  std::string text;    // or, for a number, the text before it
  std::string hint;    // what the number would be called
  int64_t number = 0;  // of a class: which one
  std::optional<int64_t> usual;
  std::vector<Piece> arguments;  // numbers that the class is given
};

struct Class {
  std::string name;
  std::vector<std::vector<Piece>> init;  // lines
  Forward forward;
  std::vector<ForwardNumber> in_forward;  // numbers of its lines, after those of `init`
  bool has_forward = false;
  const Module* example = nullptr;
  std::vector<std::vector<int64_t>> instances;  // numbers of each
  std::vector<std::string> hints;
  // Which argument each number is; -1: it is the same in all instances.
  std::vector<int> parameter_of;
  std::vector<std::string> parameters;
  std::vector<size_t> first_number_of;  // of each parameter
  std::vector<std::string> text_of;     // of the numbers in `in_forward`; empty: the number
  std::set<int> kept;                   // parameters that forward looks at
};

class ClassWriter {
 public:
  ClassWriter(Program& program, const std::vector<std::string>& outputs,
              const ClassOptions& options)
      : p_(program), outputs_(outputs), options_(options) {}

  absl::StatusOr<ClassTexts> Run() {
    for (const char* name : {"Model", "Outputs", "NamedTuple", "Path", "Tensor", "Module", "F",
                             "Affine", "ImportError", "ValueError", "True", "False", "None"}) {
      names_.Take(name);
    }
    X2IR_RETURN_IF_ERROR(Visit(p_.root()));
    for (Class& c : classes_) FindParameters(c);
    ClassTexts texts;
    for (Class& c : classes_) texts.classes.push_back(TextOf(c));
    texts.inputs = classes_.back().forward.parameters;
    return texts;
  }

 private:
  // --- Modules --------------------------------------------------------------------------------

  absl::Status Visit(Module& module) {
    for (Module* child : module.children) {
      if (!child->layer) X2IR_RETURN_IF_ERROR(Visit(*child));
    }
    if (module.layer || module.is_sequential || module.is_list) {
      keys_[&module] = ConstructorKey(module);
      return absl::OkStatus();
    }
    Class c;
    c.example = &module;
    for (const Module* child : module.children) {
      const auto constructor = Constructor(*child);
      c.init.push_back(Text(StrCat("self.", child->attribute, " = ")));
      Append(c.init.back(), constructor);
    }
    c.has_forward = !module.items.empty() || !module.parent;
    if (c.has_forward) {
      const ClassKeys keys{[&](const Module* m) -> const std::string& { return keys_[m]; }};
      X2IR_ASSIGN_OR_RETURN(c.forward, WriteForward(p_, module, keys, outputs_));
    }
    for (const Weight* weight : module.weights) {
      // A number that every line says itself.
      const bool needed = weight->code.empty() || weight->used_outside ||
                          IsNamedIn(c.forward.lines, weight->attribute);
      if (needed) c.init.push_back(Parse(Declaration(*weight)));
    }
    std::string key =
        StrCat(module.parent ? "" : "model\n", absl::StrJoin(c.forward.parameters, ","), "\n");
    std::vector<int64_t> numbers;
    if (module.parent) c.in_forward = NumbersOf(c.forward.lines);
    StrAppend(&key, WithNumbers(c.forward.lines, c.in_forward,
                                std::vector<std::string>(c.in_forward.size(), "\x01")));
    for (const auto& line : c.init) AppendKey(line, key, numbers, &c.hints);
    for (const ForwardNumber& number : c.in_forward) {
      numbers.push_back(number.number);
      c.hints.push_back(number.hint);
    }
    std::vector<size_t>& alike = classes_of_key_[key];
    const auto found = std::find_if(alike.begin(), alike.end(),
                                    [&](size_t i) { return Fits(classes_[i], numbers); });
    const size_t id = found == alike.end() ? classes_.size() : *found;
    if (found == alike.end()) {
      alike.push_back(id);
      c.name = NameOf(module);
      classes_.push_back(std::move(c));
    }
    classes_[id].instances.push_back(numbers);
    keys_[&module] = StrCat(id);
    class_of_[&module] = id;
    numbers_of_[&module] = std::move(numbers);
    return absl::OkStatus();
  }

  // Whether lines look at self.ATTRIBUTE.
  static bool IsNamedIn(const std::vector<std::string>& lines, std::string_view attribute) {
    const std::string name = StrCat("self.", attribute);
    for (const std::string& line : lines) {
      for (size_t at = line.find(name); at != line.npos; at = line.find(name, at + 1)) {
        const size_t end = at + name.size();
        const char behind = end < line.size() ? line[end] : ' ';
        if (behind != '_' && !absl::ascii_isalnum(static_cast<unsigned char>(behind))) return true;
      }
    }
    return false;
  }

  // Whether the class stays readable with one more instance: only a few numbers of forward are
  // arguments that are used for nothing else.
  static bool Fits(const Class& c, const std::vector<int64_t>& numbers) {
    constexpr size_t kMaxOfForward = 3;
    const size_t in_init = c.hints.size() - c.in_forward.size();
    std::set<std::vector<int64_t>> of_init, of_forward;
    for (size_t i = 0; i < numbers.size(); ++i) {
      std::vector<int64_t> column = ColumnOf(c, i);
      column.push_back(numbers[i]);
      if (AreEqual(column)) continue;
      if (i < in_init) {
        of_init.insert(std::move(column));
      } else if (!of_init.contains(column)) {
        of_forward.insert(std::move(column));
      }
    }
    return of_forward.size() <= kMaxOfForward;
  }
  static std::vector<int64_t> ColumnOf(const Class& c, size_t i) {
    std::vector<int64_t> column;
    for (const auto& numbers : c.instances) column.push_back(numbers[i]);
    return column;
  }
  static bool AreEqual(const std::vector<int64_t>& column) {
    return std::all_of(column.begin(), column.end(), [&](int64_t n) { return n == column[0]; });
  }

  static std::vector<Piece> Text(std::string text) {
    return {{Piece::kText, std::move(text), {}, 0, {}, {}}};
  }
  static void Append(std::vector<Piece>& to, const std::vector<Piece>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  std::string ConstructorKey(const Module& module) {
    std::string key;
    std::vector<int64_t> numbers;
    std::vector<std::string> hints;
    AppendKey(Constructor(module), key, numbers, &hints);
    return key;
  }

  static void AppendKey(const std::vector<Piece>& pieces, std::string& key,
                        std::vector<int64_t>& numbers, std::vector<std::string>* hints) {
    for (const Piece& piece : pieces) {
      if (piece.kind == Piece::kNumber) {
        StrAppend(&key, "\x01", piece.text, piece.usual ? StrCat(*piece.usual) : "");
        numbers.push_back(piece.number);
        if (hints) hints->push_back(piece.hint);
      } else if (piece.kind == Piece::kClass) {
        StrAppend(&key, "\x04", piece.number, "(");
        AppendKey(piece.arguments, key, numbers, hints);
        StrAppend(&key, ")");
      } else {
        key += piece.text;
      }
    }
    key += '\n';
  }

  // What makes a module: "nn.Conv2d(3, 8, kernel_size=3)", "Block(64)", "nn.ModuleList([...])".
  std::vector<Piece> Constructor(const Module& module) {
    if (module.layer) {
      const Layer& layer = *module.layer->layer;
      std::vector<Piece> pieces = Text(StrCat(layer.type, "("));
      Append(pieces, Parse(layer.arguments));
      Append(pieces, Text(")"));
      return pieces;
    }
    if (module.is_list) return ListConstructor(module);
    const size_t id = class_of_[&module];
    Piece piece;
    piece.kind = Piece::kClass;
    piece.number = static_cast<int64_t>(id);
    const std::vector<int64_t>& numbers = numbers_of_[&module];
    for (size_t i = 0; i < numbers.size(); ++i) {
      Piece number;
      number.kind = Piece::kNumber;
      number.number = numbers[i];
      number.hint = classes_[id].hints[i];
      piece.arguments.push_back(std::move(number));
    }
    return {piece};
  }

  std::vector<Piece> ListConstructor(const Module& module) {
    std::vector<std::vector<Piece>> elements;
    for (const Module* child : module.children) {
      const size_t place = std::stoul(child->segment);
      while (elements.size() < place) elements.push_back(Text("nn.Identity()"));
      elements.push_back(Constructor(*child));
    }
    const auto exact = [](const std::vector<Piece>& pieces) {
      std::string key;
      std::vector<int64_t> numbers;
      AppendKey(pieces, key, numbers, nullptr);
      for (const int64_t number : numbers) StrAppend(&key, ",", number);
      return key;
    };
    const bool same = elements.size() > 1 &&
                      std::all_of(elements.begin(), elements.end(), [&](const auto& element) {
                        return exact(element) == exact(elements[0]);
                      });
    if (module.is_sequential) {
      std::vector<Piece> pieces = Text("nn.Sequential(");
      if (same && elements.size() > 3) {
        Append(pieces, Text("*["));
        Append(pieces, elements[0]);
        Append(pieces, Text(StrCat(" for _ in range(", elements.size(), ")])")));
        return pieces;
      }
      Join(pieces, elements);
      Append(pieces, Text(")"));
      return pieces;
    }
    std::vector<Piece> pieces = Text("nn.ModuleList([");
    if (same) {
      Append(pieces, elements[0]);
      Append(pieces, Text(StrCat(" for _ in range(", elements.size(), ")])")));
      return pieces;
    }
    Join(pieces, elements);
    Append(pieces, Text("])"));
    return pieces;
  }
  static void Join(std::vector<Piece>& pieces, const std::vector<std::vector<Piece>>& elements) {
    for (size_t i = 0; i < elements.size(); ++i) {
      if (i != 0) Append(pieces, Text(", "));
      Append(pieces, elements[i]);
    }
  }

  // Text with Hole()s.
  static std::vector<Piece> Parse(std::string_view text) {
    std::vector<Piece> pieces;
    while (!text.empty()) {
      const size_t begin = std::min(text.find(kHoleBegin), text.size());
      if (begin != 0) Append(pieces, Text(std::string(text.substr(0, begin))));
      text.remove_prefix(begin);
      if (text.empty()) break;
      const size_t end = text.find(kHoleEnd);
      std::string_view hole = text.substr(1, end - 1);
      text.remove_prefix(end + 1);
      Piece piece;
      piece.kind = Piece::kNumber;
      const auto part = [&] {
        const size_t colon = std::min(hole.find(':'), hole.size());
        const std::string_view first = hole.substr(0, colon);
        hole.remove_prefix(std::min(colon + 1, hole.size()));
        return first;
      };
      piece.hint = part();
      piece.number = ParseNumber<int64_t>(part()).value_or(0);
      if (!hole.empty()) {
        piece.usual = ParseNumber<int64_t>(part());
        piece.text = hole;
      }
      pieces.push_back(std::move(piece));
    }
    return pieces;
  }

  std::string Declaration(const Weight& weight) const {
    const Tensor& tensor = weight.tensor;
    const Framework& framework = p_.framework();
    const std::string name = StringLiteral(weight.attribute);
    const std::string dtype = tensor.dtype() == DType::kFloat32
                                  ? ""
                                  : StrCat(", dtype=", framework.TypeName(tensor.dtype()));
    if (!weight.code.empty()) {
      return StrCat("self.register_buffer(", name, ", ", weight.code, ", persistent=False)");
    }
    std::vector<std::string> dims;
    const std::string_view hint = tensor.rank() == 1 ? "channels" : "size";
    for (const int64_t dim : tensor.dims()) dims.push_back(Hole(dim, hint));
    const std::string empty = StrCat(framework.package, ".empty(",
                                     dims.empty() ? "()" : absl::StrJoin(dims, ", "), dtype, ")");
    if (weight.buffer || options_.frozen) {
      return StrCat("self.register_buffer(", name, ", ", empty, ")");
    }
    return StrCat("self.", weight.attribute, " = nn.Parameter(", empty, ")");
  }

  std::string NameOf(const Module& module) {
    if (!module.parent) return "Model";
    if (const std::string given = p_.ClassOfModule(module); !given.empty()) return Numbered(given);
    if (module.weights.empty() && module.children.empty() && module.items.size() == 1 &&
        module.items[0].step) {
      std::string_view op = module.items[0].step->call.op;
      op = op.substr(op.find("::") == op.npos ? 0 : op.find("::") + 2);
      return names_.Unique(ClassName(op.substr(0, op.find('.'))));
    }
    const auto base = [](const Module& m) {
      if (m.parent && m.parent->is_list && m.parent->segment.size() > 2) {
        std::string name = ClassName(m.parent->segment);
        if (name.size() > 3 && name.ends_with('s') && !name.ends_with("ss")) name.pop_back();
        return name;
      }
      if (m.parent && m.parent->is_list) return std::string("Block");
      return ClassName(m.segment);
    };
    const std::string name = base(module);
    const Module* around = module.parent;
    while (around->parent && around->is_list) around = around->parent;
    if (names_.Has(name) && around->parent) {
      const std::string longer = StrCat(base(*around), name);
      if (!names_.Has(longer)) return names_.Unique(longer);
    }
    return Numbered(name);
  }

  // Block, Block2
  std::string Numbered(const std::string& name) {
    std::string numbered = name;
    int& number = numbers_.try_emplace(name, 2).first->second;
    while (names_.Has(numbered)) numbered = StrCat(name, number++);
    return names_.Unique(numbered);
  }

  // --- Arguments ------------------------------------------------------------------------------

  void FindParameters(Class& c) {
    const size_t count = c.hints.size(), in_init = count - c.in_forward.size();
    c.parameter_of.assign(count, -1);
    c.text_of.assign(c.in_forward.size(), "");
    std::map<std::vector<int64_t>, int> group_of;
    std::vector<std::vector<std::string>> hints;
    std::vector<std::vector<int64_t>> columns;  // of the groups
    // Multiples of an argument: (number, factor).
    std::vector<std::pair<size_t, int64_t>> multiples;
    for (size_t i = 0; i < count; ++i) {
      std::vector<int64_t> column = ColumnOf(c, i);
      if (AreEqual(column)) continue;
      auto it = group_of.find(column);
      if (it == group_of.end() && i >= in_init) {
        for (size_t g = 0; g < columns.size(); ++g) {
          if (const int64_t factor = FactorOf(column, columns[g]); factor != 0) {
            c.parameter_of[i] = static_cast<int>(g);
            multiples.emplace_back(i, factor);
            break;
          }
        }
        if (c.parameter_of[i] >= 0) continue;
      }
      if (it == group_of.end()) {
        it = group_of.emplace(column, hints.size()).first;
        hints.emplace_back();
        columns.push_back(std::move(column));
        c.first_number_of.push_back(i);
      }
      c.parameter_of[i] = it->second;
      hints[static_cast<size_t>(it->second)].push_back(c.hints[i]);
    }
    for (size_t i = in_init; i < count; ++i) {
      if (c.parameter_of[i] >= 0) c.kept.insert(c.parameter_of[i]);
    }
    Names names;
    names.Take("self");
    for (const Module* child : c.example->children) names.Take(child->attribute);
    for (const Weight* weight : c.example->weights) names.Take(weight->attribute);
    for (size_t g = 0; g < hints.size(); ++g) {
      std::string name = hints[g][0];
      const auto has = [&](std::string_view hint) {
        return std::find(hints[g].begin(), hints[g].end(), hint) != hints[g].end();
      };
      // What one layer gives and another takes is inside.
      const bool gives = name.starts_with("out_");
      if (gives && has(StrCat("in_", name.substr(4)))) name = StrCat("hidden_", name.substr(4));
      if (name.starts_with("in_") && has(StrCat("out_", name.substr(3)))) name = name.substr(3);
      c.parameters.push_back(names.Unique(name));
    }
    for (size_t i = in_init; i < count; ++i) {
      if (c.parameter_of[i] < 0) continue;
      std::string& text = c.text_of[i - in_init];
      text = StrCat("self.", c.parameters[static_cast<size_t>(c.parameter_of[i])]);
      for (const auto& [number, factor] : multiples) {
        if (number == i) text = StrCat(factor, " * ", text);
      }
    }
  }
  // What every number of one column is of those of another; 0: they are no multiples.
  static int64_t FactorOf(const std::vector<int64_t>& column, const std::vector<int64_t>& of) {
    if (of[0] == 0 || column[0] % of[0] != 0) return 0;
    const int64_t factor = column[0] / of[0];
    for (size_t i = 0; i < column.size(); ++i) {
      if (column[i] % factor != 0 || column[i] / factor != of[i]) return 0;
    }
    return factor > 1 && factor <= 8 ? factor : 0;
  }

  // --- Text -----------------------------------------------------------------------------------

  // `next`: the number of the class that comes next.
  std::string LineOf(const Class& c, const std::vector<Piece>& pieces, size_t& next) const {
    std::string text;
    for (const Piece& piece : pieces) {
      if (piece.kind == Piece::kText) {
        text += piece.text;
      } else if (piece.kind == Piece::kNumber) {
        const int parameter = c.parameter_of[next++];
        if (parameter >= 0) {
          StrAppend(&text, piece.text, c.parameters[static_cast<size_t>(parameter)]);
        } else if (!piece.usual || *piece.usual != piece.number) {
          StrAppend(&text, piece.text, piece.number);
        }
      } else {
        const Class& inner = classes_[static_cast<size_t>(piece.number)];
        std::vector<std::string> arguments;
        for (const size_t first : inner.first_number_of) {
          const int parameter = c.parameter_of[next + first];
          arguments.push_back(parameter >= 0 ? c.parameters[static_cast<size_t>(parameter)]
                                             : StrCat(piece.arguments[first].number));
        }
        next += piece.arguments.size();
        StrAppend(&text, inner.name, "(", absl::StrJoin(arguments, ", "), ")");
      }
    }
    return text;
  }

  std::string TextOf(const Class& c) const {
    std::string out;
    AppendLine(out, 0, StrCat("class ", c.name, "(nn.Module):"));
    const bool has_init = !c.init.empty() || !c.parameters.empty();
    if (has_init) {
      std::vector<std::string> parameters = {"self"};
      parameters.insert(parameters.end(), c.parameters.begin(), c.parameters.end());
      AppendLine(out, 1, StrCat("def __init__(", absl::StrJoin(parameters, ", "), "):"));
      AppendLine(out, 2, "super().__init__()");
      for (const int kept : c.kept) {
        const std::string& name = c.parameters[static_cast<size_t>(kept)];
        AppendLine(out, 2, StrCat("self.", name, " = ", name));
      }
      size_t next = 0;
      for (const auto& line : c.init) AppendLine(out, 2, LineOf(c, line, next));
    }
    if (c.has_forward) {
      if (has_init) out += "\n";
      std::vector<std::string> parameters = {"self"};
      parameters.insert(parameters.end(), c.forward.parameters.begin(), c.forward.parameters.end());
      AppendLine(out, 1, StrCat("def forward(", absl::StrJoin(parameters, ", "), "):"));
      const std::string lines = WithNumbers(c.forward.lines, c.in_forward, c.text_of);
      const std::vector<std::string> split = absl::StrSplit(lines, '\n', absl::SkipEmpty());
      for (const std::string& line : split) {
        AppendLine(out, 2, line);
      }
    }
    if (!has_init && !c.has_forward) AppendLine(out, 1, "pass");
    return out;
  }

  Program& p_;
  const std::vector<std::string>& outputs_;
  const ClassOptions& options_;
  std::vector<Class> classes_;
  std::map<std::string, std::vector<size_t>> classes_of_key_;
  absl::flat_hash_map<const Module*, size_t> class_of_;
  absl::flat_hash_map<const Module*, std::vector<int64_t>> numbers_of_;
  absl::flat_hash_map<const Module*, std::string> keys_;
  Names names_;
  StringMap<int> numbers_;  // suffixes for equal names of classes
};

}  // namespace

absl::StatusOr<ClassTexts> WriteClasses(Program& program, const std::vector<std::string>& outputs,
                                        const ClassOptions& options) {
  return ClassWriter(program, outputs, options).Run();
}

}  // namespace x2ir::python
