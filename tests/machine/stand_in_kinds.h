// Device kinds for tests of the memory stage, which uses only the DeviceKind interface.
#pragma once

#include <array>

#include "compiler/machine/device_kind.h"

namespace scopevm::testing {

class StandInKind final : public compiler::DeviceKind {
 public:
  explicit StandInKind(std::string_view name) : name_(name) {}
  std::string_view name() const override { return name_; }

 private:
  std::string_view name_;
};

// The host's kind, and a second kind "opencl".
inline std::span<const compiler::DeviceKind* const> stand_in_kinds() {
  static const StandInKind host(format::kHostKind), other("opencl");
  static const std::array<const compiler::DeviceKind*, 2> kinds = {&host, &other};
  return kinds;
}

}  // namespace scopevm::testing
