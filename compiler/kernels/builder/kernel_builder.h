// KernelBuilder: one kernel and the step that launches it, built together. A generator names
// buffers and params as it needs them, emits loops over work items, and launches:
//
//     KernelBuilder k(context, op, "scale");  // y := factor * x
//     Buffer x = k.operand(op.getX()), y = k.result(op.getResult());
//     Term factor = k.load(k.operand(op.getFactor()), k.index(0));
//     k.loop(k.begin(), k.end(), 1, [&](Term i) { k.store(y, i, k.load(x, i) * factor); });
//     return k.launch(element_count(shape_of(op.getX())), grain_of_bytes(2 * sizeof(float)));
//
//   code_builder.h   loops, loads and stores of one element or one vector, masks
//   term.h           arithmetic on values
//   axes.h           iteration spaces
//   kernel_module.h  what a kernel is
//
// Sizes, strides and starts are params of the launch, so kernels are shared over shapes; what is
// baked is what changes the code: element types, the number of axes, which strides are 0 or 1.
#pragma once

#include "compiler/kernels/builder/axes.h"
#include "compiler/kernels/builder/code_builder.h"
#include "compiler/kernels/builder/lowering_context.h"

namespace scopevm::compiler::kernels {

// What the elements of a buffer are to its kernel.
enum class Elements : uint8_t {
  kBits,     // integers of the dtype's width: bytes that move, so f32, i32 and u32 share kernels
  kNumbers,  // the dtype's storage type
};

// A temporary with an instance for each worker: where the calling worker's elements start.
struct Scratch {
  Buffer buffer;
  Term start;
};

class KernelBuilder : public CodeBuilder {
 public:
  // `op` gives the location, of errors too; `kind` starts the symbol.
  KernelBuilder(LoweringContext& context, mlir::Operation* op, llvm::StringRef kind);
  // A kernel without a launch is erased.
  ~KernelBuilder();

  LoweringContext& context() { return context_; }

  // --- Signature. All may be called at any time before `launch`. ---

  Buffer operand(ValueId value, DType dtype, Elements elements = Elements::kBits);
  Buffer operand(mlir::Value value, Elements elements = Elements::kBits);
  Buffer result(ValueId value, DType dtype, Elements elements = Elements::kBits);
  Buffer result(mlir::Value value, Elements elements = Elements::kBits);
  // Of the dtype's storage type. Emits the start where the builder stands.
  Scratch scratch(DimExpr elements, DType dtype);
  // The result's bytes may be the operand's; with several operands, those of the first whose value
  // is not used later. Returns false, and allows nothing, when the value is another operand, too.
  bool allow_in_place(const Buffer& result, const Buffer& operand);

  Term param(DimExpr value);
  // As param, but the constant 0 is baked.
  Term stride(DimExpr value);
  // The work items of the call, and which worker makes it.
  Term begin();
  Term end();
  Term worker();

  // --- Work items: work_items.cpp. ---

  using Visit = llvm::function_ref<void(llvm::ArrayRef<Term> index, llvm::ArrayRef<Term> offsets)>;
  // Visits items [low, high) of the space of `axes`, last axis fastest, with the item's index on
  // every axis and, for every column c of strides, bases[c] + sum of index * stride. Divides once
  // for each axis, before the first item.
  void walk(Term low, Term high, llvm::ArrayRef<Axis> axes, llvm::ArrayRef<DimExpr> bases,
            Visit visit);
  // The call's own items, when the grid is count_items(axes).
  void for_items(llvm::ArrayRef<Axis> axes, llvm::ArrayRef<DimExpr> bases, Visit visit);
  // The same for axes whose sizes are terms, without offsets, with the number of the item. The
  // first size is not used.
  void for_items(llvm::ArrayRef<Term> sizes,
                 llvm::function_ref<void(Term item, llvm::ArrayRef<Term> index)> visit);
  // The index of `item` along each of `sizes`; divides. The first size is not used.
  Terms split_index(Term item, llvm::ArrayRef<Term> sizes);
  // The index of the item after that of `index`; does not divide. `step`, if any, is called for
  // each axis, the last one first, with whether the index changes along it.
  Terms next_index(llvm::ArrayRef<Term> index, llvm::ArrayRef<Term> sizes,
                   llvm::function_ref<void(size_t axis, Term changes)> step = nullptr);

  // Ends the kernel and appends its launch of `grid` work items. `grain`: the fewest items that are
  // worth a task of their own.
  llvm::LogicalResult launch(DimExpr grid, DimExpr grain);

 private:
  KernelBuilder(LoweringContext& context, mlir::Operation* op, llvm::StringRef kind,
                mlir::OpBuilder module);
  Buffer add_buffer(unsigned position, mlir::Type element, DType dtype);
  mlir::Type element_type(DType dtype, Elements elements);
  Term argument_from_end(unsigned count);
  step::Launch& launch_step() { return *step_.as<step::Launch>(); }

  LoweringContext& context_;
  std::string kind_;
  mlir::func::FuncOp function_;  // null after the launch
  mlir::Block* entry_;
  Step step_;                                          // a launch
  llvm::SmallVector<mlir::Value> operands_, results_;  // the buffers' memrefs
};

// How many items make up `task_work`, at least 1, when an item takes `item_work`.
DimExpr grain_of(int64_t task_work, DimExpr item_work);
// For kernels that are bound by memory: an item moves about this many bytes.
DimExpr grain_of_bytes(DimExpr item_bytes);

}  // namespace scopevm::compiler::kernels
