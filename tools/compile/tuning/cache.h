// The file that stores the measured times of alternatives: see Tuning in scopevm/compiler.h.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scopevm/compiler.h"

namespace scopevm::tool {

// Keys are extended by the CPU model and the release of scopevm. Thread-safety: a cache must be
// used by one thread at a time. Processes can share a file: it is replaced as a whole.
class TuningCache {
 public:
  using Seconds = std::vector<double>;  // by alternative

  // Reads `path`. An empty path denotes the default file, scopevm/tuning.json in $XDG_CACHE_HOME or
  // $HOME/.cache, and "none" denotes no file. Creates the folder of the file. Errors:
  // kInvalidArgument (the file is not a cache, or cannot be written).
  static Result<TuningCache> open(const std::string& path);

  // The times of an entry with `count` times.
  std::optional<Seconds> find(const std::string& key, size_t count) const;
  void store(const std::string& key, const Seconds& seconds);

  // Writes the file if an entry is new.
  Status save() const;

 private:
  std::string path_;  // empty: no file
  std::map<std::string, Seconds> entries_;
  bool is_changed_ = false;
};

}  // namespace scopevm::tool
