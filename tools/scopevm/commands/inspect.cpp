// scopevm inspect: prints the contents of a module without its code and data: functions, variants,
// devices, pools, images and sections.
#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "runtime/count_text.h"
#include "runtime/name_text.h"
#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/files/file.h"
#include "tools/files/formulas.h"
#include "tools/files/json_output.h"
#include "tools/files/standard_streams.h"
#include "tools/scopevm/module_file.h"
#include "tools/scopevm/record_json.h"
#include "vm/format/binary/layout.h"
#include "vm/format/schema/launch_flops.h"
#include "vm/format/verify/verify.h"

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
  return fmt::format("{}: {}{}[{}]{}", tensor.name, kind, name(tensor.dtype),
                     fmt::join(tensor.dims, ", "),
                     tensor.default_constant >= 0 ? ", with a default" : "");
}

std::vector<std::string> device_names(const format::ModuleContents& module,
                                      const format::ImageDecl& image) {
  std::vector<std::string> names;
  for (const uint32_t device : image.devices) names.push_back(module.devices[device].name);
  return names;
}

// REQUIRES: read_module() has accepted the file.
format::FileHeader header_of(const runtime::MappedFile& file) {
  format::FileHeader header;
  std::memcpy(&header, file.data, sizeof header);
  return header;
}

// REQUIRES: read_module() has accepted the file, and so its section table is valid.
std::vector<format::SectionEntry> section_table(const runtime::MappedFile& file) {
  std::vector<format::SectionEntry> entries(header_of(file).section_count);
  std::memcpy(entries.data(), file.data + sizeof(format::FileHeader),
              entries.size() * sizeof(format::SectionEntry));
  return entries;
}

void print_dimensions(const std::vector<format::DimensionDecl>& dimensions) {
  for (const format::DimensionDecl& dimension : dimensions) {
    print("  dimension  {}: {}..{}", runtime::name_text(dimension.name), dimension.min,
          dimension.max);
    if (dimension.multiple_of > 1) print(", a multiple of {}", dimension.multiple_of);
    print("{}\n", dimension.is_batch ? ", batch" : "");
  }
}

// The floating-point operations of the launches of a function.
ordered_json flops_json(const std::vector<format::LaunchFlops>& launches, size_t function) {
  ordered_json out = ordered_json::array();
  for (const format::LaunchFlops& launch : launches)
    if (launch.function == function)
      out.push_back({{"word", launch.word}, {"formula", launch.formula}});
  return out;
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

// A member of a pool as text, which follows its value in JSON.
std::string member_text(std::string_view name, const ordered_json& value) {
  constexpr std::pair<std::string_view, std::string_view> kPhrases[] = {
      {"shared_with", "shared with {}"},
      {"read_bytes_per_second", "reads {} bytes/s"},
      {"write_bytes_per_second", "writes {} bytes/s"},
      {"latency_seconds", "latency {} s"},
      {"burst_bytes", "bursts of {} bytes"},
      {"alignment", "aligned to {} bytes"},
      {"pinned_for", "pinned for {}"}};
  if (name == "limit") return "at most " + count_text(value.get<uint64_t>(), "byte");
  const std::string text =
      value.is_string()  ? value.get<std::string>()
      : value.is_array() ? fmt::to_string(fmt::join(value.get<std::vector<std::string>>(), ", "))
                         : fmt::to_string(value.get<double>());
  const auto phrase =
      std::ranges::find(kPhrases, name, [](const auto& pair) { return pair.first; });
  return phrase == std::end(kPhrases) ? fmt::format("{} {}", name, text)
                                      : fmt::format(fmt::runtime(phrase->second), text);
}

// A pool with the members that differ from those of an ordinary pool.
std::string pool_text(const format::ModuleContents& module, const format::PoolDecl& pool) {
  std::string text = fmt::format("pool {}: {} on {}", pool.scope, format::name_of(pool.kind),
                                 module.devices[pool.device].name);
  const ordered_json usual = RecordJson::of(
      module, format::PoolDecl{.scope = pool.scope, .kind = pool.kind, .device = pool.device});
  const ordered_json members = RecordJson::of(module, pool);
  for (const auto& [name, value] : members.items())
    if (!usual.contains(name) || usual[name] != value) text += ", " + member_text(name, value);
  return text;
}

// The constants of each rank, if there are several.
void print_ranks(const format::ModuleContents& module) {
  for (uint32_t rank = 0; rank < module.ranks() && module.ranks() > 1; ++rank) {
    uint64_t constants = 0, bytes = 0;
    for (const format::ConstantDecl& constant : module.constants) {
      if (module.rank_of(constant.pool) != rank) continue;
      ++constants;
      bytes += constant.bytes.size;
    }
    print("rank {}: {}, {}\n", rank, count_text(constants, "constant"), count_text(bytes, "byte"));
  }
}

void print_text(const ReadModule& read) {
  const format::ModuleContents& module = read.contents;
  const runtime::MappedFile& file = read.file;
  print("producer {}\n", module.producer);
  const format::FileHeader header = header_of(file);
  print("format {}, for readers of {} and later\n",
        format::version_text(header.version_major, header.version_minor),
        format::version_text(header.version_major, header.min_reader));
  for (const std::string& feature : module.required_features)
    print("requires feature {}\n", feature);
  for (const format::FunctionDecl& function : module.functions) print_function(module, function);
  for (const format::VariantDecl& variant : module.variants) {
    print("variant of main: {}\n", module.functions[variant.function].name);
    print_dimensions(variant.dimensions);
  }
  for (const format::DeviceDecl& device : module.devices)
    print("device {}: {}{}\n", device.name, device.kind,
          device.rank > 0 ? ", rank " + std::to_string(device.rank) : "");
  for (const format::PoolDecl& pool : module.pools) print("{}\n", pool_text(module, pool));
  uint64_t constant_bytes = 0;
  for (const format::ConstantDecl& constant : module.constants)
    constant_bytes += constant.bytes.size;
  print("{}, {}\n", count_text(module.constants.size(), "constant"),
        count_text(constant_bytes, "byte"));
  print_ranks(module);
  for (const format::WeightsFile& weights : read.weights)
    print("weights {}: {}, BLAKE2b {}\n", weights.name, count_text(weights.size, "byte"),
          format::text_of(weights.digest));
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
    print("section {}: {} at {}\n", section.name_text(), count_text(section.size, "byte"),
          section.offset);
  print("{}\n", count_text(file.size, "byte"));
}

ordered_json function_json(const format::ModuleContents& module,
                           const format::FunctionDecl& function,
                           const std::vector<format::LaunchFlops>& launches) {
  const auto list = [&](const auto& records) { return RecordJson::of(module, records); };
  return {{"name", function.name},
          {"inputs", list(function.inputs)},
          {"outputs", list(function.outputs)},
          {"dimensions", list(function.dimensions)},
          {"definitions", list(function.definitions)},
          {"memory", list(function.memory)},
          {"code_words", function.code.size()},
          {"registers", function.register_count},
          {"slots", function.slot_count},
          {"flops", flops_json(launches, &function - module.functions.data())}};
}

void print_json(const ReadModule& read) {
  const format::ModuleContents& module = read.contents;
  const runtime::MappedFile& file = read.file;
  const format::FileHeader header = header_of(file);
  ordered_json out = {{"producer", module.producer},
                      {"format", format::version_text(header.version_major, header.version_minor)},
                      {"min_reader", format::version_text(header.version_major, header.min_reader)},
                      {"required_features", module.required_features}};
  const std::vector<format::LaunchFlops> launches = format::read_flops(module);
  for (const format::FunctionDecl& function : module.functions)
    out["functions"].push_back(function_json(module, function, launches));
  out["variants"] = RecordJson::of(module, module.variants);
  out["devices"] = RecordJson::of(module, module.devices);
  out["pools"] = RecordJson::of(module, module.pools);
  out["kernels"] = module.kernels.size();
  out["external_functions"] = ordered_json::array();
  for (const format::KernelDecl& kernel : module.kernels)
    if (kernel.external)
      out["external_functions"].push_back({{"symbol", kernel.symbol},
                                           {"library", kernel.external->library},
                                           {"description", kernel.external->description}});
  out["constants"] = module.constants.size();
  for (const format::WeightsFile& weights : read.weights)
    out["weights"].push_back({{"file", weights.name},
                              {"bytes", weights.size},
                              {"blake2b", format::text_of(weights.digest)}});
  out["images"] = RecordJson::of(module, module.images);
  for (const format::SectionEntry& section : section_table(file))
    out["sections"].push_back({{"name", std::string(section.name_text())},
                               {"required", (section.flags & format::kRequiredSection) != 0},
                               {"bytes", section.size},
                               {"offset", section.offset}});
  out["bytes"] = file.size;
  write_json(out);
}

Status print_module(const InspectOptions& options) {
  SCOPEVM_ASSIGN_OR_RETURN(const ReadModule module, read_module_file(options.module));
  if (Status status = format::verify(module.contents); !status.ok())
    return std::move(status).with_context(input_name(options.module));
  options.json ? print_json(module) : print_text(module);
  return {};
}

int inspect(const InspectOptions& options) { return report(print_module(options)); }

const Command<InspectOptions> inspect_command(
    {.position = 50,
     .name = "inspect",
     .description =
         "Print the signature, machine, memory formulas, sections and sizes of a module"},
    declare, inspect);

}  // namespace

}  // namespace scopevm::tool
