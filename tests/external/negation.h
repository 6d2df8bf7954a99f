// An external library for tests: it negates tensors.
#pragma once

#include <cstdint>
#include <cstdio>

#include "scopevm/c/external.h"
#include "scopevm/status.h"

namespace scopevm {

inline constexpr char kPatterns[] = R"(
func.func @neg(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  %0 = sv.neg %x : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %0 : !sv.tensor<f32[n]>
})";

// Negates its operand, and fails for a negative first element.
inline int negate(void*, void*, const scopevm_external_run* run) {
  const auto* x = static_cast<const float*>(run->operands[0].data);
  auto* y = static_cast<float*>(run->results[0].data);
  if (x[0] < 0) {
    std::snprintf(run->message, run->message_size, "the first element is negative");
    return static_cast<int>(StatusCode::kInvalidArgument);
  }
  const int64_t count = run->operands[0].shape[0] * run->operands[0].shape[1];
  for (int64_t i = 0; i < count; ++i) y[i] = -x[i];
  return 0;
}

// A library that negates tensors of rank 2.
inline scopevm_external_library library() {
  return {.struct_size = sizeof(scopevm_external_library),
          .abi_version = SCOPEVM_EXTERNAL_ABI_VERSION,
          .name = "test",
          .context = nullptr,
          .patterns = kPatterns,
          .accept = nullptr,
          .prepare = nullptr,
          .create =
              [](void*, const char*, const char*, void** function, char*, size_t) {
                *function = nullptr;
                return 0;
              },
          .destroy = [](void*, void*) {},
          .run = negate};
}

}  // namespace scopevm
