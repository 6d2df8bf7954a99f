#include "tests/property/check/check_pool.h"

#include <functional>
#include <iterator>
#include <random>

namespace scopevm::compiler::property {
namespace {

// Adds a pool with a random limit and speed to a description of scatter().
std::string with_pool(const std::string& machine, const std::string& scope,
                      std::mt19937_64& random) {
  const auto one_of = [&](auto... choices) {
    const std::string all[] = {choices...};
    return all[random() % std::size(all)];
  };
  const bool has_dsp = machine.find("\"dsp\"") != std::string::npos;
  const std::string device = one_of("cpu", "npu", has_dsp ? "dsp" : "gpu");
  std::string pool = R"({"device": ")" + device + R"(", "scope": ")" + scope +
                     R"(", "limit_bytes": )" + one_of("64", "1000", "17000", "100000", "10000000") +
                     R"(, "bytes_per_second": )" + one_of("1e9", "50e9", "1e12") +
                     R"(, "latency_seconds": )" + one_of("1e-7", "1e-5");
  // The workspace of a device is reached by the same devices as its pool "global".
  std::string other = device != "cpu" ? "cpu" : has_dsp ? "npu" : "gpu";
  if (scope == "global.workspace")
    other = device == "npu" && has_dsp ? "dsp" : "";
  else if (random() % 2 != 0 || device == "gpu")
    other.clear();
  if (!other.empty()) pool += R"(, "reached_by": [")" + other + R"("])";
  const size_t end = machine.rfind(']');
  return machine.substr(0, end) + ", " + pool + "}" + machine.substr(end);
}

}  // namespace

Result<std::string> worse_with_pool(const std::string& text, CompileOptions options) {
  const size_t seed = std::hash<std::string>()(text);
  std::mt19937_64 random(seed), random_of_first(seed + 1);
  // A workspace with a limit can require spills.
  if (const uint64_t kind = random_of_first() % 4; kind < 2)
    options.machine_json = with_pool(
        options.machine_json, kind == 0 ? "global.first" : "global.workspace", random_of_first);
  SCOPEVM_ASSIGN_OR_RETURN(const CopyExplanation without, explain<CopyExplanation>(options));
  options.machine_json = with_pool(options.machine_json, "global.more", random);
  const Result<CopyExplanation> with = explain<CopyExplanation>(options);
  if (!with.ok()) return "with a pool: " + std::string(with.status().message());
  if (with->seconds <= without.seconds * (1 + 1e-9)) return std::string();
  return "a call takes " + std::to_string(without.seconds * 1e6) + " us, and " +
         std::to_string(with->seconds * 1e6) + " us with a pool: " + options.machine_json;
}

}  // namespace scopevm::compiler::property
