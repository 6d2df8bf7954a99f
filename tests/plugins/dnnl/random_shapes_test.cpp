// Random shapes: results equal naive loops, within the workspace that the formula states. Half of
// the weights are constants.
#include <algorithm>
#include <cmath>
#include <random>

#include "plug_in.h"

namespace scopevm::onednn_test {
namespace {

using nlohmann::json;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int64_t between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  bool flip() { return between(0, 1) == 1; }
  // Small values are as likely as large ones; often a multiple of a block.
  int64_t dim(int64_t most) {
    const double exponent = std::uniform_real_distribution<double>(0, 1)(engine_);
    const auto value = static_cast<int64_t>(std::pow(static_cast<double>(most), exponent));
    const int64_t block = std::vector<int64_t>{1, 1, 8, 16}[static_cast<size_t>(between(0, 3))];
    return std::min(most, (value + block - 1) / block * block);
  }
  Tensor tensor(const Dims& dims) {
    Tensor tensor(dims);
    std::uniform_real_distribution<float> value(-1, 1);
    for (float& element : tensor.data) element = value(engine_);
    return tensor;
  }

 private:
  std::mt19937 engine_;
};

// A case in construction: the description, the operands and the expected result.
struct Case {
  std::vector<Dims> types;
  std::vector<Tensor> operands;
  json ops = json::array();
  std::vector<double> expected;
  Dims dims;  // of the result

  int add_operand(Tensor tensor) {
    types.push_back(tensor.dims);
    operands.push_back(std::move(tensor));
    return static_cast<int>(operands.size()) - 1;
  }
};

double activate(const std::string& name, double x) {
  if (name == "relu") return std::max(x, 0.0);
  if (name == "tanh") return std::tanh(x);
  if (name == "sigmoid") return 1 / (1 + std::exp(-x));
  return x;
}

// Adds a random epilogue. `channel` is the index of the channel of an element of the result.
template <typename Channel>
void add_epilogue(Random& random, Case& c, int64_t channels, const Dims& bias_dims,
                  Channel channel) {
  const bool has_bias = random.flip(), has_residual = random.flip();
  const char* activation = std::vector<const char*>{
      "", "relu", "tanh", "sigmoid"}[static_cast<size_t>(random.between(0, 3))];
  int bias = 0, residual = 0;
  if (has_bias && channels > 1) bias = c.add_operand(random.tensor(bias_dims));
  if (has_residual) residual = c.add_operand(random.tensor(c.dims));
  auto value = [&] { return static_cast<int>(c.operands.size() + c.ops.size()) - 1; };
  if (bias != 0) c.ops.push_back(op_of("add", {value(), bias}, c.dims));
  if (residual != 0) c.ops.push_back(op_of("add", {residual, value()}, c.dims));
  if (*activation != '\0') c.ops.push_back(op_of(activation, {value()}, c.dims));
  for (size_t i = 0; i < c.expected.size(); ++i) {
    double& x = c.expected[i];
    if (bias != 0) x += c.operands[static_cast<size_t>(bias)].data[channel(i)];
    if (residual != 0) x += c.operands[static_cast<size_t>(residual)].data[i];
    x = activate(activation, x);
  }
}

Case random_matmul(Random& random) {
  Case c;
  const int64_t b = random.flip() ? 1 : random.between(1, 4);
  const int64_t m = random.dim(150), n = random.dim(150), k = random.dim(200);
  const bool ta = random.flip(), tb = random.flip(), shared = !ta && random.flip();
  c.add_operand(random.tensor(ta ? Dims{b, k, m} : Dims{b, m, k}));
  Dims w = tb ? Dims{n, k} : Dims{k, n};
  if (!shared) w.insert(w.begin(), b);
  c.add_operand(random.tensor(w));
  c.dims = {b, m, n};
  const std::vector<float>&x = c.operands[0].data, &y = c.operands[1].data;
  for (int64_t i = 0; i < b * m * n; ++i) {
    const int64_t batch = i / (m * n), row = i / n % m, column = i % n;
    double sum = 0;
    for (int64_t p = 0; p < k; ++p) {
      const int64_t a = batch * m * k + (ta ? p * m + row : row * k + p);
      const int64_t e = (shared ? 0 : batch * k * n) + (tb ? column * k + p : p * n + column);
      sum += double{x[static_cast<size_t>(a)]} * y[static_cast<size_t>(e)];
    }
    c.expected.push_back(sum);
  }
  c.ops.push_back(op_of("matmul", {0, 1}, c.dims, {{"transpose_a", ta}, {"transpose_b", tb}}));
  add_epilogue(random, c, n, {n}, [&](size_t i) { return i % static_cast<size_t>(n); });
  return c;
}

// A window over up to three dims, padded with dims of size 1.
struct Axis {
  int64_t in = 1, kernel = 1, stride = 1, before = 0, after = 0, dilation = 1, out = 1;
};

std::vector<Axis> random_axes(Random& random, int64_t rank, bool is_pool) {
  std::vector<Axis> axes(3);
  for (int64_t i = 3 - rank; i < 3; ++i) {
    Axis& a = axes[static_cast<size_t>(i)];
    a.kernel = random.between(1, 4);
    a.in = random.dim(rank == 1 ? 200 : rank == 2 ? 24 : 8) + a.kernel;
    a.stride = random.between(1, 2);
    a.dilation = is_pool ? 1 : random.between(1, 2);
    a.before = random.between(0, a.kernel - 1);
    a.after = random.between(0, a.kernel - 1);
    const int64_t reach = (a.kernel - 1) * a.dilation + 1;
    a.in = std::max(a.in, reach);
    a.out = (a.in + a.before + a.after - reach) / a.stride + 1;
  }
  return axes;
}

json window_attributes(const std::vector<Axis>& axes, int64_t rank) {
  Dims strides, dilations, pads, after;
  for (size_t i = static_cast<size_t>(3 - rank); i < 3; ++i) {
    strides.push_back(axes[i].stride);
    dilations.push_back(axes[i].dilation);
    pads.push_back(axes[i].before);
    after.push_back(axes[i].after);
  }
  pads.insert(pads.end(), after.begin(), after.end());
  return {{"strides", strides}, {"pads", pads}, {"dilations", dilations}};
}

Dims with_axes(Dims dims, const std::vector<Axis>& axes, int64_t rank, int64_t Axis::* member) {
  for (size_t i = static_cast<size_t>(3 - rank); i < 3; ++i) dims.push_back(axes[i].*member);
  return dims;
}

// Calls visit(index in the plane of x, index in the kernel) for the elements of the window of
// result element `position` that are inside x.
template <typename Visit>
void for_each_in_window(const std::vector<Axis>& axes, int64_t position, Visit visit) {
  const int64_t o[3] = {position / (axes[1].out * axes[2].out),
                        position / axes[2].out % axes[1].out, position % axes[2].out};
  const int64_t window = axes[0].kernel * axes[1].kernel * axes[2].kernel;
  for (int64_t e = 0; e < window; ++e) {
    const int64_t t[3] = {e / (axes[1].kernel * axes[2].kernel),
                          e / axes[2].kernel % axes[1].kernel, e % axes[2].kernel};
    int64_t index = 0;
    bool inside = true;
    for (size_t i = 0; i < 3; ++i) {
      const int64_t at = o[i] * axes[i].stride - axes[i].before + t[i] * axes[i].dilation;
      inside = inside && at >= 0 && at < axes[i].in;
      index = index * axes[i].in + at;
    }
    if (inside) visit(index, e);
  }
}

int64_t product(const std::vector<Axis>& axes, int64_t Axis::* member) {
  return axes[0].*member * axes[1].*member * axes[2].*member;
}

Case random_convolution(Random& random) {
  Case c;
  const int64_t rank = random.between(1, 3), n = random.between(1, 2);
  const std::vector<Axis> axes = random_axes(random, rank, false);
  int64_t channels = random.dim(40), m = random.dim(40), group = 1;
  if (const int64_t kind = random.between(0, 3); kind == 0 && rank < 3) {
    group = channels = m = random.dim(60) + 1;
  } else if (kind == 1) {
    group = random.between(2, 3);
    channels = 16 * group;
    m = 16 * group * random.between(1, 2);
  }
  const int64_t per_group = channels / group;
  c.add_operand(random.tensor(with_axes({n, channels}, axes, rank, &Axis::in)));
  c.add_operand(random.tensor(with_axes({m, per_group}, axes, rank, &Axis::kernel)));
  std::vector<int> operands = {0, 1};
  if (random.flip()) operands.push_back(c.add_operand(random.tensor({m})));
  c.dims = with_axes({n, m}, axes, rank, &Axis::out);
  const int64_t plane = product(axes, &Axis::in), window = product(axes, &Axis::kernel);
  const int64_t outs = product(axes, &Axis::out);
  const float* x = c.operands[0].data.data();
  const float* w = c.operands[1].data.data();
  for (int64_t i = 0; i < n * m * outs; ++i) {
    const int64_t image = i / (m * outs), channel = i / outs % m;
    const int64_t first = channel / (m / group) * per_group;
    double sum = operands.size() == 3 ? c.operands[2].data[static_cast<size_t>(channel)] : 0;
    for_each_in_window(axes, i % outs, [&](int64_t at, int64_t e) {
      for (int64_t p = 0; p < per_group; ++p)
        sum += double{x[((image * channels) + first + p) * plane + at]} *
               w[(channel * per_group + p) * window + e];
    });
    c.expected.push_back(sum);
  }
  json attributes = window_attributes(axes, rank);
  attributes["group"] = group;
  c.ops.push_back(op_of("conv", operands, c.dims, attributes));
  const Dims ones(static_cast<size_t>(rank), 1);
  Dims bias = {m};
  bias.insert(bias.end(), ones.begin(), ones.end());
  add_epilogue(random, c, operands.size() == 3 ? 0 : m, bias,
               [&](size_t i) { return i / static_cast<size_t>(outs) % static_cast<size_t>(m); });
  return c;
}

Case random_pool(Random& random) {
  Case c;
  const int64_t rank = random.between(1, 3), n = random.between(1, 2), channels = random.dim(40);
  std::vector<Axis> axes = random_axes(random, rank, true);
  const bool is_max = random.flip(), count_pads = !is_max && random.flip();
  const bool ceil_mode = !count_pads && random.flip();
  if (ceil_mode)
    for (Axis& a : axes)
      a.out = std::min((a.in + a.before + a.after - a.kernel + a.stride - 1) / a.stride + 1,
                       (a.in + a.before - 1) / a.stride + 1);
  c.add_operand(random.tensor(with_axes({n, channels}, axes, rank, &Axis::in)));
  c.dims = with_axes({n, channels}, axes, rank, &Axis::out);
  const int64_t plane = product(axes, &Axis::in), outs = product(axes, &Axis::out);
  const float* x = c.operands[0].data.data();
  for (int64_t i = 0; i < n * channels * outs; ++i) {
    double sum = 0, most = -1e30;
    int64_t count = 0;
    for_each_in_window(axes, i % outs, [&](int64_t at, int64_t) {
      const double element = x[i / outs * plane + at];
      sum += element;
      most = std::max(most, element);
      ++count;
    });
    if (count_pads) count = product(axes, &Axis::kernel);
    c.expected.push_back(is_max ? most : sum / static_cast<double>(count));
  }
  json attributes = window_attributes(axes, rank);
  attributes["kernel"] = with_axes({}, axes, rank, &Axis::kernel);
  attributes["ceil_mode"] = ceil_mode;
  if (!is_max) attributes["count_pads"] = count_pads;
  c.ops.push_back(op_of(is_max ? "max_pool" : "average_pool", {0}, c.dims, attributes));
  return c;
}

// Adds to `prepared` if operand 1, a constant, was prepared.
void check(Random& random, Case c, bool is_constant, int& prepared) {
  json description = describe(c.types, c.ops);
  scopevm_external_constant weight = {.operand = 1};
  if (is_constant) description["operands"][1]["constant"] = true;
  SCOPED_TRACE(description.dump());
  const Outcome accepted =
      is_constant ? accept(description.dump(), {&weight}) : accept(description.dump());
  ASSERT_EQ(accepted.code, StatusCode::kOk) << accepted.text;
  if (weight.bytes > 0) {
    ++prepared;
    const Outcome outcome = prepare(description, weight, c.operands[1]);
    ASSERT_EQ(outcome.code, StatusCode::kOk) << outcome.text;
  }
  Function function(description.dump());
  ASSERT_EQ(function.created().code, StatusCode::kOk) << function.created().text;
  // Few cases use two threads: they are slow on a busy machine, because OpenMP waits actively.
  const int threads = random.between(0, 9) == 0 ? 2 : 1;
  Tensor result(c.dims);
  const Outcome ran = function.run(c.operands, result, accepted.workspace_bytes(threads), threads);
  ASSERT_EQ(ran.code, StatusCode::kOk) << ran.text;
  // Rounding errors are relative to the largest term of a sum.
  double scale = 1;
  for (double value : c.expected) scale = std::max(scale, std::abs(value));
  for (size_t i = 0; i < c.expected.size(); ++i)
    ASSERT_NEAR(result.data[i], c.expected[i], 1e-4 * scale) << "element " << i;
}

constexpr int kCases = 200;  // of each kind

// Returns the number of prepared weights.
template <typename MakeCase>
int check_cases(unsigned seed, bool has_weight, MakeCase make_case) {
  Random random(seed);
  int prepared = 0;
  for (int i = 0; i < kCases && !testing::Test::HasFatalFailure(); ++i) {
    Case c = make_case(random);
    check(random, std::move(c), has_weight && random.flip(), prepared);
  }
  return prepared;
}

TEST(DnnlRandomShapes, MatMul) {
  SKIP_WITHOUT_AVX512();
  EXPECT_GT(check_cases(1, true, random_matmul), 10);
}

TEST(DnnlRandomShapes, Convolution) { EXPECT_GT(check_cases(2, true, random_convolution), 50); }

TEST(DnnlRandomShapes, Pool) { EXPECT_EQ(check_cases(3, false, random_pool), 0); }

}  // namespace
}  // namespace scopevm::onednn_test
