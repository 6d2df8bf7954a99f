// The reader and writer of the next version of the module format (CMakeLists.txt).
//   next_version write FOLDER   writes known.bc, section.bc, required_section.bc, feature.bc and
//                               opcode.bc
//   next_version read FILE...   reads and verifies files; prints the error of the first that fails
#include <cstdio>
#include <string>
#include <string_view>

#include "runtime/mapped_file.h"
#include "tests/vm/format/sample_modules.h"
#include "vm/format/assembly/assembler.h"
#include "vm/format/binary/layout.h"
#include "vm/format/binary/reader.h"
#include "vm/format/binary/writer.h"
#include "vm/format/verify/verify.h"

namespace scopevm::format {
namespace {

ModuleContents with_new_opcode() {
  return *assemble("scopevm_module " + version_text(kVersionMajor, kVersionMinor) + R"( producer "t"
device "cpu" kind "cpu"
pool "global" heap device 0 limit -1
function "main" registers 2 slots 0 {
  input "x" f32 ["16"]
  input "y" f32 ["16"]
  output "z" f32 ["16"]
  code {
    swap a=%r0 b=%r1
    ret (%r0)
  }
}
)",
                   "with_new_opcode");
}

Status write(const std::string& folder) {
  SCOPEVM_RETURN_IF_ERROR(write_module_file(folder + "/known.bc", dense_module()));
  ModuleContents module = dense_module();
  module.sections.push_back({"extra", false, aligned_copy("data", 4)});
  SCOPEVM_RETURN_IF_ERROR(write_module_file(folder + "/section.bc", module));
  module.sections.back().is_required = true;
  SCOPEVM_RETURN_IF_ERROR(write_module_file(folder + "/required_section.bc", module));
  module = dense_module();
  module.required_features = {"new feature"};
  SCOPEVM_RETURN_IF_ERROR(write_module_file(folder + "/feature.bc", module));
  return write_module_file(folder + "/opcode.bc", with_new_opcode());
}

Status read(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, runtime::map_file(path));
  Result<ModuleContents> module = read_module({file.owner, file.data, file.size});
  return module.ok() ? verify(*module) : Status(module.status());
}

int report(const Status& status) {
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}

}  // namespace
}  // namespace scopevm::format

int main(int argc, char** argv) {
  using namespace scopevm::format;
  if (argc == 3 && std::string_view(argv[1]) == "write") return report(write(argv[2]));
  for (int i = 2; i < argc; ++i)
    if (report(read(argv[i])) != 0) return 1;
  return 0;
}
