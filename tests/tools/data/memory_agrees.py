#!/usr/bin/env python3
"""Checks that explain --memory and bound print the same bytes.

    memory_agrees.py MODEL [DIM=VALUE ...] [-- OPTION ...]

The options are those of compile and explain. Without dims, the dims are those that explain chooses.
"""

import json
import os
import subprocess
import sys
import tempfile


def output_of(*command):
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def main(model, *arguments):
    split = arguments.index("--") if "--" in arguments else len(arguments)
    dims, options = arguments[:split], arguments[split + 1:]
    with tempfile.TemporaryDirectory() as folder:
        module = os.path.join(folder, "m.bc")
        subprocess.run(["scopevm", "compile", model, "-o", module, *options], check=True)
        at = [part for dim in dims for part in ("--at", dim)]
        explained = output_of("scopevm", "explain", model, "--memory", "--json", "--threads", "3",
                              *at, *options)["functions"][0]
        values = [f"{name}={value}" for name, value in explained["dims"].items()
                  if not name.startswith("$")]
        bound = output_of("scopevm", "bound", module, "--json", "--threads", "3", *values)
    lines = [[f"{line['device']}.{line['scope']}", line["what"], line["bytes"],
              line["lower_bound_bytes"], line["depends_on_data"]] for line in bound["lines"]]
    assert lines == [[line["pool"], line["what"], line["bytes"], line["lower_bound_bytes"],
                      line["depends_on_data"]] for line in explained["lines"]], lines
    totals = {f"{scope['device']}.{scope['scope']}": (scope["bound_bytes"],
                                                       scope["lower_bound_bytes"])
              for scope in bound["memory"]}
    assert totals == {pool["pool"]: (pool["bytes"], pool["lower_bound_bytes"])
                      for pool in explained["pools"]
                      if any(line["pool"] == pool["pool"] for line in explained["lines"])}, totals
    for arena in explained["arenas"]:
        live = [buffer for buffer in arena["buffers"]
                if buffer["first_step"] <= arena["peak"]["step"] <= buffer["last_step"]]
        assert sum(buffer["bytes"] for buffer in live) == arena["lower_bound_bytes"], arena["pool"]
        assert max((buffer["offset"] + buffer["bytes"] for buffer in arena["buffers"]),
                   default=0) == arena["bytes"], arena["pool"]


main(*sys.argv[1:])
