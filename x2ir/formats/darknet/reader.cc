// Makes a graph of a configuration and its weights. Darknet's weights have no shapes: how many a
// section takes follows from the size of what it reads, so sizes are counted along.
#include <algorithm>
#include <cstring>
#include <optional>

#include "x2ir/formats/darknet/darknet.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace darknet {
namespace {

constexpr int64_t kLimit = int64_t{1} << 24;  // of any size or count

struct Planes {
  int64_t channels = 0, height = 0, width = 0;
  // Of what a layer with weights reads: nullopt where they are no longer known.
  std::optional<int64_t> count() const { return CheckedProduct({channels, height, width}); }
};

class Options {
 public:
  explicit Options(const Section& section) : section_(section) {}
  int64_t Integer(std::string_view key, int64_t fallback) {
    const std::string* text = section_.Find(key);
    if (!text) return fallback;
    const std::vector<int64_t> numbers = ParseIntegers(*text);
    if (numbers.empty() || numbers[0] < -kLimit || numbers[0] > kLimit) {
      if (status_.ok()) status_ = Invalid("the value of '", key, "' is '", *text, "'");
      return fallback;
    }
    return numbers[0];
  }
  int64_t Positive(std::string_view key, int64_t fallback) {
    const int64_t number = Integer(key, fallback);
    if (number >= 1) return number;
    if (status_.ok()) status_ = Invalid("the value of '", key, "' is ", number);
    return 1;
  }
  std::string Text(std::string_view key) {
    const std::string* text = section_.Find(key);
    return text ? *text : std::string();
  }
  const absl::Status& status() const { return status_; }

 private:
  const Section& section_;
  absl::Status status_;
};

// The floats after the header, in order.
class WeightFile {
 public:
  explicit WeightFile(BlobPtr file) : file_(std::move(file)) {}

  absl::Status ReadHeader() {
    if (file_->size() < 16) return DataLoss("the file is too short for weights");
    const auto major = LoadNumber<int32_t>(file_->data());
    const auto minor = LoadNumber<int32_t>(file_->data() + 4);
    if (major < 0 || minor < 0) return DataLoss("a version of ", major, ".", minor);
    // Since 0.2 images that were seen are counted in 64 bits.
    const bool wide = int64_t{major} * 10 + minor >= 2 && major < 1000 && minor < 1000;
    place_ = wide ? 20 : 16;
    transposed_ = major > 1000 || minor > 1000;
    // AlexeyAB's fork counts a third number; pjreddie's has 0.2.0 since it has today's order.
    const auto third = LoadNumber<int32_t>(file_->data() + 8);
    if (major == 0 && minor == 2) fork_ = third == 5 ? "alexeyab" : third == 0 ? "pjreddie" : "";
    if (place_ > file_->size()) return DataLoss("the file is too short for weights");
    if ((file_->size() - place_) % sizeof(float) != 0) {
      return DataLoss("the size of the weights is not a multiple of the size of a float");
    }
    return absl::OkStatus();
  }
  bool transposed() const { return transposed_; }
  // Who wrote it; empty where the version does not say.
  std::string_view fork() const { return fork_; }
  uint64_t left() const { return (file_->size() - place_) / sizeof(float); }
  void Skip(uint64_t floats) { place_ += floats * sizeof(float); }

  absl::StatusOr<Tensor> Take(std::vector<int64_t> dims) {
    const auto count = CheckedProduct(dims);
    if (!count || *count < 0 || static_cast<uint64_t>(*count) > left()) {
      return DataLoss("the weights file is too short: ", left(), " numbers are left");
    }
    const uint64_t nbytes = static_cast<uint64_t>(*count) * sizeof(float), from = place_;
    place_ += nbytes;
    return TensorOf(DType::kFloat32, std::move(dims), file_, from, nbytes);
  }
  const std::string& path() const { return file_->path(); }

 private:
  BlobPtr file_;
  uint64_t place_ = 0;
  bool transposed_ = false;
  std::string_view fork_;
};

bool IsHead(std::string_view name) {
  return name == "yolo" || name == "region" || name == "detection" || name == "gaussian_yolo" ||
         name == "iseg";
}
bool HasWeights(const Section& section) {
  const std::string& name = section.name;
  if (name == "shortcut") {
    const std::string* const type = section.Find("weights_type");
    return type && *type != "none";
  }
  return name == "convolutional" || name == "connected" || name == "batchnorm" || name == "local" ||
         name == "deconvolutional" || name == "rnn" || name == "crnn" || name == "gru" ||
         name == "lstm" || name == "conv_lstm" || name == "implicit";
}
// Layers of a recurrent one in the order of the file: w of the state, u of what comes in, v of the
// cell.
std::vector<std::string_view> PartsOf(std::string_view section, std::string_view fork) {
  if (section == "conv_lstm")
    return {"vf", "vi", "vo", "wf", "wi", "wg", "wo", "uf", "ui", "ug", "uo"};
  if (section == "lstm") {
    if (fork == "pjreddie") return {"wi", "wf", "wo", "wg", "ui", "uf", "uo", "ug"};
    return {"wf", "wi", "wg", "wo", "uf", "ui", "ug", "uo"};
  }
  if (fork == "pjreddie") return {"wz", "wr", "wh", "uz", "ur", "uh"};
  return {"uz", "ur", "uh", "wz", "wr", "wh"};
}

class GraphReader {
 public:
  // `norm_biases`: whether sections [batchnorm] have biases, as AlexeyAB's fork writes them.
  GraphReader(const std::vector<Section>& sections, const DarknetOptions& options, bool norm_biases)
      : sections_(sections),
        decode_(options.decode_heads),
        norm_biases_(norm_biases),
        fork_(options.fork) {}

  absl::StatusOr<Model> Read(WeightFile* weights) {
    weights_ = weights;
    Model model;
    model_ = &model;
    model.source_dialect = kDialect;
    model.SetOpset("", 1);
    model.producer_name = "Darknet";
    graph_ = model.graph.get();
    if (sections_.empty() || sections_[0].name != "net") {
      return Invalid("the first section is not [net]");
    }
    X2IR_RETURN_IF_ERROR(CheckHasWeights());
    Options net(sections_[0]);
    const bool list = !sections_[0].Find("height") || !sections_[0].Find("width");
    if (list && !sections_[0].Find("inputs")) {
      return Invalid("[net] has neither height and width nor inputs");
    }
    image_ = {net.Positive(list ? "inputs" : "channels", 1), list ? 1 : net.Positive("height", 1),
              list ? 1 : net.Positive("width", 1)};
    X2IR_RETURN_IF_ERROR(net.status());
    const Shape shape = list ? Shape::FromInts({1, image_.channels})
                             : Shape::FromInts({1, image_.channels, image_.height, image_.width});
    last_ = {graph_->AddInput("data", Type::Tensor(DType::kFloat32, shape)), image_};
    for (size_t i = 1; i < sections_.size(); ++i) {
      const Section& section = sections_[i];
      const absl::Status added = AddSection(section, i - 1);
      if (!added.ok()) {
        return AnnotateOption(
            added, StrCat("layer ", i - 1, " [", section.name, "] (line ", section.line, ")"));
      }
      layers_.push_back(last_);
    }
    for (Value* head : heads_) graph_->AddOutput(head);
    if (!last_.value->is_graph_output()) graph_->AddOutput(last_.value);
    if (weights_ && weights_->left() > 0) {
      return DataLoss("'", weights_->path(), "' has ", weights_->left(),
                      " numbers more than the network needs: the file belongs to another network");
    }
    return model;
  }

 private:
  struct Layer {
    Value* value = nullptr;
    Planes planes{};
    std::vector<Value*> weights{};
  };

  absl::Status CheckHasWeights() const {
    if (weights_) return absl::OkStatus();
    const auto count = std::ranges::count_if(sections_, HasWeights);
    if (count == 0) return absl::OkStatus();
    return OptionError("params", "a configuration has no weights, and ", count,
                       " of its layers need them; name the file of the weights (.weights)");
  }

  // A layer by its number, or counted back from this one.
  absl::StatusOr<Layer> At(int64_t number, size_t own) const {
    if (number < 0) number += static_cast<int64_t>(own);
    if (number < 0 || number >= static_cast<int64_t>(own)) {
      return Invalid("there is no layer ", number, " before it");
    }
    return layers_[static_cast<size_t>(number)];
  }

  absl::Status TakeWeights(std::string_view part, std::vector<int64_t> dims) {
    X2IR_ASSIGN_OR_RETURN(Tensor tensor, weights_->Take(std::move(dims)));
    const std::string own = StrCat(own_name_, ".", part);
    const std::string name = graph_->UniqueName(own);
    operands_.push_back(graph_->AddConstant(name, std::move(tensor)));
    model_->weights.push_back({name, {own}, true});
    ++num_weights_;
    return absl::OkStatus();
  }
  // Of a part "input_" of a layer, or of the layer ("").
  absl::Status TakeNorm(int64_t channels, std::string_view part = "") {
    for (const char* name : {"scales", "mean", "variance"}) {
      X2IR_RETURN_IF_ERROR(TakeWeights(StrCat(part, name), {channels}));
    }
    return absl::OkStatus();
  }
  // Of a convolution (which has its norm before its weights) and of a connected layer; `out` where
  // it is not their first size.
  absl::Status TakeConv(std::string_view part, std::vector<int64_t> dims, bool norm,
                        int64_t out = 0) {
    if (out == 0) out = dims[0];
    X2IR_RETURN_IF_ERROR(TakeWeights(StrCat(part, "biases"), {out}));
    if (norm) X2IR_RETURN_IF_ERROR(TakeNorm(out, part));
    return TakeWeights(StrCat(part, "weights"), std::move(dims));
  }
  absl::Status TakeConnected(std::string_view part, int64_t inputs, int64_t outputs, bool norm) {
    X2IR_RETURN_IF_ERROR(TakeWeights(StrCat(part, "biases"), {outputs}));
    // Files of old versions have them the other way round.
    X2IR_RETURN_IF_ERROR(TakeWeights(
        StrCat(part, "weights"), weights_->transposed() ? std::vector<int64_t>{inputs, outputs}
                                                        : std::vector<int64_t>{outputs, inputs}));
    return norm ? TakeNorm(outputs, part) : absl::OkStatus();
  }

  static int64_t Windows(int64_t size, int64_t padding, int64_t window, int64_t stride) {
    return size + padding < window ? 0 : (size + padding - window) / stride + 1;
  }

  absl::Status Convolutional(Options& o) {
    const int64_t filters = o.Positive("filters", 1), size = o.Positive("size", 1),
                  groups = o.Positive("groups", 1);
    const int64_t stride = o.Positive("stride", 1);
    const int64_t stride_x = o.Integer("stride_x", -1), stride_y = o.Integer("stride_y", -1);
    const int64_t padding = o.Integer("pad", 0) != 0 ? size / 2 : o.Integer("padding", 0);
    const int64_t shared = o.Integer("share_index", kLimit), blur = o.Integer("antialiasing", 0);
    X2IR_RETURN_IF_ERROR(o.status());
    const Planes in = last_.planes;
    if (in.channels % groups != 0 || filters % groups != 0) {
      return Invalid(in.channels, " channels and ", filters, " filters in ", groups, " groups");
    }
    if (shared < kLimit) {
      X2IR_ASSIGN_OR_RETURN(const Layer layer, At(shared, layers_.size()));
      X2IR_RETURN_IF_ERROR(
          ShareWeights(layer, {filters, in.channels / groups, size, size}, HasNorm(o)));
    } else {
      X2IR_RETURN_IF_ERROR(TakeConv("", {filters, in.channels / groups, size, size}, HasNorm(o)));
    }
    // A dilated window is padded by as much more as it covers.
    const int64_t step_y = stride_y > 0 ? stride_y : stride,
                  step_x = stride_x > 0 ? stride_x : stride;
    last_.planes = {filters, Windows(in.height, 2 * padding, size, blur ? 1 : step_y),
                    Windows(in.width, 2 * padding, size, blur ? 1 : step_x)};
    return Blurred(blur, step_y, step_x);
  }
  // What antialiasing leaves: windows of 3 x 3 with a border, or of 2 x 2.
  absl::Status Blurred(int64_t blur, int64_t step_y, int64_t step_x) {
    if (blur == 0) return absl::OkStatus();
    const int64_t size = blur == 2 ? 2 : 3, padding = blur == 2 ? 0 : 2;
    last_.planes.height = Windows(last_.planes.height, padding, size, step_y);
    last_.planes.width = Windows(last_.planes.width, padding, size, step_x);
    return absl::OkStatus();
  }
  static bool HasNorm(Options& o) {
    return (o.Integer("batch_normalize", 0) != 0 || o.Integer("cbn", 0) != 0) &&
           o.Integer("dontloadscales", 0) == 0;
  }
  // The weights of a convolution that was read before.
  absl::Status ShareWeights(const Layer& layer, const std::vector<int64_t>& dims, bool norm) {
    const size_t count = layer.weights.size();
    if (count != (norm ? 5u : 2u) || layer.weights.back()->shape() == nullptr ||
        *layer.weights.back()->shape() != Shape::FromInts(dims)) {
      return Invalid("it shares the weights of a layer of another kind or size");
    }
    operands_.insert(operands_.end(), layer.weights.begin(), layer.weights.end());
    num_weights_ = static_cast<int64_t>(count);
    return absl::OkStatus();
  }

  absl::Status Deconvolutional(Options& o) {
    const int64_t filters = o.Positive("filters", 1), size = o.Positive("size", 1),
                  stride = o.Positive("stride", 1);
    const int64_t padding = o.Integer("pad", 0) != 0 ? size / 2 : o.Integer("padding", 0);
    X2IR_RETURN_IF_ERROR(o.status());
    const Planes in = last_.planes;
    const bool norm = o.Integer("batch_normalize", 0) != 0;
    X2IR_RETURN_IF_ERROR(TakeConv("", {in.channels, filters, size, size}, norm, filters));
    last_.planes = {filters, (in.height - 1) * stride + size - 2 * padding,
                    (in.width - 1) * stride + size - 2 * padding};
    return o.status();
  }

  absl::Status Connected(Options& o) {
    const int64_t outputs = o.Positive("output", 1);
    X2IR_RETURN_IF_ERROR(o.status());
    const auto inputs = last_.planes.count();
    if (!inputs || *inputs > INT32_MAX) return Invalid("its input has too many elements");
    X2IR_RETURN_IF_ERROR(TakeConnected("", *inputs, outputs, HasNorm(o)));
    node_->SetAttr("x2ir.transposed", weights_->transposed());
    last_.planes = {outputs, 1, 1};
    return o.status();
  }

  absl::Status Recurrent(Options& o, bool images) {
    const int64_t hidden = o.Positive("hidden", 1), outputs = o.Positive("output", 1),
                  size = o.Positive("size", 3), groups = o.Positive("groups", 1);
    const bool norm = o.Integer("batch_normalize", 0) != 0;
    X2IR_RETURN_IF_ERROR(o.status());
    const Planes in = last_.planes;
    const auto inputs = in.count();
    if (!inputs || *inputs > INT32_MAX) return Invalid("its input has too many elements");
    const int64_t from = images ? in.channels : *inputs;
    if (images && (from % groups != 0 || hidden % groups != 0)) {
      return Invalid(from, " channels in ", groups, " groups");
    }
    const auto take = [&](std::string_view part, int64_t inner, int64_t out) {
      return images ? TakeConv(part, {out, inner / groups, size, size}, norm)
                    : TakeConnected(part, inner, out, norm);
    };
    X2IR_RETURN_IF_ERROR(take("input_", from, hidden));
    X2IR_RETURN_IF_ERROR(take("self_", hidden, hidden));
    X2IR_RETURN_IF_ERROR(take("output_", hidden, outputs));
    if (!images) node_->SetAttr("x2ir.transposed", weights_->transposed());
    last_.planes = images ? Planes{outputs, in.height, in.width} : Planes{outputs, 1, 1};
    return absl::OkStatus();
  }

  // [gru] and [lstm], whose parts have an order that depends on the fork, and [conv_lstm].
  absl::Status Gates(const Section& section, Options& o) {
    const bool images = section.name == "conv_lstm";
    const int64_t outputs = o.Positive("output", 1), size = o.Positive("size", 3),
                  groups = o.Positive("groups", 1);
    const bool norm = o.Integer("batch_normalize", 0) != 0, cells = o.Integer("peephole", 0) != 0;
    if (o.Integer("bottleneck", 0) != 0) {
      return Unimplemented("bottleneck=1, which Darknet computes on GPUs only");
    }
    X2IR_RETURN_IF_ERROR(o.status());
    const Planes in = last_.planes;
    const auto inputs = in.count();
    if (!inputs || *inputs > INT32_MAX) return Invalid("its input has too many elements");
    if (images && (in.channels % groups != 0 || outputs % groups != 0)) {
      return Invalid(in.channels, " channels and ", outputs, " of the state in ", groups,
                     " groups");
    }
    const std::string_view fork = fork_ == "auto" ? weights_->fork() : std::string_view(fork_);
    if (!images && fork.empty()) {
      return OptionError("fork",
                         "Darknet's forks store the weights of this layer in different orders, and "
                         "the version in '",
                         weights_->path(), "' does not tell which fork wrote them");
    }
    Attribute::Strings parts;
    for (const std::string_view part : PartsOf(section.name, fork)) {
      if (part[0] == 'v' && !cells) continue;
      parts.emplace_back(part);
      const std::string name = StrCat(part, "_");
      const int64_t own = part[0] == 'u' ? (images ? in.channels : *inputs) : outputs;
      X2IR_RETURN_IF_ERROR(images ? TakeConv(name, {outputs, own / groups, size, size}, norm)
                                  : TakeConnected(name, own, outputs, norm));
    }
    node_->SetAttr(kParts, std::move(parts));
    if (!images) node_->SetAttr("x2ir.transposed", weights_->transposed());
    last_.planes = images ? Planes{outputs, in.height, in.width} : Planes{outputs, 1, 1};
    return absl::OkStatus();
  }

  absl::Status Local(Options& o) {
    const int64_t filters = o.Positive("filters", 1), size = o.Positive("size", 1),
                  stride = o.Positive("stride", 1);
    const bool pad = o.Integer("pad", 0) != 0;
    X2IR_RETURN_IF_ERROR(o.status());
    const Planes in = last_.planes;
    const auto places = [&](int64_t n) { return (n - (pad ? 1 : size)) / stride + 1; };
    const int64_t height = places(in.height), width = places(in.width);
    const auto inner = CheckedProduct({in.channels, size, size});
    if (!inner || height < 1 || width < 1) return Invalid("its input is smaller than the window");
    X2IR_RETURN_IF_ERROR(TakeWeights("biases", {filters, height, width}));
    X2IR_RETURN_IF_ERROR(TakeWeights("weights", {height * width, filters, *inner}));
    last_.planes = {filters, height, width};
    return absl::OkStatus();
  }

  absl::Status Pool(Options& o) {
    const int64_t stride = o.Positive("stride", 1);
    const int64_t stride_x = o.Integer("stride_x", stride),
                  stride_y = o.Integer("stride_y", stride);
    const int64_t size = o.Positive("size", stride), padding = o.Integer("padding", size - 1);
    X2IR_RETURN_IF_ERROR(o.status());
    const int64_t blur = o.Integer("antialiasing", 0), depth = o.Positive("out_channels", 1);
    X2IR_RETURN_IF_ERROR(o.status());
    if (stride_x < 1 || stride_y < 1 || padding < 0) return Invalid("a window without a stride");
    if (o.Integer("maxpool_depth", 0) != 0) {
      last_.planes.channels = depth;
      return Blurred(blur, stride_y, stride_x);
    }
    last_.planes.height = Windows(last_.planes.height, padding, size, blur ? 1 : stride_y);
    last_.planes.width = Windows(last_.planes.width, padding, size, blur ? 1 : stride_x);
    return Blurred(blur, stride_y, stride_x);
  }

  absl::Status Route(const Section& section, Options& o, size_t number) {
    operands_.clear();
    const std::vector<int64_t> from = ParseIntegers(o.Text("layers"));
    const int64_t groups = o.Positive("groups", 1);
    X2IR_RETURN_IF_ERROR(o.status());
    if (from.empty()) return Invalid("no 'layers' in [", section.name, "]");
    Planes planes;
    for (const int64_t layer : from) {
      X2IR_ASSIGN_OR_RETURN(const Layer source, At(layer, number));
      operands_.push_back(source.value);
      if (source.planes.channels % groups != 0) {
        return Invalid(source.planes.channels, " channels in ", groups, " groups");
      }
      const int64_t before = planes.channels;
      planes = source.planes;
      planes.channels = before + source.planes.channels / groups;
      if (planes.channels > kLimit) return Invalid("too many channels");
    }
    last_.planes = planes;
    return absl::OkStatus();
  }

  absl::Status From(const Section& section, Options& o, size_t number) {
    const std::vector<int64_t> from = ParseIntegers(o.Text("from"));
    if (from.empty()) return Invalid("no 'from' in [", section.name, "]");
    for (const int64_t layer : from) {
      X2IR_ASSIGN_OR_RETURN(const Layer source, At(layer, number));
      operands_.push_back(source.value);
      if (section.name == "scale_channels") last_.planes = source.planes;
    }
    if (section.name != "shortcut") return absl::OkStatus();
    // A weight for each operand, or for each channel of each.
    const std::string type = o.Text("weights_type");
    const auto operands = static_cast<int64_t>(operands_.size());
    if (type == "per_feature" || type == "per_layer") return TakeWeights("weights", {operands, 1});
    if (type == "per_channel") return TakeWeights("weights", {operands, last_.planes.channels});
    return absl::OkStatus();
  }

  absl::Status Size(const Section& section, size_t number) {
    Options o(section);
    Planes& planes = last_.planes;
    const std::string& name = section.name;
    if (name == "convolutional") return Convolutional(o);
    if (name == "deconvolutional") return Deconvolutional(o);
    if (name == "connected") return Connected(o);
    if (name == "local") return Local(o);
    if (name == "batchnorm") {
      if (norm_biases_) X2IR_RETURN_IF_ERROR(TakeWeights("biases", {planes.channels}));
      return TakeNorm(planes.channels);
    }
    if (name == "rnn" || name == "crnn") return Recurrent(o, name == "crnn");
    if (name == "gru" || name == "lstm" || name == "conv_lstm") return Gates(section, o);
    if (name == "implicit") {
      operands_.clear();
      planes = {o.Positive("filters", 128), o.Positive("atoms", 1), 1};
      X2IR_RETURN_IF_ERROR(o.status());
      return TakeWeights("weights", {1, planes.channels, planes.height, 1});
    }
    if (name == "maxpool" || name == "local_avgpool" || name == "local_maxpool") return Pool(o);
    if (name == "route") return Route(section, o, number);
    if (name == "shortcut" || name == "scale_channels" || name == "sam") {
      return From(section, o, number);
    }
    if (name == "avgpool") {
      planes.height = planes.width = 1;
    } else if (name == "upsample") {
      const int64_t stride = o.Integer("stride", 2);
      if (stride == 0) return Invalid("a stride of 0");
      planes.height = stride > 0 ? planes.height * stride : planes.height / -stride;
      planes.width = stride > 0 ? planes.width * stride : planes.width / -stride;
    } else if (name == "reorg" || name == "reorg3d") {
      const int64_t stride = o.Positive("stride", 1);
      if (stride > 4096) return Invalid("a stride of ", stride);
      if (o.Integer("reverse", 0) != 0) {
        planes = {planes.channels / (stride * stride), planes.height * stride,
                  planes.width * stride};
      } else {
        planes = {planes.channels * stride * stride, planes.height / stride, planes.width / stride};
      }
    } else if (name == "history") {
      planes.channels *= o.Positive("history_size", 4);
    } else if (name == "crop") {
      planes.height = o.Positive("crop_height", 1);
      planes.width = o.Positive("crop_width", 1);
    }
    return o.status();
  }

  absl::Status AddSection(const Section& section, size_t number) {
    // The loss of a training is none of a network that is used.
    last_.weights.clear();
    if (section.name == "cost" || section.name == "contrastive") return absl::OkStatus();
    own_name_ = StrCat(section.name, "_", number);
    operands_ = {last_.value};
    num_weights_ = 0;
    node_ = graph_->AppendNode(kDialect, section.name, {});
    const std::string* const kept = section.Find("dontload");
    if (kept && *kept != "0" && HasWeights(section)) {
      return Unimplemented("dontload=", *kept, ": weights that the file does not have");
    }
    X2IR_RETURN_IF_ERROR(Size(section, number));
    last_.weights.assign(operands_.end() - num_weights_, operands_.end());
    const Planes& planes = last_.planes;
    if (planes.channels < 1 || planes.height < 1 || planes.width < 1 || planes.channels > kLimit ||
        planes.height > kLimit || planes.width > kLimit) {
      return Invalid("its result has ", planes.channels, " planes of ", planes.height, " x ",
                     planes.width);
    }
    node_->SetInputs(operands_);
    node_->set_name(own_name_);
    for (const auto& [key, text] : section.options) node_->SetAttr(key, text);
    node_->SetAttr(kWeights, num_weights_);
    if (IsHead(section.name)) {
      node_->SetAttr(kImage, Attribute::Ints{image_.height, image_.width});
      node_->SetAttr(kDecode, decode_);
    }
    last_.value = graph_->AddNodeOutput(node_, graph_->UniqueName(own_name_));
    if (IsHead(section.name)) heads_.push_back(last_.value);
    return absl::OkStatus();
  }

  const std::vector<Section>& sections_;
  const bool decode_, norm_biases_;
  const std::string fork_;
  WeightFile* weights_ = nullptr;
  Model* model_ = nullptr;
  Graph* graph_ = nullptr;
  Planes image_;
  Layer last_;
  std::vector<Layer> layers_;
  std::vector<Value*> heads_;
  // Of the section that is read.
  std::string own_name_;
  Node* node_ = nullptr;
  std::vector<Value*> operands_;
  int64_t num_weights_ = 0;
};

}  // namespace
}  // namespace darknet

absl::StatusOr<Model> ReadDarknet(const Source& source, const DarknetOptions& options) {
  const auto read = [&](const ModelFiles& files) -> absl::StatusOr<Model> {
    X2IR_ASSIGN_OR_RETURN(const std::vector<darknet::Section> sections,
                          darknet::ParseConfig(files.graph->view()));
    const auto read_as = [&](bool norm_biases) -> absl::StatusOr<Model> {
      darknet::GraphReader reader(sections, options, norm_biases);
      if (!files.params) return reader.Read(nullptr);
      darknet::WeightFile weights(files.params);
      const absl::Status header = weights.ReadHeader();
      if (!header.ok()) return Annotate(header, StrCat("'", files.params->path(), "'"));
      return reader.Read(&weights);
    };
    absl::StatusOr<Model> model = read_as(false);
    const bool norms =
        std::ranges::find(sections, "batchnorm", &darknet::Section::name) != sections.end();
    if (!norms || !absl::IsDataLoss(model.status())) return model;
    // The count of the numbers tells whether norms have biases.
    absl::StatusOr<Model> other = read_as(true);
    return other.ok() ? std::move(other) : std::move(model);
  };
  return ReadModelFiles(source, options.params, darknet::DarknetFileNames(), read);
}

}  // namespace x2ir
