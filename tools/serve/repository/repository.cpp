// Loads and replaces models; see repository.h.
#include "tools/serve/repository/repository.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <system_error>
#include <utility>

#include "runtime/nearest_name.h"
#include "runtime/quoted.h"
#include "tools/files/file.h"
#include "tools/files/standard_streams.h"
#include "tools/serve/repository/compile_model.h"

namespace scopevm::serve {
namespace {

namespace fs = std::filesystem;

Result<ModelConfig> read_config(const FileStamp& file) {
  if (file.path.empty()) return ModelConfig();
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, tool::read_file(file.path));
  Result<ModelConfig> config =
      parse_model_config({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!config.ok()) return config.status().with_context(file.path.string());
  return config;
}

// The versions that the policy selects, of those that exist.
Result<std::vector<int64_t>> selected(const VersionPolicy& policy, const FoundModel& found) {
  std::vector<int64_t> versions;
  if (policy.numbers.empty()) {
    for (auto file = found.versions.rbegin();
         file != found.versions.rend() && versions.size() < policy.latest; ++file)
      versions.push_back(file->first);
    return versions;
  }
  for (const int64_t number : policy.numbers) {
    if (!found.versions.contains(number))
      return Status(StatusCode::kNotFound,
                    "config.json: \"versions\": there is no version " + std::to_string(number));
    versions.push_back(number);
  }
  return versions;
}

void report_load(const std::string& name, int64_t version, const Status& status) {
  tool::print_message(stderr, "scopevm serve: {}/{}: {}\n", name, std::to_string(version),
                      status.ok() ? std::string("loaded") : std::string(status.message()));
}

}  // namespace

Repository::Repository(RepositoryOptions options) : options_(std::move(options)) {}
Repository::~Repository() = default;

Result<std::shared_ptr<LoadedModel>> Repository::load_version(const std::string& name,
                                                              int64_t version,
                                                              const FileStamp& file,
                                                              const ModelConfig& config) {
  if (file.path.extension() == ".bc")
    return LoadedModel::load(name, version, file.path, config, options_.environment);
  if (!options_.environment.load.public_keys.empty())
    return Status(StatusCode::kInvalidModel,
                  file.path.string() + ": expected a signed module, because keys are given");
  std::error_code error;
  std::string path = (fs::temp_directory_path(error) / "scopevm-serve-XXXXXX").string();
  if (error || mkdtemp(path.data()) == nullptr)
    return Status(StatusCode::kNotFound, "no folder for temporary files");
  const fs::path folder = path;
  const fs::path module = folder / "module.bc";
  Result<std::shared_ptr<LoadedModel>> model =
      compile_model(file.path, module, config.compile, options_.cache, stop_.get_token());
  // The file stays mapped after its name is gone.
  if (model.status().ok())
    model = LoadedModel::load(name, version, module, config, options_.environment);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return model;
}

Status Repository::load_found(const std::string& name, const FoundModel& found) {
  std::map<int64_t, Slot> old;
  {
    const std::unique_lock lock(mutex_);
    Entry& entry = entries_[name];
    entry.attempted = found;
    entry.is_unloaded = false;
    old = entry.versions;
    if (old.empty()) entry.reason = "it is being loaded";
  }
  const auto fail = [&](Status status) {
    tool::print_message(stderr, "scopevm serve: {}: {}\n", name, status.message());
    const std::unique_lock lock(mutex_);
    entries_[name].reason = status.message();
    return status;
  };
  const Result<ModelConfig> config = read_config(found.config);
  if (!config.ok()) return fail(config.status());
  const Result<std::vector<int64_t>> versions = selected(config->versions, found);
  if (!versions.ok()) return fail(versions.status());
  std::map<int64_t, Slot> slots;
  Status failure;
  for (const int64_t version : *versions) {
    if (stop_.stop_requested()) return fail({StatusCode::kCancelled, "the server ends"});
    const FileStamp& file = found.versions.at(version);
    Slot& slot = slots[version];
    if (const auto kept = old.find(version); kept != old.end()) slot = kept->second;
    if (slot.model != nullptr && slot.file == file && slot.config == found.config) {
      slot.reason.clear();  // of a file that has been replaced by this one again
      continue;
    }
    Result<std::shared_ptr<LoadedModel>> model = load_version(name, version, file, *config);
    report_load(name, version, model.status());
    slot.reason = model.ok() ? "" : std::string(model.status().message());
    if (!model.ok()) {
      failure = model.status();
      continue;
    }
    slot = {file, found.config, *std::move(model), ""};
  }
  // While a new version does not load, the old ones stay.
  if (!failure.ok()) slots.merge(old);
  const std::unique_lock lock(mutex_);
  Entry& entry = entries_[name];
  entry.versions = std::move(slots);
  entry.reason.clear();
  return failure;
}

Status Repository::load_all() {
  const std::lock_guard loading(loading_);
  SCOPEVM_ASSIGN_OR_RETURN(last_scan_, scan_repository(options_.folder));
  for (const auto& [name, found] : last_scan_) {
    if (stop_.stop_requested()) break;
    (void)load_found(name, found);
  }
  return {};
}

Status Repository::load(const std::string& name) {
  const std::lock_guard loading(loading_);
  SCOPEVM_ASSIGN_OR_RETURN(const auto models, scan_repository(options_.folder));
  const auto found = models.find(name);
  if (found == models.end())
    return {StatusCode::kNotFound, "the repository has no model " + runtime::quoted(name)};
  return load_found(name, found->second);
}

Status Repository::unload(const std::string& name) {
  const std::lock_guard loading(loading_);
  std::map<int64_t, Slot> old;  // released after the lock
  const std::unique_lock lock(mutex_);
  const auto entry = entries_.find(name);
  if (entry == entries_.end() || entry->second.is_unloaded)
    return {StatusCode::kNotFound, "model " + runtime::quoted(name) + " is not loaded"};
  old.swap(entry->second.versions);
  entry->second.is_unloaded = true;
  entry->second.reason = "unloaded";
  return {};
}

void Repository::poll() {
  const std::lock_guard loading(loading_);
  auto models = scan_repository(options_.folder);
  if (!models.ok()) return;
  std::vector<std::pair<std::string, FoundModel>> changed;
  std::map<std::string, Entry, std::less<>> gone;  // released after the lock
  {
    const std::unique_lock lock(mutex_);
    for (const auto& [name, found] : *models) {
      const auto entry = entries_.find(name);
      if (entry != entries_.end() &&
          (entry->second.is_unloaded || entry->second.attempted == found))
        continue;
      const auto before = last_scan_.find(name);
      if (before != last_scan_.end() && before->second == found) changed.emplace_back(name, found);
    }
    for (const auto& [name, entry] : entries_)
      if (!models->contains(name) && !last_scan_.contains(name)) gone[name] = {};
    for (auto& [name, entry] : gone) {
      entry = std::move(entries_.at(name));
      entries_.erase(name);
    }
  }
  last_scan_ = *std::move(models);
  for (const auto& [name, found] : changed) (void)load_found(name, found);
}

Result<std::vector<std::shared_ptr<LoadedModel>>> Repository::versions(
    std::string_view name) const {
  const std::shared_lock lock(mutex_);
  const auto entry = entries_.find(name);
  if (entry == entries_.end()) {
    std::vector<std::string> names;
    for (const auto& [other, unused] : entries_) names.push_back(other);
    return Status(StatusCode::kNotFound,
                  "unknown model " + runtime::quoted(name) + runtime::name_suggestion(name, names));
  }
  std::vector<std::shared_ptr<LoadedModel>> models;
  for (const auto& [version, slot] : entry->second.versions)
    if (slot.model != nullptr) models.push_back(slot.model);
  if (!models.empty()) return models;
  std::string reason = entry->second.reason;
  for (const auto& [version, slot] : entry->second.versions)
    if (!slot.reason.empty()) reason = slot.reason;
  return Status(StatusCode::kNotFound,
                "model " + runtime::quoted(name) + " is not ready: " + reason);
}

Result<std::shared_ptr<LoadedModel>> Repository::find(std::string_view name,
                                                      std::optional<int64_t> version) const {
  SCOPEVM_ASSIGN_OR_RETURN(const auto models, versions(name));
  if (!version) return models.back();
  for (const auto& model : models)
    if (model->version == *version) return model;
  return Status(StatusCode::kNotFound,
                "model " + runtime::quoted(name) + " has no version " + std::to_string(*version));
}

std::vector<std::shared_ptr<LoadedModel>> Repository::loaded() const {
  const std::shared_lock lock(mutex_);
  std::vector<std::shared_ptr<LoadedModel>> models;
  for (const auto& [name, entry] : entries_)
    for (const auto& [version, slot] : entry.versions)
      if (slot.model != nullptr) models.push_back(slot.model);
  return models;
}

std::vector<IndexEntry> Repository::index() const {
  const std::shared_lock lock(mutex_);
  std::vector<IndexEntry> index;
  for (const auto& [name, entry] : entries_) {
    if (entry.versions.empty()) index.push_back({name, 0, false, entry.reason});
    for (const auto& [version, slot] : entry.versions)
      index.push_back(
          {name, version, slot.model != nullptr, slot.reason.empty() ? entry.reason : slot.reason});
  }
  return index;
}

}  // namespace scopevm::serve
