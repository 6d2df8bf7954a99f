// Random graphs of ops on channels-last images between convolutions. Their results and their number
// of kernels equal those of the same graph by channel.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "tests/kernels/reference.h"

namespace scopevm::compiler::testing {
namespace {

// A spatial dim: factor * size + offset, for the height or width of the input.
struct Dim {
  int64_t factor = 1, offset = 0;
  bool operator==(const Dim&) const = default;
};

struct LastImage {
  std::string name;
  int64_t channels;
  Dim height, width;
};

struct LastCase {
  uint32_t seed = 0;
  bool is_static = false;
  bool has_image_result = false;  // the graph returns an image with its channels last
  int64_t images = 1, channels = 1, height = 1, width = 1;
};

// Writes the graph of a case, in either form.
class LastWriter {
 public:
  LastWriter(const LastCase& t, bool is_channels_last)
      : case_(t), is_channels_last_(is_channels_last), random_(t.seed) {}

  std::string write() {
    const LastImage x{"%x", case_.channels, {}, {}};
    LastImage image = conv(x);
    for (int64_t step = pick(2, 8); step > 0; --step) {
      made_.push_back(image);
      image = next(image);
    }
    const std::string mean = reduce(image, /*keep_dims=*/false);
    const bool is_transposed = case_.has_image_result && !is_channels_last_;
    const LastImage last = is_transposed ? transposed(image, true) : image;
    const LastImage y = conv(image, /*is_last=*/true);
    std::string names = y.name + ", " + mean;
    std::string types = type(y, false) + ", " + mean_type(image);
    if (case_.has_image_result) {
      names += ", " + last.name;
      types += ", " + type(last, true);
    }
    return "func.func @main(%x: " + type(x, false) + ") -> (" + types + ") {\n" + text_ +
           "  return " + names + " : " + types + "\n}\n";
  }

 private:
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  std::string text_of(Dim dim, bool is_width) const {
    const int64_t size = is_width ? case_.width : case_.height;
    if (case_.is_static) return std::to_string(dim.factor * size + dim.offset);
    std::string text = is_width ? "w" : "h";
    if (dim.factor != 1) text = std::to_string(dim.factor) + "*" + text;
    if (dim.offset != 0) text += (dim.offset < 0 ? "" : "+") + std::to_string(dim.offset);
    return "\"" + text + "\"";
  }
  // A list with one entry per axis, in the order of the form.
  static std::string in_order(bool is_channels_last, const std::string& n, const std::string& c,
                              const std::string& h, const std::string& w) {
    return is_channels_last ? n + ", " + h + ", " + w + ", " + c
                            : n + ", " + c + ", " + h + ", " + w;
  }
  std::string in_order(const std::string& n, const std::string& c, const std::string& h,
                       const std::string& w) const {
    return in_order(is_channels_last_, n, c, h, w);
  }
  std::string dims_of(const LastImage& image, bool is_channels_last) const {
    return in_order(is_channels_last, "n", std::to_string(image.channels),
                    text_of(image.height, false), text_of(image.width, true));
  }
  std::string type(const LastImage& image, bool is_channels_last) const {
    return tensor_type(dims_of(image, is_channels_last));
  }
  std::string type(const LastImage& image) const { return type(image, is_channels_last_); }
  static std::string mean_type(const LastImage& image) {
    return tensor_type("n, " + std::to_string(image.channels));
  }

  std::string new_name() { return "v" + std::to_string(count_++); }
  // Adds an op; returns the name of its result.
  std::string add(const std::string& op, const std::string& operand_types,
                  const std::string& result_type) {
    const std::string name = "%" + new_name();
    text_ += "  " + name + " = " + op + " : (" + operand_types + ") -> " + result_type + "\n";
    return name;
  }
  // The same, with a result of these dims.
  LastImage add(LastImage result, const std::string& op, const std::string& operand_types) {
    result.name = add(op, operand_types, type(result));
    return result;
  }
  // A constant with elements of at most `limit`; returns its name.
  std::string constant(const std::vector<int64_t>& dims, float limit, std::string& type) {
    std::vector<float> elements = random_f32(dims, ++constants_).as<float>();
    for (float& element : elements) element *= limit;
    const Array array = Array::of(DType::kF32, dims, elements);
    const std::string name = new_name();
    text_ += constant_text(name, array);
    type = static_type(array);
    return "%" + name;
  }

  LastImage transposed(const LastImage& image, bool to_channels_last) {
    LastImage result = image;
    const std::string permutation = to_channels_last ? "0, 2, 3, 1" : "0, 3, 1, 2";
    result.name =
        add("sv.transpose " + image.name + " {permutation = array<i64: " + permutation + ">}",
            type(image, !to_channels_last), type(image, to_channels_last));
    return result;
  }

  // A convolution, between transposes in a channels-last graph. The first one reads the input, and
  // the result of the last one is by channel.
  LastImage conv(LastImage x, bool is_last = false) {
    if (is_channels_last_ && count_ > 0) x = transposed(x, false);
    const int64_t kernel = 2 * pick(0, 1) + 1, rows = pick(1, 24);
    const auto depth = static_cast<float>(x.channels * kernel * kernel);
    std::string w_type;
    const std::string w =
        constant({rows, x.channels, kernel, kernel}, 2 / std::sqrt(depth), w_type);
    const std::string pad = std::to_string(kernel / 2);
    LastImage result{"", rows, x.height, x.width};
    result.name =
        add("sv.conv " + x.name + ", " + w +
                " {strides = array<i64: 1, 1>, pads = array<i64: " + pad + ", " + pad + ", " + pad +
                ", " + pad + ">, dilations = array<i64: 1, 1>, group = 1 : i64}",
            type(x, false) + ", " + w_type, type(result, false));
    return is_channels_last_ && !is_last ? transposed(result, true) : result;
  }

  LastImage with_constant(const LastImage& x) {
    const int64_t c = x.channels, kind = pick(0, 2);
    std::vector<int64_t> dims = {1};
    if (kind == 1)
      dims = is_channels_last_ ? std::vector{c} : std::vector{c, int64_t{1}, int64_t{1}};
    if (kind == 2) dims = {1, is_channels_last_ ? 1 : c, 1, is_channels_last_ ? c : 1};
    std::string constant_type;
    const std::string b = constant(dims, 1, constant_type);
    const std::string op = pick(0, 1) == 0 ? "sv.add " : "sv.mul ";
    if (pick(0, 1) == 0) return add(x, op + b + ", " + x.name, constant_type + ", " + type(x));
    return add(x, op + x.name + ", " + b, type(x) + ", " + constant_type);
  }

  LastImage pad(const LastImage& x) {
    const int64_t top = pick(0, 2), left = pick(0, 2), bottom = pick(0, 2), right = pick(0, 2);
    LastImage result = x;
    result.height.offset += top + bottom;
    result.width.offset += left + right;
    const char* modes[] = {"constant", "reflect", "edge"};
    return add(result,
               "sv.pad " + x.name + " {mode = \"" + modes[pick(0, 2)] + "\", pads = #sv.dims<[" +
                   in_order("0", "0", std::to_string(top), std::to_string(left)) + ", " +
                   in_order("0", "0", std::to_string(bottom), std::to_string(right)) + "]>}",
               type(x));
  }

  LastImage slice(const LastImage& x) {
    const int64_t channel = pick(0, x.channels - 1), top = pick(0, 1), left = pick(0, 1);
    LastImage result = x;
    result.channels = pick(1, x.channels - channel);
    result.height.offset -= top;
    result.width.offset -= left;
    return add(
        result,
        "sv.slice " + x.name + " {starts = #sv.dims<[" +
            in_order("0", std::to_string(channel), std::to_string(top), std::to_string(left)) +
            "]>, sizes = #sv.dims<[" + dims_of(result, is_channels_last_) +
            "]>, steps = array<i64: 1, 1, 1, 1>}",
        type(x));
  }

  // An earlier image with the same spatial dims, and the same channels if `same_channels`.
  LastImage earlier(const LastImage& x, bool same_channels) {
    std::vector<LastImage> found = {x};
    for (const LastImage& image : made_)
      if (image.height == x.height && image.width == x.width &&
          (!same_channels || image.channels == x.channels))
        found.push_back(image);
    return found[pick(0, static_cast<int64_t>(found.size()) - 1)];
  }

  LastImage concat(const LastImage& x) {
    const LastImage other = earlier(x, /*same_channels=*/false);
    LastImage result = x;
    result.channels += other.channels;
    return add(result,
               "sv.concat " + x.name + ", " + other.name +
                   " {axis = " + (is_channels_last_ ? "3" : "1") + " : i64}",
               type(x) + ", " + type(other));
  }

  // The mean of each channel.
  std::string reduce(const LastImage& x, bool keep_dims) {
    return add("sv.reduce_mean " + x.name +
                   " {axes = array<i64: " + (is_channels_last_ ? "1, 2" : "2, 3") +
                   ">, keep_dims = " + (keep_dims ? "true" : "false") + "}",
               type(x), keep_dims ? pixel_type(x) : mean_type(x));
  }
  std::string pixel_type(const LastImage& x) const {
    return tensor_type(in_order("n", std::to_string(x.channels), "1", "1"));
  }

  // x * sigmoid(mean(x))
  LastImage gate(const LastImage& x) {
    const std::string mean = reduce(x, /*keep_dims=*/true), pixel = pixel_type(x);
    const std::string factor = add("sv.sigmoid " + mean, pixel, pixel);
    return add(x, "sv.mul " + x.name + ", " + factor, type(x) + ", " + pixel);
  }

  LastImage resize(const LastImage& x) {
    LastImage result = x;
    for (Dim* dim : {&result.height, &result.width}) *dim = {2 * dim->factor, 2 * dim->offset};
    const std::string scales = pick(0, 1) == 0 ? "" : ": " + in_order("1.0", "1.0", "2.0", "2.0");
    return add(result,
               "sv.resize " + x.name + " {dims = #sv.dims<[" + dims_of(result, is_channels_last_) +
                   "]>, scales = array<f32" + scales +
                   ">, mode = \"linear\", coordinates = \"half_pixel\", rounding = \"floor\"}",
               type(x));
  }

  LastImage next(const LastImage& x) {
    switch (pick(0, 9)) {
      case 0:
        return conv(x);
      case 1:
        return pad(x);
      case 2:
        return slice(x);
      case 3:
        return x.channels > 40 ? x : concat(x);
      case 4:
        return gate(x);
      case 5:
        return x.height.factor > 1 ? x : resize(x);
      case 6:
        return add(x, "sv.relu " + x.name, type(x));
      case 7: {
        const LastImage other = earlier(x, /*same_channels=*/true);
        return add(x, "sv.sub " + x.name + ", " + other.name, type(x) + ", " + type(other));
      }
      default:
        return with_constant(x);
    }
  }

  const LastCase& case_;
  const bool is_channels_last_;
  std::mt19937 random_;
  std::string text_;
  int count_ = 0;           // of names
  uint32_t constants_ = 0;  // the seed of each is its number, which is equal in both forms
  std::vector<LastImage> made_;
};

void check(const LastCase& t, ImageLayout layout) {
  const std::string text = LastWriter(t, /*is_channels_last=*/true).write();
  SCOPED_TRACE(text.substr(0, text.find("dense")));
  auto channels_last = KernelRunner::create(text, "host", /*fuse=*/true, layout);
  auto by_channel = KernelRunner::create(LastWriter(t, /*is_channels_last=*/false).write(), "host",
                                         /*fuse=*/true, layout);
  ASSERT_TRUE(channels_last.ok()) << channels_last.status().message();
  ASSERT_TRUE(by_channel.ok()) << by_channel.status().message();
  // The conversion of a result with one channel is a view if the compiler inserts it.
  if (!t.has_image_result)
    EXPECT_EQ((*channels_last)->steps().size(), (*by_channel)->steps().size());
  const std::vector<Array> inputs = {random_f32({t.images, t.channels, t.height, t.width}, 3)};
  run_both(**channels_last, **by_channel, inputs);
}

TEST(ChannelsLast, GraphsAgreeWithThoseByChannel) {
  const char* count = std::getenv("SCOPEVM_RANDOM_CONVOLUTIONS");
  const int cases = count == nullptr ? 12 : std::atoi(count);
  std::mt19937 random(7);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < cases; ++i) {
    const LastCase t{.seed = static_cast<uint32_t>(i),
                     .is_static = pick(0, 2) == 0,
                     .has_image_result = pick(0, 2) == 0,
                     .images = pick(1, 2),
                     .channels = pick(1, 20),
                     .height = pick(9, 20),
                     .width = pick(9, 30)};
    SCOPED_TRACE("case " + std::to_string(i));
    const ImageLayout layouts[] = {ImageLayout::kAuto, ImageLayout::kByChannel,
                                   ImageLayout::kBlocked};
    check(t, layouts[i % 3]);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace scopevm::compiler::testing
