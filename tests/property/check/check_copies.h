// Checks the reasons that explain<CopyExplanation>() gives for the copies of a graph.
#pragma once

#include <string>

#include "scopevm/compiler.h"

namespace scopevm::compiler::property {

// A graph's assembly with sv.on_device ops after some of its ops. The annotated ops and their
// places depend only on the text.
class Annotated {
 public:
  enum class Forms {
    kBody,  // sv.on_device ops that constrain the annotated op
    kAll,   // all forms of sv.on_device, and sv.device_copy
  };
  explicit Annotated(const std::string& text, Forms forms = Forms::kBody);

  // The assembly. If `left_out` is not 0, it is the line of an annotation, counted from 1. This
  // annotation is left out, and the line is empty.
  std::string text(size_t left_out = 0) const;

 private:
  std::vector<std::string> lines_;
  std::vector<size_t> annotations_;  // 1-based lines
};

// Checks that both reasons of each copy are given, and that each constraint that they name is one
// of `options.places` or of the annotations. Compiles the graph without each of these constraints:
// the copy must then not exist, or have another reason. Returns a description of the first copy for
// which this does not hold; empty if there is none. Ignores `options.model_path`. Errors: those of
// explain<CopyExplanation>().
Result<std::string> wrong_copy(const Annotated& graph, CompileOptions options);

}  // namespace scopevm::compiler::property
