// Plans a model with other options; see memory_alternatives.h.
#include "compiler/explain/memory_alternatives.h"

#include <algorithm>

#include "compiler/memory/explain/explain.h"

namespace scopevm::compiler::explain {
namespace {

using pipeline::Planned;

std::optional<memory::Request> request_of_main(const Planned& planned,
                                               const MemoryRequest& request) {
  Result<memory::Request> known = memory::explained_request(
      planned.program.functions.front(), planned.functions.front().shapes, request);
  return known.ok() ? std::optional(*std::move(known)) : std::nullopt;
}

// Adds the alternative to the arenas of `main` whose plan it lowers. `planned` is the model with
// the alternative.
void add_alternative(const std::string& option, const Planned& planned,
                     const MemoryRequest& request, MemoryExplanation::Function& main) {
  const auto known = request_of_main(planned, request);
  if (!known) return;
  const bytecode::PlannedFunction& function = planned.functions.front();
  const auto values = function.shapes.evaluate(known->symbols, known->threads);
  if (!values) return;
  for (MemoryExplanation::Arena& arena : main.arenas) {
    if (arena.segment != 0) continue;  // another compilation can have other segments
    MemoryExplanation::Alternative alternative{.option = option};
    for (const memory::Arena& other : function.plan.arenas) {
      if (other.segment > SegmentIndex{0} ||
          planned.program.machine.pool_name(other.pool) != arena.pool)
        continue;
      alternative.bytes = (*values)[other.height];
      alternative.lower_bound_bytes = (*values)[other.lower_bound];
    }
    if (alternative.bytes < arena.bytes) arena.alternatives.push_back(std::move(alternative));
  }
}

// The height of the corresponding arena of main; none if the sizes are unknown.
std::optional<int64_t> height_of_main(const Planned& planned, const MemoryRequest& request,
                                      const MemoryExplanation::Arena& arena) {
  const auto known = request_of_main(planned, request);
  if (!known) return std::nullopt;
  const bytecode::PlannedFunction& function = planned.functions.front();
  const auto values = function.shapes.evaluate(known->symbols, known->threads);
  if (!values) return std::nullopt;
  for (const memory::Arena& other : function.plan.arenas)
    if (static_cast<int64_t>(other.segment.value) == arena.segment &&
        planned.program.machine.pool_name(other.pool) == arena.pool)
      return (*values)[other.height];
  return 0;
}

// Plans the model with the options of `context` after `change`.
template <typename Change>
Result<Planned> plan_with(const pipeline::Context& context, const Change& change) {
  CompileOptions options = context.options;
  options.dump_after.clear();
  options.tuning = {};
  change(options);
  pipeline::Context other(options, context.backends);
  return plan_model(other);
}

// Plans the model with --place rules that move all values of the buffer. They are an option if
// the plan is that of the suggestion: a rule can name no op, and can change the fusion of ops.
void find_options(MemoryExplanation::Arena& arena, const pipeline::Context& context) {
  for (MemoryExplanation::Suggestion& suggestion : arena.suggestions)
    for (MemoryExplanation::Change& change : suggestion.changes) {
      const auto buffer =
          std::ranges::find(arena.buffers, change.value, &MemoryExplanation::Buffer::name);
      if (change.kind != MemoryExplanation::Change::Kind::kMove || !change.steps.empty() ||
          buffer == arena.buffers.end())
        continue;
      std::string option;
      const Result<Planned> planned = plan_with(context, [&](CompileOptions& options) {
        for (const std::string& value : buffer->values) {
          options.places.push_back(value + "=" + change.pool);
          option += (option.empty() ? "" : " ") + ("--place '" + options.places.back() + "'");
        }
      });
      if (planned.ok() &&
          height_of_main(*planned, context.options.memory_request, arena) == suggestion.bytes)
        change.option = option;
    }
}

}  // namespace

void add_alternatives(const Planned& planned, const pipeline::Context& context,
                      MemoryExplanation::Function& main) {
  const CompileOptions& given = context.options;
  if (given.memory_request.threads > 1) {
    MemoryRequest request = given.memory_request;
    request.threads = 1;
    add_alternative("--threads 1", planned, request, main);
  }
  const auto add_compiled = [&](const std::string& option, const auto& change) {
    const Result<Planned> other = plan_with(context, change);
    if (other.ok()) add_alternative(option, *other, given.memory_request, main);
  };
  if (!planned.runs.front()->layouts.ops.empty()) {
    if (given.image_layout != ImageLayout::kByChannel)
      add_compiled("--image-layout by-channel",
                   [](CompileOptions& o) { o.image_layout = ImageLayout::kByChannel; });
    if (given.image_layout != ImageLayout::kBlocked)
      add_compiled("--image-layout blocked",
                   [](CompileOptions& o) { o.image_layout = ImageLayout::kBlocked; });
    add_compiled(given.fast_conv ? "without --fast-conv" : "--fast-conv",
                 [](CompileOptions& o) { o.fast_conv = !o.fast_conv; });
  }
  for (MemoryExplanation::Arena& arena : main.arenas)
    std::ranges::stable_sort(arena.alternatives, {}, &MemoryExplanation::Alternative::bytes);
  for (MemoryExplanation::Arena& arena : main.arenas) find_options(arena, context);
}

}  // namespace scopevm::compiler::explain
