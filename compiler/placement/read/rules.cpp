// Parses and applies the rules of --place; see the header.
#include "compiler/placement/read/rules.h"

#include "runtime/quoted.h"

namespace scopevm::compiler::placement {
namespace {

// Whether the graph requires a scope of the task.
bool has_required_scope(const Ruled& ruled, ProblemBuilder& builder) {
  const GraphProblem& graph = builder.graph();
  const TaskRecord& record = graph.tasks[ruled.task];
  return record.scope || (record.constraint && !record.constraint->place.pool.is_any()) ||
         llvm::any_of(ruled.values, [&](mlir::Value value) {
           const std::optional<FlowIndex> flow = builder.flow_of(value);
           // The pool of a value that the VM makes is fixed, although no constraint names it.
           return flow && (graph.scopes[*flow] || !graph.problem.flows[*flow].pool.is_default());
         });
}

// Requires the scope of a rule for the values of a task.
void store_in(const Constraint& rule, const Ruled& ruled, ProblemBuilder& builder) {
  GraphProblem& graph = builder.graph();
  for (mlir::Value value : ruled.values)
    if (std::optional<FlowIndex> flow = builder.flow_of(value)) {
      graph.problem.flows[*flow].pool = rule.place.pool;
      graph.scopes[*flow] = rule;
    }
  // A result of the model makes no value. The rule applies to the pool in which it reads its
  // operand.
  if (ruled.names.front().first != Rule::Kind::kOutput) return;
  for (FlowIndex f : graph.problem.flows.indices()) {
    std::vector<Reader>& readers = graph.problem.flows[f].readers;
    for (size_t i = 0; i < readers.size(); ++i) {
      if (readers[i].task != ruled.task) continue;
      readers[i].pool = rule.place.pool;
      graph.reader_scopes[f][i] = rule;
    }
  }
}

}  // namespace

Result<Rules> Rules::parse(const std::vector<Rule>& rules, const Machine& machine) {
  Rules parsed;
  for (const Rule& rule : rules) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(rule.pattern);
    if (!pattern)
      return Status(StatusCode::kInvalidArgument, "--place " + runtime::escaped(rule.text) + ": " +
                                                      llvm::toString(pattern.takeError()));
    Result<RequiredPlace> place = parse_place(rule.place, machine);
    if (!place.ok())
      return Status(place.status().code(), "--place " + runtime::escaped(rule.text) + ": " +
                                               std::string(place.status().message()));
    parsed.rules_.push_back({rule.text, rule.kind, *std::move(pattern), *place});
  }
  return parsed;
}

void Rules::apply(const Ruled& ruled, ProblemBuilder& builder) const {
  GraphProblem& graph = builder.graph();
  // Read before the loop: constraints that a rule adds below do not count as constraints of the
  // graph.
  const TaskRecord required_by_graph = graph.tasks[ruled.task];
  bool has_device = required_by_graph.constraint.has_value();
  bool has_scope = has_required_scope(ruled, builder);
  for (const auto& [kind, name] : ruled.names)
    // Later rules take precedence. Earlier ones are still matched, so that `matched` and the notes
    // are complete.
    for (size_t i = rules_.size(); i-- > 0;) {
      if (rules_[i].kind != kind || !rules_[i].pattern.match(name)) continue;
      graph.matched[i] = true;
      const RequiredPlace& place = rules_[i].place;
      const std::string no_effect = "--place " + runtime::escaped(rules_[i].text) +
                                    " has no effect on " + graph.tasks[ruled.task].name;
      if (const Constraint* other = builder.conflicting(required_by_graph, place)) {
        graph.notes.push_back(no_effect + ", which is required " + builder.required_on(*other));
        continue;
      }
      // The device and the scope may come from different rules.
      if (place.names_device() ? has_device : has_scope) continue;
      if (!builder.may_be(ruled.task, place)) {
        const std::vector<DeviceIndex>& devices = graph.problem.tasks[ruled.task].devices;
        graph.notes.push_back(
            no_effect + ": " +
            (place.names_device()
                 ? builder.why_not(ruled.task, place)
                 : "device " + builder.device_name(devices.front()) + " does not have the scope"));
        continue;
      }
      const Constraint rule{place, "--place " + runtime::escaped(rules_[i].text), "", ""};
      builder.constrain(ruled.task, rule);
      has_device |= place.names_device();
      if (!place.names_scope() || has_scope) continue;
      has_scope = true;
      if (place.is_local)
        for (mlir::Value value : ruled.values) builder.require_local(value, rule);
      else
        store_in(rule, ruled, builder);
    }
}

}  // namespace scopevm::compiler::placement
