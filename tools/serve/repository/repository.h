// The models of a folder, loaded and replaced while requests run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/status.h"
#include "tools/serve/model/loaded_model.h"
#include "tools/serve/repository/scan.h"

namespace scopevm::serve {

struct RepositoryOptions {
  std::filesystem::path folder;
  std::filesystem::path cache;  // of compiled modules; empty: none
  ModelEnvironment environment;
};

// A version of a model, as `v2/repository/index` lists it.
struct IndexEntry {
  std::string name;
  int64_t version = 0;  // 0: the model could not be read
  bool is_ready = false;
  std::string reason;  // why it is not ready, or why a newer file was not loaded
};

// Loads are slow, and exclude each other. They do not delay find() and index(). Thread-safe.
class Repository {
 public:
  explicit Repository(RepositoryOptions options);
  ~Repository();
  Repository(const Repository&) = delete;
  Repository& operator=(const Repository&) = delete;

  // Loads every model. A model that does not load is listed with its reason. Errors: kNotFound (the
  // folder cannot be read).
  Status load_all();
  // Loads a model, or the versions of it whose files have changed. Requests of a version that is
  // replaced end with it. If a version fails to load, the old ones stay. Errors: kNotFound (no such
  // model), and those of compile_model() and LoadedModel::load().
  Status load(const std::string& name);
  // Requests of the model end, and later ones fail. Errors: kNotFound (it is not loaded).
  Status unload(const std::string& name);
  // Loads the models whose files have changed and were equal in the last two calls, and unloads
  // those whose files are gone. Models that were unloaded on request stay so.
  void poll();
  // Ends a compilation. Loads that have not begun are omitted from now on.
  void stop_loading() { stop_.request_stop(); }

  // The given version of a model, or the greatest one. Errors: kNotFound; the message tells whether
  // the model or the version is unknown.
  Result<std::shared_ptr<LoadedModel>> find(std::string_view name,
                                            std::optional<int64_t> version = {}) const;
  // All versions that are ready, in ascending order. Errors: as for find().
  Result<std::vector<std::shared_ptr<LoadedModel>>> versions(std::string_view name) const;
  std::vector<std::shared_ptr<LoadedModel>> loaded() const;
  std::vector<IndexEntry> index() const;

 private:
  struct Slot {
    FileStamp file;
    FileStamp config;
    std::shared_ptr<LoadedModel> model;  // null: it failed to load
    std::string reason;
  };
  struct Entry {
    std::map<int64_t, Slot> versions;
    FoundModel attempted;      // the files of the last attempt to load
    std::string reason;        // why the model could not be read
    bool is_unloaded = false;  // on request
  };

  Status load_found(const std::string& name, const FoundModel& found);
  Result<std::shared_ptr<LoadedModel>> load_version(const std::string& name, int64_t version,
                                                    const FileStamp& file,
                                                    const ModelConfig& config);

  const RepositoryOptions options_;
  std::mutex loading_;  // held during a load
  std::stop_source stop_;
  std::map<std::string, FoundModel> last_scan_;
  mutable std::shared_mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace scopevm::serve
