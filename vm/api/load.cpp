// Reads, verifies and prepares modules; see load.h.
#include "vm/api/load.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/mapped_file.h"
#include "vm/format/binary/reader.h"
#include "vm/format/binary/weights.h"
#include "vm/format/records/records.h"
#include "vm/format/verify/verify.h"
#include "vm/signature/digest.h"
#include "vm/signature/verify.h"

namespace scopevm::vm {
namespace {

using LoadResult = Result<std::shared_ptr<const LoadedModule>>;

// Provides the files of weights that a module names.
class Weights {
 public:
  // `path`: of the module; empty for a module in memory. `owner` keeps options.weights alive; if it
  // is null, they are copied.
  Weights(const LoadOptions& options, std::string path, std::shared_ptr<const void> owner = nullptr)
      : options_(options), path_(std::move(path)), owner_(std::move(owner)) {}

  // The argument of read_module().
  Result<std::optional<format::Bytes>> find(const format::WeightsFile& file) {
    if (options_.rank.value_or(0) < 0)
      return Status(StatusCode::kInvalidArgument, "rank " + std::to_string(*options_.rank) +
                                                      " of the options of loading: expected a "
                                                      "rank from 0");
    if (file.rank && options_.rank && std::cmp_not_equal(*file.rank, *options_.rank)) {
      are_all_ = false;
      return std::optional<format::Bytes>();
    }
    Result<format::Bytes> bytes = bytes_of(file);
    if (!bytes.ok())
      return std::move(bytes).status().with_context(path_.empty() ? "weights"
                                                                  : path_ + ": weights");
    files_.emplace_back(file, *bytes);
    return std::optional(*std::move(bytes));
  }

  // The rank that has all its weights; no value: all ranks.
  std::optional<int> rank() const { return are_all_ ? std::nullopt : options_.rank; }

  // Compares the digests, if there are public keys: the signature covers the digests, and a
  // checksum does not detect deliberate changes.
  Status check_digests() const {
    if (options_.public_keys.empty()) return {};
    for (const auto& [file, bytes] : files_) {
      const std::span<const uint8_t> contents(bytes.data, bytes.size);
      SCOPEVM_ASSIGN_OR_RETURN(const format::WeightsDigest digest,
                               signature::digest_of({&contents, 1}));
      if (digest != file.digest)
        return {StatusCode::kInvalidModel,
                "weights " + file.name + ": BLAKE2b digest " + format::text_of(digest) +
                    ", expected " + format::text_of(file.digest) +
                    "; the file has been changed after the module was signed"};
    }
    return {};
  }

 private:
  Result<format::Bytes> bytes_of(const format::WeightsFile& file) const {
    std::span<const uint8_t> given = options_.weights;
    // One buffer is one file.
    if (file.rank && std::cmp_not_equal(*file.rank, options_.rank.value_or(0))) given = {};
    if (given.data() != nullptr && owner_) return format::Bytes{owner_, given.data(), given.size()};
    if (given.data() != nullptr) return format::aligned_copy(given.data(), given.size());
    if (path_.empty() && options_.weights_folder.empty())
      return Status(StatusCode::kNotFound,
                    "the module needs the file " + file.name +
                        "; set weights or weights_folder of the options of loading");
    const std::filesystem::path folder = options_.weights_folder.empty()
                                             ? std::filesystem::path(path_).parent_path()
                                             : std::filesystem::path(options_.weights_folder);
    SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile mapped,
                             runtime::map_file((folder / file.name).string()));
    if (options_.public_keys.empty()) return format::Bytes{mapped.owner, mapped.data, mapped.size};
    // A mapped file can change after the digest has been compared, but a copy cannot.
    return format::aligned_copy(mapped.data, mapped.size);
  }

  const LoadOptions& options_;
  std::string path_;
  std::shared_ptr<const void> owner_;
  bool are_all_ = true;
  std::vector<std::pair<format::WeightsFile, format::Bytes>> files_;  // set by find()
};

LoadResult read(const format::Bytes& bytes, Weights weights) {
  const format::ReadOptions options = {
      .find_weights = [&](const format::WeightsFile& file) { return weights.find(file); }};
  SCOPEVM_ASSIGN_OR_RETURN(format::ModuleContents contents, format::read_module(bytes, options));
  SCOPEVM_RETURN_IF_ERROR(weights.check_digests());
  SCOPEVM_RETURN_IF_ERROR(format::verify(contents));
  return LoadedModule::create(std::move(contents), format::module_digest({bytes.data, bytes.size}),
                              weights.rank());
}

// The text of the signature of the module file `path`.
Result<std::string> signature_of(const std::string& path, const LoadOptions& options) {
  if (!options.signature.empty()) return options.signature;
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file,
                           runtime::map_file(path + signature::kSuffix));
  return std::string(reinterpret_cast<const char*>(file.data), file.size);
}

LoadResult load_unsigned_file(const std::string& path, const LoadOptions& options) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, runtime::map_file(path));
  return read({file.owner, file.data, file.size}, Weights(options, path));
}

LoadResult load_signed_file(const std::string& path, const LoadOptions& options) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, runtime::map_file(path));
  // A mapped file can change after the signature has been verified, but a copy cannot.
  const format::Bytes copy = format::aligned_copy(file.data, file.size);
  SCOPEVM_ASSIGN_OR_RETURN(const std::string text, signature_of(path, options));
  SCOPEVM_RETURN_IF_ERROR(signature::verify({copy.data, copy.size}, text, options.public_keys));
  return read(copy, Weights(options, path));
}

// `owner` keeps options.weights alive; null if they must be copied.
LoadResult load_memory(const format::Bytes& bytes, const LoadOptions& options,
                       std::shared_ptr<const void> owner) {
  if (!options.public_keys.empty())
    SCOPEVM_RETURN_IF_ERROR(
        signature::verify({bytes.data, bytes.size}, options.signature, options.public_keys));
  return read(bytes, Weights(options, "", std::move(owner)));
}

}  // namespace

LoadResult load(const std::string& path, const LoadOptions& options) {
  LoadResult module = options.public_keys.empty() ? load_unsigned_file(path, options)
                                                  : load_signed_file(path, options);
  // Messages of the system already start with the path.
  if (module.ok() || module.status().code() == StatusCode::kNotFound) return module;
  return std::move(module).status().with_context(path);
}

LoadResult load_bytes(std::span<const uint8_t> bytes, const LoadOptions& options) {
  return load_memory(format::aligned_copy(bytes.data(), bytes.size()), options, {});
}

LoadResult load_bytes(const std::shared_ptr<const void>& owner, std::span<const uint8_t> bytes,
                      const LoadOptions& options) {
  return load_memory({owner, bytes.data(), bytes.size()}, options, owner);
}

}  // namespace scopevm::vm
