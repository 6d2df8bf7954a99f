// Prints loops and branches; see printer.h.
#include "compiler/codegen/opencl/op_printers.h"
#include "compiler/codegen/opencl/printer.h"

namespace scopevm::compiler::codegen::opencl {

namespace scf = mlir::scf;

void Printer::assign(mlir::ValueRange targets, mlir::ValueRange values) {
  llvm::SmallVector<std::string> sources;
  for (mlir::Value value : values) sources.push_back(name(value));
  // If an assignment reads the target of an earlier one, the target's old value is saved in a
  // temporary.
  for (size_t i = 0; i < sources.size(); ++i)
    // The assignments at the end of a region are parallel in MLIR; C executes them in order.
    for (size_t earlier = 0; earlier < i; ++earlier) {
      if (sources[i] != name(targets[earlier])) continue;
      std::string kept = fresh();
      line("const " + type_name(form(values[i])) + " " + kept + " = " + sources[i] + ";");
      sources[i] = kept;
    }
  for (size_t i = 0; i < sources.size(); ++i)
    if (sources[i] != name(targets[i])) line(name(targets[i]) + " = " + sources[i] + ";");
}

bool Printer::print_region(mlir::Region& region, mlir::ValueRange results) {
  if (region.empty()) return true;
  if (!region.hasOneBlock() || !print_block(region.front())) return false;
  ++depth_;
  assign(results, region.front().getTerminator()->getOperands());
  --depth_;
  return true;
}

bool Printer::print_for(scf::ForOp loop) {
  for (auto [argument, initial] : llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
    declare(argument, name(initial));
  Form form = this->form(loop.getInductionVar());
  std::string type = type_name(form), as = "as_" + signed_name(form), i = fresh();
  bind(loop.getInductionVar(), i);
  // scf.for compares signed numbers; integers are stored as unsigned.
  line("for (" + type + " " + i + " = " + name(loop.getLowerBound()) + "; " + as + "(" + i +
       ") < " + as + "(" + name(loop.getUpperBound()) + "); " + i + " += " + name(loop.getStep()) +
       ") {");
  mlir::ValueRange carried = loop.getRegionIterArgs();
  if (!print_region(loop.getRegion(), carried)) return false;
  line("}");
  for (auto [result, argument] : llvm::zip(loop.getResults(), carried))
    bind(result, name(argument));
  return true;
}

bool Printer::print_while(scf::WhileOp loop) {
  mlir::Block& before = loop.getBefore().front();
  mlir::Block& after = loop.getAfter().front();
  for (auto [argument, initial] : llvm::zip(before.getArguments(), loop.getInits()))
    declare(argument, name(initial));
  // Declared outside of the loop, because the loop's results are read after it.
  for (mlir::Value argument : after.getArguments()) declare(argument);
  line("for (;;) {");
  if (!print_block(before)) return false;
  auto condition = mlir::cast<scf::ConditionOp>(before.getTerminator());
  ++depth_;
  // Assigned before the break, because the loop's results are the values of the last evaluation of
  // the condition.
  assign(after.getArguments(), condition.getArgs());
  line("if (!" + name(condition.getCondition()) + ") break;");
  --depth_;
  if (!print_region(loop.getAfter(), before.getArguments())) return false;
  line("}");
  for (auto [result, argument] : llvm::zip(loop.getResults(), after.getArguments()))
    bind(result, name(argument));
  return true;
}

bool Printer::print_if(scf::IfOp branch) {
  for (mlir::Value result : branch.getResults()) declare(result);
  line("if (" + name(branch.getCondition()) + ") {");
  if (!print_region(branch.getThenRegion(), branch.getResults())) return false;
  if (!branch.getElseRegion().empty()) {
    line("} else {");
    if (!print_region(branch.getElseRegion(), branch.getResults())) return false;
  }
  line("}");
  return true;
}

bool Printer::print_switch(scf::IndexSwitchOp choice) {
  for (mlir::Value result : choice.getResults()) declare(result);
  line("switch (" + name(choice.getArg()) + ") {");
  ++depth_;
  for (auto [value, region] : llvm::zip(choice.getCases(), choice.getCaseRegions())) {
    line("case " + std::to_string(value) + ": {");
    if (!print_region(region, choice.getResults())) return false;
    line("} break;");
  }
  line("default: {");
  if (!print_region(choice.getDefaultRegion(), choice.getResults())) return false;
  line("}");
  --depth_;
  line("}");
  return true;
}

void add_control_flow(OpPrinters& printers) {
  printers.add<scf::ForOp>([](Printer& p, scf::ForOp op) { return p.print_for(op); });
  printers.add<scf::WhileOp>([](Printer& p, scf::WhileOp op) { return p.print_while(op); });
  printers.add<scf::IfOp>([](Printer& p, scf::IfOp op) { return p.print_if(op); });
  printers.add<scf::IndexSwitchOp>(
      [](Printer& p, scf::IndexSwitchOp op) { return p.print_switch(op); });
}

}  // namespace scopevm::compiler::codegen::opencl
