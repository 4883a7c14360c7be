// Lists of TensorFlow, and cells of recurrent networks: graphs in text form that are converted and
// evaluated.
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/handlers/tf/text_util.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using namespace tf_text;  // NOLINT

TEST(TfLists, TensorArrays) {
  const auto array = [](int64_t size, bool dynamic, const std::string& shape) {
    return Const("size", size) + N("ta", "TensorArrayV3", {"size"},
                                   {{"dtype", "type: DT_INT32"},
                                    {"dynamic_size", dynamic ? "b: true" : "b: false"},
                                    {"element_shape", "shape { " + shape + " }"}});
  };
  const std::string write = Vector("a", {1, 2}) + Vector("b", {3, 4}) + Const("i0", 0) +
                            Const("i1", 1) +
                            N("w0", "TensorArrayWriteV3", {"ta", "i1", "a", "ta:1"}) +
                            N("w1", "TensorArrayWriteV3", {"ta", "i0", "b", "w0"});
  const std::string all =
      Vector("order", {1, 0, 1}) + N("g", "TensorArrayGatherV3", {"ta", "order", "w1"}) +
      N("n", "TensorArraySizeV3", {"ta", "w1"}) + N("r", "TensorArrayReadV3", {"ta", "i0", "w1"}) +
      N("c", "TensorArrayConcatV3", {"ta", "w1"});
  for (const std::string shape : {"unknown_rank: true", "dim { size: -1 }", "dim { size: 2 }"}) {
    EXPECT_EQ(Results(array(2, false, shape) + write + all, {"g", "n", "r", "c"}),
              "1 2 3 4 1 2 2 3 4 3 4 1 2")
        << shape;
    // Slices for a new one.
    const std::string scatter =
        In("v", "DT_INT32", "dim { size: 2 } dim { size: 2 }") + Vector("at", {1, 0}) +
        N("w1", "TensorArrayScatterV3", {"ta", "at", "v", "ta:1"}) + Const("i0", 0);
    const Tensor v = Tensor::Of<int32_t>({2, 2}, {1, 2, 3, 4});
    for (const bool dynamic : {false, true}) {
      EXPECT_EQ(Results(array(dynamic ? 0 : 2, dynamic, shape) + scatter + all,
                        {"g", "n", "r", "c"}, {v}),
                "1 2 3 4 1 2 2 3 4 3 4 1 2")
          << shape;
    }
  }
  EXPECT_EQ(Results(array(2, false, "dim { size: 2 }") + write + all, {"c:1"}), "2 2");
  // One that grows.
  const std::string grow = Vector("a", {1, 2}) + Vector("b", {3, 4}) + Const("i0", 0) +
                           Const("i1", 1) +
                           N("w0", "TensorArrayWriteV3", {"ta", "i0", "a", "ta:1"}) +
                           N("w1", "TensorArrayWriteV3", {"ta", "i1", "b", "w0"});
  EXPECT_EQ(Results(array(1, true, "unknown_rank: true") + grow + all, {"g", "n"}),
            "3 4 1 2 3 4 2");
  EXPECT_THAT(Results(array(1, false, "unknown_rank: true") + grow + all, {"n"}),
              HasSubstr("INVALID_ARGUMENT"));
  // Pieces of different sizes.
  const std::string split = array(2, false, "unknown_rank: true") + Vector("v", {1, 2, 3}) +
                            In("sizes", "DT_INT64", "dim { size: 2 }") + Const("i0", 0) +
                            Const("i1", 1) +
                            N("w1", "TensorArraySplitV3", {"ta", "v", "sizes", "ta:1"}) +
                            N("r0", "TensorArrayReadV3", {"ta", "i0", "w1"}) +
                            N("r1", "TensorArrayReadV3", {"ta", "i1", "w1"});
  EXPECT_EQ(Results(split, {"r1", "r0"}, {Tensor::Of<int64_t>({2}, {2, 1})}), "3 1 2");
  // Their sizes; what frees the list is no result.
  EXPECT_EQ(Results(split + N("c", "TensorArrayConcatV3", {"ta", "w1"}) +
                        N("end", "TensorArrayCloseV3", {"ta"}),
                    {"c", "c:1"}, {Tensor::Of<int64_t>({2}, {2, 1})}),
            "1 2 3 2 1");
  EXPECT_EQ(
      Results(array(2, false, "dim { size: 2 }") + Const("i0", 0) + Vector("a", {1, 2}) +
                  N("w", "TensorArrayWriteV3", {"ta", "i0", "a", "ta:1"}) +
                  N("n", "TensorArraySizeV3", {"ta", "w"}) + N("end", "TensorArrayCloseV3", {"ta"}),
              {}),
      "2");
  EXPECT_THAT(Results(array(2, false, "") + N("g", "TensorArrayGradV3", {"ta", "ta:1"}), {"g"}),
              HasSubstr("tf.TensorArrayGradV3"));
}

TEST(TfLists, TensorLists) {
  const std::pair<std::string, std::string> int32 = {"element_dtype", "type: DT_INT32"};
  const std::string base = Const("any", -1) + Vector("two", {2}) + Vector("a", {1, 2}) +
                           Vector("b", {3, 4}) + Const("i0", 0) + Const("i1", 1) + Const("i2", 2);
  const std::string pushed =
      base + N("l", "EmptyTensorList", {"any", "any"}, {int32}) +
      N("l1", "TensorListPushBack", {"l", "a"}, {int32}) +
      N("l2", "TensorListPushBack", {"l1", "b"}, {int32}) + N("n", "TensorListLength", {"l2"}) +
      N("s", "TensorListStack", {"l2", "any"}, {int32}) +
      N("pop", "TensorListPopBack", {"l2", "any"}, {int32}) + N("n1", "TensorListLength", {"pop"});
  EXPECT_EQ(Results(pushed, {"s", "n", "n1", "pop:1"}), "1 2 3 4 2 1 3 4");
  for (const std::string shape : {"any", "two"}) {
    const std::string reserved = base + N("l", "TensorListReserve", {shape, "i2"}, {int32}) +
                                 N("l1", "TensorListSetItem", {"l", "i1", "a"}, {int32}) +
                                 N("l2", "TensorListSetItem", {"l1", "i0", "b"}, {int32}) +
                                 N("s", "TensorListStack", {"l2", shape}, {int32}) +
                                 N("g", "TensorListGetItem", {"l2", "i1", shape}, {int32}) +
                                 N("n", "TensorListLength", {"l2"});
    EXPECT_EQ(Results(reserved, {"s", "g", "n"}), "3 4 1 2 1 2 2") << shape;
  }
  // Sequences of another size, and one behind the other.
  const auto resized = [&](int size) {
    return pushed + Const("size", size) + N("r", "TensorListResize", {"l2", "size"}) +
           N("rn", "TensorListLength", {"r"}) +
           N("r0", "TensorListGetItem", {"r", "i0", "any"}, {int32});
  };
  EXPECT_EQ(Results(resized(1), {"rn", "r0"}), "1 1 2");
  EXPECT_EQ(Results(resized(2), {"rn", "r0"}), "2 1 2");
  EXPECT_EQ(Results(resized(4) + N("r4", "TensorListSetItem", {"r", "i2", "b"}, {int32}) +
                        N("x", "TensorListGetItem", {"r4", "i2", "any"}, {int32}),
                    {"rn", "r0", "x"}),
            "4 1 2 3 4");
  const std::string joined = pushed + N("fixed", "TensorListFromTensor", {"s", "two"}, {int32}) +
                             N("j", "TensorListConcatLists", {"l2", "fixed"}, {int32}) +
                             N("k", "TensorListConcatLists", {"fixed", "fixed"}, {int32}) +
                             N("js", "TensorListStack", {"j", "any"}, {int32}) +
                             N("ks", "TensorListStack", {"k", "any"}, {int32});
  EXPECT_EQ(Results(joined, {"js", "ks"}), "1 2 3 4 1 2 3 4 1 2 3 4 1 2 3 4");
  // Of a tensor; what is not written is zeros.
  const std::string stacked = base + In("v", "DT_INT32", "dim { size: 2 } dim { size: 2 }") +
                              N("l", "TensorListFromTensor", {"v", "two"}, {int32}) +
                              N("pop", "TensorListPopBack", {"l", "two"}, {int32}) +
                              N("push", "TensorListPushBack", {"pop", "a"}, {int32}) +
                              Const("i3", 3) + N("more", "TensorListResize", {"push", "i3"}) +
                              N("c", "TensorListConcatV2", {"more", "any", "any"}, {int32});
  EXPECT_EQ(Results(stacked, {"c"}, {Tensor::Of<int32_t>({2, 2}, {5, 6, 7, 8})}), "5 6 1 2 0 0");
}

// Lists without elements, and lists whose elements get other sizes.
TEST(TfLists, EmptyListsAndOtherSizes) {
  const std::pair<std::string, std::string> int32 = {"element_dtype", "type: DT_INT32"};
  const std::string base = Const("any", -1) + Vector("two", {2}) + Vector("any2", {-1, 2}) +
                           Vector("a", {1, 2}) + Vector("c", {3, 4, 5}) + Const("i0", 0) +
                           Const("i1", 1);
  struct Row {
    std::string list;  // "l"
    std::string op, shape, result;
  };
  const auto empty = [&](const std::string& shape) {
    return N("l", "EmptyTensorList", {shape, "any"}, {int32});
  };
  const Row rows[] = {
      // The list says its sizes, or the op; a tensor of no rows.
      {empty("two"), "TensorListStack", "any", "0 2"},
      {empty("any"), "TensorListStack", "two", "0 2"},
      {empty("any"), "TensorListConcatV2", "any2", "0 2"},
      {empty("any"), "TensorListStack", "any", "error"},
      {empty("two") + N("m", "TensorListPushBack", {"l", "a"}, {int32}) +
           N("l2", "TensorListPopBack", {"m", "two"}, {int32}),
       "TensorListStack", "two", "0 2"},
  };
  for (const Row& row : rows) {
    const bool popped = row.list.find("l2") != std::string::npos;
    std::vector<std::string> operands = {popped ? "l2" : "l", row.shape};
    if (row.op == "TensorListConcatV2") operands.push_back("none");
    const std::string text = base + In("none", "DT_INT64", "dim { size: 0 }") + row.list +
                             N("s", row.op, operands, {int32}) + N("n", "Shape", {"s"});
    std::vector<Tensor> inputs;
    if (operands.size() == 3) inputs.push_back(Tensor::Zeros(DType::kInt64, {0}));
    const std::string got = Results(text, {"n"}, inputs);
    if (row.result == "error") {
      EXPECT_THAT(got, HasSubstr("INVALID_ARGUMENT"));
    } else {
      EXPECT_EQ(got, row.result) << row.list << row.op;
    }
  }
  const std::string v = In("v", "DT_INT32", "dim { size: 2 } dim { size: 2 }") +
                        N("l", "TensorListFromTensor", {"v", "any"}, {int32});
  const Tensor four = Tensor::Of<int32_t>({2, 2}, {5, 6, 7, 8});
  EXPECT_EQ(Results(base + v + N("m", "TensorListSetItem", {"l", "i0", "c"}, {int32}) +
                        N("x", "TensorListGetItem", {"m", "i0", "any"}, {int32}) +
                        N("y", "TensorListGetItem", {"m", "i1", "any"}, {int32}),
                    {"x", "y"}, {four}),
            "3 4 5 7 8");
  // At a place that is given, also behind the last one.
  const std::string at = base + N("l0", "EmptyTensorList", {"any", "any"}, {int32}) +
                         N("l", "TensorListPushBack", {"l0", "a"}, {int32}) + In("p", "DT_INT32") +
                         N("m", "TensorListSetItem", {"l", "p", "c"},
                           {int32, {"resize_if_index_out_of_bounds", "b: true"}}) +
                         N("x", "TensorListGetItem", {"m", "p", "any"}, {int32}) +
                         N("n", "TensorListLength", {"m"});
  EXPECT_EQ(Results(at, {"x", "n"}, {Tensor::Scalar<int32_t>(0)}), "3 4 5 1");
  EXPECT_EQ(Results(at, {"x", "n"}, {Tensor::Scalar<int32_t>(1)}), "3 4 5 2");
}

TEST(TfRnn, BlockLstmStopsWhereItsLengthSays) {
  const auto lstm = [](const std::string& op, const std::string& name, const std::string& length) {
    return N(name, op, {length, "x", "c", "c", "w", "z", "z", "z", "bias"},
             {{"T", "type: DT_FLOAT"}});
  };
  const std::string text = In("n", "DT_INT64") +
                           In("x", "DT_FLOAT", "dim { size: 3 } dim { size: 1 } dim { size: 1 }") +
                           In("c", "DT_FLOAT", "dim { size: 1 } dim { size: 1 }") +
                           In("w", "DT_FLOAT", "dim { size: 2 } dim { size: 4 }") +
                           In("z", "DT_FLOAT", "dim { size: 1 }") +
                           In("bias", "DT_FLOAT", "dim { size: 4 }") + lstm("BlockLSTM", "y", "n");
  const auto run = [&](int64_t length) {
    return Results(
        text, {"y:6"},
        {Tensor::Scalar<int64_t>(length), Tensor::Of<float>({3, 1, 1}, {0, 0, 0}),
         Tensor::Of<float>({1, 1}, {0}), Tensor::Of<float>({2, 4}, {0, 0, 0, 0, 0, 0, 0, 0}),
         Tensor::Of<float>({1}, {0}), Tensor::Of<float>({4}, {9, 9, 9, 9})});
  };
  EXPECT_THAT(run(0), HasSubstr("0 0 0"));
  const std::string two = run(2), all = run(9);
  ASSERT_GT(all.size(), 6u);
  EXPECT_EQ(two, all.substr(0, all.rfind(' ')) + " 0");
  EXPECT_THAT(Results(text + N("q", "CudnnRNNV2", {"x", "c", "c", "w"}), {"q"}),
              HasSubstr("tf.CudnnRNNV2"));
}

}  // namespace
}  // namespace x2ir
