#include "tests/ranks/random/distribution.h"

namespace scopevm::ranks {
namespace {

// Messages take no time, so that small models are split.
std::string fast_machine(int ranks) {
  std::string devices, links;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string number = std::to_string(rank);
    devices += std::string(rank > 0 ? ", " : "") + R"({"name": "cpu)" + number +
               R"(", "kind": "cpu", "rank": )" + number + "}";
    for (int other = 0; other < rank; ++other)
      links += std::string(links.empty() ? "" : ", ") + R"({"ranks": [)" + std::to_string(other) +
               ", " + number + R"(], "bytes_per_second": 1e15, "latency_seconds": 1e-12})";
  }
  return R"({"devices": [)" + devices + R"(], "links": [)" + links + "]}";
}

constexpr char kTwoRanks[] = R"({
  "devices": [{"name": "cpu", "kind": "cpu"}, {"name": "one", "kind": "cpu", "rank": 1},
              {"name": "two", "kind": "cpu", "rank": 1, "alignment": 256}]})";
constexpr char kThreeRanks[] = R"({
  "devices": [{"name": "cpu", "kind": "cpu"}, {"name": "one", "kind": "cpu", "rank": 1},
              {"name": "two", "kind": "cpu", "rank": 2}],
  "pools": [{"device": "one", "scope": "global.fast", "bytes_per_second": 1e12}],
  "links": [{"ranks": [1, 2], "bytes_per_second": 1e12, "latency_seconds": 1e-6}]})";

}  // namespace

Distribution random_distribution(Random& random, size_t caches) {
  Distribution result;
  struct Split {
    const char* text;
    int ranks;
  };
  const auto by = random.one_of<Split>({{"tensor=2", 2},
                                        {"tensor=2", 2},
                                        {"tensor=3", 3},
                                        {"pipeline=2", 2},
                                        {"tensor=2,pipeline=2", 4},
                                        {"", 0},
                                        {"", 0}});
  result.split = by.text;
  if (by.ranks > 0) {
    if (random.chance(80)) result.machine_json = fast_machine(by.ranks);
    return result;
  }
  result.machine_json = random.chance(50) ? kTwoRanks : kThreeRanks;
  const std::vector<std::string> devices = {"cpu", "one", "two"};
  for (const char* ops : {"type:[a-c]*", "type:[d-l]*", "type:m*", "type:[n-r]*", "type:[s-z]*"})
    if (random.chance(60)) result.places.push_back(std::string(ops) + "=" + random.one_of(devices));
  for (size_t i = 0; i < caches; ++i) {
    if (!random.chance(70)) continue;
    const std::string number = std::to_string(i), device = random.one_of(devices);
    result.places.push_back("input:past" + number + "=" + device);
    result.places.push_back("output:present" + number + "=" + device);
  }
  return result;
}

}  // namespace scopevm::ranks
