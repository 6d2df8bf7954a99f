"""scopevm: compile neural-network graphs, and run them with memory that is known before a call.

    module = scopevm.compile("model.onnx", dims={"n": (1, 512)})
    print(module.bound(n=4))
    session = scopevm.Session(module, threads=2)
    y = session(x=array)

Results are arrays of NumPy that share the memory of the module's results. Without NumPy, they are
objects of `scopevm.Tensor`, which offer the buffer protocol and DLPack. docs/python.md is the
tutorial.
"""

from . import _native
from ._bound import Bound, BoundLine, ScopeBound
from ._compile import compile, compile_options  # noqa: A004
from ._convert import install as _install
from ._errors import (Cancelled, CompileError, CompilerNotFound, DeadlineExceeded, DeviceError,
                      Diagnostic, Error, InternalError, InvalidArgument, InvalidModel, NotFound,
                      OutOfMemory, ResourceLimit, StatusCode, Unsupported)
from ._module import Dimension, Module, Scope, TensorInfo
from ._native import Tensor
from ._session import (Call, CallStats, CopyUse, MemoryUse, PoolMemory, PoolUse, Results, Scheduler,
                       SchedulerStats, Session, SessionStats, State)

__version__ = _native.version
#: What libscopevm was built with, such as "opencl".
features = tuple(_native.features.split())

__all__ = [
    "Bound", "BoundLine", "Call", "CallStats", "Cancelled", "CompileError", "CompilerNotFound",
    "CopyUse", "DeadlineExceeded", "DeviceError", "Diagnostic", "Dimension", "Error",
    "InternalError", "InvalidArgument", "InvalidModel", "MemoryUse", "Module", "NotFound",
    "OutOfMemory", "PoolMemory", "PoolUse", "ResourceLimit", "Results", "Scheduler",
    "SchedulerStats", "Scope", "ScopeBound", "Session", "SessionStats", "State", "StatusCode",
    "Tensor", "TensorInfo", "Unsupported", "compile", "compile_options", "features",
]

_install()
