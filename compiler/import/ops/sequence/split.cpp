// ONNX SplitToSequence. A known number of parts are slices, any other number is a loop.
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {
namespace {

// How x is split.
struct Split {
  Value x;
  int64_t axis;
  bool keeps_axis;

  Value part(Node& n, DimExpr start, DimExpr size) const {
    Dims starts(static_cast<size_t>(n.rank(x)), DimExpr(0)), sizes(n.shape(x));
    starts[axis] = start;
    sizes[axis] = size;
    Value slice = n.slice(x, starts, sizes);
    if (keeps_axis) return slice;
    sizes.erase(sizes.begin() + axis);
    return n.reshape(slice, sizes);
  }
};

bool has_list(Node& n) { return n.has_input(1) && n.rank(n.input(1)) > 0; }

// The sizes of the parts. No value if the number of parts is known only at run time, or after an
// error.
std::optional<Dims> part_sizes(Node& n, const Split& split) {
  std::optional<int64_t> dim = n.dim(split.x, split.axis).as_constant();
  // The length of the list is the number of parts. The sizes may be known only at run time.
  if (has_list(n) && n.shape(n.input(1)).front().is_constant())
    return n.dims_of(n.input(1), "the split");
  if (!dim || has_list(n) || n.has_failed()) return std::nullopt;
  if (!n.has_input(1)) return Dims(static_cast<size_t>(*dim), DimExpr(1));
  if (!n.is_known(n.input(1))) return std::nullopt;
  Ints given = n.integers_of(n.input(1), "the split");
  if (n.has_failed()) return std::nullopt;
  if (given[0] < 1)
    return n.fail("the split size is " + llvm::Twine(given[0]) + ", expected at least 1"), Dims();
  Dims sizes;
  for (int64_t left = *dim; left > 0; left -= given[0]) sizes.push_back(std::min(given[0], left));
  return sizes;
}

Value split_into(Node& n, const Split& split, const Dims& sizes) {
  llvm::SmallVector<Value> parts;
  DimExpr at = 0;
  for (DimExpr size : sizes) {
    parts.push_back(split.part(n, at, size));
    at = at + size;
  }
  n.require_equal(at, n.dim(split.x, split.axis), "the parts add up to {0}, but the dim is {1}");
  if (n.has_failed()) return {};
  // make_sequence() derives the type from the parts, so it needs at least one.
  return parts.empty() ? n.lists().make_empty(ValueKind::kSequence, n.dtype(split.x))
                       : n.checked(n.lists().make_sequence(parts));
}

// A loop whose iterations append one part each. The size of a part is 1, the scalar at input 1, or
// an entry of the list at input 1.
Value split_at_run_time(Node& n, const Split& split) {
  Value zero = n.dims_value({0}, true);
  DimExpr length = n.dim(split.x, split.axis), count = length, step = 1;
  if (has_list(n)) {
    count = n.dim(n.input(1), 0);
  } else if (n.has_input(1)) {
    Dims given = n.dims_of(n.input(1), "the split");
    if (n.has_failed()) return {};
    step = given.front();
    n.require_at_least(step, 1, "the split size is {0}, expected at least {1}");
    // The maximum avoids a division by 0 in calls that the check above rejects.
    count = ceildiv(length, max(step, 1));
  }
  if (n.has_failed()) return {};
  Value start = n.lists().make_empty(ValueKind::kSequence, n.dtype(split.x));
  auto results =
      n.loop(count, {start, zero}, [&](DimExpr i, mlir::ValueRange carried) -> Iteration {
        DimExpr at = i * step, size = min(step, length - i * step);
        Value next = carried[1];
        if (has_list(n)) {
          at = n.dims_of(carried[1], "the start of a part").front();
          Value entry = Formula(n, n.input(1)).element_at(0, i);
          const Dims sizes = n.dims_of(entry, "the split");
          if (n.has_failed()) return {};
          size = sizes.front();
          next = n.emit<graph::AddOp>({carried[1], n.cast(entry, DType::kI64)});
          // Checked in each iteration, before the slice below exceeds x.
          n.require_at_least(length, at + size,
                             "the parts add up to {1} or more, but the dim is {0}");
        }
        Value part = split.part(n, at, size);
        if (n.has_failed()) return {};
        return {{}, {n.checked(n.lists().insert(carried[0], part, std::nullopt)), next}, {}};
      });
  if (n.has_failed()) return {};
  if (has_list(n))
    n.require_equal(n.dims_of(results[1], "the sum of the parts").front(), length,
                    "the parts add up to {0}, but the dim is {1}");
  return results.front();
}

Values split_to_sequence(Node& n) {
  Value x = n.input(0);
  const int64_t axis = n.axis(n.integer("axis", 0), n.rank(x));
  if (n.has_failed()) return {};
  const Split split{x, axis, n.has_input(1) || n.flag("keepdims", true)};
  const std::optional<Dims> sizes = part_sizes(n, split);
  if (n.has_failed()) return {};
  return sizes ? split_into(n, split, *sizes) : split_at_run_time(n, split);
}

}  // namespace

const OpRows kSplitOps = {{"SplitToSequence", 1, split_to_sequence}};

}  // namespace scopevm::compiler::frontend
