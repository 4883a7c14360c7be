// TensorFlow: slices.
#include <limits>

#include "x2ir/builder/empty_slices.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
constexpr int64_t kBeforeBegin = std::numeric_limits<int64_t>::min();

// From begin on, size elements of each axis; -1: all that are left.
Value* FromSlice(TfArgs& a) {
  Value* begin = a.AsInt64(a.in(1));
  Value* size = a.AsInt64(a.in(2));
  const auto begins = a.Ints(1), sizes = a.Ints(2);
  Value* end = nullptr;
  if (begins && sizes && begins->size() == sizes->size()) {
    std::vector<int64_t> ends(sizes->size());
    for (size_t i = 0; i < ends.size(); ++i) {
      if ((*begins)[i] < 0 || (*sizes)[i] < -1) a.b().Fail(Invalid("a slice from ", (*begins)[i]));
      if ((*sizes)[i] == -1 || __builtin_add_overflow((*begins)[i], (*sizes)[i], &ends[i])) {
        ends[i] = kEnd;
      }
    }
    end = a.b().Ints(ends);
  } else {
    Value* open = a.Op("less", {size, a.b().Int(0)});
    end = a.Op("where", {open, a.b().Int(kEnd), a.Op("add", {begin, size})});
  }
  return a.Op("slice", {a.in(0), begin, end});
}

// A number that is known, or an element of an operand.
struct SliceBound {
  std::optional<int64_t> number;
  Value* value = nullptr;
};

// The slice of one axis of the operand.
struct AxisSlice {
  int64_t axis;
  SliceBound begin, end;
  int64_t step;
};

class StridedSlice {
 public:
  explicit StridedSlice(TfArgs& a) : a_(a) {}

  absl::StatusOr<Value*> Run() {
    const int64_t begin_mask = a_.Int("begin_mask", 0), end_mask = a_.Int("end_mask", 0),
                  ellipsis_mask = a_.Int("ellipsis_mask", 0),
                  new_axis_mask = a_.Int("new_axis_mask", 0),
                  shrink_mask = a_.Int("shrink_axis_mask", 0);
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> steps, a_.KnownInts(3, "strides"));
    X2IR_ASSIGN_OR_RETURN(const std::vector<SliceBound> begins, Bounds(1, steps.size()));
    X2IR_ASSIGN_OR_RETURN(const std::vector<SliceBound> ends, Bounds(2, steps.size()));
    const auto bit = [](int64_t mask, size_t i) { return i < 31 && (mask >> i & 1) != 0; };
    const size_t count = steps.size();
    if (count > 31) return Invalid("more than 31 strides");
    // Axes that the entries before and after an ellipsis take; it takes the others.
    size_t taken = 0;
    bool ellipsis = false;
    for (size_t i = 0; i < count; ++i) {
      if (bit(ellipsis_mask, i)) {
        if (ellipsis) return Invalid("several ellipses");
        ellipsis = true;
      } else if (!bit(new_axis_mask, i)) {
        ++taken;
      }
    }
    int64_t rank = a_.rank(0);
    if (ellipsis && rank < 0) return Unimplemented("an ellipsis, and the rank is not known");
    if (rank >= 0 && static_cast<int64_t>(taken) > rank) {
      return Invalid("slices of ", taken, " axes of an operand of rank ", rank);
    }
    int64_t axis = 0;      // of the operand
    int64_t out_axis = 0;  // of the result
    std::vector<int64_t> squeezed, added;
    for (size_t i = 0; i < count; ++i) {
      if (bit(ellipsis_mask, i)) {
        const int64_t skipped = rank - static_cast<int64_t>(taken);
        axis += skipped;
        out_axis += skipped;
      } else if (bit(new_axis_mask, i)) {
        added.push_back(out_axis++);
      } else if (bit(shrink_mask, i)) {
        X2IR_RETURN_IF_ERROR(AddOne(axis, begins[i]));
        squeezed.push_back(axis++);
      } else {
        if (steps[i] == 0) return Invalid("a stride of 0");
        const SliceBound first{steps[i] > 0 ? 0 : kEnd}, last{steps[i] > 0 ? kEnd : kBeforeBegin};
        AxisSlice slice{axis, bit(begin_mask, i) ? first : begins[i],
                        bit(end_mask, i) ? last : ends[i], steps[i]};
        X2IR_RETURN_IF_ERROR(Add(std::move(slice), bit(begin_mask, i)));
        ++axis;
        ++out_axis;
      }
    }
    Value* v = Sliced();
    if (!squeezed.empty()) v = a_.Op("squeeze", {v, a_.b().Ints(squeezed)});
    if (!added.empty()) v = a_.Op("unsqueeze", {v, a_.b().Ints(added)});
    return slices_.empty() && squeezed.empty() && added.empty() ? a_.Op("identity", {v}) : v;
  }

 private:
  absl::StatusOr<std::vector<SliceBound>> Bounds(size_t i, size_t count) {
    std::vector<SliceBound> bounds(count);
    Value* operand = a_.in(i);
    if (const auto known = a_.Ints(i)) {
      if (known->size() != count) return Invalid("operand ", i, " has another length than strides");
      for (size_t k = 0; k < count; ++k) bounds[k].number = (*known)[k];
      return bounds;
    }
    Value* wide = a_.AsInt64(operand);
    for (size_t k = 0; k < count; ++k) {
      const auto at = static_cast<int64_t>(k);
      bounds[k].value = a_.Op("slice", {wide, a_.b().Ints({at}), a_.b().Ints({at + 1})});
      // Some elements may be known where others are not.
      if (const auto one = KnownInts(bounds[k].value); one && one->size() == 1) {
        bounds[k].number = (*one)[0];
      }
    }
    return bounds;
  }

  std::optional<int64_t> SizeOf(int64_t axis) const {
    const Shape* shape = a_.shape(0);
    if (!shape || axis >= shape->rank() || !(*shape)[axis].is_static()) return std::nullopt;
    return (*shape)[axis].value();
  }

  // The one element at begin.
  absl::Status AddOne(int64_t axis, const SliceBound& begin) {
    SliceBound end;
    if (begin.number) {
      if (const auto size = SizeOf(axis);
          size && (*begin.number >= *size || *begin.number < -*size)) {
        return Invalid("index ", *begin.number, " of an axis of ", *size);
      }
      end.number = *begin.number == -1 ? kEnd : *begin.number + 1;
    } else {
      Value* next = a_.Op("add", {begin.value, a_.b().Ints({1})});
      Value* last = a_.Op("equal", {next, a_.b().Ints({0})});
      end.value = a_.Op("where", {last, a_.b().Ints({kEnd}), next});
    }
    slices_.push_back({axis, begin, end, 1});
    return absl::OkStatus();
  }

  absl::Status Add(AxisSlice slice, bool from_start) {
    if (slice.step > 0 && slice.begin.number == 0 && slice.end.number == kEnd && slice.step == 1) {
      return absl::OkStatus();  // all of it
    }
    if (slice.step < 0 && !from_start) {
      // A begin before the first element slices nothing here; IR would begin at the first.
      const auto size = SizeOf(slice.axis);
      const auto begin = slice.begin.number;
      if (begin && size && *begin < -*size) {
        slice.begin.number = 0;
        slice.end.number = 0;
        slice.step = 1;
      } else if (!begin || (*begin < -1 && !size)) {
        // The end of no elements, where it turns out so.
        Value* first = begin ? a_.b().Ints({*begin}) : slice.begin.value;
        Value* whole =
            size ? a_.b().Ints({*size})
                 : a_.Op("shape", {a_.in(0)}, {{"start", slice.axis}, {"end", slice.axis + 1}});
        Value* before = a_.Op("less", {a_.Op("add", {first, whole}), a_.b().Ints({0})});
        Value* end = slice.end.number ? a_.b().Ints({*slice.end.number}) : slice.end.value;
        slice.end = {std::nullopt, a_.Op("where", {before, a_.b().Ints({kEnd}), end})};
      }
    }
    slices_.push_back(std::move(slice));
    return absl::OkStatus();
  }

  Value* Together(SliceBound AxisSlice::*which) {
    std::vector<int64_t> numbers;
    std::vector<Value*> values;
    bool known = true;
    for (const AxisSlice& slice : slices_) {
      const SliceBound& bound = slice.*which;
      known = known && bound.number.has_value();
      numbers.push_back(bound.number.value_or(0));
      values.push_back(bound.number ? nullptr : bound.value);
    }
    if (known) return a_.b().Ints(numbers);
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i]) values[i] = a_.b().Ints({numbers[i]});
    }
    return values.size() == 1 ? values[0] : a_.Op("concat", values, {{"axis", 0}});
  }

  Value* Sliced() {
    if (slices_.empty()) return a_.in(0);
    std::vector<int64_t> axes, steps;
    for (const AxisSlice& slice : slices_) {
      axes.push_back(slice.axis);
      steps.push_back(slice.step);
    }
    Value* begins = Together(&AxisSlice::begin);
    Value* ends = Together(&AxisSlice::end);
    return a_.Op("slice", {a_.in(0), begins, ends, a_.b().Ints(axes), a_.b().Ints(steps)});
  }

  TfArgs& a_;
  std::vector<AxisSlice> slices_;
};

absl::StatusOr<Value*> FromStridedSlice(TfArgs& a) { return StridedSlice(a).Run(); }

absl::StatusOr<Value*> ToTfSlice(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank == 0) return w.Op("identity", {w.in(0)});
  X2IR_ASSIGN_OR_RETURN(StridedBounds bounds, StridedBoundsOf(w));
  PutEmptyAt(w, 0, &bounds);  // TensorFlow.js takes no end before the begin
  return w.Tf("StridedSlice", {w.in(0), bounds.begin, bounds.end, bounds.strides},
              {{"begin_mask", bounds.begin_mask},
               {"end_mask", bounds.end_mask},
               {"ellipsis_mask", 0},
               {"new_axis_mask", 0},
               {"shrink_axis_mask", 0}});
}

}  // namespace

X2IR_TF(slice)
    .To("StridedSlice", ToTfSlice)
    .From({{"Slice", FromSlice}, {"StridedSlice", FromStridedSlice}});

}  // namespace x2ir
