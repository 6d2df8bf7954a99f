// Moves CPU buffers that are copied to or from another device into the pool that is pinned for that
// device. The device's driver then needs no staging copy. Buffers with a required scope stay in
// their pool. So do inputs and results, because their memory is not planned.
#include "compiler/program/transform/pinned.h"

#include "compiler/memory/uses.h"

namespace scopevm::compiler::transform {
namespace {

using memory::BufferIndex;
using memory::BufferUses;
using memory::Liveness;

class FunctionPinning {
 public:
  FunctionPinning(const Program& program, Function& function)
      : machine_(program.machine),
        function_(function),
        liveness_(memory::find_lifespans(machine_, function)),
        uses_(program, function, liveness_) {}

  void run() {
    for (const Step& step : function_.steps) {
      if (!step.is<step::Copy>()) continue;
      pin(step.operands[0], step.results[0]);
      pin(step.results[0], step.operands[0]);
    }
  }

 private:
  void pin(ValueId id, ValueId other) {
    const ValueId root = root_of(function_, id);
    const Place place = function_.values[root].place;
    const std::optional<PoolIndex> pinned =
        machine_.pinned_pool(place.device, function_.values[other].place.device);
    const std::optional<BufferIndex> buffer = liveness_.buffer_of_value[root];
    // A buffer that an earlier copy has already moved is not in the workspace pool any more.
    if (!pinned || !buffer || place.pool != machine_.workspace_pool(place.device)) return;
    const std::optional<std::vector<int64_t>> accesses = uses_.accesses_if_free(*buffer);
    if (accesses && uses_.may_use(*accesses, *pinned))
      move_buffer(function_, liveness_, *buffer, *pinned);
  }

  const Machine& machine_;
  Function& function_;
  const Liveness liveness_;
  const BufferUses uses_;
};

}  // namespace

void use_pinned(Program& program) {
  for (Function& function : program.functions) FunctionPinning(program, function).run();
}

}  // namespace scopevm::compiler::transform
