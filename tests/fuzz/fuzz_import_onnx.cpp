// Fuzz target: ONNX model -> graph -> rewrites of the graph. Most mutations change one field of the
// model, so that it stays a valid protobuf message.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "onnx/onnx_pb.h"
#include "tests/fuzz/check_import.h"
#include "tests/fuzz/input_file.h"
#include "tests/fuzz/mutate_message.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  std::mt19937 random(seed);
  onnx::ModelProto model;
  if (random() % 16 == 0 || !model.ParseFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, max_size);
  for (unsigned changes = 1 + random() % 3; changes > 0; --changes)
    scopevm::test::mutate(model, random);
  const std::string changed = model.SerializeAsString();
  if (changed.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::ranges::copy(changed, data);
  return changed.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const scopevm::test::InputFile file(data, size);
  scopevm::compiler::frontend::check_import(file.path());
  return 0;
}
