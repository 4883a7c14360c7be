// Sequences and optionals: values checked by hand.
#include <string_view>

#include "gtest/gtest.h"
#include "tests/ops/eval_rows_util.h"

namespace x2ir {
namespace {

#define X2IR_ABC                                                              \
  "a = int64[1]{1}\n b = int64[2]{2, 3}\n c = int64[0]{}\n d = int64[1]{9}\n" \
  "s = sequence_construct(a, b, c)\n"
#define X2IR_ALL "\n y = concat_from_sequence(t) { axis = 0 }"

TEST(Sequences, Eval) {
  const EvalRow rows[] = {
      {X2IR_ABC "p = int64[]{1}\n y = sequence_at(s, p)", "int64[2]{2, 3}"},
      {X2IR_ABC "p = int32[]{-3}\n y = sequence_at(s, p)", "int64[1]{1}"},
      {X2IR_ABC "p = int64[]{3}\n y = sequence_at(s, p)", "error out of range"},
      {X2IR_ABC "p = int64[]{-4}\n y = sequence_at(s, p)", "error out of range"},
      {X2IR_ABC "y = sequence_length(s)", "int64[]{3}"},
      {"e = sequence_empty()\n y = sequence_length(e)", "int64[]{0}"},
      {X2IR_ABC "t = sequence_insert(s, d)" X2IR_ALL, "int64[4]{1, 2, 3, 9}"},
      {X2IR_ABC "p = int64[]{3}\n t = sequence_insert(s, d, p)" X2IR_ALL, "int64[4]{1, 2, 3, 9}"},
      {X2IR_ABC "p = int64[]{-3}\n t = sequence_insert(s, d, p)" X2IR_ALL, "int64[4]{9, 1, 2, 3}"},
      {X2IR_ABC "p = int64[]{1}\n t = sequence_insert(s, d, p)" X2IR_ALL, "int64[4]{1, 9, 2, 3}"},
      {X2IR_ABC "p = int64[]{4}\n t = sequence_insert(s, d, p)" X2IR_ALL, "error out of range"},
      {X2IR_ABC "f = float32[1]{1}\n t = sequence_insert(s, f)" X2IR_ALL, "error differ"},
      {X2IR_ABC "p = int64[]{0}\n t = sequence_erase(s, p)" X2IR_ALL, "int64[2]{2, 3}"},
      {X2IR_ABC "u = sequence_erase(s)\n t = sequence_erase(u)" X2IR_ALL, "int64[1]{1}"},
      {X2IR_ABC "p = int64[]{3}\n t = sequence_erase(s, p)" X2IR_ALL, "error out of range"},
      {"e = sequence_empty()\n t = sequence_erase(e)\n y = sequence_length(t)", "error empty"},
      {"e = sequence_empty()\n y = concat_from_sequence(e) { axis = 0 }", "error empty"},
      {X2IR_ABC "y = concat_from_sequence(s) { axis = 0, new_axis = 1 }", "error one type"},
      {X2IR_ABC "t = sequence_construct(a, d)\n y = concat_from_sequence(t) "
                "{ axis = -1, new_axis = 1 }",
       "int64[1,2]{1, 9}"},
      {X2IR_ABC "t = sequence_construct(b, b)\n y = concat_from_sequence(t) "
                "{ axis = 0, new_axis = 1 }",
       "int64[2,2]{2, 3, 2, 3}"},
      {"a = int64[1]{1}\n f = float32[1]{1}\n s = sequence_construct(a, f)\n"
       "y = sequence_length(s)",
       "error differ"},
      {"a = string[1]{\"p\"}\n s = sequence_construct(a, a)\n"
       "y = concat_from_sequence(s) { axis = 0 }",
       "string[2]{\"p\", \"p\"}"},
  };
  ExpectRows(rows);
}

TEST(SplitToSequence, Eval) {
#define X2IR_AT(p) "\n p = int64[]{" p "}\n y = sequence_at(s, p)\n z = sequence_length(s)"
  const EvalRow rows[] = {
      {"x = int64[2,3]{1, 2, 3, 4, 5, 6}\n s = split_to_sequence(x)" X2IR_AT("1"),
       "int64[1,3]{4, 5, 6}; int64[]{2}", "y, z"},
      {"x = int64[2,3]{1, 2, 3, 4, 5, 6}\n s = split_to_sequence(x) { keepdims = 0, axis = -1 }"  //
       X2IR_AT("1"),
       "int64[2]{2, 5}; int64[]{3}", "y, z"},
      {"x = int64[3]{1, 2, 3}\n k = int64[]{2}\n s = split_to_sequence(x, k) { keepdims = 0 }"  //
       X2IR_AT("-1"),
       "int64[1]{3}; int64[]{2}", "y, z"},
      {"x = int64[3]{1, 2, 3}\n k = int32[3]{0, 2, 1}\n s = split_to_sequence(x, k)" X2IR_AT("1"),
       "int64[2]{1, 2}; int64[]{3}", "y, z"},
      {"x = int64[3]{1, 2, 3}\n k = int64[2]{2, 2}\n s = split_to_sequence(x, k)" X2IR_AT("1"),
       "error add up"},
      {"x = int64[3]{1, 2, 3}\n k = int64[2]{-1, 4}\n s = split_to_sequence(x, k)" X2IR_AT("1"),
       "error "},
      {"x = int64[3]{1, 2, 3}\n k = int64[]{0}\n s = split_to_sequence(x, k)" X2IR_AT("1"),
       "error positive"},
      {"x = int64[0,2]{}\n s = split_to_sequence(x)\n y = sequence_length(s)", "int64[]{0}"},
      {"x = int64[]{1}\n s = split_to_sequence(x)\n y = sequence_length(s)", "error axis"},
      {"x = int64[1099511627776,0]{}\n s = split_to_sequence(x)\n y = sequence_length(s)",
       "error too many"},
  };
  ExpectRows(rows);
}

TEST(Optionals, Eval) {
  const EvalRow rows[] = {
      {"x = int64[1]{1}\n o = optional(x)\n y = optional_has_element(o)\n"
       "z = optional_get_element(o)",
       "bool[]{true}; int64[1]{1}", "y, z"},
      {"o = optional() { type = type(float32[2]) }\n y = optional_has_element(o)", "bool[]{false}"},
      {"o = optional() { type = type(float32[2]) }\n y = optional_get_element(o)", "error empty"},
      {"o = optional() { type = type(float32[2]) }\n x = optional_get_element(o)\n y = relu(x)",
       "error empty"},
      {"o = optional()\n y = optional_has_element(o)", "error needs a type"},
      {"x = int64[1]{1}\n o = optional(x) { type = type(float32[2]) }\n"
       "y = optional_has_element(o)",
       "error differ"},
      {"y = optional_has_element()", "bool[]{false}"},
      {"x = int64[1]{1}\n y = optional_has_element(x)\n z = optional_get_element(x)",
       "bool[]{true}; int64[1]{1}", "y, z"},
      {"x = int64[1]{1}\n s = sequence_construct(x)\n o = optional(s)\n p = identity(o)\n"
       "t = optional_get_element(p)\n y = sequence_length(t)",
       "int64[]{1}"},
  };
  ExpectRows(rows);
}

TEST(Sequences, Infer) {
  const InferRow rows[] = {
      {"a: float32[n,2], b: float32[m,2]", "y = sequence_construct(a, b)",
       "sequence(float32[?,2])"},
      {"a: float32[n,2], b: float32[n]", "y = sequence_construct(a, b)", "sequence(float32[...])"},
      {"a: float32[n], s: sequence(float32[n])", "y = sequence_insert(s, a)",
       "sequence(float32[n])"},
      {"s: sequence(float32[n])", "y = sequence_erase(s)", "sequence(float32[n])"},
      {"s: float32[n]", "y = sequence_erase(s)", "error expected a sequence"},
      {"s: sequence(float32[n,3])", "y = concat_from_sequence(s) { axis = -1 }", "float32[n,?]"},
      {"s: sequence(float32[n,3])", "y = concat_from_sequence(s) { axis = -1, new_axis = 1 }",
       "float32[n,3,?]"},
      {"s: sequence(float32[n,3])", "y = concat_from_sequence(s) { axis = 2 }", "error axis"},
      {"x: float32[n,6]", "y = split_to_sequence(x) { axis = 1, keepdims = 0 }",
       "sequence(float32[n])"},
      {"x: float32[n,6]", "k = int64[]{3}\n y = split_to_sequence(x, k) { axis = 1 }",
       "sequence(float32[n,3])"},
      {"x: float32[n,6]", "k = int64[]{4}\n y = split_to_sequence(x, k) { axis = 1 }",
       "sequence(float32[n,?])"},
      {"o: optional(float32[n])", "y = optional_get_element(o)", "float32[n]"},
      {"x: sequence(float32[n])", "y = optional(x)", "optional(sequence(float32[n]))"},
      {"o: optional(float32[n])", "y = optional(o)", "error holds no optional"},
      {"o: optional(float32[n])", "y = optional_has_element(o)", "bool[]"},
      {"o: float32[n]", "y = optional_has_element(o)", "bool[] {1}"},
  };
  ExpectRows(rows);
}

}  // namespace
}  // namespace x2ir
