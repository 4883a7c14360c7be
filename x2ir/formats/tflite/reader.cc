// Reads a subgraph with those that it runs.
#include <cmath>
#include <utility>

#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/formats/tflite/reader_internal.h"
#include "x2ir/formats/tflite/schema.h"
#include "x2ir/formats/tflite/tflite.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace tflite {
namespace {

constexpr int kMaxDepth = 64;
constexpr size_t kMaxMetadata = size_t{1} << 20;  // bytes that annotations keep

std::string NameOf(const fb::Tensor& tensor, int64_t index) {
  if (tensor.name() && tensor.name()->size() != 0) return tensor.name()->str();
  return StrCat("tensor_", index);
}

class Reader {
 public:
  Reader(File& file, const TfliteOptions& options) : file_(file), options_(options) {}

  absl::StatusOr<Model> Read() {
    X2IR_RETURN_IF_ERROR(FindSubgraph());
    Model model;
    model.source_dialect = std::string(kDialect);
    model.SetOpset("", 1);
    model.SetOpset("custom", 1);
    X2IR_RETURN_IF_ERROR(ReadSubgraph(subgraph_, model.graph.get()));
    if (signature_ && signature_->signature_key()) {
      model.graph->set_name(signature_->signature_key()->str());
    }
    if (!signature_) model.annotations.GetOrMake().extra[kNoSignature] = "1";
    ReadAnnotations(model);
    return model;
  }

 private:
  absl::Status FindSubgraph() {
    const auto* subgraphs = file_.model().subgraphs();
    if (!subgraphs || subgraphs->size() == 0) return Invalid("the model has no subgraph");
    const auto* signatures = file_.model().signature_defs();
    std::string names;
    for (uint32_t i = 0; signatures && i < signatures->size(); ++i) {
      const fb::SignatureDef* signature = signatures->Get(i);
      const std::string name = signature->signature_key() ? signature->signature_key()->str() : "";
      StrAppend(&names, names.empty() ? "" : ", ", name);
      const bool wanted = options_.signature.empty() ? signature->subgraph_index() == 0
                                                     : name == options_.signature;
      if (wanted && !signature_) signature_ = signature;
    }
    if (!options_.signature.empty() && !signature_) {
      return OptionError("signature", "the model has no signature '", options_.signature, "'",
                         names.empty() ? "" : StrCat("; it has ", names));
    }
    if (signature_) subgraph_ = signature_->subgraph_index();
    return absl::OkStatus();
  }

  absl::StatusOr<std::shared_ptr<Graph>> ReadNested(int64_t index) {
    if (depth_ >= kMaxDepth) {
      return Invalid("calls of subgraphs are nested more than ", static_cast<int64_t>(kMaxDepth),
                     " deep");
    }
    auto graph = std::make_shared<Graph>();
    ++depth_;
    const absl::Status status = ReadSubgraph(index, graph.get());
    --depth_;
    X2IR_RETURN_IF_ERROR(status);
    return graph;
  }

  absl::Status ReadSubgraph(int64_t index, Graph* graph) {
    const auto* subgraphs = file_.model().subgraphs();
    if (index < 0 || index >= static_cast<int64_t>(subgraphs->size())) {
      return Invalid("there is no subgraph ", index);
    }
    const fb::SubGraph& subgraph = *subgraphs->Get(static_cast<uint32_t>(index));
    const size_t cost = 1 + (subgraph.operators() ? subgraph.operators()->size() : 0) +
                        (subgraph.tensors() ? subgraph.tensors()->size() : 0);
    if (depth_ > 0 && cost > nodes_left_) return Invalid("too many calls of subgraphs");
    if (depth_ > 0) nodes_left_ -= cost;
    if (subgraph.name()) graph->set_name(subgraph.name()->str());
    return Annotate(Body(*this, subgraph, graph).Read(), StrCat("subgraph ", index));
  }

  // A subgraph that becomes a graph.
  class Body {
   public:
    Body(Reader& reader, const fb::SubGraph& subgraph, Graph* graph)
        : reader_(reader), subgraph_(subgraph), graph_(graph) {
      values_.resize(subgraph.tensors() ? subgraph.tensors()->size() : 0);
    }

    absl::Status Read() {
      if (const auto* inputs = subgraph_.inputs()) {
        for (const int32_t i : *inputs) X2IR_RETURN_IF_ERROR(AddInput(i));
      }
      if (const auto* operators = subgraph_.operators()) {
        std::vector<Node*> nodes;
        for (uint32_t i = 0; i < operators->size(); ++i) {
          X2IR_RETURN_IF_ERROR(Annotate(AddNode(*operators->Get(i), &nodes.emplace_back()),
                                        StrCat("operator ", static_cast<int64_t>(i))));
        }
        for (uint32_t i = 0; i < operators->size(); ++i) {
          const auto* inputs = operators->Get(i)->inputs();
          for (uint32_t k = 0; inputs && k < inputs->size(); ++k) {
            Value* value = nullptr;  // -1: left out
            if (inputs->Get(k) != -1) {
              X2IR_ASSIGN_OR_RETURN(value, ValueOf(inputs->Get(k)));
            }
            nodes[i]->AddInput(value);
          }
        }
      }
      if (const auto* outputs = subgraph_.outputs()) {
        for (const int32_t i : *outputs) {
          X2IR_ASSIGN_OR_RETURN(Value * value, ValueOf(i));
          graph_->AddOutput(value);
        }
      }
      return NameSignature();
    }

   private:
    absl::StatusOr<const fb::Tensor*> TensorAt(int64_t index) const {
      if (index < 0 || index >= static_cast<int64_t>(values_.size())) {
        return Invalid("there is no tensor ", index);
      }
      return subgraph_.tensors()->Get(static_cast<uint32_t>(index));
    }

    // Symbols for sizes that may vary.
    static Shape ShapeOf(const fb::Tensor& tensor, const std::string& name) {
      std::vector<Dim> dims;
      const auto* sizes = tensor.shape();
      const auto* signature = tensor.shape_signature();
      const bool fits = signature && sizes && signature->size() == sizes->size();
      for (uint32_t i = 0; sizes && i < sizes->size(); ++i) {
        const int64_t size = fits ? signature->Get(i) : sizes->Get(i);
        dims.push_back(size >= 0 ? Dim(size) : Dim::Symbol(StrCat(name, "_", int64_t{i})));
      }
      return Shape(std::move(dims));
    }

    Type TypeOf(const fb::Tensor& tensor) {
      const bool no_axes = !tensor.shape() || tensor.shape()->size() == 0;
      if (no_axes && !tensor.has_rank()) reader_.says_ranks_ = false;
      const auto number = static_cast<int64_t>(tensor.type());
      const DType dtype = ToDType(number);
      if (dtype != DType::kUndefined) return Type::Tensor(dtype);
      return Type::Opaque(std::string(kDialect), std::string(TensorTypeName(number)));
    }

    absl::Status AddInput(int64_t index) {
      X2IR_ASSIGN_OR_RETURN(const fb::Tensor* tensor, TensorAt(index));
      if (values_[index]) return Invalid("tensor ", index, " is an input twice");
      const std::string name = NameOf(*tensor, index);
      Type type = TypeOf(*tensor);
      if (type.is_tensor()) type.set_shape(ShapeOf(*tensor, name));
      values_[index] = graph_->AddInput(graph_->UniqueName(name), std::move(type));
      if (tensor->shape_signature() && tensor->shape()) {
        std::string sizes;
        for (const int32_t size : *tensor->shape()) StrAppend(&sizes, int64_t{size}, " ");
        values_[index]->annotations().GetOrMake().extra[kStatedSizes] = std::move(sizes);
      }
      return SetQuantizationOf(*tensor, values_[index]);
    }

    absl::Status SetQuantizationOf(const fb::Tensor& tensor, Value* value) {
      const fb::QuantizationParameters* q = tensor.quantization();
      const DType dtype = value->dtype();
      if (!q || !IsInteger(dtype)) return absl::OkStatus();
      Quantization quantization;
      if (const auto* blocks = q->details_as_BlockwiseQuantization()) {
        X2IR_RETURN_IF_ERROR(ReadBlocks(tensor, *blocks, &quantization));
      } else if (q->details()) {
        return Unimplemented("tensor '", value->name(), "': its quantization");
      } else {
        if (!q->scale() || q->scale()->size() == 0) return absl::OkStatus();
        quantization.scales = Elements(q->scale());
        quantization.zero_points = Elements(q->zero_point());
        quantization.axis = q->quantized_dimension();
      }
      const size_t count = quantization.scales.size();
      if (quantization.zero_points.empty()) quantization.zero_points = {0};
      if (quantization.zero_points.size() == 1) {
        quantization.zero_points.resize(count, quantization.zero_points[0]);
      }
      for (const float scale : quantization.scales) {
        // A scale of 0 is what a converter writes that does not know it.
        if (scale == 0 && count == 1) return absl::OkStatus();
        if (!std::isfinite(scale)) return Invalid("tensor '", value->name(), "' has no scale");
      }
      const int64_t rank = tensor.shape() ? tensor.shape()->size() : 0;
      const bool along = count > 1 && quantization.block_size == 0;
      if (quantization.zero_points.size() != count ||
          (along && (quantization.axis < 0 || quantization.axis >= rank ||
                     tensor.shape()->Get(static_cast<uint32_t>(quantization.axis)) !=
                         static_cast<int64_t>(count)))) {
        return Invalid("tensor '", value->name(), "': its quantization does not fit its shape");
      }
      SetQuantization(*value, quantization);
      return absl::OkStatus();
    }

    // Scales and zero points are tensors of their own.
    absl::Status ReadBlocks(const fb::Tensor& tensor, const fb::BlockwiseQuantization& blocks,
                            Quantization* q) {
      X2IR_ASSIGN_OR_RETURN(const fb::Tensor* scales, TensorAt(blocks.scales()));
      X2IR_ASSIGN_OR_RETURN(const auto values, ReadConstant(reader_.file_, *scales));
      const auto* shape = tensor.shape();
      const int64_t rank = shape ? shape->size() : 0;
      const int64_t size = rank > 0 ? shape->Get(static_cast<uint32_t>(rank - 1)) : 0;
      if (!values || values->is_string() || blocks.block_size() <= 0 || size <= 0 ||
          size % blocks.block_size() != 0) {
        return Invalid("its block size is invalid");
      }
      int64_t expected = size / blocks.block_size();
      for (int64_t i = 0; i + 1 < rank; ++i) expected *= shape->Get(static_cast<uint32_t>(i));
      if (values->num_elements() != expected) {
        return Invalid("it has ", values->num_elements(), " scales for ", expected, " blocks");
      }
      for (int64_t i = 0; i < expected; ++i) {
        q->scales.push_back(static_cast<float>(values->AsDouble(i)));
      }
      q->block_size = blocks.block_size();
      q->axis = rank - 1;
      if (blocks.zero_points() > 0) {
        X2IR_ASSIGN_OR_RETURN(const fb::Tensor* tensor_of_zeros, TensorAt(blocks.zero_points()));
        X2IR_ASSIGN_OR_RETURN(const auto zeros, ReadConstant(reader_.file_, *tensor_of_zeros));
        if (zeros && zeros->num_elements() == expected && IsInteger(zeros->dtype())) {
          for (int64_t i = 0; i < expected; ++i) q->zero_points.push_back(zeros->AsInt(i));
        }
      }
      return absl::OkStatus();
    }

    absl::Status AddNode(const fb::Operator& op, Node** node) {
      const auto* codes = reader_.file_.model().operator_codes();
      if (!codes || op.opcode_index() >= codes->size()) {
        return Invalid("there is no operator code ", static_cast<int64_t>(op.opcode_index()));
      }
      const fb::OperatorCode& code = *codes->Get(op.opcode_index());
      // Files of the first schemas have the number in a byte.
      const auto builtin = std::max<int64_t>(static_cast<int64_t>(code.builtin_code()),
                                             code.deprecated_builtin_code());
      std::string name;
      AttributeMap attrs;
      if (builtin == static_cast<int64_t>(fb::BuiltinOperator::CUSTOM)) {
        const std::string custom = code.custom_code() ? code.custom_code()->str() : "";
        const absl::Status status = ReadCustomOptions(reader_.file_, op, custom, &name, &attrs);
        X2IR_RETURN_IF_ERROR(Annotate(status, custom));
        if (code.version() > 1) attrs.Set(kCustomVersion, int64_t{code.version()});
      } else {
        name = OperatorName(builtin);
        if (name.empty()) return Unimplemented("operator ", builtin, " is of a newer schema");
        const absl::Status status = ReadOptions(
            reader_.file_, op, [&](int64_t index) { return reader_.ReadNested(index); }, &attrs);
        X2IR_RETURN_IF_ERROR(Annotate(status, name));
      }
      *node = graph_->AppendNode(kDialect, name, {});
      for (auto& [attr, value] : attrs) (*node)->SetAttr(attr, std::move(value));
      X2IR_RETURN_IF_ERROR(AddIntermediates(op, *node));
      const bool custom = name.find(':') != std::string::npos;
      const auto* outputs = op.outputs();
      for (uint32_t i = 0; outputs && i < outputs->size(); ++i) {
        const int64_t index = outputs->Get(i);
        if (index == -1) {
          graph_->AddMissingOutput(*node);
          continue;
        }
        X2IR_ASSIGN_OR_RETURN(const fb::Tensor* tensor, TensorAt(index));
        if (values_[index]) return Invalid("tensor ", index, " is produced twice");
        Type type = TypeOf(*tensor);
        // Of what is not known only the file can tell the shape.
        if (custom && type.is_tensor() && tensor->shape() && tensor->shape()->size() != 0) {
          type.set_shape(ShapeOf(*tensor, NameOf(*tensor, index)));
        }
        values_[index] = graph_->AddNodeOutput(*node, graph_->UniqueName(NameOf(*tensor, index)),
                                               std::move(type));
        X2IR_RETURN_IF_ERROR(SetQuantizationOf(*tensor, values_[index]));
      }
      return absl::OkStatus();
    }

    // What recurrent operators compute on the way has scales of its own.
    absl::Status AddIntermediates(const fb::Operator& op, Node* node) {
      const auto* all = op.intermediates();
      if (!all || all->size() == 0) return absl::OkStatus();
      std::vector<float> scales;
      std::vector<int64_t> zero_points;
      for (const int32_t index : *all) {
        X2IR_ASSIGN_OR_RETURN(const fb::Tensor* tensor, TensorAt(index));
        const fb::QuantizationParameters* q = tensor->quantization();
        const bool has = q && q->scale() && q->scale()->size() == 1;
        scales.push_back(has ? q->scale()->Get(0) : 0.0f);
        const std::vector<int64_t> zeros = Elements(has ? q->zero_point() : nullptr);
        zero_points.push_back(zeros.size() == 1 ? zeros[0] : 0);
      }
      node->SetAttr("intermediate_scales", std::move(scales));
      node->SetAttr("intermediate_zero_points", std::move(zero_points));
      return absl::OkStatus();
    }

    absl::StatusOr<Value*> ValueOf(int64_t index) {
      X2IR_ASSIGN_OR_RETURN(const fb::Tensor* tensor, TensorAt(index));
      if (values_[index]) return values_[index];
      const std::string name = NameOf(*tensor, index);
      absl::StatusOr<std::optional<Tensor>> constant = tensor->is_variable()
                                                           ? ReadZeros(reader_.file_, *tensor)
                                                           : ReadConstant(reader_.file_, *tensor);
      if (!constant.ok()) return Annotate(constant.status(), StrCat("tensor '", name, "'"));
      if (!*constant) return Invalid("no operator produces tensor '", name, "'");
      values_[index] = graph_->AddConstant(graph_->UniqueName(name), **std::move(constant));
      X2IR_RETURN_IF_ERROR(SetQuantizationOf(*tensor, values_[index]));
      if (tensor->is_variable()) {
        values_[index]->annotations().GetOrMake().extra[kVariable] = "1";
      }
      return values_[index];
    }

    // What the signature calls inputs and outputs.
    absl::Status NameSignature() {
      const fb::SignatureDef* signature = reader_.signature_;
      if (!signature || reader_.depth_ > 0) return absl::OkStatus();
      for (const auto* maps : {signature->inputs(), signature->outputs()}) {
        for (uint32_t i = 0; maps && i < maps->size(); ++i) {
          const fb::TensorMap& map = *maps->Get(i);
          X2IR_ASSIGN_OR_RETURN(Value * value, ValueOf(map.tensor_index()));
          if (map.name()) {
            value->annotations().GetOrMake().extra["tflite.signature_name"] = map.name()->str();
          }
        }
      }
      return absl::OkStatus();
    }

    Reader& reader_;
    const fb::SubGraph& subgraph_;
    Graph* graph_;
    std::vector<Value*> values_;  // by the numbers of tensors; null: not read yet
  };

  void ReadAnnotations(Model& model) {
    if (options_.dequantize) {
      model.annotations.GetOrMake().extra["tflite.dequantize"] = "1";
    }
    const auto* description = file_.model().description();
    if (description && description->size() != 0) {
      model.annotations.GetOrMake().doc_string = description->str();
    }
    const auto* metadata = file_.model().metadata();
    size_t left = kMaxMetadata;
    for (uint32_t i = 0; metadata && i < metadata->size(); ++i) {
      const fb::Metadata& entry = *metadata->Get(i);
      const auto range = file_.Buffer(entry.buffer());
      if (!entry.name() || !range.ok() || !*range || (*range)->size > left) continue;
      left -= (*range)->size;
      model.annotations.GetOrMake().extra[StrCat(kMetadata, entry.name()->str())] =
          std::string((*range)->view());
    }
    if (!says_ranks_) model.annotations.GetOrMake().extra[kNoRanks] = "1";
    const Annotations* own = model.annotations.get();
    if (!own || !own->extra.contains(std::string(kMetadata) + kRuntime)) {
      model.annotations.GetOrMake().extra[kNoRuntime] = "1";
    }
  }

  File& file_;
  const TfliteOptions& options_;
  const fb::SignatureDef* signature_ = nullptr;  // of the graph that is read
  int64_t subgraph_ = 0;
  int depth_ = 0;
  bool says_ranks_ = true;               // of all tensors without axes: that they are scalars
  size_t nodes_left_ = size_t{1} << 20;  // of nested graphs
};

}  // namespace
}  // namespace tflite

absl::StatusOr<Model> ReadTflite(const Source& source, const TfliteOptions& options) {
  const auto read = [&]() -> absl::StatusOr<Model> {
    X2IR_ASSIGN_OR_RETURN(tflite::File file, tflite::File::Open(source));
    return tflite::Reader(file, options).Read();
  };
  absl::StatusOr<Model> model = read();
  if (!model.ok()) return AnnotateOption(model.status(), StrCat("'", source.name(), "'"));
  return model;
}

}  // namespace x2ir
