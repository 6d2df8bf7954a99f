// Fuzz target: changes to a recording -> its reader -> its writer.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "tests/fuzz/changed_records.h"
#include "tools/execution/recording.h"

namespace scopevm::tool {
namespace {

Tensor numbers() {
  const int64_t dims[] = {3};
  Tensor tensor = *Tensor::allocate(DType::kF32, dims);
  std::memset(tensor.data(), 1, static_cast<size_t>(tensor.bytes()));
  return tensor;
}

Tensor strings() {
  const std::string_view texts[] = {"", "a b"};
  const int64_t dims[] = {2};
  return *Tensor::from_strings(texts, dims);
}

std::vector<uint8_t> original() {
  Recording recording;
  recording.module = "m.bc";
  recording.devices = {{"cpu", "cpu", 0}};
  recording.memory_limits = {{"cpu.global", 4096}};
  recording.external_libraries = {"dnnl"};
  recording.inputs = {{"x", ValueKind::kTensor, true, {numbers()}},
                      {"s", ValueKind::kTensor, true, {strings()}}};
  RecordedLaunch launch{.position = 2, .function = "main", .word = 9, .name = "add", .op = "add"};
  launch.tensors = {numbers()};
  launch.outputs = {tensor_digest(launch.tensors[0])};
  recording.launches = {launch};
  recording.results = {{"y", ValueKind::kTensor, true, {numbers()}}};
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
