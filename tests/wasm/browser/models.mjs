// Models for tests of the app, as ONNX's text.

function model(body, { opset = 17, more = "" } = {}) {
  return `<ir_version: 8, opset_import: ["" : ${opset}${more}]>\n${body}\n`;
}

// One operator that nobody knows, in the middle.
export function unsupported() {
  return model(
    `g (float[2,3] x) => (float[2,3] y) {
  [first] a = Relu(x)
  [the_unknown_one] b = com.acme.Frobnicate(a)
  [last] y = Tanh(b)
}`,
    { more: ', "com.acme" : 1' },
  );
}

// Products of matrices that take many seconds.
export function slow() {
  const lines = Array.from({ length: 40 }, (_, i) => `  v${i + 1} = MatMul(v${i}, v${i})`);
  return model(`g (float[1500,1500] v0) => (float[1500,1500] v40) {\n${lines.join("\n")}\n}`);
}

// One result of so many floats.
export function large(elements) {
  return model(`g (float[1] x) => (float[n] y) <int64[1] n = {${elements}}> { y = Expand(x, n) }`);
}

// y = 2 x + 1, of an image's shape.
export function pixels() {
  return model(`g (float[1,3,2,2] x) => (float[1,3,2,2] y)
<float two = {2}, float one = {1}>
{
  d = Mul(x, two)
  y = Add(d, one)
}`);
}

// y = x, and an input that is no image before it.
export function identity(type) {
  return model(`g (float[2] other, ${type} x) => (${type} y, float[2] z) {\n  y = Identity(x)\n  z = Identity(other)\n}`);
}
