"""The results of the attacks: a row for each."""

from collections import Counter

from harness.command import Outcome


class Row:
    def __init__(self, name: str) -> None:
        self.name = name
        self.runs = self.swaps = 0
        self.escapes: list[list[str]] = []
        self.failures: list[str] = []
        self.exits: Counter = Counter()
        # How often each copier by paths was caught; None if none was attacked.
        self.caught: Counter | None = None

    def count(self, run: Outcome | None, case: str = "") -> None:
        """None is a hang."""
        self.runs += 1
        self.exits["hang" if run is None else run.code] += 1
        if run is None or run.has_crashed:
            text = "hang" if run is None else f"exit {run.code}: {run.message[-400:]}"
            self.failures.append(": ".join(filter(None, [case, text])))


def show(part: str, rows: list[Row]) -> None:
    naive = any(row.caught is not None for row in rows)
    head = f"{part:<30}{'runs':>6}{'swaps':>10}{'escapes':>9}{'failures':>10}"
    print("\n" + head + ("   cp -a, by paths" if naive else "") + "   exits")
    for row in filter(lambda row: row.runs, rows):
        caught = ""
        if row.caught is not None:
            words = ("escapes" if row.caught[name] else "-" for name in ("cp", "paths"))
            caught = "   " + ", ".join(words).ljust(16)
        exits = ", ".join(f"{code}: {n}" for code, n in sorted(row.exits.items(), key=str))
        numbers = f"{row.runs:>6}{row.swaps:>10}{len(row.escapes):>9}{len(row.failures):>10}"
        print(f"{row.name:<30}{numbers}{caught}   {exits}")


def failed(rows: list[Row]) -> bool:
    """Prints the failures. It is a failure, too, if no copier by paths was caught in any race."""
    for row in rows:
        for found in row.escapes[:3]:
            print(f"\nESCAPE  {row.name}: " + "; ".join(found[:5]))
        for why in row.failures[:3]:
            print(f"\nFAILURE {row.name}: {why}")
    blunt = [row.name for row in rows if row.caught is not None and not row.caught.total()]
    if blunt:
        print(f"\nNo copier by paths was caught in: {'; '.join(blunt)}")
    return any(row.escapes or row.failures for row in rows) or len(blunt) == len(rows)
