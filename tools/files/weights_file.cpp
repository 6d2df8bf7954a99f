// Writes modules and their files of weights; see weights_file.h.
#include "tools/files/weights_file.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>
#include <vector>

#include "runtime/mapped_file.h"
#include "tools/files/file.h"
#include "tools/files/standard_streams.h"
#include "vm/format/binary/checksum.h"
#include "vm/format/binary/weights.h"
#include "vm/format/binary/writer.h"
#include "vm/signature/digest.h"

namespace scopevm::tool {
namespace {

namespace fs = std::filesystem;
using Piece = std::span<const uint8_t>;

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// The path of a file in one form.
fs::path normal(const std::string& path) {
  std::error_code error;
  return fs::weakly_canonical(path, error);
}

Result<format::WeightsFile> describe(const std::string& path, std::span<const Piece> pieces) {
  format::WeightsFile file = {fs::path(path).filename().string()};
  format::StreamingChecksum checksum;
  for (const Piece piece : pieces) {
    file.size += piece.size();
    checksum.add(piece.data(), piece.size());
  }
  file.checksum = checksum.value();
  SCOPEVM_ASSIGN_OR_RETURN(file.digest, signature::digest_of(pieces));
  return file;
}

// Fails unless the existing file has these bytes. Other modules can use the file, so it is not
// replaced.
Status check_is_equal(const std::string& path, const format::WeightsFile& file,
                      std::span<const Piece> pieces) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile old, runtime::map_file(path));
  const uint8_t* next = old.data;
  const auto is_next = [&](Piece piece) {
    const bool is_equal = piece.empty() || std::memcmp(next, piece.data(), piece.size()) == 0;
    next += piece.size();
    return is_equal;
  };
  if (old.size == file.size && std::ranges::all_of(pieces, is_next)) return {};
  const Piece bytes(old.data, old.size);
  SCOPEVM_ASSIGN_OR_RETURN(const format::WeightsDigest digest, signature::digest_of({&bytes, 1}));
  return {StatusCode::kInvalidArgument,
          path + ": the file exists with other weights, BLAKE2b digest " + format::text_of(digest) +
              ", expected " + format::text_of(file.digest) +
              "; remove it if no other module uses it, or select another file"};
}

}  // namespace

Status check_weights_path(const std::string& weights, const std::string& module) {
  if (weights.empty()) return {};
  if (weights == kStandardStream || !format::is_weights_name(fs::path(weights).filename().string()))
    return {StatusCode::kInvalidArgument, "--weights " + weights + ": expected a file"};
  if (!module.empty() && module != kStandardStream && normal(weights) == normal(module))
    return {StatusCode::kInvalidArgument, "--weights " + weights + ": is the file of the module"};
  // An equal file need not be writable.
  return exists(weights) ? runtime::map_file(weights).status() : check_is_writable(weights);
}

Status write_with_weights(const std::string& module, const std::string& weights,
                          const format::ModuleContents& contents) {
  std::vector<format::WeightsFile> files;
  std::vector<std::string> missing;  // paths by file; empty: it exists
  for (uint32_t rank = 0; rank < contents.ranks(); ++rank) {
    const std::vector<Piece> pieces = format::weights_of(contents, rank);
    if (pieces.empty() && rank > 0) continue;
    const std::string path = rank == 0 ? weights : weights + ".rank" + std::to_string(rank);
    SCOPEVM_RETURN_IF_ERROR(check_weights_path(path, module));
    SCOPEVM_ASSIGN_OR_RETURN(format::WeightsFile file, describe(path, pieces));
    if (contents.ranks() > 1) file.rank = rank;
    if (exists(path)) SCOPEVM_RETURN_IF_ERROR(check_is_equal(path, file, pieces));
    missing.push_back(exists(path) ? "" : path);
    files.push_back(std::move(file));
  }
  // The weights are written first: a module without its weights does not load.
  for (size_t i = 0; i < files.size(); ++i)
    if (!missing[i].empty())
      SCOPEVM_RETURN_IF_ERROR(write_file(missing[i], format::weights_of(contents, files[i].rank)));
  const std::vector<uint8_t> bytes = format::write_module(contents, files);
  const Piece piece(bytes);
  return write_file(module, {&piece, 1});
}

}  // namespace scopevm::tool
