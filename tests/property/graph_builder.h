// A graph under construction: its values with their elements in every request, and functions that
// append an op, an input or a constant. random_ops.cpp proposes the ops.
#pragma once

#include <functional>
#include <random>

#include "compiler/graph/graph_ops.h"
#include "mlir/IR/Builders.h"
#include "tests/property/random_graph.h"

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

// Kinds of elements of a new input or constant.
enum class Content { kAny, kWhole, kIndices };

class GraphBuilder {
 public:
  GraphBuilder(uint64_t seed, mlir::MLIRContext& context);

  // Random numbers: below(n) is in [0, n), between(low, high) in [low, high].
  int64_t below(int64_t n) {
    return n < 1 ? 0 : static_cast<int64_t>(random_() % static_cast<uint64_t>(n));
  }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[static_cast<size_t>(below(static_cast<int64_t>(choices.size())))];
  }

  // A random existing value for which `fits` is true, more likely a recent one. Null if there is
  // none.
  const Node* pick(const std::function<bool(const Node&)>& fits);
  // A value of `dtype` that broadcasts with all of `partners` in every request. Creates an input or
  // a constant if there is none.
  const Node* pick_broadcastable(DType dtype, const std::vector<const Node*>& partners);
  // A new input or constant. kIndices: elements in [-limit, limit) or [0, limit) of each request.
  const Node* fresh(DType dtype, Dims dims, Content content = Content::kAny,
                    const std::vector<int64_t>& limits = {});
  const Node* constant(const Array& array);
  // The minimum of a dim over all requests.
  int64_t least(DimExpr dim) const;
  std::vector<int64_t> values_of(DimExpr dim) const;  // one per request

  DimExpr random_dim();
  Dims random_dims(int64_t rank);
  DType random_dtype();

  // Appends sv.`name`. Returns false and appends nothing if the type rules or the reference reject
  // the op, or if its values are too large or too uncertain for a useful comparison.
  bool append(const std::string& name, const std::vector<const Node*>& operands,
              const NamedAttributes& attributes = {});

  // The most recent value.
  const Node* newest() const { return nodes_.back().get(); }

  // Append a branch or a loop with random ops in its regions, or symbols read from a value. Return
  // values as for append().
  bool append_if();
  bool append_loop();
  bool append_read_dims();

  mlir::Attribute dims_attribute(const Dims& dims);
  mlir::Builder& attributes() { return builder_; }
  size_t op_count() const { return op_count_; }

  // Completes the graph. It returns all unused values and a few others.
  GraphCase finish();

 private:
  void choose_symbols();
  bool fits_in_memory(const Dims& dims) const;
  Array random_array(DType dtype, std::vector<int64_t> dims, Content content, int64_t limit);
  long double random_number(DType dtype);
  mlir::Operation* create(const std::string& name, const std::vector<const Node*>& operands,
                          const NamedAttributes& attributes);
  DimExpr as_input_dim(DimExpr dim);
  // Removes the region's nodes from the candidates for operands; inputs created meanwhile remain.
  void close_region(mlir::Region& region);
  // Appends random ops at the insertion point.
  void fill(int64_t ops);
  const Node* node_of(mlir::Value value, Arrays arrays);
  const Node* changed(const Node* x);  // result of an op on x with x's type; null if none was found
  const Node* pick_like(const Node* x, mlir::Region& region);
  std::string new_symbol(const char* prefix);
  mlir::ArrayAttr names(const std::vector<std::string>& symbols);
  // Evaluates a new op for every request and adds its results as nodes.
  bool adopt(mlir::Operation* op);

  void remove_unused();
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

// Proposes one random op. Returns false if no op was appended.
bool propose_op(GraphBuilder& builder);

}  // namespace scopevm::compiler::property
