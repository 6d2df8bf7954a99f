// The list of drivers in this build.
#include "runtime/drivers/built_in.h"

#include "runtime/cpu/driver.h"
#include "runtime/opencl/driver.h"

namespace scopevm::runtime {

const Drivers& built_in_drivers() {
  static const Drivers all = [] {
    Drivers drivers;
    drivers.add(cpu_driver());
    drivers.add(opencl_driver());
    return drivers;
  }();
  return all;
}

}  // namespace scopevm::runtime
