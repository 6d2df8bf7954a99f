// The micro-kernel: for each step, it loads a vector of weights per channel block, and adds the
// product of each pixel's element and each of these vectors to its sums. This is the direct
// convolution of Georganas et al., Anatomy of High-Performance Deep Learning Convolutions on SIMD
// Architectures (2018).
#include "compiler/kernels/convolution/blocked/tile.h"

#include <array>

#include "compiler/graph/convolution/window.h"
#include "compiler/kernels/contraction/tile/byte_dot.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::kChannelBlock;

// Weights are prefetched this number of elements before their use. Tiles of one pixel use them at
// once: L1 would evict weights that are prefetched too early.
constexpr int64_t kPrefetchDistance = 8192, kPrefetchDistanceOfPixel = 2048;
// The most columns of a tile that prefetches the pixels of the next one.
constexpr int64_t kMostPrefetched = 14;
constexpr int64_t kUnroll = 4;
// The independent multiply-adds that hide the latency of 4 cycles, with two per cycle.
constexpr int64_t kIndependent = 8;

class TileBody {
 public:
  TileBody(CodeBuilder& e, const BlockedTile& tile, const BlockedOperands& operands)
      : e_(e), t_(tile), o_(operands), has_fma_(e.target().has_fma()) {
    const int64_t channels =
        t_.blocks * kChannelBlock - (t_.has_half_block ? kChannelBlock / 2 : 0);
    for (int64_t at = 0; at < channels;) {
      const auto lanes = std::min<int64_t>(e.target().lanes(4), channels - at);
      vectors_.push_back({at, lanes, e.vector(o_.sums.element(), lanes)});
      at += lanes;
    }
    count_ = static_cast<size_t>(t_.pixels()) * vectors_.size();
    while (parts_ < kUnroll && 2 * parts_ * count_ <= kIndependent) parts_ *= 2;
  }

  // Returns the sums.
  Terms emit() {
    llvm::SmallVector<mlir::Type> types;
    Terms zeros;
    for (int64_t pixel = 0; pixel < t_.pixels(); ++pixel)
      for (const Channels& v : vectors_) types.push_back(v.type), zeros.push_back(e_.zero(v.type));
    Terms sums = e_.branch(
        o_.accumulate, types,
        [&] {
          Terms loaded;
          each_sum([&](int64_t, Term at, int64_t lanes) {
            loaded.push_back(e_.load(o_.sums, at, lanes));
          });
          return loaded;
        },
        [&] { return zeros; });
    for (size_t part = 1; part < parts_; ++part) sums.append(zeros);
    sums = planes(e_.index(0), o_.planes, t_.column_elements, sums);
    if (t_.rest != 0) sums = planes(o_.planes, o_.planes + o_.rest_planes, t_.rest, sums);
    for (; sums.size() > count_; sums.truncate(sums.size() / 2))
      for (size_t i = 0; i < sums.size() / 2; ++i) sums[i] = sums[i] + sums[sums.size() / 2 + i];
    return sums;
  }

  void store(llvm::ArrayRef<Term> sums) {
    each_sum([&](int64_t i, Term at, int64_t) { e_.store(o_.sums, at, sums[i]); });
  }

  void store(llvm::ArrayRef<Term> sums, Epilogue epilogue) {
    for (int64_t block = 0; block < t_.blocks; ++block) {
      epilogue.enter(e_, e_.index(block));
      for (int64_t row = 0; row < t_.rows; ++row)
        for (int64_t column = 0; column < t_.columns; ++column) {
          const Term pixel = o_.pixel + o_.pixel_pitch * row + column * t_.result_step;
          const auto emit = [&](Term sum, int64_t first, int64_t lanes) {
            epilogue.emit(e_, sum, pixel, e_.index(first % kChannelBlock), lanes, {});
          };
          for (size_t v = 0; v < vectors_.size(); ++v)
            if (const Channels& channels = vectors_[v]; channels.first / kChannelBlock == block)
              emit(sums[(row * t_.columns + column) * vectors_.size() + v], channels.first,
                   channels.lanes);
          // The epilogue can give channels that are padding a number that is read: a reduction of
          // all channels reads its neutral element.
          if (t_.has_half_block && block == t_.blocks - 1)
            for (const Channels& channels : vectors_)
              if (channels.first / kChannelBlock == block)
                emit(e_.zero(channels.type), channels.first + kChannelBlock / 2, channels.lanes);
        }
    }
  }

 private:
  // A vector of output channels of the tile.
  struct Channels {
    int64_t first, lanes;
    mlir::Type type;
  };

  int64_t weights_per_step() const { return t_.group_blocks * kChannelBlock; }

  void each_sum(llvm::function_ref<void(int64_t i, Term at, int64_t lanes)> visit) {
    int64_t i = 0;
    for (int64_t pixel = 0; pixel < t_.pixels(); ++pixel)
      for (const Channels& v : vectors_)
        visit(i++, o_.sums_at + (pixel * t_.group_blocks * kChannelBlock + v.first), v.lanes);
  }

  // The planes [begin, end), of which `channels` elements of a column are read.
  Terms planes(Term begin, Term end, int64_t channels, llvm::ArrayRef<Term> sums) {
    return e_.loop(begin, end, 1, sums, [&](Term plane, llvm::ArrayRef<Term> carried) {
      const Term x = o_.x_at + plane * o_.plane;
      prefetch_next(x);
      return tap_rows(x, plane, channels, carried);
    });
  }

  // Prefetches the plane's pixels of the next tile. The prefetcher of the CPU does not follow so
  // few adjacent pixels in each of many planes. It follows the pixels of wide tiles, and prefetches
  // of them double the time of 1x1 convolutions with few channels.
  void prefetch_next(Term x) {
    if (!t_.prefetches_x || t_.columns > kMostPrefetched) return;
    for (int64_t column = 0; column < t_.columns; ++column)
      prefetch(o_.x, x + (t_.columns + column) * t_.pixel_step);
  }

  Terms tap_rows(Term x, Term plane, int64_t channels, llvm::ArrayRef<Term> sums) {
    if (!t_.has_tap_rows) return taps(x, plane, channels, sums);
    return e_.loop(e_.index(0), o_.tap_rows, 1, sums, [&](Term row, llvm::ArrayRef<Term> carried) {
      return taps(x + row * o_.tap_row, plane * o_.weight_rows + row, channels, carried);
    });
  }

  Terms taps(Term x, Term line, int64_t channels, llvm::ArrayRef<Term> sums) {
    if (!t_.has_taps) return steps(x, line, channels, sums);
    return e_.loop(e_.index(0), o_.taps, 1, sums, [&](Term tap, llvm::ArrayRef<Term> carried) {
      return steps(x + tap * o_.tap, line * o_.taps + tap, channels, carried);
    });
  }

  Terms steps(Term x, Term line, int64_t channels, llvm::ArrayRef<Term> sums) {
    const Term w = o_.w_at + line * (t_.weight_steps * weights_per_step());
    // The elements of all columns of a tap row are adjacent.
    if (!t_.is_at_border() && channels == t_.column_elements)
      return steps(pixel_rows(x), w, t_.steps, {0, t_.columns}, sums);
    const int64_t count = t_.steps / t_.column_elements;
    const bool are_adjacent = t_.dilation == 1 && channels == t_.column_elements;
    Terms next(sums);
    for (int64_t tap = 0; tap < count;) {
      const Columns columns = columns_of(tap);
      // Taps of the same columns are one loop.
      int64_t end = tap + 1;
      while (end < count && columns_of(end) == columns) ++end;
      const auto steps_of = [&](Term first, int64_t taps, llvm::ArrayRef<Term> carried) {
        return steps(pixel_rows(x + first * (t_.dilation * t_.column_elements)),
                     w + first * (t_.column_elements * weights_per_step()), taps * channels,
                     columns, carried);
      };
      if (are_adjacent || end - tap == 1)
        next = steps_of(e_.index(tap), end - tap, next);
      else
        next = e_.loop(
            e_.index(tap), e_.index(end), 1, next,
            [&](Term first, llvm::ArrayRef<Term> carried) { return steps_of(first, 1, carried); });
      tap = end;
    }
    return next;
  }

  // A range of the tile's columns.
  struct Columns {
    int64_t begin, end;
    bool operator==(const Columns&) const = default;
  };

  // The columns whose windows have this tap in x.
  Columns columns_of(int64_t tap) const {
    const int64_t last = t_.steps / t_.column_elements - 1;
    const auto outside = [&](int64_t columns, int64_t taps) {
      const int64_t missing = std::max<int64_t>(columns - taps * t_.dilation, 0);
      return std::min((missing + t_.stride - 1) / t_.stride, t_.columns);
    };
    const int64_t begin = outside(t_.before, tap);
    return {begin, std::max(t_.columns - outside(t_.after, last - tap), begin)};
  }

  // `count` steps of the pixels of some columns.
  Terms steps(llvm::ArrayRef<Term> rows, Term w, int64_t count, Columns columns,
              llvm::ArrayRef<Term> sums) {
    Terms next(sums);
    if (columns.begin == columns.end) return next;
    int64_t whole = 0;
    if (t_.steps > kMostUnrolled && count > kUnroll) {
      whole = count / kUnroll * kUnroll;
      next = e_.loop(e_.index(0), e_.index(whole), kUnroll, sums,
                     [&](Term j, llvm::ArrayRef<Term> carried) {
                       Terms next(carried);
                       for (int64_t u = 0; u < kUnroll; ++u) step(rows, w, j, u, columns, next);
                       return next;
                     });
    }
    for (int64_t j = whole; j < count; ++j) step(rows, w, {}, j, columns, next);
    return next;
  }

  // The input of the first pixel of each row of pixels.
  Terms pixel_rows(Term x) {
    Terms rows;
    for (int64_t row = 0; row < t_.rows; ++row) rows.push_back(x + row * o_.pixel_row);
    return rows;
  }

  // Step `base` + `j`, where a null base is 0.
  void step(llvm::ArrayRef<Term> rows, Term w, Term base, int64_t j, Columns columns,
            llvm::MutableArrayRef<Term> sums) {
    const auto position = [&](Term start, int64_t scale, int64_t offset) {
      return base ? start + base * scale + offset : start + offset;
    };
    const int64_t distance = t_.pixels() == 1 ? kPrefetchDistanceOfPixel : kPrefetchDistance;
    llvm::SmallVector<Term> weights;
    separate_steps();
    for (const Channels& v : vectors_) {
      const int64_t at = j * weights_per_step() + v.first;
      weights.push_back(e_.load(o_.w, position(w, weights_per_step(), at), v.lanes));
      if (t_.prefetches_weights && v.first % kChannelBlock == 0)
        prefetch(o_.w, position(w, weights_per_step(), at + distance));
    }
    const int64_t lanes = vectors_.front().lanes;
    const size_t part = static_cast<size_t>(j) % parts_;
    for (int64_t row = 0; row < t_.rows; ++row) {
      Term first = position(rows[row], 1, j);
      if (shares_elements()) first = hidden(first);
      // Shorter vectors load the element again: the multiply-add includes this load, but a
      // conversion of the longer vector is an instruction.
      const Term again = t_.has_half_block ? hidden(first) : first;
      size_t i =
          part * count_ + static_cast<size_t>(row * t_.columns + columns.begin) * vectors_.size();
      for (int64_t column = columns.begin; column < columns.end; ++column) {
        const int64_t offset = column * t_.pixel_step;
        const Term splat = e_.splat(e_.load(o_.x, first + offset), lanes);
        for (const auto& [v, weight] : llvm::zip_equal(vectors_, weights)) {
          const Term x =
              v.lanes == lanes ? splat : e_.splat(e_.load(o_.x, again + offset), v.lanes);
          sums[i] = multiply_add(x, weight, sums[i]);
          ++i;
        }
      }
    }
  }

  Term multiply_add(Term x, Term weight, Term sum) {
    if (t_.has_quads) return byte_dot(e_, x, weight, sum);
    return has_fma_ ? e_.make<mlir::vector::FMAOp>(x, weight, sum) : x * weight + sum;
  }

  // Whether two steps of the loop's body read the same element, for different pixels.
  bool shares_elements() const {
    return t_.columns > 1 && t_.pixel_step < (t_.steps <= kMostUnrolled ? t_.steps : kUnroll);
  }

  // An equal value that the code generator cannot relate to `at`. Otherwise it keeps an element
  // that two steps read in a register, for which there are none: it moves them to the stack.
  Term hidden(Term at) {
    const mlir::Type word = e_.builder().getI64Type();
    const Term number = e_.make<mlir::arith::IndexCastOp>(word, at);
    auto assembly = e_.builder().create<mlir::LLVM::InlineAsmOp>(
        word, mlir::ValueRange{number}, "", "=r,0", /*has_side_effects=*/false,
        /*is_align_stack=*/false, /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
    return e_.make<mlir::arith::IndexCastOp>(e_.index_type(), assembly.getResult(0));
  }

  // The code generator moves no load past this point. Otherwise it loads the operands of several
  // steps at once, for which there are no registers, either.
  void separate_steps() {
    e_.builder().create<mlir::LLVM::InlineAsmOp>(
        mlir::TypeRange{}, mlir::ValueRange{}, "", "~{memory}", /*has_side_effects=*/true,
        /*is_align_stack=*/false, /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
  }

  // The address can be past the end of the buffer: a prefetch never faults.
  void prefetch(const Buffer& buffer, Term at) {
    e_.builder().create<mlir::memref::PrefetchOp>(buffer.memref, mlir::ValueRange{at},
                                                  /*isWrite=*/false, /*localityHint=*/3,
                                                  /*isDataCache=*/true);
  }

  CodeBuilder& e_;
  const BlockedTile& t_;
  const BlockedOperands& o_;
  bool has_fma_;
  llvm::SmallVector<Channels> vectors_;
  size_t count_ = 1;  // sums of the tile
  // Each sum of a tile with few sums has several parts, which add subsequent steps: a power of 2.
  size_t parts_ = 1;
};

// The terms that are arguments of a tile's function.
std::array<Term*, 15> terms_of(BlockedOperands& o) {
  return {&o.x_at,        &o.plane,       &o.tap_row,    &o.tap,      &o.pixel_row,
          &o.w_at,        &o.sums_at,     &o.planes,     &o.tap_rows, &o.taps,
          &o.weight_rows, &o.rest_planes, &o.accumulate, &o.pixel,    &o.pixel_pitch};
}

mlir::func::FuncOp tile_function(KernelModule& module, const BlockedTile& tile,
                                 const Epilogue* epilogue, llvm::ArrayRef<mlir::Value> arguments) {
  std::string name = "blocked_tile_" + tile.key();
  if (epilogue)
    llvm::raw_string_ostream(name)
        << "_" << llvm::format_hex_no_prefix(llvm::xxh3_64bits(epilogue->key()), 16);
  return module.shared(name, [&](mlir::OpBuilder& builder) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    llvm::SmallVector<mlir::Type> types;
    for (mlir::Value argument : arguments) types.push_back(argument.getType());
    auto function = builder.create<mlir::func::FuncOp>(builder.getUnknownLoc(), name,
                                                       builder.getFunctionType(types, {}));
    function->setAttr("passthrough", builder.getArrayAttr({builder.getStringAttr("noinline")}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    CodeBuilder e(builder, builder.getUnknownLoc(), module.target());
    unsigned next = 0;
    const DType element = tile.has_quads ? DType::kI32 : DType::kF32;
    const auto take_buffer = [&] { return Buffer{function.getArgument(next++), element}; };
    const auto take = [&] { return e.term(function.getArgument(next++)); };
    BlockedOperands o;
    o.x = take_buffer(), o.w = take_buffer(), o.sums = take_buffer();
    for (Term* term : terms_of(o)) *term = take();
    TileBody body(e, tile, o);
    const Terms sums = body.emit();
    if (epilogue)
      body.store(sums, epilogue->in_function(e, [&] { return function.getArgument(next++); }));
    else
      body.store(sums);
    builder.create<mlir::func::ReturnOp>(builder.getUnknownLoc());
    return function;
  });
}

}  // namespace

BlockedTile BlockedTile::canonical(bool has_epilogue) const {
  BlockedTile tile = *this;
  if (!has_epilogue) tile.result_step = 1;
  if (is_at_border() || rest != 0) return tile;
  tile.column_elements = tile.stride = tile.dilation = 1;
  return tile;
}

std::string BlockedTile::key() const {
  // Lists all members: another number of them is a compile error.
  const auto& [rows, columns, blocks, group_blocks, pixel_step, steps, result_step, weight_steps,
               has_tap_rows, has_taps, has_quads, prefetches_weights, prefetches_x, rest,
               has_half_block, before, after, column_elements, stride, dilation] = *this;
  return llvm::formatv(
      "{0}x{1}x{2}of{3}_{4}", rows, columns, blocks, group_blocks,
      llvm::join(llvm::map_range(
                     std::array<int64_t, 16>{pixel_step, steps, result_step, weight_steps,
                                             has_tap_rows, has_taps, has_quads, prefetches_weights,
                                             prefetches_x, rest, has_half_block, before, after,
                                             column_elements, stride, dilation},
                     [](int64_t value) { return std::to_string(value); }),
                 "_"));
}

void call_blocked_tile(CodeBuilder& e, KernelModule& module, const BlockedTile& tile,
                       const BlockedOperands& operands, const Epilogue* epilogue) {
  BlockedOperands o = operands;
  llvm::SmallVector<mlir::Value> arguments = {o.x.memref, o.w.memref, o.sums.memref};
  if (!epilogue) o.pixel = o.pixel_pitch = e.index(0);
  for (const Term* term : terms_of(o)) arguments.push_back(*term);
  if (epilogue) arguments.append(epilogue->arguments());
  e.call(tile_function(module, tile.canonical(epilogue != nullptr), epilogue, arguments),
         arguments);
}

}  // namespace scopevm::compiler::kernels
