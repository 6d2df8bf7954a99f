// One source serves all OpenCL devices: the driver of the bound device builds it.
#include "compiler/codegen/opencl/backend.h"

#include "compiler/codegen/opencl/emit.h"

namespace scopevm::compiler::codegen {
namespace {

class OpenClBackend final : public Backend {
 public:
  std::string_view name() const override { return "opencl"; }

  // Members that only CPUs have get an error that explains why OpenCL devices lack them.
  bool reaches_host_memory() const override { return true; }
  Status read_members(const Member& device, Device&) const override {
    for (const char* name : {"target_cpu", "features"})
      if (std::optional<Member> given = device.find(name))
        return given->fail("not allowed for an OpenCL device: its driver compiles the kernels");
    return {};
  }

  Result<std::vector<schedule::Target>> targets(std::span<const Device>,
                                                const std::vector<std::string>&) const override {
    return std::vector{opencl_target()};
  }

  Result<Image> make_image(const ImageRequest& request) const override {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string text, emit_opencl(request.kernels, request.table));
    if (request.dump) request.dump(text);
    return Image{{}, {text.begin(), text.end()}};
  }
};

}  // namespace

const Backend& opencl_backend() {
  static const OpenClBackend backend;
  return backend;
}

}  // namespace scopevm::compiler::codegen
