// A version of a model that is loaded: its module, its session and what requests share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "scopevm/module.h"
#include "scopevm/scheduler.h"
#include "scopevm/session.h"
#include "scopevm/state.h"
#include "scopevm/status.h"
#include "tools/serve/model/batcher.h"
#include "tools/serve/model/job.h"
#include "tools/serve/model/model_config.h"
#include "tools/serve/model/sequences.h"
#include "tools/serve/model/statistics.h"

namespace scopevm::serve {

// What all models of a server share.
struct ModelEnvironment {
  Scheduler scheduler;
  int threads = 1;  // of the parallel loops of a session
  LoadOptions load;
  std::shared_ptr<Job> job;  // null: a model with several ranks runs in this process
};

// Thread-safe.
struct LoadedModel {
  LoadedModel(std::string name, int64_t version, ModelConfig config, Module module, Job::Use ranks,
              Session session, std::unique_ptr<Batcher> batcher);

  // Loads the module in a file, creates its session and makes the calls of `warm_up`. Errors: those
  // of Module::load(), Job::begin(), Session::create() and Session::warm_up(), and kInvalidArgument
  // (a state of the configuration is not one of the module's inputs and outputs).
  static Result<std::shared_ptr<LoadedModel>> load(std::string name, int64_t version,
                                                   const std::string& path, ModelConfig config,
                                                   const ModelEnvironment& environment);

  // The number of calls that succeeded, or with a batcher, were made.
  int64_t execution_count() const {
    return batcher ? batcher->executions() : statistics.successes.load();
  }

  const std::string name;
  const int64_t version;
  const ModelConfig config;
  const Module module;
  const Job::Use ranks;  // of `session`; null: this process only
  const Session session;
  // The inputs that a sequence carries, by their outputs: those of the module and of the
  // configuration.
  const std::vector<StatePair> states;
  ModelStatistics statistics;
  Sequences sequences;
  const std::unique_ptr<Batcher> batcher;  // null: requests run alone
};

}  // namespace scopevm::serve
