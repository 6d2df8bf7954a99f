// The conditions on devices and scopes that all ops on blocked images have in common.
#include "compiler/layouts/candidate.h"

#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/layouts/layouts.h"
#include "compiler/layouts/models/image.h"
#include "compiler/placement/place.h"
#include "vm/format/schema/host_kind.h"

namespace scopevm::compiler::layouts {
namespace {

bool is_on_cpu(mlir::Operation* op, const Machine& machine) {
  return machine.devices[placement::device_of(op, machine)].kind == format::kHostKind;
}

}  // namespace

bool may_grow(mlir::Operation* op, const Machine& machine) {
  const DeviceIndex device = placement::device_of(op, machine);
  return llvm::none_of(std::array{machine.workspace_pool(device), machine.global_pool(device),
                                  machine.constant_pool(device)},
                       [&](PoolIndex pool) { return machine.pools[pool].is_limited(); });
}

std::optional<Candidate> candidate(mlir::Operation* op, const Machine& machine,
                                   const Options& options) {
  auto image_op = mlir::dyn_cast<ImageOp>(op);
  if (!image_op || is_fixed(op) || !is_on_cpu(op, machine) || !may_grow(op, machine))
    return std::nullopt;
  std::optional<BlockedForm> form = image_op.getBlockedForm(options);
  if (!form || llvm::any_of(form->images, [](auto x) { return graph::has_scope(x.getType()); }))
    return std::nullopt;
  return Candidate{image_op, *std::move(form)};
}

}  // namespace scopevm::compiler::layouts
