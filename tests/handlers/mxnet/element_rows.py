"""Rows of MXNet's functions of each element."""
from symbol_rows import *

# --- Of one operand ------------------------------------------------------------------------------

def rint(x):  # a half goes down
    low, high = np.floor(x), np.ceil(x)
    return np.where(x - low <= high - x, low, high)


def rounded(x):  # a half goes away from 0
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


def gamma(x):
    from math import gamma as g
    return np.array([g(float(v)) for v in x.flat]).reshape(x.shape)


lgamma = lambda x: torch.lgamma(T(x)).numpy()
digamma = lambda x: torch.digamma(T(x.astype(np.float64))).numpy()
torched = lambda fn: (lambda x: fn(T(x)).numpy())
edges = f32(-inf, inf, nan, -0.0)
for legacy, of_numpy, fn, xs in [
        ("abs", "_npi_absolute", np.abs, [f(3), f32(-inf, nan)]),
        ("arccos", "_npi_arccos", np.arccos, [unit(3), f32(-1, 1, 2)]),
        ("arccosh", "_npi_arccosh", np.arccosh, [1 + pos(3), f32(1, 0.5)]),
        ("arcsin", "_npi_arcsin", np.arcsin, [unit(3), f32(-1, 1, 2)]),
        ("arcsinh", "_npi_arcsinh", np.arcsinh, [f(3), f32(-50, 0)]),
        ("arctan", "_npi_arctan", np.arctan, [f(3), f32(inf, -inf)]),
        ("arctanh", "_npi_arctanh", np.arctanh, [unit(3), f32(1, -1)]),
        ("cbrt", "_npi_cbrt", np.cbrt, [f32(-27, 8, 0), f(3)]),
        ("ceil", "_npi_ceil", np.ceil, [f32(-2.1, -1.9, 1.5, 2), edges]),
        ("cos", "_npi_cos", np.cos, [f(3), 30 * f(2)]),
        ("cosh", "_npi_cosh", np.cosh, [f(3), f32(10, -10)]),
        ("degrees", "_npi_degrees _npi_rad2deg", np.degrees, [f(3), f32(np.pi, -np.pi / 2)]),
        ("exp", "_npi_exp", np.exp, [f(3), f32(-inf, inf, 0)]),
        ("expm1", "_npi_expm1", np.expm1, [f(3), f32(1e-7, -1e-7)]),
        ("fix trunc", "_npi_fix _npi_trunc", np.trunc, [f32(-2.1, -1.9, 1.9, 2.1), f32(0.5, -0.5, inf)]),
        ("floor", "_npi_floor", np.floor, [f32(-2.1, -1.9, 1.5, 2), edges]),
        ("log", "_npi_log", np.log, [pos(3), f32(0, inf, -1)]),
        ("log10", "_npi_log10", np.log10, [pos(3), f32(1000, 0.01, 0)]),
        ("log1p", "_npi_log1p", np.log1p, [pos(3), f32(1e-7, -1e-7, -1)]),
        ("log2", "_npi_log2", np.log2, [pos(3), f32(8, 0.25, 0)]),
        ("negative", "_npi_negative", np.negative, [f(3), f32(inf, nan)]),
        ("radians", "_npi_radians _npi_deg2rad", np.radians, [90 * f(3), f32(180, -90)]),
        ("reciprocal", "_npi_reciprocal", np.reciprocal, [f(3), f32(0.5, inf)]),
        ("rint", "_npi_rint", rint, [f32(-1.5, 1.5, -1.9, 1.9, 2.1), f32(0.5, 2.5, -0.5)]),
        ("sign", "_npi_sign", np.sign, [f(3), f32(-inf, 0, inf)]),
        ("sin", "_npi_sin", np.sin, [f(3), 30 * f(2)]),
        ("sinh", "_npi_sinh", np.sinh, [f(3), f32(10, -10)]),
        ("sqrt", "_npi_sqrt", np.sqrt, [pos(3), f32(0, -1, inf)]),
        ("square", "_npi_square", np.square, [f(3), f32(-3, inf)]),
        ("tan", "_npi_tan", np.tan, [unit(3), f(2)]),
        ("tanh", "_npi_tanh", np.tanh, [f(3), f32(-inf, 20)])]:
    for x in xs:
        with np.errstate(all="ignore"):
            row(legacy + " " + of_numpy, x, as32(fn(x)))
# NumPy's functions of integers give floats, those of wholes integers.
for op, fn in [("arccos", np.arccos), ("arcsin", np.arcsin), ("arctan", np.arctan), ("arccosh", np.arccosh),
               ("arcsinh", np.arcsinh), ("cbrt", np.cbrt), ("cos", np.cos), ("cosh", np.cosh), ("exp", np.exp),
               ("expm1", np.expm1), ("log", np.log), ("log10", np.log10), ("log1p", np.log1p), ("log2", np.log2),
               ("sin", np.sin), ("sinh", np.sinh), ("sqrt", np.sqrt), ("tan", np.tan), ("tanh", np.tanh),
               ("degrees", np.degrees), ("radians", np.radians), ("rad2deg", np.degrees), ("deg2rad", np.radians)]:
    x = i32(1) if op.startswith("arc") else i64(1, 4)
    row("_npi_" + op, x, as32(fn(x)))
for op, fn in [("absolute", np.abs), ("ceil", lambda x: x), ("floor", lambda x: x), ("negative", np.negative),
               ("rint", lambda x: x), ("sign", np.sign), ("square", np.square), ("trunc", lambda x: x),
               ("fix", lambda x: x)]:
    row("_npi_" + op, i32(-3, 0, 4), fn(i32(-3, 0, 4)))
for ops, fn, xs in [
        ("rcbrt", lambda x: 1 / np.cbrt(x), [f32(-27, 8, 0.001), pos(3)]),
        ("rsqrt", lambda x: 1 / np.sqrt(x), [f32(4, 16, 0.25), f32(inf, 0)]),
        ("round _contrib_round_ste", rounded, [f32(-1.5, 1.5, -1.9, 1.9, 2.1), f32(0.5, -2.5, 0.3)]),
        ("_contrib_sign_ste", np.sign, [f(3), f32(0, -7)]),
        ("relu _npx_relu", lambda x: np.maximum(x, 0), [f(3), f32(-inf, inf, -0.5)]),
        ("sigmoid _npx_sigmoid", torched(torch.sigmoid), [f(3), f32(-100, 100)]),
        ("softsign _npx_softsign", torched(F.softsign), [f(3), f32(-9, 0)]),
        ("log_sigmoid _npx_log_sigmoid", torched(F.logsigmoid), [f(3), f32(-100, 50)]),
        ("mish _npx_mish", torched(F.mish), [f(3), f32(-30, 30)]),
        ("erf _npx_erf", torched(torch.erf), [f(3), f32(-9, 9)]),
        ("erfinv _npx_erfinv", torched(torch.erfinv), [unit(3), f32(-1, 1, 0)]),
        ("gamma _npx_gamma", gamma, [pos(3), f32(-0.5, -1.5, 5)]),
        ("gammaln _npx_gammaln", lgamma, [pos(3), f32(-0.5, -1.5, 20)]),
        ("digamma _npx_digamma", digamma, [pos(3), f32(-0.5, -2.25, 20)]),
        ("logical_not", np.logical_not, [f32(-2, 0, 1), f32(nan, -0.0)]),
        ("zeros_like", np.zeros_like, [f(2, 2), f32(nan, inf)]),
        ("ones_like", np.ones_like, [f(2, 2), f32(nan, inf)])]:
    for x in xs:
        with np.errstate(all="ignore"):
            row(ops, x, as32(fn(x)))
row("logical_not zeros_like", i32(1), i32(0))
row("ones_like abs square", i32(1, -1), i32(1, 1))
row("_npi_logical_not", f32(-2, 0, nan), boolean(0, 1, 0))
row("_npi_logical_not", boolean(1, 0), boolean(0, 1))
special = f32(1, nan, inf, -inf)
for op, fn in [("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite), ("isposinf", np.isposinf),
               ("isneginf", np.isneginf)]:
    row("_npi_" + op, special, fn(special))
    row("_npi_" + op, i32(1, 0), np.full(2, op == "isfinite"))
row("_npi_bitwise_not", i32(0, 5, -3), ~i32(0, 5, -3))
row("_npi_bitwise_not", boolean(0, 1), boolean(1, 0))
row("_npi_bitwise_not", np.array([13], np.uint8), np.array([242], np.uint8))
# Halves to the even one, as NumPy's.
for op in ("_npi_around", "_npi_round"):
    for d, x in ((0, f32(0.5, 1.5, 2.5, -0.5, -1.5)), (1, f32(0.25, 1.44, -1.35)), (-1, f32(15, 25, -14))):
        row(op, x, np.around(x, d).astype(np.float32), decimals=d)
    row(op, i32(15, -7), i32(15, -7), decimals=1)
row("_npi_nan_to_num", special, np.nan_to_num(special), copy=True)
row("_npi_nan_to_num", special, np.nan_to_num(special, nan=2, posinf=5, neginf=-6), nan=2.0, posinf=5.0, neginf=-6.0)
row("_npi_nan_to_num", i32(1, -2), i32(1, -2), copy=True, nan=0.0, posinf=None, neginf=None)
x = f(4)
for ops in ("smooth_l1 _npx_smooth_l1",):
    for s in (1.0, 2.0, 0.5):
        y = np.where(np.abs(x) < 1 / s ** 2, 0.5 * (s * x) ** 2, np.abs(x) - 0.5 / s ** 2)
        row(ops, x, as32(y), scalar=s)
row("hard_sigmoid _npx_hard_sigmoid", 3 * x, np.clip(0.2 * 3 * x + 0.5, 0, 1).astype(np.float32))
row("hard_sigmoid _npx_hard_sigmoid", x, np.clip(0.5 * x + 0.25, 0, 1).astype(np.float32), alpha=0.5, beta=0.25)
row("clip _npi_clip", 3 * x, np.clip(3 * x, -1, 2), a_min=-1.0, a_max=2.0)
row("clip _npi_clip", f32(-inf, nan, inf), f32(0, nan, 1), a_min=0.0, a_max=1.0)
row("clip _npi_clip", i32(-5, 0, 5), i32(-2, 0, 3), a_min=-2, a_max=3)
row("_npi_clip", x, np.maximum(x, 0), a_min=0.0, a_max=None)
row("_contrib_quadratic", x, as32(2 * x * x - 3 * x + 1), a=2.0, b=-3.0, c=1.0)
row("_contrib_quadratic", x, np.zeros(4, np.float32))
same = ("_copy identity _np_copy _npi_copy BlockGrad stop_gradient make_loss _npx_stop_gradient _copyto "
        "_CrossDeviceCopy _NoGradient MakeLoss IdentityAttachKLSparseReg cast_storage _contrib_gradientmultiplier")
row(same, x, x)
row(same, f32(nan, inf, -0.0), f32(nan, inf, -0.0))
row("cast_storage", x, x, stype="csr")
row("_contrib_gradientmultiplier", x, x, scalar=-0.5)
row("MakeLoss", x, x, grad_scale=2.0, normalization="batch", valid_thresh=0.1)
row("_identity_with_attr_like_rhs", [x, f(4)], x)
row("_identity_with_attr_like_rhs", [i32(1, 2), i32(5, 6)], i32(1, 2))
row("LinearRegressionOutput MAERegressionOutput SVMOutput", [f32(1, 2), f32(8, 9)], f32(1, 2))
row("LinearRegressionOutput MAERegressionOutput SVMOutput", [x.reshape(2, 2), f(2, 2)], x.reshape(2, 2))
row("LinearRegressionOutput MAERegressionOutput", [f32(0), f32(1)], f32(0), grad_scale=2.0)
row("LogisticRegressionOutput", [x, f(4)], torch.sigmoid(T(x)))
row("LogisticRegressionOutput", [f32(-100, 100), f32(0, 1)], f32(0, 1), grad_scale=0.5)
# Casts.
row("Cast cast amp_cast _npi_cast", f32(0.9, 1.3, -2.7), i32(0, 1, -2), dtype="int32")
row("Cast cast amp_cast _npi_cast", i64(300, -1), f32(300, -1), dtype="float32")
row("Cast cast amp_cast _npi_cast", f32(0.1, 70000), np.array([0.1, inf], np.float16), dtype="float16")
row("_npi_cast", f32(0, 0.5, nan), boolean(0, 1, 1), dtype="bool")
h = np.array([1, 2], np.float16)
row("amp_multicast", [h, f32(3, 4)], [f32(1, 2), f32(3, 4)], num_outputs=2)
row("amp_multicast", [f32(3, 4), h], [f32(3, 4).astype(np.float16), h], num_outputs=2, cast_narrow=True)

# --- Of two operands -----------------------------------------------------------------------------

a, b, c = f(2, 3), f(2, 3), f(1, 3)


def mod(x, y):  # with the divisor's sign; 0 where that is 0
    with np.errstate(all="ignore"):
        return np.where(y == 0, 0, np.mod(x, y)).astype(x.dtype)


truth = lambda fn: (lambda x, y: fn(x, y).astype(x.dtype))
with np.errstate(all="ignore"):
    for same_names, broadcast, fn, extra in [
            ("elemwise_add _add _plus _Plus _grad_add", "broadcast_add broadcast_plus", np.add, (f32(inf), f32(-inf))),
            ("elemwise_sub _sub _minus _Minus", "broadcast_sub broadcast_minus", np.subtract, (i32(2), i32(5))),
            ("elemwise_mul _mul _Mul", "broadcast_mul", np.multiply, (f32(0), f32(inf))),
            ("elemwise_div _div _Div _scatter_elemwise_div", "broadcast_div", np.divide, (f32(1, -1), f32(0, 0))),
            ("_mod", "broadcast_mod", mod, (f32(5, -5, 5, 5, -5), f32(3, 3, -3, 0, -3))),
            ("_power _Power", "broadcast_power", lambda x, y: np.power(np.abs(x), y), (f32(0, 2), f32(0, -1))),
            ("_maximum _Maximum", "broadcast_maximum", np.maximum, (f32(nan, 1), f32(1, 2))),
            ("_minimum _Minimum", "broadcast_minimum", np.minimum, (f32(1, 1), f32(nan, 2))),
            ("_hypot", "broadcast_hypot", np.hypot, (f32(3e30, 3), f32(4e30, -4))),
            ("_equal", "broadcast_equal", truth(np.equal), (f32(1, nan), f32(1, nan))),
            ("_not_equal", "broadcast_not_equal", truth(np.not_equal), (f32(1, nan), f32(1, nan))),
            ("_greater", "broadcast_greater", truth(np.greater), (f32(1, nan), f32(1, 0))),
            ("_greater_equal", "broadcast_greater_equal", truth(np.greater_equal), (f32(1, nan), f32(1, 0))),
            ("_lesser", "broadcast_lesser", truth(np.less), (f32(1, nan), f32(1, 0))),
            ("_lesser_equal", "broadcast_lesser_equal", truth(np.less_equal), (f32(1, nan), f32(1, 0))),
            ("_logical_and", "broadcast_logical_and", truth(np.logical_and), (f32(0, 2, nan), f32(3, -1, 1))),
            ("_logical_or", "broadcast_logical_or", truth(np.logical_or), (f32(0, 2, 0), f32(3, 0, 0))),
            ("_logical_xor", "broadcast_logical_xor", truth(np.logical_xor), (f32(0, 2, 0), f32(3, -1, 0)))]:
        x = np.abs(a) if "power" in broadcast else a
        row(same_names + " " + broadcast, [x, b], fn(x, b))
        row(broadcast, [x, c], fn(x, c))
        row(broadcast, [x[:, :1], c], fn(x[:, :1], c))
        row(same_names + " " + broadcast, list(extra), fn(*extra))
for op, fn in [("elemwise_add", np.add), ("broadcast_mul", np.multiply), ("broadcast_maximum", np.maximum),
               ("broadcast_mod", mod), ("_equal", truth(np.equal)), ("broadcast_greater", truth(np.greater)),
               ("_minus", np.subtract), ("broadcast_logical_xor", truth(np.logical_xor))]:
    x, y = i32(7, -7, 4), i32(3, 3, 4)
    row(op, [x, y], fn(x, y).astype(np.int32))
row("add_n ElementWiseSum _np_add_n", [a, b, a], a + b + a, num_args=3)
row("add_n ElementWiseSum _np_add_n", [a], a, num_args=1)
with np.errstate(all="ignore"):
    for ops, fn, s in [
            ("_plus_scalar _PlusScalar _scatter_plus_scalar", lambda x, s: x + s, 1.5),
            ("_minus_scalar _MinusScalar _scatter_minus_scalar", lambda x, s: x - s, 1.5),
            ("_rminus_scalar _RMinusScalar", lambda x, s: s - x, 1.5),
            ("_mul_scalar _MulScalar", lambda x, s: x * s, -2.5),
            ("_div_scalar _DivScalar", lambda x, s: x / s, 0.3),
            ("_rdiv_scalar _RDivScalar", lambda x, s: s / x, 0.3),
            ("_mod_scalar", lambda x, s: mod(x, np.float32(s)), -0.75),
            ("_rmod_scalar", lambda x, s: mod(np.full_like(x, s), x), 1.75),
            ("_power_scalar _PowerScalar", lambda x, s: np.power(x, s), 3.0),
            ("_rpower_scalar _RPowerScalar", lambda x, s: np.power(s, x), 3.0),
            ("_maximum_scalar _MaximumScalar", np.maximum, 0.25),
            ("_minimum_scalar _MinimumScalar", np.minimum, 0.25),
            ("_hypot_scalar", np.hypot, 1.5),
            ("_equal_scalar", lambda x, s: x == s, 0.5), ("_not_equal_scalar", lambda x, s: x != s, 0.5),
            ("_greater_scalar", lambda x, s: x > s, 0.5), ("_greater_equal_scalar", lambda x, s: x >= s, 0.5),
            ("_lesser_scalar", lambda x, s: x < s, 0.5), ("_lesser_equal_scalar", lambda x, s: x <= s, 0.5),
            ("_logical_and_scalar", np.logical_and, 2.0), ("_logical_or_scalar", np.logical_or, 0.0),
            ("_logical_xor_scalar", np.logical_xor, 1.0)]:
        for x in (f(4), f32(0.5, 0.0, -3.0)):
            row(ops, x, as32(fn(x, s)), scalar=s)
for op, fn, s in [("_plus_scalar", lambda x: x + 2, 2), ("_mul_scalar", lambda x: x * -3, -3),
                  ("_rminus_scalar", lambda x: 5 - x, 5), ("_mod_scalar", lambda x: mod(x, i32(3)), 3),
                  ("_maximum_scalar", lambda x: np.maximum(x, 1), 1), ("_power_scalar", lambda x: x * x, 2),
                  ("_greater_scalar", lambda x: (x > 1).astype(np.int32), 1)]:
    row(op, i32(-4, 1, 7), fn(i32(-4, 1, 7)), scalar=s)
    row(op, i32(-4, 1, 7), fn(i32(-4, 1, 7)), scalar=float(s), is_int=True)
row("_plus_scalar", i32(1, 2), f32(1.5, 2.5), scalar=0.5, is_int=False)

# NumPy's, with types promoted and bools as results of comparisons.
fmod0 = lambda x, y: np.where(y == 0, 0, np.fmod(x, y))


def ldexp(x, y):
    return as32(x) * 2 ** as32(y)


with np.errstate(all="ignore"):
    for name, fn, floats in [
            ("add", np.add, 0), ("subtract", np.subtract, 0), ("multiply", np.multiply, 0),
            ("true_divide", lambda x, y: as32(x) / as32(y), 1), ("mod", mod, 0),
            ("power", lambda x, y: np.power(x, y), 0), ("maximum", np.maximum, 0), ("minimum", np.minimum, 0),
            ("fmax", np.fmax, 0), ("fmin", np.fmin, 0), ("fmod", lambda x, y: fmod0(x, y).astype(x.dtype), 0),
            ("hypot", lambda x, y: as32(np.hypot(x, y)), 1), ("arctan2", lambda x, y: as32(np.arctan2(x, y)), 1),
            ("copysign", lambda x, y: as32(np.copysign(x, y)), 1), ("ldexp", ldexp, 1),
            ("logaddexp", lambda x, y: as32(np.logaddexp(x, y)), 1), ("floor_divide", np.floor_divide, 0),
            ("equal", np.equal, 2), ("not_equal", np.not_equal, 2), ("greater", np.greater, 2),
            ("greater_equal", np.greater_equal, 2), ("less", np.less, 2), ("less_equal", np.less_equal, 2),
            ("logical_and", np.logical_and, 2), ("logical_or", np.logical_or, 2), ("logical_xor", np.logical_xor, 2)]:
        op = "_npi_" + name
        x = np.abs(a) if name == "power" else a
        row(op, [x, b], fn(x, b))
        row(op, [x[:, :1], c], fn(x[:, :1], c))
        if name not in ("fmod", "floor_divide", "mod", "arctan2", "copysign", "hypot", "ldexp", "logaddexp"):
            row(op, [i32(1, 2, 3), f32(0.5, 2, -1)], fn(f32(1, 2, 3), f32(0.5, 2, -1)))
        if name not in ("ldexp", "logaddexp", "hypot"):
            row(op, [i32(7, -7, 4), i32(3, 3, 4)], fn(i32(7, -7, 4), i32(3, 3, 4)))
    for name, x, y in [("maximum", f32(nan, 1), f32(1, nan)), ("minimum", f32(nan, 1), f32(1, nan)),
                       ("fmax", f32(nan, 1), f32(1, nan)), ("fmin", f32(nan, 1), f32(1, nan)),
                       ("hypot", f32(3e30), f32(4e30)), ("arctan2", f32(0, 0, -1, 1, -1), f32(1, -1, -1, 0, 0)),
                       ("copysign", f32(1, -2, 0), f32(-0.0, 0.0, -1)), ("logaddexp", f32(-inf, inf, 100, -inf),
                                                                         f32(-inf, inf, -100, 1)),
                       ("equal", f32(nan, inf), f32(nan, inf)), ("not_equal", f32(nan, inf), f32(nan, inf))]:
        row("_npi_" + name, [x, y], getattr(np, name)(x, y))
    row("_npi_mod _npi_fmod", [f32(5, 5), f32(0, 3)], f32(0, 2))
    row("_npi_fmod", [f32(7, -7), f32(4, 4)], f32(3, -3))
    row("_npi_floor_divide", [f32(7, -7), f32(2, 2)], f32(3, -4))
    row("_npi_floor_divide", [i32(7, -7, 7), i32(2, 2, -2)], i32(3, -4, -4))
    for name, fn, s in [
            ("add", lambda x, s: x + s, 1.5), ("subtract", lambda x, s: x - s, 1.5), ("rsubtract", lambda x, s: s - x, 1.5),
            ("multiply", lambda x, s: x * s, -2.5), ("true_divide", lambda x, s: x / s, 0.3),
            ("rtrue_divide", lambda x, s: s / x, 0.3), ("mod", lambda x, s: mod(x, np.float32(s)), -0.75),
            ("rmod", lambda x, s: mod(np.full_like(x, s), x), 1.75), ("fmod", lambda x, s: np.fmod(x, np.float32(s)), -0.75),
            ("rfmod", lambda x, s: fmod0(np.full_like(x, s), x), 1.75), ("power", lambda x, s: np.power(x, s), 3.0),
            ("rpower", lambda x, s: np.power(s, x), 3.0), ("maximum", np.maximum, 0.25), ("minimum", np.minimum, 0.25),
            ("fmax", np.fmax, 0.25), ("fmin", np.fmin, 0.25),
            ("floor_divide", lambda x, s: np.floor(x / np.float32(s)), 0.75),
            ("rfloor_divide", lambda x, s: np.floor(np.float32(s) / x), 1.75),
            ("arctan2", np.arctan2, 0.5), ("rarctan2", lambda x, s: np.arctan2(np.float32(s), x), 0.5),
            ("copysign", np.copysign, -2.5), ("rcopysign", lambda x, s: np.copysign(np.float32(s), x), -2.5),
            ("ldexp", lambda x, s: x * 2 ** s, 3.0), ("rldexp", lambda x, s: s * 2 ** x, 3.0),
            ("logaddexp", lambda x, s: np.logaddexp(x, np.float32(s)), 0.5)]:
        for x in (f(4), f32(0.5, 1.0, -3.0)):
            row("_npi_%s_scalar" % name, x, as32(fn(x, s)), scalar=s, is_int=s == int(s))
    row("_npi_fmax_scalar _npi_fmin_scalar", f32(nan, 2), f32(2, 2), scalar=2.0)
    for name, fn, s in [("equal", np.equal, 0.5), ("not_equal", np.not_equal, 0.5), ("greater", np.greater, 0.5),
                        ("greater_equal", np.greater_equal, 0.5), ("less", np.less, 0.5),
                        ("less_equal", np.less_equal, 0.5), ("logical_and", np.logical_and, 2.0),
                        ("logical_or", np.logical_or, 0.0), ("logical_xor", np.logical_xor, 1.0)]:
        for x in (f32(0.5, 0, -3), i32(0, 1, 2), f32(nan, 0.5)):
            row("_npi_%s_scalar" % name, x, fn(x, s), scalar=s, is_int=s == int(s))
for name, fn, s in [("add", lambda x: x + 2, 2), ("multiply", lambda x: x * -3, -3), ("rsubtract", lambda x: 5 - x, 5),
                    ("mod", lambda x: mod(x, i32(3)), 3), ("maximum", lambda x: np.maximum(x, 1), 1),
                    ("power", lambda x: x * x, 2), ("fmod", lambda x: np.fmod(x, 3).astype(np.int32), 3),
                    ("true_divide", lambda x: as32(x / 2), 2), ("floor_divide", lambda x: x // 2, 2)]:
    row("_npi_%s_scalar" % name, i32(-4, 1, 7), fn(i32(-4, 1, 7)), scalar=float(s), is_int=True)
row("_npi_add_scalar", i32(1, 2), f32(1.5, 2.5), scalar=0.5, is_int=False)
row("_npi_heaviside", [f32(-1, 0, 2), f32(5, 5, 5)], f32(0, 5, 1))
row("_npi_heaviside", [f32(-0.0, -inf), f32(0.5)], f32(0.5, 0))
p, q = i32(12, 7, -1), i32(10, 3, 6)
for name, fn in [("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)]:
    row("_npi_bitwise_" + name, [p, q], fn(p, q))
    row("_npi_bitwise_" + name, [boolean(0, 1, 1), boolean(1, 1, 0)], fn(boolean(0, 1, 1), boolean(1, 1, 0)))
    row("_npi_bitwise_%s_scalar" % name, p, fn(p, 5), scalar=5, is_int=True)
    row("_npi_bitwise_%s_scalar" % name, i64(6, 9), fn(i64(6, 9), 3), scalar=3.0, is_int=True)
p, q = i32(1, 3, -8), i32(4, 1, 2)
row("_npi_bitwise_left_shift", [p, q], p << q)
row("_npi_bitwise_left_shift", [i64(1, 5), i64(33, 0)], i64(1 << 33, 5))
row("_npi_bitwise_right_shift", [p, q], p >> q)
row("_npi_bitwise_right_shift", [i64(1 << 33, 5), i64(33, 0)], i64(1, 5))
for s in (1, 2):
    row("_npi_bitwise_left_shift_scalar", p, p << s, scalar=s, is_int=True)
    row("_npi_bitwise_right_shift_scalar", p, p >> s, scalar=s, is_int=True)
    row("_npi_rbitwise_left_shift_scalar", q, s << q, scalar=s, is_int=True)
    row("_npi_rbitwise_right_shift_scalar", q, (40 * s) >> q, scalar=40 * s, is_int=True)
test = f32(0, 1, 0, nan).reshape(2, 2)
row("where _npi_where", [test, a[:, :2], b[:, :2]], np.where(test, a[:, :2], b[:, :2]))
row("where", [f32(1, 0), a, b], np.stack([a[0], b[1]]))
row("_npi_where", [boolean(1, 0, 1), i32(1, 2, 3), f32(0.5)], f32(1, 0.5, 3))
row("_npi_where", [boolean(1, 0).reshape(2, 1), f32(1, 2), f32(3)], f32(1, 2, 3, 3).reshape(2, 2))
row("_npi_where_lscalar", [boolean(1, 0), f32(5, 6)], f32(9, 6), scalar=9.0)
row("_npi_where_lscalar", [f32(0, 2), f32(5, 6)], f32(5, -1), scalar=-1.0)
row("_npi_where_rscalar", [boolean(1, 0), f32(5, 6)], f32(5, 9), scalar=9.0)
row("_npi_where_rscalar", [f32(0, 2), f32(5, 6)], f32(-1, 6), scalar=-1.0)
row("_npi_where_scalar2", [boolean(1, 0)], f32(2, 3), x=2.0, y=3.0)
row("_npi_where_scalar2", [f32(0, nan)], f32(3, 2.5), x=2.5, y=3.0)
