// Branches, loops and symbols read from values: executes ops in an environment of values and
// symbols.
#include "compiler/graph/graph_ops.h"
#include "tests/property/reference/reference.h"

namespace scopevm::compiler::property {
namespace {

Status execute_plain(mlir::Operation* op, Environment& environment) {
  std::vector<const Array*> operands;
  for (mlir::Value operand : op->getOperands())
    operands.push_back(&environment.values.find(operand)->second);
  SCOPEVM_ASSIGN_OR_RETURN(Arrays results, evaluate(op, std::move(operands), environment.symbols));
  for (size_t i = 0; i < results.size(); ++i)
    environment.values[op->getResult(static_cast<unsigned>(i))] = std::move(results[i]);
  return {};
}

// Binds the symbols of `names` that are dims of `type` to the array's dims.
void bind_dims(mlir::Type type, const Array& array, mlir::ArrayAttr names, Symbols& symbols) {
  for (auto [dim, value] : llvm::zip(mlir::cast<graph::TensorType>(type).getShape(), array.dims)) {
    if (dim.kind() != DimExpr::Kind::kSymbol) continue;
    for (llvm::StringRef name : names.getAsValueRange<mlir::StringAttr>())
      if (name == llvm::StringRef(dim.symbol_name())) symbols[name.str()] = value;
  }
}

Status bind_results(mlir::Operation* op, Arrays results, mlir::ArrayAttr names,
                    Environment& environment) {
  for (size_t i = 0; i < results.size(); ++i)
    bind_dims(op->getResult(static_cast<unsigned>(i)).getType(), results[i], names,
              environment.symbols);
  SCOPEVM_RETURN_IF_ERROR(check_types(op, results, environment.symbols));
  for (size_t i = 0; i < results.size(); ++i)
    environment.values[op->getResult(static_cast<unsigned>(i))] = std::move(results[i]);
  return {};
}

Result<bool> truth_of(const Array& condition) {
  if (condition.count() != 1) return refuse("the condition is not a scalar");
  if (!condition.elements[0].is_known())
    return refuse("the value of the condition depends on rounding");
  return condition.elements[0].value != 0;
}

Status execute_read(graph::ReadDimsOp op, Environment& environment) {
  const Array& x = environment.values.find(op.getX())->second;
  auto names = op.getSymbols().getAsValueRange<mlir::StringAttr>();
  for (auto [name, element] : llvm::zip(names, x.elements)) {
    if (!element.is_known()) return refuse("the value of a dim depends on rounding");
    auto value = static_cast<int64_t>(element.value);
    if (value < 0 && !op.getIsSigned()) return refuse("a dim is below 0");
    environment.symbols[name.str()] = std::max<int64_t>(value, 0);
    if (op.getIsSigned()) environment.symbols[name.str() + ".neg"] = std::max<int64_t>(-value, 0);
  }
  return {};
}

Status execute_if(graph::IfOp op, Environment& environment) {
  SCOPEVM_ASSIGN_OR_RETURN(bool holds,
                           truth_of(environment.values.find(op.getCondition())->second));
  mlir::Region& region = holds ? op.getThen() : op.getOtherwise();
  SCOPEVM_ASSIGN_OR_RETURN(Arrays results, execute_block(region.front(), environment));
  return bind_results(op, std::move(results), op.getSymbols(), environment);
}

// Concatenates the yielded values of all iterations along a new first dim.
class Gathered {
 public:
  Status add(Array part) {
    if (count_++ > 0 && part.dims != whole_.dims) return refuse("gathered parts differ");
    whole_.dtype = part.dtype;
    whole_.dims = part.dims;
    whole_.elements.insert(whole_.elements.end(), part.elements.begin(), part.elements.end());
    return {};
  }
  // If the loop had no iteration, the dims come from the type.
  Result<Array> take(mlir::Type type, const Symbols& symbols) {
    if (count_ > 0) {
      whole_.dims.insert(whole_.dims.begin(), count_);
      return std::move(whole_);
    }
    auto tensor = mlir::cast<graph::TensorType>(type);
    mlir::Type rest = tensor.withShape(tensor.getShape().drop_front());
    SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> dims, dims_of(rest, symbols));
    dims.insert(dims.begin(), 0);
    return make_array(tensor.getDtype(), dims);
  }

 private:
  Array whole_;
  int64_t count_ = 0;
};

Status execute_loop(graph::LoopOp op, Environment& environment) {
  constexpr int64_t kMostIterations = 1000;
  mlir::Block& body = op.getBody().front();
  Arrays carried;
  for (mlir::Value value : op.getInitial())
    carried.push_back(environment.values.find(value)->second);
  std::vector<Gathered> gathered(op.getNumResults() - carried.size());
  int64_t trips = kMostIterations + 1;
  if (!op.getTripCount().getValue().empty()) {
    Operands in{op, {}, &environment.symbols};
    SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> count, in.dims("trip_count"));
    trips = count[0];
  }
  bool goes_on = true;
  for (int64_t i = 0; goes_on && i < trips; ++i) {
    if (i >= kMostIterations) return refuse("the loop does not end");
    environment.symbols[op.getIndex().str()] = i;
    for (size_t k = 0; k < carried.size(); ++k) {
      mlir::BlockArgument argument = body.getArgument(static_cast<unsigned>(k));
      bind_dims(argument.getType(), carried[k], op.getCarriedSymbols(), environment.symbols);
      environment.values[argument] = carried[k];
    }
    SCOPEVM_ASSIGN_OR_RETURN(Arrays yielded, execute_block(body, environment));
    size_t at = 0;
    if (op.getHasCondition()) {
      SCOPEVM_ASSIGN_OR_RETURN(goes_on, truth_of(yielded[at++]));
    }
    for (Array& value : carried) value = std::move(yielded[at++]);
    for (Gathered& output : gathered) SCOPEVM_RETURN_IF_ERROR(output.add(std::move(yielded[at++])));
  }
  Arrays results = std::move(carried);
  for (Gathered& output : gathered) {
    mlir::Type type = op->getResult(static_cast<unsigned>(results.size())).getType();
    SCOPEVM_ASSIGN_OR_RETURN(Array whole, output.take(type, environment.symbols));
    results.push_back(std::move(whole));
  }
  return bind_results(op, std::move(results), op.getSymbols(), environment);
}

}  // namespace

Status execute(mlir::Operation* op, Environment& environment) {
  if (auto read = mlir::dyn_cast<graph::ReadDimsOp>(op)) return execute_read(read, environment);
  if (auto branch = mlir::dyn_cast<graph::IfOp>(op)) return execute_if(branch, environment);
  if (auto loop = mlir::dyn_cast<graph::LoopOp>(op)) return execute_loop(loop, environment);
  return execute_plain(op, environment);
}

Result<Arrays> execute_block(mlir::Block& block, Environment& environment) {
  for (mlir::Operation& op : block.without_terminator())
    SCOPEVM_RETURN_IF_ERROR(execute(&op, environment));
  Arrays results;
  for (mlir::Value value : block.getTerminator()->getOperands())
    results.push_back(environment.values.find(value)->second);
  return results;
}

}  // namespace scopevm::compiler::property
