// Verifies the tables of a module. Also defines verify().
#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>
#include <unordered_set>

#include "vm/format/verify.h"
#include "vm/format/verify/stages.h"

namespace scopevm::format {
namespace {

// Far above the sizes in real models. They bound the cost of a request and of a message.
constexpr size_t kMaxDimText = 4096;
constexpr size_t kMaxFeatureText = 64;
constexpr uint32_t kMaxSlots = 1 << 20;
constexpr uint32_t kSpareRegisters = 256;
constexpr size_t kMaxDevices = 256;
constexpr size_t kMaxPools = 4096;
constexpr int64_t kMaxWorkers = int64_t{1} << 24;
constexpr uint32_t kMaxDeviceNumber = 1 << 16;

std::string quoted(const std::string& name) { return "\"" + name + "\""; }

bool is_stack(const ModuleContents& module, uint32_t pool) {
  return module.pools[pool].kind == PoolKind::kStack;
}

Status verify_devices(const ModuleContents& module) {
  if (module.devices.empty()) return invalid("module has no device");
  if (module.devices.size() > kMaxDevices)
    return invalid(std::to_string(module.devices.size()) + " devices, the limit is " +
                   std::to_string(kMaxDevices));
  if (module.pools.size() > kMaxPools)
    return invalid(std::to_string(module.pools.size()) + " pools, the limit is " +
                   std::to_string(kMaxPools));
  if (std::ranges::none_of(module.devices, &DeviceDecl::is_host))
    return invalid("module has no CPU");
  for (const DeviceDecl& device : module.devices) {
    if (device.is_host() ? device.workers != 0 : device.workers < 1 || device.workers > kMaxWorkers)
      return invalid("device " + quoted(device.name) + ": " + std::to_string(device.workers) +
                     " workers");
    if (device.number > (device.is_host() ? 0 : kMaxDeviceNumber))
      return invalid("device " + quoted(device.name) + ": number " + std::to_string(device.number));
  }
  return {};
}

Status verify_sharing(const ModuleContents& module, const PoolDecl& pool) {
  for (uint32_t device : pool.shared_with) {
    SCOPEVM_RETURN_IF_ERROR(check_index("device", device, module.devices.size()));
    if (device == pool.device) return invalid("is shared with its own device");
    if (module.devices[device].kind != module.devices[pool.device].kind)
      return invalid("is shared with a device of another kind");
  }
  return {};
}

// A CPU has at most one stack pool, with a limit that keeps frames small.
Status verify_stack(const ModuleContents& module, const PoolDecl& pool) {
  if (pool.kind != PoolKind::kStack) return {};
  if (!module.devices[pool.device].is_host()) return invalid("a stack of a device that is no CPU");
  if (pool.limit < 0 || pool.limit > kMaxStackBytes)
    return invalid("a stack of " + std::to_string(pool.limit) + " bytes, the limit is " +
                   std::to_string(kMaxStackBytes));
  for (const PoolDecl& other : module.pools)
    if (&other != &pool && other.kind == PoolKind::kStack && other.device == pool.device)
      return invalid("a second stack of its device");
  return {};
}

Status verify_pinning(const ModuleContents& module, const PoolDecl& pool) {
  if (pool.pinned_for == -1) return {};
  if (pool.pinned_for < 0)
    return invalid("is pinned for device " + std::to_string(pool.pinned_for));
  const auto device = static_cast<uint32_t>(pool.pinned_for);
  SCOPEVM_RETURN_IF_ERROR(check_index("device", device, module.devices.size()));
  if (module.devices[device].is_host()) return invalid("is pinned for a CPU");
  if (!module.devices[pool.device].is_host())
    return invalid("is pinned, and of a device that is no CPU");
  return pool.kind == PoolKind::kArena ? Status() : invalid("is pinned, and no arena");
}

Status verify_machine(const ModuleContents& module) {
  SCOPEVM_RETURN_IF_ERROR(verify_devices(module));
  for (size_t i = 0; i < module.pools.size(); ++i) {
    const PoolDecl& pool = module.pools[i];
    std::string context = "pool " + std::to_string(i);
    if (static_cast<uint8_t>(pool.kind) > static_cast<uint8_t>(PoolKind::kConstant))
      return invalid(context + ": kind is not known");
    if (pool.bytes_per_second != 0 && !pool.has_valid_bandwidth())
      return invalid(context + ": its bytes per second are out of range");
    if (pool.latency_seconds != 0 && !pool.has_valid_latency())
      return invalid(context + ": its latency is out of range");
    if (!pool.has_valid_alignment() ||
        (pool.kind == PoolKind::kStack && pool.alignment != kLeastAlignment))
      return invalid(context + ": alignment " + std::to_string(pool.alignment));
    if (pool.limit < -1) return invalid(context + ": limit " + std::to_string(pool.limit));
    SCOPEVM_RETURN_IF_ERROR(
        check_index("device", pool.device, module.devices.size()).with_context(context));
    SCOPEVM_RETURN_IF_ERROR(verify_sharing(module, pool).with_context(context));
    SCOPEVM_RETURN_IF_ERROR(verify_stack(module, pool).with_context(context));
    SCOPEVM_RETURN_IF_ERROR(verify_pinning(module, pool).with_context(context));
  }
  return {};
}

bool has_image(const ModuleContents& module, std::string_view kind) {
  return std::ranges::any_of(module.images, [&](const ImageDecl& image) {
    return module.devices[image.device].kind == kind;
  });
}

Status verify_images(const ModuleContents& module) {
  for (size_t i = 0; i < module.images.size(); ++i) {
    const ImageDecl& image = module.images[i];
    std::string context = "image " + std::to_string(i);
    SCOPEVM_RETURN_IF_ERROR(
        check_index("device", image.device, module.devices.size()).with_context(context));
    if (image.bytes.size == 0) return invalid(context + ": is empty");
    for (const std::string& feature : image.features)
      if (feature.empty() || feature.size() > kMaxFeatureText ||
          feature.find_first_of(" \t\n") != std::string::npos)
        return invalid(context + ": " + quoted(feature) + " is not a feature's name");
  }
  if (!module.shape_functions.empty() && !has_image(module, kHostKind))
    return invalid("module has kernels or shape functions but no image for a CPU");
  for (size_t i = 0; i < module.kernels.size(); ++i) {
    const uint32_t device = module.kernels[i].device;
    SCOPEVM_RETURN_IF_ERROR(check_index("device", device, module.devices.size())
                                .with_context("kernel " + std::to_string(i)));
    if (!has_image(module, module.devices[device].kind))
      return invalid("kernel " + std::to_string(i) + ": device " +
                     quoted(module.devices[device].name) + " has no image");
  }
  return {};
}

Status verify_symbols(const ModuleContents& module) {
  for (size_t i = 0; i < module.kernels.size(); ++i)
    if (module.kernels[i].symbol.empty())
      return invalid("kernel " + std::to_string(i) + ": has no symbol");
  for (size_t i = 0; i < module.shape_functions.size(); ++i) {
    const ShapeFunctionDecl& function = module.shape_functions[i];
    std::string context = "shape function " + std::to_string(i);
    if (function.symbol.empty()) return invalid(context + ": has no symbol");
    for (const CheckDecl& check : function.checks) {
      for (uint32_t slot : {check.lhs_slot, check.rhs_slot})
        SCOPEVM_RETURN_IF_ERROR(
            check_index("check slot", slot, function.slot_count).with_context(context));
      for (uint32_t slot : check.more_slots)
        SCOPEVM_RETURN_IF_ERROR(
            check_index("check slot", slot, function.slot_count).with_context(context));
    }
  }
  return {};
}

// Strings are distinct, so that string equality is id equality. Id 0 is the empty string, the value
// of zero-initialised elements.
Status verify_strings(const ModuleContents& module) {
  if (!module.strings.empty() && !module.strings.front().empty())
    return invalid("text 0: is not the empty text");
  std::unordered_set<std::string_view> seen;
  for (size_t i = 0; i < module.strings.size(); ++i)
    if (!seen.insert(module.strings[i]).second)
      return invalid("text " + std::to_string(i) + ": is there twice");
  return {};
}

Status verify_ids(const ModuleContents& module, const ConstantDecl& constant) {
  for (uint64_t at = 0; at < constant.bytes.size; at += sizeof(int32_t)) {
    uint32_t id = 0;
    std::memcpy(&id, constant.bytes.data + at, sizeof id);
    SCOPEVM_RETURN_IF_ERROR(check_index("text", id, module.strings.size()));
  }
  return {};
}

Status verify_constants(const ModuleContents& module) {
  for (size_t i = 0; i < module.constants.size(); ++i) {
    const ConstantDecl& constant = module.constants[i];
    std::string context = "constant " + std::to_string(i) + " " + quoted(constant.name);
    SCOPEVM_RETURN_IF_ERROR(
        check_index("pool", constant.pool, module.pools.size()).with_context(context));
    if (is_stack(module, constant.pool)) return invalid(context + ": lies in no frame");
    if (static_cast<int>(constant.dtype) >= kDTypeCount)
      return invalid(context + ": element type is not known");
    int64_t bytes = checked_byte_size(constant.dims, constant.dtype);
    if (bytes < 0) return invalid(context + ": dims are negative or too large");
    if (static_cast<uint64_t>(bytes) != constant.bytes.size)
      return invalid(context + ": dims take " + std::to_string(bytes) + " bytes, it has " +
                     std::to_string(constant.bytes.size));
    if (constant.dtype == DType::kStr)
      SCOPEVM_RETURN_IF_ERROR(verify_ids(module, constant).with_context(context));
  }
  return {};
}

bool is_dim_number(const std::string& dim) {
  int64_t value = -1;
  auto [end, error] = std::from_chars(dim.data(), dim.data() + dim.size(), value);
  return error == std::errc() && end == dim.data() + dim.size() && value >= 0;
}

// A heuristic on the spelling suffices: the shape function computes the dim and checks the input
// against it.
bool is_expression(const std::string& dim) {
  return dim.find_first_of("+-*(") != std::string::npos;
}

Status verify_tensor(const ModuleContents& module, const TensorDecl& tensor) {
  SCOPEVM_RETURN_IF_ERROR(
      check_index("pool", tensor.pool, module.pools.size()).with_context(quoted(tensor.name)));
  if (static_cast<int>(tensor.dtype) >= kDTypeCount)
    return invalid(quoted(tensor.name) + ": element type is not known");
  if (static_cast<int>(tensor.kind) >= kValueKindCount)
    return invalid(quoted(tensor.name) + ": kind of value is not known");
  for (const std::string& dim : tensor.dims)
    if (dim.empty() || dim.size() > kMaxDimText)
      return invalid(quoted(tensor.name) + ": dim text of " + std::to_string(dim.size()) +
                     " characters");
  return {};
}

Status verify_bounds(const DimensionDecl& dimension) {
  if (dimension.min >= 0 && dimension.min <= dimension.max && dimension.multiple_of >= 1) return {};
  return invalid("dimension " + quoted(dimension.name) + ": bounds are not valid");
}

// The inputs and outputs of an entry function are in host memory.
Status verify_entry(const ModuleContents& module, const FunctionDecl& function) {
  for (const std::vector<TensorDecl>* values : {&function.inputs, &function.outputs})
    for (const TensorDecl& value : *values)
      if (value.kind == ValueKind::kClosure)
        return invalid(quoted(value.name) + ": callers of the module have no closures");
      else if (is_stack(module, value.pool))
        return invalid(quoted(value.name) + ": callers of the module have no frame");
      else if (!module.devices[module.pools[value.pool].device].is_host())
        return invalid(quoted(value.name) + ": callers of the module have host memory only");
  return {};
}

Status verify_signature(const ModuleContents& module, const FunctionDecl& function) {
  std::set<std::string_view> symbols;
  for (const DimensionDecl& dimension : function.dimensions) {
    if (dimension.name.empty() || !symbols.insert(dimension.name).second)
      return invalid("dimension " + quoted(dimension.name) + ": is not a name of its own");
    SCOPEVM_RETURN_IF_ERROR(verify_bounds(dimension));
  }
  std::set<std::string_view> names;
  for (const TensorDecl& input : function.inputs) {
    SCOPEVM_RETURN_IF_ERROR(verify_tensor(module, input).with_context("input"));
    if (!names.insert(input.name).second)
      return invalid("input " + quoted(input.name) + ": a second one of this name");
    for (const std::string& dim : input.dims) {
      if (input.kind != ValueKind::kTensor) {
        bool is_any = dim == kAnyDim || (dim == kAnyDims && input.dims.size() == 1);
        if (!is_any && !is_dim_number(dim))
          return invalid("input " + quoted(input.name) + ": dim " + quoted(dim) +
                         " of its elements is neither a number nor \"?\"");
        continue;
      }
      if (!is_dim_number(dim) && !symbols.contains(dim) && !is_expression(dim))
        return invalid("input " + quoted(input.name) + ": dim " + quoted(dim) +
                       " is neither a number nor a declared dimension, nor an expression");
    }
  }
  for (const TensorDecl& output : function.outputs) {
    SCOPEVM_RETURN_IF_ERROR(verify_tensor(module, output).with_context("output"));
    if (is_stack(module, output.pool))
      return invalid("output " + quoted(output.name) + ": would go with the frame");
  }
  return function.name == "main" ? verify_entry(module, function) : Status();
}

Status verify_function_sizes(const FunctionDecl& function) {
  // Almost every register is an input or occurs in an instruction.
  uint64_t most = function.inputs.size() + function.code.size() + kSpareRegisters;
  if (function.register_count < function.inputs.size())
    return invalid(std::to_string(function.register_count) + " registers do not hold " +
                   std::to_string(function.inputs.size()) + " inputs");
  if (function.register_count > most)
    return invalid(std::to_string(function.register_count) +
                   " registers are more than the code can name");
  if (function.slot_count > kMaxSlots)
    return invalid(std::to_string(function.slot_count) + " slots, the limit is " +
                   std::to_string(kMaxSlots));
  return {};
}

Status verify_functions(const ModuleContents& module) {
  std::set<std::string_view> names;
  for (const FunctionDecl& function : module.functions) {
    if (!names.insert(function.name).second)
      return invalid("function " + quoted(function.name) + ": a second one of this name");
    SCOPEVM_RETURN_IF_ERROR(verify_signature(module, function).with_context(function.name));
    SCOPEVM_RETURN_IF_ERROR(verify_function_sizes(function).with_context(function.name));
  }
  return names.contains("main") ? Status() : invalid("module has no function \"main\"");
}

// A variant has the signature of main in names, kinds, element types and ranks, because callers see
// the signature of main only.
bool are_alike(const std::vector<TensorDecl>& a, const std::vector<TensorDecl>& b) {
  return std::ranges::equal(a, b, [](const TensorDecl& x, const TensorDecl& y) {
    return x.name == y.name && x.kind == y.kind && x.dtype == y.dtype &&
           x.dims.size() == y.dims.size();
  });
}

Status verify_variant(const ModuleContents& module, const VariantDecl& variant,
                      const FunctionDecl& main) {
  const std::vector<FunctionDecl>& functions = module.functions;
  SCOPEVM_RETURN_IF_ERROR(check_index("function", variant.function, functions.size()));
  const FunctionDecl& function = functions[variant.function];
  if (&function == &main) return invalid("is main itself");
  if (!are_alike(function.inputs, main.inputs)) return invalid("its inputs are not those of main");
  if (!are_alike(function.outputs, main.outputs))
    return invalid("its outputs are not those of main");
  if (!std::ranges::equal(variant.dimensions, main.dimensions, {}, &DimensionDecl::name,
                          &DimensionDecl::name))
    return invalid("its dimensions are not those of main");
  for (const DimensionDecl& dimension : variant.dimensions)
    SCOPEVM_RETURN_IF_ERROR(verify_bounds(dimension));
  return verify_entry(module, function);
}

// REQUIRES: the module has a function `main`.
Status verify_variants(const ModuleContents& module) {
  const FunctionDecl& main = *std::ranges::find(module.functions, "main", &FunctionDecl::name);
  for (size_t i = 0; i < module.variants.size(); ++i)
    SCOPEVM_RETURN_IF_ERROR(verify_variant(module, module.variants[i], main)
                                .with_context("variant " + std::to_string(i)));
  return {};
}

Status verify_code(const ModuleContents& module, const FunctionDecl& function,
                   const std::vector<uint32_t>& reaches) {
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<uint32_t> starts, verify_instructions(module, function));
  return verify_flow(module, function, starts, reaches);
}

}  // namespace

Status check_index(std::string_view what, uint64_t index, uint64_t count) {
  if (index < count) return {};
  return invalid(std::string(what) + " " + std::to_string(index) + " is out of range: there are " +
                 std::to_string(count));
}

int64_t checked_byte_size(const std::vector<int64_t>& dims, DType dtype) {
  // With a zero dim the size is zero even if the product of the other dims overflows.
  if (std::ranges::any_of(dims, [](int64_t dim) { return dim < 0; })) return -1;
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  int64_t bytes = byte_size(dtype);
  for (int64_t dim : dims)
    if (__builtin_mul_overflow(bytes, dim, &bytes)) return -1;
  return bytes;
}

Status verify_declarations(const ModuleContents& module) {
  SCOPEVM_RETURN_IF_ERROR(verify_machine(module));
  SCOPEVM_RETURN_IF_ERROR(verify_images(module));
  SCOPEVM_RETURN_IF_ERROR(verify_symbols(module));
  SCOPEVM_RETURN_IF_ERROR(verify_strings(module));
  SCOPEVM_RETURN_IF_ERROR(verify_constants(module));
  SCOPEVM_RETURN_IF_ERROR(verify_functions(module));
  return verify_variants(module);
}

Status verify(const ModuleContents& module) {
  SCOPEVM_RETURN_IF_ERROR(verify_declarations(module));
  const std::vector<uint32_t> reaches = reaches_of(module);
  for (const FunctionDecl& function : module.functions)
    SCOPEVM_RETURN_IF_ERROR(verify_code(module, function, reaches).with_context(function.name));
  return {};
}

}  // namespace scopevm::format
