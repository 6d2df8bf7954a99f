// Generates tokens with a language model for many prompts at once, within a limit of memory:
//   generate MODULE [OPTION...] < prompts
// Each line of the input is a prompt: token ids, separated by spaces. Each line of the output is
// the number of a prompt, from 1, and its next token, as soon as it is known.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "generator.h"

using namespace scopevm;

namespace {

constexpr char kUsage[] = R"(usage: generate MODULE [OPTION...] < prompts
  --memory BYTES     limit of the caches and steps of all sequences (0: none)
  --max-tokens N     generated tokens of a sequence (32)
  --chunk N          tokens of a prompt in one step (128)
  --workers N        steps that run at the same time (one per CPU)
  --stop TOKEN       end a sequence after this token; can be repeated
  --temperature T    divides the logits; 0: take the greatest (0)
  --top-p P          draw from the most probable tokens that have this probability (1)
  --seed N           of the random numbers (0)
)";

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "generate: %s\n", message.c_str());
  std::exit(1);
}

template <typename T>
T check(Result<T> result) {
  if (!result.ok()) fail(std::string(result.status().message()));
  return *std::move(result);
}

template <typename T>
std::optional<T> parse_number(std::string_view text, T least, T most) {
  T value{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last || !(value >= least && value <= most)) return {};
  return value;
}

template <typename T>
T number(std::string_view option, std::string_view text, T least, T most) {
  const std::optional<T> value = parse_number(text, least, most);
  if (!value) fail(std::string(option) + ": \"" + std::string(text) + "\" is out of range");
  return *value;
}

GeneratorOptions parse(int argc, char** argv) {
  constexpr int64_t kMost = int64_t{1} << 40;
  GeneratorOptions options{
      .max_tokens = 32,
      .chunk = 128,
      .workers = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))};
  for (int i = 2; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) fail(std::string(name) + ": no value\n" + kUsage);
    const std::string_view value = argv[i + 1];
    if (name == "--memory") {
      options.memory = number<int64_t>(name, value, 0, kMost);
    } else if (name == "--max-tokens") {
      options.max_tokens = number<int64_t>(name, value, 1, kMost);
    } else if (name == "--chunk") {
      options.chunk = number<int64_t>(name, value, 1, kMost);
    } else if (name == "--workers") {
      options.workers = number(name, value, 1, 4096);
    } else if (name == "--stop") {
      options.stops.push_back(number<int64_t>(name, value, 0, kMost));
    } else if (name == "--temperature") {
      options.sampling.temperature = number(name, value, 0.0F, 1e6F);
    } else if (name == "--top-p") {
      options.sampling.top_p = number(name, value, 1e-6F, 1.0F);
    } else if (name == "--seed") {
      options.seed = number<uint64_t>(name, value, 0, UINT64_MAX);
    } else {
      fail("unknown option " + std::string(name) + "\n" + kUsage);
    }
  }
  return options;
}

// Empty if the line contains anything else than token ids.
std::vector<int64_t> tokens_of(const std::string& line) {
  std::vector<int64_t> tokens;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const std::optional<int64_t> token = parse_number<int64_t>(word, 0, INT32_MAX);
    if (!token) return {};
    tokens.push_back(*token);
  }
  return tokens;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  const GeneratorOptions options = parse(argc, argv);
  const LanguageModel model = check(LanguageModel::create(check(Module::load(argv[1]))));
  const std::unique_ptr<Generator> generator = check(Generator::create(model, options));

  size_t prompts = 0;
  std::atomic<size_t> failed = 0;
  const auto report = [&failed](size_t prompt, std::string_view message) {
    ++failed;
    std::fprintf(stderr, "prompt %zu: %s\n", prompt, std::string(message).c_str());
  };
  const auto began = std::chrono::steady_clock::now();
  for (std::string line; std::getline(std::cin, line);) {
    const size_t prompt = ++prompts;
    std::vector<int64_t> tokens = tokens_of(line);
    if (tokens.empty()) {
      report(prompt, "expected token ids, separated by spaces");
      continue;
    }
    generator->add({.prompt = std::move(tokens),
                    .number = prompt,
                    .on_token =
                        [prompt](int64_t token) {
                          std::printf("%zu %lld\n", prompt, static_cast<long long>(token));
                          std::fflush(stdout);
                        },
                    .on_end =
                        [prompt, &report](const Status& status) {
                          if (!status.ok()) report(prompt, status.message());
                        }});
  }
  generator->wait();

  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  const Generator::Stats stats = check(generator->stats());
  std::fprintf(stderr,
               "%zu prompts, %lld tokens, %.1f tokens/s\n"
               "at most %zu sequences at once, with at most %lld bytes; peak %lld bytes\n",
               prompts, static_cast<long long>(stats.tokens),
               static_cast<double>(stats.tokens) / seconds.count(), stats.most_sequences,
               static_cast<long long>(stats.most_bytes), static_cast<long long>(stats.peak_bytes));
  if (std::ferror(stdout) != 0) fail("cannot write the tokens");
  return failed == 0 ? 0 : 1;
}
