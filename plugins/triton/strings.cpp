#include "plugins/triton/strings.h"

#include <cstring>

namespace scopevm::triton {

Status append_strings(std::string_view bytes, std::vector<std::string_view>& strings) {
  while (!bytes.empty()) {
    uint32_t length = 0;
    if (bytes.size() < sizeof length)
      return {StatusCode::kInvalidArgument, "the bytes end inside the length of a string"};
    std::memcpy(&length, bytes.data(), sizeof length);
    bytes.remove_prefix(sizeof length);
    if (length > bytes.size())
      return {StatusCode::kInvalidArgument, "a string has " + std::to_string(length) +
                                                " bytes, but only " + std::to_string(bytes.size()) +
                                                " follow"};
    strings.push_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return {};
}

Result<std::string> written_strings(const Tensor& tensor, int64_t first, int64_t count) {
  std::string bytes;
  for (int64_t i = first; i < first + count; ++i) {
    const std::string_view element = tensor.string_at(i);
    if (element.size() > UINT32_MAX)
      return Status(StatusCode::kUnsupported, "a string of an output has 4 GiB or more");
    const auto length = static_cast<uint32_t>(element.size());
    bytes.append(reinterpret_cast<const char*>(&length), sizeof length).append(element);
  }
  return bytes;
}

}  // namespace scopevm::triton
