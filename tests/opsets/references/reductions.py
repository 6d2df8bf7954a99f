"""Cases of reductions with axes as an input, and of Hardmax."""
import numpy as np

from case_file import case, cases, integers, reals

_FUNCTIONS = {
    "ReduceL1": lambda x, axes, keep: np.abs(x).sum(axes, keepdims=keep),
    "ReduceL2": lambda x, axes, keep: np.sqrt((x * x).sum(axes, keepdims=keep)),
    "ReduceLogSum": lambda x, axes, keep: np.log(x.sum(axes, keepdims=keep)),
    "ReduceLogSumExp": lambda x, axes, keep: np.log(np.exp(x).sum(axes, keepdims=keep)),
    "ReduceMax": lambda x, axes, keep: x.max(axes, keepdims=keep),
    "ReduceMean": lambda x, axes, keep: x.mean(axes, keepdims=keep),
    "ReduceMin": lambda x, axes, keep: x.min(axes, keepdims=keep),
    "ReduceProd": lambda x, axes, keep: x.prod(axes, keepdims=keep),
    "ReduceSum": lambda x, axes, keep: x.sum(axes, keepdims=keep),
    "ReduceSumSquare": lambda x, axes, keep: (x * x).sum(axes, keepdims=keep),
}


def _cumulative_products():
    for exclusive in (0, 1):
        for reverse in (0, 1):
            x = reals("cum_prod", 3, 5, 2)
            y = np.flip(x, 1) if reverse else x
            y = np.cumprod(y.astype(np.float64), 1)
            y = np.concatenate([np.ones((3, 1, 2)), y[:, :-1]], 1) if exclusive else y
            y = np.flip(y, 1) if reverse else y
            cases(f"cum_prod_exclusive{exclusive}_reverse{reverse}", 26, "CumProd", {"x": x},
                  [y.astype(np.float32)], constants={"axis": np.array(-2, np.int32)},
                  exclusive=exclusive, reverse=reverse)
    for dtype in (np.uint32, np.int64, np.float16):
        x = integers("cum_prod", 1, 9, 40, dtype=dtype) if dtype != np.float16 else np.array(
            [1, 2, -0.5, 3], dtype)
        case(f"cum_prod_{np.dtype(dtype).name}", 26, "CumProd", {"x": x},
             [np.cumprod(x, dtype=dtype)], constants={"axis": np.array(0)})
    case("cum_prod_run_time_axis", 26, "CumProd",
         {"x": x.reshape(2, 2), "axis": np.array(1)}, [np.cumprod(x.reshape(2, 2), 1, dtype)])


def write_cases():
    for op, function in _FUNCTIONS.items():
        name = op.lower().replace("reduce", "reduce_")
        x = np.abs(reals(name, 2, 3, 4, 2)) + 0.1
        wide = x.astype(np.float64)
        cases(name, 18, op, {"x": x}, [function(wide, (1, 3), True).astype(np.float32)],
             constants={"axes": np.array([1, -1])})
        case(f"{name}_dropped", 20, op, {"x": x}, [function(wide, (0,), False).astype(np.float32)],
             constants={"axes": np.array([0])}, keepdims=0)
        # An empty axes input reduces all axes. With noop_with_empty_axes, it reduces none: the
        # function applies to each element alone.
        none = {"axes": np.zeros(0, np.int64)}
        case(f"{name}_all", 18, op, {"x": x},
             [function(wide, (0, 1, 2, 3), True).astype(np.float32)], constants=none)
        case(f"{name}_noop", 18, op, {"x": x}, [function(wide, (), True).astype(np.float32)],
             constants=none, noop_with_empty_axes=1)
        case(f"{name}_noop_without_axes", 22, op, {"x": x},
             [function(wide, (), True).astype(np.float32)], noop_with_empty_axes=1)
    x = np.array([[np.inf, 1, 2], [-np.inf, -np.inf, -np.inf], [-np.inf, 0.5, -np.inf]], np.float32)
    case("reduce_log_sum_exp_infinite", 18, "ReduceLogSumExp", {"x": x},
         [np.array([np.inf, -np.inf, 0.5], np.float32)], constants={"axes": np.array([1])},
         keepdims=0)
    # Before opset 13, Hardmax flattens x to a matrix. A negative axis counts from the end of x's
    # dims.
    x = reals("hardmax", 2, 3, 4)
    case("hardmax_negative_axis", 11, "Hardmax", {"x": x},
         [(x == x.max(2, keepdims=True)).astype(np.float32)], axis=-1)
    _cumulative_products()
    x = integers("bools", 0, 2, 3, 4, 2).astype(bool)
    axes = {"axes": np.array([1])}
    case("reduce_max_bool", 20, "ReduceMax", {"x": x}, [x.any(1, keepdims=True)], constants=axes)
    case("reduce_min_bool", 20, "ReduceMin", {"x": x}, [x.all(1)], constants=axes, keepdims=0)
    x = integers("bytes", 0, 255, 3, 5, dtype=np.uint8)
    case("reduce_max_u8", 18, "ReduceMax", {"x": x}, [x.max(1, keepdims=True)], constants=axes)
