// ONNX ops on texts and words: TfIdfVectorizer.
#include "compiler/frontend/movement/formula.h"
#include "compiler/frontend/node.h"

namespace scopevm::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// mode TF counts, IDF gives the weight of what occurs, TFIDF count times weight. Weight i is that
// of n-gram i of the pool, wherever its column is.
Values tf_idf_vectorizer(Node& n) {
  Value x = n.input(0);
  std::string mode = n.text("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return n.fail("mode \"" + mode + "\" is none of TF, IDF, TFIDF"), Value();
  if (n.rank(x) > 2 || n.rank(x) < 1)
    return n.fail("the input has rank " + llvm::Twine(n.rank(x)) + ", not 1 or 2"), Value();
  if (n.has_attribute("pool_strings"))
    return n.unsupported("a pool of strings is not supported"), Value();
  Value pool = n.constant(n.integers("pool_int64s"));
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

constexpr OpRow kRows[] = {{"TfIdfVectorizer", 9, tf_idf_vectorizer}};

}  // namespace

llvm::ArrayRef<OpRow> text_ops() { return kRows; }

}  // namespace scopevm::frontend
