// The micro-kernels, as in BLIS (Van Zee and van de Geijn, 2015). There is one function for each
// number of rows of a sub-tile, and a function that covers a tile by calls of these functions.
//
// A sub-tile keeps its sums in registers. With AVX-512, the sub-tile is the whole tile: 12 x 32
// floats take 24 of the 32 registers. For other vector units, and for bytes without VNNI, a tile
// has several sub-tiles. The loop over the depth is unrolled by 4; with an unroll factor of 2, LLVM
// spills sums.
//
// A sub-tile of fewer than 4 rows has too few independent sums to hide the latency of an FMA. It
// therefore splits the depth over several sets of sums.
//
// With AVX-512, a tile of few columns has sub-tiles of 16 columns, and column tiles. A vector of a
// column tile is a column of C: it multiplies 12 interleaved rows of A by an element of B.
#include "compiler/kernels/contraction/tile/microkernel.h"

#include "compiler/kernels/builder/code_builder.h"
#include "compiler/kernels/contraction/tile/byte_dot.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {
namespace {

constexpr int64_t kUnroll = 4;
// Steps of the depth between a prefetch and its use.
constexpr int64_t kPrefetchDistance = 32;
constexpr int64_t kColumns = 4;  // columns of a column tile

struct Operands {
  Buffer a;
  Term a_at;
  Buffer b;
  Term b_at;
  Buffer c;
  Term c_at;
  Term group_rows, depth, accumulate;
};

// Emits a part of a tile whose sums fit in registers. The operands' positions are those of the
// first row and column of the sub-tile.
class SubTile {
 public:
  SubTile(CodeBuilder& e, const ContractionTile& tile, const Operands& operands)
      : e_(e), t_(tile), o_(operands), lanes_(e.target().lanes(4)) {}

  void emit() {
    Term main_depth = quotient(o_.depth, kUnroll) * kUnroll;
    Terms sums = initial_sums();
    sums =
        e_.loop(e_.index(0), main_depth, kUnroll, sums, [&](Term k, llvm::ArrayRef<Term> carried) {
          Terms next(carried);
          if (t_.format == RowFormat::kRows) prefetch_rows(k);
          for (int64_t u = 0; u < kUnroll; ++u) {
            prefetch_columns(k, u);
            step(k, u,
                 llvm::MutableArrayRef<Term>(next).slice((u % t_.sets) * set_size(), set_size()));
          }
          return next;
        });
    // The remaining steps use one set, so the sets are added up before them.
    for (int64_t set = 1; set < t_.sets; ++set)
      for (int64_t i = 0; i < set_size(); ++i) sums[i] = sums[i] + sums[set * set_size() + i];
    sums.truncate(set_size());
    sums = e_.loop(main_depth, o_.depth, 1, sums, [&](Term k, llvm::ArrayRef<Term> carried) {
      Terms next(carried);
      step(k, 0, next);
      return next;
    });
    for (int64_t r = 0; r < t_.rows; ++r)
      for (int64_t v = 0; v < t_.vectors; ++v) e_.store(o_.c, c_at(r, v), sums[r * t_.vectors + v]);
  }

 private:
  int64_t set_size() const { return t_.rows * t_.vectors; }

  Term c_at(int64_t row, int64_t vector) {
    return o_.c_at + (row * kPanelColumns + vector * lanes_);
  }

  Terms initial_sums() {
    mlir::Type type = e_.vector(o_.c.element(), lanes_);
    Term zero = e_.zero(type);
    llvm::SmallVector<mlir::Type> types(set_size(), type);
    Terms sums = e_.branch(
        o_.accumulate, types,
        [&] {
          Terms loaded;
          for (int64_t r = 0; r < t_.rows; ++r)
            for (int64_t v = 0; v < t_.vectors; ++v)
              loaded.push_back(e_.load(o_.c, c_at(r, v), lanes_));
          return loaded;
        },
        [&] { return Terms(set_size(), zero); });
    // Only the first set can start from C. The other sets start at 0 and are added to the first
    // set.
    sums.append((t_.sets - 1) * set_size(), zero);
    return sums;
  }

  Term a_at(Term k, int64_t u, int64_t row) {
    // k is a multiple of kUnroll, unless u is 0: the steps from k to k + u are in one chunk.
    if (t_.format == RowFormat::kRows)
      return o_.a_at + packed_row_at(k.integer(0), k, o_.group_rows) + (row * kChunk + u);
    return o_.a_at + k * kTileRows + (u * kTileRows + row);
  }

  Term b_at(Term k, int64_t u, int64_t vector) {
    return o_.b_at + k * kPanelColumns + (u * kPanelColumns + vector * lanes_);
  }

  // The address can be past the end of the buffer: a prefetch never faults.
  void prefetch(const Buffer& buffer, Term at) {
    e_.builder().create<mlir::memref::PrefetchOp>(buffer.memref, mlir::ValueRange{at},
                                                  /*isWrite=*/false, /*localityHint=*/3,
                                                  /*isDataCache=*/true);
  }

  // Prefetches row k + u + kPrefetchDistance of the B panel.
  void prefetch_columns(Term k, int64_t u) {
    const int64_t line = 64 / byte_size(o_.b.dtype);
    for (int64_t column = 0; column < t_.vectors * lanes_; column += line)
      prefetch(o_.b, b_at(k, u + kPrefetchDistance, 0) + column);
  }

  // Prefetches the lines of a chunk of A, over the iterations that use an earlier chunk. The
  // prefetcher of the CPU does not follow the jumps between chunks.
  void prefetch_rows(Term k) {
    static_assert(kPrefetchDistance % kChunk == 0);
    const int64_t lines = (t_.rows * kUnroll + kChunk - 1) / kChunk;  // per iteration
    Term within = remainder(k, kChunk);
    Term chunk = packed_row_at(k.integer(0), k - within + kPrefetchDistance, o_.group_rows);
    Term first = o_.a_at + chunk + within * (lines * kChunk / kUnroll);
    for (int64_t line = 0; line < lines; ++line) prefetch(o_.a, first + line * kChunk);
  }

  // sums += a[:, k + u] * b[k + u, :]
  void step(Term k, int64_t u, llvm::MutableArrayRef<Term> sums) {
    Term b[kTileVectors];
    for (int64_t v = 0; v < t_.vectors; ++v) b[v] = e_.load_number(o_.b, b_at(k, u, v), lanes_);
    for (int64_t r = 0; r < t_.rows; ++r) {
      Term a = e_.splat(e_.load(o_.a, a_at(k, u, r)), lanes_);
      for (int64_t v = 0; v < t_.vectors; ++v) {
        Term& sum = sums[r * t_.vectors + v];
        sum = multiply_add(a, b[v], sum);
      }
    }
  }

  Term multiply_add(Term a, Term b, Term sum) {
    if (t_.element == TileElement::kQuads) return byte_dot(e_, a, b, sum);
    if (e_.target().has_fma()) return e_.make<mlir::vector::FMAOp>(a, b, sum);
    return a * b + sum;
  }

  CodeBuilder& e_;
  const ContractionTile& t_;
  const Operands& o_;
  int64_t lanes_;
};

// The type of a step of A, and of the sums.
DType a_type(TileElement element) {
  return element == TileElement::kQuads ? DType::kI32 : DType::kF32;
}

llvm::SmallVector<mlir::Type> argument_types(mlir::OpBuilder& builder, TileElement element) {
  const auto buffer_of = [&](DType dtype) {
    return buffer_type(storage_type(builder.getContext(), dtype));
  };
  const mlir::Type a = buffer_of(a_type(element)), b = buffer_of(b_type(element)),
                   index = builder.getIndexType();
  return {a, index, b, index, a, index, index, index};
}

// The function is not inlined: a call costs a few ns, and inlining would duplicate the code in
// every caller.
mlir::func::FuncOp new_function(mlir::OpBuilder& builder, llvm::StringRef name,
                                llvm::ArrayRef<mlir::Type> types) {
  auto function = builder.create<mlir::func::FuncOp>(builder.getUnknownLoc(), name,
                                                     builder.getFunctionType(types, {}));
  function->setAttr("passthrough", builder.getArrayAttr({builder.getStringAttr("noinline")}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  return function;
}

std::string name_of(const ContractionTile& tile) { return "contraction_tile_" + tile.text(); }

void make_sub_tile(KernelModule& module, const ContractionTile& tile) {
  const std::string name = name_of(tile);
  module.shared(name, [&](mlir::OpBuilder& builder) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    llvm::SmallVector<mlir::Type> types = argument_types(builder, tile.element);
    types.push_back(builder.getI1Type());
    mlir::func::FuncOp function = new_function(builder, name, types);
    CodeBuilder e(builder, builder.getUnknownLoc(), module.target());
    const auto buffer = [&](unsigned i, DType dtype) {
      return Buffer{function.getArgument(i), dtype};
    };
    const DType a = a_type(tile.element);
    auto term = [&](unsigned i) { return e.term(function.getArgument(i)); };
    Operands operands{buffer(0, a), term(1),      buffer(2, b_type(tile.element)),
                      term(3),      buffer(4, a), term(5),
                      term(6),      term(7),      term(8)};
    SubTile(e, tile, operands).emit();
    builder.create<mlir::func::ReturnOp>(builder.getUnknownLoc());
    return function;
  });
}

constexpr char kColumnTile[] = "contraction_tile_columns";

// column_tile(a, a_at, b, b_at, c, c_at, depth, rows, accumulate) for kColumns columns of at most
// 12 interleaved rows.
void make_column_tile(KernelModule& module) {
  module.shared(kColumnTile, [&](mlir::OpBuilder& builder) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    llvm::SmallVector<mlir::Type> types = argument_types(builder, TileElement::kF32);
    types.push_back(builder.getI1Type());
    mlir::func::FuncOp function = new_function(builder, kColumnTile, types);
    CodeBuilder e(builder, builder.getUnknownLoc(), module.target());
    const auto buffer = [&](unsigned i) { return Buffer{function.getArgument(i), DType::kF32}; };
    const auto term = [&](unsigned i) { return e.term(function.getArgument(i)); };
    const Buffer a = buffer(0), b = buffer(2), c = buffer(4);
    const Term a_at = term(1), b_at = term(3), c_at = term(5), depth = term(6), rows = term(7),
               accumulate = term(8);
    const int64_t lanes = e.target().lanes(4);
    const Term mask = e.mask(e.index(kTileRows), lanes);
    const auto step = [&](Term k, llvm::MutableArrayRef<Term> sums) {
      const Term row = e.load(a, a_at + k * kTileRows, lanes, mask);
      for (int64_t column = 0; column < kColumns; ++column) {
        const Term element = e.load(b, b_at + k * kPanelColumns + column);
        sums[column] = e.make<mlir::vector::FMAOp>(row, e.splat(element, lanes), sums[column]);
      }
    };
    // One set of sums has too few for the latency of an FMA.
    constexpr int64_t kSets = 3;
    const Term zero = e.zero(e.vector(c.element(), lanes));
    const Term main_depth = quotient(depth, kSets) * kSets;
    Terms sums =
        e.loop(e.index(0), main_depth, kSets, Terms(kSets * kColumns, zero),
               [&](Term k, llvm::ArrayRef<Term> carried) {
                 Terms next(carried);
                 for (int64_t set = 0; set < kSets; ++set)
                   step(k + set, llvm::MutableArrayRef<Term>(next).slice(set * kColumns, kColumns));
                 return next;
               });
    for (int64_t i = kColumns; i < kSets * kColumns; ++i)
      sums[i % kColumns] = sums[i % kColumns] + sums[i];
    sums.truncate(kColumns);
    sums = e.loop(main_depth, depth, 1, sums, [&](Term k, llvm::ArrayRef<Term> carried) {
      Terms next(carried);
      step(k, next);
      return next;
    });
    for (int64_t row = 0; row < kTileRows; ++row)
      e.when(row < rows, [&] {
        for (int64_t column = 0; column < kColumns; ++column) {
          const Term at = c_at + (row * kPanelColumns + column), sum = e.extract(sums[column], row);
          e.when(
              accumulate, [&] { e.store(c, at, e.load(c, at) + sum); },
              [&] { e.store(c, at, sum); });
        }
      });
    builder.create<mlir::func::ReturnOp>(builder.getUnknownLoc());
    return function;
  });
}

// Emits the body of a tile function, which calls the sub-tiles that the module has.
class TileBody {
 public:
  TileBody(KernelModule& module, mlir::func::FuncOp tile, RowFormat format, TileElement element)
      : module_(module),
        tile_(tile),
        format_(format),
        element_(element),
        most_rows_(schedule::most_tile_rows(module.target(), element)),
        builder_(mlir::OpBuilder::atBlockEnd(tile.addEntryBlock())),
        e_(builder_, builder_.getUnknownLoc(), module.target()) {}

  void emit() {
    const int64_t width = module_.target().lanes(4) * kTileVectors;
    const auto all = [&] {
      e_.loop(e_.index(0), columns(), width, [&](Term column) { emit_rows(column, kTileVectors); });
    };
    if (format_ == RowFormat::kInterleaved && module_.find(kColumnTile))
      e_.when(columns() <= kPanelColumns / 2 + kColumns, [&] { emit_narrow(); }, all);
    else
      all();
    builder_.create<mlir::func::ReturnOp>(builder_.getUnknownLoc());
  }

 private:
  Term term(unsigned i) { return e_.term(tile_.getArgument(i)); }
  Term rows() { return term(8); }
  Term columns() { return term(9); }

  // The columns from `column` on, in sub-tiles with this number of vectors.
  void emit_rows(Term column, int64_t vectors) {
    const int64_t row_stride = format_ == RowFormat::kRows ? kChunk : 1;
    e_.loop(e_.index(0), rows(), most_rows_, [&](Term row) {
      const Term a_at = term(1) + row * row_stride;
      const Term b_at = term(3) + column;
      const Term c_at = term(5) + row * kPanelColumns + column;
      // The last sub-tile of a tile can have fewer rows. Each number of rows has its own function,
      // because sums in registers cannot be indexed at run time.
      e_.switch_index(min(rows() - row, most_rows_) - 1, most_rows_, [&](int64_t i) {
        if (auto sub_tile = module_.find(name_of(
                schedule::contraction_tile(module_.target(), format_, element_, i + 1, vectors))))
          e_.call(sub_tile, {term(0), a_at.value, term(2), b_at.value, term(4), c_at.value, term(6),
                             term(7), term(10)});
      });
    });
  }

  // At most a half of the columns in a sub-tile, and at most kColumns more in a column tile.
  void emit_narrow() {
    const Term half = e_.index(kPanelColumns / 2);
    const Term has_half = e_.index(kColumns) < columns();
    e_.when(has_half, [&] { emit_rows(e_.index(0), 1); });
    const Term done = select(has_half, half, e_.index(0));
    e_.when(done < columns(), [&] {
      const Term b_at = term(3) + done, c_at = term(5) + done;
      e_.call(module_.find(kColumnTile), {term(0), term(1), term(2), b_at.value, term(4),
                                          c_at.value, term(7), rows().value, term(10)});
    });
  }

  KernelModule& module_;
  mlir::func::FuncOp tile_;
  RowFormat format_;
  TileElement element_;
  int64_t most_rows_;
  mlir::OpBuilder builder_;
  CodeBuilder e_;
};

}  // namespace

Term packed_row_at(Term row, Term k, Term group_rows) {
  Term within = remainder(k, kChunk);
  return (k - within) * group_rows + (row * kChunk + within);
}

mlir::func::FuncOp tile_function(KernelModule& module,
                                 const schedule::ContractionSchedule& schedule) {
  const TileElement element = schedule.element;
  const std::string name = std::string("contraction_tile_") +
                           (schedule.format == RowFormat::kRows ? "rows" : "interleaved") +
                           schedule::suffix_of(element);
  mlir::func::FuncOp tile = module.shared(name, [&](mlir::OpBuilder& builder) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    llvm::SmallVector<mlir::Type> types = argument_types(builder, element);
    types.append(2, builder.getIndexType());
    types.push_back(builder.getI1Type());
    return new_function(builder, name, types);
  });
  // Each sub-tile takes tens of milliseconds to compile, so a module has only those that its tiles
  // need.
  bool is_changed = false;
  if (schedule.has_narrow_panel && schedule::has_narrow_tiles(module.target()) &&
      !module.find(kColumnTile))
    make_column_tile(module);
  for (const ContractionTile& sub_tile : contraction_tiles(module.target(), schedule)) {
    if (module.find(name_of(sub_tile))) continue;
    make_sub_tile(module, sub_tile);
    is_changed = true;
  }
  if (!is_changed) return tile;
  tile.eraseBody();
  TileBody(module, tile, schedule.format, element).emit();
  return tile;
}

}  // namespace scopevm::compiler::kernels
