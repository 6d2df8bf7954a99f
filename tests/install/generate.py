#!/usr/bin/env python3
"""Tests examples/generate: generate.py PROGRAM MODULE MODEL OTHER_MODULE. MODULE is MODEL, tiny.mlir,
compiled with states; OTHER_MODULE is the module of another kind of model."""
import random
import re
import subprocess
import sys

import numpy as np

program, module, model, other_module = sys.argv[1:]


def constants():
    with open(model, encoding="utf-8") as file:
        values = re.findall(r"dense<(\[\[.*?\]\])>", file.read())
    return [np.array(eval(value), np.float64) for value in values]  # nested lists of numbers


table, weight = constants()


def run(prompts, *options, of=module):
    """The tokens of each prompt, the numbers of the last line, and the exit code with the errors."""
    text = "\n".join(" ".join(map(str, prompt)) for prompt in prompts)
    result = subprocess.run([program, of, *map(str, options)], input=text, capture_output=True,
                            text=True, timeout=600)
    tokens = [[] for _ in prompts]
    for line in result.stdout.splitlines():
        prompt, token = map(int, line.split())
        tokens[prompt - 1].append(token)
    numbers = re.search(r"at most (\d+) sequences at once, with at most (\d+) bytes; peak (\d+) bytes",
                        result.stderr)
    return tokens, [int(x) for x in numbers.groups()] if numbers else [], result


def greedy(prompt, count, stop=None):
    tokens = list(prompt)
    while len(tokens) - len(prompt) < count and (stop is None or tokens[len(prompt):][-1:] != [stop]):
        tokens.append(int(np.argmax(table[tokens].sum(0) @ weight)))
    return tokens[len(prompt):]


def check(condition, what):
    if not condition:
        sys.exit(f"generate.py: {what}")


def check_random_prompts():
    draw = random.Random(1)
    for _ in range(12):
        prompts = [[draw.randrange(16) for _ in range(draw.randint(1, 40))]
                   for _ in range(draw.randint(1, 30))]
        count, stop = draw.randint(1, 24), draw.choice([None, draw.randrange(16)])
        options = ["--max-tokens", count, "--chunk", draw.choice([1, 3, 7, 128]), "--workers",
                   draw.randint(1, 3), *(["--stop", stop] if stop is not None else [])]
        tokens, (_, most, _), result = run(prompts, *options)
        check(tokens == [greedy(prompt, count, stop) for prompt in prompts], f"{options}: {tokens}")
        check(result.returncode == 0, f"{options}: {result.stderr}")
        # In less memory, sequences wait, and nothing else changes.
        limit = most - int(draw.random() * most / 2)
        limited, numbers, result = run(prompts, *options, "--memory", limit)
        if "needs" not in result.stderr:  # a sequence alone needs more
            check(limited == tokens, f"{options} in {limit} bytes: {limited}")
            check(numbers[1] <= limit, f"{options} in {limit} bytes: {result.stderr}")


def bytes_alone(prompt, *options):
    """The caches of a sequence, and one step for each worker."""
    _, _, result = run([prompt], *options, "--memory", 1)
    return int(re.search(r"the sequence needs (\d+) bytes", result.stderr).group(1))


def check_memory():
    """64 sequences in the memory that 16 of them need at their maximum."""
    prompts = [[(i + j) % 16 for j in range(20)] for i in range(64)]
    options = ["--max-tokens", 300, "--chunk", 8, "--workers"]
    with_one, with_two = (bytes_alone(prompts[0], *options, workers) for workers in (1, 2))
    caches = 2 * with_one - with_two
    limit = with_two + 15 * caches
    tokens, (sequences, most, peak), result = run(prompts, *options, 2, "--memory", limit)
    check(result.returncode == 0, result.stderr)
    check(tokens == [greedy(prompt, 300) for prompt in prompts], "64 sequences have other tokens")
    # They have equal sizes, so the sum of the peaks of the memory scopes is a bound, too.
    check(sequences <= 16 and peak <= most <= limit, result.stderr)
    _, (sequences, _, _), result = run(prompts, *options, 2, "--memory", limit - 1)
    check(sequences <= 15 and result.returncode == 0, result.stderr)


def check_sampling():
    prompts = [[i] for i in range(16)]
    options = ["--temperature", 2, "--seed", 5]
    tokens = run(prompts, *options)[0]
    check(tokens == run(prompts, *options, "--workers", 3, "--chunk", 1)[0], "tokens depend on workers")
    check(tokens != run(prompts, "--temperature", 2, "--seed", 6)[0], "tokens do not depend on the seed")
    check(run(prompts, *options, "--top-p", "1e-6")[0] == [greedy(p, 32) for p in prompts],
          "top-p 1e-6 is not greedy")
    # Of the first tokens, more probable ones are more frequent, and --top-p excludes the least.
    logits = table[3] @ weight / 2
    probabilities = np.exp(logits) / np.exp(logits).sum()
    drawn = run([[3]] * 4000, "--temperature", 2, "--max-tokens", 1)[0]
    shares = np.bincount([token for (token,) in drawn], minlength=16) / 4000
    check(np.abs(shares - probabilities).max() < 0.03, f"shares {shares}, expected {probabilities}")
    order = np.argsort(-probabilities)
    nucleus = set(order[:1 + np.searchsorted(np.cumsum(probabilities[order]), 0.5)])
    drawn = run([[3]] * 500, "--temperature", 2, "--max-tokens", 1, "--top-p", 0.5)[0]
    check({token for (token,) in drawn} == nucleus, f"drawn {drawn}, expected {nucleus}")


def check_errors():
    tokens, _, result = run([[1], ["x"], [], [2]], "--max-tokens", 2)
    check(tokens[0] == greedy([1], 2) and tokens[3] == greedy([2], 2), "other prompts failed")
    check(result.returncode == 1, result.stderr)
    check(result.stderr.count("expected token ids, separated by spaces") == 2, result.stderr)
    _, _, result = run([[1]], "--memory", 100)
    check(result.returncode == 1 and "the limit is 100" in result.stderr, result.stderr)
    for options in (["--memory"], ["--chunk", "0"], ["--top-p", "2"], ["--workers", "x"], ["--y", "1"]):
        _, _, result = run([[1]], *options)
        check(result.returncode == 1 and options[0] in result.stderr, f"{options}: {result.stderr}")
    _, _, result = run([[1]], of=other_module)
    check(result.returncode == 1 and "is not one of this program" in result.stderr, result.stderr)


check_random_prompts()
check_memory()
check_sampling()
check_errors()
