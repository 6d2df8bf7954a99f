// Emits epilogues on vectors or scalars.
#include "compiler/kernels/contraction/epilogue.h"

#include "compiler/graph/values/elements.h"
#include "compiler/kernels/builder/convert.h"
#include "compiler/kernels/generators.h"
#include "llvm/ADT/DenseSet.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::TensorType;

// A splat constant as a scalar of its storage type.
Term splat_constant(CodeBuilder& e, graph::ConstantOp constant) {
  DType dtype = dtype_of(constant.getResult());
  mlir::Type type = storage_type(e.builder().getContext(), dtype);
  llvm::APInt raw(type.getIntOrFloatBitWidth(), *graph::splat_bits(constant));
  mlir::TypedAttr attribute;
  if (auto real = mlir::dyn_cast<mlir::FloatType>(type))
    attribute = mlir::FloatAttr::get(type, llvm::APFloat(real.getFloatSemantics(), raw));
  else
    attribute = mlir::IntegerAttr::get(type, raw);
  return e.make<mlir::arith::ConstantOp>(attribute);
}

}  // namespace

Epilogue::Epilogue(const FusedContraction& fused, mlir::Value bias) : fused_(fused), bias_(bias) {
  const graph::OutputAxes axes = fused.axes();
  if (bias) {
    Access access{.dtype = dtype_of(bias), .row_stride = 1};
    // The bias of a convolution is one number per output channel, the same for all images.
    access.batch_strides.assign(axes.rows, DimExpr(0));
    operands_.push_back({bias, access});
  }
  // The values from outside the group. match_contraction() has checked that access_of() succeeds
  // for each of them.
  llvm::DenseSet<mlir::Value> seen;
  for (mlir::Operation* op : fused.epilogue)
    for (mlir::Value operand : op->getOperands())
      if (mlir::isa<mlir::BlockArgument>(operand) && seen.insert(operand).second)
        operands_.push_back({operand, *fusion::access_of(mlir::cast<TensorType>(operand.getType()),
                                                         fused.type(), axes)});
  for (mlir::Value result : fused.results)
    results_.push_back(
        {result, *fusion::access_of(mlir::cast<TensorType>(result.getType()), fused.type(), axes)});
}

bool Epilogue::batch_is_one() const {
  return llvm::all_of(operands_, [](const Tensor& t) { return t.access.batch_is_one; });
}

void Epilogue::collapse_batch() {
  for (Tensor& tensor : operands_) fusion::collapse_batch(tensor.access);
  for (Tensor& tensor : results_) fusion::collapse_batch(tensor.access);
}

void Epilogue::declare_strides(KernelBuilder& k, Tensor& tensor) {
  for (DimExpr stride : tensor.access.batch_strides)
    tensor.batch_strides.push_back(k.param(stride));
  tensor.row_stride = k.param(tensor.access.row_stride);
}

void Epilogue::declare_operands(KernelBuilder& k) {
  for (Tensor& tensor : operands_) {
    tensor.buffer = k.operand(k.context().value_of(fused_.outer(tensor.value)), tensor.access.dtype,
                              Elements::kNumbers);
    declare_strides(k, tensor);
  }
}

void Epilogue::declare(KernelBuilder& k) {
  declare_operands(k);
  for (auto [tensor, outer] : llvm::zip(results_, fused_.op->getResults())) {
    tensor.buffer = k.result(k.context().value_of(outer), tensor.access.dtype, Elements::kNumbers);
    declare_strides(k, tensor);
  }
  allow_in_place(k);
}

void Epilogue::declare_in_scratch(KernelBuilder& k, const Buffer& scratch, DimExpr stride) {
  declare_operands(k);
  for (Tensor& tensor : results_) {
    tensor.buffer = scratch;
    std::fill(tensor.access.batch_strides.begin(), tensor.access.batch_strides.end(), DimExpr(0));
    tensor.access.batch_strides.back() = stride;
    declare_strides(k, tensor);
  }
}

void Epilogue::set_scratch_base(Term base) {
  for (Tensor& tensor : results_) tensor.base = base;
}

// Allows each result to use the storage of one operand: the first operand with the same shape and
// element size that is not paired with an earlier result.
void Epilogue::allow_in_place(KernelBuilder& k) {
  llvm::SmallPtrSet<const Tensor*, 4> paired;
  for (const Tensor& result : results_)
    for (const Tensor& operand : operands_) {
      bool is_equal = byte_size(result.access.dtype) == byte_size(operand.access.dtype) &&
                      shape_of(operand.value) == fused_.type().getShape();
      if (!is_equal || paired.contains(&operand)) continue;
      // Element i of the operand is stored where element i of the result is written, and is read
      // immediately before this write. allow_in_place() rejects an operand that the contraction
      // also reads.
      if (!k.allow_in_place(result.buffer, operand.buffer)) continue;
      is_in_place_ = true;
      paired.insert(&operand);
      break;
    }
}

void Epilogue::enter(CodeBuilder& e, llvm::ArrayRef<Term> coordinates) {
  auto start = [&](Tensor& tensor) {
    tensor.start = tensor.base ? tensor.base : e.index(0);
    for (auto [coordinate, stride] : llvm::zip(coordinates, tensor.batch_strides))
      tensor.start = tensor.start + coordinate * stride;
  };
  for (Tensor& tensor : operands_) start(tensor);
  for (Tensor& tensor : results_) start(tensor);
}

Term Epilogue::at(const Tensor& tensor, Term row, Term column) {
  Term at = tensor.start + row * tensor.row_stride;
  return tensor.access.by_column ? at + column : at;
}

Term Epilogue::load(CodeBuilder& e, const Tensor& tensor, Term row, Term column, int64_t lanes,
                    Term mask) {
  Term position = at(tensor, row, column);
  // An operand that is constant along the row is loaded once and broadcast.
  if (tensor.access.by_column) return e.load_number(tensor.buffer, position, lanes, mask);
  return e.splat(e.load_number(tensor.buffer, position), lanes);
}

Epilogue::ValueMap Epilogue::evaluate(CodeBuilder& e, Term sum, Term row, Term column,
                                      int64_t lanes, Term mask) {
  ValueMap values;
  llvm::ArrayRef<Tensor> operands = operands_;
  if (bias_) {
    sum = sum + load(e, operands.front(), row, column, lanes, mask);
    operands = operands.drop_front();
  }
  values[fused_.contraction->getResult(0)] = sum;
  for (const Tensor& tensor : operands)
    values[tensor.value] = load(e, tensor, row, column, lanes, mask);
  for (mlir::Operation* op : fused_.epilogue) {
    if (auto constant = mlir::dyn_cast<graph::ConstantOp>(op)) {
      mlir::Value scalar =
          load_convert(e.builder(), e.builder().getLoc(), dtype_of(constant.getResult()),
                       splat_constant(e, constant));
      values[constant.getResult()] = e.splat(e.term(scalar), lanes);
      continue;
    }
    Terms arguments;
    for (mlir::Value operand : op->getOperands()) arguments.push_back(values[operand]);
    values[op->getResult(0)] = e.term(emit_elementwise(e.builder(), op, values_of(arguments)));
  }
  return values;
}

void Epilogue::emit(CodeBuilder& e, Term sum, Term row, Term column, int64_t lanes, Term mask) {
  ValueMap values = evaluate(e, sum, row, column, lanes, mask);
  for (const Tensor& tensor : results_)
    e.store_number(tensor.buffer, at(tensor, row, column), values[tensor.value], mask);
}

bool Epilogue::is_small() const {
  constexpr int64_t kMostOperations = 12;
  int64_t operations = 0;
  for (mlir::Operation* op : fused_.epilogue)
    if (auto elementwise = mlir::dyn_cast<graph::ElementwiseOp>(op))
      operations += elementwise.getOperationsPerElement();
  return operations <= kMostOperations;
}

std::string Epilogue::key() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::DenseMap<mlir::Value, size_t> numbers;
  const auto add = [&](mlir::Value value) { numbers.try_emplace(value, numbers.size()); };
  add(fused_.contraction->getResult(0));
  const auto print = [&](const Tensor& tensor) {
    const auto print_stride = [&](DimExpr stride) {
      if (const std::optional<int64_t> number = stride.as_constant()) out << *number;
      out << ",";
    };
    out << scopevm::name(tensor.access.dtype) << (tensor.access.by_column ? "c" : "");
    print_stride(tensor.access.batch_strides.back());
    print_stride(tensor.access.row_stride);
  };
  out << (bias_ ? "bias;" : "");
  for (const Tensor& tensor : operands_) add(tensor.value), print(tensor);
  for (mlir::Operation* op : fused_.epilogue) {
    out << ";" << op->getName() << op->getAttrDictionary()
        << scopevm::name(dtype_of(op->getResult(0)));
    for (mlir::Value operand : op->getOperands()) out << "," << numbers.lookup(operand);
    add(op->getResult(0));
  }
  for (const Tensor& tensor : results_) out << ";" << numbers.lookup(tensor.value), print(tensor);
  return text;
}

llvm::SmallVector<mlir::Value> Epilogue::arguments() const {
  llvm::SmallVector<mlir::Value> values;
  const auto append = [&](const Tensor& tensor) {
    values.append({tensor.buffer.memref, tensor.start});
    if (!tensor.access.batch_strides.back().is_constant())
      values.push_back(tensor.batch_strides.back());
    if (!tensor.access.row_stride.is_constant()) values.push_back(tensor.row_stride);
  };
  for (const Tensor& tensor : operands_) append(tensor);
  for (const Tensor& tensor : results_) append(tensor);
  return values;
}

Epilogue Epilogue::in_function(CodeBuilder& e, llvm::function_ref<mlir::Value()> next) const {
  Epilogue inner(*this);
  const auto bind = [&](Tensor& tensor) {
    const auto stride = [&](DimExpr value) {
      const std::optional<int64_t> number = value.as_constant();
      return number ? e.index(*number) : e.term(next());
    };
    tensor.buffer.memref = next();
    tensor.base = e.term(next());
    tensor.batch_strides = {stride(tensor.access.batch_strides.back())};
    tensor.row_stride = stride(tensor.access.row_stride);
  };
  for (Tensor& tensor : inner.operands_) bind(tensor);
  for (Tensor& tensor : inner.results_) bind(tensor);
  return inner;
}

}  // namespace scopevm::compiler::kernels
