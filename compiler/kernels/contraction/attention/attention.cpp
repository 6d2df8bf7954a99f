// Generates softmax(epilogue(q k)) v as one kernel, where q, k and v are the queries, keys and
// values. The operand of the softmax is called the scores. The scores of a block of rows and a
// block of keys stay in a worker's scratch memory between the two products.
//
// The blocks of keys have at most kBlockKeys keys, so that the scratch memory does not grow with
// their number. After each block, the sums of a row are those of exponentials relative to the
// largest score so far: a larger score in a later block scales them down (M. Milakov and
// N. Gimelshein, "Online normalizer calculation for softmax", 2018; T. Dao et al.,
// "FlashAttention", 2022). The order of the sums depends on the sizes only.
//
// Grid: batch x groups of row blocks. The groups are innermost, so that a worker packs k and v of a
// batch element once for all its groups if there is one block of keys. Otherwise, a worker packs a
// block of keys for each group. The division by the sum of exponentials is applied to the rows of
// the result, which are usually shorter than the rows of scores.
#include <limits>

#include "compiler/kernels/contraction/contraction.h"
#include "compiler/kernels/contraction/matmul/matmul_shape.h"
#include "compiler/kernels/contraction/pack/pack_panels.h"
#include "compiler/kernels/contraction/tile/row_blocks.h"
#include "compiler/kernels/elementwise/vector_math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {
namespace {

using schedule::kBlockKeys;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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
    return k_.launch(element_count(score_shape_.batch) * schedule_.groups(), schedule_.grain);
  }

 private:
  struct Operands {
    Buffer queries, keys, values, result;
    Scratch scratch;
    // Offsets of the parts of the scratch memory.
    Term sums, query_rows, score_rows, key_panels, value_panels;
    Term results;               // a row of sums of the second product for each row
    Term most, totals;          // of the scores of a row, and of their exponentials
    Term factors, reciprocals;  // of the sums of a row
    std::optional<BatchCoordinates> query_batch, value_batch;
    Term rows, block_rows, depth, length, columns, tiles, tiles_per_block, blocks, depth_blocks,
        product_panels;
    Term blocks_per_group, groups;
    Term query_block;  // the elements of the packed queries of a row block
    Term key_blocks;
    Term has_one_block;  // of keys: 1 or 0
  };
  // A block of rows.
  struct RowBlock {
    Term number;  // in its group
    Term first_tile, last_tile;
    Term first_row, rows;
  };
  // A block of keys.
  struct KeyBlock {
    Term first, count;  // keys
    Term is_first, is_last;
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
    const DimExpr group_rows = rows * schedule_.blocks_per_group;
    const DimExpr length = score_shape_.columns, keys = min(length, kBlockKeys);
    const DimExpr key_blocks = schedule::key_blocks(length);
    const DimExpr query_block = rows * round_up(depth, kChunk);
    const DimExpr product_panels = ceildiv(product_shape_.columns, kPanelColumns);
    DimExpr size = 0;
    const auto part = [&](DimExpr elements) {
      const Term start = k_.param(size);
      size = size + elements;
      return start;
    };
    o.sums = part(rows * DimExpr(kPanelColumns));
    o.query_rows = part(query_block * schedule_.blocks_per_group);
    // Scores have the layout of packed rows, because they are the A operand of the second product.
    o.score_rows = part(rows * round_up(keys, kChunk));
    o.key_panels = part(ceildiv(keys, kPanelColumns) * depth * DimExpr(kPanelColumns));
    o.value_panels = part(product_panels * keys * DimExpr(kPanelColumns));
    o.results = part(group_rows * product_shape_.columns);
    for (Term* of_rows : {&o.most, &o.totals, &o.factors, &o.reciprocals})
      *of_rows = part(group_rows);
    o.scratch = k_.scratch(size, DType::kF32);
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
    o.blocks_per_group = k_.param(schedule_.blocks_per_group);
    o.groups = k_.param(schedule_.groups());
    o.query_block = k_.param(query_block);
    o.key_blocks = k_.param(key_blocks);
    o.has_one_block = k_.param(max(DimExpr(2) - key_blocks, 0));
    o.product_panels = k_.param(product_panels);
    return o;
  }

  Buffer operand(mlir::Value value) {
    return k_.operand(fused_.scores.stored(value), Elements::kNumbers);
  }

  // The start of a part of the worker's scratch.
  Term start_of(Term part) { return o_.scratch.start + part; }

  void emit_items() {
    k_.loop(k_.begin(), k_.end(), 1, [&](Term item) {
      Term batch = quotient(item, o_.groups);
      Terms at = o_.query_batch->coordinates(batch);
      epilogue_.enter(k_, at);
      // The items with the same keys that the worker has executed; 0 if there are several blocks of
      // keys, which it packs for each item.
      Term packed_items = k_.items_done(item, batch * o_.groups) * o_.has_one_block;
      Term first_block = remainder(item, o_.groups) * o_.blocks_per_group;
      Term last_block = min(first_block + o_.blocks_per_group, o_.blocks);
      const auto each_block = [&](llvm::function_ref<void()> body) {
        k_.loop(first_block, last_block, 1, [&](Term block) {
          rows_ = row_block(block, first_block);
          body();
        });
      };
      each_block([&] { emit_queries(at); });
      k_.loop(k_.index(0), o_.key_blocks, 1, [&](Term block) {
        keys_ = key_block(block);
        k_.when(packed_items == 0, [&] { emit_panels(at); });
        each_block([&] {
          emit_scores();
          k_.loop(k_.index(0), rows_.rows, 1, [&](Term row) { emit_softmax(row); });
          emit_results(batch * o_.rows * o_.columns);
        });
      });
    });
  }

  RowBlock row_block(Term block, Term first_block) {
    Term first_tile = block * o_.tiles_per_block;
    Term last_tile = min(first_tile + o_.tiles_per_block, o_.tiles);
    Term first_row = tile_start(first_tile, o_.rows, o_.tiles);
    return {.number = block - first_block,
            .first_tile = first_tile,
            .last_tile = last_tile,
            .first_row = first_row,
            .rows = tile_start(last_tile, o_.rows, o_.tiles) - first_row};
  }

  KeyBlock key_block(Term block) {
    Term first = block * kBlockKeys;
    return {.first = first,
            .count = min(o_.length - first, kBlockKeys),
            .is_first = block == 0,
            .is_last = block + 1 == o_.key_blocks};
  }

  void emit_panels(llvm::ArrayRef<Term> at) {
    // The keys are columns of the first product, and steps of the second one.
    const bool has_key_rows = scores_.getTransposeB(), has_value_rows = !product_.getTransposeB();
    emit_panels(
        {o_.keys,
         o_.query_batch->b_start(k_, at) + (has_key_rows ? keys_.first * o_.depth : keys_.first),
         has_key_rows ? o_.depth : o_.length, !has_key_rows},
        panels_of_keys(), keys_.count, o_.depth, start_of(o_.key_panels));
    emit_panels({o_.values,
                 o_.value_batch->b_start(k_, at) +
                     (has_value_rows ? keys_.first * o_.columns : keys_.first),
                 has_value_rows ? o_.columns : o_.length, has_value_rows},
                o_.product_panels, o_.columns, keys_.count, start_of(o_.value_panels));
  }

  void emit_panels(const MatrixView& b, Term panels, Term columns, Term depth, Term to) {
    k_.loop(k_.index(0), panels, 1, [&](Term panel) {
      Term first = panel * kPanelColumns;
      emit_pack_panel(k_, b, first, columns_of_panel(columns, first), depth, o_.scratch.buffer,
                      panel_start(to, panel, depth));
    });
  }

  Term panels_of_keys() { return quotient(keys_.count + (kPanelColumns - 1), kPanelColumns); }

  Term columns_of_panel(Term columns, Term first) { return min(columns - first, kPanelColumns); }
  Term panel_start(Term panels, Term panel, Term depth) {
    return panels + panel * depth * kPanelColumns;
  }

  // Where the packed queries of the row block are.
  Term query_rows() { return start_of(o_.query_rows) + rows_.number * o_.query_block; }

  void emit_queries(llvm::ArrayRef<Term> at) {
    MatrixView queries{o_.queries, o_.query_batch->a_start(k_, at),
                       scores_.getTransposeA() ? o_.rows : o_.depth, !scores_.getTransposeA()};
    emit_pack_rows(k_, queries, rows_.first_row, rows_.first_row + rows_.rows, o_.depth,
                   o_.block_rows, o_.scratch.buffer, query_rows());
  }

  // The operands of the product of the row block and packed panels.
  BlockOperands operands() {
    return {.tile = tile_,
            .a = o_.scratch.buffer,
            .group_rows = o_.block_rows,
            .b = o_.scratch.buffer,
            .scratch = o_.scratch.buffer,
            .scratch_at = start_of(o_.sums),
            .rows = o_.rows,
            .tiles = o_.tiles,
            .first_tile = rows_.first_tile,
            .last_tile = rows_.last_tile,
            // Tiles are numbered over all rows, so the epilogue receives row numbers of the whole
            // matrix.
            .first_row = k_.index(0)};
  }

  // The position of the score of a key of the block for row `row` of the row block, in the layout
  // of the second product's A operand.
  Term score_at(Term row, Term key) {
    return start_of(o_.score_rows) + packed_row_at(row, key, o_.block_rows);
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

  void emit_scores() {
    BlockOperands operands = this->operands();
    operands.a_at = [&](Term, Term row, Term k) {
      return query_rows() + packed_row_at(row, k, o_.block_rows);
    };
    operands.depth = o_.depth;
    operands.depth_blocks = o_.depth_blocks;
    emit_product(operands, start_of(o_.key_panels), panels_of_keys(), keys_.count,
                 [&](Term sums, Term row, Term key, int64_t lanes, Term mask) {
                   auto values = epilogue_.evaluate(k_, sums, row, keys_.first + key, lanes, mask);
                   Term at = score_at(row - rows_.first_row, key);
                   k_.store(o_.scratch.buffer, at, values[fused_.score], mask);
                 });
  }

  // Folds a row of scores, a vector at a time. `take` receives the position, values and mask of the
  // vector, and the carried value. It returns the new carried value. The mask of a full vector is
  // null.
  Term fold_row(Term row, Term initial,
                llvm::function_ref<Term(Term at, Term x, Term mask, Term carried)> take) {
    int64_t lanes = k_.target().lanes(4);
    Term whole = quotient(keys_.count, lanes) * lanes;
    Term mask = k_.mask(keys_.count - whole, lanes);
    auto step = [&](bool is_masked) {
      return [&, is_masked](Term column, llvm::ArrayRef<Term> carried) {
        Term position = score_at(row, column);
        Term lanes_mask = is_masked ? mask : Term();
        Term x = k_.load(o_.scratch.buffer, position, lanes, lanes_mask);
        return Terms{take(position, x, lanes_mask, carried[0])};
      };
    };
    Terms sums = k_.loop(k_.index(0), whole, lanes, {initial}, step(false));
    return k_.loop(whole, keys_.count, lanes, sums, step(true))[0];
  }

  Term across(mlir::vector::CombiningKind kind, Term lanes) {
    return k_.make<mlir::vector::ReductionOp>(kind, lanes.value);
  }

  // A row of the row block as a row of its group.
  Term row_of_group(Term row) { return rows_.number * o_.block_rows + row; }
  // A number of a row of the row block, in scratch memory.
  Term of_row(Term numbers, Term row) {
    return k_.load(o_.scratch.buffer, start_of(numbers) + row_of_group(row));
  }
  void set_of_row(Term numbers, Term row, Term value) {
    k_.store(o_.scratch.buffer, start_of(numbers) + row_of_group(row), value);
  }

  // Replaces the scores of a block of keys by their exponentials. Updates the row's largest score
  // and sum of exponentials, and stores the factor of its earlier sums and the reciprocal of the
  // sum. In the first block of keys, the row has no earlier score and sums. For a row without keys
  // the divisor is 1.
  void emit_softmax(Term row) {
    int64_t lanes = k_.target().lanes(4);
    Term zero = k_.zero(k_.vector(k_.builder().getF32Type(), lanes));
    Term least = zero.number(-kInfinity);
    // This maximum can ignore a NaN score. The exponential of the score is NaN again, so the sum
    // and the results are NaN as well.
    Term most = fold_row(row, least, [&](Term, Term x, Term mask, Term carried) {
      Term known = mask ? select(mask, x, least) : x;
      return select(carried < known, known, carried);
    });
    Term block_most = across(mlir::vector::CombiningKind::MAXNUMF, most);
    // Subtracting the maximum prevents overflow of the exponentials and does not change the
    // softmax. If all scores are -infinity so far, their exponentials are 0.
    const auto base_of = [](Term most) {
      return select(most == -kInfinity, most.number(0.0), most);
    };
    k_.when(
        keys_.is_first, [&] { set_of_row(o_.most, row, block_most); },
        [&] {
          Term old_most = of_row(o_.most, row);
          Term new_most = select(old_most < block_most, block_most, old_most);
          set_of_row(o_.factors, row, exp_f32(old_most - base_of(new_most)));
          set_of_row(o_.most, row, new_most);
        });
    Term top = k_.splat(base_of(of_row(o_.most, row)), lanes);
    Term sums = fold_row(row, zero, [&](Term at, Term x, Term mask, Term carried) {
      Term power = exp_f32(x - top);
      // Disabled lanes were loaded as 0; their exponentials must not count.
      if (mask) power = select(mask, power, zero);
      k_.store(o_.scratch.buffer, at, power, mask);
      return carried + power;
    });
    Term own = across(mlir::vector::CombiningKind::ADD, sums);
    Term sum = select(keys_.is_first, own, of_row(o_.totals, row) * of_row(o_.factors, row) + own);
    // The softmax of a row whose scores are all -infinity is NaN.
    Term empty = select(o_.length == 0, sum.number(1.0),
                        sum.number(std::numeric_limits<double>::quiet_NaN()));
    Term divisor = select(sum == 0.0, empty, sum);
    set_of_row(o_.totals, row, sum);
    set_of_row(o_.reciprocals, row, 1.0 / divisor);
  }

  // The softmax of a row is NaN if the reciprocal of its sum is.
  Term divided(Term sums, Term reciprocals) {
    const Term result = sums * reciprocals;
    return fused_.is_guarded ? select(is_nan(reciprocals), result.number(0.0), result) : result;
  }

  void emit_results(Term result_start) {
    BlockOperands operands = this->operands();
    operands.a_at = [&](Term, Term row, Term k) { return score_at(row, k); };
    operands.depth = keys_.count;
    static_assert(kBlockKeys <= kBlockDepth);
    operands.depth_blocks = k_.index(1);
    emit_product(
        operands, start_of(o_.value_panels), o_.product_panels, o_.columns,
        [&](Term sums, Term row, Term column, int64_t lanes, Term mask) {
          const Term own = row - rows_.first_row;
          const auto splat = [&](Term numbers) { return k_.splat(of_row(numbers, own), lanes); };
          const Term kept = start_of(o_.results) + (row_of_group(own) * o_.columns + column);
          // Not used in the first block of keys, before which nothing is stored there.
          const Term before = k_.load(o_.scratch.buffer, kept, lanes, mask);
          const Term all = select(keys_.is_first, sums, before * splat(o_.factors) + sums);
          k_.when(
              keys_.is_last,
              [&] {
                k_.store(o_.result, result_start + (row * o_.columns + column),
                         divided(all, splat(o_.reciprocals)), mask);
              },
              [&] { k_.store(o_.scratch.buffer, kept, all, mask); });
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
  // The blocks that the emitted code is in.
  RowBlock rows_;
  KeyBlock keys_;
};

}  // namespace

llvm::LogicalResult lower_attention(const FusedAttention& fused, LoweringContext& context) {
  return Attention(fused, context).lower();
}

}  // namespace scopevm::compiler::kernels
