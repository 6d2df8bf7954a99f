// Runs calls of each overhead case under callgrind, which counts the instructions of the last one:
// see instruction_counts.py. Prints the name, the items of a call and the limit of each case.
#include <valgrind/callgrind.h>

#include <cstdio>

#include "scopevm/session.h"
#include "tests/vm/modules/overhead_cases.h"
#include "tests/vm/modules/test_modules.h"

int main() {
  using namespace scopevm;
  constexpr int kWarmUp = 3;
  for (const test::OverheadCase& each : test::overhead_cases()) {
    Call call = *(*Session::create(test::load(each.make()))).make_call();
    for (int i = 0; i < kWarmUp; ++i)
      if (!call.run().ok()) return 1;
    CALLGRIND_ZERO_STATS;
    const bool is_ok = call.run().ok();
    CALLGRIND_DUMP_STATS_AT(each.name);
    if (!is_ok) return 1;
    std::printf("%s %lld %g\n", each.name, static_cast<long long>(each.items),
                each.most_instructions);
  }
}
