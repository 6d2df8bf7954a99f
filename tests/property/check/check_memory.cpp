#include "tests/property/check/check_memory.h"

#include <algorithm>
#include <set>

namespace scopevm::compiler::property {
namespace {

using Arena = MemoryExplanation::Arena;
using Function = MemoryExplanation::Function;

// The lifespan of a buffer in a plan: the steps [lower, upper).
struct Lifespan {
  int64_t lower = 0;
  int64_t upper = 0;
  int64_t bytes = 0;
  int64_t offset = 0;  // in the arena
};

std::string differs(const std::string& what, int64_t actual, int64_t expected) {
  return what + " is " + std::to_string(actual) + ", expected " + std::to_string(expected);
}

std::string wrong_lines(const Function& main, const MemoryBound& bound) {
  if (main.lines.size() != bound.lines.size())
    return differs("the number of lines", static_cast<int64_t>(main.lines.size()),
                   static_cast<int64_t>(bound.lines.size()));
  for (size_t i = 0; i < main.lines.size(); ++i) {
    const MemoryExplanation::Line& line = main.lines[i];
    const MemoryLine& expected = bound.lines[i];
    if (line.what != expected.what || line.is_result != expected.is_result ||
        line.depends_on_data != expected.depends_on_data ||
        line.pool != expected.device + "." + expected.scope)
      return "line " + std::to_string(i) + " is " + line.pool + " " + line.what + ", expected " +
             expected.device + "." + expected.scope + " " + expected.what;
    if (line.bytes != expected.bytes) return differs(line.what, line.bytes, expected.bytes);
    if (line.lower_bound_bytes != expected.lower_bound_bytes)
      return differs("lower bound of " + line.what, line.lower_bound_bytes,
                     expected.lower_bound_bytes);
  }
  return "";
}

std::string wrong_pools(const Function& main, const MemoryBound& bound) {
  size_t found = 0;
  for (const MemoryExplanation::Pool& pool : main.pools)
    for (const ScopeBound& scope : bound.scopes)
      if (pool.name == scope.device + "." + scope.scope) {
        ++found;
        if (pool.bytes != scope.bytes) return differs(pool.name, pool.bytes, scope.bytes);
        if (pool.lower_bound_bytes != scope.lower_bound_bytes)
          return differs("lower bound of " + pool.name, pool.lower_bound_bytes,
                         scope.lower_bound_bytes);
      }
  return found == bound.scopes.size() ? "" : "a pool is missing";
}

// The live bytes at each step at which a lifespan begins; the largest number is the peak.
int64_t peak_of(const std::vector<Lifespan>& lifespans) {
  int64_t peak = 0;
  for (const Lifespan& at : lifespans) {
    int64_t live = 0;
    for (const Lifespan& other : lifespans)
      if (other.lower <= at.lower && at.lower < other.upper) live += other.bytes;
    peak = std::max(peak, live);
  }
  return peak;
}

// Whether the plan is valid and has this height and peak.
std::string wrong_plan(const std::string& name, const std::vector<Lifespan>& lifespans,
                       int64_t height, int64_t peak) {
  int64_t end = 0;
  for (const Lifespan& a : lifespans) {
    end = std::max(end, a.offset + a.bytes);
    for (const Lifespan& b : lifespans)
      if (&a != &b && a.bytes > 0 && b.bytes > 0 && a.lower < b.upper && b.lower < a.upper &&
          a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes)
        return name + ": buffers overlap at offset " + std::to_string(a.offset);
  }
  if (end != height) return differs("the height of " + name, height, end);
  const int64_t live = peak_of(lifespans);
  return live == peak ? "" : differs("the peak of " + name, peak, live);
}

std::vector<Lifespan> lifespans_of(const Arena& arena, int64_t without = -1) {
  std::vector<Lifespan> lifespans;
  for (size_t i = 0; i < arena.buffers.size(); ++i)
    if (const MemoryExplanation::Buffer& buffer = arena.buffers[i];
        static_cast<int64_t>(i) != without)
      lifespans.push_back({buffer.first_step, buffer.last_step + 1, buffer.bytes, buffer.offset});
  return lifespans;
}

std::string wrong_live_buffers(const Arena& arena) {
  std::set<int64_t> expected, actual;
  const int64_t peak = arena.peak.step;
  for (size_t i = 0; i < arena.buffers.size(); ++i)
    if (const auto& b = arena.buffers[i];
        b.bytes > 0 && b.first_step <= peak && peak <= b.last_step)
      expected.insert(static_cast<int64_t>(i));
  int64_t sum = 0;
  for (const MemoryExplanation::LiveBuffer& live : arena.live) {
    actual.insert(live.buffer);
    sum += arena.buffers[live.buffer].bytes;
    if (const int64_t without = peak_of(lifespans_of(arena, live.buffer));
        live.bytes_without != without)
      return differs("the peak without a buffer", live.bytes_without, without);
  }
  if (actual != expected) return "the live buffers at the peak of " + arena.pool + " are wrong";
  if (sum != arena.peak.bytes) return differs("the sum of live bytes", sum, arena.peak.bytes);
  return "";
}

std::string wrong_next_peak(const Arena& arena, int64_t steps) {
  int64_t most = -1;
  for (int64_t step = 0; step < steps; ++step) {
    int64_t live = 0;
    bool is_other = false;
    for (const MemoryExplanation::Buffer& b : arena.buffers) {
      if (step < b.first_step || b.last_step < step) continue;
      live += b.bytes;
      is_other = is_other ||
                 (b.bytes > 0 && (arena.peak.step < b.first_step || b.last_step < arena.peak.step));
    }
    if (is_other) most = std::max(most, live);
  }
  const int64_t reported = arena.next_peak ? arena.next_peak->bytes : -1;
  return reported == most ? "" : differs("the next peak", reported, most);
}

std::string wrong_arena(const Arena& arena, int64_t steps) {
  std::string wrong = wrong_plan(arena.pool, lifespans_of(arena), arena.bytes, arena.peak.bytes);
  if (wrong.empty() && arena.lower_bound_bytes != arena.peak.bytes)
    wrong = differs("the lower bound of " + arena.pool, arena.lower_bound_bytes, arena.peak.bytes);
  if (wrong.empty()) wrong = wrong_live_buffers(arena);
  if (wrong.empty()) wrong = wrong_next_peak(arena, steps);
  for (const MemoryExplanation::Alternative& alternative : arena.alternatives)
    if (alternative.bytes >= arena.bytes || alternative.lower_bound_bytes > alternative.bytes)
      wrong = alternative.option + " does not lower the plan";
  return wrong;
}

// The bytes of arenas whose sizes the dims determine are those of the lines.
std::string wrong_heights(const Function& function) {
  for (const Arena& arena : function.arenas) {
    if (arena.segment > 0) continue;
    const auto line = std::ranges::find_if(function.lines, [&](const auto& l) {
      return l.pool == arena.pool && l.what == "workspace" && !l.is_result;
    });
    if (line == function.lines.end()) return arena.pool + " has no line";
    if (line->bytes != arena.bytes) return differs(arena.pool, arena.bytes, line->bytes);
    if (line->lower_bound_bytes != arena.lower_bound_bytes)
      return differs("lower bound of " + arena.pool, arena.lower_bound_bytes,
                     line->lower_bound_bytes);
  }
  return "";
}

}  // namespace

std::string wrong_memory(const MemoryExplanation& explanation, const MemoryBound& bound) {
  const Function& main = explanation.functions.front();
  std::string wrong = wrong_lines(main, bound);
  if (wrong.empty()) wrong = wrong_pools(main, bound);
  for (const Function& function : explanation.functions) {
    if (wrong.empty()) wrong = wrong_heights(function);
    for (const Arena& arena : function.arenas)
      if (wrong.empty()) wrong = wrong_arena(arena, static_cast<int64_t>(function.steps.size()));
    if (!wrong.empty()) return function.name + ": " + wrong;
  }
  return wrong;
}

}  // namespace scopevm::compiler::property
