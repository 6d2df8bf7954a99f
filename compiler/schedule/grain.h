// The grains of parallel launches.
#pragma once

#include "compiler/dims/dim_expr.h"

namespace scopevm::compiler::schedule {

// The number of items, at least 1, that do `task_work` units of work if each item does `item_work`.
inline DimExpr grain_of(int64_t task_work, DimExpr item_work) {
  return max(floordiv(task_work, max(item_work, 1)), 1);
}

}  // namespace scopevm::compiler::schedule
