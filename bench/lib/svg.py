"""Plots as inline SVG that follow the page's colours: horizontal bars, and lines over load or percentiles."""
import html
import math

WIDTH = 380
BAR_ROW = 36
PLOT_HEIGHT = 244
LEFT, RIGHT, TOP, BOTTOM = 48, 22, 26, 40
COLOURS = 8  # --c0 is ours


def number(value):
    """Short, for axes and labels."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e6:
        return f"{value / 1e6:.3g} M"
    if size >= 1e4:
        return f"{value / 1e3:.3g} k"
    if size >= 100:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.3g}"


def text(x, y, words, kind="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{html.escape(str(words))}</text>'


def open_svg(height, title):
    return (f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{html.escape(title, quote=True)}" '
            'preserveAspectRatio="xMidYMin meet">')


def bars(plot):
    """One bar for each series, ours first in its own colour, the others alike."""
    rows = [(name, points[0][1]) for name, points in plot["series"].items()]
    most = max(value for _, value in rows) or 1
    are_all_ours = not any(name.startswith("solvegate") for name, _ in rows)
    parts = [open_svg(len(rows) * BAR_ROW + 4, plot["title"])]
    for i, (name, value) in enumerate(rows):
        top = i * BAR_ROW
        colour = "c0" if are_all_ours or name.startswith("solvegate") else "rest"
        parts += [text(0, top + 13, name), text(WIDTH, top + 13, f"{number(value)} {plot['y']}", "value", "end"),
                  f'<rect x="0" y="{top + 18}" width="{WIDTH}" height="9" rx="3" class="track"/>',
                  f'<rect x="0" y="{top + 18}" width="{max(2, WIDTH * value / most):.1f}" height="9" rx="3" class="fill-{colour}"/>']
    return "".join(parts) + "</svg>"


class Axis:
    """From figures to places; logarithmic, by place in a list, or plain from 0."""

    def __init__(self, values, start, end, is_log=False, is_list=False):
        self.start, self.end, self.is_log, self.is_list = start, end, is_log, is_list
        if is_list:
            self.ticks = sorted(set(values))
            return
        positive = [value for value in values if value > 0] or [1]
        self.low = min(positive) if is_log else 0
        self.high = max(positive)
        if is_log:
            self.low, self.high = 10 ** math.floor(math.log10(self.low) + 1e-9), 10 ** math.ceil(math.log10(self.high) - 1e-9)
            self.high = self.high if self.high > self.low else self.low * 10
            self.ticks = [self.low * 10 ** i for i in range(round(math.log10(self.high / self.low)) + 1)]
        else:
            step = nice_step(self.high / 4)
            self.ticks = [step * i for i in range(math.ceil(self.high / step - 1e-9) + 1)]
            self.high = self.ticks[-1]

    def place(self, value):
        if self.is_list:
            share = self.ticks.index(value) / max(len(self.ticks) - 1, 1)
        elif self.is_log:
            share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            share = value / self.high
        return self.start + share * (self.end - self.start)


def nice_step(least):
    power = 10 ** math.floor(math.log10(least))
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= least * (1 - 1e-9))


def lines(plot):
    points = [point for series in plot["series"].values() for point in series]
    across = Axis([x for x, _ in points], LEFT, WIDTH - RIGHT, plot.get("is_log_x"), plot["x"] == "percentile")
    up = Axis([y for _, y in points], PLOT_HEIGHT - BOTTOM, TOP, plot.get("is_log_y"))
    parts = [open_svg(PLOT_HEIGHT, plot["title"])]
    for tick in up.ticks:
        y = up.place(tick)
        parts += [f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>',
                  text(LEFT - 6, y + 4, number(tick), "tick", "end")]
    for tick in across.ticks:
        label = f"{tick:g}" if across.is_list else number(tick)
        parts.append(text(across.place(tick), PLOT_HEIGHT - BOTTOM + 17, label, "tick", "middle"))
    parts += [text(0, 11, plot["y"], "tick"), text(WIDTH - RIGHT, PLOT_HEIGHT - 5, plot["x"], "tick", "end")]
    for i, series in enumerate(plot["series"].values()):
        colour = i % COLOURS
        places = [(across.place(x), up.place(y)) for x, y in series]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" class="line line-c{colour}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" class="fill-c{colour}"/>' for x, y in places]
    return "".join(parts) + "</svg>"


def legend(plot):
    """Beside lines only: bars carry their names."""
    if plot["kind"] == "bars" or len(plot["series"]) < 2:
        return ""
    return '<ul class="legend">' + "".join(
        f'<li><i class="swatch-c{i % COLOURS}"></i>{html.escape(name)}</li>' for i, name in enumerate(plot["series"])) + "</ul>"


def draw(plot):
    return (bars(plot) if plot["kind"] == "bars" else lines(plot)) + legend(plot)
