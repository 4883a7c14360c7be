// What we write, as the ONNX project's own library sees it: it parses, passes the checker
// where the source did, and says the same as the source, field by field.
#include "x2ir/formats/onnx/onnx.h"

#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "tests/core/host_util.h"
#include "tests/core/shared_util.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

template <typename T, typename Values>
void ToRaw(const Values& values, onnx::TensorProto* tensor) {
  std::string raw;
  for (const auto value : values) {
    const T number = static_cast<T>(value);
    raw.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  tensor->set_raw_data(raw);
}

// The writer's storage: raw_data for all but strings.
void ToRaw(onnx::TensorProto* t) {
  if (!t->has_raw_data()) {
    switch (t->data_type()) {
      case onnx::TensorProto::FLOAT:
      case onnx::TensorProto::COMPLEX64: ToRaw<float>(t->float_data(), t); break;
      case onnx::TensorProto::DOUBLE:
      case onnx::TensorProto::COMPLEX128: ToRaw<double>(t->double_data(), t); break;
      case onnx::TensorProto::INT64: ToRaw<int64_t>(t->int64_data(), t); break;
      case onnx::TensorProto::UINT64: ToRaw<uint64_t>(t->uint64_data(), t); break;
      case onnx::TensorProto::UINT32: ToRaw<uint32_t>(t->uint64_data(), t); break;
      case onnx::TensorProto::INT32: ToRaw<int32_t>(t->int32_data(), t); break;
      case onnx::TensorProto::INT16:
      case onnx::TensorProto::UINT16:
      case onnx::TensorProto::FLOAT16:
      case onnx::TensorProto::BFLOAT16: ToRaw<uint16_t>(t->int32_data(), t); break;
      case onnx::TensorProto::STRING: break;
      default: ToRaw<uint8_t>(t->int32_data(), t); break;
    }
  }
  if (t->name().empty()) t->clear_name();
  t->clear_float_data();
  t->clear_double_data();
  t->clear_int32_data();
  t->clear_int64_data();
  t->clear_uint64_data();
}

void Normalize(onnx::GraphProto* graph);

// proto2 knows fields that are there but empty; nobody else does.
void Normalize(onnx::NodeProto* node) {
  if (node->domain().empty()) node->clear_domain();
  if (node->name().empty()) node->clear_name();
  if (node->doc_string().empty()) node->clear_doc_string();
  for (onnx::AttributeProto& attr : *node->mutable_attribute()) {
    if (attr.doc_string().empty()) attr.clear_doc_string();
    if (attr.has_t()) ToRaw(attr.mutable_t());
    for (onnx::TensorProto& tensor : *attr.mutable_tensors()) ToRaw(&tensor);
    if (attr.has_sparse_tensor()) {
      ToRaw(attr.mutable_sparse_tensor()->mutable_values());
      ToRaw(attr.mutable_sparse_tensor()->mutable_indices());
    }
    if (attr.has_g()) Normalize(attr.mutable_g());
    for (onnx::GraphProto& graph : *attr.mutable_graphs()) Normalize(&graph);
  }
}

void Normalize(onnx::GraphProto* graph) {
  if (graph->doc_string().empty()) graph->clear_doc_string();
  if (graph->name().empty()) graph->clear_name();
  for (onnx::TensorProto& tensor : *graph->mutable_initializer()) ToRaw(&tensor);
  for (onnx::NodeProto& node : *graph->mutable_node()) Normalize(&node);
  for (auto* infos :
       {graph->mutable_input(), graph->mutable_output(), graph->mutable_value_info()}) {
    for (onnx::ValueInfoProto& info : *infos) {
      if (info.doc_string().empty()) info.clear_doc_string();
    }
  }
}

void Normalize(onnx::ModelProto* model) {
  if (model->producer_name().empty()) model->clear_producer_name();
  if (model->producer_version().empty()) model->clear_producer_version();
  if (model->domain().empty()) model->clear_domain();
  if (model->doc_string().empty()) model->clear_doc_string();
  if (model->model_version() == 0) model->clear_model_version();
  for (onnx::OperatorSetIdProto& opset : *model->mutable_opset_import()) {
    if (opset.domain().empty()) opset.clear_domain();
  }
  Normalize(model->mutable_graph());
  for (onnx::FunctionProto& function : *model->mutable_functions()) {
    for (onnx::NodeProto& node : *function.mutable_node()) Normalize(&node);
    for (onnx::OperatorSetIdProto& opset : *function.mutable_opset_import()) {
      if (opset.domain().empty()) opset.clear_domain();
    }
  }
}

std::string Check(const onnx::ModelProto& model) {
  try {
    onnx::checker::check_model(model);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

// All models that we know: the shared ones and those of the distribution's test data, as the
// package manager lists them.
std::vector<fs::path> Models() {
  std::vector<fs::path> models;
  if (const fs::path shared = Shared("models"); !shared.empty()) {
    for (const auto& entry : fs::recursive_directory_iterator(shared)) {
      models.push_back(entry.path());
    }
  }
  if (FILE* list = ::popen("dpkg -L libonnx-testdata 2>/dev/null", "r")) {
    char line[4096];
    while (std::fgets(line, sizeof(line), list)) {
      models.emplace_back(std::string(line, std::strcspn(line, "\n")));
    }
    ::pclose(list);
  }
  std::erase_if(models, [](const fs::path& path) { return path.extension() != ".onnx"; });
  return models;
}

TEST(OnnxAgainstLibonnx, SaysTheSame) {
  size_t count = 0, checked = 0;
  for (const fs::path& path : Models()) {
    SCOPED_TRACE(path.string());
    auto model = ReadOnnx(path);
    ASSERT_TRUE(model.ok()) << model.status();
    auto bytes = SerializeOnnx(*model);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    onnx::ModelProto source, written;
    ASSERT_TRUE(source.ParseFromString(ReadFile(path)));
    ASSERT_TRUE(written.ParseFromString(*bytes));
    if (Check(source).empty()) {
      EXPECT_EQ(Check(written), "");
      ++checked;
    }
    Normalize(&source);
    Normalize(&written);
    std::string report;
    google::protobuf::util::MessageDifferencer differencer;
    differencer.ReportDifferencesToString(&report);
    EXPECT_TRUE(differencer.Compare(source, written)) << report.substr(0, 2000);
    ++count;
  }
  if (count == 0) GTEST_SKIP() << "neither shared models nor libonnx-testdata: NOTHING was tested";
  std::cout << count << " models, " << checked << " of them pass the checker\n";
}

}  // namespace
}  // namespace x2ir
