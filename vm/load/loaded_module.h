// LoadedModule: verified module contents with the data derived for execution. Immutable, except for
// the kernel images, which are loaded on first use.
//   loaded_module.cpp   contents -> frame layouts, signature, variants
//   kernel_table.cpp    contents -> the images for this CPU, addresses of their functions
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cpu/kernel_image.h"
#include "scopevm/c/transport.h"
#include "scopevm/kernel_abi.h"
#include "scopevm/module.h"
#include "scopevm/status.h"
#include "scopevm/tensor.h"
#include "vm/format/schema/module_contents.h"
#include "vm/load/frame_layout.h"
#include "vm/load/frame_storages.h"
#include "vm/load/module_strings.h"

namespace scopevm::vm {

// An alloc_storage instruction that executes at most once per call and whose storage becomes
// exactly one result of its function. A call can substitute the caller's output buffer for this
// storage.
struct ResultAllocation {
  uint32_t alloc_word = 0;  // word index of the instruction that allocates the storage
  uint32_t dims_word = 0;   // word index of the result's dims: an IntList's count word
  uint32_t output = 0;
};

struct LoadedFunction {
  const format::FunctionDecl* decl = nullptr;
  FrameLayout layout;
  FrameStorages stacks;
  std::vector<ResultAllocation>
      result_allocations;  // for entry functions only: main and its variants
};

// The requirement on one axis of an input: an exact size, the value of a dimension, or none if both
// members are negative. `dimension` is an index into the signature's dimensions.
struct AxisRule {
  int64_t exact = -1;
  int32_t dimension = -1;
};

// The bound functions of main or a variant; null: an image of an earlier version, or not an entry.
struct EntryBound {
  BoundFn function = nullptr;
  RangeBoundFn range_function = nullptr;
  std::vector<uint32_t> dimensions;  // of the function, as indices into the signature's dimensions
};

struct KernelTable {
  // Empty if the module has no CPU kernels, shape functions and launches.
  std::map<const format::ImageDecl*, runtime::KernelImage> images;
  std::vector<const runtime::KernelImage*> image_of_device;  // null: not loaded
  std::vector<KernelFn> kernels;                             // null for kernels of non-CPU devices
  std::vector<ShapeFn> shape_functions;
  std::vector<EntryBound> bounds;  // by function
};

class LoadedModule {
 public:
  // REQUIRES: `contents` passed verification. `digest`: that of the module file, or 0 without one.
  // `rank`: if constants of other ranks have no bytes. Errors: kInvalidModel (no function `main`).
  static Result<std::shared_ptr<const LoadedModule>> create(format::ModuleContents contents,
                                                            uint64_t digest = 0,
                                                            std::optional<int> rank = std::nullopt);
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  const format::ModuleContents& contents() const { return contents_; }
  // Identifies the contents of the module file: format::module_digest().
  uint64_t digest() const { return digest_; }
  // Checks that the module has the weights of a session with this transport, which can be null.
  // Errors: kInvalidArgument.
  Status check_rank(const scopevm_transport* transport) const;
  const Signature& signature() const { return signature_; }
  const LoadedFunction& function(uint32_t index) const { return functions_[index]; }
  const LoadedFunction& main() const { return functions_[main_]; }
  // The function that a call with these dimension values (in signature order) enters: the first
  // variant that admits them, else main.
  const LoadedFunction& entry(std::span<const int64_t> dimensions) const;
  // One vector per input, with one rule per axis.
  const std::vector<std::vector<AxisRule>>& axis_rules() const { return axis_rules_; }
  const std::vector<std::string>& input_names() const { return input_names_; }
  const std::vector<std::string>& output_names() const { return output_names_; }
  // By input: the value in calls that do not set it, a view of a constant; empty if there is none.
  const std::vector<Tensor>& default_inputs() const { return default_inputs_; }
  const ModuleStrings& strings() const { return strings_; }
  const std::vector<MemoryScope>& memory_scopes() const { return memory_scopes_; }  // by pool
  // The first heap pool in host memory, if there is one. The lists of list inputs, strings, and
  // copies of those results for which the function declares no pool are allocated in it.
  std::optional<uint32_t> heap_pool() const { return heap_pool_; }
  // The names of the model's ops from which the instruction at `word` was compiled, or "".
  std::string_view source_name(const format::FunctionDecl& function, uint32_t word) const;

  // The indices of the functions that calls enter: main, then the variants.
  std::vector<uint32_t> entries() const;

  // Loads the best supported image of each CPU device on first use. Thread-safe. Errors:
  // kUnsupported (lists the missing CPU features), kInvalidModel (the image does not load, lacks a
  // symbol, or was compiled with other launches), kDevice (the image cannot be copied to a memory
  // file).
  Result<const KernelTable*> kernels() const;

 private:
  LoadedModule(format::ModuleContents contents, uint64_t digest, std::optional<int> rank)
      : contents_(std::move(contents)), digest_(digest), rank_(rank) {}
  Status prepare();
  Status prepare_signature();
  Result<const runtime::KernelImage*> load_image(uint32_t device, KernelTable& table) const;
  Result<KernelTable> load_kernels() const;
  EntryBound entry_bound(uint32_t function, const runtime::KernelImage& host) const;

  const format::ModuleContents contents_;
  const uint64_t digest_;
  const std::optional<int> rank_;  // LoadOptions::rank, if the weights of others are missing
  uint32_t main_ = 0;
  ModuleStrings strings_;
  Signature signature_;
  std::vector<LoadedFunction> functions_;
  std::vector<std::vector<AxisRule>> axis_rules_;
  std::vector<std::string> input_names_;
  std::vector<Tensor> default_inputs_;
  std::vector<std::string> output_names_;
  std::vector<MemoryScope> memory_scopes_;
  std::optional<uint32_t> heap_pool_;

  mutable std::mutex kernels_mutex_;
  mutable std::optional<KernelTable> kernel_table_;  // empty until it has been loaded
  // The table after it has been loaded, else null: read without the mutex by each call and bound.
  mutable std::atomic<const KernelTable*> loaded_kernels_{nullptr};
};

}  // namespace scopevm::vm
