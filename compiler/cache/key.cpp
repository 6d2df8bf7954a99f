// Computes the keys of the cache; see key.h.
#include "compiler/cache/key.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "compiler/cache/file.h"
#include "compiler/codegen/cpu/image.h"
#include "compiler/options/table.h"
#include "compiler/schedule/target.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "scopevm/c/external.h"

namespace scopevm::compiler::cache {
namespace {

using options::Key;

// Adds the size and the time of the program or library with the code at `address`.
bool add_code(const void* address, Key& key) {
  Dl_info found{};
  struct stat file{};
  if (dladdr(address, &found) == 0 || stat(found.dli_fname, &file) != 0) return false;
  for (const int64_t number :
       {int64_t{file.st_size}, int64_t{file.st_mtim.tv_sec}, int64_t{file.st_mtim.tv_nsec}})
    key.add(std::to_string(number));
  return true;
}

bool add_libraries(const CompileOptions& options, Key& key) {
  key.add(std::to_string(options.external_libraries.size()));
  return std::ranges::all_of(options.external_libraries, [&](const auto* library) {
    // The compilation reports an invalid library.
    if (library == nullptr || library->name == nullptr) return false;
    key.add(library->name);
    key.add(library->patterns == nullptr ? "" : library->patterns);
    return library->accept == nullptr ||
           add_code(reinterpret_cast<const void*>(library->accept), key);
  });
}

// Adds the host's CPU if the options can select it.
bool add_host(const CompileOptions& options, Key& key) {
  const auto is_host = [](const std::string& cpu) { return cpu.starts_with("host"); };
  if (!options.target_cpus.empty() && options.machine_json.empty() &&
      std::ranges::none_of(options.target_cpus, is_host))
    return true;
  const Result<schedule::Target> host = codegen::make_target("host");
  if (!host.ok()) return false;
  key.add(host->name);
  key.add(host->features);
  return true;
}

bool add_model(const CompileOptions& options, Key& key) {
  // The extension selects the reader.
  key.add(std::filesystem::path(options.model_path).extension().string());
  if (options.model_bytes) key.add(digest_of(*options.model_bytes));
  return options.model_bytes.has_value();
}

std::string text_of(llvm::BLAKE3& hash) {
  return llvm::toHex(llvm::ArrayRef<uint8_t>(hash.final()), /*LowerCase=*/true);
}

}  // namespace

std::string digest_of(std::span<const uint8_t> bytes) {
  llvm::BLAKE3 hash;
  hash.update({bytes.data(), bytes.size()});
  return text_of(hash);
}

std::optional<std::string> file_digest(const std::string& path) {
  const std::optional<File> file = File::open(path);
  if (!file) return std::nullopt;
  constexpr size_t kBlock = 1 << 18;
  const auto block = std::make_unique_for_overwrite<char[]>(kBlock);
  llvm::BLAKE3 hash;
  for (;;) {
    const std::optional<size_t> count = file->read({block.get(), kBlock});
    if (!count) return std::nullopt;
    if (*count == 0) return text_of(hash);
    hash.update(llvm::StringRef(block.get(), *count));
  }
}

std::optional<std::string> key_of(const CompileOptions& options) {
  Key key;
  key.add(SCOPEVM_VERSION);
  options::add_to_key(options, key);
  if (!add_code(reinterpret_cast<const void*>(&key_of), key) || !add_libraries(options, key) ||
      !add_host(options, key) || !add_model(options, key))
    return std::nullopt;
  const std::string& text = key.text();
  return digest_of({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

}  // namespace scopevm::compiler::cache
