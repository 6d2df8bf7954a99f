// scopevm alloc plot: draws a memory trace or a plan as a page.
#include <memory>
#include <string_view>

#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/command_line/parser.h"
#include "tools/files/file.h"
#include "tools/lab/plot/history.h"
#include "tools/lab/plot/page/page_data.h"
#include "tools/page/page.h"

// The page of plot/page, which CMake embeds.
extern const std::string_view kPlotPage;

namespace scopevm::lab {
namespace {

struct PlotOptions {
  std::string input;
  std::string output;
};

Status plot(const PlotOptions& options) {
  SCOPEVM_RETURN_IF_ERROR(tool::check_is_no_input(options.output, {options.input}));
  SCOPEVM_RETURN_IF_ERROR(tool::check_is_writable(options.output));
  SCOPEVM_ASSIGN_OR_RETURN(const History history, read_history(options.input));
  return tool::write_file(options.output, tool::html_page(kPlotPage, page_data(history)));
}

void declare(CLI::App& command, PlotOptions& options) {
  command
      .add_option("FILE", options.input,
                  "Memory trace, or plan: a CSV file with the columns id, lower, upper, size, "
                  "offset")
      ->required();
  command.add_option("-o,--output", options.output, "Output HTML file")
      ->type_name("PAGE.html")
      ->required();
}

int execute(const PlotOptions& options) { return tool::report(plot(options)); }

const tool::Command<PlotOptions> plot_command(
    {.position = 105,
     .name = "alloc plot",
     .description =
         "Draw a memory trace or plan as an HTML page: live bytes, addresses, call stacks"},
    declare, execute);

}  // namespace
}  // namespace scopevm::lab
