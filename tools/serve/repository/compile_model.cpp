// Starts the compiler; see compile_model.h.
#include "tools/serve/repository/compile_model.h"

#include "tools/command_line/child_process.h"
#include "tools/compile/program.h"
#include "tools/files/own_files.h"

namespace scopevm::serve {

Status compile_model(const std::filesystem::path& model, const std::filesystem::path& output,
                     const std::vector<std::string>& options, const std::filesystem::path& cache,
                     const std::stop_token& stop) {
  SCOPEVM_ASSIGN_OR_RETURN(const std::string program,
                           tool::find_own_program(tool::kCompileProgram));
  std::vector<std::string> command = {program, "compile", model.string(), "-o", output.string()};
  if (!cache.empty()) command.insert(command.end(), {"--cache", cache.string()});
  command.insert(command.end(), options.begin(), options.end());
  std::string messages;
  SCOPEVM_ASSIGN_OR_RETURN(
      const tool::ChildProcess child,
      tool::run_child(command, {}, &messages, tool::Captured::kOutputAndErrors, stop));
  if (child.exit_code == 0) return {};
  if (stop.stop_requested()) return {StatusCode::kCancelled, "the server ends"};
  while (messages.ends_with('\n')) messages.pop_back();
  if (messages.empty())
    messages = "scopevm compile ended with exit code " + std::to_string(child.exit_code);
  return {StatusCode::kInvalidModel, model.string() + ": " + messages};
}

}  // namespace scopevm::serve
