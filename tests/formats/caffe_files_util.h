// Small files of Caffe, Caffe2, Darknet and ncnn, as tests and fuzz targets begin with them. A pair
// is what says the network, and its weights.
#ifndef X2IR_TESTS_FORMATS_CAFFE_FILES_UTIL_H_
#define X2IR_TESTS_FORMATS_CAFFE_FILES_UTIL_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace x2ir::caffe_files {

struct Pair {
  std::string network, weights;
};
struct LayerBlobs {
  std::string name;
  std::vector<std::pair<std::vector<int64_t>, std::vector<float>>> blobs;
};

// A tensor in a file of its own.
std::string BlobFile(const std::vector<int64_t>& dims, const std::vector<float>& numbers);
// A caffemodel: of today, or with layers of V1, whose blobs have four sizes each.
std::string Caffemodel(const std::vector<LayerBlobs>& layers, bool v1 = false);
// One network, a convolution, a relu in place, a pool and a product, as versions 0, 1 and 2.
Pair CaffeNetwork(int version);
// Layers of every kind, without weights.
std::string CaffeLayers();

std::string DarknetWeights(const std::vector<float>& numbers, int major = 0, int minor = 2);
Pair DarknetNetwork();

// "t": a tag before the numbers.
std::string NcnnBytes(const std::vector<float>& numbers, bool tagged);
Pair NcnnNetwork();
// The same as numbers ("net.param.bin").
std::string NcnnBinaryParam();

Pair Caffe2Network(bool text);

}  // namespace x2ir::caffe_files

#endif  // X2IR_TESTS_FORMATS_CAFFE_FILES_UTIL_H_
