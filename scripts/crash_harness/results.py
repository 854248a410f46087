"""The results of the cases."""

from collections import Counter

KINDS = ("mixture", "loss", "untruthful", "leftover", "order", "resent")


class Noticed(Exception):
    """A failure, if only one is wanted."""


class Results:
    def __init__(self, stops_at_first: bool = False) -> None:
        self.cases: Counter = Counter()
        # The cases in which something was really broken.
        self.fired: Counter = Counter()
        self.bad: Counter = Counter()
        # The rules of the class order that noticed a breach, or should have.
        self.proved: set[str] = set()
        self.failures: list[str] = []
        self.skipped: dict[str, str] = {}
        self.stops_at_first = stops_at_first

    def count(self, name: str, fired: object) -> None:
        self.cases[name] += 1
        self.fired[name] += bool(fired)

    def fail(self, kind: str, case: str, message: str) -> None:
        """`case` begins with the name of its class."""
        assert kind in KINDS
        self.bad[case.split()[0], kind] += 1
        self.failures.append(f"{kind}: {case}: {message}")
        print(f"  {kind}: {case}: {message}", flush=True)
        if self.stops_at_first:
            raise Noticed

    def skip(self, name: str, why: str) -> None:
        if name not in self.skipped:
            print(f"  {name}: skipped: {why}", flush=True)
        self.skipped[name] = why

    def demand_fired(self, names: list[str]) -> None:
        """A class without any interruption proves nothing, unless it was skipped as a whole."""
        for name in names:
            if not self.fired[name] and (self.cases[name] or name not in self.skipped):
                self.failures.append(f"{name}: fired in none of its {self.cases[name]} cases")
