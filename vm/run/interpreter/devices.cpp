// Launches and copies on devices beside the host's CPU.
#include "vm/run/interpreter/class.h"

#include <algorithm>
#include <cstring>

namespace scopevm::vm {

using runtime::ScopeMemory;
using runtime::Storage;
namespace op = isa::op;
using isa::RegisterIndex;

bool Interpreter::execute(const op::device_copy& in) {
  const Register& to = reg(in.to);
  const Register& from = reg(in.from);
  if (to.bytes != from.bytes)
    return fail(StatusCode::kInvalidModel,
                std::to_string(from.bytes) + " bytes into " + std::to_string(to.bytes));
  context_.count_copy(in.from_pool.value, in.to_pool.value, from.bytes);
  runtime::Device* source = session_.devices().of_pool(in.from_pool.value);
  runtime::Device* target = session_.devices().of_pool(in.to_pool.value);
  if (source == nullptr && target == nullptr) {
    std::memmove(to.data, from.data, static_cast<size_t>(from.bytes));
    return true;
  }
  return check(source == nullptr   ? target->copy_in(to.data, from.data, from.bytes)
               : target == nullptr ? source->copy_out(to.data, from.data, from.bytes)
                                   : source->copy_within(to.data, from.data, from.bytes));
}

bool Interpreter::launch_on_device(const op::launch& in, int64_t grid, int64_t grain) {
  const format::KernelDecl& decl = contents_.kernels[in.kernel.value];
  const BoundDevices::Kernel& kernel = session_.devices().kernel(in.kernel.value);
  return check(kernel.device->launch({.kernel = kernel.function,
                                      .buffers = {frame_.buffers, in.buffers.size()},
                                      .params = {frame_.slots + in.params.value, decl.param_count},
                                      .grid = grid,
                                      .grain = std::max<int64_t>(grain, 1),
                                      .workers = contents_.devices[decl.device].workers}));
}

bool Interpreter::check(const Status& status) {
  if (status.is_ok()) return true;
  return fail(status.code(), std::string(status.message()));
}

}  // namespace scopevm::vm
