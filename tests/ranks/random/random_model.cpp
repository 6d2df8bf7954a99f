// Builds a stream of rows, x, to which layers with caches add. See random_model.h.
#include "tests/ranks/random/random_model.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "tests/ranks/random/distribution.h"
#include "tests/ranks/random/model_writer.h"

namespace scopevm::ranks {
namespace {

constexpr char kNew[] = "n";    // dimension of the rows of the stream
constexpr char kOther[] = "m";  // of rows that inputs have
constexpr char kBatch[] = "b";

struct Cache {
  std::string dtype;
  std::vector<std::string> dims;
  size_t axis = 0;                   // along which calls append
  std::optional<size_t> batch_axis;  // with the dim b
  std::string added, total;          // the rows that a call adds, and their sum with the others
  bool is_in_place = true;
  int64_t elements = 1;  // of a row of a sequence
  Value past, rows, present;

  std::vector<size_t> static_axes() const {
    std::vector<size_t> axes;
    for (size_t i = 0; i < dims.size(); ++i)
      if (i != axis && i != batch_axis) axes.push_back(i);
    return axes;
  }
  // From [b, rows, static dims...] to the axes of the cache.
  Order order() const {
    const size_t rows_axis = batch_axis ? 1 : 0;
    Order order(dims.size(), 0);
    order[axis] = rows_axis;
    size_t next = rows_axis + 1;
    for (const size_t at : static_axes()) order[at] = next++;
    return order;
  }
};

class Builder {
 public:
  explicit Builder(uint64_t seed) : random_(seed), writer_(random_) {}

  RandomModel build() {
    has_batch_ = random_.chance(40);
    width_ = random_.one_of<int64_t>({4, 6, 8, 12});
    std::vector<std::string> dims = {kNew, std::to_string(width_)};
    if (has_batch_) dims.insert(dims.begin(), kBatch);
    stream_ = writer_.input("x", "f32", dims);
    model_.dims[kNew] = {.min = 0, .max = 3};
    const int64_t count = random_.between(1, 4);
    for (int64_t i = 0; i < count; ++i) add_cache(i);
    const int64_t fixed = random_.chance(50) ? random_.between(1, 2) : 0;
    for (int64_t i = 0; i < fixed; ++i) add_fixed(i);
    for (size_t i = 0; i < caches_.size(); ++i)
      for (int64_t uses = random_.below(3); uses > 0; --uses) use(i);
    if (random_.chance(60)) perceptron();
    writer_.output("y", writer_.clamped(writer_.product(stream_, weight(width_, width_), width_)));
    model_.text = writer_.text();
    model_.reorders = random_.chance(20);
    if (random_.chance(30)) model_.variants.push_back({{kNew, {.min = 1, .max = 1}}});
    const Distribution distribution = random_distribution(random_, caches_.size());
    model_.split = distribution.split;
    model_.machine_json = distribution.machine_json;
    model_.places = distribution.places;
    return model_;
  }

 private:
  Value weight(int64_t rows, int64_t columns) { return writer_.constant("f32", {rows, columns}); }

  // The dimension of a cache: a new one, or that of the cache before.
  void choose_dimension(int64_t number, Cache& cache) {
    const std::string dim = "p" + std::to_string(number);
    cache.dims[cache.axis] = dim;
    cache.is_in_place = random_.chance(80);
    cache.added = random_.one_of<std::string>({kNew, kNew, kNew, kNew, "1", "2*n", kOther});
    model_.dims[dim] = {.min = 0, .max = 9};
    if (cache.added == kOther) model_.dims[kOther] = {.min = 0, .max = 2};
    const int64_t capacity = random_.between(3, 8);
    if (cache.is_in_place && random_.chance(50))
      model_.dims[dim + "_capacity"] = {.min = capacity, .max = capacity};
    else if (cache.is_in_place)
      model_.dims[dim + "_capacity"] = {.min = 1, .max = 9};
  }

  Cache new_cache(int64_t number) {
    Cache cache;
    cache.dtype = random_.one_of<std::string>(
        {"f32", "f32", "f32", "f32", "f16", "bf16", "f64", "i64", "i32", "i8", "u8"});
    const int64_t rank = random_.between(0, 3);
    for (int64_t i = 0; i < rank; ++i) {
      const int64_t size = random_.one_of<int64_t>({1, 2, 2, 3, 4, 4, 5, 6});
      if (cache.elements * size > 48) continue;
      cache.elements *= size;
      cache.dims.push_back(std::to_string(size));
    }
    const auto insert = [&](const std::string& dim) {
      const int64_t axis = random_.below(static_cast<int64_t>(cache.dims.size()) + 1);
      cache.dims.insert(cache.dims.begin() + axis, dim);
      return static_cast<size_t>(axis);
    };
    if (has_batch_ && random_.chance(70)) cache.batch_axis = insert(kBatch);
    cache.axis = insert("");
    if (cache.batch_axis && *cache.batch_axis >= cache.axis) ++*cache.batch_axis;
    choose_dimension(number, cache);
    return cache;
  }

  void add_cache(int64_t number) {
    Cache cache = !caches_.empty() && random_.chance(50) ? caches_.back() : new_cache(number);
    const std::string suffix = std::to_string(number), dim = cache.dims[cache.axis];
    cache.total = dim + " + " + cache.added;
    cache.past = writer_.input("past" + suffix, cache.dtype, cache.dims);
    std::vector<Value> parts = {cache.past};
    if (cache.added == "2*n" || (cache.added == kNew && random_.chance(10))) {
      for (int i = 0; i < (cache.added == kNew ? 1 : 2); ++i)
        parts.push_back(rows_of_stream(cache, kNew));
      cache.rows = parts.back();
    } else {
      cache.rows = new_rows(cache, suffix);
      parts.push_back(cache.rows);
    }
    cache.present = writer_.concatenated(parts, cache.axis, cache.total);
    const std::string input = "past" + suffix, output = "present" + suffix;
    writer_.output(output, cache.present);
    if (cache.is_in_place) {
      model_.states.push_back(input + "=" + output);
      model_.buffers[input] = {cache.axis, dim + "_rows"};
    } else {
      model_.pairs.emplace_back(input, output);
    }
    caches_.push_back(cache);
  }

  Value new_rows(const Cache& cache, const std::string& suffix) {
    std::vector<std::string> dims = cache.dims;
    dims[cache.axis] = cache.added;
    if (cache.added == kOther || random_.chance(10))
      return writer_.input("rows" + suffix, cache.dtype, dims);
    const Cache* const before = caches_.empty() ? nullptr : &caches_.back();
    const bool is_like = before != nullptr && before->dims == cache.dims &&
                         before->dtype == cache.dtype && before->rows.dims == dims;
    if (is_like && random_.chance(15)) return before->rows;
    if (is_like && random_.chance(20))
      return writer_.clamped(writer_.add(before->rows, before->rows));
    const Value rows = rows_of_stream(cache, cache.added);
    if (!is_like || !random_.chance(25)) return rows;
    // They also depend on what the other cache has.
    const Value sum =
        writer_.summed(random_.chance(50) ? before->past : before->present, cache.axis, true);
    return writer_.clamped(writer_.add(rows, writer_.clamped(sum)));
  }

  // Without a batch dim: its sum.
  Value stream_for(bool has_batch) {
    return has_batch_ && !has_batch ? writer_.clamped(writer_.summed(stream_, 0, false)) : stream_;
  }

  // `count`: n or 1.
  Value rows_of_stream(const Cache& cache, const std::string& count) {
    Value from = stream_for(cache.batch_axis.has_value());
    const size_t rows_axis = cache.batch_axis ? 1 : 0;
    if (count != kNew) from = writer_.clamped(writer_.summed(from, rows_axis, true));
    Value rows = writer_.clamped(writer_.product(from, weight(width_, cache.elements), width_));
    std::vector<std::string> dims(rows.dims.begin(), rows.dims.end() - 1);
    for (const size_t axis : cache.static_axes()) dims.push_back(cache.dims[axis]);
    rows = writer_.transposed(writer_.reshaped(rows, dims), cache.order());
    return writer_.cast(rows, cache.dtype);
  }

  // Adds to the stream what depends on a cache: [b, rows, elements], or without b.
  void add_to_stream(const Value& x, int64_t depth) {
    const Value sum = writer_.clamped(writer_.product(x, weight(depth, width_), depth));
    stream_ = writer_.clamped(writer_.add(stream_, sum));
  }

  void perceptron() {
    const int64_t inner = width_ * random_.between(1, 3);
    Value x = writer_.product(stream_, weight(width_, inner), width_);
    x = writer_.clamped(writer_.unary("relu", x));
    add_to_stream(x, inner);
  }

  // A result of the model.
  void show(const Value& value) { writer_.output("z" + std::to_string(shown_++), value); }

  void use(size_t index) {
    const Cache& cache = caches_[index];
    switch (random_.below(9)) {
      case 0:
      case 1:
      case 2:
        return attend(cache, partner_of(index));
      case 3:
        return add_sum(cache);
      case 4:
        return show(writer_.unary("abs", random_.chance(50) ? cache.past : cache.present));
      case 5:
        return show(writer_.sliced(cache.present, cache.axis, cache.dims[cache.axis], cache.added));
      case 6: {
        Value sums = cache.present;
        sums.most *= kMostRows;
        return show(writer_.op("cum_sum", {cache.present},
                               "axis = " + std::to_string(cache.axis) + " : i64", sums));
      }
      case 7:
        if (condition_.name.empty()) condition_ = writer_.input("condition", "bool", {}, 1);
        return show(writer_.summed(writer_.chosen(condition_, cache.present), cache.axis, false));
      default:
        return multiply(cache);
    }
  }

  // A cache with equal dims, as the keys of values.
  const Cache& partner_of(size_t index) {
    std::vector<size_t> alike;
    for (size_t i = 0; i < caches_.size(); ++i)
      if (caches_[i].present.dims == caches_[index].present.dims &&
          caches_[i].dtype == caches_[index].dtype)
        alike.push_back(i);
    return caches_[random_.one_of(alike)];
  }

  // relu(q keys^T) values, as an attention without softmax.
  void attend(const Cache& keys, const Cache& values) {
    const std::vector<size_t> statics = keys.static_axes();
    if (statics.empty()) return add_sum(keys);
    const size_t features = statics.back();
    Order order;  // heads, rows, features
    for (size_t axis = 0; axis < keys.dims.size(); ++axis)
      if (axis != keys.axis && axis != features) order.push_back(axis);
    order.push_back(keys.axis);
    order.push_back(features);
    const bool is_half = (keys.dtype == "f16" || keys.dtype == "bf16") && random_.chance(60);
    const std::string dtype = is_half ? keys.dtype : "f32";
    const auto of_cache = [&](const Value& x) {
      return writer_.transposed(writer_.cast(x, dtype), order);
    };
    Cache queries = keys;
    queries.dtype = dtype;
    const Value q = writer_.transposed(rows_of_stream(queries, kNew), order);
    const int64_t depth = std::stoll(keys.dims[features]);
    Value scores = writer_.product(q, of_cache(keys.present), depth, true);
    scores = writer_.clamped(writer_.unary("relu", scores));
    Value result = writer_.clamped(writer_.product(scores, of_cache(values.present), kMostRows));
    result = writer_.transposed(writer_.transposed(result, inverse(order)), inverse(keys.order()));
    std::vector<std::string> dims = {kNew, std::to_string(keys.elements)};
    if (keys.batch_axis) dims.insert(dims.begin(), kBatch);
    add_to_stream(writer_.cast(writer_.reshaped(result, dims), "f32"), keys.elements);
  }

  void add_sum(const Cache& cache) {
    const Value& value = random_.chance(30) ? cache.past : cache.present;
    Value sum = writer_.summed(value, cache.axis, true);
    sum = writer_.clamped(writer_.cast(sum, "f32"));
    sum = writer_.transposed(sum, inverse(cache.order()));
    std::vector<std::string> dims = {"1", std::to_string(cache.elements)};
    if (cache.batch_axis) dims.insert(dims.begin(), kBatch);
    add_to_stream(writer_.reshaped(sum, dims), cache.elements);
  }

  // By a weight, along the last axis.
  void multiply(const Cache& cache) {
    const std::vector<size_t> statics = cache.static_axes();
    if (statics.empty() || statics.back() + 1 != cache.dims.size()) return add_sum(cache);
    const int64_t depth = std::stoll(cache.dims.back());
    const Value x = writer_.cast(cache.present, "f32");
    show(writer_.product(x, weight(depth, random_.between(1, 6)), depth));
  }

  // A state of one size that calls replace.
  void add_fixed(int64_t number) {
    const std::string suffix = std::to_string(number), input = "h" + suffix, output = "hn" + suffix;
    const int64_t size = random_.one_of<int64_t>({1, 2, 4, 5, 6});
    const bool has_batch = has_batch_ && random_.chance(60);
    const std::string dtype = random_.one_of<std::string>({"f32", "f32", "f16", "i64", "i32"});
    std::vector<std::string> dims = {"1", std::to_string(size)};
    if (has_batch) dims.insert(dims.begin(), kBatch);
    const Value h = writer_.input(input, dtype, dims);
    const auto of_stream = [&] {
      const Value sum =
          writer_.clamped(writer_.summed(stream_for(has_batch), has_batch ? 1 : 0, true));
      const Value x = writer_.product(sum, weight(width_, size), width_);
      return writer_.cast(writer_.clamped(x), dtype);
    };
    Value next = h;
    const int64_t kind = random_.below(6);
    if (kind < 3) next = writer_.clamped(writer_.add(h, of_stream()));
    if (kind == 3) next = of_stream();
    if (kind == 4) next = writer_.input("u" + suffix, dtype, dims);
    writer_.output(output, next);
    model_.pairs.emplace_back(input, output);
    if (random_.chance(20)) show(next);
    if (random_.chance(50)) add_to_stream(writer_.cast(h, "f32"), size);
  }

  Random random_;
  ModelWriter writer_;
  RandomModel model_;
  bool has_batch_ = false;
  int64_t width_ = 0;
  Value stream_, condition_;
  std::vector<Cache> caches_;
  int shown_ = 0;
};

}  // namespace

CompileOptions RandomModel::options(const std::string& path, bool is_distributed) const {
  CompileOptions options;
  options.model_path = path;
  options.target_cpus = {"x86-64-v3"};
  options.threads = 1;
  options.dims = dims;
  options.states = states;
  if (!is_distributed) return options;
  options.variants = variants;
  options.reorder = reorders;
  options.split = split;
  options.machine_json = machine_json;
  options.places = places;
  options.allow_unmatched = true;
  return options;
}

std::string RandomModel::description() const {
  std::string text;
  const auto option = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) text += "// --" + name + " '" + value + "'\n";
  };
  for (const auto& [name, bound] : dims)
    option("dim", name + "=" + std::to_string(bound.least()) + ".." + std::to_string(bound.max));
  for (const std::string& state : states) option("state", state);
  for (const auto& [input, output] : pairs) text += "// tied: " + input + "=" + output + "\n";
  option("variant", variants.empty() ? "" : "n=1");
  option("split", split);
  option("machine", machine_json);
  for (const std::string& place : places) option("place", place);
  return text + this->text;
}

RandomModel random_model(uint64_t seed) { return Builder(seed).build(); }

}  // namespace scopevm::ranks
