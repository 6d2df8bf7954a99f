// The micro-kernels; see the header. One function for each number of rows, behind one that chooses.
//
// A tile keeps its sums in registers: 12 x 32 floats are 24 of AVX-512's 32 registers; other vector
// units cut the tile into smaller ones. The depth is unrolled by 4 (by 2, sums spill). Tiles of
// fewer than 4 rows have too few independent sums to hide the latency of an FMA, so they split the
// depth over several sets.
#include "compiler/kernels/contraction/matmul/microkernel.h"

#include "compiler/kernels/contraction/emitter.h"
#include "compiler/kernels/contraction/matmul/byte_dot.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {
namespace {

using mlir::Value;

constexpr int64_t kUnroll = 4;
// Steps of the depth between a prefetch and its use.
constexpr int64_t kPrefetchDistance = 32;
constexpr int64_t kVectors = 2;  // of a B row that one sub-tile takes

struct Operands {
  Value a, a_at, b, b_at, c, c_at, depth, accumulate;
};

// Part of a tile whose sums fit the registers.
class SubTile {
 public:
  SubTile(Emitter& emit, const Target& target, RowFormat format, TileElement element,
          const Operands& operands, int64_t first_row, int64_t rows, int64_t first_column)
      : e_(emit),
        target_(target),
        element_(element),
        o_(operands),
        format_(format),
        first_row_(first_row),
        rows_(rows),
        first_column_(first_column),
        lanes_(target.lanes(4)),
        type_(element == TileElement::kF32 ? emit.f32(lanes_) : emit.i32(lanes_)),
        has_fma_(target.vector_bits >= 256) {
    int64_t budget = target.vector_bits == 512 ? 24 : 12;
    if (rows < 4)
      while (sets_ < kUnroll && 2 * sets_ * rows * kVectors <= budget) sets_ *= 2;
  }

  void emit() {
    Value main_depth = e_.mul(e_.div(o_.depth, e_.index(kUnroll)), kUnroll);
    Emitter::Values sums = initial_sums();
    sums = e_.fold(e_.index(0), main_depth, kUnroll, sums, [&](Value k, mlir::ValueRange carried) {
      Emitter::Values next(carried);
      for (int64_t u = 0; u < kUnroll; ++u) {
        if (first_row_ == 0) prefetch(k, u);
        step(k, u, llvm::MutableArrayRef<Value>(next).slice((u % sets_) * set_size(), set_size()));
      }
      return next;
    });
    for (int64_t set = 1; set < sets_; ++set)
      for (int64_t i = 0; i < set_size(); ++i) sums[i] = add(sums[i], sums[set * set_size() + i]);
    sums.resize(set_size());
    sums = e_.fold(main_depth, o_.depth, 1, sums, [&](Value k, mlir::ValueRange carried) {
      Emitter::Values next(carried);
      step(k, 0, next);
      return next;
    });
    for (int64_t r = 0; r < rows_; ++r)
      for (int64_t v = 0; v < kVectors; ++v) e_.store(sums[r * kVectors + v], o_.c, c_at(r, v));
  }

 private:
  int64_t set_size() const { return rows_ * kVectors; }

  Value c_at(int64_t row, int64_t vector) {
    return e_.add(o_.c_at, (first_row_ + row) * kPanelColumns + first_column_ + vector * lanes_);
  }

  Emitter::Values initial_sums() {
    Value zero = e_.zero(type_);
    llvm::SmallVector<mlir::Type> types(set_size(), type_);
    Emitter::Values sums = e_.choose(
        o_.accumulate, types,
        [&] {
          Emitter::Values loaded;
          for (int64_t r = 0; r < rows_; ++r)
            for (int64_t v = 0; v < kVectors; ++v)
              loaded.push_back(e_.load(o_.c, c_at(r, v), type_));
          return loaded;
        },
        [&] { return Emitter::Values(set_size(), zero); });
    sums.append((sets_ - 1) * set_size(), zero);
    return sums;
  }

  Value a_at(Value k, int64_t u, int64_t row) {
    row += first_row_;
    if (format_ == RowFormat::kRows) return e_.add(e_.add(o_.a_at, k), row * kRowStride + u);
    return e_.add(e_.add(o_.a_at, e_.mul(k, kTileRows)), u * kTileRows + row);
  }

  Value b_at(Value k, int64_t u, int64_t vector) {
    return e_.add(e_.add(o_.b_at, e_.mul(k, kPanelColumns)),
                  u * kPanelColumns + first_column_ + vector * lanes_);
  }

  void prefetch(Value k, int64_t u) {
    constexpr int64_t kLineFloats = 16;
    for (int64_t column = 0; column < kVectors * lanes_; column += kLineFloats) {
      if ((first_column_ + column) % kLineFloats) continue;
      Value at = e_.add(b_at(k, u + kPrefetchDistance, 0), column);
      e_.builder.create<mlir::memref::PrefetchOp>(e_.location, o_.b, at, /*isWrite=*/false,
                                                  /*localityHint=*/3, /*isDataCache=*/true);
    }
  }

  // sums += a[:, k + u] * b[k + u, :]
  void step(Value k, int64_t u, llvm::MutableArrayRef<Value> sums) {
    Value b[kVectors];
    for (int64_t v = 0; v < kVectors; ++v) b[v] = e_.load(o_.b, b_at(k, u, v), type_);
    for (int64_t r = 0; r < rows_; ++r) {
      Value a = e_.splat(e_.load(o_.a, a_at(k, u, r)), type_);
      for (int64_t v = 0; v < kVectors; ++v) {
        Value& sum = sums[r * kVectors + v];
        sum = multiply_add(a, b[v], sum);
      }
    }
  }

  Value add(Value a, Value b) {
    if (element_ == TileElement::kQuads) return e_.add(a, b);
    return e_.builder.create<mlir::arith::AddFOp>(e_.location, a, b);
  }

  Value multiply_add(Value a, Value b, Value sum) {
    if (element_ == TileElement::kQuads) return byte_dot(e_, target_, a, b, sum);
    if (has_fma_) return e_.builder.create<mlir::vector::FMAOp>(e_.location, a, b, sum);
    Value product = e_.builder.create<mlir::arith::MulFOp>(e_.location, a, b);
    return add(product, sum);
  }

  Emitter& e_;
  const Target& target_;
  TileElement element_;
  const Operands& o_;
  RowFormat format_;
  int64_t first_row_, rows_, first_column_, lanes_;
  mlir::VectorType type_;
  bool has_fma_;
  int64_t sets_ = 1;
};

llvm::SmallVector<mlir::Type> argument_types(mlir::OpBuilder& builder, TileElement element) {
  mlir::Type of = element == TileElement::kF32 ? mlir::Type(builder.getF32Type())
                                               : mlir::Type(builder.getI32Type());
  mlir::Type buffer = buffer_type(of), index = builder.getIndexType();
  return {buffer, index, buffer, index, buffer, index, index};
}

// A call costs a few ns; inlining would multiply the code by the number of callers.
mlir::func::FuncOp new_function(mlir::OpBuilder& builder, llvm::StringRef name,
                                llvm::ArrayRef<mlir::Type> types) {
  auto function = builder.create<mlir::func::FuncOp>(builder.getUnknownLoc(), name,
                                                     builder.getFunctionType(types, {}));
  function->setAttr("passthrough", builder.getArrayAttr({builder.getStringAttr("noinline")}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  return function;
}

std::string tile_name(RowFormat format, TileElement element) {
  return std::string("contraction_tile_") + (format == RowFormat::kRows ? "rows" : "interleaved") +
         (element == TileElement::kQuads ? "_quads" : "");
}

// Rows whose sums, beside what a step loads, fit the registers.
int64_t sub_tile_rows(const Target& target, TileElement element) {
  if (target.vector_bits == 512) return 12;
  bool has_more_operands = element == TileElement::kQuads && !target.has_byte_dot;
  return target.vector_bits == 256 && !has_more_operands ? 6 : 4;
}

mlir::func::FuncOp make_tile(KernelModule& module, RowFormat format, TileElement element,
                             int64_t rows) {
  std::string name = tile_name(format, element) + std::to_string(rows);
  return module.shared(name, [&](mlir::OpBuilder& builder) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    llvm::SmallVector<mlir::Type> types = argument_types(builder, element);
    types.push_back(builder.getI1Type());
    mlir::func::FuncOp function = new_function(builder, name, types);
    Operands operands{function.getArgument(0), function.getArgument(1), function.getArgument(2),
                      function.getArgument(3), function.getArgument(4), function.getArgument(5),
                      function.getArgument(6), function.getArgument(7)};
    Emitter emit(builder);
    int64_t sub_rows = sub_tile_rows(module.target(), element);
    int64_t sub_columns = module.target().lanes(4) * kVectors;
    for (int64_t column = 0; column < kPanelColumns; column += sub_columns)
      for (int64_t row = 0; row < rows; row += sub_rows)
        SubTile(emit, module.target(), format, element, operands, row,
                std::min(sub_rows, rows - row), column)
            .emit();
    builder.create<mlir::func::ReturnOp>(builder.getUnknownLoc());
    return function;
  });
}

}  // namespace

mlir::func::FuncOp tile_function(KernelModule& module, RowFormat format, TileElement element) {
  llvm::SmallVector<mlir::func::FuncOp> tiles;
  for (int64_t rows = 1; rows <= kTileRows; ++rows)
    tiles.push_back(make_tile(module, format, element, rows));
  std::string name = tile_name(format, element);
  return module.shared(name, [&](mlir::OpBuilder& builder) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    llvm::SmallVector<mlir::Type> types = argument_types(builder, element);
    types.push_back(builder.getIndexType());
    types.push_back(builder.getI1Type());
    mlir::func::FuncOp function = new_function(builder, name, types);
    llvm::SmallVector<Value> arguments(function.getArguments().take_front(7));
    arguments.push_back(function.getArgument(8));
    mlir::Location location = builder.getUnknownLoc();
    llvm::SmallVector<int64_t> cases;
    for (int64_t rows = 1; rows < kTileRows; ++rows) cases.push_back(rows);
    auto choose = builder.create<mlir::scf::IndexSwitchOp>(
        location, mlir::TypeRange(), function.getArgument(7), cases, cases.size());
    for (int64_t rows = 1; rows <= kTileRows; ++rows) {
      mlir::Region& region =
          rows == kTileRows ? choose.getDefaultRegion() : choose.getCaseRegions()[rows - 1];
      mlir::OpBuilder::InsertionGuard inner(builder);
      builder.createBlock(&region);
      builder.create<mlir::func::CallOp>(location, tiles[rows - 1], arguments);
      builder.create<mlir::scf::YieldOp>(location);
    }
    builder.create<mlir::func::ReturnOp>(location);
    return function;
  });
}

}  // namespace scopevm::compiler::kernels
