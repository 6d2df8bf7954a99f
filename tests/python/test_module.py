"""Loading of modules, their signature and their memory."""

import mmap
import pathlib
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import scopevm


def test_the_signature_is_that_of_the_model(compiled):
    module = compiled("digits")
    (image,), (probability,), (n,) = module.inputs, module.outputs, module.dimensions
    assert (image.name, image.kind, image.dtype, image.dims) == (
        "image", "tensor", "f32", ("n", "1", "8", "8"))
    assert not image.has_default and image.state_output is None
    assert repr(probability) == "probability: f32[n, 10]"
    assert (n.name, n.min, n.multiple_of, n.is_batch) == ("n", 1, 1, True)
    assert repr(n) == "n: 1 to 2147483648, batch"
    assert repr(module) == (
        "<scopevm.Module (image: f32[n, 1, 8, 8]) -> (probability: f32[n, 10])>")
    assert "<td" in module._repr_html_() and "f32[n, 10]" in module._repr_html_()
    assert "cpu.global" in map(repr, module.scopes)


def test_records_cannot_be_changed(compiled):
    module = compiled("digits")
    for record in (module.inputs[0], module.dimensions[0], module.bound(n=1).lines[0]):
        with pytest.raises(AttributeError):
            record.name = "other"


def test_kinds_of_values_and_pairs_of_a_state(compiled):
    kinds = {value.name: value.kind for value in compiled("sequences").inputs}
    assert kinds == {"xs": "sequence", "i": "tensor", "x": "tensor", "o": "optional"}
    assert compiled("sequences").inputs[0].type == "sequence f32[?]"
    module = compiled("cache", dim="past>=0", state="past=present")
    ties = {value.name: value.state_output for value in module.inputs}
    assert ties == {"x": None, "past": "present", "past_rows": "past_rows_next"}


def test_load_and_from_bytes_give_the_same_module(tmp_path, compiled, distance):
    _, x, y, expected = distance
    path = tmp_path / "distance.bc"
    scopevm.compile(pathlib.Path(__file__).parents[2] / "examples/distance/distance.mlir", path)
    contents = path.read_bytes()
    with open(path, "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    modules = [scopevm.Module.load(path), scopevm.Module.load(str(path)),
               scopevm.Module.load(str(path).encode()), scopevm.Module.from_bytes(contents),
               scopevm.Module.from_bytes(bytearray(contents)), scopevm.Module.from_bytes(mapped)]
    with pytest.raises(BufferError):  # the module uses the mapped bytes
        mapped.close()
    sessions = [scopevm.Session(module) for module in modules]
    del modules
    for session in sessions:
        np.testing.assert_allclose(session(x, y), expected, rtol=1e-6)
    del sessions, session
    mapped.close()


def test_bytes_can_change_after_the_module_was_loaded(tmp_path, distance):
    _, x, y, expected = distance
    path = tmp_path / "distance.bc"
    scopevm.compile(pathlib.Path(__file__).parents[2] / "examples/distance/distance.mlir", path)
    contents = bytearray(path.read_bytes())
    session = scopevm.Session(scopevm.Module.from_bytes(contents))
    contents[:] = bytes(len(contents))
    np.testing.assert_allclose(session(x, y), expected, rtol=1e-6)


def test_invalid_files(tmp_path):
    with pytest.raises(scopevm.NotFound) as caught:
        scopevm.Module.load(tmp_path / "none.bc")
    assert isinstance(caught.value, LookupError) and "none.bc" in str(caught.value)
    (tmp_path / "empty.bc").write_bytes(b"")
    for contents in (b"", b"abc", bytes(4096)):
        (tmp_path / "file.bc").write_bytes(contents)
        with pytest.raises(scopevm.InvalidModel):
            scopevm.Module.load(tmp_path / "file.bc")
        with pytest.raises(scopevm.InvalidModel):
            scopevm.Module.from_bytes(contents)
    with pytest.raises(TypeError):
        scopevm.Module.from_bytes("text")
    with pytest.raises(TypeError):
        scopevm.Module.load(5.0)
    with pytest.raises(ValueError):
        scopevm.Module.load("a\0b")
    with pytest.raises(TypeError):
        scopevm.Module()


def test_a_module_without_a_signature_is_refused_if_there_are_keys(tmp_path):
    path = tmp_path / "distance.bc"
    scopevm.compile(pathlib.Path(__file__).parents[2] / "examples/distance/distance.mlir", path)
    key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
    with pytest.raises(scopevm.Error):
        scopevm.Module.load(path, public_keys=key)
    with pytest.raises(scopevm.Error):
        scopevm.Module.load(path, public_keys=["no key"])
    with pytest.raises(scopevm.Error):
        scopevm.Module.from_bytes(path.read_bytes(), public_keys=[key], signature="none")


def test_the_bound_is_that_of_a_call(compiled):
    module = compiled("digits")
    bound = module.bound(n=5)
    assert bound.bytes == sum(scope.bytes for scope in bound.scopes) == 25600 + 200
    assert bound["global"] == bound["cpu.global"] == 200
    assert bound["global.workspace"] == 25600
    assert bound.function == "main" and bound.dims == {"n": 5}
    line = next(line for line in bound.lines if line.is_result)
    assert (line.name, line.bytes, line.formula) == ("result probability", 200, "40*n")
    session = scopevm.Session(module)
    call = scopevm.Call(session)
    call.run(np.zeros((5, 1, 8, 8), np.float32))
    peaks = {use.scope: use.peak_bytes for use in call.stats.memory if use.peak_bytes}
    assert peaks == {scope.scope: scope.bytes for scope in bound.scopes}
    with pytest.raises(KeyError, match="global.workspace"):
        bound["local"]


def test_the_largest_bound_is_the_maximum(compiled):
    module = compiled("digits")
    largest = module.largest_bound(n=(1, 64))
    assert largest.bytes == max(module.bound(n=n).bytes for n in range(1, 65))
    assert module.largest_bound({"n": 7}).bytes == module.bound({"n": 7}).bytes


def test_dimensions_of_a_bound_are_checked(compiled):
    module = compiled("digits")
    for dims in ({}, {"m": 1}, {"n": 0}, {"n": -1}, {"n": 2 ** 62}):
        with pytest.raises(scopevm.Error):
            module.bound(dims)
    with pytest.raises(OverflowError):
        module.bound(n=2 ** 70)
    for value in ("4", 4.0, None):
        with pytest.raises(TypeError, match="n: expected an integer"):
            module.bound(n=value)
    with pytest.raises(scopevm.InvalidArgument):
        module.bound(n=1, threads=-1)


def test_the_text_of_a_bound_is_a_table(compiled):
    lines = repr(compiled("digits").bound(n=100)).splitlines()
    assert re.split("  +", lines[0]) == ["device", "scope", "bytes", "lower bound", "formula"]
    totals = [line for line in lines if line.endswith("total")]
    assert re.split("  +", totals[0]) == ["cpu", "global.workspace", "512000", "512000", "total"]


def test_definitions_of_formulas_are_printed(compiled):
    bound = compiled("digits", dim="n=1..512").bound(n=1)
    assert bound.definitions
    for name, formula in bound.definitions.items():
        assert f"\n{name} = {formula}" in repr(bound) and f"{name} = " in bound._repr_html_()


def test_the_drawing_has_a_bar_for_each_storage(compiled):
    for name, dims in (("digits", {"n": 100}), ("loops", {"n": 4}), ("strings", {"n": 2})):
        bound = compiled(name).bound(dims)
        for width in (720, 1, 2000):
            svg = ET.fromstring(bound.svg(width))
            titles = [e.text for e in svg.iter("{http://www.w3.org/2000/svg}title")]
            assert len(titles) == len(bound.lines)
            text = "".join(svg.itertext())
            assert "bytes of a call" in text
            assert all(f"{scope.device}.{scope.scope}" in text for scope in bound.scopes)
            limit = float(svg.get("width"))
            for bar in svg.iter("{http://www.w3.org/2000/svg}rect"):
                assert float(bar.get("x", 0)) + float(bar.get("width")) <= limit + 0.1
        assert bound.svg() in bound._repr_html_()


def test_the_axis_has_round_sizes():
    from scopevm._bound import _ticks
    for most in (0, 1, 5, 100, 1023, 1024, 25600, 10 ** 6, 2 ** 40):
        ticks = _ticks(most)
        assert ticks[0] == 0 and ticks[-1] >= most and 2 <= len(ticks) <= 7
