// See nchw.h.
#include "x2ir/handlers/tf/nchw.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "x2ir/core/written_ops.h"
#include "x2ir/handlers/tf/signatures.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/perm.h"
#include "x2ir/optimizer/transpose/io_layout.h"

namespace x2ir {
namespace {

constexpr WrittenOps kTfImages("tf");

// Ops with data_format, and which operand is the image.
struct ImageOp {
  std::string_view op;
  size_t image = 0;
};
constexpr ImageOp kImageOps[] = {{"AvgPool"},
                                 {"AvgPool3D"},
                                 {"BiasAdd"},
                                 {"Conv2D"},
                                 {"Conv3D"},
                                 {"Conv2DBackpropInput", 2},
                                 {"Conv3DBackpropInputV2", 2},
                                 {"DepthToSpace"},
                                 {"DepthwiseConv2dNative"},
                                 {"FusedBatchNormV3"},
                                 {"MaxPool"},
                                 {"MaxPool3D"},
                                 {"SpaceToDepth"}};

// Of a list with `each` numbers for an axis.
std::vector<int64_t> Moved(absl::Span<const int64_t> list, const Perm& perm, size_t each) {
  std::vector<int64_t> moved;
  for (const int64_t axis : perm) {
    for (size_t k = 0; k < each; ++k) moved.push_back(list[static_cast<size_t>(axis) * each + k]);
  }
  return moved;
}

class ChannelsFirst {
 public:
  explicit ChannelsFirst(Graph& graph) : graph_(graph) {}

  void Run() {
    for (Node* node : graph_.nodes()) {
      for (Graph* inner : node->subgraphs()) ChannelsFirst(*inner).Run();
      if (!kTfImages.Is(node, "Transpose")) continue;
      const std::optional<Perm> perm = PermOperand(*node);
      if (!perm || perm->size() < 4 || perm->size() > 5) continue;
      if (*perm != ToChannelsFirst(static_cast<int64_t>(perm->size()))) continue;
      Node* op = ImageOpOf(node->input(0), perm->size());
      if (!op) continue;
      WrittenOps::TakeResult(graph_, MakeFirst(op, *perm), node->output(0));
      kTfImages.EraseWithOperands(graph_, node);
    }
  }

 private:
  static const ImageOp* FindImageOp(const Node& node) {
    const auto* found =
        std::find_if(std::begin(kImageOps), std::end(kImageOps),
                     [&](const ImageOp& each) { return each.op == node.op().view(); });
    return found == std::end(kImageOps) ? nullptr : found;
  }

  // The op of images that makes the value for one user, and that can be said with channels first.
  Node* ImageOpOf(const Value* v, size_t rank) const {
    Node* op = v->producer();
    if (!op || op->dialect().view() != "tf" || op->graph() != &graph_ || !FindImageOp(*op) ||
        v->uses().size() != 1 || v->is_graph_output() || op->output(0) != v) {
      return nullptr;
    }
    const std::string format = op->attrs().String("data_format", "");
    if (format != (rank == 4 ? "NHWC" : "NDHWC") && !(op->op().view() == "BiasAdd")) return nullptr;
    for (size_t i = 1; i < op->num_outputs(); ++i) {
      if (op->output(i) && !op->output(i)->is_unused()) return nullptr;
    }
    // Sizes of the result.
    const bool sized = FindImageOp(*op)->image == 2;
    return sized && !op->input(0)->fixed_constant() ? nullptr : op;
  }

  // The image with channels first.
  Value* First(Value* v, Node* before, const Perm& perm) {
    const Node* maker = v->producer();
    if (kTfImages.Is(maker, "Transpose") && maker->graph() == &graph_ &&
        PermOperand(*maker) == Inverse(perm)) {
      return maker->input(0);
    }
    const Type type = TypeOf(v->type(), perm);
    Node* made = nullptr;
    if (Node* op = ImageOpOf(v, perm.size())) {
      made = MakeFirst(op, perm);
    } else {
      made = Make(before, "Transpose", {v, AddPermOperand(graph_, v->name(), perm)}, {});
    }
    return graph_.AddNodeOutput(made, graph_.UniqueName(v->name()), type);
  }

  Node* Make(Node* before, std::string_view op, const std::vector<Value*>& operands,
             AttributeMap attrs) {
    return kTfImages.Make(graph_, before, op, operands,
                          WithTfTypeAttrs(op, operands, std::move(attrs)));
  }

  // The op again with channels first, without results.
  Node* MakeFirst(Node* op, const Perm& perm) {
    const size_t image = FindImageOp(*op)->image;
    std::vector<Value*> operands = op->inputs();
    operands[image] = First(operands[image], op, perm);
    if (image == 2) {
      operands[0] = graph_.AddConstant(graph_.UniqueName(operands[0]->name()),
                                       TransposedSizes(*operands[0]->fixed_constant(), perm));
    }
    AttributeMap attrs = op->attrs();
    for (const auto& [name, attr] : op->attrs()) {
      const Attribute::Ints* list = attr.get<Attribute::Ints>();
      const size_t each = list ? list->size() / perm.size() : 0;
      if (list && list->size() == each * perm.size()) {
        const std::vector<int64_t> moved = Moved(*list, perm, each);
        attrs.Set(name, Attribute::Ints(moved.begin(), moved.end()));
      }
    }
    attrs.Set("data_format", perm.size() == 5 && op->op().view() != "BiasAdd" ? "NCDHW" : "NCHW");
    return Make(op, op->op().view(), operands, std::move(attrs));
  }

  static Tensor TransposedSizes(const Tensor& sizes, const Perm& perm) {
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < sizes.num_elements(); ++i) numbers.push_back(sizes.AsInt(i));
    const std::vector<int64_t> moved = Moved(numbers, perm, 1);
    if (sizes.dtype() == DType::kInt64) return Tensor::Of<int64_t>(sizes.dims(), moved);
    return Tensor::Of<int32_t>(sizes.dims(), std::vector<int32_t>(moved.begin(), moved.end()));
  }

  static Type TypeOf(const Type& type, const Perm& perm) {
    const Shape* shape = type.shape();
    const bool fits = shape && shape->rank() == static_cast<int64_t>(perm.size());
    return fits ? Type::Tensor(type.dtype(), Permuted(*shape, perm)) : Type::Tensor(type.dtype());
  }

  Graph& graph_;
};

}  // namespace

void KeepTfChannelsFirst(Graph& graph) { ChannelsFirst(graph).Run(); }

}  // namespace x2ir
