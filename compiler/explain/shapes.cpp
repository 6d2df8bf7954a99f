// The shapes of a model. Shapes, symbols and assertions are those of the imported graph, whose
// nodes are those of the model. Checks of dims are those of the shape program, which omits the
// checks that the compiler has proved.
#include <map>
#include <set>

#include "compiler/explain/report.h"
#include "compiler/graph/diagnostics/dim_trace.h"
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/values/symbolic_values.h"
#include "compiler/shapes/shape_program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace scopevm::compiler::explain {
namespace {

using graph::TensorType;
using Explained = ShapeExplanation::Function;

// The elements of longer tensors are not printed.
constexpr size_t kMostElements = 16;

std::string list_of(llvm::ArrayRef<DimExpr> dims) {
  std::string text;
  for (DimExpr dim : dims) text += (text.empty() ? "" : ", ") + dim.str();
  return "[" + text + "]";
}

std::string type_text(mlir::Type type) {
  if (auto tensor = mlir::dyn_cast<TensorType>(type))
    return std::string(name(tensor.getDtype())) + list_of(tensor.getShape());
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

// Collects the values of a function of the imported graph.
class GraphReader {
 public:
  explicit GraphReader(Explained& explained) : explained_(explained) {}

  void read(mlir::func::FuncOp function) {
    explained_.name = function.getName().str();
    mlir::Block& block = function.getBody().front();
    for (mlir::BlockArgument argument : block.getArguments()) {
      const std::string text = graph::input_name(argument);
      add(argument, text, "input", "input \"" + text + "\"");
    }
    read_block(block);
  }

 private:
  void read_block(mlir::Block& block) {
    for (mlir::Operation& op : block) {
      if (op.hasTrait<mlir::OpTrait::IsTerminator>()) continue;
      for (const graph::SymbolDefinition& definition : graph::symbols_defined_by(&op))
        if (seen_.insert(definition.symbol).second)
          explained_.symbols.push_back({definition.symbol, definition.where});
      if (auto assertion = mlir::dyn_cast<graph::AssertOp>(op))
        explained_.checks.push_back({"assert " + graph::DimTrace::name(assertion.getCondition()),
                                     assertion.getMessage().str()});
      std::string name = graph::op_name(&op), kind = op.getName().stripDialect().str();
      std::string maker = kind + (name == kind ? "" : " \"" + name + "\"");
      for (mlir::OpResult result : op.getResults()) {
        bool is_one_of_many = op.getNumResults() > 1;
        add(result, is_one_of_many ? name + "#" + std::to_string(result.getResultNumber()) : name,
            kind, maker);
      }
      ++depth_;
      for (mlir::Region& region : op.getRegions())
        for (mlir::Block& inner : region) {
          for (mlir::BlockArgument argument : inner.getArguments())
            add(argument, name + "." + std::to_string(argument.getArgNumber()), "argument", maker);
          read_block(inner);
        }
      --depth_;
    }
  }

  void add(mlir::Value value, const std::string& name, const std::string& op,
           const std::string& maker) {
    std::string elements;
    if (const std::vector<DimExpr>* known = symbols_.find(value))
      if (known->size() <= kMostElements) elements = list_of(*known);
    explained_.values.push_back({name, op, type_text(value.getType()), elements, depth_});
    auto tensor = mlir::dyn_cast<TensorType>(value.getType());
    if (!tensor) return;
    for (size_t axis = 0; axis < tensor.getShape().size(); ++axis)
      for (const std::string& symbol : tensor.getShape()[axis].symbols())
        if (seen_.insert(symbol).second)
          explained_.symbols.push_back({symbol, maker + " dim " + std::to_string(axis)});
  }

  Explained& explained_;
  graph::SymbolicValues symbols_;
  std::set<std::string> seen_;
  int depth_ = 0;
};

// Each value of a shape program as an expression over symbols and input dims. An input dim that
// binds a symbol is printed as the symbol. Any other input dim is printed with the name of the
// input and the axis: x.shape[1].
IndexedVector<ShapeProgram::ValueIndex, DimExpr> expressions(const Function& function,
                                                             const ShapeProgram& program) {
  using Op = ShapeProgram::Op;
  std::vector<DimExpr> dims;
  std::set<std::string> bound;
  for (ValueId id : function.inputs) {
    const Value& input = function.values[id];
    if (input.is_list()) continue;
    for (size_t axis = 0; axis < input.shape.size(); ++axis) {
      DimExpr dim = input.shape[axis];
      // As in ShapeProgram: the first dim that consists of a symbol binds the symbol. All other
      // dims are checked.
      bool binds = dim.kind() == DimExpr::Kind::kSymbol &&
                   bound.insert(std::string(dim.symbol_name())).second;
      dims.push_back(binds ? dim
                           : DimExpr::symbol(input.name + ".shape[" + std::to_string(axis) + "]"));
    }
  }
  IndexedVector<ShapeProgram::ValueIndex, DimExpr> values;
  for (const ShapeProgram::Instruction& i : program.instructions()) {
    auto operand = [&](ShapeProgram::ValueIndex index) { return values[index]; };
    switch (i.op) {
      case Op::kConstant:
        values.push_back(i.immediate);
        break;
      case Op::kInputDim:
        values.push_back(dims[i.immediate]);
        break;
      case Op::kRuntime:
        values.push_back(program.runtime_value({static_cast<uint32_t>(i.immediate)}));
        break;
      case Op::kThreads:
        values.push_back(DimExpr::symbol(kThreadsSymbol));
        break;
      case Op::kAdd:
        values.push_back(operand(i.a) + operand(i.b));
        break;
      case Op::kMul:
        values.push_back(operand(i.a) * operand(i.b));
        break;
      case Op::kFloorDiv:
        values.push_back(floordiv(operand(i.a), operand(i.b)));
        break;
      case Op::kMod:
        values.push_back(mod(operand(i.a), operand(i.b)));
        break;
      case Op::kMin:
        values.push_back(min(operand(i.a), operand(i.b)));
        break;
      case Op::kMax:
        values.push_back(max(operand(i.a), operand(i.b)));
        break;
    }
  }
  return values;
}

std::string condition_text(Check::Kind kind, DimExpr lhs, DimExpr rhs) {
  switch (kind) {
    case Check::Kind::kEqual:
      return lhs.str() + " == " + rhs.str();
    case Check::Kind::kBroadcastable:
      return lhs.str() + " == " + rhs.str() + ", or one is 1";
    case Check::Kind::kAtLeast:
      // An upper bound is printed with the constant on the right: n <= 512, not 512 >= n.
      if (lhs.is_constant()) return rhs.str() + " <= " + lhs.str();
      return lhs.str() + " >= " + rhs.str();
    case Check::Kind::kMultipleOf:
      return lhs.str() + " % " + rhs.str() + " == 0";
  }
  return "";
}

using Expressions = IndexedVector<ShapeProgram::ValueIndex, DimExpr>;

// The expression of the value in a slot.
DimExpr in_slot(SlotIndex slot, const ShapeProgram& program, const Expressions& values) {
  for (ShapeProgram::ValueIndex value : values.indices())
    if (program.find_slot(value) == slot) return values[value];
  return program.runtime_value(slot);
}

// The message of a check, with expressions instead of its placeholders.
std::string message_text(const ShapeProgram::Condition& condition, const ShapeProgram& program,
                         const Expressions& values) {
  std::vector<DimExpr> operands = {values[condition.lhs], values[condition.rhs]};
  for (SlotIndex slot : condition.more_slots) operands.push_back(in_slot(slot, program, values));
  std::string text = condition.message;
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string mark = "{" + std::to_string(i) + "}";
    const std::string value =
        operands[i].is_constant() ? operands[i].str() : "<" + operands[i].str() + ">";
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark))
      text.replace(at, mark.size(), value);
  }
  return text;
}

void add_checks(const Function& function, const ShapeProgram& program, Explained& explained) {
  const Expressions values = expressions(function, program);
  // Assertions read data, so they are checked after the conditions on dims.
  std::vector<ShapeExplanation::Check> assertions = std::move(explained.checks);
  explained.checks.clear();
  for (const ShapeProgram::Condition& c : program.conditions())
    explained.checks.push_back(
        {condition_text(c.kind, values[c.lhs], values[c.rhs]), message_text(c, program, values)});
  explained.checks.insert(explained.checks.end(), assertions.begin(), assertions.end());
}

void add_bounds(const Function& function, Explained& explained) {
  for (const Dimension& dimension : function.dimensions)
    for (ShapeExplanation::Symbol& symbol : explained.symbols)
      if (symbol.name == dimension.name) {
        symbol.bound = {dimension.min, dimension.max, dimension.multiple_of};
        symbol.is_bound = true;
        symbol.batch_obstacle = dimension.batch_obstacle;
      }
}

Result<ShapeExplanation> shapes(pipeline::Context& context) {
  ShapeExplanation explanation;
  SCOPEVM_ASSIGN_OR_RETURN(pipeline::Imported imported, pipeline::import_model(context));
  for (auto function : imported.graphs.front().module().getOps<mlir::func::FuncOp>())
    // The graph is read before the passes run, which remove or replace nodes of the model.
    if (!function.isExternal()) GraphReader(explanation.functions.emplace_back()).read(function);
  SCOPEVM_ASSIGN_OR_RETURN(pipeline::Simplified simplified,
                           pipeline::simplify(std::move(imported), context));
  SCOPEVM_ASSIGN_OR_RETURN(
      const pipeline::Placed placed,
      pipeline::place(std::move(simplified), placement::PoolChoice::kAny, context));
  SCOPEVM_ASSIGN_OR_RETURN(const pipeline::Lowering lowering,
                           pipeline::lower_graphs(placed, context));
  for (const Function& function : lowering.program.functions) {
    SCOPEVM_ASSIGN_OR_RETURN(ShapeProgram program, ShapeProgram::create(function));
    for (Explained& explained : explanation.functions)
      if (explained.name == function.name) {
        add_bounds(function, explained);
        add_checks(function, program, explained);
      }
  }
  return explanation;
}

const Report<&shapes> kShapesReport;

}  // namespace
}  // namespace scopevm::compiler::explain
