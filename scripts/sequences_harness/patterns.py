"""Patterns of a .gitignore, as far as `sequences` makes them, by its own matcher."""

import functools
import re


class Filters:
    """Patterns in order; `!` includes again. The last match decides, and everything below an excluded directory
    is excluded."""

    def __init__(self, patterns=()):
        self.patterns = tuple(patterns)
        self._rules = [rule(pattern) for pattern in self.patterns]

    def options(self):
        words = []
        for pattern in self.patterns:
            taken = pattern.startswith("!")
            words += ["--include" if taken else "--exclude", pattern[1:] if taken else pattern]
        return words

    def covers(self, path, is_directory):
        """Ignores the directories above."""
        out = False
        for taken, only_directories, expression in self._rules:
            if (is_directory or not only_directories) and expression.fullmatch(path):
                out = not taken
        return not out

    def split(self, tree):
        """The included part, and the rest."""
        covered, rest = {}, {}
        for path in sorted(tree, key=lambda path: path.split(b"/")):
            parent = path[: path.rindex(b"/")] if b"/" in path else b"."
            inside = path == b"." or (parent in covered and self.covers(path, tree[path].is_directory))
            (covered if inside else rest)[path] = tree[path]
        return covered, rest


@functools.cache
def rule(pattern):
    """(whether it includes, whether only directories, expression over whole paths)"""
    taken = pattern.startswith("!")
    pattern = pattern[taken:]
    only_directories = pattern.endswith("/")
    pattern = pattern.rstrip("/")
    tied = "/" in pattern
    words = "" if tied else "(?:.*/)?"
    for part in re.findall(r"\*\*/|/\*\*$|\*|\?|.", pattern.lstrip("/")):
        words += {"**/": "(?:.*/)?", "/**": "/.+", "*": "[^/]*", "?": "[^/]"}.get(part) or re.escape(part)
    return taken, only_directories, re.compile(words.encode(), re.DOTALL)


def random_filters(rng, names):
    """One to three patterns of few names, usually simple ones."""
    patterns = []
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
        name, other = rng.choice(names), rng.choice(names)
        pattern = rng.choice(
            [
                "/" + name,
                "/" + name,
                name,
                name,
                name + "/",
                "/" + name + "/",
                f"/{other}/{name}",
                f"{other}/{name}",
                "*" + rng.choice(".x .y".split()),
                f"**/{other}/{name}",
                f"{other}/**",
                "/*",
            ]
        )
        patterns.append(pattern)
        if pattern == "/*" or rng.random() < 0.25:
            patterns.append("!" + rng.choice(["/" + other, other, name]))
    return Filters(patterns)
