// The messages of a net, and the operators that fill blobs.
#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/container/fixed_array.h"
#include "x2ir/formats/caffe2/caffe2.h"
#include "x2ir/formats/proto_text.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::caffe2 {
namespace {

#include "x2ir_caffe2_fields.inc"
#include "x2ir_caffe2_messages.inc"

// --- The wire form -------------------------------------------------------------------------------

constexpr size_t kManyFloats = 1 << 16;

// What offsets count from, and the file whose bytes are not needed twice (null: there is none).
struct Origin {
  const char* begin;
  BlobPtr file;
};

void Forget(std::string_view bytes, const Origin& origin) {
  if (!origin.file || bytes.size() < kManyFloats) return;
  const auto offset = static_cast<uint64_t>(bytes.data() - origin.begin);
  const auto size = static_cast<int64_t>(bytes.size());
  const auto part = TensorOf(DType::kUInt8, {size}, origin.file, offset, bytes.size());
  if (part.ok()) DropPages(*part);
}

// Those of a fill: if they are contiguous they stay in the file, else they are moved together, a
// megabyte at a time.
absl::StatusOr<Tensor> ManyFloats(const WireReader::FloatRun& run, const Origin& origin) {
  const auto count = static_cast<int64_t>(run.count);
  if (run.step == sizeof(float) && origin.file) {
    return TensorOf(DType::kFloat32, {count}, origin.file,
                    static_cast<uint64_t>(run.first - origin.begin), run.count * sizeof(float));
  }
  return SpilledInParts(DType::kFloat32, {count}, [&](int64_t begin, int64_t end) {
    Tensor part = Tensor::Zeros(DType::kFloat32, {end - begin});
    const char* at = run.first + static_cast<size_t>(begin) * run.step;
    const std::string_view read(at, static_cast<size_t>(end - begin) * run.step);
    for (float& number : part.mutable_span<float>()) {
      std::memcpy(&number, at, sizeof(float));
      at += run.step;
    }
    Forget(read, origin);
    return part;
  });
}

absl::StatusOr<NetDesc> ReadNetAt(std::string_view bytes, const Origin& origin, int depth);

absl::Status ReadArgument(std::string_view bytes, const Origin& origin, int depth,
                          OperatorDesc* op) {
  std::string name;
  std::optional<NetDesc> net;
  std::optional<Attribute> value;
  Attribute::Ints ints;
  Attribute::Floats floats;
  Attribute::Strings strings;
  bool other = false;
  WireReader in(bytes, origin.begin);
  while (in.Next()) {
    switch (in.field()) {
      case argument_field::kName: name = in.Bytes(); break;
      case argument_field::kF: value = in.Float(); break;
      case argument_field::kI: value = in.Int(); break;
      case argument_field::kS: value = in.Bytes(); break;
      case argument_field::kFloats: {
        const auto run = name == "values" && !value && floats.empty() ? in.TakeFloatRun(kManyFloats)
                                                                      : std::nullopt;
        if (run) {
          X2IR_ASSIGN_OR_RETURN(value, ManyFloats(*run, origin));
        } else {
          in.AppendFloats(&floats);
        }
        break;
      }
      case argument_field::kInts: in.AppendInts(&ints); break;
      case argument_field::kStrings: strings.push_back(in.String()); break;
      case argument_field::kN: {
        X2IR_ASSIGN_OR_RETURN(net, ReadNetAt(in.Bytes(), origin, depth + 1));
        break;
      }
      default: other = true; break;
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  const auto* text = value && name == "step_net" ? value->get<std::string>() : nullptr;
  if (text && !text->empty()) {  // as older nets have it
    X2IR_ASSIGN_OR_RETURN(const std::string wire,
                          ProtoTextToWire(*text, kNetDef, ProtoUnknown::kSkipped));
    X2IR_ASSIGN_OR_RETURN(net, ReadNetAt(wire, {wire.data(), nullptr}, depth + 1));
  }
  if (name == "backward_step_net") return absl::OkStatus();  // of training
  if (net) {
    op->nets.push_back({std::move(name), *std::move(net)});
    return absl::OkStatus();
  }
  if (other) {
    op->other_args.push_back(std::move(name));
    return absl::OkStatus();
  }
  if (value && !floats.empty()) return Unimplemented("argument '", name, "' in several lists");
  if (!value) {
    value = !floats.empty()    ? Attribute(std::move(floats))
            : !strings.empty() ? Attribute(std::move(strings))
                               : Attribute(std::move(ints));
  }
  op->args.emplace_back(std::move(name), *std::move(value));
  return absl::OkStatus();
}

absl::Status ReadOperator(std::string_view bytes, const Origin& origin, int depth,
                          OperatorDesc* op) {
  WireReader in(bytes, origin.begin);
  while (in.Next()) {
    switch (in.field()) {
      case operator_def_field::kInput: op->inputs.push_back(in.String()); break;
      case operator_def_field::kOutput: op->outputs.push_back(in.String()); break;
      case operator_def_field::kName: op->name = in.Bytes(); break;
      case operator_def_field::kType: op->type = in.Bytes(); break;
      case operator_def_field::kArg:
        X2IR_RETURN_IF_ERROR(ReadArgument(in.Bytes(), origin, depth, op));
        break;
      default: break;
    }
  }
  return in.status();
}

absl::StatusOr<NetDesc> ReadNetAt(std::string_view bytes, const Origin& origin, int depth) {
  if (depth > kMaxWireDepth) return Invalid("nets are nested too deeply");
  NetDesc net;
  WireReader in(bytes, origin.begin);
  while (in.Next()) {
    switch (in.field()) {
      case net_def_field::kName: net.name = in.Bytes(); break;
      case net_def_field::kOp: {
        const std::string_view op = in.Bytes();
        X2IR_RETURN_IF_ERROR(ReadOperator(op, origin, depth, &net.ops.emplace_back()));
        Forget(op, origin);
        break;
      }
      case net_def_field::kExternalInput: net.inputs.push_back(in.String()); break;
      case net_def_field::kExternalOutput: net.outputs.push_back(in.String()); break;
      default: break;
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  return net;
}

// --- Fills ---------------------------------------------------------------------------------------

constexpr int64_t kMaxFilled = int64_t{1} << 26;  // of a constant that no list of numbers backs

absl::StatusOr<std::vector<int64_t>> ShapeArg(const OperatorDesc& op, size_t given) {
  const Attribute* shape = op.Find("shape");
  if (!shape) return std::vector<int64_t>{static_cast<int64_t>(given)};
  const auto* dims = shape->get<Attribute::Ints>();
  if (!dims || !CheckedProduct(*dims)) return Invalid("an impossible shape");
  return *dims;
}

absl::Status CheckCount(const std::vector<int64_t>& dims, size_t given) {
  if (*CheckedProduct(dims) == static_cast<int64_t>(given)) return absl::OkStatus();
  return Invalid(given, " numbers of ", *CheckedProduct(dims));
}

template <typename T, typename From>
absl::StatusOr<std::optional<Tensor>> Given(const OperatorDesc& op, const std::vector<From>& list) {
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> dims, ShapeArg(op, list.size()));
  X2IR_RETURN_IF_ERROR(CheckCount(dims, list.size()));
  const absl::FixedArray<T> numbers(list.begin(), list.end());
  return std::optional(Tensor::Of<T>(std::move(dims), numbers));
}

std::optional<DType> TypeOf(int64_t number) {
  switch (number) {
    case 1: return DType::kFloat32;
    case 2: return DType::kInt32;
    case 3:
    case 6: return DType::kUInt8;
    case 5: return DType::kBool;
    case 7: return DType::kInt8;
    case 8: return DType::kUInt16;
    case 9: return DType::kInt16;
    case 10: return DType::kInt64;
    case 12: return DType::kFloat16;
    case 13: return DType::kFloat64;
    default: return std::nullopt;
  }
}

absl::StatusOr<std::optional<Tensor>> Constant(const OperatorDesc& op) {
  if (!op.inputs.empty()) return std::optional<Tensor>();
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> dims, ShapeArg(op, 0));
  if (!op.Find("shape")) dims = {};
  if (*CheckedProduct(dims) > kMaxFilled) return Unimplemented("a constant of this size");
  const Attribute *type = op.Find("dtype"), *value = op.Find("value");
  const auto* number = type ? type->get<int64_t>() : nullptr;
  double fill = 0;
  if (value) {
    if (const auto* real = value->get<float>()) fill = static_cast<double>(*real);
    if (const auto* integer = value->get<int64_t>()) fill = static_cast<double>(*integer);
  }
  const bool integer = value && value->get<int64_t>();
  const auto dtype =
      number ? TypeOf(*number) : std::optional(integer ? DType::kInt64 : DType::kFloat32);
  if (!dtype || *dtype == DType::kBool)
    return Unimplemented("a constant of type ", number ? *number : 0);
  const Tensor one = Tensor::ScalarOf(*dtype, fill);
  std::string bytes;
  for (int64_t i = 0, n = *CheckedProduct(dims); i < n; ++i) {
    bytes.append(reinterpret_cast<const char*>(one.bytes().data()), one.nbytes());
  }
  auto owner = std::make_shared<std::string>(std::move(bytes));
  X2IR_ASSIGN_OR_RETURN(
      Tensor tensor,
      Tensor::View(
          *dtype, std::move(dims),
          absl::MakeConstSpan(reinterpret_cast<const std::byte*>(owner->data()), owner->size()),
          owner));
  return std::optional(std::move(tensor));
}

}  // namespace

const Attribute* OperatorDesc::Find(std::string_view arg) const {
  const auto found = std::ranges::find(args, arg, &std::pair<std::string, Attribute>::first);
  return found == args.end() ? nullptr : &found->second;
}

bool LooksLikeNetText(std::string_view head) {
  const std::string_view first = FirstProtoTextName(head);
  if (first != "name" && first != "op" && first != "type" && first != "external_input")
    return false;
  for (size_t at = head.find("op"); at != head.npos; at = head.find("op", at + 1)) {
    const bool begins =
        at == 0 || std::string_view(" \t\r\n}").find(head[at - 1]) != std::string_view::npos;
    size_t end = at + 2;
    while (end < head.size() && (head[end] == ' ' || head[end] == '\n')) ++end;
    if (begins && end < head.size() && head[end] == '{') return true;
  }
  return false;
}

// A name, or none; then an operator, which is a list of texts up to its type.
bool LooksLikeNet(std::string_view head) {
  const auto take = [&](char tag) -> std::optional<std::string_view> {
    if (head.size() < 2 || head[0] != tag) return std::nullopt;
    uint64_t size = 0;
    size_t at = 1;
    for (int shift = 0; at < head.size() && shift < 56; shift += 7) {
      const auto byte = static_cast<unsigned char>(head[at++]);
      size |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) break;
    }
    const std::string_view text = head.substr(at, std::min<uint64_t>(size, head.size() - at));
    head.remove_prefix(at + text.size());
    return text;
  };
  take('\x0a');
  const auto op = take('\x12');
  if (!op) return false;
  head = *op;
  const auto plain = [](std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  };
  for (int i = 0; i < 64; ++i) {
    if (const auto type = take('\x22')) return plain(*type);
    auto text = take('\x0a');
    if (!text) text = take('\x12');
    if (!text) text = take('\x1a');
    if (!text || !(plain(*text) || text->empty())) return false;
  }
  return false;
}

absl::StatusOr<NetDesc> ReadNet(const BlobPtr& file) {
  std::string_view bytes = file->view();
  Origin origin = {bytes.data(), file};
  std::string wire;
  if (LooksLikeNetText(bytes.substr(0, 4096))) {
    X2IR_ASSIGN_OR_RETURN(wire, ProtoTextToWire(bytes, kNetDef, ProtoUnknown::kSkipped));
    bytes = wire;
    origin = {wire.data(), nullptr};
  }
  X2IR_ASSIGN_OR_RETURN(NetDesc net, ReadNetAt(bytes, origin, 0));
  if (net.ops.empty()) return Invalid("a net without operators");
  return net;
}

absl::StatusOr<std::optional<Tensor>> FilledBy(const OperatorDesc& op) {
  const Attribute* values = op.Find("values");
  static const Attribute::Floats kNoFloats;
  static const Attribute::Ints kNoInts;
  const auto* floats = values ? values->get<Attribute::Floats>() : &kNoFloats;
  const auto* ints = values ? values->get<Attribute::Ints>() : &kNoInts;
  if (op.type == "GivenTensorFill" || op.type == "GivenTensorDoubleFill") {
    if (!floats && ints && ints->empty()) floats = &kNoFloats;
    if (const auto* many = values ? values->get<Tensor>() : nullptr) {
      const auto size = static_cast<size_t>(many->num_elements());
      if (op.type != "GivenTensorFill") {
        std::vector<float> list(size);
        std::memcpy(list.data(), many->bytes().data(), many->nbytes());
        return Given<double>(op, list);
      }
      X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> dims, ShapeArg(op, size));
      X2IR_RETURN_IF_ERROR(CheckCount(dims, size));
      return std::optional(many->Reshaped(std::move(dims)));
    }
    if (!floats) return Invalid("values that are not floats");
    return op.type == "GivenTensorFill" ? Given<float>(op, *floats) : Given<double>(op, *floats);
  }
  if (op.type == "Int8GivenTensorFill" || op.type == "GivenTensorByteStringToUInt8Fill") {
    const auto* bytes = values ? values->get<std::string>() : nullptr;
    if (!bytes) return Invalid("values that are not bytes");
    const auto* first = reinterpret_cast<const uint8_t*>(bytes->data());
    return Given<uint8_t>(op, std::vector<uint8_t>(first, first + bytes->size()));
  }
  struct Integers {
    std::string_view type;
    absl::StatusOr<std::optional<Tensor>> (*given)(const OperatorDesc&, const Attribute::Ints&);
  };
  static constexpr Integers kIntegers[] = {{"GivenTensorIntFill", Given<int32_t, int64_t>},
                                           {"Int8GivenIntTensorFill", Given<int32_t, int64_t>},
                                           {"GivenTensorInt16Fill", Given<int16_t, int64_t>},
                                           {"GivenTensorInt64Fill", Given<int64_t, int64_t>},
                                           {"GivenTensorBoolFill", Given<bool, int64_t>}};
  for (const Integers& row : kIntegers) {
    if (op.type != row.type) continue;
    if (!ints) return Invalid("values that are not integers");
    return row.given(op, *ints);
  }
  if (op.type == "ConstantFill") return Constant(op);
  return std::optional<Tensor>();
}

}  // namespace x2ir::caffe2
