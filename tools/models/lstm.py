"""A two-layer LSTM with 300 features and 512 hidden units, in two forms with the same weights: as
LSTM ops and as a Loop over time.

Layout of the LSTM op: x[length,batch,300], gates in the order input, output, forget, cell.
"""
import numpy as np
from onnx import TensorProto, helper

from graph_builder import BOOL, FLOAT, INT64, GraphBuilder

FEATURES = 300
HIDDEN = 512
LAYERS = 2


def weights(net):
    """Returns W[1,4h,in], R[1,4h,h] and B[1,8h] of each layer, where h is HIDDEN and `in` is the
    number of the layer's inputs. Both forms generate the same numbers."""
    result = []
    for layer in range(LAYERS):
        fan_in = FEATURES if layer == 0 else HIDDEN
        draw = lambda shape, std: net.random.standard_normal(shape, dtype=np.float32) * np.float32(std)
        result.append((draw((1, 4 * HIDDEN, fan_in), fan_in ** -0.5),
                       draw((1, 4 * HIDDEN, HIDDEN), HIDDEN ** -0.5),
                       draw((1, 8 * HIDDEN), 0.1)))
    return result


def lstm_inputs(net):
    x = net.input("x", FLOAT, ["length", "batch", FEATURES])
    h0 = net.input("h0", FLOAT, [LAYERS, "batch", HIDDEN])
    c0 = net.input("c0", FLOAT, [LAYERS, "batch", HIDDEN])
    return x, h0, c0


def lstm_outputs(net, y, h, c):
    net.output("y", y, FLOAT, ["length", "batch", HIDDEN])
    net.output("h", h, FLOAT, [LAYERS, "batch", HIDDEN])
    net.output("c", c, FLOAT, [LAYERS, "batch", HIDDEN])


def lstm_op():
    net = GraphBuilder("lstm_op", opset=13, seed=6)
    value, h0, c0 = lstm_inputs(net)
    last_h, last_c = [], []
    for layer, (w, r, b) in enumerate(weights(net)):
        at = lambda state: net.op("Slice", state, net.constant([layer], np.int64),
                                  net.constant([layer + 1], np.int64),
                                  net.constant([0], np.int64))
        y, h, c = net.op("LSTM", value, net.initializer(f"lstm.{layer}.W", w),
                         net.initializer(f"lstm.{layer}.R", r),
                         net.initializer(f"lstm.{layer}.B", b), "", at(h0), at(c0), outputs=3,
                         hidden_size=HIDDEN)
        value = net.squeeze(y, 1)
        last_h.append(h)
        last_c.append(c)
    lstm_outputs(net, value, net.op("Concat", *last_h, axis=0), net.op("Concat", *last_c, axis=0))
    return net.model()


def cell(body, x, h, c, wx, wh, bias):
    """One step of one layer: gates from two products, then the state update."""
    gates = body.op("Add", body.op("MatMul", x, wx), body.op("MatMul", h, wh))
    gates = body.op("Add", gates, bias)
    i, o, f, g = body.split(gates, [HIDDEN] * 4, axis=1)
    kept = body.op("Mul", body.op("Sigmoid", f), c)
    new_c = body.op("Add", kept, body.op("Mul", body.op("Sigmoid", i), body.op("Tanh", g)))
    return body.op("Mul", body.op("Sigmoid", o), body.op("Tanh", new_c)), new_c


def loop_body(layer_weights):
    """Returns the body of the Loop. Its inputs are the step, the condition, and h and c of each
    layer. Its outputs are the condition, the new h and c of each layer, and y of the step. `x` and
    the weights are values of the enclosing graph."""
    body = GraphBuilder("step", opset=13, seed=0, prefix="step/")
    step = body.input("step", INT64, [])
    going = body.input("going", BOOL, [])
    states = [body.input(f"{kind}{layer}_in", FLOAT, ["batch", HIDDEN])
              for layer in range(LAYERS) for kind in "hc"]
    value = body.op("Gather", "x", step, axis=0)
    results = []
    for layer, (wx, wh, bias) in enumerate(layer_weights):
        h, c = cell(body, value, states[2 * layer], states[2 * layer + 1], wx, wh, bias)
        results += [(f"h{layer}_next", h), (f"c{layer}_next", c)]
        value = h
    body.output("going_next", body.op("Identity", going), BOOL, [])
    y = body.op("Identity", value)
    for name, result in results:
        body.output(name, result, FLOAT, ["batch", HIDDEN])
    body.output("y_step", y, FLOAT, ["batch", HIDDEN])
    return body.graph()


def lstm_loop():
    net = GraphBuilder("lstm_loop", opset=13, seed=6)
    x, h0, c0 = lstm_inputs(net)
    layer_weights = []
    for layer, (w, r, b) in enumerate(weights(net)):
        layer_weights.append((net.initializer(f"lstm.{layer}.Wx", w[0].T),
                              net.initializer(f"lstm.{layer}.Wh", r[0].T),
                              net.initializer(f"lstm.{layer}.b",
                                              b[0, :4 * HIDDEN] + b[0, 4 * HIDDEN:])))
    first = [net.op("Gather", state, net.constant(layer, np.int64), axis=0)
             for layer in range(LAYERS) for state in (h0, c0)]
    length = net.dim(x, 0)
    results = net.op("Loop", length, net.constant(True, np.bool_), *first,
                     outputs=2 * LAYERS + 1, body=loop_body(layer_weights))
    stack = lambda values: net.op("Concat", *[net.unsqueeze(v, 0) for v in values], axis=0)
    lstm_outputs(net, results[-1], stack(results[0:-1:2]), stack(results[1:-1:2]))
    return net.model()
