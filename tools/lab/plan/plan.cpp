// scopevm alloc plan: reads buffers as CSV, plans them, and writes the CSV with their offsets.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "runtime/count_text.h"
#include "scopevm/plan.h"
#include "tools/command_line/arguments.h"
#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/files/file.h"
#include "tools/files/standard_streams.h"
#include "tools/lab/seconds.h"

namespace scopevm::tool {
namespace {

struct PlanCommand {
  std::string input;
  std::string output = std::string(kStandardStream);
  std::string capacity;  // empty: none
  double time_limit_s = 10;
  std::string solver = "automatic";
  bool json = false;
};

struct NamedSolver {
  const char* name;
  plan::Solver solver;
};
constexpr NamedSolver kSolvers[] = {{"automatic", plan::Solver::kAutomatic},
                                    {"heuristic", plan::Solver::kHeuristic},
                                    {"search", plan::Solver::kSearch},
                                    {"exact", plan::Solver::kExact}};

std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  for (const NamedSolver& one : kSolvers) names.emplace_back(one.name);
  return names;
}

// What is proved, in the JSON report.
const char* proof_name(plan::Proof proof) {
  switch (proof) {
    case plan::Proof::kNone:
      return "none";
    case plan::Proof::kOptimal:
      return "optimal";
    case plan::Proof::kInfeasible:
      return "infeasible";
  }
  return "";
}

double ratio_of(const plan::Plan& plan) {
  if (plan.lower_bound == 0) return 1;
  return static_cast<double>(plan.height) / static_cast<double>(plan.lower_bound);
}

void print_text(std::FILE* stream, const plan::Problem& problem, const plan::Plan& plan) {
  print_message(stream, "{:<12} {}\n", "buffers", problem.buffers.size());
  print_message(stream, "{:<12} {} bytes\n", "height", plan.height);
  print_message(stream, "{:<12} {} bytes\n", "lower bound", plan.lower_bound);
  print_message(stream, "{:<12} {:.4f}\n", "ratio", ratio_of(plan));
  if (problem.pools.size() > 1) print_message(stream, "{:<12} {}\n", "cost", plan.cost);
  print_message(stream, "{:<12} {}\n", "solver", plan.solver);
  print_message(stream, "{:<12} {:.3f} s\n", "CPU time", plan.cpu_s);
  const bool has_choice = plan.proof == plan::Proof::kOptimal && problem.pools.size() > 1;
  print_message(stream, "{:<12} {}{}\n", "proof", proof_name(plan.proof),
                has_choice ? " cost, and optimal height for this choice of pools" : "");
}

void print_json(std::FILE* stream, const plan::Problem& problem, const plan::Plan& plan) {
  const nlohmann::ordered_json out = {{"found", !plan.pools.empty() || problem.buffers.empty()},
                                      {"buffers", problem.buffers.size()},
                                      {"height", plan.height},
                                      {"lower_bound", plan.lower_bound},
                                      {"ratio", ratio_of(plan)},
                                      {"cost", plan.cost},
                                      {"solver", plan.solver},
                                      {"cpu_seconds", plan.cpu_s},
                                      {"proof", proof_name(plan.proof)}};
  std::fputs((out.dump(2) + "\n").c_str(), stream);
}

// The reason why no plan within the capacity and the limits was found.
std::string failure_text(const plan::Plan& plan, const plan::Options& options) {
  const std::string within =
      options.capacity ? "within the capacity of " +
                             runtime::count_text(static_cast<size_t>(*options.capacity), "byte")
                       : std::string("within the limits of the pools");
  if (plan.proof == plan::Proof::kInfeasible) return "no plan exists " + within + " (proved)";
  return fmt::format(
      "no plan found {} in {:.3g} s of CPU time; not proved that there is none{}", within,
      plan.cpu_s,
      plan.height > 0 ? fmt::format("; the lowest plan found has {} bytes", plan.height) : "");
}

Result<plan::Problem> read_problem(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, map_input(path));
  Result<plan::Problem> problem =
      plan::parse_csv({reinterpret_cast<const char*>(file.data), file.size});
  if (problem.ok()) return problem;
  return std::move(problem).status().with_context(input_name(path));
}

Status plan_file(const PlanCommand& command, const plan::Options& options) {
  SCOPEVM_RETURN_IF_ERROR(check_is_no_input(command.output, {command.input}));
  SCOPEVM_RETURN_IF_ERROR(check_is_writable(command.output));
  SCOPEVM_ASSIGN_OR_RETURN(const plan::Problem problem, read_problem(command.input));
  Result<plan::Plan> plan = plan::solve(problem, options);
  if (!plan.ok()) return std::move(plan).status().with_context(input_name(command.input));
  const bool is_found = plan->offsets.size() == problem.buffers.size();
  // The CSV has standard output for itself.
  std::FILE* const stream = command.output == kStandardStream ? stderr : stdout;
  if (command.json) print_json(stream, problem, *plan);
  if (!is_found)
    return {StatusCode::kNotFound, input_name(command.input) + ": " + failure_text(*plan, options)};
  if (Status status = plan::validate(problem, *plan); !status.ok())
    return {StatusCode::kInternal, "invalid plan: " + std::string(status.message())};
  if (!command.json) print_text(stream, problem, *plan);
  SCOPEVM_ASSIGN_OR_RETURN(const std::string text, plan::to_csv(problem, &*plan));
  return write_file(command.output, text);
}

int run_alloc_plan(const PlanCommand& command) {
  plan::Options options;
  options.time_limit_s = command.time_limit_s;
  options.solver = std::ranges::find(kSolvers, command.solver, &NamedSolver::name)->solver;
  if (!command.capacity.empty()) {
    const Result<int64_t> capacity = parse_bytes(command.capacity);
    if (!capacity.ok())
      return report_usage("--capacity: " + std::string(capacity.status().message()));
    options.capacity = *capacity;
  }
  return report(plan_file(command, options));
}

void declare(CLI::App& command, PlanCommand& options) {
  command
      .add_option("FILE", options.input,
                  "Buffers as CSV: id,lower,upper,size and other columns (docs/planning.md)")
      ->required();
  command.add_option("-o,--output", options.output,
                     "Output CSV file, with the column offset (default: -, and the report is "
                     "printed to stderr)");
  command
      .add_option("--capacity", options.capacity,
                  "Stop at the first plan of at most this number of bytes, such as 1048576 or "
                  "64KiB; exit code 1 if none is found")
      ->type_name("BYTES");
  command
      .add_option("--time", options.time_limit_s, "Limit of the CPU time of planning, in seconds")
      ->check(lab::is_seconds)
      ->type_name("SECONDS")
      ->capture_default_str();
  command
      .add_option("--solver", options.solver,
                  "heuristic: fast; search: improve until the time limit; exact: search for a "
                  "proof; automatic: all of these until the plan is proved optimal")
      ->check(CLI::IsMember(solver_names()))
      ->type_name("NAME")
      ->capture_default_str();
  command.add_flag("--json", options.json, "Print the report as JSON");
}

const Command<PlanCommand> plan_command(
    {.position = 101,
     .name = "alloc plan",
     .description = "Assign offsets to buffers with sizes and lifespans, so that no two overlap"},
    declare, run_alloc_plan);

}  // namespace

}  // namespace scopevm::tool
