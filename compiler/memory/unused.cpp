// Devices that a program has no use for. A machine may have many; a session opens those that the
// module names, and needs their drivers.
#include "compiler/memory/plan.h"

namespace scopevm::compiler::memory {
namespace {

class UsedDevices {
 public:
  explicit UsedDevices(const Program& program)
      : machine_(program.machine), used_(machine_.devices.size(), false) {
    for (size_t i = 0; i < used_.size(); ++i) used_[i] = machine_.devices[i].is_host();
    for (const Kernel& kernel : program.kernels) used_[kernel.device] = true;
    for (const Constant& constant : program.constants) use_pool(constant.pool);
    for (const Function& function : program.functions) {
      for (const Value& value : function.values) {
        used_[value.place.device] = true;
        use_pool(value.place.pool);
      }
      for (const Step& step : function.steps)
        for (const Temporary& temporary : step.temporaries) use_pool(temporary.pool);
    }
  }
  const std::vector<bool>& used() const { return used_; }

 private:
  void use_pool(int pool) { used_[machine_.pools[pool].device] = true; }

  const Machine& machine_;
  std::vector<bool> used_;
};

void renumber(Function& function, const Machine::Indices& indices) {
  for (Value& value : function.values)
    value.place = {indices.devices[value.place.device], indices.pools[value.place.pool]};
  for (Step& step : function.steps)
    for (Temporary& temporary : step.temporaries) temporary.pool = indices.pools[temporary.pool];
  for (int& stack : function.stacks) stack = indices.pools[stack];
}

}  // namespace

void drop_unused_devices(Program& program) {
  const std::vector<bool> used = UsedDevices(program).used();
  const Machine::Indices indices = program.machine.keep_devices(used);
  for (Kernel& kernel : program.kernels) kernel.device = indices.devices[kernel.device];
  for (Constant& constant : program.constants) constant.pool = indices.pools[constant.pool];
  for (Function& function : program.functions) renumber(function, indices);
}

}  // namespace scopevm::compiler::memory
