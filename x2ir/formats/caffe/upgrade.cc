// The names of layers, and the places of their parameters, in the versions V0 and V1 of Caffe's
// definitions (upgrade_proto.cpp).
#include <algorithm>
#include <iterator>

#include "x2ir/formats/caffe/caffe_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::caffe {
namespace {

struct OldType {
  int64_t v1;
  std::string_view v0;  // empty: V0 had none
  std::string_view type;
};
constexpr OldType kOldTypes[] = {
    {35, "", "AbsVal"},
    {1, "accuracy", "Accuracy"},
    {30, "", "ArgMax"},
    {2, "bnll", "BNLL"},
    {3, "concat", "Concat"},
    {37, "", "ContrastiveLoss"},
    {4, "conv", "Convolution"},
    {5, "data", "Data"},
    {39, "", "Deconvolution"},
    {6, "dropout", "Dropout"},
    {32, "", "DummyData"},
    {7, "euclidean_loss", "EuclideanLoss"},
    {25, "", "Eltwise"},
    {38, "", "Exp"},
    {8, "flatten", "Flatten"},
    {9, "hdf5_data", "HDF5Data"},
    {10, "hdf5_output", "HDF5Output"},
    {28, "", "HingeLoss"},
    {11, "im2col", "Im2col"},
    {12, "images", "ImageData"},
    {13, "infogain_loss", "InfogainLoss"},
    {14, "innerproduct", "InnerProduct"},
    {15, "lrn", "LRN"},
    {29, "", "MemoryData"},
    {16, "multinomial_logistic_loss", "MultinomialLogisticLoss"},
    {34, "", "MVN"},
    {17, "pool", "Pooling"},
    {26, "", "Power"},
    {18, "relu", "ReLU"},
    {19, "sigmoid", "Sigmoid"},
    {27, "", "SigmoidCrossEntropyLoss"},
    {36, "", "Silence"},
    {20, "softmax", "Softmax"},
    {21, "softmax_loss", "SoftmaxWithLoss"},
    {22, "split", "Split"},
    {33, "", "Slice"},
    {23, "tanh", "TanH"},
    {24, "window_data", "WindowData"},
    {31, "", "Threshold"},
    {-1, "padding", "padding"},
};

struct OldField {
  std::string_view type, v0, field;
};
constexpr OldField kOldFields[] = {
    {"Convolution", "num_output", "convolution_param.num_output"},
    {"Convolution", "biasterm", "convolution_param.bias_term"},
    {"Convolution", "pad", "convolution_param.pad"},
    {"Convolution", "kernelsize", "convolution_param.kernel_size"},
    {"Convolution", "group", "convolution_param.group"},
    {"Convolution", "stride", "convolution_param.stride"},
    {"InnerProduct", "num_output", "inner_product_param.num_output"},
    {"InnerProduct", "biasterm", "inner_product_param.bias_term"},
    {"Pooling", "pool", "pooling_param.pool"},
    {"Pooling", "pad", "pooling_param.pad"},
    {"Pooling", "kernelsize", "pooling_param.kernel_size"},
    {"Pooling", "stride", "pooling_param.stride"},
    {"Dropout", "dropout_ratio", "dropout_param.dropout_ratio"},
    {"LRN", "local_size", "lrn_param.local_size"},
    {"LRN", "alpha", "lrn_param.alpha"},
    {"LRN", "beta", "lrn_param.beta"},
    {"LRN", "k", "lrn_param.k"},
    {"Concat", "concat_dim", "concat_param.concat_dim"},
    {"Data", "batchsize", "data_param.batch_size"},
    {"Data", "cropsize", "data_param.crop_size"},
    {"ImageData", "batchsize", "image_data_param.batch_size"},
    {"ImageData", "cropsize", "image_data_param.crop_size"},
    {"padding", "pad", "pad"},
};

}  // namespace

std::string_view TypeOfV1(int64_t number) {
  const auto* found = std::ranges::find(kOldTypes, number, &OldType::v1);
  return number < 0 || found == std::end(kOldTypes) ? std::string_view() : found->type;
}

std::string_view TypeOfV0(std::string_view word) {
  const auto* found = std::ranges::find(kOldTypes, word, &OldType::v0);
  return word.empty() || found == std::end(kOldTypes) ? std::string_view() : found->type;
}

std::string V0FieldOf(std::string_view type, std::string_view field) {
  for (const OldField& row : kOldFields) {
    if (row.type == type && row.v0 == field) return std::string(row.field);
  }
  return "";
}

absl::Status MergePaddings(std::vector<LayerDesc>* layers) {
  for (size_t i = 0; i < layers->size(); ++i) {
    const LayerDesc& padding = (*layers)[i];
    if (padding.type != "padding") continue;
    const Attribute* pad = padding.Find("pad");
    const auto* size = pad ? pad->get<int64_t>() : nullptr;
    if (!size || padding.bottoms.size() != 1 || padding.tops.size() != 1) {
      return Invalid("layer '", padding.name,
                     "' is a padding layer without an input, an output or a padding size");
    }
    for (size_t k = i + 1; k < layers->size(); ++k) {
      LayerDesc& user = (*layers)[k];
      const auto used = std::ranges::find(user.bottoms, padding.tops[0]);
      if (used != user.bottoms.end()) {
        const bool conv = user.type == "Convolution";
        if (!conv && user.type != "Pooling") {
          return Invalid("layer '", padding.name, "' pads for '", user.name, "', a ", user.type);
        }
        *used = padding.bottoms[0];
        if (conv) {
          user.attrs.emplace_back("convolution_param.pad", Attribute::Ints{*size});
        } else {
          user.attrs.emplace_back("pooling_param.pad", *size);
        }
      }
      // What is computed from here on under that name is something else.
      if (std::ranges::find(user.tops, padding.tops[0]) != user.tops.end()) break;
    }
  }
  std::erase_if(*layers, [](const LayerDesc& layer) { return layer.type == "padding"; });
  return absl::OkStatus();
}

}  // namespace x2ir::caffe
