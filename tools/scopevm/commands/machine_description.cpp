// Describes the devices of drivers; see machine_description.h.
#include "tools/scopevm/commands/machine_description.h"

#include <nlohmann/json.hpp>

#include "tools/files/standard_streams.h"

namespace scopevm::tool {
namespace {

void add_device(const runtime::ListedDevice& device, std::string_view kind,
                nlohmann::ordered_json& description) {
  nlohmann::ordered_json described = {{"name", device.name}, {"kind", kind}};
  if (device.workers > 0) described["workers"] = device.workers;
  description["devices"].push_back(std::move(described));
  if (device.memory_bytes == 0) return;
  for (const char* scope : {"global", "global.workspace"})
    description["pools"].push_back(
        {{"device", device.name}, {"scope", scope}, {"limit_bytes", device.memory_bytes}});
}

}  // namespace

std::string describe_machine(const runtime::Drivers& drivers, std::FILE* log) {
  nlohmann::ordered_json description;
  description["devices"] = nlohmann::ordered_json::array();
  description["pools"] = nlohmann::ordered_json::array();
  for (const runtime::DeviceDriver* driver : drivers.all()) {
    const auto devices = driver->list();
    if (!devices.ok()) {
      print_message(log, "no {}: {}\n", driver->title(), devices.status().message());
      continue;
    }
    for (const runtime::ListedDevice& device : *devices) {
      if (!device.summary.empty()) print_message(log, "{}: {}\n", device.name, device.summary);
      add_device(device, driver->kind(), description);
    }
  }
  return description.dump(2, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace scopevm::tool
