// TensorFlow's frozen graphs (tests/data/cases) in other forms: as text, printed by this test,
// each is the same graph; and exported, what was channels-last has no transposes but at its
// borders.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/tf_cases_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

std::string BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// --- Text ---------------------------------------------------------------------------------------

enum Kind { kInt, kBool, kEnum, kFloats, kDoubles, kBytes, kMessage };
struct Message;
struct Field {
  uint32_t number;
  const char* name;
  Kind kind;
  const Message* message = nullptr;
};
struct Message {
  std::vector<Field> fields;
};

const Message* GraphMessage() {
  static const Message dim{{{1, "size", kInt}, {2, "name", kBytes}}};
  static const Message shape{{{2, "dim", kMessage, &dim}, {3, "unknown_rank", kBool}}};
  static const Message tensor{{{1, "dtype", kEnum},
                               {2, "tensor_shape", kMessage, &shape},
                               {3, "version_number", kInt},
                               {4, "tensor_content", kBytes},
                               {5, "float_val", kFloats},
                               {6, "double_val", kDoubles},
                               {7, "int_val", kInt},
                               {8, "string_val", kBytes},
                               {9, "scomplex_val", kFloats},
                               {10, "int64_val", kInt},
                               {11, "bool_val", kBool},
                               {12, "dcomplex_val", kDoubles},
                               {13, "half_val", kInt},
                               {16, "uint32_val", kInt},
                               {17, "uint64_val", kInt}}};
  static Message attr_entry, value, list, function_name;
  function_name = {{{1, "name", kBytes}, {2, "attr", kMessage, &attr_entry}}};
  list = {{{2, "s", kBytes},
           {3, "i", kInt},
           {4, "f", kFloats},
           {5, "b", kBool},
           {6, "type", kEnum},
           {7, "shape", kMessage, &shape},
           {8, "tensor", kMessage, &tensor},
           {9, "func", kMessage, &function_name}}};
  value = {{{1, "list", kMessage, &list},
            {2, "s", kBytes},
            {3, "i", kInt},
            {4, "f", kFloats},
            {5, "b", kBool},
            {6, "type", kEnum},
            {7, "shape", kMessage, &shape},
            {8, "tensor", kMessage, &tensor},
            {9, "placeholder", kBytes},
            {10, "func", kMessage, &function_name}}};
  attr_entry = {{{1, "key", kBytes}, {2, "value", kMessage, &value}}};
  static const Message debug{{{1, "original_node_names", kBytes}}};
  static const Message node{{{1, "name", kBytes},
                             {2, "op", kBytes},
                             {3, "input", kBytes},
                             {4, "device", kBytes},
                             {5, "attr", kMessage, &attr_entry},
                             {6, "experimental_debug_info", kMessage, &debug}}};
  static const Message arg{{{1, "name", kBytes},
                            {2, "description", kBytes},
                            {3, "type", kEnum},
                            {4, "type_attr", kBytes},
                            {5, "number_attr", kBytes},
                            {6, "type_list_attr", kBytes},
                            {16, "is_ref", kBool}}};
  static const Message op_attr{
      {{1, "name", kBytes}, {2, "type", kBytes}, {3, "default_value", kMessage, &value}}};
  static const Message op{{{1, "name", kBytes},
                           {2, "input_arg", kMessage, &arg},
                           {3, "output_arg", kMessage, &arg},
                           {4, "attr", kMessage, &op_attr},
                           {17, "is_stateful", kBool},
                           {20, "control_output", kBytes}}};
  static const Message entry{{{1, "key", kBytes}, {2, "value", kBytes}}};
  static const Message function{{{1, "signature", kMessage, &op},
                                 {3, "node_def", kMessage, &node},
                                 {4, "ret", kMessage, &entry},
                                 {5, "attr", kMessage, &attr_entry},
                                 {6, "control_ret", kMessage, &entry}}};
  static const Message library{{{1, "function", kMessage, &function}}};
  static const Message versions{
      {{1, "producer", kInt}, {2, "min_consumer", kInt}, {3, "bad_consumers", kInt}}};
  static const Message graph{{{1, "node", kMessage, &node},
                              {2, "library", kMessage, &library},
                              {3, "version", kInt},
                              {4, "versions", kMessage, &versions}}};
  return &graph;
}

// As TensorFlow prints it, or (style 1) in the other ways that text allows.
class Printer {
 public:
  explicit Printer(int style) : style_(style) {}

  std::string Print(const Message& message, std::string_view bytes) {
    std::string text;
    WireReader in(bytes, bytes.data());
    while (in.Next()) {
      const Field* field = nullptr;
      for (const Field& known : message.fields) {
        if (known.number == in.field()) field = &known;
      }
      if (!field) {
        ADD_FAILURE() << "field " << in.field() << " is not in the test's tables";
        continue;
      }
      const std::vector<std::string> values = Values(*field, in);
      if (style_ == 1 && values.size() > 1) {
        StrAppend(&text, field->name, ": [ ");
        for (size_t i = 0; i < values.size(); ++i) StrAppend(&text, i ? ", " : "", values[i]);
        text += "],";
        continue;
      }
      for (const std::string& value : values) {
        StrAppend(&text, field->name, field->kind == kMessage && style_ == 0 ? " " : ": ", value,
                  style_ == 1 ? "; # more\n" : "\n");
      }
    }
    EXPECT_TRUE(in.status().ok());
    return text;
  }

 private:
  std::vector<std::string> Values(const Field& field, WireReader& in) {
    std::vector<std::string> values;
    char buffer[64];
    switch (field.kind) {
      case kMessage: {
        const std::string inside = Print(*field.message, in.Bytes());
        return {style_ == 1 ? StrCat("< ", inside, ">") : StrCat("{\n", inside, "}")};
      }
      case kBytes: return {Quoted(in.Bytes())};
      case kInt:
      case kBool:
      case kEnum: {
        std::vector<int64_t> ints;
        in.AppendInts(&ints);
        for (const int64_t value : ints) values.push_back(Number(field, value));
        return values;
      }
      case kFloats: {
        std::vector<float> floats;
        in.AppendFloats(&floats);
        for (const float value : floats) {
          std::snprintf(buffer, sizeof(buffer), "%.9g%s", static_cast<double>(value),
                        style_ == 1 && std::isfinite(value) ? "f" : "");
          values.emplace_back(buffer);
        }
        return values;
      }
      case kDoubles: {
        std::vector<double> doubles;
        in.AppendDoubles(&doubles);
        for (const double value : doubles) {
          std::snprintf(buffer, sizeof(buffer), "%.17g", value);
          values.emplace_back(buffer);
        }
        return values;
      }
    }
    return values;
  }

  std::string Number(const Field& field, int64_t value) const {
    static constexpr const char* kTypes[] = {
        "DT_INVALID",    "DT_FLOAT",  "DT_DOUBLE",    "DT_INT32",   "DT_UINT8",   "DT_INT16",
        "DT_INT8",       "DT_STRING", "DT_COMPLEX64", "DT_INT64",   "DT_BOOL",    "DT_QINT8",
        "DT_QUINT8",     "DT_QINT32", "DT_BFLOAT16",  "DT_QINT16",  "DT_QUINT16", "DT_UINT16",
        "DT_COMPLEX128", "DT_HALF",   "DT_RESOURCE",  "DT_VARIANT", "DT_UINT32",  "DT_UINT64"};
    if (field.kind == kBool) return value != 0 ? "true" : "false";
    if (field.kind == kEnum && style_ == 0) {
      const auto plain = static_cast<size_t>(value % 100);
      if (plain < std::size(kTypes)) return StrCat(kTypes[plain], value > 100 ? "_REF" : "");
    }
    if (std::string_view(field.name) == "uint64_val") return StrCat(static_cast<uint64_t>(value));
    if (style_ == 1 && value > 9) {
      char hex[32];
      std::snprintf(hex, sizeof(hex), "0x%llx", static_cast<unsigned long long>(value));
      return hex;
    }
    return StrCat(value);
  }

  std::string Quoted(std::string_view bytes) const {
    std::string text(1, style_ == 1 ? '\'' : '"');
    size_t piece = 0;
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      char escape[8];
      if (byte >= ' ' && byte < 0x7f && c != '\\' && c != '"' && c != '\'') {
        // A hexadecimal escape would go on with it.
        text.push_back(c);
      } else if (c == '\n' && style_ == 0) {
        text += "\\n";
      } else {
        std::snprintf(escape, sizeof(escape), "\\%03o", byte);
        text += escape;
      }
      if (style_ == 1 && ++piece % 40 == 0) text += "'\n  '";
    }
    text.push_back(text[0]);
    return text;
  }

  const int style_;
};

std::vector<const Value*> ConstantsOf(const Graph& graph) {
  std::vector<const Value*> values;
  for (const Value* value : graph.constants()) values.push_back(value);
  return values;
}

TEST(TensorFlowForms, TextIsTheSameGraph) {
  const std::vector<TfCase> cases = TfCases();
  ASSERT_FALSE(cases.empty());
  for (const TfCase& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string bytes = BytesOf(c.model);
    const auto want = ParseTensorFlow(bytes);
    for (const int style : {0, 1}) {
      const auto got = ParseTensorFlow(Printer(style).Print(*GraphMessage(), bytes));
      ASSERT_EQ(got.status(), want.status());
      if (!want.ok()) continue;
      ASSERT_EQ(ToText(*got->graph), ToText(*want->graph));
      const auto a = ConstantsOf(*got->graph), b = ConstantsOf(*want->graph);
      ASSERT_EQ(a.size(), b.size());
      for (size_t i = 0; i < a.size(); ++i) {
        ASSERT_TRUE(*a[i]->constant() == *b[i]->constant()) << a[i]->name();
      }
    }
  }
}

// --- Transposes ---------------------------------------------------------------------------------

// Where a transpose is one operation more from the border than it might be.
int Expected(const std::string& name) {
  // Before the arithmetic that makes TensorFlow's indices of ours.
  return name.starts_with("max_pool_with_argmax/");
}

TEST(TensorFlowForms, TransposesOnlyAtTheBorders) {
  const std::vector<TfCase> cases = TfCases();
  ASSERT_FALSE(cases.empty());
  int seen = 0;
  for (const TfCase& c : cases) {
    ImportOptions options;
    options.format = "tensorflow";
    for (const TfCase::File& file : c.outputs) options.outputs.push_back(file.value);
    absl::StatusOr<Model> source = Load(c.model, options.format, options.Loading());
    if (!source.ok()) continue;
    bool windows = false;
    int own = 0;
    for (const Node* node : source->graph->nodes()) {
      const std::string_view op = node->op().view();
      windows |= op.find("Conv") != op.npos || op.find("Pool") != op.npos ||
                 op.find("BatchNorm") != op.npos || op == "LRN" || op == "Dilation2D";
      own += op == "Transpose";
    }
    if (!windows || !ToIr(*source, options).ok()) continue;
    ++seen;
    for (const int opset : {13, 18}) {
      Model model;
      model.graph = source->graph->Clone();
      ExportOptions exporting;
      exporting.opset = opset;
      if (!FromIr(model, "onnx", exporting).ok()) continue;
      int between = 0;
      for (const Node* node : model.graph->nodes()) {
        if (node->op().view() != "Transpose") continue;
        const Value* in = node->input(0);
        const Value* out = node->output(0);
        between += !in->is_input() && !in->constant() && !out->is_graph_output();
      }
      EXPECT_LE(between, own + Expected(c.name)) << c.name << " at " << opset << "\n"
                                                 << ToText(*model.graph);
    }
  }
  EXPECT_GT(seen, 100);
}

}  // namespace
}  // namespace x2ir
