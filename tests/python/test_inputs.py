"""What can be an input: element types, layouts, strings, sequences, optionals, DLPack."""

import array

import numpy as np
import pytest

import scopevm
from conftest import identity

DTYPES = {"bool": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2",
          "u32": "u4", "u64": "u8", "f16": "f2", "f32": "f4", "f64": "f8"}


class Producer:
    """A producer of DLPack without the buffer protocol."""

    def __init__(self, owner, *, versioned=True):
        self.owner, self.versioned, self.calls = owner, versioned, []

    def __dlpack__(self, **options):
        self.calls.append(options)
        if not self.versioned and options:
            raise TypeError("unexpected keyword")
        return self.owner.__dlpack__(**(options if isinstance(self.owner, scopevm.Tensor) else {}))


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_each_type(dtype):
    session = scopevm.Session(identity(dtype))
    random = np.random.default_rng(1)
    values = random.integers(0, 2 if dtype == "bool" else 100, 7).astype(DTYPES[dtype])
    for given in (values, values[:0], np.repeat(values, 2)[::2], values[::-1],
                  values.astype(values.dtype.newbyteorder(">")), memoryview(values)):
        result = session(given)
        assert result.dtype == values.dtype
        np.testing.assert_array_equal(result, np.asarray(given))
    numbers = session(values.tolist())
    np.testing.assert_array_equal(numbers, values)
    unaligned = np.frombuffer(b"\0" + values.tobytes(), np.uint8)[1:].view(values.dtype)
    np.testing.assert_array_equal(session(unaligned), values)
    other = "f64" if dtype != "f64" else "f32"
    with pytest.raises(scopevm.InvalidArgument, match="wrong element type") as caught:
        session(values.astype(DTYPES[other]))
    assert caught.value.subject == "x" and caught.value.given == f"{other}[7]"


def test_arrays_of_the_standard_library():
    session = scopevm.Session(identity("i64"))
    for code in "lq":
        np.testing.assert_array_equal(session(array.array(code, [1, -2])), [1, -2])
    octets = scopevm.Session(identity("u8"))
    for given in (b"ab", bytearray(b"ab"), memoryview(b"ab"), array.array("B", b"ab")):
        np.testing.assert_array_equal(octets(given), [97, 98])
    empty = octets(b"")
    assert empty.shape == (0,) and empty.dtype == np.uint8


def test_ranks_from_0_to_16():
    for rank in range(17):
        session = scopevm.Session(identity("f32", ", ".join(["1"] * rank)))
        given = np.full((1,) * rank, 5, np.float32)
        assert session(given).shape == given.shape
        assert session(Producer(given)).shape == given.shape
    with pytest.raises(scopevm.Error):
        session(np.zeros((1,) * 17, np.float32))


def test_scalars():
    session = scopevm.Session(identity("f32", ""))
    for value in (2.5, np.float32(2.5), np.array(2.5, np.float32)):
        result = session(value)
        assert result.shape == () and result == 2.5
    assert session(2) == 2 and session(True) == 1
    integer = scopevm.Session(identity("i64", ""))
    assert integer(-(2 ** 63)) == -(2 ** 63)
    for wrong in (2.5, 2 ** 63, [1], "1", None, 1j, float("nan")):
        with pytest.raises(scopevm.InvalidArgument):
            integer(wrong)


def test_numbers_must_fit_the_type():
    for dtype, wrong in (("u8", [-1]), ("u8", [256]), ("i8", [128]), ("i32", [1.0]), ("bool", [2]),
                         ("f32", ["a"]), ("f32", [[1], [1, 2]]), ("f32", [None]),
                         ("u64", [-1]), ("f32", [1j]), ("i64", [2 ** 64])):
        with pytest.raises(scopevm.InvalidArgument, match='input "x"') as caught:
            scopevm.Session(identity(dtype))(wrong)
        assert caught.value.subject == "x"
    assert scopevm.Session(identity("f32"))([]).shape == (0,)
    assert scopevm.Session(identity("u64"))([2 ** 64 - 1])[0] == 2 ** 64 - 1
    with np.errstate(all="raise"):
        assert scopevm.Session(identity("f16"))([1e6])[0] == np.inf


@pytest.mark.parametrize("versioned", [True, False])
def test_dlpack(versioned):
    session = scopevm.Session(identity("f32", "n, 3"))
    values = np.arange(12, dtype=np.float32).reshape(4, 3)
    producer = Producer(values, versioned=versioned)
    np.testing.assert_array_equal(session(producer), values)
    assert producer.calls[0] == {"max_version": (1, 0)}
    np.testing.assert_array_equal(session(Producer(np.asfortranarray(values))), values)
    np.testing.assert_array_equal(session(Producer(values[::-1, ::-1])), values[::-1, ::-1])


def test_objects_that_are_no_producer_of_dlpack():
    session = scopevm.Session(identity("f32"))

    class Wrong:
        def __init__(self, result):
            self.result = result

        def __dlpack__(self, **_):
            if isinstance(self.result, Exception):
                raise self.result
            return self.result

    for result in (None, 5, "text", object()):
        with pytest.raises(scopevm.InvalidArgument, match="capsule of DLPack"):
            session(Wrong(result))
    for error in (ValueError("mine"), BufferError("mine"), TypeError("mine")):
        with pytest.raises(type(error), match="mine"):
            session(Wrong(error))


def test_a_capsule_is_borrowed_and_released():
    session = scopevm.Session(identity("f32"))
    values = np.ones(5, np.float32)
    capsules = [values.__dlpack__() for _ in range(2)]

    class Reused:
        def __dlpack__(self, **_):
            return capsules[0]

    reused = Reused()
    for _ in range(3):  # the capsule is not taken over
        np.testing.assert_array_equal(session(reused), values)


def test_bfloat16():
    session = scopevm.Session(identity("bf16"))
    result = session(scopevm.Session(identity("bf16"))(Bfloat16([1.0, -2.0])))
    if isinstance(result, scopevm.Tensor):  # without ml_dtypes
        assert (result.dtype, result.shape, result.nbytes) == ("bf16", (2,), 4)
        with pytest.raises(BufferError, match="bf16"):
            memoryview(result)
        values = np.asarray(result.raw()).view(np.uint16)
    else:
        values = result.view(np.uint16)
    np.testing.assert_array_equal(values, [0x3F80, 0xC000])
    with pytest.raises(scopevm.InvalidArgument, match="expected bf16"):
        session(np.zeros(2, np.uint16))


class Bfloat16:
    """A producer of bfloat16 tensors: the result of a module whose f32 input is converted."""

    def __init__(self, values):
        text = ('func.func @main(%x: !sv.tensor<f32[n]> {sv.name = "x"}) -> '
                '(!sv.tensor<bf16[n]> {sv.name = "y"}) {\n'
                '  %0 = sv.cast %x {to = "bf16"} : (!sv.tensor<f32[n]>) -> !sv.tensor<bf16[n]>\n'
                '  return %0 : !sv.tensor<bf16[n]>\n}\n')
        session = scopevm.Session(scopevm.compile(text.encode(), name="cast.mlir"))
        self.tensor = session(np.array(values, np.float32))

    def __dlpack__(self, **options):
        return self.tensor.__dlpack__(**options)


def test_results_are_inputs_without_a_copy():
    session = scopevm.Session(identity("f32"))
    result = session(np.arange(3, dtype=np.float32))
    np.testing.assert_array_equal(session(result), [0, 1, 2])
    tensor = result.base.obj
    assert isinstance(tensor, scopevm.Tensor) and tensor.dtype == "f32" and tensor.shape == (3,)
    np.testing.assert_array_equal(session(tensor), [0, 1, 2])
    np.testing.assert_array_equal(np.from_dlpack(tensor), [0, 1, 2])
    assert tensor.__dlpack_device__() == (1, 0)
    out = session(np.ones(3, np.float32)).base.obj
    assert session(tensor, out={"y": out}) is out
    np.testing.assert_array_equal(np.asarray(out), [0, 1, 2])
    with pytest.raises(BufferError):
        tensor.__dlpack__(stream=1)
    with pytest.raises(BufferError):
        tensor.__dlpack__(copy=True)
    with pytest.raises(TypeError):
        scopevm.Tensor()


def test_strings(compiled):
    session = scopevm.Session(compiled("strings", dim="n>=0"))
    numbers = np.array([7, -12], np.int64)
    for given in (["Été", "red"], np.array(["Été", "red"]), np.array(["Été", "red"], object),
                  ("Été", b"red"), ["Été".encode(), b"red"]):
        results = session(given, numbers)
        assert results.upper.dtype == object and results.upper.tolist() == ["ÉTÉ", "RED"]
        assert results.same.dtype == bool and results.same.tolist() == [False, True]
        assert results.digits.tolist() == ["7", "-12"]
    again = session(results.upper, numbers)
    assert again.upper.tolist() == ["ÉTÉ", "RED"]
    empty = session([], numbers[:0])
    assert empty.upper.shape == (0,)
    for wrong in ([1, 2], ["a", 1], [["a"], ["b", "c"]], 5, numbers, [None, "a"], object(),
                  np.array(["a", None])):
        with pytest.raises(scopevm.InvalidArgument, match='input "x"'):
            session(wrong, numbers)
    with pytest.raises(scopevm.InvalidArgument):
        session("text", numbers)  # of rank 0


def test_strings_of_any_bytes():
    session = scopevm.Session(identity("str", "2, n"))
    values = [["a\0b", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")],
              ["", "\udcff\udc80"]]
    assert session(values).tolist() == values
    assert session(np.array(values, object)).shape == (2, 2)
    with pytest.raises((UnicodeEncodeError, scopevm.Error)):
        session([["\ud800", "a"], ["b", "c"]])
    np.testing.assert_array_equal(session(np.asfortranarray(np.array(values, object))), values)


def test_sequences_and_optionals(compiled):
    session = scopevm.Session(compiled("sequences"))
    xs = [np.array([1], np.float32), np.array([2, 3], np.float32)]
    x = np.array([5, 6], np.float32)
    results = session(xs=xs, i=-1, x=x, o=np.array([[7, 8]], np.int64))
    assert [y.tolist() for y in results.ys] == [[2, 3, 2, 3], [2, 3], [2, 3]]
    assert [y.tolist() for y in results.pair] == [[5, 6], [-5, -6]]
    assert results.size.tolist() == [3] and results.p.tolist() == [[7, 8]]
    without = session(xs=tuple(xs), i=0, x=x, o=None)
    assert without.p is None
    strided = session(xs=[np.arange(6, dtype=np.float32)[::2], [1.0, 2.0]], i=0, x=x, o=None)
    assert strided.ys[0].tolist() == [0, 2, 4, 0, 2, 4]
    again = session(xs=results.ys, i=0, x=x, o=results.p)
    assert again.ys[0].tolist() == [2, 3, 2, 3, 2, 3, 2, 3]
    for wrong in (x, 5, "text", [x, None], [x, "text"], [np.zeros(1)], [np.zeros((1, 1), "f")],
                  {"a": x}):
        with pytest.raises(scopevm.Error, match='"xs"'):
            session(xs=wrong, i=0, x=x, o=None)
    with pytest.raises(scopevm.Error):
        session(xs=[], i=0, x=x, o=None)


def test_an_input_with_the_name_of_an_option():
    text = ('func.func @main(%x: !sv.tensor<f32[n]> {sv.name = "state"}) -> '
            '(!sv.tensor<f32[n]> {sv.name = "y"}) { return %x : !sv.tensor<f32[n]> }')
    session = scopevm.Session(scopevm.compile(text.encode(), name="state.mlir"))
    values = np.ones(3, np.float32)
    np.testing.assert_array_equal(session({"state": values}), values)
    np.testing.assert_array_equal(session(values), values)
    with pytest.raises(TypeError, match="by position or in a dict"):
        session(state=values)
