// Reads /proc/self/cgroup; see control_groups.h.
#include "runtime/process/control_groups.h"

#include <algorithm>
#include <fstream>
#include <ranges>
#include <sstream>

namespace scopevm::runtime {
namespace {

bool has_controller(const std::string& list, std::string_view controller) {
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');)
    if (name == controller) return true;
  return false;
}

}  // namespace

std::vector<ControlGroup> control_groups(std::string_view controller, const std::string& root) {
  std::vector<ControlGroup> groups;
  std::ifstream file(root + "/proc/self/cgroup");
  // "0::/group" in version 2, and "4:cpu,cpuacct:/group" in version 1.
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const int version = controllers.empty() ? 2 : 1;
    if (version == 1 && !has_controller(controllers, controller)) continue;
    std::string mount = root + "/sys/fs/cgroup";
    if (version == 1) mount.append("/").append(controller);
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    for (;; group.resize(group.rfind('/'))) {
      groups.push_back({mount + group, version});
      if (group.find('/') == std::string::npos) break;
    }
  }
  return groups;
}

std::vector<int64_t> integers_in(const std::string& path, size_t count) {
  std::ifstream file(path);
  std::vector<int64_t> numbers;
  for (int64_t number = 0; numbers.size() < count && file >> number;) numbers.push_back(number);
  return numbers;
}

}  // namespace scopevm::runtime
