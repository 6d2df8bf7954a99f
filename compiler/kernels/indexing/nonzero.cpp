// count_nonzero counts the non-zero elements of x, and nonzero stores their indices. Both process x
// in parallel blocks. A prefix sum over the counts of the blocks gives the position at which each
// block stores its indices.
//
// Elements are tested a vector at a time. The mask of the non-zero lanes is converted to the bits
// of one integer.
#include <algorithm>

#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/op_lowerings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {
namespace {

class NonzeroScan {
 public:
  NonzeroScan(KernelBuilder& k, mlir::Value x, int64_t block)
      : k_(k), x_(k.operand(x)), count_(k.param(element_count(shape_of(x)))), block_(block) {}

  // Folds over the elements of block `index`. next(i, bits, now) returns the next value from the
  // current value `now`. Bit j of the i64 `bits` is set if element i + j is non-zero.
  Term over_block(Term index, Term initial, llvm::function_ref<Term(Term, Term, Term)> next) {
    Term low = index * block_, high = min(low + block_, count_);
    // One bit per lane must fit in an i64.
    int64_t lanes = std::min<int64_t>(k_.lanes(x_.dtype), 64);
    Term whole = high - remainder(high - low, k_.index(lanes));
    Term now = over(low, whole, lanes, initial, next);
    return over(whole, high, 1, now, next);
  }
  Term count_bits(Term bits) {
    return convert(k_.make<mlir::math::CtPopOp>(bits), k_.index_type());
  }

 private:
  Term over(Term low, Term high, int64_t lanes, Term initial,
            llvm::function_ref<Term(Term, Term, Term)> next) {
    return k_.loop(low, high, lanes, {initial},
                   [&](Term i, auto now) { return Terms{next(i, bits_at(i, lanes), now[0])}; })[0];
  }

  Term bits_at(Term i, int64_t lanes) {
    Term element = k_.load(x_, i, lanes);
    // x is loaded as integers. Doubling shifts out the sign bit, so that -0.0 becomes 0.
    if (is_float(x_.dtype)) element = element + element;
    Term bits = element != 0;
    if (lanes > 1) {
      mlir::Type word = k_.builder().getIntegerType(static_cast<unsigned>(lanes));
      bits = k_.extract(k_.reinterpret(bits, word, 1), 0);
    }
    if (lanes < 64) bits = k_.make<mlir::arith::ExtUIOp>(k_.builder().getI64Type(), bits);
    return bits;
  }

  KernelBuilder& k_;
  Buffer x_;
  Term count_;
  int64_t block_;
};

DimExpr block_cost(mlir::Value x, int64_t block) { return block * byte_size(dtype_of(x)); }

// Appends a launch that stores the exclusive prefix sum of `counts` in the result `starts`, and the
// total in the result `count`.
llvm::LogicalResult lower_scan(graph::CountNonzeroOp op, ValueId counts, LoweringContext& context) {
  KernelBuilder k(context, op, "count_nonzero_scan");
  Buffer of = k.operand(counts, DType::kI64);
  Buffer starts = k.result(op.getStarts()), total = k.result(op.getCount());
  Term blocks = k.param(shape_of(op.getStarts())[0]);
  Term zero = k.zero(of);
  Term sum = k.loop(k.index(0), blocks, 1, {zero}, [&](Term i, auto sum) {
    Term now = k.load(of, i);
    k.store(starts, i, sum[0]);
    return Terms{sum[0] + now};
  })[0];
  k.store(total, k.index(0), sum);
  return k.launch(1, grain_of_bytes(1));
}

}  // namespace

llvm::LogicalResult lower(graph::CountNonzeroOp op, LoweringContext& context) {
  auto block = static_cast<int64_t>(op.getBlock());
  DimExpr blocks = shape_of(op.getStarts())[0];
  ValueId counts = context.intermediate("counts", DType::kI64, {blocks});
  KernelBuilder k(context, op, "count_nonzero");
  NonzeroScan scan(k, op.getX(), block);
  Buffer result = k.result(counts, DType::kI64);
  k.loop(k.begin(), k.end(), 1, [&](Term i) {
    Term found = scan.over_block(
        i, k.index(0), [&](Term, Term bits, Term sum) { return sum + scan.count_bits(bits); });
    k.store(result, i, convert(found, k.builder().getI64Type()));
  });
  if (failed(k.launch(blocks, grain_of_bytes(block_cost(op.getX(), block)))))
    return mlir::failure();
  return lower_scan(op, counts, context);
}

llvm::LogicalResult lower(graph::NonzeroOp op, LoweringContext& context) {
  auto block = static_cast<int64_t>(op.getBlock());
  KernelBuilder k(context, op, "nonzero");
  NonzeroScan scan(k, op.getX(), block);
  Buffer starts = k.operand(op.getStarts()), result = k.result(op.getResult());
  llvm::ArrayRef<DimExpr> shape = shape_of(op.getX());
  Term count = k.param(shape_of(op.getResult())[1]);
  Terms sizes;
  for (DimExpr dim : shape) sizes.push_back(k.param(dim));
  mlir::Type i64 = k.builder().getI64Type();
  // Stores the index of linear position `flat` on every axis in column `at` of the result.
  auto put = [&](Term flat, Term at) {
    for (size_t d = shape.size(); d-- > 0;) {
      Term index = d == 0 ? flat : remainder(flat, sizes[d]);
      k.store(result, count * static_cast<int64_t>(d) + at, convert(index, i64));
      if (d > 0) flat = quotient(flat, sizes[d]);
    }
  };
  k.loop(k.begin(), k.end(), 1, [&](Term i) {
    // `starts` may belong to other elements than x: the stores stay in bounds for any starts.
    Term first = max(convert(k.load(starts, i), k.index_type()), k.index(0));
    scan.over_block(i, first, [&](Term from, Term bits, Term at) {
      Term end = at + scan.count_bits(bits);
      k.loop(at, min(end, count), 1, {bits}, [&](Term to, auto left) {
        Term lowest = k.make<mlir::math::CountTrailingZerosOp>(left[0]);
        put(from + convert(lowest, k.index_type()), to);
        return Terms{left[0] & (left[0] - 1)};  // clears the lowest set bit
      });
      return end;
    });
  });
  return k.launch(shape_of(op.getStarts())[0], grain_of_bytes(block_cost(op.getX(), block)));
}

}  // namespace scopevm::compiler::kernels
