// The JSON output of scopevm explain --memory (docs/explain.md).
#include "tools/compile/reports/memory_json.h"

#include <nlohmann/json.hpp>

#include "tools/files/json_output.h"

namespace scopevm::tool {
namespace {

using nlohmann::ordered_json;
using Function = MemoryExplanation::Function;
using Arena = MemoryExplanation::Arena;

template <typename List, typename Convert>
ordered_json array_of(const List& list, const Convert& convert) {
  ordered_json out = ordered_json::array();
  for (const auto& item : list) out.push_back(convert(item));
  return out;
}

ordered_json json_of(const MemoryExplanation::Line& line) {
  ordered_json out{{"pool", line.pool},
                   {"what", line.what},
                   {"is_result", line.is_result},
                   {"bytes", line.bytes},
                   {"lower_bound_bytes", line.lower_bound_bytes},
                   {"depends_on_data", line.depends_on_data}};
  if (line.step) out["step"] = *line.step;
  return out;
}

ordered_json json_of(const MemoryExplanation::Pool& pool) {
  ordered_json out{{"pool", pool.name},
                   {"bytes", pool.bytes},
                   {"lower_bound_bytes", pool.lower_bound_bytes},
                   {"constant_bytes", pool.constant_bytes}};
  if (pool.limit_bytes) out["limit_bytes"] = *pool.limit_bytes;
  return out;
}

ordered_json json_of(const MemoryExplanation::Buffer& buffer) {
  return {{"name", buffer.name},
          {"values", buffer.values},
          {"views", buffer.views},
          {"is_scratch", buffer.is_scratch},
          {"first_step", buffer.first_step},
          {"last_step", buffer.last_step},
          {"bytes", buffer.bytes},
          {"offset", buffer.offset}};
}

ordered_json json_of(const Arena& arena) {
  ordered_json live = ordered_json::array();
  for (const MemoryExplanation::LiveBuffer& buffer : arena.live)
    live.push_back({{"buffer", buffer.buffer},
                    {"peak_bytes_without", buffer.bytes_without},
                    {"is_accessed", buffer.is_accessed}});
  const auto peak_of = [](const MemoryPeak& peak) {
    return ordered_json{{"step", peak.step}, {"bytes", peak.bytes}};
  };
  ordered_json out{{"pool", arena.pool},
                   {"segment", arena.segment},
                   {"bytes", arena.bytes},
                   {"lower_bound_bytes", arena.lower_bound_bytes},
                   {"peak", peak_of(arena.peak)}};
  if (arena.next_peak) out["next_peak"] = peak_of(*arena.next_peak);
  out["live"] = std::move(live);
  out["buffers"] = array_of(arena.buffers, [](const auto& b) { return json_of(b); });
  out["alternatives"] = array_of(arena.alternatives, [](const auto& alternative) {
    return ordered_json{{"option", alternative.option},
                        {"bytes", alternative.bytes},
                        {"lower_bound_bytes", alternative.lower_bound_bytes}};
  });
  return out;
}

ordered_json json_of(const Function& function) {
  return {{"name", function.name},
          {"dims", ordered_json(function.dims)},
          {"representative_dims", function.assumed},
          {"pools", array_of(function.pools, [](const auto& p) { return json_of(p); })},
          {"lines", array_of(function.lines, [](const auto& l) { return json_of(l); })},
          {"steps", array_of(function.steps,
                             [](const auto& step) {
                               return ordered_json{{"op", step.op}, {"name", step.name}};
                             })},
          {"arenas", array_of(function.arenas, [](const auto& a) { return json_of(a); })}};
}

}  // namespace

void print_memory_json(const MemoryExplanation& explanation) {
  write_json(
      {{"threads", explanation.threads},
       {"functions", array_of(explanation.functions, [](const auto& f) { return json_of(f); })},
       {"warnings", explanation.warnings}});
}

}  // namespace scopevm::tool
