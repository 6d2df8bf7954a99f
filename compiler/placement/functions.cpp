// Prepares functions for placement; see the header. Each call gets a clone of its callee, so
// that each call is placed separately. Equal clones are merged afterwards.
#include "compiler/placement/functions.h"

#include <map>
#include <string>

#include "compiler/graph/rewrite/passes.h"
#include "compiler/placement/graph_problem.h"
#include "compiler/placement/place.h"
#include "vm/format/schema/entry_name.h"

namespace scopevm::compiler::placement {
namespace {

// Nested calls multiply the number of clones. Beyond this many, calls share their callees.
constexpr int kMostClones = 256;

class Cloner {
 public:
  explicit Cloner(mlir::ModuleOp module) : module_(module) {}

  void run() {
    llvm::SmallVector<mlir::func::FuncOp> entries;
    for (auto function : module_.getOps<mlir::func::FuncOp>())
      if (function.isPublic()) entries.push_back(function);
    for (mlir::func::FuncOp entry : entries) {
      suffix_ = entry.getName() == format::kEntryName ? "" : "_of_" + entry.getName().str();
      clone_callees(entry, {});
    }
    graph::remove_unused_functions(module_);
  }

 private:
  // `above`: the functions on the path from the entry, with their clones. A recursive call calls
  // the existing clone, so that cloning terminates.
  void clone_callees(mlir::func::FuncOp caller, std::map<std::string, std::string> above) {
    llvm::SmallVector<graph::FunctionUserOp> calls;
    caller.walk([&](graph::FunctionUserOp user) {
      if (user.isCall()) calls.push_back(user);
    });
    for (graph::FunctionUserOp call : calls) {
      const std::string name = call.getCalleeAttr().getValue().str();
      const auto set_callee = [&](const std::string& callee) {
        call.setCalleeAttr(mlir::FlatSymbolRefAttr::get(call->getContext(), callee));
      };
      if (auto known = above.find(name); known != above.end()) {
        set_callee(known->second);
        continue;
      }
      if (clones_ >= kMostClones) continue;
      auto callee = module_.lookupSymbol<mlir::func::FuncOp>(name);
      auto clone = mlir::cast<mlir::func::FuncOp>(callee->clone());
      std::string base(without_number(name));
      // A module that is placed again has names with the suffix; without this each placement would
      // append it once more.
      if (base.ends_with(suffix_)) base.resize(base.size() - suffix_.size());
      std::string own;
      do own = base + suffix_ + "__" + std::to_string(++clones_);
      while (module_.lookupSymbol(own));
      clone.setName(own);
      module_.push_back(clone);
      set_callee(own);
      std::map<std::string, std::string> inner = above;
      inner[name] = own;
      clone_callees(clone, inner);
    }
  }

  mlir::ModuleOp module_;
  std::string suffix_;
  int clones_ = 0;
};

std::string text_without_name(mlir::func::FuncOp function) {
  const std::string name = function.getName().str();
  function.setName("f");
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Locations are not printed: functions that differ only in the reasons of their copies are equal.
  function.print(stream, mlir::OpPrintingFlags().printGenericOpForm().useLocalScope());
  function.setName(name);
  return text;
}

void rename(mlir::func::FuncOp function, const std::string& name, mlir::ModuleOp module) {
  auto attribute = mlir::StringAttr::get(module.getContext(), name);
  if (succeeded(mlir::SymbolTable::replaceAllSymbolUses(function, attribute, module)))
    function.setName(attribute);
}

// Numbers clones in module order, so that placing a placed module again changes no name.
void number_clones(mlir::ModuleOp module) {
  llvm::SmallVector<std::pair<mlir::func::FuncOp, std::string>> clones;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    const std::string name = function.getName().str();
    if (function.isPrivate() && without_number(name).size() < name.size())
      clones.emplace_back(function, without_number(name));
  }
  for (auto [i, clone] : llvm::enumerate(clones))
    rename(clone.first, "." + std::to_string(i), module);  // cannot collide with a parsed name
  int number = 0;
  for (auto& [function, base] : clones) {
    std::string name;
    do name = base + "__" + std::to_string(++number);
    while (module.lookupSymbol(name));
    rename(function, name, module);
  }
}

// Whether a value in the host's memory is at this place already. Also true for an invalid place,
// which read_constraints() reports.
bool is_on_host(mlir::StringAttr text, const Machine& machine) {
  const Result<RequiredPlace> place = parse_place(text.getValue(), machine);
  return !place.ok() || (!place->names_scope() && place->permits(machine, machine.host_device()));
}

// `written`, or the place in the type. Null if there is none, if it is on the host, or for strings,
// which cannot be annotated.
mlir::StringAttr place_elsewhere(mlir::StringAttr written, mlir::Type type,
                                 const Machine& machine) {
  auto tensor = mlir::dyn_cast<graph::TensorType>(type);
  if (!tensor || tensor.getDtype() == DType::kStr) return {};
  written = written_place(written, tensor);
  return written && !is_on_host(written, machine) ? written : mlir::StringAttr();
}

mlir::Type without_place(mlir::Type type) {
  return mlir::cast<graph::TensorType>(type).withPlace(nullptr);
}

// An annotation of `value`, whose type is `type`.
mlir::Value annotate(mlir::OpBuilder& builder, mlir::Location location, mlir::Type type,
                     mlir::Value value, mlir::StringAttr place) {
  return builder.create<graph::OnDeviceOp>(location, type, value, place, /*constrain_body=*/true,
                                           /*constrain_result=*/false);
}

void annotate_parameters(mlir::func::FuncOp function, const Machine& machine) {
  mlir::Block& block = function.getBody().front();
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(&block);
  for (mlir::BlockArgument argument : block.getArguments()) {
    const unsigned i = argument.getArgNumber();
    const mlir::Type type = argument.getType();
    const mlir::StringAttr place = place_elsewhere(
        function.getArgAttrOfType<mlir::StringAttr>(i, kPlaceAttribute), type, machine);
    if (!place) continue;
    function.removeArgAttr(i, kPlaceAttribute);
    argument.setType(without_place(type));
    mlir::Value annotated = annotate(builder, argument.getLoc(), type, argument, place);
    argument.replaceAllUsesExcept(annotated, annotated.getDefiningOp());
  }
}

// The annotation of `value` that constrains its readers; null if there is none.
graph::OnDeviceOp constraint_of_readers(mlir::Value value) {
  auto annotation = value.getDefiningOp<graph::OnDeviceOp>();
  while (annotation && !annotation.getConstrainResult())
    annotation = annotation.getX().getDefiningOp<graph::OnDeviceOp>();
  return annotation;
}

// An annotation cannot constrain the readers of a result of a closure, which is on the host. The
// result is then a copy of the value at the annotation's place.
void copy_annotated_results(mlir::func::FuncOp function, const Machine& machine) {
  mlir::Operation* terminator = function.getBody().front().getTerminator();
  mlir::OpBuilder builder(terminator);
  for (mlir::OpOperand& operand : terminator->getOpOperands()) {
    graph::OnDeviceOp annotation = constraint_of_readers(operand.get());
    if (!annotation || is_on_host(annotation.getPlaceAttr(), machine)) continue;
    operand.set(builder.create<graph::DeviceCopyOp>(annotation.getLoc(), operand.get().getType(),
                                                    operand.get(), annotation.getPlaceAttr(),
                                                    /*from=*/mlir::StringAttr()));
  }
}

void annotate_results(mlir::func::FuncOp function, const Machine& machine) {
  mlir::Block& block = function.getBody().front();
  mlir::OpBuilder builder(block.getTerminator());
  llvm::SmallVector<mlir::Type> results(function.getResultTypes());
  for (mlir::OpOperand& operand : block.getTerminator()->getOpOperands()) {
    const unsigned i = operand.getOperandNumber();
    const mlir::StringAttr place = place_elsewhere(
        function.getResultAttrOfType<mlir::StringAttr>(i, kPlaceAttribute), results[i], machine);
    if (!place) continue;
    function.removeResultAttr(i, mlir::StringAttr::get(function.getContext(), kPlaceAttribute));
    results[i] = without_place(results[i]);
    operand.set(annotate(builder, function.getLoc(), results[i], operand.get(), place));
  }
  function.setType(
      mlir::FunctionType::get(function.getContext(), block.getArgumentTypes(), results));
}

}  // namespace

llvm::SetVector<mlir::func::FuncOp> functions_of_closures(mlir::ModuleOp module) {
  llvm::SetVector<mlir::func::FuncOp> functions;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    function.walk([&](graph::FunctionUserOp user) {
      if (!user.isCall())
        functions.insert(module.lookupSymbol<mlir::func::FuncOp>(user.getCalleeAttr()));
    });
  return functions;
}

void annotate_functions_of_closures(mlir::ModuleOp module, const Machine& machine) {
  for (mlir::func::FuncOp function : functions_of_closures(module)) {
    if (function.isExternal()) continue;
    annotate_parameters(function, machine);
    annotate_results(function, machine);
    copy_annotated_results(function, machine);
  }
}

std::string_view without_number(std::string_view name) {
  const size_t at = name.rfind("__");
  if (at == std::string_view::npos || at + 2 == name.size()) return name;
  return name.find_first_not_of("0123456789", at + 2) == std::string_view::npos ? name.substr(0, at)
                                                                                : name;
}

void clone_per_call(mlir::ModuleOp module) { Cloner(module).run(); }

// Merging callees can make their callers equal, so this repeats until nothing changes.
void merge_equal_functions(mlir::ModuleOp module) {
  for (bool has_merged = true; has_merged;) {
    has_merged = false;
    std::map<std::string, mlir::func::FuncOp> by_text;
    for (auto function : llvm::make_early_inc_range(module.getOps<mlir::func::FuncOp>())) {
      if (function.isPublic()) continue;
      auto [first, is_new] = by_text.try_emplace(text_without_name(function), function);
      if (is_new) continue;
      const std::string kept = first->second.getName().str();
      if (failed(mlir::SymbolTable::replaceAllSymbolUses(
              function, mlir::StringAttr::get(module.getContext(), kept), module)))
        continue;
      function.erase();
      has_merged = true;
    }
  }
  number_clones(module);
}

}  // namespace scopevm::compiler::placement
