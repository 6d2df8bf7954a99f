// The functions of Module (scopevm/module.h), by those of scopevm/c/module.h.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/layer/status.h"
#include "scopevm/module.h"

namespace scopevm {

namespace layer {

// A handle of a module, and what its methods return by reference.
struct ModuleHandle {
  explicit ModuleHandle(scopevm_module* of) : handle(of) {}
  ModuleHandle(const ModuleHandle&) = delete;
  ModuleHandle& operator=(const ModuleHandle&) = delete;
  ~ModuleHandle() { scopevm_module_free(handle); }

  scopevm_module* const handle;
  Signature signature;
  std::vector<MemoryScope> scopes;
};

// Values of dimensions, by name, as arrays.
struct DimArrays {
  explicit DimArrays(const std::map<std::string, int64_t>& dims) {
    for (const auto& [name, value] : dims) {
      names.push_back(name.c_str());
      values.push_back(value);
    }
  }
  std::vector<const char*> names;
  std::vector<int64_t> values;
};

// Ranges of dimensions, by name, as arrays.
struct RangeArrays {
  explicit RangeArrays(const std::map<std::string, DimRange>& dims) {
    for (const auto& [name, range] : dims) {
      names.push_back(name.c_str());
      least.push_back(range.least);
      most.push_back(range.most);
    }
  }
  std::vector<const char*> names;
  std::vector<int64_t> least;
  std::vector<int64_t> most;
};

template <typename Read>
Result<std::vector<TensorSignature>> read_tensors(const scopevm_module* module, size_t count,
                                                  const Read& read) {
  std::vector<TensorSignature> tensors(count);
  for (size_t i = 0; i < count; ++i) {
    scopevm_value_info info{};
    info.struct_size = sizeof info;
    info.state_output = -1;  // of a library without this member
    SCOPEVM_RETURN_IF_ERROR(take(read(module, i, &info)));
    tensors[i] = {info.name,
                  static_cast<DType>(info.dtype),
                  {info.dims, info.dims + info.rank},
                  static_cast<ValueKind>(info.kind),
                  info.has_default != 0,
                  info.state_output};
  }
  return tensors;
}

inline Status read_module(const scopevm_module* module, ModuleHandle& out) {
  SCOPEVM_ASSIGN_OR_RETURN(
      out.signature.inputs,
      read_tensors(module, scopevm_module_input_count(module), scopevm_module_input));
  SCOPEVM_ASSIGN_OR_RETURN(
      out.signature.outputs,
      read_tensors(module, scopevm_module_output_count(module), scopevm_module_output));
  for (size_t i = 0; i < scopevm_module_dimension_count(module); ++i) {
    scopevm_dimension_info info{};
    info.struct_size = sizeof info;
    SCOPEVM_RETURN_IF_ERROR(take(scopevm_module_dimension(module, i, &info)));
    out.signature.dimensions.push_back(
        {info.name, info.min, info.max, info.multiple_of, info.is_batch != 0});
  }
  for (size_t i = 0; i < scopevm_module_scope_count(module); ++i)
    out.scopes.push_back({scopevm_module_scope_device(module, i),
                          scopevm_module_scope_name(module, i),
                          scopevm_module_scope_rank(module, i)});
  return {};
}

// Reads a bound and releases it.
inline Result<MemoryBound> read_bound(scopevm_bound* given) {
  const std::unique_ptr<scopevm_bound, void (*)(scopevm_bound*)> owner(given, scopevm_bound_free);
  MemoryBound bound;
  bound.function = scopevm_bound_function(given);
  for (size_t i = 0; i < scopevm_bound_definition_count(given); ++i) {
    const char *name = nullptr, *formula = nullptr;
    SCOPEVM_RETURN_IF_ERROR(take(scopevm_bound_definition(given, i, &name, &formula)));
    bound.definitions.push_back({name, formula});
  }
  for (size_t i = 0; i < scopevm_bound_line_count(given); ++i) {
    scopevm_bound_line_info c{};
    c.struct_size = sizeof c;
    SCOPEVM_RETURN_IF_ERROR(take(scopevm_bound_line(given, i, &c)));
    bound.lines.push_back({c.device, c.scope, c.what, c.is_result != 0, c.bytes,
                           c.lower_bound_bytes, c.formula, c.depends_on_data != 0});
  }
  for (size_t i = 0; i < scopevm_bound_scope_count(given); ++i) {
    scopevm_bound_scope_info c{};
    c.struct_size = sizeof c;
    SCOPEVM_RETURN_IF_ERROR(take(scopevm_bound_scope(given, i, &c)));
    bound.scopes.push_back({c.device, c.scope, c.bytes, c.lower_bound_bytes});
  }
  return bound;
}

// LoadOptions as a struct of C, which refers to them.
class CLoadOptions {
 public:
  explicit CLoadOptions(const LoadOptions& options) {
    for (const std::string& key : options.public_keys) keys_.push_back(key.c_str());
    c_.struct_size = sizeof c_;
    c_.public_keys = keys_.data();
    c_.public_key_count = keys_.size();
    if (!options.signature.empty()) c_.signature = options.signature.c_str();
    if (!options.weights_folder.empty()) c_.weights_folder = options.weights_folder.c_str();
    c_.weights = options.weights.data();
    c_.weights_size = options.weights.size();
    if (options.rank) c_.rank = &*options.rank;
  }
  CLoadOptions(const CLoadOptions&) = delete;
  CLoadOptions& operator=(const CLoadOptions&) = delete;
  const scopevm_load_options* get() const { return &c_; }

 private:
  std::vector<const char*> keys_;
  scopevm_load_options c_{};
};

}  // namespace layer

inline Result<Module> Module::adopt(scopevm_module* handle) {
  std::unique_ptr<scopevm_module, void (*)(scopevm_module*)> owner(handle, scopevm_module_free);
  return layer::guarded([&]() -> Result<Module> {
    const auto made = std::make_shared<layer::ModuleHandle>(handle);
    (void)owner.release();
    SCOPEVM_RETURN_IF_ERROR(layer::read_module(handle, *made));
    return Module(made);
  });
}

inline const scopevm_module* Module::c_module() const { return handle_->handle; }

inline Result<Module> Module::load(const std::string& path, const LoadOptions& options) {
  return layer::guarded([&]() -> Result<Module> {
    const layer::CLoadOptions c(options);
    scopevm_module* handle = nullptr;
    SCOPEVM_RETURN_IF_ERROR(layer::take(scopevm_module_load(path.c_str(), c.get(), &handle)));
    return adopt(handle);
  });
}

inline Result<Module> Module::load_bytes(std::span<const uint8_t> bytes,
                                         const LoadOptions& options) {
  return layer::guarded([&]() -> Result<Module> {
    const layer::CLoadOptions c(options);
    scopevm_module* handle = nullptr;
    SCOPEVM_RETURN_IF_ERROR(
        layer::take(scopevm_module_load_bytes(bytes.data(), bytes.size(), c.get(), &handle)));
    return adopt(handle);
  });
}

inline Result<Module> Module::load_bytes(std::shared_ptr<const void> owner,
                                         std::span<const uint8_t> bytes,
                                         const LoadOptions& options) {
  return layer::guarded([&]() -> Result<Module> {
    using Owner = std::shared_ptr<const void>;
    const layer::CLoadOptions c(options);
    auto context = std::make_unique<Owner>(std::move(owner));
    const auto release = [](void* of) { delete static_cast<Owner*>(of); };
    scopevm_module* handle = nullptr;
    SCOPEVM_RETURN_IF_ERROR(layer::take(scopevm_module_load_memory(
        bytes.data(), bytes.size(), release, context.get(), c.get(), &handle)));
    (void)context.release();
    return adopt(handle);
  });
}

inline const Signature& Module::signature() const { return handle_->signature; }

inline const std::vector<MemoryScope>& Module::memory_scopes() const { return handle_->scopes; }

// Each rank has a device, and each device a pool.
inline int Module::ranks() const {
  int last = 0;
  for (const MemoryScope& scope : memory_scopes()) last = std::max(last, scope.rank);
  return last + 1;
}

inline Result<MemoryBound> Module::memory_bound(const std::map<std::string, int64_t>& dims,
                                                int threads) const {
  return layer::guarded([&]() -> Result<MemoryBound> {
    const layer::DimArrays arrays(dims);
    scopevm_bound* bound = nullptr;
    SCOPEVM_RETURN_IF_ERROR(
        layer::take(scopevm_bound_create(c_module(), arrays.names.data(), arrays.values.data(),
                                         arrays.names.size(), threads, &bound)));
    return layer::read_bound(bound);
  });
}

inline Status Module::bound(std::span<const int64_t> dims, std::span<int64_t> bytes,
                            int threads) const {
  return layer::take(scopevm_module_bound(c_module(), dims.data(), dims.size(), threads,
                                          bytes.data(), bytes.size()));
}

inline Result<MemoryBound> Module::largest_bound(const std::map<std::string, DimRange>& dims,
                                                 int threads) const {
  return layer::guarded([&]() -> Result<MemoryBound> {
    const layer::RangeArrays arrays(dims);
    scopevm_bound* bound = nullptr;
    SCOPEVM_RETURN_IF_ERROR(layer::take(
        scopevm_bound_create_largest(c_module(), arrays.names.data(), arrays.least.data(),
                                     arrays.most.data(), arrays.names.size(), threads, &bound)));
    return layer::read_bound(bound);
  });
}

inline Result<std::vector<int64_t>> Module::input_shape(
    size_t index, const std::map<std::string, int64_t>& dims) const {
  return layer::guarded([&]() -> Result<std::vector<int64_t>> {
    const layer::DimArrays arrays(dims);
    std::array<int64_t, SCOPEVM_MAX_RANK> shape{};
    size_t rank = 0;
    SCOPEVM_RETURN_IF_ERROR(layer::take(
        scopevm_module_input_shape(c_module(), index, arrays.names.data(), arrays.values.data(),
                                   arrays.names.size(), shape.data(), shape.size(), &rank)));
    return std::vector<int64_t>(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(rank));
  });
}

}  // namespace scopevm
