// Merges partitions: see partition.h.
#include "compiler/external/partition/partition.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace scopevm::compiler::external {
namespace {

using graph::PartitionOp;
using Ops = llvm::SetVector<mlir::Operation*>;

// True if the op, or an op in its regions, uses a result of `ops`.
bool uses(mlir::Operation* op, const Ops& ops) {
  return op
      ->walk([&](mlir::Operation* inner) {
        return llvm::any_of(
                   inner->getOperands(),
                   [&](mlir::Value operand) { return ops.contains(operand.getDefiningOp()); })
                   ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

// The ops between two partitions that depend on the first one, in program order.
Ops dependent_ops(PartitionOp producer, PartitionOp consumer) {
  Ops ops;
  ops.insert(producer);
  for (mlir::Operation* op = producer->getNextNode(); op != consumer; op = op->getNextNode())
    if (uses(op, ops)) ops.insert(op);
  ops.remove(producer);
  return ops;
}

// True if the op can move to a later position that is not after its users. Ops with regions can
// define symbols that types of other ops contain.
bool can_move(mlir::Operation* op) {
  return mlir::isa<PartitionOp>(op) || (op->getNumRegions() == 0 && mlir::isPure(op));
}

// The values that the merged partition returns: results of the producer that other ops use, and
// those of the consumer.
llvm::SmallVector<mlir::Value> outputs_of(PartitionOp producer, PartitionOp consumer) {
  llvm::SmallVector<mlir::Value> outputs;
  for (mlir::Value result : producer.getResults())
    if (llvm::any_of(result.getUsers(), [&](mlir::Operation* user) { return user != consumer; }))
      outputs.push_back(result);
  llvm::append_range(outputs, consumer.getResults());
  return outputs;
}

// Clones the body of a partition, and maps the partition's results to the yielded values.
void clone_body(PartitionOp partition, mlir::OpBuilder& builder, mlir::IRMapping& mapping) {
  mlir::Block& body = partition.getBody().front();
  for (auto [argument, input] : llvm::zip(body.getArguments(), partition.getInputs()))
    mapping.map(argument, mapping.lookup(input));
  for (mlir::Operation& op : body.without_terminator()) builder.clone(op, mapping);
  for (auto [result, value] :
       llvm::zip(partition->getResults(), body.getTerminator()->getOperands()))
    mapping.map(result, mapping.lookup(value));
}

PartitionOp merged(PartitionOp producer, PartitionOp consumer) {
  llvm::SetVector<mlir::Value> inputs;
  inputs.insert(producer.getInputs().begin(), producer.getInputs().end());
  for (mlir::Value input : consumer.getInputs())
    if (input.getDefiningOp() != producer) inputs.insert(input);
  llvm::SmallVector<mlir::Attribute> patterns(producer.getPatterns().getValue());
  llvm::append_range(patterns, consumer.getPatterns());
  llvm::SmallVector<mlir::Value> outputs = outputs_of(producer, consumer);
  mlir::OpBuilder builder(consumer);
  auto result =
      builder.create<PartitionOp>(builder.getFusedLoc({producer.getLoc(), consumer.getLoc()}),
                                  mlir::ValueRange(outputs).getTypes(), inputs.getArrayRef(),
                                  consumer.getLibraryAttr(), builder.getArrayAttr(patterns));
  mlir::Block* body = &result.getBody().emplaceBlock();
  mlir::IRMapping mapping;
  for (mlir::Value input : inputs)
    mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
  mlir::OpBuilder inside = mlir::OpBuilder::atBlockEnd(body);
  clone_body(producer, inside, mapping);
  clone_body(consumer, inside, mapping);
  llvm::SmallVector<mlir::Value> yielded;
  for (mlir::Value output : outputs) yielded.push_back(mapping.lookup(output));
  inside.create<graph::YieldOp>(consumer.getLoc(), yielded);
  for (auto [output, value] : llvm::zip(outputs, result.getResults()))
    output.replaceAllUsesWith(value);
  consumer.erase();
  producer.erase();
  return result;
}

// The partition that replaces the consumer and a producer of one of its inputs; null if none can be
// merged.
PartitionOp merge_with_producer(PartitionOp consumer) {
  for (mlir::Value input : consumer.getInputs()) {
    auto producer = input.getDefiningOp<PartitionOp>();
    if (!producer || producer->getBlock() != consumer->getBlock() ||
        producer.getLibrary() != consumer.getLibrary())
      continue;
    const Ops between = dependent_ops(producer, consumer);
    // The merged partition would both use such an op's result and be its operand.
    if (uses(consumer, between) || !llvm::all_of(between, can_move)) continue;
    mlir::Operation* last = consumer;
    for (mlir::Operation* op : between) op->moveAfter(last), last = op;
    return merged(producer, consumer);
  }
  return nullptr;
}

}  // namespace

void merge(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::Block*> blocks;
  module.walk([&](mlir::Block* block) { blocks.push_back(block); });
  for (mlir::Block* block : blocks)
    for (mlir::Operation* op = block->empty() ? nullptr : &block->front(); op;) {
      auto partition = mlir::dyn_cast<PartitionOp>(op);
      PartitionOp replaced = partition ? merge_with_producer(partition) : nullptr;
      // The merged partition may have another producer.
      op = replaced ? replaced.getOperation() : op->getNextNode();
    }
}

}  // namespace scopevm::compiler::external
