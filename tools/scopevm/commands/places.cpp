// Reads the options --machine, --place and --device; see places.h.
#include "tools/scopevm/commands/places.h"

#include "tools/scopevm/arguments.h"
#include "tools/scopevm/file.h"

namespace scopevm::tool {

Status read_places(const std::string& machine, const std::vector<std::string>& places,
                   CompileOptions& options) {
  options.places = places;
  if (machine.empty()) return {};
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, read_file(machine));
  options.machine_json.assign(bytes.begin(), bytes.end());
  options.machine_name = input_name(machine);
  // An empty string would select the default machine. A blank makes an empty file a JSON error.
  if (options.machine_json.empty()) options.machine_json = " ";
  return {};
}

Result<DeviceBinding> parse_binding(const std::string& text) {
  SCOPEVM_ASSIGN_OR_RETURN(const auto parts, split_assignment(text));
  const size_t colon = parts.second.find(':');
  const auto number = colon == std::string::npos
                          ? Result<int64_t>(Status(StatusCode::kInvalidArgument, ""))
                          : parse_number(std::string_view(parts.second).substr(colon + 1));
  if (!number.ok() || colon == 0 || *number < 0 || *number > INT32_MAX)
    return Status(StatusCode::kInvalidArgument,
                  "--device " + text + ": expected NAME=KIND:NUMBER, such as gpu=opencl:0");
  return DeviceBinding{parts.first, parts.second.substr(0, colon), static_cast<int>(*number)};
}

}  // namespace scopevm::tool
