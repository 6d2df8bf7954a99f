// Elementwise ops, reductions and rows as plain loops.
#include "compiler/graph/elements.h"
#include "compiler/kernels/movement/kernel_builder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace scopevm::kernels {
namespace {

using namespace movement;

constexpr int64_t kChunk = 4096;

// stride of a dim of an operand that may be broadcast against `size`.
DimExpr broadcast_stride(DimExpr dim, DimExpr size, DimExpr stride) {
  if (dim == size) return stride;
  if (dim.is_constant(1)) return 0;
  return stride * min(dim - 1, 1);
}

llvm::SmallVector<Axis> axes_of(llvm::ArrayRef<DimExpr> shape, llvm::ArrayRef<mlir::Value> values) {
  llvm::SmallVector<Axis> axes;
  for (DimExpr size : shape) axes.push_back({size, {}});
  for (mlir::Value value : values) {
    llvm::ArrayRef<DimExpr> dims = shape_of(value);
    Dims strides = row_major_strides(dims);
    size_t shift = shape.size() - dims.size();
    for (size_t i = 0; i < shape.size(); ++i)
      axes[i].strides.push_back(
          i < shift ? DimExpr(0) : broadcast_stride(dims[i - shift], shape[i], strides[i - shift]));
  }
  return axes;
}

struct Map {
  llvm::SmallVector<mlir::Operation*> ops;
  llvm::SmallVector<mlir::Value> inner_inputs, outer_inputs, inner_outputs, outer_outputs;
};

Map map_of(mlir::Operation* op) {
  Map map;
  if (auto group = mlir::dyn_cast<graph::GroupOp>(op)) {
    for (mlir::Operation& inner : group.getBody().front())
      if (!mlir::isa<graph::YieldOp>(inner)) map.ops.push_back(&inner);
    for (auto [argument, value] : llvm::zip(group.getBody().getArguments(), group.getInputs())) {
      map.inner_inputs.push_back(argument);
      map.outer_inputs.push_back(value);
    }
    for (mlir::Value value : group.getBody().front().getTerminator()->getOperands())
      map.inner_outputs.push_back(value);
    map.outer_outputs.append(op->result_begin(), op->result_end());
  } else {
    map.ops.push_back(op);
    for (mlir::Value operand : op->getOperands())
      if (!llvm::is_contained(map.inner_inputs, operand)) map.inner_inputs.push_back(operand);
    map.outer_inputs = map.inner_inputs;
    map.inner_outputs.append(op->result_begin(), op->result_end());
    map.outer_outputs = map.inner_outputs;
  }
  return map;
}

// A splat constant as a scalar of its storage type.
Val splat_constant(KernelBuilder& k, graph::ConstantOp constant) {
  DType dtype = dtype_of(constant.getResult());
  uint64_t bits = 0;
  graph::is_splat(constant.getValue(), dtype, bits);
  mlir::Type type = storage_type(k.builder().getContext(), dtype);
  llvm::APInt raw(type.getIntOrFloatBitWidth(), bits);
  mlir::TypedAttr attribute;
  if (auto real = mlir::dyn_cast<mlir::FloatType>(type))
    attribute = mlir::FloatAttr::get(type, llvm::APFloat(real.getFloatSemantics(), raw));
  else
    attribute = mlir::IntegerAttr::get(type, raw);
  return {&k.builder(), k.builder().create<mlir::arith::ConstantOp>(attribute)};
}

llvm::LogicalResult lower_map(mlir::Operation* op, LoweringContext& context) {
  Map map = map_of(op);
  KernelBuilder k(context, op, "map");
  llvm::SmallVector<Buffer> in, out;
  for (mlir::Value v : map.outer_inputs) in.push_back(k.operand(v, Elements::kNumbers));
  for (mlir::Value v : map.outer_outputs) out.push_back(k.result(v, Elements::kNumbers));
  llvm::SmallVector<mlir::Value> columns(map.outer_inputs);
  columns.append(map.outer_outputs.begin(), map.outer_outputs.end());
  llvm::SmallVector<Axis> axes = axes_of(shape_of(map.outer_outputs.front()), columns);
  simplify(axes);
  if (axes.empty()) axes.push_back({1, llvm::SmallVector<DimExpr, 3>(columns.size(), 1)});
  Axis inner = axes.pop_back_val();
  bool is_vector = true;
  for (DimExpr stride : inner.strides)
    is_vector &= stride.is_constant(0) || stride.is_constant(1);
  int64_t lanes = k.target().lanes(4);
  for (Buffer b : in) if (byte_size(b.dtype) == 8) lanes = k.target().lanes(8);
  llvm::SmallVector<Val> steps;
  for (DimExpr stride : inner.strides)
    steps.push_back(stride.is_constant() ? k.index(*stride.as_constant()) : k.param(stride));
  Val size = k.param(inner.size);
  auto emit = [&](llvm::ArrayRef<Val> bases, Val i, int64_t width) {
    llvm::DenseMap<mlir::Value, mlir::Value> values;
    for (size_t c = 0; c < in.size(); ++c) {
      Val at = bases[c] + i * steps[c];
      bool is_splat = inner.strides[c].is_constant(0);
      Val stored = width > 1 && !is_splat ? k.load(in[c], at, width) : k.load(in[c], at);
      if (width > 1 && is_splat) stored = k.splat(stored, width);
      values[map.inner_inputs[c]] = load_convert(k.builder(), op->getLoc(), in[c].dtype, stored);
    }
    for (mlir::Operation* inner_op : map.ops) {
      if (auto constant = mlir::dyn_cast<graph::ConstantOp>(inner_op)) {
        Val scalar = splat_constant(k, constant);
        if (width > 1) scalar = k.splat(scalar, width);
        values[constant.getResult()] =
            load_convert(k.builder(), op->getLoc(), dtype_of(constant.getResult()), scalar);
        continue;
      }
      llvm::SmallVector<mlir::Value> operands;
      for (mlir::Value operand : inner_op->getOperands()) operands.push_back(values[operand]);
      values[inner_op->getResult(0)] = emit_elementwise(k.builder(), inner_op, operands);
    }
    for (size_t o = 0; o < out.size(); ++o) {
      size_t c = in.size() + o;
      k.store(out[o], bases[c] + i * steps[c],
              {&k.builder(), store_convert(k.builder(), op->getLoc(), out[o].dtype,
                                           values[map.inner_outputs[o]])});
    }
  };
  auto run = [&](llvm::ArrayRef<Val> bases, Val low, Val high) {
    Val from = low;
    if (is_vector) {
      Val count = (high - low) / lanes * lanes;
      k.loop(low, low + count, lanes, [&](Val i) { emit(bases, i, lanes); });
      from = low + count;
    }
    k.loop(from, high, 1, [&](Val i) { emit(bases, i, 1); });
  };
  if (axes.empty()) {
    llvm::SmallVector<Val> zeros(columns.size(), k.index(0));
    k.loop(k.begin(), k.end(), 1, [&](Val chunk) {
      Val low = chunk * kChunk;
      run(zeros, low, movement::min(low + kChunk, size));
    });
    return k.launch(ceildiv(inner.size, kChunk), kChunk * 8);
  }
  Dims bases(columns.size(), 0);
  k.for_items(axes, bases, [&](auto, auto offsets) { run(offsets, k.index(0), size); });
  return k.launch(count_items(axes), inner.size * 8);
}

using Combine = llvm::function_ref<Val(Val, Val)>;

// Folds the elements of nested axes: the carried value goes through every loop.
Val fold(KernelBuilder& k, llvm::ArrayRef<Axis> axes, Val at, Val initial,
         llvm::function_ref<Val(Val at, Val carried)> body) {
  if (axes.empty()) return body(at, initial);
  Val stride = k.param(axes.front().strides[0]), size = k.param(axes.front().size);
  return k.loop(k.index(0), size, 1, {initial}, [&](Val i, llvm::ArrayRef<Val> carried) {
    return Vals{fold(k, axes.drop_front(), at + i * stride, carried[0], body)};
  })[0];
}

template <typename Op>
llvm::LogicalResult lower_reduce(Op op, LoweringContext& context) {
  KernelBuilder k(context, op, "reduce");
  Buffer x = k.operand(op.getX(), Elements::kNumbers);
  Buffer y = k.result(op.getResult(), Elements::kNumbers);
  llvm::ArrayRef<DimExpr> shape = shape_of(op.getX());
  Dims strides = row_major_strides(shape);
  llvm::SmallVector<Axis> kept, reduced;
  for (size_t i = 0; i < shape.size(); ++i)
    (llvm::is_contained(op.getAxes(), static_cast<int64_t>(i)) ? reduced : kept)
        .push_back({shape[i], {strides[i]}});
  DimExpr count = count_items(reduced), items = count_items(kept), out_stride = 1;
  for (size_t i = kept.size(); i-- > 0;) {
    kept[i].strides.push_back(out_stride);
    out_stride = out_stride * kept[i].size;
  }
  movement::simplify(reduced);
  movement::simplify(kept);
  bool is_unsigned_dtype = is_unsigned(x.dtype);
  auto number = [&](Val at) { return k.load_number(x, at); };
  mlir::Type type = k.number_type(x);
  bool is_float = mlir::isa<mlir::FloatType>(type);
  Val probe{&k.builder(), k.builder().create<mlir::arith::ConstantOp>(
                              mlir::cast<mlir::TypedAttr>(k.builder().getZeroAttr(type)))};
  constexpr bool is_max = std::is_same_v<Op, graph::ReduceMaxOp>;
  constexpr bool is_min = std::is_same_v<Op, graph::ReduceMinOp>;
  constexpr bool is_prod = std::is_same_v<Op, graph::ReduceProdOp>;
  constexpr bool is_mean = std::is_same_v<Op, graph::ReduceMeanOp>;
  Val n = k.param(count);
  k.for_items(kept, {0, 0}, [&](auto, auto offsets) {
    Val initial = is_prod ? probe.literal(int64_t{1}) : probe;
    if (is_max || is_min) initial = number(offsets[0]);
    Val total = fold(k, reduced, offsets[0], initial, [&](Val at, Val carried) {
      Val v = number(at);
      if constexpr (is_max || is_min) {
        if (is_float) {
          mlir::Value r = is_max ? k.builder().create<mlir::arith::MaximumFOp>(carried, v).getResult()
                                 : k.builder().create<mlir::arith::MinimumFOp>(carried, v).getResult();
          return Val(&k.builder(), r);
        }
        Val is_less = less(v, carried, is_unsigned_dtype);
        return is_max ? select(is_less, carried, v) : select(is_less, v, carried);
      }
      return is_prod ? carried * v : carried + v;
    });
    if (is_mean) total = total / convert(n, type);
    k.store_number(y, offsets[1], total);
  });
  return k.launch(items, count * 8);
}

// Rows of [outer][axis][inner], one work item each.
struct Rows {
  llvm::SmallVector<Axis> axes;
  DimExpr size, stride;
};
Rows rows_of(mlir::Value value, int64_t axis) {
  llvm::ArrayRef<DimExpr> shape = shape_of(value);
  DimExpr before = product(shape, 0, axis), after = product(shape, axis + 1, shape.size());
  Rows rows{{{before, {shape[axis] * after}}, {after, {1}}}, shape[axis], after};
  movement::simplify(rows.axes);
  return rows;
}

llvm::LogicalResult lower_softmax(mlir::Operation* op, mlir::Value xv, int64_t axis, bool is_log,
                                  LoweringContext& context) {
  KernelBuilder k(context, op, "softmax");
  Buffer x = k.operand(xv, Elements::kNumbers);
  Buffer y = k.result(op->getResult(0), Elements::kNumbers);
  Rows rows = rows_of(xv, axis);
  Val n = k.param(rows.size), stride = k.param(rows.stride);
  auto exp = [&](Val v) { return Val(&k.builder(), k.builder().create<mlir::math::ExpOp>(v)); };
  auto log = [&](Val v) { return Val(&k.builder(), k.builder().create<mlir::math::LogOp>(v)); };
  k.for_items(rows.axes, {0}, [&](auto, auto offsets) {
    Val base = offsets[0];
    Val most = k.loop(k.index(0), n, 1, {k.load_number(x, base)}, [&](Val i, llvm::ArrayRef<Val> c) {
      return Vals{movement::max(c[0], k.load_number(x, base + i * stride))};
    })[0];
    Val zero = most.literal(0.0);
    Val sum = k.loop(k.index(0), n, 1, {zero}, [&](Val i, llvm::ArrayRef<Val> c) {
      return Vals{c[0] + exp(k.load_number(x, base + i * stride) - most)};
    })[0];
    k.loop(k.index(0), n, 1, [&](Val i) {
      Val d = k.load_number(x, base + i * stride) - most;
      k.store_number(y, base + i * stride, is_log ? d - log(sum) : exp(d) / sum);
    });
  });
  return k.launch(count_items(rows.axes), rows.size * 16);
}

llvm::LogicalResult lower_layer_norm(graph::LayerNormOp op, LoweringContext& context) {
  KernelBuilder k(context, op, "layer_norm");
  Buffer x = k.operand(op.getX(), Elements::kNumbers), s = k.operand(op.getScale(), Elements::kNumbers), b;
  if (op.getBias()) b = k.operand(op.getBias(), Elements::kNumbers);
  Buffer y = k.result(op.getResult(), Elements::kNumbers);
  llvm::ArrayRef<DimExpr> shape = shape_of(op.getX());
  auto axis = static_cast<size_t>(op.getAxis());
  DimExpr row = product(shape, axis, shape.size()), before = product(shape, 0, axis);
  if (!(element_count(shape_of(op.getScale())) == row)) return op.emitError("scale is broadcast");
  Val n = k.param(row);
  llvm::SmallVector<Axis> axes = {{before, {row}}};
  k.for_items(axes, {0}, [&](auto, auto offsets) {
    Val base = offsets[0];
    Val zero = k.load_number(x, base).literal(0.0), count = convert(n, zero.type());
    Val mean = k.loop(k.index(0), n, 1, {zero}, [&](Val i, llvm::ArrayRef<Val> c) {
      return Vals{c[0] + k.load_number(x, base + i)};
    })[0] / count;
    Val var = k.loop(k.index(0), n, 1, {zero}, [&](Val i, llvm::ArrayRef<Val> c) {
      Val d = k.load_number(x, base + i) - mean;
      return Vals{c[0] + d * d};
    })[0] / count;
    Val root(&k.builder(), k.builder().create<mlir::math::SqrtOp>(
                               var + var.literal(op.getEpsilon().convertToDouble())));
    k.loop(k.index(0), n, 1, [&](Val i) {
      Val v = (k.load_number(x, base + i) - mean) / root * k.load_number(s, i);
      if (op.getBias()) v = v + k.load_number(b, i);
      k.store_number(y, base + i, v);
    });
  });
  return k.launch(before, row * 16);
}

}  // namespace

llvm::LogicalResult lower_map_reduce(mlir::Operation* op, LoweringContext& context) {
  if (mlir::isa<graph::GroupOp>(op) || is_elementwise(op)) return lower_map(op, context);
  return llvm::TypeSwitch<mlir::Operation*, llvm::LogicalResult>(op)
      .Case<graph::ReduceSumOp, graph::ReduceMeanOp, graph::ReduceProdOp, graph::ReduceMaxOp,
            graph::ReduceMinOp>([&](auto op) { return lower_reduce(op, context); })
      .Case<graph::SoftmaxOp>([&](graph::SoftmaxOp op) {
        return lower_softmax(op, op.getX(), static_cast<int64_t>(op.getAxis()), false, context);
      })
      .Case<graph::LogSoftmaxOp>([&](graph::LogSoftmaxOp op) {
        return lower_softmax(op, op.getX(), static_cast<int64_t>(op.getAxis()), true, context);
      })
      .Case<graph::LayerNormOp>([&](auto op) { return lower_layer_norm(op, context); })
      .Default([](mlir::Operation* op) { return op->emitError("no kernel yet"); });
}

}  // namespace scopevm::kernels
