// The parser of graph text (see text.h for the language).
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/graph_wrapper/text_internal.h"
#include "x2ir/graph_wrapper/text_place.h"

namespace x2ir {
namespace {

using text_internal::IsAlpha;
using text_internal::IsDigit;

constexpr int kMaxDepth = 200;  // of nested graphs

// A name as it is in the text. Unnamed values are known by their number ("%0").
struct Ref {
  std::string name;
  bool unnamed = false;
  bool left_out = false;  // _
};

// A use of a value that was not defined yet, or is of an outer graph.
struct Pending {
  Ref ref;
  size_t pos;
  Node* node;  // null: an output of `graph`
  Graph* graph;
  size_t index;
  Type declared;  // of a graph output
};

// What is known of the graph being read.
struct Frame {
  explicit Frame(Graph* g) : graph(g) {}
  Graph* graph;
  StringMap<Value*> unnamed;
  std::vector<Pending> pending;
};

class GraphParser {
 public:
  GraphParser(std::string_view text, int64_t max_zeros) : text_(text), zeros_left_(max_zeros) {}

  absl::StatusOr<std::shared_ptr<Graph>> Parse() {
    std::vector<Pending> unresolved;
    absl::StatusOr<std::shared_ptr<Graph>> graph = ParseOne(0, &unresolved);
    if (graph.ok()) {
      Skip();
      if (pos_ != text_.size()) {
        graph = Invalid("expected the end after the graph");
      } else if (!unresolved.empty()) {
        pos_ = unresolved[0].pos;
        graph = Invalid("unknown value '", unresolved[0].ref.name, "'");
      }
    }
    if (graph.ok()) return graph;
    return Invalid(PlaceInText(text_, pos_), ": ", graph.status().message());
  }

 private:
  // `graph name(inputs) -> (outputs) { ... }`. What it uses of outer graphs is left to the
  // caller in `outer`.
  absl::StatusOr<std::shared_ptr<Graph>> ParseOne(int depth, std::vector<Pending>* outer) {
    if (depth > kMaxDepth) return Invalid("graphs nested too deeply");
    X2IR_RETURN_IF_ERROR(ExpectWord("graph"));
    auto graph = std::make_shared<Graph>();
    if (!At('(')) {
      X2IR_ASSIGN_OR_RETURN(const std::string name, ReadName());
      graph->set_name(name);
    }
    Frame frame(graph.get());
    X2IR_RETURN_IF_ERROR(ParseInputs(frame));
    X2IR_RETURN_IF_ERROR(Expect("->"));
    X2IR_RETURN_IF_ERROR(ParseOutputs(frame));
    X2IR_RETURN_IF_ERROR(Expect("{"));
    while (!Take("}")) X2IR_RETURN_IF_ERROR(ParseStatement(frame, depth));
    // Names of this graph shadow outer ones, so only now is it clear which are outer.
    for (Pending& use : frame.pending) {
      Value* value = Lookup(frame, use.ref);
      if (!value) {
        outer->push_back(std::move(use));
      } else if (use.node) {
        use.node->SetInput(use.index, value);
      } else {
        use.graph->SetOutput(use.index, value);
        if (!value->type().is_known()) value->set_type(std::move(use.declared));
      }
    }
    return graph;
  }

  absl::Status ParseInputs(Frame& frame) {
    X2IR_RETURN_IF_ERROR(Expect("("));
    if (Take(")")) return absl::OkStatus();
    do {
      X2IR_ASSIGN_OR_RETURN(const Ref ref, ReadNewRef(frame));
      if (ref.left_out) return Invalid("an input cannot be left out");
      Type type;
      if (Take(":")) {
        X2IR_ASSIGN_OR_RETURN(type, ReadType());
      }
      Value* input = frame.graph->AddInput(ref.unnamed ? "" : ref.name, std::move(type));
      if (Take("=")) {
        X2IR_ASSIGN_OR_RETURN(Tensor value, ReadTensor());
        frame.graph->SetDefault(input, std::move(value));
      }
      Define(frame, ref, input);
    } while (Take(","));
    return Expect(")");
  }

  absl::Status ParseOutputs(Frame& frame) {
    X2IR_RETURN_IF_ERROR(Expect("("));
    if (Take(")")) return absl::OkStatus();
    do {
      Skip();
      const size_t start = pos_;
      X2IR_ASSIGN_OR_RETURN(Ref ref, ReadRef());
      if (ref.left_out) return Invalid("an output of a graph cannot be left out");
      Type type;
      if (Take(":")) {
        X2IR_ASSIGN_OR_RETURN(type, ReadType());
      }
      const size_t index = frame.graph->outputs().size();
      frame.graph->AddOutput(nullptr);
      frame.pending.push_back(
          {std::move(ref), start, nullptr, frame.graph, index, std::move(type)});
    } while (Take(","));
    return Expect(")");
  }

  // names [: types] = op(...) | name = tensor | name: type
  absl::Status ParseStatement(Frame& frame, int depth) {
    Skip();
    const size_t start = pos_;
    std::vector<Ref> names;
    if (Take("(")) {
      X2IR_RETURN_IF_ERROR(Expect(")"));
    } else {
      StringSet seen;
      do {
        X2IR_ASSIGN_OR_RETURN(Ref ref, ReadNewRef(frame));
        const std::string key = StrCat(ref.unnamed ? "%" : "", ref.name);
        if (!ref.left_out && !seen.insert(key).second) {
          return Invalid("'", ref.name, "' is defined twice");
        }
        names.push_back(std::move(ref));
      } while (Take(","));
    }
    std::vector<Type> types;
    if (Take(":")) {
      do {
        X2IR_ASSIGN_OR_RETURN(Type type, ReadType());
        types.push_back(std::move(type));
      } while (Take(","));
      if (types.size() != names.size()) {
        return Invalid("expected ", names.size(), " types, got ", types.size());
      }
    }
    const bool constant = names.size() == 1 && !names[0].left_out;
    if (!Take("=")) {
      if (types.empty()) return Invalid("expected '=' or ':'");
      if (!constant) return Invalid("expected '='");
      auto zeros = text_internal::ZerosOfType(types[0], &zeros_left_);
      if (!zeros.ok()) {
        pos_ = start;
        return zeros.status();
      }
      AddConstant(frame, names[0], *std::move(zeros));
      return absl::OkStatus();
    }
    if (AtTensor()) {
      if (!constant) return Invalid("a constant has one name");
      X2IR_ASSIGN_OR_RETURN(Tensor tensor, ReadTensor());
      if (!types.empty() && !MergeTypes(types[0], tensor.type()).ok()) {
        pos_ = start;
        return Invalid("expected ", types[0].ToString(), ", got ", tensor.type().ToString());
      }
      AddConstant(frame, names[0], std::move(tensor));
      return absl::OkStatus();
    }
    return ParseNode(frame, depth, std::move(names), std::move(types));
  }

  // op(operands) { attributes } "node name", after the '='.
  absl::Status ParseNode(Frame& frame, int depth, std::vector<Ref> names, std::vector<Type> types) {
    X2IR_ASSIGN_OR_RETURN(const auto op, ReadOp());
    X2IR_RETURN_IF_ERROR(Expect("("));
    std::vector<Value*> operands;
    std::vector<Pending> late;
    if (!Take(")")) {
      do {
        Skip();
        const size_t start = pos_;
        X2IR_ASSIGN_OR_RETURN(Ref ref, ReadRef());
        Value* value = ref.left_out ? nullptr : Lookup(frame, ref);
        if (!value && !ref.left_out) {
          late.push_back({std::move(ref), start, nullptr, frame.graph, operands.size(), Type()});
        }
        operands.push_back(value);
      } while (Take(","));
      X2IR_RETURN_IF_ERROR(Expect(")"));
    }
    Node* node = frame.graph->AppendNode(op.first, op.second, operands);
    for (Pending& use : late) {
      use.node = node;
      frame.pending.push_back(std::move(use));
    }
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i].left_out) {
        frame.graph->AddMissingOutput(node);
      } else {
        Value* value = frame.graph->AddNodeOutput(node, names[i].unnamed ? "" : names[i].name,
                                                  types.empty() ? Type() : std::move(types[i]));
        Define(frame, names[i], value);
      }
    }
    if (Take("{")) X2IR_RETURN_IF_ERROR(ParseAttributes(frame, depth, node));
    if (AtNodeName()) {
      X2IR_ASSIGN_OR_RETURN(std::string name, text_internal::ReadQuoted(text_, &pos_));
      node->set_name(std::move(name));
    }
    return absl::OkStatus();
  }

  absl::Status ParseAttributes(Frame& frame, int depth, Node* node) {
    if (Take("}")) return absl::OkStatus();
    do {
      Skip();
      const size_t start = pos_;
      X2IR_ASSIGN_OR_RETURN(const std::string name, ReadName());
      if (node->attrs().Has(name)) {
        pos_ = start;
        return Invalid("attribute '", name, "' is given twice");
      }
      X2IR_RETURN_IF_ERROR(Expect("="));
      X2IR_ASSIGN_OR_RETURN(Attribute attr, ReadAttribute(frame, depth));
      node->SetAttr(name, std::move(attr));
    } while (Take(","));
    return Expect("}");
  }

  // --- Attribute values ---------------------------------------------------------------

  absl::StatusOr<Attribute> ReadAttribute(Frame& frame, int depth) {
    if (Take("[")) return ReadList(frame, depth);
    return ReadScalar(frame, depth);
  }

  absl::StatusOr<Attribute> ReadScalar(Frame& frame, int depth) {
    Skip();
    const size_t start = pos_;
    if (At('"')) {
      X2IR_ASSIGN_OR_RETURN(std::string value, text_internal::ReadQuoted(text_, &pos_));
      return Attribute(std::move(value));
    }
    const std::string_view word = text_internal::ReadIdentifier(text_, &pos_);
    if (word == "graph") {
      pos_ = start;
      X2IR_ASSIGN_OR_RETURN(Attribute::GraphPtr graph, ParseOne(depth + 1, &frame.pending));
      return Attribute(std::move(graph));
    }
    if (word == "null") return Attribute(Attribute::GraphPtr());
    if (word == "tensor" || word == "type" || word == "ref") {
      X2IR_RETURN_IF_ERROR(Expect("("));
      Attribute attr;
      if (word == "tensor") {
        X2IR_ASSIGN_OR_RETURN(attr, ReadTensor());
      } else if (word == "type") {
        X2IR_ASSIGN_OR_RETURN(attr, ReadType());
      } else {
        X2IR_ASSIGN_OR_RETURN(attr, ReadAttrRef());
      }
      X2IR_RETURN_IF_ERROR(Expect(")"));
      return attr;
    }
    pos_ = start;
    return ReadNumber();
  }

  absl::StatusOr<Attribute> ReadAttrRef() {
    X2IR_ASSIGN_OR_RETURN(std::string name, ReadName());
    X2IR_RETURN_IF_ERROR(Expect(":"));
    X2IR_ASSIGN_OR_RETURN(const AttrKind kind, ReadKind());
    return Attribute(AttrRef{std::move(name), kind});
  }

  absl::StatusOr<AttrKind> ReadKind() {
    Skip();
    const size_t start = pos_;
    const std::string_view word = text_internal::ReadIdentifier(text_, &pos_);
    for (int i = 0; i <= static_cast<int>(AttrKind::kRef); ++i) {
      if (Name(static_cast<AttrKind>(i)) == word) return static_cast<AttrKind>(i);
    }
    pos_ = start;
    return Invalid("expected a kind of attribute, as int or floats");
  }

  absl::StatusOr<Attribute> ReadNumber() {
    const size_t start = pos_;
    std::string_view token = text_internal::ReadNumberToken(text_, &pos_);
    int64_t number;
    const auto result = std::from_chars(token.data(), token.data() + token.size(), number);
    if (!token.empty() && result.ptr == token.data() + token.size() && result.ec == std::errc()) {
      return Attribute(number);
    }
    // Digits alone are an int, so one that does not fit is an error and no float.
    const bool is_int = token.find_first_of(".eEn") == std::string_view::npos;
    if (!token.empty() && token.back() == 'd') {
      if (const auto value = text_internal::ToDouble(token.substr(0, token.size() - 1))) {
        return Attribute(*value);
      }
    } else if (const auto value = text_internal::ToFloat(token); value && !is_int) {
      return Attribute(*value);
    }
    pos_ = start;
    if (token.empty()) return Invalid("expected the value of an attribute");
    return Invalid("'", token, "' is not a number, or is out of range");
  }

  // After the '['.
  absl::StatusOr<Attribute> ReadList(Frame& frame, int depth) {
    if (Take("]")) {
      X2IR_RETURN_IF_ERROR(Expect(":"));
      X2IR_ASSIGN_OR_RETURN(const AttrKind kind, ReadKind());
      return EmptyList(kind);
    }
    std::vector<Attribute> items;
    bool any_float = false, only_numbers = true;
    do {
      Skip();
      const size_t start = pos_;
      X2IR_ASSIGN_OR_RETURN(Attribute item, ReadScalar(frame, depth));
      const bool is_float = item.kind() == AttrKind::kFloat;
      any_float = any_float || is_float;
      only_numbers = only_numbers && (is_float || item.kind() == AttrKind::kInt);
      if (!items.empty() && item.kind() != items[0].kind() && !only_numbers) {
        pos_ = start;
        return Invalid("a list of different kinds");
      }
      items.push_back(std::move(item));
    } while (Take(","));
    X2IR_RETURN_IF_ERROR(Expect("]"));
    if (any_float) {
      Attribute::Floats floats;
      for (const Attribute& item : items) {
        const int64_t* number = item.get<int64_t>();
        floats.push_back(number ? static_cast<float>(*number) : *item.get<float>());
      }
      return Attribute(std::move(floats));
    }
    switch (items[0].kind()) {
      case AttrKind::kInt: return ListOf<int64_t>(std::move(items));
      case AttrKind::kString: return ListOf<std::string>(std::move(items));
      case AttrKind::kTensor: return ListOf<Tensor>(std::move(items));
      case AttrKind::kGraph: return ListOf<Attribute::GraphPtr>(std::move(items));
      case AttrKind::kType: return ListOf<Type>(std::move(items));
      default: return Invalid("there are no lists of ", Name(items[0].kind()));
    }
  }

  template <typename T>
  static Attribute ListOf(std::vector<Attribute> items) {
    std::vector<T> list;
    list.reserve(items.size());
    for (Attribute& item : items) list.push_back(std::get<T>(std::move(item.variant())));
    return Attribute(std::move(list));
  }

  absl::StatusOr<Attribute> EmptyList(AttrKind kind) {
    switch (kind) {
      case AttrKind::kInts: return Attribute(Attribute::Ints());
      case AttrKind::kFloats: return Attribute(Attribute::Floats());
      case AttrKind::kStrings: return Attribute(Attribute::Strings());
      case AttrKind::kTensors: return Attribute(std::vector<Tensor>());
      case AttrKind::kGraphs: return Attribute(std::vector<Attribute::GraphPtr>());
      case AttrKind::kTypes: return Attribute(std::vector<Type>());
      default:
        return Invalid("an empty list is of ints, floats, strings, tensors, graphs or types");
    }
  }

  // --- Names --------------------------------------------------------------------------

  absl::StatusOr<std::string> ReadName() {
    Skip();
    if (At('"')) return text_internal::ReadQuoted(text_, &pos_);
    const std::string_view name = text_internal::ReadPlainName(text_, &pos_);
    if (name.empty()) return Invalid("expected a name");
    return std::string(name);
  }

  // A value's name, %N or _.
  absl::StatusOr<Ref> ReadRef() {
    Skip();
    const size_t start = pos_;
    if (At('%')) {
      ++pos_;
      while (pos_ < text_.size() && IsDigit(text_[pos_])) ++pos_;
      if (pos_ == start + 1) return Invalid("expected a number after %");
      return Ref{std::string(text_.substr(start, pos_ - start)), true, false};
    }
    size_t end = start;
    if (text_internal::ReadIdentifier(text_, &end) == "_" &&
        text_internal::ReadPlainName(text_, &end).empty()) {
      pos_ = end;
      return Ref{"_", false, true};
    }
    X2IR_ASSIGN_OR_RETURN(std::string name, ReadName());
    if (name.empty()) {
      pos_ = start;
      return Invalid("a value's name cannot be empty");
    }
    return Ref{std::move(name), false, false};
  }

  // As ReadRef, for a value that is defined here.
  absl::StatusOr<Ref> ReadNewRef(Frame& frame) {
    Skip();
    const size_t start = pos_;
    X2IR_ASSIGN_OR_RETURN(Ref ref, ReadRef());
    if (!ref.left_out && Lookup(frame, ref)) {
      pos_ = start;
      return Invalid("'", ref.name, "' is defined twice");
    }
    return ref;
  }

  static Value* Lookup(const Frame& frame, const Ref& ref) {
    if (!ref.unnamed) return frame.graph->Find(ref.name);
    const auto it = frame.unnamed.find(ref.name);
    return it == frame.unnamed.end() ? nullptr : it->second;
  }

  static void Define(Frame& frame, const Ref& ref, Value* value) {
    if (ref.unnamed) frame.unnamed[ref.name] = value;
  }

  static void AddConstant(Frame& frame, const Ref& ref, Tensor tensor) {
    Define(frame, ref, frame.graph->AddConstant(ref.unnamed ? "" : ref.name, std::move(tensor)));
  }

  // op, dialect.op, or with quotes around either: dialect and op.
  absl::StatusOr<std::pair<Symbol, Symbol>> ReadOp() {
    X2IR_ASSIGN_OR_RETURN(std::string first, ReadOpPart(/*dots=*/false));
    if (pos_ >= text_.size() || text_[pos_] != '.') return std::pair<Symbol, Symbol>("", first);
    ++pos_;
    X2IR_ASSIGN_OR_RETURN(std::string second, ReadOpPart(/*dots=*/true));
    return std::pair<Symbol, Symbol>(first, second);
  }

  absl::StatusOr<std::string> ReadOpPart(bool dots) {
    if (!dots) Skip();
    if (pos_ < text_.size() && text_[pos_] == '"') return text_internal::ReadQuoted(text_, &pos_);
    const size_t start = pos_;
    while (pos_ < text_.size() && (IsAlpha(text_[pos_]) || IsDigit(text_[pos_]) ||
                                   (dots && (text_[pos_] == '.' || text_[pos_] == ':')))) {
      ++pos_;
    }
    if (pos_ == start) return Invalid("expected an op");
    return std::string(text_.substr(start, pos_ - start));
  }

  // --- Tokens -------------------------------------------------------------------------

  // A constant starts with an element type and '[', a node with an op and '('.
  bool AtTensor() {
    Skip();
    size_t pos = pos_;
    if (text_internal::ReadIdentifier(text_, &pos).empty()) return false;
    text_internal::SkipSpace(text_, &pos);
    return pos < text_.size() && text_[pos] == '[';
  }

  // A string after a node is its name, unless it starts the next statement.
  bool AtNodeName() {
    if (!At('"')) return false;
    size_t pos = pos_;
    if (!text_internal::ReadQuoted(text_, &pos).ok()) return false;
    text_internal::SkipSpace(text_, &pos);
    const char next = pos < text_.size() ? text_[pos] : '\0';
    return next != '=' && next != ':' && next != ',';
  }

  absl::StatusOr<Type> ReadType() {
    Skip();
    return text_internal::ReadType(text_, &pos_);
  }
  absl::StatusOr<Tensor> ReadTensor() {
    Skip();
    return text_internal::ReadTensor(text_, &pos_, &zeros_left_);
  }

  void Skip() { text_internal::SkipSpace(text_, &pos_); }
  bool At(char c) {
    Skip();
    return pos_ < text_.size() && text_[pos_] == c;
  }
  bool Take(std::string_view token) {
    Skip();
    if (text_.substr(pos_, token.size()) != token) return false;
    pos_ += token.size();
    return true;
  }
  absl::Status Expect(std::string_view token) {
    if (Take(token)) return absl::OkStatus();
    return Invalid("expected '", token, "'");
  }
  absl::Status ExpectWord(std::string_view word) {
    Skip();
    size_t end = pos_;
    if (text_internal::ReadIdentifier(text_, &end) != word) return Invalid("expected '", word, "'");
    pos_ = end;
    return absl::OkStatus();
  }

  std::string_view text_;
  size_t pos_ = 0;
  int64_t zeros_left_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<Graph>> ParseGraph(std::string_view text, int64_t max_zeros) {
  return GraphParser(text, max_zeros).Parse();
}

}  // namespace x2ir
