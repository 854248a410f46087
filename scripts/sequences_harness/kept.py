"""The content of snapshots, and what may be lost of it."""

from harness.trees import ATTRIBUTES, below, brief, groups, linked_differently, parents, show, value


def changed(before, after):
    """The paths at which two trees differ."""
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


class Losses:
    """Contents that were edited or deleted in the target by hand. Older snapshots have lost them. The tool
    lists them, unless size and time were restored."""

    def __init__(self):
        self.contents = set()
        # The present content of an object that had an older one, and has its time.
        self.instead = {}

    def note(self, before, after):
        # At any present place, because the history may have other names of them.
        objects = {entry.inode: entry for entry in after.values()}
        for path in changed(before, after):
            entry = before.get(path)
            if entry is None or entry.is_directory:
                continue
            content = (entry.type, entry.data)
            self.contents.add(content)
            now = objects.get(entry.inode)
            if now is not None and (now.type, now.modified) == (entry.type, entry.modified):
                self.instead.setdefault(content, []).append(now)

    def concerns(self, entry):
        return entry is not None and (entry.type, entry.data) in self.contents

    def explains(self, found, entry):
        """The content that an edit by hand has left in place of this one."""
        return any(found.data == other.data for other in self.follow((entry.type, entry.data)))

    def follow(self, content, seen=None):
        seen = set() if seen is None else seen
        for other in self.instead.get(content, ()):
            yield other
            following = (other.type, other.data)
            if following not in seen:
                seen.add(following)
                yield from self.follow(following, seen)


class Kept:
    """A snapshot: the included tree as its apply left it, and as later steps found it."""

    def __init__(self, filters, versions, extra):
        # Paths that were edited by hand and that the run did not look at.
        self.uncertain = set()
        self.filters, self.versions, self.extra = filters, versions, set(extra)

    def was_found(self, tree, uncertain=()):
        self.uncertain |= set(uncertain)
        self.also(tree, self.filters)

    def also(self, tree, filters):
        covered, _ = filters.split(tree)
        if covered not in self.versions:
            self.versions.append(covered)

    def of(self, paths):
        """Only these paths, each at the top, with everything below."""
        wanted = [path.encode() for path in paths]

        def part(tree):
            return {
                path: entry for path, entry in tree.items() if any(path == top or below(path, top) for top in wanted)
            }

        kept = Kept(self.filters, [part(tree) for tree in self.versions], self.extra)
        kept.uncertain = self.uncertain
        return kept

    def compare(self, found, listed, losses, unseen, root=True):
        """The differences that no version explains, in words. Those that the tool lists as lost are explained."""
        words = []
        loose = {b"."} & self.uncertain
        for path in self.uncertain - {b"."}:
            loose |= {path} | {other for tree in [found, *self.versions] for other in tree if below(other, path)}
        loose |= {above for path in loose for above in parents(path)}
        paths = set(found).union(*self.versions)
        for path in sorted(paths):
            if path in unseen or path in loose or (path == b"." and (not root or not self.versions[0])):
                continue
            versions = [tree.get(path) for tree in self.versions]
            entry = found.get(path)
            drifted = "" if len({value(version) for version in versions}) == 1 else " (drift)"
            is_listed = path in listed or any(above in listed for above in parents(path))
            has_listed = any(below(other, path) for other in listed)
            if entry is None:
                if not (None in versions or path in self.extra or is_listed or has_listed):
                    words.append(f"{show(path)}: missing{drifted}, wanted {' or '.join(map(brief, versions))}")
                continue
            wanted = [version for version in versions if version]
            if not wanted and not is_listed:
                words.append(f"{show(path)}: there, wanted nothing")
            if not wanted:
                continue
            for name in ATTRIBUTES:
                if any(getattr(entry, name) == getattr(version, name) for version in wanted):
                    continue
                if name in ("data", "modified", "mode", "owner", "group", "xattrs") and any(
                    losses.concerns(version) and (name != "data" or losses.explains(entry, version))
                    for version in wanted
                ):
                    continue
                if path in listed or (entry.is_directory and name == "modified" and has_listed):
                    continue
                words.append(
                    f"{show(path)}: {name}{drifted}: {getattr(entry, name)!r}, wanted "
                    + " or ".join(dict.fromkeys(repr(getattr(version, name)) for version in wanted))
                )
        common = {
            path
            for path in found
            if path not in unseen | loose | self.extra | listed
            and all(path in tree for tree in self.versions)
            and not any(losses.concerns(tree.get(path)) for tree in [found, *self.versions])
        }
        here = groups(found, common)
        if all(here != groups(tree, common) for tree in self.versions):
            words += linked_differently(found, here, groups(self.versions[0], common))
        return words
