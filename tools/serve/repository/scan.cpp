// Reads folders; see scan.h.
#include "tools/serve/repository/scan.h"

#include <sys/stat.h>

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace scopevm::serve {
namespace {

namespace fs = std::filesystem;

// No value if there is no such file.
std::optional<FileStamp> stamp_of(const fs::path& path) {
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  return FileStamp{path, int64_t{found.st_mtim.tv_sec} * 1'000'000'000 + found.st_mtim.tv_nsec,
                   static_cast<uint64_t>(found.st_size), found.st_ino};
}

std::optional<int64_t> version_of(const std::string& name) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || number < 1) return std::nullopt;
  return number;
}

FoundModel read_model(const fs::path& folder) {
  FoundModel model;
  if (auto config = stamp_of(folder / "config.json")) model.config = *std::move(config);
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::optional<int64_t> version = version_of(entry->path().filename().string());
    if (!version) continue;
    for (const char* const file : {"module.bc", "model.onnx"}) {
      auto stamp = stamp_of(entry->path() / file);
      if (stamp && !model.versions.contains(*version))
        model.versions.emplace(*version, *std::move(stamp));
    }
  }
  return model;
}

}  // namespace

bool is_model_name(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
}

Result<std::map<std::string, FoundModel>> scan_repository(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) return Status(StatusCode::kNotFound, folder.string() + ": " + error.message());
  std::map<std::string, FoundModel> models, files;
  for (; entries != fs::directory_iterator(); entries.increment(error)) {
    if (error) break;
    const fs::path& path = entries->path();
    if (!is_model_name(path.filename().string())) continue;
    std::error_code ignored;
    if (entries->is_directory(ignored)) {
      FoundModel model = read_model(path);
      if (!model.versions.empty()) models[path.filename().string()] = std::move(model);
    } else if (path.extension() == ".bc" || path.extension() == ".onnx") {
      // A module is preferred to the model that it was compiled from.
      auto stamp = stamp_of(path);
      FoundModel& model = files[path.stem().string()];
      if (stamp && (model.versions.empty() || path.extension() == ".bc"))
        model.versions.insert_or_assign(1, *std::move(stamp));
    }
  }
  models.merge(files);  // of a folder and a file with the same name, the folder
  std::erase_if(models, [](const auto& model) { return model.second.versions.empty(); });
  return models;
}

}  // namespace scopevm::serve
