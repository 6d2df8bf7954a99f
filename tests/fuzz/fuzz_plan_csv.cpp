// Fuzz target: CSV -> planning problem -> plan. Printing a problem and parsing it again must give
// the same text. Every plan must be valid.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "scopevm/plan.h"

namespace {

using namespace scopevm::plan;

void check_round_trip(const Problem& problem) {
  const scopevm::Result<std::string> text = to_csv(problem);
  if (!text.ok()) return;  // an id that starts with '#'
  const scopevm::Result<Problem> again = parse_csv(*text);
  if (!again.ok()) std::abort();
  const scopevm::Result<std::string> same = to_csv(*again);
  if (!same.ok() || *same != *text) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const scopevm::Result<Problem> problem = parse_csv({reinterpret_cast<const char*>(data), size});
  if (!problem.ok()) return 0;
  check_round_trip(*problem);
  for (const Solver solver : {Solver::kHeuristic, Solver::kAutomatic}) {
    const scopevm::Result<Plan> plan = solve(*problem, {.time_limit_s = 0.005, .solver = solver});
    if (plan.ok() && !plan->pools.empty() && !validate(*problem, *plan).ok()) std::abort();
  }
  return 0;
}
