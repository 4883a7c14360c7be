#include "tests/formats/caffe_files_util.h"

#include <cstring>

#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::caffe_files {
namespace {

std::string VarintBytes(uint64_t n) {
  std::string bytes;
  do {
    bytes.push_back(static_cast<char>((n & 127) | (n > 127 ? 128 : 0)));
    n >>= 7;
  } while (n != 0);
  return bytes;
}
std::string BytesField(uint32_t number, const std::string& payload) {
  return VarintBytes(number << 3 | 2) + VarintBytes(payload.size()) + payload;
}
std::string IntField(uint32_t number, int64_t value) {
  return VarintBytes(number << 3) + VarintBytes(static_cast<uint64_t>(value));
}
template <typename T>
std::string Raw(const std::vector<T>& numbers) {
  std::string bytes(numbers.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

}  // namespace

std::string BlobFile(const std::vector<int64_t>& dims, const std::vector<float>& numbers) {
  std::string shape;
  for (const int64_t dim : dims) shape += VarintBytes(static_cast<uint64_t>(dim));
  return BytesField(5, Raw(numbers)) + BytesField(7, BytesField(1, shape));
}

std::string Caffemodel(const std::vector<LayerBlobs>& layers, bool v1) {
  std::string net = BytesField(1, "net");
  for (const LayerBlobs& layer : layers) {
    std::string body = BytesField(v1 ? 4 : 1, layer.name);
    for (const auto& [dims, numbers] : layer.blobs) {
      std::string blob = BytesField(5, Raw(numbers)), shape;
      for (const int64_t dim : dims) shape += VarintBytes(static_cast<uint64_t>(dim));
      if (v1) {
        for (size_t i = 0; i < 4; ++i) {
          const size_t missing = 4 - dims.size();
          blob += IntField(static_cast<uint32_t>(i + 1), i < missing ? 1 : dims[i - missing]);
        }
      } else {
        blob += BytesField(7, BytesField(1, shape));
      }
      body += BytesField(v1 ? 6 : 7, blob);
    }
    net += BytesField(v1 ? 2 : 100, body);
  }
  return net;
}

Pair CaffeNetwork(int version) {
  const std::vector<LayerBlobs> blobs = {
      {"conv", {{{2, 1, 2, 2}, {1, 0, 0, 1, -1, 0, 0, -1}}, {{2}, {0.5f, 1}}}},
      {"ip", {{{1, 2}, {1, 2}}, {{1}, {3}}}}};
  if (version == 2) {
    return {R"(name: "net"  # of today
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 1 dim: 3 dim: 3 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 2 kernel_size: 2 weight_filler { type: "xavier" } } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "drop" type: "Dropout" bottom: "conv" top: "conv" include { phase: TRAIN } }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool"
  pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "ip" type: "InnerProduct" bottom: "pool" top: "ip" inner_product_param { num_output: 1 } }
)",
            Caffemodel(blobs)};
  }
  const std::string head =
      "name: \"net\"\ninput: \"data\"\ninput_dim: 1 input_dim: 1 input_dim: 3 input_dim: 3\n";
  if (version == 1) {
    return {head + R"(layers { name: "conv" type: CONVOLUTION bottom: "data" top: "conv" blobs_lr: 1
  convolution_param { num_output: 2 kernel_size: 2 } }
layers { name: "relu" type: RELU bottom: "conv" top: "conv" }
layers { name: "pool" type: POOLING bottom: "conv" top: "pool"
  pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layers { name: "ip" type: INNER_PRODUCT bottom: "pool" top: "ip" inner_product_param { num_output: 1 } }
)",
            Caffemodel(blobs, true)};
  }
  return {
      head + R"(layers { layer { name: "pad" type: "padding" pad: 0 } bottom: "data" top: "padded" }
layers { layer { name: "conv" type: "conv" num_output: 2 kernelsize: 2 } bottom: "padded" top: "conv" }
layers { layer { name: "relu" type: "relu" } bottom: "conv" top: "conv" }
layers { layer { name: "pool" type: "pool" pool: MAX kernelsize: 2 stride: 2 } bottom: "conv" top: "pool" }
layers { layer { name: "ip" type: "innerproduct" num_output: 1 } bottom: "pool" top: "ip" }
)",
      Caffemodel(blobs, true)};
}

std::string CaffeLayers() {
  return R"(input: "a" input_shape { dim: 1 dim: 4 dim: 4 dim: 6 } input: "b" input_shape { dim: 1 dim: 4 dim: 2 dim: 3 }
layer { name: "l1" type: "LRN" bottom: "a" top: "l1" lrn_param { local_size: 3 norm_region: WITHIN_CHANNEL } }
layer { name: "l2" type: "Pooling" bottom: "l1" top: "l2" top: "l2m" pooling_param { kernel_size: 2 stride: 2 } }
layer { name: "l3" type: "Upsample" bottom: "l2" bottom: "l2m" top: "l3" upsample_param { scale: 2 } }
layer { name: "l4" type: "Crop" bottom: "l3" bottom: "b" top: "l4" crop_param { offset: 1 } }
layer { name: "l5" type: "Slice" bottom: "l4" top: "l5a" top: "l5b" slice_param { slice_point: 1 } }
layer { name: "l6" type: "Reshape" bottom: "l5b" top: "l6" reshape_param { shape { dim: 0 dim: -1 } axis: 1 num_axes: 2 } }
layer { name: "l7" type: "Eltwise" bottom: "b" bottom: "b" top: "l7" eltwise_param { coeff: 1 coeff: -0.5 } }
layer { name: "l8" type: "PriorBox" bottom: "b" bottom: "a" top: "l8" prior_box_param { min_size: 2 aspect_ratio: 2 } }
layer { name: "l9" type: "SPP" bottom: "a" top: "l9" spp_param { pyramid_height: 2 pool: AVE } }
layer { name: "l10" type: "ArgMax" bottom: "a" top: "l10" argmax_param { top_k: 2 out_max_val: true } }
layer { name: "l11" type: "Reorg" bottom: "a" top: "l11" reorg_param { stride: 2 } }
layer { name: "l12" type: "Interp" bottom: "a" top: "l12" interp_param { zoom_factor: 2 } }
)";
}

std::string DarknetWeights(const std::vector<float>& numbers, int major, int minor) {
  const bool wide = major * 10 + minor >= 2 && major < 1000 && minor < 1000;
  return Raw(std::vector<int32_t>{major, minor, 0}) + std::string(wide ? 8 : 4, '\0') +
         Raw(numbers);
}

Pair DarknetNetwork() {
  return {R"([net]
# a comment
width=4
height = 4
channels=1
[convolutional]
batch_normalize=1
filters=2
size=1
activation=leaky
[maxpool]
size=2
stride=2
[upsample]
[route]
layers=-1,0
[route]
layers=2
[shortcut]
from=-5
activation=linear
[convolutional]
filters=7
size=1
activation=linear
[yolo]
mask=0
anchors=1,2
classes=2
num=1
)",
          DarknetWeights({1, 2, 1, 1, 0, 0.5f, 1, 4,  1, -1, 0, 0, 0, 0,    0, 0,
                          0, 1, 0, 0, 1, 1,    1, -1, 1, 0,  0, 1, 2, 0.5f, 1})};
}

std::string NcnnBytes(const std::vector<float>& numbers, bool tagged) {
  return (tagged ? std::string(4, '\0') : std::string()) + Raw(numbers);
}

Pair NcnnNetwork() {
  return {R"(7767517
6 7
Input data 0 1 data 0=3 1=3 2=1
Convolution conv 1 1 data conv 0=2 1=2 5=1 6=8 9=2 -23310=1,0.5
Split split 1 2 conv a b
Pooling pool 1 1 a pool 1=2 2=2
Permute turn 1 1 b turn 0=3
InnerProduct ip 1 1 pool ip 0=1 1=1 2=2
)",
          NcnnBytes({1, 0, 0, 1, -1, 0, 0, -1}, true) + NcnnBytes({0.5f, 1}, false) +
              NcnnBytes({1, 2}, true) + NcnnBytes({3}, false)};
}

std::string NcnnBinaryParam() {
  const auto bits = [](float number) {
    int32_t value;
    std::memcpy(&value, &number, sizeof value);
    return value;
  };
  return Raw(std::vector<int32_t>{
      7767517,    6,    6,                                           //
      16,         0,    1, 0,      0, 3, 1,    3,    2, 1,    -233,  // Input
      6,          1,    1, 0,      1, 0, 2,    1,    2, 5,    1,    6,
      8,          9,    2, -23310, 1,                                        // Convolution
      bits(0.5f), -233,                                                      //
      33,         1,    2, 1,      2, 3, -233,                               // Split
      21,         1,    1, 2,      4, 1, 2,    2,    2, -233,                // Pooling
      47,         1,    1, 3,      5, 0, 3,    -233,                         // Permute
      15,         1,    1, 4,      6, 0, 1,    1,    1, 2,    2,    -233});  // InnerProduct
}

Pair Caffe2Network(bool text) {
  if (text) {
    return {R"(name: "net"
op { input: "data" input: "w" input: "b" output: "conv" type: "Conv"
  arg { name: "kernel" i: 2 } arg { name: "order" s: "NCHW" } }
op { input: "conv" output: "conv" type: "Relu" }
op { input: "conv" output: "pool" type: "MaxPool" arg { name: "kernel" i: 2 } arg { name: "stride" i: 2 }
  arg { name: "legacy_pad" i: 3 } }
op { input: "pool" output: "y" type: "Sum" }
external_input: "data" external_input: "w" external_input: "b" external_output: "y"
)",
            R"(op { output: "w" type: "GivenTensorFill" arg { name: "shape" ints: [2, 1, 2, 2] }
  arg { name: "values" floats: [1, 0, 0, 1, -1, 0, 0, -1] } }
op { output: "b" type: "GivenTensorFill" arg { name: "shape" ints: 2 } arg { name: "values" floats: 0.5 floats: 1 } }
op { output: "data" type: "ConstantFill" arg { name: "shape" ints: 1 } }
)"};
  }
  const auto arg_ints = [](const std::string& name, const std::vector<int64_t>& ints) {
    std::string arg = BytesField(1, name);
    for (const int64_t n : ints) arg += IntField(6, n);
    return BytesField(5, arg);
  };
  const auto arg_floats = [](const std::string& name, const std::vector<float>& floats) {
    return BytesField(5, BytesField(1, name) + BytesField(5, Raw(floats)));
  };
  const auto op = [](const std::string& type, const std::vector<std::string>& in,
                     const std::vector<std::string>& out, const std::string& args) {
    std::string body;
    for (const std::string& name : in) body += BytesField(1, name);
    for (const std::string& name : out) body += BytesField(2, name);
    return BytesField(2, body + BytesField(4, type) + args);
  };
  return {BytesField(1, "net") +
              op("Conv", {"data", "w", "b"}, {"y"}, arg_ints("kernels", {2, 2})) +
              op("Reshape", {"y"}, {"z", "old"}, arg_ints("shape", {1, -1})) +
              BytesField(7, "data") + BytesField(8, "z"),
          op("GivenTensorFill", {}, {"w"},
             arg_ints("shape", {2, 1, 2, 2}) + arg_floats("values", {1, 0, 0, 1, -1, 0, 0, -1})) +
              op("GivenTensorFill", {}, {"b"},
                 arg_ints("shape", {2}) + arg_floats("values", {0.5f, 1}))};
}

}  // namespace x2ir::caffe_files
