// Divides the requests in ranges of dims by the function that they enter: main, or the first
// variant that admits them. For largest_bound.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scopevm/module.h"
#include "vm/load/loaded_module.h"

namespace scopevm::vm {

// Values of one dimension: the multiples of a number in a range, without the multiples of others.
struct DimSet {
  int64_t least = 0;  // the first value
  int64_t most = 0;   // the last value
  int64_t multiple_of = 1;
  std::vector<int64_t> excluded;  // no value is a multiple of one of these

  // Sets both ends to values of the set. Returns false if the set is empty.
  bool tighten();
};

// All combinations of the values, by dimension of the signature. Not empty.
using RequestBox = std::vector<DimSet>;

struct EntryBox {
  uint32_t entry = 0;  // the function that the requests enter
  RequestBox box;
};

// The requests in the given ranges, as boxes without common requests. A dimension without a range
// has the range of the signature. With many overlapping variants, some boxes of a function also
// contain requests that enter another function.
std::vector<EntryBox> request_boxes(const LoadedModule& module,
                                    const std::map<std::string, DimRange>& ranges);

}  // namespace scopevm::vm
