// Fuzz target: changes to a snapshot -> State::restore() -> a call with the state.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "scopevm/state.h"
#include "tests/fuzz/changed_records.h"
#include "tests/vm/modules/test_modules.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace scopevm;
  static const Session session = *Session::create(test::load(test::sum_contents()));
  static State state = *State::create(session, {.pairs = {{"y", "z"}}, .dims = {{"n", 3}}});
  static const std::vector<uint8_t> snapshot = *state.snapshot();
  static Call call = [] {
    Call made = *session.make_call();
    const int64_t dims[] = {3, 4};
    if (!made.set_input("x", *Tensor::allocate(DType::kF32, dims)).ok()) __builtin_trap();
    if (!made.set_state(state).ok()) __builtin_trap();
    return made;
  }();
  (void)state.restore(test::changed_records(snapshot, data, size)).ok();
  if (!call.run().ok()) __builtin_trap();  // each state is one that a call can use
  return 0;
}
