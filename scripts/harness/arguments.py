"""The options that scripts share."""

import argparse
from typing import Any

from harness.command import ROOT, run


def parser(description: str, **options: Any) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter, **options
    )


def add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seed",
        help="a number or a word (default: 1; with --short the commit, as git shortens it)",
    )


def seed(options: argparse.Namespace) -> str:
    """The seed of all random choices. Samples differ from one commit to the next. The seed is printed, so that
    a failure can be repeated."""
    chosen = options.seed or (commit() if options.short else "1")
    print(f"seed: {chosen} (again: --seed {chosen})", flush=True)
    return chosen


def commit() -> str:
    """The commit of the script's clone; "1" if there is none."""
    try:
        found = run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT)
    except FileNotFoundError:
        return "1"
    return found.output.decode().strip() or "1"
