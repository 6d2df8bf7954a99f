// KernelBuilder: one movement kernel and the step that launches it, built together. A generator
// names buffers and params as it needs them, emits loops over work items, and launches.
//
//   expression.h    arithmetic on the kernel's values
//   strided_copy.h  copies whose two sides step by strides: transpose, expand, slice, tile
//
// Sizes, strides and starts are params of the launch, so kernels are shared over shapes; what is
// baked is the number of axes and which strides are 0 or 1.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/builder/expression.h"
#include "compiler/kernels/builder/lowering_context.h"

namespace scopevm::compiler::kernels::movement {

using Dims = llvm::SmallVector<DimExpr, 6>;
using Visit = llvm::function_ref<void(llvm::ArrayRef<Val> index, llvm::ArrayRef<Val> offsets)>;

// One axis of an iteration space, and how far each followed offset moves along it, in elements.
struct Axis {
  DimExpr size;
  llvm::SmallVector<DimExpr, 3> strides;
};

struct Buffer {
  mlir::Value memref;
  DType dtype = DType::kF32;
};

// The dims of a graph value; row-major strides; the product of dims [from, to).
llvm::ArrayRef<DimExpr> shape_of(mlir::Value value);
DType dtype_of(mlir::Value value);
Dims row_major_strides(llvm::ArrayRef<DimExpr> shape);
DimExpr product(llvm::ArrayRef<DimExpr> shape, size_t from, size_t to);
// How many items the axes have together.
DimExpr count_items(llvm::ArrayRef<Axis> axes);
// Drops axes of size 1 and joins neighbours that all offsets run through as one.
void simplify(llvm::SmallVector<Axis>& axes);

// What the elements of a buffer are to its kernel.
enum class Elements : uint8_t {
  kBits,     // integers of the dtype's width: bytes that move, so f32, i32 and u32 share kernels
  kNumbers,  // the dtype's storage type
};

class KernelBuilder {
 public:
  // `op` gives locations, names and the dtype of diagnostics; `kind` starts the symbol.
  KernelBuilder(LoweringContext& context, mlir::Operation* op, llvm::StringRef kind);

  Buffer operand(ValueId value, DType dtype, Elements elements = Elements::kBits);
  Buffer operand(mlir::Value value, Elements elements = Elements::kBits);
  Buffer result(ValueId value, DType dtype, Elements elements = Elements::kBits);
  Buffer result(mlir::Value value, Elements elements = Elements::kBits);
  Val param(DimExpr value);
  // As param, but the constant 0 is baked.
  Val stride(DimExpr value);
  Val index(int64_t value);
  mlir::Type index_type() { return builder_.getIndexType(); }
  mlir::ImplicitLocOpBuilder& builder() { return builder_; }
  const Target& target() const;
  Val begin();
  Val end();

  // for (i = low; i < high; i += step), with values carried from one iteration to the next.
  void loop(Val low, Val high, int64_t step, llvm::function_ref<void(Val i)> body);
  Vals loop(Val low, Val high, int64_t step, llvm::ArrayRef<Val> initial,
            llvm::function_ref<Vals(Val i, llvm::ArrayRef<Val> carried)> body);
  // while (condition(carried)) carried = body(carried).
  Vals loop_while(llvm::ArrayRef<Val> initial,
                  llvm::function_ref<Val(llvm::ArrayRef<Val> carried)> condition,
                  llvm::function_ref<Vals(llvm::ArrayRef<Val> carried)> body);
  void when(Val condition, llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise = nullptr);
  // Runs cases(i) for i == selector, selector in [0, count).
  void choose(Val selector, int64_t count, llvm::function_ref<void(int64_t)> cases);

  // Visits items [low, high) of the space of `axes`, last axis fastest, with the item's index on
  // every axis and, for every column c of strides, bases[c] + sum of index * stride. Divides once
  // for each axis, before the first item.
  void walk(Val low, Val high, llvm::ArrayRef<Axis> axes, llvm::ArrayRef<DimExpr> bases,
            Visit visit);
  // The kernel's own items, when its grid is count_items(axes).
  void for_items(llvm::ArrayRef<Axis> axes, llvm::ArrayRef<DimExpr> bases, Visit visit);

  Val load(Buffer buffer, Val at);
  Val load(Buffer buffer, Val at, int64_t lanes);  // one lane: a scalar
  void store(Buffer buffer, Val at, Val value);
  // As arithmetic sees it: f16 and bf16 as f32. REQUIRES: Elements::kNumbers.
  Val load_number(Buffer buffer, Val at);
  void store_number(Buffer buffer, Val at, Val value);
  // Lanes below `count` only; other lanes are 0 and their memory is not touched.
  Val load_first(Buffer buffer, Val at, int64_t lanes, Val count);
  void store_first(Buffer buffer, Val at, Val value, Val count);
  Val shuffle(Val a, Val b, llvm::ArrayRef<int64_t> lanes);
  Val splat(Val scalar, int64_t lanes);
  Val zero(Buffer buffer);  // a scalar of the buffer's element type
  int64_t lanes(Buffer buffer) const;
  mlir::Type number_type(Buffer buffer);  // what load_number gives

  // The element at `at` of a signed integer or float buffer as an index into a dim of `size`:
  // negative ones count from the end. The data may be wrong, so the index may be out of range.
  Val load_index(Buffer indices, Val at, Val size);
  // Covers [0, count) of a run in vectors of `buffer`'s elements: `whole(i, lanes)` for the vector
  // at i, and where masks are cheap `masked(i, rest)` for the first `rest` lanes of the last one.
  // Elsewhere the last whole vector ends at `count`, overlapping the one before it, and a run below
  // one vector is single elements (lanes = 1). REQUIRES: doing an element twice is harmless.
  void for_vectors(Buffer buffer, Val count, llvm::function_ref<void(Val, int64_t)> whole,
                   llvm::function_ref<void(Val, Val)> masked);
  // destination[to + i] = source[from + i], i in [0, count), in vectors.
  void copy(Buffer source, Val from, Buffer destination, Val to, Val count);
  // destination[to + i] = value.
  void fill(Buffer destination, Val to, Val count, Val value);

  Step& step() { return step_; }
  // Ends the kernel and appends its launch. `item_cost`: about how many bytes one item moves.
  llvm::LogicalResult launch(DimExpr grid, DimExpr item_cost);

 private:
  Buffer add_buffer(unsigned position, DType dtype, Elements elements);

  LoweringContext& context_;
  std::string kind_;
  mlir::ImplicitLocOpBuilder builder_;
  mlir::func::FuncOp function_;
  mlir::Block* entry_;
  Step step_;
};

}  // namespace scopevm::compiler::kernels::movement
