// Serialises the tables section of ModuleContents.
#include <flatbuffers/flatbuffers.h>

#include "vm/format/module_generated.h"
#include "vm/format/tables.h"

namespace scopevm::format {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

// Creates a vector of the tables that each(item) returns.
template <typename Table, typename Item, typename Each>
auto table_vector(FlatBufferBuilder& builder, const std::vector<Item>& items, Each each) {
  std::vector<Offset<Table>> offsets;
  offsets.reserve(items.size());
  for (const Item& item : items) offsets.push_back(each(item));
  return builder.CreateVector(offsets);
}

auto string_vector(FlatBufferBuilder& builder, const std::vector<std::string>& items) {
  return table_vector<flatbuffers::String>(
      builder, items, [&](const std::string& item) { return builder.CreateString(item); });
}

auto tensor_vector(FlatBufferBuilder& builder, const std::vector<TensorDecl>& tensors) {
  return table_vector<fb::Tensor>(builder, tensors, [&](const TensorDecl& tensor) {
    auto name = builder.CreateString(tensor.name);
    auto dims = string_vector(builder, tensor.dims);
    return fb::CreateTensor(builder, name, static_cast<uint8_t>(tensor.dtype), dims,
                            static_cast<uint8_t>(tensor.kind), tensor.pool);
  });
}

auto dimension_vector(FlatBufferBuilder& builder, const std::vector<DimensionDecl>& dimensions) {
  return table_vector<fb::Dimension>(builder, dimensions, [&](const DimensionDecl& d) {
    return fb::CreateDimension(builder, builder.CreateString(d.name), d.min, d.max, d.multiple_of);
  });
}

Offset<fb::Function> function_table(FlatBufferBuilder& b, const FunctionDecl& function) {
  auto name = b.CreateString(function.name);
  // FlatBuffers does not nest the construction of objects, so strings and vectors are created
  // before the table that refers to them.
  auto inputs = tensor_vector(b, function.inputs);
  auto outputs = tensor_vector(b, function.outputs);
  auto dimensions = dimension_vector(b, function.dimensions);
  auto memory = table_vector<fb::Memory>(b, function.memory, [&](const auto& m) {
    auto what = b.CreateString(m.what);
    auto formula = b.CreateString(m.formula);
    return fb::CreateMemory(b, m.pool, what, m.is_result, m.bytes_slot, m.lower_bound_slot, formula,
                            m.depends_on_data);
  });
  auto sources = table_vector<fb::Source>(b, function.sources, [&](const auto& s) {
    return fb::CreateSource(b, s.word, b.CreateString(s.name));
  });
  auto definitions = table_vector<fb::Definition>(b, function.definitions, [&](const auto& d) {
    auto defined = b.CreateString(d.name);
    return fb::CreateDefinition(b, defined, b.CreateString(d.formula));
  });
  return fb::CreateFunction(b, name, inputs, outputs, dimensions, function.register_count,
                            function.slot_count, static_cast<uint32_t>(function.code.size()),
                            memory, sources, definitions);
}

Offset<fb::ShapeFunction> shape_function_table(FlatBufferBuilder& b,
                                               const ShapeFunctionDecl& function) {
  auto symbol = b.CreateString(function.symbol);
  auto checks = table_vector<fb::Check>(b, function.checks, [&](const CheckDecl& check) {
    return fb::CreateCheck(b, b.CreateString(check.message), check.lhs_slot, check.rhs_slot,
                           b.CreateVector(check.more_slots));
  });
  return fb::CreateShapeFunction(b, symbol, function.slot_count, function.dim_count, checks,
                                 function.first_slot, function.follows);
}

std::vector<uint32_t> type_words(const std::vector<ExternalTensor>& tensors) {
  std::vector<uint32_t> words;
  for (const ExternalTensor& tensor : tensors)
    words.push_back(static_cast<uint32_t>(tensor.dtype) | tensor.rank << kRankShift);
  return words;
}

Offset<fb::Kernel> kernel_table(FlatBufferBuilder& b, const KernelDecl& kernel) {
  auto symbol = b.CreateString(kernel.symbol);
  Offset<fb::External> external;
  if (kernel.external) {
    auto library = b.CreateString(kernel.external->library);
    auto description = b.CreateString(kernel.external->description);
    auto operands = b.CreateVector(type_words(kernel.external->operands));
    auto results = b.CreateVector(type_words(kernel.external->results));
    external = fb::CreateExternal(b, library, description, operands, results);
  }
  return fb::CreateKernel(b, symbol, kernel.buffer_count, kernel.param_count, kernel.device,
                          external);
}

Offset<fb::Launch> launch_table(FlatBufferBuilder& b, const LaunchDecl& launch) {
  std::vector<uint32_t> bytes;
  for (const isa::Int operand : launch.bytes) bytes.push_back(operand.word());
  return fb::CreateLaunch(b, launch.kernel, launch.params.value, launch.grid.word(),
                          launch.grain.word(), b.CreateVector(bytes), launch.read_only,
                          launch.shape_function);
}

Offset<fb::Constant> constant_table(FlatBufferBuilder& b, const ConstantDecl& constant) {
  auto name = b.CreateString(constant.name);
  auto dims = b.CreateVector(constant.dims);
  return fb::CreateConstant(b, name, static_cast<uint8_t>(constant.dtype), dims, constant.pool,
                            constant.bytes.size);
}

Offset<fb::Image> image_table(FlatBufferBuilder& b, const ImageDecl& image) {
  auto cpu = b.CreateString(image.target_cpu);
  auto features = string_vector(b, image.features);
  return fb::CreateImage(b, b.CreateVector(image.devices), cpu, features, image.bytes.size);
}

}  // namespace

std::vector<uint8_t> write_tables(const ModuleContents& module) {
  FlatBufferBuilder b;
  b.ForceDefaults(true);
  auto producer = b.CreateString(module.producer);
  auto devices = table_vector<fb::Device>(b, module.devices, [&](const DeviceDecl& device) {
    auto name = b.CreateString(device.name);
    return fb::CreateDevice(b, name, b.CreateString(device.kind), device.workers, device.number);
  });
  auto pools = table_vector<fb::Pool>(b, module.pools, [&](const PoolDecl& pool) {
    auto scope = b.CreateString(pool.scope);
    return fb::CreatePool(b, scope, static_cast<uint8_t>(pool.kind), pool.device, pool.limit,
                          b.CreateVector(pool.shared_with), pool.speed.read_bytes_per_second,
                          pool.speed.write_bytes_per_second, pool.speed.latency_seconds,
                          pool.speed.burst_bytes, pool.alignment, pool.pinned_for);
  });
  auto functions = table_vector<fb::Function>(
      b, module.functions, [&](const FunctionDecl& f) { return function_table(b, f); });
  auto shape_functions = table_vector<fb::ShapeFunction>(
      b, module.shape_functions,
      [&](const ShapeFunctionDecl& f) { return shape_function_table(b, f); });
  auto kernels = table_vector<fb::Kernel>(
      b, module.kernels, [&](const KernelDecl& kernel) { return kernel_table(b, kernel); });
  auto launches = table_vector<fb::Launch>(
      b, module.launches, [&](const LaunchDecl& launch) { return launch_table(b, launch); });
  auto constants = table_vector<fb::Constant>(
      b, module.constants, [&](const ConstantDecl& c) { return constant_table(b, c); });
  auto images = table_vector<fb::Image>(b, module.images,
                                        [&](const ImageDecl& i) { return image_table(b, i); });
  auto messages = string_vector(b, module.messages);
  auto strings = string_vector(b, module.strings);
  auto variants = table_vector<fb::Variant>(b, module.variants, [&](const VariantDecl& v) {
    return fb::CreateVariant(b, v.function, dimension_vector(b, v.dimensions));
  });
  b.Finish(fb::CreateModule(b, producer, devices, pools, functions, shape_functions, kernels,
                            constants, images, messages, variants, strings, launches));
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}

}  // namespace scopevm::format
