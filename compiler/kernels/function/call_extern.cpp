// Lowers calls of external functions to launches of one work item; see function_lowering.h. The
// params are the dims of all operands and results.
#include "compiler/graph/external/extern.h"
#include "compiler/kernels/function/function_lowering.h"

namespace scopevm::compiler::kernels {
namespace {

std::vector<ExternalFunction::Tensor> tensors_of(mlir::TypeRange types) {
  std::vector<ExternalFunction::Tensor> tensors;
  for (mlir::Type type : types) {
    auto tensor = mlir::cast<graph::TensorType>(type);
    tensors.push_back({tensor.getDtype(), static_cast<size_t>(tensor.getRank())});
  }
  return tensors;
}

int total_rank(mlir::FunctionType type) {
  int64_t rank = 0;
  for (mlir::Type each : llvm::concat<const mlir::Type>(type.getInputs(), type.getResults()))
    rank += mlir::cast<graph::TensorType>(each).getRank();
  return static_cast<int>(rank);
}

}  // namespace

// The program's kernel for the function: calls of one function share it.
KernelIndex FunctionLowering::external_kernel(graph::ExternOp declaration, size_t buffers) {
  const std::string name = declaration.getOpName().value_or(declaration.getSymName()).str();
  const std::string description = declaration.getDescription().value_or("").str();
  for (KernelIndex index : program_.kernels.indices()) {
    const Kernel& kernel = program_.kernels[index];
    if (kernel.external && kernel.symbol == name &&
        kernel.external->library == declaration.getLibrary() &&
        kernel.external->description == description)
      return index;
  }
  const mlir::FunctionType type = declaration.getSignature();
  const KernelIndex index = program_.kernels.next_index();
  program_.kernels.push_back(
      {.symbol = name,
       .buffer_count = static_cast<int>(buffers),
       .param_count = total_rank(type),
       .device = program_.machine.host_device(),
       .external = ExternalFunction{declaration.getLibrary().str(), description,
                                    tensors_of(type.getInputs()), tensors_of(type.getResults())}});
  return index;
}

llvm::LogicalResult FunctionLowering::lower(graph::CallExternOp op) {
  graph::ExternOp declaration = graph::declaration_of(op);
  if (!declaration) return op.emitOpError() << "@" << op.getCallee() << " is not external";
  const llvm::FailureOr<graph::DimBindings> bound = graph::bind_extern(op);
  if (failed(bound)) return mlir::failure();
  Step step{.name = op_name(op)};
  step::Launch launch;
  for (mlir::Value operand : op->getOperands()) step.operands.push_back(value_of(operand));
  for (mlir::Value result : op->getResults()) step.results.push_back(value_of(result));
  for (const std::vector<ValueId>& values : {step.operands, step.results})
    for (ValueId id : values) llvm::append_range(launch.params, function_.values[id].shape);
  const DimExpr workspace = graph::workspace_of(declaration).substitute([&](std::string_view name) {
    const auto dim = bound->find(name);
    return dim == bound->end() ? std::nullopt : std::optional(dim->second);
  });
  if (!workspace.is_constant(0))
    launch.temporaries.push_back(
        {.bytes = workspace, .pool = program_.machine.workspace_pool(device_)});
  launch.kernel = external_kernel(
      declaration, step.operands.size() + step.results.size() + launch.temporaries.size());
  step.work = std::move(launch);
  push(std::move(step));
  return mlir::success();
}

}  // namespace scopevm::compiler::kernels
