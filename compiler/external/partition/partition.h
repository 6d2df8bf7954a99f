// External code generation: parts of a graph become functions that a library can compute.
//
//   patterns.h     the patterns of a library
//   partition()    ops that match a pattern -> sv.partition
//   merge()        producer and consumer -> one sv.partition
//   outline()      sv.partition -> function with a body, and sv.call_extern
//   describe.h     function -> the description for the library
//   inline_back()  calls of a function that no library computes -> its ops
//
// All functions run before placement.
#pragma once

#include <string>
#include <vector>

#include "compiler/external/partition/patterns.h"
#include "compiler/graph/graph_ops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace scopevm::compiler::external {

// Attributes of an outlined function: the library's name, and the names of its patterns.
inline constexpr char kLibrary[] = "sv.library";
inline constexpr char kPatterns[] = "sv.patterns";
// Attributes of a parameter of an outlined function: each call passes a constant, and the library
// prepares it. The value of the latter is a dictionary, the member "prepared" in the description.
inline constexpr char kConstant[] = "sv.constant";
inline constexpr char kPrepared[] = "sv.prepared";
// Attribute of an op that no pattern matches: scopevm's kernel is faster.
inline constexpr char kDeclined[] = "sv.declined";

// Moves the ops that match a pattern into an sv.partition, for each pattern in the order of
// Patterns::functions(). A match has the pattern's op names, operands, element types and splat
// constants. Commutative ops match in both operand orders. Ranks, dims and attributes are not
// compared. Of the results, only those that the pattern returns may have users outside of the
// match. Ops with placement constraints never match.
//
// The conditions that each request is checked for (RequestCheckOp) become sv.require ops before the
// partition. An op with a condition that sv.require cannot express never matches.
void partition(mlir::ModuleOp module, const Patterns& patterns);
// Like the overload above, for one pattern of `library`.
void partition(mlir::ModuleOp module, mlir::func::FuncOp pattern, llvm::StringRef library);

// Merges each partition with the partitions of the same library whose results it uses, if no other
// op is on a path between them.
void merge(mlir::ModuleOp module);

// Replaces the partition by its ops.
void dissolve(graph::PartitionOp partition);

// Replaces each sv.partition by an sv.call_extern of a new private function, which has the
// attributes kLibrary and kPatterns. Dims of the function are named s0, s1, .... A parameter has
// the attribute kConstant if its operand is an sv.constant without a placement constraint.
// Partitions that are equal except for the names of dims and the elements of constant operands
// share one function. A partition that does not have a function for all values of its dims is
// replaced by its ops. Returns the functions in the order of their first calls.
std::vector<mlir::func::FuncOp> outline(mlir::ModuleOp module);

// Replaces each sv.call_extern of the function by the function's ops, and erases the function.
// Fails with a diagnostic if a call does not match the function, or if an op rejects the dims of
// a call. This is impossible for functions and calls from outline().
llvm::LogicalResult inline_back(mlir::ModuleOp module, mlir::func::FuncOp function);

}  // namespace scopevm::compiler::external
