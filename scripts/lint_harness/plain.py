#!/usr/bin/env -S python3 -B
"""Counts long sentences and unclear words: in pages, changelog, messages and comments.

Fails if a count is above the allowed one. --list shows the sentences of a group.
"""

import argparse
import collections
import os
import re
import subprocess
import sys
from collections.abc import Iterator

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# How many there may be of a group and a kind. A count may only become lower.
ALLOWED = {("comments", "long"): 6, ("comments", "words"): 5}
LONGEST = 25  # Words of a sentence.

STATE = "is|are|was|were|has|have|had|can|cannot|may|does|do|did|lacks?|needs?|knows?|keeps?|allows?|takes?|differs?"
WORDS = [
    r"held|takes? (the )?(\w+ )?room|room|taken for|counts? as|goes|went|lets? go|gives? way",
    r"stays|stands|displaced|told|tells",
    r"as recorded|drift|the far end|vouches|accounts? for",
    r"(an|the|each|every|last|next|first|this|that|an earlier) (apply|applies)|the tree before",
    r"the line (is lost|was lost|drops|dropped|was cut)",
]
# A kind of trouble, and how it looks in a sentence whose code is left out.
KINDS = {
    "what": re.compile(r"^What\b"),
    "where": re.compile(rf"\bwhere( [\w'’-]+){{0,4}} ({STATE})\b", re.I),
    "no but": re.compile(r"\b(no|none|nothing|nobody|no one)\b[^.,;:]*\bbut\b", re.I),
    "words": re.compile(rf"\b({'|'.join(WORDS)})\b", re.I),
}
KEPT = re.compile(r"\bkept\b", re.I)
# A user has files and directories; the code has entries.
ENTRY = re.compile(r"\b(entry|entries)\b", re.I)
SNAPSHOT = re.compile(r"snapshot|old version|history|label|retention", re.I)


def troubles(sentence: str, group: str, name: str) -> list[str]:
    prose = re.sub(r"`[^`]*`", "CODE", sentence)
    found = [kind for kind, pattern in KINDS.items() if pattern.search(prose)]
    kept = KEPT.search(prose) and not SNAPSHOT.search(f"{os.path.basename(name)} {prose}")
    if "words" not in found and (kept or group == "messages" and ENTRY.search(prose)):
        found.append("words")
    return found + ["long"] * (words(sentence) > LONGEST)


def words(sentence: str) -> int:
    """Also those of code: a command is read, too."""
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


def sentences(text: str) -> list[str]:
    text = re.sub(r"\s+", " ", text).strip()
    # A point within code ends no sentence.
    code = re.sub(r"`[^`]*`", lambda found: re.sub(r"[^\s`]", "x", found[0]), text)
    ends = [found.end() for found in re.finditer(r"[.!?][\"')*”_]* (?=[^a-z])", code)]
    parts = [text[start:end].strip() for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]
    return [part.strip("* _") for part in parts if words(part) > 1]


def page(text: str) -> Iterator[str]:
    """The paragraphs, list items, headings and cells of a page, without its blocks of code."""
    block: list[str] = []
    fenced = False
    for line in [*text.split("\n"), ""]:
        if line.startswith("```"):
            fenced = not fenced
        elif fenced:
            continue
        starts = not line.strip() or re.match(r"\s*([-*>] |\||#+ |\d+\. )", line)
        if (starts or line.startswith("```")) and block:
            yield plain(" ".join(block))
            block = []
        if line.startswith("|"):
            yield from (plain(cell) for cell in re.split(r"(?<!\\)\|", line) if re.search(r"\w", cell))
        elif line.strip() and not line.startswith(("    ", "```")) or block:
            block.append(re.sub(r"^\s*([-*>]|\d+\.|#+) +", "", line))


def plain(text: str) -> str:
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"<doc:(\w+)>", r"\1", text).replace("**", "").replace("``", "`")


PROSE = re.compile(r"[a-z,]+ [a-z]+ [a-z]+", re.I)
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|#?"""(.*?)"""#?|#?"((?:\\\((?:[^()]|\([^()]*\))*\)|\\.|[^"\\\n])*)"#?', re.S)


def prose(literal: str) -> str:
    """A literal of several lines without those of code, which are indented."""
    indent = literal.rpartition("\n")[2]
    return "\n".join(line for line in literal.split("\n") if not line.startswith(f"{indent} "))


def is_code(literal: str) -> bool:
    """A script, such as one for another machine."""
    return len(re.findall(r"[][{}$=|<>]", literal)) * 20 > len(literal)


def swift(text: str) -> tuple[list[str], list[str]]:
    """The prose of the literals, and the comments. Those that are one text are joined."""
    literals, comments, last, kind = [""], [""], 0, ""
    for found in TOKEN.finditer(text):
        token, between, before = found[0], text[last : found.start()], kind
        last = found.end()
        if token.startswith("/"):
            kind = "comment"
            line = re.sub(r"^//+:? ?|^/\*+|\*/$", "", token)
            goes_on = before == kind and re.fullmatch(r"\n *", between) and line and not line.lstrip().startswith("- ")
            comments.append(f"{comments.pop()} {line}" if goes_on else line.lstrip("- "))
        else:
            kind = "literal"
            literal = re.sub(r"\\\((?:[^()]|\([^()]*\))*\)", "X", prose(found[1]) if found[1] else found[2] or "")
            literal = literal.replace("\\\n", "").replace("\\n", " ").replace('\\"', '"')
            goes_on = before == kind and re.fullmatch(r"\s*\+\s*", between)
            literals.append(literals.pop() + literal if goes_on else literal)
    texts = [text for text in literals if PROSE.search(text) and not is_code(text)]
    return [part for text in texts for part in re.split(r"\n\s*\n", text)], comments


def groups() -> dict[str, list[tuple[str, str]]]:
    """The sentences of each group, each with its file."""
    found: dict[str, list[tuple[str, str]]] = {"pages": [], "changelog": [], "messages": [], "comments": []}
    listed = subprocess.run(
        ["git", "ls-files", "*.md", "Sources/*.swift"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.split("\n"):
        if not os.path.exists(os.path.join(ROOT, name)) or not name:
            continue
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            text = file.read()
        if name.endswith(".md"):
            group = "changelog" if name == "CHANGELOG.md" else "pages"
            found[group] += [(name, sentence) for part in page(text) for sentence in sentences(part)]
        else:
            for group, parts in zip(("messages", "comments"), swift(text), strict=True):
                found[group] += [(name, sentence) for part in parts for sentence in sentences(part)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", metavar="GROUP", help="pages, changelog, messages or comments")
    options = parser.parse_args()
    found = groups()
    if options.list:
        for name, sentence in found[options.list]:
            for kind in troubles(sentence, options.list, name):
                print(f"{name}: {kind} ({words(sentence)}): {sentence}")
        return
    counts = collections.Counter(
        (group, kind) for group, texts in found.items() for name, text in texts for kind in troubles(text, group, name)
    )
    above = {key: count for key, count in counts.items() if count > ALLOWED.get(key, 0)}
    for (group, kind), count in above.items():
        print(f"scripts/lint: {group}: {count} of the kind '{kind}', {ALLOWED.get((group, kind), 0)} are allowed")
        print(f"scripts/lint: next: scripts/lint_harness/plain.py --list {group}")
    sys.exit(1 if above else 0)


if __name__ == "__main__":
    main()
