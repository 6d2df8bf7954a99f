// Selects a driver by kind, and formats memory sizes for the summaries of devices.
#include "runtime/device/driver.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace scopevm::runtime {

std::string gigabytes_text(int64_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f GB", static_cast<double>(bytes) / 1e9);
  return text.data();
}

Result<std::shared_ptr<Device>> Drivers::open(std::string_view kind, int number) const {
  const auto driver = std::ranges::find(all_, kind, &DeviceDriver::kind);
  if (driver != all_.end()) return (*driver)->open(number);
  std::string known;
  for (const DeviceDriver* each : all_)
    known += (known.empty() ? "" : ", ") + std::string(each->kind());
  return Status(StatusCode::kUnsupported,
                "unsupported kind \"" + std::string(kind) + "\"; this build supports " + known);
}

}  // namespace scopevm::runtime
