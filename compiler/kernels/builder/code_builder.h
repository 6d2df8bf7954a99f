// CodeBuilder: emits the body of a kernel, or of a function that kernels call: constants, control
// flow, and access to buffers by element or by vector.
//
//   term.h            arithmetic on the values
//   kernel_builder.h  adds a kernel's buffers, params and launch
//
// Code is emitted at the current insertion point: at the end of a new function, or inside the loop
// or branch whose callback runs. Terms that a callback receives or creates are valid until it
// returns.
//
//     k.loop(k.index(0), size, 1, [&](Term i) { k.store(y, i, k.load(x, i) * factor); });
#pragma once

#include "compiler/kernels/builder/term.h"
#include "compiler/schedule/target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "scopevm/dtype.h"

namespace scopevm::compiler::kernels {

// memref<?xT>: the type of a kernel's buffers.
mlir::MemRefType buffer_type(mlir::Type element);

struct Buffer {
  mlir::Value memref;  // of buffer_type
  DType dtype = DType::kF32;

  mlir::Type element() const {
    return mlir::cast<mlir::MemRefType>(memref.getType()).getElementType();
  }
};

// `count` adjacent elements, which are processed as a vector, or as a scalar if the count is 1.
struct Lanes {
  int64_t count = 1;
  Term offset;  // of the first element
  Term mask;    // one i1 per lane: the lanes to process; null for all
};

// How the elements after the last full vector are processed.
enum class Tail : uint8_t {
  kMasked,
  // On targets where masks are expensive: by a full vector that ends at the last element and
  // overlaps the previous vector. On other targets: as kMasked. REQUIRES: processing an element
  // twice has no effect.
  kOverlapping,
};

class CodeBuilder {
 public:
  // Emits at the insertion point of `builder`.
  CodeBuilder(mlir::OpBuilder& builder, mlir::Location location, const schedule::Target& target);
  CodeBuilder(const CodeBuilder&) = delete;  // terms point to the builder

  mlir::ImplicitLocOpBuilder& builder() { return builder_; }
  const schedule::Target& target() const { return target_; }
  // The number of elements of the dtype in a vector register.
  int64_t lanes(DType dtype) const { return target_.lanes(static_cast<int>(byte_size(dtype))); }

  Term term(mlir::Value value) { return Term(builder_, builder_.getLoc(), value); }
  Terms terms(mlir::ValueRange values);
  // The result of an operation that has no member function here.
  template <typename Op, typename... Args>
  Term make(Args&&... args) {
    return term(builder_.create<Op>(std::forward<Args>(args)...));
  }

  mlir::Type index_type() { return builder_.getIndexType(); }
  mlir::VectorType vector(mlir::Type element, int64_t lanes) {
    return mlir::VectorType::get({lanes}, element);
  }
  Term index(int64_t value);
  Term boolean(bool value);
  Term zero(mlir::Type type);

  // --- Control flow: control.cpp. The back end lets long loops end early if the call is
  // interrupted (compiler/codegen/cpu/stop_checks). ---

  // for (i = low; i < high; i += step). The second form passes loop-carried values from each
  // iteration to the next, and returns the final values.
  void loop(Term low, Term high, int64_t step, llvm::function_ref<void(Term i)> body);
  Terms loop(Term low, Term high, int64_t step, llvm::ArrayRef<Term> initial,
             llvm::function_ref<Terms(Term i, llvm::ArrayRef<Term> carried)> body);
  // while (condition(carried)) carried = body(carried).
  Terms loop_while(llvm::ArrayRef<Term> initial,
                   llvm::function_ref<Term(llvm::ArrayRef<Term> carried)> condition,
                   llvm::function_ref<Terms(llvm::ArrayRef<Term> carried)> body);
  void when(Term condition, llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise = nullptr);
  // Returns the results, of `types`, of the branch that is taken. Unlike `select`, it does not
  // evaluate the other branch.
  Terms branch(Term condition, mlir::TypeRange types, llvm::function_ref<Terms()> then,
               llvm::function_ref<Terms()> otherwise);
  // Runs the code that cases(i) emits, where i is the value of `selector`. REQUIRES: the selector
  // is in [0, count).
  void switch_index(Term selector, int64_t count, llvm::function_ref<void(int64_t)> cases);
  // Covers [0, length) in vectors of `lanes` elements; offsets count from 0. On a target without
  // masks, Tail::kOverlapping processes a length below one vector as single elements (count = 1).
  void for_lanes(Term length, int64_t lanes, Tail tail,
                 llvm::function_ref<void(const Lanes&)> body);
  void call(mlir::func::FuncOp callee, mlir::ValueRange arguments);

  // --- Memory: access.cpp. Positions count elements. A value of one lane is a scalar. ---

  // Accesses elements in the buffer's storage type. Lanes where `mask` is false are not accessed,
  // and a load returns 0 for them. REQUIRES: an access to one lane has no mask.
  Term load(const Buffer& buffer, Term at, int64_t lanes = 1, Term mask = {});
  void store(const Buffer& buffer, Term at, Term value, Term mask = {});
  // Accesses elements in their arithmetic type: f16 and bf16 as f32, bool as i1. REQUIRES: the
  // buffer's elements have the dtype's storage type.
  Term load_number(const Buffer& buffer, Term at, int64_t lanes = 1, Term mask = {});
  void store_number(const Buffer& buffer, Term at, Term value, Term mask = {});
  // Lane i is buffer[at + offsets[i]], or 0 where `mask` is false.
  Term gather(const Buffer& buffer, Term at, Term offsets, Term mask);
  // The element at `at`, as an index into a dim of `size`. A negative element counts from the end.
  // The result can be out of range.
  Term load_index(const Buffer& indices, Term at, Term size);

  // Prefetches the cache line of an element into L2, for reads. `at` can be outside of the buffer.
  void prefetch(const Buffer& buffer, Term at);

  // A mask of the first `count` lanes.
  Term mask(Term count, int64_t lanes);
  Term splat(Term scalar, int64_t lanes);
  // 0, 1, 2, ... in an integer type.
  Term iota(mlir::Type element, int64_t lanes);
  // Lane i is lane lanes[i] of the concatenation of a and b.
  Term shuffle(Term a, Term b, llvm::ArrayRef<int64_t> lanes);
  // The columns of a square tile of as many rows as lanes, a power of two.
  Terms transpose(Terms rows);
  // Lanes [first, first + count).
  Term slice(Term vector, int64_t first, int64_t count);
  Term extract(Term vector, int64_t lane);
  // Reinterprets the bits of the vector as `lanes` lanes of another integer type.
  Term reinterpret(Term vector, mlir::Type element, int64_t lanes);
  Term zero(const Buffer& buffer) { return zero(buffer.element()); }
  mlir::Type number_type(const Buffer& buffer);  // the scalar type that load_number returns

  // destination[to + i] = source[from + i] for i in [0, count), in vectors.
  void copy(const Buffer& source, Term from, const Buffer& destination, Term to, Term count);
  // destination[to + i] = value for i in [0, count), in vectors.
  void fill(const Buffer& destination, Term to, Term count, Term value);

 private:
  void emit_tail(Term length, Term whole, int64_t lanes, Tail tail,
                 llvm::function_ref<void(const Lanes&)> body);

  mlir::ImplicitLocOpBuilder builder_;
  const schedule::Target& target_;
};

}  // namespace scopevm::compiler::kernels
