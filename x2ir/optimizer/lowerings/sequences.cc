// Sequences whose elements are known one by one, and optionals that are known to be full or
// empty: what is done with them is done with the tensors themselves.
#include "x2ir/optimizer/lowerings/sequences.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/lowering.h"

namespace x2ir {
namespace {

// How far back from each use is looked.
constexpr int kMaxHops = 256;

// --- Sequences ------------------------------------------------------------------------------

// An element: a tensor, or a part of one.
struct Item {
  Value* value;
  bool part = false, squeeze = false;
  int64_t axis = 0, start = 0, end = 0;
};
using Items = std::vector<Item>;

Value* Make(Builder& b, const Item& item) {
  if (!item.part) return item.value;
  Value* axis = b.Ints({item.axis});
  Value* part = b.Op("slice", {item.value, b.Ints({item.start}), b.Ints({item.end}), axis});
  return item.squeeze ? b.Op("squeeze", {part, axis}) : part;
}

// As evaluation cuts them; nullopt where the sizes are not known.
std::optional<Items> PartsOf(const Node& split) {
  Value* value = split.input(0);
  if (!value->shape()) return std::nullopt;
  const auto axis = NormalizeAxis(split.attrs().Int("axis"), value->shape()->rank());
  if (!axis.ok() || !(*value->shape())[*axis].is_static()) return std::nullopt;
  const int64_t size = (*value->shape())[*axis].value();
  std::vector<int64_t> sizes = {1};
  bool each = true;
  if (Value* operand = split.input(1)) {
    const auto known = KnownInts(operand);
    if (!known || !operand->shape()) return std::nullopt;
    sizes = *known;
    each = operand->shape()->rank() == 0;
  }
  constexpr int64_t kMaxParts = 1024;
  Items items;
  const bool squeeze = !split.input(1) && split.attrs().Int("keepdims") == 0;
  int64_t at = 0;
  for (size_t i = 0; each ? at < size : i < sizes.size(); ++i) {
    const int64_t part = sizes[each ? 0 : i];
    if (part < (each ? 1 : 0) || (!each && part > size - at)) return std::nullopt;
    if (static_cast<int64_t>(items.size()) == kMaxParts) return std::nullopt;
    const int64_t end = at + std::min(part, size - at);
    items.push_back({value, true, squeeze, *axis, at, end});
    at = end;
  }
  return at == size ? std::optional(std::move(items)) : std::nullopt;
}

// The elements of a sequence that IR nodes put together one by one.
std::optional<Items> ItemsOf(const Value* sequence) {
  std::vector<const Node*> steps;  // from the last one to the first
  std::optional<Items> items;
  for (int hops = 0; !items; ++hops) {
    const Node* node = sequence ? sequence->producer() : nullptr;
    if (!node || hops == kMaxHops) return std::nullopt;
    if (node->Is("sequence_construct")) {
      items.emplace();
      for (Value* value : node->inputs()) items->push_back({value});
    } else if (node->Is("sequence_empty")) {
      items.emplace();
    } else if (node->Is("split_to_sequence")) {
      items = PartsOf(*node);
      if (!items) return std::nullopt;
    } else if (node->Is("sequence_insert") || node->Is("sequence_erase")) {
      steps.push_back(node);
      sequence = node->input(0);
    } else if (node->Is("identity") || node->Is("optional") || node->Is("optional_get_element")) {
      sequence = node->input(0);
    } else {
      return std::nullopt;
    }
  }
  for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
    const bool insert = (*it)->Is("sequence_insert");
    const int64_t n = static_cast<int64_t>(items->size());
    int64_t at = insert ? n : n - 1;
    if (const Value* position = (*it)->input(insert ? 2 : 1)) {
      const auto known = KnownInts(position);
      if (!known || known->size() != 1) return std::nullopt;
      at = (*known)[0] < 0 ? (*known)[0] + n : (*known)[0];
    }
    if (at < 0 || at > (insert ? n : n - 1)) return std::nullopt;
    if (insert) {
      items->insert(items->begin() + at, Item{(*it)->input(1)});
    } else {
      items->erase(items->begin() + at);
    }
  }
  return items;
}

absl::Status NotKnown() { return CannotExpress("the elements of the sequence are not known"); }

absl::StatusOr<Values> SequenceAtAsElement(Rewrite& r) {
  const auto items = ItemsOf(r.in(0));
  if (!items) return NotKnown();
  const auto position = r.ConstInts(1);
  if (!position || position->size() != 1) return CannotExpress("the position is not constant");
  const int64_t n = static_cast<int64_t>(items->size());
  const int64_t at = (*position)[0] < 0 ? (*position)[0] + n : (*position)[0];
  if (at < 0 || at >= n) {
    return Invalid("position ", (*position)[0], " is out of range for a sequence of ", n);
  }
  return Values{Make(r.b, (*items)[at])};
}
X2IR_LOWERING(sequence_at, SequenceAtAsElement);

absl::StatusOr<Values> SequenceLengthAsConstant(Rewrite& r) {
  const auto items = ItemsOf(r.in(0));
  if (!items) return NotKnown();
  return Values{r.b.Int(static_cast<int64_t>(items->size()))};
}
X2IR_LOWERING(sequence_length, SequenceLengthAsConstant);

absl::StatusOr<Values> ConcatFromSequenceAsConcat(Rewrite& r) {
  const auto items = ItemsOf(r.in(0));
  if (!items) return NotKnown();
  if (items->empty()) return Invalid("an empty sequence cannot be concatenated");
  const int64_t axis = r.attrs().Int("axis");
  std::vector<Value*> parts;
  for (const Item& item : *items) {
    Value* part = Make(r.b, item);
    if (r.attrs().Int("new_axis") != 0) part = r.b.Op("unsqueeze", {part, r.b.Ints({axis})});
    parts.push_back(part);
  }
  return Values{r.b.Op("concat", std::move(parts), {{"axis", axis}})};
}
X2IR_LOWERING(concat_from_sequence, ConcatFromSequenceAsConcat);

// --- Optionals ------------------------------------------------------------------------------

// Whether it holds something, where that is certain.
std::optional<bool> IsFull(const Value* value) {
  if (!value) return false;
  for (int hops = 0; hops < kMaxHops; ++hops) {
    if (value->type().is_known() && value->type().kind() != Type::kOptional) return true;
    const Node* node = value->producer();
    if (!node) return std::nullopt;
    if (node->Is("optional")) return node->input(0) != nullptr;
    if (!node->Is("identity")) return std::nullopt;
    value = node->input(0);
  }
  return std::nullopt;
}

absl::StatusOr<Values> HasElementAsConstant(Rewrite& r) {
  const std::optional<bool> full = IsFull(r.in(0));
  if (!full) return CannotExpress("whether the optional is empty is not known");
  return Values{r.b.Constant(Tensor::Scalar<bool>(*full))};
}
X2IR_LOWERING(optional_has_element, HasElementAsConstant);

absl::StatusOr<Values> GetElementAsOperand(Rewrite& r) {
  Value* value = r.in(0);
  for (int hops = 0; hops < kMaxHops; ++hops) {
    if (value->type().is_known() && value->type().kind() != Type::kOptional) {
      return Values{value};
    }
    const Node* node = value->producer();
    if (!node || !(node->Is("optional") || node->Is("identity")) || !node->input(0)) break;
    value = node->input(0);
  }
  return CannotExpress("what the optional holds is not known");
}
X2IR_LOWERING(optional_get_element, GetElementAsOperand);

// --- Removal of unused sequences -------------------------------------------------------------

bool IsSpelledOutAt(const Value& value, int depth) {
  if (value.is_graph_output() || depth > kMaxHops) return false;
  std::optional<bool> has_items;
  const auto items_are_known = [&] {
    if (!has_items) has_items = ItemsOf(&value).has_value();
    return *has_items;
  };
  const auto goes_away = [&](const Use& use) {
    const Node& user = *use.node;
    if (use.index != 0) return false;
    if (user.Is("sequence_at")) return KnownInts(user.input(1)) && items_are_known();
    if (user.Is("sequence_length") || user.Is("concat_from_sequence")) return items_are_known();
    if (user.Is("optional_has_element")) return IsFull(&value).has_value();
    if (user.Is("optional_get_element")) {
      if (IsFull(&value) != true) return false;
    } else if (!user.Is("sequence_insert") && !user.Is("sequence_erase") && !user.Is("identity") &&
               !user.Is("optional")) {
      return false;
    }
    const Value* result = user.output(0);
    return !result || result->type().is_tensor() || IsSpelledOutAt(*result, depth + 1);
  };
  return std::all_of(value.uses().begin(), value.uses().end(), goes_away);
}

}  // namespace

bool IsSpelledOut(const Value& value) { return IsSpelledOutAt(value, 0); }

}  // namespace x2ir
