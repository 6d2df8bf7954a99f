// Symbolic evaluation of gather.
#include "compiler/graph/type_rule.h"
#include "compiler/graph/values/box.h"
#include "compiler/graph/values/symbolic_values.h"

namespace scopevm::compiler::graph {

std::optional<std::vector<DimExpr>> GatherOp::evaluateSymbolic(SymbolicValues& values) {
  const std::vector<DimExpr>* found = values.find(getX());
  if (!found) return std::nullopt;
  const std::vector<DimExpr> x = *found;  // a copy: the pointer is valid until the next query
  const std::vector<DimExpr>* indices = values.find(getIndices());
  if (!indices) return std::nullopt;
  const Box from = box_of(tensor_type(getX())), chosen = box_of(tensor_type(getIndices()));
  auto axis = static_cast<size_t>(getAxis());
  return move_elements(
      x, from, box_of(tensor_type(getResult())), [&](const Coordinates& at, Coordinates& source) {
        Coordinates where(at.begin() + axis, at.begin() + axis + chosen.dims.size());
        std::optional<int64_t> index = (*indices)[chosen.index(where)].as_constant();
        if (!index) return false;
        for (size_t i = 0; i < axis; ++i) source[i] = at[i];
        source[axis] = *index < 0 ? *index + from.dims[axis] : *index;
        for (size_t i = axis + 1; i < source.size(); ++i)
          source[i] = at[i + chosen.dims.size() - 1];
        return true;
      });
}

}  // namespace scopevm::compiler::graph
