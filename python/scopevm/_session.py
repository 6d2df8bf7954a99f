"""Sessions, calls, states and schedulers."""

import asyncio
import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from . import _native
from ._html import table
from ._module import Module, library_names, pairs_of, ranges_of


class Results(tuple):
    """The results of a module with several outputs, in the order of the model.

    It is a tuple, so that `a, b = session(x)` works. `results["name"]` and, if the name is an
    identifier that tuples do not have, `results.name` are the result of one output. `as_dict()` is
    a dict of all.
    """

    names: tuple[str, ...] = ()

    def __getitem__(self, key):
        if isinstance(key, str):
            if key not in self.names:
                raise KeyError(f"no output {key!r}; the outputs are: {', '.join(self.names)}")
            key = self.names.index(key)
        return super().__getitem__(key)

    def __getattr__(self, name):
        if name in self.names:
            return self[name]
        raise AttributeError(f"no output {name!r}; the outputs are: {', '.join(self.names)}")

    def __dir__(self):
        return [*super().__dir__(), *self.names]

    def __reduce__(self):
        return _restored_results, (self.names, tuple(self))

    def keys(self) -> tuple[str, ...]:
        """The names of the outputs."""
        return self.names

    def as_dict(self) -> dict[str, Any]:
        """The results by the names of the outputs."""
        return dict(zip(self.names, self))

    def __repr__(self):
        return f"Results({', '.join(f'{name}={value!r}' for name, value in zip(self.names, self))})"


def _results_type(names):
    return type("Results", (Results,), {"names": tuple(names), "__doc__": Results.__doc__,
                                        "__module__": __name__})


def _restored_results(names, values):
    return _results_type(names)(values)


@dataclasses.dataclass(frozen=True)
class PoolUse:
    """The use of a pool of a scheduler."""

    pool: str
    capacity_bytes: int
    reserved_bytes: int  #: of calls that were admitted and have not ended
    held_bytes: int  #: of results that are not released, and constants


@dataclasses.dataclass(frozen=True)
class SchedulerStats:
    """The state of a scheduler at one time."""

    workers: int
    waiting: int  #: calls that wait for memory
    ready: int  #: admitted calls that wait for a worker
    running: int
    pools: tuple[PoolUse, ...]


class Scheduler(_native.Scheduler):
    """Workers that run the calls of sessions, within memory that the sessions share.

    `capacities` is a dict of pools, such as "cpu.global", and bytes. Pools without an entry are not
    limited. 0 workers: one per CPU. docs/scheduler.md describes the order of calls and `max_bypass`
    and `ageing` (in seconds). 0 is the default of each option.
    """

    def __new__(cls, workers: int = 0, capacities: Mapping[str, int] | None = None, *,
                max_waiting: int = 0, max_bypass: int = 0, ageing: float = 0.0,
                max_suspended: int = 0, cpus: Iterable[int] = (), spin: float = 0.0):
        return super().__new__(cls, workers, pairs_of(capacities, "capacities"), max_waiting,
                               max_bypass, round(ageing * 1e9), max_suspended, list(cpus),
                               round(spin * 1e9))

    @property
    def stats(self) -> SchedulerStats:
        """The state now: SchedulerStats."""
        workers, waiting, ready, running, pools = self._stats()
        return SchedulerStats(workers, waiting, ready, running,
                              tuple(PoolUse(*row) for row in pools))

    def __repr__(self):
        stats = self.stats
        return (f"<scopevm.Scheduler of {stats.workers} workers: {stats.running} running, "
                f"{stats.ready + stats.waiting} waiting>")


@dataclasses.dataclass(frozen=True)
class PoolMemory:
    """The memory of a session in one memory scope."""

    device: str
    scope: str
    live_bytes: int
    peak_bytes: int
    cached_bytes: int  #: free blocks that are kept for later calls
    reserved_bytes: int  #: taken from the system
    allocations: int


@dataclasses.dataclass(frozen=True)
class SessionStats:
    """The memory of a session: of all its calls and results."""

    memory: tuple[PoolMemory, ...]

    def _repr_html_(self):
        return table([field.name for field in dataclasses.fields(PoolMemory)],
                     [dataclasses.astuple(row) for row in self.memory])


@dataclasses.dataclass(frozen=True)
class MemoryUse:
    """The memory of a run in one memory scope."""

    device: str
    scope: str
    bound_bytes: int  #: the bound at the dims of the run
    lower_bound_bytes: int
    peak_bytes: int
    allocations: int


@dataclasses.dataclass(frozen=True)
class CopyUse:
    """The copies of a run from one memory scope to another."""

    from_device: str
    from_scope: str
    to_device: str
    to_scope: str
    copies: int
    bytes: int


@dataclasses.dataclass(frozen=True)
class CallStats:
    """The statistics of the last run of a call."""

    latency_ns: int
    function: str  #: "main", or the variant that ran
    emulated_seconds: float
    copied_input_bytes: int  #: of inputs that were copied, because they had strides
    memory: tuple[MemoryUse, ...]
    copies: tuple[CopyUse, ...]


class Call(_native.Call):
    """One request: `Call(session)`. It can run any number of times, one run at a time.

    `run()` runs it on this thread, `submit()` in the scheduler of the session; `wait()` has the
    results of a submitted call. Another thread can cancel it at any time.
    """

    @property
    def stats(self) -> CallStats:
        """The statistics of the last run: CallStats."""
        *numbers, memory, copies = self._stats()
        return CallStats(*numbers, tuple(MemoryUse(*row) for row in memory),
                         tuple(CopyUse(*row) for row in copies))


class Session(_native.Session):
    """A module bound to devices, allocators and threads. Any number of threads can call it.

    threads             threads of parallel loops; negative: one per CPU
    scheduler           runs the calls; required for submit() and run_async()
    limits              dict of memory scopes and bytes, in addition to limits in the module
    devices             dict of devices of the module and (kind, number) of this machine
    allocators          dict of memory scopes and allocators, such as "pool:limit=1GiB"
    external_libraries  names or paths of plug-ins, such as "dnnl"
    emulate             whether copies and launches of other devices take the modelled time
    transport           name or path of the plug-in that connects the processes of a job, such as
                        "mpi" (docs/ranks.md); the ones with a `rank` above 0 call follow()

    A session is called with its inputs, by name or position, or with one dict:

        y = session(x)
        y = session(x=x, out={"y": buffer}, timeout=0.5)

    Options of a call: `out` (dict of outputs and writable buffers), `state` (a State), `timeout`
    (in seconds) and `request_id` (for the trace and the log). The result is that of the only
    output, or a Results.
    """

    def __new__(cls, module: Module, *, threads: int = 1, scheduler: Scheduler | None = None,
                limits: Mapping[str, int] | None = None,
                devices: Mapping[str, tuple[str, int]] | None = None,
                allocators: Mapping[str, str] | None = None,
                external_libraries: Iterable[str] = (), emulate: bool = False,
                transport: str | None = None):
        if not isinstance(module, Module):
            raise TypeError(f"expected a scopevm.Module, given {type(module).__name__}")
        names = [row[0] for row in module._outputs()]
        bindings = [(name, *binding) for name, binding in dict(devices or {}).items()]
        libraries = [(name,) for name in library_names(external_libraries)]
        return super().__new__(cls, module, scheduler, _results_type(names), threads,
                               pairs_of(limits, "limits"), bindings,
                               list(dict(allocators or {}).items()), libraries, emulate,
                               transport)

    def submit(self, *inputs: Any, **options: Any) -> Call:
        """Queues a call in the scheduler, and returns its Call.

        Options in addition to those of a call: `priority` (-1000 to 1000), `budget` (dict of memory
        scopes and bytes for memory whose size depends on data), and `done`, which a worker calls
        with the Call when it has ended. `timeout` includes the time of waiting.
        """
        return Call(self).submit(*inputs, **options)

    async def run_async(self, *inputs: Any, **options: Any) -> Any:
        """Like submit(), in a coroutine of asyncio: the result of `await` is that of the call.

        If the task is cancelled, the call is cancelled. CancelledError is raised when the call has
        ended, so that its inputs and buffers are unused then.
        """
        loop = asyncio.get_running_loop()
        ended = loop.create_future()

        def finish():
            if not ended.done():
                ended.set_result(None)

        def done(_call):
            try:
                loop.call_soon_threadsafe(finish)
            except RuntimeError:  # the loop is closed
                pass

        call = self.submit(*inputs, done=done, **options)
        try:
            await asyncio.shield(ended)
        except asyncio.CancelledError:
            call.cancel()
            await asyncio.wait([ended])
            raise
        return call.wait()

    def warm_up(self, dims: Mapping[str, int] | None = None, **named: int) -> None:
        """Makes one call with zeros, so that later calls start no threads and build no kernels."""
        self._warm_up(pairs_of({**(dims or {}), **named}))

    def reserve(self, dims: Mapping[str, int | tuple[int, int]] | None = None, *, calls: int = 1,
                **named: int | tuple[int, int]) -> None:
        """Allocates the memory of `calls` concurrent calls with dimensions in these ranges."""
        least, most = ranges_of({**(dims or {}), **named})
        self._reserve(least, most, calls)

    def metrics(self, model: str = "model") -> str:
        """The metrics in the text format of Prometheus; `model` is the value of their label."""
        return self._metrics(model)

    @property
    def stats(self) -> SessionStats:
        """The memory of the session now: SessionStats."""
        return SessionStats(tuple(PoolMemory(*row) for row in self._memory()))

    def __repr__(self):
        return f"<scopevm.Session of {self.module!r}, threads={self.threads}>"


class State(_native.State):
    """Values that calls carry from one to the next: `session(x=chunk, state=state)`.

    `pairs` is a dict of inputs and the outputs that are their next values, or a list of such
    pairs; without it, the pairs that the module declares. `dims` has the values of the dimensions
    in the dims of these inputs, and `initial` the values before the first call, by input.
    """

    def __new__(cls, session: Session,
                pairs: Mapping[str, str] | Iterable[tuple[str, str]] | None = None,
                dims: Mapping[str, int] | None = None, *,
                initial: Mapping[str, Any] | None = None):
        items = list(pairs.items() if isinstance(pairs, Mapping) else pairs or ())
        if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in items):
            raise TypeError("pairs: expected a dict, or pairs of an input and an output")
        values = dict(initial or {})
        ties = [(*pair, values.pop(pair[0], None)) for pair in items]
        if values:
            raise ValueError(f"initial: {next(iter(values))!r} is not an input of `pairs`")
        return super().__new__(cls, session, ties, pairs_of(dims))

    def __repr__(self):
        return f"<scopevm.State after {self.steps} calls>"
