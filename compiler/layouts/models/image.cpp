#include "compiler/layouts/models/image.h"

#include "compiler/graph/rewrite/placement_attributes.h"

namespace scopevm::compiler::layouts {

using graph::TensorType;
using graph::type_of;
using schedule::kChannelBlock;

namespace {

bool has_image_elements(TensorType type) {
  return llvm::is_contained({DType::kF32, DType::kU8, DType::kI8}, type.getDtype());
}

}  // namespace

bool is_elementwise(TensorType type) {
  return (has_image_elements(type) || type.getDtype() == DType::kBool ||
          type.getDtype() == DType::kI32) &&
         !graph::has_scope(type);
}

std::optional<int64_t> image_channels(mlir::Type type) {
  auto tensor = mlir::dyn_cast<TensorType>(type);
  return tensor && has_image_elements(tensor) ? elementwise_channels(type) : std::nullopt;
}

std::optional<int64_t> elementwise_channels(mlir::Type type) {
  auto tensor = mlir::dyn_cast<TensorType>(type);
  if (!tensor || tensor.getRank() != 4 || !is_elementwise(tensor)) return std::nullopt;
  const std::optional<int64_t> channels = tensor.getDim(1).as_constant();
  return channels && *channels >= 1 ? channels : std::nullopt;
}

TensorType blocked_type(TensorType type) {
  return type.withShape({type.getDim(0), ceildiv(type.getDim(1), kChannelBlock), type.getDim(2),
                         type.getDim(3), kChannelBlock});
}

bool is_pixel(TensorType type) {
  return type.getDim(2).is_constant(1) && type.getDim(3).is_constant(1);
}

double words_of(TensorType image, const DimValues& known) {
  return representative(image.getElementCount(), known) *
         static_cast<double>(byte_size(image.getDtype())) / sizeof(float);
}

double conversion_seconds(TensorType image, const schedule::Core& core, const DimValues& known) {
  const int64_t channels = image.getDim(1).as_constant().value_or(1);
  // Without padding, the conversion of a 1x1 image is a view.
  if (is_pixel(image) && channels % kChannelBlock == 0) return 0;
  return schedule::conversion_seconds(words_of(image, known), channels, core);
}

std::optional<BlockedForm> image_form(mlir::Operation* op) {
  if (image_channels(op->getResult(0).getType()).value_or(1) == 1) return std::nullopt;
  return BlockedForm{{op->getOperand(0)}};
}

bool is_fixed(mlir::Operation* op) {
  return graph::has_placement_attributes(op) || op->hasAttr(graph::kLocalAttribute) ||
         graph::has_scope(op->getResult(0).getType());
}

bool is_movable(mlir::Operation* op) {
  auto result = mlir::dyn_cast<TensorType>(op->getResult(0).getType());
  return result && !is_fixed(op) && llvm::all_of(op->getOperandTypes(), [&](mlir::Type type) {
           auto operand = mlir::dyn_cast<TensorType>(type);
           return operand && operand.getPlace() == result.getPlace();
         });
}

mlir::DenseI64ArrayAttr appended(mlir::DenseI64ArrayAttr list, int64_t entry) {
  llvm::SmallVector<int64_t> entries(list.asArrayRef());
  entries.push_back(entry);
  return mlir::DenseI64ArrayAttr::get(list.getContext(), entries);
}

schedule::LayoutTimes image_op_times(const BlockedForm& form, const schedule::Core& core,
                                     const DimValues& known) {
  const TensorType image = type_of(form.images.front());
  return schedule::image_op_times(words_of(image, known), *image.getDim(1).as_constant(), core);
}

mlir::Operation* clone_blocked(mlir::OpBuilder& builder, mlir::Operation* op,
                               mlir::IRMapping& operands) {
  mlir::Operation* copy = builder.clone(*op, operands);
  copy->getResult(0).setType(blocked_type(type_of(op->getResult(0))));
  return copy;
}

}  // namespace scopevm::compiler::layouts
