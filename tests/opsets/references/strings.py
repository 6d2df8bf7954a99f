"""Cases of string tensors: casts, normalisation, n-grams, ops that move or compare elements, and
sequences."""
import numpy as np

from case_file import case, cases


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


def write_cases():
    _normalisers()
    _ngrams()
    _casts()
    _movement()
    _sequences()
