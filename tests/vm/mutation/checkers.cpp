// One function per launch index, because a kernel takes no context; see checkers.h.
#include "tests/vm/mutation/checkers.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

namespace scopevm::test {
namespace {

const format::ModuleContents* checked = nullptr;
std::vector<KernelFn> run_after;  // null: only check
std::atomic<uint32_t> sum;        // keeps the reads
std::atomic<uint32_t> pattern;

void read(const uint8_t* bytes, int64_t count) {
  uint32_t total = 0;
  for (int64_t i = 0; i < count; ++i) total += bytes[i];
  sum += total;
}

// Writes numbers from 0 to 3, because results are also counts, indices and conditions.
void write(uint8_t* bytes, int64_t count) {
  const uint32_t number = ++pattern;
  for (int64_t i = 0; i < count; ++i)
    bytes[i] = i % 8 == 0 ? static_cast<uint8_t>((number + i / 8) % 4) : 0;
}

void check(size_t index, void* const* buffers, const int64_t* params) {
  const format::LaunchDecl& launch = checked->launches[index];
  const int64_t* slots = params - launch.params.value;
  for (size_t i = 0; i < launch.bytes.size(); ++i) {
    const int64_t bytes = launch.bytes[i].value(slots);
    if (bytes < 0) {
      std::fprintf(stderr, "launch %zu: buffer %zu has %lld bytes\n", index, i,
                   static_cast<long long>(bytes));
      std::abort();
    }
    if (i < launch.read_only)
      read(static_cast<const uint8_t*>(buffers[i]), bytes);
    else
      write(static_cast<uint8_t*>(buffers[i]), bytes);
  }
}

template <size_t index>
void checker(void* const* buffers, const int64_t* params, int64_t begin, int64_t end,
             int64_t worker, int64_t first) {
  // Once per launch: later ranges would destroy the results of earlier ones.
  if (begin == 0) check(index, buffers, params);
  if (KernelFn kernel = run_after[index]) kernel(buffers, params, begin, end, worker, first);
}

template <size_t... indices>
constexpr std::array<KernelFn, sizeof...(indices)> table_of(std::index_sequence<indices...>) {
  return {checker<indices>...};
}
constexpr auto kCheckers = table_of(std::make_index_sequence<kMostLaunches>());

int64_t bytes_of(const DLTensor& tensor) {
  int64_t bytes = tensor.dtype.bits / 8;
  for (int axis = 0; axis < tensor.ndim; ++axis) bytes *= tensor.shape[axis];
  return bytes;
}

int create_checker(void*, const char*, const char*, void** out_function, char*, size_t) {
  *out_function = nullptr;
  return 0;
}

int run_checker(void*, void*, const scopevm_external_run* run) {
  for (size_t i = 0; i < run->operand_count; ++i)
    read(static_cast<const uint8_t*>(run->operands[i].data), bytes_of(run->operands[i]));
  for (size_t i = 0; i < run->result_count; ++i)
    write(static_cast<uint8_t*>(run->results[i].data), bytes_of(run->results[i]));
  write(static_cast<uint8_t*>(run->workspace), run->workspace_bytes);
  return 0;
}

}  // namespace

std::vector<scopevm_external_library> external_checkers(const format::ModuleContents& module) {
  std::set<std::string_view> names;
  std::vector<scopevm_external_library> libraries;
  for (const format::KernelDecl& kernel : module.kernels)
    if (kernel.external && names.insert(kernel.external->library).second)
      libraries.push_back({.struct_size = sizeof(scopevm_external_library),
                           .abi_version = SCOPEVM_EXTERNAL_ABI_VERSION,
                           .name = kernel.external->library.c_str(),
                           .context = nullptr,
                           .patterns = nullptr,
                           .accept = nullptr,
                           .prepare = nullptr,
                           .create = create_checker,
                           .destroy = [](void*, void*) {},
                           .run = run_checker});
  return libraries;
}

bool separate_kernels(format::ModuleContents& module) {
  std::vector<format::KernelDecl> kernels;
  for (format::LaunchDecl& launch : module.launches) {
    kernels.push_back(module.kernels[launch.kernel]);
    launch.kernel = static_cast<uint32_t>(kernels.size() - 1);
  }
  module.kernels = std::move(kernels);
  return module.launches.size() <= kMostLaunches;
}

std::vector<KernelFn> checkers_of(const format::ModuleContents& module,
                                  const vm::KernelTable& table, bool and_run) {
  checked = &module;
  run_after.assign(module.launches.size(), nullptr);
  if (and_run) run_after = table.kernels;
  const auto count = static_cast<std::ptrdiff_t>(module.launches.size());
  return {kCheckers.begin(), kCheckers.begin() + count};
}

}  // namespace scopevm::test
