// Loads a module; see loaded_model.h.
#include "tools/serve/model/loaded_model.h"

#include <algorithm>
#include <utility>

#include "runtime/quoted.h"
#include "tools/serve/model/find_tensor.h"
#include "tools/serve/model/generation.h"

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
    const bool has_input = find_tensor(signature.inputs, pair.input) != nullptr;
    const bool has_output = find_tensor(signature.outputs, pair.output) != nullptr;
    if (!has_input || !has_output)
      return {StatusCode::kInvalidArgument,
              "config.json: \"states\": the module has no " +
                  std::string(has_input ? "output " : "input ") +
                  runtime::quoted(has_input ? pair.output : pair.input)};
  }
  return {};
}

// The greatest size of a dimension that the module and the configuration permit.
int64_t most_rows(const Signature& signature, const BatchAxes& axes, int64_t configured) {
  const auto dimension =
      std::ranges::find(signature.dimensions, axes.dim, &DimensionSignature::name);
  return std::min(configured, dimension->max);
}

// Null without a configuration.
Result<std::unique_ptr<Batcher>> batcher_for(const Session& session,
                                             const std::optional<BatchConfig>& batch, int workers) {
  if (!batch) return std::unique_ptr<Batcher>();
  const Signature& signature = session.signature();
  Result<BatchAxes> axes = batch_axes(signature, *batch);
  if (!axes.ok()) return std::move(axes).status().with_context("config.json");
  const int64_t rows = most_rows(signature, *axes, batch->max);
  return std::make_unique<Batcher>(session, *std::move(axes), rows, workers);
}

}  // namespace

LoadedModel::LoadedModel(std::string name_, int64_t version_, ModelConfig config_, Module module_,
                         Job::Use ranks_, Session session_, std::unique_ptr<Batcher> batcher_)
    : name(std::move(name_)),
      version(version_),
      config(std::move(config_)),
      module(std::move(module_)),
      ranks(std::move(ranks_)),
      session(std::move(session_)),
      states(states_of(module.signature(), config.sequences)),
      sequences(config.sequences),
      batcher(std::move(batcher_)) {}

Result<std::shared_ptr<LoadedModel>> LoadedModel::load(std::string name, int64_t version,
                                                       const std::string& path, ModelConfig config,
                                                       const ModelEnvironment& environment) {
  SCOPEVM_ASSIGN_OR_RETURN(const Module module, Module::load(path, environment.load));
  SessionOptions options;
  options.threads = environment.threads;
  options.scheduler = environment.scheduler;
  Job::Use ranks;
  if (module.ranks() > 1 && environment.job) {
    SCOPEVM_ASSIGN_OR_RETURN(ranks, environment.job->begin(path, module.ranks()));
    options.transport = ranks.get();
  }
  SCOPEVM_ASSIGN_OR_RETURN(const Session session, Session::create(module, options));
  SCOPEVM_ASSIGN_OR_RETURN(std::unique_ptr<Batcher> batcher,
                           batcher_for(session, config.batch, environment.scheduler.workers()));
  auto model = std::make_shared<LoadedModel>(std::move(name), version, std::move(config), module,
                                             std::move(ranks), session, std::move(batcher));
  SCOPEVM_RETURN_IF_ERROR(check_states(module.signature(), model->states));
  if (model->config.generate) {
    Status status = check_generation(module.signature(), *model->config.generate, model->states);
    if (!status.ok()) return std::move(status).with_context("config.json: \"generate\"");
  }
  for (const std::map<std::string, int64_t>& dims : model->config.warm_up) {
    Status status = session.warm_up(dims);
    if (!status.ok()) return std::move(status).with_context("config.json: \"warm_up\"");
  }
  return model;
}

}  // namespace scopevm::serve
