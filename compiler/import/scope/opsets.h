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
  // With allow_newer, the standard domain can have a newer version than the importer knows.
  explicit Opsets(bool allow_newer) : allow_newer_(allow_newer) {}
  // Adds imports, which replace those of the same domains. Errors: kInvalidModel.
  Status add(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports);
  // The version of a normalised domain. No value if it is not imported.
  std::optional<int> version(const std::string& domain) const;

 private:
  bool allow_newer_;
  std::map<std::string, int> versions_;  // by domain
};

}  // namespace scopevm::compiler::frontend
