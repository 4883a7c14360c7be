// Calls of PyTorch's views, joins and factories: evaluated, against what PyTorch gives.
#include "gtest/gtest.h"
#include "tests/handlers/torch/calls_util.h"

namespace x2ir {
namespace {

// PyTorch pads the whole, then cuts off; what is circular it cuts first.
TEST(TorchShapes, PadsThatCutOff) {
  const CallRow rows[] = {
      {"a0 = int64[1,3]{0, 1, 2}",
       "y0: int64[1,4] = torch.aten::pad.default(a0) { operands = [\"self\"], pad = [-1, 2], mode "
       "= \"reflect\" }",
       "y0", "int64[1,4]{1, 2, 1, 0}"},
      {"a0 = int64[1,3]{0, 1, 2}",
       "y0: int64[1,2] = torch.aten::pad.default(a0) { operands = [\"self\"], pad = [-3, 2], mode "
       "= \"reflect\" }",
       "y0", "int64[1,2]{1, 0}"},
      {"a0 = int64[1,3]{0, 1, 2}",
       "y0: int64[1,1] = torch.aten::pad.default(a0) { operands = [\"self\"], pad = [1, -3], mode "
       "= \"reflect\" }",
       "y0", "int64[1,1]{1}"},
      {"a0 = int64[1,2]{0, 1}",
       "y0: int64[1,2] = torch.aten::pad.default(a0) { operands = [\"self\"], pad = [-1, 1], mode "
       "= \"reflect\" }",
       "y0", "int64[1,2]{1, 0}"},
      {"a0 = int64[1,3]{0, 1, 2}",
       "y0: int64[1,5] = torch.aten::pad.default(a0) { operands = [\"self\"], pad = [-3, 5], mode "
       "= \"replicate\" }",
       "y0", "int64[1,5]{2, 2, 2, 2, 2}"},
      {"a0 = int64[1,1]{0}",
       "y0: int64[1,1] = torch.aten::pad.default(a0) { operands = [\"self\"], pad = [-7, 7], mode "
       "= \"replicate\" }",
       "y0", "int64[1,1]{0}"},
      {"a0 = int64[1,3]{0, 1, 2}",
       "y0: int64[1,2] = torch.aten::pad.default(a0) { operands = [\"self\"], pad = [4, -5], mode "
       "= \"replicate\" }",
       "y0", "int64[1,2]{0, 0}"},
      {"a0 = int64[1,3]{0, 1, 2}",
       "y0: int64[1,4] = torch.aten::pad.default(a0) { operands = [\"self\"], pad = [-1, 2], mode "
       "= \"replicate\" }",
       "y0", "int64[1,4]{1, 2, 2, 2}"},
      {"a0 = int64[1,3]{0, 1, 2}",
       "y0: int64[1,1] = torch.aten::pad.default(a0) { operands = [\"self\"], pad = [-1, -1], mode "
       "= \"replicate\" }",
       "y0", "int64[1,1]{1}"},
      {"a0 = int64[1,3]{0, 1, 2}",
       "y0: int64[1,4] = torch.aten::pad.default(a0) { operands = [\"self\"], pad = [-1, 2], mode "
       "= \"circular\" }",
       "y0", "int64[1,4]{1, 2, 1, 2}"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

TEST(TorchShapes, Views) {
  const CallRow rows[] = {
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[3,2] = torch.aten::view.default(a0) { operands = [\"self\"], size = [3, -1] }",
       "y0", "int64[3,2]{0, 1, 2, 3, 4, 5}"},
      {"a0 = float32[3]{1.5, -2, 0.25}",
       "y0: int32[3] = torch.aten::view.dtype(a0) { operands = [\"self\"], dtype = type(int32[]) }",
       "y0", "int32[3]{1069547520, -1073741824, 1048576000}"},
      {"a0 = float32[0,3]{}",
       "y0: float32[3,0] = torch.aten::reshape.default(a0) { operands = [\"self\"], shape = [3, 0] "
       "}",
       "y0", "float32[3,0]{}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}\n"
       "a1 = float32[3,2]{0, 0, 0, 0, 0, 0}",
       "y0: int64[3,2] = torch.aten::view_as.default(a0, a1) { operands = [\"self\", \"other\"] }",
       "y0", "int64[3,2]{0, 1, 2, 3, 4, 5}"},
      {"a0 = int64[]{7}",
       "y0: int64[1] = torch.aten::flatten.using_ints(a0) { operands = [\"self\"] }", "y0",
       "int64[1]{7}"},
      {"a0 = int64[2,2,3]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}",
       "y0: int64[2,6] = torch.aten::flatten.using_ints(a0) { operands = [\"self\"], start_dim = "
       "-2 }",
       "y0", "int64[2,6]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2,3,1] = torch.aten::unflatten.int(a0) { operands = [\"self\"], dim = -1, sizes "
       "= [3, -1] }",
       "y0", "int64[2,3,1]{0, 1, 2, 3, 4, 5}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[6] = torch.aten::ravel.default(a0) { operands = [\"self\"] }", "y0",
       "int64[6]{0, 1, 2, 3, 4, 5}"},
      {"a0 = int64[1,2,1,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2,3] = torch.aten::squeeze.default(a0) { operands = [\"self\"] }", "y0",
       "int64[2,3]{0, 1, 2, 3, 4, 5}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2,3] = torch.aten::squeeze.dim(a0) { operands = [\"self\"], dim = 0 }", "y0",
       "int64[2,3]{0, 1, 2, 3, 4, 5}"},
      {"a0 = int64[1,2,1,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2,1,3] = torch.aten::squeeze.dims(a0) { operands = [\"self\"], dim = [0, 1] }",
       "y0", "int64[2,1,3]{0, 1, 2, 3, 4, 5}"},
      {"a0 = int64[]{7}",
       "y0: int64[] = torch.aten::squeeze.dim(a0) { operands = [\"self\"], dim = -1 }", "y0",
       "int64[]{7}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2,1,3] = torch.aten::unsqueeze_copy.default(a0) { operands = [\"self\"], dim = "
       "-2 }",
       "y0", "int64[2,1,3]{0, 1, 2, 3, 4, 5}"},
      {"a0 = int64[]{7}",
       "y0: int64[1,1] = torch.aten::atleast_2d.default(a0) { operands = [\"self\"] }", "y0",
       "int64[1,1]{7}"},
      {"a0 = float32[3]{1.5, -2, 0.25}\n"
       "a1 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0, y1: float32[1,3,1], int64[2,3,1] = torch.aten::atleast_3d.Sequence(a0, a1) { operands "
       "= [\"tensors[0]\", \"tensors[1]\"] }",
       "y0, y1", "float32[1,3,1]{1.5, -2, 0.25}; int64[2,3,1]{0, 1, 2, 3, 4, 5}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[3,2] = torch.aten::transpose.int(a0) { operands = [\"self\"], dim0 = 0, dim1 = "
       "-1 }",
       "y0", "int64[3,2]{0, 3, 1, 4, 2, 5}"},
      {"a0 = int64[]{7}",
       "y0: int64[] = torch.aten::transpose.int(a0) { operands = [\"self\"], dim0 = 0, dim1 = -1 }",
       "y0", "int64[]{7}"},
      {"a0 = int64[2,2,3]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}",
       "y0: int64[3,2,2] = torch.aten::permute.default(a0) { operands = [\"self\"], dims = [-1, 0, "
       "1] }",
       "y0", "int64[3,2,2]{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}"},
      {"a0 = int64[2,2,3]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}",
       "y0: int64[2,3,2] = torch.aten::movedim.intlist(a0) { operands = [\"self\"], source = [0, "
       "1], destination = [-1, 0] }",
       "y0", "int64[2,3,2]{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}"},
      {"a0 = int64[2,2,3]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}",
       "y0: int64[3,2,2] = torch.aten::numpy_T.default(a0) { operands = [\"self\"] }", "y0",
       "int64[3,2,2]{0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11}"},
      {"a0 = int64[2,2,3]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}",
       "y0: int64[2,3,2] = torch.aten::mT.default(a0) { operands = [\"self\"] }", "y0",
       "int64[2,3,2]{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}"},
      {"a0 = float32[3]{1.5, -2, 0.25}",
       "y0: float32[3] = torch.aten::t_copy.default(a0) { operands = [\"self\"] }", "y0",
       "float32[3]{1.5, -2, 0.25}"},
      {"a0 = float32[3]{1.5, -2, 0.25}",
       "y0: float32[2,3] = torch.aten::expand.default(a0) { operands = [\"self\"], size = [2, -1] "
       "}",
       "y0", "float32[2,3]{1.5, -2, 0.25, 1.5, -2, 0.25}"},
      {"a0 = float32[3]{1.5, -2, 0.25}\n"
       "a1 = int64[2,1]{1, 2}",
       "y0, y1: float32[2,3], int64[2,3] = torch.aten::broadcast_tensors.default(a0, a1) { "
       "operands = [\"tensors[0]\", \"tensors[1]\"] }",
       "y0, y1", "float32[2,3]{1.5, -2, 0.25, 1.5, -2, 0.25}; int64[2,3]{1, 1, 1, 2, 2, 2}"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

TEST(TorchShapes, Slices) {
  const CallRow rows[] = {
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2,3] = torch.aten::slice.Tensor(a0) { operands = [\"self\"] }", "y0",
       "int64[2,3]{0, 1, 2, 3, 4, 5}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2,2] = torch.aten::slice.Tensor(a0) { operands = [\"self\"], dim = 1, start = "
       "-5, end = -1 }",
       "y0", "int64[2,2]{0, 1, 3, 4}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2,0] = torch.aten::slice.Tensor(a0) { operands = [\"self\"], dim = -1, start = "
       "2, end = 1 }",
       "y0", "int64[2,0]{}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2,2] = torch.aten::slice.Tensor(a0) { operands = [\"self\"], dim = 1, step = 2, "
       "end = 9223372036854775807 }",
       "y0", "int64[2,2]{0, 2, 3, 5}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2] = torch.aten::select.int(a0) { operands = [\"self\"], dim = 1, index = -1 }",
       "y0", "int64[2]{2, 5}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2,2] = torch.aten::narrow.default(a0) { operands = [\"self\"], dim = 1, start = "
       "-2, length = 2 }",
       "y0", "int64[2,2]{1, 2, 4, 5}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}\n"
       "a1 = int64[]{-2}",
       "y0: int64[2,2] = torch.aten::narrow.Tensor(a0, a1) { operands = [\"self\", \"start\"], dim "
       "= 1, length = 2 }",
       "y0", "int64[2,2]{1, 2, 4, 5}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0, y1, y2: int64[2], int64[2], int64[2] = torch.aten::unbind.int(a0) { operands = "
       "[\"self\"], dim = 1 }",
       "y0, y1, y2", "int64[2]{0, 3}; int64[2]{1, 4}; int64[2]{2, 5}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0, y1: int64[2,2], int64[2,1] = torch.aten::split.Tensor(a0) { operands = [\"self\"], "
       "split_size = 2, dim = 1 }",
       "y0, y1", "int64[2,2]{0, 1, 3, 4}; int64[2,1]{2, 5}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0, y1, y2: int64[2,0], int64[2,1], int64[2,2] = torch.aten::split_with_sizes.default(a0) "
       "{ operands = [\"self\"], split_sizes = [0, 1, 2], dim = -1 }",
       "y0, y1, y2", "int64[2,0]{}; int64[2,1]{0, 3}; int64[2,2]{1, 2, 4, 5}"},
      {"a0 = int64[5]{0, 1, 2, 3, 4}",
       "y0, y1, y2: int64[2], int64[2], int64[1] = torch.aten::chunk.default(a0) { operands = "
       "[\"self\"], chunks = 3 }",
       "y0, y1, y2", "int64[2]{0, 1}; int64[2]{2, 3}; int64[1]{4}"},
      {"a0 = int64[4]{0, 1, 2, 3}",
       "y0, y1: int64[2], int64[2] = torch.aten::chunk.default(a0) { operands = [\"self\"], chunks "
       "= 3 }",
       "y0, y1", "int64[2]{0, 1}; int64[2]{2, 3}"},
      {"a0 = int64[5]{0, 1, 2, 3, 4}",
       "y0, y1, y2: int64[2], int64[2], int64[1] = torch.aten::tensor_split.sections(a0) { "
       "operands = [\"self\"], sections = 3 }",
       "y0, y1, y2", "int64[2]{0, 1}; int64[2]{2, 3}; int64[1]{4}"},
      {"a0 = int64[5]{0, 1, 2, 3, 4}",
       "y0, y1, y2, y3: int64[3], int64[0], int64[3], int64[1] = "
       "torch.aten::tensor_split.indices(a0) { operands = [\"self\"], indices = [3, 1, -1] }",
       "y0, y1, y2, y3", "int64[3]{0, 1, 2}; int64[0]{}; int64[3]{1, 2, 3}; int64[1]{4}"},
      {"a0 = int64[5]{0, 1, 2, 3, 4}\n"
       "a1 = int64[2]{1, 9}",
       "y0, y1, y2: int64[1], int64[4], int64[0] = "
       "torch.aten::tensor_split.tensor_indices_or_sections(a0, a1) { operands = [\"self\", "
       "\"tensor_indices_or_sections\"] }",
       "y0, y1, y2", "int64[1]{0}; int64[4]{1, 2, 3, 4}; int64[0]{}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0, y1, y2: int64[2,1], int64[2,1], int64[2,1] = torch.aten::hsplit.int(a0) { operands = "
       "[\"self\"], sections = 3 }",
       "y0, y1, y2", "int64[2,1]{0, 3}; int64[2,1]{1, 4}; int64[2,1]{2, 5}"},
      {"a0 = int64[2,2,3]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}",
       "y0, y1: int64[2,2,1], int64[2,2,2] = torch.aten::dsplit.array(a0) { operands = [\"self\"], "
       "indices = [1] }",
       "y0, y1", "int64[2,2,1]{0, 3, 6, 9}; int64[2,2,2]{1, 2, 4, 5, 7, 8, 10, 11}"},
      {"a0 = int64[2,2,3]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}",
       "y0: int64[2,2] = torch.aten::diagonal.default(a0) { operands = [\"self\"], offset = 1, "
       "dim1 = 1, dim2 = 2 }",
       "y0", "int64[2,2]{1, 5, 7, 11}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[1] = torch.aten::diagonal.default(a0) { operands = [\"self\"], offset = -1 }",
       "y0", "int64[1]{3}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[0] = torch.aten::diagonal.default(a0) { operands = [\"self\"], offset = 3 }",
       "y0", "int64[0]{}"},
      {"a0 = int64[2,2,3]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}",
       "y0: int64[2,2] = torch.aten::linalg_diagonal.default(a0) { operands = [\"A\"] }", "y0",
       "int64[2,2]{0, 4, 6, 10}"},
      {"a0 = int64[7]{0, 1, 2, 3, 4, 5, 6}",
       "y0: int64[3,3] = torch.aten::unfold.default(a0) { operands = [\"self\"], dimension = 0, "
       "size = 3, step = 2 }",
       "y0", "int64[3,3]{0, 1, 2, 2, 3, 4, 4, 5, 6}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[1,3,2] = torch.aten::unfold.default(a0) { operands = [\"self\"], dimension = 0, "
       "size = 2, step = 1 }",
       "y0", "int64[1,3,2]{0, 3, 1, 4, 2, 5}"},
      {"a0 = int64[]{7}",
       "y0: int64[1] = torch.aten::unfold.default(a0) { operands = [\"self\"], dimension = 0, size "
       "= 1, step = 1 }",
       "y0", "int64[1]{7}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2,2] = torch.aten::as_strided.default(a0) { operands = [\"self\"], size = [2, "
       "2], stride = [1, 2], storage_offset = 1 }",
       "y0", "int64[2,2]{1, 3, 2, 4}"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

TEST(TorchShapes, Joins) {
  const CallRow rows[] = {
      {"a0 = float32[0]{}\n"
       "a1 = int64[1,2]{1, 2}\n"
       "a2 = float32[1,2]{0.5, 0.25}",
       "y0: float32[2,2] = torch.aten::cat.default(a0, a1, a2) { operands = [\"tensors[0]\", "
       "\"tensors[1]\", \"tensors[2]\"] }",
       "y0", "float32[2,2]{1, 2, 0.5, 0.25}"},
      {"a0 = int64[]{7}\n"
       "a1 = int64[]{8}",
       "y0: int64[2] = torch.aten::stack.default(a0, a1) { operands = [\"tensors[0]\", "
       "\"tensors[1]\"], dim = -1 }",
       "y0", "int64[2]{7, 8}"},
      {"a0 = int64[]{7}\n"
       "a1 = int64[2]{1, 2}",
       "y0: int64[3] = torch.aten::hstack.default(a0, a1) { operands = [\"tensors[0]\", "
       "\"tensors[1]\"] }",
       "y0", "int64[3]{7, 1, 2}"},
      {"a0 = int64[2]{3, 4}\n"
       "a1 = int64[1,2]{1, 2}",
       "y0: int64[2,2] = torch.aten::vstack.default(a0, a1) { operands = [\"tensors[0]\", "
       "\"tensors[1]\"] }",
       "y0", "int64[2,2]{3, 4, 1, 2}"},
      {"a0 = int64[2]{3, 4}\n"
       "a1 = int64[2]{1, 2}",
       "y0: int64[1,2,2] = torch.aten::dstack.default(a0, a1) { operands = [\"tensors[0]\", "
       "\"tensors[1]\"] }",
       "y0", "int64[1,2,2]{3, 1, 4, 2}"},
      {"a0 = int64[2]{3, 4}\n"
       "a1 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2,4] = torch.aten::column_stack.default(a0, a1) { operands = [\"tensors[0]\", "
       "\"tensors[1]\"] }",
       "y0", "int64[2,4]{3, 0, 1, 2, 4, 3, 4, 5}"},
      {"a0 = int64[]{7}\n"
       "a1 = int64[2]{1, 2}\n"
       "a2 = int64[2,1]{3, 4}",
       "y0: int64[4,4] = torch.aten::block_diag.default(a0, a1, a2) { operands = [\"tensors[0]\", "
       "\"tensors[1]\", \"tensors[2]\"] }",
       "y0", "int64[4,4]{7, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 3, 0, 0, 0, 4}"},
      {"a0 = int64[2]{1, 2}\n"
       "a1 = int64[3]{3, 4, 5}",
       "y0: int64[6,2] = torch.aten::cartesian_prod.default(a0, a1) { operands = [\"tensors[0]\", "
       "\"tensors[1]\"] }",
       "y0", "int64[6,2]{1, 3, 1, 4, 1, 5, 2, 3, 2, 4, 2, 5}"},
      {"a0 = int64[4]{0, 1, 2, 3}",
       "y0: int64[4,3] = torch.aten::combinations.default(a0) { operands = [\"self\"], r = 3 }",
       "y0", "int64[4,3]{0, 1, 2, 0, 1, 3, 0, 2, 3, 1, 2, 3}"},
      {"a0 = int64[3]{0, 1, 2}",
       "y0: int64[6,2] = torch.aten::combinations.default(a0) { operands = [\"self\"], r = 2, "
       "with_replacement = tensor(bool[]{true}) }",
       "y0", "int64[6,2]{0, 0, 0, 1, 0, 2, 1, 1, 1, 2, 2, 2}"},
      {"a0 = int64[2]{0, 1}",
       "y0: int64[0,3] = torch.aten::combinations.default(a0) { operands = [\"self\"], r = 3 }",
       "y0", "int64[0,3]{}"},
      {"a0 = int64[2]{1, 2}\n"
       "a1 = int64[3]{3, 4, 5}",
       "y0, y1: int64[3,2], int64[3,2] = torch.aten::meshgrid.indexing(a0, a1) { operands = "
       "[\"tensors[0]\", \"tensors[1]\"], indexing = \"xy\" }",
       "y0, y1", "int64[3,2]{1, 2, 1, 2, 1, 2}; int64[3,2]{3, 3, 4, 4, 5, 5}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2,6] = torch.aten::tile.default(a0) { operands = [\"self\"], dims = [2] }", "y0",
       "int64[2,6]{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}"},
      {"a0 = int64[2]{1, 2}",
       "y0: int64[2,0] = torch.aten::repeat.default(a0) { operands = [\"self\"], repeats = [2, 0] "
       "}",
       "y0", "int64[2,0]{}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2,6] = torch.aten::repeat_interleave.self_int(a0) { operands = [\"self\"], "
       "repeats = 2, dim = 1 }",
       "y0", "int64[2,6]{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[12] = torch.aten::repeat_interleave.self_int(a0) { operands = [\"self\"], "
       "repeats = 2 }",
       "y0", "int64[12]{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}\n"
       "a1 = int64[3]{0, 2, 1}",
       "y0: int64[2,3] = torch.aten::repeat_interleave.self_Tensor(a0, a1) { operands = [\"self\", "
       "\"repeats\"], dim = -1 }",
       "y0", "int64[2,3]{1, 1, 2, 4, 4, 5}"},
      {"a0 = int64[3]{0, 2, 1}",
       "y0: int64[3] = torch.aten::repeat_interleave.Tensor(a0) { operands = [\"repeats\"] }", "y0",
       "int64[3]{1, 1, 2}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2,3] = torch.aten::roll.default(a0) { operands = [\"self\"], shifts = [2] }",
       "y0", "int64[2,3]{4, 5, 0, 1, 2, 3}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2,3] = torch.aten::roll.default(a0) { operands = [\"self\"], shifts = [1, -7], "
       "dims = [0, 1] }",
       "y0", "int64[2,3]{4, 5, 3, 1, 2, 0}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2,3] = torch.aten::flip.default(a0) { operands = [\"self\"], dims = [0, -1] }",
       "y0", "int64[2,3]{5, 4, 3, 2, 1, 0}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2,3] = torch.aten::fliplr.default(a0) { operands = [\"self\"] }", "y0",
       "int64[2,3]{2, 1, 0, 5, 4, 3}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[3,2] = torch.aten::rot90.default(a0) { operands = [\"self\"], k = -1 }", "y0",
       "int64[3,2]{3, 0, 4, 1, 5, 2}"},
      {"a0 = int64[2,2,3]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}",
       "y0: int64[2,3,2] = torch.aten::rot90.default(a0) { operands = [\"self\"], k = 5, dims = "
       "[1, 2] }",
       "y0", "int64[2,3,2]{2, 5, 1, 4, 0, 3, 8, 11, 7, 10, 6, 9}"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

TEST(TorchShapes, Triangles) {
  const CallRow rows[] = {
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[2,3] = torch.aten::tril.default(a0) { operands = [\"self\"], diagonal = -1 }",
       "y0", "int64[2,3]{0, 0, 0, 3, 0, 0}"},
      {"a0 = bool[2,2]{true, false, false, true}",
       "y0: bool[2,2] = torch.aten::triu.default(a0) { operands = [\"self\"], diagonal = 1 }", "y0",
       "bool[2,2]{false, false, false, false}"},
      {"", "y0: int64[2,5] = torch.aten::tril_indices.default() { row = 2, col = 3, offset = 1 }",
       "y0", "int64[2,5]{0, 0, 1, 1, 1, 0, 1, 0, 1, 2}"},
      {"", "y0: int64[2,3] = torch.aten::triu_indices.default() { row = 3, col = 2 }", "y0",
       "int64[2,3]{0, 0, 1, 0, 1, 1}"},
      {"a0 = int64[2]{1, 2}",
       "y0: int64[3,3] = torch.aten::diag.default(a0) { operands = [\"self\"], diagonal = -1 }",
       "y0", "int64[3,3]{0, 0, 0, 1, 0, 0, 0, 2, 0}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[1] = torch.aten::diag.default(a0) { operands = [\"self\"], diagonal = 2 }", "y0",
       "int64[1]{2}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: int64[4,2,4] = torch.aten::diag_embed.default(a0) { operands = [\"self\"], offset = 1, "
       "dim1 = 0, dim2 = 2 }",
       "y0",
       "int64[4,2,4]{0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, "
       "0, 0, 0, 0, 0, 0}"},
      {"a0 = bool[2,2]{true, false, false, true}",
       "y0: bool[2,2,2] = torch.aten::diag_embed.default(a0) { operands = [\"self\"] }", "y0",
       "bool[2,2,2]{true, false, false, false, false, false, false, true}"},
      {"a0 = int64[]{7}",
       "y0: int64[2,2] = torch.aten::diagflat.default(a0) { operands = [\"self\"], offset = 1 }",
       "y0", "int64[2,2]{0, 7, 0, 0}"},
      {"a0 = bool[2,2]{true, false, false, true}",
       "y0: int64[] = torch.aten::trace.default(a0) { operands = [\"self\"] }", "y0", "int64[]{2}"},
      {"a0 = int64[2]{2, -3}",
       "y0: int64[2,4] = torch.aten::linalg_vander.default(a0) { operands = [\"x\"], N = 4 }", "y0",
       "int64[2,4]{1, 2, 4, 8, 1, -3, 9, -27}"},
      {"a0 = int64[7,3]{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}",
       "y0: int64[7,3] = torch.aten::fill_diagonal.default(a0) { operands = [\"self\"], fill_value "
       "= 5, wrap = tensor(bool[]{true}) }",
       "y0", "int64[7,3]{5, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 5}"},
      {"a0 = int64[7,3]{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}",
       "y0: int64[7,3] = torch.aten::fill_diagonal.default(a0) { operands = [\"self\"], fill_value "
       "= 5 }",
       "y0", "int64[7,3]{5, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}"},
      {"a0 = float32[2,2,2]{0, 0, 0, 0, 0, 0, 0, 0}",
       "y0: float32[2,2,2] = torch.aten::fill_diagonal.default(a0) { operands = [\"self\"], "
       "fill_value = 1.5d }",
       "y0", "float32[2,2,2]{1.5, 0, 0, 0, 0, 0, 0, 1.5}"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

TEST(TorchShapes, Factories) {
  const CallRow rows[] = {
      {"", "y0: float32[2,0] = torch.aten::zeros.default() { size = [2, 0] }", "y0",
       "float32[2,0]{}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: bool[2] = torch.aten::new_ones.default(a0) { operands = [\"self\"], size = [2], dtype "
       "= type(bool[]) }",
       "y0", "bool[2]{true, true}"},
      {"", "y0: float32[] = torch.aten::full.default() { size = []:ints, fill_value = 2.5d }", "y0",
       "float32[]{2.5}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}",
       "y0: float32[2,3] = torch.aten::full_like.default(a0) { operands = [\"self\"], fill_value = "
       "tensor(bool[]{true}), dtype = type(float32[]) }",
       "y0", "float32[2,3]{1, 1, 1, 1, 1, 1}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}\n"
       "a1 = float32[]{2.9000000953674316}",
       "y0: int64[2,3] = torch.aten::fill.Tensor(a0, a1) { operands = [\"self\", \"value\"] }",
       "y0", "int64[2,3]{2, 2, 2, 2, 2, 2}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}\n"
       "a1 = float32[3]{1.5, -1.5, 0}",
       "y0: int64[2,3] = torch.aten::copy.default(a0, a1) { operands = [\"self\", \"src\"] }", "y0",
       "int64[2,3]{1, -1, 0, 1, -1, 0}"},
      {"", "y0: uint8[2,3] = torch.aten::eye.m() { n = 2, m = 3, dtype = type(uint8[]) }", "y0",
       "uint8[2,3]{1, 0, 0, 0, 1, 0}"},
      {"", "y0: int64[3] = torch.aten::arange.default() { end = 3 }", "y0", "int64[3]{0, 1, 2}"},
      {"", "y0: int64[3] = torch.aten::arange.start_step() { start = 5, end = -2, step = -3 }",
       "y0", "int64[3]{5, 2, -1}"},
      {"",
       "y0: float32[4] = torch.aten::arange.start_step() { start = 0.0d, end = 1.0d, step = 0.25d "
       "}",
       "y0", "float32[4]{0, 0.25, 0.5, 0.75}"},
      {"",
       "y0: int64[3] = torch.aten::arange.start() { start = 1.5d, end = 4.0d, dtype = "
       "type(int64[]) }",
       "y0", "int64[3]{1, 2, 3}"},
      {"", "y0: float32[2] = torch.aten::arange.default() { end = 2, dtype = type(float32[]) }",
       "y0", "float32[2]{0, 1}"},
      {"", "y0: float32[5] = torch.aten::linspace.default() { start = 1, end = 3, steps = 5 }",
       "y0", "float32[5]{1, 1.5, 2, 2.5, 3}"},
      {"",
       "y0: int64[4] = torch.aten::linspace.default() { start = 0, end = 10, steps = 4, dtype = "
       "type(int64[]) }",
       "y0", "int64[4]{0, 3, 6, 10}"},
      {"", "y0: float32[1] = torch.aten::linspace.default() { start = 3, end = 8, steps = 1 }",
       "y0", "float32[1]{3}"},
      {"", "y0: float32[0] = torch.aten::linspace.default() { start = 3, end = 8, steps = 0 }",
       "y0", "float32[0]{}"},
      {"",
       "y0: int64[4] = torch.aten::logspace.default() { start = 0, end = 3, steps = 4, base = "
       "2.0d, dtype = type(int64[]) }",
       "y0", "int64[4]{1, 2, 4, 8}"},
      {"", "y0: float32[4] = torch.aten::bartlett_window.default() { window_length = 4 }", "y0",
       "float32[4]{0, 0.5, 1, 0.5}"},
      {"",
       "y0: float32[5] = torch.aten::hann_window.periodic() { window_length = 5, periodic = "
       "tensor(bool[]{false}) }",
       "y0", "float32[5]{0, 0.5, 1, 0.5, 0}"},
      {"", "y0: float32[] = torch.aten::scalar_tensor.default() { s = 2, dtype = type(float32[]) }",
       "y0", "float32[]{2}"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

TEST(TorchShapes, Conversions) {
  const CallRow rows[] = {
      {"a0 = float32[3]{1.899999976158142, -1.899999976158142, 0}",
       "y0: int64[3] = torch.aten::to.dtype(a0) { operands = [\"self\"], dtype = type(int64[]) }",
       "y0", "int64[3]{1, -1, 0}"},
      {"a0 = float32[3]{0.5, 0, 0}",
       "y0: bool[3] = torch.aten::to.dtype(a0) { operands = [\"self\"], dtype = type(bool[]) }",
       "y0", "bool[3]{true, false, false}"},
      {"a0 = int64[2]{257, -1}",
       "y0: uint8[2] = torch.aten::to.dtype(a0) { operands = [\"self\"], dtype = type(uint8[]) }",
       "y0", "uint8[2]{1, 255}"},
      {"a0 = bool[2,2]{true, false, false, true}",
       "y0: float32[2,2] = torch.aten::_to_copy.default(a0) { operands = [\"self\"], dtype = "
       "type(float32[]) }",
       "y0", "float32[2,2]{1, 0, 0, 1}"},
      {"a0 = int64[2,3]{0, 1, 2, 3, 4, 5}\n"
       "a1 = float32[3]{1.5, -2, 0.25}",
       "y0: float32[2,3] = torch.aten::type_as.default(a0, a1) { operands = [\"self\", \"other\"] "
       "}",
       "y0", "float32[2,3]{0, 1, 2, 3, 4, 5}"},
      {"a0 = int64[1,1]{3}", "y0: int64[] = torch.aten::item.default(a0) { operands = [\"self\"] }",
       "y0", "int64[]{3}"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

}  // namespace
}  // namespace x2ir
