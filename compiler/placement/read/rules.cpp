// The rules of --place; see problem_builder.h.
#include "compiler/placement/read/problem_builder.h"

namespace scopevm::compiler::placement {

Status FlowReader::read_rules() {
  for (const Rule& rule : rules_) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(rule.pattern);
    if (!pattern)
      return Status(StatusCode::kInvalidArgument,
                    "--place " + rule.text + ": " + llvm::toString(pattern.takeError()));
    patterns_.push_back(*std::move(pattern));
    Result<RequiredPlace> place = parse_place(rule.place, machine_);
    if (!place.ok())
      return Status(place.status().code(),
                    "--place " + rule.text + ": " + std::string(place.status().message()));
    rule_places_.push_back(*place);
  }
  return {};
}

void FlowReader::apply_rules(const Ruled& ruled) {
  // Read before the loop: constraints that a rule adds below do not count as constraints of the
  // graph.
  const TaskRecord required_by_graph = graph_.tasks[ruled.task];
  bool has_device = required_by_graph.constraint.has_value();
  bool has_scope = has_required_scope(ruled);
  for (const auto& [kind, name] : ruled.names)
    // Later rules take precedence. Earlier ones are still matched, so that `matched` and the notes
    // are complete.
    for (size_t i = rules_.size(); i-- > 0;) {
      if (rules_[i].kind != kind || !patterns_[i].match(name)) continue;
      graph_.matched[i] = true;
      const RequiredPlace& place = rule_places_[i];
      const std::string no_effect =
          "--place " + rules_[i].text + " has no effect on " + graph_.tasks[ruled.task].name;
      if (const Constraint* other = conflicting(required_by_graph, place)) {
        graph_.notes.push_back(no_effect + ", which is required " + required_on(*other));
        continue;
      }
      // The device and the scope may come from different rules.
      if (place.names_device() ? has_device : has_scope) continue;
      if (!may_be(ruled.task, place)) {
        const std::vector<DeviceIndex>& devices = graph_.problem.tasks[ruled.task].devices;
        graph_.notes.push_back(no_effect + ": " +
                               (place.names_device() ? why_not(ruled.task, place)
                                                     : "device " + device_name(devices.front()) +
                                                           " does not have the scope"));
        continue;
      }
      const Constraint rule{place, "--place " + rules_[i].text, "", ""};
      constrain(ruled.task, rule);
      has_device |= place.names_device();
      if (!place.names_scope() || has_scope) continue;
      has_scope = true;
      if (place.is_local)
        for (mlir::Value value : ruled.values) require_local(value, rule);
      else
        store_in(rule, ruled);
    }
}

bool FlowReader::has_required_scope(const Ruled& ruled) const {
  const TaskRecord& record = graph_.tasks[ruled.task];
  return record.scope || (record.constraint && !record.constraint->place.pool.is_any()) ||
         llvm::any_of(ruled.values, [&](mlir::Value value) {
           auto flow = flow_of_.find(value);
           // The pool of a value that the VM makes is fixed, although no constraint names it.
           return flow != flow_of_.end() && (graph_.scopes[flow->second] ||
                                             !graph_.problem.flows[flow->second].pool.is_default());
         });
}

void FlowReader::store_in(const Constraint& rule, const Ruled& ruled) {
  for (mlir::Value value : ruled.values)
    if (auto flow = flow_of_.find(value); flow != flow_of_.end()) {
      graph_.problem.flows[flow->second].pool = rule.place.pool;
      graph_.scopes[flow->second] = rule;
    }
  // A result of the model makes no value. The rule applies to the pool in which it reads its
  // operand.
  if (ruled.names.front().first != Rule::Kind::kOutput) return;
  for (FlowIndex f : graph_.problem.flows.indices()) {
    std::vector<Reader>& readers = graph_.problem.flows[f].readers;
    for (size_t i = 0; i < readers.size(); ++i) {
      if (readers[i].task != ruled.task) continue;
      readers[i].pool = rule.place.pool;
      graph_.reader_scopes[f][i] = rule;
    }
  }
}

void FlowReader::place_results() {
  // A result in a scope that the default device lacks is placed on a device that has the scope.
  for (TaskIndex task : model_results_)
    if (!graph_.tasks[task].constraint && may_be(task, machine_.default_device))
      constrain(task, {{machine_.default_device, {}}, "default device for results", ""});
}

}  // namespace scopevm::compiler::placement
