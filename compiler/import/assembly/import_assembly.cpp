// MLIR assembly -> module, with MLIR's parser. The error message consists of the parser's
// diagnostics, each with its position as a prefix: "model.mlir:12:7: ".
#include <set>

#include "compiler/graph/control/tuples.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/named_dims.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/graph/rewrite/states.h"
#include "compiler/graph/type_rule.h"
#include "compiler/import/assembly/places.h"
#include "compiler/import/import.h"
#include "compiler/import/scope/dim_names.h"
#include "compiler/import/scope/kept_outputs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "runtime/quoted.h"
#include "vm/format/schema/entry_name.h"

namespace scopevm::compiler::frontend {
namespace {

Diagnostic located(mlir::Location location, std::string text) {
  Diagnostic made{.text = std::move(text)};
  if (auto file = location->findInstanceOf<mlir::FileLineColLoc>()) {
    made.file = file.getFilename().str();
    made.line = static_cast<int>(file.getLine());
    made.column = static_cast<int>(file.getColumn());
  }
  if (auto name = location->findInstanceOf<mlir::NameLoc>()) made.node = name.getName().str();
  return made;
}

// The message with its position as a prefix: "model.mlir:12:7: ". Without a file position, the
// prefix is the name of the op, if there is one.
std::string message_of(const Diagnostic& error) {
  if (error.file.empty() && !error.node.empty())
    return runtime::quoted(error.node) + ": " + error.text;
  if (error.file.empty()) return error.text;
  return error.file + ":" + std::to_string(error.line) + ":" + std::to_string(error.column) + ": " +
         error.text;
}

// Passes the errors of a file to ImportOptions::diagnose.
void report(const std::vector<Diagnostic>& errors, const std::string& path,
            const ImportOptions& options) {
  if (!options.diagnose) return;
  for (Diagnostic error : errors) {
    if (error.file.empty()) error.file = path;
    options.diagnose(error);
  }
}

llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> open_text(
    const std::string& path, const std::optional<std::span<const uint8_t>>& bytes) {
  if (!bytes)
    return llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/true);
  // The parser requires a terminating zero, which the caller's bytes lack.
  return llvm::MemoryBuffer::getMemBufferCopy(
      {reinterpret_cast<const char*>(bytes->data()), bytes->size()}, path);
}

// True if `name` can be a part of a symbol of the compiled code.
bool is_plain(llvm::StringRef name) {
  return llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

// A region and a type in it, or a list of attributes.
constexpr int kMaxBrackets = 2 * kMaxNesting;

// Checks that brackets of any kind are nested at most kMaxBrackets deep. MLIR's parser recurses.
Status check_nesting(llvm::StringRef text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '/':
        if (text.substr(i).starts_with("//")) i = std::min(text.find('\n', i), text.size());
        break;
      case '"':
        // A backslash escapes the next character.
        for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
          if (text[i] == '\\') ++i;
        break;
      case '{':
      case '[':
      case '(':
      case '<':
        if (++depth > kMaxBrackets)
          return Status(StatusCode::kInvalidModel,
                        "brackets are nested more than " + std::to_string(kMaxBrackets) + " deep");
        break;
      case '}':
      case ']':
      case ')':
        --depth;
        break;
      case '>':
        if (i > 0 && text[i - 1] != '-') --depth;  // not an arrow
        break;
      default:
        break;
    }
  }
  return {};
}

// Finds types that are too large to visit or print. With aliases, a type can be exponentially
// larger than its definition in the file, and nested deeper.
class TypeSizes {
 public:
  static constexpr int kMaxParts = 10'000;

  bool is_too_large(mlir::Type type) { return size_of(type, 1) > kMaxParts; }

 private:
  // The number of types in `type`, including itself, up to kMaxParts + 1.
  int size_of(mlir::Type type, int depth) {
    if (auto known = sizes_.find(type); known != sizes_.end()) return known->second;
    int size = depth > kMaxBrackets ? kMaxParts + 1 : 1;
    const auto add_part = [&](mlir::Type part) {
      if (size <= kMaxParts) size = std::min(size + size_of(part, depth + 1), kMaxParts + 1);
    };
    type.walkImmediateSubElements([](mlir::Attribute) {}, add_part);
    return sizes_[type] = size;
  }

  llvm::DenseMap<mlir::Type, int> sizes_;
};

// Verifies the module after a check of the sizes of types, because verifiers visit and print types.
llvm::LogicalResult verify(mlir::ModuleOp module) {
  TypeSizes sizes;
  const auto is_too_large = [&](mlir::Type type) { return sizes.is_too_large(type); };
  const auto check_type = [&](mlir::Type type) {
    return is_too_large(type) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  };
  const auto has_large_type = [&](mlir::Operation* op) {
    return llvm::any_of(op->getResultTypes(), is_too_large) ||
           op->getAttrDictionary().walk<mlir::WalkOrder::PreOrder>(check_type).wasInterrupted() ||
           llvm::any_of(op->getRegions(), [&](mlir::Region& region) {
             return llvm::any_of(region, [&](mlir::Block& block) {
               return llvm::any_of(block.getArgumentTypes(), is_too_large);
             });
           });
  };
  const auto check = [&](mlir::Operation* op) {
    if (!has_large_type(op)) return mlir::WalkResult::advance();
    // Operation::emitError() would print the op in a note.
    mlir::emitError(op->getLoc()) << "a type consists of more than " << TypeSizes::kMaxParts
                                  << " types, or is nested more than " << kMaxBrackets << " deep";
    return mlir::WalkResult::interrupt();
  };
  return mlir::failure(module.walk(check).wasInterrupted() || failed(mlir::verify(module)));
}

Status unknown_op(mlir::Operation* op) {
  return Status(StatusCode::kInvalidModel,
                "unknown op '" + op->getName().getStringRef().str() + "': not in the sv dialect");
}

// Checks that the body, including all regions, contains only ops of the graph dialect and
// func.return.
Status check_ops(mlir::func::FuncOp function) {
  mlir::Operation* unknown = nullptr;
  function.getBody().walk([&](mlir::Operation* op) {
    if (mlir::isa<graph::GraphDialect>(op->getDialect()) || mlir::isa<mlir::func::ReturnOp>(op))
      return mlir::WalkResult::advance();
    unknown = op;
    return mlir::WalkResult::interrupt();
  });
  return unknown ? unknown_op(unknown) : Status();
}

Status check_function(mlir::func::FuncOp function) {
  const std::string name = "@" + function.getName().str();
  auto invalid = [&](const std::string& message) {
    return Status(StatusCode::kInvalidModel, message);
  };
  if (!is_plain(function.getName()))
    return invalid(name + ": a function name must consist of letters, digits and _");
  if (function.isExternal()) return invalid(name + " has no body");
  if (!function.getBody().hasOneBlock())
    return invalid(name + " has " + std::to_string(function.getBody().getBlocks().size()) +
                   " blocks, expected 1");
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    for (const char* attribute : {graph::kStateAttribute, graph::kInPlaceAttribute})
      if (function.getArgAttr(i, attribute))
        return invalid(name + ": argument " + std::to_string(i) + " has " + attribute +
                       ", which only the option \"state\" sets");
  const auto parameters = graph::leaves_of(function.getArgumentTypes());
  const auto results = graph::leaves_of(function.getResultTypes());
  for (mlir::Type type : llvm::concat<const mlir::Type>(parameters, results))
    if (mlir::isa<graph::ClosureType>(type) && function.getName() == format::kEntryName)
      return invalid("@main cannot take or return closures: the runtime API has none");
    else if (!mlir::isa<graph::TensorType, graph::ListType, graph::ClosureType>(type))
      return invalid(name + " takes or returns " + graph::text_of(type) +
                     ", expected !sv.tensor, !sv.list or !sv.closure");
  if (results.empty()) return invalid(name + " has no results, expected at least 1");
  return check_ops(function);
}

Status check_functions(mlir::ModuleOp module) {
  auto main = module.lookupSymbol<mlir::func::FuncOp>(format::kEntryName);
  if (!main || main.isExternal())
    return Status(StatusCode::kInvalidModel, "missing function @main");
  for (mlir::Operation& op : *module.getBody()) {
    if (mlir::isa<graph::ExternOp>(op)) continue;  // verified
    auto function = mlir::dyn_cast<mlir::func::FuncOp>(op);
    if (!function) return unknown_op(&op);
    SCOPEVM_RETURN_IF_ERROR(check_function(function));
  }
  return {};
}

// Applies the bounds of --dim to the symbols of the arguments.
Status apply_dims(mlir::func::FuncOp main, const std::map<std::string, DimBound>& bounds,
                  bool has_states) {
  std::set<std::string> names;
  for (mlir::Type type : main.getArgumentTypes())
    if (auto tensor = mlir::dyn_cast<graph::TensorType>(type))
      for (DimExpr dim : tensor.getShape())
        for (const std::string& name : dim.symbols()) names.insert(name);
  SCOPEVM_RETURN_IF_ERROR(check_dim_names(bounds, names, has_states));
  auto replacement = [&](std::string_view name) -> std::optional<DimExpr> {
    if (!names.contains(std::string(name))) return std::nullopt;
    return named_dim(std::string(name), bounds);
  };
  if (failed(graph::specialise(main, replacement)))
    return Status(StatusCode::kInvalidModel, "the graph is invalid for the given dims");
  return {};
}

}  // namespace

Result<ImportedModule> import_text(const std::string& path,
                                   const std::optional<std::span<const uint8_t>>& bytes,
                                   const ImportOptions& options, mlir::MLIRContext& context) {
  std::vector<Diagnostic> errors;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) {
    const std::string message = diagnostic.str();
    // MLIR adds this message to each error of a type rule.
    if (!errors.empty() && llvm::StringRef(message).ends_with("failed to infer returned types"))
      return mlir::success();
    errors.push_back(located(diagnostic.getLocation(), message));
    return mlir::success();
  });
  auto parse_error = [&] {
    report(errors, path, options);
    std::string messages;
    for (const Diagnostic& error : errors)
      messages += (messages.empty() ? "" : "\n") + message_of(error);
    bool has_position = messages.find(path) != std::string::npos;
    return Status(StatusCode::kInvalidModel, has_position ? messages : path + ": " + messages);
  };
  std::set<std::string, std::less<>> may_be_zero;
  for (const auto& [name, bound] : options.dims)
    if (bound.min == 0) may_be_zero.insert(name);
  // The parser gives each named dim the minimum 1, except those in zero_dims.
  const graph::ZeroDims zero_dims(std::move(may_be_zero));
  auto file = open_text(path, bytes);
  if (!file) {
    const bool is_memory = file.getError() == std::errc::not_enough_memory;
    return Status(is_memory ? StatusCode::kOutOfMemory : StatusCode::kNotFound,
                  path + ": " + file.getError().message());
  }
  SCOPEVM_RETURN_IF_ERROR(check_nesting((*file)->getBuffer()).with_context(path));
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(
      sources, mlir::ParserConfig(&context, /*verifyAfterParse=*/false));
  if (!module || failed(verify(*module))) return parse_error();
  SCOPEVM_RETURN_IF_ERROR(check_functions(*module).with_context(path));
  graph::flatten_tuples(*module);
  lift_places(*module);
  auto main = module->lookupSymbol<mlir::func::FuncOp>(format::kEntryName);
  if (Status status = apply_dims(main, options.dims, !options.states.empty()); !status.ok())
    return errors.empty() ? std::move(status).with_context(path) : parse_error();
  SCOPEVM_RETURN_IF_ERROR(keep_outputs(main, options.outputs).with_context(path));
  return ImportedModule(std::move(module));
}

}  // namespace scopevm::compiler::frontend
