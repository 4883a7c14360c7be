"""Small networks of the families in OneFlow-ONNX's tables, as programs of torch.export with their outputs.

    families.py FOLDER [NAME...]

writes FOLDER/NAME/model.pt2 and FOLDER/NAME/io.safetensors, which tests/data/cases/families.tar.xz holds;
weights are random. Those of torchvision are its own with fewer channels and layers, the others are blocks of the
family's kind, put together here. tests/conformance/families_test.cc runs them.
"""
import functools
import importlib
import os
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision
import torchvision.models as models
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


class DoubleConv(Sequential):
    def __init__(self, i, o):
        super().__init__(conv(i, o), conv(o, o))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = DoubleConv(3, 8), DoubleConv(8, 16), DoubleConv(16, 32)
        self.up_b, self.up_a = nn.ConvTranspose2d(32, 16, 2, 2), nn.Upsample(scale_factor=2, mode="nearest")
        self.d, self.e, self.o = DoubleConv(32, 16), DoubleConv(24, 8), nn.Conv2d(8, 2, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.b(F.max_pool2d(a, 2))
        c = self.c(F.max_pool2d(b, 2))
        d = self.d(torch.cat([self.up_b(c), b], 1))
        return self.o(self.e(torch.cat([self.up_a(d), a], 1)))


class AlexNet(Sequential):
    def __init__(self):
        c = nn.Conv2d
        super().__init__(c(3, 8, 11, 4, 2), nn.ReLU(), nn.MaxPool2d(3, 2), c(8, 24, 5, 1, 2), nn.ReLU(),
                         nn.MaxPool2d(3, 2), c(24, 48, 3, 1, 1), nn.ReLU(), c(48, 32, 3, 1, 1), nn.ReLU(),
                         c(32, 32, 3, 1, 1), nn.ReLU(), nn.MaxPool2d(3, 2), nn.AdaptiveAvgPool2d(6), nn.Flatten(),
                         nn.Dropout(), nn.Linear(1152, 64), nn.ReLU(), nn.Dropout(), nn.Linear(64, 10))


def vgg():
    layers = models.vgg.make_layers([8, "M", 16, "M", 32, 32, "M", 32, 32, "M", 32, 32, "M"])
    return Sequential(layers, nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))


def narrow(block, by=8):
    """A block of convolutions with an eighth of the channels."""
    return lambda i, o, **more: block(i if i == 3 else i // by, o // by, **more)


def googlenet():
    m = importlib.import_module("torchvision.models.googlenet")
    inception = lambda *channels: m.Inception(*channels, conv_block=narrow(m.BasicConv2d))
    net = models.GoogLeNet(10, False, init_weights=False,
                           blocks=[narrow(m.BasicConv2d), inception, m.InceptionAux])
    net.fc = nn.Linear(128, 10)
    return net


def inception():
    m = models.inception
    kinds = [m.InceptionA, m.InceptionB, m.InceptionC, m.InceptionD, m.InceptionE]
    blocks = [functools.partial(kind, conv_block=narrow(m.BasicConv2d)) for kind in kinds]
    net = models.Inception3(10, False, init_weights=False,
                            inception_blocks=[narrow(m.BasicConv2d)] + blocks + [m.InceptionAux])
    net.fc = nn.Linear(256, 10)
    return net


def regnet():
    params = models.regnet.BlockParams.from_init_params(depth=6, w_0=16, w_a=16.0, w_m=2.0, group_width=8, se_ratio=0.25)
    return models.regnet.RegNet(params, num_classes=10, stem_width=8)


def efficientnet():
    setting, last = models.efficientnet._efficientnet_conf("efficientnet_b0", width_mult=0.25, depth_mult=0.5)
    return models.EfficientNet(setting, 0.2, num_classes=10, last_channel=last)


def mobilenet_v3():
    setting, last = models.mobilenetv3._mobilenet_v3_conf("mobilenet_v3_small", width_mult=0.25)
    return models.MobileNetV3(setting, last, num_classes=10)


def resnet(block, **more):
    return models.resnet.ResNet(block, [1, 1, 1, 1], num_classes=10, **more)


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
TORCHVISION = {
    "alexnet": AlexNet,
    "vgg11": vgg,
    "googlenet": googlenet,
    "resnet18": lambda: resnet(models.resnet.BasicBlock),
    "resnext50_32x4d": lambda: resnet(models.resnet.Bottleneck, groups=32, width_per_group=1),
    "mobilenet_v2": lambda: models.MobileNetV2(10, 0.25),
    "mobilenet_v3_small": mobilenet_v3,
    "regnet_y_400mf": regnet,
    "densenet121": lambda: models.DenseNet(8, (2, 2, 2, 2), 16, num_classes=10),
    "efficientnet_b0": efficientnet,
    "inception_v3": inception,
    "shufflenet_v2_x0_5": lambda: models.ShuffleNetV2([1, 2, 1], [8, 16, 32, 64, 64], 10),
    "squeezenet1_1": lambda: models.SqueezeNet("1_1", 10),
    "swin_t": lambda: models.SwinTransformer([4, 4], 24, [2, 2, 2, 2], [2, 2, 4, 4], [7, 7], num_classes=10),
}
OWN["unet"] = UNet


def main(folder, *names):
    for name, make in {**TORCHVISION, **OWN}.items():
        if names and name not in names:
            continue
        torch.manual_seed(0)
        size = {"inception_v3": 80}.get(name, 32 if name in OWN or name == "vgg11" else 64)
        model = make()
        for parameter in model.parameters():  # coarse: the archive is smaller
            steps = 32 if parameter.numel() > 200000 else 256
            parameter.data = torch.round(parameter.data * steps) / steps
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
    main(*sys.argv[1:])
