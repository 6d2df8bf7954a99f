"""A rank of a job of two: a model with caches on both ranks. Rank 0 compares with one process."""

import pathlib

import numpy as np

import scopevm

MODEL = pathlib.Path(__file__).resolve().parents[1] / "ranks/states.test.mlir"
CACHES = [f"past.{part}.rank{rank}" for part in "kv" for rank in range(2)]


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def compare(session):
    alone = scopevm.Session(session.module)
    states = [scopevm.State(of, dims={"past_capacity": 5}) for of in (session, alone)]
    for step in range(4):
        x = np.full((1, 8), step - 1, np.float32)
        results = [of(x=x, state=state) for of, state in zip((session, alone), states)]
        expect(np.array_equal(*(result.y for result in results)), f"step {step}")
        here, elsewhere = ("present.k.rank0", "present.k.rank1")
        expect(np.array_equal(*(result[here] for result in results)), here)
        expect(results[0][elsewhere] is None, "the call has a result of another rank")
    for name in CACHES:
        expect(np.array_equal(*(state.value(name) for state in states)), name)
    copy = states[0].fork()
    states[0].reset()
    expect(not states[0].value(CACHES[1]).any(), "reset")
    expect(np.array_equal(copy.value(CACHES[1]), states[1].value(CACHES[1])), "fork")
    try:
        session(x=np.zeros((1, 7), np.float32), state=copy)
        expect(False, "a wrong shape is accepted")
    except scopevm.InvalidArgument as error:
        expect("x" in str(error), error)


def main():
    module = scopevm.compile(MODEL, dim="past>=0", state="past.*=present.*", split="tensor=2")
    session = scopevm.Session(module, transport="mpi")
    if session.rank == 0:
        compare(session)
    else:
        session.follow()
        try:
            session(x=np.zeros((1, 8), np.float32))
            expect(False, "another rank makes a call")
        except scopevm.Error:
            pass


if __name__ == "__main__":
    main()
