// PIR as JSON: operations with numbered values, in regions of blocks.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "x2ir/formats/json.h"
#include "x2ir/formats/paddle/paddle_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::paddle {
namespace {

constexpr int kMaxRegionDepth = 64;

// "1.conv2d" is of dialect 1. Those that have no number are written out.
std::string OpName(std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == name.npos) return std::string(name);
  const std::string_view dialect = name.substr(0, dot), op = name.substr(dot + 1);
  const std::string_view full = dialect == "0"   ? "builtin"
                                : dialect == "1" ? "pd_op"
                                : dialect == "2" ? "cf"
                                : dialect == "3" ? "custom_op"
                                : dialect == "4" ? "pd_dist"
                                                 : dialect;
  return StrCat(full, "::", op);
}

DType TypeNamed(std::string_view name) {
  if (name == "t_bool") return DType::kBool;
  if (name == "t_i8") return DType::kInt8;
  if (name == "t_ui8") return DType::kUInt8;
  if (name == "t_i16") return DType::kInt16;
  if (name == "t_i32") return DType::kInt32;
  if (name == "t_i64") return DType::kInt64;
  if (name == "t_f16") return DType::kFloat16;
  if (name == "t_bf16") return DType::kBFloat16;
  if (name == "t_f32") return DType::kFloat32;
  if (name == "t_f64") return DType::kFloat64;
  if (name == "t_c64") return DType::kComplex64;
  if (name == "t_c128") return DType::kComplex128;
  if (name == "t_f8e4m3fn") return DType::kFloat8E4M3FN;
  if (name == "t_f8e5m2") return DType::kFloat8E5M2;
  return DType::kUndefined;
}

// Of a result: a tensor, a list of them, or something else.
struct PirType {
  enum Kind : uint8_t { kNone, kTensor, kList, kOther } kind = kNone;
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims{};
  std::vector<PirType> elements{};
};

struct PirResult {
  int64_t id = 0;
  PirType type;
};

struct PirOp {
  std::string name;
  std::vector<int64_t> operands;
  std::vector<PirResult> results;
  AttributeMap attrs;
  std::string parameter;  // the last text of a parameter's attributes
  std::vector<JsonReader::Mark> regions;
};

class Pir {
 public:
  explicit Pir(const ModelFiles& files) : files_(files), json_(files.model()->view(), true) {}

  absl::StatusOr<Model> Read() {
    Model model;
    model.source_dialect = std::string(kDialect);
    for (const char* domain : {"", "pd_op", "builtin", "cf", "custom_op", "pd_dist"}) {
      model.SetOpset(domain, 1);
    }
    graph_ = model.graph.get();
    std::string magic;
    int64_t version = 0;
    bool has_program = false;
    JsonReader::Mark program{};
    json_.Object([&](std::string_view key) {
      if (key == "base_code") {
        json_.Object([&](std::string_view name) {
          if (name == "magic") {
            magic = std::string(json_.String());
          } else if (name == "version") {
            version = json_.Int();
          } else {
            json_.Skip();
          }
        });
      } else {
        if (key == "program") {
          program = json_.Here();
          has_program = true;
        }
        json_.Skip();
      }
    });
    json_.Finish();
    if (!json_.ok()) return json_.status();
    if (magic != "pir" || !has_program) return Invalid("not a program of PIR");
    // The parameters come first: they are one file.
    std::vector<DeclaredParameter> declared;
    parameters_only_ = &declared;
    X2IR_RETURN_IF_ERROR(ReadTop(program));
    parameters_only_ = nullptr;
    X2IR_ASSIGN_OR_RETURN(parameters_, ReadParameters(files_, std::move(declared)));
    X2IR_RETURN_IF_ERROR(ReadTop(program));
    X2IR_RETURN_IF_ERROR(AddOutputs());
    DropUnusedResults(*graph_);
    Annotations& notes = model.annotations.GetOrMake();
    notes.extra["paddle.format"] = "pir";
    notes.extra["paddle.version"] = StrCat(version);
    return model;
  }

 private:
  using List = std::vector<Value*>;
  // The values of numbers, in a block and around it. A list of tensors is the values in it.
  struct Scope {
    Graph* graph;
    Scope* outer;
    absl::flat_hash_map<int64_t, List> values;
  };

  absl::Status ReadTop(JsonReader::Mark program) {
    json_.GoTo(program);
    Scope scope{graph_, nullptr, {}};
    bool found = false;
    json_.Object([&](std::string_view key) {
      if (key != "regions" || found) return json_.Skip();
      found = true;
      json_.Array([&](size_t i) {
        if (i != 0) return json_.Fail("a program has one region");
        Region(scope, nullptr);
      });
    });
    if (!json_.ok()) return json_.status();
    return found ? absl::OkStatus() : Invalid("the program has no region");
  }

  // A region of one block. `ended` gets what it yields.
  void Region(Scope& scope, List* yielded) {
    bool found = false;
    json_.Object([&](std::string_view key) {
      if (key != "blocks" || found) return json_.Skip();
      found = true;
      json_.Array([&](size_t i) {
        if (i != 0) return json_.Fail("a region of more than one block");
        Block(scope, yielded);
      });
    });
    if (!found) json_.Fail("a region without a block");
  }

  void Block(Scope& scope, List* yielded) {
    // Arguments come before what uses them, whatever order the file has.
    std::optional<JsonReader::Mark> args, ops;
    json_.Object([&](std::string_view key) {
      if (key == "args") args = json_.Here();
      if (key == "kwargs" && json_.Peek() == JsonReader::Kind::kObject) {
        return json_.Fail("arguments with names");
      }
      if (key == "ops") ops = json_.Here();
      json_.Skip();
    });
    if (!json_.ok()) return;
    const JsonReader::Mark end = json_.Here();
    if (args) {
      json_.GoTo(*args);
      json_.Array([&](size_t) { Argument(scope); });
    }
    if (ops && json_.ok()) {
      json_.GoTo(*ops);
      json_.Array([&](size_t) {
        PirOp op = Operation();
        if (!json_.ok()) return;
        const absl::Status status = Add(scope, op, yielded);
        if (!status.ok()) json_.Fail(Annotate(status, op.name));
      });
    }
    if (json_.ok()) json_.GoTo(end);
  }

  void Argument(Scope& scope) {
    const PirResult arg = Result();
    if (!json_.ok() || parameters_only_) return;
    if (!scope.outer) return json_.Fail("a program has no arguments");
    Value* value = scope.graph->AddInput(scope.graph->UniqueName(StrCat("value_", arg.id)), Type());
    scope.values[arg.id] = {value};
  }

  // --- Operations -------------------------------------------------------------------------------

  PirResult Result() {
    PirResult result;
    json_.Object([&](std::string_view key) {
      if (key == "%" || key == "#") {
        result.id = json_.Int();
      } else if (key == "TT") {
        result.type = TypeAt(0);
      } else {
        json_.Skip();
      }
    });
    return result;
  }

  PirType TypeAt(int depth) {
    PirType type;
    std::string name;
    std::optional<JsonReader::Mark> data;
    if (depth > kMaxRegionDepth) json_.Fail("types are nested too deeply");
    json_.Object([&](std::string_view key) {
      if (key == "#") {
        name = std::string(json_.String());
      } else {
        if (key == "D") data = json_.Here();
        json_.Skip();
      }
    });
    if (!json_.ok()) return type;
    const JsonReader::Mark end = json_.Here();
    const std::string_view kind = std::string_view(name).substr(name.find('.') + 1);
    if (name == "NULL") return type;
    type.kind = PirType::kOther;
    if (kind == "t_dtensor" && data) {
      type.kind = PirType::kTensor;
      json_.GoTo(*data);
      json_.Array([&](size_t i) {
        if (i == 0) {
          type.dtype = TypeAt(depth + 1).dtype;
        } else if (i == 1) {
          json_.Array([&](size_t) { type.dims.push_back(json_.Int()); });
        } else {
          json_.Skip();
        }
      });
      if (json_.ok()) json_.GoTo(end);
    } else if (kind == "t_vec" && data) {
      type.kind = PirType::kList;
      json_.GoTo(*data);
      json_.Array([&](size_t) { type.elements.push_back(TypeAt(depth + 1)); });
      if (json_.ok()) json_.GoTo(end);
    } else {
      type.dtype = TypeNamed(kind);
    }
    return type;
  }

  PirOp Operation() {
    PirOp op;
    std::optional<JsonReader::Mark> attrs;
    json_.Object([&](std::string_view key) {
      if (key == "#") {
        const std::string_view name = json_.String();
        op.name = name == "p" ? "p" : OpName(name);
      } else if (key == "I") {
        json_.Array([&](size_t) {
          op.operands.push_back(0);
          json_.Object([&](std::string_view field) {
            if (field == "%") {
              op.operands.back() = json_.Int();
            } else {
              json_.Skip();
            }
          });
        });
      } else if (key == "O") {
        if (json_.Peek() == JsonReader::Kind::kArray) {
          json_.Array([&](size_t) { op.results.push_back(Result()); });
        } else {
          op.results.push_back(Result());
        }
      } else if (key == "regions") {
        json_.Array([&](size_t) {
          op.regions.push_back(json_.Here());
          json_.Skip();
        });
      } else {
        if (key == "A") attrs = json_.Here();
        json_.Skip();
      }
    });
    if (!json_.ok()) return op;
    const JsonReader::Mark end = json_.Here();
    if (attrs && (!parameters_only_ || op.name == "p")) {
      json_.GoTo(*attrs);
      json_.Array([&](size_t) {
        if (op.name == "p") {
          if (json_.Peek() == JsonReader::Kind::kString) {
            op.parameter = std::string(json_.String());
          } else {
            json_.Skip();
          }
        } else {
          NamedAttribute(&op.attrs);
        }
      });
      if (json_.ok()) json_.GoTo(end);
    }
    if (json_.ok() && op.name.empty()) json_.Fail("an operation without a name");
    return op;
  }

  void NamedAttribute(AttributeMap* attrs) {
    std::string name;
    std::optional<Attribute> value;
    json_.Object([&](std::string_view key) {
      if (key == "N") {
        name = std::string(json_.String());
      } else if (key == "AT") {
        value = AttributeAt(0);
      } else {
        json_.Skip();
      }
    });
    // Places of tensors do not matter here.
    if (value) attrs->Set(name, *std::move(value));
  }

  double Real() {
    if (json_.Peek() == JsonReader::Kind::kNumber) {
      return std::strtod(std::string(json_.Number().text).c_str(), nullptr);
    }
    json_.Skip();
    return 0;
  }

  // nullopt where there is none, or one without meaning for results (places, layouts).
  std::optional<Attribute> AttributeAt(int depth) {
    if (depth > kMaxRegionDepth) json_.Fail("attributes are nested too deeply");
    std::string name;
    std::string special;  // a number that JSON has no text for
    std::optional<JsonReader::Mark> data;
    json_.Object([&](std::string_view key) {
      if (key == "#") {
        name = std::string(json_.String());
      } else if (key == "VD") {
        special = std::string(json_.String());
      } else {
        if (key == "D") data = json_.Here();
        json_.Skip();
      }
    });
    if (!json_.ok()) return std::nullopt;
    const JsonReader::Mark end = json_.Here();
    const std::string_view kind = std::string_view(name).substr(name.find('.') + 1);
    std::optional<Attribute> value;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (!special.empty() && (kind == "a_f32" || kind == "a_f64")) {
      const double number = special == "INF"    ? kInfinity
                            : special == "-INF" ? -kInfinity
                                                : std::nan("");
      if (kind == "a_f32") return Attribute(static_cast<float>(number));
      return Attribute(number);
    }
    if (!data) return std::nullopt;
    json_.GoTo(*data);
    if (kind == "a_bool") {
      value = json_.Bool();
    } else if (kind == "a_i32" || kind == "a_i64" || kind == "a_index") {
      value = json_.Int();
    } else if (kind == "a_f32") {
      value = static_cast<float>(Real());
    } else if (kind == "a_f64") {
      value = Real();
    } else if (kind == "a_str" || kind == "a_tensorname") {
      value = std::string(json_.String());
    } else if (kind == "a_dtype") {
      const std::string_view dtype = json_.String();
      const std::optional<DType> known = ParseDType(dtype);
      if (dtype != "Undefined" && dtype != "undefined" && !known) {
        json_.Fail("an unknown element type");
      }
      value = known ? Type::Tensor(*known) : Type();
    } else if (kind == "a_intarray") {
      std::vector<int64_t> ints;
      json_.Array([&](size_t) { ints.push_back(json_.Int()); });
      value = std::move(ints);
    } else if (kind == "a_scalar") {
      value = ScalarAttribute();
    } else if (kind == "a_array") {
      value = ListAttribute(depth);
    } else if (kind == "a_c64" || kind == "a_c128") {
      std::vector<double> parts;
      json_.Array([&](size_t) { parts.push_back(Real()); });
      parts.resize(2);
      value = Tensor::Scalar<std::complex<double>>({parts[0], parts[1]});
    }
    if (json_.ok()) json_.GoTo(end);
    return value;
  }

  // [element type, number]
  std::optional<Attribute> ScalarAttribute() {
    std::string dtype;
    std::optional<Attribute> value;
    json_.Array([&](size_t i) {
      if (i == 0) {
        dtype = std::string(json_.String());
      } else if (i > 1) {
        json_.Fail("a complex scalar");
      } else if (json_.Peek() == JsonReader::Kind::kBool) {
        value = json_.Bool();
      } else if (dtype == "float32" || dtype == "float64") {
        value = Real();
      } else if (dtype == "float16" || dtype == "bfloat16") {
        json_.Fail("a scalar of 16 bits");
      } else {
        value = json_.Int();
      }
    });
    return value;
  }

  std::optional<Attribute> ListAttribute(int depth) {
    std::vector<int64_t> ints;
    std::vector<float> floats;
    std::vector<double> doubles;
    std::vector<std::string> strings;
    json_.Array([&](size_t) {
      const std::optional<Attribute> each = AttributeAt(depth + 1);
      if (!each) return;
      if (const auto* i = each->get<int64_t>()) ints.push_back(*i);
      if (const auto* f = each->get<float>()) floats.push_back(*f);
      if (const auto* d = each->get<double>()) doubles.push_back(*d);
      if (const auto* s = each->get<std::string>()) strings.push_back(*s);
    });
    if (!floats.empty()) return Attribute(std::move(floats));
    if (!doubles.empty()) {
      return Attribute(Tensor::Of<double>({static_cast<int64_t>(doubles.size())}, doubles));
    }
    if (!strings.empty()) return Attribute(std::move(strings));
    return Attribute(std::move(ints));
  }

  // --- The graph --------------------------------------------------------------------------------

  absl::StatusOr<List> Find(Scope& scope, int64_t id) const {
    if (id == 0) return List{nullptr};
    for (const Scope* at = &scope; at; at = at->outer) {
      const auto found = at->values.find(id);
      if (found != at->values.end()) return found->second;
    }
    return Invalid("there is no value ", id);
  }

  // A text among the attributes.
  static std::string Text(const PirOp& op, Symbol name) {
    const Attribute* attr = op.attrs.Find(name);
    const auto* text = attr ? attr->get<std::string>() : nullptr;
    return text ? *text : "";
  }

  absl::Status Add(Scope& scope, const PirOp& op, List* yielded) {
    if (parameters_only_) {
      if (op.name == "p") {
        if (op.results.size() != 1) return Invalid("a parameter must have exactly one result");
        const PirType& type = op.results[0].type;
        parameters_only_->push_back({op.parameter, type.dtype, type.dims});
      }
      return absl::OkStatus();
    }
    std::vector<Value*> operands;
    std::vector<std::string> slots;
    std::vector<List> lists;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      X2IR_ASSIGN_OR_RETURN(lists.emplace_back(), Find(scope, op.operands[i]));
      for (Value* value : lists.back()) {
        operands.push_back(value);
        slots.push_back(StrCat(i));
      }
    }
    if (op.name == "p") return AddParameter(scope, op);
    if (op.name == "pd_op::data" || op.name == "pd_op::feed") return AddInput(scope, op);
    if (op.name == "pd_op::fetch") return AddFetch(op, operands);
    if (op.name == "cf::yield") {
      if (!yielded) return Invalid("it yields values outside of a region");
      *yielded = operands;
      return absl::OkStatus();
    }
    if (op.name == "builtin::combine") {
      if (op.results.size() == 1) scope.values[op.results[0].id] = operands;
      return absl::OkStatus();
    }
    if (op.name == "builtin::split") {
      if (op.results.size() != operands.size())
        return Invalid("the numbers of results and tensors differ");
      for (size_t i = 0; i < operands.size(); ++i) {
        scope.values[op.results[i].id] = {operands[i]};
      }
      return absl::OkStatus();
    }
    if (op.name == "builtin::slice") {
      const Attribute* attr = op.attrs.Find("index");
      const auto* index = attr ? attr->get<int64_t>() : nullptr;
      if (!index || *index < 0 || *index >= static_cast<int64_t>(operands.size()) ||
          op.results.size() != 1) {
        return Invalid("a tensor index is out of range");
      }
      scope.values[op.results[0].id] = {operands[static_cast<size_t>(*index)]};
      return absl::OkStatus();
    }
    if (op.name == "builtin::shadow_output" || op.name == "builtin::set_parameter") {
      return absl::OkStatus();  // what is kept for another program
    }
    Node* node = scope.graph->AppendNode(kDialect, op.name, operands);
    for (const auto& [name, attr] : op.attrs) node->SetAttr(name, attr);
    std::string path = Text(op, "struct_name");
    while (!path.empty() && path.back() == '/') path.pop_back();
    node->set_name(path.empty() ? path : path.substr(path.front() == '/'));
    X2IR_RETURN_IF_ERROR(AddRegions(scope, op, node));
    node->SetAttr(kOperandSlots, std::move(slots));
    AddResults(scope, op, node);
    return absl::OkStatus();
  }

  void AddResults(Scope& scope, const PirOp& op, Node* node) {
    std::vector<std::string> slots;
    const std::string base = op.name.substr(op.name.rfind(':') + 1);
    for (size_t i = 0; i < op.results.size(); ++i) {
      const PirResult& result = op.results[i];
      const bool list = result.type.kind == PirType::kList;
      List& values = scope.values[result.id];
      values.clear();
      for (size_t k = 0; k < (list ? result.type.elements.size() : 1); ++k) {
        const PirType& type = list ? result.type.elements[k] : result.type;
        slots.push_back(StrCat(i));
        const std::string name =
            list ? StrCat(base, "_", result.id, "_", k) : StrCat(base, "_", result.id);
        values.push_back(scope.graph->AddNodeOutput(
            node, scope.graph->UniqueName(name),
            type.kind == PirType::kTensor ? Type::Tensor(type.dtype) : Type()));
      }
    }
    node->SetAttr(kResultSlots, std::move(slots));
  }

  absl::Status AddParameter(Scope& scope, const PirOp& op) {
    if (op.results.size() != 1) return Invalid("a parameter must have exactly one result");
    const auto found = parameters_.find(op.parameter);
    if (found == parameters_.end()) return Invalid("there is no parameter '", op.parameter, "'");
    auto [it, fresh] = constants_.emplace(op.parameter, nullptr);
    if (fresh) {
      it->second = graph_->AddConstant(graph_->UniqueName(op.parameter), found->second);
    }
    scope.values[op.results[0].id] = {it->second};
    return absl::OkStatus();
  }

  absl::Status AddInput(Scope& scope, const PirOp& op) {
    if (op.results.size() != 1 || op.results[0].type.kind != PirType::kTensor) {
      return Invalid("an input must have exactly one tensor as its result");
    }
    const PirType& type = op.results[0].type;
    const std::string given = Text(op, "name");
    const std::string name = graph_->UniqueName(given.empty() ? "input" : given);
    scope.values[op.results[0].id] = {
        graph_->AddInput(name, Type::Tensor(type.dtype, ShapeOf(type.dims, name)))};
    return absl::OkStatus();
  }

  absl::Status AddFetch(const PirOp& op, const List& operands) {
    if (operands.size() != 1 || !operands[0]) return Invalid("expected one value");
    if (operands[0]->producer() ? operands[0]->producer()->graph() != graph_
                                : !operands[0]->constant() && !operands[0]->is_input()) {
      return Invalid("a value from inside of a region");
    }
    const Attribute* attr = op.attrs.Find("col");
    const auto* column = attr ? attr->get<int64_t>() : nullptr;
    fetched_.push_back({column ? *column : 0, Text(op, "name"), operands[0]});
    return absl::OkStatus();
  }

  absl::Status AddOutputs() {
    std::stable_sort(fetched_.begin(), fetched_.end(),
                     [](const auto& a, const auto& b) { return a.column < b.column; });
    if (fetched_.empty()) return Invalid("the program has no outputs");
    for (const Fetched& each : fetched_) {
      Value* value = each.value;
      const std::string name = each.name.empty() ? value->name() : each.name;
      if (!value->producer() || value->is_graph_output()) {
        value = Assigned(*graph_, value, name);
      } else if (name != value->name()) {
        graph_->Rename(value, graph_->UniqueName(name));
      }
      graph_->AddOutput(value);
    }
    return absl::OkStatus();
  }

  // Regions of pd_op::if and pd_op::while.
  absl::Status AddRegions(Scope& scope, const PirOp& op, Node* node) {
    if (op.regions.empty()) return absl::OkStatus();
    const bool is_if = op.name == "pd_op::if";
    if (!is_if && op.name != "pd_op::while") return Unimplemented("an operation with regions");
    if (op.regions.size() != (is_if ? 2 : 1))
      return Invalid("it has ", op.regions.size(), " regions");
    if (depth_ >= kMaxRegionDepth) return Invalid("regions are nested too deeply");
    const JsonReader::Mark end = json_.Here();
    for (size_t i = 0; i < op.regions.size(); ++i) {
      auto graph = std::make_shared<Graph>(!is_if ? "body" : i == 0 ? "then" : "else");
      node->SetAttr(!is_if ? "body" : i == 0 ? "then_branch" : "else_branch", graph);
      Scope inner{graph.get(), &scope, {}};
      List yielded;
      json_.GoTo(op.regions[i]);
      ++depth_;
      Region(inner, &yielded);
      --depth_;
      if (!json_.ok()) return json_.status();
      for (Value* value : yielded) {
        if (!value) return Invalid("a region yields nothing");
        AddOwnOutput(*graph, value);
      }
    }
    json_.GoTo(end);
    return absl::OkStatus();
  }

  struct Fetched {
    int64_t column;
    std::string name;
    Value* value;
  };

  const ModelFiles& files_;
  JsonReader json_;
  Graph* graph_ = nullptr;
  std::vector<DeclaredParameter>* parameters_only_ = nullptr;
  Parameters parameters_;
  StringMap<Value*> constants_;
  std::vector<Fetched> fetched_;
  int depth_ = 0;
};

}  // namespace

absl::StatusOr<Model> ReadPir(const ModelFiles& files) { return Pir(files).Read(); }

}  // namespace x2ir::paddle
