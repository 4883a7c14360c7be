// The dialect "keras", and masks: a layer defines which steps of a tensor count, and the mask is
// passed from layer to layer beside the tensor. Before nodes are converted masks become operands of
// the layers that read them.
#include "x2ir/core/dialect.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/formats/keras/keras.h"
#include "x2ir/formats/keras/operations_internal.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/keras/write_internal.h"

namespace x2ir {
namespace {

// What a layer does to masks.
enum class MaskUse {
  kStops,    // its results have none; a warning where it is given one
  kDrops,    // its results have none, as it should be
  kPasses,   // those of the results are those of the first tensor
  kLooks,    // it reads them, and its results have none
  kSteps,    // a recurrent layer: it reads, and passes them where it gives all steps
  kQueries,  // attention: it reads, and passes the mask of the queries
  kMakes,    // its own
  kJoins,    // results count where all tensors do
  kConcat,
};
struct MaskRow {
  std::string_view op;
  MaskUse use;
};
constexpr MaskRow kMaskRows[] = {
    {"Activation", MaskUse::kPasses},
    {"ActivityRegularization", MaskUse::kPasses},
    {"Add", MaskUse::kJoins},
    {"AdditiveAttention", MaskUse::kQueries},
    {"AlphaDropout", MaskUse::kPasses},
    {"Attention", MaskUse::kQueries},
    {"Average", MaskUse::kJoins},
    {"BatchNormalization", MaskUse::kPasses},
    {"Concatenate", MaskUse::kConcat},
    {"ConvLSTM1D", MaskUse::kSteps},
    {"ConvLSTM2D", MaskUse::kSteps},
    {"ConvLSTM3D", MaskUse::kSteps},
    {"CuDNNGRU", MaskUse::kSteps},
    {"CuDNNLSTM", MaskUse::kSteps},
    {"Dense", MaskUse::kPasses},
    {"Dot", MaskUse::kDrops},
    {"Dropout", MaskUse::kPasses},
    {"ELU", MaskUse::kPasses},
    {"Embedding", MaskUse::kMakes},
    {"GRU", MaskUse::kSteps},
    {"GaussianDropout", MaskUse::kPasses},
    {"GaussianNoise", MaskUse::kPasses},
    {"GlobalAveragePooling1D", MaskUse::kLooks},
    {"GroupNormalization", MaskUse::kPasses},
    {"GroupQueryAttention", MaskUse::kQueries},
    {"GroupedQueryAttention", MaskUse::kQueries},
    {"Identity", MaskUse::kPasses},
    {"LSTM", MaskUse::kSteps},
    {"LayerNormalization", MaskUse::kPasses},
    {"LeakyReLU", MaskUse::kPasses},
    {"Masking", MaskUse::kMakes},
    {"Maximum", MaskUse::kJoins},
    {"Minimum", MaskUse::kJoins},
    {"MultiHeadAttention", MaskUse::kQueries},
    {"Multiply", MaskUse::kJoins},
    {"PReLU", MaskUse::kPasses},
    {"RMSNormalization", MaskUse::kPasses},
    {"ReLU", MaskUse::kPasses},
    {"ReversibleEmbedding", MaskUse::kMakes},
    {"SimpleRNN", MaskUse::kSteps},
    {"Softmax", MaskUse::kQueries},
    {"SpatialDropout1D", MaskUse::kPasses},
    {"SpatialDropout2D", MaskUse::kPasses},
    {"SpatialDropout3D", MaskUse::kPasses},
    {"Subtract", MaskUse::kJoins},
    {"ThresholdedReLU", MaskUse::kPasses},
    {"UnitNormalization", MaskUse::kPasses},
    {keras::kFold, MaskUse::kDrops},
    {keras::kUnfold, MaskUse::kStops},  // see below
};

MaskUse MaskUseOf(std::string_view op) {
  const auto* row = std::find_if(std::begin(kMaskRows), std::end(kMaskRows),
                                 [&](const MaskRow& r) { return r.op == op; });
  return row == std::end(kMaskRows) ? MaskUse::kStops : row->use;
}

bool FlagOf(const Node& node, Symbol name) {
  const Attribute* attr = node.attrs().Find(name);
  const auto* number = attr ? attr->get<int64_t>() : nullptr;
  return number && *number != 0;
}

class MaskFlow {
 public:
  MaskFlow(Graph& graph, std::vector<std::string>& warnings) : graph_(graph), warnings_(warnings) {}

  // Unimplemented where a layer reads a mask that releases of Keras make in different ways.
  absl::Status Run() {
    std::vector<Node*> nodes;
    for (Node* node : graph_.nodes()) nodes.push_back(node);
    for (Node* node : nodes) {
      if (node->dialect() == keras::kDialect) Visit(*node);
    }
    return status_;
  }

 private:
  Value* MaskOf(const Value* value) const {
    const auto found = masks_.find(value);
    return found == masks_.end() ? nullptr : found->second;
  }
  void SetMask(const Node& node, Value* mask) {
    if (mask && node.output(0)) masks_[node.output(0)] = mask;
  }

  void Visit(Node& node) {
    const std::string_view op = node.op().view();
    const Attribute* attr = node.attrs().Find(keras::kCallInputs);
    const auto* count = attr ? attr->get<int64_t>() : nullptr;
    const auto tensors = static_cast<size_t>(
        std::clamp<int64_t>(count ? *count : 0, 0, static_cast<int64_t>(node.num_inputs())));
    std::vector<Value*> masks;
    bool any = false;
    for (size_t i = 0; i < tensors; ++i) {
      masks.push_back(MaskOf(node.input(i)));
      any = any || masks.back();
    }
    const MaskUse use = MaskUseOf(op);
    if (TakeUnclear(node, use, tensors)) return;
    if (use == MaskUse::kMakes) {
      const bool makes =
          (op == "Masking" || FlagOf(node, "mask_zero")) && !FlagOf(node, "call.reverse");
      if (makes && node.num_outputs() == 1) {
        SetMask(node, graph_.AddNodeOutput(&node, graph_.UniqueName(node.name() + "/mask")));
      }
      return;
    }
    // What is applied to each step hands on the mask of the steps.
    if (op == keras::kUnfold && tensors == 2) return SetMask(node, masks[1]);
    if (!any) return;
    switch (use) {
      case MaskUse::kStops:
        warnings_.push_back(StrCat("layer '", node.name(), "' (", op,
                                   ") does not pass on the mask of its tensor: the layers after "
                                   "it count every step"));
        return;
      case MaskUse::kDrops:
      case MaskUse::kMakes: return;
      case MaskUse::kPasses: return SetMask(node, masks[0]);
      case MaskUse::kLooks: return Give(node, masks);
      case MaskUse::kSteps:
        Give(node, {masks[0]});
        if (FlagOf(node, "return_sequences")) SetMask(node, masks[0]);
        return;
      case MaskUse::kQueries: Give(node, masks); return SetMask(node, masks[0]);
      case MaskUse::kJoins: return Join(node, masks, false);
      case MaskUse::kConcat: return Join(node, masks, true);
    }
  }

  // Masks that are not known are passed on as others are, until a layer reads them.
  bool TakeUnclear(const Node& node, MaskUse use, size_t tensors) {
    bool any = false;
    for (size_t i = 0; i < tensors; ++i) any = any || unclear_.contains(node.input(i));
    if (!any) return false;
    switch (use) {
      case MaskUse::kStops:
      case MaskUse::kDrops:
      case MaskUse::kMakes: return false;
      case MaskUse::kPasses:
      case MaskUse::kJoins:
      case MaskUse::kConcat: SetUnclear(node); return true;
      case MaskUse::kLooks:
      case MaskUse::kSteps:
      case MaskUse::kQueries: break;
    }
    // Keras 3 writes how it made the masks that layers read.
    if (!IsGivenMasks(node) && status_.ok()) {
      status_ = Unimplemented("layer '", node.name(), "' (", node.op().view(),
                              ") looks at a mask of merged tensors of which some have other masks "
                              "or none: releases of Keras 3 differ in what it is");
    }
    return true;
  }
  static bool IsGivenMasks(const Node& node) {
    const Attribute* attr = node.attrs().Find(keras::kCallNames);
    const auto* names = attr ? attr->get<Attribute::Strings>() : nullptr;
    return names && std::ranges::any_of(*names, [](const std::string& name) {
             return name.find("mask") != name.npos;
           });
  }
  void SetUnclear(const Node& node) {
    if (node.output(0)) unclear_.insert(node.output(0));
  }

  // Masks become the last operands.
  static void Give(Node& node, const std::vector<Value*>& masks) {
    Attribute::Ints of;
    for (size_t i = 0; i < masks.size(); ++i) {
      if (!masks[i]) continue;
      of.push_back(static_cast<int64_t>(i));
      node.AddInput(masks[i]);
    }
    node.SetAttr(keras::kCallMasks, of);
  }

  // Where all tensors count; one without a mask counts everywhere. So it is until Keras 2, and in
  // the first releases of Keras 3; later ones have what counts in any tensor, and nothing where one
  // has no mask.
  void Join(Node& node, const std::vector<Value*>& masks, bool concat) {
    std::vector<Value*> different;
    for (Value* mask : masks) {
      if (mask && std::find(different.begin(), different.end(), mask) == different.end()) {
        different.push_back(mask);
      }
    }
    const bool third = VersionOf(node) >= 3;
    const bool all = std::ranges::all_of(masks, [](const Value* mask) { return mask != nullptr; });
    const std::string_view op = node.op().view();
    if (third && (op == "Maximum" || op == "Minimum" || op == "Multiply")) {
      warnings_.push_back(StrCat("layer '", node.name(), "' (", op,
                                 "): releases of Keras 3 differ in its values at steps that a mask "
                                 "leaves out; here masks do not change them"));
    }
    if (different.size() == 1 && (all || !third) && (!concat || AlongFeatures(node))) {
      return SetMask(node, different[0]);
    }
    if (concat && !AlongFeatures(node)) {
      warnings_.push_back(StrCat("layer '", node.name(),
                                 "' joins steps: the masks of its tensors are not handed on"));
      return;
    }
    if (third) return SetUnclear(node);
    Value* joined = different[0];
    Node* before = node.next();
    for (size_t i = 1; i < different.size(); ++i) {
      Node* both = graph_.InsertNode(before, kIrDialect, "and", {joined, different[i]});
      joined = graph_.AddNodeOutput(both, graph_.UniqueName(node.name() + "/mask"));
    }
    SetMask(node, joined);
  }

  static int64_t VersionOf(const Node& node) {
    const Attribute* attr = node.attrs().Find(keras::kVersion);
    const auto* version = attr ? attr->get<int64_t>() : nullptr;
    return version ? *version : 2;
  }

  static bool AlongFeatures(const Node& node) {
    const Attribute* attr = node.attrs().Find("axis");
    const auto* axis = attr ? attr->get<int64_t>() : nullptr;
    return !axis || *axis == -1 || *axis >= 2;
  }

  Graph& graph_;
  std::vector<std::string>& warnings_;
  absl::flat_hash_map<const Value*, Value*> masks_;
  absl::flat_hash_set<const Value*> unclear_;
  absl::Status status_;
};

// Layers that one release computes otherwise than others, by `producer_version`.
void SettleReleases(Model& model, std::vector<std::string>& warnings) {
  const std::string_view version = model.producer_version;
  const bool tfjs = version.starts_with("tfjs-layers"), tf_keras = version.ends_with("-tf");
  // Bilinear images were read at i / size. Since TensorFlow 2, at (i + 0.5) / size - 0.5.
  const bool plain = tfjs || version.starts_with("2.1.") ||
                     (!tf_keras && (version.starts_with("2.2.") || version.starts_with("2.3.")));
  bool unclear = version == "2.2.4-tf";  // of TensorFlow 1.13 as of 2.1
  for (Node* node : model.graph->nodes()) {
    if (node->op() == "UpSampling2D" && node->attrs().String("interpolation", "") == "bilinear") {
      node->SetAttr("half_pixel_centers", plain ? 0 : 1);
      if (unclear) {
        warnings.push_back(
            StrCat("layer '", node->name(),
                   "' has the middles of pixels as TensorFlow 2; the file's version, "
                   "2.2.4-tf, is also that of TensorFlow 1, which has not"));
        unclear = false;
      }
    }
    if (tfjs && node->op() == "DepthwiseConv2D" && node->attrs().Has("dilation_rate")) {
      const std::vector<int64_t> rate = node->attrs().Ints("dilation_rate");
      if (std::all_of(rate.begin(), rate.end(), [](int64_t r) { return r == 1; })) continue;
      node->SetAttr("dilation_rate", std::vector<int64_t>(rate.size(), 1));
      warnings.push_back(StrCat("layer '", node->name(),
                                "' is not dilated: TensorFlow.js, which made it, ignores that"));
    }
  }
}

absl::Status PrepareKeras(Model& model, std::vector<std::string>& warnings) {
  SettleReleases(model, warnings);
  std::vector<std::string> stateful;
  for (const Node* node : model.graph->nodes()) {
    if (FlagOf(*node, "stateful")) stateful.push_back(node->name());
  }
  if (!stateful.empty()) {
    warnings.push_back(
        StrCat("layer '", stateful[0], "'",
               stateful.size() > 1 ? StrCat(" and ", stateful.size() - 1, " others") : "",
               " would keep states from one run to the next: each run begins with "
               "zeros here"));
  }
  // Keras 1 did not write which backend it had, and Theano's convolutions turn their kernels round.
  for (const Node* node : model.graph->nodes()) {
    if (!FlagOf(*node, "call.theano_layout") ||
        node->op().view().find("Conv") == std::string::npos) {
      continue;
    }
    warnings.push_back(StrCat("layer '", node->name(),
                              "' has the order of axes of Theano: its kernels are taken as they "
                              "are, but were to be turned round if Theano was the backend"));
    break;
  }
  return MaskFlow(*model.graph, warnings).Run();
}

// Operations are those that the writer knows; rows make no other layers than Keras 3 has.
std::vector<std::string> KerasProblems(const Node& node) {
  const std::string_view op = node.op().view();
  if (!op.starts_with("ops.") || keras::FindOperation(op)) return {};
  return {"Keras has no such operation"};
}

[[maybe_unused]] const bool kRegistered = RegisterDialect({
    .name = keras::kDialect,
    .oldest_written_opset = 3,
    .latest_opset = 3,
    .layout = "channels_last",
    .holds_any_ops = false,
    .needs_variables = true,
    .check = KerasProblems,
    .after_read = PrepareKeras,
    .before_passes = FuseKerasAttention,
    .fuse = FuseKerasRecurrent,
    .before_write = FinishKeras,
});

}  // namespace
}  // namespace x2ir
