// Files of weights: the constants of a module in a file of their own, or in one for each rank. The
// required section `weights` or `weights.ranks` of the module names them
// (docs/module-format.md#weights). Several modules can share one file on disk and in the page
// cache.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/status.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::format {

inline constexpr std::string_view kWeightsSection = "weights";            // one file
inline constexpr std::string_view kRankWeightsSection = "weights.ranks";  // files of ranks

constexpr bool is_weights_section(std::string_view name) {
  return name == kWeightsSection || name == kRankWeightsSection;
}

// BLAKE2b, 256 bits. scopevm_signature computes it (vm/signature/digest.h).
using WeightsDigest = std::array<uint8_t, 32>;

struct WeightsFile {
  std::string name;           // without a folder: is_weights_name()
  uint64_t size = 0;          // in bytes
  uint64_t checksum = 0;      // XXH3, 64 bits
  WeightsDigest digest = {};  // read_module() does not compare it
  // The rank whose constants it has. No value: it has all constants of the module.
  std::optional<uint32_t> rank = std::nullopt;
};

// Whether a section can name this file: a name without a folder. A module must not select files in
// other folders than the one that the program searches.
bool is_weights_name(std::string_view name);

// "9f86d081...", as b2sum prints it.
std::string text_of(const WeightsDigest& digest);

// The bytes of a file of weights of `module`: its constants, or those of a rank, each at the next
// multiple of 64.
std::vector<std::span<const uint8_t>> weights_of(const ModuleContents& module,
                                                 std::optional<uint32_t> rank = std::nullopt);

// The bytes of a section that names files, and back: of kWeightsSection for one file without a
// rank, else of kRankWeightsSection, in the order of ranks. Errors: kInvalidModel.
std::vector<uint8_t> encode(std::span<const WeightsFile> files);
Result<std::vector<WeightsFile>> decode_weights(std::span<const uint8_t> section,
                                                std::string_view name);

// Fails unless `bytes` have the size of the file and, if `with_checksum`, its checksum. Errors:
// kInvalidModel; kInvalidArgument if bytes.data is not 64-byte aligned.
Status check_weights(const WeightsFile& file, const Bytes& bytes, bool with_checksum);

}  // namespace scopevm::format
