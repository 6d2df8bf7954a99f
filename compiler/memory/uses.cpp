// Collects the accesses of buffers; see the header.
#include "compiler/memory/uses.h"

#include <algorithm>

namespace scopevm::compiler::memory {

BufferUses::BufferUses(const Program& program, const Function& function, const Liveness& liveness)
    : program_(program), function_(function), is_output_(output_roots(function)) {
  read_steps();
  values_of_buffer_.resize(liveness.buffers.size());
  for (ValueId id : function.values.indices())
    if (const std::optional<BufferIndex> buffer = liveness.buffer_of_value[id];
        buffer && function.values[id].origin == ValueOrigin::kStep)
      values_of_buffer_[*buffer].push_back(id);
  step_of_scratch_.resize(liveness.buffers.size());
  for (size_t i = 0; i < function.steps.size(); ++i)
    for (BufferIndex buffer : liveness.buffer_of_temporary[i])
      step_of_scratch_[buffer] = static_cast<int64_t>(i);
}

void BufferUses::read_steps() {
  uses_.resize(function_.values.size());
  for (size_t i = 0; i < function_.steps.size(); ++i) {
    const Step& step = function_.steps[i];
    const auto at = static_cast<int64_t>(i);
    const bool is_plain =
        step.is<step::Launch, step::Copy, step::Read, step::Assert, step::StringWork>();
    for (size_t o = 0; o < step.operands.size(); ++o) {
      Uses& uses = uses_[root_of(function_, step.operands[o])];
      // A step that reads a value through several operands or views is one read.
      if (uses.reads.empty() || uses.reads.back() != at) uses.reads.push_back(at);
      // Arguments are only read, so they can be spilled. They cannot be moved: see may_use().
      const bool is_passed = step.is<step::Call, step::CallClosure>();
      const bool is_condition = step.is<step::If>() && o == 0;
      uses.is_plain = uses.is_plain && (is_plain || is_passed || is_condition);
    }
    for (ValueId result : step.results) {
      Uses& uses = uses_[root_of(function_, result)];
      uses.writes.push_back(at);
      // Other steps, such as calls and control marks, determine the storages of their results
      // themselves.
      uses.is_plain = uses.is_plain && is_plain;
    }
  }
}

std::optional<std::vector<int64_t>> BufferUses::accesses_if_free(BufferIndex buffer) const {
  std::vector<int64_t> accesses;
  // Scratch counts as one write and one read.
  if (step_of_scratch_[buffer]) accesses.assign(2, *step_of_scratch_[buffer]);
  for (ValueId id : values_of_buffer_[buffer]) {
    const Value& value = function_.values[id];
    if (value.is_scope_required || value.swap_partner || !uses_[id].is_plain) return std::nullopt;
    accesses.insert(accesses.end(), uses_[id].writes.begin(), uses_[id].writes.end());
    accesses.insert(accesses.end(), uses_[id].reads.begin(), uses_[id].reads.end());
  }
  return accesses;
}

bool BufferUses::may_use(const std::vector<int64_t>& accesses, PoolIndex pool) const {
  return std::ranges::all_of(accesses,
                             [&](int64_t at) { return may_use(function_.steps[at], pool); });
}

// Callees are compiled for the pools of their arguments. The source and the destination of a copy
// must remain in different pools if they are now.
bool BufferUses::may_use(const Step& step, PoolIndex pool) const {
  if (step.is<step::Call, step::CallClosure>()) return false;
  if (step.is<step::Copy>())
    return pool_of(step.operands[0]) != pool && pool_of(step.results[0]) != pool;
  const Machine& machine = program_.machine;
  const auto* launch = step.as<step::Launch>();
  return machine.reaches(launch ? program_.kernels[launch->kernel].device : machine.host_device(),
                         pool);
}

PoolIndex BufferUses::pool_of(ValueId id) const {
  const ValueId root = root_of(function_, id);
  const Value& value = function_.values[root];
  return is_output_[root] ? result_pool(program_.machine, value) : value.place.pool;
}

}  // namespace scopevm::compiler::memory
