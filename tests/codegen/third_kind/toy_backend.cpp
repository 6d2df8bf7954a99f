// Implements the "toy" back end on top of the CPU code generator.
#include "tests/codegen/third_kind/toy_backend.h"

#include "compiler/codegen/cpu/image.h"

namespace scopevm::testing {
namespace {

using compiler::Device;
using compiler::Member;
namespace codegen = compiler::codegen;

constexpr std::string_view kMembers[] = {"generation"};

class ToyBackend final : public codegen::Backend {
 public:
  std::string_view name() const override { return "toy"; }
  std::span<const std::string_view> members() const override { return kMembers; }
  Status read_members(const Member& device, Device& decl) const override {
    decl.target = "1";
    std::optional<Member> given = device.find("generation");
    if (!given) return {};
    SCOPEVM_ASSIGN_OR_RETURN(const int64_t generation, given->whole_number(1));
    if (generation > 2) return given->fail("at most 2");
    decl.target = std::to_string(generation);
    return {};
  }

  Result<std::vector<compiler::schedule::Target>> targets(
      std::span<const Device> devices, const std::vector<std::string>&) const override {
    compiler::schedule::Target target{.name = "toy" + devices.front().target, .vector_bits = 128};
    target.has_masks = false;
    return std::vector{target};
  }

  Result<codegen::Image> make_image(const codegen::ImageRequest& request) const override {
    if (request.add_functions) return Status(StatusCode::kInternal, "shape functions on a toy");
    if (request.dump) request.dump("toy\n");
    SCOPEVM_ASSIGN_OR_RETURN(const compiler::schedule::Target cpu, codegen::make_target("x86-64"));
    SCOPEVM_ASSIGN_OR_RETURN(
        std::vector<uint8_t> elf,
        codegen::compile_image(request.kernels, request.table, cpu, {.threads = request.threads}));
    return codegen::Image{{}, std::move(elf)};
  }
};

}  // namespace

const codegen::Backend& toy_backend() {
  static const ToyBackend backend;
  return backend;
}

}  // namespace scopevm::testing
