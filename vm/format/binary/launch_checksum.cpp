// Serialises launches, kernels and shape functions for their checksum; see launch_checksum.h.
#include "vm/format/binary/launch_checksum.h"

#include <string_view>

#include "vm/format/binary/checksum.h"

namespace scopevm::format {
namespace {

// Appends 32-bit words. Every list and string follows its length, so that different tables give
// different words.
class Words {
 public:
  template <typename... Numbers>
  void add(Numbers... numbers) {
    (words_.push_back(static_cast<uint32_t>(numbers)), ...);
  }
  void add_text(std::string_view text) {
    add(text.size());
    for (const char c : text) add(static_cast<uint8_t>(c));
  }
  uint64_t checksum() const {
    return format::checksum(words_.data(), words_.size() * sizeof(uint32_t));
  }

 private:
  std::vector<uint32_t> words_;
};

void add_device(Words& words, const DeviceDecl& device) {
  words.add_text(device.kind);
  words.add(device.workers, device.workers >> 32);
}

void add_tensors(Words& words, const std::vector<ExternalTensor>& tensors) {
  words.add(tensors.size());
  for (const ExternalTensor& tensor : tensors) words.add(tensor.dtype, tensor.rank);
}

void add_external(Words& words, const ExternalDecl& external) {
  words.add_text(external.library);
  words.add_text(external.description);
  add_tensors(words, external.operands);
  add_tensors(words, external.results);
}

}  // namespace

uint64_t launch_checksum(const ModuleContents& module) {
  Words words;
  words.add(module.launches.size(), module.kernels.size(), module.shape_functions.size());
  for (const LaunchDecl& launch : module.launches) {
    words.add(launch.kernel, launch.params.value, launch.grid.word(), launch.grain.word(),
              launch.read_only, launch.shape_function, launch.bytes.size());
    for (const isa::Int operand : launch.bytes) words.add(operand.word());
  }
  for (const KernelDecl& kernel : module.kernels) {
    words.add_text(kernel.symbol);
    words.add(kernel.buffer_count, kernel.param_count, kernel.device, kernel.external.has_value());
    if (kernel.external) add_external(words, *kernel.external);
    // The kind selects the image in which the symbol is looked up. The workers of a device
    // determine the size of temporaries.
    add_device(words, module.devices[kernel.device]);
  }
  for (const ShapeFunctionDecl& function : module.shape_functions) {
    words.add_text(function.symbol);
    words.add(function.slot_count, function.dim_count, function.first_slot, function.follows);
  }
  return words.checksum();
}

}  // namespace scopevm::format
