// GraphBuilder: a random graph under construction. It stores the elements of each value for every
// request, as computed by the reference interpreter. Its functions append ops, inputs and
// constants; random_ops.cpp chooses the ops.
#pragma once

#include <functional>
#include <random>
#include <set>

#include "compiler/graph/graph_ops.h"
#include "mlir/IR/Builders.h"
#include "tests/property/random/random_graph.h"

namespace scopevm::compiler::property {

using Dims = llvm::SmallVector<DimExpr>;
using NamedAttributes = std::vector<std::pair<const char*, mlir::Attribute>>;

// A value of the graph. Owned by the builder.
struct Node {
  mlir::Value value;
  Arrays arrays;  // one per request

  graph::TensorType type() const { return mlir::cast<graph::TensorType>(value.getType()); }
  DType dtype() const { return type().getDtype(); }
  int64_t rank() const { return type().getRank(); }
  Dims dims() const { return Dims(type().getShape()); }
};

// The elements of a new input or constant.
enum class Content {
  kAny,
  kWhole,   // without a fractional part
  kIndices  // valid indices of an axis; see fresh()
};

class GraphBuilder {
 public:
  GraphBuilder(uint64_t seed, mlir::MLIRContext& context);

  // A random number in [0, n); 0 if n < 1.
  int64_t below(int64_t n) {
    return n < 1 ? 0 : static_cast<int64_t>(random_() % static_cast<uint64_t>(n));
  }
  // A random number in [low, high].
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  // True with a probability of `percent` / 100.
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[static_cast<size_t>(below(static_cast<int64_t>(choices.size())))];
  }

  // A random existing value for which `fits` is true. Recent values are more likely. Null if there
  // is none.
  const Node* pick(const std::function<bool(const Node&)>& fits);
  // A value of `dtype` that broadcasts with all of `partners` in every request. Sometimes, and if
  // there is none, creates an input or a constant; null if it is too large.
  const Node* pick_broadcastable(DType dtype, const std::vector<const Node*>& partners);
  // A new input or constant; null if it is too large. For kIndices, `limits` has one number per
  // request, and the elements are in [-limit, limit), or in [0, limit) for unsigned types.
  const Node* fresh(DType dtype, Dims dims, Content content = Content::kAny,
                    const std::vector<int64_t>& limits = {});
  const Node* constant(const Array& array);
  // The minimum of a dim over all requests.
  int64_t least(DimExpr dim) const;
  std::vector<int64_t> values_of(DimExpr dim) const;  // one per request

  DimExpr random_dim();
  Dims random_dims(int64_t rank);
  DType random_dtype();

  // Appends the op sv.`name`. Returns false and appends nothing if an operand is null, or if the
  // type rules or the reference reject the op. The same applies if its results are too large, or
  // too inexact for a comparison.
  bool append(const std::string& name, const std::vector<const Node*>& operands,
              const NamedAttributes& attributes = {});

  // The most recent value.
  const Node* newest() const { return nodes_.back().get(); }

  // Append an sv.if or sv.loop with random ops in its regions, or an sv.read_dims, which defines
  // symbols with the values of a tensor. Return false and append nothing if the op was rejected.
  bool append_if();
  bool append_loop();
  bool append_read_dims();

  mlir::Attribute dims_attribute(const Dims& dims);
  mlir::Builder& attributes() { return builder_; }
  size_t op_count() const { return op_count_; }

  // Completes and returns the graph. The results of its @main are all unused results of ops, and a
  // few other values.
  GraphCase finish();

 private:
  void choose_symbols();
  bool fits_in_memory(const Dims& dims) const;
  Array random_array(DType dtype, std::vector<int64_t> dims, Content content, int64_t limit);
  long double random_number(DType dtype);
  mlir::Operation* create(const std::string& name, const std::vector<const Node*>& operands,
                          const NamedAttributes& attributes);
  DimExpr as_input_dim(DimExpr dim);
  // Removes the nodes of a completed region, so that later ops do not use them as operands. Inputs
  // of the graph that were created for the region remain.
  void close_region(mlir::Region& region);
  // Appends up to `ops` random ops at the insertion point.
  void fill(int64_t ops);
  const Node* node_of(mlir::Value value, Arrays arrays);
  // Appends a random op that preserves the type of x. Returns its result, or null if the op was
  // rejected.
  const Node* changed(const Node* x);
  // A random node of the region with the type of x, or x itself if there is none.
  const Node* pick_like(const Node* x, mlir::Region& region);
  // Appends the condition of a loop: whether the iteration is less than a random limit.
  mlir::Value loop_condition(const std::string& index);
  // A random node of the body whose dims use no symbols in `varying`, which can differ between the
  // iterations and are not visible after the loop; null if there is none.
  const Node* gathered_part(mlir::Region& body, const std::set<std::string>& varying);
  std::string new_symbol(const char* prefix);
  mlir::ArrayAttr names(const std::vector<std::string>& symbols);
  // Evaluates a new op for every request and adds its results as nodes. If the reference rejects
  // the op, erases it and resets the number of ops to `ops_before`.
  bool adopt(mlir::Operation* op, size_t ops_before);

  void remove_unused();
  // Whether enough elements are known, and exact enough, for a useful comparison.
  bool is_worthwhile(const Array& array);

  std::mt19937_64 random_;
  mlir::MLIRContext* context_;
  GraphCase graph_;
  mlir::OpBuilder builder_;
  mlir::func::FuncOp main_;
  std::vector<std::string> symbols_;
  std::vector<std::unique_ptr<Node>> nodes_;
  size_t op_count_ = 0;
  int depth_ = 0;                  // number of regions around the insertion point
  int64_t symbol_count_ = 0;       // number of symbols that new_symbol() has named
  std::vector<std::string> read_;  // symbols read from values
};

// Proposes one random op, or the ops of an attention. Returns false if no op was appended.
bool propose_op(GraphBuilder& builder);

}  // namespace scopevm::compiler::property
