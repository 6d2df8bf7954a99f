// Finds the modules of the corpus, and sets the inputs of their calls; see corpus_modules.h.
#include "tests/corpus/corpus_modules.h"

#include <algorithm>
#include <set>
#include <utility>

namespace scopevm::corpus {

namespace fs = std::filesystem;

fs::path folder() { return SCOPEVM_CORPUS; }

std::vector<fs::path> modules() {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder()))
    if (entry.path().extension() == ".bc") paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

std::string test_name(const ::testing::TestParamInfo<fs::path>& test) {
  std::string name =
      test.param.parent_path().filename().string() + "_" + test.param.stem().string();
  std::ranges::replace(name, '.', '_');
  return name;
}

Status set_inputs(Call& call, const Case& with) {
  for (const NamedTensor& input : with.inputs)
    SCOPEVM_RETURN_IF_ERROR(call.set_input(input.name, input.tensor));
  for (const std::string& name : with.empty) SCOPEVM_RETURN_IF_ERROR(call.set_no_value(name));
  std::set<std::string> sequences;
  for (const NamedTensor& element : with.elements) sequences.insert(element.name);
  for (const std::string& name : sequences) {
    std::vector<Tensor> elements;
    for (const NamedTensor& element : with.elements)
      if (element.name == name) elements.push_back(element.tensor);
    SCOPEVM_RETURN_IF_ERROR(call.set_sequence(name, std::move(elements)));
  }
  return {};
}

}  // namespace scopevm::corpus
