// The plain messages: graphs, nodes, functions, attributes.
#include <algorithm>

#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {
namespace {}  // namespace

absl::Status ReadNodeProto(const Source& source, std::string_view bytes, NodeProto* node) {
  WireReader in = source.Fields(bytes);
  while (in.Next()) {
    switch (in.field()) {
      case node_def_field::kName: node->name = in.Bytes(); break;
      case node_def_field::kOp: node->op = in.Bytes(); break;
      case node_def_field::kInput: node->inputs.push_back(in.Bytes()); break;
      case node_def_field::kAttr: {
        X2IR_ASSIGN_OR_RETURN(const Entry entry, ReadEntry(source, in.Bytes()));
        node->attrs.push_back(entry);
        break;
      }
      default: break;
    }
  }
  return in.status();
}

namespace {

absl::Status ReadArg(const Source& source, std::string_view bytes, std::vector<ArgProto>* out) {
  ArgProto arg;
  WireReader in = source.Fields(bytes);
  while (in.Next()) {
    switch (in.field()) {
      case op_def_arg_def_field::kName: arg.name = in.Bytes(); break;
      case op_def_arg_def_field::kType: arg.type = in.Int(); break;
      case op_def_arg_def_field::kNumberAttr:
      case op_def_arg_def_field::kTypeListAttr: arg.is_list |= !in.Bytes().empty(); break;
      default: break;
    }
  }
  out->push_back(arg);
  return in.status();
}

absl::Status ReadOpDef(const Source& source, std::string_view bytes, FunctionProto* function) {
  WireReader in = source.Fields(bytes);
  while (in.Next()) {
    switch (in.field()) {
      case op_def_field::kName: function->name = in.Bytes(); break;
      case op_def_field::kInputArg:
        X2IR_RETURN_IF_ERROR(ReadArg(source, in.Bytes(), &function->inputs));
        break;
      case op_def_field::kOutputArg:
        X2IR_RETURN_IF_ERROR(ReadArg(source, in.Bytes(), &function->outputs));
        break;
      case op_def_field::kAttr: {
        Entry attr;
        WireReader fields = source.Fields(in.Bytes());
        while (fields.Next()) {
          if (fields.field() == op_def_attr_def_field::kName) attr.first = fields.Bytes();
          if (fields.field() == op_def_attr_def_field::kType) attr.second = fields.Bytes();
        }
        X2IR_RETURN_IF_ERROR(fields.status());
        function->attrs.push_back(attr);
        break;
      }
      default: break;
    }
  }
  return in.status();
}

absl::Status ReadFunction(const Source& source, std::string_view bytes, FunctionProto* function) {
  WireReader in = source.Fields(bytes);
  while (in.Next()) {
    switch (in.field()) {
      case function_def_field::kSignature:
        X2IR_RETURN_IF_ERROR(ReadOpDef(source, in.Bytes(), function));
        break;
      case function_def_field::kNodeDef:
        X2IR_RETURN_IF_ERROR(ReadNodeProto(source, in.Bytes(), &function->nodes.emplace_back()));
        break;
      case function_def_field::kRet:
      case function_def_field::kControlRet: {
        X2IR_ASSIGN_OR_RETURN(const Entry entry, ReadEntry(source, in.Bytes()));
        if (in.field() == function_def_field::kRet) {
          function->rets.push_back(entry);
        } else {
          function->control_rets.push_back(entry.second);
        }
        break;
      }
      default: break;
    }
  }
  return in.status();
}

// --- Attributes ---------------------------------------------------------------------------------

// A shape as a type without an element type.
absl::StatusOr<Type> ShapeAsType(const Source& source, std::string_view bytes) {
  X2IR_ASSIGN_OR_RETURN(std::optional<Shape> shape, ReadShape(source, bytes));
  return Type::Tensor(DType::kUndefined, std::move(shape));
}

absl::StatusOr<std::string> FunctionName(const Source& source, std::string_view bytes) {
  std::string name;
  WireReader in = source.Fields(bytes);
  while (in.Next()) {
    if (in.field() == name_attr_list_field::kName) name = in.String();
  }
  X2IR_RETURN_IF_ERROR(in.status());
  return name;
}

absl::StatusOr<AttrProto> ReadList(const Source& source, std::string_view bytes) {
  Attribute::Ints ints;
  Attribute::Floats floats;
  Attribute::Strings strings;
  std::vector<Type> types;
  std::vector<Tensor> tensors;
  AttrProto attr;
  WireReader in = source.Fields(bytes);
  while (in.Next()) {
    switch (in.field()) {
      case attr_value_list_value_field::kS: strings.push_back(in.String()); break;
      case attr_value_list_value_field::kI:
      case attr_value_list_value_field::kB: in.AppendInts(&ints); break;
      case attr_value_list_value_field::kF: in.AppendFloats(&floats); break;
      case attr_value_list_value_field::kType: {
        std::vector<int64_t> numbers;
        in.AppendInts(&numbers);
        for (int64_t number : numbers) types.push_back(ToType(number));
        break;
      }
      case attr_value_list_value_field::kShape: {
        X2IR_ASSIGN_OR_RETURN(Type type, ShapeAsType(source, in.Bytes()));
        types.push_back(std::move(type));
        break;
      }
      case attr_value_list_value_field::kTensor: {
        X2IR_ASSIGN_OR_RETURN(Tensor tensor, ReadTensor(source, in.Bytes()));
        tensors.push_back(std::move(tensor));
        break;
      }
      case attr_value_list_value_field::kFunc: {
        X2IR_ASSIGN_OR_RETURN(std::string name, FunctionName(source, in.Bytes()));
        strings.push_back(std::move(name));
        attr.function = true;
        break;
      }
      default: break;
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  const int kinds =
      !ints.empty() + !floats.empty() + !strings.empty() + !types.empty() + !tensors.empty();
  if (kinds > 1) return Invalid("a list of several kinds");
  // An empty list does not say of what.
  if (!floats.empty()) {
    attr.value = std::move(floats);
  } else if (!strings.empty()) {
    attr.value = std::move(strings);
  } else if (!types.empty()) {
    attr.value = std::move(types);
  } else if (!tensors.empty()) {
    attr.value = std::move(tensors);
  } else {
    attr.value = std::move(ints);
  }
  return attr;
}

}  // namespace

absl::StatusOr<Entry> ReadEntry(const Source& source, std::string_view bytes) {
  Entry entry;
  WireReader in = source.Fields(bytes);
  while (in.Next()) {
    if (in.field() == node_def_attr_entry_field::kKey) entry.first = in.Bytes();
    if (in.field() == node_def_attr_entry_field::kValue) entry.second = in.Bytes();
  }
  X2IR_RETURN_IF_ERROR(in.status());
  return entry;
}

absl::StatusOr<AttrProto> ReadAttr(const Source& source, std::string_view bytes) {
  AttrProto attr;
  int values = 0;
  WireReader in = source.Fields(bytes);
  while (in.Next()) {
    ++values;
    switch (in.field()) {
      case attr_value_field::kList: {
        X2IR_ASSIGN_OR_RETURN(attr, ReadList(source, in.Bytes()));
        break;
      }
      case attr_value_field::kS: attr.value = in.String(); break;
      case attr_value_field::kI: attr.value = in.Int(); break;
      case attr_value_field::kF: attr.value = in.Float(); break;
      case attr_value_field::kB: attr.value = in.Int() != 0; break;
      case attr_value_field::kType: attr.value = ToType(in.Int()); break;
      case attr_value_field::kShape: {
        X2IR_ASSIGN_OR_RETURN(Type type, ShapeAsType(source, in.Bytes()));
        attr.value = std::move(type);
        break;
      }
      case attr_value_field::kTensor: {
        X2IR_ASSIGN_OR_RETURN(Tensor tensor, ReadTensor(source, in.Bytes()));
        attr.value = std::move(tensor);
        break;
      }
      case attr_value_field::kPlaceholder: attr.placeholder = in.Bytes(); break;
      case attr_value_field::kFunc: {
        X2IR_ASSIGN_OR_RETURN(std::string name, FunctionName(source, in.Bytes()));
        attr.value = std::move(name);
        attr.function = true;
        break;
      }
      default: --values;
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (values != 1) return Invalid("it has ", values, " values");
  return attr;
}

std::string_view NodeProto::attr(std::string_view key) const {
  for (const auto& [name, value] : attrs) {
    if (name == key) return value;
  }
  return {};
}

absl::Status ReadGraphProto(const Source& source, std::string_view bytes, GraphProto* out) {
  WireReader in = source.Fields(bytes);
  while (in.Next()) {
    switch (in.field()) {
      case graph_def_field::kNode:
        X2IR_RETURN_IF_ERROR(ReadNodeProto(source, in.Bytes(), &out->nodes.emplace_back()));
        break;
      case graph_def_field::kVersion: out->producer = std::max(out->producer, in.Int()); break;
      case graph_def_field::kVersions: {
        WireReader fields = source.Fields(in.Bytes());
        while (fields.Next()) {
          if (fields.field() == version_def_field::kProducer) out->producer = fields.Int();
        }
        X2IR_RETURN_IF_ERROR(fields.status());
        break;
      }
      case graph_def_field::kLibrary: {
        WireReader fields = source.Fields(in.Bytes());
        while (fields.Next()) {
          if (fields.field() != function_def_library_field::kFunction) continue;
          X2IR_RETURN_IF_ERROR(
              ReadFunction(source, fields.Bytes(), &out->functions.emplace_back()));
        }
        X2IR_RETURN_IF_ERROR(fields.status());
        break;
      }
      default: break;
    }
  }
  return in.status();
}

}  // namespace x2ir::tf_format
