// Verifies the tables of launches and external functions.
#include <algorithm>
#include <string>
#include <vector>

#include "runtime/count_text.h"
#include "scopevm/tensor.h"
#include "vm/format/verify/stages.h"

namespace scopevm::format {
namespace {

using runtime::count_text;

// Elements of string tensors are ids of the call's strings, which a library cannot read.
Status verify_external_tensor(const ExternalTensor& tensor) {
  SCOPEVM_RETURN_IF_ERROR(check_dtype(tensor.dtype));
  if (tensor.dtype == DType::kStr) return invalid("elements are strings, expected numbers");
  if (tensor.rank <= kMaxRank) return {};
  return invalid("rank is " + std::to_string(tensor.rank) + ", the limit is " +
                 std::to_string(kMaxRank));
}

Status verify_external(const ModuleContents& module, const KernelDecl& kernel) {
  const ExternalDecl& external = *kernel.external;
  if (external.library.empty()) return invalid("has no library");
  if (!module.devices[kernel.device].is_host())
    return invalid("is on device \"" + module.devices[kernel.device].name + "\", expected a CPU");
  uint64_t rank = 0;
  for (size_t i = 0; i < external.tensor_count(); ++i) {
    SCOPEVM_RETURN_IF_ERROR(
        verify_external_tensor(external.tensor(i)).with_context("buffer " + std::to_string(i)));
    rank += external.tensor(i).rank;
  }
  const size_t tensors = external.tensor_count();
  if (kernel.buffer_count != tensors && kernel.buffer_count != tensors + 1)
    return invalid("has " + count_text(kernel.buffer_count, "buffer") + ", expected " +
                   std::to_string(tensors) + " for its operands and results, or " +
                   std::to_string(tensors + 1) + " with a workspace");
  if (kernel.param_count == rank) return {};
  return invalid("has " + count_text(kernel.param_count, "param") + ", expected " +
                 std::to_string(rank) + ", the dims of its operands and results");
}

// Verifies that an operand is an immediate or a slot that the shape function writes. `first` is the
// first of `count` consecutive slots.
Status verify_slots(const ShapeFunctionDecl* function, uint32_t first, uint64_t count) {
  if (count == 0) return {};
  if (function == nullptr) return invalid("uses slots but has no shape function");
  if (first >= function->first_slot && first + count <= function->slot_count) return {};
  return invalid("slots [" + std::to_string(first) + ", " + std::to_string(first + count) +
                 ") are outside of those that shape function " + "\"" + function->symbol + "\"" +
                 " writes, [" + std::to_string(function->first_slot) + ", " +
                 std::to_string(function->slot_count) + ")");
}

Status verify_launch(const ModuleContents& module, const LaunchDecl& launch) {
  SCOPEVM_RETURN_IF_ERROR(check_index("kernel", launch.kernel, module.kernels.size()));
  const KernelDecl& kernel = module.kernels[launch.kernel];
  if (launch.shape_function < -1)
    return invalid("shape function is " + std::to_string(launch.shape_function) +
                   ", expected an index or -1");
  const ShapeFunctionDecl* function = nullptr;
  if (launch.shape_function >= 0) {
    const auto index = static_cast<uint32_t>(launch.shape_function);
    SCOPEVM_RETURN_IF_ERROR(check_index("shape function", index, module.shape_functions.size()));
    function = &module.shape_functions[index];
  }
  if (launch.bytes.size() != kernel.buffer_count)
    return invalid(count_text(launch.bytes.size(), "buffer") + ", but the kernel has " +
                   std::to_string(kernel.buffer_count));
  if (launch.read_only > kernel.buffer_count)
    return invalid("reads " + count_text(launch.read_only, "buffer") + ", but the kernel has " +
                   std::to_string(kernel.buffer_count));
  if (kernel.external && launch.read_only != kernel.external->operands.size())
    return invalid("reads " + count_text(launch.read_only, "buffer") +
                   ", but the external function has " +
                   count_text(kernel.external->operands.size(), "operand"));
  SCOPEVM_RETURN_IF_ERROR(verify_slots(function, launch.params.value, kernel.param_count));
  std::vector<isa::Int> operands = launch.bytes;
  operands.insert(operands.end(), {launch.grid, launch.grain});
  for (const isa::Int operand : operands)
    if (operand.is_slot())
      SCOPEVM_RETURN_IF_ERROR(verify_slots(function, operand.slot_index().value, 1));
  return {};
}

}  // namespace

Status verify_launches(const ModuleContents& module) {
  for (size_t i = 0; i < module.launches.size(); ++i)
    SCOPEVM_RETURN_IF_ERROR(
        verify_launch(module, module.launches[i]).with_context("launch " + std::to_string(i)));
  return {};
}

Status verify_externals(const ModuleContents& module) {
  for (const KernelDecl& kernel : module.kernels)
    if (kernel.external)
      SCOPEVM_RETURN_IF_ERROR(verify_external(module, kernel)
                                  .with_context("external function \"" + kernel.symbol + "\""));
  return {};
}

}  // namespace scopevm::format
