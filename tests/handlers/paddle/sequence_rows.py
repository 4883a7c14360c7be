"""Rows of rows.py: sequences, cells of recurrent networks, decoding, and what is around them.
Written with loops, after Paddle's documentation of each operator.
"""
import math

import numpy as np
import torch
import torch.nn.functional as F

rng = np.random.RandomState(11)


def f(*s):
    return rng.uniform(-2, 2, s).astype(np.float32)


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


def add(row):
    sequences(row)
    cells(row)
    networks(row)
    decoding(row)
    segments(row)
    others(row)


def sequences(row):
    x, one = f(4, 3), f(1, 3)
    n = np.float32(4)
    for kind, y in [("AVERAGE", x.mean(0)), ("SUM", x.sum(0)), ("SQRT", x.sum(0) / np.sqrt(n)), ("MAX", x.max(0)),
                    ("FIRST", x[0]), ("LAST", x[3])]:
        row("sequence_pool", {"X": x}, y[None], pooltype=kind, is_test=True)
    row("sequence_pool", {"X": np.zeros((0, 2), np.float32)}, np.full((1, 2), 1.5, np.float32), pooltype="SUM", pad_value=1.5)
    row("sequence_pool", {"X": np.zeros((0, 2), np.float32)}, np.zeros((1, 2), np.float32), pooltype="MAX")
    for v in (f(4, 1), f(5)):
        e = np.exp(v)
        row("sequence_softmax", {"X": v}, e / e.sum())
    for op in ("sequence_expand", "sequence_expand_as"):
        row(op, {"X": one, "Y": x}, np.repeat(one, 4, 0))
        row(op, {"X": f(1, 2, 2)[:, :1] * 0 + 2, "Y": f(2, 1)}, np.full((2, 1, 2), 2, np.float32))
    row("sequence_expand", {"X": x, "Y": one}, x, operand_levels=[1, 1], ref_level=0)

    def convolved(v, w, length, start):
        out = np.zeros((len(v), w.shape[1]), np.float32)
        for i in range(len(v)):
            context = [v[j] if 0 <= j < len(v) else np.zeros_like(v[0]) for j in range(i + start, i + start + length)]
            out[i] = np.concatenate(context) @ w
        return out

    for length, start in ((3, -1), (2, 0), (2, 1), (1, -2), (3, -4)):
        w = f(length * 3, 2)
        row("sequence_conv", {"X": x, "Filter": w}, convolved(x, w, length, start), contextLength=length,
            contextStart=start, contextStride=1, paddingTrainable=False)
        b = f(2)
        row("fusion_seqconv_eltadd_relu", {"X": x, "Filter": w, "Bias": b}, np.maximum(convolved(x, w, length, start) + b, 0),
            contextLength=length, contextStart=start, contextStride=1)
    row("sequence_reverse", {"X": x}, {"Y": x[::-1]})
    row("sequence_reverse", {"X": f(1, 2)[:, :1] * 0 + 3}, {"Y": np.full((1, 1), 3, np.float32)})
    pad = np.array([9], np.float32)
    row("sequence_pad", {"X": x, "PadValue": pad}, {"Out": x[None], "Length": np.array([4], np.int64)}, padded_length=-1)
    row("sequence_pad", {"X": x, "PadValue": pad}, {"Out": np.concatenate([x, np.full((2, 3), 9, np.float32)])[None],
                                                    "Length": np.array([4], np.int64)}, padded_length=6)
    step = np.array([1, 2, 3], np.float32)
    row("sequence_pad", {"X": x, "PadValue": step}, {"Out": np.concatenate([x, step[None]])[None],
                                                     "Length": np.array([4], np.int64)}, padded_length=5)
    for v in (f(1, 4), f(1, 4, 2)):
        y = v[0, :3]
        row("sequence_unpad", {"X": v, "Length": np.array([3], np.int64)}, y[:, None] if v.ndim == 2 else y)
    row("sequence_concat", {"X": [x, one]}, np.concatenate([x, one]))
    row("sequence_concat", {"X": [one, x, one]}, np.concatenate([one, x, one]))
    for start, count in ((0, 2), (1, 3)):
        row("sequence_slice", {"X": x, "Offset": np.array([[start]], np.int64), "Length": np.array([[count]], np.int64)},
            x[start:start + count])
    row("sequence_reshape", {"X": x}, x.reshape(2, 6), new_dim=6)
    row("sequence_reshape", {"X": x}, x.reshape(12, 1), new_dim=1)
    ids = np.array([[1], [2], [3], [4]], np.int64)
    row("sequence_enumerate", {"X": ids}, np.array([[1, 2], [2, 3], [3, 4], [4, 0]], np.int64), win_size=2)
    row("sequence_enumerate", {"X": ids[:2].astype(np.int32)}, np.array([[1, 2, 7], [2, 7, 7]], np.int32), win_size=3, pad_value=7)
    tokens = np.array([[2], [2], [6], [1], [3], [9], [6]], np.int32)
    row("sequence_erase", {"X": tokens}, np.array([[1], [9]], np.int32), tokens=[2, 3, 6])
    row("sequence_erase", {"X": tokens[:, 0].astype(np.int64)}, np.array([6, 1, 3, 9, 6], np.int64), tokens=[2])
    base = f(1, 5)
    at, more = np.array([[0], [3], [3]], np.int64), f(3, 1)
    y = base.copy()
    np.add.at(y[0], at[:, 0], more[:, 0])
    row("sequence_scatter", {"X": base, "Ids": at, "Updates": more}, y)
    row("sequence_scatter", {"X": base, "Ids": at[:1], "Updates": more[:1]},
        np.concatenate([base[:, :1] + more[0], base[:, 1:]], 1))
    row("lod_reset", {"X": x}, x, target_lod=[0, 4])
    row("lod_reset", {"X": x, "Y": one}, x, operand_levels=[0, 1])
    pools = [x.sum(0)[None], one.sum(0)[None]]
    row("fusion_seqpool_concat", {"X": [x, one]}, np.concatenate(pools, 1), pooltype="SUM", axis=1)
    row("fusion_seqpool_concat", {"X": [x, one]}, np.concatenate([x.mean(0)[None], one], 1), pooltype="AVERAGE")

    image = f(1, 2, 4, 5)
    for kernel, strides, pads in (([2, 3], [1, 1], [0, 0, 0, 0]), ([2, 2], [2, 1], [1, 0, 1, 2])):
        up, left, down, right = pads
        v = F.pad(torch.from_numpy(image), (left, right, up, down))
        row("im2sequence", {"X": image}, F.unfold(v, kernel, stride=strides)[0].T, kernels=kernel, strides=strides, paddings=pads)


# --- Recurrent cells -----------------------------------------------------------------------------


def gru(x, h, w, b, reverse=False, origin=False, gate=sigmoid, act=np.tanh):
    d = h.shape[1]
    flat = w.reshape(-1)
    ur, c = flat[:2 * d * d].reshape(d, 2 * d), flat[2 * d * d:].reshape(d, d)
    out = np.zeros((len(x), d), np.float32)
    for t in (reversed(range(len(x))) if reverse else range(len(x))):
        v = x[t:t + 1] + b
        g = gate(v[:, :2 * d] + h @ ur)
        u, r = g[:, :d], g[:, d:]
        n = act(v[:, 2 * d:] + (r * h) @ c)
        h = u * h + (1 - u) * n if origin else (1 - u) * h + u * n
        out[t] = h[0]
    return out


def lstm(x, h, c, w, b, peep=None, reverse=False, gate=sigmoid, cell=np.tanh, candidate=np.tanh):
    d = h.shape[1]
    hs, cs = np.zeros((len(x), d), np.float32), np.zeros((len(x), d), np.float32)
    pi, pf, po = (np.zeros(d, np.float32),) * 3 if peep is None else (peep[:d], peep[d:2 * d], peep[2 * d:])
    for t in (reversed(range(len(x))) if reverse else range(len(x))):
        v = x[t:t + 1] + b + h @ w
        n, i, g, o = (v[:, k * d:(k + 1) * d] for k in range(4))
        i, g = gate(i + pi * c), gate(g + pf * c)
        c = candidate(n) * i + c * g
        h = gate(o + po * c) * cell(c)
        hs[t], cs[t] = h[0], c[0]
    return hs, cs


def cells(row):
    relu = lambda v: np.maximum(v, 0)
    d, m, t = 2, 3, 4
    w, b, h0, c0, zero = f(d, 3 * d), f(1, 3 * d), f(1, d), f(1, d), np.zeros((1, d), np.float32)
    x, raw, wx = f(t, 3 * d), f(t, m), f(m, 3 * d)
    for op, ins, v in (("gru", {"Input": x, "Weight": w}, x), ("fusion_gru", {"X": raw, "WeightX": wx, "WeightH": w}, raw @ wx)):
        row(op, ins, {"Hidden": gru(v, zero, w, 0)})
        row(op, {**ins, "Bias": b, "H0": h0}, {"Hidden": gru(v, h0, w, b, True, True)}, is_reverse=True, origin_mode=True)
        row(op, {**ins, "Bias": b}, {"Hidden": gru(v, zero, w, b, act=relu)}, activation="relu", gate_activation="sigmoid")
    for kind, fn in ((2, np.tanh), (3, relu)):
        v, h = f(1, 3 * d), f(1, d)
        row("gru_unit", {"Input": v, "HiddenPrev": h, "Weight": w, "Bias": b}, {"Hidden": gru(v, h, w, b, act=fn)},
            activation=kind, gate_activation=1, origin_mode=False)
        row("gru_unit", {"Input": v, "HiddenPrev": h, "Weight": w}, {"Hidden": gru(v, h, w, 0, origin=True, act=fn)},
            activation=kind, origin_mode=True)
    w, b, peep = f(d, 4 * d), f(1, 4 * d), f(1, 3 * d)
    x, wx = f(t, 4 * d), f(m, 4 * d)
    for op, ins, v in (("lstm", {"Input": x, "Weight": w}, x), ("fusion_lstm", {"X": raw, "WeightX": wx, "WeightH": w}, raw @ wx)):
        hs, cs = lstm(v, zero, zero, w, b)
        row(op, {**ins, "Bias": b}, {"Hidden": hs, "Cell": cs}, use_peepholes=False)
        hs, cs = lstm(v, h0, c0, w, b, peep[0], True)
        row(op, {**ins, "Bias": np.concatenate([b, peep], 1), "H0": h0, "C0": c0}, {"Hidden": hs, "Cell": cs}, use_peepholes=True,
            is_reverse=True)
        hs, cs = lstm(v, zero, zero, w, b, peep[0], candidate=relu, cell=lambda u: u)
        row(op, {**ins, "Bias": np.concatenate([b, peep], 1)}, {"Hidden": hs, "Cell": cs}, candidate_activation="relu",
            cell_activation="identity")
    for bias in (0.0, 1.0):
        v, c = f(2, 4 * d), f(2, d)
        i, g, o, n = (v[:, k * d:(k + 1) * d] for k in range(4))
        state = sigmoid(g + bias) * c + sigmoid(i) * np.tanh(n)
        row("lstm_unit", {"X": v, "C_prev": c}, {"C": state.astype(np.float32), "H": (sigmoid(o) * np.tanh(state)).astype(np.float32)},
            forget_bias=bias)


def networks(row):
    x, lengths = f(4, 3, 2), np.array([4, 1, 3], np.int32)
    for mode, cls in (("LSTM", torch.nn.LSTM), ("GRU", torch.nn.GRU), ("RNN_TANH", torch.nn.RNN)):
        for both, layers in ((False, 1), (True, 1), (True, 2)):
            torch.manual_seed(5)
            net = cls(2, 3, layers, bidirectional=both)
            count = layers * (2 if both else 1)
            w = [p.detach() for p in net._flat_weights]
            weights = [w[4 * i + k] for i in range(count) for k in (0, 1)] + [w[4 * i + k] for i in range(count) for k in (2, 3)]
            first = [f(count, 3, 3) for _ in range(2 if mode == "LSTM" else 1)]
            given = tuple(torch.from_numpy(v) for v in first)
            packed = torch.nn.utils.rnn.pack_padded_sequence(torch.from_numpy(x), torch.from_numpy(lengths).long(), enforce_sorted=False)
            out, state = net(packed, given if mode == "LSTM" else given[0])
            out = torch.nn.utils.rnn.pad_packed_sequence(out)[0]
            row("rnn", {"Input": x, "PreState": first, "WeightList": weights, "SequenceLength": lengths},
                {"Out": out, "State": list(state) if mode == "LSTM" else [state]}, mode=mode, is_bidirec=both, num_layers=layers,
                hidden_size=3, input_size=2, is_test=True)


# --- Decoding ------------------------------------------------------------------------------------


def best_path(scores, moves, start=0, stop=0):
    """By trying every path."""
    steps, labels = scores.shape
    best, which = -np.inf, None
    for number in range(labels ** steps):
        path = [number // labels ** k % labels for k in range(steps)]
        total = sum(scores[k, p] for k, p in enumerate(path)) + sum(moves[p, q] for p, q in zip(path, path[1:]))
        total += (start[path[0]] if np.ndim(start) else 0) + (stop[path[-1]] if np.ndim(stop) else 0)
        if total > best:
            best, which = total, path
    return best, which


def decoding(row):
    k = 3
    for steps in (4, 1):
        e, w = f(steps, k), f(k + 2, k)
        _, path = best_path(e, w[2:], w[0], w[1])
        path = np.array(path, np.int64)[:, None]
        row("crf_decoding", {"Emission": e, "Transition": w}, {"ViterbiPath": path})
        label = np.array([[1]] * steps, np.int64)
        row("crf_decoding", {"Emission": e, "Transition": w, "Label": label}, {"ViterbiPath": (label == path).astype(np.int64)})
    e, w, lengths = f(3, 4, k), f(k + 2, k), np.array([4, 2, 1], np.int64)
    paths = np.zeros((3, 4), np.int64)
    for i, n in enumerate(lengths):
        paths[i, :n] = best_path(e[i, :n], w[2:], w[0], w[1])[1]
    row("crf_decoding", {"Emission": e, "Transition": w, "Length": lengths}, {"ViterbiPath": paths})
    for tags in (False, True):
        for lengths in (np.array([4, 2], np.int64), np.array([1, 3], np.int64)):
            e, w = f(2, 4, 4), f(4, 4)
            paths, scores = np.zeros((2, lengths.max()), np.int64), np.zeros(2, np.float32)
            for i, n in enumerate(lengths):
                scores[i], path = best_path(e[i, :n], w, w[-1] if tags else 0, w[-2] if tags else 0)
                paths[i, :n] = path
            row("viterbi_decode", {"Input": e, "Transition": w, "Length": lengths}, {"Scores": scores, "Path": paths},
                include_bos_eos_tag=tags)
    # The example of Paddle's documentation, and one with a beam that ends in another one's.
    ids = np.array([[[2, 2], [6, 1]], [[3, 9], [6, 1]], [[0, 1], [9, 0]]], np.int64)
    parents = np.array([[[0, 0], [1, 1]], [[1, 0], [1, 0]], [[0, 0], [0, 1]]], np.int64)
    row("gather_tree", {"Ids": ids, "Parents": parents},
        np.array([[[2, 2], [1, 6]], [[3, 3], [6, 1]], [[0, 1], [9, 0]]], np.int64))
    row("gather_tree", {"Ids": ids[:1], "Parents": parents[:1]}, ids[:1])

    def collapse(v, blank, merge):
        out, before = [], None
        for u in v:
            if u != blank and not (merge and u == before):
                out.append(u)
            before = u
        return out

    v = np.array([[0], [1], [2], [2], [0], [4], [0], [4], [4]], np.int32)
    row("ctc_align", {"Input": v}, {"Output": np.array(collapse(v[:, 0], 0, True), np.int32)[:, None]}, blank=0)
    row("ctc_align", {"Input": v}, {"Output": np.array(collapse(v[:, 0], 4, False), np.int32)[:, None]}, blank=4, merge_repeated=False)
    row("ctc_align", {"Input": np.zeros((3, 1), np.int64)}, {"Output": np.array([[-1]], np.int64)}, blank=0)
    v = np.array([[0, 1, 2, 2, 0, 4], [0, 4, 5, 0, 6, 0], [0, 7, 7, 7, 0, 0]], np.int32)
    lengths = np.array([[6], [5], [4]], np.int32)
    out, counts = np.full((3, 6), 9, np.int32), np.zeros((3, 1), np.int64)
    for i in range(3):
        kept = collapse(v[i, :lengths[i, 0]], 0, True)
        out[i, :len(kept)], counts[i] = kept, len(kept)
    row("ctc_align", {"Input": v, "InputLength": lengths}, {"Output": out, "OutputLength": counts.astype(np.int64)}, blank=0,
        padding_value=9)


# --- Segments, frames, medians -------------------------------------------------------------------


def segments(row):
    x, ids = f(5, 2), np.array([0, 0, 2, 2, 2], np.int64)
    fns = {"SUM": lambda v: v.sum(0), "MEAN": lambda v: v.mean(0), "MIN": lambda v: v.min(0), "MAX": lambda v: v.max(0)}
    for kind, fn in fns.items():
        y = np.stack([fn(x[ids == i]) if (ids == i).any() else np.zeros(2, np.float32) for i in range(3)])
        row("segment_pool", {"X": x, "SegmentIds": ids}, y, pooltype=kind)
    src, dst = np.array([0, 1, 2, 0], np.int32), np.array([1, 2, 1, 0], np.int32)
    v, edges = f(4, 2), f(4, 2)

    def received(messages, count, kind):
        return np.stack([fns[kind](messages[dst == i]) if (dst == i).any() else np.zeros(2, np.float32) for i in range(count)])

    for kind in fns:
        row("send_u_recv", {"X": v, "Src_index": src, "Dst_index": dst}, received(v[src], 4, kind), reduce_op=kind, out_size=[0])
    row("send_u_recv", {"X": v, "Src_index": src, "Dst_index": dst, "Out_size": np.array([3], np.int64)}, received(v[src], 3, "SUM"))
    for kind, op in (("SUM", "ADD"), ("MAX", "MUL")):
        messages = v[src] + edges if op == "ADD" else v[src] * edges
        row("send_ue_recv", {"X": v, "Y": edges, "Src_index": src, "Dst_index": dst}, received(messages, 4, kind), reduce_op=kind,
            message_op=op)
        y = f(4, 2)
        row("send_uv", {"x": v, "y": y, "src_index": src, "dst_index": dst},
            {"out": v[src] + y[dst] if op == "ADD" else v[src] * y[dst]}, message_op=op)
    holes = f(3, 4)
    holes[0, 1] = holes[2] = np.nan
    with np.errstate(all="ignore"):
        for op, fn in (("median", np.median), ("nanmedian", np.nanmedian)):
            for v in (f(3, 4), f(2, 3, 5), holes):
                row(op, {"X": v}, fn(v).astype(np.float32), mode="avg")
                row(op, {"X": v}, fn(v, axis=1, keepdims=True).astype(np.float32), axis=[1], keepdim=True, mode="avg")
        v = f(4, 2)
        row("median", {"X": v}, np.sort(v, 0)[1], axis=[0], mode="min")
        row("nanmedian", {"X": v}, np.sort(v.reshape(-1))[3], axis=[0, 1], mode="min")
    s = f(2, 8)
    for size, step in ((4, 2), (3, 1)):
        frames = np.stack([s[:, i:i + size] for i in range(0, 8 - size + 1, step)], -1)
        row("frame", {"X": s}, frames, frame_length=size, hop_length=step, axis=-1)
        row("frame", {"X": s.T}, frames.transpose(2, 1, 0), frame_length=size, hop_length=step, axis=0)
        out = np.zeros((2, (frames.shape[2] - 1) * step + size), np.float32)
        for i in range(frames.shape[2]):
            out[:, i * step:i * step + size] += frames[:, :, i]
        row("overlap_add", {"X": frames}, out, hop_length=step, axis=-1)
        row("overlap_add", {"X": frames.transpose(2, 1, 0)}, out.T, hop_length=step, axis=0)


# --- Single operators ----------------------------------------------------------------------------


def others(row):
    x = np.array([-2, -0.5, 0.5, 3], np.float32)
    for alpha in (1.5, -0.5):
        row("leaky_relu", {"X": x}, np.maximum(x, alpha * x).astype(np.float32), alpha=alpha, op_version=0)
        row("leaky_relu", {"X": x}, np.where(x < 0, alpha * x, x).astype(np.float32), alpha=alpha, op_version=1)
    row("hard_shrink", {"X": x}, x * ((x < 1).astype(np.float32) + (x > -1)), threshold=-1.0, op_version=0)
    row("hard_shrink", {"X": x}, x, threshold=-1.0, op_version=1)
    row("rrelu", {"X": x}, np.where(x < 0, 0.25 * x, x).astype(np.float32), lower=0.125, upper=0.375, is_test=True)
    row("rrelu", {"X": x}, np.where(x < 0, 0.5 * x, x).astype(np.float32), lower=0.5, upper=0.5, is_test=True)
    row("linspace", {"Start": np.array([0], np.float64), "Stop": np.array([1], np.float64), "Num": np.array([3], np.int32)},
        np.array([0, 0.5, 1], np.float64))
    m = f(2, 3)
    row("roll", {"X": m}, np.roll(m, 1, 1), shifts=[1], dims=[1])
    row("trace", {"Input": f(2, 2, 2) * 0 + 3}, np.full(2, 6, np.float32), dim1=0, dim2=2)
    row("squeeze2", {"X": f(1, 2, 1) * 0 + 1, "axes": np.array([0], np.int64)}, np.ones((2, 1), np.float32))
    row("minus", {"X": m, "Y": 2 * m}, -m)
    row("minus", {"X": x, "Y": x}, 0 * x)
    bad = np.array([1, np.inf, 2], np.float32)
    nan = np.array([[1, np.nan]], np.float32)
    for v in (x, bad, nan):
        row("isinf", {"X": v}, np.array([np.isinf(v).any()]))
        row("isnan", {"X": v}, np.array([np.isnan(v).any()]))
        row("isfinite", {"X": v}, np.array([np.isfinite(v).all()]))
    row("diag", {"Diagonal": x}, np.diag(x))
    row("diag", {"Diagonal": x[:1]}, np.diag(x[:1]))
    for r, c, o in ((3, 3, 0), (2, 4, 1), (4, 2, -1)):
        row("tril_indices", {}, np.stack(np.tril_indices(r, o, c)), rows=r, cols=c, offset=o, dtype=3)
        row("triu_indices", {}, np.stack(np.triu_indices(r, o, c)).astype(np.int32), row=r, col=c, offset=o, dtype=2)
    sq = f(3, 3)
    y = sq.copy()
    np.fill_diagonal(y, x[:3])
    row("fill_diagonal_tensor", {"X": sq, "Y": x[:3]}, y, offset=0, dim1=0, dim2=1)
    y = sq.copy()
    y[0, 1], y[1, 2] = x[:2]
    row("fill_diagonal_tensor", {"X": sq, "Y": x[:2]}, y, offset=1, dim1=0, dim2=1)
    v = f(2, 6)
    row("as_strided", {"input": v}, v.reshape(-1)[[[1, 3], [4, 6]]], dims=[2, 2], stride=[3, 2], offset=1)
    row("as_strided", {"input": v}, v.T, dims=[6, 2], stride=[1, 6])
    row("tensor_unfold", {"input": v}, torch.from_numpy(v).unfold(1, 3, 2), axis=1, size=3, step=2)
    row("tensor_unfold", {"input": v}, torch.from_numpy(v).unfold(0, 1, 1), axis=-2, size=1, step=1)
    row("view_shape", {"Input": v}, v.reshape(3, 4), dims=[3, 4])
    row("view_shape", {"Input": v}, v.reshape(-1), dims=[-1])
    blocks = f(1, 8, 2, 4)
    for b in (1, 2):
        z = blocks.reshape(1, 8 // (b * b), 2, b, 4, b).transpose(0, 3, 5, 1, 2, 4)
        row("space_to_depth", {"X": blocks}, z.reshape(1, 8 * b * b, 2 // b, 4 // b), blocksize=b)
    for p in (f(1, 2, 2, 3), f(2, 4, 3, 2)):
        y = np.zeros_like(p)
        for n, c, i, j in np.ndindex(*p.shape):
            y[n, c, i, j] = (4 * j if c % 2 == 0 else 4 * i) - p[n, c, i, j]
        row("polygon_box_transform", {"Input": p}, {"Output": y})
    density(row)
    for op in ("c_broadcast", "broadcast", "all_reduce", "c_allreduce_min", "c_allreduce_prod", "c_allreduce_avg", "nop", "npu_identity"):
        row(op, {"X": x}, x)
        row(op, {"X": m}, m)
    for op in ("c_allgather", "all_gather", "c_concat", "c_split", "partial_allgather"):
        row(op, {"X": x}, x, nranks=1)
        row(op, {"X": m}, m, nranks=1, rank=0)
    spd = f(3, 3)
    spd = spd @ spd.T + 3 * np.eye(3, dtype=np.float32)
    low = np.linalg.cholesky(spd).astype(np.float32)
    b = f(3, 2)
    row("cholesky_solve", {"X": b, "Y": low}, np.linalg.solve(spd, b).astype(np.float32), upper=False)
    row("cholesky_solve", {"X": b, "Y": low.T.copy()}, np.linalg.solve(spd, b).astype(np.float32), upper=True)
    for op, fn in (("gammaincc", torch.special.gammaincc), ("gammainc", torch.special.gammainc)):
        for g in ((0.5, 2.0), (3.0, 1.0, 0.2)):
            p, q = torch.tensor(g), torch.linspace(0.3, 2, len(g))
            row(op, {"x": p, "y": q}, {"out": fn(p, q)})
    h, bias = f(2, 4), f(4)
    for name, fn in (("gelu", F.gelu), ("relu", F.relu), ("silu", F.silu)):
        row("fused_bias_act", {"x": h, "bias": bias}, {"out": fn(torch.from_numpy(h + bias))}, act_method=name)
    for name, fn in (("swiglu", F.silu), ("geglu", F.gelu)):
        s = torch.from_numpy(h + bias)
        row("fused_bias_act", {"x": h, "bias": bias}, {"out": fn(s[:, :2]) * s[:, 2:]}, act_method=name)
    r, w, nb = f(2, 4), f(4), f(4)
    total = torch.from_numpy(h + bias + 0.5 * r)
    row("fused_bias_residual_layernorm", {"x": h, "bias": bias, "residual": r, "norm_weight": w, "norm_bias": nb},
        {"out": F.layer_norm(total, (4,), torch.from_numpy(w), torch.from_numpy(nb), 1e-3), "residual_out": total}, epsilon=1e-3,
        residual_alpha=0.5, begin_norm_axis=1, quant_scale=-1.0)
    row("fused_bias_residual_layernorm", {"x": h, "norm_weight": w}, {"out": F.layer_norm(torch.from_numpy(h), (4,), torch.from_numpy(w))},
        epsilon=1e-5, residual_alpha=1.0, begin_norm_axis=1)
    for lead in (1, 2):
        v, fw = f(2, 2, 3), f(6 if lead == 1 else 3, 2)
        y = v.reshape(-1, fw.shape[0]) @ fw
        row("gemm_epilogue", {"Input": v, "W": fw}, np.maximum(y, 0).reshape(v.shape[:lead] + (2,)), in_num_col_dims=lead,
            activation_type="relu")


def density(row):
    for clip, offset, flat in ((False, 0.5, False), (True, 0.0, True)):
        h, w, ih, iw = 2, 3, 20, 30
        sizes, ratios, densities = [8.0, 12.0], [1.0, 2.0], [2, 1]
        step = int((iw / w + ih / h) * 0.5)
        boxes = []
        for i, j in np.ndindex(h, w):
            cx, cy = (j + offset) * iw / w, (i + offset) * ih / h
            for size, n in zip(sizes, densities):
                shift = step // n
                for ratio in ratios:
                    bw, bh = size * math.sqrt(ratio), size / math.sqrt(ratio)
                    for di, dj in np.ndindex(n, n):
                        x = cx - step / 2 + shift / 2 + dj * shift
                        y = cy - step / 2 + shift / 2 + di * shift
                        box = [max((x - bw / 2) / iw, 0), max((y - bh / 2) / ih, 0), min((x + bw / 2) / iw, 1),
                               min((y + bh / 2) / ih, 1)]
                        boxes.append([min(max(v, 0), 1) for v in box] if clip else box)
        boxes = np.array(boxes, np.float32).reshape((-1, 4) if flat else (h, w, -1, 4))
        var = [0.1, 0.1, 0.2, 0.2]
        row("density_prior_box", {"Input": np.zeros((1, 1, h, w), np.float32), "Image": np.zeros((1, 1, ih, iw), np.float32)},
            {"Boxes": boxes, "Variances": np.broadcast_to(np.array(var, np.float32), boxes.shape)}, fixed_sizes=sizes,
            fixed_ratios=ratios, densities=densities, variances=var, clip=clip, offset=offset, flatten_to_2d=flat)
