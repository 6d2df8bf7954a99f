// Names the kinds of steps; see the header. A kernel's symbol consists of its kind and a number.
#include "compiler/memory/explain/steps.h"

#include <algorithm>
#include <string_view>

namespace scopevm::compiler::memory {
namespace {

// The kind of kernel that computes elementwise ops.
constexpr std::string_view kElementwise = "map";

std::string_view kind_of(const Kernel& kernel) {
  const std::string_view symbol = kernel.symbol;
  return kernel.external ? symbol : symbol.substr(0, symbol.rfind('_'));
}

}  // namespace

std::string op_of(const Program& program, const Step& step) {
  const auto* launch = step.as<step::Launch>();
  if (!launch) return std::string(step.kind_name());
  const std::string_view kind = kind_of(program.kernels[launch->kernel]);
  return kind == kElementwise ? "elementwise" : std::string(kind);
}

bool is_cheap(const Program& program, const Step& step) {
  constexpr std::string_view kCheap[] = {kElementwise,   "copy",        "transpose",  "concat",
                                         "iota",         "dims_tensor", "triu",       "tril",
                                         "pad_constant", "pad_edge",    "pad_reflect"};
  const auto* launch = step.as<step::Launch>();
  if (!launch || !launch->temporaries.empty() || step.results.size() != 1) return false;
  const Kernel& kernel = program.kernels[launch->kernel];
  return !kernel.external && std::ranges::find(kCheap, kind_of(kernel)) != std::end(kCheap);
}

MemoryExplanation::Step explained(const Program& program, const Step& step) {
  return {.op = op_of(program, step), .name = step.name};
}

}  // namespace scopevm::compiler::memory
