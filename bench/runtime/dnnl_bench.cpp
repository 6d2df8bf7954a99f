// How fast is a run of the oneDNN plug-in, warm, on one thread? Each run includes the conversion of
// the weights to oneDNN's layouts, because the plug-in does not know that they are constant.
// Compare `GFLOP/s` with bench/kernels/contraction.cpp, which measures scopevm's own kernels.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "scopevm/c/external.h"

namespace {

const scopevm_external_library& library() {
  void* handle = dlopen(SCOPEVM_DNNL_PLUG_IN, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  auto entry = reinterpret_cast<scopevm_external_entry>(dlsym(handle, SCOPEVM_EXTERNAL_ENTRY));
  return *entry(SCOPEVM_EXTERNAL_ABI_VERSION);
}

using Dims = std::vector<int64_t>;

std::string text_of(const Dims& dims) {
  std::string text;
  for (int64_t dim : dims) text += (text.empty() ? "" : ",") + std::to_string(dim);
  return "{\"dtype\": \"f32\", \"dims\": [" + text + "]";
}

struct Tensor {
  Dims dims;
  std::vector<float> data;
  explicit Tensor(const Dims& shape) : dims(shape) {
    size_t count = 1;
    for (int64_t dim : dims) count *= static_cast<size_t>(dim);
    data.resize(count);
    for (size_t i = 0; i < count; ++i) data[i] = static_cast<float>(i % 17) / 17;
  }
  DLTensor view() {
    return {data.data(),
            {kDLCPU, 0},
            static_cast<int32_t>(dims.size()),
            {kDLFloat, 32, 1},
            dims.data(),
            nullptr,
            0};
  }
};

// `op` is the op's name and attributes, in JSON.
void measure(benchmark::State& state, const std::string& op, const Dims& x, const Dims& w,
             const Dims& y, double flops) {
  constexpr size_t kWorkspaceBytes = size_t{64} << 20;  // more than the formulas of all shapes
  constexpr size_t kAlignment = 64;
  const scopevm_external_library& dnnl = library();
  const std::string description = "{\"operands\": [" + text_of(x) + "}, " + text_of(w) +
                                  "}], \"ops\": [" + text_of(y) + ", \"operands\": [0, 1], " + op +
                                  "}], \"results\": [2]}";
  Tensor a(x), b(w), c(y);
  const DLTensor operands[] = {a.view(), b.view()};
  const DLTensor result = c.view();
  const std::unique_ptr<void, decltype(&std::free)> workspace(
      std::aligned_alloc(kAlignment, kWorkspaceBytes), &std::free);
  char message[256] = "";
  void* function = nullptr;
  scopevm_external_run run = {};
  run.struct_size = sizeof(run);
  run.operands = operands;
  run.operand_count = 2;
  run.results = &result;
  run.result_count = 1;
  run.workspace = workspace.get();
  run.workspace_bytes = kWorkspaceBytes;
  run.threads = 1;
  run.message = message;
  run.message_size = sizeof(message);
  if (dnnl.create(dnnl.context, "f", description.c_str(), &function, message, sizeof(message)) !=
          0 ||
      dnnl.run(dnnl.context, function, &run) != 0)
    state.SkipWithError(message);
  for (auto _ : state) dnnl.run(dnnl.context, function, &run);
  if (function != nullptr) dnnl.destroy(dnnl.context, function);
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void matmul(benchmark::State& state, int64_t m, int64_t n, int64_t k) {
  measure(state, "\"op\": \"matmul\"", {m, k}, {k, n}, {m, n},
          2.0 * static_cast<double>(m * n * k));
}
BENCHMARK_CAPTURE(matmul, 128x768x768, 128, 768, 768);
BENCHMARK_CAPTURE(matmul, 512x512x512, 512, 512, 512);
BENCHMARK_CAPTURE(matmul, 1x768x768, 1, 768, 768);
BENCHMARK_CAPTURE(matmul, 8x8x8, 8, 8, 8);

// A square image and kernel, with the padding that keeps its size.
void convolution(benchmark::State& state, int64_t side, int64_t c, int64_t m, int64_t kernel) {
  const std::string pad = std::to_string(kernel / 2);
  measure(state,
          "\"op\": \"conv\", \"attributes\": {\"strides\": [1, 1], \"dilations\": [1, 1], "
          "\"group\": 1, \"pads\": [" +
              pad + ", " + pad + ", " + pad + ", " + pad + "]}",
          {1, c, side, side}, {m, c, kernel, kernel}, {1, m, side, side},
          2.0 * static_cast<double>(side * side * c * m * kernel * kernel));
}
BENCHMARK_CAPTURE(convolution, 56x56x64_64_3x3, 56, 64, 64, 3);
BENCHMARK_CAPTURE(convolution, 14x14x256_1024_1x1, 14, 256, 1024, 1);
BENCHMARK_CAPTURE(convolution, 7x7x512_512_3x3, 7, 512, 512, 3);

}  // namespace

BENCHMARK_MAIN();
