// The order of admission; see queue.h.
#include "vm/run/admission/queue.h"

#include <iterator>

namespace scopevm::vm {
namespace {

// The number of requests that are considered for one admission: a bound for its time.
constexpr size_t kWindow = 64;

}  // namespace

void AdmissionQueue::add(Entry entry) {
  const Place place{entry.since - entry.priority * policy_.ageing, count_++};
  const auto at = entries_.emplace(place, entry).first;
  try {
    places_.emplace(at->second.request, place);
    if (at->second.deadline) deadlines_.emplace(*at->second.deadline, place);
  } catch (...) {
    take(at);
    throw;
  }
}

std::optional<AdmissionQueue::Entry> AdmissionQueue::admit() {
  size_t considered = 0;
  for (auto at = entries_.begin(); at != entries_.end() && considered < kWindow;
       ++at, ++considered) {
    if (ledger_.reserve(at->second.needs)) {
      for (auto other = entries_.begin(); other != at; ++other) ++other->second.bypassed;
      return take(at);
    }
    if (at->second.bypassed >= policy_.max_bypass) break;
  }
  return std::nullopt;
}

std::optional<AdmissionQueue::Entry> AdmissionQueue::expire(Time now) {
  if (deadlines_.empty() || deadlines_.begin()->first > now) return std::nullopt;
  return take(entries_.find(deadlines_.begin()->second));
}

bool AdmissionQueue::remove(void* request) {
  const auto place = places_.find(request);
  if (place == places_.end()) return false;
  take(entries_.find(place->second));
  return true;
}

std::optional<AdmissionQueue::Time> AdmissionQueue::next_deadline() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.begin()->first;
}

AdmissionQueue::Entry AdmissionQueue::take(Entries::iterator at) {
  if (at->second.deadline) deadlines_.erase({*at->second.deadline, at->first});
  places_.erase(at->second.request);
  const Entry taken = at->second;
  entries_.erase(at);
  return taken;
}

}  // namespace scopevm::vm
