"""The output: tables in Markdown, and a plot."""

import itertools
import math
from collections.abc import Iterator
from xml.sax.saxutils import escape

from bench_harness.contest import Bench, Goal, Result, Table


def seconds(value: float) -> str:
    return f"{value * 1e3:.1f} ms" if value < 0.1 else f"{value:.2f} s"


def number(value: float | None, unit: str = "") -> str:
    return "" if value is None else f"{value:.3g}{' ' + unit if unit else ''}"


def rows(table: Table) -> list[list[str]]:
    """The heading and a row for each contender."""
    more = list(dict.fromkeys(key for result in table.results.values() for key in result.more))
    heading = [
        "",
        "median",
        "fastest",
        "slowest",
        "ratio",
        "CPU",
        "peak",
        "calls/entry" if table.units else "calls",
        *more,
    ]
    lines = [heading]
    for result in table.results.values():
        if not result.counts:
            lines.append(
                [result.name, "does not count: " + (result.wrong or "not run").splitlines()[0][:90]]
                + [""] * (len(heading) - 2)
            )
            continue
        times = [sample.seconds for sample in result.samples]
        ratio = table.ratio(result.name, table.first)
        calls = None if result.calls is None else result.calls / (table.units or 1)
        lines.append(
            [
                result.name,
                seconds(result.seconds),
                seconds(min(times)),
                seconds(max(times)),
                "" if ratio is None else f"{ratio:.2f}",
                seconds(result.processor),
                f"{result.peak / (1 << 20):.1f} MB",
                "" if calls is None else f"{calls:.2f}" if table.units else f"{calls:.0f}",
                *(result.more.get(key, "") for key in more),
            ]
        )
    return lines


def goal_rows(bench: Bench) -> list[list[str]]:
    def verdict(goal: Goal) -> str:
        return "small" if bench.options.quick and goal.value is not None else goal.verdict

    return [["", "goal", "value", ""]] + [
        [
            goal.text,
            f"<= {number(goal.bound, goal.unit)}",
            number(goal.value, goal.unit),
            verdict(goal),
        ]
        for goal in bench.goals
    ]


def sections(bench: Bench) -> Iterator[tuple[str, list[list[str]]]]:
    """Title and rows of each table."""
    if bench.goals:
        yield "Goals" + ", which are for larger trees" * bench.options.quick, goal_rows(bench)
    for table in bench.tables:
        yield table.title, rows(table)


def markdown(bench: Bench, circumstances: list[tuple[str, str]]) -> str:
    """Markdown that can be read as it is: the columns are aligned."""
    lines = [f"- {key}: {value}" for key, value in circumstances] + [f"- note: {note}" for note in bench.notes]
    lines += [f"- wrong: {fault}" for fault in bench.faults]
    for title, table in sections(bench):
        table = [[cell.replace("|", "\\|") for cell in row] for row in table]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines += ["", f"### {title}", ""]
        for row in table:
            first, *rest = zip(row, widths, strict=True)
            cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
            lines.append("| " + " | ".join(cells) + " |")
        rule = ["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])]
        lines.insert(len(lines) - len(table) + 1, "|" + "|".join(rule) + "|")
    return "\n".join(lines) + "\n"


# The plot -------------------------------------------------------------------------------------

WIDTH, HEIGHT, MARGIN = 420, 300, 56
COLOURS = ["#0969da", "#cf222e", "#6e7781"]


def svg(series: dict[str, dict[int, Result]], caption: str) -> str:
    """Time and peak memory against the number of files, both axes logarithmic, side by side."""
    panels = [
        (
            "time for a no-op, s",
            {name: {files: result.seconds for files, result in points.items()} for name, points in series.items()},
        ),
        (
            "peak memory, MB",
            {
                name: {files: result.peak / (1 << 20) for files, result in points.items()}
                for name, points in series.items()
            },
        ),
    ]
    whole = 2 * (WIDTH + 2 * MARGIN)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {HEIGHT + 2 * MARGIN + 24}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for index, (title, lines) in enumerate(panels):
        parts.append(f'<g transform="translate({MARGIN + index * (WIDTH + 2 * MARGIN)},{MARGIN})">')
        parts += panel(title, lines)
        parts.append("</g>")
    parts.append(f'<text x="{MARGIN}" y="{HEIGHT + 2 * MARGIN + 12}" fill="#57606a">{escape(caption)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def panel(title: str, lines: dict[str, dict[int, float]]) -> Iterator[str]:
    points = [point for line in lines.values() for point in line.items()]
    across, up = axis([x for x, _ in points]), axis([y for _, y in points])

    def place(x, y):
        return (
            WIDTH * (math.log10(x) - across[0]) / (across[-1] - across[0]),
            HEIGHT * (1 - (math.log10(y) - up[0]) / (up[-1] - up[0])),
        )

    yield f'<text y="-16" font-size="14">{escape(title)}</text>'
    for power in across:
        x, _ = place(10**power, 10 ** up[0])
        yield f'<path d="M{x:.1f} 0V{HEIGHT}" stroke="#d0d7de"/>'
        yield f'<text x="{x:.1f}" y="{HEIGHT + 18}" text-anchor="middle">{10**power:,}</text>'
    for power in up:
        _, y = place(10 ** across[0], 10**power)
        yield f'<path d="M0 {y:.1f}H{WIDTH}" stroke="#d0d7de"/>'
        yield f'<text x="-8" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>'
    yield f'<text x="{WIDTH / 2}" y="{HEIGHT + 36}" text-anchor="middle">files</text>'
    for index, (name, line) in enumerate(lines.items()):
        colour = COLOURS[index]
        places = [place(x, y) for x, y in sorted(line.items())]
        yield from (
            f'<path d="M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}" stroke="{colour}" stroke-width="2"/>'
            for (x, y), (u, v) in itertools.pairwise(places)
        )
        yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places)
        yield f'<path d="M12 {16 + 18 * index}h20" stroke="{colour}" stroke-width="2"/>'
        yield f'<text x="38" y="{20 + 18 * index}">{escape(name)}</text>'


def axis(values: list[float]) -> range:
    """Whole powers of ten around all values."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return range(low, max(high, low + 1) + 1)
