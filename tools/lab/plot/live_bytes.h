// Live bytes over time, from events in the order of time.
#pragma once

#include "tools/lab/plot/history.h"

namespace scopevm::lab {

class LiveBytes {
 public:
  // The samples, peaks and scope_peaks of `history` are filled. REQUIRES: its begin, end and scopes
  // are set.
  explicit LiveBytes(History& history);
  // Adds `change` bytes to the live bytes of a scope.
  void add(uint64_t time, uint64_t event, uint32_t scope, int64_t change);
  // Fills the samples after the last event.
  void finish();

 private:
  void advance(size_t sample);

  History& history_;
  Sample live_;
  size_t sample_ = 0;
};

}  // namespace scopevm::lab
