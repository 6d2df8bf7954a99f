"""MobileNetV2 and ResNet-50 for 224x224 images, with a dynamic batch and separate
BatchNormalization nodes.

Weights are random. The running statistics of each BatchNormalization are derived from the weights
before it, so that activations have the magnitude that they would have in a trained network.
"""
import numpy as np

from graph_builder import FLOAT, GraphBuilder


class ConvNet(GraphBuilder):
    """A GraphBuilder with the layers of image networks. Before an activation, values are assumed to
    be normal with mean 0 and standard deviation `scale`, a parameter of conv_norm(). After a ReLU,
    their mean is then 0.4 * scale and their variance 0.34 * scale ** 2."""

    def conv_norm(self, value, name, channels_in, channels_out, kernel, stride=1, groups=1,
                  rectified=True, scale=1.0, gamma=1.0):
        fan_in = channels_in // groups * kernel * kernel
        shape = (channels_out, channels_in // groups, kernel, kernel)
        weights = self.random.standard_normal(shape, dtype=np.float32) * np.float32(fan_in ** -0.5)
        conv = self.op("Conv", value, self.initializer(f"{name}.weight", weights),
                       dilations=[1, 1], group=groups, kernel_shape=[kernel, kernel],
                       pads=[kernel // 2] * 4, strides=[stride, stride])
        mean, variance = (0.4, 0.34) if rectified else (0.0, 1.0)
        rows = weights.reshape(channels_out, -1)
        running_mean = rows.sum(axis=1) * np.float32(mean * scale)
        running_var = (rows ** 2).sum(axis=1) * np.float32(variance * scale ** 2) + np.float32(0.02)
        multiplier = self.normal(f"{name}.bn.weight", (channels_out,), 0.1 * gamma, gamma)
        shift = self.normal(f"{name}.bn.bias", (channels_out,), 0.1)
        return self.op("BatchNormalization", conv, multiplier, shift,
                       self.initializer(f"{name}.bn.running_mean", running_mean),
                       self.initializer(f"{name}.bn.running_var", running_var),
                       epsilon=1e-5, momentum=0.9)

    def relu6(self, value):
        return self.op("Clip", value, self.constant(0.0), self.constant(6.0))

    def classifier(self, value, features):
        pooled = self.op("GlobalAveragePool", value)
        flat = self.op("Flatten", pooled, axis=1)
        weight = self.normal("classifier.weight", (1000, features), features ** -0.5)
        bias = self.normal("classifier.bias", (1000,), 0.1)
        logits = self.op("Gemm", flat, weight, bias, alpha=1.0, beta=1.0, transB=1)
        self.output("output", logits, FLOAT, ["batch", 1000])


def mobilenet_v2():
    net = ConvNet("mobilenet_v2", opset=12, seed=1)
    value = net.input("input", FLOAT, ["batch", 3, 224, 224])
    value = net.relu6(net.conv_norm(value, "features.0", 3, 32, 3, stride=2, rectified=False))
    channels = 32
    # Expansion, output channels, number of blocks, stride of the first block: table 2 of the
    # MobileNetV2 paper.
    table = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
             (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    index = 1
    for expansion, out, repeats, first_stride in table:
        for repeat in range(repeats):
            stride = first_stride if repeat == 0 else 1
            name, hidden, branch = f"features.{index}", channels * expansion, value
            if expansion != 1:
                branch = net.relu6(net.conv_norm(branch, f"{name}.expand", channels, hidden, 1,
                                                 rectified=False))
            branch = net.relu6(net.conv_norm(branch, f"{name}.depthwise", hidden, hidden, 3,
                                             stride=stride, groups=hidden))
            residual = stride == 1 and channels == out
            branch = net.conv_norm(branch, f"{name}.project", hidden, out, 1,
                                   gamma=0.5 if residual else 1.0)
            value = net.op("Add", value, branch) if residual else branch
            channels = out
            index += 1
    value = net.relu6(net.conv_norm(value, f"features.{index}", 320, 1280, 1, rectified=False))
    net.classifier(value, 1280)
    return net.model()


def resnet50():
    net = ConvNet("resnet50", opset=11, seed=2)
    value = net.input("input", FLOAT, ["batch", 3, 224, 224])
    value = net.conv_norm(value, "conv1", 3, 64, 7, stride=2, rectified=False)
    value = net.op("Relu", value)
    value = net.op("MaxPool", value, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
    channels, scale = 64, 1.5  # max pooling increases the magnitude of values
    for stage, (width, blocks) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
        for block in range(blocks):
            name = f"layer{stage + 1}.{block}"
            stride = 2 if stage > 0 and block == 0 else 1
            branch = net.op("Relu", net.conv_norm(value, f"{name}.conv1", channels, width, 1,
                                                  scale=scale))
            branch = net.op("Relu", net.conv_norm(branch, f"{name}.conv2", width, width, 3,
                                                  stride=stride))
            branch = net.conv_norm(branch, f"{name}.conv3", width, 4 * width, 1, gamma=0.5)
            shortcut = value
            if block == 0:
                shortcut = net.conv_norm(value, f"{name}.downsample", channels, 4 * width, 1,
                                         stride=stride, scale=scale)
                scale = 1.0
            scale = (scale ** 2 + 0.25) ** 0.5
            value = net.op("Relu", net.op("Add", branch, shortcut))
            channels = 4 * width
    net.classifier(value, 2048)
    return net.model()
