// See the header.
#include "compiler/memory/uses.h"

#include <algorithm>

namespace scopevm::compiler::memory {

BufferUses::BufferUses(const Program& program, const Function& function, const Liveness& liveness)
    : program_(program), function_(function), outputs_(output_of_root(function)) {
  read_steps();
  values_of_buffer_.resize(liveness.buffers.size());
  for (size_t id = 0; id < function.values.size(); ++id)
    if (int buffer = liveness.buffer_of_value[id];
        buffer >= 0 && function.values[id].origin == ValueOrigin::kStep)
      values_of_buffer_[buffer].push_back(static_cast<ValueId>(id));
  step_of_scratch_.assign(liveness.buffers.size(), -1);
  for (size_t i = 0; i < function.steps.size(); ++i)
    for (int buffer : liveness.buffer_of_temporary[i])
      step_of_scratch_[buffer] = static_cast<int64_t>(i);
}

void BufferUses::read_steps() {
  uses_.resize(function_.values.size());
  auto is_plain = [](StepKind kind) {
    return kind == StepKind::kLaunch || kind == StepKind::kCopy || kind == StepKind::kRead ||
           kind == StepKind::kAssert || kind == StepKind::kText;
  };
  for (size_t i = 0; i < function_.steps.size(); ++i) {
    const Step& step = function_.steps[i];
    const auto at = static_cast<int64_t>(i);
    for (size_t o = 0; o < step.operands.size(); ++o) {
      Uses& uses = uses_[root_of(function_, step.operands[o])];
      if (uses.reads.empty() || uses.reads.back() != at) uses.reads.push_back(at);
      const bool is_passed = step.kind == StepKind::kCall || step.kind == StepKind::kCallClosure;
      const bool is_condition = step.kind == StepKind::kIf && o == 0;
      uses.is_plain = uses.is_plain && (is_plain(step.kind) || is_passed || is_condition);
    }
    for (ValueId result : step.results) {
      Uses& uses = uses_[root_of(function_, result)];
      uses.writes.push_back(at);
      uses.is_plain = uses.is_plain && is_plain(step.kind);
    }
  }
}

std::optional<std::vector<int64_t>> BufferUses::accesses_if_free(int buffer) const {
  std::vector<int64_t> accesses;
  // Written and read.
  if (step_of_scratch_[buffer] >= 0) accesses.assign(2, step_of_scratch_[buffer]);
  for (ValueId id : values_of_buffer_[buffer]) {
    const Value& value = function_.values[id];
    if (value.is_scope_asked || value.twin >= 0 || !uses_[id].is_plain) return std::nullopt;
    accesses.insert(accesses.end(), uses_[id].writes.begin(), uses_[id].writes.end());
    accesses.insert(accesses.end(), uses_[id].reads.begin(), uses_[id].reads.end());
  }
  return accesses;
}

bool BufferUses::may_use(const std::vector<int64_t>& accesses, int pool) const {
  return std::ranges::all_of(accesses,
                             [&](int64_t at) { return may_use(function_.steps[at], pool); });
}

// Callees' kernels know where arguments lie. A copy leads from this pool to some other, or to this
// one from there.
bool BufferUses::may_use(const Step& step, int pool) const {
  if (step.kind == StepKind::kCall || step.kind == StepKind::kCallClosure) return false;
  if (step.kind == StepKind::kCopy)
    return pool_of(step.operands[0]) != pool && pool_of(step.results[0]) != pool;
  const Machine& machine = program_.machine;
  return machine.reaches(
      step.kind == StepKind::kLaunch ? program_.kernels[step.kernel].device : machine.host_device(),
      pool);
}

int BufferUses::pool_of(ValueId id) const {
  const ValueId root = root_of(function_, id);
  const Value& value = function_.values[root];
  return outputs_[root] >= 0 ? result_pool(program_.machine, value) : value.place.pool;
}

}  // namespace scopevm::compiler::memory
