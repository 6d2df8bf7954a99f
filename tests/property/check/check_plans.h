// Measures how far memory plans are above their lower bounds, at random dims.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace scopevm::compiler::property {

// Ratios of the bytes of planned storages to the largest number of bytes that are live at one step,
// in one memory scope.
struct PlanQuality {
  int64_t requests = 0;  // with planned storages
  double sum = 0;        // of the largest ratios of the requests
  double worst = 1;      // the largest ratio
  std::string worst_request;

  void add(const PlanQuality& other);
};

// The plans of a module at 20 requests whose dims are random, within their bounds and at most 2048.
// Requests that the module rejects, and memory whose size depends on data, are not measured.
// REQUIRES: `module_bytes` is a module.
PlanQuality measure_plans(std::span<const uint8_t> module_bytes);

}  // namespace scopevm::compiler::property
