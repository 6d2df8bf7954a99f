// Unfolding; see the header.
//
// A vector of positions reads consecutive elements when the stride is 1 and the row length does not
// change ("same" padding: position p sees element p + constant, whatever the row), with lanes in
// the border masked. Otherwise it gathers.
#include "compiler/kernels/convolution/unfold.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace scopevm::compiler::kernels {

using mlir::Value;

namespace {

Value below(Emitter& e, Value a, Value b) {  // unsigned, so negative values are not below
  return e.builder.create<mlir::arith::CmpIOp>(e.location, mlir::arith::CmpIPredicate::ult, a, b);
}

Value to_index(Emitter& e, Value i32) {
  return e.builder.create<mlir::arith::IndexCastOp>(e.location, e.builder.getIndexType(), i32);
}

}  // namespace

Unfold::Unfold(Emitter& emit, const Target& target) : e_(emit), lane_count_(target.lanes(4)) {
  auto type = mlir::MemRefType::get({kPanelColumns}, e_.builder.getI32Type());
  auto alignment = e_.builder.getI64IntegerAttr(64);
  table_y_ = e_.builder.create<mlir::memref::AllocaOp>(e_.location, type, alignment);
  table_x_ = e_.builder.create<mlir::memref::AllocaOp>(e_.location, type, alignment);
}

void Unfold::emit_table(const Image& image, Value first) {
  Emitter::Values start{e_.div(first, image.out_width), e_.rem(first, image.out_width)};
  e_.fold(e_.index(0), e_.index(kPanelColumns), 1, start, [&](Value j, mlir::ValueRange at) {
    Value y = e_.sub(e_.mul(at[0], image.strides[0]), image.pads[0]);
    Value x = e_.sub(e_.mul(at[1], image.strides[1]), image.pads[1]);
    e_.store(e_.to_i32(y), table_y_, j);
    e_.store(e_.to_i32(x), table_x_, j);
    Value next = e_.add(at[1], 1);
    Value wraps = e_.equal(next, image.out_width);
    return Emitter::Values{e_.select(wraps, e_.add(at[0], 1), at[0]),
                           e_.select(wraps, e_.index(0), next)};
  });
}

Unfold::Lanes Unfold::lanes_from(const Image& image, Value first, int64_t column) {
  auto offset_of = [&](int64_t j) {
    Value y = to_index(e_, e_.load(table_y_, e_.index(j)));
    Value x = to_index(e_, e_.load(table_x_, e_.index(j)));
    return e_.add(e_.mul(y, image.width), x);
  };
  Lanes lanes;
  lanes.y = e_.load(table_y_, e_.index(column), e_.i32(lane_count_));
  lanes.x = e_.load(table_x_, e_.index(column), e_.i32(lane_count_));
  Value left = e_.sub(image.positions, e_.add(first, column));
  lanes.exists = e_.mask(e_.max(left, e_.index(0)), lane_count_);
  lanes.base = offset_of(column);
  // With stride 1 within rows, steps are 1 but for those to a next row, which are all equal.
  Value distance = e_.sub(offset_of(column + lane_count_ - 1), lanes.base);
  lanes.is_run = e_.both(e_.equal(image.strides[1], e_.index(1)),
                         e_.equal(distance, e_.index(lane_count_ - 1)));
  return lanes;
}

void Unfold::emit_position(const Image& image, const Lanes& lanes, Value ky, Value kx, Value to,
                           Value to_at) {
  mlir::VectorType i32 = e_.i32(lane_count_), f32 = e_.f32(lane_count_);
  auto vector = [&](Value index) { return e_.splat(e_.to_i32(index), i32); };
  Value dy = e_.mul(ky, image.dilations[0]), dx = e_.mul(kx, image.dilations[1]);
  Value y = e_.add(lanes.y, vector(dy)), x = e_.add(lanes.x, vector(dx));
  Value height = vector(image.height), width = vector(image.width);
  Value inside = e_.both(below(e_, y, height), below(e_, x, width));
  Value mask = e_.both(inside, lanes.exists);
  Value area = e_.mul(image.height, image.width);
  auto channels = [&](llvm::function_ref<Value(Value plane)> load) {
    e_.loop(e_.index(0), image.channels, 1, [&](Value c) {
      Value plane = e_.add(image.at, e_.mul(c, area));
      e_.store(load(plane), to, e_.add(to_at, e_.mul(c, kPanelColumns)));
    });
  };
  Value shift = e_.add(lanes.base, e_.add(e_.mul(dy, image.width), dx));
  e_.when(
      lanes.is_run,
      [&] {
        channels([&](Value plane) {
          return e_.load_masked(image.buffer, e_.add(plane, shift), mask, f32);
        });
      },
      [&] {
        Value offsets = e_.add(e_.mul(y, width), x);
        channels([&](Value plane) { return e_.gather(image.buffer, plane, offsets, mask, f32); });
      });
}

void Unfold::emit(const Image& image, Value first, Value to, Value to_at) {
  emit_table(image, first);
  Value rows = e_.mul(image.channels, kPanelColumns);  // floats of one kernel position
  for (int64_t column = 0; column < kPanelColumns; column += lane_count_) {
    Lanes lanes = lanes_from(image, first, column);
    e_.loop(e_.index(0), image.kernel[0], 1, [&](Value ky) {
      e_.loop(e_.index(0), image.kernel[1], 1, [&](Value kx) {
        Value position = e_.add(e_.mul(ky, image.kernel[1]), kx);
        emit_position(image, lanes, ky, kx, to,
                      e_.add(e_.add(to_at, e_.mul(position, rows)), column));
      });
    });
  }
}

}  // namespace scopevm::compiler::kernels
