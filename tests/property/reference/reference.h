// The reference interpreter: evaluates a graph of sv ops with plain loops over long doubles, one
// small function per op, according to docs/ops.md. It shares only the graph and its dim expressions
// with the compiler, and uses no pass and no kernel.
//   elementwise.cpp   scalar functions, select, cast
//   reduction.cpp     reductions and ops along an axis
//   contraction.cpp   matmul, convolutions, pools
//   layout.cpp        ops that move elements
//   values.cpp        ops that create values, small types
//   control_flow.cpp  branches, loops, symbols read from values
#pragma once

#include <algorithm>
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

// The inputs of one op: its attributes, its operands and the values of the symbols in its dims.
struct Operands {
  mlir::Operation* op;
  std::vector<const Array*> arrays;
  const Symbols* symbols;

  const Array& operator[](size_t i) const { return *arrays[i]; }
  // Attribute values. REQUIRES: the op has the attribute.
  int64_t integer(const char* name) const;
  double real(const char* name) const;
  bool flag(const char* name) const;
  std::string text(const char* name) const;
  std::vector<int64_t> integers(const char* name) const;
  // A #sv.dims attribute evaluated with the symbols' values. Errors: kInvalidArgument (no value).
  Result<std::vector<int64_t>> dims(const char* name) const;
};

// Evaluates one op. Errors: kInvalidArgument (invalid operands: an index out of range, dims that do
// not broadcast), kUnsupported (an op without a reference), kInternal (see check_types()).
Result<Arrays> evaluate(mlir::Operation* op, std::vector<const Array*> operands,
                        const Symbols& symbols);

// Values and symbols during the execution of ops.
struct Environment {
  llvm::DenseMap<mlir::Value, Array> values;
  Symbols symbols;
};

// Execute an op, or all ops of a block, including their regions. They store the results of ops in
// `environment`. execute_block() returns the values of the terminator's operands.
Status execute(mlir::Operation* op, Environment& environment);
Result<Arrays> execute_block(mlir::Block& block, Environment& environment);
// Checks that the results have the element types and dims of the op's result types. Errors:
// kInternal (they differ), kInvalidArgument (a dim has no value).
Status check_types(mlir::Operation* op, const Arrays& results, const Symbols& symbols);

// Returns all results of @main. Checks the dims in the types against the computed dims.
Result<Arrays> interpret(mlir::func::FuncOp main, const Arrays& inputs, const Symbols& symbols);

// The dims of a type, evaluated with the symbols' values. Errors: kInvalidArgument.
Result<std::vector<int64_t>> dims_of(mlir::Type type, const Symbols& symbols);

// Evaluate the op with this mnemonic, such as "add". Each returns an empty optional for an op of
// another file.
std::optional<Result<Arrays>> evaluate_elementwise(llvm::StringRef name, const Operands& in);
std::optional<Result<Arrays>> evaluate_reduction(llvm::StringRef name, const Operands& in);
std::optional<Result<Arrays>> evaluate_contraction(llvm::StringRef name, const Operands& in);
std::optional<Result<Arrays>> evaluate_layout(llvm::StringRef name, const Operands& in);
std::optional<Result<Arrays>> evaluate_values(llvm::StringRef name, const Operands& in);

// A kInvalidArgument status.
Status refuse(const std::string& why);
// Builds an array with the element source(index) at each index. Errors: kInvalidArgument (a dim
// below 0).
template <typename Source>
Result<Arrays> filled(DType dtype, const std::vector<int64_t>& dims, Source source) {
  if (std::ranges::any_of(dims, [](int64_t dim) { return dim < 0; }))
    return refuse("a dim is below 0");
  Array result = make_array(dtype, dims);
  size_t position = 0;
  for_each_index(dims, [&](const Index& index) { result.elements[position++] = source(index); });
  return Arrays{std::move(result)};
}
// The dims that all shapes broadcast to. Errors: kInvalidArgument.
Result<std::vector<int64_t>> broadcast_of(const std::vector<std::vector<int64_t>>& shapes);
// The element of `x`, after broadcasting, at `index` of the result.
const Number& broadcast_element(const Array& x, std::span<const int64_t> index);

}  // namespace scopevm::compiler::property
