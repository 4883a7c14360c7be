// Reads the messages of a network.
#include <algorithm>

#include "x2ir/formats/caffe/caffe_internal.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::caffe {
namespace {

#include "x2ir_caffe_fields.inc"

constexpr int kMaxAxes = 32;  // as Caffe has it

class NetReader {
 public:
  // `file` is null for what was a text: its weights are copied.
  NetReader(std::string_view bytes, BlobPtr file) : bytes_(bytes), file_(std::move(file)) {}

  absl::StatusOr<NetDesc> Read() {
    NetDesc net;
    WireReader in(bytes_, bytes_.data());
    bool old = false;
    while (in.Next()) {
      switch (in.field()) {
        case net_parameter_field::kName: net.name = in.Bytes(); break;
        case net_parameter_field::kInput: net.inputs.push_back(in.String()); break;
        case net_parameter_field::kInputShape: {
          X2IR_ASSIGN_OR_RETURN(net.input_shapes.emplace_back(), ReadShape(in.Bytes()));
          break;
        }
        case net_parameter_field::kInputDim: in.AppendInts(&net.input_dims); break;
        case net_parameter_field::kState:
          X2IR_RETURN_IF_ERROR(ReadState(in.Bytes(), &net.state));
          break;
        case net_parameter_field::kLayer:
          X2IR_RETURN_IF_ERROR(ReadLayer(in.Bytes(), LayerMessage(), &net.layers.emplace_back()));
          break;
        case net_parameter_field::kLayers:
          old = true;
          X2IR_RETURN_IF_ERROR(ReadLayer(in.Bytes(), V1LayerMessage(), &net.layers.emplace_back()));
          break;
        default: break;
      }
    }
    X2IR_RETURN_IF_ERROR(in.status());
    if (old && !weights_only()) X2IR_RETURN_IF_ERROR(MergePaddings(&net.layers));
    return net;
  }

  // Floats that are contiguous in a file stay there.
  absl::StatusOr<Tensor> ReadBlob(std::string_view bytes) {
    std::vector<int64_t> dims, legacy = {0, 0, 0, 0};
    bool has_shape = false, has_legacy = false;
    std::string_view floats;  // where they lie in the file
    std::vector<float> copied;
    std::vector<double> doubles;
    WireReader in = Fields(bytes);
    while (in.Next()) {
      switch (in.field()) {
        case blob_proto_field::kNum:
        case blob_proto_field::kChannels:
        case blob_proto_field::kHeight:
        case blob_proto_field::kWidth:
          legacy[in.field() - blob_proto_field::kNum] = static_cast<int32_t>(in.Int());
          has_legacy = true;
          break;
        case blob_proto_field::kShape: {
          X2IR_ASSIGN_OR_RETURN(dims, ReadShape(in.Bytes()));
          has_shape = true;
          break;
        }
        case blob_proto_field::kDoubleData: in.AppendDoubles(&doubles); break;
        case blob_proto_field::kData:
          if (!floats.empty()) return Unimplemented("weights in several pieces");
          if (file_ && in.type() == WireType::kBytes && copied.empty()) {
            floats = in.Bytes();
          } else {
            in.AppendFloats(&copied);
          }
          break;
        default: break;
      }
    }
    X2IR_RETURN_IF_ERROR(in.status());
    if (!has_shape && has_legacy) dims = std::move(legacy);
    copied.insert(copied.end(), doubles.begin(), doubles.end());
    const auto count =
        static_cast<int64_t>(floats.empty() ? copied.size() : floats.size() / sizeof(float));
    int64_t expected = 1;
    for (const int64_t dim : dims) {
      if (dim < 0 || __builtin_mul_overflow(expected, dim, &expected)) {
        return Invalid("weights of an impossible shape");
      }
    }
    if (!has_shape && !has_legacy) {
      dims = {count};
      expected = count;
    }
    if (expected != count) {
      return DataLoss("weights of ", expected, " elements, but the file has ", count);
    }
    if (floats.empty()) return Tensor::Of<float>(std::move(dims), copied);
    return TensorOf(DType::kFloat32, std::move(dims), file_,
                    static_cast<uint64_t>(floats.data() - bytes_.data()), floats.size());
  }

 private:
  WireReader Fields(std::string_view message) const { return {message, bytes_.data()}; }
  bool weights_only() const { return file_ != nullptr; }

  absl::StatusOr<std::vector<int64_t>> ReadShape(std::string_view bytes) const {
    std::vector<int64_t> dims;
    WireReader in = Fields(bytes);
    while (in.Next()) {
      if (in.field() == blob_shape_field::kDim) in.AppendInts(&dims);
    }
    X2IR_RETURN_IF_ERROR(in.status());
    if (dims.size() > kMaxAxes) return Invalid("a shape of ", dims.size(), " axes");
    for (const int64_t dim : dims) {
      if (dim < INT32_MIN || dim > INT32_MAX) return Invalid("a size of ", dim);
    }
    return dims;
  }

  absl::Status ReadState(std::string_view bytes, NetState* state) const {
    WireReader in = Fields(bytes);
    while (in.Next()) {
      // A definition's own phase is what it was trained in; here it is used.
      if (in.field() == net_state_field::kLevel) state->level = static_cast<int32_t>(in.Int());
      if (in.field() == net_state_field::kStage) state->stages.push_back(in.String());
    }
    return in.status();
  }

  absl::Status ReadRule(std::string_view bytes, std::vector<StateRule>* rules) const {
    StateRule& rule = rules->emplace_back();
    WireReader in = Fields(bytes);
    while (in.Next()) {
      switch (in.field()) {
        case net_state_rule_field::kPhase: rule.phase = in.Int(); break;
        case net_state_rule_field::kMinLevel:
          rule.min_level = static_cast<int32_t>(in.Int());
          break;
        case net_state_rule_field::kMaxLevel:
          rule.max_level = static_cast<int32_t>(in.Int());
          break;
        case net_state_rule_field::kStage: rule.stages.push_back(in.String()); break;
        case net_state_rule_field::kNotStage: rule.not_stages.push_back(in.String()); break;
        default: break;
      }
    }
    return in.status();
  }

  // Fields of a layer are read by their names, which V1 and today's version share.
  absl::Status ReadLayer(std::string_view bytes, const ProtoMessage& message, LayerDesc* layer) {
    WireReader in = Fields(bytes);
    while (in.Next()) {
      const ProtoField* field = FindProtoField(message, in.field());
      if (!field) continue;
      const std::string_view name = field->name;
      if (name == "name") {
        layer->name = in.Bytes();
      } else if (name == "type" && field->kind == ProtoKind::kEnum) {
        const int64_t number = in.Int();
        layer->type = TypeOfV1(number);
        if (layer->type.empty()) layer->type = StrCat("V1 type ", number);
      } else if (name == "type") {
        layer->type = in.Bytes();
      } else if (name == "blobs") {
        absl::StatusOr<Tensor> blob = ReadBlob(in.Bytes());
        if (!blob.ok()) return Annotate(blob.status(), StrCat("layer '", layer->name, "'"));
        layer->blobs.push_back(*std::move(blob));
      } else if (name == "layer") {
        X2IR_RETURN_IF_ERROR(ReadV0(in.Bytes(), layer));
      } else if (weights_only()) {
        continue;
      } else if (name == "bottom") {
        layer->bottoms.push_back(in.String());
      } else if (name == "top") {
        layer->tops.push_back(in.String());
      } else if (name == "include") {
        X2IR_RETURN_IF_ERROR(ReadRule(in.Bytes(), &layer->include));
      } else if (name == "exclude") {
        X2IR_RETURN_IF_ERROR(ReadRule(in.Bytes(), &layer->exclude));
      } else if (name == "phase") {
        layer->phase = in.Int();
      } else if (name.ends_with("_param") && field->kind == ProtoKind::kMessage) {
        X2IR_RETURN_IF_ERROR(ReadParams(in.Bytes(), *field->message, StrCat(name, "."), layer));
      }
    }
    return in.status();
  }

  absl::Status ReadV0(std::string_view bytes, LayerDesc* layer) {
    LayerDesc v0;
    X2IR_RETURN_IF_ERROR(ReadParams(bytes, V0LayerMessage(), "", &v0));
    WireReader in = Fields(bytes);
    while (in.Next()) {
      if (in.field() == v0_layer_parameter_field::kName) layer->name = in.Bytes();
      if (in.field() == v0_layer_parameter_field::kType) {
        const std::string_view word = in.Bytes();
        layer->type = TypeOfV0(word);
        if (layer->type.empty()) layer->type = word;
      }
      if (in.field() == v0_layer_parameter_field::kBlobs) {
        X2IR_ASSIGN_OR_RETURN(layer->blobs.emplace_back(), ReadBlob(in.Bytes()));
      }
    }
    X2IR_RETURN_IF_ERROR(in.status());
    if (weights_only()) return absl::OkStatus();
    for (auto& [field, value] : v0.attrs) {
      const std::string name = V0FieldOf(layer->type, field);
      if (name.empty()) continue;
      const bool list = layer->type == "Convolution" &&
                        (field == "pad" || field == "kernelsize" || field == "stride");
      layer->attrs.emplace_back(name,
                                list ? Attribute(Attribute::Ints{*value.get<int64_t>()}) : value);
    }
    return absl::OkStatus();
  }

  // The fields of a message as attributes, those of messages in it with both names. How weights
  // were initialized is nothing to a network that has them.
  absl::Status ReadParams(std::string_view bytes, const ProtoMessage& message,
                          const std::string& prefix, LayerDesc* layer) {
    std::vector<std::pair<std::string, Attribute>>& attrs = layer->attrs;
    WireReader in = Fields(bytes);
    while (in.Next()) {
      const ProtoField* field = FindProtoField(message, in.field());
      if (!field) continue;
      const std::string name = StrCat(prefix, field->name);
      if (field->kind == ProtoKind::kMessage) {
        if (field->message->name == "FillerParameter" || field->message->name == "BlobProto") {
          continue;
        }
        if (field->message->name == "BlobShape" && field->rule == ProtoRule::kMany) {
          X2IR_ASSIGN_OR_RETURN(layer->shapes.emplace_back(), ReadShape(in.Bytes()));
          continue;
        }
        X2IR_RETURN_IF_ERROR(ReadParams(in.Bytes(), *field->message, name + ".", layer));
        continue;
      }
      const bool many = field->rule == ProtoRule::kMany;
      const auto value_of = [&]() -> Attribute {
        switch (field->kind) {
          case ProtoKind::kFloat: return in.Float();
          case ProtoKind::kDouble: return in.Double();
          case ProtoKind::kString:
          case ProtoKind::kBytes: return in.Bytes();
          case ProtoKind::kBool: return in.Int() != 0;
          case ProtoKind::kEnum: return field->values->name(in.Int());
          case ProtoKind::kUInt32: return static_cast<int64_t>(static_cast<uint32_t>(in.Int()));
          case ProtoKind::kInt32: return static_cast<int64_t>(static_cast<int32_t>(in.Int()));
          default: return in.Int();
        }
      };
      if (!many) {
        attrs.emplace_back(name, value_of());
        continue;
      }
      auto list = std::ranges::find(attrs, name, &std::pair<std::string, Attribute>::first);
      if (list == attrs.end()) {
        Attribute empty = Attribute::Ints();
        if (field->kind == ProtoKind::kFloat) empty = Attribute::Floats();
        if (field->kind == ProtoKind::kString) empty = Attribute::Strings();
        list = attrs.insert(attrs.end(), {name, std::move(empty)});
      }
      auto& held = list->second.variant();
      if (auto* ints = std::get_if<Attribute::Ints>(&held)) {
        in.AppendInts(ints);
      } else if (auto* floats = std::get_if<Attribute::Floats>(&held)) {
        in.AppendFloats(floats);
      } else if (auto* texts = std::get_if<Attribute::Strings>(&held)) {
        texts->push_back(in.String());
      }
    }
    return in.status();
  }

  const std::string_view bytes_;
  const BlobPtr file_;
};

}  // namespace

const Attribute* LayerDesc::Find(std::string_view attr) const {
  const auto found = std::ranges::find(attrs, attr, &std::pair<std::string, Attribute>::first);
  return found == attrs.end() ? nullptr : &found->second;
}

absl::StatusOr<NetDesc> ReadDefinition(const BlobPtr& text) {
  X2IR_ASSIGN_OR_RETURN(const std::string wire,
                        ProtoTextToWire(text->view(), NetMessage(), ProtoUnknown::kError));
  return NetReader(wire, nullptr).Read();
}

absl::StatusOr<Tensor> ReadBlobFile(const BlobPtr& file) {
  return NetReader(file->view(), file).ReadBlob(file->view());
}

absl::StatusOr<std::vector<LayerDesc>> ReadWeights(const BlobPtr& file) {
  X2IR_ASSIGN_OR_RETURN(NetDesc net, NetReader(file->view(), file).Read());
  return std::move(net.layers);
}

}  // namespace x2ir::caffe
