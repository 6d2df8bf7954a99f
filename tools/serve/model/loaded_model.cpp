// Loads a module; see loaded_model.h.
#include "tools/serve/model/loaded_model.h"

#include <algorithm>
#include <utility>

#include "runtime/quoted.h"

namespace scopevm::serve {
namespace {

std::vector<StatePair> states_of(const Signature& signature, const SequenceConfig& config) {
  std::vector<StatePair> states = config.pairs;
  for (const TensorSignature& input : signature.inputs) {
    const bool is_given = std::ranges::find(states, input.name, &StatePair::input) != states.end();
    if (input.state_output >= 0 && !is_given)
      states.push_back(
          {input.name, signature.outputs[static_cast<size_t>(input.state_output)].name, {}});
  }
  return states;
}

Status check_states(const Signature& signature, const std::vector<StatePair>& states) {
  for (const StatePair& pair : states) {
    const bool has_input = std::ranges::find(signature.inputs, pair.input,
                                             &TensorSignature::name) != signature.inputs.end();
    const bool has_output = std::ranges::find(signature.outputs, pair.output,
                                              &TensorSignature::name) != signature.outputs.end();
    if (!has_input || !has_output)
      return {StatusCode::kInvalidArgument,
              "config.json: \"states\": the module has no " +
                  std::string(has_input ? "output " : "input ") +
                  runtime::quoted(has_input ? pair.output : pair.input)};
  }
  return {};
}

}  // namespace

LoadedModel::LoadedModel(std::string name_, int64_t version_, ModelConfig config_, Module module_,
                         Session session_)
    : name(std::move(name_)),
      version(version_),
      config(std::move(config_)),
      module(std::move(module_)),
      session(std::move(session_)),
      states(states_of(module.signature(), config.sequences)),
      sequences(config.sequences) {}

Result<std::shared_ptr<LoadedModel>> LoadedModel::load(std::string name, int64_t version,
                                                       const std::string& path, ModelConfig config,
                                                       const ModelEnvironment& environment) {
  SCOPEVM_ASSIGN_OR_RETURN(const Module module, Module::load(path, environment.load));
  SessionOptions options;
  options.threads = environment.threads;
  options.scheduler = environment.scheduler;
  SCOPEVM_ASSIGN_OR_RETURN(const Session session, Session::create(module, options));
  auto model =
      std::make_shared<LoadedModel>(std::move(name), version, std::move(config), module, session);
  SCOPEVM_RETURN_IF_ERROR(check_states(module.signature(), model->states));
  for (const std::map<std::string, int64_t>& dims : model->config.warm_up) {
    Status status = session.warm_up(dims);
    if (!status.ok()) return std::move(status).with_context("config.json: \"warm_up\"");
  }
  return model;
}

}  // namespace scopevm::serve
