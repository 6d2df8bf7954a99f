// Verdict: what the check of one graph has found.
#pragma once

#include <cstdint>
#include <string>

#include "tests/property/check/check_plans.h"

namespace scopevm::compiler::property {

enum class Finding {
  kAgrees,
  kUnsupported,   // compile() returned kUnsupported
  kCompileError,  // compile() returned another error (but see is_refused), or the reference did
  kRunError,      // loading, the creation of a session or a call failed
  kMismatch,      // a result is wrong, or the reason for a copy
  kWrongFormula,  // a formula of the memory bound is wrong
  kWrongMemory,   // a memory bound is wrong
  kCrash,
  kTimeout,
};

struct Verdict {
  Finding finding = Finding::kAgrees;
  std::string detail;          // the error message, or the first mismatch
  double compile_seconds = 0;  // CPU time
  int64_t compared = 0;        // elements
  int64_t skipped = 0;         // elements whose value the reference does not know
  int64_t external_runs = 0;   // of functions of the external library
  int64_t parts = 0;           // of requests that batch dims divide
  int64_t omitted = 0;         // formulas that would need too many definitions
  PlanQuality plans;           // with CheckOptions::measures_plans
  // compile() rejected the graph, because it needs more than the limit of
  // CheckOptions::is_squeezed, or because the places of CheckOptions::is_pinned or is_explained
  // contradict each other, or because it exceeds a limit of CheckOptions::is_pooled. `finding` is
  // then kAgrees.
  bool is_refused = false;

  // The finding and the start of its detail, without numbers, types and places, so that equal
  // errors have equal kinds. Only the finding if the values in the detail are the finding.
  std::string kind() const;
};

const char* name(Finding finding);
// True if a value is wrong.
constexpr bool is_mismatch(Finding finding) {
  return finding >= Finding::kMismatch && finding <= Finding::kWrongMemory;
}

// The verdict as one line of numbers, followed by the detail, for the parent process.
std::string packed(const Verdict& verdict);
Verdict unpacked(const std::string& text);

}  // namespace scopevm::compiler::property
