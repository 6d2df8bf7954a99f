// The functions of the C API for modules (scopevm/c/module.h).
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/nearest_name.h"
#include "scopevm/scopevm.h"
#include "vm/api/c_support.h"
#include "vm/api/load.h"
#include "vm/run/bound/bound.h"

namespace scopevm {

namespace vm {
namespace {

std::vector<std::vector<const char*>> dims_of(const std::vector<TensorSignature>& tensors) {
  std::vector<std::vector<const char*>> dims;
  for (const TensorSignature& tensor : tensors) {
    std::vector<const char*>& texts = dims.emplace_back();
    for (const std::string& dim : tensor.dims) texts.push_back(dim.c_str());
  }
  return dims;
}

}  // namespace

scopevm_module* make_handle(std::shared_ptr<const LoadedModule> loaded) {
  std::vector<std::vector<const char*>> inputs = dims_of(loaded->signature().inputs);
  std::vector<std::vector<const char*>> outputs = dims_of(loaded->signature().outputs);
  return new scopevm_module{std::move(loaded), std::move(inputs), std::move(outputs)};
}

}  // namespace vm

namespace {

Status give_module(Result<std::shared_ptr<const vm::LoadedModule>> loaded, scopevm_module** out) {
  SCOPEVM_RETURN_IF_ERROR(loaded.status());
  *out = vm::make_handle(*std::move(loaded));
  return {};
}

Result<LoadOptions> to_cpp(const scopevm_load_options* given) {
  SCOPEVM_ASSIGN_OR_RETURN(const scopevm_load_options c,
                           read_options(given, SCOPEVM_SIZE_UP_TO(scopevm_load_options, signature),
                                        "scopevm_load_options"));
  SCOPEVM_RETURN_IF_ERROR(
      check_array(c.public_keys, c.public_key_count, "the array of public keys"));
  LoadOptions out;
  for (size_t i = 0; i < c.public_key_count; ++i) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view key, to_text(c.public_keys[i], "a public key"));
    out.public_keys.emplace_back(key);
  }
  if (c.signature != nullptr) out.signature = c.signature;
  if (c.weights_folder != nullptr) out.weights_folder = c.weights_folder;
  SCOPEVM_RETURN_IF_ERROR(check_array(c.weights, c.weights_size, "weights"));
  out.weights = {static_cast<const uint8_t*>(c.weights), c.weights_size};
  if (c.rank != nullptr) out.rank = *c.rank;
  return out;
}

Status describe(const std::vector<TensorSignature>& tensors,
                const std::vector<std::vector<const char*>>& dims, std::string_view what,
                size_t index, scopevm_value_info* out) {
  SCOPEVM_RETURN_IF_ERROR(check_size(out->struct_size, SCOPEVM_SIZE_UP_TO(scopevm_value_info, dims),
                                     "struct_size of *out"));
  SCOPEVM_ASSIGN_OR_RETURN(const TensorSignature* tensor, element_at(tensors, index, what));
  fill_struct(
      {0, tensor->name.c_str(), static_cast<int>(tensor->kind), static_cast<int>(tensor->dtype),
       tensor->dims.size(), dims[index].data(), tensor->has_default, tensor->state_output},
      out);
  return {};
}

Status find(const std::vector<TensorSignature>& tensors, std::string_view what, const char* name,
            size_t* out) {
  SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, to_text(name, "name"));
  std::vector<std::string> known;
  for (const TensorSignature& tensor : tensors) known.push_back(tensor.name);
  SCOPEVM_ASSIGN_OR_RETURN(*out, runtime::find_name(what, text, known));
  return {};
}

}  // namespace
}  // namespace scopevm

using scopevm::checked;
using scopevm::Status;

scopevm_status* scopevm_module_load(const char* path, const scopevm_load_options* options,
                                    scopevm_module** out) {
  return checked({{out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, scopevm::to_text(path, "path"));
    SCOPEVM_ASSIGN_OR_RETURN(const scopevm::LoadOptions converted, scopevm::to_cpp(options));
    return scopevm::give_module(scopevm::vm::load(std::string(text), converted), out);
  });
}

scopevm_status* scopevm_module_load_bytes(const void* bytes, size_t size,
                                          const scopevm_load_options* options,
                                          scopevm_module** out) {
  return checked({{out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_array(bytes, size, "bytes"));
    SCOPEVM_ASSIGN_OR_RETURN(const scopevm::LoadOptions converted, scopevm::to_cpp(options));
    return scopevm::give_module(
        scopevm::vm::load_bytes({static_cast<const uint8_t*>(bytes), size}, converted), out);
  });
}

scopevm_status* scopevm_module_load_memory(const void* bytes, size_t size,
                                           void (*release)(void* context), void* context,
                                           const scopevm_load_options* options,
                                           scopevm_module** out) {
  return checked({{out, "out"}, {bytes, "bytes"}}, [&]() -> Status {
    struct Owner {
      void (*release)(void* context);
      void* context;
      bool is_loaded = false;  // on failure, the caller keeps the bytes
      Owner(void (*given)(void*), void* of) : release(given), context(of) {}
      Owner(const Owner&) = delete;
      Owner& operator=(const Owner&) = delete;
      ~Owner() {
        if (is_loaded && release != nullptr) release(context);
      }
    };
    SCOPEVM_ASSIGN_OR_RETURN(const scopevm::LoadOptions converted, scopevm::to_cpp(options));
    const auto owner = std::make_shared<Owner>(release, context);
    SCOPEVM_RETURN_IF_ERROR(scopevm::give_module(
        scopevm::vm::load_bytes(owner, {static_cast<const uint8_t*>(bytes), size}, converted),
        out));
    owner->is_loaded = true;
    return {};
  });
}

void scopevm_module_free(scopevm_module* module) { delete module; }

size_t scopevm_module_input_count(const scopevm_module* module) {
  return module == nullptr ? 0 : module->loaded->signature().inputs.size();
}

size_t scopevm_module_output_count(const scopevm_module* module) {
  return module == nullptr ? 0 : module->loaded->signature().outputs.size();
}

size_t scopevm_module_dimension_count(const scopevm_module* module) {
  return module == nullptr ? 0 : module->loaded->signature().dimensions.size();
}

scopevm_status* scopevm_module_input(const scopevm_module* module, size_t index,
                                     scopevm_value_info* out) {
  return checked({{module, "module"}, {out, "out"}}, [&] {
    return scopevm::describe(module->loaded->signature().inputs, module->input_dims, "input", index,
                             out);
  });
}

scopevm_status* scopevm_module_output(const scopevm_module* module, size_t index,
                                      scopevm_value_info* out) {
  return checked({{module, "module"}, {out, "out"}}, [&] {
    return scopevm::describe(module->loaded->signature().outputs, module->output_dims, "output",
                             index, out);
  });
}

scopevm_status* scopevm_module_find_input(const scopevm_module* module, const char* name,
                                          size_t* out) {
  return checked({{module, "module"}, {out, "out"}}, [&] {
    return scopevm::find(module->loaded->signature().inputs, "input", name, out);
  });
}

scopevm_status* scopevm_module_find_output(const scopevm_module* module, const char* name,
                                           size_t* out) {
  return checked({{module, "module"}, {out, "out"}}, [&] {
    return scopevm::find(module->loaded->signature().outputs, "output", name, out);
  });
}

scopevm_status* scopevm_module_dimension(const scopevm_module* module, size_t index,
                                         scopevm_dimension_info* out) {
  return checked({{module, "module"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_size(
        out->struct_size, SCOPEVM_SIZE_UP_TO(scopevm_dimension_info, multiple_of),
        "struct_size of *out"));
    SCOPEVM_ASSIGN_OR_RETURN(
        const scopevm::DimensionSignature* dimension,
        scopevm::element_at(module->loaded->signature().dimensions, index, "dimension"));
    scopevm::fill_struct({0, dimension->name.c_str(), dimension->min, dimension->max,
                          dimension->multiple_of, dimension->is_batch ? 1 : 0},
                         out);
    return {};
  });
}

scopevm_status* scopevm_module_input_shape(const scopevm_module* module, size_t index,
                                           const char* const* names, const int64_t* values,
                                           size_t count, int64_t* out_dims, size_t capacity,
                                           size_t* out_rank) {
  return checked({{module, "module"}, {out_rank, "out_rank"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_array(out_dims, capacity, "out_dims"));
    SCOPEVM_ASSIGN_OR_RETURN(const auto dims, scopevm::to_dims(names, values, count));
    SCOPEVM_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                             scopevm::vm::input_shape(*module->loaded, index, dims));
    *out_rank = shape.size();
    if (shape.size() > capacity)
      return {scopevm::StatusCode::kInvalidArgument, "room for " + std::to_string(capacity) +
                                                         " dims, expected at least " +
                                                         std::to_string(shape.size())};
    std::ranges::copy(shape, out_dims);
    return {};
  });
}

size_t scopevm_module_scope_count(const scopevm_module* module) {
  return module == nullptr ? 0 : module->loaded->memory_scopes().size();
}

const char* scopevm_module_scope_device(const scopevm_module* module, size_t index) {
  return index < scopevm_module_scope_count(module)
             ? module->loaded->memory_scopes()[index].device.c_str()
             : nullptr;
}

int scopevm_module_scope_rank(const scopevm_module* module, size_t index) {
  return index < scopevm_module_scope_count(module) ? module->loaded->memory_scopes()[index].rank
                                                    : 0;
}

const char* scopevm_module_scope_name(const scopevm_module* module, size_t index) {
  return index < scopevm_module_scope_count(module)
             ? module->loaded->memory_scopes()[index].scope.c_str()
             : nullptr;
}

scopevm_status* scopevm_module_bound(const scopevm_module* module, const int64_t* dims,
                                     size_t dim_count, int threads, int64_t* out_bytes,
                                     size_t scope_count) {
  return checked({{module, "module"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_array(dims, dim_count, "dims"));
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_array(out_bytes, scope_count, "out_bytes"));
    return scopevm::vm::bound(*module->loaded, {dims, dim_count}, {out_bytes, scope_count},
                              threads);
  });
}
