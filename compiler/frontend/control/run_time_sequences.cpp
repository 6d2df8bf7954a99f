// ONNX sequences and optionals whose lengths are known only at run time: list ops, and loops over
// the elements.
#include "compiler/frontend/formula/formula.h"
#include "compiler/frontend/graph_importer.h"
#include "runtime/count_text.h"

namespace scopevm::compiler::frontend {
namespace {

using graph::ListType;

Status invalid(const std::string& message) { return Status(StatusCode::kInvalidModel, message); }

// An index into a list, read from input `input`. No value if the input is absent, or after an
// error. Negative indices count from the end.
std::optional<DimExpr> position(Node& n, size_t input) {
  if (!n.has_input(input)) return std::nullopt;
  Dims at = n.dims_of(n.input(input), "the position", Node::Sign::kAny);
  if (!n.has_failed() && at.size() != 1)
    n.fail("the position must have 1 element, given " + llvm::Twine(at.size()));
  return n.has_failed() ? std::nullopt : std::optional(at.front());
}

// Moves `axis` to the front.
Value axis_to_front(Node& n, Value x, int64_t axis) {
  Ints order = {axis};
  for (int64_t i = 0; i < n.rank(x); ++i)
    if (i != axis) order.push_back(i);
  return axis == 0 ? x : n.transpose(x, order);
}

// Moves the first axis to position `axis`.
Value axis_from_front(Node& n, Value x, int64_t axis) {
  Ints order;
  for (int64_t i = 1; i < n.rank(x); ++i) order.push_back(i);
  order.insert(order.begin() + axis, 0);
  return axis == 0 ? x : n.transpose(x, order);
}

}  // namespace

ListBuilder GraphImporter::lists() { return ListBuilder(builder_, location_, fresh_); }

Result<GraphImporter::Item> GraphImporter::op_on_list(Node& n, Value list) {
  const std::string& op = n.proto().op_type();
  bool has_optional = is_optional(mlir::cast<ListType>(list.getType()).getKind());
  // ONNX permits the ops of optionals on plain values, which always have an element.
  if (op == "Identity" || (op == "OptionalGetElement" && !has_optional)) return Item(list);
  if (op == "OptionalHasElement") {
    if (!has_optional) return Item(n.constant({}, DType::kBool, {1}));
    Value size = n.dims_value({lists().size(list)}, true);
    return Item(n.emit<graph::GreaterOp>({size, n.scalar(0, DType::kI64)}));
  }
  auto item = [](Result<Value> made) {
    return made.ok() ? Result<Item>(Item(*made)) : Result<Item>(made.status());
  };
  // An optional is a list of at most one element. If it is empty, reading element 0 fails the call.
  if (op == "OptionalGetElement") return item(lists().get(list, 0));
  if (has_optional) return invalid("input 0 is an optional, expected a sequence");
  if (op == "SequenceLength") return Item(n.dims_value({lists().size(list)}, true));
  if (op == "ConcatFromSequence") return item(concat_list(n, list));
  std::optional<DimExpr> at = position(n, op == "SequenceInsert" ? 2 : 1);
  if (n.has_failed()) return n.status();
  if (op == "SequenceInsert") {
    Value element = n.input(1);
    return n.has_failed() ? Result<Item>(n.status()) : item(lists().insert(list, element, at));
  }
  // Without a position, ONNX erases the last element.
  if (op == "SequenceErase") return Item(lists().erase(list, at.value_or(-1)));
  // SequenceAt requires its position, which check_schema() has checked.
  return item(lists().get(list, *at));
}

// --- ConcatFromSequence. ------------------------------------------------------------------------

namespace {

// Element i of the list, checked to have the dims of `first` except along `axis`. Null after an
// error.
Value alike_element(Node& n, ListBuilder lists, Value list, DimExpr i, Value first, int64_t axis) {
  Result<Value> got = lists.get(list, i);
  if (!got.ok()) return n.unsupported(std::string(got.status().message())), Value();
  Dims dims(n.shape(first));
  for (int64_t k = 0; k < n.rank(first); ++k) {
    if (k == axis)
      dims[k] = n.dim(*got, k);
    else
      n.require_equal(n.dim(*got, k), dims[k],
                      "dim " + std::to_string(k) +
                          " of an element of the sequence is {0}, expected {1}, that of the first "
                          "element");
  }
  return n.reshape(*got, dims);
}

}  // namespace

// Along a new axis, the result is the gathered output of a loop over the elements. Along an
// existing axis, one loop sums the lengths, and a second one copies each element to its offset.
Result<Value> GraphImporter::concat_list(Node& n, Value list) {
  bool has_new_axis = n.flag("new_axis", false);
  DimExpr count = lists().size(list);
  SCOPEVM_ASSIGN_OR_RETURN(Value first, lists().get(list, 0));
  int64_t axis = n.axis(n.integer("axis"), n.rank(first) + (has_new_axis ? 1 : 0));
  if (n.has_failed()) return n.status();
  auto element = [&](DimExpr i, int64_t free_axis) {
    return alike_element(n, lists(), list, i, first, free_axis);
  };
  auto checked = [&](llvm::ArrayRef<Value> results, auto finish) -> Result<Value> {
    if (n.has_failed()) return n.status();
    Value whole = finish(results);
    return n.has_failed() ? Result<Value>(n.status()) : Result<Value>(whole);
  };
  if (has_new_axis) {
    auto parts = n.loop(count, {}, [&](DimExpr i, mlir::ValueRange) -> Iteration {
      return {{}, {}, {element(i, -1)}};
    });
    return checked(parts, [&](auto all) { return axis_from_front(n, all.front(), axis); });
  }
  Value zero = n.dims_value({0}, true);
  // The result's length must be known before its storage is allocated.
  auto sum = n.loop(count, {zero}, [&](DimExpr i, mlir::ValueRange carried) -> Iteration {
    Value part = element(i, axis);
    if (n.has_failed()) return {};
    Value size = n.dims_value({n.dim(part, axis)}, true);
    return {{}, {n.emit<graph::AddOp>({carried[0], size})}, {}};
  });
  if (n.has_failed()) return n.status();
  Dims whole(n.shape(first));
  whole.erase(whole.begin() + axis);
  // While the result is filled, the axis of the concatenation is its first axis. An element of the
  // list then consists of whole rows, which ScatterND copies by their indices.
  whole.insert(whole.begin(), n.dims_of(sum.front(), "the length of the result").front());
  Value empty = n.expand(n.scalar(0, first), whole);
  auto filled = n.loop(count, {empty, zero}, [&](DimExpr i, mlir::ValueRange carried) -> Iteration {
    Value part = element(i, axis);
    if (n.has_failed()) return {};
    DimExpr size = n.dim(part, axis);
    Value places = n.emit<graph::IotaOp>(
        {}, {n.attr("size", Dims{size}), n.attr("start", n.index_attribute(0)),
             n.attr("step", n.index_attribute(1)), n.attr("dtype", "i64")});
    places = n.unsqueeze(n.emit<graph::AddOp>({places, carried[1]}), {1});
    Value next = n.emit<graph::ScatterNdOp>({carried[0], places, axis_to_front(n, part, axis)});
    Value at = n.emit<graph::AddOp>({carried[1], n.dims_value({size}, true)});
    return {{}, {next, at}, {}};
  });
  return checked(filled, [&](auto all) { return axis_from_front(n, all.front(), axis); });
}

// --- SplitToSequence. ---------------------------------------------------------------------------

// A loop whose iterations append one part each. The size of a part is 1, the scalar at input 1, or
// an entry of the list at input 1.
Result<Value> GraphImporter::split_at_run_time(Node& n, int64_t axis, bool keep_dims) {
  Value x = n.input(0), zero = n.dims_value({0}, true);
  DimExpr length = n.dim(x, axis), count = length, step = 1;
  bool has_list = n.has_input(1) && n.rank(n.input(1)) > 0;
  if (has_list) {
    count = n.dim(n.input(1), 0);
  } else if (n.has_input(1)) {
    Dims given = n.dims_of(n.input(1), "the split");
    if (n.has_failed()) return n.status();
    step = given.front();
    n.require_at_least(step, 1, "the split size is {0}, expected at least {1}");
    // The maximum avoids a division by 0 in calls that the check above rejects.
    count = ceildiv(length, max(step, 1));
  }
  Value start = lists().make(ListType::get(&context_, ValueKind::kSequence, n.dtype(x)), {});
  if (n.has_failed()) return n.status();
  auto results = control_flow().loop(
      count, {start, zero}, [&](DimExpr i, mlir::ValueRange carried) -> Result<Iteration> {
        Dims starts(static_cast<size_t>(n.rank(x)), DimExpr(0)), sizes(n.shape(x));
        starts[axis] = i * step;
        sizes[axis] = min(step, length - i * step);
        Value next = carried[1];
        if (has_list) {
          starts[axis] = n.dims_of(carried[1], "the start of a part").front();
          Value size = Formula(n, n.input(1)).element_at(0, i);
          sizes[axis] = n.dims_of(size, "the split").front();
          next = n.emit<graph::AddOp>({carried[1], n.cast(size, DType::kI64)});
          // Checked in each iteration, before the slice below exceeds x.
          n.require_at_least(length, starts[axis] + sizes[axis],
                             "the parts add up to {1} or more, but the dim is {0}");
        }
        Value part = n.slice(x, starts, sizes);
        Dims rest = sizes;
        rest.erase(rest.begin() + axis);
        if (!keep_dims) part = n.reshape(part, rest);
        if (n.has_failed()) return n.status();
        Iteration iteration;
        SCOPEVM_ASSIGN_OR_RETURN(Value list, lists().insert(carried[0], part, std::nullopt));
        iteration.carried = {list, next};
        return iteration;
      });
  if (!results.ok()) return results.status();
  if (has_list)
    n.require_equal(n.dims_of((*results)[1], "the sum of the parts").front(), length,
                    "the parts add up to {0}, but the dim is {1}");
  return n.has_failed() ? Result<Value>(n.status()) : Result<Value>(results->front());
}

// --- SequenceMap. -------------------------------------------------------------------------------

// A loop over the elements of the first input that appends the results of the body.
Status GraphImporter::map_lists(Node& n, const onnx::GraphProto& body) {
  llvm::SmallVector<Value> inputs, starts;
  for (const std::string& name : n.proto().input()) inputs.push_back(any_value(name));
  if (inputs.empty() || !mlir::isa<ListType>(inputs.front().getType()))
    return invalid("input 0 is not a sequence");
  if (static_cast<size_t>(body.output_size()) != n.output_count())
    return invalid("its body has " + runtime::count_text(body.output_size(), "output") +
                   ", expected " + std::to_string(n.output_count()));
  for (const auto& output : body.output()) {
    auto dtype = dtype_of_onnx(output.type().tensor_type().elem_type());
    if (!dtype)
      return Status(StatusCode::kUnsupported,
                    "element type " + onnx_type_name(output.type().tensor_type().elem_type()) +
                        " is not supported");
    starts.push_back(lists().make(ListType::get(&context_, ValueKind::kSequence, *dtype), {}));
  }
  DimExpr count = lists().size(inputs.front());
  for (Value input : llvm::drop_begin(inputs))
    if (mlir::isa<ListType>(input.getType()))
      n.require_equal(count, lists().size(input),
                      "its sequences have lengths {0} and {1}; they must be equal");
  if (n.has_failed()) return n.status();
  auto results = control_flow().loop(
      count, starts, [&](DimExpr i, mlir::ValueRange carried) -> Result<Iteration> {
        llvm::SmallVector<Value> elements;
        for (Value input : inputs) {
          elements.push_back(input);
          if (!mlir::isa<ListType>(input.getType())) continue;
          SCOPEVM_ASSIGN_OR_RETURN(elements.back(), lists().get(input, i));
        }
        SCOPEVM_ASSIGN_OR_RETURN(llvm::SmallVector<Value> outputs, import_subgraph(body, elements));
        Iteration iteration;
        for (auto [list, element] : llvm::zip(carried, outputs)) {
          SCOPEVM_ASSIGN_OR_RETURN(Value next, lists().insert(list, element, std::nullopt));
          iteration.carried.push_back(next);
        }
        return iteration;
      });
  if (!results.ok()) return results.status();
  for (size_t i = 0; i < results->size(); ++i)
    SCOPEVM_RETURN_IF_ERROR(bind(n.proto(), i, (*results)[i]));
  return {};
}

}  // namespace scopevm::compiler::frontend
