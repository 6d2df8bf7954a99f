// Generates softmax(epilogue(q k)) v as one kernel, where q, k and v are the queries, keys and
// values. The operand of the softmax is called the scores. The scores of a block of rows stay in a
// worker's scratch memory between the two products.
//
// Grid: batch x row blocks. The blocks are innermost, so that a worker packs k and v of a batch
// element once for all its row blocks. The division by the sum of exponentials is applied to the
// rows of the result, which are usually shorter than the rows of scores.
#include <limits>

#include "compiler/kernels/contraction/contraction.h"
#include "compiler/kernels/contraction/matmul/matmul_shape.h"
#include "compiler/kernels/contraction/pack/pack_panels.h"
#include "compiler/kernels/contraction/tile/row_blocks.h"
#include "compiler/kernels/elementwise/vector_math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {
namespace {

class Attention {
 public:
  Attention(const FusedAttention& fused, LoweringContext& context)
      : fused_(fused),
        scores_(mlir::cast<graph::MatMulOp>(fused.scores.contraction)),
        product_(mlir::cast<graph::MatMulOp>(fused.product.contraction)),
        score_shape_(fused.scores),
        product_shape_(fused.product),
        schedule_(schedule::choose_contraction({.kind = schedule::ContractionKind::kAttention,
                                                .rows = score_shape_.rows,
                                                .columns = score_shape_.columns,
                                                .depth = score_shape_.depth,
                                                .result_columns = product_shape_.columns},
                                               context.kernels().core())),
        tile_(tile_function(context.kernels(), schedule_)),
        epilogue_(make_epilogue()),
        k_(context, fused.product.op, "attention"),
        o_(declare()) {}

  llvm::LogicalResult lower() {
    emit_items();
    return k_.launch(element_count(score_shape_.batch) * schedule_.blocks.blocks, schedule_.grain);
  }

 private:
  struct Operands {
    Buffer queries, keys, values, result;
    Scratch scratch;
    // Offsets of the parts of the scratch memory.
    Term sums, reciprocals, query_rows, score_rows, key_panels, value_panels;
    std::optional<BatchCoordinates> query_batch, value_batch;
    Term rows, block_rows, depth, length, columns, tiles, tiles_per_block, blocks, depth_blocks,
        length_blocks, panels, product_panels;
  };

  // Both products and the epilogue share one grid, so their batch dims are all merged or all kept.
  Epilogue make_epilogue() {
    Epilogue epilogue(fused_.scores);
    const bool is_one = score_shape_.a.batch_is_one && score_shape_.b.batch_is_one &&
                        product_shape_.b.batch_is_one && epilogue.batch_is_one();
    if (!is_one || score_shape_.batch.size() < 2) return epilogue;
    for (MatMulShape* shape : {&score_shape_, &product_shape_}) {
      fusion::collapse_batch(shape->a);
      fusion::collapse_batch(shape->b);
      shape->batch = {element_count(shape->batch)};
    }
    epilogue.collapse_batch();
    return epilogue;
  }

  Operands declare() {
    const schedule::RowBlocks& blocks = schedule_.blocks;
    Operands o;
    o.queries = operand(scores_.getA());
    o.keys = operand(scores_.getB());
    o.values = operand(product_.getB());
    epilogue_.declare(k_);
    o.result = k_.result(fused_.product.op->getResult(0), Elements::kNumbers);
    const DimExpr rows = blocks.block_rows(), depth = score_shape_.depth;
    const DimExpr length = score_shape_.columns, panels = ceildiv(length, kPanelColumns);
    const DimExpr product_panels = ceildiv(product_shape_.columns, kPanelColumns);
    DimExpr size = 0;
    const auto part = [&](DimExpr elements) {
      const Term start = k_.param(size);
      size = size + elements;
      return start;
    };
    o.sums = part(rows * DimExpr(kPanelColumns));
    // At least one element per row, for the reciprocals.
    o.query_rows = part(rows * round_up(max(depth, 1), kChunk));
    // Scores have the layout of packed rows, because they are the A operand of the second product.
    o.score_rows = part(rows * round_up(length, kChunk));
    o.key_panels = part(panels * depth * DimExpr(kPanelColumns));
    o.value_panels = part(product_panels * length * DimExpr(kPanelColumns));
    o.scratch = k_.scratch(size, DType::kF32);
    // The packed queries are not read after the scores are complete, which the reciprocals are
    // computed from.
    o.reciprocals = o.query_rows;
    o.query_batch.emplace(k_, score_shape_);
    o.value_batch.emplace(k_, product_shape_);
    o.rows = k_.param(score_shape_.rows);
    o.block_rows = k_.param(rows);
    o.depth = k_.param(depth);
    o.length = k_.param(length);
    o.columns = k_.param(product_shape_.columns);
    o.tiles = k_.param(blocks.tiles);
    o.tiles_per_block = k_.param(blocks.tiles_per_block);
    o.blocks = k_.param(blocks.blocks);
    o.depth_blocks = k_.param(schedule_.depth_blocks);
    o.length_blocks = k_.param(schedule::depth_blocks(length));
    o.panels = k_.param(panels);
    o.product_panels = k_.param(product_panels);
    return o;
  }

  Buffer operand(mlir::Value value) {
    return k_.operand(fused_.scores.outer(value), Elements::kNumbers);
  }

  // The start of a part of the worker's scratch.
  Term start_of(Term part) { return o_.scratch.start + part; }

  void emit_items() {
    k_.loop(k_.begin(), k_.end(), 1, [&](Term item) {
      Term batch = quotient(item, o_.blocks);
      Terms at = o_.query_batch->coordinates(batch);
      k_.when(k_.items_done(item, batch * o_.blocks) == 0, [&] { emit_panels(at); });
      emit_block_of_rows(at, batch, remainder(item, o_.blocks));
    });
  }

  void emit_panels(llvm::ArrayRef<Term> at) {
    emit_panels({o_.keys, o_.query_batch->b_start(k_, at),
                 scores_.getTransposeB() ? o_.depth : o_.length, !scores_.getTransposeB()},
                o_.panels, o_.length, o_.depth, start_of(o_.key_panels));
    emit_panels({o_.values, o_.value_batch->b_start(k_, at),
                 product_.getTransposeB() ? o_.length : o_.columns, !product_.getTransposeB()},
                o_.product_panels, o_.columns, o_.length, start_of(o_.value_panels));
  }

  void emit_panels(const MatrixView& b, Term panels, Term columns, Term depth, Term to) {
    k_.loop(k_.index(0), panels, 1, [&](Term panel) {
      Term first = panel * kPanelColumns;
      emit_pack_panel(k_, b, first, columns_of_panel(columns, first), depth, o_.scratch.buffer,
                      panel_start(to, panel, depth));
    });
  }

  Term columns_of_panel(Term columns, Term first) { return min(columns - first, kPanelColumns); }
  Term panel_start(Term panels, Term panel, Term depth) {
    return panels + panel * depth * kPanelColumns;
  }

  void emit_block_of_rows(llvm::ArrayRef<Term> at, Term batch, Term block) {
    Term first_tile = block * o_.tiles_per_block;
    Term last_tile = min(first_tile + o_.tiles_per_block, o_.tiles);
    first_row_ = tile_start(first_tile, o_.rows, o_.tiles);
    Term last_row = tile_start(last_tile, o_.rows, o_.tiles);
    MatrixView queries{o_.queries, o_.query_batch->a_start(k_, at),
                       scores_.getTransposeA() ? o_.rows : o_.depth, !scores_.getTransposeA()};
    emit_pack_rows(k_, queries, first_row_, last_row, o_.depth, o_.block_rows, o_.scratch.buffer,
                   start_of(o_.query_rows));
    epilogue_.enter(k_, at);
    BlockOperands operands{.tile = tile_,
                           .a = o_.scratch.buffer,
                           .group_rows = o_.block_rows,
                           .b = o_.scratch.buffer,
                           .scratch = o_.scratch.buffer,
                           .scratch_at = start_of(o_.sums),
                           .rows = o_.rows,
                           .tiles = o_.tiles,
                           .first_tile = first_tile,
                           .last_tile = last_tile,
                           // Tiles are numbered over all rows, so the epilogue receives row numbers
                           // of the whole matrix.
                           .first_row = k_.index(0)};
    emit_scores(operands);
    k_.loop(k_.index(0), last_row - first_row_, 1, [&](Term row) { emit_softmax(row); });
    emit_results(operands, batch * o_.rows * o_.columns);
  }

  // The position of the score at `column` of row `row` of the block, in the layout of the second
  // product's A operand.
  Term score_at(Term row, Term column) {
    return start_of(o_.score_rows) + packed_row_at(row, column, o_.block_rows);
  }

  // Emits the product of the row block and all panels.
  void emit_product(BlockOperands operands, Term all_panels, Term panels, Term columns,
                    TakeSums take) {
    k_.loop(k_.index(0), panels, 1, [&](Term panel) {
      operands.b_at = panel_start(all_panels, panel, operands.depth);
      operands.first_column = panel * kPanelColumns;
      operands.columns = columns_of_panel(columns, operands.first_column);
      emit_block(k_, operands, take);
    });
  }

  void emit_scores(BlockOperands operands) {
    operands.a_at = [&](Term, Term row, Term k) {
      return start_of(o_.query_rows) + packed_row_at(row, k, o_.block_rows);
    };
    operands.depth = o_.depth;
    operands.depth_blocks = o_.depth_blocks;
    emit_product(operands, start_of(o_.key_panels), o_.panels, o_.length,
                 [&](Term sums, Term row, Term column, int64_t lanes, Term mask) {
                   auto values = epilogue_.evaluate(k_, sums, row, column, lanes, mask);
                   Term at = score_at(row - first_row_, column);
                   k_.store(o_.scratch.buffer, at, values[fused_.score], mask);
                 });
  }

  // Folds a row of scores, a vector at a time. `take` receives the position, values and mask of the
  // vector, and the carried value. It returns the new carried value. The mask of a full vector is
  // null.
  Term fold_row(Term row, Term initial,
                llvm::function_ref<Term(Term at, Term x, Term mask, Term carried)> take) {
    int64_t lanes = k_.target().lanes(4);
    Term whole = quotient(o_.length, lanes) * lanes;
    Term mask = k_.mask(o_.length - whole, lanes);
    auto step = [&](bool is_masked) {
      return [&, is_masked](Term column, llvm::ArrayRef<Term> carried) {
        Term position = score_at(row, column);
        Term lanes_mask = is_masked ? mask : Term();
        Term x = k_.load(o_.scratch.buffer, position, lanes, lanes_mask);
        return Terms{take(position, x, lanes_mask, carried[0])};
      };
    };
    Terms sums = k_.loop(k_.index(0), whole, lanes, {initial}, step(false));
    return k_.loop(whole, o_.length, lanes, sums, step(true))[0];
  }

  Term across(mlir::vector::CombiningKind kind, Term lanes) {
    return k_.make<mlir::vector::ReductionOp>(kind, lanes.value);
  }

  // Replaces scores by their exponentials, and stores the reciprocal of the sum of the exponentials
  // in `o_.reciprocals`. For a row without columns the divisor is 1.
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
      k_.store(o_.scratch.buffer, at, power, mask);
      return carried + power;
    });
    Term sum = across(mlir::vector::CombiningKind::ADD, sums);
    Term divisor = select(sum == 0.0, sum.number(1.0), sum);
    k_.store(o_.scratch.buffer, start_of(o_.reciprocals) + row, 1.0 / divisor);
  }

  void emit_results(BlockOperands operands, Term result_start) {
    operands.a_at = [&](Term, Term row, Term k) { return score_at(row, k); };
    operands.depth = o_.length;
    operands.depth_blocks = o_.length_blocks;
    emit_product(operands, start_of(o_.value_panels), o_.product_panels, o_.columns,
                 [&](Term sums, Term row, Term column, int64_t lanes, Term mask) {
                   Term reciprocal =
                       k_.load(o_.scratch.buffer, start_of(o_.reciprocals) + (row - first_row_));
                   Term at = result_start + (row * o_.columns + column);
                   k_.store(o_.result, at, sums * k_.splat(reciprocal, lanes), mask);
                 });
  }

  const FusedAttention& fused_;
  graph::MatMulOp scores_, product_;
  MatMulShape score_shape_, product_shape_;
  const schedule::ContractionSchedule schedule_;
  const mlir::func::FuncOp tile_;
  Epilogue epilogue_;
  KernelBuilder k_;
  const Operands o_;
  Term first_row_;  // of the current block
};

}  // namespace

llvm::LogicalResult lower_attention(const FusedAttention& fused, LoweringContext& context) {
  return Attention(fused, context).lower();
}

}  // namespace scopevm::compiler::kernels
