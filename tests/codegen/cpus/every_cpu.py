#!/usr/bin/env python3
"""Compiles kernels for the x86 CPUs that LLVM knows, and checks the features that images require.

    every_cpu.py BIN_FOLDER LLVM_FOLDER [INTERVAL]

Disassembles each image and assembles it again for a CPU that has only the required features. LLVM's
assembler rejects every instruction that needs another feature. Also checks x86-64-v3 with each
feature added and x86-64-v4 with each feature removed. Checks one target of each INTERVAL in the list,
default 12. 1: every target.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FEATURES = HERE.parents[2] / "runtime/cpu/cpu_features.def"
ROW = re.compile(r'^SCOPEVM_CPU_FEATURE\("(.+?)", "(.+?)"', re.MULTILINE)
LACKS_64_BIT = "has no 64-bit mode"


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def targets(llc, names):
    listing = run(llc, "-mtriple=x86_64", "-mcpu=help", stdin=subprocess.DEVNULL).stderr
    yield from re.findall(r"^  (\S+) +- Select the \S+ processor", listing, re.MULTILINE)
    yield from (f"x86-64-v3,+{name}" for name in names.values())
    yield from (f"x86-64-v4,-{name}" for name in names.values())


def code_of(module, objdump, folder):
    """Returns the instructions of the module's image as assembly."""
    content = module.read_bytes()
    image = folder / "image.so"
    image.write_bytes(content[content.index(b"\x7fELF"):])
    listing = run(objdump, "-d", "--no-show-raw-insn", "--no-leading-addr", image).stdout
    lines = (line.split("#")[0].split("<")[0] for line in listing.splitlines()
             if line.startswith(("\t", " ")))
    return "\n".join(lines) + "\n"


def check(target, names, tools, folder):
    """Returns the reason why the target is wrong; empty if it is correct."""
    module = folder / "module.bc"
    compiled = run(tools["scopevm"], "compile", HERE / "kernels.mlir", "-o", module,
                   "--target-cpu", target)
    if compiled.returncode == 1 and LACKS_64_BIT in compiled.stderr:
        return ""
    if compiled.returncode != 0:
        return f"exit code {compiled.returncode}: {compiled.stderr}"
    inspected = run(tools["scopevm"], "inspect", module).stdout
    required = re.search(r"image .* requires (.*)", inspected)[1].split()
    features = [f"+{names[name]}" for name in required if name != "nothing"]
    if "avx512f" in required:
        features.append("+evex512")  # 512-bit registers, which avx512f of /proc/cpuinfo includes
    code = code_of(module, tools["llvm-objdump"], folder)
    if code.count("\n") < 1000:
        return "the image has too few instructions: was it disassembled?"
    assembled = run(tools["llvm-mc"], "-triple=x86_64", "-mcpu=x86-64",
                    "-mattr=" + ",".join(features), "-filetype=null", input=code)
    return "" if assembled.returncode == 0 else f"requires {required}\n{assembled.stderr[:2000]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("llvm", type=pathlib.Path)
    parser.add_argument("interval", type=int, nargs="?", default=12)
    options = parser.parse_args()
    tools = {name: options.llvm / name for name in ("llc", "llvm-objdump", "llvm-mc")}
    tools["scopevm"] = options.bin / "scopevm"
    names = {name: llvm for llvm, name in ROW.findall(FEATURES.read_text())}
    checked = list(targets(tools["llc"], names))
    if len(checked) < 150:
        sys.exit(f"every_cpu: {len(checked)} targets, expected at least 150")
    checked = checked[::options.interval]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for target in checked:
            reason = check(target, names, tools, pathlib.Path(folder))
            if reason:
                failures += 1
                print(f"{target}: {reason}")
    print(f"{len(checked)} targets, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
