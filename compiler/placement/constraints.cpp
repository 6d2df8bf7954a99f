// Reads a graph into a Problem; see constraints.h. Every op is a task, and so are parameters,
// results, and what a branch or a loop hands on: a joint, whose value lies in one place whichever
// way it came.
#include "compiler/placement/constraints.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/graph/op_name.h"
#include "llvm/Support/GlobPattern.h"

namespace scopevm::placement {
namespace {

using graph::TensorType;

// Dims are taken for this many where nothing is known; plans are made for the same.
constexpr int64_t kRepresentativeDim = 64;

// A call counts as this many copies of its body where the trip count is data's.
constexpr double kUnknownTrips = 16;

double representative(DimExpr e) {
  std::optional<int64_t> value = e.evaluate([](std::string_view) { return kRepresentativeDim; });
  return value ? static_cast<double>(std::max<int64_t>(*value, 0)) : 0;
}

TensorType tensor_of(mlir::Value value) { return mlir::dyn_cast<TensorType>(value.getType()); }

class ConstraintReader {
 public:
  ConstraintReader(mlir::ModuleOp module, const Machine& machine, const std::vector<Rule>& rules)
      : module_(module), machine_(machine), rules_(rules) {
    graph_.problem.machine = &machine;
    graph_.matched.assign(rules.size(), false);
  }

  Result<GraphProblem> run() {
    SCOPEVM_RETURN_IF_ERROR(read_rules());
    for (auto function : module_.getOps<mlir::func::FuncOp>()) add_parameters(function);
    for (auto function : module_.getOps<mlir::func::FuncOp>())
      if (!function.isExternal()) read(function);
    apply_stores();
    for (const Ruled& ruled : ruled_) apply_rules(ruled);
    place_results();
    SCOPEVM_RETURN_IF_ERROR(status_);
    for (const View& view : views_) keep_in_place(view);
    return std::move(graph_);
  }

 private:
  // --- Tasks and what they must. ---

  int new_task(std::string name, mlir::Operation* op = nullptr) {
    Task task{.preferred = machine_.default_device};
    for (size_t d = 0; d < machine_.devices.size(); ++d)
      task.devices.push_back(static_cast<int>(d));
    graph_.problem.tasks.push_back(std::move(task));
    graph_.tasks.push_back({std::move(name), op, std::nullopt});
    return static_cast<int>(graph_.tasks.size() - 1);
  }

  void demand(int task, Demand wanted) {
    TaskRecord& record = graph_.tasks[task];
    if (record.demand && record.demand->place.device != wanted.place.device)
      return fail(wanted.where, record.name + " is placed on " + device_name(wanted.place.device) +
                                    " by " + wanted.why + ", and on " +
                                    device_name(record.demand->place.device) + " by " +
                                    text(*record.demand));
    if (record.demand) return;
    if (!may_be(task, wanted.place.device))
      return fail(wanted.where, record.name + " cannot be on " + device_name(wanted.place.device) +
                                    ", where " + wanted.why + " places it: " + kNoTexts);
    graph_.problem.tasks[task].devices = {wanted.place.device};
    record.demand = std::move(wanted);
  }

  void on_host(int task, const std::string& why, mlir::Location location) {
    demand(task, {{machine_.host_device(), kAny}, why, location_text(location)});
  }

  std::string device_name(int device) const { return machine_.devices[device].name; }
  static std::string text(const Demand& demand) {
    return demand.why + (demand.where.empty() ? "" : " at " + demand.where);
  }

  std::optional<Place> place_of(llvm::StringRef text, const std::string& where) {
    Result<Place> place = parse_place(text, machine_);
    if (place.is_ok()) return *place;
    fail(where, std::string(place.status().message()));
    return std::nullopt;
  }

  void fail(const std::string& where, const std::string& message) {
    if (status_.is_ok())
      status_ = Status(StatusCode::kInvalidModel, (where.empty() ? "" : where + ": ") + message);
  }

  // --- Flows. ---

  // `value` is made by the task. Its type may say where it lies.
  void make(mlir::Value value, int task, int pool, mlir::Location location) {
    TensorType type = tensor_of(value);
    if (!type) return;
    Flow flow{.maker = task, .pool = pool};
    flow.bytes =
        representative(type.getElementCount()) * static_cast<double>(byte_size(type.getDtype()));
    flow.times = times_;
    flow_of_[value] = static_cast<int>(graph_.problem.flows.size());
    graph_.problem.flows.push_back(std::move(flow));
    graph_.values.push_back(value);
    graph_.uses.emplace_back();
    if (type.getPlace()) place_value(value, type.getPlace().getValue(), "its type", location);
  }

  // The value lies at a place: so its maker is on the device.
  void place_value(mlir::Value value, llvm::StringRef text, const std::string& by,
                   mlir::Location location) {
    const std::string where = location_text(location);
    std::optional<Place> place = place_of(text, where);
    if (!place) return;
    // An op may store its results in memory of another device that it reaches.
    if (auto maker = value.getDefiningOp(); maker && maker->hasAttr(kDeviceAttribute)) {
      auto device =
          machine_.find_device(maker->getAttrOfType<mlir::StringAttr>(kDeviceAttribute).getValue());
      if (device && place->pool == kAny) place->pool = machine_.global_pool(place->device);
      if (device) place->device = *device;
    }
    Flow& flow = graph_.problem.flows[flow_of_.at(value)];
    if (flow.is_free) return;
    demand(flow.maker, {*place, by + " \"" + text.str() + "\"", where});
    if (place->pool == kAny) return;
    const Demand scope{*place, by + " \"" + text.str() + "\"", where};
    auto [first, is_first] = scopes_.try_emplace(value, scope);
    if (flow.pool >= 0 && flow.pool != place->pool)
      return fail(where, graph_.tasks[flow.maker].name + " is stored in scope " +
                             machine_.pools[place->pool].scope + " by " + scope.why + ", and in " +
                             machine_.pools[flow.pool].scope + " by " +
                             (is_first ? "its kernel" : this->text(first->second)));
    flow.pool = place->pool;
  }

  // The task reads the operand, in any pool in its reach, or in `pool`.
  void read(mlir::OpOperand& operand, int task, int pool = kAny) {
    // sv.on_device that constrains its result speaks of who reads it.
    mlir::Value value = operand.get();
    while (auto wish = value.getDefiningOp<graph::OnDeviceOp>()) {
      if (wish.getConstrainResult()) {
        const std::string where = location_text(wish.getLoc());
        if (std::optional<Place> place = place_of(wish.getPlace(), where)) {
          const Demand wanted{*place, "sv.on_device \"" + wish.getPlace().str() + "\"", where};
          demand(task, wanted);
          if (place->pool != kAny && graph_.tasks[task].op) pool = place->pool;
          if (place->pool != kAny && !graph_.tasks[task].op) lie_in(task, wanted);
        }
      }
      if (copies_.contains(wish)) break;
      value = wish.getX();
    }
    auto flow = flow_of_.find(value);
    if (flow == flow_of_.end()) return;  // a list or closure
    std::vector<Reader>& readers = graph_.problem.flows[flow->second].readers;
    readers.push_back({task, pool});
    graph_.uses[flow->second].push_back({&operand, static_cast<int>(readers.size() - 1)});
  }

  // A task without an op is a place that values come to: all of them are in the scope.
  void lie_in(int task, const Demand& wanted) {
    auto [first, is_first] = stores_.try_emplace(task, wanted);
    if (!is_first && first->second.place.pool != wanted.place.pool)
      fail(wanted.where, graph_.tasks[task].name + " is stored at " + wanted.why + ", and at " +
                             text(first->second));
  }

  void apply_stores() {
    for (const auto& [task, wanted] : stores_) {
      const int pool = wanted.place.pool;
      auto store = [&, task = task](int& current) {
        if (current >= 0 && current != pool)
          fail(wanted.where, graph_.tasks[task].name + " is stored at " + wanted.why +
                                 ", and in scope " + machine_.pools[current].scope);
        current = pool;
      };
      for (Flow& flow : graph_.problem.flows) {
        if (flow.maker == task) store(flow.pool);
        for (Reader& reader : flow.readers)
          if (reader.task == task) store(reader.pool);
      }
    }
  }

  // --- Rules. ---

  Status read_rules() {
    for (const Rule& rule : rules_) {
      llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(rule.pattern);
      if (!pattern)
        return Status(StatusCode::kInvalidArgument,
                      "--place " + rule.text + ": " + llvm::toString(pattern.takeError()));
      patterns_.push_back(*std::move(pattern));
      Result<Place> place = parse_place(rule.place, machine_);
      if (!place.is_ok())
        return Status(place.status().code(),
                      "--place " + rule.text + ": " + std::string(place.status().message()));
      rule_places_.push_back(*place);
    }
    return {};
  }

  // What rules may place, by its names of several kinds: those that come first hold before others.
  struct Ruled {
    int task;
    std::vector<std::pair<Rule::Kind, std::string>> names;
    std::vector<mlir::Value> values;
  };

  // Of one kind the last rule that matches holds. What the graph itself says holds before any, so
  // all of it has been read.
  void apply_rules(const Ruled& ruled) {
    const std::optional<Demand> said = graph_.tasks[ruled.task].demand;
    for (const auto& [kind, name] : ruled.names)
      for (size_t i = rules_.size(); i-- > 0;) {
        if (rules_[i].kind != kind || !patterns_[i].match(name)) continue;
        graph_.matched[i] = true;
        if (said && said->place.device != rule_places_[i].device)
          graph_.notes.push_back("--place " + rules_[i].text + " does not move " +
                                 graph_.tasks[ruled.task].name + ", which is on " +
                                 device_name(said->place.device) + ": " + text(*said));
        if (graph_.tasks[ruled.task].demand) continue;
        if (!may_be(ruled.task, rule_places_[i].device)) {
          graph_.notes.push_back("--place " + rules_[i].text + " does not move " +
                                 graph_.tasks[ruled.task].name + ": " + kNoTexts);
          continue;
        }
        demand(ruled.task, {rule_places_[i], "--place " + rules_[i].text, ""});
        if (rule_places_[i].pool != kAny) store_in(rule_places_[i].pool, ruled);
      }
  }

  void store_in(int pool, const Ruled& ruled) {
    for (mlir::Value value : ruled.values)
      if (auto flow = flow_of_.find(value); flow != flow_of_.end())
        graph_.problem.flows[flow->second].pool = pool;
    if (ruled.names.front().first != Rule::Kind::kOutput) return;
    for (Flow& flow : graph_.problem.flows)
      for (Reader& reader : flow.readers)
        if (reader.task == ruled.task) reader.pool = pool;
  }

  // Where nothing is said of a result of the model.
  void place_results() {
    for (int task : model_results_)
      if (!graph_.tasks[task].demand)
        demand(task, {{machine_.default_device, kAny}, "the default device, for results", ""});
  }

  // --- Functions. ---

  struct Signature {
    std::vector<int> parameters;  // tasks
    std::vector<int> results;
    std::vector<int> result_pools;
  };

  void add_parameters(mlir::func::FuncOp function) {
    Signature& signature = signatures_[function.getName()];
    if (function.isExternal()) return;
    const std::string of =
        function.isPublic() ? "" : " of @" + std::string(without_number(function.getName()));
    for (mlir::BlockArgument argument : function.getArguments()) {
      const unsigned i = argument.getArgNumber();
      auto named = function.getArgAttrOfType<mlir::StringAttr>(i, "sv.name");
      const std::string name = named ? named.str() : "input" + std::to_string(i);
      const int task = new_task("input \"" + name + "\"" + of);
      // Callers' tensors lie in the host's memory, so that is where an input stays if it may.
      if (function.isPublic()) graph_.problem.tasks[task].preferred = machine_.host_device();
      if (is_text(argument.getType())) leave_out_devices(task);
      make(argument, task, kOwn, argument.getLoc());
      if (auto place = function.getArgAttrOfType<mlir::StringAttr>(i, kPlaceAttribute);
          place && flow_of_.contains(argument))
        place_value(argument, place.getValue(), "its type", argument.getLoc());
      if (function.isPublic()) ruled_.push_back({task, {{Rule::Kind::kInput, name}}, {argument}});
      signature.parameters.push_back(task);
    }
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      auto named = function.getResultAttrOfType<mlir::StringAttr>(i, "sv.name");
      const std::string name = named ? named.str() : "output" + std::to_string(i);
      const int task = new_task("result \"" + name + "\"" + of);
      signature.results.push_back(task);
      signature.result_pools.push_back(kOwn);
      if (function.isPublic()) ruled_.push_back({task, {{Rule::Kind::kOutput, name}}, {}});
      place_result(function, i, signature);
    }
  }

  // A result's place stands in the function's type, if it is said at all.
  void place_result(mlir::func::FuncOp function, unsigned i, Signature& signature) {
    auto type = mlir::dyn_cast<TensorType>(function.getResultTypes()[i]);
    if (!type) return;
    const std::string where = location_text(function.getLoc());
    auto written = function.getResultAttrOfType<mlir::StringAttr>(i, kPlaceAttribute);
    if (!written) written = type.getPlace();
    if (written) {
      std::optional<Place> place = place_of(written.getValue(), where);
      if (!place) return;
      if (place->pool != kAny) signature.result_pools[i] = place->pool;
      return demand(signature.results[i],
                    {*place, "its type \"" + written.getValue().str() + "\"", where});
    }
    if (function.isPublic()) model_results_.push_back(signature.results[i]);
  }

  void read(mlir::func::FuncOp function) {
    const Signature& signature = signatures_.at(function.getName());
    mlir::Block& block = function.getBody().front();
    // As often as its calls: callers are read first, since clones stand behind them.
    auto calls = times_of_.find(function.getName());
    times_ = calls == times_of_.end() ? 1 : calls->second;
    for (mlir::Value argument : block.getArguments())
      if (auto flow = flow_of_.find(argument); flow != flow_of_.end())
        graph_.problem.flows[flow->second].times = times_;
    read_block(block);
    for (mlir::OpOperand& operand : block.getTerminator()->getOpOperands())
      read(operand, signature.results[operand.getOperandNumber()],
           signature.result_pools[operand.getOperandNumber()]);
  }

  void read_block(mlir::Block& block) {
    for (mlir::Operation& op : block.without_terminator()) read_op(&op);
  }

  // --- Ops. ---

  void read_op(mlir::Operation* op) {
    if (auto wish = mlir::dyn_cast<graph::OnDeviceOp>(op)) return read_wish(wish);
    if (auto branch = mlir::dyn_cast<graph::IfOp>(op)) return read_if(branch);
    if (auto loop = mlir::dyn_cast<graph::LoopOp>(op)) return read_loop(loop);
    if (auto call = mlir::dyn_cast<graph::CallOp>(op)) return read_call(call);
    if (auto closure = mlir::dyn_cast<graph::ClosureOp>(op)) return read_closure(closure);
    const int task = new_task("\"" + graph::op_name(op) + "\"", op);
    if (auto copy = mlir::dyn_cast<graph::DeviceCopyOp>(op)) return read_copy(copy, task);
    for (mlir::OpResult result : op->getResults())
      make(result, task, scope_of(op, kResultScopes, result.getResultNumber(), task), op->getLoc());
    if (mlir::isa<graph::ConstantOp>(op))
      return void(graph_.problem.flows[flow_of_.at(op->getResult(0))].is_free = true);
    if (has_texts(op)) leave_out_devices(task);
    if (std::optional<std::string> why = host_only(op)) on_host(task, *why, op->getLoc());
    ruled_.push_back({task,
                      {{Rule::Kind::kName, graph::op_name(op)},
                       {Rule::Kind::kType, op->getName().stripDialect().str()}},
                      {op->result_begin(), op->result_end()}});
    if (mlir::isa<graph::ReshapeOp, graph::SliceOp>(op))
      views_.push_back({flow_of_.at(op->getResult(0)), op->getOpOperand(0).get(), task});
    for (mlir::OpOperand& operand : op->getOpOperands())
      read(operand, task,
           is_kept_by_vm(op) ? kOwn
                             : scope_of(op, kOperandScopes, operand.getOperandNumber(), task));
  }

  // What an op gives may be the bytes that it reads: both lie in one pool, that of the result if
  // one is asked for, else that of what it reads.
  struct View {
    int flow = 0;
    mlir::Value of;
    int task = 0;
  };
  void keep_in_place(const View& view) {
    auto of = flow_of_.find(annotated(view.of));
    if (of == flow_of_.end()) return;
    Flow& source = graph_.problem.flows[of->second];
    Flow& result = graph_.problem.flows[view.flow];
    if (source.is_free) return;
    if (result.pool < 0)
      result.pool =
          source.pool >= 0 && source_device(source) == source_device(result) ? source.pool : kOwn;
    for (Reader& reader : source.readers)
      if (reader.task == view.task) reader.pool = result.pool;
  }
  // The device of a flow's maker where a demand gives it.
  int source_device(const Flow& flow) const {
    const std::optional<Demand>& demand = graph_.tasks[flow.maker].demand;
    return demand ? demand->place.device : kAny;
  }

  // Texts are numbers into a table of the call, which only the host's kernels and the VM may read.
  static constexpr char kNoTexts[] = "texts are the host's";
  static bool is_text(mlir::Type type) {
    auto tensor = mlir::dyn_cast<TensorType>(type);
    return tensor && tensor.getDtype() == DType::kStr;
  }
  static bool has_texts(mlir::Operation* op) {
    return llvm::any_of(op->getOperandTypes(), is_text) ||
           llvm::any_of(op->getResultTypes(), is_text);
  }
  void leave_out_devices(int task) {
    std::erase_if(graph_.problem.tasks[task].devices,
                  [&](int device) { return !machine_.devices[device].is_cpu(); });
  }
  bool may_be(int task, int device) const {
    return llvm::is_contained(graph_.problem.tasks[task].devices, device);
  }

  // What the VM itself reads, or keeps in its own structures.
  static std::optional<std::string> host_only(mlir::Operation* op) {
    if (mlir::isa<graph::ReadDimsOp>(op)) return "sizes are read on the host";
    if (mlir::isa<graph::AssertOp>(op)) return "conditions are read on the host";
    if (mlir::isa<graph::ParseTextOp, graph::FormatTextOp, graph::ChangeCaseOp>(op))
      return "texts are the host's";
    if (is_kept_by_vm(op)) return "lists and closures are the host's";
    return std::nullopt;
  }
  static bool is_kept_by_vm(mlir::Operation* op) {
    return mlir::isa<graph::ListOp, graph::ListGetOp, graph::ListInsertOp, graph::ListEraseOp,
                     graph::ListSizeOp, graph::CallClosureOp>(op);
  }

  // The scope that a kernel asks for of one operand or result. It implies no device.
  int scope_of(mlir::Operation* op, const char* attribute, unsigned index, int task) {
    auto scopes = op->getAttrOfType<mlir::ArrayAttr>(attribute);
    if (!scopes || index >= scopes.size()) return kAny;
    auto scope = mlir::dyn_cast<mlir::StringAttr>(scopes[index]);
    if (!scope || scope.getValue().empty()) return kAny;
    auto type = op->getNumResults() > 0 ? tensor_of(op->getResult(0)) : TensorType();
    if (!type || !type.getPlace()) return kAny;
    const int device = device_of(op, machine_);
    if (std::optional<int> pool = machine_.find_pool(device, scope.getValue())) return *pool;
    fail(location_text(op->getLoc()), graph_.tasks[task].name + " asks for scope " +
                                          scope.getValue().str() + ", which device " +
                                          device_name(device) + " lacks");
    return kAny;
  }

  // An annotation is a demand on the maker. Of what has one already by another annotation around
  // it, it is a copy: the inner one holds for what it is about.
  void read_wish(graph::OnDeviceOp wish) {
    auto inner = wish.getX().getDefiningOp<graph::OnDeviceOp>();
    if (inner && wish.getConstrainBody() && inner.getPlace() != wish.getPlace() &&
        !inner.getConstrainResult()) {
      copies_.insert(wish);
      const int task = new_task("\"" + graph::op_name(wish) + "\"", wish);
      return read_copy_to(wish, wish.getPlace(), "sv.on_device", task);
    }
    if (wish.getConstrainBody()) {
      mlir::Value value = wish.getX();
      while (auto other = value.getDefiningOp<graph::OnDeviceOp>()) {
        if (copies_.contains(other)) break;
        value = other.getX();
      }
      if (flow_of_.contains(value))
        place_value(value, wish.getPlace(), "sv.on_device", wish.getLoc());
    }
    place_of(wish.getPlace(), location_text(wish.getLoc()));
  }

  void read_copy(graph::DeviceCopyOp copy, int task) {
    if (copy.getFrom()) {
      mlir::Value value = annotated(copy.getX());
      if (flow_of_.contains(value))
        place_value(value, *copy.getFrom(), "sv.device_copy from", copy.getLoc());
    }
    read_copy_to(copy, copy.getTo(), "sv.device_copy to", task);
  }

  void read_copy_to(mlir::Operation* op, llvm::StringRef place_name, const std::string& by,
                    int task) {
    const std::string where = location_text(op->getLoc());
    std::optional<Place> place = place_of(place_name, where);
    if (!place) return;
    demand(task, {*place, by + " \"" + place_name.str() + "\"", where});
    const int pool = place->pool == kAny ? kOwn : place->pool;
    make(op->getResult(0), task, pool, op->getLoc());
    read(op->getOpOperand(0), task, pool);
  }

  // --- Control flow. ---

  // A task for what several ways lead to: all of them bring it to where it lies.
  int new_joint(mlir::Operation* op, mlir::Value value) {
    return new_task(
        "\"" + graph::op_name(op) + "\"" +
        (op->getNumResults() > 1
             ? " result " + std::to_string(mlir::cast<mlir::OpResult>(value).getResultNumber())
             : ""));
  }

  void read_if(graph::IfOp branch) {
    const int condition = new_task("the condition of \"" + graph::op_name(branch) + "\"");
    on_host(condition, "conditions are read on the host", branch.getLoc());
    read(branch->getOpOperand(0), condition);
    std::vector<int> joints;
    for (mlir::Value result : branch->getResults()) {
      joints.push_back(new_joint(branch, result));
      make(result, joints.back(), kOwn, branch.getLoc());
    }
    for (mlir::Region& region : branch->getRegions()) {
      read_block(region.front());
      for (mlir::OpOperand& operand : region.front().getTerminator()->getOpOperands())
        read_joint(operand, branch->getResult(operand.getOperandNumber()),
                   joints[operand.getOperandNumber()]);
    }
  }

  // What flows into a joint lies where the joint's value does.
  void read_joint(mlir::OpOperand& operand, mlir::Value value, int joint) {
    auto flow = flow_of_.find(value);
    read(operand, joint, flow == flow_of_.end() ? kOwn : graph_.problem.flows[flow->second].pool);
  }

  void read_loop(graph::LoopOp loop) {
    mlir::Block& block = loop.getBody().front();
    const size_t carried = block.getNumArguments();
    const double outside = times_;
    std::vector<int> joints;
    for (mlir::Value result : loop->getResults()) {
      joints.push_back(new_joint(loop, result));
      make(result, joints.back(), kOwn, loop.getLoc());
      // It grows as the iterations go: the VM copies it to a larger storage.
      if (result.getType() != mlir::Type() && joints.size() > carried && gathers_unknown(loop))
        on_host(joints.back(), "what grows with each iteration is the host's", loop.getLoc());
    }
    for (size_t i = 0; i < carried; ++i)
      read_joint(loop->getOpOperand(static_cast<unsigned>(i)), loop->getResult(i), joints[i]);
    times_ *= trips_of(loop);
    for (size_t i = 0; i < carried; ++i)
      make(block.getArgument(i), joints[i], pool_of(loop->getResult(i)), loop.getLoc());
    read_block(block);
    const unsigned first = loop.getHasCondition() ? 1 : 0;
    for (mlir::OpOperand& operand : block.getTerminator()->getOpOperands()) {
      if (operand.getOperandNumber() < first) {
        const int condition = new_task("the condition of \"" + graph::op_name(loop) + "\"");
        on_host(condition, "conditions are read on the host", loop.getLoc());
        read(operand, condition);
      } else {
        const unsigned i = operand.getOperandNumber() - first;
        read_joint(operand, loop->getResult(i), joints[i]);
      }
    }
    times_ = outside;
  }

  int pool_of(mlir::Value value) const {
    auto flow = flow_of_.find(value);
    return flow == flow_of_.end() ? kOwn : graph_.problem.flows[flow->second].pool;
  }

  static bool gathers_unknown(graph::LoopOp loop) {
    return loop.getHasCondition() || loop.getTripCount().getValue().empty();
  }

  static double trips_of(graph::LoopOp loop) {
    if (gathers_unknown(loop)) return kUnknownTrips;
    return std::max(1.0, representative(loop.getTripCount().getValue()[0]));
  }

  // --- Calls. ---

  void read_call(graph::CallOp call) {
    const Signature& callee = signatures_.at(call.getCallee());
    times_of_[call.getCallee()] += times_;
    for (mlir::OpOperand& operand : call->getOpOperands()) {
      const int task = callee.parameters[operand.getOperandNumber()];
      auto function = module_.lookupSymbol<mlir::func::FuncOp>(call.getCallee());
      read(operand, task, pool_of(function.getArgument(operand.getOperandNumber())));
    }
    for (mlir::OpResult result : call->getResults())
      make(result, callee.results[result.getResultNumber()],
           callee.result_pools[result.getResultNumber()], call.getLoc());
  }

  // Whoever calls a closure knows nothing of the function behind it, so all of them are on the
  // host.
  void read_closure(graph::ClosureOp closure) {
    const Signature& callee = signatures_.at(closure.getCallee());
    for (const std::vector<int>* tasks : {&callee.parameters, &callee.results})
      for (int task : *tasks) on_host(task, "lists and closures are the host's", closure.getLoc());
    for (mlir::OpOperand& operand : closure->getOpOperands())
      read(operand, callee.parameters[operand.getOperandNumber()], kOwn);
  }

  mlir::ModuleOp module_;
  const Machine& machine_;
  const std::vector<Rule>& rules_;
  std::vector<llvm::GlobPattern> patterns_;
  std::vector<Place> rule_places_;
  std::vector<Ruled> ruled_;
  std::vector<int> model_results_;  // tasks
  std::map<int, Demand> stores_;    // by task
  GraphProblem graph_;
  llvm::DenseMap<mlir::Value, int> flow_of_;
  llvm::DenseMap<mlir::Value, Demand> scopes_;  // that text asks for
  llvm::DenseSet<mlir::Operation*> copies_;     // sv.on_device that copy
  llvm::StringMap<Signature> signatures_;
  llvm::StringMap<double> times_of_;  // by function: calls of it in a call of the model
  std::vector<View> views_;
  double times_ = 1;
  Status status_;
};

}  // namespace

mlir::Value annotated(mlir::Value value) {
  while (auto wish = value.getDefiningOp<graph::OnDeviceOp>()) value = wish.getX();
  return value;
}

std::string location_text(mlir::Location location) {
  if (auto file = location->findInstanceOf<mlir::FileLineColLoc>())
    return file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" +
           std::to_string(file.getColumn());
  if (auto name = location->findInstanceOf<mlir::NameLoc>())
    return "node \"" + name.getName().str() + "\"";
  return "";
}

Result<GraphProblem> read_constraints(mlir::ModuleOp module, const Machine& machine,
                                      const std::vector<Rule>& rules) {
  return ConstraintReader(module, machine, rules).run();
}

}  // namespace scopevm::placement
