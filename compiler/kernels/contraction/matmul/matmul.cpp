// Matrix products of f32, of u8 by i8 with i32 sums, and of f32 by constants that are quantised in
// blocks. Rows of a are packed at run time. Panels of b are packed at compile time if b is a single
// constant matrix, otherwise by each work item. Bytes are packed in quads along the depth. Outside
// the packing code, the unit of the depth is a step: one f32 or one quad.
//
// Panels of quantised constants stay packed in the module. A work item dequantises its panel, or,
// for few rows, multiplies them by the integers.
//
// Grid: batch x row blocks x panels x parts of a block. A worker packs the rows of a block once for
// all its panels, and a panel once for all parts. Only deep matrices have several parts per block.
#include <bit>

#include "compiler/graph/values/elements.h"
#include "compiler/kernels/contraction/contraction.h"
#include "compiler/kernels/contraction/matmul/matmul_shape.h"
#include "compiler/kernels/contraction/pack/pack_constants.h"
#include "compiler/kernels/contraction/pack/pack_panels.h"
#include "compiler/kernels/contraction/pack/pack_quads.h"
#include "compiler/kernels/contraction/tile/row_blocks.h"

namespace scopevm::compiler::kernels {
namespace {

class MatMul {
 public:
  MatMul(const FusedContraction& fused, LoweringContext& context)
      : fused_(fused),
        context_(context),
        op_(fused.contraction),
        shape_(fused),
        is_quads_(is_byte_matmul(fused)),
        format_(quantised_format(fused, context)),
        problem_(problem()),
        schedule_(schedule::choose_contraction(problem_, context.kernels().core())),
        epilogue_(shape_.make_epilogue(fused)),
        k_(context, op_,
           is_quads_ ? "matmul_bytes"
           : format_ ? "matmul_blocks"
                     : "matmul"),
        tile_(tile_function(context.kernels(), schedule_)),
        o_(declare()) {}

  llvm::LogicalResult lower() {
    emit_items();
    const DimExpr panels = ceildiv(shape_.columns, kPanelColumns);
    return k_.launch(
        element_count(shape_.batch) * schedule_.blocks.blocks * panels * schedule_.parts,
        schedule_.grain);
  }

 private:
  struct Operands {
    Buffer a, b;
    QuantisedPanels quantised;
    Scratch scratch;
    Term rows_at, panel_at;  // the packed operands in the scratch memory
    std::optional<BatchCoordinates> batch;
    Term rows, columns, depth, steps, depth_blocks, tile_rows, tile_size, tiles, tiles_per_block,
        blocks, panels, parts, tiles_per_part;
  };

  schedule::ContractionProblem problem() {
    // Only a single matrix of static shape is packed at compile time.
    const bool is_packable = !format_ && shape_.b_is_single && shape_.depth.is_constant() &&
                             shape_.columns.is_constant() &&
                             packs_constant(context_, b(), pads_b());
    return {.element = element(is_packable),
            .rows = shape_.rows,
            .columns = shape_.columns,
            .depth = is_quads_ ? ceildiv(shape_.depth, 4) : shape_.depth,
            .is_packable = is_packable};
  }

  TileElement element(bool is_packable) {
    if (is_quads_) return TileElement::kQuads;
    const DType dtype = is_packable ? panel_type(context_, b()) : DType::kF32;
    if (dtype == DType::kF16) return TileElement::kF16;
    return dtype == DType::kBF16 ? TileElement::kBF16 : TileElement::kF32;
  }

  mlir::Value b() const { return fused_.stored(op_->getOperand(1)); }
  bool has_parts() const { return !schedule_.parts.is_constant(1); }

  Operands declare() {
    const schedule::RowBlocks& blocks = schedule_.blocks;
    const DimExpr steps = problem_.depth;
    // The element type of packed operands and of sums: a step of the depth is one element.
    const DType step = is_quads_ ? DType::kI32 : DType::kF32;
    Operands o;
    o.a = k_.operand(fused_.stored(op_->getOperand(0)), Elements::kNumbers);
    if (format_)
      o.quantised = declare_quantised();
    else
      o.b = schedule_.packs_b ? k_.operand(packed_constant(), schedule::b_type(problem_.element),
                                           Elements::kNumbers)
                              : k_.operand(b(), Elements::kNumbers);
    epilogue_.declare(k_);
    const DimExpr sums_size = blocks.block_rows() * DimExpr(kPanelColumns);
    // The rows of a tile are one group of packed rows.
    const DimExpr tile_size = blocks.tile_rows() * round_up(steps, kChunk);
    const DimExpr rows_size = blocks.tiles_per_block * tile_size;
    const DimExpr panel_size = schedule_.packs_b ? DimExpr(0) : steps * DimExpr(kPanelColumns);
    o.scratch = k_.scratch(sums_size + rows_size + panel_size, step);
    o.rows_at = k_.param(sums_size);
    o.panel_at = k_.param(sums_size + rows_size);
    o.batch.emplace(k_, shape_);
    o.rows = k_.param(shape_.rows);
    o.columns = k_.param(shape_.columns);
    o.depth = k_.param(shape_.depth);
    o.steps = is_quads_ ? k_.param(steps) : o.depth;
    o.depth_blocks = k_.param(schedule_.depth_blocks);
    o.tile_rows = k_.param(blocks.tile_rows());
    o.tile_size = k_.param(tile_size);
    o.tiles = k_.param(blocks.tiles);
    o.tiles_per_block = k_.param(blocks.tiles_per_block);
    o.blocks = k_.param(blocks.blocks);
    o.panels = k_.param(ceildiv(shape_.columns, kPanelColumns));
    o.parts = has_parts() ? k_.param(schedule_.parts) : k_.index(1);
    if (has_parts()) o.tiles_per_part = k_.param(schedule_.tiles_per_part);
    return o;
  }

  bool pads_b() const {
    return *shape_.columns.as_constant() % kPanelColumns != 0 ||
           (is_quads_ && *shape_.depth.as_constant() % 4 != 0);
  }

  ValueId packed_constant() {
    int64_t depth = *shape_.depth.as_constant(), columns = *shape_.columns.as_constant();
    return is_quads_ ? packed_quad_panels(context_, b(), depth, columns)
                     : packed_panels(context_, b(), depth, columns, shape_.transpose_b,
                                     schedule::b_type(problem_.element));
  }

  QuantisedPanels declare_quantised() {
    auto op = mlir::cast<graph::MatMulBlocksOp>(op_);
    const int64_t depth = op.getDepth(), columns = *shape_.columns.as_constant();
    const DimExpr blocks = ceildiv(shape_.depth, format_->block);
    const auto by_block = [&](mlir::Value numbers) {
      return k_.operand(packed_panels(context_, fused_.outer(numbers), *blocks.as_constant(),
                                      columns, /*transposed=*/true),
                        DType::kF32, Elements::kNumbers);
    };
    QuantisedPanels panels;
    panels.q = k_.operand(packed_integers(context_, b(), depth, columns, *format_), DType::kU8,
                          Elements::kNumbers);
    panels.scales = by_block(op.getScales());
    panels.zeros = format_->zero ? panels.scales : by_block(op.getZeros());
    panels.depth = k_.param(shape_.depth);
    panels.blocks = k_.param(blocks);
    panels.bytes = k_.param(format_->panel_bytes(depth));
    return panels;
  }

  void emit_items() {
    const auto each = [&](llvm::function_ref<void(Term)> body) {
      k_.loop(k_.begin(), k_.end(), 1, body);
    };
    if (format_)
      k_.when(
          o_.rows <= kMostDotRows, [&] { each([&](Term item) { emit_dot(item); }); },
          [&] { emit_tiles(each); });
    else
      emit_tiles(each);
  }

  void emit_tiles(llvm::function_ref<void(llvm::function_ref<void(Term)>)> each) {
    each([&](Term item) {
      Term part = remainder(item, o_.parts), panel_item = quotient(item, o_.parts);
      Term panel = remainder(panel_item, o_.panels), block_item = quotient(panel_item, o_.panels);
      Term block = remainder(block_item, o_.blocks);
      Terms at = o_.batch->coordinates(quotient(block_item, o_.blocks));
      Part rows = rows_of(block, part);
      // The first items that a worker executes for a block are those of all its parts.
      Term block_begin = block_item * o_.panels * o_.parts;
      k_.when(k_.items_done(item, block_begin) < o_.parts, [&] { emit_rows(at, rows); });
      Term first_column = panel * kPanelColumns;
      Term columns = min(o_.columns - first_column, kPanelColumns);
      if (!schedule_.packs_b)
        k_.when(k_.items_done(item, panel_item * o_.parts) == 0,
                [&] { emit_panel(at, panel, columns); });
      emit_item(at, rows, panel, columns);
    });
  }

  // A few rows times a panel. The grid has one item per panel.
  void emit_dot(Term panel) {
    const Term zero = k_.index(0), first_column = panel * kPanelColumns;
    const QuantisedPanels& from = o_.quantised;
    k_.when(0 < o_.rows, [&] {
      k_.switch_index(o_.rows - 1, kMostDotRows, [&](int64_t i) {
        k_.call(
            dot_function(context_.kernels(), *format_, i + 1),
            {o_.a.memref, zero, from.q.memref, from.scales.memref, from.zeros.memref, from.depth,
             from.blocks, from.bytes, panel, o_.scratch.buffer.memref, o_.scratch.start});
      });
    });
    epilogue_.enter(k_, {});
    emit_sums(k_,
              {.scratch = o_.scratch.buffer,
               .scratch_at = o_.scratch.start,
               .rows = o_.rows,
               .tiles = k_.index(1),
               .first_tile = zero,
               .last_tile = k_.index(1),
               .first_row = zero,
               .first_column = first_column,
               .columns = min(o_.columns - first_column, kPanelColumns)},
              take_sums());
  }

  // The tiles of a part of a block, and the position of its packed rows.
  struct Part {
    Term first_tile, last_tile, rows_at;
  };

  Part rows_of(Term block, Term part) {
    Term block_tile = block * o_.tiles_per_block;
    Term block_end = min(block_tile + o_.tiles_per_block, o_.tiles);
    Term block_rows_at = o_.scratch.start + o_.rows_at;
    if (!has_parts()) return {block_tile, block_end, block_rows_at};
    // The last parts of the last block can be empty.
    Term first_tile = min(block_tile + part * o_.tiles_per_part, block_end);
    Term last_tile = min(first_tile + o_.tiles_per_part, block_end);
    return {first_tile, last_tile, block_rows_at + (first_tile - block_tile) * o_.tile_size};
  }

  // The position of the packed rows of a tile.
  Term tile_at(const Part& rows, Term tile) {
    return rows.rows_at + (tile - rows.first_tile) * o_.tile_size;
  }

  void emit_rows(llvm::ArrayRef<Term> at, const Part& rows) {
    MatrixView a{o_.a, o_.batch->a_start(k_, at), shape_.transpose_a ? o_.rows : o_.depth,
                 !shape_.transpose_a};
    auto pack = is_quads_ ? emit_pack_quad_rows : emit_pack_rows;
    k_.loop(rows.first_tile, rows.last_tile, 1, [&](Term tile) {
      pack(k_, a, tile_start(tile, o_.rows, o_.tiles), tile_start(tile + 1, o_.rows, o_.tiles),
           o_.depth, o_.tile_rows, o_.scratch.buffer, tile_at(rows, tile));
    });
  }

  void emit_panel(llvm::ArrayRef<Term> at, Term panel, Term columns) {
    const Term to_at = o_.scratch.start + o_.panel_at;
    if (format_)
      return emit_dequantised_panel(k_, *format_, o_.quantised, panel, o_.scratch.buffer, to_at);
    MatrixView b{o_.b, o_.batch->b_start(k_, at), shape_.transpose_b ? o_.depth : o_.columns,
                 !shape_.transpose_b};
    auto pack = is_quads_ ? emit_pack_quad_panel : emit_pack_panel;
    pack(k_, b, panel * kPanelColumns, columns, o_.depth, o_.scratch.buffer, to_at);
  }

  void emit_item(llvm::ArrayRef<Term> at, const Part& rows, Term panel, Term columns) {
    epilogue_.enter(k_, at);
    BlockOperands operands{
        .tile = tile_,
        .a = o_.scratch.buffer,
        .a_at = [&](Term tile, Term, Term k) { return tile_at(rows, tile) + k * o_.tile_rows; },
        .group_rows = o_.tile_rows,
        .b = schedule_.packs_b ? o_.b : o_.scratch.buffer,
        .b_at =
            schedule_.packs_b ? panel * o_.steps * kPanelColumns : o_.scratch.start + o_.panel_at,
        .prefetches_next = schedule_.prefetches_b,
        .scratch = o_.scratch.buffer,
        .scratch_at = o_.scratch.start,
        .rows = o_.rows,
        .tiles = o_.tiles,
        .first_tile = rows.first_tile,
        .last_tile = rows.last_tile,
        .depth = o_.steps,
        .depth_blocks = o_.depth_blocks,
        // Tiles are numbered over all rows, so the epilogue receives row numbers of the whole
        // matrix.
        .first_row = k_.index(0),
        .first_column = panel * kPanelColumns,
        .columns = columns};
    emit_block(k_, operands, take_sums());
  }

  std::function<void(Term, Term, Term, int64_t, Term)> take_sums() {
    return [this](Term sums, Term row, Term column, int64_t lanes, Term mask) {
      epilogue_.emit(k_, sums, row, column, lanes, mask);
    };
  }

  const FusedContraction& fused_;
  LoweringContext& context_;
  mlir::Operation* op_;
  MatMulShape shape_;
  const bool is_quads_;
  const std::optional<BlockFormat> format_;  // of b, if it is quantised
  const schedule::ContractionProblem problem_;
  const schedule::ContractionSchedule schedule_;
  Epilogue epilogue_;
  KernelBuilder k_;
  const mlir::func::FuncOp tile_;
  const Operands o_;
};

}  // namespace

bool is_byte_matmul(const FusedContraction& fused) {
  auto op = mlir::dyn_cast<graph::MatMulOp>(fused.contraction);
  auto has = [](mlir::Value value, DType dtype) { return dtype_of(value) == dtype; };
  return op && has(op.getA(), DType::kU8) && has(op.getB(), DType::kI8) && !op.getTransposeA() &&
         !op.getTransposeB();
}

std::optional<float> known_zero(const FusedContraction& fused) {
  auto op = mlir::cast<graph::MatMulBlocksOp>(fused.contraction);
  const auto bits = graph::splat_bits(fused.outer(op.getZeros()).getDefiningOp());
  if (!bits) return std::nullopt;
  return std::bit_cast<float>(static_cast<uint32_t>(*bits));
}

std::optional<BlockFormat> quantised_format(const FusedContraction& fused,
                                            LoweringContext& context) {
  auto op = mlir::dyn_cast<graph::MatMulBlocksOp>(fused.contraction);
  if (!op || op.getBlock() % 4 != 0) return std::nullopt;
  const auto columns = graph::type_of(op.getQ()).getDim(0).as_constant();
  const bool is_padded = !columns || *columns % kPanelColumns != 0;
  const mlir::Value zeros = fused.outer(op.getZeros());
  BlockFormat format{.bits = static_cast<int64_t>(op.getBits()),
                     .block = static_cast<int64_t>(op.getBlock())};
  format.zero = known_zero(fused);
  const auto is_packable = [&](mlir::Value x) {
    return packs_constant(context, fused.outer(x), is_padded);
  };
  if (!columns || !is_packable(op.getQ()) || !is_packable(op.getScales()) ||
      !(format.zero ||
        (graph::type_of(zeros).getRank() == 2 && packs_constant(context, zeros, is_padded))))
    return std::nullopt;
  return format;
}

llvm::LogicalResult lower_matmul(const FusedContraction& fused, LoweringContext& context) {
  return MatMul(fused, context).lower();
}

}  // namespace scopevm::compiler::kernels
