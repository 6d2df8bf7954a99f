// Lowers a graph function to a Program function, op by op; see function_lowering.h.
#include "compiler/kernels/function/function_lowering.h"

#include "compiler/dims/representative.h"
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/parallel/batch_dims.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/graph/rewrite/states.h"
#include "compiler/graph/values/elements.h"
#include "compiler/kernels/function/launch_flops.h"
#include "compiler/placement/place.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::TensorType;

Constant string_constant(mlir::ElementsAttr strings, LoweringContext& context) {
  auto ids = std::make_shared<std::vector<int32_t>>();
  for (llvm::StringRef string : strings.getValues<llvm::StringRef>())
    ids->push_back(context.string_index(string));
  Constant constant{.dtype = DType::kStr,
                    .dims = strings.getShapedType().getShape().vec(),
                    .data = reinterpret_cast<const uint8_t*>(ids->data()),
                    .bytes = static_cast<int64_t>(ids->size() * sizeof(int32_t))};
  constant.owner = std::move(ids);
  return constant;
}

}  // namespace

Status FunctionLowering::run(mlir::func::FuncOp function,
                             const std::map<std::string, DimBound>& dims, const DimBound& any) {
  separate_results(function);
  function_.name = function.getName().str();
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    mlir::Value argument = function.getArgument(i);
    ValueId id = add_value(graph::input_name(argument), argument.getType());
    function_.values[id].origin = ValueOrigin::kInput;
    if (auto value = function.getArgAttrOfType<mlir::ElementsAttr>(i, graph::kDefaultAttribute))
      function_.values[id].constant = add_default(value, function_.values[id]);
    if (auto output = function.getArgAttrOfType<mlir::IntegerAttr>(i, graph::kStateAttribute))
      function_.states.push_back(
          {.input = i,
           .output = static_cast<size_t>(output.getInt()),
           .is_in_place = function.getArgAttr(i, graph::kInPlaceAttribute) != nullptr});
    ids_[argument] = id;
    function_.inputs.push_back(id);
  }
  collect_dimensions(dims, any);
  for (Dimension& dimension : function_.dimensions)
    dimension.batch_obstacle = graph::batch_obstacle(function, dimension.name);
  for (mlir::BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), graph::kInPlaceAttribute))
      fit_capacity(argument);
  if (failed(lower_block(function.getBody().front())))
    return Status(StatusCode::kUnsupported, "no kernel for " +
                                                current_->getName().getStringRef().str() + " \"" +
                                                op_name(current_) + "\"");
  SCOPEVM_RETURN_IF_ERROR(status_);
  for (mlir::Value output : function.getBody().front().getTerminator()->getOperands())
    function_.outputs.push_back(value_of(output));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    function_.output_names.push_back(graph::output_name(function, i));
  store_moved_results();
  program_.functions.push_back(std::move(function_));
  return {};
}

// Places the results of the function that Move steps write, and the values that these steps move,
// in the pool of results ("global"). Values with a required memory scope keep their pool.
void FunctionLowering::store_moved_results() {
  std::set<ValueId> results;
  for (ValueId output : function_.outputs) results.insert(root_of(function_, output));
  for (const Step& step : function_.steps | std::views::reverse) {
    if (!step.is<step::Move>() || !results.contains(root_of(function_, step.results.front())))
      continue;
    results.insert(root_of(function_, step.operands.front()));
    for (ValueId id : {step.operands.front(), step.results.front()})
      if (Value& value = function_.values[root_of(function_, id)];
          value.origin == ValueOrigin::kStep && !value.is_scope_required)
        value.place.pool = program_.machine.global_pool(value.place.device);
  }
}

// --- Values. ------------------------------------------------------------------------------------

ValueId FunctionLowering::value_of(mlir::Value value) {
  if (auto found = ids_.find(value); found != ids_.end()) return found->second;
  if (mlir::ElementsAttr elements = constant_of(value)) {
    ValueId id = add_constant(make_constant(elements, value), constant_pool(value));
    ids_[value] = id;
    return id;
  }
  // A result of the op that is being lowered.
  ValueId id = add_value(op_name(value.getDefiningOp()), value.getType());
  ids_[value] = id;
  return id;
}

mlir::ElementsAttr FunctionLowering::constant_of(mlir::Value value) {
  auto op = value.getDefiningOp<graph::ConstantOp>();
  return op ? op.getValue() : nullptr;
}

bool FunctionLowering::may_pad(mlir::Value constant) {
  return !program_.machine.pools[constant_pool(constant)].limit;
}

ValueId FunctionLowering::intermediate(llvm::StringRef name, DType dtype,
                                       std::vector<DimExpr> shape) {
  const Place place{device_, program_.machine.workspace_pool(device_)};
  return add_value({.name = name.str(), .dtype = dtype, .shape = std::move(shape), .place = place});
}

ValueId FunctionLowering::constant(const std::string& key, mlir::Value source,
                                   llvm::function_ref<Constant()> make) {
  const PoolIndex pool = source ? constant_pool(source) : program_.machine.constant_pool(device_);
  auto [entry, is_new] = constants_by_key_.try_emplace(std::to_string(pool.value) + " " + key);
  if (is_new) entry->second = add_constant(make(), pool);
  return entry->second;
}

int32_t FunctionLowering::string_index(llvm::StringRef string) {
  return constants_.string_index(string);
}

void FunctionLowering::copy(ValueId from, ValueId to) {
  push({.operands = {from}, .results = {to}, .work = step::Copy()});
}

// For a non-CPU device, the device's number of workers replaces the session's thread count, which
// applies to kernels of CPU devices only.
void FunctionLowering::launch(Step step) {
  const Device& device = program_.machine.devices[device_];
  step::Launch& launch = *step.as<step::Launch>();
  const Kernel& made = kernels().kernels()[launch.kernel];
  auto [entry, is_new] =
      kernel_indexes_.try_emplace({device_, launch.kernel}, program_.kernels.next_index());
  if (is_new) {
    program_.kernels.push_back(made);
    // Two devices of one kind can share a kernel module, but a kernel of the program belongs to one
    // device.
    program_.kernels.back().device = device_;
  }
  launch.kernel = entry->second;
  for (Temporary& temporary : launch.temporaries)
    temporary.pool = program_.machine.workspace_pool(device_);
  if (!device.is_host()) {
    auto known = [&](DimExpr e) {
      return e.substitute([&](std::string_view name) {
        return name == kThreadsSymbol ? std::optional(DimExpr(device.workers)) : std::nullopt;
      });
    };
    for (Temporary& temporary : launch.temporaries) {
      temporary.bytes = known(temporary.bytes);
      if (!temporary.per_worker) continue;
      // The planner multiplies a per-worker temporary by the session's thread count, which is wrong
      // for this device. It is replaced by one temporary for all workers.
      temporary.bytes = round_up(temporary.bytes, Pool::kLeastAlignment) * DimExpr(device.workers);
      temporary.per_worker = false;
    }
    for (DimExpr& param : launch.params) param = known(param);
    launch.grid = known(launch.grid);
    launch.grain = known(launch.grain);
  }
  push(std::move(step));
}

// --- Places. ------------------------------------------------------------------------------------

Place FunctionLowering::place_of(mlir::Type type) const {
  const Machine& machine = program_.machine;
  auto tensor = mlir::dyn_cast<TensorType>(type);
  if (!tensor || !tensor.getPlace())
    return {machine.host_device(), machine.workspace_pool(machine.host_device())};
  const graph::PlaceAttr place = tensor.getPlace();
  const DeviceIndex device = machine.find_device(place.getDevice()).value_or(machine.host_device());
  const PoolIndex workspace = machine.workspace_pool(device);
  return {device, place.getScope().empty()
                      ? workspace
                      : machine.find_pool(device, place.getScope()).value_or(workspace)};
}

PoolIndex FunctionLowering::constant_pool(mlir::Value value) const {
  const Place place = place_of(value.getType());
  return graph::has_scope(value.getType()) ? place.pool
                                           : program_.machine.constant_pool(place.device);
}

DeviceIndex FunctionLowering::device_running(mlir::Operation* op) const {
  return placement::device_of(op, program_.machine);
}

ValueId FunctionLowering::add_value(Value value) {
  value.segment = segment_;
  const ValueId id = function_.values.next_index();
  function_.values.push_back(std::move(value));
  return id;
}

ValueId FunctionLowering::add_value(const std::string& name, mlir::Type type) {
  if (mlir::isa<graph::ClosureType>(type))
    return add_value({.name = name,
                      .place = place_of(type),
                      .storage = ValueStorage::kOwn,
                      .kind = ValueKind::kClosure});
  if (auto list = mlir::dyn_cast<graph::ListType>(type)) return add_list(name, list);
  auto tensor = mlir::cast<TensorType>(type);
  return add_value({.name = name,
                    .dtype = tensor.getDtype(),
                    .shape = {tensor.getShape().begin(), tensor.getShape().end()},
                    .place = place_of(type),
                    .is_scope_required = graph::has_scope(type)});
}

ValueId FunctionLowering::add_constant(Constant constant, PoolIndex pool) {
  constant.pool = pool;
  Value value{.name = constant.name,
              .dtype = constant.dtype,
              .shape = {constant.dims.begin(), constant.dims.end()},
              .place = {program_.machine.pools[pool].device, pool},
              .origin = ValueOrigin::kConstant};
  value.constant = constants_.add(std::move(constant));
  return add_value(std::move(value));
}

ConstantIndex FunctionLowering::add_default(mlir::ElementsAttr elements, const Value& input) {
  Constant constant = graph::constant_of_elements(elements, input.dtype);
  constant.name = input.name;
  constant.pool = program_.machine.constant_pool(program_.machine.host_device());
  return constants_.add(std::move(constant));
}

Constant FunctionLowering::make_constant(mlir::ElementsAttr elements, mlir::Value value) {
  auto type = mlir::cast<TensorType>(value.getType());
  Constant constant;
  if (type.getDtype() == DType::kStr)
    constant = string_constant(elements, *this);
  else
    constant = graph::constant_of_elements(elements, type.getDtype());
  constant.name = op_name(value.getDefiningOp());
  return constant;
}

// A parameter of a callee can have runtime-defined symbols. Their minimum is 0.
void FunctionLowering::collect_dimensions(const std::map<std::string, DimBound>& bounds,
                                          const DimBound& any) {
  for (ValueId input : function_.inputs)
    for (DimExpr dim : function_.values[input].shape)
      for (const std::string& name : dim.symbols()) {
        if (!defined_.insert(name).second) continue;
        auto known = bounds.find(name);
        const DimBound& bound = known == bounds.end() ? any : known->second;
        Dimension dimension{.name = name,
                            .min = symbol_kind(name) == SymbolKind::kDimension ? bound.least() : 0,
                            .max = bound.max,
                            .multiple_of = bound.multiple_of};
        dimension.representative =
            representative({dimension.min, dimension.max, dimension.multiple_of});
        function_.dimensions.push_back(dimension);
      }
}

// At the representative dims, the parts that the function inserts into the buffer fit.
void FunctionLowering::fit_capacity(mlir::Value buffer) {
  DimValues known;
  for (const Dimension& dimension : function_.dimensions)
    known[dimension.name] = static_cast<double>(dimension.representative);
  for (mlir::Operation* user : buffer.getUsers())
    if (auto insert = mlir::dyn_cast<graph::InsertSliceOp>(user)) {
      const auto axis = static_cast<int64_t>(insert.getAxis());
      const DimExpr capacity = graph::type_of(buffer).getDim(axis);
      const DimExpr end =
          insert.getStart().getValue().front() + graph::type_of(insert.getPart()).getDim(axis);
      for (Dimension& dimension : function_.dimensions)
        if (capacity == DimExpr::symbol(dimension.name, capacity.facts())) {
          const auto least = static_cast<int64_t>(representative(end, known));
          dimension.representative =
              std::max(dimension.representative, std::min(least, dimension.max));
        }
    }
}

// --- Ops. ---------------------------------------------------------------------------------------

void FunctionLowering::collect_own_checks(mlir::Operation* op) {
  graph::collect_checks(op, segment_, function_.checks);
  if (auto group = mlir::dyn_cast<graph::GroupOp>(op))
    for (mlir::Operation& inner : group.getBody().front())
      graph::collect_checks(&inner, segment_, function_.checks);
}

llvm::LogicalResult FunctionLowering::lower_block(mlir::Block& block) {
  for (mlir::Operation& op : block.without_terminator())
    if (failed(lower_op(&op))) return mlir::failure();
  return mlir::success();
}

llvm::LogicalResult FunctionLowering::lower_op(mlir::Operation* op) {
  current_ = op;
  device_ = device_running(op);
  collect_own_checks(op);
  if (auto slice = mlir::dyn_cast<graph::SliceOp>(op); slice && is_part(slice))
    return lower_part(slice), mlir::success();
  auto lowering = mlir::dyn_cast<graph::LoweringOp>(op);
  if (!lowering) return op->emitOpError("has no lowering");
  const size_t first = function_.steps.size();
  if (failed(lowering.lower(*this))) return mlir::failure();
  set_flops(op, first);
  return mlir::success();
}

// The last launch of an op computes its result; earlier ones prepare operands. Control flow has no
// number of its own: the ops in its blocks have set theirs.
void FunctionLowering::set_flops(mlir::Operation* op, size_t first) {
  const DimExpr flops = launch_flops(op);
  if (flops.is_constant(0)) return;
  for (size_t i = function_.steps.size(); i > first; --i)
    if (auto* launch = function_.steps[i - 1].as<step::Launch>()) {
      launch->flops = flops;
      return;
    }
}

llvm::LogicalResult FunctionLowering::lower(graph::ReshapeOp op) {
  ValueId of = value_of(op.getX());
  ValueId view = add_value(op_name(op), op.getResult().getType());
  function_.values[view].origin = ValueOrigin::kView;
  function_.values[view].view_of = of;
  // A view has the bytes of its source, so it also has the source's place, even if its own type has
  // no place.
  function_.values[view].place = function_.values[of].place;
  ids_[op.getResult()] = view;
  return mlir::success();
}

}  // namespace scopevm::compiler::kernels
