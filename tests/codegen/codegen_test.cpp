// Targets and images: names and features of CPUs, deterministic bytes, the limit of local buffers,
// and runs of compiled kernels.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "compiler/codegen/cpu/image.h"
#include "compiler/passes/context.h"
#include "compiler/schedule/target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "runtime/cpu/cpu_features.h"
#include "scopevm/kernel_abi.h"

namespace scopevm::compiler {
namespace {

// @scale computes to[i] = 2 * from[i] + add for the work items [begin, end). @exponential computes
// 16 exponentials.
constexpr char kKernels[] = R"(
  func.func @scale(%from: memref<?xf32>, %to: memref<?xf32>, %add: index,
                   %begin: index, %end: index, %worker: index, %first: index) {
    %step = arith.constant 1 : index
    %wide = arith.index_cast %add : index to i64
    %bias = arith.sitofp %wide : i64 to f32
    scf.for %i = %begin to %end step %step {
      %x = memref.load %from[%i] : memref<?xf32>
      %y = func.call @twice(%x) : (f32) -> f32
      %z = arith.addf %y, %bias : f32
      memref.store %z, %to[%i] : memref<?xf32>
    }
    return
  }
  func.func private @twice(%x: f32) -> f32 {
    %y = arith.addf %x, %x : f32
    return %y : f32
  }
  func.func @exponential(%from: memref<?xf32>, %to: memref<?xf32>,
                         %begin: index, %end: index, %worker: index, %first: index) {
    %x = vector.load %from[%begin] : memref<?xf32>, vector<16xf32>
    %y = math.exp %x : vector<16xf32>
    vector.store %y, %to[%begin] : memref<?xf32>, vector<16xf32>
    return
  }
)";

const std::vector<Kernel> kTable = {{"scale", 2, 1}, {"exponential", 2, 0}};

Result<std::vector<uint8_t>> compile_kernels(const char* cpu, int threads,
                                             const std::string& text = kKernels,
                                             const std::vector<Kernel>& table = kTable) {
  auto context = make_context();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  SCOPEVM_ASSIGN_OR_RETURN(schedule::Target target, codegen::make_target(cpu));
  codegen::ImageOptions options;
  options.threads = threads;
  return codegen::compile_image(*module, table, target, options);
}

// A kernel with two local buffers of `first` and `second` floats, indexed with run-time values. If
// `is_in_loop`, each iteration of a loop allocates the second buffer.
std::string with_locals(int64_t first, int64_t second, bool is_in_loop = false) {
  const std::string make = "%t = memref.alloca() : memref<" + std::to_string(second) + "xf32>\n";
  const std::string use = "memref.store %x, %t[%at] : memref<" + std::to_string(second) +
                          "xf32>\n%y = memref.load %t[%end] : memref<" + std::to_string(second) +
                          "xf32>\n";
  const std::string type = "memref<" + std::to_string(first) + "xf32>";
  return "func.func @k(%from: memref<?xf32>, %to: memref<?xf32>, %begin: index, %end: index, "
         "%worker: index, %first: index) {\n%step = arith.constant 1 : index\n"
         "%s = memref.alloca() : " +
         type + "\n" + (is_in_loop ? "" : make) + "scf.for %at = %begin to %end step %step {\n" +
         (is_in_loop ? make : "") +
         "%v = memref.load %from[%at] : memref<?xf32>\n"
         "memref.store %v, %s[%at] : " +
         type + "\n%x = memref.load %s[%worker] : " + type + "\n" + use +
         "memref.store %y, %to[%at] : memref<?xf32>\n}\nreturn\n}\n";
}

bool contains(const std::vector<std::string>& names, const char* name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(Target, ReportsAnUnknownCpu) {
  auto target = codegen::make_target("pentagon");
  ASSERT_FALSE(target.ok());
  EXPECT_EQ(target.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(target.status().message().find("pentagon"), std::string::npos);
}

TEST(Target, VectorWidthFollowsTheCpu) {
  EXPECT_EQ((*codegen::make_target("x86-64")).vector_bits, 128);
  EXPECT_EQ((*codegen::make_target("x86-64-v3")).vector_bits, 256);
  EXPECT_EQ((*codegen::make_target("x86-64-v4")).vector_bits, 512);
}

TEST(Target, FeaturesAddToTheCpu) {
  EXPECT_EQ((*codegen::make_target("x86-64-v3,-avx2")).vector_bits, 128);
  EXPECT_EQ((*codegen::make_target("x86-64-v4,-avx512bw")).vector_bits, 256);
  EXPECT_FALSE((*codegen::make_target("x86-64-v3")).has_byte_dot);
  auto with_dot = codegen::make_target("x86-64-v3,+avxvnni,+gfni");
  ASSERT_TRUE(with_dot.ok()) << with_dot.status().message();
  EXPECT_TRUE(with_dot->has_byte_dot);
  EXPECT_TRUE(contains(codegen::required_features(*with_dot), "gfni"));
  for (const char* wrong : {"x86-64,avx", "x86-64,+pentagon", "x86-64,-", "host,+avx,,"}) {
    auto target = codegen::make_target(wrong);
    ASSERT_FALSE(target.ok()) << wrong;
    EXPECT_NE(target.status().message().find("feature \""), std::string::npos) << wrong;
  }
}

TEST(Target, RequiresTheFeaturesThatItsCodeMayUse) {
  auto v3 = codegen::required_features(*codegen::make_target("x86-64-v3"));
  EXPECT_TRUE(contains(v3, "avx2"));
  EXPECT_TRUE(contains(v3, "fma"));
  EXPECT_FALSE(contains(v3, "avx512f"));
  EXPECT_FALSE(contains(codegen::required_features(*codegen::make_target("x86-64")), "avx"));
}

TEST(Target, RequiresTheInstructionSetsOfOldAmdCpus) {
  auto target = codegen::required_features(*codegen::make_target("bdver2"));
  for (const char* feature : {"sse4a", "fma4", "xop", "tbm"})
    EXPECT_TRUE(contains(target, feature)) << feature;
}

TEST(Target, UsesAvx512OnlyWithAllPartsThatKernelsNeed) {
  auto part = codegen::make_target("x86-64-v3,+avx512f");
  EXPECT_EQ(part->vector_bits, 256);
  EXPECT_FALSE(contains(codegen::required_features(*part), "avx512f"));
  auto all = codegen::make_target("x86-64-v3,+avx512f,+avx512vl,+avx512bw,+avx512dq");
  EXPECT_EQ(all->vector_bits, 512);
  EXPECT_TRUE(contains(codegen::required_features(*all), "avx512vl"));
}

TEST(Target, DisablesFeaturesThatTheLoaderCannotCheck) {
  auto target = codegen::make_target("x86-64-v3,+avxneconvert,+amx-tile");
  EXPECT_NE(target->features.find("-avxneconvert"), std::string::npos);
  EXPECT_NE(target->features.find("-amx-tile"), std::string::npos);
}

TEST(Target, RefusesCpusWithout64BitMode) {
  for (const char* cpu : {"i386", "x86-64,-sse2"})
    EXPECT_NE(codegen::make_target(cpu).status().message().find("no 64-bit mode or no SSE2"),
              std::string::npos)
        << cpu;
}

TEST(Target, HostHasTheFeaturesOfThisCpu) {
  auto host = codegen::make_target("host");
  const auto required = codegen::required_features(*host);
  EXPECT_EQ(runtime::missing_cpu_features(required), std::vector<std::string>{});
  for (const std::string feature : {
#define SCOPEVM_CPU_FEATURE(llvm, name, ...) name,
#include "runtime/cpu/cpu_features.def"
#undef SCOPEVM_CPU_FEATURE
       }) {
    if (host->vector_bits < 512 && feature.starts_with("avx512")) continue;
    EXPECT_EQ(contains(required, feature.c_str()), runtime::cpu_has(feature)) << feature;
  }
}

TEST(Image, HasTheSameBytesForAnyThreadCount) {
  auto one = compile_kernels("x86-64-v3", 1), two = compile_kernels("x86-64-v3", 2);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(*one, *two);
}

// The limit applies to the sum of all local buffers of a kernel.
TEST(Image, LocalBuffersOfAKernelAreLimited) {
  const auto error_of = [](const std::string& text) {
    auto image = compile_kernels("x86-64-v3", 1, text, {{"k", 2, 0}});
    return std::string(image.status().message());
  };
  // Each buffer is smaller than the limit.
  const auto limited = [](const std::string& text) {
    return "module attributes {sv.max_stack_bytes = 1024} {\n" + text + "}\n";
  };
  EXPECT_EQ(error_of(limited(with_locals(128, 128))), "");
  EXPECT_EQ(error_of(limited(with_locals(128, 129))),
            "k: local buffers take 1028 bytes, the limit is 1024");
  EXPECT_EQ(error_of(with_locals(2048, 2048)), "");
  EXPECT_EQ(error_of(with_locals(2048, 2049)),
            "k: local buffers take 16388 bytes, the limit is 16384");
  EXPECT_EQ(error_of(with_locals(16, 16, true)), "k: local buffer has no static size");
}

TEST(Image, KernelsRunOverARangeOfWorkItems) {
  auto image = compile_kernels("host", 2);
  ASSERT_TRUE(image.ok()) << image.status().message();
  int file = memfd_create("image", 0);
  ASSERT_EQ(write(file, image->data(), image->size()), static_cast<ssize_t>(image->size()));
  void* handle = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  close(file);
  ASSERT_NE(handle, nullptr) << dlerror();
  auto scale = reinterpret_cast<KernelFn>(dlsym(handle, "scale"));
  auto exponential = reinterpret_cast<KernelFn>(dlsym(handle, "exponential"));
  ASSERT_TRUE(scale && exponential);
  EXPECT_EQ(dlsym(handle, "twice"), nullptr);
  alignas(64) float from[16] = {}, to[16] = {};
  for (int i = 0; i < 16; ++i) from[i] = static_cast<float>(i) - 8;
  void* buffers[] = {from, to};
  int64_t params[] = {3};
  scale(buffers, params, 4, 6, 0, 4);
  EXPECT_EQ(to[3], 0);
  EXPECT_EQ(to[4], -5);
  EXPECT_EQ(to[5], -3);
  EXPECT_EQ(to[6], 0);
  exponential(buffers, nullptr, 0, 16, 0, 0);
  EXPECT_NEAR(to[0], 3.3546263e-4f, 1e-9);
  EXPECT_NEAR(to[15], 1096.6332f, 1e-3);
  dlclose(handle);
}

}  // namespace
}  // namespace scopevm::compiler
