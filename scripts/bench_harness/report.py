"""The output: tables in Markdown."""

from bench_harness.contest import Bench, Table


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
    return [["", "goal", "value", ""]] + [
        [
            goal.text,
            f"<= {number(goal.bound, goal.unit)}",
            number(goal.value, goal.unit),
            "small" if bench.options.quick and goal.value is not None else goal.verdict,
        ]
        for goal in bench.goals
    ]


def markdown(bench: Bench, circumstances: list[tuple[str, str]]) -> str:
    """Markdown that can be read as it is: the columns are aligned."""
    lines = [f"- {key}: {value}" for key, value in circumstances] + [f"- note: {note}" for note in bench.notes]
    lines += [f"- wrong: {fault}" for fault in bench.faults]
    sections = [(table.title, rows(table)) for table in bench.tables]
    if bench.goals:
        sections.insert(0, ("Goals" + ", which are for larger trees" * bench.options.quick, goal_rows(bench)))
    for title, table in sections:
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
