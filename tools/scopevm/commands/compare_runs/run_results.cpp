// Reads the results of runs; see run_results.h.
#include "tools/scopevm/commands/compare_runs/run_results.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "tools/execution/recording.h"
#include "tools/files/file.h"
#include "tools/tensors/npy.h"
#include "tools/tensors/npz.h"

namespace scopevm::tool {
namespace {

namespace fs = std::filesystem;

void add_values(std::vector<RunTensor>& tensors, std::vector<NamedValue> values) {
  for (NamedValue& value : values)
    for (size_t i = 0; i < value.elements.size(); ++i) {
      const bool is_list =
          value.kind == ValueKind::kSequence || value.kind == ValueKind::kOptionalSequence;
      tensors.push_back(
          {is_list ? value.name + "[" + std::to_string(i) + "]" : value.name, value.elements[i]});
    }
}

Result<std::vector<RunTensor>> read_recorded(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, map_input(path));
  Result<Recording> recording = read_recording({file.data, file.size});
  if (!recording.ok()) return std::move(recording).status().with_context(path);
  std::vector<RunTensor> tensors;
  for (const RecordedLaunch& launch : recording->launches)
    for (size_t i = 0; i < launch.tensors.size(); ++i)
      tensors.push_back({"launch at " + std::to_string(launch.position) + ": " + launch.name +
                             " output " + std::to_string(i),
                         launch.tensors[i]});
  add_values(tensors, std::move(recording->results));
  if (!recording->error.empty()) {
    const std::string_view error = recording->error;
    SCOPEVM_ASSIGN_OR_RETURN(Tensor text, Tensor::from_strings({&error, 1}, {}));
    tensors.push_back({"the error of the call", std::move(text)});
  }
  return tensors;
}

Result<std::vector<RunTensor>> read_folder(const std::string& path) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".npy") files.push_back(at->path());
  if (error) return Status(StatusCode::kNotFound, path + ": " + error.message());
  if (files.empty())
    return Status(StatusCode::kInvalidArgument, "the folder has no .npy files").with_context(path);
  std::ranges::sort(files);
  std::vector<RunTensor> tensors;
  for (const fs::path& file : files) {
    SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, read_npy(file.string()));
    tensors.push_back({file.stem().string(), std::move(tensor)});
  }
  return tensors;
}

}  // namespace

Result<std::vector<RunTensor>> read_run(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return read_folder(path);
  std::vector<RunTensor> tensors;
  if (path.ends_with(".npz")) {
    SCOPEVM_ASSIGN_OR_RETURN(std::vector<NamedValue> values, read_npz(path));
    add_values(tensors, std::move(values));
    return tensors;
  }
  if (!path.ends_with(".npy")) return read_recorded(path);
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, read_npy(path));
  tensors.push_back({"tensor", std::move(tensor)});
  return tensors;
}

}  // namespace scopevm::tool
