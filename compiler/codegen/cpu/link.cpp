// Links object files to an ELF shared object, with lld as a library.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>

#include "compiler/codegen/cpu/stages.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace scopevm::compiler::codegen {
namespace {

// A private temporary directory, which the destructor removes. It is in /dev/shm, a file system in
// memory, if that is writable.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string pattern =
        std::string(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + "/scopevm-XXXXXX";
    if (mkdtemp(pattern.data())) path_ = pattern;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Status run_lld(const std::vector<std::string>& arguments) {
  // lld has global state, so a process runs one link at a time.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::string output;
  llvm::raw_string_ostream stream(output);
  lld::Result result = lld::lldMain(argv, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode == 0) return {};
  return Status(StatusCode::kInternal, "linking the kernel image failed: " + output);
}

}  // namespace

Result<std::vector<uint8_t>> link_shared(const std::vector<std::string>& objects) {
  ScratchDirectory scratch;
  if (scratch.path().empty())
    return Status(StatusCode::kResourceLimit, "no writable directory for linking (/dev/shm, /tmp)");
  std::string image = scratch.path() + "/image.so";
  std::vector<std::string> arguments = {"ld.lld",
                                        "-shared",
                                        "--build-id=none",
                                        "--hash-style=gnu",
                                        "--gc-sections",
                                        "-z",
                                        "now",
                                        "-z",
                                        "noexecstack",
                                        "--threads=1",
                                        "-s",
                                        "-o",
                                        image};
  for (size_t i = 0; i < objects.size(); ++i) {
    std::string path = scratch.path() + "/" + std::to_string(i) + ".o";
    std::ofstream file(path, std::ios::binary);
    file.write(objects[i].data(), static_cast<std::streamsize>(objects[i].size()));
    if (!file.flush())
      return Status(StatusCode::kResourceLimit, "cannot write " + path + " for linking");
    arguments.push_back(path);
  }
  SCOPEVM_RETURN_IF_ERROR(run_lld(arguments));
  std::ifstream file(image, std::ios::binary);
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {});
}

}  // namespace scopevm::compiler::codegen
