// roi_align: each box is divided into a grid of cells. The result of a cell is the mean, or the
// maximum, of x at sample points in the cell. A work item is one box of one channel.
//
// Boxes are data, so any coordinates must be safe. Sample points outside x, or at NaN coordinates,
// are 0, and the number of samples of a huge box is bounded.
#include <limits>

#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/op_lowerings.h"

namespace scopevm::compiler::kernels {
namespace {

// The maximum number of samples along a side of a cell, if the size of the box determines the
// number.
constexpr double kMostSamples = 1024;

// A coordinate between two rows or columns: their indices, and the distance from the lower one.
struct Between {
  Term low, high, fraction;
};

class RoiKernel {
 public:
  RoiKernel(graph::RoiAlignOp op, LoweringContext& context)
      : op_(op),
        k_(context, op, op.getGreatest() ? "roi_align_max" : "roi_align"),
        x_(k_.operand(op.getX(), Elements::kNumbers)),
        boxes_(k_.operand(op.getBoxes(), Elements::kNumbers)),
        images_(k_.operand(op.getImages())),
        result_(k_.result(op.getResult(), Elements::kNumbers)),
        real_(k_.number_type(x_)) {}

  llvm::LogicalResult lower();

 private:
  // Numbers and indices in the arithmetic type of x.
  Term real(double number) { return convert(k_.index(0), real_).number(number); }
  Term real(Term index) { return convert(index, real_); }
  Term corner(Term box, int64_t i);
  Term samples(Term cell_size);
  Between between(Term coordinate, Term last);
  Term sample(Term plane, Term y, Term x, Term so_far);
  Term cell(Term plane, Term top, Term left, Term rows, Term columns);

  graph::RoiAlignOp op_;
  KernelBuilder k_;
  Buffer x_, boxes_, images_, result_;
  mlir::Type real_;
  Term height_, width_;            // of x
  Term cell_height_, cell_width_;  // of the current box
};

// Coordinate `i` of the box at position `box`, in elements of x.
Term RoiKernel::corner(Term box, int64_t i) {
  return k_.load_number(boxes_, box + i) * static_cast<double>(op_.getScale().convertToFloat()) -
         static_cast<double>(op_.getOffset().convertToFloat());
}

// The number of samples per cell along an axis.
Term RoiKernel::samples(Term cell_size) {
  if (op_.getSamples() > 0) return k_.index(static_cast<int64_t>(op_.getSamples()));
  Term wanted = ceil(cell_size), most = real(kMostSamples);
  // The comparison is false for NaN, which selects the maximum.
  return convert(max(select(wanted <= most, wanted, most), real(0.0)), k_.index_type());
}

Between RoiKernel::between(Term coordinate, Term last) {
  Term lower = convert(floor(max(coordinate, real(0.0))), k_.index_type());
  Term low = min(lower, last);
  return {low, min(low + 1, last), select(lower < last, coordinate - real(low), real(0.0))};
}

// Accumulates x at one point, by bilinear interpolation of its four neighbours. For the maximum,
// the weighted neighbours are compared instead of added. Outside x, the value is 0.
Term RoiKernel::sample(Term plane, Term y, Term x, Term so_far) {
  // In ONNX, points up to one element outside x have the value of the border.
  Term inside = (-1.0 <= y) & (y <= real(height_)) & (-1.0 <= x) & (x <= real(width_));
  Term zero = real(0.0);
  Between row = between(select(inside, max(y, zero), zero), height_ - 1);
  Between column = between(select(inside, max(x, zero), zero), width_ - 1);
  auto term = [&](Term at_row, Term row_weight, Term at_column, Term column_weight) {
    return k_.load_number(x_, plane + at_row * width_ + at_column) * (row_weight * column_weight);
  };
  Term above = 1.0 - row.fraction, left = 1.0 - column.fraction;
  Term a = term(row.low, above, column.low, left);
  Term b = term(row.low, above, column.high, column.fraction);
  Term c = term(row.high, row.fraction, column.low, left);
  Term d = term(row.high, row.fraction, column.high, column.fraction);
  if (op_.getGreatest()) return max(so_far, select(inside, max(max(a, b), max(c, d)), zero));
  return so_far + select(inside, a + b + c + d, zero);
}

Term RoiKernel::cell(Term plane, Term top, Term left, Term rows, Term columns) {
  bool greatest = op_.getGreatest();
  Term first = real(greatest ? -std::numeric_limits<double>::infinity() : 0.0);
  auto along = [&](Term start, Term i, Term size, Term count) {
    return start + (real(i) + 0.5) * size / real(count);
  };
  Term total = k_.loop(k_.index(0), rows, 1, {first}, [&](Term i, auto outer) {
    Term y = along(top, i, cell_height_, rows);
    return k_.loop(k_.index(0), columns, 1, outer, [&](Term j, auto inner) {
      return Terms{sample(plane, y, along(left, j, cell_width_, columns), inner[0])};
    });
  })[0];
  Term count = rows * columns;
  if (!greatest) return total / real(max(count, k_.index(1)));
  return select(k_.index(0) < count, total, real(0.0));
}

llvm::LogicalResult RoiKernel::lower() {
  llvm::ArrayRef<DimExpr> x = shape_of(op_.getX()), y = shape_of(op_.getResult());
  DimExpr plane = x[2] * x[3], cells = y[2] * y[3];
  height_ = k_.param(x[2]);
  width_ = k_.param(x[3]);
  Term images = k_.param(x[0]), channels = k_.param(x[1]), plane_size = k_.param(plane);
  Term rows = k_.index(*y[2].as_constant()), columns = k_.index(*y[3].as_constant());
  Term has_elements = k_.index(0) < k_.param(element_count(x));
  llvm::SmallVector<Axis> items = {{y[0], {4, 1, y[1] * cells}}, {y[1], {0, 0, cells}}};
  k_.for_items(items, {0, 0, 0}, [&](auto index, auto offsets) {
    auto resample = [&] {
      Term image = clamp(k_.load_index(images_, offsets[1], images), k_.index(0), images - 1);
      Term from = (image * channels + index[1]) * plane_size;
      Term left = corner(offsets[0], 0), top = corner(offsets[0], 1);
      Term least = real(static_cast<double>(op_.getMinSize().convertToFloat()));
      cell_width_ = max(corner(offsets[0], 2) - left, least) / real(columns);
      cell_height_ = max(corner(offsets[0], 3) - top, least) / real(rows);
      Term down = samples(cell_height_), across = samples(cell_width_);
      k_.loop(k_.index(0), rows, 1, [&](Term i) {
        k_.loop(k_.index(0), columns, 1, [&](Term j) {
          Term value =
              cell(from, top + real(i) * cell_height_, left + real(j) * cell_width_, down, across);
          k_.store_number(result_, offsets[2] + i * columns + j, value);
        });
      });
    };
    k_.when(has_elements, resample, [&] {
      k_.loop(k_.index(0), rows * columns, 1,
              [&](Term i) { k_.store_number(result_, offsets[2] + i, real(0.0)); });
    });
  });
  return k_.launch(count_items(items), grain_of_bytes(cells * (16 * byte_size(x_.dtype))));
}

}  // namespace

llvm::LogicalResult lower(graph::RoiAlignOp op, LoweringContext& context) {
  return RoiKernel(op, context).lower();
}

}  // namespace scopevm::compiler::kernels
