// Test harness for kernels: compiles a graph in MLIR assembly with the kernels and codegen stages,
// and runs it without memory plan, bytecode or VM. Every value has its own memory between guard
// bytes, and each launch is split over several workers.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/dtype.h"
#include "scopevm/status.h"

namespace scopevm::compiler::testing {

// A tensor in row-major order.
struct Array {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes;

  template <typename T>
  static Array of(DType dtype, std::vector<int64_t> dims, const std::vector<T>& values) {
    Array array{dtype, std::move(dims), std::vector<uint8_t>(values.size() * sizeof(T))};
    if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
    return array;
  }
  template <typename T>
  std::vector<T> as() const {
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

// Random f32 values in [-1, 1]. Equal seeds give equal values.
Array random_f32(std::vector<int64_t> dims, uint32_t seed);

// How KernelRunner::run divides the grid of each launch.
struct Division {
  int pieces = 3;  // the maximum number of ranges; each has its own worker index
  // The maximum number of items per call of the kernel. 0: two calls per range. All calls but the
  // first continue the range (`first` of KernelFn).
  int64_t call_items = 0;
  // Overwrites the inputs of the graph after the first call of a range.
  bool erases_inputs = false;
};

// What a run executes, for kernels that count it. The unit is an instruction of LLVM IR before the
// optimisation.
struct Counts {
  int64_t stop_at = 0;  // the first stop check that ends the run; 0: none
  // Set by the run:
  int64_t checks = 0;              // calls of the stop check (StopCheck of scopevm/kernel_abi.h)
  int64_t all = 0;                 // instructions
  int64_t most_without_check = 0;  // the most instructions between two checks
  int64_t after_stop = 0;          // instructions after the check that ended the run
};

class KernelRunner {
 public:
  // Compiles @main of `text` for `cpu`: "host", "x86-64-v3", "x86-64", ..., or "opencl" (kernels in
  // OpenCL C for the first OpenCL device). If `fuse` is true, runs the fusion stage first, and
  // before it chooses the layouts of images. The environment variable SCOPEVM_TEST_HOST_KERNELS_ON
  // replaces the CPU "host". If `counts_work` is true, kernels for CPUs count what they execute.
  static Result<std::unique_ptr<KernelRunner>> create(const std::string& text,
                                                      const std::string& cpu = "host",
                                                      bool fuse = false,
                                                      ImageLayout layout = ImageLayout::kByChannel,
                                                      bool counts_work = false);
  ~KernelRunner();

  // Runs @main once.
  // Errors: kInvalidArgument (wrong inputs), kInternal (a kernel wrote outside its buffers or
  // changed an input), kCancelled (Counts::stop_at ended the run).
  Result<std::vector<Array>> run(const std::vector<Array>& inputs, const Division& division = {});
  // As run(), and sets the results of `counts`. REQUIRES: `counts_work` of create(). One run at a
  // time in a process.
  Result<std::vector<Array>> run(const std::vector<Array>& inputs, const Division& division,
                                 Counts& counts);

  // Names of the launched steps and symbols of their kernels, for tests that count them.
  std::vector<std::string> steps() const;
  size_t kernel_count() const;
  // The bytes of the image, for tests that disassemble it.
  const std::vector<uint8_t>& image() const;

 private:
  KernelRunner();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace scopevm::compiler::testing
