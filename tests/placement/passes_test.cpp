// No pass moves a value to a different place. Applies every pass to copies of placed graphs, and
// then every second pass if the first one changed the graph. Each op that remains, identified by
// its location, must have the same place.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "compiler/codegen/backends.h"
#include "compiler/fusion/fuse.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/passes/context.h"
#include "compiler/placement/place.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "tests/property/random/random_graph.h"
#include "tests/property/random/scatter.h"

namespace scopevm::compiler::placement {
namespace {

using Module = mlir::OwningOpRef<mlir::ModuleOp>;
using property::Symbols;

std::unique_ptr<mlir::MLIRContext> new_context() {
  auto context = make_context();
  context->disableMultithreading();
  return context;
}

// A placed graph in which each op has a unique location.
struct Placed {
  Module module;
  Machine machine;
  Symbols symbols;  // values that `specialise` may assign to symbols of inputs
};

struct Pass {
  const char* name;
  std::function<llvm::LogicalResult(mlir::ModuleOp, const Symbols&)> run;
};

template <typename Make>
Pass of_mlir(const char* name, Make make) {
  return {name, [make](mlir::ModuleOp module, const Symbols&) {
            mlir::PassManager manager(module.getContext());
            manager.addPass(make());
            return manager.run(module);
          }};
}

llvm::LogicalResult remove_unused(mlir::ModuleOp module, const Symbols&) {
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (!function.isExternal()) graph::remove_unused(function);
  graph::remove_unused_functions(module);
  return mlir::success();
}

// Replaces every second symbol of `symbols` by its value, in the entry function.
llvm::LogicalResult specialise(mlir::ModuleOp module, const Symbols& symbols) {
  mlir::func::FuncOp entry = *module.getOps<mlir::func::FuncOp>().begin();
  return graph::specialise(entry, [&](std::string_view name) -> std::optional<DimExpr> {
    auto known = symbols.find(std::string(name));
    if (known == symbols.end() || std::distance(symbols.begin(), known) % 2 != 0)
      return std::nullopt;
    return DimExpr(known->second);
  });
}

std::vector<Pass> all_passes() {
  auto plain = [](llvm::LogicalResult (*pass)(mlir::ModuleOp)) {
    return [pass](mlir::ModuleOp module, const Symbols&) { return pass(module); };
  };
  return {{"simplify", plain(graph::simplify)},
          {"hoist", plain(graph::hoist)},
          {"fuse", plain(fusion::fuse)},
          {"remove unused", remove_unused},
          {"specialise", specialise},
          of_mlir("cse", mlir::createCSEPass),
          of_mlir("canonicalize", [] { return mlir::createCanonicalizerPass(); }),
          of_mlir("inline", [] { return mlir::createInlinerPass(); })};
}

std::string place_of(mlir::Type type) {
  auto tensor = mlir::dyn_cast<graph::TensorType>(type);
  if (!tensor) return "-";
  return tensor.getPlace() ? tensor.getPlace().str() : "nowhere";
}

template <typename Types>
std::string places_of(Types types) {
  std::string places;
  for (mlir::Type type : types) places += (places.empty() ? "" : ", ") + place_of(type);
  return places;
}

// Sets the location of each op to a unique name: its mnemonic and a number.
void number_ops(mlir::ModuleOp module) {
  int64_t count = 0;
  module.walk([&](mlir::Operation* op) {
    const std::string name = op->getName().stripDialect().str() + "_" + std::to_string(count++);
    op->setLoc(mlir::NameLoc::get(mlir::StringAttr::get(op->getContext(), name)));
  });
}

// The device of each op and the places of its results; the places of each function's inputs and
// results.
struct Places {
  std::set<std::pair<std::string, std::string>> by_name;

  Places(mlir::ModuleOp module, const Machine& machine) {
    module.walk([&](mlir::Operation* op) {
      if (auto function = mlir::dyn_cast<mlir::func::FuncOp>(op))
        by_name.emplace(
            "@" + function.getName().str(),
            places_of(function.getArgumentTypes()) + " -> " + places_of(function.getResultTypes()));
      else if (auto name = mlir::dyn_cast<mlir::NameLoc>(op->getLoc()); name && is_known(op))
        by_name.emplace(name.getName().str(), machine.devices[device_of(op, machine)].name +
                                                  " makes " + places_of(op->getResultTypes()));
    });
  }

 private:
  // False for the replacement of an op, which has the location of the original op.
  static bool is_known(mlir::Operation* op) {
    auto name = mlir::cast<mlir::NameLoc>(op->getLoc());
    return op->getNumResults() > 0 &&
           name.getName().getValue().starts_with(op->getName().stripDialect().str() + "_");
  }
};

struct Counts {
  std::map<std::string, int> changed;  // number of changed graphs, by pass
  int graphs = 0;
  int refused = 0;  // runs of `specialise` with dims that an op rejects
  int64_t compared = 0;
};

std::string text_of(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

// Runs the pass on a copy of `before` and checks the places against `before`. Returns null if the
// pass fails, which only `specialise` may do.
Module run_on_copy(const Pass& pass, mlir::ModuleOp before, const Placed& placed, Counts& counts) {
  Module after(mlir::cast<mlir::ModuleOp>(before->clone()));
  if (failed(pass.run(*after, placed.symbols))) {
    EXPECT_STREQ(pass.name, "specialise");
    ++counts.refused;
    return nullptr;
  }
  EXPECT_TRUE(succeeded(mlir::verify(*after)));
  const Status status = verify_places(*after, placed.machine);
  EXPECT_TRUE(status.ok()) << status.message();
  const Places old(before, placed.machine), now(*after, placed.machine);
  for (const auto& [name, places] : now.by_name) {
    auto known = old.by_name.lower_bound({name, ""});
    if (known == old.by_name.end() || known->first != name) continue;
    EXPECT_EQ(places, known->second) << name;
    ++counts.compared;
  }
  if (testing::Test::HasFailure())
    ADD_FAILURE() << "before:\n" << text_of(before) << "after:\n" << text_of(*after);
  return after;
}

void check(const Placed& placed, Counts& counts) {
  static const std::vector<Pass> kPasses = all_passes();
  ++counts.graphs;
  const std::string text = text_of(*placed.module);
  for (const Pass& first : kPasses) {
    SCOPED_TRACE(first.name);
    Module after = run_on_copy(first, *placed.module, placed, counts);
    if (testing::Test::HasFailure()) return;
    if (!after || text_of(*after) == text) continue;
    ++counts.changed[first.name];
    for (const Pass& second : kPasses) {
      SCOPED_TRACE(std::string("then ") + second.name);
      run_on_copy(second, *after, placed, counts);
      if (testing::Test::HasFailure()) return;
    }
  }
}

// The compiler places simplified graphs. After placement of an imported graph, the passes have more
// ops to change.
enum class Form { kSimplified, kAsImported };

Status place(Placed& placed, Form form, const std::vector<std::string>& rules) {
  if (form == Form::kSimplified &&
      (failed(graph::simplify(*placed.module)) || failed(graph::hoist(*placed.module))))
    return {StatusCode::kInternal, "passes failed"};
  std::vector<Rule> parsed;
  for (const std::string& rule : rules) {
    SCOPEVM_ASSIGN_OR_RETURN(parsed.emplace_back(), parse_rule(rule));
  }
  SCOPEVM_RETURN_IF_ERROR(place(*placed.module, placed.machine, parsed).status());
  number_ops(*placed.module);
  return verify_places(*placed.module, placed.machine);
}

Placed random_placed(uint64_t seed, Form form, mlir::MLIRContext& context) {
  constexpr int64_t kMostOps = 24;
  property::GraphCase graph = property::random_graph(seed, context, kMostOps);
  const property::Scatter scattered = property::scatter(graph.text(), property::Devices::kCpus);
  Placed placed{
      std::move(graph.module),
      *parse_machine(scattered.machine_json, "machine", codegen::built_in_backends().kinds()),
      graph.requests.front().symbols};
  const Status status = place(placed, form, scattered.places);
  EXPECT_TRUE(status.ok()) << status.message();
  return placed;
}

TEST(Passes, KeepPlacesOfRandomGraphs) {
  constexpr uint64_t kGraphs = 60;
  auto context = new_context();
  Counts counts;
  for (uint64_t seed = 1; seed <= kGraphs && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    check(random_placed(seed, Form::kSimplified, *context), counts);
    if (!HasFailure()) check(random_placed(seed, Form::kAsImported, *context), counts);
  }
  EXPECT_GT(counts.compared, 600 * kGraphs);
  EXPECT_LT(counts.refused, 100);
  for (const char* name : {"simplify", "hoist", "fuse", "specialise", "cse", "canonicalize"})
    EXPECT_GT(counts.changed[name], 3) << name;
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::filesystem::path> files(const std::string& folder, const std::string& extension) {
  std::set<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == extension) found.insert(entry.path());
  return found;
}

// Uses all shared machines and those in the graph's folder that have the devices and scopes of the
// graph.
TEST(Passes, KeepPlacesOfWrittenGraphs) {
  auto context = new_context();
  mlir::ScopedDiagnosticHandler quiet(context.get(), [](mlir::Diagnostic&) {});
  const std::string folder = GRAPHS_FOLDER;
  const std::vector<std::string> kRules[] = {{}, {"type:[a-l]*=npu"}};
  Counts counts;
  for (const std::filesystem::path& path : files(folder, ".mlir")) {
    if (path.parent_path().filename() == "errors") continue;
    SCOPED_TRACE(path.filename());
    const int graphs = counts.graphs;
    std::set<std::filesystem::path> machines = files(folder + "/machines", ".json");
    if (path.parent_path() != folder) machines.merge(files(path.parent_path(), ".json"));
    for (const std::filesystem::path& machine : machines) {
      SCOPED_TRACE(machine.filename());
      for (Form form : {Form::kSimplified, Form::kAsImported})
        for (auto rules : kRules) {
          Placed placed{mlir::parseSourceString<mlir::ModuleOp>(contents(path), context.get()),
                        *parse_machine(contents(machine), machine.string(),
                                       codegen::built_in_backends().kinds()),
                        {{"k", 8}, {"m", 8}, {"n", 8}}};
          ASSERT_TRUE(placed.module);
          if (!place(placed, form, rules).ok()) continue;
          check(placed, counts);
          if (HasFailure()) return;
        }
    }
    if (path.filename() != "unknown_device.test.mlir") EXPECT_GT(counts.graphs, graphs);
  }
  EXPECT_GT(counts.compared, 20000);
  EXPECT_LT(counts.refused, counts.graphs / 2);
  for (const char* name : {"simplify", "fuse", "specialise", "cse"})
    EXPECT_GT(counts.changed[name], 3) << name;
}

// Validates the check itself: verify_places() detects a value with a wrong device in its type.
TEST(Passes, MovedValueIsRejected) {
  auto context = new_context();
  constexpr uint64_t kGraphs = 20;
  int moved = 0;
  for (uint64_t seed = 1; seed <= kGraphs; ++seed) {
    Placed placed = random_placed(seed, Form::kSimplified, *context);
    auto elsewhere = graph::PlaceAttr::get(context.get(), "far");
    const DeviceIndex far = placed.machine.devices.next_index();
    placed.machine.devices.push_back({"far", "cpu"});
    placed.machine.pools.push_back(
        {.scope = "global", .kind = PoolKind::kHeap, .device = far, .reached = {far}});
    ASSERT_TRUE(verify_places(*placed.module, placed.machine).ok());
    placed.module->walk([&](mlir::Operation* op) {
      auto type = op->getNumResults() == 0
                      ? graph::TensorType()
                      : mlir::dyn_cast<graph::TensorType>(op->getResult(0).getType());
      if (!type || op->use_empty()) return;
      op->getResult(0).setType(type.withPlace(elsewhere));
      const bool is_found = !verify_places(*placed.module, placed.machine).ok();
      // The wrong place is valid if all readers are copies, or if a copy or a constant produces the
      // value.
      const bool is_reader_free = llvm::all_of(op->getUsers(), [](mlir::Operation* user) {
        return mlir::isa<graph::DeviceCopyOp>(user);
      });
      const bool is_maker_free = mlir::isa<graph::DeviceCopyOp, graph::ConstantOp>(op);
      EXPECT_TRUE(is_found || is_reader_free || is_maker_free)
          << op->getName().getStringRef().str();
      moved += is_found;
      op->getResult(0).setType(type);
    });
  }
  EXPECT_GT(moved, 200);
}

}  // namespace
}  // namespace scopevm::compiler::placement
