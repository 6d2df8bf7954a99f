// Reads config.json; see model_config.h.
#include "tools/serve/model/model_config.h"
#include "tools/serve/protocol/invalid.h"

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/quoted.h"
#include "tools/command_line/arguments.h"

namespace scopevm::serve {
namespace {

using nlohmann::json;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

Result<int64_t> integer(const json& value, int64_t least, int64_t most) {
  // A comparison with int64_t would convert an unsigned value of more than kMax.
  const bool is_int64 =
      value.is_number_integer() && (!value.is_number_unsigned() || value.get<uint64_t>() <= kMax);
  const bool is_in_range = is_int64 && value >= least && value <= most;
  if (is_in_range) return value.get<int64_t>();
  return invalid("expected an integer from " + std::to_string(least) + " to " +
                 std::to_string(most) + ", given " + value.dump());
}

Result<std::string> text_of(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  return invalid("expected a string, given " + value.dump());
}

// Reads the members of an object with functions by name.
using Reader = std::function<Status(const json& value)>;
Status read_members(const json& object, const std::map<std::string, Reader>& readers) {
  if (!object.is_object()) return invalid("expected an object");
  for (const auto& [name, value] : object.items()) {
    const auto reader = readers.find(name);
    if (reader == readers.end()) return invalid("unknown member " + runtime::quoted(name));
    Status status = reader->second(value);
    if (!status.ok()) return std::move(status).with_context(runtime::quoted(name));
  }
  return {};
}

// A reader of an integer into a variable or a duration.
template <typename T>
Reader into(T& result, int64_t least, int64_t most) {
  return [&result, least, most](const json& value) -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const int64_t number, integer(value, least, most));
    result = T(number);
    return {};
  };
}

Status read_versions(const json& value, VersionPolicy& policy) {
  if (value == "all") {
    policy.latest = std::numeric_limits<size_t>::max();
    return {};
  }
  if (!value.is_array()) return into(policy.latest, 1, 1000)(value);
  for (const json& number : value) {
    SCOPEVM_ASSIGN_OR_RETURN(policy.numbers.emplace_back(), integer(number, 1, kMax));
  }
  if (policy.numbers.empty()) return invalid("expected at least one version");
  return {};
}

Status read_budgets(const json& value, std::vector<ScopeLimit>& budgets) {
  if (!value.is_object()) return invalid("expected an object of sizes by memory scope");
  for (const auto& [scope, size] : value.items()) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string text, text_of(size));
    SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, tool::parse_bytes(text));
    budgets.push_back({scope, bytes});
  }
  return {};
}

Status read_dims(const json& value, std::map<std::string, int64_t>& dims) {
  if (!value.is_object()) return invalid("expected objects with the values of dims");
  for (const auto& [name, dim] : value.items()) {
    SCOPEVM_ASSIGN_OR_RETURN(dims[name], integer(dim, 0, kMax));
  }
  return {};
}

Status read_warm_up(const json& value, std::vector<std::map<std::string, int64_t>>& calls) {
  if (!value.is_array()) return invalid("expected an array of objects with the values of dims");
  for (const json& dims : value) SCOPEVM_RETURN_IF_ERROR(read_dims(dims, calls.emplace_back()));
  return {};
}

Status read_strings(const json& value, std::vector<std::string>& strings) {
  if (!value.is_array()) return invalid("expected an array of strings");
  for (const json& text : value) {
    SCOPEVM_ASSIGN_OR_RETURN(strings.emplace_back(), text_of(text));
  }
  return {};
}

Status read_pairs(const json& value, std::vector<StatePair>& pairs) {
  if (!value.is_object()) return invalid("expected an object of outputs by input");
  for (const auto& [input, output] : value.items()) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string name, text_of(output));
    pairs.push_back({input, name, {}});
  }
  return {};
}

constexpr int64_t kDayMs = 24LL * 3600 * 1000;

Status read_sequences(const json& value, SequenceConfig& config) {
  return read_members(
      value, {{"states", [&](const json& pairs) { return read_pairs(pairs, config.pairs); }},
              {"dims", [&](const json& dims) { return read_dims(dims, config.dims); }},
              {"idle_timeout_ms", into(config.idle_timeout, 1, kDayMs)},
              {"max", into(config.max, 1, 1'000'000)}});
}

Status read_batch(const json& value, BatchConfig& batch) {
  const auto dim = [&](const json& name) -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(batch.dim, text_of(name));
    return {};
  };
  const auto asserted = [&](const json& given) -> Status {
    if (!given.is_boolean()) return invalid("expected true or false");
    batch.is_asserted = given.get<bool>();
    return {};
  };
  return read_members(
      value, {{"dim", dim}, {"max", into(batch.max, 1, 1'000'000)}, {"asserted", asserted}});
}

Result<int64_t> stop_value(const json& value) {
  if (value.is_boolean()) return int64_t{value.get<bool>()};
  return integer(value, std::numeric_limits<int64_t>::min(), kMax);
}

Status read_stops(const json& value, std::vector<StopValues>& stops) {
  if (!value.is_object()) return invalid("expected an object of values by output");
  for (const auto& [output, values] : value.items()) {
    StopValues& stop = stops.emplace_back(StopValues{output, {}});
    for (const json& one : values.is_array() ? values : json::array({values})) {
      SCOPEVM_ASSIGN_OR_RETURN(stop.values.emplace_back(), stop_value(one));
    }
  }
  return {};
}

Status read_generate(const json& value, std::optional<GenerateConfig>& generate) {
  GenerateConfig& config = generate.emplace();
  return read_members(
      value, {{"feedback", [&](const json& pairs) { return read_pairs(pairs, config.feedback); }},
              {"stop", [&](const json& stops) { return read_stops(stops, config.stops); }},
              {"steps", into(config.steps, 1, 1'000'000)}});
}

}  // namespace

Result<ModelConfig> parse_model_config(std::string_view text) {
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded()) return invalid("not JSON");
  ModelConfig config;
  std::chrono::milliseconds timeout{};
  SCOPEVM_RETURN_IF_ERROR(read_members(
      document,
      {{"versions", [&](const json& value) { return read_versions(value, config.versions); }},
       {"priority", into(config.priority, -1000, 1000)},
       {"timeout_ms", into(timeout, 1, kDayMs)},
       {"max_requests", into(config.max_requests, 1, 1'000'000)},
       {"data_budgets",
        [&](const json& value) { return read_budgets(value, config.data_budgets); }},
       {"warm_up", [&](const json& value) { return read_warm_up(value, config.warm_up); }},
       {"compile", [&](const json& value) { return read_strings(value, config.compile); }},
       {"batch", [&](const json& value) { return read_batch(value, config.batch.emplace()); }},
       {"generate", [&](const json& value) { return read_generate(value, config.generate); }},
       {"sequences", [&](const json& value) { return read_sequences(value, config.sequences); }}}));
  config.timeout = timeout;
  if (config.generate && config.batch)
    return invalid("\"generate\" and \"batch\" exclude each other");
  return config;
}

}  // namespace scopevm::serve
