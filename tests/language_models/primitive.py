"""The spelling of the PyTorch exporter and Optimum: operators of opset 17, none of which is an
attention, a rotary embedding or an RMS norm."""
import numpy as np

from graph import FLOAT, INT64, Graph, onnx_file

LOWEST = np.finfo(np.float32).min


class Primitive(Graph):
    # With packed caches, the next row of a sequence follows its last one. Else it follows the
    # longest sequence's, and the attention mask has zeros.
    is_packed = False
    has_data_dependent_results = False
    cache_length = 0  # of the caches before the first step
    concatenates_caches = True  # Concat of a cache and the new rows

    def __init__(self, sizes, weights, opset=17):
        super().__init__(opset, weights)
        self.sizes = sizes
        self.cached = {}  # values that all layers share

    def write(self, network):
        """Adds the network to the graph."""
        network(self, self.sizes)

    def once(self, key, make):
        if key not in self.cached:
            self.cached[key] = make()
        return self.cached[key]

    # Inputs.

    def ids(self):
        return self.input("input_ids", INT64, "batch", "length")

    def position_ids(self):
        return self.input("position_ids", INT64, "batch", "length")

    def attention_mask(self):
        return self.input("attention_mask", INT64, "batch", "total")

    def past(self, layer, part, groups):
        return self.input(f"past_key_values.{layer}.{part}", FLOAT, "batch", groups, "past",
                          self.sizes.head_width)

    def present(self, layer, part, groups, value):
        self.output(f"present.{layer}.{part}", value, "batch", groups, "total",
                    self.sizes.head_width)

    def states(self):
        return self.input("encoder_hidden_states", FLOAT, "batch", "states", self.sizes.width)

    def features(self):
        return self.input("input_features", FLOAT, "batch", self.sizes.features, "frames")

    def pixels(self):
        return self.input("pixel_values", FLOAT, "batch", 3, self.sizes.image, self.sizes.image)

    def token_types(self):
        return self.input("token_type_ids", INT64, "batch", "length")

    def padding_mask(self):
        return self.input("attention_mask", INT64, "batch", "length")

    def result(self, name, value, *dims):
        self.output(name, value, *dims)

    # Layers.

    def weight(self, name, array):
        return self.initializer(name, array)

    def embedding(self, name, ids, rows):
        return self.op("Gather", self.table(name, rows), ids)

    def linear(self, value, name, fan_in, fan_out, bias=False):
        matrix = self.weights.matrix(f"{name}.weight", fan_in, fan_out)
        product = self.op("MatMul", value, self.weight(f"{name}.weight", matrix))
        return self.add(self.bias(name, fan_out), product) if bias else product

    def scale(self, name):
        return self.weight(f"{name}.weight", self.weights.scale(f"{name}.weight", self.sizes.width))

    def bias(self, name, width):
        return self.weight(f"{name}.bias", self.weights.bias(f"{name}.bias", width))

    def rms_norm(self, value, name):
        square = self.op("Pow", value, np.float32(2))
        mean = self.op("ReduceMean", square, axes=[-1])
        deviation = self.op("Sqrt", self.op("Add", mean, np.float32(1e-5)))
        return self.mul(self.scale(name),
                        self.mul(value, self.op("Div", np.float32(1), deviation)))

    def skip_rms_norm(self, value, other, name):
        total = self.add(value, other)
        return self.rms_norm(total, name), total

    def layer_norm(self, value, name):
        centred = self.op("Sub", value, self.op("ReduceMean", value, axes=[-1]))
        variance = self.op("ReduceMean", self.op("Pow", centred, np.float32(2)), axes=[-1])
        deviation = self.op("Sqrt", self.op("Add", variance, np.float32(1e-5)))
        scaled = self.mul(self.op("Div", centred, deviation), self.scale(name))
        return self.add(scaled, self.bias(name, self.sizes.width))

    def skip_layer_norm(self, value, other, name):
        total = self.add(value, other)
        return self.layer_norm(total, name), total

    def add(self, a, b):
        return self.op("Add", a, b)

    def mul(self, a, b):
        return self.op("Mul", a, b)

    def silu(self, value):
        return self.mul(value, self.op("Sigmoid", value))

    def gelu_tanh(self, value):
        cube = self.mul(self.op("Pow", value, np.float32(3)), np.float32(0.044715))
        inner = self.mul(self.add(value, cube), np.float32(np.sqrt(2 / np.pi)))
        return self.mul(self.mul(np.float32(0.5), value),
                        self.add(self.op("Tanh", inner), np.float32(1)))

    def gelu(self, value):
        root = self.op("Erf", self.op("Div", value, np.float32(np.sqrt(2))))
        return self.mul(self.mul(value, self.add(root, np.float32(1))), np.float32(0.5))

    def transpose(self, value, perm):
        return self.op("Transpose", value, perm=perm)

    def convolution(self, value, name, channels, kernel, strides, pads):
        filters = self.weights.filters(f"{name}.weight", self.sizes.width, channels, kernel)
        return self.op("Conv", value, self.weight(f"{name}.weight", filters),
                       self.bias(name, self.sizes.width), kernel_shape=kernel, strides=strides,
                       pads=pads)

    def table(self, name, rows):
        table = self.weights.normal(f"{name}.weight", (rows, self.sizes.width), 0.7)
        return self.weight(f"{name}.weight", table)

    def add_positions(self, value, name):
        end = self.op("Unsqueeze", self.dim(value, 1), self.integers(0))
        rows = self.op("Slice", self.table(name, self.sizes.positions), self.integers(0), end,
                       self.integers(0))
        return self.add(value, rows)

    def embed_norm(self, name):
        sizes, ids = self.sizes, self.ids()
        value = self.op("Gather", self.table(f"{name}.words", sizes.vocabulary), ids)
        types = self.op("Gather", self.table(f"{name}.types", 2), self.token_types())
        value = self.add_positions(self.add(value, types), f"{name}.positions")
        return self.layer_norm(value, f"{name}.norm")

    def flatten_patches(self, value):
        shape = self.op("Slice", self.op("Shape", value), self.integers(0), self.integers(2))
        return self.op("Reshape", value, self.op("Concat", shape, self.integers(-1), axis=0))

    def with_class_token(self, value):
        token = self.weights.normal("class_token", (1, 1, self.sizes.width), 0.7)
        token = self.op("Expand", self.weight("class_token", token),
                        self.shape(self.dim(value, 0), 1, 1))
        return self.op("Concat", token, value, axis=1)

    def first_row(self, value):
        return self.op("Gather", value, np.int64(0), axis=1)

    # Attention.

    def heads(self, value, count):
        shape = self.shape(self.dim(value, 0), self.dim(value, 1), count, self.sizes.head_width)
        return self.op("Transpose", self.op("Reshape", value, shape), perm=[0, 2, 1, 3])

    def angles(self):
        """The cosine and sine of each position's angles, [batch, 1, length, head_width]."""
        half = self.sizes.head_width // 2
        frequencies = (10000.0 ** (-np.arange(half) / half)).astype(np.float32)[None, :, None]
        ids = self.position_ids()
        shape = self.shape(self.dim(ids, 0), -1, 1)
        # torch.expand exports a size of -1 as that of the operand, which is 1 here.
        ones = self.op("ConstantOfShape", self.op("Shape", shape),
                       value=onnx_file.tensor(self.integers(1)))
        keeps = self.op("Equal", shape, self.mul(ones, np.int64(-1)))
        shape = self.op("Where", keeps, ones, shape)
        rows = self.op("Expand", frequencies, shape)
        positions = self.op("Cast", self.op("Unsqueeze", ids, self.integers(1)), to=FLOAT)
        product = self.op("Transpose", self.op("MatMul", rows, positions), perm=[0, 2, 1])
        angles = self.op("Unsqueeze", self.op("Concat", product, product, axis=-1),
                         self.integers(1))
        return self.op("Cos", angles), self.op("Sin", angles)

    def rotate(self, heads):
        cosine, sine = self.once("angles", self.angles)
        half = self.op("Div", self.dim(heads, 3), np.int64(2))
        half = self.op("Unsqueeze", half, self.integers(0))
        low = self.op("Slice", heads, self.integers(0), half, self.integers(3), self.integers(1))
        high = self.op("Slice", heads, half, self.integers(2 ** 63 - 1), self.integers(3),
                       self.integers(1))
        turned = self.op("Concat", self.op("Neg", high), low, axis=-1)
        return self.add(self.mul(heads, cosine), self.mul(turned, sine))

    def repeat_heads(self, heads, count):
        if count == self.sizes.heads:
            return heads
        batch, length = self.dim(heads, 0), self.dim(heads, 2)
        width, repeats = self.sizes.head_width, self.sizes.heads // count
        wide = self.op("Unsqueeze", heads, self.integers(2))
        wide = self.op("Expand", wide, self.shape(batch, count, repeats, length, width))
        return self.reshape(wide, batch, self.sizes.heads, length, width)

    def causal_mask(self):
        """What is added to the scores, [batch, 1, length, total]."""
        mask, ids = self.attention_mask(), self.ids()
        total, length = self.dim(mask, 1), self.dim(ids, 1)
        full = self.op("ConstantOfShape", self.shape(length, total))
        full = self.add(full, np.float32(LOWEST))
        past = self.op("Sub", total, length)
        columns = self.op("Range", np.int64(0), total, np.int64(1))
        rows = self.op("Range", past, total, np.int64(1))
        later = self.op("Greater", columns, self.reshape(rows, -1, 1))
        upper = self.op("Trilu", full, self.add(past, np.int64(1)), upper=1)
        causal = self.mul(upper, self.op("Cast", later, to=FLOAT))
        causal = self.op("Unsqueeze", causal, self.integers(0, 1))
        causal = self.op("Expand", causal, self.shape(self.dim(ids, 0), 1, length, total))
        padding = self.op("Unsqueeze", mask, self.integers(1, 2))
        padding = self.op("Equal", padding, np.int64(0))
        return self.op("Where", padding, np.float32(LOWEST), causal)

    def rotary_attention(self, query, key, content, layer):
        sizes = self.sizes
        query = self.rotate(self.heads(query, sizes.heads))
        key = self.rotate(self.heads(key, sizes.groups))
        return self.attend(query, key, self.heads(content, sizes.groups), layer, sizes.groups)

    def packed_attention(self, value, name, layer):
        sizes = self.sizes
        joined = self.linear(value, name, sizes.width, 3 * sizes.width, True)
        parts = self.op("Split", joined, self.integers(*[sizes.width] * 3), axis=2, outputs=3)
        return self.attend(*[self.heads(part, sizes.heads) for part in parts], layer, sizes.heads)

    def causal_attention(self, query, key, content, layer):
        heads = [self.heads(part, self.sizes.heads) for part in (query, key, content)]
        return self.attend(*heads, layer, self.sizes.heads)

    def attention_over(self, query, key, content, mask=""):
        return self.scores(*[self.heads(part, self.sizes.heads) for part in (query, key, content)],
                           mask)

    def projected(self, value, name):
        """Query, key and value of an attention of `value` over itself."""
        width = self.sizes.width
        return [self.linear(value, f"{name}.{part}", width, width, True) for part in "qkv"]

    def padding_scores(self):
        mask = self.op("Cast", self.op("Unsqueeze", self.padding_mask(), self.integers(1, 2)),
                       to=FLOAT)
        return self.mul(self.op("Sub", np.float32(1), mask), np.float32(LOWEST))

    def self_attention(self, value, name, masked=False):
        mask = self.once("padding_scores", self.padding_scores) if masked else ""
        return self.attention_over(*self.projected(value, name), mask)

    def attend(self, query, key, content, layer, groups):
        key = self.op("Concat", self.past(layer, "key", groups), key, axis=2)
        content = self.op("Concat", self.past(layer, "value", groups), content, axis=2)
        self.present(layer, "key", groups, key)
        self.present(layer, "value", groups, content)
        mask = self.once("causal_mask", self.causal_mask)
        return self.scores(query, self.repeat_heads(key, groups),
                           self.repeat_heads(content, groups), mask)

    def scores(self, query, key, content, mask):
        scores = self.op("MatMul", query, self.op("Transpose", key, perm=[0, 1, 3, 2]))
        scores = self.op("Div", scores, np.float32(np.sqrt(self.sizes.head_width)))
        if mask:
            scores = self.add(scores, mask)
        weights = self.op("Softmax", scores, axis=-1)
        context = self.op("Transpose", self.op("MatMul", weights, content), perm=[0, 2, 1, 3])
        return self.reshape(context, self.dim(context, 0), self.dim(context, 1), self.sizes.width)

    # Mixture of experts.

    def mixture(self, value, scores, name):
        sizes = self.sizes
        shares = self.op("Softmax", scores, axis=-1)
        best, experts = self.op("TopK", shares, self.integers(sizes.experts_per_token), axis=-1,
                                outputs=2)
        best = self.op("Div", best, self.op("ReduceSum", best, self.integers(-1), keepdims=1))
        result = None
        for expert in range(sizes.experts):
            first = self.linear(value, f"{name}.experts.{expert}.up", sizes.width, sizes.inner)
            second = self.linear(self.silu(first), f"{name}.experts.{expert}.down", sizes.inner,
                                 sizes.width)
            chosen = self.op("Cast", self.op("Equal", experts, np.int64(expert)), to=FLOAT)
            share = self.op("ReduceSum", self.mul(best, chosen), self.integers(-1), keepdims=1)
            part = self.mul(second, share)
            result = self.add(result, part) if result else part
        return result
