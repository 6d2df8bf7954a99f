"""Plots in SVG format, without dependencies: compile_growth.py and conv_plot.py use them."""
import html
import math

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933",
           "#882255"]


def log_part(value, low, high):
    """The position of a value on a logarithmic axis, as part of its length. Smaller values than
    `low` are at its start."""
    return math.log(max(value, low) / low) / math.log(high / low)


class Drawing:
    """The elements of an image, in drawing order. Coordinates are pixels from the top left."""

    def __init__(self, width, height):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                      'font-family="sans-serif" font-size="12">']

    def text(self, x, y, text, anchor="middle", colour="#000"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">'
                          f'{html.escape(str(text))}</text>')

    def line(self, points, colour="#ccc", dashes=None):
        """A line through the points."""
        drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        style = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(f'<polyline points="{drawn}" fill="none" stroke="{colour}"{style}/>')

    def dot(self, x, y, title, colour, is_filled=True):
        """A circle. Viewers show the title while the pointer is over it."""
        fill = f'fill="{colour}" fill-opacity="0.5"' if is_filled else 'fill="none"'
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" stroke="{colour}" {fill}>'
                          f'<title>{html.escape(title)}</title></circle>')

    def y_tick(self, left, y, width, label):
        """A horizontal grid line, with its label at the left."""
        self.line([(left, y), (left + width, y)])
        self.text(left - 6, y + 4, label, anchor="end")

    def __str__(self):
        return "\n".join([*self.parts, "</svg>", ""])
