// Compiles with the cache of modules; see cache.h.
#include "compiler/cache/cache.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "compiler/cache/entry.h"
#include "compiler/cache/file.h"
#include "compiler/cache/key.h"
#include "compiler/support/stop.h"

namespace scopevm::compiler::cache {
namespace {

using pipeline::Compiled;
using Clock = std::chrono::steady_clock;

StageTime time_of(Clock::time_point began) {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const std::chrono::duration<double> elapsed = Clock::now() - began;
  return {"cache", elapsed.count(), int64_t{use.ru_maxrss} * 1024, {}};
}

// Whether the file was possibly changed or replaced after the time, when it can have been read
// already.
bool is_changed_since(const std::string& path, const timespec& time) {
  struct stat file{};
  if (stat(path.c_str(), &file) != 0) return true;
  const timespec& changed = file.st_ctim;
  return changed.tv_sec != time.tv_sec ? changed.tv_sec > time.tv_sec
                                       : changed.tv_nsec >= time.tv_nsec;
}

// Whether compile() uses the cache: measurements and dumps would be missing in a later call.
bool is_used(const CompileOptions& options) {
  return !options.cache_folder.empty() && !options.tuning.measure && options.dump_after.empty();
}

}  // namespace

std::unique_ptr<llvm::MemoryBuffer> read_model(CompileOptions& options) {
  if (!is_used(options) || options.model_bytes) return nullptr;
  const std::optional<File> file = File::open(options.model_path);
  if (!file) return nullptr;
  std::unique_ptr<llvm::MemoryBuffer> model = file->read_rest(0);
  if (model)
    options.model_bytes.emplace(reinterpret_cast<const uint8_t*>(model->getBufferStart()),
                                model->getBufferSize());
  return model;
}

Result<Compiled> compile_model(pipeline::Context& context) {
  const CompileOptions& options = context.options;
  if (!is_used(options)) return pipeline::compile_model(context);
  const Clock::time_point began = Clock::now();
  timespec start{};
  // The clock of file systems, which lags CLOCK_REALTIME by up to 10 ms.
  clock_gettime(CLOCK_REALTIME_COARSE, &start);
  if (options.progress) options.progress("cache", 0, 0);
  const std::optional<std::string> key = key_of(options);
  if (!key) return pipeline::compile_model(context);
  const std::string path = options.cache_folder + "/" + *key;
  if (std::optional<CompileOutput> found = read_entry(path, options.model_path)) {
    SCOPEVM_RETURN_IF_ERROR(check_not_stopped(options.stop_token));
    found->times.push_back(time_of(began));
    return Compiled{.output = *std::move(found)};
  }
  StageTime lookup = time_of(began);
  SCOPEVM_ASSIGN_OR_RETURN(Compiled compiled, pipeline::compile_model(context));
  CompileOutput& output = compiled.output;
  const Clock::time_point compiled_at = Clock::now();
  // The digests precede the check of the times: they are those of the compiled bytes if no file has
  // changed since the start.
  const std::optional<std::vector<DataFile>> data_files =
      digest_all(compiled.data_files, options.model_path);
  const bool is_changed =
      std::ranges::any_of(compiled.data_files, [&](const std::string& data_file) {
        return is_changed_since(data_path(data_file, options.model_path), start);
      });
  if (!data_files || is_changed) return compiled;
  if (const Status status = write_entry(path, options.model_path, output, *data_files);
      !status.ok())
    output.warnings.emplace_back(status.message());
  StageTime written = time_of(compiled_at);
  written.seconds += lookup.seconds;
  output.times.push_back(written);
  return compiled;
}

}  // namespace scopevm::compiler::cache
