// Reads and writes the cache as JSON; see cache.h.
#include "tools/compile/tuning/cache.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/files/file.h"

namespace scopevm::tool {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kNoFile[] = "none";
constexpr int kFormat = 2;

// Empty if the environment names no folder.
std::string default_path() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return fs::path(cache) / "scopevm/tuning.json";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return "";
  return fs::path(home) / ".cache/scopevm/tuning.json";
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 1);
  return "";
}

std::string full_key(const std::string& key) {
  static const std::string prefix = cpu_model() + " scopevm " SCOPEVM_VERSION " ";
  return prefix + key;
}

// The times of alternatives; nothing if the entry is something else.
std::optional<TuningCache::Seconds> parse_entry(const json& entry) {
  if (!entry.is_array() ||
      !std::ranges::all_of(entry, [](const json& item) { return item.is_number(); }))
    return std::nullopt;
  return entry.get<TuningCache::Seconds>();
}

}  // namespace

Result<TuningCache> TuningCache::open(const std::string& path) {
  TuningCache cache;
  if (path == kNoFile) return cache;
  cache.path_ = path.empty() ? default_path() : path;
  if (cache.path_.empty()) return cache;
  std::error_code error;
  fs::create_directories(fs::path(cache.path_).parent_path(), error);
  SCOPEVM_RETURN_IF_ERROR(check_is_writable(cache.path_));  // also if that fails
  if (!fs::exists(cache.path_, error)) return cache;
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, read_file(cache.path_));
  const json root = json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  const Status invalid(StatusCode::kInvalidArgument,
                       cache.path_ + ": not a tuning cache; remove it or name another file");
  if (!root.is_object() || !root.contains("times") || !root["times"].is_object()) return invalid;
  if (root.value("format", json()) != kFormat) return cache;
  for (const auto& [key, entry] : root["times"].items()) {
    const std::optional<Seconds> seconds = parse_entry(entry);
    if (!seconds) return invalid;
    cache.entries_[key] = *seconds;
  }
  return cache;
}

std::optional<TuningCache::Seconds> TuningCache::find(const std::string& key, size_t count) const {
  const auto found = entries_.find(full_key(key));
  if (found == entries_.end() || found->second.size() != count) return std::nullopt;
  return found->second;
}

void TuningCache::store(const std::string& key, const Seconds& seconds) {
  entries_[full_key(key)] = seconds;
  is_changed_ = true;
}

Status TuningCache::save() const {
  if (path_.empty() || !is_changed_) return {};
  json times = json::object();
  for (const auto& [key, seconds] : entries_) times[key] = seconds;
  return write_file(path_, json{{"format", kFormat}, {"times", times}}.dump(
                               1, ' ', false, json::error_handler_t::replace));
}

}  // namespace scopevm::tool
