#include "x2ir/handlers/caffe2/caffe2.h"

#include "x2ir/core/dialect.h"
#include "x2ir/formats/caffe2/caffe2.h"

namespace x2ir {
namespace {

// What images are, for the sizes that a net does not say: the first operators that know tell.
absl::Status WriteInputShapes(Model& model, std::vector<std::string>&) {
  Graph& graph = *model.graph;
  for (Value* input : graph.inputs()) {
    if (!input->type().is_tensor() || input->shape()) continue;
    for (const Use& use : input->uses()) {
      const Value* weights = use.node->input(1);
      const Tensor* known = weights ? weights->constant() : nullptr;
      if (use.index != 0 || use.node->op().view() != "Conv" || !known || known->rank() < 3)
        continue;
      const AttributeMap& attrs = use.node->attrs();
      const Attribute* order = attrs.Find("order");
      const auto* text = order ? order->get<std::string>() : nullptr;
      const Attribute* group = attrs.Find("group");
      const auto* groups = group ? group->get<int64_t>() : nullptr;
      const bool last = text && *text == "NHWC";
      std::vector<Dim> dims;
      for (int64_t i = 0; i < known->rank(); ++i) {
        dims.push_back(Dim::Symbol(StrCat(input->name(), "_", i)));
      }
      const auto channel = static_cast<size_t>(last ? known->rank() - 1 : 1);
      if (!groups || *groups == 1) {
        dims[channel] = Dim(known->dim(static_cast<int64_t>(channel)));
      }
      Type type = input->type();
      type.set_shape(Shape(std::move(dims)));
      input->set_type(std::move(type));
      break;
    }
  }
  return absl::OkStatus();
}

[[maybe_unused]] const bool kRegistered =
    RegisterDialect({.name = caffe2::kDialect, .after_read = WriteInputShapes});

// Arguments that say how, not what.
constexpr std::string_view kHints[] = {"engine",
                                       "exhaustive_search",
                                       "ws_nbytes_limit",
                                       "cudnn_exhaustive_search",
                                       "is_test",
                                       "use_cudnn",
                                       "use_nnpack",
                                       "shared_buffer",
                                       "enable_inplace",
                                       "convolution_transform_strategy",
                                       "float16_compute",
                                       "init_params",
                                       "do_not_shape_inference",
                                       "net_pos",
                                       "inplace"};

}  // namespace

double Caffe2Args::Number(std::string_view name, double fallback) {
  const Attribute* attr = attrs().Find(Symbol(name));
  if (attr && attr->get<int64_t>()) return static_cast<double>(Int(Symbol(name), 0));
  if (!attr) return fallback;
  return static_cast<double>(Float(Symbol(name), 0));
}

bool Caffe2Args::ChannelsLast() {
  const std::string order = String("order", "NCHW");
  Require(order == "NCHW" || order == "NHWC", StrCat("order ", order));
  return order == "NHWC";
}

void Caffe2Args::Drop(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) Ignore(Symbol(name));
}

absl::Status Caffe2Dialect::Finish(Caffe2Args& args) {
  for (const std::string_view hint : kHints) args.Ignore(Symbol(hint));
  return args.CheckAllTaken();
}

}  // namespace x2ir
