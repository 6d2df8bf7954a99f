// The micro-kernel: for each step, it loads a vector of weights per channel block, and adds the
// product of each pixel's element and each of these vectors to its sums. This is the direct
// convolution of Georganas et al., Anatomy of High-Performance Deep Learning Convolutions on SIMD
// Architectures (2018).
#include "compiler/kernels/convolution/blocked/tile.h"

#include "compiler/graph/convolution/window.h"
#include "llvm/Support/FormatVariadic.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::kChannelBlock;

// Weights are prefetched this number of elements before their use.
constexpr int64_t kPrefetchDistance = 8192;
// The largest number of steps that are unrolled.
constexpr int64_t kMostUnrolled = 8, kUnroll = 4;

class TileBody {
 public:
  TileBody(CodeBuilder& e, const BlockedTile& tile, const BlockedOperands& operands)
      : e_(e),
        t_(tile),
        o_(operands),
        lanes_(e.target().lanes(4)),
        vectors_(kChannelBlock / lanes_),
        has_fma_(e.target().vector_bits >= 256) {}

  void emit() {
    const mlir::Type type = e_.vector(o_.sums.element(), lanes_);
    const Term zero = e_.zero(type);
    Terms sums = e_.branch(
        o_.accumulate, llvm::SmallVector<mlir::Type>(count(), type),
        [&] {
          Terms loaded;
          each_sum([&](int64_t i, Term at) { loaded.push_back(e_.load(o_.sums, at, lanes_)); });
          return loaded;
        },
        [&] { return Terms(count(), zero); });
    sums = e_.loop(e_.index(0), o_.planes, 1, sums, [&](Term plane, llvm::ArrayRef<Term> carried) {
      return tap_rows(o_.x_at + plane * o_.plane, plane, carried);
    });
    if (t_.has_rest) sums = rest(sums);
    each_sum([&](int64_t i, Term at) { e_.store(o_.sums, at, sums[i]); });
  }

 private:
  int64_t count() const { return t_.pixels() * t_.blocks * vectors_; }
  int64_t weights_per_step() const { return t_.group_blocks * kChannelBlock; }

  void each_sum(llvm::function_ref<void(int64_t i, Term at)> visit) {
    int64_t i = 0;
    for (int64_t pixel = 0; pixel < t_.pixels(); ++pixel)
      for (int64_t block = 0; block < t_.blocks; ++block)
        for (int64_t v = 0; v < vectors_; ++v)
          visit(i++, o_.sums_at + ((pixel * t_.group_blocks + block) * kChannelBlock + v * lanes_));
  }

  Terms tap_rows(Term x, Term plane, llvm::ArrayRef<Term> sums) {
    if (!t_.has_tap_rows) return taps(x, plane, sums);
    return e_.loop(e_.index(0), o_.tap_rows, 1, sums, [&](Term row, llvm::ArrayRef<Term> carried) {
      return taps(x + row * o_.tap_row, plane * o_.weight_rows + row, carried);
    });
  }

  Terms taps(Term x, Term line, llvm::ArrayRef<Term> sums) {
    if (!t_.has_taps) return steps(x, line, sums);
    return e_.loop(e_.index(0), o_.taps, 1, sums, [&](Term tap, llvm::ArrayRef<Term> carried) {
      return steps(x + tap * o_.tap, line * o_.taps + tap, carried);
    });
  }

  Terms steps(Term x, Term line, llvm::ArrayRef<Term> sums) {
    const Term w = o_.w_at + line * (t_.weight_steps * weights_per_step());
    const Terms rows = pixel_rows(x);
    if (t_.steps <= kMostUnrolled) {
      Terms next(sums);
      for (int64_t j = 0; j < t_.steps; ++j) step(rows, w, {}, j, next);
      return next;
    }
    const int64_t whole = t_.steps / kUnroll * kUnroll;
    Terms next = e_.loop(e_.index(0), e_.index(whole), kUnroll, sums,
                         [&](Term j, llvm::ArrayRef<Term> carried) {
                           Terms next(carried);
                           for (int64_t u = 0; u < kUnroll; ++u) step(rows, w, j, u, next);
                           return next;
                         });
    for (int64_t j = whole; j < t_.steps; ++j) step(rows, w, {}, j, next);
    return next;
  }

  Terms rest(llvm::ArrayRef<Term> sums) {
    const Terms rows = pixel_rows(o_.x_at + o_.planes * o_.plane);
    const Term w = o_.w_at + o_.planes * (t_.steps * weights_per_step());
    return e_.loop(e_.index(0), o_.rest, 1, sums, [&](Term j, llvm::ArrayRef<Term> carried) {
      Terms next(carried);
      step(rows, w, j, 0, next);
      return next;
    });
  }

  // The input of the first pixel of each row of pixels.
  Terms pixel_rows(Term x) {
    Terms rows;
    for (int64_t row = 0; row < t_.rows; ++row) rows.push_back(x + row * o_.pixel_row);
    return rows;
  }

  // Step `base` + `j`, where a null base is 0.
  void step(llvm::ArrayRef<Term> rows, Term w, Term base, int64_t j,
            llvm::MutableArrayRef<Term> sums) {
    const auto position = [&](Term start, int64_t scale, int64_t offset) {
      return base ? start + base * scale + offset : start + offset;
    };
    llvm::SmallVector<Term> weights;
    for (int64_t block = 0; block < t_.blocks; ++block) {
      const int64_t at = j * weights_per_step() + block * kChannelBlock;
      for (int64_t v = 0; v < vectors_; ++v)
        weights.push_back(e_.load(o_.w, position(w, weights_per_step(), at + v * lanes_), lanes_));
      prefetch(position(w, weights_per_step(), at + kPrefetchDistance));
    }
    int64_t i = 0;
    for (int64_t row = 0; row < t_.rows; ++row)
      for (int64_t column = 0; column < t_.columns; ++column) {
        const Term at = position(rows[row], 1, column * t_.pixel_step + j);
        const Term x = e_.splat(e_.load(o_.x, at), lanes_);
        for (const Term& weight : weights) {
          sums[i] =
              has_fma_ ? e_.make<mlir::vector::FMAOp>(x, weight, sums[i]) : x * weight + sums[i];
          ++i;
        }
      }
  }

  // The address can be past the end of the buffer: a prefetch never faults.
  void prefetch(Term at) {
    e_.builder().create<mlir::memref::PrefetchOp>(o_.w.memref, mlir::ValueRange{at},
                                                  /*isWrite=*/false, /*localityHint=*/3,
                                                  /*isDataCache=*/true);
  }

  CodeBuilder& e_;
  const BlockedTile& t_;
  const BlockedOperands& o_;
  int64_t lanes_, vectors_;  // vectors: of a channel block
  bool has_fma_;
};

std::string name_of(const BlockedTile& t) {
  return llvm::formatv("blocked_tile_{0}x{1}x{2}of{3}_{4}of{5}x{6}{7}{8}{9}", t.rows, t.columns,
                       t.blocks, t.group_blocks, t.steps, t.weight_steps, t.pixel_step,
                       t.has_tap_rows ? "_rows" : "", t.has_taps ? "_taps" : "",
                       t.has_rest ? "_rest" : "")
      .str();
}

mlir::func::FuncOp tile_function(KernelModule& module, const BlockedTile& tile) {
  const std::string name = name_of(tile);
  return module.shared(name, [&](mlir::OpBuilder& builder) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    const mlir::Type buffer = buffer_type(builder.getF32Type());
    llvm::SmallVector<mlir::Type> types(3, buffer);
    types.append(12, builder.getIndexType());
    types.push_back(builder.getI1Type());
    auto function = builder.create<mlir::func::FuncOp>(builder.getUnknownLoc(), name,
                                                       builder.getFunctionType(types, {}));
    function->setAttr("passthrough", builder.getArrayAttr({builder.getStringAttr("noinline")}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    CodeBuilder e(builder, builder.getUnknownLoc(), module.target());
    unsigned next = 0;
    const auto take_buffer = [&] { return Buffer{function.getArgument(next++), DType::kF32}; };
    const auto take = [&] { return e.term(function.getArgument(next++)); };
    BlockedOperands o;
    o.x = take_buffer(), o.w = take_buffer(), o.sums = take_buffer();
    for (Term* term : {&o.x_at, &o.plane, &o.tap_row, &o.tap, &o.pixel_row, &o.w_at, &o.sums_at,
                       &o.planes, &o.tap_rows, &o.taps, &o.weight_rows, &o.rest, &o.accumulate})
      *term = take();
    TileBody(e, tile, o).emit();
    builder.create<mlir::func::ReturnOp>(builder.getUnknownLoc());
    return function;
  });
}

}  // namespace

int64_t tile_blocks(const Target& target, int64_t group_blocks) {
  return target.vector_bits == 512 ? group_blocks : 1;
}

int64_t most_tile_pixels(const Target& target, int64_t blocks) {
  // Of 32 or 16 vector registers, the others hold the weights and an element of x.
  if (target.vector_bits == 512) return blocks == 1 ? 28 : blocks == 2 ? 12 : blocks == 3 ? 9 : 6;
  constexpr int64_t kSums = 12;
  return kSums / (kChannelBlock / target.lanes(4) * blocks);
}

void call_blocked_tile(CodeBuilder& e, KernelModule& module, const BlockedTile& tile,
                       const BlockedOperands& o) {
  e.call(tile_function(module, tile),
         {o.x.memref, o.w.memref, o.sums.memref, o.x_at, o.plane, o.tap_row, o.tap, o.pixel_row,
          o.w_at, o.sums_at, o.planes, o.tap_rows, o.taps, o.weight_rows, o.rest, o.accumulate});
}

}  // namespace scopevm::compiler::kernels
