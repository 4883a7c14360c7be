// Toy, a foreign framework of three layers, gets ONNX in and out through x2ir.
//
// toy.cc is the framework itself. rows.cc says what its layers are in the IR, format.cc how its own
// files are read and written; x2ir needs no more to convert them from and to all that it knows.
#include <cmath>
#include <cstdio>

#include "toy.h"
#include "x2ir/core/convert.h"

namespace toy {
namespace {

Network MakeNetwork() {
  Network network;
  network.inputs = 3;
  network.layers.push_back(
      MakeDense(3, 4, {0.5f, -1, 2, 0.25f, 1, 1, -0.5f, 3, -2, 0.75f, 1, -1}, {0, 1, -1, 0.5f}));
  network.layers.push_back(MakeRelu());
  network.layers.push_back(MakeScale(0.5f));
  network.layers.push_back(MakeDense(4, 2, {1, 2, 3, 4, -1, -2, 0.5f, 0.25f}, {0.125f, -0.125f}));
  return network;
}

absl::Status Compare(const Network& network, const Network& again) {
  for (const Vector& x : {Vector{1, 2, 3}, Vector{-1, 0.5f, 0}, Vector{0, 0, 0}}) {
    const Vector want = network.Run(x), got = again.Run(x);
    if (got.size() != want.size()) return x2ir::Internal("the results have another size");
    for (size_t i = 0; i < want.size(); ++i) {
      if (std::abs(got[i] - want[i]) <= 1e-6f) continue;
      return x2ir::Internal("result ", i, ": expected ", want[i], ", got ", got[i]);
    }
    std::printf("toy: f(%g, %g, %g) = (%g, %g), before and after\n", x[0], x[1], x[2], got[0],
                got[1]);
  }
  return absl::OkStatus();
}

// A network in memory becomes an ONNX file, and is one again.
absl::Status ThereAndBack() {
  const Network network = MakeNetwork();
  x2ir::Model model = ToModel(network);
  X2IR_RETURN_IF_ERROR(x2ir::ToIr(model));
  X2IR_RETURN_IF_ERROR(x2ir::Export(std::move(model), "toy.onnx", {.opset = 17}));
  std::printf("toy: wrote a network of %zu layers to toy.onnx\n", network.layers.size());

  X2IR_ASSIGN_OR_RETURN(x2ir::Model read, x2ir::Import("toy.onnx"));
  X2IR_RETURN_IF_ERROR(x2ir::FromIr(read, "toy"));
  X2IR_ASSIGN_OR_RETURN(const Network again, FromModel(read));
  std::printf("toy: read it back as a network of %zu layers\n", again.layers.size());
  return Compare(network, again);
}

// The same with Toy's own files, by their paths.
absl::Status WithFiles() {
  X2IR_RETURN_IF_ERROR(x2ir::Convert("toy.onnx", "network.toy"));
  X2IR_RETURN_IF_ERROR(x2ir::Convert("network.toy", "again.onnx"));
  X2IR_ASSIGN_OR_RETURN(const x2ir::Model model, x2ir::Load("network.toy"));
  X2IR_ASSIGN_OR_RETURN(const Network network, FromModel(model));
  std::printf("toy: network.toy has %zu layers\n", network.layers.size());
  return Compare(MakeNetwork(), network);
}

}  // namespace
}  // namespace toy

int main() {
  absl::Status status = toy::ThereAndBack();
  if (status.ok()) status = toy::WithFiles();
  if (status.ok()) return 0;
  std::fprintf(stderr, "toy: %s\n", status.ToString().c_str());
  return 1;
}
