// Links object files to an ELF shared object, with lld as a library.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>

#include "compiler/codegen/cpu/stages.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/blocked_signals.h"

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

// A file in memory. Without a name, it ends with its process.
class AnonymousFile {
 public:
  AnonymousFile() : file_(memfd_create("scopevm", MFD_CLOEXEC)) {}
  ~AnonymousFile() {
    if (file_ >= 0) close(file_);
  }
  AnonymousFile(const AnonymousFile&) = delete;
  AnonymousFile& operator=(const AnonymousFile&) = delete;

  // Returns false and sets errno on failure.
  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return true;
  }
  // The path by which this process opens the file.
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  const int file_;
};

// Restores the handlers of all signals. lld removes its output file after a signal: with its first
// link, LLVM installs handlers for most signals of the process, and never removes them.
class KeptSignalHandlers {
 public:
  KeptSignalHandlers() {
    for (int signal = 1; signal < kEnd; ++signal)
      (void)sigaction(signal, nullptr, &handlers_[static_cast<size_t>(signal)]);
  }
  ~KeptSignalHandlers() {
    for (int signal = 1; signal < kEnd; ++signal) {
      const struct sigaction& before = handlers_[static_cast<size_t>(signal)];
      struct sigaction now = {};
      if (sigaction(signal, nullptr, &now) == 0 && now.sa_sigaction != before.sa_sigaction)
        (void)sigaction(signal, &before, nullptr);
    }
  }
  KeptSignalHandlers(const KeptSignalHandlers&) = delete;
  KeptSignalHandlers& operator=(const KeptSignalHandlers&) = delete;

 private:
  static constexpr int kEnd = 32;  // LLVM uses none of the real-time signals after these
  std::array<struct sigaction, kEnd> handlers_ = {};
};

Status run_lld(const std::vector<std::string>& arguments) {
  // lld has global state, so a process runs one link at a time.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  // Its state is inconsistent after an exception, for example std::bad_alloc: see
  // LeakedOnException.
  static bool has_failed = false;
  if (has_failed)
    return Status(StatusCode::kInternal,
                  "the linker failed earlier in this process and cannot run again");
  has_failed = true;
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::string output;
  llvm::raw_string_ostream stream(output);
  const KeptSignalHandlers kept;
  lld::Result result = lld::lldMain(argv, stream, stream, {{lld::Gnu, &lld::elf::link}});
  has_failed = !result.canRunAgain;
  if (result.retCode == 0) return {};
  return Status(StatusCode::kInternal, "linking the kernel image failed: " + output);
}

}  // namespace

Result<std::vector<uint8_t>> link_shared(const std::vector<std::string>& objects) {
  const runtime::BlockedSignals blocked;  // while the directory exists
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
  std::vector<AnonymousFile> files(objects.size());
  for (size_t i = 0; i < objects.size(); ++i) {
    if (!files[i].write(objects[i]))
      return Status(StatusCode::kResourceLimit,
                    "no memory for the objects to link: " + std::string(std::strerror(errno)));
    arguments.push_back(files[i].path());
  }
  SCOPEVM_RETURN_IF_ERROR(run_lld(arguments));
  std::ifstream file(image, std::ios::binary);
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {});
}

}  // namespace scopevm::compiler::codegen
