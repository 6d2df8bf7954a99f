// The members of each record of a module, named once, for all visitors (visitor.h).
#pragma once

#include <concepts>
#include <string_view>

#include "vm/format/schema/module_contents.h"
#include "vm/format/schema/visitor.h"

namespace scopevm::format {

// The names of the enumerators, by number.
template <typename Enum>
struct Enumerators;
template <>
struct Enumerators<PoolKind> {
  static constexpr std::string_view kWhat = "pool kind";
  static constexpr std::string_view kNames[] = {"heap", "arena", "stack", "constant"};
};
template <>
struct Enumerators<ValueKind> {
  static constexpr std::string_view kWhat = "value kind";
  static constexpr std::string_view kNames[] = {
      name(ValueKind::kTensor), name(ValueKind::kSequence), name(ValueKind::kOptional),
      name(ValueKind::kOptionalSequence), name(ValueKind::kClosure)};
};

template <typename T>
concept Enumeration = requires { Enumerators<T>::kNames; };

template <Enumeration Enum>
constexpr std::string_view name_of(Enum value) {
  return Enumerators<Enum>::kNames[static_cast<size_t>(value)];
}

// A record with data that is stored outside of the tables.
template <typename Record>
concept HasData = std::same_as<decltype(Record::bytes), Bytes>;

void visit(auto& v, Is<DeviceDecl> auto& device) {
  v.bare("name", device.name);
  v.named("kind", device.kind);
  v.optional("workers", device.workers);
  v.optional("number", device.number);
  v.optional("rank", device.rank);
}

void visit(auto& v, Is<PoolDecl> auto& pool) {
  v.bare("scope", pool.scope);
  v.bare("kind", pool.kind);
  v.named("device", pool.device);
  v.named("limit", pool.limit);
  v.optional("shared_with", pool.shared_with);
  visit(v, pool.speed);
  v.optional("alignment", pool.alignment, kLeastAlignment);
  v.optional("pinned_for", pool.pinned_for, -1);
}

void visit(auto& v, Is<ExternalDecl> auto& external) {
  v.bare("library", external.library);
  v.named("operands", external.operands);
  v.named("results", external.results);
  v.named("description", external.description);
}

void visit(auto& v, Is<KernelDecl> auto& kernel) {
  v.bare("symbol", kernel.symbol);
  v.named("buffer_count", kernel.buffer_count, "buffers");
  v.named("param_count", kernel.param_count, "params");
  v.optional("device", kernel.device);
  v.part("external", kernel.external);
}

void visit(auto& v, Is<LaunchDecl> auto& launch) {
  v.named("kernel", launch.kernel);
  v.slot("params", launch.params.value, "params");
  v.named("grid", launch.grid);
  v.named("grain", launch.grain);
  v.named("bytes", launch.bytes);
  v.optional("read_only", launch.read_only, 0, "reads");
  v.optional("shape_function", launch.shape_function, -1, "requires");
}

void visit(auto& v, Is<CheckDecl> auto& check) {
  v.slot("lhs_slot", check.lhs_slot);
  v.slot("rhs_slot", check.rhs_slot);
  v.bare("message", check.message);
  v.optional_slots("more_slots", check.more_slots);
}

void visit(auto& v, Is<ShapeFunctionDecl> auto& function) {
  v.bare("symbol", function.symbol);
  v.named("slot_count", function.slot_count, "slots");
  v.named("dim_count", function.dim_count, "dims");
  v.optional("first_slot", function.first_slot);
  v.optional("follows", function.follows, -1);
  v.list("checks", function.checks, "check");
}

void visit(auto& v, Is<DimensionDecl> auto& dimension) {
  v.bare("name", dimension.name);
  v.named("min", dimension.min);
  v.named("max", dimension.max);
  v.named("multiple_of", dimension.multiple_of);
  v.optional("is_batch", dimension.is_batch, false, "batch");
}

// The kind is omitted for a tensor: input "xs" sequence f32 ["?", "4"].
void visit(auto& v, Is<TensorDecl> auto& tensor) {
  v.bare("name", tensor.name);
  v.optional("kind", tensor.kind);
  v.bare("dtype", tensor.dtype);
  v.bare("dims", tensor.dims);
  v.optional("pool", tensor.pool);
  v.optional("default_constant", tensor.default_constant, -1, "default");
  v.optional("state_output", tensor.state_output, -1, "state");
  v.optional("is_in_place", tensor.is_in_place, false, "in_place");
}

void visit(auto& v, Is<FormulaDefinition> auto& definition) {
  v.bare("name", definition.name);
  v.named("formula", definition.formula);
}

void visit(auto& v, Is<MemoryDecl> auto& memory) {
  v.bare("what", memory.what);
  v.optional("is_result", memory.is_result, false, "result");
  v.optional("depends_on_data", memory.depends_on_data, false, "data");
  v.named("pool", memory.pool);
  v.slot("bytes_slot", memory.bytes_slot, "bytes");
  v.slot("lower_bound_slot", memory.lower_bound_slot, "lower_bound");
  v.named("formula", memory.formula);
}

void visit(auto& v, Is<SourceDecl> auto& source) {
  v.bare("word", source.word);
  v.bare("name", source.name);
}

void visit(auto& v, Is<FunctionDecl> auto& function) {
  v.bare("name", function.name);
  v.named("register_count", function.register_count, "registers");
  v.named("slot_count", function.slot_count, "slots");
  v.list("dimensions", function.dimensions, "dimension");
  v.list("inputs", function.inputs, "input");
  v.list("outputs", function.outputs, "output");
  v.list("definitions", function.definitions, "definition");
  v.list("memory", function.memory, "memory");
  v.size("code_words", function.code);
  v.list("sources", function.sources, "");
}

void visit(auto& v, Is<VariantDecl> auto& variant) {
  v.named("function", variant.function);
  v.list("dimensions", variant.dimensions, "dimension");
}

void visit(auto& v, Is<ConstantDecl> auto& constant) {
  v.bare("name", constant.name);
  v.bare("dtype", constant.dtype);
  v.bare("dims", constant.dims);
  v.named("pool", constant.pool);
  v.size("bytes", constant.bytes);
}

void visit(auto& v, Is<ImageDecl> auto& image) {
  v.named("devices", image.devices);
  v.named("target_cpu", image.target_cpu, "cpu");
  v.named("features", image.features);
  v.optional("kernel_abi", image.kernel_abi, 1);
  v.size("bytes", image.bytes);
}

// Has no table: the section table has its name and size.
void visit(auto& v, Is<SectionDecl> auto& section) {
  v.bare("name", section.name);
  v.optional("is_required", section.is_required, false, "required");
}

// Without the sections, which are outside of the tables.
void visit(auto& v, Is<ModuleContents> auto& module) {
  v.named("producer", module.producer);
  v.list("required_features", module.required_features, "required_feature");
  v.list("devices", module.devices, "device");
  v.list("pools", module.pools, "pool");
  v.list("kernels", module.kernels, "kernel");
  v.list("launches", module.launches, "launch");
  v.list("messages", module.messages, "message");
  v.list("strings", module.strings, "string");
  v.list("shape_functions", module.shape_functions, "shape_function");
  v.list("functions", module.functions, "function");
  v.list("variants", module.variants, "variant");
  v.list("constants", module.constants, "constant");
  v.list("images", module.images, "image");
}

}  // namespace scopevm::format
