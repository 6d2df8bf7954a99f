// scopevm inspect: prints the contents of a module without its code and data: functions, variants,
// devices, pools, images and sections.
#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "runtime/count_text.h"
#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/files/file.h"
#include "tools/files/json_output.h"
#include "tools/files/standard_streams.h"
#include "tools/scopevm/commands/formulas.h"
#include "tools/scopevm/module_file.h"
#include "vm/format/layout.h"
#include "vm/format/verify.h"

namespace scopevm::tool {
namespace {

using nlohmann::ordered_json;
using runtime::count_text;

struct InspectOptions {
  std::string module;
  bool json = false;
};

void declare(CLI::App& command, InspectOptions& options) {
  command.add_option("MODULE", options.module, "Module file")->required();
  command.add_flag("--json", options.json, "Print JSON");
}

std::string tensor_text(const format::TensorDecl& tensor) {
  const std::string kind =
      tensor.kind == ValueKind::kTensor ? "" : std::string(name(tensor.kind)) + " of ";
  return fmt::format("{}: {}{}[{}]", tensor.name, kind, name(tensor.dtype),
                     fmt::join(tensor.dims, ", "));
}

std::string_view kind_text(format::PoolKind kind) {
  constexpr std::string_view kNames[] = {"heap", "arena", "stack", "constant"};
  return kNames[static_cast<int>(kind)];
}

std::vector<std::string> device_names(const format::ModuleContents& module,
                                      const format::ImageDecl& image) {
  std::vector<std::string> names;
  for (const uint32_t device : image.devices) names.push_back(module.devices[device].name);
  return names;
}

// REQUIRES: read_module() has accepted the file, and so its section table is valid.
std::vector<format::SectionEntry> section_table(const runtime::MappedFile& file) {
  std::vector<format::SectionEntry> entries(format::kSectionCount);
  std::memcpy(entries.data(), file.data + sizeof(format::FileHeader),
              entries.size() * sizeof(format::SectionEntry));
  return entries;
}

void print_dimensions(const std::vector<format::DimensionDecl>& dimensions) {
  for (const format::DimensionDecl& dimension : dimensions) {
    print("  dimension  {}: {}..{}", dimension.name, dimension.min, dimension.max);
    print("{}\n", dimension.multiple_of > 1
                      ? fmt::format(", a multiple of {}", dimension.multiple_of)
                      : "");
  }
}

void print_function(const format::ModuleContents& module, const format::FunctionDecl& function) {
  print("function {}\n", function.name);
  for (const format::TensorDecl& input : function.inputs)
    print("  input      {}\n", tensor_text(input));
  for (const format::TensorDecl& output : function.outputs)
    print("  output     {}\n", tensor_text(output));
  print_dimensions(function.dimensions);
  print_definitions("  definition ", function.definitions);
  for (const format::MemoryDecl& line : function.memory) {
    const format::PoolDecl& pool = module.pools[line.pool];
    // The device's name is redundant if there is only one device.
    const std::string& device = module.devices[pool.device].name;
    print("  memory     {} {} = {}\n",
          module.devices.size() > 1 ? device + "." + pool.scope : pool.scope,
          line.is_result ? "result " + line.what : line.what, line.formula);
  }
  print("  code       {}, {}, {}\n", count_text(function.code.size(), "word"),
        count_text(function.register_count, "register"), count_text(function.slot_count, "slot"));
}

void print_text(const format::ModuleContents& module, const runtime::MappedFile& file) {
  print("producer {}\n", module.producer);
  for (const format::FunctionDecl& function : module.functions) print_function(module, function);
  for (const format::VariantDecl& variant : module.variants) {
    print("variant of main: {}\n", module.functions[variant.function].name);
    print_dimensions(variant.dimensions);
  }
  for (const format::DeviceDecl& device : module.devices)
    print("device {}: {}\n", device.name, device.kind);
  for (const format::PoolDecl& pool : module.pools) {
    print("pool {}: {} on {}", pool.scope, kind_text(pool.kind), module.devices[pool.device].name);
    if (pool.limit >= 0) print(", at most {}", count_text(pool.limit, "byte"));
    if (pool.speed.read_bytes_per_second > 0)
      print(", reads {} bytes/s", pool.speed.read_bytes_per_second);
    if (pool.speed.write_bytes_per_second > 0)
      print(", writes {} bytes/s", pool.speed.write_bytes_per_second);
    if (pool.speed.latency_seconds > 0) print(", latency {} s", pool.speed.latency_seconds);
    if (pool.speed.burst_bytes > 1) print(", bursts of {} bytes", pool.speed.burst_bytes);
    if (pool.alignment > format::kLeastAlignment) print(", aligned to {} bytes", pool.alignment);
    if (pool.pinned_for >= 0) print(", pinned for {}", module.devices[pool.pinned_for].name);
    print("\n");
  }
  uint64_t constant_bytes = 0;
  for (const format::ConstantDecl& constant : module.constants)
    constant_bytes += constant.bytes.size;
  print("{}, {}\n", count_text(module.constants.size(), "constant"),
        count_text(constant_bytes, "byte"));
  print("{}, {}\n", count_text(module.kernels.size(), "kernel"),
        count_text(module.shape_functions.size(), "shape function"));
  for (const format::KernelDecl& kernel : module.kernels)
    if (kernel.external)
      print("external {}: library {}\n", kernel.symbol, kernel.external->library);
  for (const format::ImageDecl& image : module.images)
    print("image {} for {}: {}, requires {}\n", image.target_cpu,
          fmt::join(device_names(module, image), ", "), count_text(image.bytes.size, "byte"),
          image.features.empty() ? "nothing" : fmt::to_string(fmt::join(image.features, " ")));
  for (const format::SectionEntry& section : section_table(file))
    print("section {}: {} at {}\n", format::kSectionNames[section.kind],
          count_text(section.size, "byte"), section.offset);
  print("{}\n", count_text(file.size, "byte"));
}

ordered_json tensors_json(const std::vector<format::TensorDecl>& tensors) {
  ordered_json out = ordered_json::array();
  for (const format::TensorDecl& tensor : tensors) {
    out.push_back(
        {{"name", tensor.name}, {"dtype", std::string(name(tensor.dtype))}, {"dims", tensor.dims}});
    if (tensor.kind != ValueKind::kTensor) out.back()["kind"] = std::string(name(tensor.kind));
  }
  return out;
}

ordered_json dimensions_json(const std::vector<format::DimensionDecl>& dimensions) {
  ordered_json out = ordered_json::array();
  for (const format::DimensionDecl& dimension : dimensions)
    out.push_back({{"name", dimension.name},
                   {"min", dimension.min},
                   {"max", dimension.max},
                   {"multiple_of", dimension.multiple_of}});
  return out;
}

ordered_json function_json(const format::ModuleContents& module,
                           const format::FunctionDecl& function) {
  ordered_json out = {{"name", function.name},
                      {"inputs", tensors_json(function.inputs)},
                      {"outputs", tensors_json(function.outputs)},
                      {"dimensions", dimensions_json(function.dimensions)},
                      {"definitions", definitions_json(function.definitions)},
                      {"memory", ordered_json::array()},
                      {"code_words", function.code.size()},
                      {"registers", function.register_count},
                      {"slots", function.slot_count}};
  for (const format::MemoryDecl& line : function.memory)
    out["memory"].push_back({{"device", module.devices[module.pools[line.pool].device].name},
                             {"scope", module.pools[line.pool].scope},
                             {"what", line.what},
                             {"is_result", line.is_result},
                             {"formula", line.formula},
                             {"depends_on_data", line.depends_on_data}});
  return out;
}

void print_json(const format::ModuleContents& module, const runtime::MappedFile& file) {
  ordered_json out = {{"producer", module.producer}};
  for (const format::FunctionDecl& function : module.functions)
    out["functions"].push_back(function_json(module, function));
  out["variants"] = ordered_json::array();
  for (const format::VariantDecl& variant : module.variants)
    out["variants"].push_back({{"function", module.functions[variant.function].name},
                               {"dimensions", dimensions_json(variant.dimensions)}});
  for (const format::DeviceDecl& device : module.devices)
    out["devices"].push_back({{"name", device.name}, {"kind", device.kind}});
  for (const format::PoolDecl& pool : module.pools) {
    out["pools"].push_back({{"scope", pool.scope},
                            {"kind", std::string(kind_text(pool.kind))},
                            {"device", module.devices[pool.device].name},
                            {"limit", pool.limit},
                            {"read_bytes_per_second", pool.speed.read_bytes_per_second},
                            {"write_bytes_per_second", pool.speed.write_bytes_per_second},
                            {"latency_seconds", pool.speed.latency_seconds},
                            {"burst_bytes", pool.speed.burst_bytes},
                            {"alignment", pool.alignment}});
    if (pool.pinned_for >= 0)
      out["pools"].back()["pinned_for"] = module.devices[pool.pinned_for].name;
  }
  out["kernels"] = module.kernels.size();
  out["external_functions"] = ordered_json::array();
  for (const format::KernelDecl& kernel : module.kernels)
    if (kernel.external)
      out["external_functions"].push_back({{"symbol", kernel.symbol},
                                           {"library", kernel.external->library},
                                           {"description", kernel.external->description}});
  out["constants"] = module.constants.size();
  for (const format::ImageDecl& image : module.images)
    out["images"].push_back({{"devices", device_names(module, image)},
                             {"target_cpu", image.target_cpu},
                             {"features", image.features},
                             {"bytes", image.bytes.size}});
  for (const format::SectionEntry& section : section_table(file))
    out["sections"].push_back({{"name", format::kSectionNames[section.kind]},
                               {"bytes", section.size},
                               {"offset", section.offset}});
  out["bytes"] = file.size;
  write_json(out);
}

Status print_module(const InspectOptions& options) {
  SCOPEVM_ASSIGN_OR_RETURN(const ReadModule module, read_module_file(options.module));
  if (Status status = format::verify(module.contents); !status.ok())
    return std::move(status).with_context(input_name(options.module));
  options.json ? print_json(module.contents, module.file)
               : print_text(module.contents, module.file);
  return {};
}

int inspect(const InspectOptions& options) { return report(print_module(options)); }

const Command<InspectOptions> registered(
    {.position = 50,
     .name = "inspect",
     .description =
         "Print the signature, machine, memory formulas, sections and sizes of a module"},
    declare, inspect);

}  // namespace

}  // namespace scopevm::tool
