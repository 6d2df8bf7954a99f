// Explains arenas; see the header.
#include "compiler/memory/explain/explain.h"

#include <algorithm>
#include <set>

#include "compiler/memory/live_bytes.h"
#include "compiler/memory/uses.h"
#include "scopevm/kernel_abi.h"

namespace scopevm::compiler::memory {
namespace {

using Buffer = MemoryExplanation::Buffer;

// Sets the names of values and views by buffer, and those of the ops of scratch memory.
class Names {
 public:
  Names(const Program& program, const Function& function, const Liveness& liveness)
      : function_(function), buffers_(liveness.buffers.size()) {
    const BufferUses uses(program, function, liveness);
    for (BufferIndex buffer : liveness.buffers.indices()) set_values(uses, buffer);
    for (ValueId id : function.values.indices())
      if (const auto buffer = liveness.buffer_of_value[id]; buffer && function.values[id].is_view())
        add_view(buffers_[*buffer], function.values[id].name);
    for (size_t step = 0; step < function.steps.size(); ++step)
      for (BufferIndex buffer : liveness.buffer_of_temporary[step]) {
        buffers_[buffer].is_scratch = true;
        buffers_[buffer].name = function.steps[step].name;
      }
  }

  const Buffer& of(BufferIndex buffer) const { return buffers_[buffer]; }

 private:
  void set_values(const BufferUses& uses, BufferIndex buffer) {
    std::vector<ValueId> values = uses.values_of(buffer);
    std::erase_if(values, [&](ValueId id) { return uses.of_value(id).writes.empty(); });
    std::ranges::stable_sort(values, {},
                             [&](ValueId id) { return uses.of_value(id).writes.front(); });
    for (ValueId id : values) add_once(buffers_[buffer].values, function_.values[id].name);
    if (!values.empty()) buffers_[buffer].name = function_.values[values.front()].name;
  }

  // Some views that the compiler adds have the name of a value.
  static void add_view(Buffer& buffer, const std::string& name) {
    if (std::ranges::find(buffer.values, name) == buffer.values.end()) add_once(buffer.views, name);
  }

  static void add_once(std::vector<std::string>& names, const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }

  const Function& function_;
  IndexedVector<BufferIndex, Buffer> buffers_;
};

// The peak of the buffers without the one at position `without`.
int64_t peak_without(const std::vector<SizedBuffer>& buffers, int64_t without,
                     std::vector<int64_t> live) {
  const SizedBuffer& buffer = buffers[without];
  const auto end = std::min<int64_t>(buffer.upper, static_cast<int64_t>(live.size()));
  for (int64_t step = buffer.lower; step < end; ++step) live[step] -= buffer.size;
  return peak_of(live).bytes;
}

// Whether the step reads or writes the buffer, or uses it as scratch memory.
bool is_accessed(const Function& function, const Liveness& liveness, BufferIndex buffer,
                 int64_t step) {
  const auto is_in = [&](ValueId id) { return liveness.buffer_of_value[id] == buffer; };
  const Step& at = function.steps[step];
  return std::ranges::any_of(at.operands, is_in) || std::ranges::any_of(at.results, is_in) ||
         std::ranges::find(liveness.buffer_of_temporary[step], buffer) !=
             liveness.buffer_of_temporary[step].end();
}

// "conv" for a launch of kernel conv_12, the external function, or the kind of another step.
std::string op_of(const Program& program, const Step& step) {
  const auto* launch = step.as<step::Launch>();
  if (!launch) return std::string(step.kind_name());
  const Kernel& kernel = program.kernels[launch->kernel];
  const std::string& symbol = kernel.symbol;
  const std::string kind = kernel.external ? symbol : symbol.substr(0, symbol.rfind('_'));
  return kind == "map" ? "elementwise" : kind;
}

bool holds(Check::Kind kind, int64_t lhs, int64_t rhs) {
  switch (kind) {
    case Check::Kind::kEqual:
      return lhs == rhs;
    case Check::Kind::kBroadcastable:
      return lhs == rhs || lhs == 1 || rhs == 1;
    case Check::Kind::kAtLeast:
      return lhs >= rhs;
    case Check::Kind::kMultipleOf:
      return rhs != 0 && lhs % rhs == 0;
  }
  return false;
}

std::set<std::string> names_of(const std::map<std::string, int64_t>& dims) {
  std::set<std::string> names;
  for (const auto& [name, value] : dims) names.insert(name);
  return names;
}

void replace_all(std::string& text, const std::string& what, int64_t by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
    text.replace(at, what.size(), std::to_string(by));
}

std::string filled(std::string message, int64_t lhs, int64_t rhs) {
  replace_all(message, "{0}", lhs);
  replace_all(message, "{1}", rhs);
  return message;
}

// The message of the first bound of a dimension that the request violates; empty if there is none.
std::string violated_bound(const Function& function, const Request& request) {
  for (const Dimension& dimension : function.dimensions)
    for (const Check& check : dimension.bounds_checks(request.symbols.at(dimension.name))) {
      const auto lhs = evaluate(check.lhs, request), rhs = evaluate(check.rhs, request);
      if (lhs && rhs && !holds(check.kind, *lhs, *rhs)) return filled(check.message, *lhs, *rhs);
    }
  return "";
}

// The message of the first check that the dims violate; empty if there is none.
std::string violated_check(const ShapeProgram& shapes, const ShapeProgram::Values& values) {
  for (const ShapeProgram::Condition* condition : shapes.conditions_of(SegmentIndex{0})) {
    const int64_t lhs = values[condition->lhs], rhs = values[condition->rhs];
    if (holds(condition->kind, lhs, rhs)) continue;
    std::string text = filled(condition->message, lhs, rhs);
    for (size_t i = 0; i < condition->more_slots.size(); ++i)
      if (const auto value = shapes.stores()[condition->more_slots[i]])
        replace_all(text, "{" + std::to_string(i + 2) + "}", values[*value]);
    return text;
  }
  return "";
}

// Sets representative dims that a check requires to be equal to another size, such as
// total = length + past. Each dim is set once at most.
void satisfy_checks(const Function& function, std::set<std::string> given, Request& request) {
  const auto set_to = [&](DimExpr side, int64_t size) {
    if (side.kind() != DimExpr::Kind::kSymbol) return false;
    const auto dimension =
        std::ranges::find(function.dimensions, side.symbol_name(), &Dimension::name);
    if (dimension == function.dimensions.end() || size < dimension->min || size > dimension->max ||
        size % dimension->multiple_of != 0 || !given.insert(dimension->name).second)
      return false;
    request.symbols[dimension->name] = size;
    return true;
  };
  const auto satisfy = [&](const Check& check) {
    if (check.kind != Check::Kind::kEqual && check.kind != Check::Kind::kBroadcastable)
      return false;
    const auto lhs = evaluate(check.lhs, request), rhs = evaluate(check.rhs, request);
    if (!lhs || !rhs || holds(check.kind, *lhs, *rhs)) return false;
    return set_to(check.lhs, *rhs) || set_to(check.rhs, *lhs);
  };
  // Terminates, because each round sets a dim.
  while (std::ranges::any_of(function.checks, satisfy)) {
  }
}

// "; for the representative dims n = 64": those that `given` does not contain.
std::string assumed_text(const Function& function, const MemoryRequest& given,
                         const Request& request) {
  std::string text;
  for (const Dimension& dimension : function.dimensions)
    if (!given.dims.contains(dimension.name) && dimension.min != dimension.max)
      text += (text.empty() ? "; for the representative dims " : ", ") + dimension.name + " = " +
              std::to_string(request.symbols.at(dimension.name));
  return text;
}

}  // namespace

Result<Request> explained_request(const Function& function, const ShapeProgram& shapes,
                                  const MemoryRequest& given) {
  Request request = sample_requests(function, 0).front();
  request.threads = given.threads;
  std::string known;
  for (const auto& [name, value] : request.symbols) known += (known.empty() ? "" : ", ") + name;
  for (const auto& [name, value] : given.dims) {
    if (!request.symbols.contains(name))
      return Status(StatusCode::kInvalidArgument,
                    "unknown dimension \"" + name + "\"; " +
                        (known.empty() ? "all dimensions are constants" : "known: " + known));
    request.symbols[name] = value;
  }
  satisfy_checks(function, names_of(given.dims), request);
  if (std::string text = violated_bound(function, request); !text.empty())
    return Status(StatusCode::kInvalidArgument, std::move(text));
  const auto values = shapes.evaluate(request.symbols, request.threads);
  if (!values) return Status(StatusCode::kResourceLimit, kOverflowMessage);
  if (const std::string text = violated_check(shapes, *values); !text.empty())
    return Status(StatusCode::kInvalidArgument, text + assumed_text(function, given, request));
  return request;
}

MemoryExplanation::Arena explain(const Program& program, const Function& function, const Plan& plan,
                                 const Arena& arena, const ShapeProgram& shapes,
                                 const Request& request) {
  MemoryExplanation::Arena explained{.pool = program.machine.pool_name(arena.pool),
                                     .segment = arena.segment.value};
  if (const auto values = shapes.evaluate(request.symbols, request.threads))
    explained.bytes = (*values)[arena.height];
  const auto sizes = sizes_at(plan.liveness, arena.buffers, request);
  const auto placed = plan.at(program.machine, arena, shapes, request.symbols, request.threads);
  if (!sizes || !placed) return explained;
  const std::vector<SizedBuffer> buffers = sized_buffers(plan.liveness, arena.buffers, *sizes);
  const std::vector<int64_t> live = live_bytes(buffers, function.steps.size());
  explained.peak = peak_of(live);
  explained.lower_bound_bytes = explained.peak.bytes;
  explained.next_peak = next_peak(buffers, live, explained.peak.step);
  const Names names(program, function, plan.liveness);
  for (size_t i = 0; i < buffers.size(); ++i) {
    Buffer buffer = names.of(arena.buffers[i]);
    buffer.first_step = buffers[i].lower;
    buffer.last_step = std::min(buffers[i].upper, static_cast<int64_t>(function.steps.size())) - 1;
    buffer.bytes = buffers[i].size;
    buffer.offset = placed->plan.offsets[i];
    explained.buffers.push_back(std::move(buffer));
  }
  for (int64_t i : live_at(buffers, explained.peak.step))
    explained.live.push_back({.buffer = i,
                              .bytes_without = peak_without(buffers, i, live),
                              .is_accessed = is_accessed(function, plan.liveness, arena.buffers[i],
                                                         explained.peak.step)});
  return explained;
}

std::vector<MemoryExplanation::Step> explained_steps(const Program& program,
                                                     const Function& function) {
  std::vector<MemoryExplanation::Step> steps;
  for (const Step& step : function.steps) steps.push_back({op_of(program, step), step.name});
  return steps;
}

}  // namespace scopevm::compiler::memory
