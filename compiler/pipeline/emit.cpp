// Emits the bytecode and the images.
#include <algorithm>

#include "compiler/pipeline/stages.h"
#include "compiler/shapes/emit_llvm.h"
#include "runtime/process/available_cpus.h"
#include "scopevm/kernel_abi.h"
#include "vm/format/assembly/disassembler.h"
#include "vm/format/binary/launch_checksum.h"
#include "vm/format/verify/verify.h"

namespace scopevm::compiler::pipeline {
namespace {

// Adds the shape functions, and the bound functions of main and its variants.
void add_functions(const Planned& planned, const format::ModuleContents& contents,
                   llvm::Module& module) {
  const Program& program = planned.program;
  for (FunctionIndex f : program.functions.indices()) {
    const Function& function = program.functions[f];
    const bytecode::PlannedFunction& plan = planned.functions[f];
    for (SegmentIndex segment : function.segments.indices())
      emit_shape_function(plan.shapes, segment, bytecode::shape_symbol(function, segment), module);
    if (!function.is_entry) continue;
    const auto emit_bound = [&](const char* prefix, const Result<ShapeProgram>& bound) {
      if (!bound.ok()) return;
      emit_shape_function(*bound, SegmentIndex{0}, prefix + function.name, module);
    };
    emit_bound(kBoundPrefix, bytecode::bound_program(program.machine, function, plan));
    emit_bound(kRangeBoundPrefix, bytecode::range_bound_program(program.machine, function, plan));
  }
  emit_number(format::kLaunchChecksumSymbol, format::launch_checksum(contents), module);
}

Result<std::vector<format::ImageDecl>> make_images(const Planned& planned,
                                                   const format::ModuleContents& contents,
                                                   Context& context) {
  const CompileOptions& options = context.options;
  codegen::ImagesRequest request;
  request.threads = options.threads > 0 ? options.threads : runtime::available_cpus();
  request.add_functions = [&](llvm::Module& module) { add_functions(planned, contents, module); };
  if (options.progress)
    request.progress = [&](int64_t done, int64_t total) {
      options.progress("codegen", done, total);
    };
  request.stop_token = options.stop_token;
  if (context.wants("codegen")) request.dump = options.dump;
  return planned.kernels->make_images(planned.program, request);
}

}  // namespace

Result<format::ModuleContents> emit(Planned& planned, Context& context) {
  SCOPEVM_RETURN_IF_ERROR(context.begin("bytecode"));
  SCOPEVM_ASSIGN_OR_RETURN(format::ModuleContents contents,
                           bytecode::emit_module(planned.program, planned.functions));
  SCOPEVM_ASSIGN_OR_RETURN(contents.variants, variant_table(planned.program, planned.variants));
  SCOPEVM_RETURN_IF_ERROR(context.begin("codegen"));
  SCOPEVM_ASSIGN_OR_RETURN(contents.images, make_images(planned, contents, context));
  SCOPEVM_RETURN_IF_ERROR(context.begin("bytecode"));
  if (context.wants("bytecode")) context.dump("bytecode", format::disassemble(contents));
  // The loader refuses some models that pass all stages: two inputs of one name, a rank above 16.
  SCOPEVM_RETURN_IF_ERROR(format::verify(contents).with_context(context.options.model_path));
  return contents;
}

}  // namespace scopevm::compiler::pipeline
