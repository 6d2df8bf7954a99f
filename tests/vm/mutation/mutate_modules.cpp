// mutate_modules [--count N] [--seed N] [--run-kernels] MODULE...
//
// Does any change to the bytecode or the tables of a module get past the verifier and then make the
// VM access memory outside of the module's tensors? Each mutant of a module must be rejected, fail
// with an error other than kInternal, or run. Kernels and external functions are replaced by
// checkers, which access exactly the bytes that their launches declare or their tensors have; with
// --run-kernels, the kernels run too. Build
// with AddressSanitizer to detect accesses out of bounds. A mutant of N differs from the module in
// one to three places and depends on the seed and N only: --seed S --count 1 repeats mutant S.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/vm/mutation/mutator.h"
#include "tests/vm/mutation/run_module.h"
#include "vm/format/binary/reader.h"
#include "vm/format/verify/verify.h"

namespace scopevm::test {
namespace {

constexpr std::chrono::milliseconds kDeadline{20};  // of the call of a mutant

Result<format::ModuleContents> read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  SCOPEVM_ASSIGN_OR_RETURN(format::ModuleContents module,
                           format::read_module(format::aligned_copy(bytes.data(), bytes.size())));
  SCOPEVM_RETURN_IF_ERROR(prepare_for_checkers(module));
  return module;
}

// The value of an option, or 0.
uint32_t number_of(const std::string& text) {
  uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Returns false if a mutant fails with kInternal, or if the module itself does not run.
bool mutate(const char* path, uint32_t seed, uint32_t count, bool with_kernels) {
  const Result<format::ModuleContents> module = read(path);
  const Result<std::vector<Tensor>> intact =
      module.ok() ? run(*module, *module, {}) : Result<std::vector<Tensor>>(module.status());
  if (!intact.ok()) {
    std::printf("%s: %s\n", path, std::string(intact.status().message()).c_str());
    return false;
  }
  uint32_t rejected = 0, failed = 0, ran = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Mutator mutator(seed + i);
    format::ModuleContents mutant = *module;
    for (uint32_t changes = 1 + mutator.below(3); changes > 0 && format::verify(mutant).ok();
         --changes)
      mutator.mutate(mutant);
    if (!format::verify(mutant).ok()) {
      ++rejected;
      continue;
    }
    Request request{.symbol = mutator.below(9),
                    .outputs = {},
                    .with_kernels = with_kernels && mutator.below(2) == 0,
                    .deadline = kDeadline};
    if (request.symbol == kIntactSymbol) request.outputs = *intact;
    const Status status = run(*module, mutant, request).status();
    ++(status.ok() ? ran : failed);
    if (status.code() != StatusCode::kInternal) continue;
    std::printf("%s: mutant %u: %s\n", path, seed + i, std::string(status.message()).c_str());
    return false;
  }
  std::printf("%s: %u mutants: %u rejected, %u failed, %u ran\n", path, count, rejected, failed,
              ran);
  return true;
}

int main_of(int argc, char** argv) {
  uint32_t count = 200, seed = 1;
  bool with_kernels = false, is_good = true;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--count" && i + 1 < argc)
      count = number_of(argv[++i]);
    else if (argument == "--seed" && i + 1 < argc)
      seed = number_of(argv[++i]);
    else if (argument == "--run-kernels")
      with_kernels = true;
    else
      is_good = mutate(argv[i], seed, count, with_kernels) && is_good;
  }
  return is_good ? 0 : 1;
}

}  // namespace
}  // namespace scopevm::test

int main(int argc, char** argv) { return scopevm::test::main_of(argc, argv); }
