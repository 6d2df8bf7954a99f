// Fuzz target: changes to the code and the tables of a module -> verifier -> session -> call. A
// module that passes the verifier must not fail with an internal error or access memory outside of
// its tensors. Checkers replace its kernels (tests/vm/mutation).
//
// The first byte of the input selects a module, and the second is the value of its dimensions. Each
// further pair of bytes is the seed of one change.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/vm/modules/test_modules.h"
#include "tests/vm/mutation/mutator.h"
#include "tests/vm/mutation/run_module.h"
#include "vm/format/verify/verify.h"

namespace scopevm::test {
namespace {

constexpr size_t kMostChanges = 16;
constexpr std::chrono::milliseconds kDeadline{20};

std::vector<format::ModuleContents> modules() {
  std::vector<format::ModuleContents> modules = {
      sum_contents(),      external_contents(),           variant_contents(),
      loop_contents(),     recursive_contents(),          upper_contents(),
      sequence_contents(), sequence_contents(DType::kStr)};
  for (format::ModuleContents& module : modules) {
    seal(module);
    if (!prepare_for_checkers(module).ok()) __builtin_trap();
  }
  return modules;
}

void try_mutant(const uint8_t* data, size_t size) {
  static const std::vector<format::ModuleContents> originals = modules();
  const format::ModuleContents& original = originals[data[0] % originals.size()];
  format::ModuleContents mutant = original;
  for (size_t at = 2; at + 1 < size && at < 2 + 2 * kMostChanges; at += 2) {
    Mutator(data[at] | static_cast<uint32_t>(data[at + 1]) << 8).mutate(mutant);
    if (!format::verify(mutant).ok()) return;
  }
  const Request request{.symbol = data[1] % 9, .outputs = {}, .deadline = kDeadline};
  if (run(original, mutant, request).status().code() == StatusCode::kInternal) __builtin_trap();
}

}  // namespace
}  // namespace scopevm::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size >= 2) scopevm::test::try_mutant(data, size);
  return 0;
}
