"""The memory of a call: by memory scope and by storage, as records, a table and a drawing."""

import dataclasses
import html

from ._html import size_text, table


@dataclasses.dataclass(frozen=True)
class BoundLine:
    """One storage of a call."""

    device: str
    scope: str
    what: str  #: "workspace", the name of a result, "calls", "lists", ...
    is_result: bool
    depends_on_data: bool  #: the size is known only during a call; `bytes` is then 0
    bytes: int
    lower_bound_bytes: int  #: maximum sum of the bytes that are live simultaneously
    formula: str  #: `bytes` over dimensions and `Bound.definitions`

    @property
    def name(self) -> str:
        """Such as "workspace" or "result y"."""
        return f"result {self.what}" if self.is_result else self.what


@dataclasses.dataclass(frozen=True)
class ScopeBound:
    """The sum of the storages in one memory scope of one device."""

    device: str
    scope: str
    bytes: int
    lower_bound_bytes: int


@dataclasses.dataclass(frozen=True, repr=False)
class Bound:
    """The bytes that a call allocates: `Module.bound()` and `Module.largest_bound()`."""

    function: str  #: the function that a call runs: "main" or a variant
    scopes: tuple[ScopeBound, ...]
    lines: tuple[BoundLine, ...]
    definitions: dict[str, str]  #: names that formulas use, and their formulas
    dims: dict
    threads: int

    @property
    def bytes(self) -> int:
        """The sum over all memory scopes of all devices."""
        return sum(scope.bytes for scope in self.scopes)

    def __getitem__(self, scope: str) -> int:
        """The bytes in a memory scope: "global" of all devices, or "cpu.global" of one."""
        found = [s.bytes for s in self.scopes if scope in (s.scope, f"{s.device}.{s.scope}")]
        if not found:
            names = ", ".join(dict.fromkeys(s.scope for s in self.scopes))
            raise KeyError(f"no scope {scope!r}; the bound has: {names}")
        return sum(found)

    def _rows(self):
        for line in self.lines:
            yield (line.device, line.scope, "data" if line.depends_on_data else line.bytes,
                   line.lower_bound_bytes, line.name, line.formula)
        for scope in self.scopes:
            yield scope.device, scope.scope, scope.bytes, scope.lower_bound_bytes, "total", ""

    def __repr__(self):
        head = ("device", "scope", "bytes", "lower bound", "", "formula")
        rows = [head, *(tuple(map(str, row)) for row in self._rows())]
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        def text(row):
            cells = [cell.rjust(width) if i in (2, 3) else cell.ljust(width)
                     for i, (cell, width) in enumerate(zip(row, widths))]
            return "  ".join(cells).rstrip()
        names = [f"{name} = {formula}" for name, formula in self.definitions.items()]
        return "\n".join([*map(text, rows), *names])

    def _repr_html_(self):
        head = ("device", "scope", "bytes", "lower bound", "", "formula")
        names = "".join(f"<div>{html.escape(f'{name} = {formula}')}</div>"
                        for name, formula in self.definitions.items())
        return table(head, self._rows()) + names + self.svg()

    def svg(self, width: int = 720) -> str:
        """A drawing: a bar for each memory scope, divided into its storages."""
        return _Drawing(self, max(int(width), 320)).text()

    def _repr_svg_(self):
        return self.svg()


def make_bound(raw, dims, threads):
    """A Bound from the tuples of the extension module."""
    function, scopes, lines, definitions = raw
    return Bound(function, tuple(ScopeBound(*row) for row in scopes),
                 tuple(BoundLine(*row) for row in lines), dict(definitions), dims, threads)


# Colours that people with colour blindness distinguish (Okabe and Ito).
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442")


class _Drawing:
    """Bars from the left, one for each memory scope; the axis is in bytes."""

    LABEL, RIGHT, TOP, BAR, GAP, AXIS = 190, 40, 12, 26, 34, 40

    def __init__(self, bound, width):
        self.bound, self.width = bound, width
        most = max([scope.bytes for scope in bound.scopes], default=0)
        self.ticks = _ticks(most)
        self.scale = (width - self.LABEL - self.RIGHT) / max(self.ticks[-1], 1)
        self.parts = []

    def add(self, name, text="", **attributes):
        pairs = "".join(f' {key.replace("_", "-")}="{html.escape(str(value))}"'
                        for key, value in attributes.items())
        self.parts.append(f"<{name}{pairs}>{text}</{name}>")

    def label(self, x, y, text, **attributes):
        self.add("text", html.escape(text), x=f"{x:.1f}", y=f"{y:.1f}", **attributes)

    def text(self):
        bars = len(self.bound.scopes)
        bottom = self.TOP + bars * (self.BAR + self.GAP)
        for tick in self.ticks:
            x = self.LABEL + tick * self.scale
            self.add("line", x1=f"{x:.1f}", x2=f"{x:.1f}", y1=self.TOP, y2=bottom, stroke="#ddd")
            self.label(x, bottom + 16, size_text(tick), text_anchor="middle")
        self.label(self.LABEL, bottom + 32, "bytes of a call")
        for i, scope in enumerate(self.bound.scopes):
            self.bar(scope, self.TOP + i * (self.BAR + self.GAP))
        height = bottom + self.AXIS
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{height}" '
                f'viewBox="0 0 {self.width} {height}" font-family="sans-serif" font-size="12">'
                f'<rect width="{self.width}" height="{height}" fill="white"/>'
                + "".join(self.parts) + "</svg>")

    def bar(self, scope, y):
        name = f"{scope.device}.{scope.scope}"
        self.label(self.LABEL - 8, y + 17, name, text_anchor="end")
        x, legend = float(self.LABEL), float(self.LABEL)
        lines = [line for line in self.bound.lines
                 if (line.device, line.scope) == (scope.device, scope.scope)]
        for i, line in enumerate(lines):
            colour = _COLOURS[i % len(_COLOURS)]
            size = "depends on data" if line.depends_on_data else size_text(line.bytes)
            title = f"<title>{html.escape(f'{line.name}: {size} = {line.formula}')}</title>"
            wide = line.bytes * self.scale
            self.add("rect", title, x=f"{x:.1f}", y=y, width=f"{wide:.1f}", height=self.BAR,
                     fill=colour)
            x += wide
            text = f"{line.name} {size}"
            if legend + 7 * len(text) > self.width - self.RIGHT:
                continue  # it has a title only
            self.add("rect", x=f"{legend:.1f}", y=y + self.BAR + 7, width=9, height=9, fill=colour)
            self.label(legend + 13, y + self.BAR + 16, text, fill="#444")
            legend += 7 * len(text) + 24
        self.label(x + 6 if x < self.width - 90 else x - 6, y + 17, size_text(scope.bytes),
                   text_anchor="start" if x < self.width - 90 else "end",
                   fill="black" if x < self.width - 90 else "white")


def _ticks(most):
    """At most six numbers from 0 that include `most`, in steps of 1, 2 or 5 by powers of two."""
    unit = 1
    while unit * 1024 <= most:
        unit *= 1024
    step = unit
    for factor in (1, 2, 5, 10, 20, 50, 100, 200, 500):
        step = unit * factor
        if step * 5 >= most:
            break
    ticks = [0]
    while ticks[-1] < most or len(ticks) < 2:
        ticks.append(ticks[-1] + step)
    return ticks
