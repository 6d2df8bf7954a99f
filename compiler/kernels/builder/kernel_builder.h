// KernelBuilder: builds one kernel and the step that launches it. A generator declares buffers and
// params where it first uses them, emits loops over work items, and launches:
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
//   kernel_module.h  the form of a kernel
//
// Sizes, strides and offsets are params of the launch, so that kernels are shared between shapes.
// Only properties that change the code are constants: element types, the number of axes, and which
// strides are 0 or 1.
#pragma once

#include "compiler/kernels/builder/axes.h"
#include "compiler/kernels/builder/code_builder.h"
#include "compiler/kernels/builder/lowering_context.h"

namespace scopevm::compiler::kernels {

// How a kernel interprets the elements of a buffer.
enum class Elements : uint8_t {
  kBits,     // integers of the dtype's width, for copying: f32, i32 and u32 share kernels
  kNumbers,  // the dtype's storage type
};

// A temporary with one instance per worker; `start` is the calling worker's first element.
struct Scratch {
  Buffer buffer;
  Term start;
};

class KernelBuilder : public CodeBuilder {
 public:
  // `op` provides the location, also for errors; `kind` is the prefix of the symbol.
  KernelBuilder(LoweringContext& context, mlir::Operation* op, llvm::StringRef kind);
  // Erases the kernel if it was not launched.
  ~KernelBuilder();

  LoweringContext& context() { return context_; }

  // --- Signature. Callable at any time before `launch`. ---

  // Adds a buffer for a value of the program or of the graph, in the order of calls.
  Buffer operand(ValueId value, DType dtype, Elements elements = Elements::kBits);
  Buffer operand(mlir::Value value, Elements elements = Elements::kBits);
  Buffer result(ValueId value, DType dtype, Elements elements = Elements::kBits);
  Buffer result(mlir::Value value, Elements elements = Elements::kBits);
  // Of the dtype's storage type. Emits the computation of the start at the insertion point.
  Scratch scratch(DimExpr elements, DType dtype);
  // Allows the result to use the operand's storage. With several such operands, the first whose
  // value has no later use is chosen. Returns false, without effect, if the value is also another
  // operand.
  bool allow_in_place(const Buffer& result, const Buffer& operand);

  // Adds a param with this value.
  Term param(DimExpr value);
  // Like param, but a stride that is the constant 0 becomes a constant in the code.
  Term stride(DimExpr value);
  // The work items of this call, and the worker that executes it.
  Term begin();
  Term end();
  Term worker();

  // --- Work items: work_items.cpp. ---

  using Visit = llvm::function_ref<void(llvm::ArrayRef<Term> index, llvm::ArrayRef<Term> offsets)>;
  // Visits items [low, high) of the space of `axes`, last axis fastest. The callback receives the
  // item's index on every axis and, for every column c of strides, bases[c] + sum of index *
  // stride. Divides once per axis, before the first item.
  void walk(Term low, Term high, llvm::ArrayRef<Axis> axes, llvm::ArrayRef<DimExpr> bases,
            Visit visit);
  // The work items of this call, if the grid is count_items(axes).
  void for_items(llvm::ArrayRef<Axis> axes, llvm::ArrayRef<DimExpr> bases, Visit visit);
  // The same for axes whose sizes are terms, with the number of the item instead of offsets. The
  // first size is not used.
  void for_items(llvm::ArrayRef<Term> sizes,
                 llvm::function_ref<void(Term item, llvm::ArrayRef<Term> index)> visit);
  // The index of `item` along each of `sizes`; divides. The first size is not used.
  Terms split_index(Term item, llvm::ArrayRef<Term> sizes);
  // The index of the item after `index`, computed without division. Calls `step`, if given, for
  // each axis, last one first, with a flag for whether the index changes along it.
  Terms next_index(llvm::ArrayRef<Term> index, llvm::ArrayRef<Term> sizes,
                   llvm::function_ref<void(size_t axis, Term changes)> step = nullptr);

  // Ends the kernel and appends its launch of `grid` work items. `grain`: the smallest number of
  // items per task.
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
  Step step_;                                          // the launch
  llvm::SmallVector<mlir::Value> operands_, results_;  // the buffers' memrefs
};

// The number of items, at least 1, that make up `task_work` if one item takes `item_work`.
DimExpr grain_of(int64_t task_work, DimExpr item_work);
// For memory-bound kernels in which an item moves about `item_bytes` bytes.
DimExpr grain_of_bytes(DimExpr item_bytes);

}  // namespace scopevm::compiler::kernels
