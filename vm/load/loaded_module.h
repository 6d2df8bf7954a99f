// LoadedModule: module contents made ready to run. Immutable, but for the kernel image, which is
// loaded when it is first needed.
//   loaded_module.cpp   contents -> frame layouts, signature, variants
//   kernel_table.cpp    contents -> the image that suits this CPU, addresses of its functions
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cpu/kernel_image.h"
#include "scopevm/kernel_abi.h"
#include "scopevm/module.h"
#include "scopevm/status.h"
#include "vm/format/module_contents.h"
#include "vm/load/frame_layout.h"
#include "vm/load/frame_stacks.h"
#include "vm/load/module_texts.h"

namespace scopevm::vm {

// An allocation whose bytes become exactly one result of its function, so that the caller's buffer
// can take their place.
struct ResultSite {
  uint32_t alloc_word = 0;  // word index of the instruction that allocates the storage
  uint32_t dims_word = 0;   // word index of the result's dims: an IntList's count word
  uint32_t output = 0;
};

struct LoadedFunction {
  const format::FunctionDecl* decl = nullptr;
  FrameLayout layout;
  FrameStacks stacks;
  std::vector<ResultSite> result_sites;  // only of those that a call enters: main and its variants
};

// What an input's axis must be: an exact dim, a dimension's value, or anything (both negative).
struct AxisRule {
  int64_t exact = -1;
  int32_t dimension = -1;
};

struct KernelTable {
  std::optional<runtime::KernelImage> image;  // none: the module has no kernels
  std::vector<KernelFn> kernels;
  std::vector<ShapeFn> shape_functions;
};

class LoadedModule {
 public:
  // REQUIRES: `contents` passed verification. Errors: kInvalidModel without a `main`.
  static Result<std::shared_ptr<const LoadedModule>> create(format::ModuleContents contents);
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  const format::ModuleContents& contents() const { return contents_; }
  const Signature& signature() const { return signature_; }
  const LoadedFunction& function(uint32_t index) const { return functions_[index]; }
  const LoadedFunction& main() const { return functions_[main_]; }
  // What a call enters whose dimensions have these values, in the signature's order: the first
  // variant that admits them, else main.
  const LoadedFunction& entry(std::span<const int64_t> dimensions) const;
  // One list per input, one rule per axis.
  const std::vector<std::vector<AxisRule>>& axis_rules() const { return axis_rules_; }
  const std::vector<std::string>& input_names() const { return input_names_; }
  const std::vector<std::string>& output_names() const { return output_names_; }
  const ModuleTexts& texts() const { return texts_; }
  // The first heap of the host, if there is one: where what the module has no place for goes.
  std::optional<uint32_t> heap_pool() const;
  // The model's ops behind the instruction at `word` of a function, or "".
  std::string_view source_name(const format::FunctionDecl& function, uint32_t word) const;

  // Loads the image that suits this CPU best, once. Thread-safe. Errors: kUnsupported (lists what
  // the CPU lacks), kInvalidModel (an image that does not load, or lacks a symbol).
  Result<const KernelTable*> kernels() const;

 private:
  explicit LoadedModule(format::ModuleContents contents) : contents_(std::move(contents)) {}
  Status prepare();
  void prepare_signature();
  Status load_kernels() const;

  const format::ModuleContents contents_;
  uint32_t main_ = 0;
  ModuleTexts texts_;
  Signature signature_;
  std::vector<LoadedFunction> functions_;
  std::vector<std::vector<AxisRule>> axis_rules_;
  std::vector<std::string> input_names_;
  std::vector<std::string> output_names_;

  mutable std::once_flag kernels_once_;
  mutable Status kernels_status_;
  mutable KernelTable kernel_table_;
};

}  // namespace scopevm::vm
