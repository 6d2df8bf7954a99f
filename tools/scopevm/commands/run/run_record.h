// The recording of `scopevm run --record`, and the runs that replay recordings.
#pragma once

#include <string>
#include <vector>

#include "scopevm/session.h"
#include "tools/execution/recorder.h"
#include "tools/scopevm/module_file.h"

namespace scopevm::tool {

class RunRecord {
 public:
  // `module` must outlive this object. With `has_tensors`, the file contains the tensors that each
  // launch writes, in addition to their digests.
  RunRecord(const ObservedModule& module, bool has_tensors)
      : module_(module), code_(module.contents), launches_(code_, has_tensors) {}

  // Sets the options of the session that must be equal for a replay.
  static void prepare(SessionOptions& session, const ObservedModule& module);

  ExecutionHook& hook() { return launches_; }
  // Writes the recording of a run with this result. `about` has the options and inputs. Errors:
  // kInvalidArgument (the file cannot be written).
  Status write(const std::string& path, Recording about, const Call& call, const Status& outcome);

 private:
  const ObservedModule& module_;
  CodeMap code_;
  LaunchRecorder launches_;
};

}  // namespace scopevm::tool
