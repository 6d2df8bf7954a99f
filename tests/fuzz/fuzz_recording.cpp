// Fuzz target: changes to a recording -> its reader -> its writer.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/fuzz/changed_records.h"
#include "tools/execution/recording.h"

namespace scopevm::tool {
namespace {

NamedValue vector_of(const char* name, DType dtype) {
  const int64_t dims[] = {3};
  Tensor tensor = *Tensor::allocate(dtype, dims);
  if (dtype != DType::kStr) std::memset(tensor.data(), 1, static_cast<size_t>(tensor.bytes()));
  return {name, ValueKind::kTensor, true, {tensor}};
}

std::vector<uint8_t> original() {
  Recording recording;
  recording.module = "m.bc";
  recording.devices = {{"cpu", "cpu", 0}};
  recording.memory_limits = {{"cpu.global", 4096}};
  recording.external_libraries = {"dnnl"};
  recording.inputs = {vector_of("x", DType::kF32), vector_of("s", DType::kStr)};
  RecordedLaunch launch{.position = 2, .function = "main", .word = 9, .name = "add", .op = "add"};
  launch.tensors = {vector_of("", DType::kF32).elements[0]};
  launch.outputs = {tensor_digest(launch.tensors[0])};
  recording.launches = {launch};
  recording.results = {vector_of("y", DType::kF32)};
  return write_recording(recording);
}

}  // namespace
}  // namespace scopevm::tool

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace scopevm::tool;
  static const std::vector<uint8_t> file = original();
  const auto recording = read_recording(scopevm::test::changed_records(file, data, size));
  if (recording.ok() && !read_recording(write_recording(*recording)).ok()) __builtin_trap();
  return 0;
}
