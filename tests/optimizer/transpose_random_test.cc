// The pass `transposes` on random graphs: the same numbers, and no more transposes than before.
#include <cstdlib>
#include <iostream>

#include "gtest/gtest.h"
#include "tests/optimizer/transpose_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/perm.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}

  // Null when an op did not fit; the graph goes on without it.
  std::shared_ptr<Graph> Make() {
    auto graph = std::make_shared<Graph>("g");
    for (const char* name : {"p", "q"}) {
      Shape shape;
      for (int64_t rank = Below(2) + 3; rank-- > 0;) shape.Append(Size());
      values_.push_back(graph->AddInput(name, Type::Tensor(DType::kFloat32, shape)));
    }
    const int64_t count = 5 + Below(25);
    for (int64_t i = 0; i < count; ++i) {
      Builder b(*graph, nullptr);
      b.set_name_hint(StrCat("n", i));
      Values made = One(b);
      if (!b.status().ok()) {
        b.Rollback();
        continue;
      }
      int k = 0;
      for (Node* node : b.made()) graph->NameValues(node, StrCat("v", i, "_", k++));
      for (Value* value : made) {
        const auto dims = value->shape() ? value->shape()->Static() : std::nullopt;
        const int64_t elements = dims ? CheckedProduct(*dims).value_or(0) : 0;
        if (elements > 0 && elements < 3000) values_.push_back(value);
      }
    }
    for (int i = 0; i < 3; ++i) {
      Value* output = values_[values_.size() - 1 - Below(std::min<size_t>(values_.size(), 6))];
      if (output->producer() && !output->is_graph_output()) graph->AddOutput(output);
    }
    return graph;
  }

 private:
  using Values = std::vector<Value*>;
  int64_t Below(int64_t n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<int64_t>((state_ >> 11) % static_cast<uint64_t>(n));
  }
  int64_t Size() { return Below(4) == 0 ? 1 : 2 + Below(3); }
  Value* Any() { return values_[values_.size() - 1 - Below(std::min<size_t>(values_.size(), 8))]; }
  Perm AnyOrder(int64_t rank) {
    Perm p;
    for (int64_t i = 0; i < rank; ++i) p.insert(p.begin() + Below(i + 1), i);
    // Few kinds, so that they meet.
    return rank == 4 && Below(3) != 0 ? (Below(2) ? Perm{0, 3, 1, 2} : Perm{0, 2, 3, 1}) : p;
  }
  Value* Constant(Builder& b, std::vector<int64_t> dims) {
    Tensor tensor = Tensor::Zeros(DType::kFloat32, std::move(dims));
    for (float& x : tensor.mutable_span<float>()) x = static_cast<float>(Below(17) - 8) / 8;
    return b.Constant(std::move(tensor));
  }

  Values One(Builder& b) {
    Value* x = Any();
    const Shape shape = *x->shape();
    const int64_t rank = shape.rank();
    if (rank == 0) return {b.Op("relu", {x})};
    const int64_t axis = Below(2 * rank) - rank;
    const int64_t size = shape[axis < 0 ? axis + rank : axis].value();
    switch (Below(24)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5: return {b.Op("transpose", {x}, {{"perm", AsInts(AnyOrder(rank))}})};
      case 6: return {b.Op("sigmoid", {x})};
      case 7:
      case 8: return {b.Op("add", {x, Any()})};
      case 9: {
        std::vector<int64_t> dims;
        for (int64_t i = Below(rank); i < rank; ++i)
          dims.push_back(Below(2) ? shape[i].value() : 1);
        return {b.Op("mul", {x, Constant(b, dims)})};
      }
      case 10: return {b.Op("softmax", {x}, {{"axis", axis}})};
      case 11: return {b.Op("reduce_mean", {x, b.Ints({axis})}, {{"keepdims", Below(2)}})};
      case 12: return {b.Op("reduce_max", {x, b.Ints({0, rank - 1})}, {{"keepdims", Below(2)}})};
      case 13: return {b.Op("concat", {x, Any()}, {{"axis", axis}})};
      case 14: return b.Ops("split", {x, b.Ints({size / 2, size - size / 2})}, {{"axis", axis}}, 2);
      case 15:
        return {b.Op("slice",
                     {x, b.Ints({0}), b.Ints({std::max<int64_t>(1, size - 1)}), b.Ints({axis})})};
      case 16: {
        std::vector<int64_t> pads;
        for (int64_t i = 0; i < 2 * rank; ++i) pads.push_back(Below(2));
        return {b.Op("pad", {x, b.Ints(pads)})};
      }
      case 17: return {b.Op("unsqueeze", {x, b.Ints({Below(rank + 1)})})};
      case 18: return {b.Op("squeeze", {x})};
      case 19: {
        // Two neighbours become one axis, or one axis two.
        std::vector<int64_t> dims = *shape.Static();
        const int64_t at = Below(rank);
        if (dims[at] == 4) {
          dims[at] = 2;
          dims.insert(dims.begin() + at, 2);
        } else if (at + 1 < rank) {
          dims[at] *= dims[at + 1];
          dims.erase(dims.begin() + at + 1);
        }
        return {b.Op("reshape", {x, b.Ints(dims)})};
      }
      case 20:
        return {b.Op("gather", {x, Below(2) ? b.Int(0) : b.Ints({size - 1, 0})}, {{"axis", axis}})};
      case 21: return {b.Op("matmul", {x, Constant(b, {shape[rank - 1].value(), 2 + Below(2)})})};
      case 22: {
        Value* shaped = b.Op("shape", {x}, {{"start", Below(rank)}});
        return {b.Op("cast", {shaped}, {{"to", "float32"}})};
      }
      default: return {b.Op("layer_normalization", {x, Constant(b, {shape[rank - 1].value()})})};
    }
  }

  uint64_t state_;
  Values values_;
};

TEST(Transposes, RandomGraphs) {
  const int count = getenv("X2IR_GRAPHS") ? atoi(getenv("X2IR_GRAPHS")) : 300;
  const int first = getenv("X2IR_FIRST") ? atoi(getenv("X2IR_FIRST")) : 0;
  int64_t had = 0, have = 0;
  for (int seed = first; seed < first + count; ++seed) {
    Model before, after;
    before.graph = Generator(seed).Make();
    if (before.graph->outputs().empty()) continue;
    ASSERT_TRUE(RunPasses(*before.graph, {"dead_code"}).ok());
    after.graph = before.graph->Clone();
    ASSERT_EQ(RunTransposes(before, after), "") << "seed " << seed << "\n"
                                                << ToText(*before.graph) << ToText(*after.graph);
    const int64_t old_count = CountOps(*before.graph, "transpose");
    const int64_t new_count = CountOps(*after.graph, "transpose");
    EXPECT_LE(new_count, old_count) << "seed " << seed << "\n"
                                    << ToText(*before.graph) << ToText(*after.graph);
    had += old_count;
    have += new_count;
    // Once is enough.
    auto again = RunPasses(*after.graph, {"transposes"});
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(CountOps(*after.graph, "transpose"), new_count) << "seed " << seed;
    EXPECT_EQ((*again)[0].changes, 0) << "seed " << seed << "\n" << ToText(*after.graph);
  }
  EXPECT_LT(have, had / 2);
  if (getenv("X2IR_GRAPHS")) std::cout << had << " transposes, then " << have << "\n";
}

}  // namespace
}  // namespace x2ir
