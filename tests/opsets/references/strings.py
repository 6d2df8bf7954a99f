"""Cases of string tensors: casts, normalisation, n-grams, ops that move or compare elements,
sequences, and ops on characters."""
import re

import numpy as np

import onnx_file
from case_file import case, cases, graph_case, rng, value_info


def _strings(*elements):
    return np.array(elements, dtype=object)


def _normalised(words, stopwords, action, sensitive):
    same = (lambda a: a) if sensitive else str.lower
    stops = {same(word) for word in stopwords}
    kept = [word for word in words if same(word) not in stops]
    change = {"LOWER": str.lower, "UPPER": str.upper, "NONE": str}[action]
    return _strings(*(change(word) for word in kept or [""]))


def _normalisers():
    words = ["Monday", "tuesday", "WEDNESDAY", "\u00c9t\u00e9", "monday", ""]
    for name, stopwords, action, sensitive in (
            ("insensitive_lower", ["MONDAY", "\u00e9t\u00c9"], "LOWER", 0),
            ("insensitive_none", ["wednesday", ""], "NONE", 0),
            ("sensitive_upper", ["monday", "Tuesday"], "UPPER", 1),
            ("sensitive_all_gone", words, "UPPER", 1),
            ("no_stopwords", [], "UPPER", 0),
    ):
        attributes = {"case_change_action": action, "is_case_sensitive": sensitive}
        if stopwords:
            attributes["stopwords"] = stopwords
        wanted = _normalised(words, stopwords, action, sensitive)
        cases(f"string_normalizer_{name}", 10, "StringNormalizer", {"x": _strings(*words)}, [wanted],
             **attributes)


def _count(row, grams, columns, weights, least, most, skips, mode):
    y = np.zeros(max(columns) + 1, np.float32)
    for gram, column, weight in zip(grams, columns, weights):
        if not least <= len(gram) <= most:
            continue
        distances = range(1, skips + 2) if len(gram) > 1 else [1]
        count = sum(list(row[start:start + distance * len(gram):distance]) == gram
                    for distance in distances for start in range(len(row)))
        y[column] += {"TF": count, "IDF": weight * (count > 0), "TFIDF": weight * count}[mode]
    return y


def _ngrams():
    grams = [["a"], ["b"], ["b", "a"], ["c", "\u00e9"], ["a", "b", "a"]]
    columns, weights = [2, 0, 4, 1, 5], [0.5, 2.0, 0.25, 4.0, 3.0]
    rows = np.array([list("abab"), ["c", "x", "\u00e9", "b"], list("bbba")], dtype=object)
    for mode, least, most, skips in (("TF", 1, 3, 0), ("IDF", 1, 2, 1), ("TFIDF", 2, 3, 2)):
        attributes = {
            "mode": mode, "min_gram_length": least, "max_gram_length": most,
            "max_skip_count": skips, "ngram_counts": [0, 2, 6], "ngram_indexes": columns,
            "weights": weights}
        wanted = [_count(row, grams, columns, weights, least, most, skips, mode) for row in rows]
        cases(f"tfidf_strings_{mode.lower()}", 9, "TfIdfVectorizer", {"x": rows},
             [np.stack(wanted)], pool_strings=sum(grams, []), **attributes)
        numbers = {text: 10 * i - 20 for i, text in enumerate(["a", "b", "c", "\u00e9", "x"])}
        whole = np.vectorize(numbers.get)(rows).astype(np.int32)
        case(f"tfidf_i32_{mode.lower()}", 9, "TfIdfVectorizer", {"x": whole}, [np.stack(wanted)],
             pool_int64s=[numbers[text] for text in sum(grams, [])], **attributes)


def _casts():
    integers = np.array([0, -7, 2**62], np.int64)
    case("cast_i64_to_string", 13, "Cast", {"x": integers}, [_strings("0", "-7", str(2**62))], to=8)
    case("cast_string_to_i64", 13, "Cast", {"x": _strings("0", " -7", str(2**62))}, [integers], to=7)
    reals = np.array([[0.1, -2.5e-7], [1e20, 3]], np.float64)
    written = _strings(*(str(element) for element in reals.flat)).reshape(2, 2)
    cases("cast_f64_to_string", 13, "Cast", {"x": reals}, [written], to=8)
    cases("cast_string_to_f64", 13, "Cast", {"x": written}, [reals], to=11)
    halves = np.array([0.1, 65504, 6e-8], np.float16)
    case("cast_f16_to_string", 13, "Cast", {"x": halves},
         [_strings(*(str(element) for element in halves))], to=8)
    case("cast_bool_to_string", 13, "Cast", {"x": np.array([True, False])},
         [_strings("True", "False")], to=8)


def _movement():
    words = np.array([["a", "b", "a"], ["", "\u00e9", "c"]], dtype=object)
    cases("concat_strings", 13, "Concat", {"x": words, "y": words[::-1]},
         [np.concatenate([words, words[::-1]], 1)], axis=1)
    cases("equal_strings", 19, "Equal", {"x": words, "y": _strings("a", "\u00e9", "c")},
         [words == _strings("a", "\u00e9", "c")])
    cases("where_strings", 16, "Where", {"c": words == "a", "x": words, "y": words[::-1]},
         [np.where(words == "a", words, words[::-1])])
    cases("gather_strings", 13, "Gather", {"x": words, "at": np.array([2, -1, 0])},
         [words[:, [2, -1, 0]]], axis=1)
    cases("tile_strings", 13, "Tile", {"x": words}, [np.tile(words, (2, 1))],
         constants={"repeats": np.array([2, 1])})
    cases("identity_strings", 16, "Identity", {"x": words}, [words])
    cases("transpose_strings", 13, "Transpose", {"x": words}, [words.T])
    cases("split_strings", 13, "Split", {"x": words}, [words[:, :1], words[:, 1:]],
         constants={"split": np.array([1, 2])}, axis=1)
    cases("slice_strings", 13, "Slice", {"x": words}, [words[:, ::-2]],
         constants={"starts": np.array([-1]), "ends": np.array([-9]), "axes": np.array([1]),
                    "steps": np.array([-2])})
    cases("compress_strings", 11, "Compress",
         {"x": words, "which": np.array([True, False, True])}, [words[:, [0, 2]]], axis=1)
    cases("pad_strings", 13, "Pad", {"x": _strings("a", "b")}, [_strings("-", "a", "b", "-", "-")],
         constants={"pads": np.array([1, 2]), "with": np.array("-", dtype=object)})
    scattered = words.copy()
    scattered[[1, 0], [0, 2]] = "new", ""
    case("scatter_nd_strings", 16, "ScatterND",
         {"x": words, "at": np.array([[1, 0], [0, 2]]), "new": _strings("new", "")}, [scattered])


def _sequences():
    parts = [_strings("a", "\u00e9"), _strings(), _strings("", "a", "b")]
    case("concat_from_sequence_strings", 17, "ConcatFromSequence", {"xs": parts},
         [np.concatenate(parts)], axis=0)
    for at in (-1, 0):
        case(f"sequence_at_strings_{'end' if at < 0 else 'start'}", 17, "SequenceAt",
             {"xs": parts, "at": np.int64(at)}, [parts[at]])
    case("sequence_insert_strings", 17, "SequenceInsert",
         {"xs": parts, "x": _strings("new"), "at": np.int64(1)},
         [parts[:1] + [_strings("new")] + parts[1:]])
    case("sequence_construct_strings", 17, "SequenceConstruct",
         {"x": parts[0], "y": parts[2]}, [[parts[0], parts[2]]])
    words = np.concatenate(parts)
    cases("split_to_sequence_strings", 17, "SplitToSequence", {"x": words},
         [[words[:2], words[2:4], words[4:]]], {"split": np.int64(2)})


_WORDS = ("", "a", "ab", "B-b", "\u00e9", "\u4e2d\U0001f600", " a  b ", "a,b,,c", ",",
          "\ta\u3000b\n")


def _drawn(draw, *shape):
    """Strings of zero to two of the words."""
    counts = draw.integers(0, 3, shape)
    return np.vectorize(lambda count: "".join(draw.choice(_WORDS, count)), [object])(counts)


def _concatenations():
    # The first five are those of ONNX.
    for name, x, y in (
            ("", _strings("abc", "def"), _strings(".com", ".net")),
            ("_broadcasting", _strings("cat", "dog", "snake"), _strings("s")),
            ("_zero_dimensional", _strings("cat").reshape(()), _strings("s").reshape(())),
            ("_empty_string", _strings("abc", ""), _strings("", "abc")),
            ("_utf8", _strings("\u7684", "\u4e2d"), _strings("\u7684", "\u4e2d"))):
        cases(f"string_concat{name}", 20, "StringConcat", {"x": x, "y": y},
             [np.asarray(x + y, object)])
    for index, (first, second) in enumerate((
            ((2, 3), (3,)), ((2, 1, 4), (3, 1)), ((), (2, 2)), ((0, 3), (1, 1)), ((2, 0), (2, 1)),
            ((1,), (1,)), ((600,), (600,)))):
        draw = rng(f"string_concat {index}")
        x, y = _drawn(draw, *first), _drawn(draw, *second)
        cases(f"string_concat_drawn_{index}", 20, "StringConcat", {"x": x, "y": y},
             [np.asarray(x + y, object)])


def _pieces(x, delimiter, most):
    parts = [text.split(delimiter or None, most) for text in x.flat]
    count = max(map(len, parts), default=0)
    padded = [part + [""] * (count - len(part)) for part in parts]
    pieces = np.array(padded, object).reshape(*x.shape, count)
    return [pieces, np.array([len(part) for part in parts], np.int64).reshape(x.shape)]


def _split(name, x, **attributes):
    wanted = _pieces(x, attributes.get("delimiter"), attributes.get("maxsplit", -1))
    cases(f"string_split_{name}", 20, "StringSplit", {"x": x}, wanted, **attributes)


def _splits():
    # The first six are those of ONNX.
    _split("basic", _strings("abc.com", "def.net"), delimiter=".")
    _split("maxsplit", _strings("hello world", "def.net").reshape(2, 1), maxsplit=1)
    _split("consecutive_delimiters", _strings("o-n-n--x-", "o-n----nx"), delimiter="-")
    _split("empty_string_delimiter", _strings("hello world !", "  hello   world !",
                                              " hello world   ! "), delimiter="")
    _split("no_delimiter", _strings("hello world !", "  hello   world !", " hello world   ! "))
    _split("empty_tensor", _strings())
    spaces = "".join(map(chr, (*range(9, 14), *range(28, 33), 0x85, 0xa0, 0x1680,
                               *range(0x2000, 0x200b), 0x2028, 0x2029, 0x202f, 0x205f, 0x3000)))
    _split("whitespace", _strings("x".join(spaces), spaces, "a\u200bb\u180ec", f"{spaces}a"))
    _split("only_whitespace", _strings("", " ", "\t\n"))
    _split("scalar", _strings("a,b").reshape(()), delimiter=",")
    _split("no_rows", _strings().reshape(0, 3), delimiter=",")
    for index in range(12):
        draw = rng(f"string_split {index}")
        shape = [(5,), (2, 3), (1, 2, 2), (600,)][index % 4]
        attributes = {"delimiter": (",", "", "b", ",,", "\u00e9")[index % 5]}
        if index % 3:
            attributes["maxsplit"] = (0, 1, 2, -1, -7, 2**40)[index // 2]
        _split(f"drawn_{index}", _drawn(draw, *shape), **attributes)


def _matches(pattern, x):
    # Python's \Z is RE2's \z, and its \B does not match in the empty string.
    python = pattern.replace(r"\z", r"\Z").replace(r"\B", r"(?:\B|\A\Z)")
    found = [re.fullmatch(python, text, re.ASCII) is not None for text in x.flat]
    return np.array(found, bool).reshape(x.shape)


_ATOMS = ("a", "b", "a", "b", ".", "[^a]", r"\w", r"\W", r"\s", r"\b", r"\B", "(?m:^)", "(?m:$)",
          r"\A", r"\z", "\u00e9", "[a-\u00e9]", "\U0001f600", r"\d", r"\n", r"\x61", r"\.", "[]b-]")
_GROUPS = ("(%s)", "(?:%s)", "(?s:%s)", "(?P<name%d>%%s)")
_REPEATS = ("*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?", "??", "{2,3}?")


def _pattern(draw, depth):
    kind = draw.integers(6) if depth else 0
    if kind <= 1:
        return str(draw.choice(_ATOMS))
    if kind <= 3:
        return "".join(_pattern(draw, depth - 1) for _ in range(draw.integers(1, 4)))
    group = draw.choice(_GROUPS)
    if "%%" in group:
        group = group % draw.integers(2**40)
    parts = "|".join(_pattern(draw, depth - 1) for _ in range(draw.integers(1, 3)))
    return group % parts + (draw.choice(_REPEATS) if kind == 5 else "")


def _drawn_patterns():
    """Models with many nodes, whose patterns have the meaning of those of Python."""
    for index in range(4):
        draw = rng(f"regex_full_match {index}")
        letters = ["a", "b", "a", "b", "\n", " ", "\u00e9", "\U0001f600", ".", "1"]
        x = np.array(["".join(draw.choice(letters, draw.integers(6))) for _ in range(60)], object)
        patterns = [_pattern(draw, 4) for _ in range(30)]
        nodes = [onnx_file.node("RegexFullMatch", ["x"], [f"y{i}"], pattern=pattern)
                 for i, pattern in enumerate(patterns)]
        results = {f"y{i}": _matches(pattern, x) for i, pattern in enumerate(patterns)}
        graph_case(f"regex_full_match_drawn_{index}", 20, nodes, {"x": x}, results, {},
                   [value_info("x", x, {("x", 0): "n"})],
                   [onnx_file.value_info(y) for y in results])


def _unicode_classes():
    x = _strings("a", "\u00c9", "\u01c5", "\u03b1", "\u4e2d", "7", "\u0661", "\u216b", "\u00bd", "_",
                 "\u2014", "\u20ac", "\u0301", "\u00a0", "\u212a", "\U0001f600", "\u0378", "a7")
    for name, pattern, wanted in (
            ("letter", r"\pL", "a \u00c9 \u01c5 \u03b1 \u4e2d \u212a"),
            ("upper", r"\p{Lu}", "\u00c9 \u212a"),
            ("folded_upper", r"(?i)\p{Lu}", "a \u00c9 \u01c5 \u03b1 \u212a"),
            ("not_folded_upper", r"(?i)\P{Lu}",
             "\u4e2d 7 \u0661 \u216b \u00bd _ \u2014 \u20ac \u0301 \u00a0 \U0001f600 \u0378"),
            ("number", r"\p{N}", "7 \u0661 \u216b \u00bd"),
            ("digits", r"\p{Nd}|\p{Pc}", "7 \u0661 _"),
            ("in_set", r"[\p{P}\p{S}\x{301}]", "_ \u2014 \u20ac \u0301 \U0001f600"),
            ("not_in_set", r"[^\p{P}\p{S}\p{L}\p{N}\p{M}]", "\u00a0 \u0378"),
            ("scripts", r"\p{Greek}|\p{Han}|\p{Latin}\p{Common}", "\u03b1 \u4e2d a7"),
            ("complement", r"\p{^L}\p{Any}{0}", "7 \u0661 \u216b \u00bd _ \u2014 \u20ac \u0301 \u00a0 "
             "\U0001f600 \u0378"),
            ("other", r"\P{^C}|\p{Zs}", "\u00a0")):
        wanted = wanted.split(" ")
        case(f"regex_full_match_class_{name}", 20, "RegexFullMatch", {"x": x},
             [np.array([text in wanted for text in x])], pattern=pattern)


def _regular_expressions():
    # The first three are those of ONNX.
    mails = _strings("account@gmail.com", "account@hotmail.com", "not email", "account@yahoo.com")
    for name, pattern, x in (
            ("basic", r"www\.[\w.-]+\.\bcom\b", _strings("www.google.com", "www.facebook.com",
                                                         "www.bbc.co.uk")),
            ("email_domain", r"(\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$)",
             mails.reshape(2, 2)),
            ("empty", r"(\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$)", _strings().reshape(2, 0)),
            ("empty_pattern", "", _strings("", "a")),
            ("scalar", "a|b", _strings("b").reshape(())),
            ("long", "(ab?){2,500}", _strings("ab" * 500, "a" * 501, "a", "ab" * 499 + "b")),
            ("many", "[a-z]+", np.array(["x", "1"] * 600, object))):
        cases(f"regex_full_match_{name}", 20, "RegexFullMatch", {"x": x}, [_matches(pattern, x)],
             pattern=pattern)
    # What RE2 and Python define differently, or only one of them defines.
    x = _strings("k", "K", "\u212a", "\u017f", "\u00c9", "a.b", "a\vb", "1", "\u0661", "a\n", "-")
    for name, pattern, wanted in (
            ("folded", "(?i)[ks\u00e9]", "k K \u212a \u017f \u00c9"),
            ("folded_complement", "(?i)[^ks\u00e9]", "1 \u0661 -"),
            ("flags_in_groups", "(?i:k)(?-i)|(?i)s", "k K \u212a \u017f"),
            ("quoted", r"\Qa.b\E", "a.b"),
            ("posix", "[[:alpha:][:^ascii:]]", "k K \u212a \u017f \u00c9 \u0661"),
            ("space", r"a\Sb", "a.b a\vb"),
            ("digit", r"\d|[[:punct:]]", "1 -"),
            ("end", "a$", ""),
            ("characters", r"\x{212A}|\061|\x4b", "K \u212a 1"),
            ("ungreedy", "(?U)a.+b", "a.b a\vb"),
            ("brace", "{|a{,2}|k", "k")):
        wanted = wanted.split(" ")
        case(f"regex_full_match_{name}", 20, "RegexFullMatch", {"x": x},
             [np.array([text in wanted for text in x])], pattern=pattern)
    _unicode_classes()
    _drawn_patterns()


def write_cases():
    _normalisers()
    _ngrams()
    _casts()
    _movement()
    _sequences()
    _concatenations()
    _splits()
    _regular_expressions()
