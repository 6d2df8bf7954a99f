// Reads and writes files of the cache; see entry.h.
#include "compiler/cache/entry.h"

#include <charconv>
#include <filesystem>
#include <mutex>
#include <span>

#include "compiler/cache/file.h"
#include "compiler/cache/key.h"
#include "compiler/options/table.h"
#include "vm/format/binary/write_file.h"

namespace scopevm::compiler::cache {
namespace {

constexpr size_t kSizeDigits = 20;
constexpr size_t kDigestSize = 64;  // hexadecimal digits
constexpr size_t kStart = kSizeDigits + kDigestSize;

// What precedes the strings of an entry.
std::string start_of(size_t size, const std::string& digest) {
  const std::string digits = std::to_string(size);
  return std::string(kSizeDigits - digits.size(), '0') + digits + digest;
}

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

std::optional<std::vector<DataFile>> digest_all(const std::vector<std::string>& data_files,
                                                const std::string& model_path) {
  std::vector<DataFile> all;
  for (const std::string& data_file : data_files) {
    std::optional<std::string> digest = file_digest(data_path(data_file, model_path));
    if (!digest) return std::nullopt;
    all.push_back({data_file, *std::move(digest)});
  }
  return all;
}

std::optional<CompileOutput> read_entry(const std::string& path, const std::string& model_path) {
  const std::optional<File> file = File::open(path);
  if (!file || file->size() < kStart) return std::nullopt;
  std::string start(kStart, '\0');
  if (file->read(start) != kStart) return std::nullopt;
  const std::string digest = start.substr(kSizeDigits);
  // A file with another size is not read: it can be larger than the memory.
  if (start != start_of(file->size() - kStart, digest)) return std::nullopt;
  const auto buffer = file->read_rest(kStart);
  if (!buffer) return std::nullopt;
  const std::string_view text(buffer->getBufferStart(), buffer->getBufferSize());
  if (digest_of(bytes_of(text)) != digest) return std::nullopt;
  Reader reader(text);
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
                   const CompileOutput& output, const std::vector<DataFile>& data_files) {
  std::error_code error;
  // A pipe or a device would be written to.
  const std::filesystem::file_status old = std::filesystem::status(path, error);
  if (std::filesystem::exists(old) && !std::filesystem::is_regular_file(old))
    return cannot_write(path, "not a regular file");
  options::Key header;
  header.add(std::to_string(data_files.size()));
  for (const DataFile& data_file : data_files) {
    header.add(data_file.path);
    header.add(data_file.digest);
  }
  header.add(std::to_string(output.warnings.size()));
  for (const std::string& warning : output.warnings) {
    // The name of the model is not stored, because an equal model can have another name.
    const bool has_model = warning.starts_with(model_path + ": ");
    header.add(has_model ? "model" : "");
    header.add(has_model ? warning.substr(model_path.size()) : warning);
  }
  header.add({reinterpret_cast<const char*>(output.module.data()), output.module.size()});
  const std::string start = start_of(header.text().size(), digest_of(bytes_of(header.text())));
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return cannot_write(path, error.message());
  // Threads of a process share the name of the temporary file.
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  const std::span<const uint8_t> pieces[] = {bytes_of(start), bytes_of(header.text())};
  return format::write_file(path, pieces).with_context("cache");
}

}  // namespace scopevm::compiler::cache
