// softmax(epilogue(q k)) v in one kernel: the scores of a few rows live in a worker's memory, from
// the product that makes them to the product that takes them.
//
// Grid: batch x row blocks, blocks innermost, so that a worker packs k and v of a batch element
// once for all the row blocks it gets. A block is 48 rows at most: their scores over 1024 columns,
// in the layout in which the second product reads its rows, are 200 KB, well inside of L2. The
// division by the sum of exponentials is left to the rows of the result, which are shorter.
#include <limits>

#include "compiler/kernels/contraction/contraction.h"
#include "compiler/kernels/contraction/matmul/matmul_shape.h"
#include "compiler/kernels/contraction/matmul/row_blocks.h"
#include "compiler/kernels/contraction/pack/pack_panels.h"
#include "compiler/kernels/elementwise/vector_math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {
namespace {

using mlir::Value;

constexpr int64_t kMostTiles = 4;

class Attention {
 public:
  Attention(const FusedAttention& fused, LoweringContext& context)
      : fused_(fused),
        context_(context),
        scores_(mlir::cast<graph::MatMulOp>(fused.scores.contraction)),
        product_(mlir::cast<graph::MatMulOp>(fused.product.contraction)),
        score_shape_(fused.scores),
        product_shape_(fused.product),
        epilogue_(fused.scores, score_shape_.axes),
        builder_(scores_.getContext()),
        e_(builder_),
        launch_(context, builder_) {
    bool is_one = score_shape_.a.batch_is_one && score_shape_.b.batch_is_one &&
                  product_shape_.b.batch_is_one && epilogue_.batch_is_one();
    if (!is_one || score_shape_.batch.size() < 2) return;
    for (MatMulShape* shape : {&score_shape_, &product_shape_}) {
      fusion::collapse_batch(shape->a);
      fusion::collapse_batch(shape->b);
      shape->batch = {element_count(shape->batch)};
    }
    epilogue_.collapse_batch();
  }

  void lower() {
    RowBlocks blocks(score_shape_.rows, kMostTiles);
    declare(blocks);
    mlir::func::FuncOp tile = tile_function(context_.kernels(), RowFormat::kRows);
    launch_.begin_body();
    emit_items(tile);
    DimExpr depths = score_shape_.depth + product_shape_.columns;
    DimExpr work = blocks.block_rows() * max(score_shape_.columns, 1) * max(depths, 1);
    launch_.finish("attention", element_count(score_shape_.batch) * blocks.blocks,
                   max(floordiv(1 << 20, work), 1));
  }

 private:
  void declare(const RowBlocks& blocks) {
    q_ = launch_.operand(outer_value(scores_.getA()), DType::kF32);
    k_ = launch_.operand(outer_value(scores_.getB()), DType::kF32);
    v_ = launch_.operand(outer_value(product_.getB()), DType::kF32);
    epilogue_.declare(launch_, context_);
    result_ = launch_.result(context_.value_of(fused_.product.op->getResult(0)), DType::kF32);
    DimExpr rows = blocks.block_rows(), depth = score_shape_.depth, length = score_shape_.columns;
    DimExpr panels = ceildiv(length, kPanelColumns);
    DimExpr product_panels = ceildiv(product_shape_.columns, kPanelColumns);
    scratch_parts({{&sums_, rows * DimExpr(kPanelColumns)},
                   {&by_, round_up(rows, 16)},
                   {&query_rows_, depth_blocks(depth) * rows * DimExpr(kRowStride)},
                   {&score_rows_, depth_blocks(length) * rows * DimExpr(kRowStride)},
                   {&key_panels_, panels * depth * DimExpr(kPanelColumns)},
                   {&value_panels_, product_panels * length * DimExpr(kPanelColumns)}});
    query_batch_.emplace(launch_, score_shape_);
    value_batch_.emplace(launch_, product_shape_);
    rows_ = launch_.param(score_shape_.rows);
    depth_ = launch_.param(depth);
    length_ = launch_.param(length);
    columns_ = launch_.param(product_shape_.columns);
    tiles_ = launch_.param(blocks.tiles);
    tiles_per_block_ = launch_.param(blocks.tiles_per_block);
    blocks_ = launch_.param(blocks.blocks);
    depth_blocks_ = launch_.param(depth_blocks(depth));
    length_blocks_ = launch_.param(depth_blocks(length));
    panels_ = launch_.param(panels);
    product_panels_ = launch_.param(product_panels);
  }

  ValueId outer_value(Value value) { return context_.value_of(fused_.scores.outer(value)); }

  void scratch_parts(std::initializer_list<std::pair<Launch::Param*, DimExpr>> parts) {
    DimExpr size = 0;
    for (auto [part, elements] : parts) {
      *part = launch_.param(size);
      size = size + elements;
    }
    scratch_ = launch_.scratch(size);
  }

  // Where a part of the worker's scratch starts.
  Value start_of(Launch::Param part) { return e_.add(base_, launch_[part]); }

  void emit_items(mlir::func::FuncOp tile) {
    base_ = launch_.scratch_start(e_, scratch_);
    e_.fold(launch_.begin(), launch_.end(), 1, e_.index(-1),
            [&](Value item, mlir::ValueRange carried) {
              Value batch = e_.div(item, launch_[blocks_]);
              llvm::SmallVector<Value> at = query_batch_->coordinates(e_, launch_, batch);
              e_.when(e_.equal(batch, carried[0]), [] {}, [&] { emit_panels(at); });
              emit_block_of_rows(tile, at, batch, e_.rem(item, launch_[blocks_]));
              return Emitter::Values{batch};
            });
  }

  void emit_panels(mlir::ValueRange at) {
    emit_panels({launch_[k_], query_batch_->b_start(e_, launch_, at),
                 launch_[scores_.getTransposeB() ? depth_ : length_], !scores_.getTransposeB()},
                launch_[panels_], launch_[length_], launch_[depth_], start_of(key_panels_));
    emit_panels({launch_[v_], value_batch_->b_start(e_, launch_, at),
                 launch_[product_.getTransposeB() ? length_ : columns_], !product_.getTransposeB()},
                launch_[product_panels_], launch_[columns_], launch_[length_],
                start_of(value_panels_));
  }

  void emit_panels(const MatrixView& b, Value panels, Value columns, Value depth, Value to) {
    e_.loop(e_.index(0), panels, 1, [&](Value panel) {
      Value first = e_.mul(panel, kPanelColumns);
      emit_pack_panel(e_, target(), b, first, columns_of_panel(columns, first), depth,
                      launch_[scratch_], panel_start(to, panel, depth));
    });
  }

  Value columns_of_panel(Value columns, Value first) {
    return e_.min(e_.sub(columns, first), e_.index(kPanelColumns));
  }
  Value panel_start(Value panels, Value panel, Value depth) {
    return e_.add(panels, e_.mul(e_.mul(panel, depth), kPanelColumns));
  }

  void emit_block_of_rows(mlir::func::FuncOp tile, mlir::ValueRange at, Value batch, Value block) {
    Value first_tile = e_.mul(block, launch_[tiles_per_block_]);
    Value last_tile = e_.min(e_.add(first_tile, launch_[tiles_per_block_]), launch_[tiles_]);
    first_row_ = tile_start(e_, first_tile, launch_[rows_], launch_[tiles_]);
    Value last_row = tile_start(e_, last_tile, launch_[rows_], launch_[tiles_]);
    block_rows_ = e_.mul(launch_[tiles_per_block_], kTileRows);
    MatrixView q{launch_[q_], query_batch_->a_start(e_, launch_, at),
                 launch_[scores_.getTransposeA() ? rows_ : depth_], !scores_.getTransposeA()};
    emit_pack_rows(e_, target(), q, first_row_, last_row, launch_[depth_], block_rows_,
                   launch_[scratch_], start_of(query_rows_));
    epilogue_.enter(e_, launch_, at);
    BlockOperands operands{.tile = tile,
                           .format = RowFormat::kRows,
                           .a = launch_[scratch_],
                           .b = launch_[scratch_],
                           .scratch = launch_[scratch_],
                           .scratch_at = start_of(sums_),
                           .rows = launch_[rows_],
                           .tiles = launch_[tiles_],
                           .tiles_per_block = launch_[tiles_per_block_],
                           .block = block,
                           .first_row = e_.index(0)};
    emit_scores(operands);
    e_.loop(e_.index(0), e_.sub(last_row, first_row_), 1, [&](Value row) { emit_softmax(row); });
    emit_results(operands, e_.mul(e_.mul(batch, launch_[rows_]), launch_[columns_]));
  }

  // Column k of row r of the block, where the second product finds it.
  Value score_at(Value row, Value column) {
    Value block = e_.div(column, e_.index(kBlockDepth));
    Value slot = e_.add(e_.mul(block, block_rows_), row);
    Value within = e_.sub(column, e_.mul(block, kBlockDepth));
    return e_.add(start_of(score_rows_), e_.add(e_.mul(slot, kRowStride), within));
  }

  // The rows times every panel.
  void emit_product(BlockOperands operands, Value all_panels, Value panels, Value columns,
                    TakeSums take) {
    e_.loop(e_.index(0), panels, 1, [&](Value panel) {
      operands.b_at = panel_start(all_panels, panel, operands.depth);
      operands.first_column = e_.mul(panel, kPanelColumns);
      operands.columns = columns_of_panel(columns, operands.first_column);
      emit_block(e_, target(), operands, take);
    });
  }

  void emit_scores(BlockOperands operands) {
    operands.a_at = start_of(query_rows_);
    operands.depth = launch_[depth_];
    operands.depth_blocks = launch_[depth_blocks_];
    emit_product(operands, start_of(key_panels_), launch_[panels_], launch_[length_],
                 [&](Value sums, Value row, Value column, int64_t lanes, Value mask) {
                   auto values = epilogue_.evaluate(e_, launch_, sums, row, column, lanes, mask);
                   Value at = score_at(e_.sub(row, first_row_), column);
                   store(values[fused_.score], scratch_, at, mask);
                 });
  }

  void store(Value value, Launch::Buffer to, Value position, Value mask) {
    if (mask)
      e_.store_masked(value, launch_[to], position, mask);
    else
      e_.store(value, launch_[to], position);
  }

  Term term(Value value) { return Term(e_.builder, e_.location, value); }

  // Over a row of scores: `take` gets where some lanes are, what they hold, and their mask.
  Value fold_row(Value row, Value initial,
                 llvm::function_ref<Value(Value at, Value x, Value mask, Value carried)> take) {
    int64_t lanes = target().lanes(4);
    Value whole = e_.mul(e_.div(launch_[length_], e_.index(lanes)), lanes);
    Value mask = e_.mask(e_.sub(launch_[length_], whole), lanes);
    auto step = [&](bool is_masked) {
      return [&, is_masked](Value column, mlir::ValueRange carried) {
        Value position = score_at(row, column);
        Value x = is_masked ? e_.load_masked(launch_[scratch_], position, mask, e_.f32(lanes))
                            : e_.load(launch_[scratch_], position, e_.f32(lanes));
        return Emitter::Values{take(position, x, is_masked ? mask : Value(), carried[0])};
      };
    };
    Emitter::Values sums = e_.fold(e_.index(0), whole, lanes, initial, step(false));
    return e_.fold(whole, launch_[length_], lanes, sums, step(true))[0];
  }

  Value across(mlir::vector::CombiningKind kind, Value lanes) {
    return e_.builder.create<mlir::vector::ReductionOp>(e_.location, kind, lanes);
  }

  // Scores become exponentials; one over their sum goes to `by_`. A row without columns has none.
  void emit_softmax(Value row) {
    int64_t lanes = target().lanes(4);
    Term zero = term(e_.zero(e_.f32(lanes)));
    Term least = zero.number(-std::numeric_limits<double>::infinity());
    // NaN may be lost here: it comes back with the exponentials.
    Value most = fold_row(row, least.value, [&](Value, Value x, Value mask, Value carried) {
      Term known = mask ? choose(term(mask), term(x), least) : term(x);
      return choose(less(term(carried), known), known, term(carried)).value;
    });
    Term top = term(e_.splat(across(mlir::vector::CombiningKind::MAXNUMF, most), e_.f32(lanes)));
    Value sums = fold_row(row, zero.value, [&](Value at, Value x, Value mask, Value carried) {
      Term power = exp_f32(term(x) - top);
      if (mask) power = choose(term(mask), power, zero);
      store(power.value, scratch_, at, mask);
      return (term(carried) + power).value;
    });
    Term sum = term(across(mlir::vector::CombiningKind::ADD, sums));
    Term is_empty = equal(sum, sum.number(0.0));
    e_.store((1.0 / choose(is_empty, sum.number(1.0), sum)).value, launch_[scratch_],
             e_.add(start_of(by_), row));
  }

  void emit_results(BlockOperands operands, Value result_start) {
    operands.a_at = start_of(score_rows_);
    operands.depth = launch_[length_];
    operands.depth_blocks = launch_[length_blocks_];
    emit_product(operands, start_of(value_panels_), launch_[product_panels_], launch_[columns_],
                 [&](Value sums, Value row, Value column, int64_t lanes, Value mask) {
                   Value by =
                       e_.load(launch_[scratch_], e_.add(start_of(by_), e_.sub(row, first_row_)));
                   Term y = term(sums) * term(e_.splat(by, e_.f32(lanes)));
                   Value at = e_.add(result_start, e_.add(e_.mul(row, launch_[columns_]), column));
                   store(y.value, result_, at, mask);
                 });
  }

  const Target& target() { return context_.kernels().target(); }

  const FusedAttention& fused_;
  LoweringContext& context_;
  graph::MatMulOp scores_, product_;
  MatMulShape score_shape_, product_shape_;
  Epilogue epilogue_;
  mlir::OpBuilder builder_;
  Emitter e_;
  Launch launch_;

  Launch::Buffer q_, k_, v_, result_, scratch_;
  Launch::Param sums_, by_, query_rows_, score_rows_, key_panels_, value_panels_;  // parts of it
  std::optional<BatchCoordinates> query_batch_, value_batch_;
  Launch::Param rows_, depth_, length_, columns_, tiles_, tiles_per_block_, blocks_, depth_blocks_,
      length_blocks_, panels_, product_panels_;
  Value base_;                    // of the worker's scratch
  Value first_row_, block_rows_;  // of the block that is being emitted
};

}  // namespace

void lower_attention(const FusedAttention& fused, LoweringContext& context) {
  Attention(fused, context).lower();
}

}  // namespace scopevm::compiler::kernels
