#!/usr/bin/env python3
"""Which convolutions are slow, compared with oneDNN and with convolutions of similar sizes?

    build/release/bin/conv_layers_bench --json >layers.jsonl
    bench/conv_plot.py layers.jsonl -o layers.svg
    build/release/bin/conv_sweep_bench --json >sweep.jsonl
    bench/conv_plot.py sweep.jsonl -o sweep.svg

For the layers of networks, plots a row per network with a dot per layer: the ratio of its time to
oneDNN's, on a logarithmic axis. Lines mark the limits of 0.92 and 1.08. For a sweep, plots the time
per multiply-add over each parameter, with a line per kind of convolution. A time of 1 is that at
the peak. Circles mark outliers.
"""
import argparse
import json
import pathlib
import sys

sys.dont_write_bytecode = True
from svg import COLOURS, Drawing, log_part  # noqa: E402

LIMITS = [0.92, 1.08]
TICKS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]


def grouped(points, key):
    """The points by the value of a key, in the order of the first points."""
    groups = {}
    for point in points:
        groups.setdefault(point[key], []).append(point)
    return groups


def axis_range(values):
    """The smallest and the largest tick of a logarithmic axis that contains the values."""
    low = max([t for t in TICKS if t <= min(values)], default=TICKS[0])
    high = min([t for t in TICKS if t >= max(values)], default=max(values))
    return low, high


def layers_plot(layers):
    left, top, width, row_height = 120, 30, 520, 50
    networks = grouped(layers, "network")
    height = row_height * len(networks)
    low, high = axis_range([0.5, 2, *(layer["ratio"] for layer in layers)])
    x = lambda ratio: left + width * log_part(ratio, low, high)
    drawing = Drawing(left + width + 30, top + height + 50)
    for tick in (t for t in [*TICKS, 0.7, 1.4] if low <= t <= high):
        drawing.line([(x(tick), top), (x(tick), top + height)])
        drawing.text(x(tick), top + height + 18, f"{tick:g}")
    for limit, anchor in zip(LIMITS, ["end", "start"]):
        drawing.line([(x(limit), top), (x(limit), top + height)], "#d55e00", dashes="4 3")
        drawing.text(x(limit), top - 8, f"{limit:g}", anchor, "#d55e00")
    drawing.text(left + width / 2, top + height + 38,
                 "time of scopevm / time of oneDNN, a dot per layer")
    for row, (network, members) in enumerate(networks.items()):
        y = top + row_height * (row + 0.5)
        drawing.text(left - 10, y + 4, network, "end")
        for layer in members:
            title = f'{layer["count"]} x {layer["layer"]}: {layer["ratio"]:.2f}'
            drawing.dot(x(layer["ratio"]), y, title, COLOURS[row % len(COLOURS)])
    return str(drawing)


def panel(drawing, top, height, parameter, points, colours):
    """The plot of one parameter of a sweep."""
    left, width = 60, 560
    first, last = min(p["value"] for p in points), max(p["value"] for p in points)
    low, high = axis_range([1, 2, *(p["relative_time"] for p in points)])
    x = lambda p: left + width * (p["value"] - first) / max(last - first, 1)
    y = lambda p: top + height * (1 - log_part(p["relative_time"], low, high))
    for tick in (t for t in TICKS if low <= t <= high):
        drawing.y_tick(left, top + height * (1 - log_part(tick, low, high)), width, f"{tick:g}")
    step = 16 if last > 16 else 1
    for value in sorted({first, *range(step, last + 1, step)}):
        drawing.text(x({"value": value}), top + height + 18, value)
    drawing.text(left + width / 2, top + height + 36, parameter)
    for kind, members in grouped(points, "kind").items():
        members.sort(key=lambda p: p["value"])
        drawing.line([(x(p), y(p)) for p in members], colours[kind])
        for p in members:
            if p["is_outlier"]:
                title = f'{p["layer"]}: {p["relative_time"]:.2f}'
                drawing.dot(x(p), y(p), title, colours[kind], is_filled=False)


def sweep_plot(points):
    height, gap = 200, 70
    colours = dict(zip(grouped(points, "kind"), COLOURS))
    parameters = grouped(points, "parameter")
    drawing = Drawing(650, 30 + (height + gap) * len(parameters))
    drawing.text(60, 18, "time per multiply-add / time at the peak", "start")
    for i, (kind, colour) in enumerate(colours.items()):
        drawing.text(350 + 90 * i, 18, kind, "start", colour)
    for i, (parameter, members) in enumerate(parameters.items()):
        panel(drawing, 30 + (height + gap) * i, height, parameter, members, colours)
    return str(drawing)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", type=pathlib.Path, help="output of a program with --json")
    parser.add_argument("-o", dest="plot", type=pathlib.Path, required=True, help="SVG file")
    arguments = parser.parse_args()
    points = [json.loads(line) for line in arguments.lines.read_text().splitlines() if line]
    if not points:
        sys.exit(f"{arguments.lines}: no lines, expected the output of a program with --json")
    plot = layers_plot if "network" in points[0] else sweep_plot
    arguments.plot.write_text(plot(points))


if __name__ == "__main__":
    main()
