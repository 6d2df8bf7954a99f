// Graphs with functions that call each other.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/control_flow/run_graph.h"

namespace scopevm {

inline const char kTypes[] = R"(
    !i = !sv.tensor<i64[]>
    !b = !sv.tensor<bool[]>
    !f = !sv.tensor<f32[]>
    !n = !sv.tensor<f32[n]>
)";

// The assembly of a module with the types above and `functions`.
inline std::string module_of(const std::string& functions) { return kTypes + functions; }

inline void expect_within_bounds(const CallStats& stats) {
  for (const ScopeUse& use : stats.memory) EXPECT_GE(use.bound_bytes, use.peak_bytes) << use.scope;
}

}  // namespace scopevm
