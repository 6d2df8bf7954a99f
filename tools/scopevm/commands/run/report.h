// The report of `scopevm run`: results, times, memory and copies, as text or JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scopevm/session.h"

namespace scopevm::tool {

struct RunOutput {
  bool has_value = true;
  std::span<const Tensor> elements;  // for a tensor: one element, the tensor itself
};

struct RunReport {
  const Signature* signature = nullptr;
  std::vector<RunOutput> outputs;          // of the last run
  int64_t load_ns = 0;                     // time to load the module and create the session
  std::vector<int64_t> latency_ns;         // one per run
  std::string_view function;               // "main" or the variant that the last run executed
  std::span<const ScopeUse> memory;        // of the last run; see concerned_scopes()
  std::span<const CopyUse> copies;         // of the last run
  std::optional<double> emulated_seconds;  // of the last run; empty without emulation
  bool has_stats = false;                  // print_text() also prints times, memory and copies
};

void print_text(const RunReport& report);
void print_json(const RunReport& report);

// The scopes in which the call has a bound, a peak or a number of allocations above 0.
std::vector<ScopeUse> concerned_scopes(const CallStats& stats);

}  // namespace scopevm::tool
