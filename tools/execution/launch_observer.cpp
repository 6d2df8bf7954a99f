// Copies the tensors that instructions have written; see launch_observer.h.
#include "tools/execution/launch_observer.h"

#include <utility>

#include "tools/execution/state_tensor.h"

namespace scopevm::tool {

Status LaunchObserver::observe(const ExecutionState& state, bool& is_continued) {
  ObservedLaunch launch{
      pending_->position, pending_->place, code_.written_tensors(pending_->place), {}};
  for (const uint32_t index : launch.registers) {
    SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, copy_tensor(state, state.register_value(index)));
    launch.outputs.push_back(std::move(tensor));
  }
  is_continued = launched(std::move(launch));
  return {};
}

bool LaunchObserver::at(const ExecutionState& state) {
  bool is_continued = true;
  // An instruction that writes tensors stays in its function, and another one follows it.
  if (pending_ && state.position() == pending_->position + 1)
    failure_ = observe(state, is_continued);
  pending_.reset();
  if (!code_.written_tensors(state.next()).empty())
    pending_ = Pending{state.position(), state.next()};
  return is_continued && failure_.ok();
}

}  // namespace scopevm::tool
