// Runs the stages in order.
#include "compiler/pipeline/stages.h"
#include "compiler/pipeline/tuning/tune_model.h"
#include "vm/format/binary/writer.h"

namespace scopevm::compiler::pipeline {
namespace {

Result<Placed> place_imported(Imported imported, Context& context) {
  SCOPEVM_ASSIGN_OR_RETURN(Simplified simplified, simplify(std::move(imported), context));
  return place(std::move(simplified), context);
}

Result<Planned> plan_imported(Imported imported, Context& context) {
  SCOPEVM_ASSIGN_OR_RETURN(Placed placed, place_imported(std::move(imported), context));
  SCOPEVM_ASSIGN_OR_RETURN(Lowered lowered, lower(std::move(placed), context));
  return plan(std::move(lowered), context);
}

Result<Compiled> finish(Imported imported, Context& context) {
  SCOPEVM_ASSIGN_OR_RETURN(Planned planned, plan_imported(std::move(imported), context));
  SCOPEVM_ASSIGN_OR_RETURN(const format::ModuleContents contents, emit(planned, context));
  Compiled compiled;
  CompileOutput& output = compiled.output;
  output.module = format::write_module(contents);
  for (const layouts::Report::Op& op : planned.runs.front()->layouts.ops)
    if (op.is_blocked && !op.forms.empty()) output.convolutions.push_back({op.name, op.forms});
  output.times = context.take_times();
  output.warnings = std::move(planned.warnings);
  compiled.data_files = std::move(planned.data_files);
  compiled.external_parts = std::move(planned.external_parts);
  compiled.dimensions = std::move(planned.program.functions.front().dimensions);
  return compiled;
}

}  // namespace

Result<Placed> place_model(Context& context) {
  SCOPEVM_ASSIGN_OR_RETURN(Imported imported, import_model(context));
  return place_imported(std::move(imported), context);
}

Result<Planned> plan_model(Context& context) {
  SCOPEVM_ASSIGN_OR_RETURN(Imported imported, import_model(context));
  return plan_imported(std::move(imported), context);
}

Result<Compiled> compile_once(Context& context) {
  SCOPEVM_ASSIGN_OR_RETURN(Imported imported, import_model(context));
  return finish(std::move(imported), context);
}

Result<Compiled> compile_graph(mlir::OwningOpRef<mlir::ModuleOp> graph, Context& context) {
  SCOPEVM_ASSIGN_OR_RETURN(Imported imported, import_graph(std::move(graph), context));
  return finish(std::move(imported), context);
}

Result<Compiled> compile_model(Context& context) {
  return is_tuned(context.options) ? compile_tuned(context) : compile_once(context);
}

}  // namespace scopevm::compiler::pipeline
