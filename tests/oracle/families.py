"""Small networks of the families in OneFlow-ONNX's tables, as programs of torch.export with their outputs.

    families.py FOLDER

writes FOLDER/NAME/model.pt2 and FOLDER/NAME/io.safetensors; weights are random. Those of torchvision are
its own, the others are blocks of the family's kind, put together here. docs/models.md says what becomes of
them.
"""
import os
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision
from safetensors.torch import save_file
from torch.nn import Sequential


def conv(inputs, outputs, kernel=3, stride=1, groups=1, act=True):
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
              nn.BatchNorm2d(outputs)]
    return Sequential(*layers, *([nn.ReLU()] if act else []))


def head(channels):
    return Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))


class SqueezeExcite(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b = nn.Linear(c, c // 4), nn.Linear(c // 4, c)

    def forward(self, x):
        return x * torch.sigmoid(self.b(F.relu(self.a(x.mean((2, 3))))))[:, :, None, None]


class Bottleneck(nn.Module):
    def __init__(self, c, groups=1, se=False):
        super().__init__()
        self.f = Sequential(conv(c, c, 1), conv(c, c, 3, 1, groups), conv(c, c, 1, act=False),
                            *([SqueezeExcite(c)] if se else []))

    def forward(self, x):
        return F.relu(x + self.f(x))


class PreActivated(nn.Module):
    def __init__(self, c):
        super().__init__()
        layers = [nn.BatchNorm2d(c), nn.ReLU(), nn.Conv2d(c, c, 3, 1, 1, bias=False)]
        more = [nn.BatchNorm2d(c), nn.ReLU(), nn.Conv2d(c, c, 3, 1, 1, bias=False)]
        self.f = Sequential(*layers, *more)

    def forward(self, x):
        return x + self.f(x)


class Separable(nn.Module):
    def __init__(self, i, o, dilation=1):
        super().__init__()
        self.a = nn.Conv2d(i, i, 3, 1, dilation, dilation, i, bias=False)
        self.b, self.n = nn.Conv2d(i, o, 1, bias=False), nn.BatchNorm2d(o)

    def forward(self, x):
        return self.n(self.b(self.a(x)))


class XceptionBlock(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.f = Sequential(nn.ReLU(), Separable(i, o), nn.ReLU(), Separable(o, o),
                            nn.MaxPool2d(3, 2, 1))
        self.skip = conv(i, o, 1, 2, act=False)

    def forward(self, x):
        return self.f(x) + self.skip(x)


class Shuffle(nn.Module):
    def __init__(self, c, groups=4):
        super().__init__()
        self.a, self.c = conv(c, c, 1, 1, groups), conv(c, c, 1, 1, groups, act=False)
        self.b, self.groups = conv(c, c, 3, 1, c, act=False), groups

    def forward(self, x):
        y = self.a(x)
        n, c, h, w = y.shape
        y = y.view(n, self.groups, c // self.groups, h, w).transpose(1, 2).reshape(n, c, h, w)
        return F.relu(x + self.c(self.b(y)))


class RepVgg(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b, self.n = conv(c, c, act=False), conv(c, c, 1, act=False), nn.BatchNorm2d(c)

    def forward(self, x):
        return F.relu(self.a(x) + self.b(x) + self.n(x))


class Ghost(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.a, self.b = conv(i, o // 2, 1), conv(o // 2, o // 2, 3, 1, o // 2)

    def forward(self, x):
        a = self.a(x)
        return torch.cat([a, self.b(a)], 1)


class Res2(nn.Module):
    def __init__(self, c, parts=4):
        super().__init__()
        self.parts, self.a, self.b = parts, conv(c, c, 1), conv(c, c, 1, act=False)
        self.m = nn.ModuleList(conv(c // parts, c // parts) for _ in range(parts - 1))

    def forward(self, x):
        parts = torch.chunk(self.a(x), self.parts, 1)
        outs, y = [parts[0]], None
        for i, m in enumerate(self.m):
            y = m(parts[i + 1] if y is None else parts[i + 1] + y)
            outs.append(y)
        return F.relu(x + self.b(torch.cat(outs, 1)))


class DualPath(nn.Module):
    def __init__(self, c, k, more):
        super().__init__()
        self.c = c
        self.f = Sequential(conv(c + k, 32, 1), conv(32, 32, 3, 1, 4), nn.Conv2d(32, c + more, 1))

    def forward(self, x):
        y = self.f(x)
        return torch.cat([x[:, :self.c] + y[:, :self.c], x[:, self.c:], y[:, self.c:]], 1)


class Dark(nn.Module):
    def __init__(self, c):
        super().__init__()
        layers = [nn.Conv2d(c, c // 2, 1, bias=False), nn.BatchNorm2d(c // 2), nn.LeakyReLU(0.1)]
        more = [nn.Conv2d(c // 2, c, 3, 1, 1, bias=False), nn.BatchNorm2d(c), nn.LeakyReLU(0.1)]
        self.f = Sequential(*layers, *more)

    def forward(self, x):
        return x + self.f(x)


class DeepLab(nn.Module):
    def __init__(self):
        super().__init__()
        self.b = Sequential(conv(3, 16, 3, 2), XceptionBlock(16, 32))
        self.p = nn.ModuleList(Separable(32, 16, d) for d in (1, 2, 3))
        self.o = nn.Conv2d(48, 5, 1)

    def forward(self, x):
        f = self.b(x)
        y = self.o(torch.cat([p(f) for p in self.p], 1))
        return F.interpolate(y, size=x.shape[2:], mode="bilinear", align_corners=False)


class LeNet(Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(),
                         nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


OWN = {
    "lenet": LeNet,
    "senet": lambda: Sequential(conv(3, 32, 7, 2), Bottleneck(32, se=True), head(32)),
    "se_resnext": lambda: Sequential(conv(3, 32, 7, 2), Bottleneck(32, 8, True), head(32)),
    "resnet_v2": lambda: Sequential(nn.Conv2d(3, 32, 7, 2, 3), PreActivated(32), PreActivated(32),
                                    nn.BatchNorm2d(32), nn.ReLU(), head(32)),
    "mobilenet_v1": lambda: Sequential(conv(3, 32, 3, 2), conv(32, 32, 3, 1, 32), conv(32, 64, 1),
                                       conv(64, 64, 3, 2, 64), conv(64, 128, 1), head(128)),
    "shufflenet_v1": lambda: Sequential(conv(3, 32, 3, 2), Shuffle(32), Shuffle(32), head(32)),
    "repvgg": lambda: Sequential(conv(3, 32, 3, 2), RepVgg(32), RepVgg(32), head(32)),
    "xception": lambda: Sequential(conv(3, 16, 3, 2), XceptionBlock(16, 32), XceptionBlock(32, 64),
                                   head(64)),
    "xception_deeplab": DeepLab,
    "ghostnet": lambda: Sequential(conv(3, 16, 3, 2), Ghost(16, 32), SqueezeExcite(32), Ghost(32, 64),
                                   head(64)),
    "res2net": lambda: Sequential(conv(3, 32, 3, 2), Res2(32), Res2(32), head(32)),
    "dpn": lambda: Sequential(conv(3, 40, 3, 2), DualPath(32, 8, 8), DualPath(32, 16, 16), head(64)),
    "darknet": lambda: Sequential(conv(3, 32, 3, 2), Dark(32), Dark(32), head(32)),
    "vision_transformer": lambda: torchvision.models.VisionTransformer(32, 8, 2, 4, 32, 64,
                                                                       num_classes=5),
}
TORCHVISION = ["alexnet", "vgg11", "googlenet", "resnet18", "resnext50_32x4d", "mobilenet_v2",
               "mobilenet_v3_small", "regnet_y_400mf", "densenet121", "efficientnet_b0",
               "inception_v3", "shufflenet_v2_x0_5", "squeezenet1_1", "swin_t"]


def main(folder):
    for name in TORCHVISION + list(OWN):
        torch.manual_seed(0)
        size = {"inception_v3": 80}.get(name, 32 if name in OWN or name == "vgg11" else 64)
        if name in OWN:
            model = OWN[name]()
        else:
            aux = {"aux_logits": False, "init_weights": False}
            model = getattr(torchvision.models, name)(
                weights=None, **(aux if name in ("googlenet", "inception_v3") else {}))
        model.eval()
        for module in model.modules():  # statistics other than 0 and 1
            if isinstance(module, nn.BatchNorm2d):
                module.running_mean.normal_(0, 0.05)
                module.running_var.uniform_(0.5, 1.5)
        x = torch.rand(1, 3, size, size)
        with torch.no_grad():
            y = model(x)
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        torch.export.save(torch.export.export(model, (x,)), os.path.join(folder, name, "model.pt2"))
        save_file({"in_0": x, "out_0": y.contiguous()}, os.path.join(folder, name, "io.safetensors"))
        print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
