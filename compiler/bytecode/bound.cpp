// The bound function of a function: the ends of its dimensions' ranges -> bytes in each pool.
#include "compiler/bytecode/emit.h"
#include "compiler/shapes/dim_range.h"

namespace scopevm::compiler::bytecode {
namespace {

DimExpr least_of(std::string_view dimension) {
  return DimExpr::symbol("least " + std::string(dimension));
}
DimExpr most_of(std::string_view dimension) {
  return DimExpr::symbol("most " + std::string(dimension));
}

}  // namespace

Result<ShapeProgram> bound_program(const Function& function, const PlannedFunction& planned) {
  // The ends are the dims of one input.
  Function bound;
  Value ends;
  for (const Dimension& dimension : function.dimensions) {
    ends.shape.push_back(least_of(dimension.name));
    ends.shape.push_back(most_of(dimension.name));
  }
  ends.origin = ValueOrigin::kInput;
  bound.inputs = {bound.values.next_index()};
  bound.values.push_back(std::move(ends));
  SCOPEVM_ASSIGN_OR_RETURN(ShapeProgram program, ShapeProgram::create(bound));
  const auto of_symbol = [](std::string_view name) -> DimRange {
    if (name == kThreadsSymbol) return {DimExpr::symbol(name), DimExpr::symbol(name)};
    return {least_of(name), most_of(name)};
  };
  std::vector<ShapeProgram::ValueIndex> bytes;
  for (DimExpr sum : planned.bytes_of_pool)
    bytes.push_back(program.value(range_of(sum, of_symbol).most));
  // The first slots: this function has no checks, whose operands would need slots.
  program.block_of(bytes);
  return program;
}

}  // namespace scopevm::compiler::bytecode
