// What inputs are, where neither the file nor the caller says it: the first operator that takes one
// tells. A guess is said, and the code runs again with it.
#include <algorithm>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/script/machine.h"

namespace x2ir::torch_script {
namespace {

// Operators by the ranks that their first operand has.
struct RankRow {
  std::string_view ops;  // between spaces
  int64_t rank;
};
constexpr RankRow kRanks[] = {
    {" conv1d conv_transpose1d max_pool1d avg_pool1d adaptive_avg_pool1d adaptive_max_pool1d "
     "upsample_linear1d upsample_nearest1d lstm gru rnn_tanh rnn_relu ",
     3},
    {" conv2d conv_transpose2d max_pool2d max_pool2d_with_indices avg_pool2d adaptive_avg_pool2d "
     "adaptive_max_pool2d upsample_bilinear2d upsample_bicubic2d upsample_nearest2d pixel_shuffle "
     "pixel_unshuffle grid_sampler_2d ",
     4},
    {" conv3d conv_transpose3d max_pool3d avg_pool3d adaptive_avg_pool3d adaptive_max_pool3d "
     "upsample_trilinear3d upsample_nearest3d grid_sampler_3d ",
     5},
    {" linear embedding addmm mm ", 2},
};

bool IsOneOf(std::string_view list, std::string_view name) {
  const size_t at = list.find(name);
  return !name.empty() && at != list.npos && at > 0 && list[at - 1] == ' ' &&
         at + name.size() < list.size() && list[at + name.size()] == ' ';
}

// Integers by their names: "input_ids", "attention_mask", "token_type_ids", "lengths".
bool SoundsLikeIntegers(std::string_view name) {
  for (const std::string_view word :
       {"ids", "mask", "index", "indices", "tokens", "lengths", "labels", "positions"}) {
    if (name.ends_with(word)) return true;
  }
  return false;
}

}  // namespace

// The code asks for the dims of an input before an operator takes it: identifiers of words, and
// what goes with them, are batches of sequences.
void Machine::GuessRank(const Value* input) {
  if (!input->is_input() || input->graph() != &root() || input->shape()) return;
  if (!SoundsLikeIntegers(input->name())) return;
  const DType dtype = input->dtype() == DType::kUndefined ? DType::kInt64 : input->dtype();
  const std::string sequence =
      input->name().starts_with("decoder_") ? "decoder_sequence" : "sequence";
  const Type type = Type::Tensor(dtype, Shape({Dim::Symbol("batch"), Dim::Symbol(sequence)}));
  throw Guess{
      input->name(), type,
      StrCat("input '", input->name(), "' is taken to be ", type.ToString(), ", from its name")};
}

void Machine::GuessInputs(const TorchCallRecord& call) {
  const std::string_view stem = AtenParts(call.op.view()).first;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    Value* input = call.operands[i];
    if (!input->is_input() || input->graph() != &root()) continue;
    const bool first = i == 0 || (stem == "embedding" && call.names[i] == "indices");
    DType dtype = input->dtype();
    if (dtype == DType::kUndefined) {
      dtype = SoundsLikeIntegers(input->name()) ? DType::kInt64 : DType::kFloat32;
      if (stem == "embedding" && call.names[i] == "indices") dtype = DType::kInt64;
      for (const Value* other : call.operands) {
        const bool weight = other->fixed_constant() && other->dtype() != DType::kUndefined &&
                            other->shape() && other->shape()->rank() > 0;
        if (first && weight && IsFloating(other->dtype()) && stem != "embedding") {
          dtype = other->dtype();
        }
      }
    }
    std::optional<Shape> shape;
    if (input->shape()) shape = *input->shape();
    for (const RankRow& row : kRanks) {
      int64_t rank = IsOneOf(row.ops, stem) ? row.rank : 0;
      if (stem == "_convolution") {
        const Attribute* stride = call.attrs.Find("stride");
        const auto* ints = stride ? stride->get<Attribute::Ints>() : nullptr;
        if (ints) rank = static_cast<int64_t>(ints->size()) + 2;
      }
      if (shape || rank == 0 || !first) continue;
      std::vector<Dim> dims;
      for (int64_t axis = 0; axis < rank; ++axis) {
        dims.push_back(Dim::Symbol(StrCat(input->name(), "_", axis)));
      }
      // Channels are those of the weights.
      const Value* weight = call.operands.size() > 1 ? call.operands[1] : nullptr;
      const bool convolution = stem.starts_with("conv") || stem == "_convolution";
      if (convolution && weight && weight->shape() && weight->shape()->rank() == rank) {
        const Attribute* groups = call.attrs.Find("groups");
        const int64_t* by = groups ? groups->get<int64_t>() : nullptr;
        const Attribute* transposed = call.attrs.Find("transposed");
        const Tensor* flag = transposed ? transposed->get<Tensor>() : nullptr;
        const bool backwards = stem.starts_with("conv_transpose") || (flag && flag->AsInt(0) != 0);
        const Dim& width = (*weight->shape())[backwards ? 0 : 1];
        dims[1] = backwards ? width : width * Dim(by ? *by : 1);
      }
      if (stem == "linear" && weight && weight->shape() && weight->shape()->rank() == 2) {
        dims.back() = (*weight->shape())[1];
      }
      shape = Shape(std::move(dims));
    }
    const Type type = shape ? Type::Tensor(dtype, *shape) : Type::Tensor(dtype);
    if (type == input->type()) continue;
    throw Guess{input->name(), type,
                StrCat("input '", input->name(), "' is taken to be ", type.ToString(),
                       ", from its use by ", call.op.view().substr(0, call.op.view().find('.')))};
  }
}

}  // namespace x2ir::torch_script
