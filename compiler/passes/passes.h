// The MLIR stages as passes: declared in passes.td, ordered in pass_stages.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/layouts/layouts.h"
#include "compiler/machine/machine.h"
#include "compiler/options/split.h"
#include "compiler/placement/place.h"
#include "compiler/split/states.h"
#include "mlir/Pass/Pass.h"
#include "scopevm/status.h"

namespace scopevm::compiler {

// State that the placement passes of one pipeline share: the machine, the rules and the report.
// Either the creator sets `machine`, `rules` and `is_loaded`, or load() does.
struct PlacementRun {
  std::string machine_file;               // name of the machine description; empty for one CPU
  std::vector<std::string> rule_strings;  // in the syntax of --place
  Machine machine = Machine::host();
  std::vector<placement::Rule> rules;
  options::Split split;
  // Of main and its variants.
  std::shared_ptr<split::StateChoices> split_states = std::make_shared<split::StateChoices>();
  bool is_loaded = false;
  placement::PoolChoice choice = placement::PoolChoice::kAny;
  placement::Report report;  // of the first sv-place; copies and seconds are those of the last
  layouts::Options layout_options;
  layouts::Report layouts;
  Status status;  // the error of a failed placement pass; ok if none failed

  // Reads `machine` from `machine_file` and `rules` from `rule_strings`, unless `is_loaded` is set.
  // Errors: kNotFound (the file), those of parse_machine() and parse_rule().
  Status load();
};

#define GEN_PASS_DECL
#include "compiler/passes/passes.h.inc"

// sv-split, sv-place, sv-layout, sv-send-early and sv-verify-places for the machine of `run`.
std::unique_ptr<mlir::Pass> create_split_pass(std::shared_ptr<PlacementRun> run);
std::unique_ptr<mlir::Pass> create_place_pass(std::shared_ptr<PlacementRun> run,
                                              bool kernel_scopes_only);
std::unique_ptr<mlir::Pass> create_layout_pass(std::shared_ptr<PlacementRun> run);
std::unique_ptr<mlir::Pass> create_send_early_pass(std::shared_ptr<PlacementRun> run);
std::unique_ptr<mlir::Pass> create_verify_places_pass(std::shared_ptr<PlacementRun> run);

}  // namespace scopevm::compiler
