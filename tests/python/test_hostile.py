"""Arguments that no program should pass: an exception, and never a crash."""

import gc
import itertools
import random
import threading

import numpy as np
import pytest

import scopevm

# numpy.lib.stride_tricks makes arrays that refer to few bytes.
HUGE = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (2 ** 40, 4), (0, 0))
OBJECTS = [
    None, True, 5, -1, 2 ** 100, 1.5, 1j, float("nan"), "", "text", b"", b"abc", bytearray(3),
    [], [[]], [[1, 2], [3]], [None], [object()], (), {}, {"x": 1}, set(), object(), type, len,
    lambda: 0, range(3), iter([1]), memoryview(b"abc"), np.float32(1), np.array(None),
    np.zeros(0, np.float32), np.zeros((0, 4), np.float32), np.zeros((3, 0), np.float32),
    np.zeros((3, 4)), np.zeros((3, 4), "f4")[::-1, ::-1], np.zeros((3, 4), ">f4"),
    np.zeros((3, 4), np.complex64), np.zeros(3, [("a", "f4"), ("b", "i8")]), np.zeros(3, "M8[s]"),
    np.zeros((3, 4), object), np.array(["a", "b"]), np.zeros((1,) * 32, np.float32), HUGE,
    HUGE[:0], np.zeros((3, 4), np.longdouble), np.zeros(3, "V12"), np.zeros((4, 3), np.float32).T,
    memoryview(np.zeros((3, 4), np.float32)), memoryview(b"abcd" * 4).cast("f"),
    np.ma.masked_array(np.zeros((3, 4), np.float32)), np.matrix([[1.0, 2.0]]), ValueError("a"),
]
EXPECTED = (scopevm.Error, TypeError, ValueError, OverflowError, BufferError, AttributeError)


@pytest.mark.parametrize("name", ["distance", "strings", "sequences", "loop"])
def test_any_object_as_an_input(compiled, name):
    module = compiled(name)
    session = scopevm.Session(module)
    raised = 0
    for value in OBJECTS:
        for arguments in ((value,), (value,) * len(module.inputs)):
            try:
                session(*arguments, timeout=5)
            except EXPECTED:
                raised += 1
        for value_info in module.inputs:
            with pytest.raises(EXPECTED):
                session({value_info.name: value})
    assert raised > len(OBJECTS)


def test_any_object_as_an_option(distance):
    session, x, y, expected = distance
    raised = 0
    for value in OBJECTS:
        for option in ("out", "state", "timeout", "request_id", "unknown"):
            try:
                session(x, y, **{option: value})
            except EXPECTED:
                raised += 1
        try:
            session(x, y, out={"distance": value})
        except EXPECTED:
            raised += 1
        try:
            session(x, y, out={value: x} if value.__hash__ else None)
        except EXPECTED:
            raised += 1
    assert raised > 5 * len(OBJECTS)
    np.testing.assert_allclose(session(x, y), expected, rtol=1e-6)


def test_any_object_for_the_other_functions(compiled, distance):
    module, session = compiled("sum"), scopevm.Session(compiled("sum"))
    state = scopevm.State(session, {"h": "hn"}, {"n": 1})
    scheduled = scopevm.Session(compiled("distance"), scheduler=scopevm.Scheduler(1))
    call = scopevm.Call(session)
    raised = 0
    functions = [
        scopevm.Module.load, scopevm.Module.from_bytes, scopevm.Session, scopevm.Call,
        lambda v: scopevm.Module.load("none", public_keys=v),
        lambda v: scopevm.Module.from_bytes(b"", weights=v, signature=v),
        lambda v: scopevm.Session(module, scheduler=v), lambda v: scopevm.Session(module, limits=v),
        lambda v: scopevm.Session(module, devices=v, allocators=v),
        lambda v: scopevm.Session(module, external_libraries=v),
        lambda v: scopevm.State(session, v, v), lambda v: scopevm.State(v),
        lambda v: scopevm.State(session, {"h": "hn"}, {"n": 1}, initial={"h": v}),
        module.bound, module.largest_bound, lambda v: module.bound(n=v),
        lambda v: module.bound(n=1, threads=v), session.reserve, session.warm_up, session.metrics,
        state.value, state.restore, lambda v: state.set_value("h", v),
        lambda v: state.set_value(v, v), lambda v: scopevm.Scheduler(v),
        lambda v: scopevm.Scheduler(1, v), lambda v: scopevm.Scheduler(1, cpus=v),
        call.run, call.wait, lambda v: scheduled.submit(v), lambda v: scheduled.submit(
            distance[1], distance[2], priority=v).wait(5),
        lambda v: scheduled.submit(distance[1], distance[2], budget=v).wait(5),
    ]
    # Functions that take any iterable would iterate over 2**40 rows.
    objects = [value for value in OBJECTS if value is not HUGE]
    for function, value in itertools.product(functions, objects):
        try:
            function(value)
        except (*EXPECTED, KeyError, OSError, MemoryError, NotImplementedError):
            raised += 1
    assert raised > len(functions) * len(OBJECTS) // 2


def test_buffers_that_misbehave(distance):
    session, x, y, expected = distance

    class Reentrant:
        """Calls the session again while its conversion runs."""

        def __array__(self, *_args, **_options):
            np.testing.assert_allclose(session(x, y), expected, rtol=1e-6)
            return y

    np.testing.assert_allclose(session(x, Reentrant()), expected, rtol=1e-6)

    class Failing:
        def __array__(self, *_args, **_options):
            raise KeyError("mine")

    with pytest.raises(scopevm.InvalidArgument, match="mine"):
        session(x, Failing())

    items = {"x": x}

    class Changing:
        def __array__(self, *_args, **_options):
            items.update((str(i), x) for i in range(100))
            return y

    items["y"] = Changing()
    np.testing.assert_allclose(session(items), expected, rtol=1e-6)

    values = bytearray(48)
    view = memoryview(values).cast("f", (3, 4))
    session(view, y)
    view.release()
    values.extend(b"more")  # the call does not keep the buffer
    with pytest.raises(ValueError, match="released"):
        session(view, y)


def test_objects_are_released_in_any_order(compiled):
    random_ = random.Random(1)
    x = np.ones((2, 2), np.float32)
    for _ in range(60):
        scheduler = scopevm.Scheduler(1)
        module = scopevm.compile(b'func.func @main(%x: !sv.tensor<f32[n]> {sv.name = "x"}) -> '
                                 b'(!sv.tensor<f32[n]> {sv.name = "y"}) '
                                 b'{ return %x : !sv.tensor<f32[n]> }', name="a.mlir") \
            if random_.random() < 0.1 else compiled("sum")
        session = scopevm.Session(compiled("sum"), scheduler=scheduler)
        state = scopevm.State(session, {"h": "hn"}, {"n": 2})
        fork = state.fork()
        call = session.submit(x=x, state=state)
        plain = scopevm.Session(compiled("sum"))
        results = plain(x, x)
        items = [scheduler, module, session, state, call, plain, results, results[0].base.obj,
                 fork, scopevm.Call(plain), session.submit(x, x)]
        del scheduler, module, session, state, fork, call, plain, results
        random_.shuffle(items)
        while items:
            items.pop()
        gc.collect()


def test_a_cycle_with_a_call_is_broken_at_its_end(compiled):
    session = scopevm.Session(compiled("distance"), scheduler=scopevm.Scheduler(1))
    x = np.ones((2, 4), np.float32)
    ended = threading.Event()
    again = []

    def done(call):
        if len(again) < 50:
            again.append(call)
            call.submit(x, x, done=done)
        else:
            ended.set()

    session.submit(x, x, done=done)
    assert ended.wait(60) and len(again) == 50


def test_huge_dims(compiled):
    session = scopevm.Session(compiled("distance"))
    for shape in ((2 ** 40, 4), (2 ** 62, 4), (2 ** 31 + 1, 4)):
        try:
            given = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), shape, (0, 0))
        except ValueError:
            continue
        with pytest.raises((scopevm.Error, MemoryError)):
            session(given, given)
