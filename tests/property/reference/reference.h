// The reference: a graph of sv ops evaluated by plain loops over wide numbers, one small function
// an op, from what docs/ops.md says the op computes. It shares nothing with the compiler but the
// graph itself: no pass, no kernel, no symbolic shape.
//   elementwise.cpp   scalar functions, select, cast
//   reduction.cpp     reductions and ops along an axis
//   contraction.cpp   matmul, convolutions, pools
//   layout.cpp        ops that move elements, and values
//   control_flow.cpp  branches, loops, symbols read from values
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Operation.h"
#include "scopevm/status.h"
#include "tests/property/reference/array.h"

namespace scopevm::compiler::property {

using Symbols = std::map<std::string, int64_t, std::less<>>;
using Arrays = std::vector<Array>;

// What one op sees: its attributes, its operands (null where an optional one is absent) and the
// values of the symbols in its dims.
struct Operands {
  mlir::Operation* op;
  std::vector<const Array*> arrays;
  const Symbols* symbols;

  const Array& operator[](size_t i) const { return *arrays[i]; }
  // Attributes; REQUIRES: the op has them.
  int64_t integer(const char* name) const;
  double real(const char* name) const;
  bool flag(const char* name) const;
  std::string text(const char* name) const;
  std::vector<int64_t> integers(const char* name) const;
  // A #sv.dims attribute at the symbols' values. Errors: kInvalidArgument (no value).
  Result<std::vector<int64_t>> dims(const char* name) const;
};

// Errors: kInvalidArgument (operands that the op does not admit: an index out of range, dims that
// do not broadcast), kUnsupported (an op that the reference does not know).
Result<Arrays> evaluate(mlir::Operation* op, std::vector<const Array*> operands,
                        const Symbols& symbols);

// Values and symbols while ops run.
struct Environment {
  llvm::DenseMap<mlir::Value, Array> values;
  Symbols symbols;
};

// Runs an op, or a block's ops, whatever they contain; a block gives what its terminator names.
Status execute(mlir::Operation* op, Environment& environment);
Result<Arrays> execute_block(mlir::Block& block, Environment& environment);
Status check_types(mlir::Operation* op, const Arrays& results, const Symbols& symbols);

// All results of @main. The dims that the types state are checked against those computed.
Result<Arrays> interpret(mlir::func::FuncOp main, const Arrays& inputs, const Symbols& symbols);

// A type's dims at the symbols' values. Errors: kInvalidArgument.
Result<std::vector<int64_t>> dims_of(mlir::Type type, const Symbols& symbols);

// The parts, by mnemonic ("add"); empty for an op of another part.
std::optional<Result<Arrays>> evaluate_elementwise(llvm::StringRef name, const Operands& in);
std::optional<Result<Arrays>> evaluate_reduction(llvm::StringRef name, const Operands& in);
std::optional<Result<Arrays>> evaluate_contraction(llvm::StringRef name, const Operands& in);
std::optional<Result<Arrays>> evaluate_layout(llvm::StringRef name, const Operands& in);

Status refuse(const std::string& why);
// The dims that all broadcast to. Errors: kInvalidArgument.
Result<std::vector<int64_t>> broadcast_of(const std::vector<std::vector<int64_t>>& shapes);
// The element of `x`, broadcast, at `index` of the result.
const Number& broadcast_element(const Array& x, std::span<const int64_t> index);

}  // namespace scopevm::compiler::property
