#include "runtime/plan/search/exact_priorities.h"

#include <cmath>

namespace scopevm::plan {

PriorityGenerator::PriorityGenerator(const Instance& instance, uint64_t seed) : random_(seed) {
  for (const Item& item : instance.items) {
    double duration = 0;
    for (const Lifespan& lifespan : item.lifespans)
      duration += static_cast<double>(lifespan.upper - lifespan.lower);
    log_size_.push_back(std::log(static_cast<double>(item.size)));
    log_duration_.push_back(std::log(duration));
  }
}

double PriorityGenerator::random() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

void PriorityGenerator::next(ExactSearch& search) {
  const bool is_first = calls_ == 0;
  const double exponent = is_first ? 0 : 0.8 * random() - 0.2;
  const double noise = is_first ? 0 : 0.1 + 0.7 * random();
  search.prefers_low_cliques = calls_++ % 2 == 1;
  for (size_t item = 0; item < log_size_.size(); ++item) {
    search.priorities[item] =
        log_size_[item] + exponent * log_duration_[item] + std::log(1 + noise * (2 * random() - 1));
  }
}

}  // namespace scopevm::plan
