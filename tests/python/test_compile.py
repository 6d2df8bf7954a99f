"""scopevm.compile(): options, diagnostics, and the library that it loads."""

import os
import pathlib
import subprocess
import sys
import threading

import numpy as np
import pytest

import scopevm

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples/digits/digits.onnx"
DISTANCE = ROOT / "examples/distance/distance.mlir"


def run(code, **environment):
    return subprocess.run([sys.executable, "-c", code], env={**os.environ, **environment},
                          capture_output=True, text=True, check=False, timeout=600)


def test_paths_bytes_and_output_are_the_same_module(tmp_path):
    for path in (DIGITS, DISTANCE):
        written = tmp_path / "written.bc"
        module = scopevm.compile(path, written)
        from_text = scopevm.compile(str(path))
        from_bytes = scopevm.compile(path.read_bytes(), name=path.name)
        for other in (from_text, from_bytes, scopevm.Module.load(written)):
            assert repr(other) == repr(module)
            assert repr(other.bound(n=3)) == repr(module.bound(n=3))


def test_dimensions_of_each_form():
    bounds = lambda **options: scopevm.compile(DIGITS, **options).dimensions[0]  # noqa: E731
    assert bounds(dims={"n": (2, 8)}).min == 2
    assert bounds(dims={"n": (2, 8)}).max == 8
    assert bounds(dims={"n": "<=16"}).max == 16
    assert bounds(dims={"n": "%8==0"}).multiple_of == 8
    assert bounds(dims="n=3..4").max == 4
    assert bounds(dim=["n>=2", "n<=5"]).max == 5
    assert scopevm.compile(DIGITS, dims={"n": 4}).inputs[0].dims[0] == "4"


def test_options_have_the_names_of_the_command():
    module = scopevm.compile(DIGITS, variant="n=1", target_cpu=["x86-64-v2"], fast_conv=False)
    assert module.bound(n=1).function != module.bound(n=2).function
    assert "dim" in scopevm.compile_options() and "target_cpu" in scopevm.compile_options()
    with pytest.raises(scopevm.InvalidArgument, match="nosuch"):
        scopevm.compile(DIGITS, nosuch=1)
    with pytest.raises(scopevm.InvalidArgument):
        scopevm.compile(DIGITS, fast_conv="maybe")
    with pytest.raises(TypeError, match="variant"):
        scopevm.compile(DIGITS, variant=1.5)


def test_places_are_constraints():
    machine = ROOT / "tests/tools/data/two_devices.json"
    module = scopevm.compile(DIGITS, machine=machine, place={"type:conv": "npu"})
    assert "npu" in {scope.device for scope in module.scopes}
    with pytest.raises(scopevm.CompileError):
        scopevm.compile(DIGITS, place={"type:conv": "nowhere"})


def test_diagnostics_have_places():
    text = b"func.func @main(%x: !sv.tensor<f32[n]>) {\n  return %y\n}\n"
    with pytest.raises(scopevm.CompileError) as caught:
        scopevm.compile(text, name="model.mlir")
    assert isinstance(caught.value, scopevm.InvalidModel) and isinstance(caught.value, ValueError)
    assert caught.value.code == scopevm.StatusCode.INVALID_MODEL
    (error,) = [d for d in caught.value.diagnostics if d.severity == "error"]
    assert (error.file, error.line) == ("model.mlir", 2) and error.column > 0
    assert str(error).startswith(f"model.mlir:2:{error.column}: error: ")
    with pytest.raises(scopevm.CompileError) as caught:
        scopevm.compile(ROOT / "tests/tools/data/unknown_op.onnx")
    assert caught.value.diagnostics[0].severity == "error"


@pytest.mark.parametrize("model", [b"", b"garbage", bytes(100), os.urandom(1000)])
def test_contents_that_are_no_model(model):
    with pytest.raises(scopevm.CompileError):
        scopevm.compile(model)


def test_files_that_cannot_be_used(tmp_path):
    with pytest.raises(scopevm.NotFound, match="no such file"):
        scopevm.compile(tmp_path / "none.onnx")
    with pytest.raises(scopevm.Error):
        scopevm.compile(DIGITS, tmp_path / "none" / "digits.bc")
    with pytest.raises(TypeError):
        scopevm.compile(5)
    with pytest.raises(ValueError):
        scopevm.compile("a\0b.onnx")


def test_several_threads_compile():
    modules, errors = [], []

    def work():
        try:
            modules.append(repr(scopevm.compile(DISTANCE)))
        except Exception as error:  # reported below
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and len(set(modules)) == 1 and len(modules) == 4


def test_external_libraries_are_checked():
    with pytest.raises(scopevm.NotFound):
        scopevm.compile(DIGITS, external_libraries=["none"])


def test_the_compiler_is_loaded_by_the_first_compilation_only():
    code = ("import scopevm\n"
            "loaded = lambda: 'libscopevm_compiler' in open('/proc/self/maps').read()\n"
            "assert not loaded()\n"
            f"scopevm.compile({str(DISTANCE)!r})\n"
            "assert loaded()\n")
    done = run(code)
    assert done.returncode == 0, done.stderr


def test_a_missing_compiler_is_an_import_error():
    code = ("import scopevm\n"
            "try:\n"
            "    scopevm.compile('model.onnx')\n"
            "except ImportError as error:\n"
            "    assert isinstance(error, scopevm.Error)\n"
            "    print(error)\n")
    done = run(code, SCOPEVM_COMPILER_LIBRARY="/none/libscopevm_compiler.so")
    assert "libscopevm_compiler, which was not found" in done.stdout, done.stderr
    assert "/none/libscopevm_compiler.so: no such file" in done.stdout


def test_an_interrupt_ends_a_compilation():
    code = ("import os, signal, threading, scopevm, time\n"
            f"scopevm.compile({str(DISTANCE)!r})\n"
            "threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
            "try:\n"
            "    while True:\n"
            f"        scopevm.compile({str(DIGITS)!r})\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted')\n")
    done = run(code)
    assert done.stdout == "interrupted\n", done.stderr
    assert done.returncode == 0


def test_a_compiled_module_outlives_the_compiler(distance):
    _, x, y, expected = distance
    sessions = [scopevm.Session(scopevm.compile(DISTANCE)) for _ in range(3)]
    for session in sessions:
        np.testing.assert_allclose(session(x, y), expected, rtol=1e-6)


def test_signal_handlers_are_those_before_the_compilation():
    code = ("import ctypes, scopevm\n"
            "def handlers():\n"
            "    action, found = (ctypes.c_void_p * 32)(), []\n"
            "    for number in range(1, 32):\n"
            "        ctypes.CDLL(None).sigaction(number, None, ctypes.byref(action))\n"
            "        found.append(action[0])\n"
            "    return found\n"
            "before = handlers()\n"
            f"for _ in range(2):\n    scopevm.compile({str(DISTANCE)!r})\n"
            "    assert handlers() == before\n")
    done = run(code)
    assert done.returncode == 0, done.stderr
