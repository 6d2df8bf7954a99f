"""States: pairs, values, forks and snapshots."""

import numpy as np
import pytest

import scopevm

STEP = np.full((1, 2), 3, np.float32)


@pytest.fixture(name="session")
def _session(compiled):
    return scopevm.Session(compiled("sum"))


def make(session, **options):
    return scopevm.State(session, {"h": "hn"}, {"n": 1}, **options)


def test_a_state_carries_values(session):
    state = make(session)
    assert state.steps == 0 and state.session is session
    for step in range(1, 4):
        results = session(x=STEP, state=state)
        np.testing.assert_array_equal(results.hn, 3 * step * np.ones((1, 2)))
        assert state.steps == step and not results.hn.flags.writeable
    np.testing.assert_array_equal(state.value("h"), [[9, 9]])
    assert repr(state) == "<scopevm.State after 3 calls>"
    with pytest.raises(scopevm.InvalidArgument, match='missing input "h"'):
        session(x=STEP)  # without a state


def test_a_value_is_a_copy(session):
    state = make(session)
    value = state.value("h")
    value[:] = 100
    np.testing.assert_array_equal(state.value("h"), [[0, 0]])
    given = np.full((1, 2), 5, np.float32)
    state.set_value("h", given)
    given[:] = 0
    np.testing.assert_array_equal(session(STEP, state=state).hn, [[8, 8]])
    state.set_value("h", [[1, 2]])
    np.testing.assert_array_equal(state.value("h"), [[1, 2]])


def test_initial_values_reset_and_fork(session):
    state = make(session, initial={"h": [[10, 20]]})
    session(STEP, state=state)
    other = state.fork()
    assert type(other) is scopevm.State
    session(STEP, state=other)
    np.testing.assert_array_equal(state.value("h"), [[13, 23]])
    np.testing.assert_array_equal(other.value("h"), [[16, 26]])
    state.reset()
    np.testing.assert_array_equal(state.value("h"), [[10, 20]])


def test_snapshots(session):
    state = make(session)
    session(STEP, state=state)
    snapshot = state.snapshot()
    assert isinstance(snapshot, bytes)
    session(STEP, state=state)
    for contents in (snapshot, bytearray(snapshot), np.frombuffer(snapshot, np.uint8)):
        state.restore(contents)
        np.testing.assert_array_equal(state.value("h"), [[3, 3]])
    other = make(session)
    other.restore(snapshot)
    assert other.snapshot() == snapshot and other.steps == 1
    changed = bytearray(snapshot)
    changed[-20] ^= 1
    for wrong in (b"", b"abc", snapshot[:-1], bytes(changed)):
        with pytest.raises(scopevm.Error):
            state.restore(wrong)
        np.testing.assert_array_equal(state.value("h"), [[3, 3]])
    with pytest.raises(TypeError):
        state.restore("text")


def test_values_that_grow(compiled):
    session = scopevm.Session(compiled("cache", dim="past>=0"))
    state = scopevm.State(session, [("past", "present")], {"b": 1})
    for step in range(1, 4):
        results = session(x=np.ones((1, 1, 2), np.float32), state=state)
        assert results.present.shape == (1, step, 2)
        np.testing.assert_array_equal(results["sum"], [[step, step]])
    assert state.value("past").shape == (1, 3, 2)


def test_pairs_of_the_module(compiled):
    module = compiled("cache", dim="past>=0", state="past=present")
    session = scopevm.Session(module)
    state = scopevm.State(session, dims={"b": 1, "past_capacity": 4})
    for step in range(1, 5):
        results = session({"x": np.ones((1, 1, 2), np.float32)}, state=state)
        np.testing.assert_array_equal(results["sum"], [[step, step]])
    with pytest.raises(scopevm.Error):
        session({"x": np.ones((1, 1, 2), np.float32)}, state=state)
    assert state.steps == 4


def test_a_failed_call_changes_nothing(session):
    state = make(session)
    session(STEP, state=state)
    for wrong in (STEP[:, :1], STEP.astype(np.float64), np.ones((2, 2), np.float32)):
        with pytest.raises(scopevm.InvalidArgument):
            session(wrong, state=state)
    with pytest.raises(scopevm.DeadlineExceeded):
        session(STEP, state=state, timeout=0)
    assert state.steps == 1
    np.testing.assert_array_equal(state.value("h"), [[3, 3]])


def test_wrong_arguments(session, distance):
    for pairs in ({"x": "none"}, {"none": "hn"}, {"h": "hn", "x": "hn"}, {}):
        with pytest.raises(scopevm.Error):
            scopevm.State(session, pairs, {"n": 1})
    for dims in ({"m": 1}, {"n": -1}, {}):
        with pytest.raises(scopevm.Error):
            scopevm.State(session, {"h": "hn"}, dims)
    with pytest.raises((TypeError, ValueError)):
        scopevm.State(session, ["hn"], {"n": 1})
    with pytest.raises(TypeError):
        scopevm.State(5, {"h": "hn"})
    with pytest.raises(ValueError, match="'y'"):
        make(session, initial={"y": STEP})
    for initial in ("text", np.zeros((1, 3), np.float32), np.zeros((1, 2))):
        with pytest.raises(scopevm.Error):
            make(session, initial={"h": initial})
    state = make(session)
    for name in ("x", "none", ""):
        with pytest.raises(scopevm.Error):
            state.value(name)
        with pytest.raises(scopevm.Error):
            state.set_value(name, STEP)
    with pytest.raises(TypeError):
        state.value(5)
    with pytest.raises(scopevm.Error):  # of another session
        distance[0](distance[1], distance[2], state=state)


def test_a_state_outlives_its_session(compiled):
    session = scopevm.Session(compiled("sum"))
    state = make(session)
    hn = session(STEP, state=state).hn
    del session
    np.testing.assert_array_equal(state.value("h"), hn)
    fork = state.fork()
    del state
    np.testing.assert_array_equal(fork.value("h"), [[3, 3]])
    np.testing.assert_array_equal(hn, [[3, 3]])
