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
  for (const int64_t i : ints) out.Int(1, i);
  out.End();
}

void PutShape(WireWriter& out, std::string_view text) {
  std::vector<int64_t> dims;
  for (const std::string_view dim : Parts(text, ',')) {
    dims.push_back(ParseNumber<int64_t>(dim).value_or(0));
  }
  PutInts(out, 1, dims);
}

void PutAttr(WireWriter& out, const WrittenAttr& attr) {
  const Attribute& value = attr.value;
  switch (attr.spec->type) {
    case AttrType::kInt32: out.Int(attr_field::kInt32, *value.get<int64_t>()); break;
    case AttrType::kInt64: out.Int(attr_field::kInt64, *value.get<int64_t>()); break;
    case AttrType::kBool: out.Int(attr_field::kBool, *value.get<int64_t>() != 0); break;
    case AttrType::kFloat: out.Float(attr_field::kFloat, *value.get<float>()); break;
    case AttrType::kDouble: out.Double(attr_field::kDouble, *value.get<double>()); break;
    case AttrType::kString: out.Bytes(attr_field::kString, *value.get<std::string>()); break;
    case AttrType::kBytes: out.Bytes(attr_field::kBytes, *value.get<std::string>()); break;
    case AttrType::kDataType:
      out.Int(attr_field::kDataType, TypeNumber(*value.get<std::string>()));
      break;
    case AttrType::kMemoryFormat:
      out.Int(attr_field::kMemoryFormat, MemoryFormatNumber(*value.get<std::string>()).value_or(0));
      break;
    case AttrType::kShape: PutInts(out, attr_field::kShape, *value.get<Attribute::Ints>()); break;
    case AttrType::kInt32s: PutInts(out, attr_field::kInt32s, *value.get<Attribute::Ints>()); break;
    case AttrType::kInt64s: PutInts(out, attr_field::kInt64s, *value.get<Attribute::Ints>()); break;
    case AttrType::kFloats:
      out.Begin(attr_field::kFloats);
      for (const float f : *value.get<Attribute::Floats>()) out.Float(1, f);
      out.End();
      break;
    case AttrType::kStrings:
      out.Begin(attr_field::kStrings);
      for (const std::string& s : *value.get<Attribute::Strings>()) out.Bytes(1, s);
      out.End();
      break;
    case AttrType::kDataTypes:
      out.Begin(attr_field::kDataTypes);
      for (const std::string& s : *value.get<Attribute::Strings>()) out.Int(1, TypeNumber(s));
      out.End();
      break;
    case AttrType::kShapes:
      out.Begin(attr_field::kShapes);
      for (const std::string& s : *value.get<Attribute::Strings>()) PutShape(out, s);
      out.End();
      break;
    case AttrType::kComplex: {
      const Tensor& tensor = *value.get<Tensor>();
      const auto number = LoadNumber<std::complex<double>>(tensor.bytes().data());
      out.Begin(attr_field::kComplex);
      out.Double(1, number.real());
      out.Double(2, number.imag());
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
      X2IR_RETURN_IF_ERROR(Port(name, op_field::kInput, *value, ""));
    }
    for (const auto& [value, name] : plan_.variables) {
      BeginOp(name);
      out_.Begin(op_field::kVariable);
      out_.Bytes(2, "out");
      PutInts(out_, 3, value->constant()->dims());
      out_.Int(4, DataTypeOf(value->dtype()));
      out_.Bytes(12, "B");
      out_.End();
      out_.End();
    }
    for (const WrittenNode& node : plan_.nodes) Op(node);
    for (const auto& [value, name] : plan_.outputs) {
      X2IR_RETURN_IF_ERROR(Port(name, op_field::kOutput, *value, plan_.lbns.at(value)));
    }
    out_.End();
    out_.Begin(job_field::kPlacement);
    out_.Begin(1);
    out_.Begin(1);
    for (const std::string& name : names_) out_.Bytes(1, name);
    out_.End();
    out_.Begin(2);
    out_.Bytes(1, "@0:0");
    out_.Bytes(2, "cpu");
    PutInts(out_, 3, {1});
    out_.End();
    out_.End();
    out_.End();
    out_.Begin(job_field::kConf);
    out_.Bytes(1, plan_.job);
    out_.Begin(4);  // it is run, not trained
    out_.End();
    out_.End();
    return absl::OkStatus();
  }

  const WireWriter& out() const { return out_; }

 private:
  void BeginOp(const std::string& name) {
    names_.push_back(name);
    out_.Begin(1);
    out_.Bytes(op_field::kName, name);
    out_.Bytes(op_field::kDeviceTag, "cpu");
  }

  absl::Status Port(const std::string& name, uint32_t field, const Value& value,
                    std::string_view in) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, DimsOf(value));
    BeginOp(name);
    out_.Begin(field);
    if (!in.empty()) out_.Bytes(1, in);
    out_.Bytes(2, "out");
    out_.Begin(3);
    PutInts(out_, 1, dims);
    out_.Int(2, DataTypeOf(value.dtype()));
    out_.Int(3, 0);
    out_.Begin(4);  // a tensor is there as a whole
    out_.Begin(1);
    out_.Begin(2);
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
        out_.Bytes(1, specs[i].name);
        out_.Begin(2);
        for (int64_t k = 0; k < counts[i]; ++k) out_.Bytes(1, plan_.lbns.at(at(next++)));
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
    out_.Begin(op_field::kUser);
    out_.Bytes(1, written.spec->name);
    Names(2, written.spec->inputs, written.inputs, [&](size_t i) { return node.input(i); });
    Names(3, written.spec->outputs, written.outputs, [&](size_t i) { return node.output(i); });
    for (const WrittenAttr& attr : written.attrs) {
      out_.Begin(4);
      out_.Bytes(1, attr.spec->name);
      out_.Begin(2);
      PutAttr(out_, attr);
      out_.End();
      out_.End();
    }
    for (size_t i = 0; i < written.inputs.size(); ++i) {
      if (written.inputs[i] > 0) out_.Bytes(5, written.spec->inputs[i].name);
    }
    for (size_t i = 0; i < written.outputs.size(); ++i) {
      if (written.outputs[i] > 0) out_.Bytes(6, written.spec->outputs[i].name);
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
