// Random graphs: creates a module with @main from a seed, with symbol values and inputs for several
// calls.
//
// The generator proposes one op at a time. It keeps the op if the type rules accept it, and if the
// reference can evaluate it for every request with results that are small and exact enough.
// Therefore indices are in range, dims broadcast, and float errors are bounded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tests/property/reference/reference.h"

namespace scopevm::compiler::property {

// The symbols' values and the inputs of one call.
struct Request {
  Symbols symbols;
  Arrays inputs;
};

struct GraphCase {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Request> requests;

  mlir::func::FuncOp main() const;
  std::string text() const;
  int64_t op_count() const;  // outside of regions, including constants
  GraphCase clone() const;
};

// Equal seeds give equal graphs. The number of ops exceeds `most_ops` only by the ops of the last
// proposal, such as a loop and its body; constants do not count.
// REQUIRES: the context has the graph and func dialects.
GraphCase random_graph(uint64_t seed, mlir::MLIRContext& context, int64_t most_ops = 250);

}  // namespace scopevm::compiler::property
