// What handlers of TensorFlow's ops share.
#include "x2ir/handlers/tf/tf.h"

#include <algorithm>

#include "x2ir/builder/node_marks.h"
#include "x2ir/builder/relaid.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/read_through.h"
#include "x2ir/formats/tensorflow/attributes.h"
#include "x2ir/handlers/tf/fuse.h"
#include "x2ir/handlers/tf/fuse_lists.h"
#include "x2ir/handlers/tf/lists.h"
#include "x2ir/handlers/tf/nchw.h"
#include "x2ir/handlers/tf/signatures.h"
#include "x2ir/handlers/tf/temporary_variables.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/identities.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// Operators whose kernels for CPUs refuse negative indices, or do not expect them.
constexpr std::string_view kFromTheFront[] = {"Gather",
                                              "GatherNd",
                                              "GatherV2",
                                              "ResourceGather",
                                              "ResourceGatherNd",
                                              "ScatterAdd",
                                              "ScatterDiv",
                                              "ScatterMax",
                                              "ScatterMin",
                                              "ScatterMul",
                                              "ScatterNd",
                                              "ScatterNdAdd",
                                              "ScatterNdMax",
                                              "ScatterNdMin",
                                              "ScatterNdNonAliasingAdd",
                                              "ScatterNdSub",
                                              "ScatterNdUpdate",
                                              "ScatterSub",
                                              "ScatterUpdate",
                                              "SparseTensorDenseAdd",
                                              "TensorArrayGatherV3",
                                              "TensorArrayReadV3",
                                              "TensorArrayScatterV3",
                                              "TensorArrayWriteV3",
                                              "TensorListGather",
                                              "TensorListGetItem",
                                              "TensorListScatter",
                                              "TensorListScatterIntoExistingList",
                                              "TensorListScatterV2",
                                              "TensorListSetItem",
                                              "TensorScatterAdd",
                                              "TensorScatterMax",
                                              "TensorScatterMin",
                                              "TensorScatterSub",
                                              "TensorScatterUpdate"};

void MarkScalarConditions(Graph& graph) {
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) MarkScalarConditions(*inner);
    if (node->attrs().Has(kTfScalarCondition)) MarkNode(*node, NodeMark::kScalarCondition);
  }
}

void PrepareTf(Graph& graph) {
  ForgetTypesOfLists(graph);
  MarkNodes(graph, "tf", kFromTheFront, NodeMark::kFromTheFront);
  MarkScalarConditions(graph);
}

[[maybe_unused]] const bool kRegistered =
    RegisterDialect({.name = "tf",
                     .layout = "channels_last",
                     .check = CheckTfNode,
                     .after_read =
                         [](Model& model, std::vector<std::string>&) {
                           PrepareTf(*model.graph);
                           for (const auto& function : model.functions) PrepareTf(*function->body);
                           return absl::OkStatus();
                         },
                     .before_passes =
                         [](Graph& graph) {
                           FuseTfLists(graph);
                           return absl::OkStatus();
                         },
                     .before_write =
                         [](Model& model, const FormatOptions& options) {
                           if (options.Flag("keep_nchw")) KeepTfChannelsFirst(*model.graph);
                           FuseTfOps(*model.graph, CheckTfNode);
                           UseTemporaryVariables(*model.graph);
                           return absl::OkStatus();
                         }});

class OtherAttributesLens : public LensImpl {
 public:
  explicit OtherAttributesLens(std::string_view op) : signature_(FindTfSignature(op)) {}
  absl::Status Import(Draft& draft) const override {
    for (const auto& entry : draft.node().attrs()) {
      const Symbol name = entry.first;
      if (IsMeaninglessTfAttr(name.view()) && !draft.def().FindAttr(name)) draft.TakeAttr(name);
    }
    return absl::OkStatus();
  }
  absl::Status Export(Draft& draft) const override {
    if (!signature_) return Internal("nothing is known of that op");
    for (const auto& [name, attr] : draft.node().attrs()) {
      if (draft.IsTaken(name) || signature_->HasAttr(name.view())) continue;
      const AttrDef* own = draft.def().FindAttr(name);
      if (!own || !own->default_value || *own->default_value != attr) {
        return CannotExpress("attribute '", name.str(), "' = ", attr.ToString(),
                             " cannot be expressed by ", signature_->op);
      }
      draft.TakeAttr(name);
    }
    for (auto& [name, attr] : TfTypeAttrs(*signature_, draft.node().inputs())) {
      draft.SetAttr(name, attr);
    }
    return absl::OkStatus();
  }

 private:
  const TfSignature* signature_;
};

}  // namespace

Lens TfDialect::OtherAttributes(std::string_view op) {
  return std::make_shared<OtherAttributesLens>(op);
}

bool IsMeaninglessTfAttr(std::string_view name) {
  // Hints for the runtime, and numbers of operands.
  static constexpr std::string_view kNames[] = {
      "use_cudnn_on_gpu", "use_locking", "N",  "Index",
      "index_type",       "SrcT",        "TI", "parallel_iterations"};
  if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) return true;
  // "T", "Tidx", "Tindices", ...: the types of operands. "Tout" is a result's.
  return name.starts_with('T') && name != "Tout" &&
         std::all_of(name.begin() + 1, name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

absl::Status TfDialect::Finish(TfArgs& args) {
  args.IgnoreAll(IsMeaninglessTfAttr);
  return args.CheckAllTaken();
}

// --- What operands say ---------------------------------------------------------------------------

const Tensor* ConstantBehind(const Value* v) {
  const Tensor* constant = WithoutIdentities(v)->fixed_constant();
  return constant && !constant->is_sparse() ? constant : nullptr;
}

std::optional<std::vector<Dim>> PartlyKnownInts(const Value* value) {
  if (const auto known = KnownInts(value)) return std::vector<Dim>(known->begin(), known->end());
  if (value && value->elements()) return *value->elements();
  return std::nullopt;
}

absl::StatusOr<std::vector<int64_t>> KnownAxes(TfArgs& a, size_t i, int64_t rank) {
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> axes, a.KnownInts(i, "axes"));
  X2IR_ASSIGN_OR_RETURN(axes, NormalizeAxes(std::move(axes), rank));
  return axes;
}

Expr SizeAt(TfArgs& a, Value* v, int64_t axis) {
  return Squeeze(ShapeOf({a, v}, axis, axis + 1), {0});
}

// --- Windows ------------------------------------------------------------------------------------

TfLayout TakeLayout(TfArgs& a, std::string_view fallback) {
  const std::string format = a.String("data_format", fallback);
  if (format == "NHWC" || format == "NDHWC" || format == "NWC") return {true};
  if (format != "NCHW" && format != "NCDHW" && format != "NCW") {
    a.b().Fail(Unimplemented("data_format '", format, "'"));
  }
  return {false};
}

std::vector<int64_t> TakeSpatial(TfArgs& a, Symbol attr, TfLayout layout, size_t spatial) {
  const std::vector<int64_t> all = a.IntList(attr, std::vector<int64_t>(spatial + 2, 1));
  if (all.size() != spatial + 2) {
    a.b().Fail(Invalid("attribute '", attr.view(), "': expected ", spatial + 2, " numbers, got ",
                       all.size()));
    return std::vector<int64_t>(spatial, 1);
  }
  const size_t first = layout.channels_last ? 1 : 2;
  for (size_t i = 0; i < all.size(); ++i) {
    if ((i < first || i >= first + spatial) && all[i] != 1) {
      a.b().Fail(Unimplemented("attribute '", attr.view(), "' is ", all[i],
                               " for the batch or the channels"));
    }
  }
  const auto begin = all.begin() + static_cast<ptrdiff_t>(first);
  return {begin, begin + static_cast<ptrdiff_t>(spatial)};
}

void TakePadding(TfArgs& a, size_t spatial, Window* window) {
  const std::string padding = a.String("padding", "");
  const std::vector<int64_t> pairs = a.IntList("explicit_paddings", {});
  if (padding == "SAME" || padding == "VALID") {
    window->auto_pad = padding == "SAME" ? AutoPad::kSameUpper : AutoPad::kValid;
    if (!pairs.empty()) a.b().Fail(Invalid("explicit_paddings with padding ", padding));
    return;
  }
  if (padding != "EXPLICIT") {
    a.b().Fail(Invalid("padding '", padding, "'"));
    return;
  }
  // A begin and an end for each axis of the tensor.
  if (pairs.size() != 2 * (spatial + 2)) {
    a.b().Fail(Invalid("explicit_paddings: expected ", 2 * (spatial + 2), " numbers"));
    return;
  }
  const auto first = pairs.begin() + (window->channels_last ? 2 : 4);
  const auto behind = first + 2 * static_cast<ptrdiff_t>(spatial);
  window->pads = PadsOfPairs(std::vector<int64_t>(first, behind));
  const auto any = [](auto from, auto to) {
    return std::any_of(from, to, [](int64_t pad) { return pad != 0; });
  };
  if (any(pairs.begin(), first) || any(behind, pairs.end())) {
    a.b().Fail(Unimplemented("explicit_paddings of the batch or the channels"));
  }
}

namespace {

Window TakeWindow(TfArgs& a, TfLayout layout, size_t spatial) {
  Window window{.channels_last = layout.channels_last};
  window.strides = TakeSpatial(a, "strides", layout, spatial);
  TakePadding(a, spatial, &window);
  return window;
}

}  // namespace

Window TakeConvWindow(TfArgs& a, TfLayout layout, size_t spatial) {
  Window window = TakeWindow(a, layout, spatial);
  window.dilations = TakeSpatial(a, "dilations", layout, spatial);
  return window;
}
Window TakePoolWindow(TfArgs& a, TfLayout layout, size_t spatial) {
  Window window = TakeWindow(a, layout, spatial);
  window.kernel = TakeSpatial(a, "ksize", layout, spatial);
  return window;
}

Value* Relaid(TfArgs& a, Value* v, const std::vector<int64_t>& perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return v;
  Value* behind = WithoutIdentities(v);  // reads of variables
  const Node* made_by = behind->producer();
  const bool dequantized = made_by && made_by->Is("dequantize_linear");
  Value* source = dequantized ? made_by->input(0) : behind;
  const Tensor* constant = source->fixed_constant();
  const bool blocks = dequantized && made_by->attrs().Int("block_size", 0) != 0;
  if (!constant || constant->is_sparse() || blocks || BitWidth(constant->dtype()) < 8 ||
      constant->rank() != static_cast<int64_t>(perm.size())) {
    return Transpose({a, v}, perm);
  }
  Tensor relaid = TransposeWeight(*constant, perm);
  if (!dequantized) return RelaidConstant(a.b(), source, std::move(relaid));
  Value* weights = a.b().Constant(std::move(relaid), source->name());
  AttributeMap attrs = made_by->attrs();
  if (attrs.Has("axis")) {
    const auto at = std::find(perm.begin(), perm.end(), attrs.Int("axis"));
    attrs.Set("axis", static_cast<int64_t>(at - perm.begin()));
  }
  std::vector<Value*> operands = made_by->inputs();
  operands[0] = weights;
  return a.b().Op("dequantize_linear", std::move(operands), std::move(attrs));
}

Value* KernelToOihw(TfArgs& a, Value* kernel) {
  if (!kernel->shape() || kernel->shape()->rank() < 3) {
    a.b().Fail(Unimplemented("the kernel's rank is not known"));
    return kernel;
  }
  const int64_t rank = kernel->shape()->rank();
  std::vector<int64_t> perm = {rank - 1, rank - 2};
  for (int64_t i = 0; i < rank - 2; ++i) perm.push_back(i);
  return Relaid(a, kernel, perm);
}

Values AsTf(TfArgs& a, std::string_view op, std::vector<Value*> operands, AttributeMap attrs) {
  std::vector<ReadThroughResult> results;
  for (size_t i = 0; i < a.num_outputs(); ++i) {
    results.push_back({a.wants(i), a.wants(i) ? a.node().output(i)->type() : Type()});
  }
  return ReadThrough(a, "tf", 1, op, std::move(operands), std::move(attrs), results);
}

}  // namespace x2ir
