// Prints docs/operators.md: the operators of each domain that the importer supports.
#include <onnx/defs/schema.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "compiler/import/ops/op_table.h"
#include "compiler/import/scope/opsets.h"

namespace {

using namespace scopevm::compiler;

constexpr char kPreface[] = R"(# ONNX operators

Generated from the table of operators (`compiler/import/ops`) by `./dev docs`. A column *since* has
the first version of the operator that is supported; later versions are supported, too. An operator
whose version is marked with * is imported as the body that ONNX defines for it, a function of other
operators. A node of another operator makes the import fail, unless the model defines a function of
its name, or an [external library](external.md) provides it.

`./dev compare-ops` compares the operators of `com.microsoft` and `ai.onnx.ml` with ONNX Runtime.
)";

struct Limit {
  const char* domain;
  const char* op;
  const char* text;
};
constexpr char kMicrosoft[] = "com.microsoft", kMl[] = "ai.onnx.ml";
constexpr Limit kLimits[] = {
    {kMicrosoft, "Attention", "not `do_rotary`, shared buffers, `past_sequence_length`"},
    {kMicrosoft, "CausalConvWithState",
     "`ndim` > 1: the kernel has odd sizes on all axes but the last one"},
    {kMicrosoft, "GroupQueryAttention",
     "not caches of 8-bit floats; with `sliding_window_cache` not `qk_output`, and no prompts with "
     "padding"},
    {kMicrosoft, "MatMulBnb4", "`transB` = 1"},
    {kMicrosoft, "MatMulNBits", "not prepacked weights; sums are f32"},
    {kMicrosoft, "MultiHeadAttention", "not `past_sequence_length`, `cache_indirection`"},
    {kMicrosoft, "NhwcConv", "weights are [m, kernel..., c / group]"},
    {kMicrosoft, "QAttention", "not `do_rotary`, shared buffers"},
    {kMicrosoft, "RotaryEmbedding", "`scale` = 1"},
    {kMl, "DictVectorizer", "an error: maps are not supported as inputs"},
    {kMl, "LinearClassifier", "one score of two classes: not `PROBIT`"},
    {kMl, "SVMClassifier", "one score of two classes: not `PROBIT`"},
    {kMl, "TreeEnsembleClassifier", "weights of one of two classes: not `PROBIT`"},
    {kMl, "ZipMap", "the result is the tensor of scores"},
};

struct Entry {
  int since;
  bool is_function;
};
using Entries = std::map<std::string, Entry>;

// Adds the operators that ONNX defines as functions and that have no rows.
void add_functions(const std::string& domain, Entries& entries) {
  for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    if (frontend::normalised_domain(schema.domain()) != domain) continue;
    if (!schema.HasFunction() && !schema.HasContextDependentFunction()) continue;
    if (schema.Name() == "Bernoulli") continue;  // its body has random numbers
    const auto found = entries.find(schema.Name());
    if (found == entries.end())
      entries.emplace(schema.Name(), Entry{schema.since_version(), true});
    else if (found->second.is_function)
      found->second.since = std::min(found->second.since, schema.since_version());
  }
}

void print_domain(const std::string& domain, const Entries& entries) {
  std::printf("\n## %s\n\n%zu operators.\n\n", domain.empty() ? "ai.onnx" : domain.c_str(),
              entries.size());
  std::set<std::string> with_limits;
  for (const Limit& limit : kLimits)
    if (domain == limit.domain) with_limits.insert(limit.op);
  std::printf(with_limits.empty() ? "| operator | since |\n|---|---|\n"
                                  : "| operator | since | limits |\n|---|---|---|\n");
  for (const auto& [op, entry] : entries) {
    std::printf("| %s | %d%s |", op.c_str(), entry.since, entry.is_function ? "*" : "");
    const char* text = "";
    for (const Limit& limit : kLimits)
      if (domain == limit.domain && op == limit.op) text = limit.text;
    std::printf("%s%s%s\n", with_limits.empty() ? "" : " ", text, with_limits.empty() ? "" : " |");
  }
}

}  // namespace

int main() {
  std::map<std::string, Entries> domains;
  frontend::for_each_row([&](llvm::StringRef domain, const frontend::OpRow& row) {
    auto [entry, is_new] = domains[domain.str()].try_emplace(row.op, Entry{row.since, false});
    if (!is_new) entry->second.since = std::min(entry->second.since, row.since);
  });
  std::fputs(kPreface, stdout);
  for (auto& [domain, entries] : domains) {
    add_functions(domain, entries);
    print_domain(domain, entries);
  }
  for (const Limit& limit : kLimits)
    if (!domains[limit.domain].contains(limit.op)) {
      std::fprintf(stderr, "operator_docs: there is no operator %s.%s\n", limit.domain, limit.op);
      return 1;
    }
  return 0;
}
