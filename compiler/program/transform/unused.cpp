// Removes unused devices from a program. A session opens every device that the module declares, and
// needs its driver. A module therefore declares only CPUs and used devices.
#include "compiler/program/transform/unused.h"

namespace scopevm::compiler::transform {
namespace {

class UsedDevices {
 public:
  explicit UsedDevices(const Program& program)
      : machine_(program.machine), used_(machine_.devices.size()) {
    // CPUs are always kept: shape functions, lists and strings need one even without kernels.
    for (DeviceIndex device : used_.indices()) used_[device] = machine_.devices[device].is_host();
    for (const Kernel& kernel : program.kernels) used_[kernel.device] = true;
    for (const Constant& constant : program.constants) use_pool(constant.pool);
    for (const Function& function : program.functions) {
      for (const Value& value : function.values) {
        used_[value.place.device] = true;
        use_pool(value.place.pool);
      }
      for (const Step& step : function.steps)
        for (const Temporary& temporary : step.temporaries()) use_pool(temporary.pool);
    }
  }
  const IndexedVector<DeviceIndex, bool>& used() const { return used_; }

 private:
  void use_pool(PoolIndex pool) { used_[machine_.pools[pool].device] = true; }

  const Machine& machine_;
  IndexedVector<DeviceIndex, bool> used_;
};

// REQUIRES: all devices and pools that the function uses are kept.
void renumber(Function& function, const Machine::Renumbering& now) {
  for (Value& value : function.values)
    value.place = {*now.devices[value.place.device], *now.pools[value.place.pool]};
  for (Step& step : function.steps)
    for (Temporary& temporary : step.temporaries()) temporary.pool = *now.pools[temporary.pool];
  for (PoolIndex& stack : function.stacks) stack = *now.pools[stack];
}

}  // namespace

void remove_unused_devices(Program& program) {
  const Machine::Renumbering now = program.machine.keep_devices(UsedDevices(program).used());
  for (Kernel& kernel : program.kernels) kernel.device = *now.devices[kernel.device];
  for (Constant& constant : program.constants) constant.pool = *now.pools[constant.pool];
  for (Function& function : program.functions) renumber(function, now);
}

}  // namespace scopevm::compiler::transform
