// DeviceKind: reads the members of a machine description that belong to one kind of device. Each
// back end implements it (compiler/codegen/backend/backend.h).
#pragma once

#include <span>
#include <string_view>

#include "compiler/machine/machine.h"
#include "compiler/machine/member.h"
#include "scopevm/status.h"

namespace scopevm::compiler {

class DeviceKind {
 public:
  virtual ~DeviceKind() = default;

  // The name of the kind in machine descriptions, modules and device bindings: one word. The host's
  // kind is format::kHostKind.
  virtual std::string_view name() const = 0;
  // See Device::is_host().
  bool is_host() const { return name() == format::kHostKind; }

  // Whether devices of the kind can access memory of the host in place. A CPU's pool can then be
  // reached by one such device.
  virtual bool reaches_host_memory() const { return false; }

  // The members that a device of this kind may have in addition to those of every device. Any other
  // member is an error.
  virtual std::span<const std::string_view> members() const { return {}; }
  // Checks these members of `device` and stores them in `decl`, for example in `decl.target`.
  // Errors: kInvalidModel, from Member::fail.
  virtual Status read_members([[maybe_unused]] const Member& device,
                              [[maybe_unused]] Device& decl) const {
    return {};
  }
};

}  // namespace scopevm::compiler
