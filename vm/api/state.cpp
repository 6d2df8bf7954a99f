// Implements State (scopevm/state.h) with CallState.
#include "scopevm/state.h"

#include <utility>

#include "runtime/without_exceptions.h"
#include "vm/api/module_access.h"
#include "vm/run/call/request.h"
#include "vm/run/call/state/call_state.h"

namespace scopevm {

using runtime::without_exceptions;

State::State(std::shared_ptr<vm::CallState> state) : state_(std::move(state)) {}

Result<State> State::create(const Session& session, const StateOptions& options) {
  return without_exceptions([&]() -> Result<State> {
    SCOPEVM_ASSIGN_OR_RETURN(std::shared_ptr<vm::CallState> state,
                             vm::CallState::create(SessionAccess::bound(session), options));
    return State(std::move(state));
  });
}

Result<Tensor> State::value(std::string_view input) const {
  return without_exceptions([&] { return state_->value(input); });
}

Status State::set_value(std::string_view input, const Tensor& tensor) {
  return without_exceptions([&] { return state_->set_value(input, tensor); });
}

Status State::reset() {
  return without_exceptions([&] { return state_->reset(); });
}

Result<State> State::fork() const {
  return without_exceptions([&]() -> Result<State> {
    SCOPEVM_ASSIGN_OR_RETURN(std::shared_ptr<vm::CallState> forked, state_->fork());
    return State(std::move(forked));
  });
}

Result<std::vector<uint8_t>> State::snapshot() const {
  return without_exceptions([&] { return state_->snapshot(); });
}

Status State::restore(std::span<const uint8_t> snapshot) {
  return without_exceptions([&] { return state_->restore(snapshot); });
}

int64_t State::steps() const { return state_->steps(); }

Status Call::set_state(const State& state) {
  return without_exceptions([&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(request_->check_idle());
    if (state.state_->session() != request_->session)
      return {StatusCode::kInvalidArgument, "the state is of another session than the call"};
    request_->state = state.state_;
    return {};
  });
}

Status Call::unset_state() {
  return without_exceptions([&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(request_->check_idle());
    request_->state.reset();
    return {};
  });
}

}  // namespace scopevm
