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
// Sizes, strides and offsets are params of the launch, so that one kernel serves all shapes. Only
// properties that change the code are constants, such as element types, the number of axes, and
// whether a stride is 0 or 1.
#pragma once

#include "compiler/kernels/builder/axes.h"
#include "compiler/kernels/builder/code_builder.h"
#include "compiler/kernels/builder/lowering_context.h"
#include "compiler/schedule/grain.h"

namespace scopevm::compiler::kernels {

// How a kernel interprets the elements of a buffer.
enum class Elements : uint8_t {
  kBits,     // integers of the dtype's width, for copying: f32, i32 and u32 share a kernel
  kNumbers,  // the dtype's storage type
};

// A temporary with one instance per worker; `start` is the calling worker's first element.
struct Scratch {
  Buffer buffer;
  Term start;
};

class KernelBuilder : public CodeBuilder {
 public:
  // `op` provides the location. `kind` is the prefix of the kernel's symbol.
  KernelBuilder(LoweringContext& context, mlir::Operation* op, llvm::StringRef kind);
  // Erases the kernel if it was not launched.
  ~KernelBuilder();

  LoweringContext& context() { return context_; }

  // --- Signature. Callable at any time before `launch`. ---

  // Adds a buffer for a value of the program or of the graph. Operands precede results, each in the
  // order of these calls.
  Buffer operand(ValueId value, DType dtype, Elements elements = Elements::kBits);
  Buffer operand(mlir::Value value, Elements elements = Elements::kBits);
  Buffer result(ValueId value, DType dtype, Elements elements = Elements::kBits);
  Buffer result(mlir::Value value, Elements elements = Elements::kBits);
  // Adds a temporary of `elements` elements, of the dtype's storage type, for each worker. Emits
  // the computation of its start at the insertion point.
  Scratch scratch(DimExpr elements, DType dtype);
  // Allows the result to use the operand's storage. If several operands are allowed, the result
  // uses the first one that has the result's place and size and no later use. Returns false,
  // without effect, if the kernel has another operand with the same value.
  bool allow_in_place(const Buffer& result, const Buffer& operand);

  // Adds a param with this value.
  Term param(DimExpr value);
  // Like param, but a stride that is the constant 0 becomes a constant in the code.
  Term stride(DimExpr value);
  // The work items of this call, the worker that executes it, and the first item of the preceding
  // calls that this call continues: see KernelFn.
  Term begin();
  Term end();
  Term worker();
  Term first();
  // The number of items of [group_begin, item) that this call and the calls that it continues have
  // executed before `item`. If it is 0, the worker's temporaries do not yet contain the data that
  // the items of the group share. REQUIRES: group_begin <= item.
  Term items_done(Term item, Term group_begin);

  // --- Work items: work_items.cpp. ---

  using Visit = llvm::function_ref<void(llvm::ArrayRef<Term> index, llvm::ArrayRef<Term> offsets)>;
  // Visits items [low, high) of the space of `axes`; the last axis is the fastest. The callback
  // receives the item's index on every axis and its offsets: offset c is bases[c] plus the sum of
  // index * strides[c] over the axes. The generated code divides only before the first item.
  void walk(Term low, Term high, llvm::ArrayRef<Axis> axes, llvm::ArrayRef<DimExpr> bases,
            Visit visit);
  // Walks over the work items of this call. REQUIRES: the grid is count_items(axes).
  void for_items(llvm::ArrayRef<Axis> axes, llvm::ArrayRef<DimExpr> bases, Visit visit);
  // Walks over the work items of this call along axes whose sizes are terms. The callback receives
  // the number of the item and its index on every axis. The first size is not used.
  void for_items(llvm::ArrayRef<Term> sizes,
                 llvm::function_ref<void(Term item, llvm::ArrayRef<Term> index)> visit);
  // The index of item number `item` on the axes of these sizes, computed by division. The first
  // size is not used.
  Terms split_index(Term item, llvm::ArrayRef<Term> sizes);
  // The index of the item after the item with index `index`, computed without division. If `step`
  // is given, it is called for each axis, from last to first. `changes` is a term that is true if
  // the index changes on this axis.
  Terms next_index(llvm::ArrayRef<Term> index, llvm::ArrayRef<Term> sizes,
                   llvm::function_ref<void(size_t axis, Term changes)> step = nullptr);

  // Completes the kernel and appends the step that launches it over `grid` work items. `grain` is
  // the smallest number of items per task.
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

using schedule::grain_of;
// The grain of a memory-bound kernel in which an item moves about `item_bytes` bytes.
DimExpr grain_of_bytes(DimExpr item_bytes);

}  // namespace scopevm::compiler::kernels
