// Finds the launches of each kernel in the code of functions; see kernel_flops.h.
#include "tools/scopevm/commands/bench/kernel_flops.h"

#include <algorithm>
#include <utility>

#include "vm/format/schema/formula.h"
#include "vm/format/schema/launch_flops.h"
#include "vm/isa/instruction.h"

namespace scopevm::tool {
namespace {

std::string key_of(std::string_view kernel, std::string_view ops) {
  return std::string(kernel) + "\n" + std::string(ops);
}

std::string ops_at(const format::FunctionDecl& function, uint32_t word) {
  const auto source = std::ranges::find(function.sources, word, &format::SourceDecl::word);
  return source == function.sources.end() ? "" : source->name;
}

// Calls visit(word, key) for each launch.
void for_each_launch(const format::ModuleContents& module, const format::FunctionDecl& function,
                     auto visit) {
  for (uint32_t word = 0; word < function.code.size();) {
    const Result<isa::Instruction> in = isa::read_instruction(function.code, word);
    if (!in.ok()) return;
    for (const isa::Instruction::Field& field : in->fields()) {
      if (field.form() != isa::FieldForm::launch_form) continue;
      const uint32_t entry = field.words[0];
      if (entry >= module.launches.size() || module.launches[entry].kernel >= module.kernels.size())
        continue;
      const std::string& symbol = module.kernels[module.launches[entry].kernel].symbol;
      visit(word, key_of(symbol, ops_at(function, word)));
    }
    word += in->word_count;
  }
}

bool is_entry(const format::ModuleContents& module, uint32_t function) {
  return module.functions[function].name == format::kEntryName ||
         std::ranges::find(module.variants, function, &format::VariantDecl::function) !=
             module.variants.end();
}

}  // namespace

KernelFlops::KernelFlops(const format::ModuleContents& module) {
  std::map<std::pair<uint32_t, uint32_t>, std::string> formulas;  // by function and word
  for (format::LaunchFlops& launch : format::read_flops(module))
    formulas[{launch.function, launch.word}] = std::move(launch.formula);
  if (formulas.empty()) return;
  std::vector<std::string> of_callees;
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    const format::FunctionDecl& function = module.functions[i];
    for_each_launch(module, function, [&](uint32_t word, std::string key) {
      if (!is_entry(module, i)) return of_callees.push_back(std::move(key));
      Launches& launches = functions_[function.name][key];
      ++launches.count;
      if (const auto formula = formulas.find({i, word}); formula != formulas.end())
        launches.formulas.push_back(formula->second);
    });
  }
  for (auto& [name, kernels] : functions_)
    for (const std::string& key : of_callees) kernels.erase(key);
}

std::optional<double> KernelFlops::of_launch(std::string_view function, std::string_view kernel,
                                             std::string_view ops, const Dims& dims) const {
  const auto kernels = functions_.find(function);
  if (kernels == functions_.end()) return std::nullopt;
  const auto launches = kernels->second.find(key_of(kernel, ops));
  if (launches == kernels->second.end() || launches->second.formulas.empty()) return std::nullopt;
  double sum = 0;
  for (const std::string& formula : launches->second.formulas) {
    const std::optional<int64_t> flops = format::evaluate_formula(formula, dims);
    if (!flops) return std::nullopt;
    sum += static_cast<double>(*flops);
  }
  return sum / static_cast<double>(launches->second.count);
}

}  // namespace scopevm::tool
