// Selects the kernel image for this CPU, and finds the module's kernels and shape functions in the
// image.
#include <algorithm>
#include <string>

#include "runtime/cpu/cpu_features.h"
#include "vm/format/launch_checksum.h"
#include "vm/load/loaded_module.h"

namespace scopevm::vm {
namespace {

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Returns the image that requires the most CPU features among those that this CPU can run. It was
// compiled for the CPU most similar to this one.
// REQUIRES: the module has an image for a CPU.
Result<const format::ImageDecl*> best_image(const format::ModuleContents& contents) {
  const format::ImageDecl* best = nullptr;
  std::string lacking;
  for (const format::ImageDecl& image : contents.images) {
    if (!contents.devices[image.device].is_host()) continue;
    const std::vector<std::string> missing = runtime::missing_cpu_features(image.features);
    if (!missing.empty())
      lacking += "\n  the image for " + image.target_cpu + " requires " + join(missing);
    else if (best == nullptr || image.features.size() > best->features.size())
      best = &image;
  }
  if (best != nullptr) return best;
  return Status(StatusCode::kUnsupported, "no kernel image of the module runs on this CPU" +
                                              lacking + "\ncompile with another --target-cpu");
}

// Fails unless the image was compiled with the launches of the module.
Status check_launches(const format::ModuleContents& contents, const runtime::KernelImage& image,
                      const std::string& label) {
  const auto* expected = static_cast<const uint64_t*>(image.symbol(format::kLaunchChecksumSymbol));
  if (expected == nullptr)
    return {StatusCode::kInvalidModel, label + ": no checksum of the module's launches"};
  if (*expected == format::launch_checksum(contents)) return {};
  return {StatusCode::kInvalidModel,
          label +
              ": was compiled with other launches, kernels or shape functions than the "
              "module's tables contain"};
}

}  // namespace

Result<const KernelTable*> LoadedModule::kernels() const {
  // Images are loaded on first use, so that a module can be inspected on a machine whose CPU cannot
  // run it.
  std::lock_guard lock(kernels_mutex_);
  if (!kernel_table_) {
    SCOPEVM_ASSIGN_OR_RETURN(kernel_table_, load_kernels());
  }
  return &*kernel_table_;
}

Result<KernelTable> LoadedModule::load_kernels() const {
  // External functions are resolved per session, like kernels of other devices.
  const auto is_in_cpu_image = [this](const format::KernelDecl& kernel) {
    return !kernel.external && contents_.devices[kernel.device].is_host();
  };
  KernelTable table;
  // Kernels of other devices are loaded per session: see BoundDevices.
  table.kernels.resize(contents_.kernels.size(), nullptr);
  if (std::ranges::none_of(contents_.kernels, is_in_cpu_image) &&
      contents_.shape_functions.empty() && contents_.launches.empty())
    return table;
  SCOPEVM_ASSIGN_OR_RETURN(const format::ImageDecl* decl, best_image(contents_));
  const std::string label = "kernel image " + decl->target_cpu;
  SCOPEVM_ASSIGN_OR_RETURN(
      runtime::KernelImage image,
      runtime::KernelImage::load({decl->bytes.data, static_cast<size_t>(decl->bytes.size)}, label));
  if (!contents_.launches.empty()) SCOPEVM_RETURN_IF_ERROR(check_launches(contents_, image, label));
  for (size_t i = 0; i < contents_.kernels.size(); ++i) {
    const format::KernelDecl& kernel = contents_.kernels[i];
    if (!is_in_cpu_image(kernel)) continue;
    auto function = reinterpret_cast<KernelFn>(image.symbol(kernel.symbol));
    if (function == nullptr)
      return Status(StatusCode::kInvalidModel, label + ": no kernel \"" + kernel.symbol + "\"");
    table.kernels[i] = function;
  }
  for (const format::ShapeFunctionDecl& shape : contents_.shape_functions) {
    auto function = reinterpret_cast<ShapeFn>(image.symbol(shape.symbol));
    if (function == nullptr)
      return Status(StatusCode::kInvalidModel,
                    label + ": no shape function \"" + shape.symbol + "\"");
    table.shape_functions.push_back(function);
  }
  table.image.emplace(std::move(image));
  return table;
}

}  // namespace scopevm::vm
