"""Compilation in this process, with the C API of libscopevm_compiler.

The library is loaded when compile() is called first. It contains LLVM and exports none of its
symbols, so that it has no conflict with other copies of LLVM in the process.
"""

import ctypes
import functools
import os
import pathlib
import threading
import weakref
from collections.abc import Iterable
from typing import Any

from . import _native
from ._errors import CompilerNotFound, Diagnostic, Error, make_compile_error
from ._module import Module, library_names

_VARIABLE = "SCOPEVM_COMPILER_LIBRARY"


class _OptionInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p),
                ("kind", ctypes.c_int), ("description", ctypes.c_char_p),
                ("initial", ctypes.c_char_p), ("choices", ctypes.POINTER(ctypes.c_char_p)),
                ("choice_count", ctypes.c_size_t)]


class _DiagnosticInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("severity", ctypes.c_int),
                ("file", ctypes.c_char_p), ("line", ctypes.c_int), ("column", ctypes.c_int),
                ("node", ctypes.c_char_p), ("text", ctypes.c_char_p)]


def _candidates():
    """The files that can be the library: of this version only."""
    if os.environ.get(_VARIABLE):
        yield os.environ[_VARIABLE]
        return
    name = "libscopevm_compiler.so." + _suffix(_native.version)
    folders = [pathlib.Path(__file__).parent]
    if runtime := _native._library_path():
        folders += [pathlib.Path(runtime).parent, pathlib.Path(runtime).resolve().parent]
    for folder in dict.fromkeys(folders):
        yield str(folder / name)
    yield name  # in the folders of the loader


def _suffix(version):
    """The suffix of the file name: until 1.0, each minor version has its own."""
    major, minor = version.split(".")[:2]
    return major if int(major) > 0 else f"{major}.{minor}"


@functools.cache
def _library():
    tried = []
    for path in _candidates():
        if os.path.sep in path and not os.path.exists(path):
            tried.append(f"{path}: no such file")
            continue
        try:
            return _declare(ctypes.CDLL(path))
        except (OSError, AttributeError) as error:
            tried.append(f"{path}: {error}")
    reasons = "".join(f"\n  {reason}" for reason in tried)
    raise CompilerNotFound(
        "scopevm.compile() needs libscopevm_compiler, which was not found. Install the component "
        f"`compiler` of scopevm, set {_VARIABLE} to its path, or compile with `scopevm compile`\n"
        f"and use scopevm.Module.load(). Tried:{reasons}")


def _declare(library):
    handle, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    for name, result, arguments in (
            ("compiler_version", text, ()),
            ("compiler_create", handle, (ctypes.POINTER(handle),)),
            ("compiler_free", None, (handle,)),
            ("compiler_set", handle, (handle, text, text)),
            ("compiler_add_library", handle, (handle, handle)),
            ("compiler_option_count", size, ()),
            ("compiler_option", handle, (size, ctypes.POINTER(_OptionInfo))),
            ("compile_file", handle, (handle, text, ctypes.POINTER(handle))),
            ("compile_bytes", handle, (handle, text, size, text, ctypes.POINTER(handle))),
            ("compiler_cancel", None, (handle,)),
            ("compiler_diagnostic_count", size, (handle,)),
            ("compiler_diagnostic", handle, (handle, size, ctypes.POINTER(_DiagnosticInfo))),
            ("compiled_bytes", handle, (handle,)),
            ("compiled_size", size, (handle,)),
            ("compiled_write", handle, (handle, text)),
            ("compiled_free", None, (handle,))):
        function = getattr(library, "scopevm_" + name)
        function.restype, function.argtypes = result, arguments
    return library


def _check(status):
    """Raises the exception of a status, which is None on success."""
    if status:
        _native._raise(status)


def _text(value):
    """The bytes of a name or a path, which C reads up to a NUL."""
    text = os.fsencode(value)
    if b"\0" in text:
        raise ValueError(f"{value!r} contains a NUL")
    return text


class _Compiler:
    """A compiler of the C API."""

    def __init__(self):
        self.library = _library()
        self.handle = ctypes.c_void_p()
        _check(self.library.scopevm_compiler_create(ctypes.byref(self.handle)))
        weakref.finalize(self, self.library.scopevm_compiler_free, self.handle)

    def set(self, name, value):
        _check(self.library.scopevm_compiler_set(self.handle, _text(name), _text(value)))

    def run(self, model, path):
        """Compiles a path (`model` is None) or bytes; the handle of the compiled module.

        The compiler runs on a thread of its own, so that KeyboardInterrupt cancels it.
        """
        out, outcome = ctypes.c_void_p(), []

        def work():
            if model is None:
                outcome.append(self.library.scopevm_compile_file(
                    self.handle, path, ctypes.byref(out)))
            else:
                outcome.append(self.library.scopevm_compile_bytes(
                    self.handle, model, len(model), path, ctypes.byref(out)))

        thread = threading.Thread(target=work, name="scopevm.compile")
        try:
            thread.start()
            thread.join()
        except BaseException:
            self.library.scopevm_compiler_cancel(self.handle)
            thread.join()
            if out:
                self.library.scopevm_compiled_free(out)
            raise
        try:
            _check(outcome[0])
        except Error as error:
            raise make_compile_error(error, self.diagnostics()) from None
        return out

    def diagnostics(self):
        count = self.library.scopevm_compiler_diagnostic_count(self.handle)
        for index in range(count):
            info = _DiagnosticInfo(ctypes.sizeof(_DiagnosticInfo))
            _check(self.library.scopevm_compiler_diagnostic(self.handle, index, ctypes.byref(info)))
            text = [part.decode("utf-8", "replace") for part in (info.file, info.node, info.text)]
            yield Diagnostic(("warning", "error")[info.severity], text[0], info.line, info.column,
                             text[1], text[2])


def _values(name, value):
    """The values of an option as text: one, or several of a list."""
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [text for item in value for text in _values(name, item)]
    if isinstance(value, dict):
        return [f"{key}={item}" for key, item in value.items()]
    if isinstance(value, (str, int)):
        return [str(value)]
    if isinstance(value, os.PathLike):
        return [os.fspath(value)]
    raise TypeError(f"{name}: unsupported value {value!r}")


def _dims(dims):
    """The values of the option `dim`: a size, a range (least, most), or text after the name."""
    if not isinstance(dims, dict):
        return _values("dims", dims or ())
    values = []
    for name, value in dims.items():
        if isinstance(value, str):
            values.append(name + value if value[:1] in "<>%=" else f"{name}={value}")
        elif isinstance(value, (tuple, list, range)) and len(value) == 2:
            values.append(f"{name}={value[0]}..{value[1]}")
        else:
            values.append(f"{name}={value}")
    return values


def compile(model: Any, output: str | os.PathLike | None = None, *, dims: Any = None,
            place: Any = None, external_libraries: Iterable[str] = (), name: str | None = None,
            **options: Any) -> Module:
    """Compiles an ONNX model, or a graph in MLIR assembly, and loads the module.

    `model` is a path, or an object with the buffer protocol (`name` is then its name in messages,
    and its extension, .onnx or .mlir, selects the format). With `output`, the module is also
    written to this file. `dims` is a dict of dimensions: a size, a pair (least, most), or text such
    as "<=512". `place` is a dict or list of constraints: {"type:conv": "gpu"}. The other options
    are those of `scopevm compile`, with `_` instead of `-`: `target_cpu=["x86-64-v3"]`,
    `variant="n=1"`, `fast_conv=True`, `cache="folder"`; lists are repeated options.

    Raises CompileError, whose `diagnostics` have the places of errors, and CompilerNotFound.
    """
    compiler = _Compiler()
    given = [("dim", value) for value in _dims(dims)]
    given += [("place", value) for value in _values("place", place or ())]
    for option, value in options.items():
        given += [(option.replace("_", "-"), text) for text in _values(option, value)
                  if value is not None]
    for option, value in given:
        compiler.set(option, value)
    for library in library_names(external_libraries):
        address = _native._load_external(library)
        _check(compiler.library.scopevm_compiler_add_library(compiler.handle, address))
    if isinstance(model, (str, os.PathLike)):
        compiled = compiler.run(None, _text(model))
    else:
        with memoryview(model) as view:
            contents = view.tobytes()
        compiled = compiler.run(contents, _text(name) if name is not None else None)
    size = compiler.library.scopevm_compiled_size(compiled)
    address = compiler.library.scopevm_compiled_bytes(compiled)
    contents = (ctypes.c_ubyte * size).from_address(address)
    weakref.finalize(contents, compiler.library.scopevm_compiled_free, compiled).atexit = False
    if output is not None:
        _check(compiler.library.scopevm_compiled_write(compiled, _text(output)))
    return Module._from_buffer(contents, True, (), None, None, None, -1)


def compile_options() -> dict[str, str]:
    """The options of compile() and their descriptions."""
    library, options = _library(), {}
    for index in range(library.scopevm_compiler_option_count()):
        info = _OptionInfo(ctypes.sizeof(_OptionInfo))
        _check(library.scopevm_compiler_option(index, ctypes.byref(info)))
        options[info.name.decode().replace("-", "_")] = info.description.decode()
    return options
