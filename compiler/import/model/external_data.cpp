// Maps external tensor data; see external_data.h. The entries of a tensor are strings: "location",
// and optionally "offset" and "length" in bytes.
#include "compiler/import/model/external_data.h"

#include "compiler/import/invalid.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>

namespace scopevm::compiler::frontend {
namespace {

// A read-only file mapping. The destructor unmaps it.
struct Mapping {
  void* address = MAP_FAILED;
  size_t size = 0;
  ~Mapping() {
    if (address != MAP_FAILED) munmap(address, size);
  }
};

// Maps a regular file. The mapping of an empty file has no address.
Status cannot(const std::string& verb, const std::string& path, int error) {
  const bool is_memory = error == ENOMEM || error == EMFILE || error == ENFILE;
  return Status(is_memory ? StatusCode::kOutOfMemory : StatusCode::kInvalidModel,
                "cannot " + verb + " external data \"" + path + "\": " + strerror(error));
}

Result<std::shared_ptr<Mapping>> map_file(const std::string& path) {
  // Without O_NONBLOCK, open() waits until a FIFO has a writer.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return cannot("open", path, errno);
  struct stat stat_buffer;
  auto mapping = std::make_shared<Mapping>();
  const bool is_file = fstat(file, &stat_buffer) == 0 && S_ISREG(stat_buffer.st_mode);
  if (is_file && stat_buffer.st_size > 0) {
    mapping->size = static_cast<size_t>(stat_buffer.st_size);
    mapping->address = mmap(nullptr, mapping->size, PROT_READ, MAP_PRIVATE, file, 0);
  }
  const int error = errno;  // of mmap(), if it failed
  // The mapping stays valid after the descriptor is closed.
  close(file);
  if (!is_file) return invalid("external data \"" + path + "\" is not a regular file");
  if (mapping->size > 0 && mapping->address == MAP_FAILED) return cannot("read", path, error);
  return mapping;
}

// True if `location` is a relative path that stays inside its base folder.
bool is_inside(const std::filesystem::path& location) {
  if (location.empty() || location.is_absolute()) return false;
  for (const auto& part : location)
    if (part == "..") return false;
  return true;
}

struct Place {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

Result<uint64_t> number_of(const onnx::StringStringEntryProto& entry) {
  const std::string& text = entry.value();
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return invalid("the " + entry.key() + " of its external data is \"" + text +
                 "\", expected a number of bytes");
}

Result<Place> place_of(const onnx::TensorProto& tensor) {
  Place place;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") place.location = entry.value();
    if (entry.key() == "offset") {
      SCOPEVM_ASSIGN_OR_RETURN(place.offset, number_of(entry));
    }
    if (entry.key() == "length") {
      SCOPEVM_ASSIGN_OR_RETURN(place.length, number_of(entry));
    }
  }
  // The functions of the operating system would read the path only up to this byte.
  if (place.location.find('\0') != std::string::npos)
    return invalid("the location of its external data contains a zero byte");
  return place;
}

// The path of the file, without symbolic links.
Result<std::string> resolved(const std::string& location, const std::filesystem::path& folder) {
  const std::string name = "external data \"" + location + "\"";
  const Status is_outside = invalid(name + " is not inside the model's folder");
  if (!is_inside(location)) return is_outside;
  std::error_code error;
  // A symbolic link in the folder may point outside it, so the resolved path is checked as well.
  const std::filesystem::path real = std::filesystem::canonical(folder / location, error);
  if (error) return invalid(name + ": " + error.message());
  const std::filesystem::path base = std::filesystem::canonical(folder, error);
  if (!is_inside(std::filesystem::relative(real, base, error))) return is_outside;
  return real.string();
}

}  // namespace

Result<TensorBytes> external_bytes(const onnx::TensorProto& tensor, TensorBytes bytes,
                                   OnnxFile& file) {
  SCOPEVM_ASSIGN_OR_RETURN(const Place place, place_of(tensor));
  if (place.length && *place.length != bytes.size)
    return invalid("the length of its external data is " + std::to_string(*place.length) +
                   ", expected " + std::to_string(bytes.size) + " bytes for its dims");
  SCOPEVM_ASSIGN_OR_RETURN(const std::string path,
                           resolved(place.location, file.folder.empty() ? "." : file.folder));
  SCOPEVM_ASSIGN_OR_RETURN(std::shared_ptr<Mapping> mapping, map_file(path));
  // The subtraction cannot wrap, whereas offset + bytes.size could overflow.
  if (place.offset > mapping->size || mapping->size - place.offset < bytes.size)
    return invalid("external data \"" + place.location + "\" is too short: expected " +
                   std::to_string(bytes.size) + " bytes at offset " + std::to_string(place.offset) +
                   ", given a file of " + std::to_string(mapping->size) + " bytes");
  // Elements of an empty tensor are not read, so any address is valid for them.
  bytes.data = bytes.size == 0 ? "" : static_cast<const char*>(mapping->address) + place.offset;
  bytes.owner = mapping;
  file.data_files.insert(place.location);
  return bytes;
}

}  // namespace scopevm::compiler::frontend
