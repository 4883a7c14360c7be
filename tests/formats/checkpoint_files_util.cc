#include "tests/formats/checkpoint_files_util.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "gtest/gtest.h"
#include "tests/core/host_util.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

std::filesystem::path SmallCheckpointFolder() {
  return std::filesystem::path(X2IR_SOURCE_DIR) / "tests/data/checkpoint";
}

}  // namespace

std::string SmallCheckpoint::Safetensors() const {
  const size_t element = type == "F64" || type == "I64"   ? 8
                         : type == "F32" || type == "I32" ? 4
                                                          : 2;
  std::string data;
  Json header = Json::Object();
  for (const auto& [name, dims] : weights) {
    std::vector<Json> shape;
    size_t count = 1;
    for (const int64_t d : dims) {
      shape.emplace_back(d);
      count *= static_cast<size_t>(d);
    }
    Json tensor = Json::Object();
    tensor.Set("dtype", Json(type));
    tensor.Set("shape", Json::Array(std::move(shape)));
    tensor.Set("data_offsets",
               Json::Array({Json(static_cast<int64_t>(data.size())),
                            Json(static_cast<int64_t>(data.size() + count * element))}));
    header.Set(name, std::move(tensor));
    for (size_t i = 0; i < count; ++i) {
      const float number = static_cast<float>(i * 7 % 13) * 0.0625F - 0.375F;
      char bytes[8] = {};
      if (type == "F32") std::memcpy(bytes, &number, sizeof number);
      data.append(bytes, element);  // of other types zeros
    }
  }
  std::string text = header.ToString();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string file;
  for (size_t size = text.size(), i = 0; i < 8; ++i) {
    file.push_back(static_cast<char>(size >> (8 * i) & 255));
  }
  return file + text + data;
}

const std::vector<std::string>& SmallCheckpointNames() {
  static const auto& names = *[] {
    auto* all = new std::vector<std::string>;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(SmallCheckpointFolder(), error)) {
      if (entry.path().extension() == ".json") all->push_back(entry.path().stem().string());
    }
    std::sort(all->begin(), all->end());
    return all;
  }();
  return names;
}

SmallCheckpoint SmallCheckpointOf(std::string_view name) {
  SmallCheckpoint checkpoint;
  const absl::StatusOr<Json> file =
      Json::Parse(ReadFile(SmallCheckpointFolder() / StrCat(name, ".json")));
  EXPECT_TRUE(file.ok()) << name << ": " << file.status();
  if (!file.ok()) return checkpoint;
  checkpoint.config = (*file)["config"];
  for (const auto& [weight, shape] : (*file)["weights"].members()) {
    std::vector<int64_t>& dims = checkpoint.weights[weight];
    for (const Json& d : shape.items()) dims.push_back(d.Int());
  }
  return checkpoint;
}

}  // namespace x2ir
