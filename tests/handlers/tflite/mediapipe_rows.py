# Numbers for the rows of MediaPipe's custom operators in tflite_test.cc, which this prints: what the published kernels
# (mediapipe/util/tflite/operations) compute, step by step as they do, in NumPy's float32.
#
#   python3 tests/handlers/tflite/mediapipe_rows.py
import numpy as np

f = np.float32


def text(x):
    x = np.asarray(x, f)
    return "float32[%s]{%s}" % (",".join(map(str, x.shape)), ", ".join("%.9g" % n for n in x.ravel()))


def matrix(rows):
    return np.array(rows + [[0, 0, 1, 0], [0, 0, 0, 1]], f)


def bilinear(x, m, height, width, second):
    m = m.copy()
    if second:
        for row in m[:2]:
            row[3] += row[0] * f(0.5) + row[1] * f(0.5) - f(0.5)
    _, in_height, in_width, channels = x.shape
    out = np.zeros((1, height, width, channels), f)

    def read(row, column, c):
        inside = 0 <= row < in_height and 0 <= column < in_width
        return x[0, row, column, c] if inside else f(0)

    for oy in range(height):
        for ox in range(width):
            at = np.array([ox, oy, 0, 1], f)
            tx, ty = m[0] @ at, m[1] @ at
            if tx < 0 or tx > in_width - 1 or ty < 0 or ty > in_height - 1:
                continue
            left, top = int(np.floor(tx)), int(np.floor(ty))
            r, d = tx - f(left), ty - f(top)
            for c in range(channels):
                upper = (1 - r) * read(top, left, c) + r * read(top, left + 1, c)
                lower = (1 - r) * read(top + 1, left, c) + r * read(top + 1, left + 1, c)
                out[0, oy, ox, c] = d * lower + (1 - d) * upper
    return out


def landmarks(x, m, dimensions, scale):
    m = m.copy()
    m[:2, 3] *= f(scale)
    points = x.reshape(-1, dimensions).copy()
    for p in points:
        at = np.array([p[0], p[1], 0, 1], f)
        p[0], p[1] = m[0] @ at, m[1] @ at
    return points.reshape(x.shape)


def turn(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]], f)


def matrix_first(x, o):
    points = x.reshape(-1, 3)[:, :2]
    left, right = points[o["left"]], points[o["right"]]
    alpha = -np.arctan((right[1] - left[1]) / (right[0] - left[0]))
    turned = points[o["subset"]] @ turn(alpha).T
    high = np.maximum(turned.max(0), -100000)
    low = np.minimum(turned.min(0), 100000)
    size = (high - low) * f(o["factor"])
    scale = np.diag([size[0] / o["range"], size[1] / o["range"], 1])
    middle = turn(-alpha) @ ((high + low) / 2)
    rotation = np.eye(3)
    rotation[:2, :2] = turn(-alpha)
    rotation[:2, 2] = middle / o["range"] * 2 - 1
    (ih, iw), (oh, ow) = o["input"], o["output"]
    relative = np.array([[2 / (ow - 1), 0, -1], [0, 2 / (oh - 1), -1], [0, 0, 1]])
    absolute = np.array([[(iw - 1) / 2, 0, (iw - 1) / 2], [0, (ih - 1) / 2, (ih - 1) / 2], [0, 0, 1]])
    t = absolute @ rotation @ scale @ relative
    return matrix([[t[0, 0], t[0, 1], 0, t[0, 2]], [t[1, 0], t[1, 1], 0, t[1, 2]]])[None]


def matrix_second(x, o):
    points = x.reshape(-1, 3)[:, :2]
    left, right = points[o["left"]], points[o["right"]]
    angle = f(o["target"]) - np.arctan2(right[1] - left[1], right[0] - left[0])
    turned = points[o["subset"]] @ turn(angle).T
    high, low = turned.max(0), turned.min(0)
    center = turn(-angle) @ ((high + low) / 2)
    crop = high - low
    t = np.eye(4)

    def shift(x, y):
        m = np.eye(4)
        m[0, 3], m[1, 3] = x, y
        return m

    rotation = np.eye(4)
    rotation[:2, :2] = turn(-angle)
    width, height = o["size"]
    scale = np.diag([o["scale"][0] * crop[0] / width, o["scale"][1] * crop[1] / height, 1, 1])
    return (shift(*center) @ rotation @ scale @ shift(-width / 2, -height / 2)).astype(f)[None]


image = np.arange(1, 25, dtype=f).reshape(1, 3, 4, 2) ** 2
m = matrix([[0.75, -0.25, 0, 0.5], [0.125, 0.5, 0, 0.25]])
print("image", text(image))
print("matrix", text(m[None]))
for second in (False, True):
    print("bilinear", second, text(bilinear(image, m, 4, 5, second)))
points = np.array([3, 5, 1, 20, 9, 2, 12, 30, 3, 25, 28, 4], f)
print("points", text(points))
print("landmarks 1", text(landmarks(points.reshape(1, 1, 1, 12), m, 3, 4)))
print("landmarks 1, of two", text(landmarks(points.reshape(1, 1, 1, 12), m, 2, 1)))
print("landmarks 2", text(landmarks(points.reshape(1, 4, 3), m, 3, 1)))
print("matrix 1", text(matrix_first(points, dict(left=0, right=1, subset=[0, 1, 2, 3], factor=1.5, range=32,
                                                input=(48, 64), output=(8, 16)))))
print("matrix 2", text(matrix_second(points, dict(left=0, right=1, subset=[0, 1, 2, 3], target=0.5, size=(16, 8),
                                                 scale=(1.5, 2)))))
