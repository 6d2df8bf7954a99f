"""Calls in a scheduler: submissions, asyncio, deadlines, cancellation, admission."""

import asyncio
import gc
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import scopevm

ONE = np.ones(4, np.float32)
ENDLESS = 2 ** 60


@pytest.fixture(name="session")
def _session(compiled):
    return scopevm.Session(compiled("loop"), scheduler=scopevm.Scheduler(workers=2))


def test_submit_and_wait(session):
    calls = [session.submit(count, ONE) for count in range(20)]
    for count, call in enumerate(calls):
        result = call.wait()
        np.testing.assert_array_equal(result, (count + 1) * ONE)
        assert call.wait() is result and not call.is_in_flight
    assert calls[0].stats.function == "main"
    np.testing.assert_array_equal(session(2, ONE), 3 * ONE)  # a call that waits


def test_wait_with_a_timeout_and_cancel(session):
    call = session.submit(ENDLESS, ONE)
    assert call.is_in_flight
    with pytest.raises(scopevm.DeadlineExceeded):
        call.wait(timeout=0.05)
    assert call.is_in_flight
    with pytest.raises(scopevm.InvalidArgument, match="in use"):
        call.run(1, ONE)
    with pytest.raises(scopevm.InvalidArgument, match="in use"):
        call.submit(1, ONE)
    with pytest.raises(scopevm.InvalidArgument):
        call.stats
    call.cancel()
    with pytest.raises(scopevm.Cancelled):
        call.wait()
    np.testing.assert_array_equal(call.submit(1, ONE).wait(), 2 * ONE)


def test_done_is_called_once_by_a_worker(session):
    received = []
    event = threading.Event()

    def done(call):
        received.append((call, threading.get_ident(), call.is_in_flight))
        event.set()

    call = session.submit(1, ONE, done=done, priority=5, timeout=60, request_id=3)
    assert event.wait(60)
    call.wait()
    ((given, thread, in_flight),) = received
    assert given is call and thread != threading.get_ident() and not in_flight


def test_an_exception_of_done_is_reported(session, capsys):
    def done(_call):
        raise ValueError("of the callback")

    hook, seen = sys.unraisablehook, []
    sys.unraisablehook = seen.append
    try:
        np.testing.assert_array_equal(session.submit(1, ONE, done=done).wait(), 2 * ONE)
    finally:
        sys.unraisablehook = hook
    assert [str(item.exc_value) for item in seen] == ["of the callback"]


def test_await(session):
    async def main():
        one = await session.run_async(1, ONE)
        many = await asyncio.gather(*(session.run_async(n, x=ONE, priority=n) for n in range(50)))
        return one, many

    one, many = asyncio.run(main())
    np.testing.assert_array_equal(one, 2 * ONE)
    for n, result in enumerate(many):
        np.testing.assert_array_equal(result, (n + 1) * ONE)


def test_the_loop_runs_while_a_call_does(session):
    async def main():
        task = asyncio.create_task(session.run_async(ENDLESS, ONE))
        for _ in range(5):
            await asyncio.sleep(0.01)
        assert not task.done() and session.scheduler.stats.running == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    while session.scheduler.stats.running:  # a worker counts its call until `done` has returned
        time.sleep(0.001)
    np.testing.assert_array_equal(session(1, ONE), 2 * ONE)


def test_a_cancelled_task_leaves_its_buffer_alone(session):
    out = np.zeros(4, np.float32)

    async def main():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(session.run_async(ENDLESS, ONE, out={"sum": out}), 0.05)
        return sys.getrefcount(out)

    before = sys.getrefcount(out)
    assert asyncio.run(main()) == before


def test_deadlines_and_errors_of_tasks(session):
    async def main():
        with pytest.raises(scopevm.DeadlineExceeded):
            await session.run_async(ENDLESS, ONE, timeout=0.05)
        with pytest.raises(scopevm.InvalidArgument, match='missing input "x"'):
            await session.run_async(1)
        with pytest.raises(scopevm.NotFound):
            await session.run_async(1, ONE, other=5)
        with pytest.raises(scopevm.InvalidArgument):
            await session.run_async(1, ONE, priority=5000)
        with pytest.raises(TypeError):
            await session.run_async(1, ONE, priority="high")
        return await session.run_async(1, ONE)

    np.testing.assert_array_equal(asyncio.run(main()), 2 * ONE)


def test_a_closed_loop(session):
    loop = asyncio.new_event_loop()
    task = loop.create_task(session.run_async(ENDLESS, ONE, timeout=0.1))
    loop.run_until_complete(asyncio.sleep(0.02))
    loop.close()
    del task
    gc.collect()
    time.sleep(0.2)
    np.testing.assert_array_equal(session(1, ONE), 2 * ONE)


def test_without_a_scheduler(compiled):
    session = scopevm.Session(compiled("loop"))
    with pytest.raises(scopevm.Error, match="scheduler"):
        session.submit(1, ONE)
    with pytest.raises(scopevm.Error, match="scheduler"):
        asyncio.run(session.run_async(1, ONE))


def test_capacities(compiled):
    module = compiled("digits")
    images = np.zeros((10, 1, 8, 8), np.float32)
    bound = module.bound(n=10)
    scheduler = scopevm.Scheduler(2, {"cpu.global": 2 * bound["global"],
                                      "cpu.global.workspace": bound["global.workspace"]})
    session = scopevm.Session(module, scheduler=scheduler)
    results = [session.submit(images).wait() for _ in range(2)]
    (held, _) = scheduler.stats.pools
    assert held.pool == "cpu.global" and held.held_bytes == held.capacity_bytes
    third = session.submit(images)
    with pytest.raises(scopevm.DeadlineExceeded):
        third.wait(0.05)
    assert scheduler.stats.waiting == 1 and "1 waiting" in repr(scheduler)
    results.pop()
    assert third.wait().shape == (10, 10)
    with pytest.raises(scopevm.ResourceLimit) as caught:
        session.submit(np.zeros((1000, 1, 8, 8), np.float32))
    assert caught.value.subject.startswith("cpu.global")


def test_a_budget_for_data(compiled):
    scheduler = scopevm.Scheduler(1, {"cpu.global": 1 << 20, "cpu.global.workspace": 1 << 20})
    session = scopevm.Session(compiled("loops"), scheduler=scheduler)
    given = {"count": 2, "x": [1.0, 2.0], "limit": 10.0, "c": True}
    budget = {"global": 1 << 16, "global.workspace": 1 << 16}
    with pytest.raises(scopevm.Error):
        session.submit(given).wait()
    results = session.submit(given, budget=budget).wait()
    np.testing.assert_array_equal(results["sum"], [3, 6])
    for wrong in ({"none": 1}, {"global": -1}):
        with pytest.raises(scopevm.Error):
            session.submit(given, budget=wrong).wait()
    for wrong in (5, {"global": "1"}, [("global", 1)]):
        with pytest.raises((TypeError, AttributeError)):
            session.submit(given, budget=wrong)


def test_options_of_a_scheduler():
    scheduler = scopevm.Scheduler(3, max_waiting=5, max_bypass=-1, ageing=0.5, spin=1e-5)
    assert scheduler.stats.workers == 3 and scheduler.stats.pools == ()
    for options in ({"workers": -1}, {"workers": 10 ** 6}, {"capacities": {"cpu.global": -1}},
                    {"spin": 5.0}, {"cpus": [10 ** 6]}, {"max_waiting": -1}):
        with pytest.raises(scopevm.Error):
            scopevm.Scheduler(**options)
    for options in ({"workers": "1"}, {"capacities": 5}, {"cpus": 5}, {"spin": "a"}):
        with pytest.raises(TypeError):
            scopevm.Scheduler(**options)


def test_calls_in_flight_keep_what_they_use(compiled):
    scheduler = scopevm.Scheduler(1)
    session = scopevm.Session(compiled("loop"), scheduler=scheduler)
    values = np.ones(4, np.float32)
    call = session.submit(ENDLESS, values, timeout=0.1)
    gone = weakref.ref(session)
    del session, scheduler, values
    gc.collect()
    with pytest.raises(scopevm.DeadlineExceeded):
        call.wait()
    del call
    gc.collect()
    assert gone() is None
    # A call that nothing refers to ends by itself.
    other = scopevm.Session(compiled("loop"), scheduler=scopevm.Scheduler(1))
    other.submit(ENDLESS, ONE, timeout=0.05)
    del other
    gc.collect()


def test_the_interpreter_ends_with_calls_in_flight():
    model = __file__.replace("test_async.py", "models/loop.mlir")
    code = ("import scopevm\n"
            "session = scopevm.Session(scopevm.compile(%r), scheduler=scopevm.Scheduler(2))\n"
            "calls = [session.submit(2 ** 60, [1.0], done=lambda c: print('ended', flush=True))\n"
            "         for _ in range(4)]\n" % model)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          check=False, timeout=100)
    # Two workers can write at the same time.
    assert (done.returncode, done.stdout.count("ended"), done.stderr) == (0, 4, "")
