"""Calls of a session: arguments, results, buffers, options and statistics."""

import copy
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import scopevm
from conftest import MODELS


def test_inputs_by_position_by_name_and_in_a_dict(distance):
    session, x, y, expected = distance
    for result in (session(x, y), session(x, y=y), session(x=x, y=y), session(y=y, x=x),
                   session({"x": x, "y": y}), session({"x": x}, y=y)):
        assert isinstance(result, np.ndarray) and result.dtype == np.float32
        np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_wrong_arguments_name_the_input(distance):
    session, x, y, _ = distance
    with pytest.raises(scopevm.InvalidArgument, match='missing input "y"') as caught:
        session(x)
    assert caught.value.subject == "y"
    with pytest.raises(scopevm.NotFound, match='"yy"; did you mean "y"'):
        session(x, yy=y)
    with pytest.raises(TypeError, match='input "x" has two values'):
        session(x, y, x=x)
    with pytest.raises(TypeError, match="the module has 2 inputs, given 3"):
        session(x, y, y)
    with pytest.raises(TypeError, match="names of inputs are strings"):
        session({1: x})
    with pytest.raises(ValueError, match="NUL"):
        session({"x\0": x})
    with pytest.raises(scopevm.InvalidArgument) as caught:
        session(x, y[:2])
    error = caught.value
    assert (error.subject, error.axis, error.expected, error.given) == ("y", 0, "3", "2")
    assert error.code == scopevm.StatusCode.INVALID_ARGUMENT and isinstance(error, ValueError)


def test_a_call_after_a_failed_one_is_not_affected(distance):
    session, x, y, expected = distance
    for wrong in ((x,), (x, y, y), (x, "text"), (x, y[:, :2])):
        with pytest.raises((scopevm.Error, TypeError)):
            session(*wrong)
        with pytest.raises(scopevm.Error, match='missing input "x"'):
            session(y=y)  # no input of the earlier call is left
        np.testing.assert_allclose(session(x, y), expected, rtol=1e-6)


def test_results_share_the_memory_of_the_module(distance):
    session, x, y, expected = distance
    results = [session(x, y) for _ in range(3)]
    assert len({result.ctypes.data for result in results}) == 3
    assert all(result.flags.writeable and result.flags.c_contiguous for result in results)
    assert isinstance(results[0].base.obj, scopevm.Tensor)
    live = next(pool for pool in session.stats.memory if pool.scope == "global").live_bytes
    assert live == 3 * expected.nbytes
    results[0][:] = 0
    np.testing.assert_allclose(results[1], expected, rtol=1e-6)
    del results
    assert all(pool.live_bytes == 0 for pool in session.stats.memory)


def test_results_outlive_the_session(compiled):
    session = scopevm.Session(compiled("distance"))
    x = np.ones((100, 4), np.float32)
    result = session(x, 2 * x)
    view = result[10:20]
    del session, result
    np.testing.assert_array_equal(view, np.full((10, 1), 2, np.float32))


def test_several_results_are_a_tuple_with_names(compiled):
    session = scopevm.Session(compiled("sum"))
    x, h = np.full((1, 2), 3, np.float32), np.ones((1, 2), np.float32)
    results = session(x, h)
    y, hn = results
    assert isinstance(results, scopevm.Results) and isinstance(results, tuple)
    assert results.names == results.keys() == ("y", "hn")
    assert results["hn"] is results.hn is results[1] is hn
    assert list(results.as_dict()) == ["y", "hn"] and results.as_dict()["y"] is y
    np.testing.assert_array_equal(y, [[16, 16]])
    assert repr(results).startswith("Results(y=array(") and "hn" in dir(results)
    with pytest.raises(KeyError, match="y, hn"):
        results["z"]
    with pytest.raises(AttributeError, match="y, hn"):
        results.z
    for other in (copy.copy(results), copy.deepcopy(results), pickle.loads(pickle.dumps(results))):
        assert other.names == ("y", "hn")
        np.testing.assert_array_equal(other.hn, hn)


def test_output_buffers(distance, compiled):
    session, x, y, expected = distance
    out = np.full((3, 1), 7, np.float32)
    assert session(x, y, out={"distance": out}) is out
    np.testing.assert_allclose(out, expected, rtol=1e-6)
    assert session(x, y) is not out  # the buffer is that of one call
    raw = bytearray(12)
    view = memoryview(raw).cast("f", (3, 1))
    assert session(x, y, out={"distance": view}) is view
    np.testing.assert_allclose(view, expected, rtol=1e-6)
    both = scopevm.Session(compiled("sum"))
    hn = np.zeros((1, 2), np.float32)
    results = both(x[:1, :2], x[:1, :2], out={"hn": hn})
    assert results.hn is hn and results.y is not hn
    result = both(x[:1, :2], x[:1, :2], out=None)
    np.testing.assert_array_equal(result.hn, hn)


def test_buffers_that_do_not_fit(distance):
    session, x, y, _ = distance
    read_only = np.zeros((3, 1), np.float32)
    read_only.flags.writeable = False
    for out in (np.zeros((3, 1)), np.zeros((2, 1), np.float32), np.zeros(3, np.float32), read_only,
                bytes(12), np.zeros((6, 1), np.float32)[::2], [1.0, 2.0, 3.0], 5,
                np.zeros((3, 1), object), np.zeros(13, np.uint8)[1:].view("V4").reshape(3, 1)):
        with pytest.raises(scopevm.InvalidArgument, match='"distance"'):
            session(x, y, out={"distance": out})
    with pytest.raises(scopevm.NotFound, match='"distanc"'):
        session(x, y, out={"distanc": read_only})
    for out in (5, [read_only], {5: read_only}):
        with pytest.raises(TypeError):
            session(x, y, out=out)


def test_timeouts(compiled):
    session = scopevm.Session(compiled("loop"))
    one = np.ones(4, np.float32)
    np.testing.assert_array_equal(session(3, one, timeout=60), 4 * one)
    np.testing.assert_array_equal(session(3, one, timeout=float("inf")), 4 * one)
    np.testing.assert_array_equal(session(3, one, timeout=None, request_id=7), 4 * one)
    begin = time.monotonic()
    with pytest.raises(scopevm.DeadlineExceeded) as caught:
        session(2 ** 60, one, timeout=0.05)
    assert isinstance(caught.value, TimeoutError) and time.monotonic() - begin >= 0.05
    for passed in (0, -1):
        with pytest.raises(scopevm.DeadlineExceeded):
            session(2 ** 60, one, timeout=passed)
    with pytest.raises(scopevm.InvalidArgument):
        session(3, one, timeout=float("nan"))
    with pytest.raises(TypeError):
        session(3, one, timeout="1")
    for request_id in (-1, 2 ** 64, "1"):
        with pytest.raises((OverflowError, TypeError)):
            session(3, one, request_id=request_id)


def test_another_thread_cancels_a_call(compiled):
    call = scopevm.Call(scopevm.Session(compiled("loop")))
    one = np.ones(4, np.float32)

    def cancel():
        while not call.is_in_flight:
            time.sleep(0.001)
        call.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(scopevm.Cancelled) as caught:
        call.run(2 ** 60, one)
    thread.join()
    assert caught.value.code == scopevm.StatusCode.CANCELLED
    np.testing.assert_array_equal(call.run(1, one), 2 * one)
    call.cancel()  # the next run
    with pytest.raises(scopevm.Cancelled):
        call.run(1, one)


def test_an_interrupt_ends_a_long_call(compiled):
    session = scopevm.Session(compiled("loop"))
    one = np.ones(4, np.float32)
    before = signal.getsignal(signal.SIGINT)
    for _ in range(3):
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            session(2 ** 60, one)
        timer.join()
        np.testing.assert_array_equal(session(1, one), 2 * one)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_handler_of_the_program_is_called(compiled):
    session = scopevm.Session(compiled("loop"))
    received = []
    before = signal.signal(signal.SIGINT, lambda number, frame: received.append(number))
    try:
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(scopevm.Cancelled):
            session(2 ** 60, np.ones(4, np.float32))
        assert received == [signal.SIGINT]
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.kill(os.getpid(), signal.SIGINT)
        assert session(0, np.ones(1, np.float32)) == 1
    finally:
        signal.signal(signal.SIGINT, before)


def test_statistics_of_a_call(compiled):
    module = compiled("digits")
    call = scopevm.Call(scopevm.Session(module, threads=2))
    images = np.zeros((10, 1, 8, 8), np.float32)
    assert call.stats.latency_ns == 0
    call.run(images)
    stats = call.stats
    assert stats.latency_ns > 0 and stats.function == "main" and stats.copied_input_bytes == 0
    bounds = {(s.device, s.scope): s.bytes for s in module.bound(n=10, threads=2).scopes}
    used = {(u.device, u.scope): u.bound_bytes for u in stats.memory if u.bound_bytes}
    assert used == bounds and stats.copies == ()
    call.run(np.asfortranarray(images)[:, :, ::-1])
    assert call.stats.copied_input_bytes == images.nbytes
    assert call.session.threads == 2 and call.session.module is module


def test_memory_limits_and_allocators(compiled):
    module = compiled("digits")
    images = np.zeros((100, 1, 8, 8), np.float32)
    bound = module.bound(n=100)
    session = scopevm.Session(module, limits={"global.workspace": bound["global.workspace"]},
                              allocators={"global": "pool"})
    session(images)
    small = scopevm.Session(module, limits={"global.workspace": bound["global.workspace"] - 1})
    with pytest.raises(scopevm.ResourceLimit) as caught:
        small(images)
    assert caught.value.code == scopevm.StatusCode.RESOURCE_LIMIT
    small(images[:50])
    session.trim()
    for options in ({"limits": {"none": 1}}, {"allocators": {"global": "none"}},
                    {"devices": {"gpu": ("opencl", 0)}}, {"external_libraries": ["none"]},
                    {"threads": 10 ** 6}):
        with pytest.raises(scopevm.Error):
            scopevm.Session(module, **options)
    for options in ({"limits": {"global": "1"}}, {"threads": "2"}, {"devices": {"cpu": (1, 2)}},
                    {"scheduler": 5}, {"nothing": 1}):
        with pytest.raises(TypeError):
            scopevm.Session(module, **options)


def test_an_external_library_computes_layers(compiled):
    try:
        scopevm.Session(compiled("digits"), external_libraries=["dnnl"])
    except scopevm.NotFound:
        pytest.skip("the plug-in dnnl is not built")
    module = scopevm.compile(MODELS["digits"], external_libraries="dnnl")
    with pytest.raises(scopevm.Error, match="dnnl"):
        scopevm.Session(module)  # without the library
    images = np.random.default_rng(1).random((3, 1, 8, 8), np.float32)
    result = scopevm.Session(module, external_libraries=["dnnl"])(images)
    np.testing.assert_allclose(result, scopevm.Session(compiled("digits"))(images), atol=1e-5)


def test_reserved_memory_warm_up_and_metrics(compiled):
    module = compiled("digits")
    session = scopevm.Session(module)
    session.reserve(n=(1, 50), calls=2)
    session.warm_up(n=50)
    session(np.zeros((50, 1, 8, 8), np.float32))
    assert 'model="digits"' in session.metrics("digits")
    assert "<table>" in session.stats._repr_html_()
    for dims in ({"m": 1}, {"n": 0}):
        with pytest.raises(scopevm.Error):
            session.warm_up(dims)
    with pytest.raises(scopevm.Error):
        session.reserve(n=(5, 1))
