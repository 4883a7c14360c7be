// A small network of usual operators. Its conversion to a format makes the browser compile what that takes, while the user
// still looks at the options of the format: the first conversion takes a third less.
const weights = (n) => Array.from({ length: n }, (_, i) => 1 + (i % 7)).join(", ");

const NETWORK = `<ir_version: 8, opset_import: ["" : 17]>
rehearsal (float[1,3,8,8] x) => (float[1,4] y)
<float[4,3,3,3] w = {${weights(108)}}, float[4,1,3,3] d = {${weights(36)}}, float[4,4] dense = {${weights(16)}},
 float[4] u = {${weights(4)}}, float zero = {0}, float six = {6}>
{
  a = Conv<kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]>(x, w)
  b = BatchNormalization(a, u, u, u, u)
  c = Clip(b, zero, six)
  e = Conv<group = 4, kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(c, d, u)
  f = Relu(e)
  g = Add(c, f)
  h = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(g)
  i = GlobalAveragePool(h)
  j = Flatten(i)
  k = Gemm<transB = 1>(j, dense, u)
  y = Softmax(k)
}
`;

// [arguments, files] of a run.
export function rehearsal(target) {
  const args = ["convert", "rehearsal.onnxtxt", "-o", "/out/rehearsal", "--to", target, "--report", "/report/report.json"];
  return [args, [["/models/rehearsal.onnxtxt", new Blob([NETWORK])]]];
}
