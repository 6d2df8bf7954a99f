// explain_shapes() and explain_copies(). Shapes, symbols and assertions are those of the imported
// graph, whose nodes are those of the model. Checks of dims are those of the shape program, which
// omits the checks that the compiler has proved. Copies are those of the placed graph.
#include <set>

#include "compiler/driver/compilation.h"
#include "compiler/graph/diagnostics/dim_trace.h"
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/graph/values/symbolic_values.h"
#include "compiler/placement/call_tree.h"
#include "compiler/shapes/formula_text.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace scopevm::compiler {
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
    if (auto names = function->getAttrOfType<mlir::DictionaryAttr>("sv.dim_names"))
      for (mlir::NamedAttribute name : names)
        model_names_[name.getName().str()] =
            mlir::cast<mlir::StringAttr>(name.getValue()).getValue().str();
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
          explained_.symbols.push_back({definition.symbol, "", definition.where});
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
          explained_.symbols.push_back(
              {symbol, model_names_[symbol], maker + " dim " + std::to_string(axis)});
  }

  Explained& explained_;
  graph::SymbolicValues symbols_{graph::DimIntervals()};
  std::map<std::string, std::string> model_names_;
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

void add_checks(const Function& function, const ShapeProgram& program, Explained& explained) {
  const auto values = expressions(function, program);
  // Assertions read data, so they are checked after the conditions on dims.
  std::vector<ShapeExplanation::Check> assertions = std::move(explained.checks);
  explained.checks.clear();
  for (const ShapeProgram::Condition& c : program.conditions())
    explained.checks.push_back({condition_text(c.kind, values[c.lhs], values[c.rhs]), c.message});
  explained.checks.insert(explained.checks.end(), assertions.begin(), assertions.end());
}

void add_bounds(const Function& function, Explained& explained) {
  for (const Dimension& dimension : function.dimensions)
    for (ShapeExplanation::Symbol& symbol : explained.symbols)
      if (symbol.name == dimension.name) {
        symbol.bound = {dimension.min, dimension.max, dimension.multiple_of};
        symbol.is_bound = true;
      }
}

}  // namespace

Result<ShapeExplanation> Compilation::explain_shapes() {
  ShapeExplanation explanation;
  SCOPEVM_RETURN_IF_ERROR(check_options());
  SCOPEVM_RETURN_IF_ERROR(read_machine());
  SCOPEVM_RETURN_IF_ERROR(import({}));
  for (auto function : placed_.graphs.front()->getOps<mlir::func::FuncOp>())
    // The graph is read before the passes run, which remove or replace nodes of the model.
    if (!function.isExternal()) GraphReader(explanation.functions.emplace_back()).read(function);
  SCOPEVM_RETURN_IF_ERROR(run_pass_stages(/*is_lowered=*/false));
  SCOPEVM_RETURN_IF_ERROR(lower_for_targets());
  for (const Function& function : placed_.program->functions) {
    SCOPEVM_ASSIGN_OR_RETURN(ShapeProgram program, ShapeProgram::create(function));
    for (Explained& explained : explanation.functions)
      if (explained.name == function.name) {
        add_bounds(function, explained);
        add_checks(function, program, explained);
      }
  }
  return explanation;
}

namespace {

// Collects the nodes of the placed graph. In the body of a loop, a carried value is represented by
// the node of its initial value.
class NodeReader {
 public:
  explicit NodeReader(std::vector<CopyExplanation::Node>& nodes) : nodes_(nodes) {}

  void read(mlir::func::FuncOp function) {
    for (mlir::BlockArgument argument : function.getArguments())
      add(argument, {graph::input_name(argument), "input", place_of(argument.getType()), {}});
    read_block(function.getBody().front());
  }

 private:
  static std::string place_of(mlir::Type type) {
    auto tensor = mlir::dyn_cast<TensorType>(type);
    return tensor && tensor.getPlace() ? tensor.getPlace().getValue().str() : "";
  }

  void add(mlir::Value value, CopyExplanation::Node node) {
    node_of_[value] = static_cast<int>(nodes_.size());
    nodes_.push_back(std::move(node));
  }

  void read_block(mlir::Block& block) {
    for (mlir::Operation& op : block.without_terminator()) {
      // A constant is not a node: each device that reads it has its own instance, without a copy.
      if (mlir::isa<graph::ConstantOp>(op)) continue;
      CopyExplanation::Node node{graph::op_name(&op), op.getName().stripDialect().str(), "", {}};
      for (mlir::Value operand : op.getOperands())
        if (auto from = node_of_.find(operand); from != node_of_.end())
          node.reads.push_back(from->second);
      for (mlir::Value result : op.getResults()) {
        node_of_[result] = static_cast<int>(nodes_.size());
        node.place = place_of(result.getType());
      }
      nodes_.push_back(std::move(node));
      // A group is one node, so its body is not read.
      if (mlir::isa<graph::GroupOp>(op)) continue;
      for (mlir::Region& region : op.getRegions())
        for (mlir::Block& inner : region) {
          for (auto [argument, initial] : llvm::zip(inner.getArguments(), op.getOperands()))
            if (auto from = node_of_.find(initial); from != node_of_.end())
              node_of_[argument] = from->second;
          read_block(inner);
        }
    }
  }

  std::vector<CopyExplanation::Node>& nodes_;
  llvm::DenseMap<mlir::Value, int> node_of_;
};

}  // namespace

// The value of `bytes`, if the options fix all of its dims.
std::optional<int64_t> Compilation::known_bytes(DimExpr bytes) const {
  return bytes.evaluate([&](std::string_view name) {
    auto bound = options_.dims.find(std::string(name));
    const bool is_fixed = bound != options_.dims.end() && bound->second.min == bound->second.max;
    return is_fixed ? std::optional(bound->second.min) : std::nullopt;
  });
}

Result<double> Compilation::copy_seconds(const CopyExplanation::Copy& copy) const {
  if (!copy.bytes) return 0;
  SCOPEVM_ASSIGN_OR_RETURN(const PoolIndex from, placement::parse_pool(copy.from, machine_));
  SCOPEVM_ASSIGN_OR_RETURN(const PoolIndex to, placement::parse_pool(copy.to, machine_));
  return machine_.copy_seconds(from, to, static_cast<double>(*copy.bytes));
}

CopyExplanation::Copy Compilation::explained(const placement::Copy& copy, bool is_spill) const {
  // The options' dims apply to main only.
  const bool is_known = !copy.is_local || copy.bytes.is_constant();
  FormulaText text = formula_text({&copy.bytes, 1});
  return {.value = copy.value,
          .formula = std::move(text.formulas.front()),
          .bytes = is_known ? known_bytes(copy.bytes) : std::nullopt,
          .times = copy.times,
          .from = copy.from,
          .to = copy.to,
          .producer_reason = copy.producer_reason,
          .consumer_reason = copy.consumer_reason,
          .is_spill = is_spill,
          .function = copy.function,
          .times_depend_on = copy.times_depend_on,
          .has_own_dims = !is_known,
          .definitions = std::move(text.definitions)};
}

// Explains the limits of pools and the spills. The spills are known only after the kernels are
// generated, because the limits include the scratch memory of kernels.
void Compilation::explain_limits(CopyExplanation& explanation) {
  const placement::CallTree calls(*placed_.graphs.front(), machine_.devices.size() > 1);
  for (const memory::SpillReport& spill : placed_.spills) {
    CopyExplanation::Limit limit{
        machine_.pool_name(spill.pool), spill.limit, spill.needed, {}, spill.seconds,
        spill.lower_bound_seconds};
    for (const memory::SpillReport::Move& move : spill.moves)
      limit.moved.push_back(move.value + " in " + machine_.pool_name(move.to));
    explanation.limits.push_back(std::move(limit));
    const placement::FunctionCalls& function = calls.of(spill.function);
    for (const memory::SpillReport::Copy& copy : spill.copies)
      for (const placement::CallSite& site : function.sites) {
        placement::Copy made{copy.value,
                             copy.bytes,
                             copy.times,
                             machine_.pool_name(copy.from),
                             machine_.pool_name(copy.to),
                             copy.producer_reason,
                             copy.consumer_reason};
        made = copy_at(site, function, std::move(made), copy.times * site.times);
        explanation.copies.push_back(explained(made, true));
      }
  }
}

Result<CopyExplanation> Compilation::explain_copies() {
  CopyExplanation explanation;
  SCOPEVM_RETURN_IF_ERROR(check_options());
  SCOPEVM_RETURN_IF_ERROR(read_machine());
  SCOPEVM_RETURN_IF_ERROR(import({}));
  SCOPEVM_RETURN_IF_ERROR(run_pass_stages());
  const placement::Report& report = placed_.runs.front()->report;
  for (const placement::Copy& copy : report.copies)
    explanation.copies.push_back(explained(copy, false));
  explain_limits(explanation);
  for (CopyExplanation::Copy& copy : explanation.copies) {
    SCOPEVM_ASSIGN_OR_RETURN(copy.seconds, copy_seconds(copy));
  }
  if (auto main = placed_.graphs.front()->lookupSymbol<mlir::func::FuncOp>("main"))
    NodeReader(explanation.nodes).read(main);
  explanation.is_proved = report.is_proved;
  explanation.notes = report.notes;
  explanation.warnings = output_.warnings;
  return explanation;
}

Result<ExternalExplanation> Compilation::explain_external() {
  if (is_tuned()) {
    SCOPEVM_ASSIGN_OR_RETURN(CompileOutput output, run_tuned());
    return ExternalExplanation{std::move(external_parts_), std::move(output.tuned),
                               std::move(output.warnings)};
  }
  SCOPEVM_RETURN_IF_ERROR(check_options());
  SCOPEVM_RETURN_IF_ERROR(read_machine());
  SCOPEVM_RETURN_IF_ERROR(import({}));
  SCOPEVM_RETURN_IF_ERROR(run_graph_stage());
  return ExternalExplanation{.parts = std::move(external_parts_)};
}

namespace {

// An op's name in the model and its kind. Several ops can have the same: those of one node, such as
// InstanceNormalization.
using NamedKind = std::pair<std::string, std::string>;

// The name of the first op of the kernel that computes an op; empty for the first op itself. Only
// ops whose name and kind are unique have an entry.
std::map<NamedKind, std::string> kernels_of_ops(mlir::ModuleOp graph) {
  std::map<NamedKind, std::string> kernels;
  std::set<NamedKind> seen;
  const auto add = [&](mlir::Operation* op, const std::string& kernel) {
    const NamedKind key(graph::DimTrace::name(op), graph::op_kind(op));
    if (seen.insert(key).second)
      kernels[key] = kernel;
    else
      kernels.erase(key);
  };
  graph->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    auto group = mlir::dyn_cast<graph::GroupOp>(op);
    if (!group) return add(op, ""), mlir::WalkResult::advance();
    std::string first;
    for (mlir::Operation& inner : group.getBody().front().without_terminator()) {
      if (mlir::isa<graph::ConstantOp>(inner)) continue;
      add(&inner, first);
      if (first.empty()) first = graph::DimTrace::name(&inner);
    }
    return mlir::WalkResult::skip();
  });
  return kernels;
}

}  // namespace

Result<LayoutExplanation> Compilation::explain_layout() {
  SCOPEVM_RETURN_IF_ERROR(check_options());
  SCOPEVM_RETURN_IF_ERROR(read_machine());
  SCOPEVM_RETURN_IF_ERROR(import({}));
  SCOPEVM_RETURN_IF_ERROR(run_pass_stages());
  LayoutExplanation explanation{.warnings = output_.warnings};
  const layouts::Report& report = placed_.runs.front()->layouts;
  // Layouts and fusion replace and remove ops, so names and kinds must be unique before and after.
  std::map<NamedKind, int> counts;
  for (const layouts::Report::Op& op : report.ops) ++counts[{op.name, op.kind}];
  const auto kernels = kernels_of_ops(*placed_.graphs.front());
  for (const layouts::Report::Op& op : report.ops) {
    const NamedKind key(op.name, op.kind);
    const auto found = counts[key] == 1 ? kernels.find(key) : kernels.end();
    explanation.ops.push_back({op.name, op.kind, op.is_blocked, op.seconds, op.other_seconds,
                               op.is_measured, op.forms,
                               found == kernels.end() ? std::string() : found->second});
  }
  for (const layouts::Report::Conversion& conversion : report.conversions) {
    FormulaText text = formula_text({&conversion.bytes, 1});
    explanation.conversions.push_back({.value = conversion.value,
                                       .to_blocked = conversion.to_blocked,
                                       .formula = std::move(text.formulas.front()),
                                       .definitions = std::move(text.definitions),
                                       .seconds = conversion.seconds});
  }
  return explanation;
}

}  // namespace scopevm::compiler
