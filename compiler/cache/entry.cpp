// Reads and writes files of the cache; see entry.h.
#include "compiler/cache/entry.h"

#include <charconv>
#include <filesystem>
#include <mutex>
#include <span>

#include "compiler/cache/key.h"
#include "compiler/options/table.h"
#include "llvm/Support/MemoryBuffer.h"
#include "vm/format/binary/write_file.h"

namespace scopevm::compiler::cache {
namespace {

constexpr size_t kDigestSize = 64;  // hexadecimal digits

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Reads the strings of options::Key. After an error, all strings are empty.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}
  std::string_view next() {
    size_t size = 0;
    const char* const start = rest_.data();
    const char* const end = start + rest_.size();
    const auto [stop, error] = std::from_chars(start, end, size);
    const auto begin = static_cast<size_t>(stop - start) + 1;
    is_valid_ = is_valid_ && error == std::errc() && stop != end && size <= rest_.size() - begin;
    if (!is_valid_) return "";
    const std::string_view found = rest_.substr(begin, size);
    rest_.remove_prefix(begin + size);
    return found;
  }
  size_t count() {
    const std::string_view text = next();
    size_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }
  bool is_valid() const { return is_valid_; }

 private:
  std::string_view rest_;
  bool is_valid_ = true;
};

Status cannot_write(const std::string& path, const std::string& reason) {
  return {StatusCode::kInvalidArgument, "cache: cannot write " + path + ": " + reason};
}

}  // namespace

std::string data_path(const std::string& data_file, const std::string& model_path) {
  return std::filesystem::path(model_path).replace_filename(data_file).string();
}

std::optional<CompileOutput> read_entry(const std::string& path, const std::string& model_path) {
  const auto file =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file || (*file)->getBufferSize() < kDigestSize) return std::nullopt;
  const std::string_view text((*file)->getBufferStart(), (*file)->getBufferSize());
  if (digest_of(bytes_of(text.substr(kDigestSize))) != text.substr(0, kDigestSize))
    return std::nullopt;
  Reader reader(text.substr(kDigestSize));
  for (size_t i = reader.count(); i > 0 && reader.is_valid(); --i) {
    const std::string data_file(reader.next());
    if (file_digest(data_path(data_file, model_path)) != reader.next()) return std::nullopt;
  }
  CompileOutput output;
  for (size_t i = reader.count(); i > 0 && reader.is_valid(); --i) {
    const bool has_model = reader.next() == "model";
    output.warnings.push_back((has_model ? model_path : "") + std::string(reader.next()));
  }
  const std::span<const uint8_t> module = bytes_of(reader.next());
  output.module.assign(module.begin(), module.end());
  output.is_cached = true;
  if (!reader.is_valid()) return std::nullopt;
  return output;
}

Status write_entry(const std::string& path, const std::string& model_path,
                   const CompileOutput& output, const std::vector<std::string>& data_files) {
  options::Key header;
  header.add(std::to_string(data_files.size()));
  for (const std::string& data_file : data_files) {
    const std::optional<std::string> digest = file_digest(data_path(data_file, model_path));
    if (!digest) return cannot_write(path, "cannot read " + data_file);
    header.add(data_file);
    header.add(*digest);
  }
  header.add(std::to_string(output.warnings.size()));
  for (const std::string& warning : output.warnings) {
    // The name of the model is not stored, because an equal model can have another name.
    const bool has_model = warning.starts_with(model_path + ": ");
    header.add(has_model ? "model" : "");
    header.add(has_model ? warning.substr(model_path.size()) : warning);
  }
  header.add({reinterpret_cast<const char*>(output.module.data()), output.module.size()});
  const std::string digest = digest_of(bytes_of(header.text()));
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return cannot_write(path, error.message());
  // Threads of a process share the name of the temporary file.
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  const std::span<const uint8_t> pieces[] = {bytes_of(digest), bytes_of(header.text())};
  return format::write_file(path, pieces).with_context("cache");
}

}  // namespace scopevm::compiler::cache
