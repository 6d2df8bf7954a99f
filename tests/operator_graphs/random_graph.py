"""Random graphs of several operators: nodes that case makers propose, whose inputs are results of
earlier nodes where possible.

A graph is a list of steps. `State` repeats the steps for other sizes of dims; the model must be the
same. Results that depend on small errors of the inputs, such as those of roundings, are refused.
"""
import dataclasses

import numpy as np

import adapt
import onnx_file
from links import is_equal, links
from replay import Differs, Replay, renamed, uniform

_LARGEST = 1e3
_NOISE = 1e-5  # relative error of each result
_MOST_NOISE = 1e-4  # accepted error, as a part of the largest element
_ELEMENTS = 3000


@dataclasses.dataclass
class Value:
    name: str
    array: np.ndarray
    noisy: np.ndarray  # the array with errors


class State:
    """The model and its values for one call. `call` is its number."""

    def __init__(self, seed, call):
        self.seed, self.call = seed, call
        self.nodes, self.values = [], []
        self.inputs, self.constants, self.fixed = {}, {}, set()
        self.opset, self.domains = 18, {}
        self.step = 0

    def name(self, stem):
        return f"{stem}{self.step}_{len(self.nodes) + len(self.inputs) + len(self.constants)}"

    def uniform(self, *numbers, shape=()):
        return uniform((*self.seed, self.step), numbers, shape)

    def constant(self, array):
        name = self.name("c")
        self.constants[name] = np.asarray(array)
        return Value(name, self.constants[name], self.constants[name])

    def input(self, array, is_fixed=False):
        name = self.name("x")
        self.inputs[name] = np.asarray(array)
        if is_fixed:
            self.fixed.add(name)
        return Value(name, self.inputs[name], self.inputs[name])

    def fresh(self, shape, dtype, low, high):
        unit = self.uniform(len(self.inputs), shape=shape)
        if dtype == np.float32:
            return self.input((low + (high - low) * unit).astype(dtype))
        return self.input((low + np.floor((high - low + 1) * unit)).astype(dtype))

    def apply(self, op, operands, function, **attributes):
        """Adds a node of the standard domain. `function` computes its result."""
        name = self.name("v")
        try:
            array, noisy = (np.asarray(function(*arrays)) for arrays in (
                [x.array for x in operands], [x.noisy for x in operands]))
        except ValueError as error:
            raise Differs(str(error)) from error
        self.nodes.append(onnx_file.node(op, [x.name for x in operands], [name],
                                         node_name=f"n{len(self.nodes)}", **attributes))
        return self.with_noise(Value(name, array, noisy))

    def with_noise(self, value):
        if value.array.dtype.kind == "f":
            unit = self.uniform(value.name, shape=value.noisy.shape)
            value.noisy = (value.noisy * (1 + _NOISE * (2 * unit - 1))).astype(value.array.dtype)
        return value

    def version(self, op):
        if op.domain:
            self.domains[op.domain] = max(op.version, self.domains.get(op.domain, 1))
        else:
            self.opset = max(self.opset, op.version)


@dataclasses.dataclass
class Step:
    """A node: the decisions of its case maker, and the adapted values of its linked inputs."""
    op: object
    decisions: list
    free: set  # the positions of decisions that are sizes of dims
    links: list  # (Link, index of the value, plan)
    place: str  # "main", "if" or "loop"


def _arrays(case):
    return {key: np.asarray(array) for key, array in case.inputs.items() if array is not None}


def _signature(case):
    """What the model contains of a case except the dims of its inputs."""
    arrays = _arrays(case)
    return (sorted(case.attributes.items(), key=lambda item: item[0]),
            [(key, array.ndim, array.dtype) for key, array in arrays.items()],
            [(key, arrays[key].shape, arrays[key].tobytes()) for key in case.constants
             if key in arrays and arrays[key].dtype != object],
            [result is None for result in case.results])


def _generate(op, *args, **kwargs):
    draw = Replay(*args, **kwargs)
    try:
        with np.errstate(all="ignore"):
            return op.generate(draw), draw
    except (ValueError, IndexError, ZeroDivisionError, AssertionError, OverflowError) as error:
        raise Differs(str(error)) from error


def _free_decisions(op, seed, sizes, decisions, case):
    wanted, free = _signature(case), set()
    numbers = [at for at, (kind, _, low, high) in enumerate(decisions)
               if kind == "number" and low < high]
    # Trees make thousands of decisions; those on dims are the first or the last.
    for at in sorted({*numbers[:12], *numbers[-6:]}):
        kind, value, low, high = decisions[at]
        other = value + 1 if value < high else value - 1
        changed = [*decisions]
        changed[at] = (kind, other, low, high)
        try:
            found, _ = _generate(op, seed, sizes, changed)
        except Differs:
            continue
        if _signature(found) == wanted:
            free.add(at)
    return free


def _is_accepted(array):
    if array.size > _ELEMENTS:
        return False
    return array.dtype.kind != "f" or bool(
        np.isfinite(array).all() and (np.abs(array) < _LARGEST).all())


def _is_stable(array, noisy):
    if array.shape != noisy.shape:
        return False
    if array.dtype.kind != "f":
        return is_equal(array, noisy)
    largest = np.abs(array).max(initial=0)
    return bool((np.abs(array - noisy) <= _MOST_NOISE * largest + 1e-7).all())


def run_step(state, step, sizes):
    """Adds a step to the state. `sizes` renames sizes of dims."""
    state.step += 1
    seed = (*state.seed, state.step)
    decisions = renamed(step.decisions, step.free, sizes)
    dry, draw = _generate(step.op, seed, (), decisions)
    given, noisy, wired = {}, {}, {}
    for link, index, plan in step.links:
        shape = draw.arrays[link.position][0].shape
        wanted = np.asarray(dry.inputs[link.key])
        value = adapt.adapt(state, state.values[index], wanted.shape, wanted.dtype, link.low,
                            link.high, plan)
        if value.array.size != np.prod(shape, dtype=int):
            raise Differs("the drawn array has another size")
        given[link.position] = link.drawn(value.array, shape)
        noisy[link.position] = link.drawn(value.noisy, shape)
        wired[link.key] = value
    case, _ = _generate(step.op, seed, (), decisions, given)
    with_noise, _ = _generate(step.op, seed, (), decisions, noisy)
    for key, value in wired.items():
        if not (is_equal(np.asarray(case.inputs[key]), value.array) and
                is_equal(np.asarray(with_noise.inputs[key]), value.noisy)):
            raise Differs("an input is computed from the drawn array")
    return _add_node(state, step, case, with_noise, wired)


def _add_node(state, step, case, with_noise, wired):
    operands = []
    for key, array in case.inputs.items():
        if array is None:
            operands.append("")
        elif key in wired:
            operands.append(wired[key].name)
        elif key in case.constants:
            operands.append(state.constant(array).name)
        else:
            operands.append(state.input(array, key in case.fixed).name)
    while operands and not operands[-1]:
        operands.pop()
    results = [None if result is None else Value(state.name(f"r{i}_"), np.asarray(result),
                                                 np.asarray(noise))
               for i, (result, noise) in enumerate(zip(case.results, with_noise.results))]
    attributes = dict(case.attributes)
    op = attributes.pop("op", step.op.name)
    outputs = ["" if value is None else value.name for value in results]
    while outputs and not outputs[-1]:
        outputs.pop()

    def node(names):
        return onnx_file.node(op, operands, names, step.op.domain,
                              node_name=f"n{len(state.nodes)}", **attributes)
    values = [value for value in results if value is not None]
    if step.place == "if":
        values = _in_branch(state, node, outputs, values)
    elif step.place == "loop":
        values = _in_loop(state, node, outputs, values)
    else:
        state.nodes.append(node(outputs))
    state.version(step.op)
    for value in values:
        if value.array.dtype != object and not _is_accepted(value.array):
            raise Differs("large elements")
        if value.array.dtype != object and not _is_stable(value.array, value.noisy):
            raise Differs("depends on small errors")
        state.with_noise(value)
    state.values += values
    return values


def _inner(outputs):
    return [name and f"{name}_inner" for name in outputs]


def _types(values, suffix):
    return [onnx_file.value_info(value.name + suffix, onnx_file.tensor_type(value.array),
                                 [None] * value.array.ndim) for value in values]


def _scaled(value, factor):
    """The value times the factor. Only floats change."""
    arrays = [value.array, value.noisy]
    if value.array.dtype == np.float32:
        arrays = [array * np.float32(factor) for array in arrays]
    return Value(value.name, *arrays)


def _in_branch(state, node, outputs, values):
    """An If whose other branch negates the floats."""
    condition = np.asarray(state.uniform("condition", state.call) < 0.5)
    ends = [onnx_file.node("Neg" if value.array.dtype == np.float32 else "Identity",
                           [value.name + "_inner"], [value.name + "_other"]) for value in values]
    then = onnx_file.graph([node(_inner(outputs))], "then", [], _types(values, "_inner"))
    other = onnx_file.graph([node(_inner(outputs)), *ends], "else", [], _types(values, "_other"))
    flag = state.input(condition)
    state.nodes.append(onnx_file.node("If", [flag.name], [value.name for value in values],
                                      then_branch=then, else_branch=other))
    return [_scaled(value, 1 if condition else -1) for value in values]


def _in_loop(state, node, outputs, values):
    """A Loop that gathers the results, floats times 1, 2, ..."""
    trips = 1 + int(3 * state.uniform("trips", state.call))
    body, gathered = [node(_inner(outputs))], []
    prefix = state.name("l")
    count, keep = f"{prefix}_i", f"{prefix}_keep"
    body.append(onnx_file.node("Identity", [keep], [keep + "_out"]))
    one = onnx_file.tensor(np.float32(1))
    body += [onnx_file.node("Cast", [count], [count + "_cast"], to=onnx_file.FLOAT),
             onnx_file.node("Constant", [], [count + "_one"], value=one),
             onnx_file.node("Add", [count + "_cast", count + "_one"], [count + "_real"])]
    for value in values:
        is_real = value.array.dtype == np.float32
        body.append(onnx_file.node("Mul" if is_real else "Identity",
                                   [value.name + "_inner"] + [count + "_real"] * is_real,
                                   [value.name + "_row"]))
        rows = [_scaled(value, i + 1) for i in range(trips)]
        gathered.append(Value(value.name, np.stack([row.array for row in rows]),
                              np.stack([row.noisy for row in rows])))
    graph = onnx_file.graph(
        body, "body",
        [onnx_file.value_info(count, onnx_file.INT64, []), onnx_file.value_info(keep, 9, [])],
        [onnx_file.value_info(keep + "_out", 9, []), *_types(values, "_row")])
    trip_count = state.input(np.asarray(trips))
    state.nodes.append(onnx_file.node("Loop", [trip_count.name, ""],
                                      [value.name for value in gathered], body=graph))
    return gathered


# --- Making steps. --------------------------------------------------------------------------------


class Builder:
    """Proposes steps until a graph has enough nodes."""

    def __init__(self, seed, operators):
        self._operators = operators
        self._rng = np.random.default_rng(seed)
        self._seed = (seed,)
        self.sizes = [int(size) for size in self._rng.choice(np.arange(1, 7), 3, replace=False)]
        self.steps, self.state = [], State(self._seed, 0)

    def _flag(self, chance):
        return self._rng.random() < chance

    def _pick(self, weighted):
        weights = np.array([weight for _, weight in weighted], float)
        return weighted[int(self._rng.choice(len(weighted), p=weights / weights.sum()))][0]

    def _wire(self, array):
        """The index of a random value and how to adapt its shape, or None."""
        options = []
        for index, value in enumerate(self.state.values):
            # Late values first, so that graphs are deep.
            recent = 1.5**min(index, 30)
            for plan, weight in adapt.plans(value, array.shape, array.dtype):
                options.append(((index, plan), weight * recent))
        return self._pick(options) if options else None

    def propose(self):
        op = self._operators[int(self._rng.integers(len(self._operators)))]
        seed = (*self._seed, len(self.steps) + 1)
        case, draw = _generate(op, (*seed, int(self._rng.integers(1 << 30))), self.sizes)
        decisions = draw.decisions
        case, draw = _generate(op, seed, (), decisions)
        free = _free_decisions(op, seed, (), decisions, case)
        chosen = []
        for link in links(case, draw.arrays):
            array = np.asarray(case.inputs[link.key])
            if self._flag(0.85) and (wire := self._wire(array)):
                chosen.append((link, wire[0], wire[1]))
        if self.steps and not chosen:
            raise Differs("no input is a value of the graph")
        place = self._pick([("main", 16), ("if", 1), ("loop", 1)])
        return op, decisions, free, chosen, place

    def try_step(self):
        """Adds a step if a proposal fits. Inputs out of range are limited."""
        op, decisions, free, chosen, place = self.propose()
        for how in ("none", "clip", "sigmoid"):
            if how == "clip" and self._flag(0.5):
                continue
            step = Step(op, decisions, free, [(link, index, (plan, how))
                                              for link, index, plan in chosen], place)
            state = self._copy()
            try:
                run_step(state, step, {})
            except Differs as error:
                if str(error) != "out of range":
                    raise
                continue
            self.state = state
            self.steps.append(step)
            return

    def _copy(self):
        state = State(self._seed, 0)
        for name in ("nodes", "values", "inputs", "constants", "fixed", "domains"):
            setattr(state, name, getattr(self.state, name).copy())
        state.opset, state.step = self.state.opset, self.state.step
        return state

    def build(self, least, most):
        wanted = int(self._rng.integers(least, most + 1))
        for _ in range(40 * wanted):
            if len(self.steps) == wanted:
                break
            try:
                self.try_step()
            except Differs:
                pass

    def repeated(self, call):
        """The state for other sizes of dims, or None."""
        fresh = self._rng.permutation(np.arange(1, 8))
        sizes = {size: int(fresh[size]) for size in range(1, 7)}
        state = State(self._seed, call)
        try:
            for step in self.steps:
                run_step(state, step, sizes)
        except Differs:
            return None
        constants = self.state.constants
        if state.nodes != self.state.nodes or state.constants.keys() != constants.keys():
            return None
        is_same = all(is_equal(array, constants[key]) for key, array in state.constants.items())
        return state if is_same else None
