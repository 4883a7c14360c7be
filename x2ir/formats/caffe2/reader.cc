// Makes a graph of the two nets, and registers the format "caffe2".
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "x2ir/formats/caffe2/caffe2.h"
#include "x2ir/formats/format.h"
#include "x2ir/formats/io/side_file.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace caffe2 {
namespace {

using Names = std::set<std::string>;

constexpr char kRecurrent[] = "RecurrentNetwork";

// Integers of "Int8Given..." represent real numbers; the scale is an argument of the operator.
struct Filled {
  Tensor tensor;
  std::string type;
  std::vector<std::pair<std::string, Attribute>> steps;
};
Filled FilledTensor(Tensor tensor, const OperatorDesc& op) {
  Filled filled{std::move(tensor), op.type, {}};
  if (!op.type.starts_with("Int8")) return filled;
  for (const char* name : {"Y_scale", "Y_zero_point"}) {
    if (const Attribute* step = op.Find(name)) filled.steps.emplace_back(name, *step);
  }
  return filled;
}

// Blobs that a net writes, and those that it, or a net in it, reads.
void CollectWritten(const NetDesc& net, Names* written) {
  for (const OperatorDesc& op : net.ops) {
    written->insert(op.outputs.begin(), op.outputs.end());
    for (const NetArgument& arg : op.nets) CollectWritten(arg.net, written);
  }
}
const std::vector<std::string>& StringsOf(const OperatorDesc& op, std::string_view arg) {
  static const auto& none = *new std::vector<std::string>;
  const Attribute* list = op.Find(arg);
  const auto* strings = list ? list->get<Attribute::Strings>() : nullptr;
  return strings ? *strings : none;
}
std::vector<int64_t> IntsOf(const OperatorDesc& op, std::string_view arg, size_t count) {
  const Attribute* list = op.Find(arg);
  const auto* ints = list ? list->get<Attribute::Ints>() : nullptr;
  return ints ? *ints : std::vector<int64_t>(list ? 0 : count, 1);
}
// The blob of a step's number.
std::string StepBlob(const OperatorDesc& op) {
  const Attribute* name = op.Find("timestep");
  const auto* text = name ? name->get<std::string>() : nullptr;
  return text ? *text : "timestep";
}

void CollectRead(const NetDesc& net, Names* read) {
  for (const OperatorDesc& op : net.ops) {
    read->insert(op.inputs.begin(), op.inputs.end());
    const auto& linked = StringsOf(op, "link_internal");
    read->insert(linked.begin(), linked.end());
    for (const NetArgument& arg : op.nets) CollectRead(arg.net, read);
  }
}
// Those that are read before they are made, in order.
void CollectNeeded(const NetDesc& net, Names* made, std::vector<std::string>* needed) {
  for (const OperatorDesc& op : net.ops) {
    for (const std::string& input : op.inputs) {
      if (!made->contains(input)) needed->push_back(input);
    }
    if (op.type == kRecurrent) made->insert(StepBlob(op));
    for (const char* arg : {"link_internal", "recurrent_states", "alias_dst"}) {
      const auto& names = StringsOf(op, arg);
      made->insert(names.begin(), names.end());
    }
    for (const NetArgument& arg : op.nets) CollectNeeded(arg.net, made, needed);
    made->insert(op.outputs.begin(), op.outputs.end());
  }
}

class GraphReader {
 public:
  explicit GraphReader(NetDesc net) : net_(std::move(net)) {}

  absl::Status TakeWeights(const NetDesc& init) {
    has_weights_ = true;
    for (const OperatorDesc& op : init.ops) {
      if (op.outputs.empty()) continue;
      auto filled = FilledBy(op);
      if (!filled.ok()) return Annotate(filled.status(), StrCat("blob '", op.outputs[0], "'"));
      if (*filled) {
        weights_.insert_or_assign(op.outputs[0], FilledTensor(**filled, op));
      } else {
        unfilled_.insert_or_assign(op.outputs[0], op.type);
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Model> Read() {
    Model model;
    model.source_dialect = kDialect;
    model.SetOpset("", 1);
    model.producer_name = "Caffe2";
    model_ = &model;
    Level root{model.graph.get()};
    root.graph->set_name(net_.name);
    if (!has_weights_) X2IR_RETURN_IF_ERROR(CheckNeedsNone());
    DropPlaceholder();
    std::erase_if(net_.outputs, [](const std::string& output) {
      // PyTorch's name of unused results.
      return output.starts_with("OC2_DUMMY_");
    });
    used_.insert(net_.outputs.begin(), net_.outputs.end());
    CollectRead(net_, &used_);
    X2IR_RETURN_IF_ERROR(AddInputs(root));
    X2IR_RETURN_IF_ERROR(AddOperators(net_, root));
    for (const std::string& output : net_.outputs) {
      Value* value = FindOrNull(root, output);
      if (!value) return Invalid("no operator produces the output '", output, "'");
      root.graph->AddOutput(value);
    }
    if (root.graph->outputs().empty()) return Invalid("the net declares no outputs");
    return model;
  }

 private:
  // A net, and the blobs as it sees them: nets in arguments share those around them.
  struct Level {
    Graph* graph;
    const Level* outer = nullptr;
    std::map<std::string, Value*> values{};
  };

  static Value* FindOrNull(const Level& level, const std::string& blob) {
    for (const Level* at = &level; at; at = at->outer) {
      const auto found = at->values.find(blob);
      if (found != at->values.end()) return found->second;
    }
    return nullptr;
  }
  static absl::StatusOr<Value*> Find(const Level& level, const std::string& blob) {
    Value* value = FindOrNull(level, blob);
    if (!value) return Invalid("no operator before it produces blob '", blob, "'");
    return value;
  }

  absl::Status CheckNeedsNone() const {
    std::set<std::string> made;
    int count = 0;
    for (const OperatorDesc& op : net_.ops) {
      const bool learned = op.type == "Conv" || op.type == "FC" || op.type == "ConvTranspose" ||
                           op.type == "SpatialBN" || op.type.starts_with("Int8Conv") ||
                           op.type == "Int8FC";
      count += learned && op.inputs.size() > 1 && !made.contains(op.inputs[1]);
      made.insert(op.outputs.begin(), op.outputs.end());
    }
    if (count == 0) return absl::OkStatus();
    return OptionError(
        "params", "a net has no weights, and ", count,
        " of its operators need them; name the net that fills the weights (init_net.pb)");
  }

  // Where init_net fills everything, the data are among it, with a sample or a single constant in
  // their place: the first input that an operator reads as its own first one.
  void DropPlaceholder() {
    std::set<std::string> first;
    for (const OperatorDesc& op : net_.ops) {
      if (!op.inputs.empty()) first.insert(op.inputs[0]);
    }
    for (const std::string& input : net_.inputs) {
      if (!weights_.contains(input) && !unfilled_.contains(input)) return;
    }
    for (const std::string& input : net_.inputs) {
      const auto sample = weights_.find(input);
      if (sample == weights_.end() || !first.contains(input)) continue;
      const Tensor& tensor = sample->second.tensor;
      if (tensor.num_elements() > 1) {
        sample_types_.emplace(input, Type::Tensor(tensor.dtype(), tensor.shape()));
      }
      weights_.erase(sample);
      return;
    }
  }

  absl::Status AddInputs(Level& root) {
    Names made;
    std::vector<std::string> names = net_.inputs;
    CollectNeeded(net_, &made, &names);  // old nets do not say all of their inputs
    for (const std::string& name : names) {
      if (root.values.contains(name)) continue;
      if (const auto random = unfilled_.find(name); random != unfilled_.end()) {
        return Unimplemented("weights '", name, "' are filled by ", random->second,
                             ", not with values from the file");
      }
      if (const auto filled = weights_.find(name); filled != weights_.end()) {
        AddConstant(root, name, filled->second, true);
      } else {
        const auto sample = sample_types_.find(name);
        root.values[name] = root.graph->AddInput(
            root.graph->UniqueName(name),
            sample == sample_types_.end() ? Type::Tensor(DType::kFloat32) : sample->second);
      }
    }
    return absl::OkStatus();
  }

  void AddConstant(Level& level, const std::string& blob, const Filled& filled, bool learned) {
    const bool steps = filled.type.starts_with("Int8");
    const std::string name = level.graph->UniqueName(steps ? StrCat(blob, "_steps") : blob);
    Value* value = level.graph->AddConstant(name, filled.tensor);
    if (!level.outer) model_->weights.push_back({name, {blob}, learned});
    if (steps) {
      Node* node = level.graph->AppendNode(kDialect, filled.type, std::vector<Value*>{value});
      for (const auto& [key, step] : filled.steps) node->SetAttr(key, step);
      value = level.graph->AddNodeOutput(node, level.graph->UniqueName(blob));
    }
    level.values[blob] = value;
  }

  absl::Status AddOperators(const NetDesc& net, Level& level) {
    std::map<std::string, size_t> last_maker;
    for (size_t i = 0; i < net.ops.size(); ++i) {
      for (const std::string& output : net.ops[i].outputs) last_maker[output] = i;
    }
    for (size_t i = 0; i < net.ops.size(); ++i) {
      const OperatorDesc& op = net.ops[i];
      const auto name = [&](const std::string& blob) {
        const auto last = last_maker.find(blob);
        const bool keeps = last == last_maker.end() || last->second == i;
        return level.graph->UniqueName(keeps ? blob : StrCat(blob, "_", i));
      };
      const absl::Status added = AddOperator(op, level, name);
      if (!added.ok()) return Annotate(added, StrCat("operator ", i, " (", op.type, ")"));
    }
    return absl::OkStatus();
  }

  template <typename Name>
  absl::Status AddOperator(const OperatorDesc& op, Level& level, const Name& name) {
    X2IR_ASSIGN_OR_RETURN(std::optional<Tensor> filled, FilledBy(op));
    if (filled && op.outputs.size() == 1) {
      AddConstant(level, op.outputs[0], FilledTensor(*std::move(filled), op), false);
      return absl::OkStatus();
    }
    if (!op.other_args.empty()) {
      return Unimplemented("argument '", op.other_args[0], "' is a tensor or a list of nets");
    }
    if (op.type == "If") return AddBranches(op, level, name);
    if (op.type == "While") return AddLoop(op, level, name);
    if (op.type == kRecurrent) return AddRecurrent(op, level, name);
    if (!op.nets.empty()) return Unimplemented("argument '", op.nets[0].name, "' is a net");
    std::vector<Value*> operands;
    for (const std::string& input : op.inputs) {
      X2IR_ASSIGN_OR_RETURN(operands.emplace_back(), Find(level, input));
    }
    Node* node = level.graph->AppendNode(kDialect, op.type, operands);
    node->set_name(op.name);
    for (const auto& [key, value] : op.args) node->SetAttr(key, value);
    for (const std::string& output : op.outputs) {
      if (!used_.contains(output)) {
        level.graph->AddMissingOutput(node);
        continue;
      }
      level.values[output] = level.graph->AddNodeOutput(node, name(output));
    }
    return absl::OkStatus();
  }

  // --- Nets in arguments -------------------------------------------------------------------------

  static const NetDesc* NetOf(const OperatorDesc& op, std::string_view name) {
    const auto found = std::ranges::find(op.nets, name, &NetArgument::name);
    return found == op.nets.end() ? nullptr : &found->net;
  }
  static void AddOwnOutput(Level& level, Value* value) {
    Node* node = level.graph->AppendNode(kDialect, "Copy", std::vector<Value*>{value});
    level.graph->AddOutput(level.graph->AddNodeOutput(node, level.graph->UniqueName("")));
  }

  // A result is what both nets leave in a blob, or one of them where the blob was there before.
  template <typename Name>
  absl::Status AddBranches(const OperatorDesc& op, Level& level, const Name& name) {
    const NetDesc* nets[] = {NetOf(op, "then_net"), NetOf(op, "else_net")};
    if (!nets[0] || op.inputs.empty()) return Invalid("a branch without its net or condition");
    Names written[2], all;
    for (size_t i = 0; i < 2; ++i) {
      if (nets[i]) CollectWritten(*nets[i], &written[i]);
      all.insert(written[i].begin(), written[i].end());
    }
    std::erase_if(all, [&](const std::string& blob) {
      const bool always = written[0].contains(blob) && written[1].contains(blob);
      return !used_.contains(blob) || !(always || FindOrNull(level, blob));
    });
    X2IR_ASSIGN_OR_RETURN(Value * condition, Find(level, op.inputs[0]));
    Node* node = level.graph->AppendNode(kDialect, op.type, std::vector<Value*>{condition});
    node->set_name(op.name);
    static constexpr const char* kNames[] = {"then_net", "else_net"};
    for (size_t i = 0; i < 2; ++i) {
      auto inner = std::make_shared<Graph>(kNames[i]);
      node->SetAttr(kNames[i], inner);
      Level nested{inner.get(), &level};
      if (nets[i]) X2IR_RETURN_IF_ERROR(AddOperators(*nets[i], nested));
      for (const std::string& blob : all) {
        X2IR_ASSIGN_OR_RETURN(Value * value, Find(nested, blob));
        AddOwnOutput(nested, value);
      }
    }
    for (const std::string& blob : all) {
      level.values[blob] = level.graph->AddNodeOutput(node, name(blob));
    }
    return absl::OkStatus();
  }

  // The net of the condition runs before each round: here, and at the end of the body.
  template <typename Name>
  absl::Status AddLoop(const OperatorDesc& op, Level& level, const Name& name) {
    const NetDesc *step = NetOf(op, "loop_net"), *asks = NetOf(op, "cond_net");
    if (!step || op.inputs.empty()) return Invalid("a loop without its net or condition");
    if (asks) X2IR_RETURN_IF_ERROR(AddOperators(*asks, level));
    Names carried;
    CollectWritten(*step, &carried);
    if (asks) CollectWritten(*asks, &carried);
    // A blob that does not exist before is not visible outside.
    std::erase_if(carried, [&](const std::string& blob) {
      return !used_.contains(blob) || !FindOrNull(level, blob);
    });
    X2IR_ASSIGN_OR_RETURN(Value * condition, Find(level, op.inputs[0]));
    std::vector<Value*> operands = {condition};
    for (const std::string& blob : carried) operands.push_back(FindOrNull(level, blob));
    Node* node = level.graph->AppendNode(kDialect, op.type, operands);
    node->set_name(op.name);
    auto body = std::make_shared<Graph>("loop_net");
    node->SetAttr("loop_net", body);
    Level nested{body.get(), &level};
    for (const std::string& blob : carried) {
      nested.values[blob] = body->AddInput(body->UniqueName(blob), Type());
    }
    X2IR_RETURN_IF_ERROR(AddOperators(*step, nested));
    if (asks) X2IR_RETURN_IF_ERROR(AddOperators(*asks, nested));
    X2IR_ASSIGN_OR_RETURN(Value * next, Find(nested, op.inputs[0]));
    AddOwnOutput(nested, next);
    for (const std::string& blob : carried) AddOwnOutput(nested, nested.values[blob]);
    for (const std::string& blob : carried) {
      level.values[blob] = level.graph->AddNodeOutput(node, name(blob));
    }
    return absl::OkStatus();
  }

  // Blobs of the net that are windows on others: on a state of all steps (its rows of before and
  // after), or on a sequence from outside.
  struct Links {
    std::map<std::string, std::string> before, after;  // by state
    std::vector<std::pair<std::string, Value*>> sequences;
  };
  absl::StatusOr<Links> LinksOf(const OperatorDesc& op, const Level& level) {
    const auto &inside = StringsOf(op, "link_internal"), &outside = StringsOf(op, "link_external");
    const auto& states = StringsOf(op, "recurrent_states");
    const std::vector<int64_t> offsets = IntsOf(op, "link_offset", 0),
                               windows = IntsOf(op, "link_window", inside.size());
    if (outside.size() != inside.size() || offsets.size() != inside.size() ||
        windows.size() != inside.size()) {
      return Invalid("links with different numbers of operands");
    }
    Links links;
    for (size_t i = 0; i < inside.size(); ++i) {
      const bool state = std::ranges::find(states, outside[i]) != states.end();
      if (windows[i] != 1 || offsets[i] < 0 || offsets[i] > (state ? 1 : 0)) {
        return Unimplemented("a link to '", outside[i], "' from row ", offsets[i], ", of ",
                             windows[i], " rows");
      }
      if (state) {
        (offsets[i] == 0 ? links.before : links.after).emplace(outside[i], inside[i]);
      } else {
        X2IR_ASSIGN_OR_RETURN(Value * sequence, Find(level, outside[i]));
        links.sequences.emplace_back(inside[i], sequence);
      }
    }
    return links;
  }

  // Operands are the first values of the states, the sequences, and what counts the steps. Inputs
  // of the body: the number of the step, the states, rows of the sequences. Results are those of
  // aliases, then the states of all steps.
  template <typename Name>
  absl::Status AddRecurrent(const OperatorDesc& op, Level& level, const Name& name) {
    const NetDesc* step = NetOf(op, "step_net");
    const auto& states = StringsOf(op, "recurrent_states");
    const std::vector<int64_t> first = IntsOf(op, "initial_recurrent_state_ids", 0);
    const auto &sources = StringsOf(op, "alias_src"), &aliases = StringsOf(op, "alias_dst");
    const std::vector<int64_t> rows = IntsOf(op, "alias_offset", 0);
    if (!step || op.inputs.empty() || states.empty() || first.size() != states.size() ||
        sources.size() != aliases.size() || rows.size() != aliases.size()) {
      return Invalid("a recurrent network without a step net, states or initial states");
    }
    Names written;
    CollectWritten(*step, &written);
    for (const std::string& blob : written) {
      if (FindOrNull(level, blob)) return Unimplemented("a step that changes '", blob, "' outside");
    }
    X2IR_ASSIGN_OR_RETURN(const Links links, LinksOf(op, level));
    auto body = std::make_shared<Graph>("step_net");
    Level nested{body.get(), &level};
    const auto add_input = [&](const std::string& blob, Type type) {
      nested.values[blob] = body->AddInput(body->UniqueName(blob), type);
    };
    add_input(StepBlob(op), Type::Tensor(DType::kInt32, Shape({1})));
    std::vector<Value*> operands;
    for (size_t i = 0; i < states.size(); ++i) {
      if (first[i] < 0 || first[i] >= static_cast<int64_t>(op.inputs.size())) {
        return Invalid("a state whose initial value is operand ", first[i]);
      }
      X2IR_ASSIGN_OR_RETURN(operands.emplace_back(),
                            Find(level, op.inputs[static_cast<size_t>(first[i])]));
      const auto before = links.before.find(states[i]);
      add_input(before == links.before.end() ? "" : before->second, Type());
    }
    for (const auto& [blob, sequence] : links.sequences) {
      operands.push_back(sequence);
      add_input(blob, Type());
    }
    X2IR_ASSIGN_OR_RETURN(operands.emplace_back(), Find(level, op.inputs[0]));
    X2IR_RETURN_IF_ERROR(AddOperators(*step, nested));
    for (const std::string& state : states) {
      const auto after = links.after.find(state);
      const auto made =
          after == links.after.end() ? nested.values.end() : nested.values.find(after->second);
      if (made == nested.values.end())
        return Invalid("the step net does not produce state '", state, "'");
      AddOwnOutput(nested, made->second);
    }
    Node* node = level.graph->AppendNode(kDialect, op.type, operands);
    node->set_name(op.name);
    node->SetAttr("step_net", body);
    Attribute::Ints of_states, from_rows;
    const auto add_result = [&](const std::string& blob, const std::string& state, int64_t row) {
      if (!used_.contains(blob)) return;
      of_states.push_back(std::ranges::find(states, state) - states.begin());
      from_rows.push_back(row);
      level.values[blob] = level.graph->AddNodeOutput(node, name(blob));
    };
    for (size_t i = 0; i < aliases.size(); ++i) {
      if (std::ranges::find(states, sources[i]) == states.end()) {
        return Invalid("blob '", aliases[i], "' is a range of rows of '", sources[i],
                       "', which is not a state");
      }
      add_result(aliases[i], sources[i], rows[i]);
    }
    for (const std::string& state : states) add_result(state, state, 0);
    node->SetAttr("states", static_cast<int64_t>(states.size()));
    node->SetAttr("result_states", std::move(of_states));
    node->SetAttr("result_rows", std::move(from_rows));
    return absl::OkStatus();
  }

  NetDesc net_;
  Names used_;  // blobs that some operator or caller reads
  Model* model_ = nullptr;
  bool has_weights_ = false;
  std::map<std::string, Filled> weights_;
  std::map<std::string, std::string> unfilled_;  // blobs of init_net that no numbers fill
  std::map<std::string, Type> sample_types_;     // of inputs that init_net fills
};

std::string PrefixOf(std::string name) {
  for (const std::string_view part : {"predict_net", "init_net"}) {
    const size_t at = name.rfind(part);
    if (at != name.npos) return name.substr(0, at);
  }
  return name;
}
std::string FileNameOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}
bool IsNet(const Blob& file) {
  const std::string_view head = file.view().substr(0, 4096);
  return LooksLikeNet(head) || LooksLikeNetText(head);
}

}  // namespace

const ModelFileNames& Caffe2FileNames() {
  static const auto& names = *new ModelFileNames{
      .params =
          [](const std::string& stem, const std::vector<std::string>&) {
            const std::string prefix = PrefixOf(stem);
            return std::vector<std::string>{prefix + "init_net.pb", prefix + "init_net.pbtxt"};
          },
      .graphs =
          [](const std::string& params) {
            const std::string prefix = PrefixOf(params);
            return std::vector<std::string>{prefix + "predict_net.pb",
                                            prefix + "predict_net.pbtxt"};
          },
      .graph_endings = {"predict_net.pb", "predict_net.pbtxt"},
      .is_params =
          [](const Blob& file) {
            return FileNameOf(file.path()).find("init_net") != std::string::npos;
          },
      .is_graph = IsNet};
  return names;
}

}  // namespace caffe2

absl::StatusOr<Model> ReadCaffe2(const Source& source, const Caffe2Options& options) {
  const auto read = [&](const ModelFiles& files) -> absl::StatusOr<Model> {
    X2IR_ASSIGN_OR_RETURN(caffe2::NetDesc net, caffe2::ReadNet(files.graph));
    caffe2::GraphReader reader(std::move(net));
    if (files.params) {
      const auto init = caffe2::ReadNet(files.params);
      const absl::Status taken = init.ok() ? reader.TakeWeights(*init) : init.status();
      if (!taken.ok()) return Annotate(taken, StrCat("'", files.params->path(), "'"));
    }
    return reader.Read();
  };
  return ReadModelFiles(source, options.params, caffe2::Caffe2FileNames(), read);
}

namespace {

Match RecognizeCaffe2(const Candidate& file) {
  if (file.is_folder)
    return HasModelFiles(file.path, caffe2::Caffe2FileNames()) ? Match::kCertain : Match::kNo;
  const std::string_view head = file.text();
  if (caffe2::LooksLikeNetText(head)) return Match::kCertain;
  if (!caffe2::LooksLikeNet(head)) return Match::kNo;
  const bool named = file.path.find("predict_net") != std::string::npos ||
                     file.path.find("init_net") != std::string::npos;
  return named ? Match::kCertain : Match::kPossible;
}

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "caffe2",
    .dialect = caffe2::kDialect,
    .extensions = {".pb", ".pbtxt"},
    .only_by_name = true,
    .doc = "Networks of Caffe2: a net that computes and one that fills weights",
    .recognize = RecognizeCaffe2,
    .read_options = {ParamsOption()},
    .read = ReadWithParams(ReadCaffe2),
});

}  // namespace
}  // namespace x2ir
