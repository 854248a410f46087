#!/usr/bin/env -S python3 -B
"""Prints a chart of five jobs, from the tables that `scripts/bench --markdown` writes: chart.py TABLES"""

import re
import sys
from xml.sax.saxutils import escape

# The beginning of a table's title, the job, and the contenders in the chart.
JOBS = [
    ("no-op, 1,000,000 files", "no changes", ["fsync-lite apply", "rsync -a --delete"]),
    ("cold no-op,", "no changes, cold disk", ["fsync-lite apply", "rsync -a --delete"]),
    (
        "first copy, 78,579 files, ext4",
        "first copy to ext4",
        ["fsync-lite apply", "cp -a; sync -f", "rsync -a --fsync"],
    ),
    ("directory of", "a renamed directory", ["fsync-lite apply", "rsync -a --delete", "unison"]),
    (
        "snapshot, 10 changes",
        "10 changes, with old versions",
        ["fsync-lite apply", "restic backup", "borg create", "rsync --link-dest"],
    ),
]
LEFT, WIDTH, BAR, GAP = 190, 470, 18, 30
OURS, OTHERS = "#0969da", "#afb8c1"


def chart(markdown: str) -> str:
    """Bars of each job; the longest is the slowest of the job."""
    tables, parts, y = titled(markdown), [], 10
    for beginning, job, contenders in JOBS:
        title = next((title for title in tables if title.startswith(beginning)), None)
        if title is None:
            raise SystemExit(f"no table begins with '{beginning}'")
        times = {name: tables[title][name] for name in contenders if name in tables[title]}
        slowest = max(times.values())
        y += GAP
        parts.append(f'<text x="{LEFT}" y="{y - 8}" font-weight="bold">{escape(job)}</text>')
        parts.append(f'<text x="{LEFT + WIDTH}" y="{y - 8}" text-anchor="end" fill="#57606a">{escape(title)}</text>')
        for name, time in times.items():
            width = max(1, WIDTH * time / slowest)
            inside = width > WIDTH / 2
            colour = OURS if name.startswith("fsync-lite") else OTHERS
            parts.append(f'<text x="{LEFT - 8}" y="{y + 13}" text-anchor="end">{escape(name)}</text>')
            parts.append(f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR - 3}" fill="{colour}"/>')
            place = f'x="{LEFT + width - 6:.1f}" text-anchor="end"' if inside else f'x="{LEFT + width + 6:.1f}"'
            parts.append(f'<text {place} y="{y + 12}">{time:.2f} s</text>')
            y += BAR
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {y + 16}" '
        'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def titled(markdown: str) -> dict[str, dict[str, float]]:
    """The medians of each table, in seconds."""
    tables: dict[str, dict[str, float]] = {}
    title = ""
    for line in markdown.split("\n"):
        if line.startswith("#"):
            title = line.lstrip("# ")
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        time = re.fullmatch(r"([\d.]+) (ms|s)", cells[1]) if line.startswith("| ") and len(cells) > 1 else None
        if time:
            tables.setdefault(title, {})[cells[0]] = float(time[1]) / (1000 if time[2] == "ms" else 1)
    return tables


if __name__ == "__main__":
    with open(sys.argv[1]) as tables:
        sys.stdout.write(chart(tables.read()))
