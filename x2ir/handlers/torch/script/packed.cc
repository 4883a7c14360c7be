// Packed sequences (torch.nn.utils.rnn): here they are padded ones with their lengths, which
// recurrent layers of the IR take.
#include <algorithm>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/script/machine.h"

namespace x2ir::torch_script {
namespace {

bool IsPacked(const Val& v) { return v.kind == Val::kTensor && v.tensor().packed; }

bool HasPackedData(Machine& m, const Val& v, int depth = 0) {
  m.CountStep();
  if (v.kind == Val::kTensor) return v.tensor().packed && !v.tensor().batch_sizes;
  if (depth > 8 || (v.kind != Val::kTuple && v.kind != Val::kList)) return false;
  const auto& items = v.kind == Val::kTuple ? v.tuple() : v.list().items;
  return std::any_of(items.begin(), items.end(),
                     [&](const Val& item) { return HasPackedData(m, item, depth + 1); });
}
// Functions of containers do not look at what is in them.
bool TakesAnything(std::string_view op) {
  static constexpr std::string_view kOps[] = {
      "aten::__getitem__", "aten::append",         "aten::extend", "aten::len", "aten::_set_item",
      "aten::__is__",      "aten::__isnot__",      "aten::insert", "aten::pop", "aten::list",
      "aten::copy",        "prim::unchecked_cast", "aten::slice"};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

Val PackedLike(Machine& m, const Val& data, const std::shared_ptr<const Packed>& packed) {
  auto of = std::make_shared<Packed>(*packed);
  of->padded = m.Read(data);
  data.tensor().packed = std::move(of);
  return data;
}

// How many sequences go on at each step: int64 [steps].
Val BatchSizes(Machine& m, const Val& lengths) {
  const Val longest = m.Call("aten::Int", {{m.Call("aten::max", {{lengths}, {}})}, {}});
  const Val steps = m.Call("aten::arange", {{longest}, {}});
  const Val goes_on = m.Call("aten::gt", {{m.Call("aten::unsqueeze", {{lengths, Val::Int(0)}, {}}),
                                           m.Call("aten::unsqueeze", {{steps, Val::Int(1)}, {}})},
                                          {}});
  return m.Call("aten::sum", {{goes_on, Val::List({Val::Int(1)})}, {}});
}

Val Pack(Machine& m, const Args& args) {
  const Val *input = args.Get(0, "input"), *lengths = args.Get(1, "lengths"),
            *batch_first = args.Get(2, "batch_first");
  if (!input || !lengths || !batch_first) m.Refuse("_pack_padded_sequence with other arguments");
  Val padded = *input;
  if (m.Truth(*batch_first)) {
    padded = m.Call("aten::transpose", {{padded, Val::Int(0), Val::Int(1)}, {}});
  }
  m.packs = true;
  auto packed = std::make_shared<Packed>();
  packed->lengths = m.Read(*lengths);
  packed->padded = m.Read(padded);
  Val data = m.Fresh(packed->padded);
  data.tensor().packed = packed;
  Val sizes = BatchSizes(m, *lengths);
  sizes.tensor().packed = packed;
  sizes.tensor().batch_sizes = true;
  return Val::Tuple({data, sizes});
}

Val Unpack(Machine& m, const Args& args) {
  const Val *data = args.Get(0, "data"), *first = args.Get(2, "batch_first"),
            *value = args.Get(3, "padding_value"), *total = args.Get(4, "total_length");
  if (!data || !IsPacked(*data) || !first || !value || !total) {
    m.Refuse("_pad_packed_sequence of what was not packed here");
  }
  const Packed& packed = *data->tensor().packed;
  const Val lengths = m.Fresh(packed.lengths), padded = m.Fresh(packed.padded);
  // Steps past the end of a sequence are padding.
  const Val steps =
      m.Call("aten::arange", {{m.Call("aten::size", {{padded, Val::Int(0)}, {}})}, {}});
  Val inside = m.Call("aten::gt", {{m.Call("aten::unsqueeze", {{lengths, Val::Int(0)}, {}}),
                                    m.Call("aten::unsqueeze", {{steps, Val::Int(1)}, {}})},
                                   {}});
  for (int64_t i = 2; i < packed.padded->shape()->rank(); ++i) {
    inside = m.Call("aten::unsqueeze", {{inside, Val::Int(-1)}, {}});
  }
  Val result = m.Call("aten::where", {{inside, padded, *value}, {}});
  if (result.kind == Val::kTensor && m.Read(result)->dtype() != packed.padded->dtype()) {
    result = m.Call("aten::to", {{result, padded}, {}});
  }
  // As many steps as the longest sequence has, or as the caller says.
  const Val size = m.Call("aten::size", {{padded, Val::Int(0)}, {}});
  Val length = *total;
  if (length.is_known(Val::kInt) && length.i < 0) {
    length = m.Call("aten::Int", {{m.Call("aten::max", {{lengths}, {}})}, {}});
  }
  if (length.is_known(Val::kInt) && size.is_known(Val::kInt) && length.i > size.i) {
    std::vector<Val> pads(static_cast<size_t>(2 * packed.padded->shape()->rank()), Val::Int(0));
    pads.back() = Val::Int(length.i - size.i);
    result = m.Call("aten::constant_pad_nd", {{result, Val::List(std::move(pads)), *value}, {}});
  }
  result = m.Call("aten::slice", {{result, Val::Int(0), Val::Int(0), length}, {}});
  if (m.Truth(*first)) {
    result = m.Call("aten::transpose", {{result, Val::Int(0), Val::Int(1)}, {}});
  }
  return Val::Tuple({result, lengths});
}

// lstm(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)
Val Recurrent(Machine& m, std::string_view op, const Args& args) {
  const Val& data = args.positional[0];
  const std::shared_ptr<const Packed> packed = data.tensor().packed;
  if (args.positional.size() != 9) m.Refuse(op, " of packed sequences with other arguments");
  Value* lengths = m.Op("cast", {packed->lengths}, {{"to", std::string("int32")}});
  const auto& a = args.positional;
  TorchCallRecord call;
  call.op = StrCat(op, ".input");
  const auto operand = [&](const Val& v, std::string name) {
    call.operands.push_back(m.Read(v));
    call.names.push_back(std::move(name));
  };
  operand(m.Fresh(packed->padded), "input");
  const bool lstm = op == "aten::lstm";
  if (lstm) {
    const auto& states = m.Items(a[2], "hx");
    for (size_t i = 0; i < states.size(); ++i) operand(states[i], StrCat("hx[", i, "]"));
  } else {
    operand(a[2], "hx");
  }
  const auto& params = m.Items(a[3], "params");
  for (size_t i = 0; i < params.size(); ++i) operand(params[i], StrCat("params[", i, "]"));
  call.operands.push_back(lengths);
  call.names.push_back("lengths");
  const auto flag = [&](const Val& v) { return Tensor::Scalar<bool>(m.Truth(v)); };
  call.attrs.Set("has_biases", flag(a[4]));
  call.attrs.Set("num_layers", m.KnownInt(a[5], "num_layers"));
  call.attrs.Set("dropout", a[6].d);
  call.attrs.Set("train", flag(a[7]));
  call.attrs.Set("bidirectional", flag(a[8]));
  call.attrs.Set("batch_first", Tensor::Scalar<bool>(false));
  std::vector<Val> results;
  for (Value* value : m.Emit(call, lstm ? 3 : 2, packed->padded->dtype())) {
    results.push_back(m.Fresh(value));
  }
  PackedLike(m, results[0], packed);
  return Val::Tuple(std::move(results));
}

}  // namespace

std::optional<Val> CallPacked(Machine& m, std::string_view op, const Args& args) {
  if (op == "aten::_pack_padded_sequence") return Pack(m, args);
  if (op == "aten::_pad_packed_sequence") return Unpack(m, args);
  if (!m.packs) return std::nullopt;
  // Nowhere but as the first operand of a few operators does padding stand for packed data.
  const bool others =
      std::any_of(args.positional.begin() + (args.positional.empty() ? 0 : 1),
                  args.positional.end(), [&](const Val& v) { return HasPackedData(m, v); }) ||
      std::any_of(args.named.begin(), args.named.end(),
                  [&](const auto& arg) { return HasPackedData(m, arg.second); });
  if (others && !TakesAnything(op)) m.Refuse(op, " of packed sequences");
  if (args.positional.empty()) return std::nullopt;
  const Val& self = args.positional[0];
  if (!IsPacked(self)) {
    if (HasPackedData(m, self) && !TakesAnything(op)) m.Refuse(op, " of packed sequences");
    return std::nullopt;
  }
  const std::shared_ptr<const Packed> packed = self.tensor().packed;
  if (self.tensor().batch_sizes) {
    // The first step has all sequences.
    const bool first = op == "aten::select" && args.positional.size() == 3 &&
                       args.positional[1].is_known(Val::kInt) && args.positional[1].i == 0 &&
                       args.positional[2].is_known(Val::kInt) && args.positional[2].i == 0;
    if (!first) return std::nullopt;
    const Val size = m.Call("aten::size", {{m.Fresh(packed->padded), Val::Int(1)}, {}});
    return m.Call("prim::NumToTensor", {{size}, {}});
  }
  for (const std::string_view net :
       {"aten::lstm", "aten::gru", "aten::rnn_tanh", "aten::rnn_relu"}) {
    if (op == net) return Recurrent(m, op, args);
  }
  // What looks at types alone, and functions of each element or of the last axis.
  static constexpr std::string_view kAsked[] = {
      "prim::dtype",   "prim::device", "prim::requires_grad", "aten::is_floating_point",
      "prim::is_cuda", "aten::__is__", "aten::__isnot__"};
  if (std::find(std::begin(kAsked), std::end(kAsked), op) != std::end(kAsked)) return std::nullopt;
  static constexpr std::string_view kEach[] = {
      "aten::dropout", "aten::relu",       "aten::tanh", "aten::sigmoid",    "aten::linear",
      "aten::to",      "aten::layer_norm", "aten::gelu", "aten::leaky_relu", "aten::elu"};
  if (std::find(std::begin(kEach), std::end(kEach), op) == std::end(kEach)) {
    m.Refuse(op, " of packed sequences");
  }
  Args plain = args;
  plain.positional[0] = m.Fresh(packed->padded);
  return PackedLike(m, m.Call(op, plain), packed);
}

}  // namespace x2ir::torch_script
