// Random graphs: a seed -> a module with @main, symbols' values for several calls, and inputs.
//
// The generator proposes an op at a time and keeps it when the type rules accept it and the
// reference can evaluate it at every assignment of the symbols: so indices are in range, dims
// broadcast, and values stay where float error is bounded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tests/property/reference/reference.h"

namespace scopevm::compiler::property {

// The values of one call's symbols, and its inputs.
struct Request {
  Symbols symbols;
  Arrays inputs;
};

struct GraphCase {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Request> requests;

  mlir::func::FuncOp main() const;
  std::string text() const;
  int64_t op_count() const;
  GraphCase clone() const;
};

// The same seed gives the same graph, of `most_ops` ops at most (constants do not count). The
// context must have the graph and func dialects.
GraphCase random_graph(uint64_t seed, mlir::MLIRContext& context, int64_t most_ops = 250);

}  // namespace scopevm::compiler::property
