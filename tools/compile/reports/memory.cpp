// The text of scopevm explain --memory.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/count_text.h"
#include "tools/compile/reports/memory_json.h"
#include "tools/compile/reports/report.h"
#include "tools/compile/reports/svg/memory_svg.h"
#include "tools/compile/reports/svg/svg_text.h"
#include "tools/files/standard_streams.h"

namespace scopevm::tool {
namespace {

using Function = MemoryExplanation::Function;
using Arena = MemoryExplanation::Arena;
using Buffer = MemoryExplanation::Buffer;
using runtime::count_text;

// The most buffers of a peak that are listed.
constexpr size_t kMostListed = 16;

// Fused kernels have long names. The JSON output contains them in full.
std::string quoted(const std::string& name) {
  constexpr size_t kLongestName = 60;
  return "\"" + label(name, kLongestName) + "\"";
}

// The names, as `"a", "b" and 3 more`.
std::string list_text(const std::vector<std::string>& names) {
  constexpr size_t kMostNames = 3;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i)
    text += (i == 0 ? "" : ", ") + quoted(names[i]);
  if (names.size() > kMostNames) text += fmt::format(" and {} more", names.size() - kMostNames);
  return text;
}

// `1.0123`; a pool without bytes meets its bound.
std::string ratio_text(int64_t bytes, int64_t lower_bound) {
  if (lower_bound == 0) return bytes == 0 ? "1.0000" : "unbounded";
  return fmt::format("{:.4f}", static_cast<double>(bytes) / static_cast<double>(lower_bound));
}

// Prints the memory of one function.
class FunctionPrinter {
 public:
  explicit FunctionPrinter(const Function& function) : function_(function) {}

  void run(int threads) {
    print("function {}: {}{}\n", function_.name, dims_text(), count_text(threads, "thread"));
    print_pools();
    for (const Arena& arena : function_.arenas)
      if (arena.bytes > 0) print_arena(arena);
  }

 private:
  std::string dims_text() const {
    std::string text;
    for (const auto& [name, value] : function_.dims) {
      const bool is_assumed = std::ranges::find(function_.assumed, name) != function_.assumed.end();
      text += fmt::format("{} = {}{}, ", name, value, is_assumed ? " (representative)" : "");
    }
    return text;
  }

  std::string step_text(int64_t step) const {
    const MemoryExplanation::Step& s = function_.steps[step];
    return fmt::format("step {}, {}{}", step, s.op, s.name.empty() ? "" : " " + quoted(s.name));
  }

  // --- Pools. -----------------------------------------------------------------------------------

  void print_pools() const {
    print("{:<28} {:>14} {:>14} {:>8}\n", "pool", "bytes", "lower bound", "ratio");
    for (const MemoryExplanation::Pool& pool : function_.pools) {
      const bool has_lines = std::ranges::any_of(
          function_.lines, [&](const auto& line) { return line.pool == pool.name; });
      if (has_lines)
        print("{:<28} {:>14} {:>14} {:>8}{}\n", pool.name, pool.bytes, pool.lower_bound_bytes,
              ratio_text(pool.bytes, pool.lower_bound_bytes),
              pool.limit_bytes ? fmt::format("  limit {}", *pool.limit_bytes) : "");
      for (const MemoryExplanation::Line& line : function_.lines)
        if (line.pool == pool.name) print_line(line);
      if (pool.constant_bytes > 0)
        print("{:<28} {:>14}  constants, which all calls share\n", has_lines ? "" : pool.name,
              pool.constant_bytes);
    }
  }

  void print_line(const MemoryExplanation::Line& line) const {
    std::string what = line.is_result ? "result " + quoted(line.what) : line.what;
    if (line.step) what += ": " + step_text(*line.step);
    if (line.depends_on_data)
      print("{:<28} {:>14} {:>14}  {}\n", "", "data-dependent", "", what);
    else
      print("{:<28} {:>14} {:>14}  {}\n", "", line.bytes, line.lower_bound_bytes, what);
  }

  // --- Peaks. -----------------------------------------------------------------------------------

  void print_arena(const Arena& arena) const {
    print("\n{}{}: {} live at {}\n", arena.pool,
          arena.segment > 0 ? fmt::format(", segment {}", arena.segment) : "",
          count_text(arena.peak.bytes, "byte"), step_text(arena.peak.step));
    print("planned in {}, ratio {}\n", count_text(arena.bytes, "byte"),
          ratio_text(arena.bytes, arena.lower_bound_bytes));
    print("{:>14} {:>7} {:>11} {:>14}  {}\n", "bytes", "share", "steps", "peak without", "buffer");
    for (size_t i = 0; i < std::min(arena.live.size(), kMostListed); ++i)
      print_buffer(arena, arena.live[i]);
    print_rest(arena);
    if (arena.next_peak)
      print("next peak: {} at {}\n", count_text(arena.next_peak->bytes, "byte"),
            step_text(arena.next_peak->step));
    print_alternatives(arena);
  }

  void print_buffer(const Arena& arena, const MemoryExplanation::LiveBuffer& live) const {
    const Buffer& buffer = arena.buffers[live.buffer];
    const double share = 100.0 * static_cast<double>(buffer.bytes) /
                         static_cast<double>(std::max<int64_t>(arena.peak.bytes, 1));
    print("{:>14} {:>5.1f} % {:>11} {:>14}  {}\n", buffer.bytes, share,
          fmt::format("{}..{}", buffer.first_step, buffer.last_step), live.bytes_without,
          buffer_text(buffer) + (live.is_accessed ? "" : ", not accessed by the step"));
  }

  std::string buffer_text(const Buffer& buffer) const {
    const MemoryExplanation::Step& made = function_.steps[buffer.first_step];
    if (buffer.is_scratch)
      return fmt::format("scratch memory of {} {}", made.op, quoted(made.name));
    std::string text = fmt::format("{}, made by {}", quoted(buffer.name), made.op);
    if (made.name != buffer.name && !made.name.empty()) text += " " + quoted(made.name);
    if (buffer.values.size() > 1)
      text += ", shared in place by " + list_text({buffer.values.begin() + 1, buffer.values.end()});
    if (!buffer.views.empty()) text += ", with view " + list_text(buffer.views);
    return text;
  }

  static void print_rest(const Arena& arena) {
    int64_t bytes = 0;
    for (size_t i = kMostListed; i < arena.live.size(); ++i)
      bytes += arena.buffers[arena.live[i].buffer].bytes;
    if (arena.live.size() > kMostListed)
      print("{:>14} {:>7} {:>11} {:>14}  {} more\n", bytes, "", "", "",
            count_text(arena.live.size() - kMostListed, "buffer"));
  }

  // --- Options. ---------------------------------------------------------------------------------

  void print_alternatives(const Arena& arena) const {
    if (arena.alternatives.empty()) {
      print("no option was found that lowers the peak{}\n", reason_text(arena));
      return;
    }
    print("options that lower the peak:\n");
    print("{:>14} {:>14}  {}\n", "planned bytes", "peak", "option");
    for (const MemoryExplanation::Alternative& alternative : arena.alternatives)
      print("{:>14} {:>14}  {}\n", alternative.bytes, alternative.lower_bound_bytes,
            alternative.option);
  }

  std::string reason_text(const Arena& arena) const {
    if (arena.next_peak && arena.next_peak->bytes == arena.peak.bytes)
      return fmt::format(": {} has as many live bytes", step_text(arena.next_peak->step));
    if (std::ranges::all_of(arena.live, &MemoryExplanation::LiveBuffer::is_accessed))
      return ": the step reads or writes all buffers that are live";
    return "";
  }

  const Function& function_;
};

void print_text(const MemoryExplanation& explanation) {
  for (const std::string& warning : explanation.warnings)
    print_message(stderr, "scopevm: warning: {}\n", warning);
  for (const Function& function : explanation.functions) {
    if (&function != &explanation.functions.front()) print("\n");
    FunctionPrinter(function).run(explanation.threads);
  }
}

const RegisteredReport memory_report(Form<MemoryExplanation>{
    .position = 40,
    .description = "Print the bytes of each pool, what is live at the peak of each plan, and the "
                   "options that lower the peak",
    .text = print_text,
    .json = print_memory_json,
    .svg = memory_svg,
    .is_tuned = true,
    .has_request = true});

}  // namespace
}  // namespace scopevm::tool
