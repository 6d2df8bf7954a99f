// Writes descriptions of functions: see describe.h.
#include "compiler/external/describe.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "compiler/external/partition/partition.h"
#include "compiler/graph/values/constant_array.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "scopevm/dtype.h"

namespace scopevm::compiler::external {
namespace {

using graph::TensorType;
using nlohmann::ordered_json;

// JSON has no NaN and no infinities.
ordered_json json_of(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return number;
}

ordered_json json_of(llvm::ArrayRef<DimExpr> dims) {
  ordered_json list = ordered_json::array();
  for (DimExpr dim : dims) {
    if (const auto number = dim.as_constant())
      list.push_back(*number);
    else
      list.push_back(dim.str());
  }
  return list;
}

ordered_json json_of(mlir::Type type) {
  auto tensor = mlir::cast<TensorType>(type);
  return {{"dtype", name(tensor.getDtype())}, {"dims", json_of(tensor.getShape())}};
}

// Null for an attribute of another kind.
ordered_json json_of(mlir::Attribute attribute) {
  const auto list_of = [](const auto& elements) {
    ordered_json list = ordered_json::array();
    for (const auto& element : elements) list.push_back(element);
    return list;
  };
  return llvm::TypeSwitch<mlir::Attribute, ordered_json>(attribute)
      .Case([](mlir::BoolAttr value) { return ordered_json(value.getValue()); })
      .Case([](mlir::IntegerAttr value) { return ordered_json(value.getValue().getSExtValue()); })
      .Case([](mlir::FloatAttr value) { return json_of(value.getValueAsDouble()); })
      .Case([](mlir::StringAttr value) { return ordered_json(value.getValue().str()); })
      .Case([](graph::DimsAttr dims) { return json_of(dims.getValue()); })
      .Case([&](mlir::DenseI64ArrayAttr list) { return list_of(list.asArrayRef()); })
      .Case([&](mlir::DenseF32ArrayAttr list) { return list_of(list.asArrayRef()); })
      .Case([](mlir::ArrayAttr elements) {
        ordered_json list = ordered_json::array();
        for (mlir::Attribute element : elements) list.push_back(json_of(element));
        return list;
      })
      .Default([](mlir::Attribute) { return ordered_json(); });
}

ordered_json json_of(mlir::DictionaryAttr dictionary) {
  ordered_json attributes = ordered_json::object();
  if (!dictionary) return attributes;
  for (mlir::NamedAttribute attribute : dictionary)
    attributes[attribute.getName().str()] = json_of(attribute.getValue());
  return attributes;
}

ordered_json json_of(mlir::TypeRange types) {
  ordered_json list = ordered_json::array();
  for (mlir::Type type : types) list.push_back(json_of(type));
  return list;
}

// The number that all elements of the constant equal.
ordered_json value_of(graph::ConstantOp constant) {
  mlir::ElementsAttr elements = constant.getValue();
  if (auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(elements); dense && dense.isSplat())
    // ConstantArray expands a splat, which can be larger than the memory.
    elements = dense.resizeSplat(mlir::RankedTensorType::get({}, dense.getElementType()));
  const graph::ConstantArray array(elements, constant.getResult().getType().getDtype());
  if (array.is_float()) return json_of(array.real(0));
  if (array.dtype() == DType::kBool) return array.integer(0) != 0;
  if (array.dtype() == DType::kU64) return static_cast<uint64_t>(array.integer(0));
  return array.integer(0);
}

ordered_json attributes_of(mlir::Operation& op) {
  if (auto constant = mlir::dyn_cast<graph::ConstantOp>(op)) return {{"value", value_of(constant)}};
  // Only the attributes that the op defines.
  return json_of(mlir::dyn_cast_or_null<mlir::DictionaryAttr>(op.getPropertiesAsAttribute()));
}

std::string text_of(const ordered_json& operands, const ordered_json& ops,
                    const ordered_json& results) {
  const ordered_json description{{"operands", operands}, {"ops", ops}, {"results", results}};
  // Attributes are bytes of a model: what is not UTF-8 is replaced.
  return description.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

// The numbers of values, in order of definition.
class Numbers {
 public:
  void add(mlir::Value value) { numbers_.try_emplace(value, numbers_.size()); }
  ordered_json of(mlir::ValueRange values) const {
    ordered_json list = ordered_json::array();
    for (mlir::Value value : values) list.push_back(numbers_.lookup(value));
    return list;
  }

 private:
  llvm::DenseMap<mlir::Value, size_t> numbers_;
};

ordered_json operands_of(mlir::func::FuncOp function) {
  ordered_json operands = json_of(mlir::TypeRange(function.getArgumentTypes()));
  for (size_t i = 0; i < operands.size(); ++i) {
    if (function.getArgAttr(i, kConstant)) operands[i]["constant"] = true;
    if (auto prepared = function.getArgAttrOfType<mlir::DictionaryAttr>(i, kPrepared))
      operands[i]["prepared"] = json_of(prepared);
  }
  return operands;
}

}  // namespace

std::string describe(mlir::func::FuncOp function) {
  mlir::Block& block = function.getBody().front();
  Numbers numbers;
  for (mlir::Value argument : block.getArguments()) numbers.add(argument);
  ordered_json ops = ordered_json::array();
  for (mlir::Operation& op : block.without_terminator()) {
    for (mlir::Value result : op.getResults()) numbers.add(result);
    ops.push_back({{"op", op.getName().stripDialect().str()},
                   {"operands", numbers.of(op.getOperands())},
                   {"attributes", attributes_of(op)},
                   {"results", json_of(op.getResultTypes())}});
  }
  return text_of(operands_of(function), ops, numbers.of(block.getTerminator()->getOperands()));
}

std::string describe(graph::ExternOp declaration) {
  const mlir::FunctionType type = declaration.getSignature();
  ordered_json operands = ordered_json::array(), results = ordered_json::array();
  for (size_t i = 0; i < type.getNumInputs(); ++i) operands.push_back(i);
  for (size_t i = 0; i < type.getNumResults(); ++i) results.push_back(type.getNumInputs() + i);
  const std::string name = declaration.getOpName().value_or(declaration.getSymName()).str();
  const ordered_json op{
      {"op", name},
      {"operands", operands},
      {"attributes", json_of(declaration.getOpAttributes().value_or(mlir::DictionaryAttr()))},
      {"results", json_of(type.getResults())}};
  return text_of(json_of(type.getInputs()), ordered_json::array({op}), results);
}

}  // namespace scopevm::compiler::external
