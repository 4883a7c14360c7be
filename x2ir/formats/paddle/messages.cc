// The messages of a program.
#include <complex>

#include "x2ir/formats/paddle/paddle_internal.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::paddle {
namespace {

// Of facts/paddle-proto-fields.json.
#include "x2ir_paddle_fields.inc"

enum AttrType : int64_t {
  kInt,
  kFloat,
  kString,
  kInts,
  kFloats,
  kStrings,
  kBoolean,
  kBooleans,
  kBlock,
  kLong,
  kBlocks,
  kLongs,
  kFloat64s,
  kVar,
  kVars,
  kFloat64,
  kScalar,
  kScalars,
};

// A number of any kind.
struct ScalarValue {
  enum Kind : int64_t { kBool = 1, kLongNumber, kDouble, kComplexNumber } kind = kBool;
  int64_t integer = 0;
  std::complex<double> real = 0;
};

absl::StatusOr<ScalarValue> ReadScalar(std::string_view bytes, const char* origin) {
  ScalarValue scalar;
  WireReader in(bytes, origin);
  while (in.Next()) {
    switch (in.field()) {
      case scalar_field::kType: scalar.kind = static_cast<ScalarValue::Kind>(in.Int()); break;
      case scalar_field::kB:
      case scalar_field::kI: scalar.integer = in.Int(); break;
      case scalar_field::kR: scalar.real = in.Double(); break;
      case scalar_field::kC: {
        double parts[2] = {0, 0};
        WireReader fields(in.Bytes(), origin);
        while (fields.Next()) {
          if (fields.field() == complex_field::kR) parts[0] = fields.Double();
          if (fields.field() == complex_field::kI) parts[1] = fields.Double();
        }
        X2IR_RETURN_IF_ERROR(fields.status());
        scalar.real = {parts[0], parts[1]};
        break;
      }
      default: break;
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (scalar.kind < ScalarValue::kBool || scalar.kind > ScalarValue::kComplexNumber) {
    return Invalid("a scalar of an unknown kind");
  }
  return scalar;
}

Attribute AttributeOf(const ScalarValue& scalar) {
  if (scalar.kind <= ScalarValue::kLongNumber) return scalar.integer;
  if (scalar.kind == ScalarValue::kDouble) return scalar.real.real();
  return Tensor::Scalar<std::complex<double>>(scalar.real);
}

Attribute Doubles(const std::vector<double>& numbers) {
  return Tensor::Of<double>({static_cast<int64_t>(numbers.size())}, numbers);
}

absl::StatusOr<Attribute> AttributeOf(const std::vector<ScalarValue>& scalars) {
  std::vector<int64_t> ints;
  std::vector<double> doubles;
  for (const ScalarValue& scalar : scalars) {
    if (scalar.kind == ScalarValue::kComplexNumber)
      return Unimplemented("a list of complex numbers");
    if (scalar.kind == ScalarValue::kDouble) {
      doubles.push_back(scalar.real.real());
    } else {
      ints.push_back(scalar.integer);
    }
  }
  if (doubles.empty()) return Attribute(std::move(ints));
  if (!ints.empty()) return Invalid("a list of both integers and floats");
  return Doubles(doubles);
}

absl::Status ReadSlot(std::string_view bytes, const char* origin, std::vector<Slot>* slots) {
  Slot slot;
  WireReader in(bytes, origin);
  while (in.Next()) {
    if (in.field() == op_desc_var_field::kParameter) slot.name = in.Bytes();
    if (in.field() == op_desc_var_field::kArguments) slot.arguments.push_back(in.Bytes());
  }
  slots->push_back(std::move(slot));
  return in.status();
}

absl::Status ReadAttr(std::string_view bytes, const char* origin, OpDesc* op) {
  std::string_view name, text;
  int64_t type = -1, number = 0, block = -1;
  std::vector<int64_t> ints, blocks;
  float real = 0;
  double wide = 0;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::string> strings;
  std::vector<std::string_view> vars;
  std::vector<ScalarValue> scalars;
  WireReader in(bytes, origin);
  while (in.Next()) {
    switch (in.field()) {
      case op_desc_attr_field::kName: name = in.Bytes(); break;
      case op_desc_attr_field::kType: type = in.Int(); break;
      case op_desc_attr_field::kI:
      case op_desc_attr_field::kB:
      case op_desc_attr_field::kL: number = in.Int(); break;
      case op_desc_attr_field::kF: real = in.Float(); break;
      case op_desc_attr_field::kS: text = in.Bytes(); break;
      case op_desc_attr_field::kInts:
      case op_desc_attr_field::kBools:
      case op_desc_attr_field::kLongs: in.AppendInts(&ints); break;
      case op_desc_attr_field::kFloats: in.AppendFloats(&floats); break;
      case op_desc_attr_field::kStrings: strings.push_back(in.String()); break;
      case op_desc_attr_field::kBlockIdx: block = in.Int(); break;
      case op_desc_attr_field::kBlocksIdx: in.AppendInts(&blocks); break;
      case op_desc_attr_field::kFloat64s: in.AppendDoubles(&doubles); break;
      case op_desc_attr_field::kVarName:
      case op_desc_attr_field::kVarsName: vars.push_back(in.Bytes()); break;
      case op_desc_attr_field::kFloat64: wide = in.Double(); break;
      case op_desc_attr_field::kScalar:
      case op_desc_attr_field::kScalars: {
        X2IR_ASSIGN_OR_RETURN(scalars.emplace_back(), ReadScalar(in.Bytes(), origin));
        break;
      }
      default: break;
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  // 32 bits of a negative number may be written as such.
  const auto narrow = [](int64_t n) { return static_cast<int64_t>(static_cast<int32_t>(n)); };
  const auto set = [&](Attribute value) { op->attrs.emplace_back(name, std::move(value)); };
  switch (type) {
    case kInt: set(narrow(number)); break;
    case kLong: set(number); break;
    case kBoolean: set(number != 0); break;
    case kFloat: set(real); break;
    case kFloat64: set(wide); break;
    case kString: set(text); break;
    case kInts:
      for (int64_t& n : ints) n = narrow(n);
      set(std::move(ints));
      break;
    case kLongs:
    case kBooleans: set(std::move(ints)); break;
    case kFloats: set(std::move(floats)); break;
    case kFloat64s: set(Doubles(doubles)); break;
    case kStrings: set(std::move(strings)); break;
    case kBlock: op->blocks.emplace_back(name, block); break;
    case kBlocks:
      for (const int64_t b : blocks) op->blocks.emplace_back(name, b);
      break;
    case kVar:
    case kVars: op->inputs.push_back({name, std::move(vars)}); break;
    case kScalar:
      if (scalars.size() != 1) return Invalid("attribute '", name, "' has no number");
      set(AttributeOf(scalars[0]));
      break;
    case kScalars: {
      absl::StatusOr<Attribute> list = AttributeOf(scalars);
      if (!list.ok()) return Annotate(list.status(), StrCat("attribute '", name, "'"));
      set(*std::move(list));
      break;
    }
    default: return Invalid("attribute '", name, "' is of unknown type ", type);
  }
  return absl::OkStatus();
}

absl::Status ReadOp(std::string_view bytes, const char* origin, std::vector<OpDesc>* ops) {
  OpDesc& op = ops->emplace_back();
  WireReader in(bytes, origin);
  while (in.Next()) {
    switch (in.field()) {
      case op_desc_field::kInputs:
        X2IR_RETURN_IF_ERROR(ReadSlot(in.Bytes(), origin, &op.inputs));
        break;
      case op_desc_field::kOutputs:
        X2IR_RETURN_IF_ERROR(ReadSlot(in.Bytes(), origin, &op.outputs));
        break;
      case op_desc_field::kType: op.type = in.Bytes(); break;
      case op_desc_field::kAttrs: X2IR_RETURN_IF_ERROR(ReadAttr(in.Bytes(), origin, &op)); break;
      default: break;
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (op.type.empty()) return Invalid("an operator has no type");
  return absl::OkStatus();
}

// LoDTensorDesc and LoDTensorArrayDesc have the same fields.
absl::Status ReadVarType(std::string_view bytes, const char* origin, VarDesc* var) {
  WireReader in(bytes, origin);
  while (in.Next()) {
    switch (in.field()) {
      case var_type_field::kType: var->kind = in.Int(); break;
      case var_type_field::kSelectedRows:
        X2IR_RETURN_IF_ERROR(ReadTensorDesc(in.Bytes(), origin, &var->tensor));
        break;
      case var_type_field::kLodTensor:
      case var_type_field::kTensorArray: {
        WireReader desc(in.Bytes(), origin);
        while (desc.Next()) {
          if (desc.field() == var_type_lo_d_tensor_desc_field::kTensor) {
            X2IR_RETURN_IF_ERROR(ReadTensorDesc(desc.Bytes(), origin, &var->tensor));
          }
          if (desc.field() == var_type_lo_d_tensor_desc_field::kLodLevel) {
            var->lod_level = desc.Int();
          }
        }
        X2IR_RETURN_IF_ERROR(desc.status());
        break;
      }
      default: break;
    }
  }
  return in.status();
}

absl::Status ReadVar(std::string_view bytes, const char* origin, std::vector<VarDesc>* vars) {
  VarDesc& var = vars->emplace_back();
  WireReader in(bytes, origin);
  while (in.Next()) {
    switch (in.field()) {
      case var_desc_field::kName: var.name = in.Bytes(); break;
      case var_desc_field::kType:
        X2IR_RETURN_IF_ERROR(ReadVarType(in.Bytes(), origin, &var));
        break;
      case var_desc_field::kPersistable: var.persistable = in.Int() != 0; break;
      default: break;
    }
  }
  return in.status();
}

absl::Status ReadBlock(std::string_view bytes, const char* origin, BlockDesc* block) {
  WireReader in(bytes, origin);
  while (in.Next()) {
    switch (in.field()) {
      case block_desc_field::kIdx: block->index = in.Int(); break;
      case block_desc_field::kParentIdx: block->parent = static_cast<int32_t>(in.Int()); break;
      case block_desc_field::kVars:
        X2IR_RETURN_IF_ERROR(ReadVar(in.Bytes(), origin, &block->vars));
        break;
      case block_desc_field::kOps:
        X2IR_RETURN_IF_ERROR(
            Annotate(ReadOp(in.Bytes(), origin, &block->ops),
                     StrCat("operator ", block->ops.empty() ? 0 : block->ops.size() - 1)));
        break;
      default: break;
    }
  }
  return in.status();
}

absl::Status ReadVersions(std::string_view bytes, const char* origin, ProgramDesc* program) {
  WireReader in(bytes, origin);
  while (in.Next()) {
    if (in.field() != op_version_map_field::kPair) continue;
    auto& [name, version] = program->op_versions.emplace_back("", 0);
    WireReader pair(in.Bytes(), origin);
    while (pair.Next()) {
      if (pair.field() == op_version_map_op_version_pair_field::kOpName) name = pair.Bytes();
      if (pair.field() != op_version_map_op_version_pair_field::kOpVersion) continue;
      WireReader number(pair.Bytes(), origin);
      while (number.Next()) {
        if (number.field() == op_version_field::kVersion) version = number.Int();
      }
      X2IR_RETURN_IF_ERROR(number.status());
    }
    X2IR_RETURN_IF_ERROR(pair.status());
  }
  return in.status();
}

}  // namespace

absl::Status ReadTensorDesc(std::string_view bytes, const char* origin, TensorDesc* desc) {
  WireReader in(bytes, origin);
  while (in.Next()) {
    if (in.field() == var_type_tensor_desc_field::kDataType) desc->data_type = in.Int();
    if (in.field() == var_type_tensor_desc_field::kDims) in.AppendInts(&desc->dims);
  }
  return in.status();
}

absl::StatusOr<ProgramDesc> ReadProgramDesc(std::string_view bytes) {
  ProgramDesc program;
  WireReader in(bytes, bytes.data());
  while (in.Next()) {
    switch (in.field()) {
      case program_desc_field::kBlocks:
        X2IR_RETURN_IF_ERROR(
            Annotate(ReadBlock(in.Bytes(), bytes.data(), &program.blocks.emplace_back()),
                     StrCat("block ", program.blocks.size() - 1)));
        break;
      case program_desc_field::kVersion: {
        WireReader version(in.Bytes(), bytes.data());
        while (version.Next()) {
          if (version.field() == version_field::kVersion) program.version = version.Int();
        }
        X2IR_RETURN_IF_ERROR(version.status());
        break;
      }
      case program_desc_field::kOpVersionMap:
        X2IR_RETURN_IF_ERROR(ReadVersions(in.Bytes(), bytes.data(), &program));
        break;
      default: break;
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (program.blocks.empty()) return Invalid("the program has no block");
  return program;
}

DType ToDType(int64_t var_type) {
  switch (var_type) {
    case 0: return DType::kBool;
    case 1: return DType::kInt16;
    case 2: return DType::kInt32;
    case 3: return DType::kInt64;
    case 4: return DType::kFloat16;
    case 5: return DType::kFloat32;
    case 6: return DType::kFloat64;
    case 19: return DType::kUInt64;
    case 20: return DType::kUInt8;
    case 21: return DType::kInt8;
    case 22: return DType::kBFloat16;
    case 23: return DType::kComplex64;
    case 24: return DType::kComplex128;
    default: return DType::kUndefined;
  }
}

}  // namespace x2ir::paddle
