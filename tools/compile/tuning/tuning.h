// The option --tune and those that need it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "tools/compile/tuning/cache.h"

namespace scopevm::tool {

struct TuneOptions {
  bool is_enabled = false;
  std::vector<std::string> requests;  // the dims of each: "n=1,length=128"
  int threads = 1;                    // of the sessions that are measured
  std::string cache;                  // see TuningCache::open()
};

// Sets options.tuning, which measures with options.external_libraries. Returns the cache that it
// uses; null if tuning is not enabled. Errors: kInvalidArgument (an invalid request), and those of
// TuningCache::open().
Result<std::shared_ptr<TuningCache>> set_tuning(const TuneOptions& tune, CompileOptions& options);

// "faster 10.2 ms, none 11.3 ms, all 15.0 ms; chosen: faster".
std::string text_of(const std::vector<TunedModel>& models);
// "direct 12.3 us, winograd 5.6 us; chosen: winograd".
std::string text_of(const std::vector<MeasuredForm>& forms);

}  // namespace scopevm::tool
