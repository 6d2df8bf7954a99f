// An axis of addresses without large unused ranges: a process has heaps and mappings that are
// terabytes apart.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/lab/plot/history.h"

namespace scopevm::lab {

class AddressAxis {
 public:
  struct Region {
    uint64_t address;
    uint64_t bytes;
    uint64_t position;  // on the axis
  };

  explicit AddressAxis(const std::vector<Span>& spans);
  // REQUIRES: the address is in a span.
  uint64_t position(uint64_t address) const;
  uint64_t height() const;
  const std::vector<Region>& regions() const { return regions_; }

 private:
  std::vector<Region> regions_;  // by address
};

}  // namespace scopevm::lab
