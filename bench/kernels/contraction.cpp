// Compares contraction kernels with the peak of one core, with oneDNN (prepacked weights), and, for
// products of f32, with OpenBLAS. Times are medians of interleaved rounds on one thread. The peak
// and the bandwidth are measured in the same run. Percentages are relative to the peak, or, in
// lines with GB/s, to the bandwidth.
#include <cblas.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dnnl.hpp>
#include <functional>
#include <vector>

#include "bench/kernels/compiled_kernel.h"
#include "bench/kernels/machine_peak.h"

namespace {

using scopevm::compiler::bench::CompiledKernel;
using Work = std::function<void()>;

// CPU time of this thread, so that the time of other processes is not counted.
double seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Returns the median time of one call of each function. Every round times all functions, each over
// enough calls to take about 2 ms.
std::vector<double> medians(const std::vector<Work>& works) {
  std::vector<std::vector<double>> times(works.size());
  std::vector<int> repeats;
  for (const Work& work : works) {
    work();
    double start = seconds();
    work();
    repeats.push_back(std::max(1, static_cast<int>(2e-3 / std::max(seconds() - start, 1e-7))));
  }
  for (int round = 0; round < 31; ++round)
    for (size_t i = 0; i < works.size(); ++i) {
      double start = seconds();
      for (int repeat = 0; repeat < repeats[i]; ++repeat) works[i]();
      times[i].push_back((seconds() - start) / repeats[i]);
    }
  std::vector<double> result;
  for (std::vector<double>& t : times) {
    std::nth_element(t.begin(), t.begin() + t.size() / 2, t.end());
    result.push_back(t[t.size() / 2]);
  }
  return result;
}

// Comparisons with the peak also time the peak loop in each round, because load on the same core
// slows all functions alike.
constexpr int64_t kPeakRounds = 20'000;
const double kPeakGflop = 1e-9 * scopevm::compiler::bench::peak_flops(kPeakRounds);
void peak_work() { scopevm::compiler::bench::run_peak(kPeakRounds); }

std::vector<float> filled(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 13) * 0.1f - 0.6f;
  return values;
}

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

struct Conv {
  const char* name;
  int channels, rows, kernel, stride, group, size;
};

std::string conv_text(const Conv& c) {
  int out = (c.size + 2 * (c.kernel / 2) - c.kernel) / c.stride + 1;
  auto square = [](int n) { return ", " + std::to_string(n) + ", " + std::to_string(n); };
  std::string x = type("n, " + std::to_string(c.channels) + square(c.size));
  std::string y = type("n, " + std::to_string(c.rows) + square(out));
  std::string w =
      std::to_string(c.rows) + ", " + std::to_string(c.channels / c.group) + square(c.kernel);
  std::string w_dims = w;
  for (size_t at; (at = w_dims.find(", ")) != std::string::npos;) w_dims.replace(at, 2, "x");
  std::string s = std::to_string(c.stride), p = std::to_string(c.kernel / 2);
  return "func.func @main(%x: " + x + ") -> " + y + " {\n" + splat("w", w, w_dims) +
         "  %y = sv.conv %x, %w {strides = array<i64: " + s + ", " + s +
         ">, pads = array<i64: " + p + ", " + p + ", " + p + ", " + p +
         ">, dilations = array<i64: 1, 1>, group = " + std::to_string(c.group) + " : i64} : (" + x +
         ", " + type(w) + ") -> " + y + "\n  return %y : " + y + "\n}\n";
}

std::unique_ptr<CompiledKernel> compile(const std::string& text) {
  auto kernel = CompiledKernel::create(text);
  if (kernel.ok()) return *std::move(kernel);
  std::fprintf(stderr, "%s\n", std::string(kernel.status().message()).c_str());
  std::exit(1);
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

// oneDNN with images in its preferred layout (Tag::any) or in that of graphs (Tag::nchw).
Work dnnl_conv(dnnl::engine& engine, const Conv& c, Tag image) {
  int pad = c.kernel / 2, out = (c.size + 2 * pad - c.kernel) / c.stride + 1;
  dnnl::memory::desc x({1, c.channels, c.size, c.size}, kF32, image);
  dnnl::memory::desc y({1, c.rows, out, out}, kF32, image);
  dnnl::memory::dims w_dims{c.rows, c.channels / c.group, c.kernel, c.kernel};
  if (c.group > 1) w_dims = {c.group, c.rows / c.group, c.channels / c.group, c.kernel, c.kernel};
  dnnl::memory::desc w(w_dims, kF32, Tag::any);
  dnnl::convolution_forward::desc desc(dnnl::prop_kind::forward_inference,
                                       dnnl::algorithm::convolution_direct, x, w, y,
                                       {c.stride, c.stride}, {pad, pad}, {pad, pad});
  dnnl::convolution_forward::primitive_desc pd(desc, engine);
  dnnl::memory xm(pd.src_desc(), engine), wm(pd.weights_desc(), engine), ym(pd.dst_desc(), engine);
  for (dnnl::memory* memory : {&xm, &wm, &ym}) {
    std::vector<float> values = filled(memory->get_desc().get_size() / 4);
    std::copy(values.begin(), values.end(), static_cast<float*>(memory->get_data_handle()));
  }
  dnnl::stream stream(engine);
  dnnl::convolution_forward conv(pd);
  return [=]() mutable {
    conv.execute(stream, {{DNNL_ARG_SRC, xm}, {DNNL_ARG_WEIGHTS, wm}, {DNNL_ARG_DST, ym}});
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

// A product with one row, and with weights that are not in any cache: each run uses the next of 64
// copies, 150 MB in total. The upper bound is a plain read of the same bytes, measured in the same
// rounds.
void cold_line(CompiledKernel& kernel) {
  constexpr size_t kCopies = 64, kFloats = 768 * 768;
  kernel.bind({{"m", 1}}, kCopies);
  std::vector<float> stream = filled(kCopies * kFloats);
  size_t copy = 0;
  std::vector<double> t =
      medians({[&] { kernel.run(); },
               [&] {
                 scopevm::compiler::bench::read_floats(&stream[copy * kFloats], kFloats);
                 copy = (copy + 1) % kCopies;
               }});
  std::printf("%-24s M=1    %7.1f GB/s    %5.1f %% of a plain read's %.1f GB/s\n",
              "matmul 768x768, cold", kFloats * 4e-9 / t[0], 100 * t[1] / t[0],
              kFloats * 4e-9 / t[1]);
}

}  // namespace

int main(int, char** argv) {
  // oneDNN and OpenBLAS read these variables when they are loaded, so the program sets them and
  // restarts.
  if (!getenv("OMP_NUM_THREADS")) {
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", argv);
  }
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  std::printf("peak %.1f GFLOP/s\n", kPeakGflop / medians({peak_work})[0]);
  auto fixed = compile(matmul_text("128", 768, 768));
  matmul_line("matmul 768x768 static", *fixed, engine, 128, 768, 768);
  auto dynamic = compile(matmul_text("m", 768, 768));
  for (int m : {1, 5, 12, 64, 127, 128, 131, 300})
    matmul_line("matmul 768x768", *dynamic, engine, m, 768, 768);
  cold_line(*dynamic);
  auto bytes = compile(byte_matmul_text(768, 768));
  for (int m : {1, 12, 128, 300}) byte_line(*bytes, *dynamic, engine, m, 768, 768);
  auto deep = compile(matmul_text("m", 3072, 768));
  for (int m : {12, 128}) matmul_line("matmul 3072x768", *deep, engine, m, 3072, 768);
  const Conv convs[] = {{"3x3 64->64", 64, 64, 3, 1, 1, 56},
                        {"1x1 256->64", 256, 64, 1, 1, 1, 56},
                        {"3x3 256->256", 256, 256, 3, 1, 1, 14},
                        {"3x3 512->512", 512, 512, 3, 1, 1, 7},
                        {"3x3/2 128->128", 128, 128, 3, 2, 1, 56},
                        {"7x7/2 3->64", 3, 64, 7, 2, 1, 224},
                        {"depthwise 3x3 144", 144, 144, 3, 1, 144, 56},
                        {"depthwise 3x3/2 96", 96, 96, 3, 2, 96, 112}};
  for (const Conv& c : convs) {
    auto kernel = compile(conv_text(c));
    kernel->bind({{"n", 1}});
    std::vector<double> times = medians({[&] { kernel->run(); }, dnnl_conv(engine, c, Tag::any),
                                         dnnl_conv(engine, c, Tag::nchw), peak_work});
    double peak = kPeakGflop / times[3];
    int out = (c.size + 2 * (c.kernel / 2) - c.kernel) / c.stride + 1;
    double flops = 2e-9 * out * out * c.rows * (c.channels / c.group) * c.kernel * c.kernel;
    std::printf("conv %-19s %3dx%-3d %7.1f GFLOP/s %5.1f %%   oneDNN %7.1f, nchw %7.1f\n", c.name,
                c.size, c.size, flops / times[0], 100 * flops / times[0] / peak, flops / times[1],
                flops / times[2]);
  }
}
