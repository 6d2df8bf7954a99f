"""References and memory: inputs, buffers and results are released, and calls leak nothing."""

import gc
import sys
import weakref

import numpy as np
import pytest

import scopevm
from conftest import identity


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def test_references_of_inputs_and_buffers(distance):
    session, x, y, _ = distance
    out = np.zeros((3, 1), np.float32)
    counts = lambda: [sys.getrefcount(item) for item in (x, y, out, None)][:3]  # noqa: E731
    before = counts()
    for _ in range(100):
        session(x, y=y)
        session({"x": x, "y": y}, out={"distance": out})
        with pytest.raises(scopevm.Error):
            session(x, y[:2])
        with pytest.raises(scopevm.Error):
            session(x, "text")
        with pytest.raises(scopevm.Error):
            session(x, y, out={"distance": out[:2]})
    assert counts() == before


def test_inputs_are_released_with_strides_and_capsules(compiled):
    class Producer:
        def __init__(self, owner):
            self.owner = owner

        def __dlpack__(self, **_):
            return self.owner.__dlpack__()

    session = scopevm.Session(compiled("sequences"))
    x = np.ones(4, np.float32)
    before = sys.getrefcount(x)
    for given in (x, x[::2], x[::-1], Producer(x), Producer(x[::2])):
        results = session(xs=[given, given], i=0, x=given, o=None)
        del results
    del given
    gc.collect()
    assert sys.getrefcount(x) == before


def test_a_result_has_one_reference(distance):
    session, x, y, _ = distance
    result = session(x, y)
    assert sys.getrefcount(result) == 2
    tensor = result.base.obj
    gone = weakref.ref(result)
    del result
    assert gone() is None
    view = memoryview(tensor)
    capsules = [tensor.__dlpack__(), tensor.__dlpack__(max_version=(1, 0))]
    del tensor
    assert view.nbytes == 12
    live = lambda: sum(pool.live_bytes for pool in session.stats.memory)  # noqa: E731
    assert live() == 12
    del view
    assert live() == 12
    del capsules
    assert live() == 0


def test_memory_does_not_grow_with_calls(compiled, distance):
    session, x, y, expected = distance
    strings = scopevm.Session(compiled("strings"))
    numbers = np.array([1, 2], np.int64)
    stateful = scopevm.Session(compiled("sum"))
    state = scopevm.State(stateful, {"h": "hn"}, {"n": 1})
    scheduled = scopevm.Session(compiled("distance"), scheduler=scopevm.Scheduler(1))

    def some(count):
        for i in range(count):
            session(x, y)
            if i % 10 == 0:
                strings(["a", "b"], numbers)
                stateful(x=x[:1, :2], state=state)
                state.fork()
                try:
                    session(x, y[:2])
                except scopevm.InvalidArgument:
                    pass
                scheduled.submit(x, y).wait()
                session.module.bound(n=3)

    some(10_000)
    gc.collect()
    before = resident_bytes()
    some(100_000)
    gc.collect()
    assert resident_bytes() - before < 2 << 20
    np.testing.assert_allclose(session(x, y), expected, rtol=1e-6)


def test_sessions_and_modules_are_released(compiled):
    module = compiled("digits")
    images = np.zeros((4, 1, 8, 8), np.float32)

    def some(count):
        for _ in range(count):
            session = scopevm.Session(module)
            session(images)
            scopevm.Call(session).run(images)

    some(20)
    gc.collect()
    before = resident_bytes()
    some(300)
    gc.collect()
    assert resident_bytes() - before < 4 << 20


def test_an_input_that_is_a_result_does_not_share_its_bytes():
    session = scopevm.Session(identity("f32"))
    x = np.ones(3, np.float32)
    result = session(x)
    x[:] = 2
    np.testing.assert_array_equal(result, [1, 1, 1])
