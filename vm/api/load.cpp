// Reads, verifies and prepares modules; see load.h.
#include "vm/api/load.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

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

// Provides the file of weights that a module names.
class Weights {
 public:
  // `path`: of the module; empty for a module in memory. `owner` keeps options.weights alive; if it
  // is null, they are copied.
  Weights(const LoadOptions& options, std::string path, std::shared_ptr<const void> owner = nullptr)
      : options_(options), path_(std::move(path)), owner_(std::move(owner)) {}

  // The argument of read_module().
  Result<format::Bytes> find(const format::WeightsFile& file) {
    Result<format::Bytes> bytes = bytes_of(file);
    if (!bytes.ok())
      return std::move(bytes).status().with_context(path_.empty() ? "weights"
                                                                  : path_ + ": weights");
    file_ = file;
    bytes_ = *bytes;
    return bytes;
  }

  // Compares the digest, if there are public keys: the signature covers the digest, and a checksum
  // does not detect deliberate changes.
  Status check_digest() const {
    if (!file_ || options_.public_keys.empty()) return {};
    const std::span<const uint8_t> bytes(bytes_.data, bytes_.size);
    SCOPEVM_ASSIGN_OR_RETURN(const format::WeightsDigest digest, signature::digest_of({&bytes, 1}));
    if (digest == file_->digest) return {};
    return {StatusCode::kInvalidModel,
            "weights " + file_->name + ": BLAKE2b digest " + format::text_of(digest) +
                ", expected " + format::text_of(file_->digest) +
                "; the file has been changed after the module was signed"};
  }

 private:
  Result<format::Bytes> bytes_of(const format::WeightsFile& file) const {
    const std::span<const uint8_t> given = options_.weights;
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
  std::optional<format::WeightsFile> file_;  // set by find()
  format::Bytes bytes_;                      // its contents
};

LoadResult read(const format::Bytes& bytes, Weights weights) {
  const format::ReadOptions options = {
      .find_weights = [&](const format::WeightsFile& file) { return weights.find(file); }};
  SCOPEVM_ASSIGN_OR_RETURN(format::ModuleContents contents, format::read_module(bytes, options));
  SCOPEVM_RETURN_IF_ERROR(weights.check_digest());
  SCOPEVM_RETURN_IF_ERROR(format::verify(contents));
  return LoadedModule::create(std::move(contents), format::module_digest({bytes.data, bytes.size}));
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
