// Prepares weights; see weight.h.
#include "plugins/dnnl/run/weight.h"

#include <string>

#include "plugins/dnnl/run/layout.h"
#include "plugins/dnnl/run/plan.h"

namespace scopevm::onednn {
namespace {

using dnnl::memory;

// The type of w as the model contains it.
memory::desc original_weight(const Layer& layer, const MatMulDims& d) {
  const Dims w = d.of(d.k, d.n);
  return layer.transpose_w ? transposed(w) : plain(w);
}
memory::desc original_weight(const Layer& layer, const WindowDims& d) {
  return plain(weight_dims(layer, d));
}

template <typename LayerDims>
Result<memory::desc> given(const Layer& layer, const LayerDims& dims) {
  const memory::desc original = original_weight(layer, dims);
  if (!layer.prepared) return original;
  const auto type = type_in(layer.prepared->layout, original.dims());
  if (!type || static_cast<int64_t>(type->get_size()) != layer.prepared->bytes)
    return Status(StatusCode::kInvalidArgument,
                  "description: the prepared weight has the layout \"" + layer.prepared->layout +
                      "\" in " + std::to_string(layer.prepared->bytes) + " bytes");
  return *type;
}

// Calls `body` with representative dims of a run. Unknown numbers of rows, of images and of pixels
// are those of small requests of public models.
template <typename Body>
Status with_sample(const Layer& layer, const Description& description, Body body) {
  constexpr int64_t kRows = 128, kImages = 1, kPixels = 56;
  const std::vector<std::string>& x = description.type(layer.x).dims;
  const std::vector<int64_t>& w = layer.w_dims;
  if (layer.kind == Layer::Kind::kMatMul) {
    const bool is_transposed = layer.transpose_w;
    return body(MatMulDims{1, kRows, w[is_transposed ? 1 : 0], w[is_transposed ? 0 : 1]});
  }
  Dims dims = {known_dim(x[0]).value_or(kImages), w[1] * layer.group};
  for (size_t i = 2; i < x.size(); ++i) dims.push_back(known_dim(x[i]).value_or(kPixels));
  SCOPEVM_ASSIGN_OR_RETURN(const WindowDims sample, window_dims(layer, dims, w));
  return body(sample);
}

dnnl::engine cpu() { return {dnnl::engine::kind::cpu, 0}; }

}  // namespace

Result<memory::desc> given_weight(const Layer& layer, const MatMulDims& dims) {
  return given(layer, dims);
}
Result<memory::desc> given_weight(const Layer& layer, const WindowDims& dims) {
  return given(layer, dims);
}

std::optional<Prepared> choose_prepared(const Layer& layer, const Description& description) {
  const bool is_batch_of_matrices =
      layer.kind == Layer::Kind::kMatMul && layer.operand_ranks[layer.w] > 2;
  if (layer.w_dims.empty() || is_batch_of_matrices) return std::nullopt;
  std::optional<Prepared> chosen;
  const Status status = with_sample(layer, description, [&](const auto& dims) -> Status {
    const memory::desc type = Plan::preferred_weight(cpu(), layer, dims);
    if (type.is_zero() || type == original_weight(layer, dims)) return {};
    if (std::string layout = layout_of(type); !layout.empty())
      chosen = {static_cast<int64_t>(type.get_size()), std::move(layout)};
    return {};
  });
  // Dims that do not fit the layer are errors of the run.
  return status.ok() ? chosen : std::nullopt;
}

Status prepare_weight(const Layer& layer, const Description& description, const DLTensor& value,
                      void* prepared) {
  return with_sample(layer, description, [&](const auto& dims) -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const memory::desc type, given_weight(layer, dims));
    const dnnl::engine engine = cpu();
    memory from(original_weight(layer, dims), engine,
                static_cast<char*>(value.data) + value.byte_offset);
    memory to(type, engine, prepared);
    dnnl::stream stream(engine);
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
    return {};
  });
}

}  // namespace scopevm::onednn
