// Checks what oneDNN can compute; see layer.h. The measurements are those of oneDNN 2.6.3.
#include "plugins/dnnl/graph/layer.h"

#include <algorithm>
#include <string>

namespace scopevm::onednn {
namespace {

Status unsupported(const std::string& what) { return {StatusCode::kUnsupported, what}; }

Status invalid(const Op& op, const std::string& what) {
  return {StatusCode::kInvalidArgument, "description: op \"" + op.name + "\": " + what};
}

// The batch dims of a matrix operand: all but the last two.
std::vector<std::string> batch_of(const Type& type) {
  return {type.dims.begin(), type.dims.end() - 2};
}

Status parse_matmul(const Op& op, const Description& description, Layer& layer) {
  const Type& a = description.type(layer.x);
  const Type& b = description.type(layer.w);
  layer.kind = Layer::Kind::kMatMul;
  SCOPEVM_ASSIGN_OR_RETURN(layer.transpose_x, bool_attribute(op, "transpose_a"));
  SCOPEVM_ASSIGN_OR_RETURN(layer.transpose_w, bool_attribute(op, "transpose_b"));
  if (a.rank() < 2 || b.rank() < 2) return unsupported("an operand of the product is a vector");
  if (b.rank() == 2) {
    if (layer.transpose_x && a.rank() > 2)
      return unsupported("a batch of transposed matrices times one matrix");
  } else if (batch_of(a) != batch_of(b)) {
    return unsupported("the batch dims of the operands differ: " + text_of(a.dims) + " and " +
                       text_of(b.dims));
  }
  return parse_epilogue(description, static_cast<size_t>(&op - description.ops.data()),
                        op.type.rank() - 1, layer.epilogue);
}

constexpr int64_t kMaxWindow = int64_t{1} << 20;  // the limit of the graph dialect

Status check_window(const Op& op, size_t spatial, const char* name,
                    const std::vector<int64_t>& values, size_t per_axis, int64_t least) {
  if (values.size() != spatial * per_axis)
    return invalid(op, "\"" + std::string(name) + "\" has " + std::to_string(values.size()) +
                           " entries, expected " + std::to_string(spatial * per_axis));
  for (int64_t value : values)
    if (value < least || value > kMaxWindow)
      return invalid(op, "\"" + std::string(name) + "\" has the entry " + std::to_string(value));
  return {};
}

Status parse_window(const Op& op, const Type& x, Window& window) {
  if (x.rank() < 3 || x.rank() > 5)
    return unsupported("windows over " + text_of(x.dims) + ", expected 1 to 3 spatial dims");
  const size_t spatial = x.rank() - 2;
  SCOPEVM_ASSIGN_OR_RETURN(window.strides, list_attribute(op, "strides"));
  SCOPEVM_ASSIGN_OR_RETURN(window.pads, list_attribute(op, "pads"));
  SCOPEVM_ASSIGN_OR_RETURN(window.dilations, list_attribute(op, "dilations"));
  SCOPEVM_RETURN_IF_ERROR(check_window(op, spatial, "strides", window.strides, 1, 1));
  SCOPEVM_RETURN_IF_ERROR(check_window(op, spatial, "pads", window.pads, 2, 0));
  SCOPEVM_RETURN_IF_ERROR(check_window(op, spatial, "dilations", window.dilations, 1, 1));
  return {};
}

// The implementations of grouped convolutions work on blocks of 16 channels, and those of
// depthwise convolutions on one or two spatial dims. All others run the reference implementation.
Status check_group(const Layer& layer, const Type& w) {
  constexpr int64_t kBlock = 16;
  if (layer.group == 1) return {};
  const std::string group = std::to_string(layer.group);
  const int64_t m = known_dim(w.dims[0]).value_or(0);
  const int64_t c = known_dim(w.dims[1]).value_or(0);
  if (m == layer.group && c == 1) {
    if (layer.window.rank() < 3) return {};
    return unsupported("depthwise convolution with 3 spatial dims");
  }
  if (m > 0 && c > 0 && m % (layer.group * kBlock) == 0 && c % kBlock == 0) return {};
  return unsupported("convolution of " + group + " groups with weight " + text_of(w.dims) +
                     ": the channels of a group are not a multiple of 16");
}

Status parse_convolution(const Op& op, const Description& description, Layer& layer) {
  const Type& x = description.type(layer.x);
  const Type& w = description.type(layer.w);
  layer.kind = Layer::Kind::kConvolution;
  SCOPEVM_RETURN_IF_ERROR(parse_window(op, x, layer.window));
  SCOPEVM_ASSIGN_OR_RETURN(layer.group, integer_attribute(op, "group"));
  if (layer.group < 1 || layer.group > kMaxWindow)
    return invalid(op, "\"group\" is " + std::to_string(layer.group));
  if (w.rank() != x.rank()) return invalid(op, "the ranks of its operands differ");
  SCOPEVM_RETURN_IF_ERROR(check_group(layer, w));
  if (op.operands.size() == 3) layer.epilogue.bias = op.operands[2];
  return parse_epilogue(description, static_cast<size_t>(&op - description.ops.data()), 1,
                        layer.epilogue);
}

Status parse_pool(const Op& op, const Description& description, Layer& layer) {
  Window& window = layer.window;
  SCOPEVM_RETURN_IF_ERROR(parse_window(op, description.type(layer.x), window));
  SCOPEVM_ASSIGN_OR_RETURN(window.kernel, list_attribute(op, "kernel"));
  SCOPEVM_RETURN_IF_ERROR(check_window(op, window.rank(), "kernel", window.kernel, 1, 1));
  SCOPEVM_ASSIGN_OR_RETURN(window.ceil_mode, bool_attribute(op, "ceil_mode"));
  layer.kind = op.name == "max_pool" ? Layer::Kind::kMaxPool : Layer::Kind::kAveragePool;
  if (layer.kind == Layer::Kind::kAveragePool) {
    SCOPEVM_ASSIGN_OR_RETURN(layer.count_pads, bool_attribute(op, "count_pads"));
  }
  if (std::any_of(window.dilations.begin(), window.dilations.end(),
                  [](int64_t dilation) { return dilation != 1; }))
    return unsupported("pooling with dilations");
  for (size_t i = 0; i < window.pads.size(); ++i)
    if (window.pads[i] >= window.kernel[i % window.rank()])
      return unsupported("pooling with windows that can be entirely padding");
  // oneDNN would count the elements after the padding, in the last window, as well.
  if (window.ceil_mode && layer.count_pads)
    return unsupported("average_pool with both ceil_mode and count_pads");
  if (description.ops.size() > 1 || description.results[0] != description.operands.size())
    return unsupported("pooling with an epilogue");
  return {};
}

Status check_types(const Description& description) {
  const size_t values = description.operands.size() + description.ops.size();
  for (size_t value = 0; value < values; ++value)
    if (description.type(value).dtype != "f32")
      return unsupported("a value of element type " + description.type(value).dtype +
                         ", expected f32");
  return {};
}

// Only w is prepared, and only if one matrix or convolution kernel is used for the whole batch.
Status parse_constants(const Description& description, Layer& layer) {
  for (size_t i = 0; i < description.operands.size(); ++i)
    if (description.operands[i].prepared && (i != layer.w || layer.is_pool()))
      return unsupported("a prepared operand " + std::to_string(i));
  const Operand& w = description.operands[layer.w];
  if (layer.is_pool() || !w.is_constant) return {};
  int64_t count = 1;
  for (const std::string& text : w.dims) {
    const auto dim = known_dim(text);
    constexpr int64_t kMostElements = int64_t{1} << 40;
    if (!dim || *dim < 1 || *dim > kMostElements / count) {
      layer.w_dims.clear();
      break;
    }
    count *= *dim;
    layer.w_dims.push_back(*dim);
  }
  if (w.prepared && layer.w_dims.empty()) return unsupported("a prepared weight without elements");
  layer.prepared = w.prepared;
  return {};
}

// The op that computes the layer: the first one that is not a constant.
Result<const Op*> main_op(const Description& description) {
  auto main = std::find_if(description.ops.begin(), description.ops.end(),
                           [](const Op& op) { return op.name != "constant"; });
  if (main == description.ops.end()) return unsupported("a function without ops");
  for (size_t operand : main->operands)
    if (operand >= description.operands.size())
      return unsupported("op \"" + main->name + "\" of a constant");
  return &*main;
}

struct OpRow {
  const char* name;
  size_t least_operands, most_operands;
  Status (*parse)(const Op&, const Description&, Layer&);
};
constexpr OpRow kOps[] = {{"matmul", 2, 2, parse_matmul},
                          {"conv", 2, 3, parse_convolution},
                          {"max_pool", 1, 1, parse_pool},
                          {"average_pool", 1, 1, parse_pool}};

}  // namespace

std::optional<int64_t> known_dim(const std::string& dim) {
  constexpr size_t kMostDigits = 9;
  const bool is_number = dim.find_first_not_of("0123456789") == std::string::npos;
  return is_number && dim.size() <= kMostDigits ? std::optional(std::stoll(dim)) : std::nullopt;
}

Result<Layer> parse_layer(const Description& description) {
  SCOPEVM_RETURN_IF_ERROR(check_types(description));
  SCOPEVM_ASSIGN_OR_RETURN(const Op* main, main_op(description));
  const auto* row = std::find_if(std::begin(kOps), std::end(kOps),
                                 [&](const OpRow& r) { return main->name == r.name; });
  if (row == std::end(kOps)) return unsupported("op \"" + main->name + "\"");
  const size_t count = main->operands.size();
  if (count < row->least_operands || count > row->most_operands)
    return invalid(*main, "it has " + std::to_string(count) + " operands");
  if (description.results.size() != 1) return unsupported("a function with several results");
  Layer layer;
  layer.x = main->operands[0];
  layer.w = count > 1 ? main->operands[1] : layer.x;
  for (const Type& operand : description.operands) layer.operand_ranks.push_back(operand.rank());
  layer.result_rank = main->type.rank();
  if (layer.result_rank != layer.operand_ranks[layer.x])
    return unsupported("op \"" + main->name + "\": the ranks of its result and operand differ");
  SCOPEVM_RETURN_IF_ERROR(row->parse(*main, description, layer));
  SCOPEVM_RETURN_IF_ERROR(parse_constants(description, layer));
  return layer;
}

}  // namespace scopevm::onednn
