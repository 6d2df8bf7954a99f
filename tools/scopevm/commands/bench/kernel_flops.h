// The floating-point operations of the launches of a module, from its section `flops`
// (vm/format/schema/launch_flops.h). A trace identifies a launch by its kernel and the model's ops.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vm/format/schema/module_contents.h"

namespace scopevm::tool {

class KernelFlops {
 public:
  using Dims = std::map<std::string, int64_t>;

  KernelFlops() = default;  // of a module without the section
  explicit KernelFlops(const format::ModuleContents& module);

  // Of one launch in a call of `function`, which is main or a variant. No value for launches
  // without a formula, for formulas with data-dependent dims, and for a kernel that a called
  // function launches for ops of the same name: the dims of that function are unknown. Launches of
  // one kernel for the same ops have their average.
  std::optional<double> of_launch(std::string_view function, std::string_view kernel,
                                  std::string_view ops, const Dims& dims) const;

 private:
  struct Launches {
    std::vector<std::string> formulas;
    int64_t count = 0;
  };
  using ByKernel = std::map<std::string, Launches, std::less<>>;

  std::map<std::string, ByKernel, std::less<>> functions_;
};

}  // namespace scopevm::tool
