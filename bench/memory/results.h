// Measurements of one allocator, as a row of a table and as JSON; see allocators_bench.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/memory/measure.h"

namespace scopevm::bench {

// The rounds of one allocator with one trace.
struct Results {
  std::string trace;
  std::string work;  // what the program does with the blocks
  std::string allocator;
  std::vector<Measurement> rounds;  // empty: the allocator failed
};

void print_header(std::string_view trace, std::string_view work);
void print_row(const Results& results);

// Writes all results in the form of Google Benchmark, for its comparison tools. Returns false if
// the file cannot be written.
bool write_json(const std::vector<Results>& all, const std::string& path);

}  // namespace scopevm::bench
