// Views, joins and factories: what is refused, which makes no sense or would take more memory than
// there is; and writes through views, against what PyTorch makes of them.
#include "gtest/gtest.h"
#include "tests/handlers/torch/calls_util.h"

namespace x2ir {
namespace {

TEST(TorchShapes, Refusals) {
  const CallRow rows[] = {
      {"a = float32[2]{1, 2}",
       "y: int64[2] = torch.aten::multinomial.default(a) { operands = [\"self\"], num_samples = 2 "
       "}",
       "y", "error without replacement"},
      {"", "y: int64[2] = torch.aten::randint.default() { high = 0, size = [2] }", "y",
       "error from 0 to 0"},
      {"", "y: float32[2] = torch.aten::empty.memory_format() { size = [2] }", "y",
       "error nothing is written to"},
      {"a = int32[2]{1, 2}",
       "y: float64[1] = torch.aten::view.dtype(a) { operands = [\"self\"], dtype = type(float64[]) "
       "}",
       "y", "error the bits of int32 as float64"},
      {"a = float32[2,3]{1, 2, 3, 4, 5, 6}",
       "t: float32[3,2] = torch.aten::t.default(a) { operands = [\"self\"] }\n y: float32[2] = "
       "torch.aten::as_strided.default(t) { operands = [\"self\"], size = [2], stride = [1] }",
       "y", "error whose place in memory is not known"},
      {"a = float32[2]{1, 2}",
       "y: float32[2] = torch.aten::as_strided.default(a) { operands = [\"self\"], size = [2], "
       "stride = [2] }",
       "y", "error reaches beyond"},
      {"a = float32[2]{1, 2}",
       "y: float32[] = torch.aten::select.int(a) { operands = [\"self\"], dim = 0, index = 2 }",
       "y", "error index 2 of an axis of size 2"},
      {"a = float32[2]{1, 2}",
       "y: float32[2] = torch.aten::slice.Tensor(a) { operands = [\"self\"], dim = 0, step = 0 }",
       "y", "error by steps of 0"},
      {"",
       "y: int64[2,1] = torch.aten::tril_indices.default() { row = 9000000000, col = 9000000000 }",
       "y", "error too many elements"},
      {"",
       "y: float32[1] = torch.aten::linspace.default() { start = 0, end = 1, steps = 99999999999 }",
       "y", "error 99999999999 steps"},
      {"", "y: float32[1] = torch.aten::arange.default() { end = 1e300d }", "y", "error a range"},
      {"", "y: float32[?] = torch.aten::arange.default() { end = 1e15d }", "y", "error "},
      {"",
       "y: float32[?,?] = torch.aten::zeros.default() { size = [1099511627776, 1099511627776] }",
       "y", "error "},
      {"", "y: float32[?,?] = torch.aten::zeros.default() { size = [1099511627776, 4] }", "y",
       "error "},
      {"a = float32[2]{1, 2}",
       "y: float32[?] = torch.aten::repeat.default(a) { operands = [\"self\"], repeats = "
       "[9223372036854775807] }",
       "y", "error "},
      {"a = float32[2]{1, 2}",
       "y: float32[?] = torch.aten::repeat_interleave.self_int(a) { operands = [\"self\"], repeats "
       "= 9223372036854775807 }",
       "y", "error "},
      {"a = float32[2]{1, 2}",
       "y: float32[?] = torch.aten::diagonal.default(a) { operands = [\"self\"], offset = "
       "9223372036854775807 }",
       "y", "error "},
      {"a = float32[1,2]{1, 2}",
       "y: float32[?] = torch.aten::diagonal.default(a) { operands = [\"self\"], offset = "
       "-9223372036854775808 }",
       "y", "error "},
      {"a = float32[2]{1, 2}",
       "y: float32[?] = torch.aten::unfold.default(a) { operands = [\"self\"], dimension = 0, size "
       "= 1, step = 0 }",
       "y", "error "},
      {"a = float32[2]{1, 2}",
       "y: float32[?] = torch.aten::as_strided.default(a) { operands = [\"self\"], size = "
       "[9223372036854775807, 9223372036854775807], stride = [0, 0] }",
       "y", "error "},
      {"a = float32[2]{1, 2}",
       "y: float32[?] = torch.aten::narrow.default(a) { operands = [\"self\"], dim = 0, start = "
       "9223372036854775807, length = 2 }",
       "y", "error "},
      {"a = float32[2]{1, 2}",
       "y: float32[?] = torch.aten::narrow.default(a) { operands = [\"self\"], dim = 0, start = "
       "[]:ints, length = 2 }",
       "y", "error "},
      {"a = float32[2]{1, 2}",
       "y: float32[?] = torch.aten::movedim.int(a) { operands = [\"self\"], source = [0, 0], "
       "destination = [0, 0] }",
       "y", "error "},
      {"", "y: float32[?] = torch.aten::cat.default() { tensors = []:ints }", "y", "error "},
      {"", "y: float32[?] = torch.aten::stack.default() { tensors = []:ints }", "y", "error "},
      {"", "y: float32[?] = torch.aten::hstack.default() { tensors = []:ints }", "y", "error "},
      {"", "y: float32[?] = torch.aten::column_stack.default() { tensors = []:ints }", "y",
       "error "},
      {"", "y: float32[?] = torch.aten::block_diag.default() { tensors = []:ints }", "y", "error "},
      {"", "y: float32[?] = torch.aten::cartesian_prod.default() { tensors = []:ints }", "y",
       "error "},
      {"", "y: float32[?] = torch.aten::eye.default() { n = -1 }", "y", "error "},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

// Whatever a write through a view needs, its base holds afterwards.
TEST(TorchShapes, WritesThroughViews) {
  const CallRow rows[] = {
      {"a = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "c: int64[2,3] = torch.aten::clone.default(a) { operands = [\"self\"] }\n v0, v1, v2: "
       "int64[2], int64[2], int64[2] = torch.aten::unbind.int(c) { operands = [\"self\"], dim = 1 "
       "}\n m: int64[2] = torch.aten::mul_.Tensor(v1) { operands = [\"self\"], other = 10 }\n y: "
       "int64[2,3] = torch.aten::clone.default(c) { operands = [\"self\"] }",
       "y", "int64[2,3]{0, 10, 2, 3, 40, 5}"},
      {"a = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "c: int64[2,3] = torch.aten::clone.default(a) { operands = [\"self\"] }\n v0, v1: "
       "int64[2,2], int64[2,1] = torch.aten::split.Tensor(c) { operands = [\"self\"], split_size = "
       "2, dim = -1 }\n m: int64[2,1] = torch.aten::mul_.Tensor(v1) { operands = [\"self\"], other "
       "= 10 }\n y: int64[2,3] = torch.aten::clone.default(c) { operands = [\"self\"] }",
       "y", "int64[2,3]{0, 1, 20, 3, 4, 50}"},
      {"a = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "c: int64[2,3] = torch.aten::clone.default(a) { operands = [\"self\"] }\n v0: int64[2,2] = "
       "torch.aten::narrow.default(c) { operands = [\"self\"], dim = 1, start = 1, length = 2 }\n "
       "m: int64[2,2] = torch.aten::mul_.Tensor(v0) { operands = [\"self\"], other = 10 }\n y: "
       "int64[2,3] = torch.aten::clone.default(c) { operands = [\"self\"] }",
       "y", "int64[2,3]{0, 10, 20, 3, 40, 50}"},
      {"a = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "c: int64[2,3] = torch.aten::clone.default(a) { operands = [\"self\"] }\n v0: int64[3,2] = "
       "torch.aten::mT.default(c) { operands = [\"self\"] }\n m: int64[3,2] = "
       "torch.aten::mul_.Tensor(v0) { operands = [\"self\"], other = 10 }\n y: int64[2,3] = "
       "torch.aten::clone.default(c) { operands = [\"self\"] }",
       "y", "int64[2,3]{0, 10, 20, 30, 40, 50}"},
      {"a = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "c: int64[2,3] = torch.aten::clone.default(a) { operands = [\"self\"] }\n v0: int64[3,2] = "
       "torch.aten::numpy_T.default(c) { operands = [\"self\"] }\n m: int64[3,2] = "
       "torch.aten::mul_.Tensor(v0) { operands = [\"self\"], other = 10 }\n y: int64[2,3] = "
       "torch.aten::clone.default(c) { operands = [\"self\"] }",
       "y", "int64[2,3]{0, 10, 20, 30, 40, 50}"},
      {"a = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "c: int64[2,3] = torch.aten::clone.default(a) { operands = [\"self\"] }\n v0: int64[3,2] = "
       "torch.aten::movedim.int(c) { operands = [\"self\"], source = [0], destination = [1] }\n m: "
       "int64[3,2] = torch.aten::mul_.Tensor(v0) { operands = [\"self\"], other = 10 }\n y: "
       "int64[2,3] = torch.aten::clone.default(c) { operands = [\"self\"] }",
       "y", "int64[2,3]{0, 10, 20, 30, 40, 50}"},
      {"a = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "c: int64[2,3] = torch.aten::clone.default(a) { operands = [\"self\"] }\n v0: int64[2,2] = "
       "torch.aten::slice.Tensor(c) { operands = [\"self\"], dim = 1, step = 2 }\n m: int64[2,2] = "
       "torch.aten::mul_.Tensor(v0) { operands = [\"self\"], other = 10 }\n y: int64[2,3] = "
       "torch.aten::clone.default(c) { operands = [\"self\"] }",
       "y", "int64[2,3]{0, 1, 20, 30, 4, 50}"},
      {"a = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "c: int64[2,3] = torch.aten::clone.default(a) { operands = [\"self\"] }\n v0: int64[3] = "
       "torch.aten::select.int(c) { operands = [\"self\"], dim = 0, index = -1 }\n m: int64[3] = "
       "torch.aten::mul_.Tensor(v0) { operands = [\"self\"], other = 10 }\n y: int64[2,3] = "
       "torch.aten::clone.default(c) { operands = [\"self\"] }",
       "y", "int64[2,3]{0, 1, 2, 30, 40, 50}"},
      {"a = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "c: int64[2,3] = torch.aten::clone.default(a) { operands = [\"self\"] }\n v0: int64[2] = "
       "torch.aten::diagonal.default(c) { operands = [\"self\"], offset = 1 }\n m: int64[2] = "
       "torch.aten::mul_.Tensor(v0) { operands = [\"self\"], other = 10 }\n y: int64[2,3] = "
       "torch.aten::clone.default(c) { operands = [\"self\"] }",
       "y", "int64[2,3]{0, 10, 2, 3, 4, 50}"},
      {"a = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "c: int64[2,3] = torch.aten::clone.default(a) { operands = [\"self\"] }\n v0: int64[3,2] = "
       "torch.aten::view.default(c) { operands = [\"self\"], size = [3, -1] }\n m: int64[3,2] = "
       "torch.aten::mul_.Tensor(v0) { operands = [\"self\"], other = 10 }\n y: int64[2,3] = "
       "torch.aten::clone.default(c) { operands = [\"self\"] }",
       "y", "int64[2,3]{0, 10, 20, 30, 40, 50}"},
      {"a = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "c: int64[2,3] = torch.aten::clone.default(a) { operands = [\"self\"] }\n v0: int64[1,2,3] "
       "= torch.aten::unsqueeze.default(c) { operands = [\"self\"], dim = 0 }\n m: int64[1,2,3] = "
       "torch.aten::mul_.Tensor(v0) { operands = [\"self\"], other = 10 }\n y: int64[2,3] = "
       "torch.aten::clone.default(c) { operands = [\"self\"] }",
       "y", "int64[2,3]{0, 10, 20, 30, 40, 50}"},
      {"a = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "c: int64[2,3] = torch.aten::clone.default(a) { operands = [\"self\"] }\n v0: int64[3,2] = "
       "torch.aten::permute.default(c) { operands = [\"self\"], dims = [-1, 0] }\n m: int64[3,2] = "
       "torch.aten::mul_.Tensor(v0) { operands = [\"self\"], other = 10 }\n y: int64[2,3] = "
       "torch.aten::clone.default(c) { operands = [\"self\"] }",
       "y", "int64[2,3]{0, 10, 20, 30, 40, 50}"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

}  // namespace
}  // namespace x2ir
