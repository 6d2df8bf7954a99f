// Prints declarations, one per line. Constants and images are last, because their data is long.
#include "vm/format/disassembler.h"

#include "vm/format/assembly/code_printer.h"
#include "vm/format/assembly/declarations.h"
#include "vm/format/assembly/printer.h"
#include "vm/format/assembly/reference.h"
#include "vm/format/layout.h"

namespace scopevm::format {
namespace {

using assembly::Printer;

class ModulePrinter {
 public:
  ModulePrinter(const ModuleContents& module, const DisassembleOptions& options)
      : module_(module), options_(options), references_(module), printer_(out_) {}

  std::string run() {
    out_ += "scopevm_module " + std::to_string(kVersionMajor) + "." + std::to_string(kVersionMinor);
    printer_.word("producer");
    printer_.string(module_.producer);
    out_ += "\n\n";
    for (const DeviceDecl& d : module_.devices)
      line("device", [&] { assembly::visit_device(printer_, d); });
    for (const PoolDecl& p : module_.pools)
      line("pool", [&] { assembly::visit_pool(printer_, p); });
    for (const KernelDecl& k : module_.kernels)
      line("kernel", [&] { assembly::visit_kernel(printer_, k); });
    for (const LaunchDecl& l : module_.launches)
      line("launch", [&] { assembly::visit_launch(printer_, l); });
    for (const std::string& m : module_.messages) line("message", [&] { printer_.string(m); });
    for (const std::string& t : module_.strings) line("string", [&] { printer_.string(t); });
    for (const ShapeFunctionDecl& f : module_.shape_functions) print(f);
    for (const FunctionDecl& f : module_.functions) print(f);
    for (const VariantDecl& v : module_.variants) print(v);
    out_ += '\n';
    for (const ConstantDecl& c : module_.constants) {
      out_ += "constant";
      assembly::visit_constant(printer_, c);
      print(c.bytes);
    }
    for (const ImageDecl& i : module_.images) {
      out_ += "image";
      assembly::visit_image(printer_, i);
      print(i.bytes);
    }
    return std::move(out_);
  }

 private:
  template <typename Fields>
  void line(std::string_view start, Fields fields) {
    out_ += start;
    fields();
    out_ += '\n';
  }

  void print(const ShapeFunctionDecl& function) {
    out_ += "\nshape_function";
    assembly::visit_shape_function(printer_, function);
    out_ += " {\n";
    for (const CheckDecl& check : function.checks)
      line("  check", [&] { assembly::visit_check(printer_, check); });
    out_ += "}\n";
  }

  void print(const FunctionDecl& function) {
    out_ += "\nfunction";
    assembly::visit_function(printer_, function);
    out_ += " {\n";
    for (const DimensionDecl& d : function.dimensions)
      line("  dimension", [&] { assembly::visit_dimension(printer_, d); });
    for (const TensorDecl& t : function.inputs)
      line("  input", [&] { assembly::visit_tensor(printer_, t); });
    for (const TensorDecl& t : function.outputs)
      line("  output", [&] { assembly::visit_tensor(printer_, t); });
    for (const FormulaDefinition& d : function.definitions)
      line("  definition", [&] { assembly::visit_definition(printer_, d); });
    for (const MemoryDecl& m : function.memory)
      line("  memory", [&] { assembly::visit_memory(printer_, m); });
    out_ += "  code {\n";
    assembly::append_code(out_, function, references_);
    out_ += "  }\n}\n";
  }

  void print(const VariantDecl& variant) {
    out_ += "\nvariant";
    assembly::visit_variant(printer_, variant);
    out_ += " {\n";
    for (const DimensionDecl& d : variant.dimensions)
      line("  dimension", [&] { assembly::visit_dimension(printer_, d); });
    out_ += "}\n";
  }

  void print(const Bytes& bytes) {
    printer_.word("bytes");
    printer_.number(bytes.size);
    if (options_.elide_data) {
      out_ += " elided\n";
      return;
    }
    out_ += " {\n";
    assembly::append_base64(out_, bytes.data, bytes.size, "  ");
    out_ += "}\n";
  }

  const ModuleContents& module_;
  const DisassembleOptions& options_;
  assembly::References references_;
  std::string out_;
  Printer printer_;
};

}  // namespace

std::string disassemble(const ModuleContents& module, const DisassembleOptions& options) {
  return ModulePrinter(module, options).run();
}

}  // namespace scopevm::format
