#include "x2ir/optimizer/widen_weights.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/optimizer/room.h"
#include "x2ir/optimizer/weights.h"

namespace x2ir {
namespace {

bool IsCastToFloat32(const Node& node) {
  return node.Is("cast") && ParseDType(node.attrs().String("to", "")) == DType::kFloat32 &&
         !node.output(0)->is_graph_output();
}

// Rows of a table, which are all cast.
bool IsGatherOfWidened(const Use& use) {
  const Node& node = *use.node;
  if (!node.Is("gather") || use.index != 0 || node.output(0)->is_graph_output()) return false;
  const auto uses = node.output(0)->uses();
  return !uses.empty() && std::all_of(uses.begin(), uses.end(),
                                      [](const Use& of) { return IsCastToFloat32(*of.node); });
}

bool IsWidened(const Value& constant) {
  const Tensor* tensor = constant.fixed_constant();
  if (!tensor || tensor->is_sparse() || constant.uses().empty() || constant.is_graph_output()) {
    return false;
  }
  if (tensor->dtype() != DType::kFloat16 && tensor->dtype() != DType::kBFloat16) return false;
  return std::all_of(constant.uses().begin(), constant.uses().end(), [](const Use& use) {
    return IsCastToFloat32(*use.node) || IsGatherOfWidened(use);
  });
}

absl::StatusOr<Tensor> AsFloat32(const Tensor& narrow) {
  const absl::Span<const std::byte> bytes = narrow.bytes();
  const size_t width = ByteSize(narrow.dtype(), 1).value_or(0);
  absl::Status failed;
  Tensor wide = SpilledInParts(
      DType::kFloat32, {narrow.num_elements()}, [&](int64_t begin, int64_t end) -> Tensor {
        const size_t count = static_cast<size_t>(end - begin);
        auto part = Tensor::View(narrow.dtype(), {end - begin},
                                 bytes.subspan(static_cast<size_t>(begin) * width, count * width),
                                 std::make_shared<Tensor>(narrow));
        if (part.ok()) part = CastTensor(part->AlignedCopyIfNeeded(), DType::kFloat32);
        if (part.ok()) return *std::move(part);
        failed.Update(part.status());
        return Tensor::Zeros(DType::kFloat32, {end - begin});
      });
  X2IR_RETURN_IF_ERROR(failed);
  DropPages(narrow);
  return wide.Reshaped(narrow.dims());
}

class WeightWidener {
 public:
  explicit WeightWidener(const PassContext& context) : context_(context) {}

  absl::StatusOr<Widened> Run(Graph& graph) {
    X2IR_RETURN_IF_ERROR(Widen(graph));
    const int64_t before = RememberedFileBytes(graph);
    if (before != 0 && growth_ != 0) RememberFileBytes(graph, before + growth_);
    return result_;
  }

 private:
  absl::Status Widen(Graph& graph) {
    for (Value* constant : graph.constants()) {
      if (!IsWidened(*constant)) continue;
      if (StaysInFile(*constant->constant(), context_)) {
        ++result_.in_file;
        continue;
      }
      X2IR_RETURN_IF_ERROR(Widen(graph, constant));
    }
    for (Graph* inner : graph.NestedGraphs()) X2IR_RETURN_IF_ERROR(Widen(*inner));
    return absl::OkStatus();
  }

  static void DropCast(Node* cast, Value* wide) {
    cast->graph()->ReplaceAllUses(cast->output(0), wide);
    cast->graph()->EraseUnused(cast);
  }

  absl::Status Widen(Graph& graph, Value* narrow) {
    X2IR_ASSIGN_OR_RETURN(Tensor tensor, AsFloat32(*narrow->constant()));
    growth_ += static_cast<int64_t>(tensor.nbytes() - narrow->constant()->nbytes());
    Value* wide = graph.AddConstant(graph.UniqueName(narrow->name()), std::move(tensor));
    wide->annotations().MergeFrom(narrow->annotations());
    while (!narrow->uses().empty()) {
      const Use use = narrow->uses().back();
      if (use.node->Is("gather")) {
        use.node->SetInput(0, wide);
        Value* rows = use.node->output(0);
        Type type = rows->type();
        rows->set_type(type.shape() ? Type::Tensor(DType::kFloat32, *type.shape())
                                    : Type::Tensor(DType::kFloat32));
        // What used the casts uses the rows then.
        std::vector<Node*> casts;
        for (const Use& of : rows->uses()) casts.push_back(of.node);
        for (Node* cast : casts) DropCast(cast, rows);
      } else {
        DropCast(use.node, wide);
      }
    }
    graph.SwapNames(narrow, wide);
    graph.RemoveConstant(narrow);
    ++result_.weights;
    return absl::OkStatus();
  }

  const PassContext& context_;
  Widened result_;
  int64_t growth_ = 0;  // bytes
};

}  // namespace

absl::StatusOr<Widened> WidenWeights(Graph& graph, const PassContext& context) {
  return WeightWidener(context).Run(graph);
}

}  // namespace x2ir
