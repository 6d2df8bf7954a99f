// The control groups of Linux that limit this process, versions 1 and 2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scopevm::runtime {

struct ControlGroup {
  std::string folder;  // of its files
  int version = 2;
};

// The group of this process and those that contain it, in the hierarchies that have the controller,
// such as "memory". `root` precedes the paths of /proc and /sys.
std::vector<ControlGroup> control_groups(std::string_view controller, const std::string& root = "");

// The integers that a file starts with; at most `count`. Empty also for "max".
std::vector<int64_t> integers_in(const std::string& path, size_t count);

}  // namespace scopevm::runtime
