// Says whether one tensor is what another should be. Element types and shapes must be the same; floating point values
// may differ by atol + rtol * |expected|, integers by `steps` (0 where it is not given), booleans not at all. NaN equals
// NaN, and an infinity itself.

/** The value of an IEEE half-precision number, from its bits. */
export function halfToNumber(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

const describe = ({dtype, shape}) => `${dtype} [${shape.join(', ')}]`;

/** The index [i, j, ...] of the k-th element. */
function indexOf(k, shape) {
  const index = shape.map(() => 0);
  for (let axis = shape.length - 1; axis >= 0; --axis) {
    index[axis] = k % shape[axis];
    k = Math.floor(k / shape[axis]);
  }
  return `[${index.join(', ')}]`;
}

/**
 * Compares two tensors: {max_abs, max_rel, error}, where error is null or a sentence. max_abs and max_rel are over the
 * elements that are finite on both sides, max_rel over those whose expected value is not 0.
 */
export function compareTensors(got, want, {rtol, atol, steps = 0}) {
  const result = {max_abs: 0, max_rel: 0, error: null};
  if (got.dtype !== want.dtype || got.shape.length !== want.shape.length ||
      got.shape.some((dim, i) => dim !== want.shape[i])) {
    result.error = `got ${describe(got)}, expected ${describe(want)}`;
    return result;
  }
  const floating = got.dtype.startsWith('F');
  const number = got.dtype === 'F16' ? halfToNumber : Number;
  const allowed = got.dtype === 'BOOL' ? 0 : steps;
  let bad = 0;
  let worst = -1;
  let worstExcess = -1;
  for (let k = 0; k < want.data.length; ++k) {
    if (got.data[k] === want.data[k]) continue;
    const g = number(got.data[k]);
    const w = number(want.data[k]);
    if (floating && (g === w || (Number.isNaN(g) && Number.isNaN(w)))) continue;
    let excess = Infinity;
    if (Number.isFinite(g) && Number.isFinite(w)) {
      const distance = floating ? Math.abs(g - w) : Math.abs(Number(BigInt(got.data[k]) - BigInt(want.data[k])));
      result.max_abs = Math.max(result.max_abs, distance);
      if (w !== 0) result.max_rel = Math.max(result.max_rel, distance / Math.abs(w));
      excess = floating ? distance - (atol + rtol * Math.abs(w)) : distance - allowed;
      if (excess <= 0) continue;
    }
    ++bad;
    if (excess > worstExcess) {
      worst = k;
      worstExcess = excess;
    }
  }
  if (bad) {
    const value = (data) => (got.dtype === 'F16' ? halfToNumber(data[worst]) : data[worst]);
    result.error = `${bad} of ${want.data.length} elements of ${describe(want)} differ; the worst is at ` +
        `${indexOf(worst, want.shape)}: got ${value(got.data)}, expected ${value(want.data)}`;
  }
  return result;
}
