// Selects the reader of a model file: see import.h.
#include "compiler/import/import.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "compiler/import/model/onnx_file.h"
#include "compiler/import/ops/list_ops.h"
#include "compiler/import/scope/dim_names.h"
#include "runtime/name_text.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {
namespace {

Status check_file(const std::string& path) {
  std::error_code error;
  std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status))
    return Status(StatusCode::kNotFound, path + ": no such file");
  if (std::filesystem::is_directory(status))
    return Status(StatusCode::kInvalidModel, path + ": is a directory, not a model");
  if (!std::filesystem::is_regular_file(status))
    return Status(StatusCode::kInvalidModel, path + ": is not a regular file");
  if (std::filesystem::file_size(path, error) == 0 && !error)
    return Status(StatusCode::kInvalidModel, path + ": is empty");
  return {};
}

// The first bytes of the file.
std::string start_of(const std::string& path) {
  std::string start(256, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<size_t>(file.gcount()));
  return start;
}

// True if the first 256 bytes contain no control character except white space. An ONNX file begins
// with the control character 0x08: the protobuf tag of ir_version.
bool looks_like_text(std::string_view bytes) {
  return std::ranges::all_of(bytes.substr(0, 256), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
}

}  // namespace

ImportOptions ImportOptions::of(const CompileOptions& options,
                                std::map<std::string, DimBound> dims) {
  return {.dims = std::move(dims),
          .external_functions = options.external_functions,
          .external_functions_name = options.external_functions_name,
          .outputs = options.outputs,
          .states = options.states,
          .diagnose = options.diagnose,
          .allow_newer_opset = options.allow_newer_opset,
          .freeze_inputs = options.freeze_inputs,
          .float_products = options.float_products};
}

Result<OnnxFile*> ModelFile::onnx() {
  if (onnx_) return onnx_.get();
  if (!bytes_) SCOPEVM_RETURN_IF_ERROR(check_file(path_));
  if (bytes_ && bytes_->empty()) return Status(StatusCode::kInvalidModel, path_ + ": is empty");
  const std::string_view given =
      bytes_ ? std::string_view(reinterpret_cast<const char*>(bytes_->data()), bytes_->size()) : "";
  std::string extension = std::filesystem::path(path_).extension().string();
  // A known extension selects the reader; otherwise the contents do.
  if (extension == ".mlir" || (extension != ".onnx" && (bytes_ ? looks_like_text(given)
                                                               : looks_like_text(start_of(path_)))))
    return nullptr;
  SCOPEVM_ASSIGN_OR_RETURN(onnx_, read_onnx_file(path_, bytes_));
  return onnx_.get();
}

Result<ImportedModule> ModelFile::import(const ImportOptions& options, mlir::MLIRContext& context) {
  SCOPEVM_ASSIGN_OR_RETURN(const OnnxFile* onnx, this->onnx());
  if (onnx == nullptr) return import_text(path_, bytes_, options, context);
  return import_onnx(path_, onnx_, options, context);
}

Result<std::map<std::string, DimBound>> ModelFile::with_defaults(
    std::map<std::string, DimBound> bounds) {
  SCOPEVM_ASSIGN_OR_RETURN(const OnnxFile* onnx, this->onnx());
  const std::set<std::string> past =
      onnx ? past_dims(onnx->model.graph()) : std::set<std::string>();
  for (const std::string& name : past) bounds.try_emplace(name);
  for (auto& [name, bound] : bounds) {
    if (bound.min) continue;
    bound.min = past.contains(name) ? 0 : bound.multiple_of;
    if (*bound.min > bound.max)
      return Status(StatusCode::kInvalidArgument,
                    path_ + ": dimension " + runtime::quoted(name) + ": the maximum is " +
                        std::to_string(bound.max) + ", but the default minimum is " +
                        std::to_string(*bound.min) + "; --dim '" + runtime::name_text(name) +
                        ">=0' permits 0");
  }
  return bounds;
}

Result<std::vector<ModelOp>> ModelFile::ops(const ImportOptions& options,
                                            mlir::MLIRContext& context) {
  SCOPEVM_ASSIGN_OR_RETURN(const OnnxFile* onnx, this->onnx());
  if (onnx == nullptr)
    return Status(StatusCode::kInvalidArgument,
                  path_ + ": is MLIR assembly, expected an ONNX model");
  Result<std::vector<ModelOp>> ops = list_ops(onnx->model, options, context);
  if (!ops.ok()) return std::move(ops).status().with_context(path_);
  return ops;
}

std::vector<std::string> ModelFile::data_files() const {
  if (!onnx_) return {};
  return {onnx_->data_files.begin(), onnx_->data_files.end()};
}

}  // namespace scopevm::compiler::frontend
