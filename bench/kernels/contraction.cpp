// Compares contraction kernels with the peak of one core, with oneDNN (prepacked weights), and, for
// products of f32, with OpenBLAS. Times are medians of interleaved rounds on one thread. The peak
// and the bandwidth are measured in the same run. Percentages are relative to the peak, or, in
// lines with GB/s, to the bandwidth.
#include <cblas.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dnnl.hpp>
#include <vector>

#include "bench/kernels/compiled_kernel.h"
#include "bench/kernels/conv_layer.h"
#include "bench/kernels/interleaved.h"
#include "tools/machine_peak/machine_peak.h"

namespace {

using namespace scopevm::compiler::bench;  // NOLINT: measurements read better without the prefix

std::string type(const std::string& dims) { return "!sv.tensor<f32[" + dims + "]>"; }

std::string splat(const char* name, const std::string& dims, const std::string& x_dims) {
  return std::string("  %") + name + " = sv.constant {value = dense<0.25> : tensor<" + x_dims +
         "xf32>} : " + type(dims) + "\n";
}

std::string matmul_text(const std::string& m, int k, int n) {
  std::string x = type(m + ", " + std::to_string(k)), y = type(m + ", " + std::to_string(n));
  std::string w_dims = std::to_string(k) + ", " + std::to_string(n);
  return "func.func @main(%x: " + x + ") -> " + y + " {\n" +
         splat("w", w_dims, std::to_string(k) + "x" + std::to_string(n)) +
         "  %y = sv.matmul %x, %w : (" + x + ", " + type(w_dims) + ") -> " + y +
         "\n  return %y : " + y + "\n}\n";
}

// The product of u8 [m, k] and a constant i8 [k, n] with i32 results.
std::string byte_matmul_text(int k, int n) {
  std::string w_dims = std::to_string(k) + ", " + std::to_string(n);
  std::string x = "!sv.tensor<u8[m, " + std::to_string(k) + "]>",
              w = "!sv.tensor<i8[" + w_dims + "]>";
  std::string y = "!sv.tensor<i32[m, " + std::to_string(n) + "]>";
  return "func.func @main(%x: " + x + ") -> " + y +
         " {\n  %w = sv.constant {value = dense<-3> : tensor<" + std::to_string(k) + "x" +
         std::to_string(n) + "xi8>} : " + w + "\n  %y = sv.matmul %x, %w : (" + x + ", " + w +
         ") -> " + y + "\n  return %y : " + y + "\n}\n";
}

// The product of f32 [m, k] and a constant [n, k] of `bits` bits with a scale for 32 of them.
std::string blocks_text(int k, int n, int bits) {
  const std::string rows = std::to_string(n), bytes = std::to_string(k * bits / 8),
                    blocks = std::to_string(k / 32);
  const std::string x = type("m, " + std::to_string(k)), y = type("m, " + rows);
  const std::string q = "!sv.tensor<u8[" + rows + ", " + bytes + "]>";
  return "func.func @main(%x: " + x + ") -> " + y +
         " {\n  %q = sv.constant {value = dense<53> : " + "tensor<" + rows + "x" + bytes +
         "xui8>} : " + q + "\n" + splat("s", rows + ", " + blocks, rows + "x" + blocks) +
         "  %z = sv.constant {value = dense<8.0> : tensor<f32>} : " + type("") +
         "\n  %y = sv.matmul_blocks %x, %q, %s, %z {depth = " + std::to_string(k) +
         ", bits = " + std::to_string(bits) + ", block = 32} : (" + x + ", " + q + ", " +
         type(rows + ", " + blocks) + ", " + type("") + ") -> " + y + "\n  return %y : " + y +
         "\n}\n";
}

// softmax(q k) v of 2 heads with m queries, t keys and 64 channels.
std::string attention_text() {
  const std::string q = type("2, m, 64"), k = type("2, t, 64"), s = type("2, m, t");
  return "func.func @main(%q: " + q + ", %k: " + k + ", %v: " + k + ") -> " + q +
         " {\n  %y = sv.group (%a = %q : " + q + ", %b = %k : " + k + ", %c = %v : " + k +
         ") -> (" + q + ") {\n    %s = sv.matmul %a, %b {transpose_b = true} : (" + q + ", " + k +
         ") -> " + s + "\n    %w = sv.softmax %s {axis = 2 : i64} : (" + s + ") -> " + s +
         "\n    %r = sv.matmul %w, %c : (" + s + ", " + k + ") -> " + q +
         "\n    sv.yield %r : " + q + "\n  }\n  return %y : " + q + "\n}\n";
}

using Tag = dnnl::memory::format_tag;
constexpr auto kF32 = dnnl::memory::data_type::f32;

// oneDNN with weights in its preferred layout.
Work dnnl_matmul(dnnl::engine& engine, int m, int k, int n) {
  dnnl::memory::desc x({m, k}, kF32, Tag::ab), w({k, n}, kF32, Tag::any), y({m, n}, kF32, Tag::ab);
  dnnl::matmul::primitive_desc pd(dnnl::matmul::desc(x, w, y), engine);
  dnnl::memory xm(pd.src_desc(), engine), wm(pd.weights_desc(), engine), ym(pd.dst_desc(), engine);
  for (dnnl::memory* memory : {&xm, &wm, &ym}) {
    std::vector<float> values = filled(memory->get_desc().get_size() / 4);
    std::copy(values.begin(), values.end(), static_cast<float*>(memory->get_data_handle()));
  }
  dnnl::stream stream(engine);
  dnnl::matmul matmul(pd);
  return [=]() mutable {
    matmul.execute(stream, {{DNNL_ARG_SRC, xm}, {DNNL_ARG_WEIGHTS, wm}, {DNNL_ARG_DST, ym}});
    stream.wait();
  };
}

// The same for u8 by i8 with i32 results.
Work dnnl_byte_matmul(dnnl::engine& engine, int m, int k, int n) {
  using Type = dnnl::memory::data_type;
  dnnl::memory::desc x({m, k}, Type::u8, Tag::ab), w({k, n}, Type::s8, Tag::any);
  dnnl::memory::desc y({m, n}, Type::s32, Tag::ab);
  dnnl::matmul::primitive_desc pd(dnnl::matmul::desc(x, w, y), engine);
  dnnl::memory xm(pd.src_desc(), engine), wm(pd.weights_desc(), engine), ym(pd.dst_desc(), engine);
  for (dnnl::memory* memory : {&xm, &wm, &ym})
    std::fill_n(static_cast<char*>(memory->get_data_handle()), memory->get_desc().get_size(), 3);
  dnnl::stream stream(engine);
  dnnl::matmul matmul(pd);
  return [=]() mutable {
    matmul.execute(stream, {{DNNL_ARG_SRC, xm}, {DNNL_ARG_WEIGHTS, wm}, {DNNL_ARG_DST, ym}});
    stream.wait();
  };
}

void matmul_line(const char* label, CompiledKernel& kernel, dnnl::engine& engine, int m, int k,
                 int n) {
  kernel.bind({{"m", m}});
  std::vector<float> a = filled(size_t(m) * k), b = filled(size_t(k) * n), c(size_t(m) * n);
  std::vector<double> t = medians({[&] { kernel.run(); }, dnnl_matmul(engine, m, k, n),
                                   [&] {
                                     cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k,
                                                 1, a.data(), k, b.data(), n, 0, c.data(), n);
                                   },
                                   peak_work});
  double flops = 2e-9 * m * n * k, peak = kPeakGflop / t[3];
  std::printf("%-24s M=%-4d %7.1f GFLOP/s %5.1f %%   oneDNN %7.1f   OpenBLAS %7.1f\n", label, m,
              flops / t[0], 100 * flops / t[0] / peak, flops / t[1], flops / t[2]);
}

// Speedup of bytes over f32 at the same size, measured in the same rounds.
void byte_line(CompiledKernel& bytes, CompiledKernel& floats, dnnl::engine& engine, int m, int k,
               int n) {
  bytes.bind({{"m", m}});
  floats.bind({{"m", m}});
  std::vector<double> t =
      medians({[&] { bytes.run(); }, [&] { floats.run(); }, dnnl_byte_matmul(engine, m, k, n)});
  double operations = 2e-9 * m * n * k;
  std::printf("%-24s M=%-4d %7.1f GOP/s   %4.2f times f32   oneDNN %7.1f\n",
              "matmul 768x768, u8 by i8", m, operations / t[0], t[1] / t[0], operations / t[2]);
}

// A product with few rows, and with weights that are not in any cache: each run uses the next copy
// of `bytes` bytes, 150 MB in total. The upper bound is a plain read of the same bytes, measured in
// the same rounds.
void cold_line(const char* label, CompiledKernel& kernel, int m, size_t bytes) {
  const size_t floats = bytes / 4, copies = 150'000'000 / bytes;
  kernel.bind({{"m", m}}, static_cast<int>(copies));
  std::vector<float> stream = filled(copies * floats);
  size_t copy = 0;
  std::vector<double> t =
      medians({[&] { kernel.run(); },
               [&] {
                 scopevm::machine_peak::read_floats(&stream[copy * floats], floats);
                 copy = (copy + 1) % copies;
               }});
  std::printf("%-24s M=%-4d %7.1f GB/s    %5.1f %% of a plain read's %.1f GB/s\n", label, m,
              1e-9 * static_cast<double>(bytes) / t[0], 100 * t[1] / t[0],
              1e-9 * static_cast<double>(bytes) / t[1]);
}

// Weights that are quantised in blocks of 32: cold with few rows, and compared with the peak.
void block_lines(int bits) {
  constexpr int kDepth = 2048, kColumns = 2048;
  const std::string label = "2048x2048, " + std::to_string(bits) + " bits";
  auto kernel = compile(blocks_text(kDepth, kColumns, bits));
  const size_t bytes = size_t{kColumns} * (size_t{kDepth} * bits / 8 + kDepth / 32 * 4);
  for (int m : {1, 2, 4}) cold_line((label + ", cold").c_str(), *kernel, m, bytes);
  for (int m : {8, 64, 512}) {
    kernel->bind({{"m", m}});
    const std::vector<double> t = medians({[&] { kernel->run(); }, peak_work});
    const double flops = 2e-9 * m * kDepth * kColumns, peak = kPeakGflop / t[1];
    std::printf("%-24s M=%-4d %7.1f GFLOP/s %5.1f %%\n", label.c_str(), m, flops / t[0],
                100 * flops / t[0] / peak);
  }
}

// Few queries are compared with a plain read of the keys and values, and many with the peak.
void attention_line(CompiledKernel& kernel, int queries, int keys) {
  kernel.bind({{"m", queries}, {"t", keys}});
  const size_t floats = size_t{2} * 2 * keys * 64;
  const std::vector<float> stream = filled(floats);
  const std::vector<double> t =
      medians({[&] { kernel.run(); }, peak_work,
               [&] { scopevm::machine_peak::read_floats(stream.data(), floats); }});
  const double flops = 1e-9 * 4 * queries * static_cast<double>(floats) / 2;
  std::printf("attention, %5d keys     M=%-5d %6.1f GFLOP/s %5.1f %%   %5.1f GB/s %5.1f %%\n", keys,
              queries, flops / t[0], 100 * flops / t[0] / (kPeakGflop / t[1]),
              4e-9 * static_cast<double>(floats) / t[0], 100 * t[2] / t[0]);
}

}  // namespace

int main(int, char** argv) {
  use_one_thread(argv);
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  std::printf("peak %.1f GFLOP/s\n", kPeakGflop / medians({peak_work})[0]);
  auto fixed = compile(matmul_text("128", 768, 768));
  matmul_line("matmul 768x768 static", *fixed, engine, 128, 768, 768);
  auto dynamic = compile(matmul_text("m", 768, 768));
  for (int m : {1, 5, 12, 64, 127, 128, 131, 300})
    matmul_line("matmul 768x768", *dynamic, engine, m, 768, 768);
  cold_line("matmul 768x768, cold", *dynamic, 1, size_t{768} * 768 * 4);
  for (int bits : {4, 8}) block_lines(bits);
  auto attention = compile(attention_text());
  for (int keys : {512, 4000, 32000}) attention_line(*attention, 7, keys);
  for (int keys : {128, 512, 2048}) attention_line(*attention, 7 * keys, keys);
  auto bytes = compile(byte_matmul_text(768, 768));
  for (int m : {1, 12, 128, 300}) byte_line(*bytes, *dynamic, engine, m, 768, 768);
  auto deep = compile(matmul_text("m", 3072, 768));
  for (int m : {12, 128}) matmul_line("matmul 3072x768", *deep, engine, m, 3072, 768);
  const ConvLayer convs[] = {
      {.channels = 64, .height = 56, .width = 56, .rows = 64, .kernel = {3, 3}},
      {.channels = 256, .height = 56, .width = 56, .rows = 64},
      {.channels = 256, .height = 14, .width = 14, .rows = 256, .kernel = {3, 3}},
      {.channels = 512, .height = 7, .width = 7, .rows = 512, .kernel = {3, 3}},
      {.channels = 128,
       .height = 56,
       .width = 56,
       .rows = 128,
       .kernel = {3, 3},
       .strides = {2, 2}},
      {.channels = 3, .height = 224, .width = 224, .rows = 64, .kernel = {7, 7}, .strides = {2, 2}},
      {.channels = 144, .height = 56, .width = 56, .rows = 144, .kernel = {3, 3}, .groups = 144},
      {.channels = 96,
       .height = 112,
       .width = 112,
       .rows = 96,
       .kernel = {3, 3},
       .strides = {2, 2},
       .groups = 96}};
  for (const ConvLayer& c : convs) {
    auto kernel = compile(c.graph());
    kernel->bind({{"n", 1}});
    std::vector<double> times = medians({[&] { kernel->run(); }, dnnl_conv(engine, c, Tag::any),
                                         dnnl_conv(engine, c, Tag::nchw), peak_work});
    double peak = kPeakGflop / times[3], flops = 1e-9 * c.flops();
    std::printf("conv %-32s %7.1f GFLOP/s %5.1f %%   oneDNN %7.1f, nchw %7.1f\n", c.name().c_str(),
                flops / times[0], 100 * flops / times[0] / peak, flops / times[1],
                flops / times[2]);
  }
}
