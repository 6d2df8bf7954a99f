// Checks external libraries and creates their functions; see bound_externals.h.
#include "vm/run/external/bound_externals.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "runtime/without_exceptions.h"

namespace scopevm::vm {
namespace {

using Libraries = std::vector<const scopevm_external_library*>;

Status check_library(const scopevm_external_library* library) {
  const auto invalid = [](std::string what) -> Status {
    return {StatusCode::kInvalidArgument, std::move(what)};
  };
  if (library == nullptr) return invalid("is null");
  // Members of a library of another version may have other offsets.
  if (library->abi_version != SCOPEVM_EXTERNAL_ABI_VERSION)
    return {StatusCode::kUnsupported, "has ABI version " + std::to_string(library->abi_version) +
                                          ", expected " +
                                          std::to_string(SCOPEVM_EXTERNAL_ABI_VERSION)};
  if (library->struct_size < sizeof *library)
    return invalid("has struct_size " + std::to_string(library->struct_size) +
                   ", expected at least " + std::to_string(sizeof *library));
  if (library->name == nullptr || *library->name == '\0') return invalid("has no name");
  const auto lacks = [&](std::string_view callback) {
    return invalid("\"" + std::string(library->name) + "\": " + std::string(callback) + " is null");
  };
  if (library->create == nullptr) return lacks("create");
  if (library->destroy == nullptr) return lacks("destroy");
  return library->run == nullptr ? lacks("run") : Status();
}

const scopevm_external_library* find_library(const Libraries& libraries, std::string_view name) {
  const auto found = std::ranges::find_if(
      libraries, [&](const scopevm_external_library* library) { return library->name == name; });
  return found == libraries.end() ? nullptr : *found;
}

Status check_libraries(const Libraries& libraries) {
  for (size_t i = 0; i < libraries.size(); ++i) {
    Status status = check_library(libraries[i]);
    if (status.ok() && find_library(libraries, libraries[i]->name) != libraries[i])
      status = {StatusCode::kInvalidArgument,
                "\"" + std::string(libraries[i]->name) + "\": an earlier library has this name"};
    if (!status.ok())
      return std::move(status).with_context("external library " + std::to_string(i));
  }
  return {};
}

Status create_function(const format::KernelDecl& kernel, BoundExternals::Function& created) {
  ExternalMessage message;
  const scopevm_external_library& library = *created.library;
  const Status status = runtime::without_exceptions([&] {
    return message.status(library.create(library.context, kernel.symbol.c_str(),
                                         kernel.external->description.c_str(), &created.function,
                                         message.text(), ExternalMessage::size()));
  });
  return Status(status).with_context(external_text(kernel));
}

StatusCode code_of(int code) {
  switch (const auto known = static_cast<StatusCode>(code)) {
    case StatusCode::kOk:
    case StatusCode::kInvalidArgument:
    case StatusCode::kInvalidModel:
    case StatusCode::kNotFound:
    case StatusCode::kUnsupported:
    case StatusCode::kOutOfMemory:
    case StatusCode::kResourceLimit:
    case StatusCode::kDevice:
    case StatusCode::kCancelled:
    case StatusCode::kDeadlineExceeded:
    case StatusCode::kInternal:
      return known;
  }
  return StatusCode::kInternal;
}

}  // namespace

std::string external_text(const format::KernelDecl& kernel) {
  return "external function \"" + kernel.symbol + "\" of library \"" + kernel.external->library +
         "\"";
}

Status ExternalMessage::status(int code) const {
  if (code == 0) return {};
  const std::string_view text(text_, strnlen(text_, sizeof text_));
  return {code_of(code),
          text.empty() ? "failed with code " + std::to_string(code) : std::string(text)};
}

BoundExternals::~BoundExternals() {
  for (const Function& each : functions_) {
    if (each.library == nullptr) continue;
    // An error of destroy has no effect: the function is not used any more.
    (void)runtime::without_exceptions([&]() -> Status {
      each.library->destroy(each.library->context, each.function);
      return {};
    });
  }
}

Status BoundExternals::create(const format::ModuleContents& contents, const Libraries& libraries) {
  SCOPEVM_RETURN_IF_ERROR(check_libraries(libraries));
  functions_.resize(contents.kernels.size());
  for (size_t i = 0; i < contents.kernels.size(); ++i) {
    const format::KernelDecl& kernel = contents.kernels[i];
    if (!kernel.external) continue;
    Function created{find_library(libraries, kernel.external->library), nullptr};
    if (created.library == nullptr)
      return {StatusCode::kNotFound,
              "module calls " + external_text(kernel) +
                  ", which is not registered (SessionOptions::external_libraries; "
                  "scopevm run --external)"};
    SCOPEVM_RETURN_IF_ERROR(create_function(kernel, created));
    // Stored after the creation: the destructor destroys exactly the functions that exist.
    functions_[i] = created;
    max_tensors_ = std::max(max_tensors_, kernel.external->tensor_count());
  }
  return {};
}

}  // namespace scopevm::vm
