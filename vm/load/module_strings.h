// The string table of a module: string ids to strings and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace scopevm::vm {

class ModuleStrings {
 public:
  ModuleStrings() = default;
  // References `strings`, which must outlive this object and not be modified.
  // REQUIRES: `strings` is empty, or its strings are distinct and the first is empty.
  explicit ModuleStrings(const std::vector<std::string>& strings) : strings_(&strings) {
    for (const std::string& text : strings) ids_.emplace(text, static_cast<int32_t>(ids_.size()));
  }

  // The number of ids, at least 1: id 0 is always the empty string.
  int32_t size() const { return ids_.empty() ? 1 : static_cast<int32_t>(ids_.size()); }
  // REQUIRES: 0 <= id < size().
  std::string_view text(int32_t id) const {
    return id == 0 ? std::string_view() : (*strings_)[static_cast<size_t>(id)];
  }
  std::optional<int32_t> find(std::string_view text) const {
    if (text.empty()) return 0;
    const auto found = ids_.find(text);
    if (found == ids_.end()) return std::nullopt;
    return found->second;
  }

 private:
  const std::vector<std::string>* strings_ = nullptr;
  std::unordered_map<std::string_view, int32_t> ids_;
};

}  // namespace scopevm::vm
