// Imports nodes that call external functions; see external_ops.h.
#include "compiler/import/ops/external/external_ops.h"

#include "compiler/graph/external/extern.h"
#include "compiler/graph/type_rule.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

namespace scopevm::compiler::frontend {
namespace {

using graph::TensorType;

bool takes(graph::ExternOp declaration, llvm::ArrayRef<Value> operands) {
  const mlir::FunctionType type = declaration.getSignature();
  if (type.getNumInputs() != operands.size()) return false;
  return llvm::all_of(llvm::zip(type.getInputs(), operands), [](auto pair) {
    auto declared = mlir::cast<TensorType>(std::get<0>(pair));
    auto given = mlir::cast<TensorType>(std::get<1>(pair).getType());
    return declared.getDtype() == given.getDtype() && declared.getRank() == given.getRank();
  });
}

// The dims of the operands by the names in the declaration.
graph::DimBindings bound_names(mlir::FunctionType type, llvm::ArrayRef<Value> operands) {
  graph::DimBindings names;
  for (auto [declared, operand] : llvm::zip(type.getInputs(), operands))
    for (auto [dim, actual] : llvm::zip(mlir::cast<TensorType>(declared).getShape(),
                                        mlir::cast<TensorType>(operand.getType()).getShape()))
      if (dim.kind() == DimExpr::Kind::kSymbol)
        names.try_emplace(std::string(dim.symbol_name()), actual);
  return names;
}

// The declared dims with the bound names replaced.
Dims replaced(mlir::Type declared, const graph::DimBindings& names) {
  Dims dims;
  for (DimExpr dim : mlir::cast<TensorType>(declared).getShape())
    dims.push_back(dim.substitute([&](std::string_view name) {
      const auto bound = names.find(name);
      return bound == names.end() ? std::nullopt : std::optional(bound->second);
    }));
  return dims;
}

// The operand with the dims that the function takes. Different dims are checked in each request.
Value with_dims(Node& n, Value operand, size_t index, const Dims& expected) {
  const llvm::ArrayRef<DimExpr> given = n.shape(operand);
  for (auto [axis, pair] : llvm::enumerate(llvm::zip(given, expected))) {
    auto [actual, wanted] = pair;
    if (actual != wanted)
      n.require_equal(actual, wanted,
                      "input " + std::to_string(index) + " dim " + std::to_string(axis) +
                          " is {0}, but the external function takes {1}");
  }
  return llvm::equal(given, expected) ? operand : n.reshape(operand, expected);
}

// The node fails if no operand determines a dim of a result.
llvm::SmallVector<mlir::Type> result_types(Node& n, mlir::FunctionType type,
                                           const graph::DimBindings& names) {
  llvm::SmallVector<mlir::Type> results;
  for (mlir::Type each : type.getResults()) {
    auto declared = mlir::cast<TensorType>(each);
    for (DimExpr dim : declared.getShape())
      for (const std::string& name : dim.symbols())
        if (!names.contains(name))
          n.unsupported("no input determines dim " + name +
                        " of a result of the external function");
    results.push_back(
        TensorType::get(each.getContext(), declared.getDtype(), replaced(declared, names)));
  }
  return results;
}

// The first elements of a result along each axis. Fails the request if the external function
// returns a dim above its maximum.
Value first_part(Node& n, Value result, size_t index, const Dims& dims) {
  const llvm::ArrayRef<DimExpr> most = n.shape(result);
  if (llvm::equal(most, dims)) return result;
  for (auto [axis, pair] : llvm::enumerate(llvm::zip(most, dims))) {
    auto [maximum, dim] = pair;
    if (maximum != dim)
      n.require_at_least(maximum, dim,
                         "the external function returned {1} as dim " + std::to_string(axis) +
                             " of result " + std::to_string(index) + ", expected at most {0}");
  }
  return n.slice(result, Dims(dims.size(), DimExpr(0)), dims);
}

mlir::DictionaryAttr attributes_of(Node& n, mlir::OpBuilder& builder) {
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  for (const onnx::AttributeProto& attribute : n.proto().attribute()) {
    const std::string& name = attribute.name();
    mlir::Attribute value;
    switch (attribute.type()) {
      case onnx::AttributeProto::INT:
        value = builder.getI64IntegerAttr(attribute.i());
        break;
      case onnx::AttributeProto::FLOAT:
        value = builder.getF32FloatAttr(attribute.f());
        break;
      case onnx::AttributeProto::STRING:
        value = builder.getStringAttr(attribute.s());
        break;
      case onnx::AttributeProto::INTS:
        value = builder.getDenseI64ArrayAttr(n.integers(name));
        break;
      case onnx::AttributeProto::FLOATS:
        value = builder.getDenseF32ArrayAttr(n.numbers(name));
        break;
      default:
        n.unsupported("attribute \"" + name +
                      "\" is neither a number, a string nor a list of "
                      "numbers");
        return nullptr;
    }
    attributes.emplace_back(builder.getStringAttr(name), value);
  }
  return builder.getDictionaryAttr(attributes);
}

// Adds the declaration to the module, with the attributes of the node. Nodes with equal attributes
// share one declaration.
graph::ExternOp declare(mlir::ModuleOp module, graph::ExternOp declaration, const std::string& op,
                        mlir::DictionaryAttr attributes) {
  auto made = mlir::cast<graph::ExternOp>(declaration->clone());
  made.setOpName(op);
  if (!attributes.empty()) made.setOpAttributesAttr(attributes);
  const std::string base = declaration.getSymName().str();
  for (int number = 1;; ++number) {
    auto known = module.lookupSymbol<graph::ExternOp>(made.getSymName());
    if (!known) break;
    if (known->getAttrDictionary() == made->getAttrDictionary()) {
      made->erase();
      return known;
    }
    made.setSymName(base + "_" + std::to_string(number));
  }
  module.push_back(made);
  return made;
}

}  // namespace

Result<ExternalOps> ExternalOps::parse(const std::string& text, const std::string& name,
                                       mlir::MLIRContext& context) {
  ExternalOps ops;
  if (text.empty()) return ops;
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) {
    messages += (messages.empty() ? "" : "\n") + diagnostic.str();
    return mlir::success();
  });
  ops.module_ = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context), name);
  if (!ops.module_) return Status(StatusCode::kInvalidModel, name + ": " + messages);
  for (mlir::Operation& op : *ops.module_->getBody()) {
    auto declaration = mlir::dyn_cast<graph::ExternOp>(op);
    if (!declaration)
      return Status(StatusCode::kInvalidModel,
                    name + ": found " + op.getName().getStringRef().str() + ", expected sv.extern");
    ops.declarations_[declaration.getOpName().value_or(declaration.getSymName()).str()].push_back(
        declaration);
  }
  return ops;
}

Values ExternalOps::call(Node& n, const std::string& op, mlir::ModuleOp module) const {
  llvm::SmallVector<Value> operands;
  for (size_t i = 0; i < n.input_count(); ++i) operands.push_back(n.input(i));
  if (n.has_failed()) return Value();
  const std::vector<graph::ExternOp>& declared = declarations_.at(op);
  const auto found =
      llvm::find_if(declared, [&](graph::ExternOp each) { return takes(each, operands); });
  if (found == declared.end()) {
    n.fail(
        "no external function declared for this op takes inputs of these element types and ranks");
    return Value();
  }
  const mlir::FunctionType type = graph::ExternOp(*found).getSignature();
  const mlir::ArrayAttr op_results = graph::ExternOp(*found).getOpResultsAttr();
  if (n.output_count() > (op_results ? op_results.size() : type.getNumResults()))
    n.fail("the node has more outputs than the external function has results");
  graph::DimBindings names = bound_names(type, operands);
  llvm::SmallVector<mlir::Type> results = result_types(n, type, names);
  for (auto [i, operand] : llvm::enumerate(operands))
    operand = with_dims(n, operand, i, replaced(type.getInput(static_cast<unsigned>(i)), names));
  GraphBuilder& builder = n.builder();
  mlir::DictionaryAttr attributes = attributes_of(n, builder);
  if (n.has_failed()) return Value();
  graph::ExternOp callee = declare(module, *found, op, attributes);
  auto call = builder.create<graph::CallExternOp>(results, callee.getSymName(), operands);
  if (!op_results) return mlir::ValueRange(call.getResults());
  Dims counts = n.dims_of(call.getResults().back(), "the dims of the results");
  for (auto [name, count] : llvm::zip(graph::ExternOp(*found).getResultDimNames(), counts))
    names.emplace(name, count);
  llvm::SmallVector<Value> taken;
  for (auto [i, op_result] : llvm::enumerate(op_results.getAsValueRange<mlir::TypeAttr>()))
    taken.push_back(first_part(n, call.getResult(i), i, replaced(op_result, names)));
  return mlir::ValueRange(taken);
}

}  // namespace scopevm::compiler::frontend
