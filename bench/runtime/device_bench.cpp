// What does a copy to or from an OpenCL device cost? Three cases: a device that shares the host's
// memory (large copies are mapped), a device with separate memory (all copies are enqueued), and
// the latter with pinned host memory that the driver allocated. All cases use the first device of
// the machine with an overridden CL_DEVICE_HOST_UNIFIED_MEMORY. For comparison: eight copies
// followed by one wait, and a memcpy of the same size by the host.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "runtime/opencl/api.h"
#include "runtime/opencl/opencl.h"
#include "scopevm/allocator.h"

namespace scopevm::runtime {
namespace {

enum Memory { kApart = 0, kShared = 1, kPinned = 2 };

// State of report_memory_kind(): the driver's functions, and the kind of memory to report.
const opencl::Api* g_driver = nullptr;
Memory g_memory = kShared;

cl_int CL_API_CALL report_memory_kind(cl_device_id device, cl_device_info what, size_t size,
                                      void* value, size_t* needed) {
  const cl_int error = g_driver->clGetDeviceInfo(device, what, size, value, needed);
  if (what == CL_DEVICE_HOST_UNIFIED_MEMORY && value != nullptr)
    *static_cast<cl_bool*>(value) = g_memory == kShared ? CL_TRUE : CL_FALSE;
  return error;
}

Result<std::shared_ptr<Device>> open(Memory memory) {
  SCOPEVM_ASSIGN_OR_RETURN(g_driver, opencl::load_api());
  static opencl::Api layer = *g_driver;
  layer.clGetDeviceInfo = report_memory_kind;
  g_memory = memory;
  return opencl::open_device(layer, 0);
}

using Copy = Status (*)(DeviceStream& stream, void* block, std::span<char> host);

Status copy_in(DeviceStream& stream, void* block, std::span<char> host) {
  return stream.copy_in(block, host.data(), static_cast<int64_t>(host.size()));
}

Status copy_out(DeviceStream& stream, void* block, std::span<char> host) {
  return stream.copy_out(host.data(), block, static_cast<int64_t>(host.size()));
}

void repeat(benchmark::State& state, Copy copy, int at_a_time) {
  const int64_t bytes = state.range(0);
  const auto memory = static_cast<Memory>(state.range(1));
  const auto device = open(memory);
  if (!device.ok()) return state.SkipWithError(std::string(device.status().message()).c_str());
  const std::unique_ptr<DeviceStream> stream = (*device)->make_stream();
  std::vector<char> pageable(memory == kPinned ? 0 : static_cast<size_t>(bytes));
  void* const data =
      memory == kPinned ? (*device)->allocate_host(bytes, kBlockAlignment) : pageable.data();
  if (data == nullptr) return state.SkipWithError("no room for pinned memory");
  const std::span host(static_cast<char*>(data), static_cast<size_t>(bytes));
  std::ranges::fill(host, 1);
  void* const block = (*device)->allocate(bytes);
  if (block == nullptr) return state.SkipWithError("no room on the device");
  // Touches source and destination, so that no page fault is measured.
  bool works = copy_in(*stream, block, host).ok();
  for (auto _ : state) {
    for (int i = 0; i < at_a_time; ++i) works = works && copy(*stream, block, host).ok();
    works = works && stream->settle().ok();
  }
  if (!works) state.SkipWithError("a copy failed");
  (void)stream->finish();
  (*device)->deallocate(block, bytes);
  if (memory == kPinned) (*device)->deallocate_host(data, bytes);
  state.SetBytesProcessed(state.iterations() * bytes * at_a_time);
}

constexpr int64_t kSizes[] = {4 << 10, 1 << 20, 64 << 20};

void both_ways(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"bytes", "memory"})->UseRealTime();
  for (const int64_t bytes : kSizes)
    for (const Memory memory : {kShared, kApart, kPinned}) benchmark->Args({bytes, memory});
}

BENCHMARK_CAPTURE(repeat, CopyIn, copy_in, 1)->Apply(both_ways);
BENCHMARK_CAPTURE(repeat, CopyOut, copy_out, 1)->Apply(both_ways);
BENCHMARK_CAPTURE(repeat, EightCopiesIn, copy_in, 8)->Apply(both_ways);
BENCHMARK_CAPTURE(repeat, EightCopiesOut, copy_out, 8)->Apply(both_ways);

void HostMemcpy(benchmark::State& state) {
  const auto bytes = static_cast<size_t>(state.range(0));
  std::vector<char> from(bytes, 1), to(bytes, 2);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(HostMemcpy)->Arg(kSizes[0])->Arg(kSizes[1])->Arg(kSizes[2])->UseRealTime();

}  // namespace
}  // namespace scopevm::runtime

BENCHMARK_MAIN();
