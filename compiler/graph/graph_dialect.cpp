// Registration of the graph dialect, and the textual form of its types and attributes.
#include <utility>

#include "compiler/graph/control/tuples.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/named_dims.h"
#include "compiler/graph/values/elements.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

// Included last: the generated parsers use the declarations above.
#include "compiler/graph/graph_dialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/graph/graph_attrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/graph/graph_types.cpp.inc"

#include "compiler/graph/graph_enums.cpp.inc"
#include "compiler/graph/op_interfaces.cpp.inc"

namespace scopevm::compiler::graph {

void GraphDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "compiler/graph/graph_ops.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/graph/control/tuples.cpp.inc"
      >();
}

mlir::Operation* GraphDialect::materializeConstant(mlir::OpBuilder& builder, mlir::Attribute value,
                                                   mlir::Type type, mlir::Location location) {
  auto elements = mlir::dyn_cast<mlir::ElementsAttr>(value);
  if (!elements || !mlir::isa<TensorType>(type)) return nullptr;
  return builder.create<ConstantOp>(location, type, elements);
}

llvm::LogicalResult GraphDialect::verifyRegionArgAttribute(mlir::Operation* op, unsigned region,
                                                           unsigned argument,
                                                           mlir::NamedAttribute attribute) {
  if (attribute.getName() != kDefaultAttribute) return mlir::success();
  const std::string error =
      error_of_default(op->getRegion(region).getArgument(argument).getType(), attribute.getValue());
  if (error.empty()) return mlir::success();
  return op->emitOpError("argument ") << argument << ": " << kDefaultAttribute << ": " << error;
}

void GraphDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/graph/graph_attrs.cpp.inc"
      >();
}

void GraphDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/graph/graph_types.cpp.inc"
      >();
}

namespace {

// A dim prints as an integer, a bare symbol, or a quoted expression: 3, n, "2*n+1". Runtime-defined
// symbols start with '$', which requires quotes, as do symbols that are not keywords of MLIR.
void print_dims(mlir::AsmPrinter& printer, llvm::ArrayRef<DimExpr> dims) {
  printer << '[';
  llvm::interleaveComma(dims, printer, [&](DimExpr dim) {
    const std::string text = dim.str();
    const bool is_bare =
        dim.is_constant() || (dim.kind() == DimExpr::Kind::kSymbol &&
                              symbol_kind(dim.symbol_name()) == SymbolKind::kDimension &&
                              text.find_first_of("\"[]") == std::string::npos);
    if (is_bare)
      printer << text;
    else
      printer.printString(text);
  });
  printer << ']';
}

// The innermost ZeroDims object of this thread.
thread_local const ZeroDims* zero_dims = nullptr;

// A named dim is at least 1 unless ZeroDims contains it (--dim n>=0); a runtime-defined symbol is
// at least 0.
std::optional<DimExpr> named_dim(std::string_view name) {
  if (symbol_kind(name) != SymbolKind::kDimension || ZeroDims::contain(name)) return std::nullopt;
  return DimExpr::symbol(name, {.min = 1});
}

mlir::ParseResult parse_dim(mlir::AsmParser& parser, llvm::SmallVectorImpl<DimExpr>& dims) {
  int64_t literal = 0;
  if (mlir::OptionalParseResult integer = parser.parseOptionalInteger(literal);
      integer.has_value()) {
    if (*integer) return mlir::failure();
    dims.push_back(literal);
    return mlir::success();
  }
  llvm::SMLoc location = parser.getCurrentLocation();
  std::string text;
  if (parser.parseKeywordOrString(&text)) return mlir::failure();
  std::optional<DimExpr> dim = DimExpr::parse(text);
  if (!dim) return parser.emitError(location) << "'" << text << "' is not a dimension expression";
  dims.push_back(dim->substitute(named_dim));
  return mlir::success();
}

mlir::ParseResult parse_dims(mlir::AsmParser& parser, llvm::SmallVectorImpl<DimExpr>& dims) {
  return parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square,
                                        [&] { return parse_dim(parser, dims); });
}

}  // namespace

ZeroDims::ZeroDims(std::set<std::string, std::less<>> names)
    : names_(std::move(names)), outer_(std::exchange(zero_dims, this)) {}

ZeroDims::~ZeroDims() { zero_dims = outer_; }

bool ZeroDims::contain(std::string_view name) {
  return zero_dims != nullptr && zero_dims->names_.contains(name);
}

std::pair<llvm::StringRef, llvm::StringRef> PlaceAttr::split(llvm::StringRef text) {
  // Targets may contain dots, as in "target:x86-64-v2+sse4.1". All scopes but "local" begin with
  // "global".
  const size_t global = text.find(".global");
  size_t dot = text.contains(':') ? global : text.find('.');
  if (global == llvm::StringRef::npos && text.ends_with(".local")) dot = text.rfind('.');
  if (dot == llvm::StringRef::npos || dot + 1 == text.size()) return {text, ""};
  return {text.substr(0, dot), text.substr(dot + 1)};
}

std::string PlaceAttr::str() const {
  return (getDevice() + (getScope().empty() ? "" : "." + getScope())).str();
}

mlir::Type TensorType::parse(mlir::AsmParser& parser) {
  llvm::StringRef dtype_name;
  llvm::SmallVector<DimExpr> dims;
  mlir::StringAttr place;
  if (parser.parseLess()) return {};
  llvm::SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&dtype_name)) return {};
  std::optional<DType> dtype = parse_dtype(dtype_name);
  if (!dtype) {
    parser.emitError(location) << "'" << dtype_name << "' is not an element type";
    return {};
  }
  location = parser.getCurrentLocation();
  if (parse_dims(parser, dims)) return {};
  for (DimExpr dim : dims)
    if (interval_of(dim).max < 0) {
      parser.emitError(location) << "expected dims of at least 0, given " << dim.str();
      return {};
    }
  if (succeeded(parser.parseOptionalComma()) && parser.parseSymbolName(place)) return {};
  if (parser.parseGreater()) return {};
  return get(parser.getContext(), *dtype, dims,
             place ? PlaceAttr::get(parser.getContext(), place.getValue()) : PlaceAttr());
}

void TensorType::print(mlir::AsmPrinter& printer) const {
  printer << '<' << scopevm::name(getDtype());
  print_dims(printer, getShape());
  if (getPlace()) {
    printer << ", ";
    printer.printSymbolName(getPlace().str());
  }
  printer << '>';
}

bool TensorType::isStatic() const {
  return llvm::all_of(getShape(), [](DimExpr dim) { return dim.is_constant(); });
}

TensorType TensorType::withShape(llvm::ArrayRef<DimExpr> shape) const {
  return get(getContext(), getDtype(), shape, getPlace());
}

TensorType TensorType::withDType(DType dtype) const {
  return get(getContext(), dtype, getShape(), getPlace());
}

TensorType TensorType::withPlace(PlaceAttr place) const {
  return get(getContext(), getDtype(), getShape(), place);
}

mlir::Attribute DimsAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  llvm::SmallVector<DimExpr> dims;
  if (parser.parseLess() || parse_dims(parser, dims) || parser.parseGreater()) return {};
  return get(parser.getContext(), dims);
}

void DimsAttr::print(mlir::AsmPrinter& printer) const {
  printer << '<';
  print_dims(printer, getValue());
  printer << '>';
}

}  // namespace scopevm::compiler::graph
