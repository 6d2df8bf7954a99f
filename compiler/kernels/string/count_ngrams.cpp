// count_ngrams: counts the n-grams of the pool in each row of x. An n-gram can skip elements: its
// elements are a fixed distance apart in the row. The pool is converted to a trie at compile time.
// For each distance and each element of the row, the kernel descends the trie along this element
// and the elements that follow at this distance. Each step down is a binary search. A row takes
// about width * distances * log(pool size) steps.
//
// Node 0 of the trie is its root. Edge e leads to node e + 1. Edges [first[n], first[n + 1]) leave
// node n, in the order of ascending keys.
#include <map>

#include "compiler/graph/values/elements.h"
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/op_lowerings.h"

namespace scopevm::compiler::kernels {
namespace {

struct Trie {
  std::vector<int64_t> first;    // by node, and the end
  std::vector<int64_t> keys;     // by edge
  std::vector<int64_t> columns;  // by edge: the column of the n-gram that ends there, or -1
  std::vector<float> weights;    // by edge: the weight of that n-gram
};

// A node of the trie under construction. `next` maps keys to indices of branches.
struct Branch {
  std::map<int64_t, size_t> next;
  int64_t column = -1;
  float weight = 0;
};

void add_gram(std::vector<Branch>& branches, llvm::ArrayRef<int64_t> keys, int64_t column,
              float weight) {
  size_t at = 0;
  for (int64_t key : keys) {
    auto [edge, is_new] = branches[at].next.try_emplace(key, branches.size());
    at = edge->second;
    if (is_new) branches.emplace_back();
  }
  branches[at].column = column;
  branches[at].weight = weight;
}

// Builds the trie of the n-grams whose length is counted. Branch 0 is the root.
std::vector<Branch> branches_of(graph::CountNgramsOp op, llvm::ArrayRef<int64_t> pool) {
  std::vector<Branch> branches(1);
  llvm::ArrayRef<int64_t> starts = op.getStarts();
  size_t gram = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    auto at = static_cast<size_t>(starts[i]);
    // starts[i] is the position in the pool of the first n-gram of length i + 1 (ngram_counts in
    // ONNX).
    size_t end = i + 1 < starts.size() ? static_cast<size_t>(starts[i + 1]) : pool.size();
    for (size_t length = i + 1; at < end; at += length, ++gram)
      if (length >= op.getMinLength() && length <= op.getMaxLength())
        add_gram(branches, pool.slice(at, length), op.getColumns()[gram],
                 op.getWeights().empty() ? 1.0f : op.getWeights()[gram]);
  }
  return branches;
}

// Numbers edges level by level, so that the edges of a node are contiguous. A sentinel edge follows
// the last edge, because a failed search can read it.
Trie trie_of(const std::vector<Branch>& branches) {
  Trie trie;
  std::vector<size_t> nodes = {0};
  for (size_t node = 0; node < nodes.size(); ++node) {
    trie.first.push_back(static_cast<int64_t>(trie.keys.size()));
    for (auto [key, to] : branches[nodes[node]].next) {
      trie.keys.push_back(key);
      trie.columns.push_back(branches[to].column);
      trie.weights.push_back(branches[to].weight);
      nodes.push_back(to);
    }
  }
  trie.first.push_back(static_cast<int64_t>(trie.keys.size()));
  trie.keys.push_back(0);
  trie.columns.push_back(-1);
  trie.weights.push_back(0);
  return trie;
}

// The elements of the pool as the kernel reads them. Strings are represented by their ids.
std::vector<int64_t> keys_of(mlir::ElementsAttr pool, LoweringContext& context) {
  if (mlir::isa<graph::StringType>(pool.getElementType())) {
    std::vector<int64_t> ids;
    for (llvm::StringRef text : pool.getValues<llvm::StringRef>())
      ids.push_back(context.string_index(text));
    return ids;
  }
  Constant constant = graph::constant_of_elements(pool, DType::kI64);
  const auto* keys = reinterpret_cast<const int64_t*>(constant.data);
  return {keys, keys + pool.getNumElements()};
}

template <typename T>
Constant table(DType dtype, const char* name, std::vector<T> elements) {
  auto owner = std::make_shared<std::vector<T>>(std::move(elements));
  Constant constant{
      .dtype = dtype, .dims = {static_cast<int64_t>(owner->size())}, .name = name, .owner = owner};
  constant.data = reinterpret_cast<const uint8_t*>(owner->data());
  constant.bytes = static_cast<int64_t>(owner->size() * sizeof(T));
  return constant;
}

class NgramWalk {
 public:
  NgramWalk(KernelBuilder& k, graph::CountNgramsOp op, const Trie& trie, LoweringContext& context)
      : k_(k),
        once_(op.getOnce()),
        x_(k.operand(op.getX())),
        first_(operand(context, op, DType::kI64, "first edges", trie.first)),
        keys_(operand(context, op, DType::kI64, "keys", trie.keys)),
        columns_(operand(context, op, DType::kI64, "columns", trie.columns)),
        weights_(operand(context, op, DType::kF32, "weights", trie.weights)),
        result_(k.result(op.getResult(), Elements::kNumbers)),
        i64_(k.builder().getI64Type()) {
    DimExpr width = shape_of(op.getX())[1];
    width_ = k.param(width);
    result_width_ = k.param(shape_of(op.getResult())[1]);
    sentinel_ = k.param(DimExpr(static_cast<int64_t>(trie.keys.size()) - 1));
    max_length_ = k.param(DimExpr(static_cast<int64_t>(op.getMaxLength())));
    // Two elements of a row are at most width - 1 apart, so larger distances are not visited.
    max_distance_ =
        k.param(max(min(DimExpr(static_cast<int64_t>(op.getSkips()) + 1), width - 1), 1));
  }

  void count_row(Term row) {
    Term to = row * result_width_, from = row * width_;
    k_.fill(result_, to, result_width_, k_.zero(result_));
    k_.loop(k_.index(1), max_distance_ + 1, 1, [&](Term distance) {
      k_.loop(k_.index(0), width_, 1, [&](Term start) { walk(from, start, distance, to); });
    });
  }

 private:
  template <typename T>
  Buffer operand(LoweringContext& context, graph::CountNgramsOp op, DType dtype, const char* name,
                 const std::vector<T>& elements) {
    // The key contains the op's address, because each op has its own tables.
    std::string key = std::string("ngrams ") + name + ":" +
                      std::to_string(reinterpret_cast<uintptr_t>(op.getOperation()));
    ValueId id = context.constant(key, {}, [&] { return table(dtype, name, elements); });
    return k_.operand(id, dtype, Elements::kNumbers);
  }

  // Clamped, so that the access stays in bounds for any contents of the tables.
  Term edge_at(Term node) {
    return clamp(convert(k_.load(first_, node), k_.index_type()), k_.index(0), sentinel_);
  }

  // Descends the trie along elements start, start + distance, ...
  void walk(Term from, Term start, Term distance, Term to) {
    Term yes = k_.index(0) == k_.index(0);
    k_.loop_while(
        {start, k_.index(0), k_.index(0), yes},  // element, node, elements matched, continue
        [&](auto now) { return now[3] & (now[0] < width_) & (now[2] < max_length_); },
        [&](auto now) {
          Term key = convert(k_.load(x_, from + now[0]), i64_);
          Term end = edge_at(now[1] + 1);
          Term edge = find(key, edge_at(now[1]), end);
          // The key is loaded even if edge == end. The sentinel keeps this load in bounds.
          Term is_found = (edge < end) & (k_.load(keys_, edge) == key);
          // An n-gram of one element is the same for all distances, so only distance 1 counts it.
          Term is_new = select(now[2] == 0, distance == 1, yes);
          Term column = convert(k_.load(columns_, edge), k_.index_type());
          k_.when(is_found & is_new & (0 <= column) & (column < result_width_),
                  [&] { add(edge, to + column); });
          // Edge e leads to node e + 1. The sentinel leads to none.
          return Terms{now[0] + distance, min(edge + 1, sentinel_), now[2] + 1, is_found};
        });
  }

  void add(Term edge, Term place) {
    Term weight = k_.load_number(weights_, edge);
    k_.store_number(result_, place, once_ ? weight : k_.load_number(result_, place) + weight);
  }

  // The first edge in [low, high) whose key is not below `key`, or `high` (lower bound).
  Term find(Term key, Term low, Term high) {
    return k_.loop_while(
        {low, high}, [&](auto range) { return range[0] < range[1]; },
        [&](auto range) {
          Term middle = quotient(range[0] + range[1], k_.index(2));
          Term is_below = k_.load(keys_, middle) < key;
          return Terms{select(is_below, middle + 1, range[0]), select(is_below, range[1], middle)};
        })[0];
  }

  KernelBuilder& k_;
  bool once_;
  Buffer x_, first_, keys_, columns_, weights_, result_;
  mlir::Type i64_;
  Term width_, result_width_, sentinel_, max_length_, max_distance_;
};

}  // namespace

llvm::LogicalResult lower(graph::CountNgramsOp op, LoweringContext& context) {
  Trie trie = trie_of(branches_of(op, keys_of(op.getPool(), context)));
  KernelBuilder k(context, op, op.getOnce() ? "find_ngrams" : "count_ngrams");
  NgramWalk walk(k, op, trie, context);
  k.loop(k.begin(), k.end(), 1, [&](Term row) { walk.count_row(row); });
  DimExpr width = shape_of(op.getX())[1];
  return k.launch(shape_of(op.getX())[0], grain_of_bytes((width + 1) * 64));
}

}  // namespace scopevm::compiler::kernels
