// Ops of the reference that move elements.
#include <algorithm>
#include <numeric>

#include "compiler/graph/graph_ops.h"
#include "mlir/IR/BuiltinTypes.h"
#include "tests/property/reference/reference.h"

namespace scopevm::compiler::property {
namespace {

// Converts an index to [0, size). A negative index counts from the end. Errors: kInvalidArgument
// (out of range, or unknown).
Result<int64_t> checked_index(const Number& index, int64_t size) {
  if (!index.is_known()) return refuse("the value of an index depends on rounding");
  auto value = static_cast<int64_t>(index.value);
  if (value < -size || value >= size) return refuse("an index is out of range");
  return value < 0 ? value + size : value;
}

// Calls checked_index() for all elements of `indices`.
Result<std::vector<int64_t>> checked_indices(const Array& indices, int64_t size) {
  std::vector<int64_t> values;
  for (const Number& index : indices.elements) {
    SCOPEVM_ASSIGN_OR_RETURN(int64_t value, checked_index(index, size));
    values.push_back(value);
  }
  return values;
}

Result<Arrays> transpose(const Operands& in) {
  std::vector<int64_t> permutation = in.integers("permutation"), dims;
  for (int64_t axis : permutation) dims.push_back(in[0].dims[static_cast<size_t>(axis)]);
  return filled(in[0].dtype, dims, [&](const Index& index) {
    Index from(index.size());
    for (size_t i = 0; i < index.size(); ++i) from[static_cast<size_t>(permutation[i])] = index[i];
    return at(in[0], from);
  });
}

Result<Arrays> reshape(const Operands& in) {
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> dims, in.dims("dims"));
  if (count_of(dims) != in[0].count()) return refuse("the number of elements differs");
  for (int64_t dim : dims)
    if (dim < 0) return refuse("a dim is below 0");
  Array result = in[0];
  result.dims = dims;
  return Arrays{std::move(result)};
}

Result<Arrays> expand(const Operands& in) {
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> target, in.dims("dims"));
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> dims, broadcast_of({in[0].dims, target}));
  return filled(in[0].dtype, dims,
                [&](const Index& index) { return broadcast_element(in[0], index); });
}

Result<Arrays> concat(const Operands& in) {
  auto axis = static_cast<size_t>(in.integer("axis"));
  std::vector<int64_t> dims = in[0].dims;
  for (size_t k = 1; k < in.arrays.size(); ++k) {
    for (size_t i = 0; i < dims.size(); ++i)
      if (i != axis && in[k].dims[i] != dims[i]) return refuse("dims differ");
    dims[axis] += in[k].dims[axis];
  }
  return filled(in[0].dtype, dims, [&](Index index) {
    size_t k = 0;
    while (index[axis] >= in[k].dims[axis]) index[axis] -= in[k++].dims[axis];
    return at(in[k], index);
  });
}

Result<Arrays> slice(const Operands& in) {
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> starts, in.dims("starts"));
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, in.dims("sizes"));
  std::vector<int64_t> steps = in.integers("steps");
  auto is_inside = [&](size_t i, int64_t k) {
    int64_t from = starts[i] + k * steps[i];
    return from >= 0 && from < in[0].dims[i];
  };
  for (size_t i = 0; i < starts.size(); ++i)
    if (sizes[i] < 0 || (sizes[i] > 0 && (!is_inside(i, 0) || !is_inside(i, sizes[i] - 1))))
      return refuse("the slice exceeds its operand");
  return filled(in[0].dtype, sizes, [&](Index index) {
    for (size_t i = 0; i < index.size(); ++i) index[i] = starts[i] + index[i] * steps[i];
    return at(in[0], index);
  });
}

Result<Arrays> insert_slice(const Operands& in) {
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> starts, in.dims("start"));
  const auto axis = static_cast<size_t>(in.integer("axis"));
  const int64_t start = starts[0], end = start + in[1].dims[axis];
  if (start < 0 || end > in[0].dims[axis]) return refuse("the part exceeds its operand");
  for (size_t i = 0; i < in[0].dims.size(); ++i)
    if (i != axis && in[0].dims[i] != in[1].dims[i]) return refuse("dims differ");
  return filled(in[0].dtype, in[0].dims, [&](Index index) {
    if (index[axis] < start || index[axis] >= end) return at(in[0], index);
    index[axis] -= start;
    return at(in[1], index);
  });
}

// The source index of position p, which is counted from the first element of the unpadded dim.
// Empty in constant padding.
std::optional<int64_t> padded_source(int64_t p, int64_t size, const std::string& mode) {
  if (p >= 0 && p < size) return p;
  if (mode == "constant") return std::nullopt;
  if (mode == "edge") return p < 0 ? 0 : size - 1;
  while (p < 0 || p >= size) p = p < 0 ? -p : 2 * (size - 1) - p;
  return p;
}

Result<Arrays> pad(const Operands& in) {
  const Array& x = in[0];
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> pads, in.dims("pads"));
  std::string mode = in.text("mode");
  size_t rank = x.dims.size();
  std::vector<int64_t> dims;
  for (size_t i = 0; i < rank; ++i) {
    dims.push_back(x.dims[i] + pads[i] + pads[rank + i]);
    int64_t most = std::max(pads[i], pads[rank + i]);
    if (mode == "reflect" && most >= x.dims[i] && most > 0)
      return refuse("the padding exceeds the dim that it reflects");
    if (mode == "edge" && x.dims[i] == 0 && most > 0) return refuse("the dim has no edge element");
  }
  Number border = in.arrays.size() > 1 ? in[1].elements[0] : Number{0, 0};
  return filled(x.dtype, dims, [&](Index index) {
    for (size_t i = 0; i < rank; ++i) {
      auto from = padded_source(index[i] - pads[i], x.dims[i], mode);
      if (!from) return border;
      index[i] = *from;
    }
    return at(x, index);
  });
}

Result<Arrays> gather(const Operands& in) {
  const Array &x = in[0], &indices = in[1];
  auto axis = in.integer("axis");
  SCOPEVM_ASSIGN_OR_RETURN(auto from, checked_indices(indices, x.dims[static_cast<size_t>(axis)]));
  std::vector<int64_t> dims(x.dims.begin(), x.dims.begin() + axis);
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + axis + 1, x.dims.end());
  return filled(x.dtype, dims, [&](const Index& index) {
    Index which(index.begin() + axis, index.begin() + axis + indices.rank());
    Index source(index.begin(), index.begin() + axis);
    source.push_back(from[static_cast<size_t>(offset_of(indices.dims, which))]);
    source.insert(source.end(), index.begin() + axis + indices.rank(), index.end());
    return at(x, source);
  });
}

Status check_elements_fit(const Array& x, const Array& indices, size_t axis) {
  if (x.rank() != indices.rank()) return refuse("ranks differ");
  for (size_t i = 0; i < x.dims.size(); ++i)
    if (i != axis && indices.dims[i] > x.dims[i]) return refuse("indices exceed their operand");
  return {};
}

Result<Arrays> gather_elements(const Operands& in) {
  auto axis = static_cast<size_t>(in.integer("axis"));
  SCOPEVM_RETURN_IF_ERROR(check_elements_fit(in[0], in[1], axis));
  SCOPEVM_ASSIGN_OR_RETURN(auto from, checked_indices(in[1], in[0].dims[axis]));
  size_t position = 0;
  return filled(in[0].dtype, in[1].dims, [&](Index index) {
    index[axis] = from[position++];
    return at(in[0], index);
  });
}

// The position in `x` that each row of `indices` denotes. The first `batch` dims of `x` and
// `indices` are shared.
Result<std::vector<Index>> checked_tuples(const Array& x, const Array& indices, int64_t batch) {
  int64_t depth = indices.dims.back();
  std::vector<Index> tuples;
  std::vector<int64_t> outer(indices.dims.begin(), indices.dims.end() - 1);
  Status status;
  for_each_index(outer, [&](const Index& index) {
    Index& tuple = tuples.emplace_back(index.begin(), index.begin() + batch);
    Index from = index;
    from.push_back(0);
    for (int64_t k = 0; k < depth && status.ok(); ++k) {
      from.back() = k;
      auto value = checked_index(at(indices, from), x.dims[static_cast<size_t>(batch + k)]);
      if (value.ok())
        tuple.push_back(*value);
      else
        status = value.status();
    }
  });
  if (!status.ok()) return status;
  return tuples;
}

Result<Arrays> gather_nd(const Operands& in) {
  const Array &x = in[0], &indices = in[1];
  int64_t batch = in.integer("batch_dims"), depth = indices.dims.back();
  for (int64_t i = 0; i < batch; ++i)
    if (x.dims[static_cast<size_t>(i)] != indices.dims[static_cast<size_t>(i)])
      return refuse("batch dims differ");
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<Index> tuples, checked_tuples(x, indices, batch));
  std::vector<int64_t> dims(indices.dims.begin(), indices.dims.end() - 1), outer = dims;
  dims.insert(dims.end(), x.dims.begin() + batch + depth, x.dims.end());
  return filled(x.dtype, dims, [&](const Index& index) {
    std::span which(index.data(), outer.size());
    Index source = tuples[static_cast<size_t>(offset_of(outer, which))];
    source.insert(source.end(), index.begin() + static_cast<int64_t>(outer.size()), index.end());
    return at(x, source);
  });
}

// Assigns updates, or combines them by a reduction. Without a reduction, an element with several
// updates is unknown, because their order is not defined.
class Scatter {
 public:
  Scatter(Array x, std::string reduction)
      : x_(std::move(x)), hits_(x_.elements.size(), 0), reduction_(std::move(reduction)) {}

  void update(const Index& target, const Number& value) {
    auto position = static_cast<size_t>(offset_of(x_.dims, target));
    Number& element = x_.elements[position];
    bool is_first = hits_[position]++ == 0;
    if (reduction_ == "none")
      element = is_first ? value : kAnything;
    else
      element = combine(element, value);
  }
  Arrays take() { return {std::move(x_)}; }

 private:
  Number combine(const Number& a, const Number& b) const {
    if (!a.is_known() || !b.is_known()) return kAnything;
    if (std::isnan(a.value) || std::isnan(b.value)) return kAnything;
    double factors = static_cast<double>(std::fabs(a.value)) * b.error +
                     static_cast<double>(std::fabs(b.value)) * a.error + a.error * b.error;
    auto made = [&](long double value, __int128 whole, double error) {
      return is_float(x_.dtype) ? result_of(x_.dtype, value, error) : wrapped(x_.dtype, whole);
    };
    auto left = is_float(x_.dtype) ? __int128{0} : static_cast<__int128>(a.value);
    auto right = is_float(x_.dtype) ? __int128{0} : static_cast<__int128>(b.value);
    if (reduction_ == "add") return made(a.value + b.value, left + right, a.error + b.error);
    if (reduction_ == "mul") return made(a.value * b.value, left * right, factors);
    bool takes_b = reduction_ == "max" ? b.value > a.value : b.value < a.value;
    return {takes_b ? b.value : a.value, std::max(a.error, b.error)};
  }

  Array x_;
  std::vector<int> hits_;
  std::string reduction_;
};

Result<Arrays> scatter_elements(const Operands& in) {
  auto axis = static_cast<size_t>(in.integer("axis"));
  if (in[1].dims != in[2].dims) return refuse("updates have other dims");
  SCOPEVM_RETURN_IF_ERROR(check_elements_fit(in[0], in[1], axis));
  SCOPEVM_ASSIGN_OR_RETURN(auto to, checked_indices(in[1], in[0].dims[axis]));
  Scatter scatter(in[0], in.text("reduction"));
  size_t position = 0;
  for_each_index(in[1].dims, [&](Index index) {
    index[axis] = to[position];
    scatter.update(index, in[2].elements[position++]);
  });
  return scatter.take();
}

Result<Arrays> scatter_nd(const Operands& in) {
  const Array &x = in[0], &indices = in[1], &updates = in[2];
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<Index> tuples, checked_tuples(x, indices, 0));
  std::vector<int64_t> dims(indices.dims.begin(), indices.dims.end() - 1), outer = dims;
  dims.insert(dims.end(), x.dims.begin() + indices.dims.back(), x.dims.end());
  if (updates.dims != dims) return refuse("updates have other dims");
  Scatter scatter(x, in.text("reduction"));
  size_t position = 0;
  for_each_index(dims, [&](const Index& index) {
    std::span which(index.data(), outer.size());
    Index target = tuples[static_cast<size_t>(offset_of(outer, which))];
    target.insert(target.end(), index.begin() + static_cast<int64_t>(outer.size()), index.end());
    scatter.update(target, updates.elements[position++]);
  });
  return scatter.take();
}

Result<Arrays> tile(const Operands& in) {
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> repeats, in.dims("repeats"));
  std::vector<int64_t> dims;
  for (size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0) return refuse("a negative repeat");
    dims.push_back(in[0].dims[i] * repeats[i]);
  }
  return filled(in[0].dtype, dims, [&](Index index) {
    for (size_t i = 0; i < index.size(); ++i) index[i] %= in[0].dims[i];
    return at(in[0], index);
  });
}

Result<Arrays> one_hot(const Operands& in) {
  const Array &indices = in[0], &values = in[1];
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> depth, in.dims("depth"));
  int64_t axis = in.integer("axis");
  std::vector<int64_t> dims = indices.dims;
  dims.insert(dims.begin() + axis, depth[0]);
  return filled(values.dtype, dims, [&](Index index) {
    int64_t place = index[static_cast<size_t>(axis)];
    index.erase(index.begin() + axis);
    const Number& chosen = at(indices, index);
    if (!chosen.is_known()) return kAnything;
    auto value = static_cast<int64_t>(chosen.value);
    if (value < 0) value += depth[0];
    return values.elements[value == place ? 1 : 0];
  });
}

Result<Arrays> trilu(const Operands& in) {
  const Array& x = in[0];
  if (x.rank() < 2) return refuse("a triangle needs two dims");
  int64_t k = in.integer("k");
  bool upper = in.flag("upper");
  return filled(x.dtype, x.dims, [&](const Index& index) {
    int64_t diagonal = index[index.size() - 1] - index[index.size() - 2];
    return (upper ? diagonal >= k : diagonal <= k) ? at(x, index) : Number{0, 0};
  });
}

// The first k elements of a line after a stable sort, and their indices. An index is unknown if
// rounding can change the order. If the line contains a NaN or an unknown element, all results are
// unknown.
void top_of_line(const std::vector<Number>& line, int64_t k, bool largest,
                 std::vector<Number>& values, std::vector<Number>& indices) {
  std::vector<size_t> order(line.size());
  std::iota(order.begin(), order.end(), size_t{0});
  bool is_ordered = std::none_of(line.begin(), line.end(), [](const Number& n) {
    return !n.is_known() || std::isnan(n.value);
  });
  if (is_ordered)
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return largest ? line[a].value > line[b].value : line[a].value < line[b].value;
    });
  double error = 0;
  for (const Number& n : line) error = std::max(error, n.error);
  auto is_apart = [&](size_t i, size_t j) {
    const Number &a = line[order[i]], &b = line[order[j]];
    return (a.is_exact() && b.is_exact()) || std::fabs(a.value - b.value) > 2 * error;
  };
  for (size_t i = 0; i < static_cast<size_t>(k); ++i) {
    bool is_sure = is_ordered && (i == 0 || is_apart(i, i - 1)) &&
                   (i + 1 == line.size() || is_apart(i, i + 1));
    values.push_back(is_ordered ? Number{line[order[i]].value, error} : kAnything);
    if (is_sure) values.back() = line[order[i]];
    indices.push_back(is_sure ? Number{static_cast<long double>(order[i]), 0} : kAnything);
  }
}

Result<Arrays> top_k(const Operands& in) {
  const Array& x = in[0];
  auto axis = static_cast<size_t>(in.integer("axis"));
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> k, in.dims("k"));
  if (k[0] < 0 || k[0] > x.dims[axis]) return refuse("k exceeds the dim");
  std::vector<int64_t> dims = x.dims, starts = x.dims;
  dims[axis] = k[0];
  starts[axis] = 1;
  Array values = make_array(x.dtype, dims), indices = make_array(DType::kI64, dims);
  for_each_index(starts, [&](Index index) {
    std::vector<Number> line, best, places;
    for (index[axis] = 0; index[axis] < x.dims[axis]; ++index[axis]) line.push_back(at(x, index));
    top_of_line(line, k[0], in.flag("largest"), best, places);
    for (index[axis] = 0; index[axis] < k[0]; ++index[axis]) {
      auto to = static_cast<size_t>(offset_of(dims, index));
      values.elements[to] = best[static_cast<size_t>(index[axis])];
      indices.elements[to] = places[static_cast<size_t>(index[axis])];
    }
  });
  return Arrays{std::move(values), std::move(indices)};
}

}  // namespace

std::optional<Result<Arrays>> evaluate_layout(llvm::StringRef name, const Operands& in) {
  using Function = Result<Arrays> (*)(const Operands&);
  static const std::map<std::string, Function, std::less<>> kFunctions = {
      {"transpose", transpose},   {"reshape", reshape},
      {"expand", expand},         {"concat", concat},
      {"slice", slice},           {"pad", pad},
      {"gather", gather},         {"gather_elements", gather_elements},
      {"gather_nd", gather_nd},   {"scatter_elements", scatter_elements},
      {"scatter_nd", scatter_nd}, {"tile", tile},
      {"one_hot", one_hot},       {"trilu", trilu},
      {"top_k", top_k},           {"insert_slice", insert_slice},
  };
  auto found = kFunctions.find(std::string_view(name.data(), name.size()));
  if (found == kFunctions.end()) return std::nullopt;
  return found->second(in);
}

}  // namespace scopevm::compiler::property
