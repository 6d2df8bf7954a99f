// Symbolic evaluation of ops that move elements, and of constants.
#include <cstring>

#include "compiler/graph/type_rule.h"
#include "compiler/graph/values/box.h"
#include "compiler/graph/values/elements.h"
#include "compiler/graph/values/symbolic_values.h"

namespace scopevm::compiler::graph {
namespace {

using Elements = SymbolicValues::Elements;

Elements elements_of_constant(mlir::ElementsAttr attribute, DType dtype) {
  Constant constant = constant_of_elements(attribute, dtype);
  std::vector<DimExpr> elements;
  int64_t size = byte_size(dtype);
  for (int64_t at = 0; at + size <= constant.bytes; at += size) {
    int64_t wide = 0;
    int32_t narrow = 0;
    switch (dtype) {
      case DType::kI64:
        std::memcpy(&wide, constant.data + at, 8);
        break;
      case DType::kI32:
        std::memcpy(&narrow, constant.data + at, 4);
        wide = narrow;
        break;
      default:
        wide = constant.data[at] != 0;
    }
    elements.push_back(wide);
  }
  return elements;
}

// The result elements of an op that moves the elements of its only operand x. `source_of` maps a
// position in the result to a position in x.
Elements moved(mlir::Operation* op, SymbolicValues& values,
               llvm::function_ref<bool(const Coordinates& at, Coordinates& source)> source_of) {
  const std::vector<DimExpr>* x = values.find(op->getOperand(0));
  if (!x) return std::nullopt;
  return move_elements(*x, box_of(tensor_type(op->getOperand(0))),
                       box_of(tensor_type(op->getResult(0))), source_of);
}

}  // namespace

Elements ConstantOp::evaluateSymbolic(SymbolicValues&) {
  return elements_of_constant(getValue(), tensor_type(getResult()).getDtype());
}

Elements DimsTensorOp::evaluateSymbolic(SymbolicValues&) {
  llvm::ArrayRef<DimExpr> elements = getDims().getValue();
  return std::vector<DimExpr>(elements.begin(), elements.end());
}

Elements IotaOp::evaluateSymbolic(SymbolicValues&) {
  auto start = mlir::dyn_cast<mlir::IntegerAttr>(getStart());
  auto step = mlir::dyn_cast<mlir::IntegerAttr>(getStep());
  if (!start || !step) return std::nullopt;
  std::vector<DimExpr> result;
  const int64_t count = box_of(tensor_type(getResult())).size();
  for (int64_t i = 0; i < count; ++i)
    result.push_back(DimExpr(start.getValue().getSExtValue()) +
                     DimExpr(step.getValue().getSExtValue()) * DimExpr(i));
  return result;
}

Elements ReshapeOp::evaluateSymbolic(SymbolicValues& values) {
  const std::vector<DimExpr>* x = values.find(getX());
  return x ? Elements(*x) : std::nullopt;
}

Elements TransposeOp::evaluateSymbolic(SymbolicValues& values) {
  return moved(*this, values, [&](const Coordinates& at, Coordinates& source) {
    for (size_t i = 0; i < at.size(); ++i) source[getPermutation()[i]] = at[i];
    return true;
  });
}

Elements ExpandOp::evaluateSymbolic(SymbolicValues& values) {
  const Box from = box_of(tensor_type(getX()));
  return moved(*this, values, [&](const Coordinates& at, Coordinates& source) {
    source = from.coordinates(from.broadcast_index(at));
    return true;
  });
}

Elements TileOp::evaluateSymbolic(SymbolicValues& values) {
  const Box from = box_of(tensor_type(getX()));
  return moved(*this, values, [&](const Coordinates& at, Coordinates& source) {
    for (size_t i = 0; i < at.size(); ++i) source[i] = at[i] % from.dims[i];
    return true;
  });
}

Elements SliceOp::evaluateSymbolic(SymbolicValues& values) {
  return moved(*this, values, [&](const Coordinates& at, Coordinates& source) {
    for (size_t i = 0; i < at.size(); ++i) {
      auto start = getStarts().getValue()[i].as_constant();
      if (!start) return false;
      source[i] = *start + at[i] * getSteps()[i];
    }
    return true;
  });
}

Elements ConcatOp::evaluateSymbolic(SymbolicValues& values) {
  const Box to = box_of(tensor_type(getResult()));
  std::vector<DimExpr> result(to.size(), DimExpr(0));
  int64_t begin = 0;
  for (mlir::Value input : getInputs()) {
    const std::vector<DimExpr>* x = values.find(input);
    if (!x) return std::nullopt;
    const Box from = box_of(tensor_type(input));
    for (int64_t i = 0; i < from.size(); ++i) {
      Coordinates at = from.coordinates(i);
      at[getAxis()] += begin;
      result[to.index(at)] = (*x)[i];
    }
    begin += from.dims[getAxis()];
  }
  return result;
}

}  // namespace scopevm::compiler::graph
