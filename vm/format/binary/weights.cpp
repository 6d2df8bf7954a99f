// Encodes, decodes and checks files of weights; see weights.h.
#include "vm/format/binary/weights.h"

#include <algorithm>
#include <cstring>
#include <utility>

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

std::vector<std::span<const uint8_t>> weights_of(const ModuleContents& module,
                                                 std::optional<uint32_t> rank) {
  std::vector<std::span<const uint8_t>> pieces;
  uint64_t size = 0;
  for (const ConstantDecl& constant : module.constants) {
    if (rank && module.rank_of(constant.pool) != *rank) continue;
    pieces.emplace_back(kZeroBytes, align_up(size) - size);
    pieces.emplace_back(constant.bytes.data, constant.bytes.size);
    size = align_up(size) + constant.bytes.size;
  }
  return pieces;
}

std::vector<uint8_t> encode(std::span<const WeightsFile> files) {
  std::vector<uint8_t> bytes;
  const auto append = [&](const void* data, size_t size) {
    const auto* const first = static_cast<const uint8_t*>(data);
    bytes.insert(bytes.end(), first, first + size);
  };
  for (const WeightsFile& file : files) {
    WeightsEntry entry = {file.size, file.checksum, {}};
    std::ranges::copy(file.digest, entry.digest);
    append(&entry, sizeof entry);
    if (file.rank) {
      const RankWeightsEntry of_rank = {*file.rank, static_cast<uint32_t>(file.name.size())};
      append(&of_rank, sizeof of_rank);
    }
    append(file.name.data(), file.name.size());
  }
  return bytes;
}

Result<std::vector<WeightsFile>> decode_weights(std::span<const uint8_t> section,
                                                std::string_view name) {
  const std::string prefix = "section " + std::string(name) + ": ";
  const Status malformed(StatusCode::kInvalidModel, prefix + "malformed name of a file");
  const auto take = [&](void* to, size_t size) {
    if (section.size() < size) return false;
    std::memcpy(to, section.data(), size);
    section = section.subspan(size);
    return true;
  };
  std::vector<WeightsFile> files;
  do {
    WeightsEntry entry;
    if (!take(&entry, sizeof entry)) return malformed;
    WeightsFile file{{}, entry.size, entry.checksum, {}, {}};
    std::ranges::copy(entry.digest, file.digest.begin());
    size_t name_bytes = section.size();
    if (name == kRankWeightsSection) {
      RankWeightsEntry of_rank;
      if (!take(&of_rank, sizeof of_rank) || of_rank.name_bytes > section.size()) return malformed;
      name_bytes = of_rank.name_bytes;
      file.rank = of_rank.rank;
      if (!files.empty() && *file.rank <= *files.back().rank)
        return Status(StatusCode::kInvalidModel, prefix + "the ranks are not in order");
    }
    file.name.assign(section.begin(), section.begin() + static_cast<ptrdiff_t>(name_bytes));
    section = section.subspan(name_bytes);
    if (!is_weights_name(file.name)) return malformed;
    files.push_back(std::move(file));
  } while (!section.empty());
  return files;
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
