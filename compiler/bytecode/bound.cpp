// The bound functions of a function: its dimensions, or the ends of their ranges -> bytes in each
// pool.
#include <functional>

#include "compiler/bytecode/emit.h"
#include "compiler/dims/dim_range.h"

namespace scopevm::compiler::bytecode {
namespace {

using ValueIndex = ShapeProgram::ValueIndex;

DimExpr least_of(std::string_view dimension) {
  return DimExpr::symbol("least " + std::string(dimension));
}
DimExpr most_of(std::string_view dimension) {
  return DimExpr::symbol("most " + std::string(dimension));
}

// A program with one input, `dims`, and without other values.
Result<ShapeProgram> program_of(const std::vector<DimExpr>& dims) {
  Value input;
  input.origin = ValueOrigin::kInput;
  input.shape.assign(dims.begin(), dims.end());
  Function function;
  function.inputs = {function.values.next_index()};
  function.values.push_back(std::move(input));
  return ShapeProgram::create(function);
}

// Stores a sum for each pool in the first slots: the program has no checks, whose operands would
// need slots.
void store_sums(const Machine& machine, const PlannedFunction& planned,
                const std::function<ValueIndex(const PlannedFunction::Storage&)>& bytes_of,
                ShapeProgram& program) {
  std::vector<ValueIndex> sums(machine.pools.size(), program.constant(0));
  for (const PlannedFunction::Storage& storage : planned.storages) {
    ValueIndex& sum = sums[storage.pool.value];
    sum = program.add(sum, bytes_of(storage));
  }
  program.block_of(sums);
}

}  // namespace

Result<ShapeProgram> bound_program(const Machine& machine, const Function& function,
                                   const PlannedFunction& planned) {
  std::vector<DimExpr> dims;
  for (const Dimension& dimension : function.dimensions)
    dims.push_back(DimExpr::symbol(dimension.name));
  SCOPEVM_ASSIGN_OR_RETURN(const ShapeProgram empty, program_of(dims));
  // The formulas are shorter if most maxima are simplified, and longer if maxima of sums remain,
  // since the normal form has no common terms.
  ShapeProgram by_formulas = empty, by_values = empty;
  store_sums(
      machine, planned,
      [&](const PlannedFunction::Storage& storage) { return by_formulas.value(storage.formula); },
      by_formulas);
  std::vector<ValueIndex> inputs;
  for (const DimExpr dim : planned.shapes.input_dims()) inputs.push_back(by_values.value(dim));
  store_sums(
      machine, planned,
      [&](const PlannedFunction::Storage& storage) {
        return by_values.value_in_call(planned.shapes, storage.bytes, inputs);
      },
      by_values);
  return by_formulas.instructions().size() <= by_values.instructions().size()
             ? std::move(by_formulas)
             : std::move(by_values);
}

Result<ShapeProgram> range_bound_program(const Machine& machine, const Function& function,
                                         const PlannedFunction& planned) {
  std::vector<DimExpr> ends;
  for (const Dimension& dimension : function.dimensions) {
    ends.push_back(least_of(dimension.name));
    ends.push_back(most_of(dimension.name));
  }
  const auto of_symbol = [](std::string_view name) -> DimRange {
    if (name == kThreadsSymbol) return {DimExpr::symbol(name), DimExpr::symbol(name)};
    return {least_of(name), most_of(name)};
  };
  SCOPEVM_ASSIGN_OR_RETURN(ShapeProgram program, program_of(ends));
  std::vector<DimExpr> sums(machine.pools.size(), 0);
  for (const PlannedFunction::Storage& storage : planned.storages)
    sums[storage.pool.value] = sums[storage.pool.value] + storage.formula;
  std::vector<ValueIndex> most;
  for (const DimExpr sum : sums) most.push_back(program.value(range_of(sum, of_symbol).most));
  program.block_of(most);
  return program;
}

}  // namespace scopevm::compiler::bytecode
