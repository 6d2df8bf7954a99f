#include "tests/property/check/check_pool.h"

#include <functional>
#include <iterator>
#include <optional>
#include <random>

namespace scopevm::compiler::property {
namespace {

// Adds a pool with a random limit and speed to the description of scatter().
std::string with_pool(const std::string& machine, std::mt19937_64& random) {
  const auto one_of = [&](auto... choices) {
    const std::string all[] = {choices...};
    return all[random() % std::size(all)];
  };
  const std::string device = one_of("cpu", "npu", "dsp");
  std::string pool = R"({"device": ")" + device + R"(", "scope": "global.more", "limit_bytes": )" +
                     one_of("64", "1000", "17000", "100000", "10000000") +
                     R"(, "bytes_per_second": )" + one_of("1e9", "50e9", "1e12") +
                     R"(, "latency_seconds": )" + one_of("1e-7", "1e-5");
  if (random() % 2 == 0)
    pool += R"(, "reached_by": [")" + std::string(device == "cpu" ? "npu" : "cpu") + R"("])";
  const size_t end = machine.rfind(']');
  return machine.substr(0, end) + ", " + pool + "}" + machine.substr(end);
}

// The seconds of all copies and spills in a call; none if they depend on data.
std::optional<double> seconds_of(const CopyExplanation& explanation) {
  double seconds = 0;
  for (const CopyExplanation::Copy& copy : explanation.copies) {
    if (!copy.bytes || !copy.times_depend_on.empty()) return std::nullopt;
    if (!copy.is_spill) seconds += copy.seconds * copy.times;
  }
  for (const CopyExplanation::Limit& limit : explanation.limits) seconds += limit.seconds;
  return seconds;
}

}  // namespace

Result<PoolEffect> effect_of_pool(const std::string& text, CompileOptions options) {
  SCOPEVM_ASSIGN_OR_RETURN(const CopyExplanation without, explain<CopyExplanation>(options));
  std::mt19937_64 random(std::hash<std::string>()(text));
  options.machine_json = with_pool(options.machine_json, random);
  const Result<CopyExplanation> with = explain<CopyExplanation>(options);
  if (!with.ok()) return PoolEffect{"with a pool: " + std::string(with.status().message())};
  const std::optional<double> before = seconds_of(without), after = seconds_of(*with);
  if (!before || !after) return PoolEffect();
  if (*after <= *before * (1 + 1e-9)) return PoolEffect{.is_compared = true};
  return PoolEffect{"copies take " + std::to_string(*before * 1e6) + " us, and " +
                        std::to_string(*after * 1e6) + " us with a pool: " + options.machine_json,
                    true};
}

}  // namespace scopevm::compiler::property
