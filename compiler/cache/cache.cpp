// Compiles with the cache of modules; see cache.h.
#include "compiler/cache/cache.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "compiler/cache/entry.h"
#include "compiler/cache/key.h"

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

// Whether the file was changed or replaced after the time, when it can have been read already.
bool is_changed_since(const std::string& path, const timespec& time) {
  struct stat file{};
  if (stat(path.c_str(), &file) != 0) return true;
  const timespec& changed = file.st_ctim;
  return changed.tv_sec != time.tv_sec ? changed.tv_sec > time.tv_sec
                                       : changed.tv_nsec > time.tv_nsec;
}

// Whether compile() uses the cache: measurements and dumps would be missing in a later call.
bool is_used(const CompileOptions& options) {
  return !options.cache_folder.empty() && !options.tuning.measure && options.dump_after.empty();
}

}  // namespace

Result<Compiled> compile_model(pipeline::Context& context) {
  const CompileOptions& options = context.options;
  if (!is_used(options)) return pipeline::compile_model(context);
  const Clock::time_point began = Clock::now();
  timespec start{};
  clock_gettime(CLOCK_REALTIME, &start);
  const std::optional<std::string> key = key_of(options);
  if (!key) return pipeline::compile_model(context);
  const std::string path = options.cache_folder + "/" + *key;
  if (std::optional<CompileOutput> found = read_entry(path, options.model_path)) {
    found->times.push_back(time_of(began));
    return Compiled{.output = *std::move(found)};
  }
  StageTime lookup = time_of(began);
  SCOPEVM_ASSIGN_OR_RETURN(Compiled compiled, pipeline::compile_model(context));
  CompileOutput& output = compiled.output;
  const Clock::time_point compiled_at = Clock::now();
  const bool is_changed =
      std::ranges::any_of(compiled.data_files, [&](const std::string& data_file) {
        return is_changed_since(data_path(data_file, options.model_path), start);
      });
  if (is_changed || (!options.model_bytes && is_changed_since(options.model_path, start)))
    return compiled;
  if (const Status status = write_entry(path, options.model_path, output, compiled.data_files);
      !status.ok())
    output.warnings.emplace_back(status.message());
  StageTime written = time_of(compiled_at);
  written.seconds += lookup.seconds;
  output.times.push_back(written);
  return compiled;
}

}  // namespace scopevm::compiler::cache
