// Translates a CPU name to a Target, its target machine, and the features that an image requires.
#include "compiler/kernels/target/target.h"
#include "compiler/codegen/cpu/image.h"
#include "compiler/codegen/cpu/stages.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

namespace scopevm::compiler::codegen {
namespace {

constexpr char kTriple[] = "x86_64-unknown-linux-gnu";

// LLVM's name and the name in /proc/cpuinfo of the features that arithmetic code may use, in output
// order.
constexpr struct {
  const char* llvm;
  const char* cpuinfo;
} kFeatures[] = {
    {"sse3", "pni"},
    {"ssse3", "ssse3"},
    {"sse4.1", "sse4_1"},
    {"sse4.2", "sse4_2"},
    {"popcnt", "popcnt"},
    {"avx", "avx"},
    {"f16c", "f16c"},
    {"fma", "fma"},
    {"bmi", "bmi1"},
    {"avx2", "avx2"},
    {"bmi2", "bmi2"},
    {"lzcnt", "abm"},
    {"movbe", "movbe"},
    {"adx", "adx"},
    {"avx512f", "avx512f"},
    {"avx512dq", "avx512dq"},
    {"avx512cd", "avx512cd"},
    {"avx512bw", "avx512bw"},
    {"avx512vl", "avx512vl"},
    {"avx512vnni", "avx512_vnni"},
    {"avx512bf16", "avx512_bf16"},
    {"avx512fp16", "avx512_fp16"},
    {"avx512vbmi", "avx512vbmi"},
    {"avx512vbmi2", "avx512_vbmi2"},
    {"avx512bitalg", "avx512_bitalg"},
    {"avx512vpopcntdq", "avx512_vpopcntdq"},
    {"avx512ifma", "avx512ifma"},
    {"gfni", "gfni"},
    {"vaes", "vaes"},
    {"vpclmulqdq", "vpclmulqdq"},
    {"avxvnni", "avx_vnni"},
};

const llvm::Target* x86_target(std::string& error) {
  [[maybe_unused]] static const bool initialised = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  return llvm::TargetRegistry::lookupTarget(kTriple, error);
}

std::unique_ptr<llvm::MCSubtargetInfo> subtarget(const std::string& cpu,
                                                 const std::string& features) {
  std::string error;
  const llvm::Target* target = x86_target(error);
  if (!target) return nullptr;
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      target->createMCSubtargetInfo(kTriple, cpu, features));
}

// The features that this machine lacks, as "-a,-b". A virtual machine can lack features of its CPU
// model.
std::string missing_host_features() {
  std::string missing;
  for (const auto& feature : llvm::sys::getHostCPUFeatures())
    if (!feature.second) missing += (missing.empty() ? "-" : ",-") + feature.first().str();
  return missing;
}

// Checks a list like "+avxvnni,-avx512f". LLVM would only print a warning for an unknown feature.
Status check_features(llvm::StringRef features) {
  auto any = subtarget("", "");
  llvm::SmallVector<llvm::StringRef> changes;
  features.split(changes, ',');
  for (llvm::StringRef change : changes) {
    const bool has_sign = change.starts_with("+") || change.starts_with("-");
    const bool is_known =
        has_sign && any && llvm::any_of(any->getAllProcessorFeatures(), [&](const auto& feature) {
          return change.drop_front() == feature.Key;
        });
    if (!is_known)
      return Status(StatusCode::kInvalidArgument,
                    "unknown CPU feature \"" + change.str() +
                        "\"; expected + or - and an LLVM x86-64 feature name, such as +avxvnni");
  }
  return {};
}

}  // namespace

Result<kernels::Target> make_target(std::string_view text) {
  kernels::Target target;
  const auto [cpu, features] = llvm::StringRef(text).split(',');
  target.name = cpu;
  if (cpu == "host") {
    target.name = llvm::sys::getHostCPUName().str();
    target.features = missing_host_features();
  }
  if (!features.empty()) {
    SCOPEVM_RETURN_IF_ERROR(check_features(features));
    target.features += (target.features.empty() ? "" : ",") + features.str();
  }
  // Checked on a generic subtarget, because LLVM prints a warning if a subtarget is created for an
  // unknown name.
  if (auto any = subtarget("", ""); !any || !any->isCPUStringValid(target.name))
    return Status(StatusCode::kInvalidArgument,
                  "unknown target CPU \"" + target.name +
                      "\"; expected host or an LLVM x86-64 CPU name, such as x86-64-v3");
  auto info = subtarget(target.name, target.features);
  bool has_avx512 = info->checkFeatures("+avx512f,+avx512vl,+avx512bw,+avx512dq");
  target.vector_bits = has_avx512 ? 512 : info->checkFeatures("+avx2,+fma,+f16c") ? 256 : 128;
  target.has_masks = has_avx512;
  target.has_byte_dot = has_avx512                  ? info->checkFeatures("+avx512vnni")
                        : target.vector_bits == 256 ? info->checkFeatures("+avxvnni")
                                                    : false;
  return target;
}

std::vector<std::string> required_features(const kernels::Target& target) {
  std::vector<std::string> names;
  auto info = subtarget(target.name, target.features);
  for (const auto& feature : kFeatures)
    if (info->checkFeatures(std::string("+") + feature.llvm)) names.emplace_back(feature.cpuinfo);
  return names;
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const kernels::Target& target) {
  std::string error;
  const llvm::Target* x86 = x86_target(error);
  if (!x86) return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  // The generator chose the width of explicit vectors. Vectors that LLVM creates should match it,
  // although LLVM prefers 256 bits for some CPUs.
  std::string features = target.features;
  if (target.vector_bits == 512)
    features += features.empty() ? "-prefer-256-bit" : ",-prefer-256-bit";
  return std::unique_ptr<llvm::TargetMachine>(
      x86->createTargetMachine(kTriple, target.name, features, options, llvm::Reloc::PIC_,
                               std::nullopt, llvm::CodeGenOptLevel::Default));
}

}  // namespace scopevm::compiler::codegen
