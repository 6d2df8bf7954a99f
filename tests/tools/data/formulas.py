"""Evaluates the formulas that `scopevm inspect` prints at random dims. Compares the values with the
bytes of `scopevm bound`, which the native shape function computes.

    formulas.py MODULE ...

Also checks that definitions use earlier names only, that no formula is omitted, and that lines of
definitions have at most 100 columns.
"""

import json
import random
import re
import subprocess
import sys

FUNCTIONS = {
    "max": max,
    "min": min,
    "floordiv": lambda a, b: a // b,
    "ceildiv": lambda a, b: -(-a // b),
    "mod": lambda a, b: a % b,
}
REQUESTS = 5
THREADS = 3


def scopevm(*arguments):
    return subprocess.run(["scopevm", *arguments], capture_output=True, text=True)


def evaluate(formula, values):
    """Evaluates a formula as a Python expression. Names become look-ups in `values`, because `$` is
    not valid in Python names."""

    def name(match):
        word = match[0]
        return word if word in FUNCTIONS else f"values[{word!r}]"

    return eval(re.sub(r"[A-Za-z_$][\w.$]*", name, formula), {**FUNCTIONS, "values": values})


def random_dims(dimensions):
    dims = {}
    for dimension in dimensions:
        step = dimension["multiple_of"]
        first = -(-dimension["min"] // step)
        last = max(first, min(dimension["max"], random.choice([8, 100, 2000])) // step)
        dims[dimension["name"]] = step * random.randint(first, last)
    return dims


def check(module):
    listing = scopevm("inspect", module).stdout.splitlines()
    for line in listing:
        assert len(line) <= 100 or not line.startswith("  definition"), line
    inspected = json.loads(scopevm("inspect", module, "--json").stdout)
    functions = {function["name"]: function for function in inspected["functions"]}
    compared = 0
    for _ in range(REQUESTS):
        dims = random_dims(functions["main"]["dimensions"])
        given = [f"{name}={value}" for name, value in dims.items()]
        result = scopevm("bound", module, *given, "--threads", str(THREADS), "--json")
        if result.returncode != 0:
            continue  # a check of the shape function rejects these dims
        bound = json.loads(result.stdout)
        assert bound["definitions"] == functions[bound["function"]]["definitions"]
        values = {**dims, "$threads": THREADS}
        runtime = set()  # definitions over runtime-defined symbols have no value here
        for definition in bound["definitions"]:
            assert definition["name"] not in values, definition
            try:
                values[definition["name"]] = evaluate(definition["formula"], values)
            except KeyError as missing:
                assert missing.args[0].startswith("$") or missing.args[0] in runtime, definition
                runtime.add(definition["name"])
        for line in bound["lines"]:
            assert not line["formula"].startswith("omitted"), line
            if line["depends_on_data"]:
                continue
            assert evaluate(line["formula"], values) == line["bytes"], (dims, line)
            compared += 1
    return compared


def main():
    random.seed(1)
    compared = sum(check(module) for module in sys.argv[1:])
    assert compared > 0
    print(f"{compared} values agree")


main()
