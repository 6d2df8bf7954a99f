"""Sessions, calls and states that several threads use."""

import threading
import time

import numpy as np
import pytest

import scopevm


def together(count, work):
    """Runs work(i) on `count` threads; raises the first exception."""
    errors = []

    def guarded(i):
        try:
            work(i)
        except BaseException as error:  # raised below
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.mark.parametrize("with_scheduler", [False, True])
def test_one_session_and_many_threads(compiled, with_scheduler):
    scheduler = scopevm.Scheduler(2) if with_scheduler else None
    session = scopevm.Session(compiled("distance"), threads=2, scheduler=scheduler)

    def work(i):
        x = np.full((i + 1, 4), i, np.float32)
        for _ in range(300):
            result = session(x, np.zeros_like(x))
            assert result.shape == (i + 1, 1) and (result == 2 * i).all()

    together(8, work)


def test_the_interpreter_lock_is_released(compiled):
    session = scopevm.Session(compiled("loop"))
    ticks = []
    call = scopevm.Call(session)
    thread = threading.Thread(target=lambda: pytest.raises(
        scopevm.Cancelled, call.run, 2 ** 60, [1.0]))
    thread.start()
    while not call.is_in_flight:
        time.sleep(0.001)
    for _ in range(100):
        ticks.append(time.monotonic())
        time.sleep(0)
    assert call.is_in_flight and len(ticks) == 100
    call.cancel()
    thread.join()
    assert not call.is_in_flight


def test_a_call_is_used_by_one_thread_at_a_time(compiled):
    call = scopevm.Call(scopevm.Session(compiled("loop")))
    x = np.ones(100, np.float32)
    counts = {"ended": 0, "refused": 0}

    def work(_):
        for _ in range(200):
            try:
                assert (call.run(20, x) == 21).all()
                counts["ended"] += 1
            except scopevm.InvalidArgument as error:
                assert "in use" in str(error)
                counts["refused"] += 1

    together(4, work)
    assert counts["ended"] + counts["refused"] == 800 and counts["ended"] > 0


def test_a_state_is_used_by_one_call_at_a_time(compiled):
    session = scopevm.Session(compiled("sum"))
    state = scopevm.State(session, {"h": "hn"}, {"n": 1})
    x = np.ones((1, 2), np.float32)
    ended = [0] * 4

    def work(i):
        for _ in range(200):
            try:
                session(x=x, state=state)
                ended[i] += 1
            except scopevm.InvalidArgument as error:
                assert "state" in str(error)

    together(4, work)
    assert state.steps == sum(ended) > 0
    np.testing.assert_array_equal(state.value("h"), np.full((1, 2), sum(ended)))


def test_results_are_released_by_other_threads(compiled):
    session = scopevm.Session(compiled("digits"))
    results = [[] for _ in range(4)]
    images = np.zeros((2, 1, 8, 8), np.float32)
    together(4, lambda i: results[i].extend(session(images) for _ in range(100)))
    together(4, lambda i: results[3 - i].clear())
    assert all(pool.live_bytes == 0 for pool in session.stats.memory)
