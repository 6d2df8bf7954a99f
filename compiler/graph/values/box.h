// Index arithmetic in tensors of static shape, for symbolic evaluation.
#pragma once

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

using Coordinates = llvm::SmallVector<int64_t>;

// A static shape, with elements in row-major order.
struct Box {
  Coordinates dims;

  int64_t size() const {
    int64_t product = 1;
    for (int64_t dim : dims) product *= dim;
    return product;
  }
  Coordinates coordinates(int64_t index) const {
    Coordinates at(dims.size());
    for (size_t i = dims.size(); i-- > 0; index /= dims[i]) at[i] = index % dims[i];
    return at;
  }
  int64_t index(const Coordinates& at) const {
    int64_t result = 0;
    for (size_t i = 0; i < dims.size(); ++i) result = result * dims[i] + at[i];
    return result;
  }
  bool contains(const Coordinates& at) const {
    for (size_t i = 0; i < dims.size(); ++i)
      if (at[i] < 0 || at[i] >= dims[i]) return false;
    return true;
  }
  // The index of the element that is broadcast to the position `at` of a larger box. REQUIRES: `at`
  // has at least as many coordinates as this box.
  int64_t broadcast_index(const Coordinates& at) const {
    Coordinates own(dims.size());
    for (size_t i = 0; i < dims.size(); ++i)
      own[i] = dims[i] == 1 ? 0 : at[at.size() - dims.size() + i];
    return index(own);
  }
};

// REQUIRES: the shape of the type is static.
inline Box box_of(TensorType type) {
  Box box;
  for (DimExpr dim : type.getShape()) box.dims.push_back(*dim.as_constant());
  return box;
}

// Moves the elements `x` of a tensor of shape `from` to a result of shape `to`. For each position
// `at` of the result, `source_of` computes the position in x. Returns no value if `source_of`
// returns false or a source is outside `from`.
inline std::optional<std::vector<DimExpr>> move_elements(
    const std::vector<DimExpr>& x, const Box& from, const Box& to,
    llvm::function_ref<bool(const Coordinates& at, Coordinates& source)> source_of) {
  std::vector<DimExpr> result;
  for (int64_t i = 0; i < to.size(); ++i) {
    Coordinates at = to.coordinates(i), source(from.dims.size(), 0);
    if (!source_of(at, source) || !from.contains(source)) return std::nullopt;
    result.push_back(x[from.index(source)]);
  }
  return result;
}

}  // namespace scopevm::compiler::graph
