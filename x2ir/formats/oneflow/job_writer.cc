// Writes jobs.
#include <complex>
#include <utility>

#include "x2ir/formats/oneflow/job_internal.h"
#include "x2ir/formats/oneflow/oneflow.h"
#include "x2ir/formats/oneflow/writer_internal.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace oneflow {
namespace {

int64_t TypeNumber(const std::string& name) {
  const auto dtype = ParseDType(name);
  return dtype ? DataTypeOf(*dtype) : 0;
}

// A message of one list of numbers.
void PutInts(WireWriter& out, uint32_t field, const std::vector<int64_t>& ints) {
  out.Begin(field);
  for (const int64_t i : ints) out.Int(shape_proto_field::kDim, i);
  out.End();
}

void PutShape(WireWriter& out, std::string_view text) {
  std::vector<int64_t> dims;
  for (const std::string_view dim : Parts(text, ',')) {
    dims.push_back(ParseNumber<int64_t>(dim).value_or(0));
  }
  PutInts(out, attr_value_list_shape_field::kVal, dims);
}

void PutAttr(WireWriter& out, const WrittenAttr& attr) {
  const Attribute& value = attr.value;
  switch (attr.spec->type) {
    case AttrType::kInt32: out.Int(attr_value_field::kAtInt32, *value.get<int64_t>()); break;
    case AttrType::kInt64: out.Int(attr_value_field::kAtInt64, *value.get<int64_t>()); break;
    case AttrType::kBool: out.Int(attr_value_field::kAtBool, *value.get<int64_t>() != 0); break;
    case AttrType::kFloat: out.Float(attr_value_field::kAtFloat, *value.get<float>()); break;
    case AttrType::kDouble: out.Double(attr_value_field::kAtDouble, *value.get<double>()); break;
    case AttrType::kString:
      out.Bytes(attr_value_field::kAtString, *value.get<std::string>());
      break;
    case AttrType::kBytes: out.Bytes(attr_value_field::kAtBytes, *value.get<std::string>()); break;
    case AttrType::kDataType:
      out.Int(attr_value_field::kAtDataType, TypeNumber(*value.get<std::string>()));
      break;
    case AttrType::kMemoryFormat:
      out.Int(attr_value_field::kAtMemoryFormat,
              MemoryFormatNumber(*value.get<std::string>()).value_or(0));
      break;
    case AttrType::kShape:
      PutInts(out, attr_value_field::kAtShape, *value.get<Attribute::Ints>());
      break;
    case AttrType::kInt32s:
      PutInts(out, attr_value_field::kAtListInt32, *value.get<Attribute::Ints>());
      break;
    case AttrType::kInt64s:
      PutInts(out, attr_value_field::kAtListInt64, *value.get<Attribute::Ints>());
      break;
    case AttrType::kFloats:
      out.Begin(attr_value_field::kAtListFloat);
      for (const float f : *value.get<Attribute::Floats>())
        out.Float(attr_value_list_float_field::kVal, f);
      out.End();
      break;
    case AttrType::kStrings:
      out.Begin(attr_value_field::kAtListString);
      for (const std::string& s : *value.get<Attribute::Strings>()) {
        out.Bytes(attr_value_list_string_field::kVal, s);
      }
      out.End();
      break;
    case AttrType::kDataTypes:
      out.Begin(attr_value_field::kAtListDataType);
      for (const std::string& s : *value.get<Attribute::Strings>()) {
        out.Int(attr_value_list_data_type_field::kVal, TypeNumber(s));
      }
      out.End();
      break;
    case AttrType::kShapes:
      out.Begin(attr_value_field::kAtListShape);
      for (const std::string& s : *value.get<Attribute::Strings>()) PutShape(out, s);
      out.End();
      break;
    case AttrType::kComplex: {
      const Tensor& tensor = *value.get<Tensor>();
      const auto number = LoadNumber<std::complex<double>>(tensor.bytes().data());
      out.Begin(attr_value_field::kAtComplexDouble);
      out.Double(attr_value_complex_double_field::kReal, number.real());
      out.Double(attr_value_complex_double_field::kImag, number.imag());
      out.End();
      break;
    }
  }
}

class JobWriter {
 public:
  explicit JobWriter(const Written& plan) : plan_(plan) {}

  absl::Status Write() {
    out_.Begin(job_field::kNet);
    for (const auto& [value, name] : plan_.inputs) {
      X2IR_RETURN_IF_ERROR(Port(name, operator_conf_field::kInputConf, *value, ""));
    }
    for (const auto& [value, name] : plan_.variables) {
      BeginOp(name);
      out_.Begin(operator_conf_field::kVariableConf);
      out_.Bytes(variable_op_conf_field::kOut, "out");
      PutInts(out_, variable_op_conf_field::kShape, value->constant()->dims());
      out_.Int(variable_op_conf_field::kDataType, DataTypeOf(value->dtype()));
      out_.Bytes(variable_op_conf_field::kNdSbp, "B");
      out_.End();
      out_.End();
    }
    for (const WrittenNode& node : plan_.nodes) Op(node);
    for (const auto& [value, name] : plan_.outputs) {
      X2IR_RETURN_IF_ERROR(
          Port(name, operator_conf_field::kOutputConf, *value, plan_.lbns.at(value)));
    }
    out_.End();
    out_.Begin(job_field::kPlacement);
    out_.Begin(placement_field::kPlacementGroup);
    out_.Begin(placement_group_field::kOpSet);
    for (const std::string& name : names_) out_.Bytes(op_name_set_field::kOpName, name);
    out_.End();
    out_.Begin(placement_group_field::kParallelConf);
    out_.Bytes(parallel_conf_field::kDeviceName, "@0:0");
    out_.Bytes(parallel_conf_field::kDeviceTag, "cpu");
    PutInts(out_, parallel_conf_field::kHierarchy, {1});
    out_.End();
    out_.End();
    out_.End();
    out_.Begin(job_field::kJobConf);
    out_.Bytes(job_config_proto_field::kJobName, plan_.job);
    out_.Begin(job_config_proto_field::kPredictConf);  // it is run, not trained
    out_.End();
    out_.End();
    return absl::OkStatus();
  }

  const WireWriter& out() const { return out_; }

 private:
  void BeginOp(const std::string& name) {
    names_.push_back(name);
    out_.Begin(dl_net_conf_field::kOp);
    out_.Bytes(operator_conf_field::kName, name);
    out_.Bytes(operator_conf_field::kDeviceTag, "cpu");
  }

  absl::Status Port(const std::string& name, uint32_t field, const Value& value,
                    std::string_view in) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, DimsOf(value));
    BeginOp(name);
    out_.Begin(field);
    // InputOpConf and OutputOpConf have the same fields, but for `in`.
    if (!in.empty()) out_.Bytes(output_op_conf_field::kIn, in);
    out_.Bytes(input_op_conf_field::kOut, "out");
    out_.Begin(input_op_conf_field::kBlobConf);
    PutInts(out_, interface_blob_conf_field::kShape, dims);
    out_.Int(interface_blob_conf_field::kDataType, DataTypeOf(value.dtype()));
    out_.Int(interface_blob_conf_field::kIsDynamic, 0);
    out_.Begin(interface_blob_conf_field::kNdSbp);  // a tensor is there as a whole
    out_.Begin(nd_sbp_field::kSbpParallel);
    out_.Begin(sbp_parallel_field::kBroadcastParallel);
    out_.End();
    out_.End();
    out_.End();
    out_.End();
    out_.End();
    out_.End();
    return absl::OkStatus();
  }

  // A map of names to their values; `counts` has the number of values of each name.
  template <typename At>
  void Names(uint32_t field, const std::vector<OperandSpec>& specs,
             const std::vector<int64_t>& counts, const At& at) {
    size_t next = 0;
    for (size_t i = 0; i < specs.size(); ++i) {
      if (counts[i] > 0) {
        out_.Begin(field);
        out_.Bytes(user_op_conf_input_entry_field::kKey, specs[i].name);
        out_.Begin(user_op_conf_input_entry_field::kValue);
        for (int64_t k = 0; k < counts[i]; ++k) {
          out_.Bytes(user_op_conf_list_string_field::kS, plan_.lbns.at(at(next++)));
        }
        out_.End();
        out_.End();
      } else if (specs[i].count != Count::kMany) {
        ++next;
      }
    }
  }

  void Op(const WrittenNode& written) {
    const Node& node = *written.node;
    BeginOp(written.name);
    out_.Begin(operator_conf_field::kUserConf);
    out_.Bytes(user_op_conf_field::kOpTypeName, written.spec->name);
    Names(user_op_conf_field::kInput, written.spec->inputs, written.inputs,
          [&](size_t i) { return node.input(i); });
    Names(user_op_conf_field::kOutput, written.spec->outputs, written.outputs,
          [&](size_t i) { return node.output(i); });
    for (const WrittenAttr& attr : written.attrs) {
      out_.Begin(user_op_conf_field::kAttr);
      out_.Bytes(user_op_conf_attr_entry_field::kKey, attr.spec->name);
      out_.Begin(user_op_conf_attr_entry_field::kValue);
      PutAttr(out_, attr);
      out_.End();
      out_.End();
    }
    for (size_t i = 0; i < written.inputs.size(); ++i) {
      if (written.inputs[i] == 0) continue;
      out_.Bytes(user_op_conf_field::kInputOrder, written.spec->inputs[i].name);
    }
    for (size_t i = 0; i < written.outputs.size(); ++i) {
      if (written.outputs[i] == 0) continue;
      out_.Bytes(user_op_conf_field::kOutputOrder, written.spec->outputs[i].name);
    }
    out_.End();
    out_.End();
  }

  const Written& plan_;
  WireWriter out_;
  std::vector<std::string> names_;
};

}  // namespace
}  // namespace oneflow

absl::Status WriteOneflowJob(const Model& model, const Sink& sink, bool force) {
  X2IR_ASSIGN_OR_RETURN(const oneflow::Written plan, oneflow::PlanOf(model));
  oneflow::JobWriter writer(plan);
  X2IR_RETURN_IF_ERROR(writer.Write());
  return oneflow::WriteFiles(plan, sink, force, [&](AtomicFile& file) {
    return writer.out().Emit([&](std::string_view bytes) { return file.Append(bytes); },
                             [&](const Tensor& tensor) { return file.Append(tensor); });
  });
}

}  // namespace x2ir
