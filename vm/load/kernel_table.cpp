// Selects the kernel images for this machine's CPU, and finds the module's kernels and shape
// functions in them.
#include <algorithm>
#include <string>

#include "runtime/cpu/cpu_features.h"
#include "vm/format/binary/launch_checksum.h"
#include "vm/load/loaded_module.h"

namespace scopevm::vm {
namespace {

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Of the images for `device`, a CPU, returns the one that requires the most CPU features among
// those that this machine's CPU and this release can run. It was compiled for the CPU most similar
// to this one.
Result<const format::ImageDecl*> best_image(const format::ModuleContents& contents,
                                            uint32_t device) {
  const format::ImageDecl* best = nullptr;
  std::string lacking;
  for (const format::ImageDecl& image : contents.images) {
    if (!image.is_for(device)) continue;
    const std::vector<std::string> missing = runtime::missing_cpu_features(image.features);
    if (image.kernel_abi != kKernelAbi)
      lacking += "\n  the image for " + image.target_cpu + " has kernel ABI " +
                 std::to_string(image.kernel_abi) + ", but this release runs kernel ABI " +
                 std::to_string(kKernelAbi) + ": compile the model with this release";
    else if (!missing.empty())
      lacking += "\n  the image for " + image.target_cpu + " requires " + join(missing);
    else if (best == nullptr || image.features.size() > best->features.size())
      best = &image;
  }
  if (best != nullptr) return best;
  return Status(StatusCode::kUnsupported,
                "no kernel image for device \"" + contents.devices[device].name +
                    "\" runs on this CPU" + lacking +
                    "\ncompile with another --target-cpu, or target_cpu of the device");
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
  if (const KernelTable* loaded = loaded_kernels_.load(std::memory_order_acquire)) return loaded;
  std::lock_guard lock(kernels_mutex_);
  if (!kernel_table_) {
    SCOPEVM_ASSIGN_OR_RETURN(kernel_table_, load_kernels());
    loaded_kernels_.store(&*kernel_table_, std::memory_order_release);
  }
  return &*kernel_table_;
}

Result<const runtime::KernelImage*> LoadedModule::load_image(uint32_t device,
                                                             KernelTable& table) const {
  const runtime::KernelImage*& loaded = table.image_of_device[device];
  if (loaded != nullptr) return loaded;
  SCOPEVM_ASSIGN_OR_RETURN(const format::ImageDecl* decl, best_image(contents_, device));
  auto known = table.images.find(decl);
  if (known == table.images.end()) {
    const std::string label = "kernel image " + decl->target_cpu;
    SCOPEVM_ASSIGN_OR_RETURN(runtime::KernelImage image,
                             runtime::KernelImage::load(
                                 {decl->bytes.data, static_cast<size_t>(decl->bytes.size)}, label));
    if (!contents_.launches.empty())
      SCOPEVM_RETURN_IF_ERROR(check_launches(contents_, image, label));
    known = table.images.emplace(decl, std::move(image)).first;
  }
  return loaded = &known->second;
}

EntryBound LoadedModule::entry_bound(uint32_t function, const runtime::KernelImage& host) const {
  const format::FunctionDecl& decl = contents_.functions[function];
  EntryBound bound{reinterpret_cast<BoundFn>(host.symbol(kBoundPrefix + decl.name)),
                   reinterpret_cast<RangeBoundFn>(host.symbol(kRangeBoundPrefix + decl.name)),
                   {}};
  // Variants have no dimension where their dim is a number.
  for (const format::DimensionDecl& dimension : decl.dimensions)
    bound.dimensions.push_back(static_cast<uint32_t>(
        std::ranges::find(signature_.dimensions, dimension.name, &DimensionSignature::name) -
        signature_.dimensions.begin()));
  for (const uint32_t index : bound.dimensions)
    if (index >= signature_.dimensions.size()) return {};
  return bound;
}

Result<KernelTable> LoadedModule::load_kernels() const {
  KernelTable table;
  table.image_of_device.resize(contents_.devices.size(), nullptr);
  // External functions are resolved per session, and kernels of non-CPU devices are loaded per
  // session: see BoundExternals and BoundDevices.
  table.kernels.resize(contents_.kernels.size(), nullptr);
  for (size_t i = 0; i < contents_.kernels.size(); ++i) {
    const format::KernelDecl& kernel = contents_.kernels[i];
    if (kernel.external || !contents_.devices[kernel.device].is_host()) continue;
    SCOPEVM_ASSIGN_OR_RETURN(const runtime::KernelImage* image, load_image(kernel.device, table));
    table.kernels[i] = reinterpret_cast<KernelFn>(image->symbol(kernel.symbol));
    if (table.kernels[i] == nullptr)
      return Status(StatusCode::kInvalidModel, "kernel image of device \"" +
                                                   contents_.devices[kernel.device].name +
                                                   "\": no kernel \"" + kernel.symbol + "\"");
  }
  table.bounds.resize(contents_.functions.size());
  if (contents_.shape_functions.empty() && contents_.launches.empty()) return table;
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::KernelImage* host,
                           load_image(contents_.host_device(), table));
  for (const format::ShapeFunctionDecl& shape : contents_.shape_functions) {
    table.shape_functions.push_back(reinterpret_cast<ShapeFn>(host->symbol(shape.symbol)));
    if (table.shape_functions.back() == nullptr)
      return Status(StatusCode::kInvalidModel,
                    "kernel image of the host: no shape function \"" + shape.symbol + "\"");
  }
  for (const uint32_t entry : entries()) table.bounds[entry] = entry_bound(entry, *host);
  return table;
}

}  // namespace scopevm::vm
