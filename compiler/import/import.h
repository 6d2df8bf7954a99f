// A model file -> a graph module, in which func.func @main is the model. A module from MLIR
// assembly can contain further functions.
//   import.cpp    selects the reader by the file's extension or contents
//   model/        the ONNX file, its tensors and functions, and their checks
//   scope/        the names, types and opsets that nodes can use
//   builder/      builds ops, constants, lists and control flow
//   node/         one ONNX node: its inputs and attributes
//   ops/          the handlers of ONNX ops, by family
//   import_onnx.cpp, assembly/   the readers: ONNX and MLIR assembly -> graph
//
// The attribute `sv.name` of an argument or result is its name in the model, and `sv.default` of an
// argument is its value in calls that do not set it. The location of an op from ONNX is
// graph::op_location() with the name of its node and the name of its ONNX op.
//
// Errors:
//   kNotFound         no such file
//   kInvalidModel     "model.onnx: node \"conv_3\" (Conv, opset 11): ..."
//   kUnsupported      the message names the op, the opset and the node
//   kInvalidArgument  ImportOptions names a dimension or an output that the model does not have
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "scopevm/compiler.h"
#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

// The most graphs in graphs, regions in regions, and functions in functions of a model. Importer
// and passes recurse; the limit protects the stack.
inline constexpr size_t kMaxNesting = 200;

struct ImportOptions {
  // Those of a compilation, with these bounds.
  static ImportOptions of(const CompileOptions& options, std::map<std::string, DimBound> dims);

  // Bounds by dimension name. A dimension with min == max is replaced by that number.
  std::map<std::string, DimBound> dims;
  // CompileOptions::external_functions and its name in messages.
  std::string external_functions;
  std::string external_functions_name;
  // CompileOptions::outputs. The nodes of an ONNX model that only other outputs need are not
  // imported.
  std::vector<std::string> outputs;
  // CompileOptions::states. Operators compute the outputs as concatenations, where the inputs
  // permit it.
  std::vector<std::string> states;
  // Receives the errors of an import that fails, with their locations. Can be empty.
  std::function<void(const Diagnostic&)> diagnose;
  // CompileOptions::allow_newer_opset, freeze_inputs and float_products.
  bool allow_newer_opset = false;
  bool freeze_inputs = false;
  bool float_products = false;
};

// A graph module, and warnings about the model.
struct ImportedModule : mlir::OwningOpRef<mlir::ModuleOp> {
  ImportedModule(mlir::OwningOpRef<mlir::ModuleOp> module)  // NOLINT: adds empty warnings
      : OwningOpRef(std::move(module)) {}
  std::vector<std::string> warnings;  // one message each
  // Ranges of dims whose requests need a variant: they select a branch whose results have other
  // ranks or element types than those of the branch that was imported.
  std::vector<std::pair<std::string, DimBound>> variants;
};

struct OnnxFile;

// An op at an opset, and whether the importer accepts nodes of it.
struct ModelOp {
  enum class Support : uint8_t {
    kNone,
    kHandler,   // of the op table
    kFunction,  // the body of a function, of the model or of the ONNX standard
    kExternal,  // an external function
  };
  std::string name;  // "Conv"; with its domain: "com.microsoft.FusedMatMul"
  int opset = 0;     // the version of the domain; 0 if it is not imported
  Support support = Support::kNone;
  std::string reason;  // of kNone
  std::vector<std::string>
      nodes;  // in the order of the file, with those of inner graphs and functions
};

// A model file that can be imported several times with different bounds. An ONNX file is read once,
// and the imported modules share its tensor data. A file of MLIR assembly is parsed for each
// import.
class ModelFile {
 public:
  explicit ModelFile(std::string path) : path_(std::move(path)) {}
  // CompileOptions::model_path and model_bytes.
  explicit ModelFile(const CompileOptions& options)
      : path_(options.model_path), bytes_(options.model_bytes) {}

  // REQUIRES: the context has the graph and func dialects loaded.
  Result<ImportedModule> import(const ImportOptions& options, mlir::MLIRContext& context);

  // The bounds, with the default minimum where none is given: 0 for dims of an ONNX model of what
  // earlier calls computed, also without an entry, else the least positive multiple of the factor.
  // Errors: those of reading the file, kInvalidArgument (a maximum below the default minimum).
  Result<std::map<std::string, DimBound>> with_defaults(std::map<std::string, DimBound> bounds);

  // The ops of the imported part of an ONNX model, sorted by name, without importing it: types and
  // values of attributes are not checked. Errors: those of reading the file, kInvalidArgument (the
  // file is MLIR assembly, or ImportOptions::outputs has an unknown one), kInvalidModel (an invalid
  // list of opsets).
  Result<std::vector<ModelOp>> ops(const ImportOptions& options, mlir::MLIRContext& context);

  // The name of the file in messages.
  const std::string& path() const { return path_; }
  // The files with external data that the imported modules use, relative to the model's folder.
  std::vector<std::string> data_files() const;

 private:
  // Reads an ONNX file on first use. Returns null for MLIR assembly.
  Result<OnnxFile*> onnx();

  std::string path_;
  std::optional<std::span<const uint8_t>> bytes_;  // unset: those of the file
  std::shared_ptr<OnnxFile> onnx_;                 // read on first use
};

// The readers, one per file format. `bytes` are those of the file, if they are known.
Result<ImportedModule> import_onnx(const std::string& path, const std::shared_ptr<OnnxFile>& file,
                                   const ImportOptions& options, mlir::MLIRContext& context);
Result<ImportedModule> import_text(const std::string& path,
                                   const std::optional<std::span<const uint8_t>>& bytes,
                                   const ImportOptions& options, mlir::MLIRContext& context);

}  // namespace scopevm::compiler::frontend
