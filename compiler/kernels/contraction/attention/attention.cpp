// Generates softmax(epilogue(q k)) v as one kernel, where q, k and v are the queries, keys and
// values. The operand of the softmax is called the scores. The scores of a block of rows stay in a
// worker's scratch memory between the two products.
//
// Grid: batch x row blocks. The blocks are innermost, so that a worker packs k and v of a batch
// element once for all its row blocks. A block has at most 48 rows. Their scores over 1024 columns
// take 192 KB in the layout of packed rows, and fit in L2. The division by the sum of exponentials
// is applied to the rows of the result, which are usually shorter than the rows of scores.
#include <limits>

#include "compiler/kernels/contraction/contraction.h"
#include "compiler/kernels/contraction/matmul/matmul_shape.h"
#include "compiler/kernels/contraction/pack/pack_panels.h"
#include "compiler/kernels/contraction/tile/row_blocks.h"
#include "compiler/kernels/elementwise/vector_math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {
namespace {

constexpr int64_t kMostTiles = 4;  // per row block; a tile has at most 12 rows
// Between two checks of interrupts: panels, rows of scores, and vectors of a row of scores.
constexpr int64_t kPanelsPerCheck = 16;
constexpr int64_t kRowsPerCheck = 16;
constexpr int64_t kVectorsPerCheck = 2048;

class Attention {
 public:
  Attention(const FusedAttention& fused, LoweringContext& context)
      : fused_(fused),
        scores_(mlir::cast<graph::MatMulOp>(fused.scores.contraction)),
        product_(mlir::cast<graph::MatMulOp>(fused.product.contraction)),
        score_shape_(fused.scores),
        product_shape_(fused.product),
        tile_(tile_function(context.kernels(), RowFormat::kRows, TileElement::kF32,
                            RowBlocks(score_shape_.rows, kMostTiles).heights())),
        epilogue_(fused.scores, score_shape_.axes),
        k_(context, fused.product.op, "attention") {
    bool is_one = score_shape_.a.batch_is_one && score_shape_.b.batch_is_one &&
                  product_shape_.b.batch_is_one && epilogue_.batch_is_one();
    // Both products and the epilogue share one grid, so their batch dims are all merged or all
    // kept.
    if (!is_one || score_shape_.batch.size() < 2) return;
    for (MatMulShape* shape : {&score_shape_, &product_shape_}) {
      fusion::collapse_batch(shape->a);
      fusion::collapse_batch(shape->b);
      shape->batch = {element_count(shape->batch)};
    }
    epilogue_.collapse_batch();
  }

  llvm::LogicalResult lower() {
    RowBlocks blocks(score_shape_.rows, kMostTiles);
    declare(blocks);
    emit_items();
    DimExpr depths = score_shape_.depth + product_shape_.columns;
    // The multiply-adds of an item: per score, one dot product over the depth, and one update per
    // column of v.
    DimExpr work = blocks.block_rows() * max(score_shape_.columns, 1) * max(depths, 1);
    return k_.launch(element_count(score_shape_.batch) * blocks.blocks, grain_of(1 << 20, work));
  }

 private:
  void declare(const RowBlocks& blocks) {
    queries_ = operand(scores_.getA());
    keys_ = operand(scores_.getB());
    values_ = operand(product_.getB());
    epilogue_.declare(k_);
    result_ = k_.result(fused_.product.op->getResult(0), Elements::kNumbers);
    DimExpr rows = blocks.block_rows(), depth = score_shape_.depth, length = score_shape_.columns;
    DimExpr panels = ceildiv(length, kPanelColumns);
    DimExpr product_panels = ceildiv(product_shape_.columns, kPanelColumns);
    scratch_parts({{&sums_, rows * DimExpr(kPanelColumns)},
                   // At least one element per row, for the reciprocals.
                   {&query_rows_, rows * round_up(max(depth, 1), kChunk)},
                   // Scores have the layout of packed rows, because they are the A operand of the
                   // second product.
                   {&score_rows_, rows * round_up(length, kChunk)},
                   {&key_panels_, panels * depth * DimExpr(kPanelColumns)},
                   {&value_panels_, product_panels * length * DimExpr(kPanelColumns)}});
    // The packed queries are not read after the scores are complete, which the reciprocals are
    // computed from.
    reciprocals_ = query_rows_;
    query_batch_.emplace(k_, score_shape_);
    value_batch_.emplace(k_, product_shape_);
    rows_ = k_.param(score_shape_.rows);
    block_rows_ = k_.param(rows);
    depth_ = k_.param(depth);
    length_ = k_.param(length);
    columns_ = k_.param(product_shape_.columns);
    tiles_ = k_.param(blocks.tiles);
    tiles_per_block_ = k_.param(blocks.tiles_per_block);
    blocks_ = k_.param(blocks.blocks);
    depth_blocks_ = k_.param(depth_blocks(depth));
    length_blocks_ = k_.param(depth_blocks(length));
    panels_ = k_.param(panels);
    product_panels_ = k_.param(product_panels);
  }

  Buffer operand(mlir::Value value) {
    return k_.operand(fused_.scores.outer(value), Elements::kNumbers);
  }

  void scratch_parts(std::initializer_list<std::pair<Term*, DimExpr>> parts) {
    DimExpr size = 0;
    for (auto [part, elements] : parts) {
      *part = k_.param(size);
      size = size + elements;
    }
    scratch_ = k_.scratch(size, DType::kF32);
  }

  // The start of a part of the worker's scratch.
  Term start_of(Term part) { return scratch_.start + part; }

  void emit_items() {
    k_.loop(k_.begin(), k_.end(), 1, [&](Term item) {
      Term batch = quotient(item, blocks_);
      Terms at = query_batch_->coordinates(batch);
      k_.when(k_.items_done(item, batch * blocks_) == 0, [&] { emit_panels(at); });
      emit_block_of_rows(at, batch, remainder(item, blocks_));
    });
  }

  void emit_panels(llvm::ArrayRef<Term> at) {
    emit_panels({keys_, query_batch_->b_start(k_, at), scores_.getTransposeB() ? depth_ : length_,
                 !scores_.getTransposeB()},
                panels_, length_, depth_, start_of(key_panels_));
    emit_panels({values_, value_batch_->b_start(k_, at),
                 product_.getTransposeB() ? length_ : columns_, !product_.getTransposeB()},
                product_panels_, columns_, length_, start_of(value_panels_));
  }

  void emit_panels(const MatrixView& b, Term panels, Term columns, Term depth, Term to) {
    each_of(panels, kPanelsPerCheck, [&](Term panel) {
      Term first = panel * kPanelColumns;
      emit_pack_panel(k_, b, first, columns_of_panel(columns, first), depth, scratch_.buffer,
                      panel_start(to, panel, depth));
    });
  }

  void each_of(Term count, int64_t per_check, llvm::function_ref<void(Term i)> body) {
    k_.long_loop(k_.index(0), count, 1, per_check, {}, [&](Term i, auto) {
      body(i);
      return Terms{};
    });
  }

  Term columns_of_panel(Term columns, Term first) { return min(columns - first, kPanelColumns); }
  Term panel_start(Term panels, Term panel, Term depth) {
    return panels + panel * depth * kPanelColumns;
  }

  void emit_block_of_rows(llvm::ArrayRef<Term> at, Term batch, Term block) {
    Term first_tile = block * tiles_per_block_;
    Term last_tile = min(first_tile + tiles_per_block_, tiles_);
    first_row_ = tile_start(first_tile, rows_, tiles_);
    Term last_row = tile_start(last_tile, rows_, tiles_);
    MatrixView queries{queries_, query_batch_->a_start(k_, at),
                       scores_.getTransposeA() ? rows_ : depth_, !scores_.getTransposeA()};
    emit_pack_rows(k_, queries, first_row_, last_row, depth_, block_rows_, scratch_.buffer,
                   start_of(query_rows_));
    epilogue_.enter(k_, at);
    BlockOperands operands{.tile = tile_,
                           .a = scratch_.buffer,
                           .group_rows = block_rows_,
                           .b = scratch_.buffer,
                           .scratch = scratch_.buffer,
                           .scratch_at = start_of(sums_),
                           .rows = rows_,
                           .tiles = tiles_,
                           .first_tile = first_tile,
                           .last_tile = last_tile,
                           // Tiles are numbered over all rows, so the epilogue receives row numbers
                           // of the whole matrix.
                           .first_row = k_.index(0)};
    emit_scores(operands);
    each_of(last_row - first_row_, kRowsPerCheck, [&](Term row) { emit_softmax(row); });
    emit_results(operands, batch * rows_ * columns_);
  }

  // The position of the score at `column` of row `row` of the block, in the layout of the second
  // product's A operand.
  Term score_at(Term row, Term column) {
    return start_of(score_rows_) + packed_row_at(row, column, block_rows_);
  }

  // Emits the product of the row block and all panels.
  void emit_product(BlockOperands operands, Term all_panels, Term panels, Term columns,
                    TakeSums take) {
    each_of(panels, kPanelsPerCheck, [&](Term panel) {
      operands.b_at = panel_start(all_panels, panel, operands.depth);
      operands.first_column = panel * kPanelColumns;
      operands.columns = columns_of_panel(columns, operands.first_column);
      emit_block(k_, operands, take);
    });
  }

  void emit_scores(BlockOperands operands) {
    operands.a_at = [&](Term, Term row, Term k) {
      return start_of(query_rows_) + packed_row_at(row, k, block_rows_);
    };
    operands.depth = depth_;
    operands.depth_blocks = depth_blocks_;
    emit_product(operands, start_of(key_panels_), panels_, length_,
                 [&](Term sums, Term row, Term column, int64_t lanes, Term mask) {
                   auto values = epilogue_.evaluate(k_, sums, row, column, lanes, mask);
                   Term at = score_at(row - first_row_, column);
                   k_.store(scratch_.buffer, at, values[fused_.score], mask);
                 });
  }

  // Folds a row of scores, a vector at a time. `take` receives the position, values and mask of the
  // vector, and the carried value. It returns the new carried value. The mask of a full vector is
  // null.
  Term fold_row(Term row, Term initial,
                llvm::function_ref<Term(Term at, Term x, Term mask, Term carried)> take) {
    int64_t lanes = k_.target().lanes(4);
    Term whole = quotient(length_, lanes) * lanes;
    Term mask = k_.mask(length_ - whole, lanes);
    auto step = [&](bool is_masked) {
      return [&, is_masked](Term column, llvm::ArrayRef<Term> carried) {
        Term position = score_at(row, column);
        Term lanes_mask = is_masked ? mask : Term();
        Term x = k_.load(scratch_.buffer, position, lanes, lanes_mask);
        return Terms{take(position, x, lanes_mask, carried[0])};
      };
    };
    Terms sums = k_.long_loop(k_.index(0), whole, lanes, kVectorsPerCheck, {initial}, step(false));
    return k_.loop(whole, length_, lanes, sums, step(true))[0];
  }

  Term across(mlir::vector::CombiningKind kind, Term lanes) {
    return k_.make<mlir::vector::ReductionOp>(kind, lanes.value);
  }

  // Replaces scores by their exponentials, and stores the reciprocal of the sum of the exponentials
  // in `reciprocals_`. For a row without columns the divisor is 1.
  void emit_softmax(Term row) {
    int64_t lanes = k_.target().lanes(4);
    Term zero = k_.zero(k_.vector(k_.builder().getF32Type(), lanes));
    Term least = zero.number(-std::numeric_limits<double>::infinity());
    // This maximum can ignore a NaN score. The exponential of the score is NaN again, so the sum
    // and the results are NaN as well.
    Term most = fold_row(row, least, [&](Term, Term x, Term mask, Term carried) {
      Term known = mask ? select(mask, x, least) : x;
      return select(carried < known, known, carried);
    });
    // Subtracting the maximum prevents overflow of the exponentials and does not change the
    // softmax.
    Term top = k_.splat(across(mlir::vector::CombiningKind::MAXNUMF, most), lanes);
    Term sums = fold_row(row, zero, [&](Term at, Term x, Term mask, Term carried) {
      Term power = exp_f32(x - top);
      // Disabled lanes were loaded as 0; their exponentials must not count.
      if (mask) power = select(mask, power, zero);
      k_.store(scratch_.buffer, at, power, mask);
      return carried + power;
    });
    Term sum = across(mlir::vector::CombiningKind::ADD, sums);
    Term divisor = select(sum == 0.0, sum.number(1.0), sum);
    k_.store(scratch_.buffer, start_of(reciprocals_) + row, 1.0 / divisor);
  }

  void emit_results(BlockOperands operands, Term result_start) {
    operands.a_at = [&](Term, Term row, Term k) { return score_at(row, k); };
    operands.depth = length_;
    operands.depth_blocks = length_blocks_;
    emit_product(operands, start_of(value_panels_), product_panels_, columns_,
                 [&](Term sums, Term row, Term column, int64_t lanes, Term mask) {
                   Term reciprocal =
                       k_.load(scratch_.buffer, start_of(reciprocals_) + (row - first_row_));
                   Term at = result_start + (row * columns_ + column);
                   k_.store(result_, at, sums * k_.splat(reciprocal, lanes), mask);
                 });
  }

  const FusedAttention& fused_;
  graph::MatMulOp scores_, product_;
  MatMulShape score_shape_, product_shape_;
  mlir::func::FuncOp tile_;
  Epilogue epilogue_;
  KernelBuilder k_;

  Buffer queries_, keys_, values_, result_;
  Scratch scratch_;
  // Offsets of the parts of scratch_.
  Term sums_, reciprocals_, query_rows_, score_rows_, key_panels_, value_panels_;
  std::optional<BatchCoordinates> query_batch_, value_batch_;
  Term rows_, block_rows_, depth_, length_, columns_, tiles_, tiles_per_block_, blocks_,
      depth_blocks_, length_blocks_, panels_, product_panels_;
  Term first_row_;  // of the current block
};

}  // namespace

llvm::LogicalResult lower_attention(const FusedAttention& fused, LoweringContext& context) {
  return Attention(fused, context).lower();
}

}  // namespace scopevm::compiler::kernels
