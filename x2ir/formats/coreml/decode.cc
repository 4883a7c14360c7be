#include "x2ir/formats/coreml/decode.h"

#include <algorithm>
#include <map>

#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::coreml {
namespace {

constexpr int kMaxMessageDepth = 32;
// Messages that are listed one by one ("PATH.INDEX"): layers have a handful.
constexpr size_t kMaxIndexed = 4096;

bool IsMany(const ProtoField& field) { return field.rule == ProtoRule::kMany; }

// Whether it has no weights or networks, so that a list of it can be lists of its fields.
bool IsPlain(const ProtoMessage& message, int depth = 0) {
  if (depth > 8) return false;
  for (const ProtoField& field : message.fields) {
    if (field.kind != ProtoKind::kMessage) continue;
    if (!IsMany(field) || field.message->name == "WeightParams" ||
        !IsPlain(*field.message, depth + 1)) {
      return false;
    }
  }
  return true;
}

std::string EnumName(const ProtoEnum& values, int64_t number) {
  const std::string_view name = values.name(number);
  return name.empty() ? StrCat("#", number) : std::string(name);
}

struct Column {
  ProtoKind kind = ProtoKind::kInt64;
  bool is_list = true;
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::string> strings;
  size_t size() const { return ints.size() + floats.size() + doubles.size() + strings.size(); }
  void PushDefault(const ProtoField& field) {
    switch (field.kind) {
      case ProtoKind::kFloat: floats.push_back(0); break;
      case ProtoKind::kDouble: doubles.push_back(0); break;
      case ProtoKind::kString:
      case ProtoKind::kBytes: strings.emplace_back(); break;
      case ProtoKind::kEnum: strings.push_back(EnumName(*field.values, 0)); break;
      default: ints.push_back(0);
    }
  }
};

class Decoder {
 public:
  explicit Decoder(const BlobPtr& file) : file_(file) {}

  absl::Status Decode(std::string_view bytes, const ProtoMessage& message, const std::string& path,
                      int depth) {
    if (depth > kMaxMessageDepth) return DataLoss("messages are nested too deeply");
    std::map<uint32_t, size_t> counts;  // of indexed messages
    WireReader in(bytes, file_->view().data());
    while (in.Next()) {
      const ProtoField* field = FindProtoField(message, in.field());
      if (!field) return Unimplemented("field ", in.field(), " of ", message.name, " is not known");
      const std::string name =
          path.empty() ? std::string(field->name) : StrCat(path, ".", field->name);
      if (field->kind != ProtoKind::kMessage) {
        ReadScalar(in, *field, name, /*in_row=*/false);
        continue;
      }
      const std::string_view inner = in.Bytes();
      X2IR_RETURN_IF_ERROR(in.status());
      if (field->message->name == "WeightParams") {
        std::string at = name;
        if (IsMany(*field)) at = StrCat(name, ".", counts[field->number]++);
        X2IR_ASSIGN_OR_RETURN(Tensor tensor, DecodeWeights(inner, file_));
        result_.weights.emplace_back(std::move(at), std::move(tensor));
      } else if (field->message->name == "NeuralNetwork") {
        result_.networks.emplace_back(name, inner);
      } else if (IsMany(*field) && IsPlain(*field->message)) {
        X2IR_RETURN_IF_ERROR(DecodeRow(inner, *field->message, name, depth + 1));
      } else {
        std::string at = name;
        if (IsMany(*field)) {
          const size_t index = counts[field->number]++;
          if (index >= kMaxIndexed) return Unimplemented("more than ", kMaxIndexed, " of ", name);
          at = StrCat(name, ".", index);
        }
        const size_t before = columns_.size() + result_.weights.size() + result_.networks.size();
        X2IR_RETURN_IF_ERROR(Decode(inner, *field->message, at, depth + 1));
        if (before == columns_.size() + result_.weights.size() + result_.networks.size()) {
          Column& mark = columns_[at];
          mark.is_list = false;
          mark.ints.assign(1, 1);
        }
      }
      X2IR_RETURN_IF_ERROR(in.status());
    }
    return in.status();
  }

  Decoded Finish() {
    for (auto& [name, column] : columns_) result_.attrs.Set(name, AttributeOf(column));
    return std::move(result_);
  }

 private:
  // One message of a list: an entry more in each of its fields' lists.
  absl::Status DecodeRow(std::string_view bytes, const ProtoMessage& message,
                         const std::string& path, int depth) {
    if (depth > kMaxMessageDepth) return DataLoss("messages are nested too deeply");
    std::vector<size_t> before;
    const auto column = [&](const ProtoField& field) -> Column& {
      Column& found = columns_[StrCat(path, ".", field.name)];
      found.kind = field.kind;
      return found;
    };
    for (const ProtoField& field : message.fields) {
      before.push_back(field.kind == ProtoKind::kMessage ? 0 : column(field).size());
    }
    std::vector<int64_t> messages(message.fields.size(), 0);
    WireReader in(bytes, file_->view().data());
    while (in.Next()) {
      const ProtoField* field = FindProtoField(message, in.field());
      if (!field) return Unimplemented("field ", in.field(), " of ", message.name, " is not known");
      const auto index = static_cast<size_t>(field - message.fields.data());
      if (field->kind == ProtoKind::kMessage) {
        ++messages[index];
        X2IR_RETURN_IF_ERROR(
            DecodeRow(in.Bytes(), *field->message, StrCat(path, ".", field->name), depth + 1));
        continue;
      }
      if (!IsMany(*field) && column(*field).size() > before[index]) {
        return DataLoss("field ", field->name, " of ", message.name, " occurs twice");
      }
      ReadScalar(in, *field, StrCat(path, ".", field->name), /*in_row=*/true);
      X2IR_RETURN_IF_ERROR(in.status());
    }
    X2IR_RETURN_IF_ERROR(in.status());
    for (size_t i = 0; i < message.fields.size(); ++i) {
      const ProtoField& field = message.fields[i];
      if (field.kind == ProtoKind::kMessage) {
        columns_[StrCat(path, ".", field.name, "#")].ints.push_back(messages[i]);
      } else if (IsMany(field)) {
        const size_t more = column(field).size() - before[i];
        columns_[StrCat(path, ".", field.name, "#")].ints.push_back(static_cast<int64_t>(more));
      } else if (column(field).size() == before[i]) {
        column(field).PushDefault(field);
      }
    }
    return absl::OkStatus();
  }

  void ReadScalar(WireReader& in, const ProtoField& field, const std::string& name, bool in_row) {
    Column& column = columns_[name];
    column.kind = field.kind;
    column.is_list = IsMany(field) || in_row;
    // Of a field that is there twice the last one counts.
    if (!column.is_list) column = Column{field.kind, false, {}, {}, {}, {}};
    switch (field.kind) {
      case ProtoKind::kFloat: in.AppendFloats(&column.floats); break;
      case ProtoKind::kDouble: in.AppendDoubles(&column.doubles); break;
      case ProtoKind::kString:
      case ProtoKind::kBytes: column.strings.push_back(in.String()); break;
      case ProtoKind::kEnum: {
        std::vector<int64_t> numbers;
        in.AppendInts(&numbers);
        for (const int64_t number : numbers) {
          column.strings.push_back(EnumName(*field.values, number));
        }
        break;
      }
      default: in.AppendInts(&column.ints); break;
    }
  }

  static Attribute AttributeOf(Column& column) {
    const auto scalar = [&](auto& values, auto empty) {
      return values.empty() ? Attribute(empty) : Attribute(std::move(values.back()));
    };
    switch (column.kind) {
      case ProtoKind::kFloat:
        return column.is_list ? Attribute(std::move(column.floats)) : scalar(column.floats, 0.0f);
      case ProtoKind::kDouble:
        return column.is_list ? Attribute(Tensor::Of<double>(
                                    {static_cast<int64_t>(column.doubles.size())}, column.doubles))
                              : scalar(column.doubles, 0.0);
      case ProtoKind::kString:
      case ProtoKind::kBytes:
      case ProtoKind::kEnum:
        return column.is_list ? Attribute(std::move(column.strings))
                              : scalar(column.strings, std::string());
      default:
        return column.is_list ? Attribute(std::move(column.ints)) : scalar(column.ints, int64_t{0});
    }
  }

  const BlobPtr& file_;
  Decoded result_;
  std::map<std::string, Column> columns_;
};

}  // namespace

absl::StatusOr<Decoded> DecodeMessage(std::string_view bytes, const ProtoMessage& message,
                                      const BlobPtr& file) {
  Decoder decoder(file);
  X2IR_RETURN_IF_ERROR(decoder.Decode(bytes, message, "", 0));
  return decoder.Finish();
}

}  // namespace x2ir::coreml
