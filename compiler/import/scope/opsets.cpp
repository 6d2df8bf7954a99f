// Versions by domain; see opsets.h.
#include "compiler/import/scope/opsets.h"
#include "compiler/import/invalid.h"

namespace scopevm::compiler::frontend {
namespace {

// A newer opset can change the meaning of ops that the handlers implement.
constexpr int kNewestOpset = 27;
constexpr int kNewestOtherOpset = 1000;  // of other domains, and of any domain if allowed

}  // namespace

const std::string& normalised_domain(const std::string& domain) {
  static const std::string standard;
  return domain == "ai.onnx" ? standard : domain;
}

Status Opsets::add(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) {
  std::map<std::string, int> own;
  for (const auto& import : imports) {
    const std::string& domain = normalised_domain(import.domain());
    const bool has_limit = domain.empty() && !allow_newer_;
    const int newest = has_limit ? kNewestOpset : kNewestOtherOpset;
    if (import.version() < 1 || import.version() > newest)
      return invalid("opset version is " + std::to_string(import.version()) + ", expected 1 to " +
                     std::to_string(newest) +
                     (has_limit ? "; --allow-newer-opset permits newer ones" : ""));
    const int version = static_cast<int>(import.version());
    const auto [entry, is_new] = own.try_emplace(domain, version);
    if (!is_new && entry->second != version)
      return invalid("opsets " + std::to_string(entry->second) + " and " + std::to_string(version) +
                     " of domain \"" + domain + "\" are imported");
  }
  own.merge(versions_);
  versions_ = std::move(own);
  return {};
}

std::optional<int> Opsets::version(const std::string& domain) const {
  const auto found = versions_.find(domain);
  return found == versions_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace scopevm::compiler::frontend
