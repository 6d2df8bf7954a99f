// The list of the back ends of this build, one for each kind of device
// (docs/adding-a-device.md).
#pragma once

#include <vector>

#include "compiler/machine/device_kind.h"

namespace scopevm::compiler::codegen {

class Backend;

class Backends {
 public:
  // REQUIRES: `backend` outlives this object, and no other back end in the list has its name.
  void add(const Backend& backend);

  // A module stores the images in this order.
  const std::vector<const Backend*>& all() const { return all_; }
  // The same back ends, for parse_machine.
  const std::vector<const DeviceKind*>& kinds() const { return kinds_; }

 private:
  std::vector<const Backend*> all_;
  std::vector<const DeviceKind*> kinds_;
};

// The host's back end is first.
const Backends& built_in_backends();

}  // namespace scopevm::compiler::codegen
