// scopevm alloc record: runs a command with libscopevm_record.so preloaded, and writes a memory
// trace of each of its processes.
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "runtime/count_text.h"
#include "tools/command_line/arguments.h"
#include "tools/command_line/child_process.h"
#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/command_line/parser.h"
#include "tools/files/file.h"
#include "tools/files/own_files.h"
#include "tools/lab/record/convert.h"
#include "tools/scopevm_record/spool.h"
#include "tools/scopevm_record/ticks.h"

namespace scopevm::lab {
namespace {

namespace fs = std::filesystem;
using runtime::count_text;

// As in shells.
constexpr int kExitNotStarted = 127;

struct RecordOptions {
  std::string output;
  std::vector<std::string> command;
  int depth = 1;
  std::string limit = "4GiB";
};

// A folder that is deleted with its contents.
class ScratchFolder {
 public:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  ~ScratchFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Measures the rate of now_ticks() over the lifetime of the recorded command.
class TickRate {
 public:
  double ticks_per_ns() const {
    // The clocks are read one after the other, about 50 ns apart: an error below 0.01 %.
    constexpr auto kShortest = std::chrono::milliseconds(2);
    std::this_thread::sleep_until(start_ + kShortest);
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    const uint64_t ticks = record::now_ticks() - start_ticks_;
    return static_cast<double>(ticks) /
           static_cast<double>(
               std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count());
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  uint64_t start_ticks_ = record::now_ticks();
};

Result<std::string> make_spool_folder(const std::string& output) {
  std::string path = fs::absolute(output).string() + ".spool-XXXXXX";
  if (mkdtemp(path.data()) == nullptr)
    return Status(StatusCode::kInvalidArgument,
                  path + ": cannot create a folder for the recording");
  return path;
}

using Variables = std::vector<std::pair<std::string, std::string>>;

Variables variables(const std::string& library, const std::string& folder,
                    const RecordOptions& options, int64_t limit) {
  const char* preloaded = std::getenv("LD_PRELOAD");
  const bool has_others = preloaded != nullptr && *preloaded != '\0';
  return {{"LD_PRELOAD", library + (has_others ? ":" + std::string(preloaded) : "")},
          {record::kFolderVariable, folder},
          {record::kDepthVariable, std::to_string(options.depth)},
          {record::kLimitVariable, std::to_string(limit)}};
}

// The trace of the last program that the command's process executes is FILE. Other images are
// FILE.PID, or FILE.PID.N if the process executes several programs.
std::string trace_path(const std::vector<RecordedImage>& images, size_t index, int command_pid,
                       const std::string& output) {
  const RecordedImage& image = images[index];
  const bool is_last = index + 1 == images.size() || images[index + 1].pid != image.pid;
  if (static_cast<int>(image.pid) == command_pid && is_last) return output;
  std::string path = output + "." + std::to_string(image.pid);
  if (image.image > 0 || !is_last) path += "." + std::to_string(image.image);
  return path;
}

void report_trace(const std::string& path, const TraceTotals& totals, const RecordedImage& image) {
  tool::print_message(stderr, "recorded {} by {}: {}\n",
                      count_text(totals.allocations, "allocation"), image.command, path);
  if (totals.lost_events > 0)
    tool::print_message(stderr,
                        "scopevm: warning: {}: the limit of the recording was reached; {} after "
                        "that are missing (--limit)\n",
                        path, count_text(totals.lost_events, "event"));
}

Status write_traces(const std::string& folder, int command_pid, double ticks_per_ns,
                    const RecordOptions& options) {
  const std::vector<RecordedImage> images = recorded_images(folder);
  bool has_command = false;
  for (size_t i = 0; i < images.size(); ++i) {
    const std::string path = trace_path(images, i, command_pid, options.output);
    SCOPEVM_ASSIGN_OR_RETURN(const TraceTotals totals, convert(images[i], ticks_per_ns, path));
    report_trace(path, totals, images[i]);
    has_command |= path == options.output;
  }
  if (has_command) return {};
  return {StatusCode::kUnsupported,
          options.command.front() +
              ": no allocation was recorded: the program is statically linked, changes its user "
              "or environment, or contains its own malloc()"};
}

Result<int> record_command(const RecordOptions& options, int64_t limit) {
  SCOPEVM_RETURN_IF_ERROR(tool::check_is_writable(options.output));
  SCOPEVM_ASSIGN_OR_RETURN(const std::string library,
                           tool::find_own_library("libscopevm_record.so"));
  SCOPEVM_ASSIGN_OR_RETURN(const std::string path, make_spool_folder(options.output));
  const ScratchFolder folder(path);
  const TickRate rate;
  const Result<tool::ChildProcess> child =
      tool::run_child(options.command, variables(library, folder.path(), options, limit));
  if (!child.ok()) {
    tool::print_error(child.status().message());
    return kExitNotStarted;
  }
  SCOPEVM_RETURN_IF_ERROR(write_traces(folder.path(), child->pid, rate.ticks_per_ns(), options));
  return child->exit_code;
}

int record_allocations(const RecordOptions& options) {
  if (options.output == tool::kStandardStream)
    return tool::report_usage("-o -: expected a file: the command writes to stdout");
  const Result<int64_t> limit = tool::parse_bytes(options.limit);
  if (!limit.ok()) return tool::report_usage("--limit: " + std::string(limit.status().message()));
  const Result<int> code = record_command(options, *limit);
  return code.ok() ? *code : tool::report(code.status());
}

void declare(CLI::App& command, RecordOptions& options) {
  command
      .add_option("-o,--output", options.output,
                  "Output trace file; child processes are written to FILE.PID")
      ->type_name("FILE")
      ->required();
  command
      .add_option("--stack-depth", options.depth,
                  "Number of return addresses to record for each allocation; 1 is fastest")
      ->check(tool::integer_in(1, record::kMaxDepth))
      ->capture_default_str();
  command
      .add_option("--limit", options.limit,
                  "Limit of the temporary files of each process; later events are counted only")
      ->type_name("BYTES")
      ->capture_default_str();
  command.add_option("COMMAND", options.command, "After --: the command and its arguments")
      ->required();
}

const tool::Command<RecordOptions> record_alloc(
    {.position = 102,
     .name = "alloc record",
     .description = "Run a command and record its allocations; exits with the command's exit code"},
    declare, record_allocations);

}  // namespace
}  // namespace scopevm::lab
