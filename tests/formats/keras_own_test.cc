// What is written beside what Keras itself writes: the settings of each class of layers, and where
// weights are in the file. The table is of Keras's public source; the files that Keras wrote (in
// keras-cases.tar.xz those that are not named "made__") are checked against it, too.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/hdf5/file_internal.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/zip.h"
#include "x2ir/formats/json_tree.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

// Settings as get_config of Keras 3 gives them, beside name, trainable and dtype. Those before "|"
// have no default. Paths of weights within a layer: the same number in each.
struct LayerRow {
  const char *layers, *settings, *paths = "vars";
};
constexpr char kOfConv[] =
    " activation use_bias kernel_initializer bias_initializer kernel_regularizer bias_regularizer "
    "activity_regularizer kernel_constraint bias_constraint";
constexpr char kOfRecurrent[] =
    "units | activation use_bias kernel_initializer recurrent_initializer bias_initializer "
    "kernel_regularizer recurrent_regularizer bias_regularizer activity_regularizer "
    "kernel_constraint recurrent_constraint bias_constraint dropout recurrent_dropout seed "
    "return_sequences return_state go_backwards stateful unroll zero_output_for_mask "
    "recurrent_activation unit_forget_bias reset_after";
constexpr char kOfAttention[] =
    " dropout use_bias kernel_initializer bias_initializer kernel_regularizer bias_regularizer "
    "activity_regularizer kernel_constraint bias_constraint seed";
const LayerRow kRows[] = {
    {"Activation", "activation |"},
    {"Add Average Identity Maximum Minimum Multiply Subtract", "|"},
    {"AveragePooling1D AveragePooling2D AveragePooling3D MaxPooling1D MaxPooling2D MaxPooling3D",
     "pool_size | strides padding data_format"},
    {"BatchNormalization",
     "| axis momentum epsilon center scale beta_initializer gamma_initializer "
     "moving_mean_initializer moving_variance_initializer beta_regularizer gamma_regularizer "
     "beta_constraint gamma_constraint synchronized"},
    {"Bidirectional", "layer | merge_mode backward_layer",
     "forward_layer/cell/vars backward_layer/cell/vars"},
    {"Concatenate", "| axis"},
    {"Conv1D Conv2D Conv3D",
     "filters kernel_size | strides padding data_format dilation_rate groups +conv"},
    {"Conv1DTranspose Conv2DTranspose Conv3DTranspose",
     "filters kernel_size | strides padding data_format dilation_rate output_padding +conv"},
    {"Dense",
     "units | activation use_bias kernel_initializer bias_initializer kernel_regularizer "
     "bias_regularizer kernel_constraint bias_constraint"},
    {"DepthwiseConv1D DepthwiseConv2D",
     "kernel_size | strides padding depth_multiplier data_format dilation_rate activation use_bias "
     "depthwise_initializer bias_initializer depthwise_regularizer bias_regularizer "
     "activity_regularizer depthwise_constraint bias_constraint"},
    {"Dropout", "rate | seed noise_shape"},
    {"ELU", "| alpha"},
    {"Embedding",
     "input_dim output_dim | embeddings_initializer embeddings_regularizer activity_regularizer "
     "embeddings_constraint mask_zero"},
    {"Flatten", "| data_format"},
    {"GRU LSTM SimpleRNN", "+recurrent", "cell/vars"},
    {"GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D GlobalMaxPooling1D "
     "GlobalMaxPooling2D GlobalMaxPooling3D",
     "| data_format keepdims"},
    {"GroupNormalization",
     "| groups axis epsilon center scale beta_initializer gamma_initializer beta_regularizer "
     "gamma_regularizer beta_constraint gamma_constraint"},
    {"GroupQueryAttention", "head_dim num_query_heads num_key_value_heads | +attention",
     "_query_dense/vars _key_dense/vars _value_dense/vars _output_dense/vars"},
    {"InputLayer", "| batch_shape sparse"},
    {"LayerNormalization",
     "| axis epsilon center scale rms_scaling beta_initializer gamma_initializer beta_regularizer "
     "gamma_regularizer beta_constraint gamma_constraint"},
    {"LeakyReLU", "| negative_slope"},
    {"MultiHeadAttention", "num_heads key_dim | value_dim output_shape attention_axes +attention",
     "query_dense/vars key_dense/vars value_dense/vars output_dense/vars"},
    {"PReLU",
     "| alpha_initializer alpha_regularizer activity_regularizer alpha_constraint shared_axes"},
    {"Permute", "dims |"},
    {"ReLU", "| max_value negative_slope threshold"},
    {"Reshape", "target_shape |"},
    {"SeparableConv1D SeparableConv2D",
     "filters kernel_size | strides padding data_format dilation_rate depth_multiplier activation "
     "use_bias depthwise_initializer pointwise_initializer bias_initializer depthwise_regularizer "
     "pointwise_regularizer bias_regularizer activity_regularizer depthwise_constraint "
     "pointwise_constraint bias_constraint"},
    {"Softmax", "| axis"},
    {"UpSampling1D", "| size"},
    {"UpSampling2D UpSampling3D", "| size data_format interpolation"},
    {"ZeroPadding1D ZeroPadding2D ZeroPadding3D", "| padding data_format"},
};

struct LayerOfKeras {
  Names needed, settings;  // settings: all of them
  std::vector<std::string> paths;
};

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

const std::map<std::string, LayerOfKeras>& LayersOfKeras() {
  static const auto* const layers = [] {
    auto* all = new std::map<std::string, LayerOfKeras>;
    for (const LayerRow& row : kRows) {
      LayerOfKeras layer;
      std::string settings = row.settings;
      for (const auto& [mark, text] : {std::pair{"+conv", kOfConv},
                                       {"+recurrent", kOfRecurrent},
                                       {"+attention", kOfAttention}}) {
        if (const size_t at = settings.find(mark); at != settings.npos) {
          settings.replace(at, std::string_view(mark).size(), text);
        }
      }
      bool has_default = false;
      for (const std::string& word : Words(settings)) {
        if (word == "|") {
          has_default = true;
          continue;
        }
        layer.settings.insert(word);
        if (!has_default) layer.needed.insert(word);
      }
      layer.paths = Words(row.paths);
      for (const std::string& name : Words(row.layers)) all->emplace(name, layer);
    }
    return all;
  }();
  return *layers;
}

// --- Files ---------------------------------------------------------------------------------------

BlobPtr Held(const std::string& bytes) {
  const auto held = std::make_shared<const std::string>(bytes);
  return Blob::InMemory({reinterpret_cast<const std::byte*>(held->data()), held->size()}, held,
                        "f");
}
std::string EntryOf(const std::string& archive, std::string_view name) {
  auto zip = ZipArchive::Open(Held(archive));
  if (!zip.ok() || !zip->Find(name)) return "";
  const auto bytes = zip->Read(*zip->Find(name));
  return bytes.ok() ? std::string(bytes->view) : "";
}

// The shapes of the datasets below a group, by their paths.
void CollectShapes(hdf5::File& file, const std::string& group,
                   std::map<std::string, std::vector<int64_t>>* shapes) {
  const auto names = file.Names(group);
  ASSERT_TRUE(names.ok()) << names.status();
  for (const std::string& name : *names) {
    const std::string path = group.empty() ? name : group + "/" + name;
    const auto is_dataset = file.IsDataset(path);
    ASSERT_TRUE(is_dataset.ok()) << is_dataset.status();
    if (*is_dataset) {
      const auto tensor = file.Dataset(path);
      if (tensor.ok()) (*shapes)[path] = tensor->dims();
    } else {
      CollectShapes(file, path, shapes);
    }
  }
}
std::map<std::string, std::vector<int64_t>> ShapesIn(const std::string& bytes) {
  std::map<std::string, std::vector<int64_t>> shapes;
  auto file = hdf5::File::Open(Held(bytes), 0, bytes.size());
  if (file.ok()) CollectShapes(**file, "", &shapes);
  return shapes;
}

// Every object that has a class of layers and a configuration, those within others too.
void CollectLayers(const Json& json, std::vector<Json>* layers) {
  if (json.is_array()) {
    for (const Json& item : json.items()) CollectLayers(item, layers);
  }
  if (!json.is_object()) return;
  if (json["class_name"].is_string() && json["config"].is_object() &&
      (json["module"].text() == "keras.layers" || json["module"].is_null())) {
    layers->push_back(json);
  }
  for (const auto& [name, value] : json.members()) CollectLayers(value, layers);
}

// Of the configuration, beside what every layer has.
Names SettingsOf(const Json& layer) {
  Names names;
  for (const auto& [name, value] : layer["config"].members()) {
    if (name != "name" && name != "trainable" && name != "dtype") names.insert(std::string(name));
  }
  return names;
}

struct Case {
  std::string name, bytes, written;
};
// All models of Keras of the tests that are written, and ours of them.
const std::vector<Case>& Cases() {
  static const auto* const cases = [] {
    auto* all = new std::vector<Case>;
    const fs::path archive = Unpacked("keras-cases.tar.xz", "keras-cases") / "keras-cases";
    for (const char* folder : {"keras_h5", "keras3"}) {
      std::set<fs::path> files;
      for (const auto& entry : fs::directory_iterator(archive / folder)) {
        const std::string ending = entry.path().extension().string();
        if (ending == ".h5" || ending == ".keras") files.insert(entry.path());
      }
      for (const fs::path& path : files) {
        Case one = {path.filename().string(), ReadFile(path), ""};
        absl::StatusOr<Model> model = Import(path.string());
        if (!model.ok()) continue;
        const absl::Status written =
            Export(*std::move(model), Sink::To(&one.written, "m.keras"), {.format = "keras"});
        if (!written.ok()) one.written.clear();
        all->push_back(std::move(one));
      }
    }
    return all;
  }();
  return *cases;
}
bool IsOfKeras(const Case& one) { return !one.name.starts_with("made__"); }

// --- Tests ---------------------------------------------------------------------------------------

void ExpectSettingsOfKeras(const std::string& archive, const std::string& name, Names* classes) {
  const auto config = Json::Parse(EntryOf(archive, "config.json"));
  ASSERT_TRUE(config.ok()) << name;
  std::vector<Json> layers;
  CollectLayers(*config, &layers);
  EXPECT_FALSE(layers.empty()) << name;
  for (const Json& layer : layers) {
    const std::string& of = layer["class_name"].text();
    if (layer["module"].text() != "keras.layers") continue;
    classes->insert(of);
    const auto known = LayersOfKeras().find(of);
    ASSERT_NE(known, LayersOfKeras().end()) << of << " is in no row";
    const Names settings = SettingsOf(layer);
    for (const std::string& setting : settings) {
      EXPECT_TRUE(known->second.settings.contains(setting)) << name << ": " << of << " " << setting;
    }
    for (const std::string& setting : known->second.needed) {
      EXPECT_TRUE(settings.contains(setting)) << name << ": " << of << " lacks " << setting;
    }
    for (const char* of_all : {"name", "dtype"}) {
      EXPECT_FALSE(layer["config"][of_all].is_null()) << name << ": " << of << " " << of_all;
    }
  }
}

TEST(KerasOwn, LayersHaveSettingsThatKerasHas) {
  Names classes;
  for (const Case& one : Cases()) {
    if (!one.written.empty()) ExpectSettingsOfKeras(one.written, one.name, &classes);
  }
  // What the models have.
  EXPECT_GE(classes.size(), 35u) << testing::PrintToString(classes);
  for (const char* name : {"Bidirectional", "Dense", "GroupQueryAttention", "LSTM",
                           "MultiHeadAttention", "SeparableConv2D"}) {
    EXPECT_TRUE(classes.contains(name)) << name;
  }
}

TEST(KerasOwn, TheTableIsThatOfFilesThatKerasWrote) {
  size_t layers_of_keras3 = 0, layers_of_keras2 = 0;
  for (const Case& one : Cases()) {
    if (!IsOfKeras(one)) continue;
    std::string text = EntryOf(one.bytes, "config.json");
    const bool third = !text.empty();
    if (!third) {
      auto file = hdf5::File::Open(Held(one.bytes), 0, one.bytes.size());
      ASSERT_TRUE(file.ok()) << one.name;
      const auto config = (*file)->Text("", "model_config");
      ASSERT_TRUE(config.ok() && *config) << one.name;
      text = **config;
    }
    const auto config = Json::Parse(text);
    ASSERT_TRUE(config.ok()) << one.name;
    std::vector<Json> layers;
    CollectLayers(*config, &layers);
    for (const Json& layer : layers) {
      const auto known = LayersOfKeras().find(layer["class_name"].text());
      if (known == LayersOfKeras().end()) continue;
      const Names settings = SettingsOf(layer);
      if (third) {
        ++layers_of_keras3;
        EXPECT_EQ(settings, known->second.settings) << one.name << ": " << known->first;
        continue;
      }
      // Keras 1 has other names.
      if (settings.contains("output_dim") && known->first != "Embedding") continue;
      ++layers_of_keras2;
      for (const std::string& setting : known->second.needed) {
        EXPECT_TRUE(settings.contains(setting))
            << one.name << ": " << known->first << " " << setting;
      }
    }
  }
  EXPECT_GE(layers_of_keras3, 8u);
  EXPECT_GE(layers_of_keras2, 300u);
}

// An archive of Keras 3 that Keras wrote, and ours of the same model.
TEST(KerasOwn, WeightsAreWhereKerasHasThem) {
  size_t archives = 0;
  for (const Case& one : Cases()) {
    const std::string own = EntryOf(one.bytes, "model.weights.h5");
    if (!IsOfKeras(one) || own.empty()) continue;
    ++archives;
    ASSERT_FALSE(one.written.empty()) << one.name;
    auto theirs = ShapesIn(own);
    std::erase_if(theirs, [](const auto& entry) { return !entry.first.starts_with("layers/"); });
    EXPECT_FALSE(theirs.empty());
    EXPECT_EQ(ShapesIn(EntryOf(one.written, "model.weights.h5")), theirs) << one.name;
  }
  EXPECT_GE(archives, 1u);
}

// Weights are below a layer's group where the table says.
TEST(KerasOwn, WeightsAreInTheLayersOfLayers) {
  Names seen;
  for (const Case& one : Cases()) {
    if (one.written.empty()) continue;
    for (const auto& [path, shape] : ShapesIn(EntryOf(one.written, "model.weights.h5"))) {
      // layers/NAME/PART/vars/0
      const size_t slash = path.find('/', 7);
      ASSERT_TRUE(path.starts_with("layers/") && slash != path.npos) << path;
      std::string stored = path.substr(7, slash - 7);
      while (!stored.empty() && std::isdigit(static_cast<unsigned char>(stored.back()))) {
        stored.pop_back();
      }
      if (stored.ends_with('_')) stored.pop_back();
      const std::string part = path.substr(slash + 1, path.rfind('/') - slash - 1);
      static const std::map<std::string, std::string> kInner = {
          {"bidirectional", "Bidirectional"},
          {"gru", "GRU"},
          {"lstm", "LSTM"},
          {"simple_rnn", "SimpleRNN"},
          {"multi_head_attention", "MultiHeadAttention"},
          {"grouped_query_attention", "GroupQueryAttention"}};
      const auto inner = kInner.find(stored);
      if (inner == kInner.end()) {
        EXPECT_EQ(part, "vars") << one.name << ": " << path;
        continue;
      }
      seen.insert(stored);
      EXPECT_THAT(LayersOfKeras().at(inner->second).paths, testing::Contains(part)) << path;
    }
  }
  EXPECT_EQ(seen.size(), 6u) << testing::PrintToString(seen);
}

}  // namespace
}  // namespace x2ir
