// Records the launches of a run, and compares those of another run with a recording.
#pragma once

#include <optional>
#include <vector>

#include "tools/execution/launch_observer.h"
#include "tools/execution/recording.h"

namespace scopevm::tool {

class LaunchRecorder final : public LaunchObserver {
 public:
  // With `has_tensors`, the recording contains the tensors in addition to their digests.
  LaunchRecorder(CodeMap& code, bool has_tensors)
      : LaunchObserver(code), has_tensors_(has_tensors) {}

  std::vector<RecordedLaunch> take() { return std::move(launches_); }

 private:
  bool launched(ObservedLaunch launch) override;

  const bool has_tensors_;
  std::vector<RecordedLaunch> launches_;
};

// The first launch whose outputs differ from the recorded ones.
struct LaunchDifference {
  // The recorded launch and that of the run; empty after the end of the recording or of the run.
  std::optional<RecordedLaunch> expected;
  std::optional<RecordedLaunch> given;  // with tensors
  // The first output that differs. Empty if another instruction was executed, or if it wrote
  // tensors of other types.
  std::optional<size_t> output;
};

// Ends the run at the first difference.
class LaunchComparison final : public LaunchObserver {
 public:
  // `expected` must outlive this object.
  LaunchComparison(CodeMap& code, const std::vector<RecordedLaunch>& expected)
      : LaunchObserver(code), expected_(expected) {}

  // The number of equal launches.
  size_t count() const { return count_; }
  // Called after the end of the run.
  std::optional<LaunchDifference> difference() const;
  // Whether a difference has ended the run.
  bool has_stopped() const { return difference_.has_value(); }

 private:
  bool launched(ObservedLaunch launch) override;

  const std::vector<RecordedLaunch>& expected_;
  size_t count_ = 0;
  std::optional<LaunchDifference> difference_;
};

}  // namespace scopevm::tool
