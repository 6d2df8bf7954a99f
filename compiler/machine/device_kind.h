// DeviceKind: how a machine description describes devices of one kind. The back end of the kind
// implements it (compiler/codegen/backend/backend.h), apart from stand-ins in tests.
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

  // As machine descriptions, modules and bindings spell the kind; one word. The host's kind is
  // format::kHostKind.
  virtual std::string_view name() const = 0;
  // See DeviceDecl::is_host().
  bool is_host() const { return name() == format::kHostKind; }
  // Whether kernels can be compiled for devices of the kind. Others are described, and that is all.
  virtual bool has_kernels() const { return true; }

  // The members that a device of this kind has in addition to those of every device. A device of
  // another kind cannot have them.
  virtual std::span<const std::string_view> members() const { return {}; }
  // Reads and checks these members, mostly into `decl.target`. `earlier`: the devices that the
  // description lists before this one. Errors: kInvalidModel, made by Member::fail.
  virtual Status read_members([[maybe_unused]] const Member& device,
                              [[maybe_unused]] std::span<const DeviceDecl> earlier,
                              [[maybe_unused]] DeviceDecl& decl) const {
    return {};
  }
};

}  // namespace scopevm::compiler
