// Records and compares launches; see recorder.h.
#include "tools/execution/recorder.h"

#include <string>
#include <utility>

namespace scopevm::tool {
namespace {

RecordedLaunch recorded(const CodeMap& code, ObservedLaunch launch, bool has_tensors) {
  RecordedLaunch result{launch.position,
                        code.function(launch.place).name,
                        launch.place.word,
                        std::string(code.name(launch.place)),
                        std::string(code.op(launch.place)),
                        {},
                        {}};
  for (const Tensor& output : launch.outputs) result.outputs.push_back(tensor_digest(output));
  if (has_tensors) result.tensors = std::move(launch.outputs);
  return result;
}

bool have_equal_types(const RecordedLaunch& a, const RecordedLaunch& b) {
  if (a.outputs.size() != b.outputs.size()) return false;
  for (size_t i = 0; i < a.outputs.size(); ++i)
    if (a.outputs[i].dtype != b.outputs[i].dtype || a.outputs[i].dims != b.outputs[i].dims)
      return false;
  return true;
}

}  // namespace

bool LaunchRecorder::launched(ObservedLaunch launch) {
  launches_.push_back(recorded(code(), std::move(launch), has_tensors_));
  return true;
}

bool LaunchComparison::launched(ObservedLaunch launch) {
  RecordedLaunch given = recorded(code(), std::move(launch), true);
  if (count_ == expected_.size()) {
    difference_ = {std::nullopt, std::move(given), std::nullopt};
    return false;
  }
  const RecordedLaunch& expected = expected_[count_];
  if (given.function != expected.function || given.word != expected.word ||
      given.position != expected.position || !have_equal_types(given, expected)) {
    difference_ = {expected, std::move(given), std::nullopt};
    return false;
  }
  for (size_t i = 0; i < given.outputs.size(); ++i)
    if (given.outputs[i].digest != expected.outputs[i].digest) {
      difference_ = {expected, std::move(given), i};
      return false;
    }
  ++count_;
  return true;
}

std::optional<LaunchDifference> LaunchComparison::difference() const {
  if (difference_ || count_ == expected_.size()) return difference_;
  return LaunchDifference{expected_[count_], std::nullopt, std::nullopt};
}

}  // namespace scopevm::tool
