// Calls external libraries: see library.h.
#include "compiler/external/library.h"

#include <array>
#include <cstring>
#include <set>
#include <string_view>

#include "runtime/tensor/dlpack_type.h"

namespace scopevm::compiler::external {
namespace {

Status check_library(const scopevm_external_library* given) {
  if (given == nullptr) return Status(StatusCode::kInvalidArgument, "an external library is null");
  const scopevm_external_library& library = *given;
  // A library of another version can have other members than these two.
  if (library.abi_version != SCOPEVM_EXTERNAL_ABI_VERSION)
    return Status(StatusCode::kInvalidArgument,
                  "an external library has ABI version " + std::to_string(library.abi_version) +
                      ", expected " + std::to_string(SCOPEVM_EXTERNAL_ABI_VERSION));
  if (library.struct_size < sizeof(scopevm_external_library))
    return Status(StatusCode::kInvalidArgument,
                  "an external library has struct_size " + std::to_string(library.struct_size) +
                      ", expected " + std::to_string(sizeof(scopevm_external_library)));
  if (library.name == nullptr || *library.name == '\0')
    return Status(StatusCode::kInvalidArgument, "an external library has no name");
  return {};
}

}  // namespace

std::string text_in(std::span<const char> buffer) {
  return {buffer.data(), strnlen(buffer.data(), buffer.size())};
}

Status invalid(const scopevm_external_library& library, const std::string& message) {
  return Status(StatusCode::kInvalidArgument,
                std::string("external library \"") + library.name + "\": " + message);
}

Status check_libraries(std::span<const scopevm_external_library* const> libraries) {
  std::set<std::string_view> names;
  for (const scopevm_external_library* library : libraries) {
    SCOPEVM_RETURN_IF_ERROR(check_library(library));
    if (!names.insert(library->name).second)
      return Status(StatusCode::kInvalidArgument,
                    std::string("two external libraries have the name \"") + library->name + "\"");
  }
  return {};
}

Result<Answer> query(const scopevm_external_library& library, const std::string& symbol,
                     const std::string& description, const std::vector<size_t>& constants) {
  if (library.accept == nullptr) return Answer{.is_accepted = true};
  std::array<char, 4096> workspace{"0"};
  std::array<char, 1024> message{};
  Answer answer;
  for (size_t operand : constants) answer.constants.push_back({.operand = operand});
  scopevm_external_query fields{.struct_size = sizeof(fields),
                                .symbol = symbol.c_str(),
                                .description = description.c_str(),
                                .workspace = workspace.data(),
                                .workspace_size = workspace.size(),
                                .message = message.data(),
                                .message_size = message.size(),
                                .constants = answer.constants.data(),
                                .constant_count = answer.constants.size()};
  const int code = library.accept(library.context, &fields);
  if (code == static_cast<int>(StatusCode::kUnsupported)) return Answer{.reason = text_in(message)};
  if (code != 0) return invalid(library, symbol + ": " + text_in(message));
  for (size_t i = 0; i < constants.size(); ++i) {
    answer.constants[i].operand = constants[i];
    const int64_t bytes = answer.constants[i].bytes;
    if (bytes < 0 || (bytes > 0 && library.prepare == nullptr))
      return invalid(library, symbol + ": operand " + std::to_string(constants[i]) +
                                  " is prepared in " + std::to_string(bytes) + " bytes" +
                                  (bytes < 0 ? ", expected at least 0" : ", but prepare is null"));
  }
  answer.is_accepted = true;
  answer.workspace = text_in(workspace);
  return answer;
}

Result<PreparedConstant> prepare(const scopevm_external_library& library, const std::string& symbol,
                                 const std::string& description,
                                 const scopevm_external_constant& operand, Constant value) {
  const DLTensor tensor{.data = const_cast<uint8_t*>(value.data),
                        .device = {kDLCPU, 0},
                        .ndim = static_cast<int32_t>(value.dims.size()),
                        .dtype = runtime::to_dlpack_type(value.dtype),
                        .shape = value.dims.data(),
                        .strides = nullptr,
                        .byte_offset = 0};
  auto prepared = std::make_shared<std::vector<char>>(static_cast<size_t>(operand.bytes));
  std::array<char, 1024> message{};
  const int code =
      library.prepare(library.context, symbol.c_str(), description.c_str(), operand.operand,
                      &tensor, prepared->data(), message.data(), message.size());
  if (code != 0)
    return invalid(
        library, symbol + ": operand " + std::to_string(operand.operand) + ": " + text_in(message));
  return PreparedConstant(std::move(prepared));
}

}  // namespace scopevm::compiler::external
