"""Cases of Einsum. NumPy computes the expected results, mostly with its einsum."""
import numpy as np

from case_file import case, cases, integers, reals

_EQUATIONS = {
    "outer": ("i,j->ij", (3,), (4,)),
    "implicit": ("ij,jk", (2, 3), (3, 4)),
    "implicit_order": ("ba", (2, 3)),
    "trace": ("ii->", (4, 4)),
    "diagonal": ("ii->i", (4, 4)),
    "triple_diagonal": ("ijij->ij", (3, 2, 3, 2)),
    "all_equal": ("iii->i", (3, 3, 3)),
    "attention": ("bhid,bhjd->bhij", (2, 3, 4, 5), (2, 3, 6, 5)),
    "attention_heads_inside": ("bthd,bshd->bhts", (2, 4, 3, 5), (2, 6, 3, 5)),
    "transposed_left": ("bki,bkj->bij", (2, 5, 3), (2, 5, 4)),
    "two_summed": ("abcd,cdef->abef", (2, 3, 2, 4), (2, 4, 3, 2)),
    "sum_of_one": ("ij,jkl->ik", (2, 3), (3, 4, 5)),
    "three": ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
    "three_shared": ("ij,ij,ij->j", (3, 4), (3, 4), (3, 4)),
    "bilinear": ("bn,anm,bm->ba", (2, 3), (4, 3, 5), (2, 5)),
    "scalar": (",ij->ji", (), (2, 3)),
    "ellipsis": ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)),
    "ellipsis_implicit": ("...i,i...", (2, 3), (3, 2)),
    "ellipsis_summed": ("i...->...", (3, 2, 4)),
    "ellipsis_middle": ("a...b,b...->a...", (2, 3, 4), (4, 3)),
    "ellipsis_empty": ("...ij->...ji", (2, 3)),
    "spaces": ("  i j , j k -> i k ", (2, 3), (3, 4)),
    "upper_case": ("Ab,bA->A", (2, 3), (3, 2)),
}


def write_cases():
    for name, (equation, *shapes) in _EQUATIONS.items():
        operands = {f"x{i}": reals(f"{name}{i}", *shape) for i, shape in enumerate(shapes)}
        wanted = np.einsum(equation, *(x.astype(np.float64) for x in operands.values()))
        write = case if name in ("scalar",) else cases
        write(f"einsum_{name}", 12, "Einsum", operands, [wanted.astype(np.float32)],
              equation=equation)
    a, b = integers("a", -9, 9, 3, 4, dtype=np.int32), integers("b", -9, 9, 4, 2, dtype=np.int32)
    case("einsum_i32", 12, "Einsum", {"a": a, "b": b}, [a @ b], equation="ij,jk->ik")
    a, b = reals("c", 2, 3).astype(np.float64), reals("d", 4, 3).astype(np.float64)
    case("einsum_f64", 12, "Einsum", {"a": a, "b": b}, [(a[:, None] * b).sum(-1)],
         equation="ij,kj->ik")
