// Runs modules whose kernels are replaced by checkers (checkers.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scopevm/status.h"
#include "scopevm/tensor.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::test {

// Gives each launch a kernel of its own, and the images the checksum of these launches. Errors:
// kUnsupported (more launches than checkers).
Status prepare_for_checkers(format::ModuleContents& module);

inline constexpr int64_t kIntactSymbol = 4;

// How a module is called.
struct Request {
  int64_t symbol = kIntactSymbol;   // the value of all dimensions
  std::span<const Tensor> outputs;  // the caller's buffers; may be empty
  bool with_kernels = false;
  std::optional<std::chrono::milliseconds> deadline;
};

// Runs `contents` with at most 16 MiB per memory scope. `original` is the module whose launches the
// checkers assume. REQUIRES: prepare_for_checkers(original), `contents` is a mutant of `original`
// and passed verification.
Result<std::vector<Tensor>> run(const format::ModuleContents& original,
                                const format::ModuleContents& contents, const Request& request);

}  // namespace scopevm::test
