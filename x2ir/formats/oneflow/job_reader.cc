// Reads jobs: the protobuf message Job, in its wire form or as text.
#include <algorithm>
#include <complex>
#include <filesystem>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_join.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/oneflow/job_internal.h"
#include "x2ir/formats/oneflow/reader_internal.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace oneflow {
namespace {

// The last field of OperatorConf that is about the op itself, not its type.
constexpr uint32_t kLastCommon = 99;

class JobReader {
 public:
  explicit JobReader(std::string_view wire) : wire_(wire) {}

  absl::Status Read() {
    WireReader job(wire_, wire_.data());
    while (job.Next()) {
      if (job.field() == job_field::kNet) {
        WireReader net(job.Bytes(), wire_.data());
        while (net.Next()) {
          if (net.field() == dl_net_conf_field::kOp) X2IR_RETURN_IF_ERROR(ReadOp(net.Bytes()));
        }
        X2IR_RETURN_IF_ERROR(net.status());
      } else if (job.field() == job_field::kJobConf) {
        WireReader conf(job.Bytes(), wire_.data());
        while (conf.Next()) {
          if (conf.field() == job_config_proto_field::kJobName) name_ = conf.String();
        }
        X2IR_RETURN_IF_ERROR(conf.status());
      }
    }
    return job.status();
  }

  std::vector<RawOp>& ops() { return ops_; }
  const std::string& name() const { return name_; }

 private:
  absl::Status ReadOp(std::string_view bytes) {
    RawOp op;
    std::string_view conf;
    uint32_t field = 0;
    WireReader in(bytes, wire_.data());
    while (in.Next()) {
      if (in.field() == operator_conf_field::kName) {
        op.name = in.String();
      } else if (in.field() > kLastCommon) {
        field = in.field();
        conf = in.Bytes();
      }
    }
    X2IR_RETURN_IF_ERROR(in.status());
    // The text form does not have unknown names, such as those of ticks.
    if (field == 0) return absl::OkStatus();
    return Annotate(field == operator_conf_field::kUserConf ? ReadUserOp(conf, &op)
                                                            : ReadSystemOp(field, conf, &op),
                    StrCat("op '", op.name, "'"));
  }

  // Ops that are no user ops, each a message of its own.
  absl::Status ReadSystemOp(uint32_t number, std::string_view bytes, RawOp* op) {
    const ProtoField* conf = FindProtoField(OperatorMessage(), number);
    // Nothing of others is known but that they are there.
    if (!conf) {
      op->type = StrCat("system_", int64_t{number});
      ops_.push_back(std::move(*op));
      return absl::OkStatus();
    }
    // Ticks say when ops run, and make no tensors: the facts have no fields of them.
    if (conf->message->fields.empty()) return absl::OkStatus();
    op->type = conf->name.substr(0, conf->name.rfind("_conf"));
    WireReader in(bytes, wire_.data());
    while (in.Next()) {
      const ProtoField* field = FindProtoField(*conf->message, in.field());
      const std::string_view name = field ? field->name : "";
      if (name == "in" || name == "in_0" || name == "like") {
        op->operands.push_back(in.String());
      } else if (name == "out" || name == "out_0") {
        const std::string lbn = StrCat(op->name, "/", in.Bytes());
        op->results.push_back({lbn, lbn});
      } else if (name == "shape") {
        X2IR_RETURN_IF_ERROR(ReadShape(in.Bytes(), &op->dims));
      } else if (name == "data_type" && op->type == "variable") {
        op->dtype = ToDType(in.Int());
      } else if (name == "data_type") {
        X2IR_ASSIGN_OR_RETURN(std::string dtype, NameOfDataType(in.Int()));
        op->attrs.Set("dtype", std::move(dtype));
      } else if (name == "blob_conf") {
        WireReader blob(in.Bytes(), wire_.data());
        while (blob.Next()) {
          if (blob.field() == interface_blob_conf_field::kShape) {
            X2IR_RETURN_IF_ERROR(ReadShape(blob.Bytes(), &op->dims));
          }
          if (blob.field() == interface_blob_conf_field::kDataType) op->dtype = ToDType(blob.Int());
        }
        X2IR_RETURN_IF_ERROR(blob.status());
      } else if (name == "axis" || name == "int_operand") {
        op->attrs.Set(std::string(name), in.Int());
      } else if (name == "float_operand") {
        op->attrs.Set(std::string(name), in.Double());
      }
    }
    X2IR_RETURN_IF_ERROR(in.status());
    ops_.push_back(std::move(*op));
    return absl::OkStatus();
  }

  absl::Status ReadShape(std::string_view bytes, std::vector<int64_t>* dims) {
    WireReader in(bytes, wire_.data());
    while (in.Next()) {
      if (in.field() == shape_proto_field::kDim) in.AppendInts(dims);
    }
    return in.status();
  }

  // An entry of a map of names to lists.
  absl::Status ReadNames(std::string_view bytes,
                         std::vector<std::pair<std::string, std::vector<std::string>>>* map) {
    auto& [key, names] = map->emplace_back();
    WireReader in(bytes, wire_.data());
    while (in.Next()) {
      if (in.field() == user_op_conf_input_entry_field::kKey) key = in.String();
      if (in.field() != user_op_conf_input_entry_field::kValue) continue;
      WireReader list(in.Bytes(), wire_.data());
      while (list.Next()) {
        if (list.field() == user_op_conf_list_string_field::kS) names.push_back(list.String());
      }
      X2IR_RETURN_IF_ERROR(list.status());
    }
    return in.status();
  }

  absl::Status ReadUserOp(std::string_view bytes, RawOp* op) {
    std::vector<std::pair<std::string, std::vector<std::string>>> inputs, outputs;
    std::vector<std::pair<std::string, std::string_view>> attrs;
    std::vector<std::string> input_order, output_order;
    WireReader in(bytes, wire_.data());
    while (in.Next()) {
      switch (in.field()) {
        case user_op_conf_field::kOpTypeName: op->type = in.String(); break;
        case user_op_conf_field::kInput:
          X2IR_RETURN_IF_ERROR(ReadNames(in.Bytes(), &inputs));
          break;
        case user_op_conf_field::kOutput:
          X2IR_RETURN_IF_ERROR(ReadNames(in.Bytes(), &outputs));
          break;
        case user_op_conf_field::kAttr: {
          auto& [name, value] = attrs.emplace_back();
          WireReader entry(in.Bytes(), wire_.data());
          while (entry.Next()) {
            if (entry.field() == user_op_conf_attr_entry_field::kKey) name = entry.String();
            if (entry.field() == user_op_conf_attr_entry_field::kValue) value = entry.Bytes();
          }
          X2IR_RETURN_IF_ERROR(entry.status());
          break;
        }
        case user_op_conf_field::kInputOrder: input_order.push_back(in.String()); break;
        case user_op_conf_field::kOutputOrder: output_order.push_back(in.String()); break;
        default: break;
      }
    }
    X2IR_RETURN_IF_ERROR(in.status());
    const OpSpec* spec = FindOp(op->type);
    for (const auto& [name, value] : attrs) {
      if (!(spec && spec->FindAttr(name)) && (IsSystemAttr(name) || name == "nd_sbp")) continue;
      X2IR_RETURN_IF_ERROR(
          Annotate(ReadAttr(value, name, &op->attrs), StrCat("attribute '", name, "'")));
    }
    std::vector<std::string> keys, results;
    X2IR_ASSIGN_OR_RETURN(
        std::vector<int64_t> counts,
        InOrder(op->type, inputs, spec ? &spec->inputs : nullptr, input_order, &keys));
    if (spec) {
      X2IR_ASSIGN_OR_RETURN(op->operands,
                            PlaceOperands(*spec, keys, std::move(counts), &op->attrs));
    } else {
      op->operands = std::move(keys);
    }
    X2IR_ASSIGN_OR_RETURN(counts, InOrder(op->type, outputs, spec ? &spec->outputs : nullptr,
                                          output_order, &results));
    size_t next = 0;
    for (const int64_t count : counts) {
      if (count == 0) op->results.emplace_back();
      for (int64_t k = 0; k < count; ++k, ++next) {
        op->results.push_back({results[next], results[next]});
      }
    }
    ops_.push_back(std::move(*op));
    return absl::OkStatus();
  }

  // The entries of a map in the order of the table, else in that of the op, else by name; and the
  // number of values of each name.
  static absl::StatusOr<std::vector<int64_t>> InOrder(
      std::string_view op, std::vector<std::pair<std::string, std::vector<std::string>>> map,
      const std::vector<OperandSpec>* names, const std::vector<std::string>& said,
      std::vector<std::string>* all) {
    std::vector<std::string> order = said;
    if (names) {
      order.clear();
      for (const OperandSpec& name : *names) order.emplace_back(name.name);
    } else if (order.empty()) {
      std::sort(map.begin(), map.end());
      for (const auto& entry : map) order.push_back(entry.first);
    }
    std::vector<int64_t> counts(order.size(), 0);
    for (auto& [key, values] : map) {
      const auto at = std::find(order.begin(), order.end(), key);
      if (at == order.end()) {
        if (values.empty() || IsFormerOperand(op, key)) {
          values.clear();
          continue;
        }
        return Unimplemented("'", key, "' is not a known operand or result of it");
      }
      counts[static_cast<size_t>(at - order.begin())] += static_cast<int64_t>(values.size());
    }
    for (const std::string& name : order) {
      for (auto& [key, values] : map) {
        if (key != name) continue;
        for (std::string& value : values) all->push_back(std::move(value));
        values.clear();
      }
    }
    return counts;
  }

  static absl::StatusOr<std::string> NameOfDataType(int64_t number) {
    const DType dtype = ToDType(number);
    if (dtype == DType::kUndefined) return Unimplemented("element type ", DataTypeName(number));
    return std::string(Name(dtype));
  }

  absl::Status ReadAttr(std::string_view bytes, const std::string& name, AttributeMap* attrs) {
    WireReader in(bytes, wire_.data());
    while (in.Next()) {
      switch (in.field()) {
        case attr_value_field::kAtInt32:
          attrs->Set(name, int64_t{static_cast<int32_t>(in.Int())});
          break;
        case attr_value_field::kAtInt64: attrs->Set(name, in.Int()); break;
        case attr_value_field::kAtBool: attrs->Set(name, int64_t{in.Int() != 0}); break;
        case attr_value_field::kAtFloat: attrs->Set(name, in.Float()); break;
        case attr_value_field::kAtDouble: attrs->Set(name, in.Double()); break;
        case attr_value_field::kAtString:
        case attr_value_field::kAtBytes: attrs->Set(name, in.String()); break;
        case attr_value_field::kAtDataType: {
          X2IR_ASSIGN_OR_RETURN(std::string dtype, NameOfDataType(in.Int()));
          attrs->Set(name, std::move(dtype));
          break;
        }
        case attr_value_field::kAtMemoryFormat: attrs->Set(name, MemoryFormatName(in.Int())); break;
        case attr_value_field::kAtDevice: break;
        default: {
          const uint32_t field = in.field();
          X2IR_RETURN_IF_ERROR(ReadList(field, in.Bytes(), name, attrs));
        }
      }
    }
    return in.status();
  }

  // Messages of lists: `val`, or `dim` of shapes.
  absl::Status ReadList(uint32_t field, std::string_view bytes, const std::string& name,
                        AttributeMap* attrs) {
    std::vector<int64_t> ints;
    std::vector<std::string> strings;
    std::vector<float> floats;
    std::vector<double> parts;
    WireReader in(bytes, wire_.data());
    while (in.Next()) {
      if (field == attr_value_field::kAtComplexDouble) {
        parts.push_back(in.Double());
        continue;
      }
      if (in.field() != shape_proto_field::kDim) continue;
      switch (field) {
        case attr_value_field::kAtShape:
        case attr_value_field::kAtStride:
        case attr_value_field::kAtListInt32:
        case attr_value_field::kAtListInt64:
        case attr_value_field::kAtListDataType: in.AppendInts(&ints); break;
        case attr_value_field::kAtListFloat: in.AppendFloats(&floats); break;
        case attr_value_field::kAtListString: strings.push_back(in.String()); break;
        case attr_value_field::kAtListShape:
        case attr_value_field::kAtListStride: {
          std::vector<int64_t> dims;
          X2IR_RETURN_IF_ERROR(ReadShape(in.Bytes(), &dims));
          strings.push_back(absl::StrJoin(dims, ","));
          break;
        }
        default: return Unimplemented("its kind");
      }
    }
    X2IR_RETURN_IF_ERROR(in.status());
    if (field == attr_value_field::kAtComplexDouble) {
      if (parts.size() != 2) return DataLoss("not a complex number");
      attrs->Set(name, Tensor::Scalar(std::complex<double>(parts[0], parts[1])));
    } else if (field == attr_value_field::kAtListFloat) {
      attrs->Set(name, std::move(floats));
    } else if (field == attr_value_field::kAtListDataType) {
      for (const int64_t number : ints) {
        X2IR_ASSIGN_OR_RETURN(strings.emplace_back(), NameOfDataType(number));
      }
      attrs->Set(name, std::move(strings));
    } else if (field == attr_value_field::kAtListString ||
               field == attr_value_field::kAtListShape ||
               field == attr_value_field::kAtListStride) {
      attrs->Set(name, std::move(strings));
    } else {
      if (field == attr_value_field::kAtListInt32) {
        for (int64_t& i : ints) i = static_cast<int32_t>(i);
      }
      attrs->Set(name, std::move(ints));
    }
    return absl::OkStatus();
  }

  std::string_view wire_;
  std::vector<RawOp> ops_;
  std::string name_;
};

// Inputs and outputs are numbered by their names ("_graph-input_3"), and are in any order.
void SortPorts(std::string_view type, std::vector<RawOp>* ops) {
  std::vector<size_t> places;
  std::vector<std::pair<int64_t, size_t>> order;
  for (size_t i = 0; i < ops->size(); ++i) {
    const RawOp& op = (*ops)[i];
    if (op.type != type) continue;
    const size_t underscore = op.name.rfind('_');
    // Other names may happen to end in the same way.
    if (!op.name.starts_with("_") || op.name.find(type) == op.name.npos) return;
    const auto number = underscore == op.name.npos
                            ? std::nullopt
                            : ParseIndex(std::string_view(op.name).substr(underscore + 1));
    if (!number) return;
    order.emplace_back(*number, i);
    places.push_back(i);
  }
  std::sort(order.begin(), order.end());
  std::vector<RawOp> sorted;
  for (size_t k = 0; k < order.size(); ++k) {
    if (k > 0 && order[k].first == order[k - 1].first) return;
    sorted.push_back((*ops)[order[k].second]);
  }
  for (size_t k = 0; k < places.size(); ++k) (*ops)[places[k]] = std::move(sorted[k]);
}

// Whether the text is of a job.
bool IsJobText(std::string_view head) {
  const std::string_view name = FirstProtoTextName(head);
  return name == "net" || name == "job_conf";
}

struct Field {
  uint64_t tag = 0, size = 0;
  std::string_view body;  // what of it is in sight
  std::string_view rest;
};
Field FirstField(std::string_view bytes) {
  Field field;
  size_t pos = 0;
  for (uint64_t* number : {&field.tag, &field.size}) {
    const auto found = VarintAt(bytes, &pos, 6);
    if (!found) return {};
    *number = *found;
  }
  field.body = bytes.substr(pos, std::min<uint64_t>(field.size, bytes.size() - pos));
  field.rest = bytes.substr(pos + field.body.size());
  return field;
}

}  // namespace
}  // namespace oneflow

absl::StatusOr<Model> ReadOneflowJob(const Source& source, const OneflowReadOptions& options) {
  using namespace oneflow;  // NOLINT: what the format's parts are called
  X2IR_ASSIGN_OR_RETURN(const BlobPtr file, source.Open());
  std::string of_text;
  std::string_view wire = file->view();
  if (IsJobText(wire.substr(0, 4096))) {
    X2IR_ASSIGN_OR_RETURN(of_text, ProtoTextToWire(wire, JobMessage(), ProtoUnknown::kSkipped));
    wire = of_text;
  }
  JobReader reader(wire);
  X2IR_RETURN_IF_ERROR(reader.Read());
  std::vector<RawOp>& ops = reader.ops();
  if (ops.empty()) return DataLoss("the job has no ops");
  bool has_outputs = false;
  for (const RawOp& op : ops) has_outputs |= op.type == "output";
  // Jobs that others call return what they give.
  for (RawOp& op : ops) {
    if (op.type == "return") op.type = has_outputs ? "identity" : "output";
  }
  SortPorts("input", &ops);
  SortPorts("output", &ops);
  Variables variables(source, options.snapshot);
  return MakeModel(ops, std::nullopt, reader.name(), variables);
}

bool LooksLikeOneflowJob(absl::Span<const std::byte> head, uint64_t file_size) {
  using namespace oneflow;  // NOLINT: what the format's parts are called
  const std::string_view bytes(reinterpret_cast<const char*>(head.data()), head.size());
  if (IsJobText(bytes))
    return bytes.find("user_conf") != bytes.npos || bytes.find("_conf {") != bytes.npos;
  // Net, op, name, and after the name a field that an op has.
  const Field net = FirstField(bytes);
  if (net.tag != 10 || net.size > file_size) return false;
  const Field op = FirstField(net.body);
  if (op.tag != 10 || op.size > net.size) return false;
  const Field name = FirstField(op.body);
  const bool printable =
      !name.body.empty() &&
      std::all_of(name.body.begin(), name.body.end(), [](char c) { return c > ' ' && c != 0x7f; });
  if (name.tag != 10 || name.size > op.size || !printable) return false;
  const uint64_t next = FirstField(name.rest).tag >> 3;
  const bool common = next != operator_conf_field::kName && next <= kLastCommon &&
                      FindProtoField(OperatorMessage(), static_cast<uint32_t>(next));
  return common || (next > kLastCommon && next < 700);
}

}  // namespace x2ir
