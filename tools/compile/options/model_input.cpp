// Opens the model of a command; see model_input.h.
#include "tools/compile/options/model_input.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/write_all.h"
#include "tools/files/file.h"
#include "tools/files/standard_streams.h"

namespace scopevm::tool {
Result<ModelInput> ModelInput::open(const std::string& path) {
  if (path != kStandardStream) return ModelInput(path, -1);
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, map_input(path));
  const int memory = memfd_create("model", MFD_CLOEXEC);
  ModelInput model("/proc/self/fd/" + std::to_string(memory), memory);
  if (memory >= 0 && runtime::write_all(memory, {file.data, file.size})) return model;
  return Status(StatusCode::kResourceLimit,
                "no memory for standard input: " + std::string(std::strerror(errno)));
}

ModelInput::ModelInput(ModelInput&& other) noexcept
    : path_(std::move(other.path_)), memory_(std::exchange(other.memory_, -1)) {}

ModelInput::~ModelInput() {
  if (memory_ >= 0) close(memory_);
}

Status ModelInput::named(Status status) const {
  if (status.ok() || memory_ < 0) return status;
  std::string message(status.message());
  const std::string name = input_name(std::string(kStandardStream));
  for (size_t at = 0; (at = message.find(path_, at)) != std::string::npos; at += name.size())
    message.replace(at, path_.size(), name);
  return {status.code(), message};
}

}  // namespace scopevm::tool
