// Prints a program as TVM does: results of calls have numbers, constants are in the metadata.
#include <charconv>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/json.h"
#include "x2ir/formats/relay/attr_table.h"
#include "x2ir/formats/relay/printers.h"
#include "x2ir/formats/relay/program_of_graph.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace relay {
namespace {

// A number of a tensor of rank 0: "1f", "1i64", "True"; empty for types that have no suffix.
std::string NumberText(const Tensor& tensor) {
  const DType t = tensor.dtype();
  if (t == DType::kBool) return tensor.AsInt(0) != 0 ? "True" : "False";
  if (IsInteger(t)) {
    const std::string number = t == DType::kUInt64 ? StrCat(static_cast<uint64_t>(tensor.AsInt(0)))
                                                   : StrCat(tensor.AsInt(0));
    if (t == DType::kInt32) return number;
    return StrCat(number, IsSignedInt(t) ? "i" : "u", BitWidth(t));
  }
  const double number = tensor.AsDouble(0);
  // A NaN may have a payload, and half floats have more digits than a reader keeps.
  if (std::isnan(number) || (t != DType::kFloat32 && t != DType::kFloat64)) return "";
  std::string text = std::signbit(number) ? "-" : "";
  if (std::isinf(number)) {
    text += "inf";
  } else {
    char digits[64];
    const double size = std::fabs(number);
    const auto end = t == DType::kFloat32
                         ? std::to_chars(digits, digits + sizeof digits, static_cast<float>(size))
                         : std::to_chars(digits, digits + sizeof digits, size);
    text.append(digits, end.ptr);
  }
  return text + (t == DType::kFloat32 ? "f" : "f64");
}

// The text of a list in brackets, with "f" behind its numbers where they are floats.
std::string ListText(std::string_view text, bool floats) {
  std::string list;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto end_of_number = [&] {
      const char last = list.empty() ? '\0' : list.back();
      if (floats && last >= '0' && last <= '9') list += 'f';
    };
    if (c == '(' || c == '[') {
      list += '[';
    } else if (c == ')' || c == ']') {
      while (!list.empty() && (list.back() == ' ' || list.back() == ',')) list.pop_back();
      end_of_number();
      list += ']';
    } else {
      if (c == ',') end_of_number();
      list += c;
    }
  }
  return list;
}

std::string AttrText(std::string_view op, std::string_view name, const std::string& text) {
  const AttrRecord* record = AttrRecordOf(op);
  const AttrField* field = record ? record->Find(name) : nullptr;
  const bool number = ParseNumber<int64_t>(text) || ParseNumber<double>(text);
  char kind = field ? field->kind : '\0';
  if (!field) kind = number ? (ParseNumber<int64_t>(text) ? 'i' : 'f') : 's';
  if (!text.empty() && (text[0] == '(' || text[0] == '[')) return ListText(text, kind == 'A');
  if (text == "None") return text;
  switch (kind) {
    case 'i':
    case 'e':
    case 'a': return text;
    case 'b': return text == "1" || text == "True" ? "True" : "False";
    case 'f':
    case 'E': return text + "f";
    default: {
      std::string quoted = "\"";
      for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
      }
      return quoted + "\"";
    }
  }
}

class TextPrinter {
 public:
  absl::StatusOr<ProgramText> Print(const Program& program) {
    out_.text = "#[version = \"0.0.5\"]\n";
    for (const auto& [name, function] : program.functions) {
      StrAppend(&out_.text, "def @", name);
      PrintFunction(*function, 0);
      out_.text += "\n";
    }
    return std::move(out_);
  }

 private:
  void Line(int indent) { out_.text.append(2 * static_cast<size_t>(indent), ' '); }

  // "(%x: T) -> T { ... }"
  void PrintFunction(const RelayExpr& function, int indent) {
    std::string& text = out_.text;
    text += "(";
    for (size_t i = 0; i < function.args.size(); ++i) {
      const RelayExpr& param = *function.args[i];
      StrAppend(&text, i == 0 ? "%" : ", %", param.name);
      const std::string type = TypeText(param.type);
      if (!type.empty()) StrAppend(&text, ": ", type);
      const std::string span = SpanText(param.span);
      if (!span.empty()) StrAppend(&text, " /* ", span, " */");
    }
    text += ")";
    const std::string type = TypeText(function.result);
    if (!type.empty()) StrAppend(&text, " -> ", type);
    text += " {\n";
    PrintBlock(function.body, indent + 1);
    Line(indent);
    text += "}";
  }

  // What a span in a comment cannot hold stays away: it is only a name.
  static std::string SpanText(std::string_view name) {
    if (name.empty() || name.find_first_of(" *,\n\t") != name.npos) return "";
    return StrCat("span=", name, ":0:0");
  }

  // Lets, calls with numbers, and the result.
  void PrintBlock(const RelayExpr* e, int indent) {
    std::vector<const RelayExpr*> numbered;
    for (; e->kind == ExprKind::kLet; e = e->args[2]) {
      PrintNeeds(e->args[1], indent, &numbered);
      Line(indent);
      StrAppend(&out_.text, "let %", e->args[0]->name, " = ");
      PrintInline(e->args[1], indent);
      out_.text += ";\n";
    }
    PrintNeeds(e, indent, &numbered);
    Line(indent);
    PrintInline(e, indent);
    out_.text += "\n";
    for (const RelayExpr* expr : numbered) numbers_.erase(expr);
  }

  // Whether it is written where it is used.
  static bool IsShort(const RelayExpr& e) {
    return e.kind != ExprKind::kCall && e.kind != ExprKind::kIf && e.kind != ExprKind::kMatch;
  }

  // The calls that an expression needs, each on a line of its own.
  void PrintNeeds(const RelayExpr* top, int indent, std::vector<const RelayExpr*>* numbered) {
    std::vector<std::pair<const RelayExpr*, bool>> stack = {{top, false}};
    while (!stack.empty()) {
      const auto [e, open] = stack.back();
      stack.pop_back();
      if (numbers_.contains(e)) continue;
      const bool has_args = e->kind == ExprKind::kCall || e->kind == ExprKind::kTuple ||
                            e->kind == ExprKind::kGetItem || e->kind == ExprKind::kIf;
      if (!has_args) continue;
      if (!open) {
        stack.push_back({e, true});
        const size_t count = e->kind == ExprKind::kIf ? 1 : e->args.size();
        for (size_t i = count; i-- > 0;) stack.push_back({e->args[i], false});
        continue;
      }
      if (e == top || IsShort(*e)) continue;
      Line(indent);
      StrAppend(&out_.text, "%", next_, " = ");
      PrintInline(e, indent);
      out_.text += ";\n";
      numbers_[e] = next_++;
      numbered->push_back(e);
    }
  }

  void PrintRef(const RelayExpr* e, int indent) {
    const auto it = numbers_.find(e);
    if (it != numbers_.end()) {
      StrAppend(&out_.text, "%", it->second);
    } else {
      PrintInline(e, indent);
    }
  }

  void PrintInline(const RelayExpr* e, int indent) {
    std::string& text = out_.text;
    switch (e->kind) {
      case ExprKind::kVar: StrAppend(&text, "%", e->name); return;
      case ExprKind::kGlobal: StrAppend(&text, "@", e->name); return;
      case ExprKind::kOp:
      case ExprKind::kConstructor: text += e->name; return;
      case ExprKind::kConstant: {
        const std::string number = e->constant->rank() == 0 ? NumberText(*e->constant) : "";
        if (!number.empty()) {
          text += number;
          return;
        }
        const auto [it, fresh] = constants_.try_emplace(e, out_.constants.size());
        if (fresh) out_.constants.push_back(&*e->constant);
        StrAppend(&text, "meta[relay.Constant][", it->second, "]");
        return;
      }
      case ExprKind::kTuple:
        text += "(";
        for (size_t i = 0; i < e->args.size(); ++i) {
          if (i > 0) text += ", ";
          PrintRef(e->args[i], indent);
        }
        text += e->args.size() == 1 ? ",)" : ")";
        return;
      case ExprKind::kGetItem:
        PrintRef(e->args[0], indent);
        StrAppend(&text, ".", e->index);
        return;
      case ExprKind::kCall: PrintCall(*e, indent); return;
      case ExprKind::kFunction:
        text += "fn ";
        PrintFunction(*e, indent);
        return;
      case ExprKind::kIf:
        text += "if (";
        PrintRef(e->args[0], indent);
        text += ") {\n";
        PrintBlock(e->args[1], indent + 1);
        Line(indent);
        text += "} else {\n";
        PrintBlock(e->args[2], indent + 1);
        Line(indent);
        text += "}";
        return;
      default: return;  // what graphs do not become
    }
  }

  void PrintCall(const RelayExpr& e, int indent) {
    std::string& text = out_.text;
    PrintRef(e.args[0], indent);
    text += "(";
    for (size_t i = 1; i < e.args.size(); ++i) {
      if (i > 1) text += ", ";
      PrintRef(e.args[i], indent);
    }
    bool first = e.args.size() == 1;
    const AttrRecord* record = AttrRecordOf(e.args[0]->name);
    for (const auto& [name, value] : e.attrs) {
      const AttrField* field = record ? record->Find(name) : nullptr;
      if (field && field->IsFallback(value)) continue;
      StrAppend(&text, first ? "" : ", ", name, "=", AttrText(e.args[0]->name, name, value));
      first = false;
    }
    text += ")";
    const std::string type = TypeText(e.type), span = SpanText(e.span);
    if (type.empty() && span.empty()) return;
    StrAppend(&text, " /*", type.empty() ? "" : " ty=", type, span.empty() ? "" : " ", span, " */");
  }

  ProgramText out_;
  int64_t next_ = 0;
  absl::flat_hash_map<const RelayExpr*, int64_t> numbers_;
  absl::flat_hash_map<const RelayExpr*, size_t> constants_;
};

}  // namespace

absl::StatusOr<ProgramText> TextOf(const Program& program) { return TextPrinter().Print(program); }

}  // namespace relay
}  // namespace x2ir
