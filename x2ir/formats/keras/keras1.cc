#include <algorithm>
#include <cstring>
#include <iterator>

#include "x2ir/formats/keras/keras1_internal.h"
#include "x2ir/graph_wrapper/name_pair.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::keras {
namespace {

constexpr NamePair kClasses[] = {
    {"Convolution1D", "Conv1D"},
    {"Convolution2D", "Conv2D"},
    {"Convolution3D", "Conv3D"},
    {"AtrousConvolution1D", "Conv1D"},
    {"AtrousConvolution2D", "Conv2D"},
    {"SeparableConvolution2D", "SeparableConv2D"},
    {"Deconvolution2D", "Conv2DTranspose"},
};
// Settings that have another name, whatever the class.
constexpr NamePair kSettings[] = {
    {"nb_filter", "filters"},
    {"subsample", "strides"},
    {"subsample_length", "strides"},
    {"stride", "strides"},
    {"pool_length", "pool_size"},
    {"bias", "use_bias"},
    {"atrous_rate", "dilation_rate"},
    {"inner_activation", "recurrent_activation"},
    {"length", "size"},
};

bool EndsWith(const std::string& text, std::string_view end) { return text.ends_with(end); }

// Whether a class of Keras 1 has its units under the name output_dim.
bool HasUnits(const std::string& c) {
  return c == "Dense" || c == "LSTM" || c == "GRU" || c == "SimpleRNN" || c == "Highway" ||
         c == "MaxoutDense" || c == "TimeDistributedDense";
}

void Rename(Json* config, std::string_view from, std::string_view to) {
  if (!config->Has(from)) return;
  Json value = (*config)[from];
  config->Erase(from);
  config->Set(to, std::move(value));
}

// Along the last axis.
absl::StatusOr<Tensor> Joined(const std::vector<StoredWeight>& weights,
                              const std::vector<size_t>& which) {
  const Tensor& first = weights[which[0]].tensor;
  const auto width = static_cast<size_t>(BitWidth(first.dtype())) / 8;
  if (first.rank() < 1 || width == 0) return Invalid("gates without an axis");
  std::vector<int64_t> dims = first.dims();
  dims.back() = 0;
  size_t rows = 1;
  for (size_t i = 0; i + 1 < dims.size(); ++i) rows *= static_cast<size_t>(dims[i]);
  for (const size_t i : which) {
    const Tensor& t = weights[i].tensor;
    if (t.dtype() != first.dtype() || t.rank() != first.rank() ||
        !std::equal(t.dims().begin(), t.dims().end() - 1, first.dims().begin())) {
      return Invalid("gates of different shapes");
    }
    dims.back() += t.dims().back();
  }
  const auto row = static_cast<size_t>(dims.back()) * width;
  Tensor joined = Tensor::Zeros(first.dtype(), std::move(dims));
  std::byte* to = joined.mutable_bytes().data();
  size_t begin = 0;
  for (const size_t i : which) {
    const Tensor& t = weights[i].tensor;
    const size_t part = static_cast<size_t>(t.dims().back()) * width;
    for (size_t r = 0; r < rows && part > 0; ++r) {
      std::memcpy(to + r * row + begin, t.bytes().data() + r * part, part);
    }
    begin += part;
  }
  return joined;
}

// Weights of gates one after the other ([kernel, recurrent kernel, bias] each) as three.
absl::Status JoinGates(const std::vector<size_t>& order, std::vector<StoredWeight>* weights) {
  if (weights->size() != order.size() * 3) return absl::OkStatus();
  static constexpr std::string_view kNames[] = {"kernel", "recurrent_kernel", "bias"};
  std::vector<StoredWeight> joined;
  for (size_t k = 0; k < 3; ++k) {
    std::vector<size_t> which;
    for (const size_t gate : order) which.push_back(gate * 3 + k);
    X2IR_ASSIGN_OR_RETURN(Tensor tensor, Joined(*weights, which));
    joined.push_back({std::string(kNames[k]), std::move(tensor)});
  }
  *weights = std::move(joined);
  return absl::OkStatus();
}

}  // namespace

absl::Status UpgradeLayer(std::string* class_name, Json* config) {
  const std::string old = *class_name;
  for (const NamePair& row : kClasses) {
    if (old == row.from) *class_name = std::string(row.to);
  }
  const std::string& c = *class_name;
  if (HasUnits(c)) Rename(config, "output_dim", "units");
  if (c == "TimeDistributedDense") *class_name = "Dense";  // of more axes it is the same
  if (c == "UpSampling1D") Rename(config, "length", "size");
  for (const NamePair& row : kSettings) {
    if (row.from != "length" && !config->Has(row.to)) Rename(config, row.from, row.to);
  }
  if (config->Has("border_mode")) Rename(config, "border_mode", "padding");
  if (config->Has("dim_ordering")) {
    const std::string ordering = (*config)["dim_ordering"].text();
    config->Erase("dim_ordering");
    if (ordering == "th" || ordering == "tf") {
      config->Set("data_format",
                  Json(std::string(ordering == "th" ? "channels_first" : "channels_last")));
      config->Set("call.theano_layout", Json::Bool(ordering == "th"));
    }
  }
  if (config->Has("nb_row")) {
    config->Set("kernel_size", Json::Array({(*config)["nb_row"], (*config)["nb_col"]}));
  }
  if (config->Has("kernel_dim1")) {
    config->Set("kernel_size", Json::Array({(*config)["kernel_dim1"], (*config)["kernel_dim2"],
                                            (*config)["kernel_dim3"]}));
  }
  if (config->Has("filter_length")) Rename(config, "filter_length", "kernel_size");
  if (c == "Dropout" || c == "GaussianDropout" || EndsWith(c, "Dropout1D") ||
      EndsWith(c, "Dropout2D") || EndsWith(c, "Dropout3D")) {
    Rename(config, "p", "rate");
  }
  if (c == "GaussianNoise") Rename(config, "sigma", "stddev");
  if (c == "BatchNormalization") {
    if ((*config)["mode"].Int() == 1 || (*config)["mode"].Int() > 2) {
      return Unimplemented("BatchNormalization of mode ", (*config)["mode"].Int());
    }
    if ((*config)["mode"].Int() == 2) {
      return Unimplemented("BatchNormalization by the numbers of each batch (mode 2)");
    }
  }
  return absl::OkStatus();
}

Tensor Permuted(const Tensor& tensor, const std::vector<int64_t>& perm) {
  const auto width = static_cast<size_t>(BitWidth(tensor.dtype())) / 8;
  const size_t rank = perm.size();
  std::vector<int64_t> dims(rank), strides(rank, 1), step(rank);
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * tensor.dim(static_cast<int64_t>(i));
  for (size_t i = 0; i < rank; ++i) {
    dims[i] = tensor.dim(perm[i]);
    step[i] = strides[static_cast<size_t>(perm[i])];
  }
  Tensor result = Tensor::Zeros(tensor.dtype(), dims);
  std::byte* to = result.mutable_bytes().data();
  const std::byte* from = tensor.bytes().data();
  std::vector<int64_t> at(rank, 0);
  int64_t place = 0;
  for (int64_t n = 0; n < tensor.num_elements(); ++n) {
    std::memcpy(to, from + static_cast<size_t>(place) * width, width);
    to += width;
    for (size_t i = rank; i-- > 0;) {
      place += step[i];
      if (++at[i] < dims[i]) break;
      place -= step[i] * dims[i];
      at[i] = 0;
    }
  }
  return result;
}

Tensor FlippedKernel(const Tensor& tensor) {
  if (tensor.rank() < 3) return tensor;
  const auto width = static_cast<size_t>(BitWidth(tensor.dtype())) / 8;
  size_t places = 1;
  for (int64_t i = 0; i + 2 < tensor.rank(); ++i) places *= static_cast<size_t>(tensor.dim(i));
  if (places == 0 || tensor.nbytes() == 0) return tensor;
  const size_t block = tensor.nbytes() / places;
  (void)width;
  Tensor result = Tensor::Zeros(tensor.dtype(), tensor.dims());
  for (size_t i = 0; i < places; ++i) {
    std::memcpy(result.mutable_bytes().data() + i * block,
                tensor.bytes().data() + (places - 1 - i) * block, block);
  }
  return result;
}

bool HasTheanoKernel(const std::string& c) {
  return c == "Conv1D" || c == "Conv2D" || c == "Conv3D" || c == "Conv2DTranspose" ||
         c == "ConvLSTM2D";
}

absl::Status UpgradeWeights(const std::string& c, const Json& config,
                            std::vector<StoredWeight>* weights) {
  if (c == "LSTM") return JoinGates({0, 2, 1, 3}, weights);  // stored i, c, f, o
  if (c == "GRU") return JoinGates({0, 1, 2}, weights);
  if (weights->empty()) return absl::OkStatus();
  Tensor& kernel = (*weights)[0].tensor;
  if (c == "Conv1D" && kernel.rank() == 4) {
    // [length, 1, in, out]; of the oldest files [out, in, length, 1].
    const int64_t length = config["kernel_size"].is_array() ? config["kernel_size"].at(0).Int()
                                                            : config["kernel_size"].Int();
    const bool oldest =
        kernel.dim(0) != length || kernel.dim(1) != 1 || kernel.dim(3) != config["filters"].Int();
    if (oldest) kernel = Permuted(kernel, {2, 3, 1, 0});
    if (kernel.dim(1) != 1) return Invalid("a kernel that is not of one axis");
    kernel = kernel.Reshaped({kernel.dim(0), kernel.dim(2), kernel.dim(3)});
  } else if (config["call.theano_layout"].Flag()) {
    if (c == "Conv2D" && kernel.rank() == 4) kernel = Permuted(kernel, {2, 3, 1, 0});
    if (c == "Conv2DTranspose" && kernel.rank() == 4) kernel = Permuted(kernel, {2, 3, 0, 1});
    if (c == "Conv3D" && kernel.rank() == 5) kernel = Permuted(kernel, {2, 3, 4, 1, 0});
  } else if (c == "Conv2DTranspose" && kernel.rank() == 4) {
    kernel = Permuted(kernel, {0, 1, 3, 2});
  }
  return absl::OkStatus();
}

}  // namespace x2ir::keras
