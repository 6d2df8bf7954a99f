"""Further forms of Optimum: scaled dot product attention of PyTorch with a scale from the shape,
positions computed from the attention mask, dims that are sums, and a loop over experts that gathers
the tokens of each."""
import numpy as np

from graph import FLOAT, INT64
from primitive import Primitive


class Optimum(Primitive):
    def attention_mask(self):
        return self.input("attention_mask", INT64, "batch", "past + length")

    def present(self, layer, part, groups, value):
        self.output(f"present.{layer}.{part}", value, "batch", groups, "past + length",
                    self.sizes.head_width)

    def position_ids(self):
        return self.once("positions", self.positions)

    def positions(self):
        mask = self.attention_mask()
        positions = self.op("Sub", self.op("CumSum", mask, np.int64(1)), np.int64(1))
        positions = self.op("Where", self.op("Equal", mask, np.int64(0)), np.int64(1), positions)
        first = self.op("Neg", self.shape(self.dim(self.ids(), 1)))
        return self.op("Slice", positions, first, self.integers(2 ** 63 - 1), self.integers(1))

    def root_of_scale(self, heads):
        width = self.op("Slice", self.op("Shape", heads), self.integers(-1),
                        self.integers(2 ** 63 - 1))
        root = self.op("Sqrt", self.op("Cast", width, to=FLOAT))
        return self.op("Sqrt", self.op("Div", np.ones(1, np.float32), root))

    def scores(self, query, key, content, mask):
        transposed = self.op("Transpose", key, perm=[0, 1, 3, 2])
        scores = self.op("MatMul", self.mul(query, self.root_of_scale(query)),
                         self.mul(transposed, self.root_of_scale(query)))
        if mask:
            total = self.shape(self.dim(key, 2))
            scores = self.add(scores, self.op("Slice", mask, self.integers(0), total,
                                              self.integers(3), self.integers(1)))
        weights = self.op("Softmax", scores, axis=-1)
        weights = self.op("Where", self.op("IsNaN", weights), np.float32(0), weights)
        context = self.op("Transpose", self.op("MatMul", weights, content), perm=[0, 2, 1, 3])
        return self.reshape(context, self.dim(context, 0), self.dim(context, 1), -1)

    def mixture(self, value, scores, name):
        sizes = self.sizes
        rows = self.reshape(value, -1, sizes.width)
        shares = self.op("Softmax", self.reshape(scores, -1, sizes.experts), axis=-1)
        best, experts = self.op("TopK", shares, self.integers(sizes.experts_per_token), axis=-1,
                                outputs=2)
        best = self.op("Div", best, self.op("ReduceSum", best, self.integers(-1), keepdims=1))
        chosen = self.op("OneHot", experts, np.int64(sizes.experts), self.integers(0, 1), axis=-1)
        chosen = self.op("Transpose", chosen, perm=[2, 1, 0])
        result = self.op("ConstantOfShape", self.op("Shape", rows))
        for expert in range(sizes.experts):
            indices = self.op("NonZero", self.op("Gather", chosen, np.int64(expert), axis=0))
            ranks, tokens = self.op("Split", self.op("Transpose", indices, perm=[1, 0]),
                                    self.integers(1, 1), axis=1, outputs=2)
            taken = self.op("Gather", rows, self.op("Squeeze", tokens, self.integers(1)), axis=0)
            first = self.linear(taken, f"{name}.experts.{expert}.up", sizes.width, sizes.inner)
            second = self.linear(self.silu(first), f"{name}.experts.{expert}.down", sizes.inner,
                                 sizes.width)
            share = self.op("GatherND", best, self.op("Concat", tokens, ranks, axis=1))
            second = self.mul(second, self.op("Unsqueeze", share, self.integers(1)))
            result = self.op("ScatterND", result, tokens, second, reduction="add")
        return self.op("Reshape", result, self.op("Shape", value))
