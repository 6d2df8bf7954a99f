// Loops over lanes: how kernels read operands, compute a body and write results a vector at a time.
#pragma once

#include "compiler/kernels/elementwise/draft.h"
#include "compiler/kernels/elementwise/fused_body.h"
#include "compiler/kernels/elementwise/space.h"
#include "llvm/ADT/DenseMap.h"

namespace scopevm::compiler::kernels {

// A vector's worth of elements along the innermost dim.
struct Lanes {
  int count = 1;
  mlir::Value offset;  // of the first, along the dim
  mlir::Value mask;    // which are inside; null for all
};

using ValueMap = llvm::DenseMap<mlir::Value, mlir::Value>;

// Calls `body` for all of [0, length): whole vectors, then one masked.
void for_lanes(KernelDraft& draft, mlir::Value length, int count,
               llvm::function_ref<void(const Lanes&)> body);

// for `loop` in [begin, end) by step, carrying values: `body` gets and gives them.
llvm::SmallVector<mlir::Value> for_range(
    KernelDraft& draft, mlir::Value begin, mlir::Value end, int64_t step, mlir::ValueRange carried,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);

// Calls `body` for every work item of the launch with the item's index along each of `sizes`
// (row-major; the first one's size does not matter).
void for_items(KernelDraft& draft, llvm::ArrayRef<mlir::Value> sizes,
               llvm::function_ref<void(mlir::Value, llvm::ArrayRef<mlir::Value>)> body);

// The index of `item` along each of `sizes`; divides.
llvm::SmallVector<mlir::Value> split_index(KernelDraft& draft, mlir::Value item,
                                           llvm::ArrayRef<mlir::Value> sizes);
// The next item's indices; does not divide.
llvm::SmallVector<mlir::Value> next_index(KernelDraft& draft, llvm::ArrayRef<mlir::Value> index,
                                          llvm::ArrayRef<mlir::Value> sizes);

// Reads and writes lanes of a buffer of `dtype` from element `at` on, in arithmetic type.
mlir::Value load_lanes(KernelDraft& draft, Buffer buffer, mlir::Value at, const Lanes& lanes);
void store_lanes(KernelDraft& draft, Buffer buffer, mlir::Value at, const Lanes& lanes,
                 mlir::Value value);
mlir::Value load_scalar(KernelDraft& draft, Buffer buffer, mlir::Value at);
void store_scalar(KernelDraft& draft, Buffer buffer, mlir::Value at, mlir::Value value);

mlir::VectorType lanes_type(mlir::Type element, int count);

// Vector length for a body: a full register of its widest type, at most 4 bytes wide.
int lane_count(const FusedBody& body, const Target& target);

}  // namespace scopevm::compiler::kernels
