// The opsets that a model or a function imports.
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <optional>
#include <string>

#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

// "" for both names of the standard domain, "" and "ai.onnx"; else the domain.
const std::string& normalised_domain(const std::string& domain);

class Opsets {
 public:
  // Adds imports, which replace those of the same domains. Errors: kInvalidModel.
  Status add(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports);
  // The version of a normalised domain. No value if it is not imported.
  std::optional<int> version(const std::string& domain) const;

 private:
  std::map<std::string, int> versions_;  // by domain
};

}  // namespace scopevm::compiler::frontend
