// What becomes a layer of Keras of several nodes of the IR, or of none that is like it: which
// layers are written, and that they compute the same when they are read again.
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/back_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/keras/keras.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using ::testing::Contains;
using ::testing::ElementsAreArray;
using ::testing::Not;
using Strings = std::vector<std::string>;

absl::StatusOr<Model> ThroughKerasArchive(const Model& written) {
  const auto files = std::make_shared<std::map<std::string, std::string>>();
  X2IR_RETURN_IF_ERROR(WriteKeras(written, IntoMemory("m.keras", files)));
  return ReadKeras(FromMemory("", "m.keras", files));
}

// A constant with numbers that differ, as text.
std::string Numbers(const std::vector<int64_t>& dims) {
  static int seed = 0;
  std::string text = "float32[";
  int64_t count = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    StrAppend(&text, i == 0 ? "" : ",", dims[i]);
    count *= dims[i];
  }
  StrAppend(&text, "]{");
  for (int64_t i = 0; i < count; ++i) {
    StrAppend(&text, i == 0 ? "" : ", ", static_cast<double>((++seed * 7) % 19 - 9) / 8);
  }
  return text + "}";
}

Tensor InputOf(const Type& type, int seed) {
  std::vector<int64_t> dims;
  for (const Dim& dim : *type.shape()) dims.push_back(dim.is_static() ? dim.value() : 2);
  Tensor tensor = Tensor::Zeros(type.dtype(), dims);
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const int number = static_cast<int>((i * 5 + seed * 3) % 11) - 4;
    std::byte* at = tensor.mutable_bytes().data();
    if (type.dtype() == DType::kBool) {
      at[i] = std::byte{number > -2};
    } else if (type.dtype() == DType::kInt64) {
      reinterpret_cast<int64_t*>(at)[i] = number;
    } else if (type.dtype() == DType::kInt32) {
      reinterpret_cast<int32_t*>(at)[i] = number;
    } else {
      reinterpret_cast<float*>(at)[i] = static_cast<float>(number) / 4;
    }
  }
  return tensor;
}

// The nodes that are written of a graph, which must compute the same when they are read again.
absl::StatusOr<Model> WrittenAndBack(const std::string& text) {
  Model model;
  X2IR_ASSIGN_OR_RETURN(model.graph, ParseGraph(text));
  model.source_dialect = "keras";
  model.SetOpset("", 3);
  X2IR_RETURN_IF_ERROR(ToIr(model));
  std::vector<Tensor> inputs;
  for (const Value* input : model.graph->inputs()) {
    inputs.push_back(InputOf(input->type(), static_cast<int>(inputs.size())));
  }
  const Back back = ThereAndBack(model, "keras", {inputs}, false, ThroughKerasArchive);
  if (!back.problem.empty()) return Invalid(back.problem);
  X2IR_RETURN_IF_ERROR(FromIr(model, "keras"));
  return model;
}
const Node* NodeOf(const Model& model, std::string_view op) {
  for (const Node* node : model.graph->nodes()) {
    if (node->op().view() == op) return node;
  }
  return nullptr;
}
Strings OpsOf(const Model& model) {
  Strings ops;
  for (const Node* node : model.graph->nodes()) ops.push_back(node->op().str());
  return ops;
}

// --- Attention -----------------------------------------------------------------------------------

constexpr char kPorts[] =
    "x: float32[batch,3,4], y: float32[batch,5,4], z: float32[batch,5,4], m: bool[batch,3,5], "
    "v: bool[batch,5], k: bool[batch,5], q: bool[batch,3]";

struct AttentionRow {
  const char* what;
  Strings arguments;  // "value=y" and the like
  bool biased, causal;
  int64_t groups;   // heads of queries for each of keys
  Strings written;  // the names of arguments that are written
};

TEST(KerasLayers, AttentionIsALayerAgain) {
  const AttentionRow rows[] = {
      {"of itself", {"value=x"}, true, false, 1, {"value"}},
      {"without biases", {"value=y"}, false, false, 1, {"value"}},
      {"of two tensors", {"key=z", "value=y"}, true, false, 1, {"key", "value"}},
      {"causal", {"value=y"}, true, true, 1, {"value"}},
      {"causal, of itself", {"value=x"}, true, true, 1, {"value"}},
      {"a mask of all",
       {"value=y", "attention_mask=m"},
       true,
       false,
       1,
       {"attention_mask", "value"}},
      {"masks of values and keys",
       {"key=z", "value=y", "value_mask=v", "key_mask=k"},
       true,
       false,
       1,
       {"key", "key_mask", "value", "value_mask"}},
      // Releases of Keras differ in whether they look at it.
      {"a mask of queries",
       {"value=y", "query_mask=q"},
       true,
       false,
       1,
       {"attention_mask", "value"}},
      {"all masks",
       {"value=y", "query_mask=q", "value_mask=v", "attention_mask=m"},
       true,
       true,
       1,
       {"attention_mask", "value", "value_mask"}},
      {"groups", {"value=y"}, true, false, 2, {"value"}},
      {"groups, causal, with a mask",
       {"value=y", "value_mask=v"},
       false,
       true,
       2,
       {"value", "value_mask"}},
  };
  for (const AttentionRow& row : rows) {
    SCOPED_TRACE(row.what);
    const bool grouped = row.groups > 1;
    const std::string layer = grouped ? "GroupQueryAttention" : "MultiHeadAttention";
    std::string text = StrCat("graph g(", kPorts, ") -> (a) {\n"), operands = "x", names;
    for (const std::string& argument : row.arguments) {
      const size_t at = argument.find('=');
      StrAppend(&operands, ", ", argument.substr(at + 1));
      StrAppend(&names, names.empty() ? "" : ", ", "\"", argument.substr(0, at), "\"");
    }
    const int64_t heads = 4, shared = heads / row.groups, size = 2, of_values = grouped ? 2 : 3;
    const std::vector<int64_t> kernels[] = {
        {4, heads, size}, {4, shared, size}, {4, shared, of_values}, {heads, of_values, 4}};
    int64_t count = 0;
    for (const std::vector<int64_t>& kernel : kernels) {
      const bool last = count > (row.biased ? 5 : 2);
      StrAppend(&text, " w", count, " = ", Numbers(kernel), "\n");
      StrAppend(&operands, ", w", count++);
      if (!row.biased) continue;
      StrAppend(
          &text, " w", count, " = ",
          Numbers(last ? std::vector<int64_t>{4} : std::vector<int64_t>{kernel[1], kernel[2]}),
          "\n");
      StrAppend(&operands, ", w", count++);
    }
    const std::string sizes =
        grouped ? StrCat("head_dim = 2, num_query_heads = 4, num_key_value_heads = ", shared)
                : std::string("num_heads = 4, key_dim = 2, value_dim = 3");
    StrAppend(&text, " a = keras.", layer, "(", operands, ") { ", sizes,
              ", use_bias = ", row.biased ? 1 : 0, ", call.inputs = 1, call.names = [", names,
              "], call.weights = ", count, ", call.keras = 3",
              row.causal ? ", call.use_causal_mask = 1" : "", " }\n}");
    const auto written = WrittenAndBack(text);
    ASSERT_TRUE(written.ok()) << written.status() << "\n" << text;
    const Node* node = NodeOf(*written, layer);
    ASSERT_NE(node, nullptr) << testing::PrintToString(OpsOf(*written));
    EXPECT_THAT(*node->attrs().Find(keras::kCallNames)->get<Attribute::Strings>(),
                ElementsAreArray(row.written));
    EXPECT_EQ(node->attrs().Has(keras::kCausalMask), row.causal);
    EXPECT_EQ(node->attrs().Int("use_bias"), row.biased ? 1 : 0);
    EXPECT_EQ(node->attrs().Int(keras::kCallWeights), count);
    // All of it is the layer.
    EXPECT_THAT(OpsOf(*written), Not(Contains("ops.Matmul")));
  }
}

// attention with its projections, as programs have it.
std::string ProgramOf(const std::string& mask, const std::string& attrs,
                      const std::string& more = "") {
  std::string text = "graph g(x: float32[batch,3,4], m: bool[batch,1,3,3]) -> (y";
  StrAppend(&text, more.empty() ? "" : ", k3", ") {\n");
  for (const char* part : {"q", "k", "v"}) {
    const std::string p = part;
    StrAppend(&text, " ", p, "w = ", Numbers({4, 4}), "\n ", p, "b = ", Numbers({4}), "\n ", p,
              "s = int64[4]{0, 0, 2, 2}\n ", p, "0 = matmul(x, ", p, "w)\n ", p, "1 = add(", p,
              "0, ", p, "b)\n ", p, "2 = reshape(", p, "1, ", p, "s) { allowzero = 0 }\n ", p,
              "3 = transpose(", p, "2) { perm = [0, 2, 1, 3] }\n");
  }
  StrAppend(
      &text, " c = bool[3,3]{1, 0, 0, 1, 1, 0, 1, 1, 1}\n d = bool[3,3]{1, 1, 1, 1, 1, 1, 1, ",
      "1, 1}\n e = bool[3,3]{1, 0, 1, 1, 1, 0, 0, 0, 1}\n n = bool[3,3]{1, 0, 1, 0, 0, 0, 0, ",
      "0, 1}\n ow = ", Numbers({4, 4}), "\n os = int64[3]{0, 0, 4}\n t = attention(q3, k3, v3",
      mask, ") { ", attrs,
      ", left_window_size = -1, qk_matmul_output_mode = 0, right_window_size = -1 }\n u = "
      "transpose(t) { perm = [0, 2, 1, 3] }\n r = reshape(u, os) { allowzero = 0 }\n "
      "y = matmul(r, ow)\n}");
  return text;
}

TEST(KerasLayers, AttentionOfProgramsIsALayerWhereItIsOne) {
  struct Row {
    const char* what;
    std::string text;
    bool layer, causal = false;
    Strings names = {"value"};
  };
  const Row rows[] = {
      {"as it is", ProgramOf("", "is_causal = 0, softcap = 0.0"), true},
      {"causal", ProgramOf("", "is_causal = 1, softcap = 0.0"), true, true},
      {"the usual scale", ProgramOf("", "is_causal = 0, softcap = 0.0, scale = 0.70710677"), true},
      {"another scale", ProgramOf("", "is_causal = 0, softcap = 0.0, scale = 0.5"), false},
      {"bounded scores", ProgramOf("", "is_causal = 0, softcap = 2.0"), false},
      {"a mask that is causal", ProgramOf(", c", "is_causal = 0, softcap = 0.0"), true, true},
      {"a mask that is all", ProgramOf(", d", "is_causal = 0, softcap = 0.0"), true},
      {"another known mask", ProgramOf(", e", "is_causal = 0, softcap = 0.0"), false},
      // A query that sees nothing gives zeros, and in Keras a mean.
      {"a query that sees nothing", ProgramOf(", n", "is_causal = 0, softcap = 0.0"), false},
      {"a mask that is computed", ProgramOf(", m", "is_causal = 0, softcap = 0.0"), false},
      {"keys with another use", ProgramOf("", "is_causal = 0, softcap = 0.0", "k3"), false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const auto written = WrittenAndBack(row.text);
    ASSERT_TRUE(written.ok()) << written.status() << "\n" << row.text;
    const Node* node = NodeOf(*written, "MultiHeadAttention");
    ASSERT_EQ(node != nullptr, row.layer) << testing::PrintToString(OpsOf(*written));
    if (!node) continue;
    EXPECT_EQ(node->attrs().Has(keras::kCausalMask), row.causal);
    EXPECT_THAT(*node->attrs().Find(keras::kCallNames)->get<Attribute::Strings>(),
                ElementsAreArray(row.names));
  }
}

// What doubles the work at each step when it is followed without remembering what was seen.
TEST(KerasLayers, MasksAndNamesThatRepeatTakeNoTime) {
  constexpr int kTimes = 40;
  std::string text = "graph g(x: float32[batch,3,4], m: bool[batch,3,3]) -> (a) {\n", mask = "m";
  for (int i = 0; i < kTimes; ++i) {
    StrAppend(&text, " m", i, " = and(", mask, ", ", mask, ")\n");
    mask = StrCat("m", i);
  }
  const std::vector<int64_t> kernels[] = {{4, 2, 2}, {4, 2, 2}, {4, 2, 2}, {2, 2, 4}};
  std::string operands = StrCat("x, x, ", mask);
  for (size_t i = 0; i < 4; ++i) {
    StrAppend(&text, " w", i, " = ", Numbers(kernels[i]), "\n");
    StrAppend(&operands, ", w", i);
  }
  StrAppend(&text, " a = keras.MultiHeadAttention(", operands,
            ") { num_heads = 2, key_dim = 2, value_dim = 2, use_bias = 0, call.inputs = 1, "
            "call.names = [\"value\", \"attention_mask\"], call.weights = 4, call.keras = 3 }\n}");
  const auto masked = WrittenAndBack(text);
  ASSERT_TRUE(masked.ok()) << masked.status();
  EXPECT_NE(NodeOf(*masked, "MultiHeadAttention"), nullptr);

  std::string marks;
  for (int i = 0; i < 35; ++i) marks += "_less_or_equal";
  const std::string name = StrCat("n", marks, "_x", marks, "_x");
  const auto named =
      WrittenAndBack(StrCat("graph g(x: float32[2]) -> (", name, ") {\n ", name, " = relu(x)\n}"));
  ASSERT_TRUE(named.ok()) << named.status();
}

// --- Recurrent layers ----------------------------------------------------------------------------

struct Cell {
  const char* layer;
  int64_t gates;
};
constexpr Cell kCells[] = {{"LSTM", 4}, {"GRU", 3}, {"SimpleRNN", 1}};

// A layer of two units on x: float32[batch,4,3].
std::string RecurrentText(const std::string& name, const Cell& cell, const std::string& more,
                          int version = 3, const std::string& gate = "sigmoid") {
  std::string text;
  const std::vector<int64_t> dims[] = {{3, 2 * cell.gates}, {2, 2 * cell.gates}, {2 * cell.gates}};
  for (size_t i = 0; i < 3; ++i) StrAppend(&text, " ", name, i, " = ", Numbers(dims[i]), "\n");
  const bool gated = cell.gates > 1;
  StrAppend(&text, " ", name, " = keras.", cell.layer, "(x, ", name, "0, ", name, "1, ", name,
            "2) { units = 2, activation = \"tanh\", use_bias = 1, ",
            gated ? StrCat("recurrent_activation = \"", gate, "\", ") : "", more,
            ", call.inputs = 1, call.weights = 3, call.keras = ", version, " }\n");
  return text;
}

TEST(KerasLayers, TwoDirectionsThatAreMergedAreOneLayer) {
  struct Merge {
    const char *layer, *mode;
  };
  const Merge merges[] = {
      {"Concatenate", "concat"}, {"Add", "sum"}, {"Multiply", "mul"}, {"Average", "ave"}};
  for (const Cell& cell : kCells) {
    for (const Merge& merge : merges) {
      for (const int sequences : {0, 1}) {
        SCOPED_TRACE(StrCat(cell.layer, " ", merge.mode, " ", sequences));
        const std::string steps = StrCat("return_sequences = ", sequences);
        const std::string text = StrCat(
            "graph g(x: float32[batch,4,3]) -> (y) {\n", RecurrentText("f", cell, steps),
            RecurrentText(
                "b", cell,
                StrCat(steps, ", go_backwards = 1", sequences ? ", call.reverse_output = 1" : "")),
            " y = keras.", merge.layer, "(f, b) { axis = -1, call.inputs = 2, call.weights = 0, ",
            "call.keras = 3 }\n}");
        std::string own = text;
        if (std::string(merge.layer) != "Concatenate") own.erase(own.find("axis = -1, "), 11);
        const auto written = WrittenAndBack(own);
        ASSERT_TRUE(written.ok()) << written.status() << "\n" << own;
        EXPECT_THAT(OpsOf(*written), ElementsAreArray(Strings{"Bidirectional"}));
        const Node* node = NodeOf(*written, "Bidirectional");
        ASSERT_NE(node, nullptr);
        EXPECT_EQ(node->attrs().String("merge_mode"), merge.mode);
        EXPECT_EQ(node->attrs().Int(keras::kCallWeights), 6);
      }
    }
  }
}

TEST(KerasLayers, RecurrentLayersAreAsTheyWere) {
  struct Row {
    const char* what;
    const char* settings;
    int version = 3;
    const char* gate = "sigmoid";
    Strings ops = {};  // beside the layer
  };
  const Row rows[] = {
      {"the last step", "return_sequences = 0"},
      {"all steps", "return_sequences = 1"},
      {"backwards, in the order of the steps", "return_sequences = 1, go_backwards = 1"},
      {"backwards, the last step", "return_sequences = 0, go_backwards = 1"},
      {"hard_sigmoid of Keras 3", "return_sequences = 1", 3, "hard_sigmoid"},
      // clip(0.2 x + 0.5) is hard_sigmoid(1.2 x).
      {"hard_sigmoid of Keras 2", "return_sequences = 1", 2, "hard_sigmoid"},
      {"linear gates", "return_sequences = 1", 3, "linear"},
  };
  for (const Cell& cell : kCells) {
    for (const Row& row : rows) {
      SCOPED_TRACE(StrCat(cell.layer, " ", row.what));
      const auto written = WrittenAndBack(
          StrCat("graph g(x: float32[batch,4,3]) -> (f) {\n",
                 RecurrentText("f", cell, row.settings, row.version, row.gate), "}"));
      ASSERT_TRUE(written.ok()) << written.status();
      EXPECT_THAT(OpsOf(*written), ElementsAreArray(Strings{cell.layer}));
    }
  }
}

// --- Other layers --------------------------------------------------------------------------------

TEST(KerasLayers, OpsAreLayersAndFunctionsOfOthers) {
  struct Row {
    const char* what;
    std::string text;
    Strings has, has_not = {};
  };
  const Row rows[] = {
      {"a bias of a product",
       StrCat("graph g(x: float32[batch,3,4]) -> (r) {\n w = ", Numbers({4, 2}),
              "\n b = ", Numbers({2}), "\n d = matmul(x, w)\n y = add(d, b)\n r = relu(y)\n}"),
       {"Dense"},
       {"ops.Add", "Activation"}},
      {"what is added to a product is not its bias",
       StrCat("graph g(x: float32[batch,3,4]) -> (y) {\n w = ", Numbers({4, 2}),
              "\n b = ", Numbers({3, 1}), "\n d = matmul(x, w)\n y = add(d, b)\n}"),
       {"Dense", "ops.Add"}},
      {"a product with another use",
       StrCat("graph g(x: float32[batch,3,4]) -> (y, d) {\n w = ", Numbers({4, 2}),
              "\n b = ", Numbers({2}), "\n d = matmul(x, w)\n y = add(d, b)\n}"),
       {"Dense", "ops.Add"}},
      {"quotients of integers",
       "graph g(x: int32[batch,7], y: int32[batch,7]) -> (z) {\n o = int32[]{1}\n a = abs(y)\n "
       "b = add(a, o)\n z = div(x, b)\n}",
       {"ops.FloorDivide"}},
      {"a batch of a constant",
       StrCat("graph g(x: float32[batch,3,4]) -> (z) {\n c = ", Numbers({1, 1, 4}),
              "\n s = shape(x) { start = 0, end = 1 }\n t = int64[2]{1, 4}\n u = concat(s, t) { "
              "axis = 0 }\n e = expand(c, u)\n z = concat(e, x) { axis = 1 }\n}"),
       {"ops.Where", "Concatenate"}},
      {"places of a batch",
       "graph g(x: int64[batch,3]) -> (z) {\n s = shape(x) { start = 0, end = 1 }\n a = "
       "int64[1]{0}\n n = squeeze(s, a)\n o = int64[]{0}\n i = int64[]{1}\n r = range(o, n, i)\n "
       "b = int64[1]{1}\n c = unsqueeze(r, b)\n z = add(x, c)\n}",
       {"ops.Cumsum"}},
      {"what is computed of constants",
       StrCat("graph g(x: float32[batch,4]) -> (z) {\n c = ", Numbers({4}),
              "\n s = sin(c)\n z = mul(x, s)\n}"),
       {"ops.Multiply"},
       {"ops.Sin"}},
      {"a part that is not used",
       "graph g(x: float32[batch,6]) -> (z) {\n s = int64[3]{1, 2, 3}\n a, _, c = split(x, s) { "
       "axis = 1 }\n b = int64[1]{1}\n d = reduce_sum(a, b) { keepdims = 1, noop_with_empty_axes = "
       "0 }\n z = mul(c, d)\n}",
       {"ops.Split"}},
      {"remainders of the dividend's sign",
       "graph g(x: float32[batch,7], y: float32[batch,7]) -> (z) {\n o = float32[]{0.75}\n a = "
       "add(y, o)\n b = abs(a)\n c = max(b, o)\n z = mod(x, c) { fmod = 1 }\n}",
       {"ops.Mod"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const auto written = WrittenAndBack(row.text);
    ASSERT_TRUE(written.ok()) << written.status() << "\n" << row.text;
    for (const std::string& op : row.has) EXPECT_THAT(OpsOf(*written), Contains(op));
    for (const std::string& op : row.has_not) EXPECT_THAT(OpsOf(*written), Not(Contains(op)));
  }
}

}  // namespace
}  // namespace x2ir
