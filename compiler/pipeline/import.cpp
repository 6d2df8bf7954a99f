// Reads the options, the machine and the model.
#include <algorithm>

#include "compiler/external/external.h"
#include "compiler/import/import.h"
#include "compiler/passes/pass_stages.h"
#include "compiler/pipeline/stages.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "runtime/quoted.h"
#include "vm/format/schema/entry_name.h"

namespace scopevm::compiler::pipeline {
namespace {

Status check_options(const CompileOptions& options) {
  SCOPEVM_RETURN_IF_ERROR(check_bounds(options.dims));
  register_passes();
  if (options.dump_after.empty() ||
      std::ranges::find(kStages, options.dump_after) != std::end(kStages) ||
      mlir::PassInfo::lookup(options.dump_after))
    return {};
  std::string names;
  for (std::string_view stage : kStages) names += (names.empty() ? "" : ", ") + std::string(stage);
  return Status(
      StatusCode::kInvalidArgument,
      "unknown stage or pass " + runtime::quoted(options.dump_after) + "; the stages are " + names);
}

// The description of a machine with a CPU for each rank: "cpu", "cpu1", "cpu2", ...
std::string one_cpu_per_rank(int ranks) {
  std::string devices = R"({"name": "cpu", "kind": "cpu"})";
  for (int rank = 1; rank < ranks; ++rank)
    devices += R"(, {"name": "cpu)" + std::to_string(rank) + R"(", "kind": "cpu", "rank": )" +
               std::to_string(rank) + "}";
  return R"({"devices": [)" + devices + "]}";
}

Status read_machine(const Context& context, Imported& imported) {
  const CompileOptions& options = context.options;
  SCOPEVM_ASSIGN_OR_RETURN(imported.split, options::parse_split(options.split));
  const int ranks = imported.split.ranks();
  if (!options.machine_json.empty() || ranks > 1) {
    const bool is_given = !options.machine_json.empty();
    SCOPEVM_ASSIGN_OR_RETURN(
        imported.machine, parse_machine(is_given ? options.machine_json : one_cpu_per_rank(ranks),
                                        options.machine_name, context.backends.kinds()));
  }
  for (const std::string& text : options.places) {
    SCOPEVM_ASSIGN_OR_RETURN(placement::Rule rule, placement::parse_rule(text));
    imported.rules.push_back(std::move(rule));
  }
  return {};
}

Graph make_graph(mlir::OwningOpRef<mlir::ModuleOp> module, const std::string& name,
                 const std::map<std::string, DimBound>& dims) {
  return {make_leakable<mlir::OwningOpRef<mlir::ModuleOp>>(std::move(module)), name, dims};
}

using Ranges = std::vector<std::pair<std::string, DimBound>>;

// Returns the ranges that need further variants.
Result<Ranges> import_function(frontend::ModelFile& file, const std::string& name,
                               const std::map<std::string, DimBound>& dims, Context& context,
                               Imported& imported) {
  SCOPEVM_ASSIGN_OR_RETURN(
      frontend::ImportedModule module,
      file.import(frontend::ImportOptions::of(context.options, dims), *context.mlir));
  for (const std::string& text : module.warnings) {
    const std::string warning = file.path() + ": " + text;
    // The variants have equal declarations.
    if (std::ranges::find(imported.warnings, warning) == imported.warnings.end())
      imported.warnings.push_back(warning);
  }
  Ranges ranges = std::move(module.variants);
  const Graph& graph = imported.graphs.emplace_back(make_graph(std::move(module), name, dims));
  // One program contains main and all its variants, so their names must differ.
  if (auto main = graph.module().lookupSymbol<mlir::func::FuncOp>(format::kEntryName))
    main.setName(name);
  external::complete_declarations(graph.module());
  context.dump("frontend", graph.module());
  return ranges;
}

// Imports main, the variants, and the variants that their branches need.
Status import_functions(frontend::ModelFile& file, const std::map<std::string, DimBound>& dims,
                        Context& context, Imported& imported) {
  // Each branch on another dim can double the number of variants.
  constexpr size_t kMostVariants = 64;
  const size_t given = imported.variants.size();
  SCOPEVM_ASSIGN_OR_RETURN(Ranges needed,
                           import_function(file, format::kEntryName, dims, context, imported));
  SCOPEVM_RETURN_IF_ERROR(add_variants(dims, dims, needed, imported.variants));
  for (size_t i = 0; i < imported.variants.size(); ++i) {
    const Variant variant = imported.variants[i];
    Result<Ranges> ranges =
        import_function(file, std::string(format::kEntryName) + "[" + variant.label + "]",
                        variant.dims, context, imported);
    if (!ranges.ok() && i < given)
      return std::move(ranges).status().with_context("variant " + variant.label);
    if (!ranges.ok()) {
      // Main refuses these requests.
      imported.warnings.push_back("requests with " + variant.label +
                                  " fail, because the branch that they select cannot be "
                                  "compiled: " +
                                  std::string(ranges.status().message()));
      imported.variants.erase(imported.variants.begin() + static_cast<std::ptrdiff_t>(i--));
      continue;
    }
    SCOPEVM_RETURN_IF_ERROR(add_variants(dims, variant.dims, *ranges, imported.variants));
    if (imported.variants.size() > kMostVariants)
      return {StatusCode::kUnsupported,
              "branches whose results differ in rank or element type need more than " +
                  std::to_string(kMostVariants) + " variants; --dim can exclude sizes"};
  }
  return {};
}

}  // namespace

Result<Imported> import_model(Context& context) {
  const CompileOptions& options = context.options;
  Imported imported{.mlir = context.mlir};
  SCOPEVM_RETURN_IF_ERROR(check_options(options));
  SCOPEVM_RETURN_IF_ERROR(read_machine(context, imported));
  SCOPEVM_RETURN_IF_ERROR(context.begin("frontend"));
  // The file is imported once for main, and once for each variant.
  frontend::ModelFile file(options);
  SCOPEVM_ASSIGN_OR_RETURN(const auto dims, file.with_defaults(options.dims));
  SCOPEVM_ASSIGN_OR_RETURN(imported.variants, check_variants(options, dims));
  SCOPEVM_RETURN_IF_ERROR(import_functions(file, dims, context, imported));
  imported.data_files = file.data_files();
  return imported;
}

Result<Imported> import_graph(mlir::OwningOpRef<mlir::ModuleOp> graph, Context& context) {
  Imported imported{.mlir = context.mlir};
  imported.graphs.push_back(make_graph(std::move(graph), format::kEntryName, context.options.dims));
  SCOPEVM_RETURN_IF_ERROR(read_machine(context, imported));
  return imported;
}

}  // namespace scopevm::compiler::pipeline
