// Ops of the reference that create values from attributes, and conversions of small types.
#include <cmath>
#include <map>

#include "compiler/graph/graph_ops.h"
#include "mlir/IR/BuiltinTypes.h"
#include "tests/property/reference/reference.h"

namespace scopevm::compiler::property {
namespace {

long double number_of(mlir::Attribute attribute, DType dtype) {
  if (auto real = mlir::dyn_cast<mlir::FloatAttr>(attribute)) return real.getValueAsDouble();
  llvm::APInt value = mlir::cast<mlir::IntegerAttr>(attribute).getValue();
  if (is_unsigned(dtype)) return static_cast<long double>(value.getZExtValue());
  return static_cast<long double>(value.getSExtValue());
}

Result<Arrays> iota(const Operands& in) {
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> size, in.dims("size"));
  DType dtype = *parse_dtype(in.text("dtype"));
  long double start = number_of(in.op->getAttr("start"), dtype);
  long double step = number_of(in.op->getAttr("step"), dtype);
  return filled(dtype, size, [&](const Index& index) {
    long double value = start + step * static_cast<long double>(index[0]);
    if (is_float(dtype)) return result_of(dtype, value, 0, value == std::trunc(value) ? 0 : 2);
    return wrapped(dtype, static_cast<__int128>(value));
  });
}

Result<Arrays> constant(const Operands& in) {
  auto value = mlir::dyn_cast<mlir::DenseElementsAttr>(in.op->getAttr("value"));
  if (!value) return Status(StatusCode::kUnsupported, "the constant is not dense");
  DType dtype = mlir::cast<graph::TensorType>(in.op->getResult(0).getType()).getDtype();
  Array result = make_array(dtype, value.getType().getShape().vec());
  size_t position = 0;
  for (mlir::Attribute element : value.getValues<mlir::Attribute>())
    result.elements[position++].value = number_of(element, dtype);
  return Arrays{std::move(result)};
}

Result<Arrays> dims_tensor(const Operands& in) {
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> values, in.dims("dims"));
  DType dtype = *parse_dtype(in.text("dtype"));
  std::vector<int64_t> dims;
  if (!in.flag("scalar")) dims.push_back(static_cast<int64_t>(values.size()));
  size_t position = 0;
  return filled(dtype, dims, [&](const Index&) {
    int64_t value = values[position++];
    if (is_float(dtype)) return result_of(dtype, static_cast<long double>(value), 0);
    return wrapped(dtype, value);
  });
}

// The elements of x, whose bits are those of the type.
Result<Arrays> low_bits(const Operands& in, DType dtype) {
  const Array& x = in[0];
  const int bits = bits_of(is_small(dtype) ? dtype : x.dtype);
  Array result = make_array(dtype, x.dims);
  for (size_t i = 0; i < x.elements.size(); ++i) {
    result.elements[i] = x.elements[i];
    if (x.elements[i].is_known())
      result.elements[i].value =
          static_cast<long double>(static_cast<unsigned>(x.elements[i].value) & ((1u << bits) - 1));
  }
  return Arrays{std::move(result)};
}

Result<Arrays> pack_bits(const Operands& in) { return low_bits(in, *parse_dtype(in.text("to"))); }
Result<Arrays> unpack_bits(const Operands& in) { return low_bits(in, DType::kU8); }

}  // namespace

std::optional<Result<Arrays>> evaluate_values(llvm::StringRef name, const Operands& in) {
  if (name == "iota") return iota(in);
  if (name == "constant") return constant(in);
  if (name == "dims_tensor") return dims_tensor(in);
  if (name == "pack_bits") return pack_bits(in);
  if (name == "unpack_bits") return unpack_bits(in);
  return std::nullopt;
}

}  // namespace scopevm::compiler::property
