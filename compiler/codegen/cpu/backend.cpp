// The CPU's members of a machine description, its targets, and the image of each target.
#include "compiler/codegen/cpu/backend.h"

#include <algorithm>

#include "compiler/codegen/cpu/image.h"
#include "llvm/Support/raw_ostream.h"
#include "scopevm/kernel_abi.h"

namespace scopevm::compiler::codegen {
namespace {

constexpr std::string_view kMembers[] = {"target_cpu", "features"};

class CpuBackend final : public Backend {
 public:
  std::string_view name() const override { return format::kHostKind; }
  std::span<const std::string_view> members() const override { return kMembers; }
  uint32_t kernel_abi() const override { return kKernelAbi; }

  Status read_members(const Member& device, Device& decl) const override {
    std::optional<Member> cpu = device.find("target_cpu"), features = device.find("features");
    if (!cpu && !features) return {};
    decl.target = "host";
    if (cpu) {
      SCOPEVM_ASSIGN_OR_RETURN(decl.target, cpu->text());
    }
    if (!features) return {};
    SCOPEVM_ASSIGN_OR_RETURN(const std::vector<Member> changes, features->elements());
    for (const Member& change : changes) {
      SCOPEVM_ASSIGN_OR_RETURN(const std::string text, change.text());
      decl.target += "," + text;
    }
    return {};
  }

  Result<std::vector<schedule::Target>> targets(
      std::span<const Device> devices, const std::vector<std::string>& required) const override {
    const std::string& described = devices.front().target;
    std::vector<schedule::Target> targets;
    if (required.empty()) {
      SCOPEVM_ASSIGN_OR_RETURN(targets.emplace_back(),
                               make_target(described.empty() ? "host" : described));
    }
    for (auto cpu = required.begin(); cpu != required.end(); ++cpu) {
      if (std::find(required.begin(), cpu, *cpu) != cpu)
        return Status(StatusCode::kInvalidArgument, "target CPU \"" + *cpu + "\" is given twice");
      SCOPEVM_ASSIGN_OR_RETURN(targets.emplace_back(), make_target(*cpu));
    }
    return targets;
  }

  Result<Image> make_image(const ImageRequest& request) const override {
    if (request.dump) {
      std::string text;
      llvm::raw_string_ostream stream(text);
      mlir::ModuleOp(request.kernels).print(stream);
      request.dump(text);
    }
    SCOPEVM_ASSIGN_OR_RETURN(std::vector<uint8_t> elf,
                             compile_image(request.kernels, request.table, request.target,
                                           {.threads = request.threads,
                                            .add_functions = request.add_functions,
                                            .progress = request.progress,
                                            .stop_token = request.stop_token}));
    return Image{required_features(request.target), std::move(elf)};
  }
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend;
  return backend;
}

}  // namespace scopevm::compiler::codegen
