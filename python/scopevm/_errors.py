"""The exceptions of scopevm. Each status code of the library has a class."""

import dataclasses
import enum


class StatusCode(enum.IntEnum):
    """The codes of errors: `scopevm_status_codes` of the C API."""

    INVALID_ARGUMENT = 10
    INVALID_MODEL = 11
    NOT_FOUND = 12
    UNSUPPORTED = 20
    OUT_OF_MEMORY = 30
    RESOURCE_LIMIT = 31
    DEVICE = 32
    CANCELLED = 40
    DEADLINE_EXCEEDED = 41
    INTERNAL = 90


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """An error or a warning of a compilation."""

    severity: str  # "error" or "warning"
    file: str  # "": unknown
    line: int  # in MLIR assembly, from 1; 0: unknown
    column: int
    node: str  # node of an ONNX model; "": unknown
    text: str

    def __str__(self):
        place = self.file
        if self.line:
            place += f":{self.line}:{self.column}"
        text = f"{self.severity}: {self.text}"
        return f"{place}: {text}" if place else text


class Error(Exception):
    """An error of scopevm. `str()` is the message of the library."""

    code: StatusCode = StatusCode.INTERNAL
    subject: str = ""  #: name of the input, output, dimension or pool; "": unknown
    axis: int | None = None  #: axis of the input or output
    expected: str = ""  #: such as "f32[n, 48]" or "at most 16"
    given: str = ""  #: such as "f32[3, 40]" or "17"

    def __init__(self, message="", *, subject="", axis=None, expected="", given=""):
        super().__init__(message)
        self.subject, self.axis, self.expected, self.given = subject, axis, expected, given

    def __str__(self):  # KeyError and OSError would word the message in another way
        return str(self.args[0]) if self.args else ""


class InvalidArgument(Error, ValueError):
    """An argument or an input is invalid: name, rank, dims, element type."""

    code = StatusCode.INVALID_ARGUMENT


class InvalidModel(Error, ValueError):
    """A model or a module file is malformed."""

    code = StatusCode.INVALID_MODEL


class NotFound(Error, LookupError):
    """There is no such input, output, dimension, file or device."""

    code = StatusCode.NOT_FOUND


class Unsupported(Error, NotImplementedError):
    """The argument is valid, but is not implemented."""

    code = StatusCode.UNSUPPORTED


class OutOfMemory(Error, MemoryError):
    """An allocation failed."""

    code = StatusCode.OUT_OF_MEMORY


class ResourceLimit(Error, RuntimeError):
    """A limit of the program, the machine or the library is exceeded."""

    code = StatusCode.RESOURCE_LIMIT


class DeviceError(Error, RuntimeError):
    """A device, its driver or a system call failed."""

    code = StatusCode.DEVICE


class Cancelled(Error):
    """The call was cancelled."""

    code = StatusCode.CANCELLED


class DeadlineExceeded(Error, TimeoutError):
    """The call passed its deadline."""

    code = StatusCode.DEADLINE_EXCEEDED


class InternalError(Error, RuntimeError):
    """A defect in scopevm."""

    code = StatusCode.INTERNAL


class CompilerNotFound(Error, ImportError):
    """`scopevm.compile()` needs libscopevm_compiler, which is not installed."""

    code = StatusCode.NOT_FOUND


class CompileError(Error):
    """A compilation failed. `diagnostics` has its errors and warnings, with their places.

    `code` is the status code. The exception also is an object of the class of this code, such as
    InvalidModel.
    """

    diagnostics: tuple[Diagnostic, ...] = ()


_CLASSES = {cls.code: cls for cls in (
    InvalidArgument, InvalidModel, NotFound, Unsupported, OutOfMemory, ResourceLimit, DeviceError,
    Cancelled, DeadlineExceeded, InternalError)}
_COMPILE_CLASSES = {code: type(f"Compile{cls.__name__}", (CompileError, cls),
                               {"__doc__": f"A compilation failed: {cls.__doc__}", "code": code})
                    for code, cls in _CLASSES.items()}


def make_error(code, message, subject, axis, expected, given):
    """The exception for a status of the library. Codes of later versions become `Error`."""
    error = _CLASSES.get(code, Error)(message, subject=subject, axis=axis if axis >= 0 else None,
                                      expected=expected, given=given)
    if code not in _CLASSES:
        error.code = code
    return error


def make_compile_error(error, diagnostics):
    """The CompileError for an error of the compiler."""
    made = _COMPILE_CLASSES.get(error.code, CompileError)(
        str(error), subject=error.subject, axis=error.axis, expected=error.expected,
        given=error.given)
    made.diagnostics = tuple(diagnostics)
    return made
