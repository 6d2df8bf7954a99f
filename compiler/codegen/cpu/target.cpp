// Translates a CPU name to a Target, its target machine, and the features that an image requires.
#include "compiler/schedule/target.h"
#include "compiler/codegen/cpu/image.h"
#include "compiler/codegen/cpu/stages.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::codegen {
namespace {

constexpr char kTriple[] = "x86_64-unknown-linux-gnu";

// The features that kernels may use, in output order.
constexpr struct {
  llvm::StringLiteral llvm;
  const char* cpuinfo;
} kFeatures[] = {
#define SCOPEVM_CPU_FEATURE(llvm, name, ...) {llvm, name},
#include "runtime/cpu/cpu_features.def"
#undef SCOPEVM_CPU_FEATURE
};

// 512-bit kernels use all of these. LLVM cannot select instructions for some kernels if only a part
// is present. CPUs report 512-bit registers (evex512) together with avx512f.
constexpr char kAvx512[] = "+avx512f,+avx512vl,+avx512bw,+avx512dq,+evex512";

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

// Appends "+name" or "-name" to a list of feature changes.
void add_change(std::string& changes, bool is_added, llvm::StringRef name) {
  changes += (changes.empty() ? "" : ",") + std::string(is_added ? "+" : "-") + name.str();
}

std::unique_ptr<llvm::MCSubtargetInfo> subtarget(const std::string& cpu,
                                                 const std::string& features) {
  std::string error;
  const llvm::Target* target = x86_target(error);
  if (!target) return nullptr;
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      target->createMCSubtargetInfo(kTriple, cpu, features));
}

// The changes that turn the features of a CPU model into the features of this machine. A virtual
// machine can lack features of its model, and LLVM can name a model with fewer features.
std::string host_features() {
  const auto present = llvm::sys::getHostCPUFeatures();
  std::string changes;
  // Removals last, because adding a feature also adds the features that it implies.
  for (bool is_present : {true, false})
    for (const auto& feature : kFeatures)
      if (present.lookup(feature.llvm) == is_present) add_change(changes, is_present, feature.llvm);
  return changes;
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
                    "unknown CPU feature " + runtime::quoted(change.str()) +
                        "; expected + or - and an LLVM x86-64 feature name, such as +avxvnni");
  }
  return {};
}

// The features that change only which of the available instructions LLVM prefers.
llvm::FeatureBitset tuning_features(const llvm::MCSubtargetInfo& info) {
  llvm::FeatureBitset tuning;
  for (const llvm::SubtargetSubTypeKV& cpu : info.getAllProcessorDescriptions())
    tuning |= cpu.TuneImplies.getAsBitset();
  return tuning;
}

// The instruction set of every x86-64 CPU.
llvm::FeatureBitset baseline_features() {
  auto baseline = subtarget("x86-64", "");
  return baseline->getFeatureBits() & ~tuning_features(*baseline);
}

// The features that kernels may use: those of every x86-64 CPU, those that the loader checks, and
// tuning.
llvm::FeatureBitset usable_features(const llvm::MCSubtargetInfo& info) {
  llvm::FeatureBitset usable = baseline_features() | tuning_features(info);
  for (const llvm::SubtargetFeatureKV& feature : info.getAllProcessorFeatures())
    if (feature.Key == llvm::StringRef("evex512") ||
        llvm::any_of(kFeatures, [&](const auto& known) { return known.llvm == feature.Key; }))
      usable.set(feature.Value);
  return usable;
}

// Removes the features that the loader cannot check, and AVX-512 if a feature of kAvx512 is
// missing.
void remove_unusable_features(schedule::Target& target) {
  if (subtarget(target.name, target.features)->checkFeatures("+avx512f"))
    add_change(target.features, true, "evex512");
  if (!subtarget(target.name, target.features)->checkFeatures(kAvx512))
    add_change(target.features, false, "avx512f,-evex512");
  auto info = subtarget(target.name, target.features);
  const llvm::FeatureBitset unusable = info->getFeatureBits() & ~usable_features(*info);
  for (const llvm::SubtargetFeatureKV& feature : info->getAllProcessorFeatures())
    if (unusable[feature.Value]) add_change(target.features, false, feature.Key);
}

}  // namespace

Result<schedule::Target> make_target(std::string_view text) {
  schedule::Target target;
  const auto [cpu, features] = llvm::StringRef(text).split(',');
  target.name = cpu;
  if (cpu == "host") {
    target.name = llvm::sys::getHostCPUName().str();
    target.features = host_features();
  }
  if (!features.empty()) {
    SCOPEVM_RETURN_IF_ERROR(check_features(features));
    target.features += (target.features.empty() ? "" : ",") + features.str();
  }
  // Checked on a generic subtarget, because LLVM prints a warning if a subtarget is created for an
  // unknown name.
  if (auto any = subtarget("", ""); !any || !any->isCPUStringValid(target.name))
    return Status(StatusCode::kInvalidArgument,
                  "unknown target CPU " + runtime::quoted(target.name) +
                      "; expected host or an LLVM x86-64 CPU name, such as x86-64-v3");
  if (!subtarget(target.name, target.features)->checkFeatures("+64bit,+sse2"))
    return Status(StatusCode::kInvalidArgument,
                  "target CPU " + runtime::quoted(text) +
                      " has no 64-bit mode or no SSE2; expected an x86-64 CPU");
  remove_unusable_features(target);
  auto info = subtarget(target.name, target.features);
  const bool has_avx512 = info->checkFeatures(kAvx512);
  target.vector_bits = has_avx512 ? 512 : info->checkFeatures("+avx2,+fma,+f16c") ? 256 : 128;
  target.has_masks = has_avx512;
  target.has_byte_dot = has_avx512                  ? info->checkFeatures("+avx512vnni")
                        : target.vector_bits == 256 ? info->checkFeatures("+avxvnni")
                                                    : false;
  return target;
}

std::vector<std::string> required_features(const schedule::Target& target) {
  std::vector<std::string> names;
  auto info = subtarget(target.name, target.features);
  for (const auto& feature : kFeatures)
    if (info->checkFeatures("+" + feature.llvm.str())) names.emplace_back(feature.cpuinfo);
  return names;
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const schedule::Target& target) {
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
