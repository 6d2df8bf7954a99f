// Loads and reads modules; see module_file.h.
#include "tools/scopevm/module_file.h"

#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "tools/files/file.h"
#include "tools/files/standard_streams.h"
#include "vm/format/binary/reader.h"
#include "vm/format/records/records.h"

namespace scopevm::tool {
namespace {

// Adds how to fix the error if the file is a model, according to its name.
Status with_hint(Status status, const std::string& path) {
  const bool is_model = path.ends_with(".onnx") || path.ends_with(".mlir");
  if (status.code() != StatusCode::kInvalidModel || !is_model) return status;
  return {status.code(), std::string(status.message()) +
                             "; compile the model first: scopevm compile " + path + " -o FILE"};
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

Result<Module> load_module(const std::string& path, const LoadOptions& options) {
  if (path == kStandardStream) {
    SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, map_input(path));
    LoadOptions in_folder = options;
    in_folder.weights_folder = folder_of(path);
    Result<Module> module = Module::load_bytes({file.data, file.size}, in_folder);
    if (!module.ok()) return std::move(module).status().with_context(input_name(path));
    return module;
  }
  Result<Module> module = Module::load(path, options);
  if (!module.ok()) return with_hint(std::move(module).status(), path);
  return module;
}

Result<ReadModule> read_module_file(const std::string& path, bool needs_weights) {
  SCOPEVM_ASSIGN_OR_RETURN(runtime::MappedFile file, map_input(path));
  // read_module() requires an alignment that the memory of stdin and pipes lacks.
  std::error_code error;
  const format::Bytes bytes = path == kStandardStream || std::filesystem::is_fifo(path, error)
                                  ? format::aligned_copy(file.data, file.size)
                                  : format::Bytes{file.owner, file.data, file.size};
  std::vector<format::WeightsFile> weights;
  const auto find_weights =
      [&](const format::WeightsFile& needed) -> Result<std::optional<format::Bytes>> {
    weights.push_back(needed);
    if (!needs_weights) return std::optional<format::Bytes>();
    SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile found,
                             runtime::map_file(folder_of(path) + "/" + needed.name));
    return std::optional(format::Bytes{found.owner, found.data, found.size});
  };
  Result<format::ModuleContents> module =
      format::read_module(bytes, {.find_weights = find_weights});
  if (!module.ok())
    return with_hint(std::move(module).status().with_context(input_name(path)), path);
  return ReadModule{std::move(file), *std::move(module), std::move(weights)};
}

Result<ObservedModule> load_observed_module(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(ReadModule read, read_module_file(path));
  const std::span<const uint8_t> bytes(read.file.data, read.file.size);
  LoadOptions options;
  options.weights_folder = folder_of(path);
  Result<Module> module = Module::load_bytes(bytes, options);
  if (!module.ok()) return std::move(module).status().with_context(input_name(path));
  return ObservedModule{*std::move(module), std::move(read.contents), format::module_digest(bytes)};
}

}  // namespace scopevm::tool
