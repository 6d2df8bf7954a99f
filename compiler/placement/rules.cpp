// The rules of --place; see flow_reader.h.
#include "compiler/placement/flow_reader.h"

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
  const std::optional<Constraint> required_by_graph = graph_.tasks[ruled.task].constraint;
  bool has_scope = false;  // by a rule
  for (const auto& [kind, name] : ruled.names)
    // Later rules take precedence. Earlier ones are still matched, so that `matched` and the notes
    // are complete.
    for (size_t i = rules_.size(); i-- > 0;) {
      if (rules_[i].kind != kind || !patterns_[i].match(name)) continue;
      graph_.matched[i] = true;
      const RequiredPlace& place = rule_places_[i];
      if (required_by_graph && place.device && required_by_graph->place.device != place.device)
        graph_.notes.push_back("--place " + rules_[i].text + " has no effect on " +
                               graph_.tasks[ruled.task].name + ", which is required on " +
                               device_name(*required_by_graph->place.device) + " (" +
                               text_of(*required_by_graph) + ")");
      // After a rule with only a scope, a rule with a device still applies. A device ends the
      // search.
      if (graph_.tasks[ruled.task].constraint || (!place.device && has_scope)) continue;
      if (place.device && !may_be(ruled.task, *place.device)) {
        graph_.notes.push_back("--place " + rules_[i].text + " has no effect on " +
                               graph_.tasks[ruled.task].name + ": " +
                               why_not(ruled.task, *place.device));
        continue;
      }
      constrain(ruled.task, {place, "--place " + rules_[i].text, ""});
      if (place.pool.is_any() || has_scope) continue;
      has_scope = true;
      store_in(place.pool, ruled);
    }
}

void FlowReader::store_in(const PoolRequirement& pool, const Ruled& ruled) {
  for (mlir::Value value : ruled.values)
    if (auto flow = flow_of_.find(value); flow != flow_of_.end())
      graph_.problem.flows[flow->second].pool = pool;
  // A result of the model makes no value; the rule applies to the value that it reads.
  if (ruled.names.front().first != Rule::Kind::kOutput) return;
  for (Flow& flow : graph_.problem.flows)
    for (Reader& reader : flow.readers)
      if (reader.task == ruled.task) reader.pool = pool;
}

void FlowReader::place_results() {
  // A result in a scope that the default device lacks is placed on a device that has the scope.
  for (TaskIndex task : model_results_)
    if (!graph_.tasks[task].constraint && may_be(task, machine_.default_device))
      constrain(task, {{machine_.default_device, {}}, "default device for results", ""});
}

}  // namespace scopevm::compiler::placement
