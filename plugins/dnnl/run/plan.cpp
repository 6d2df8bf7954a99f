// Builds and runs plans; see plan.h.
#include "plugins/dnnl/run/plan.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "plugins/dnnl/run/layout.h"
#include "plugins/dnnl/run/shapes.h"
#include "plugins/dnnl/run/weight.h"

namespace scopevm::onednn {

using dnnl::memory;

namespace {

// oneDNN chooses the layout.
memory::desc any(const Dims& dims) {
  return {dims, memory::data_type::f32, memory::format_tag::any};
}

Dims join(Dims dims, const Dims& more) {
  dims.insert(dims.end(), more.begin(), more.end());
  return dims;
}

// False for implementations that allocate memory while they run, in their packed matrix product,
// and for those in SSE 4.1: `jit_dw:sse41` of oneDNN 2.6.3 can crash when it is chosen explicitly.
bool is_usable(std::string_view implementation) {
  return !implementation.starts_with("gemm:") &&
         implementation.find(":gemm:") == std::string_view::npos &&
         implementation.find("sse41") == std::string_view::npos;
}

}  // namespace

class PlanBuilder {
 public:
  PlanBuilder(const dnnl::engine& engine, const Layer& layer, int64_t workspace_bytes)
      : engine_(engine), layer_(layer), workspace_bytes_(workspace_bytes) {
    attributes_.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    dnnl::post_ops post_ops;
    if (layer.epilogue.residual) post_ops.append_sum(1);
    for (const Activation& a : layer.epilogue.activations)
      post_ops.append_eltwise(1, a.algorithm, a.alpha, a.beta);
    attributes_.set_post_ops(post_ops);
  }

  // The type that oneDNN prefers for w; of no dims if it has no implementation.
  memory::desc preferred_weight(const MatMulDims& d) {
    return preferred_weight<dnnl::matmul>(dnnl::matmul::desc(
        plain(d.of(d.m, d.k)), any(d.of(d.k, d.n)), matmul_bias(d), plain(d.of(d.m, d.n))));
  }

  memory::desc preferred_weight(const WindowDims& d) {
    return preferred_weight<dnnl::convolution_forward>(convolution(
        d, {any(join({d.n, d.c}, d.in)), any(weight_dims(layer_, d)),
            layer_.epilogue.bias ? plain({d.m}) : memory::desc(), any(join({d.n, d.m}, d.out))}));
  }

  Result<Plan> build_matmul(const MatMulDims& d) {
    const memory::desc x = plain(d.of(d.m, d.k)), y = plain(d.of(d.m, d.n));
    const memory::desc given_x = layer_.transpose_x ? transposed(d.of(d.m, d.k)) : x;
    SCOPEVM_ASSIGN_OR_RETURN(const memory::desc w, given_weight(layer_, d));
    const memory::desc bias = matmul_bias(d);
    return first_fit<dnnl::matmul>(dnnl::matmul::desc(x, w, bias, y), {given_x, w, bias, y});
  }

  Result<Plan> build_convolution(const WindowDims& d) {
    const Dims x = join({d.n, d.c}, d.in), y = join({d.n, d.m}, d.out);
    SCOPEVM_ASSIGN_OR_RETURN(const memory::desc w, given_weight(layer_, d));
    const memory::desc bias = layer_.epilogue.bias ? plain({d.m}) : memory::desc();
    const Types given = {plain(x), w, bias, plain(y)};
    const memory::desc w_type = layer_.prepared ? w : any(weight_dims(layer_, d));
    Result<Plan> plan =
        first_fit<dnnl::convolution_forward>(convolution(d, {any(x), w_type, bias, any(y)}), given);
    if (plan.ok()) return plan;
    // The reference implementation needs no workspace in these layouts.
    return first_fit<dnnl::convolution_forward>(convolution(d, given), given);
  }

  Result<Plan> build_pool(const WindowDims& d) {
    dnnl::algorithm algorithm = dnnl::algorithm::pooling_max;
    if (layer_.kind == Layer::Kind::kAveragePool)
      algorithm = layer_.count_pads ? dnnl::algorithm::pooling_avg_include_padding
                                    : dnnl::algorithm::pooling_avg_exclude_padding;
    const Types given = {plain(join({d.n, d.c}, d.in)), {}, {}, plain(join({d.n, d.m}, d.out))};
    const dnnl::pooling_forward::desc operation(dnnl::prop_kind::forward_inference, algorithm,
                                                given.x, given.y, d.strides, d.kernel,
                                                d.pads_before, d.pads_after);
    return first_fit<dnnl::pooling_forward>(operation, given);
  }

 private:
  using Buffer = Plan::Buffer;
  using Place = Plan::Place;

  // The types of the operands and the result. A type of no dims is that of an absent operand.
  struct Types {
    memory::desc x, w, bias, y;
  };

  memory::desc matmul_bias(const MatMulDims& d) const {
    if (!layer_.epilogue.bias) return {};
    return plain(d.batch == 1 ? Dims{1, d.n} : Dims{1, 1, d.n});
  }

  static dnnl::convolution_forward::desc convolution(const WindowDims& d, const Types& types) {
    return {dnnl::prop_kind::forward_inference,
            dnnl::algorithm::convolution_direct,
            types.x,
            types.w,
            types.bias,
            types.y,
            d.strides,
            d.dilations,
            d.pads_before,
            d.pads_after};
  }

  template <typename Primitive, typename Operation>
  memory::desc preferred_weight(const Operation& operation) {
    typename Primitive::primitive_desc chosen(operation, attributes_, engine_,
                                              /*allow_empty=*/true);
    if (!chosen) return {};
    do {
      if (is_usable(chosen.impl_info_str())) return chosen.query_md(dnnl::query::weights_md);
    } while (chosen.next_impl());
    return {};
  }

  // A plan with the first implementation of `operation` that needs no more than the workspace.
  // oneDNN orders implementations from the fastest to the reference.
  template <typename Primitive, typename Operation>
  Result<Plan> first_fit(const Operation& operation, const Types& given) {
    typename Primitive::primitive_desc chosen(operation, attributes_, engine_,
                                              /*allow_empty=*/true);
    if (!chosen) return none();
    do {
      if (!is_usable(chosen.impl_info_str())) continue;
      Types required{chosen.src_desc(), {}, given.bias, chosen.dst_desc()};
      if (!given.w.is_zero()) required.w = chosen.query_md(dnnl::query::weights_md);
      if (auto plan = assemble<Primitive>(chosen, given, required)) return std::move(*plan);
    } while (chosen.next_impl());
    return none();
  }

  static Status none() {
    return {StatusCode::kUnsupported, "oneDNN has no implementation that fits the workspace"};
  }

  // Empty if the plan needs more than the workspace.
  template <typename Primitive>
  std::optional<Plan> assemble(const typename Primitive::primitive_desc& chosen, const Types& given,
                               const Types& required) {
    plan_ = Plan();
    workspace_ = scratchpad_ = 0;
    const Buffer x = convert(given.x, required.x, {Place::kOperand, operand(layer_.x)});
    std::vector<Plan::Argument> arguments = {{DNNL_ARG_SRC, required.x, x}};
    if (!given.w.is_zero()) {
      const Buffer w = convert(given.w, required.w, {Place::kOperand, operand(layer_.w)});
      arguments.push_back({DNNL_ARG_WEIGHTS, required.w, w});
    }
    if (layer_.epilogue.bias)
      arguments.push_back(
          {DNNL_ARG_BIAS, given.bias, {Place::kOperand, operand(*layer_.epilogue.bias)}});
    const Buffer result = {Place::kResult, 0};
    const Buffer y = required.y == given.y ? result : allocate(required.y);
    // The sum of the epilogue adds the product to the elements of its result.
    if (layer_.epilogue.residual)
      reorder(given.y, {Place::kOperand, operand(*layer_.epilogue.residual)}, required.y, y);
    arguments.push_back({DNNL_ARG_DST, required.y, y});
    add_step(Primitive(chosen), std::move(arguments), chosen.scratchpad_desc());
    if (required.y != given.y) reorder(required.y, y, given.y, result);
    if (workspace_ + scratchpad_ > workspace_bytes_) return std::nullopt;
    for (Plan::Step& step : plan_.steps_) step.arguments.back().buffer.index = workspace_;
    return std::move(plan_);
  }

  static int64_t operand(size_t index) { return static_cast<int64_t>(index); }

  // The buffer of an operand in the layout `to`: a copy if that differs from `from`.
  Buffer convert(const memory::desc& from, const memory::desc& to, Buffer given) {
    if (from == to) return given;
    const Buffer copy = allocate(to);
    reorder(from, given, to, copy);
    return copy;
  }

  static int64_t aligned(size_t bytes) {
    constexpr int64_t kAlignment = 64;
    return (static_cast<int64_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
  }

  Buffer allocate(const memory::desc& type) {
    return {Place::kWorkspace, std::exchange(workspace_, workspace_ + aligned(type.get_size()))};
  }

  void reorder(const memory::desc& from, Buffer source, const memory::desc& to, Buffer target) {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::reorder::primitive_desc chosen(engine_, from, engine_, to, attributes);
    add_step(dnnl::reorder(chosen), {{DNNL_ARG_FROM, from, source}, {DNNL_ARG_TO, to, target}},
             chosen.scratchpad_desc());
  }

  // The scratchpad is the last argument. All steps use the same bytes, after the other buffers.
  void add_step(dnnl::primitive primitive, std::vector<Plan::Argument> arguments,
                const memory::desc& scratchpad) {
    scratchpad_ = std::max(scratchpad_, aligned(scratchpad.get_size()));
    arguments.push_back({DNNL_ARG_SCRATCHPAD, scratchpad, {Place::kWorkspace, 0}});
    plan_.steps_.push_back({std::move(primitive), std::move(arguments)});
  }

  const dnnl::engine& engine_;
  const Layer& layer_;
  const int64_t workspace_bytes_;
  dnnl::primitive_attr attributes_;
  Plan plan_;
  int64_t workspace_ = 0;   // bytes of the buffers
  int64_t scratchpad_ = 0;  // bytes of the largest scratchpad
};

memory::desc Plan::preferred_weight(const dnnl::engine& engine, const Layer& layer,
                                    const MatMulDims& dims) {
  return PlanBuilder(engine, layer, 0).preferred_weight(dims);
}
memory::desc Plan::preferred_weight(const dnnl::engine& engine, const Layer& layer,
                                    const WindowDims& dims) {
  return PlanBuilder(engine, layer, 0).preferred_weight(dims);
}

Result<Plan> Plan::create(const dnnl::engine& engine, const Layer& layer,
                          const scopevm_external_run& run) {
  PlanBuilder builder(engine, layer, run.workspace_bytes);
  if (layer.kind == Layer::Kind::kMatMul) {
    SCOPEVM_ASSIGN_OR_RETURN(const MatMulDims dims, matmul_dims(layer, run));
    return builder.build_matmul(dims);
  }
  SCOPEVM_ASSIGN_OR_RETURN(const WindowDims dims, window_dims(layer, run));
  return layer.is_pool() ? builder.build_pool(dims) : builder.build_convolution(dims);
}

void Plan::run(const dnnl::engine& engine, const scopevm_external_run& run) const {
  auto address_of = [&](const Buffer& buffer) -> void* {
    if (buffer.place == Place::kWorkspace) return static_cast<char*>(run.workspace) + buffer.index;
    const DLTensor& tensor =
        buffer.place == Place::kResult ? run.results[0] : run.operands[buffer.index];
    return static_cast<char*>(tensor.data) + tensor.byte_offset;
  };
  constexpr size_t kMaxArguments = 5;
  dnnl::stream stream(engine);
  for (const Step& step : steps_) {
    std::array<memory, kMaxArguments> memories;
    std::array<dnnl_exec_arg_t, kMaxArguments> arguments;
    for (size_t i = 0; i < step.arguments.size(); ++i) {
      const Argument& argument = step.arguments[i];
      memories[i] = memory(argument.type, engine, address_of(argument.buffer));
      arguments[i] = {argument.id, memories[i].get()};
    }
    dnnl::error::wrap_c_api(
        dnnl_primitive_execute(step.primitive.get(), stream.get(),
                               static_cast<int>(step.arguments.size()), arguments.data()),
        "oneDNN failed to execute a primitive");
  }
  stream.wait();
}

}  // namespace scopevm::onednn
