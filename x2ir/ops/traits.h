// Properties of an op that rewrites use without knowing what it computes. Each op has them in its
// own row (op.h), beside inference and evaluation; passes and the driver read it from there.
//
//   X2IR_OP(top_k)...Axes(kAlongAxis).Numbers(NumberUse::kCompares, kFirstOfType, kFirstOfType)
#ifndef X2IR_OPS_TRAITS_H_
#define X2IR_OPS_TRAITS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

class Builder;
struct Flip;
struct Slot;
using Perm = absl::InlinedVector<int64_t, 6>;  // perm.h

// How the op behaves when the axes of its operands and results change places (axes.h, which has the
// rules that many ops share). Both null: a transpose does not pass it.
struct AxisRule {
  // From the order of one operand or result, that of all others; nullopt where the node does not
  // pass that one. Asked only where the ranks of all tensors that change order are known.
  std::optional<Flip> (*spread)(const Node& node, Slot slot, const Perm& p) = nullptr;
  // Changes the attributes, and those operands that name axes. The caller changes the other
  // operands; the node still has its old types and operands. Null: nothing is to be changed.
  void (*change)(Node& node, const Flip& flip, Builder& b) = nullptr;
};
inline constexpr AxisRule kAxesStay{};

// What the op does with the numbers of its element type, and so which types can replace it, between
// casts, with the same numbers. Each kind allows fewer types than the one before. Floats of 16 bits
// and less are computed in float32 and rounded once by every op, here as in evaluation, so that
// they may always become float32.
enum class NumberUse : uint8_t {
  kMoves,      // nothing: any type that every value gets to and back from
  kCompares,   // tells which is greater, or whether one is 0: any type that has every value
  kWraps,      // sums and products modulo the width: any integer type that is as wide
  kComputes,   // other integer arithmetic: any integer type that has every value
  kFloatOnly,  // it is not defined for integers
  kFixed,      // it needs the type that it has
};

// Which operands and results are of the element type. Bit i: operand i, if its type is that of the
// first such operand; bit 31 means all from there on.
inline constexpr uint32_t kAllOfType = ~0u, kNoneOfType = 0, kFirstOfType = 1;

struct NumberRule {
  NumberUse use = NumberUse::kFixed;
  uint32_t operands = kAllOfType, results = kAllOfType;
  // Whether the node is an exception, for which no other type can be used. Null: no node is.
  bool (*except)(const Node& node) = nullptr;
};

// Whether the op treats every row (the elements along the last axis) alike, so that it may as well
// work on one matrix of all rows.
enum class RowUse : uint8_t {
  kNone,
  kElementwise,  // all operands are broadcast
  kFirst,        // operand 0 alone has rows; the others stay as they are
  kMatMul,       // operand 0 has rows, where operand 1 is a constant matrix
  kLastAxis,     // operand 0 has rows, where the attribute `axis` names the last axis
  kReduce,       // operand 0 has rows, where operand 1 names the last axis and it is kept
};

// Whether the results are the elements of operand 0 in other places. Each kind implies those before
// it.
enum class MoveUse : uint8_t {
  kNone,
  kSome,     // some of them
  kAll,      // each of them, once
  kInOrder,  // all in the same order: only the shape changes
};

// What becomes of the op where complex numbers become their real and imaginary parts
// (optimizer/complex_parts.h).
enum class ComplexUse : uint8_t {
  kNone,      // it is refused, but for a formula of its own there
  kParts,     // one of the real parts and one of the imaginary ones: it moves numbers or adds them
  kProducts,  // one for each pair of parts: it adds products of its two operands
};

// Whether results tell 0 from -0 of an operand, but for their own sign of a zero. As IEEE 754
// defines the op.
enum class ZeroUse : uint8_t {
  kPasses,           // a result is a zero of the operand's sign at most
  kForgets,          // results are the same, zeros and all
  kTells,            // results are other numbers, or may be
  kTellsOfOperand1,  // of the second operand alone
  kForgetsInSum,     // as kPasses, but results are the same if the other operand has no zeros
};

// What is known of the results, whatever the operands hold; of floats they may also be NaN.
enum class ResultUse : uint8_t {
  kAny,
  kNotNegative,  // of floats: not below 0, but maybe -0
  kWhole,        // whole numbers or infinities
  kMeans,        // means of elements of operand 0, maybe of one alone
};

// Equations that hold for all numbers that the op takes. Bits.
enum OpEquation : uint32_t {
  kTwiceIsNothing = 1,  // f(f(x)) = x
  kTwiceIsOnce = 2,     // f(f(x)) = f(x)
  kOfSameIsIt = 4,      // f(x, x) = x
  kOfOneIsIt = 8,       // f(x) = x, where f takes any number of operands
};

// The operands that stay float32 when a model becomes float16 or bfloat16.
struct FloatRule {
  uint32_t operands = kNoneOfType;  // bit i: operand i; all: the results too
  // Values that only these operands use stay float32 too, if elementwise ops and moves compute
  // them.
  bool back = false;
  std::string_view reason{};
};
namespace float32_for {
inline constexpr std::string_view kAngles = "angles are large, and small parts of them count";
inline constexpr std::string_view kBits = "it is about the bits of float32";
inline constexpr std::string_view kClassic = "it is defined for float32 alone";
inline constexpr std::string_view kCounts = "whole numbers beyond 2048 are not all float16";
inline constexpr std::string_view kPlaces = "places in an image need more digits than float16 has";
inline constexpr std::string_view kSolves = "small errors of the operand become large ones";
inline constexpr std::string_view kSquares = "sums of squares soon leave the range of float16";
inline constexpr std::string_view kSums = "long sums of small numbers";
inline constexpr std::string_view kText = "its text has more digits than float16";
inline constexpr std::string_view kTrains = "steps are smaller than the digits of float16";
inline constexpr std::string_view kUnits = "scales are part of quantized numbers";
}  // namespace float32_for

struct AxisPlace {
  size_t operand;
  int64_t axis;
};
// Which axes of the operands the axis of the results is (axis_origins.h).
using AxisOriginsFn = std::vector<AxisPlace> (*)(const Node& node, int64_t axis);
// The number of products that a node adds up (work.h); unknown if a shape is not known.
using WorkFn = Dim (*)(const Node& node);

}  // namespace x2ir

#endif  // X2IR_OPS_TRAITS_H_
