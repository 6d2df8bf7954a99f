"""Prints a graph with N sv.if ops in one another: nested_regions.py N."""
import sys

count = int(sys.argv[1])
kind = "!sv.tensor<f32[n]>"
print(f'func.func @main(%c: !sv.tensor<bool[]> {{sv.name = "c"}}, %x: {kind} {{sv.name = "x"}})')
print(f'    -> ({kind} {{sv.name = "y"}}) {{')
for i in range(count):
    print(f"%v{i} = sv.if %c : (!sv.tensor<bool[]>) -> {kind} {{")
print(f"%neg = sv.neg %x : ({kind}) -> {kind}")
last = "%neg"
for i in reversed(range(count)):
    print(f"sv.yield {last} : {kind}\n}} else {{\nsv.yield %x : {kind}\n}}")
    last = f"%v{i}"
print(f"return {last} : {kind}\n}}")
