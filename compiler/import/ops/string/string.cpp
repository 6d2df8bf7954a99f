// ONNX ops on strings: StringNormalizer, TfIdfVectorizer, StringConcat, StringSplit,
// RegexFullMatch.
#include <cstring>

#include "compiler/graph/type_rule.h"
#include "compiler/import/ops/op_table.h"
#include "compiler/import/ops/selection/data_dependent.h"
#include "compiler/import/ops/string/automaton.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// --- StringNormalizer. --------------------------------------------------------------------------

Value change_case(Node& n, Value x, bool to_upper) {
  return n.emit<ChangeCaseOp>({x}, {n.attr("upper", to_upper)});
}

// The words that are not stopwords.
Value without(Node& n, Value words, const std::vector<std::string>& stopwords) {
  if (stopwords.empty()) return words;
  Value stops = n.constant(stopwords), compared = words;
  if (!n.flag("is_case_sensitive", false)) {
    stops = change_case(n, stops, false);
    compared = change_case(n, words, false);
  }
  if (n.has_failed()) return {};
  // Compares every word with every stopword: [words, stopwords].
  Value is_stop = n.emit<EqualOp>({n.unsqueeze(compared, {1}), n.unsqueeze(stops, {0})});
  Value found = n.emit<ReduceMaxOp>({n.cast(is_stop, DType::kU8)},
                                    {n.attr("axes", Ints{1}), n.attr("keep_dims", false)});
  Value is_kept = n.emit<EqualOp>({found, n.scalar(0, DType::kU8)});
  return taken_where(n, words, is_kept, 0);
}

// `words`, or a single empty string if there are no words.
Value at_least_one(Node& n, Value words) {
  if (n.has_failed()) return {};
  // `missing` is 1 if there are no words, else 0.
  DimExpr count = n.dim(words, 0), missing = max(DimExpr(1) - count, 0);
  if (missing.is_constant(0)) return words;
  return n.pad(words, {DimExpr(0), missing}, n.scalar(0, DType::kStr));
}

Values string_normalizer(Node& n) {
  Value x = n.input(0);
  std::string action = n.text("case_change_action", "NONE");
  if (action != "NONE" && action != "LOWER" && action != "UPPER")
    return n.fail("case_change_action is \"" + action + "\", expected NONE, LOWER or UPPER");
  if (n.rank(x) < 1 || n.rank(x) > 2)
    return n.fail("the input must have rank 1 or 2, but is " + text_of(n.type(x)));
  if (n.rank(x) == 2) n.require_equal(n.dim(x, 0), 1, "the first of two dims is {0}, expected {1}");
  Value words = n.reshape(x, {n.shape(x).back()});
  words = at_least_one(n, without(n, words, n.strings("stopwords")));
  if (action != "NONE") words = change_case(n, words, action == "UPPER");
  if (n.has_failed() || n.rank(x) == 1) return words;
  return n.unsqueeze(words, {0});
}

// --- TfIdfVectorizer. ---------------------------------------------------------------------------

// The result for an n-gram depends on the mode. TF: its count. IDF: its weight if it occurs, else
// 0. TFIDF: the product of count and weight. Weight i belongs to n-gram i of the pool, independent
// of the n-gram's column in the result.
Values tf_idf_vectorizer(Node& n) {
  Value x = n.input(0);
  std::string mode = n.text("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return n.fail("mode is \"" + mode + "\", expected TF, IDF or TFIDF");
  if (n.rank(x) > 2 || n.rank(x) < 1)
    return n.fail("the input must have rank 1 or 2, but is " + text_of(n.type(x)));
  Value pool = n.has_attribute("pool_strings") ? n.constant(n.strings("pool_strings"))
                                               : n.constant(n.integers("pool_int64s"));
  llvm::SmallVector<float> weights = n.numbers("weights");
  if (mode == "TF") weights.clear();
  Value rows = n.rank(x) == 1 ? n.unsqueeze(x, {0}) : x;
  if (n.has_failed()) return Value();
  Value counts = n.emit<CountNgramsOp>(
      {rows},
      {n.attr("pool", pool.getDefiningOp<ConstantOp>().getValue()),
       n.attr("starts", n.integers("ngram_counts")), n.attr("columns", n.integers("ngram_indexes")),
       n.attr("weights", llvm::ArrayRef<float>(weights)),
       n.attr("min_length", n.integer("min_gram_length")),
       n.attr("max_length", n.integer("max_gram_length")),
       n.attr("skips", n.integer("max_skip_count")), n.attr("once", mode == "IDF")});
  if (n.has_failed() || n.rank(x) == 2) return counts;
  return n.reshape(counts, {n.dim(counts, 1)});
}

// --- StringConcat, StringSplit, RegexFullMatch. -------------------------------------------------

Values string_concat(Node& n) {
  Value a = n.input(0), b = n.input(1);
  if (n.has_failed()) return Value();
  std::optional<Dims> dims = broadcast_shapes(n.shape(a), n.shape(b));
  if (!dims)
    return n.fail("inputs " + text_of(n.type(a)) + " and " + text_of(n.type(b)) +
                  " do not broadcast");
  return n.emit<ConcatStringsOp>({n.expand(a, *dims), n.expand(b, *dims)});
}

// The largest number of pieces is the last dim of the result.
Values string_split(Node& n) {
  Value x = n.input(0);
  Value delimiter = n.reshape(n.constant(std::vector{n.text("delimiter", "")}), {});
  auto most = n.attr("max_splits", n.integer("maxsplit", -1));
  Value counts = n.emit<CountPiecesOp>({x, delimiter}, {most});
  if (n.has_failed()) return Value();
  Value largest = n.emit<ReduceMaxOp>(
      {counts}, {n.attr("axes", first_axes(n.rank(x))), n.attr("keep_dims", false)});
  // 0 if there are no strings.
  largest = n.emit<MaxOp>({largest, n.scalar(0, DType::kI64)});
  if (n.has_failed()) return Value();
  Dims count = n.dims_of(largest, "the number of pieces");
  return {n.emit<SplitStringsOp>({x, delimiter}, {n.attr("count", count), most}), counts};
}

Values regex_full_match(Node& n) {
  Value x = n.input(0);
  if (!n.has_attribute("pattern")) return n.fail("attribute \"pattern\" is missing");
  Pattern pattern = n.checked(parse_pattern(n.text("pattern", "")));
  if (n.has_failed()) return Value();
  std::vector<int32_t> automaton = n.checked(automaton_of(pattern));
  if (n.has_failed()) return Value();
  std::vector<char> bytes(automaton.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), automaton.data(), bytes.size());
  Value table = n.constant({static_cast<int64_t>(automaton.size())}, DType::kI32, bytes);
  return n.emit<MatchStringsOp>({x, table});
}

}  // namespace

const OpRows kStringOps = {
    {"RegexFullMatch", 20, regex_full_match, OpSignature{"X", "pattern"}},
    {"StringConcat", 20, string_concat, OpSignature{"X Y", ""}},
    {"StringNormalizer", 10, string_normalizer},
    {"StringSplit", 20, string_split, OpSignature{"X", "delimiter maxsplit"}},
    {"TfIdfVectorizer", 9, tf_idf_vectorizer},
};

}  // namespace scopevm::compiler::frontend
