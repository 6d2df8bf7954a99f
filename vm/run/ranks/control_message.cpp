// The bytes of a control message: a header, the numbers, then the text.
#include "vm/run/ranks/control_message.h"

#include <cstring>

namespace scopevm::vm {
namespace {

struct Header {
  uint32_t kind;
  int32_t code;
  uint64_t request;
  uint64_t count;  // of numbers
};

}  // namespace

std::string ControlMessage::encode() const {
  const Header header = {static_cast<uint32_t>(kind), static_cast<int32_t>(code), request,
                         numbers.size()};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int64_t));
  return bytes + text;
}

Result<ControlMessage> ControlMessage::decode(std::string_view bytes) {
  Header header = {};
  const size_t rest = bytes.size() - sizeof header;
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  if (bytes.size() < sizeof header || header.count > rest / sizeof(int64_t) ||
      header.kind > static_cast<uint32_t>(Kind::kStop))
    return Status(StatusCode::kDevice, "a rank sent an invalid message");
  ControlMessage message{.kind = static_cast<Kind>(header.kind),
                         .request = header.request,
                         .numbers = std::vector<int64_t>(header.count),
                         .code = static_cast<StatusCode>(header.code)};
  const size_t size = header.count * sizeof(int64_t);
  if (size > 0) std::memcpy(message.numbers.data(), bytes.data() + sizeof header, size);
  message.text = bytes.substr(sizeof header + size);
  return message;
}

}  // namespace scopevm::vm
