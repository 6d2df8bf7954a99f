// Encodes, decodes and checks files of weights; see weights.h.
#include "vm/format/binary/weights.h"

#include <algorithm>
#include <cstring>

#include "runtime/count_text.h"
#include "vm/format/binary/checksum.h"
#include "vm/format/binary/layout.h"

namespace scopevm::format {
namespace {

constexpr uint8_t kZeroBytes[kAlignment] = {};

std::string hexadecimal(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) {
    text += kDigits[byte / 16];
    text += kDigits[byte % 16];
  }
  return text;
}

std::string checksum_text(uint64_t checksum) {
  uint8_t bytes[sizeof checksum];
  for (size_t i = 0; i < sizeof bytes; ++i)
    bytes[i] = static_cast<uint8_t>(checksum >> (8 * (sizeof bytes - 1 - i)));
  return hexadecimal(bytes);
}

}  // namespace

bool is_weights_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         std::ranges::none_of(name, [](char c) { return c == '/' || c == '\0'; });
}

std::string text_of(const WeightsDigest& digest) { return hexadecimal(digest); }

std::vector<std::span<const uint8_t>> weights_of(const ModuleContents& module) {
  std::vector<std::span<const uint8_t>> pieces;
  uint64_t size = 0;
  for (const ConstantDecl& constant : module.constants) {
    pieces.emplace_back(kZeroBytes, align_up(size) - size);
    pieces.emplace_back(constant.bytes.data, constant.bytes.size);
    size = align_up(size) + constant.bytes.size;
  }
  return pieces;
}

std::vector<uint8_t> encode(const WeightsFile& file) {
  WeightsEntry entry = {file.size, file.checksum, {}};
  std::ranges::copy(file.digest, entry.digest);
  std::vector<uint8_t> bytes(sizeof entry + file.name.size());
  std::memcpy(bytes.data(), &entry, sizeof entry);
  std::ranges::copy(file.name, bytes.begin() + sizeof entry);
  return bytes;
}

Result<WeightsFile> decode_weights(std::span<const uint8_t> section) {
  WeightsEntry entry;
  const Status malformed(StatusCode::kInvalidModel, "section weights: malformed name of a file");
  if (section.size() < sizeof entry) return malformed;
  std::memcpy(&entry, section.data(), sizeof entry);
  WeightsFile file{{}, entry.size, entry.checksum, {}};
  std::ranges::copy(entry.digest, file.digest.begin());
  const std::span<const uint8_t> name = section.subspan(sizeof entry);
  file.name.assign(name.begin(), name.end());
  if (!is_weights_name(file.name)) return malformed;
  return file;
}

Status check_weights(const WeightsFile& file, const Bytes& bytes, bool with_checksum) {
  const std::string name = "weights " + file.name + ": ";
  if (bytes.size != file.size)
    return {StatusCode::kInvalidModel,
            name + runtime::count_text(bytes.size, "byte") + ", expected " +
                std::to_string(file.size) +
                (bytes.size < file.size ? "; the file is truncated or belongs to another module"
                                        : "; the file belongs to another module")};
  if (reinterpret_cast<uintptr_t>(bytes.data) % kAlignment != 0)
    return {StatusCode::kInvalidArgument, name + "the memory is not aligned to 64 bytes"};
  if (!with_checksum) return {};
  const uint64_t sum = checksum(bytes.data, bytes.size);
  if (sum == file.checksum) return {};
  return {StatusCode::kInvalidModel, name + "checksum " + checksum_text(sum) + ", expected " +
                                         checksum_text(file.checksum) +
                                         "; the file is damaged or belongs to another module"};
}

}  // namespace scopevm::format
