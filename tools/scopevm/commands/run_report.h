// What `scopevm run` prints: results, times and memory, for people or for programs.
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
  std::span<const Tensor> elements;  // of a tensor: itself
};

struct RunReport {
  const Signature* signature = nullptr;
  std::vector<RunOutput> outputs;          // of the last run
  int64_t load_ns = 0;                     // module loaded, session created
  std::vector<int64_t> latency_ns;         // one per run
  std::string_view function;               // that the last run entered
  std::span<const ScopeUse> memory;        // of the last run; without scopes that nothing concerns
  std::span<const CopyUse> copies;         // of the last run
  std::optional<double> emulated_seconds;  // of the last run; none: nothing was emulated
  bool has_stats = false;                  // print times and memory
};

void print_text(const RunReport& report);
void print_json(const RunReport& report);

// The scopes that the module's contract or the call mentions.
std::vector<ScopeUse> concerned_scopes(const CallStats& stats);

}  // namespace scopevm::tool
