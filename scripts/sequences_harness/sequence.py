"""One random sequence of alterations and commands, with the laws after each."""

import json
import os
import random
import re
import shlex
import shutil
import subprocess

from harness.command import run as run_command
from harness.disk import make_subvolume
from harness.manifest import read_manifest, taken
from harness.trace import killing, traced
from harness.trees import below, differences, groups, parents, show, state_of, value, walk
from sequences_harness.alterations import NAMES, Alterations
from sequences_harness.kept import Kept, Losses, changed
from sequences_harness.patterns import Filters, random_filters

# Further subjects that `--without` turns off, beside the kinds of alterations.
COMMANDS = {"undo": 5, "in-place": 4, "prune": 2, "label": 2, "kill": 5}
FEATURES = [
    "drift",
    "rollback",
    "filters",
    "exchange",
    "trust",
    "checksum",
    "digest",
    "no-delete",
    "delete-excluded",
    "keep-going",
    "guards",
    "keep-last",
    "subvolume",
    "vanishing",
    "again",
    "paths",
]
LAWS = {
    "mirror": "after apply with exit 0 the covered part of the target is that of the source",
    "uncovered": "what the filters leave out is untouched in the target",
    "exit": "an exit code is one that was to be expected",
    "unchanged": "what was refused or failed has changed nothing",
    "mixture": "after a kill and a recovery the target is the old tree or the new one",
    "document": "every document can be read",
    "stuck": "a plain apply works at any time",
    "snapshot": "every snapshot comes back as it was",
    "manifest": "the manifest says what the target holds",
    "undo": "undo brings back the tree and the record",
    "vanished": "only apply and prune let snapshots go, and prune those that its rules name",
    "again": "a plan sees what differs, and nothing else",
}
# The label that keeps snapshots.
KEPT = "kept"
ALL_GUARDS_OFF = [
    "--max-delete",
    "unlimited",
    "--allow-empty-source",
    "--change-source",
    "--trust-source",
]


class Broken(Exception):
    """A law is broken."""

    def __init__(self, law, text, details=()):
        super().__init__(text)
        self.law, self.text, self.details = law, text, list(details)

    @property
    def symptom(self):
        """Equal for failures that are probably the same defect."""
        text = self.text
        if self.details:
            text += ": " + re.sub(r"^[^:]*: ", "", self.details[0])
        text = re.sub(r"b?'[^']*'|b?\"[^\"]*\"|\d{8}T\S+|/\S+", "…", text)
        return f"{self.law}: " + re.sub(r"\d{3,}|\(\(.*", "…", text)[:100]


def expect_nothing(law, text, found):
    """`found` is the fault, in words."""
    if found:
        raise Broken(law, text, found)


def expect_code(what, code, errors, expected=(0,), law=None):
    if code not in expected:
        law = law or ("document" if code == 65 else "exit")
        raise Broken(law, f"{what}: exit {code}: {first_line(errors)}", errors.splitlines())


class Sequence:
    def __init__(self, tool, seed, source_folder, target_folder, kinds, options, tell):
        self.tool, self.seed, self.kinds, self.options = tool, seed, kinds, options
        self.without = options.without
        self.say = tell
        self.log = []
        self.source_folder, self.target_folder = source_folder, target_folder
        self.source, self.target = (
            os.path.join(source_folder, "s"),
            os.path.join(target_folder, "t"),
        )
        self.copy = os.path.join(target_folder, "copy")
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": target_folder,
            "LC_ALL": "C.UTF-8",
            "FSYNC_LITE_STATE": "",
            "XDG_CONFIG_HOME": os.path.join(target_folder, "no-settings"),
        }
        self.filters = Filters()
        self.rollbacks = []
        # By snapshot; in order, the newest first.
        self.kept, self.labels, self.ids = {}, {}, []
        # Paths that were changed without the manifest's knowledge and that no full run has seen.
        self.drift = set()
        self.losses = Losses()
        # Whether the target was ever edited by hand.
        self.drifted = False
        # What the last step found, for an undo that follows at once; what `undo` should restore of the record.
        self.last = self.undone_manifest = None
        # The last reported number of kept snapshots.
        self.promised = None
        self.commands = 0

    def tell(self, line):
        self.log.append(line)
        self.say(line)

    def can(self, *features):
        return not self.without.intersection(features)

    # --- The sequence -------------------------------------------------------------------------

    def run(self, steps):
        """`steps` are numbers. Each has its own random choices, so that some can be left out."""
        rng = random.Random(f"{self.seed} start")
        self.begin(rng)
        try:
            for self.step in steps:
                rng = random.Random(f"{self.seed} {self.step}")
                self.tell(f"# step {self.step}")
                self.one(rng)
            self.step = "end"
            self.end(random.Random(f"{self.seed} end"))
        finally:
            self.source_side.release()

    def begin(self, rng):
        self.step = "start"
        places = f"source on {self.kinds[0]}, target on {self.kinds[1]}"
        self.tell(f"# {places}; s is {self.source}, t is {self.target}")
        self.source_is_subvolume = self.kinds[0] == "btrfs" and rng.random() < 0.7
        self.make_root(self.source, "s", self.source_is_subvolume)
        self.make_root(
            self.target,
            "t",
            self.kinds[1] == "btrfs" and self.can("subvolume") and rng.random() < 0.3,
        )
        self.source_side = Alterations(
            self.source,
            "s",
            self.without | ({"copy"} if rng.random() < 0.5 else set()) | self.unseen_stores(),
            self.tell,
        )
        self.target_side = Alterations(self.target, "t", self.without | {"mapped"}, self.tell)
        self.source_side.some(rng, rng.choice([5, 12, 25]), "begin")
        if self.options.files:
            self.source_side.fill(rng, self.options.files)
        # The place of the retention rules: the target's settings, each command, or none.
        self.retention = rng.choice(["settings", "settings", "command", "command", "none"])
        if not self.can("keep-last"):
            self.retention = "settings"
        self.number_kept = rng.choice([3, 9, 50, 50])
        if self.retention == "settings":
            self.number_kept = max(self.number_kept, 9)
            self.apply(rng, plain=True)
            self.write_settings()

    def make_root(self, path, name, subvolume):
        if subvolume:
            make_subvolume(path)
            self.tell(f"btrfs -q subvolume create {name}")
        else:
            os.mkdir(path)
            self.tell(f"mkdir {name}")

    def unseen_stores(self):
        """On tmpfs, a store to a page that was read through the same mapping moves no time."""
        return {"mapped"} if self.kinds[0] == "tmpfs" else set()

    def write_settings(self):
        state = self.state()
        text = json.dumps({"keep_last": self.number_kept})
        with open(os.path.join(state, "settings.json"), "w") as file:
            file.write(text)
        self.tell(f"echo {shlex.quote(text)} > {os.path.relpath(state, self.target_folder)}/settings.json")

    def state(self):
        return state_of(self.target)

    def one(self, rng):
        if rng.random() < 0.75:
            count = rng.choice([1, 1, 2, 3, 5]) + self.options.files // 100
            self.source_side.some(rng, count, f"s{self.step}")
        if self.can("rollback") and rng.random() < 0.15:
            (self.save if not self.rollbacks or rng.random() < 0.5 else self.roll_back)(rng)
        if self.can("drift") and rng.random() < 0.12 and self.ids:
            self.alter_target(rng)
        choices = {"apply": 14, **COMMANDS} if len(self.ids) > 1 else {"apply": 1}
        # Files that a killed run has linked have new change times. Then nothing shows which side changed
        # through a mapping.
        unsure = {"kill"} if self.source_side.has_stored else set()
        choices = {name: weight for name, weight in choices.items() if self.can(name) and name not in unsure}
        command = rng.choices(list(choices), list(choices.values()))[0]
        self.command(command)(rng)
        self.look(rng)

    def command(self, name):
        return getattr(self, name.replace("-", "_"))

    def end(self, rng):
        self.fsync_lite("recover", self.target)
        self.apply(rng, plain=True, must=True)
        # A disaster is mirrored, undone, and done again.
        self.source_side.halve()
        self.apply(rng, plain=True, must=True)
        for _ in range(2):
            self.undo(rng)
        self.look(rng, everything=True)

    # --- Alterations --------------------------------------------------------------------------

    def alter_target(self, rng):
        trees = [walk(self.target)]

        def note():
            """A content that is edited, and then removed, is lost under its other names, too."""
            trees.append(walk(self.target))
            self.losses.note(*trees[-2:])

        self.target_side.some(rng, rng.choice([1, 1, 2, 3]), f"t{self.step}", note)
        touched = changed(trees[0], trees[-1])
        self.drift |= touched
        if touched:
            self.last, self.drifted = None, True

    def save(self, rng):
        name = f"saved{len(self.rollbacks)}"
        path = os.path.join(self.source_folder, name)
        if self.source_is_subvolume and rng.random() < 0.7:
            self.shell(f"btrfs -q subvolume snapshot s {name}")
            self.rollbacks.append((path, True))
        else:
            how = rng.choice(["-a", "-a", "-al"])
            self.shell(f"cp {how} s {name}")
            self.rollbacks.append((path, False))

    def roll_back(self, rng):
        path, subvolume = rng.choice(self.rollbacks)
        name = os.path.basename(path)
        if subvolume:
            self.shell("rm -rf s")
            self.shell(f"btrfs -q subvolume snapshot {name} s")
        else:
            how = rng.choice(["rsync", "rsync", "rsync", "cp -a"])
            if how == "rsync":
                option = rng.choice(["", "--inplace ", "--checksum "])
                self.shell(f"rsync -aHAX --numeric-ids --delete {option}{name}/ s/")
            else:
                self.source_is_subvolume = False
                self.shell(f"rm -rf s; cp -a {name} s")

    def shell(self, line):
        self.tell(line)
        # Links of read-only or odd entries may fail. The result is a tree like any other.
        if subprocess.run(line, shell=True, cwd=self.source_folder, stderr=subprocess.DEVNULL).returncode == 127:
            raise FileNotFoundError(f"a program is not there: {line}")

    # --- Commands -----------------------------------------------------------------------------

    def choose_filters(self, rng):
        if self.can("filters") and rng.random() < 0.25:
            return Filters() if rng.random() < 0.35 else random_filters(rng, NAMES)
        return self.filters

    def choose_options(self, rng, filters):
        words = []
        if rng.random() < 0.25 and self.can("exchange"):
            words.append("--exchange")
        for option, chance in (
            ("--trust-manifest", 0.2),
            ("--checksum", 0.1),
            ("--digest", 0.2),
            ("--keep-going", 0.1),
            ("--no-delete", 0.06),
            ("--delete-excluded", 0.06),
        ):
            if rng.random() < chance and self.can(option[2:].removesuffix("-manifest")):
                words.append(option)
        if "--no-delete" in words and "--delete-excluded" in words:
            words.remove("--delete-excluded")
        if self.can("guards") and rng.random() < 0.1:
            words += [word for word in ALL_GUARDS_OFF[2:] if rng.random() < 0.5]
        else:
            words += ALL_GUARDS_OFF
        if self.retention == "command" and rng.random() < 0.85:
            words += ["--keep-last", str(self.number_kept)]
        if rng.random() < 0.15:
            words += ["--threads", "1"]
        return words

    def apply(self, rng, plain=False, must=False):
        filters = Filters() if plain else self.choose_filters(rng)
        words = ALL_GUARDS_OFF if plain else self.choose_options(rng, filters)
        if must and self.retention == "command":
            words = [*words, "--keep-last", str(self.number_kept)]
        self.run_apply(words, filters, must)

    def run_apply(self, words, filters, must=False, kill=None):
        """Repeats it without the refused option, so that a sequence continues."""
        before, manifest = walk(self.target), self.manifest_if_there()
        code, report, errors = self.fsync_lite(
            "apply", *words, *filters.options(), "--json", self.source, self.target, kill=kill
        )
        if kill and code == 137:
            return self.after_a_kill(before, words, filters)
        if code == 4 and not must:
            self.refused(before, words, filters, errors)
            return
        expect_code("apply", code, errors, law="stuck" if must else "exit")
        self.applied(before, manifest, words, filters)

    def refused(self, before, words, filters, errors):
        self.expect_unchanged(before, "a refused apply")
        if not set(ALL_GUARDS_OFF) <= set(words):
            self.run_apply([word for word in words if word not in ALL_GUARDS_OFF] + ALL_GUARDS_OFF, filters)
        elif "left out" not in errors and "exclude" not in errors:
            expect_code("apply with all guards off", 4, errors)
        elif "--no-delete" in words:
            keeping = ["--keep-last", str(self.number_kept)] if "--keep-last" in words else []
            self.run_apply(ALL_GUARDS_OFF + keeping, Filters())
        else:
            others = [word for word in words if word != "--exchange"]
            self.run_apply([*others, "--delete-excluded"], filters)

    def applied(self, before, manifest, words, filters):
        after = walk(self.target)
        trusting = "--trust-manifest" in words
        unseen = self.unseen() if trusting else set()
        self.check_mirror(before, after, words, filters, unseen)
        wanted, _ = filters.split(walk(self.source))
        drifted = bool(self.drift)
        self.drift = self.drift | self.moved_drift(before, after) if trusting else set()
        self.note_step(
            before,
            manifest,
            after,
            filters,
            may_vanish=True,
            drifted=drifted,
            looked=not trusting,
            versions=[wanted] if unseen else [],
            extra=after.keys() - wanted.keys(),
        )
        if "--keep-last" in words:
            self.promised = self.number_kept
        self.check_retention(words)
        self.check_manifest(after, filters, unseen)

    def check_retention(self, words):
        """The reported number of the existing snapshots is kept."""
        if (
            "--keep-last" in words
            or self.retention == "settings"
            and os.path.exists(os.path.join(self.state(), "settings.json"))
        ):
            wanted = self.number_kept
        else:
            wanted = self.promised or 3
        wanted = min(wanted + 1, len(self.before_ids) + (self.ids[0] not in self.before_ids))
        if len(self.ids) < wanted and self.can("vanishing"):
            raise Broken(
                "vanished",
                f"of {len(self.before_ids)} snapshots {len(self.ids)} are left, {wanted} were to stay",
            )

    def unseen(self, before=None):
        """Paths that a run may not know if it does not look; with `before`, also their new places."""
        found = set()
        tree = walk(self.target)
        if self.drift and before:
            moved = self.moved_drift(before, tree)
            moved |= {above for path in moved for above in parents(path)}
            found |= moved | {path for path in tree for above in moved if below(path, above)}
        together = {path: group for group in groups(tree) for path in group}
        for path in self.drift:
            found |= {path, *parents(path), *together.get(path, ()), b"."}
            found |= {other for other in tree if below(other, path)}
        return found

    def undo(self, rng, kill=None):
        if len(self.ids) < 2:
            return
        # The first run that changed something; if none did, the last one.
        step = next((step for step in range(len(self.ids) - 1) if not self.is_empty(step)), 0)
        if step:
            # It does not undo the last apply.
            self.last = None
        self.go_back("undo", self.ids[step + 1], ["undo", "--json", self.target], kill=kill)

    def is_empty(self, step):
        """Whether a step has changed no entry and no mirrored value."""

        def record(step, name):
            with open(os.path.join(self.state(), "history", self.ids[step], name), "rb") as file:
                return json.load(file)

        header = record(step, "header.json")
        counted = ("create", "update", "attributes", "move", "delete")
        if "previous" not in header or any(header[verb] for verb in counted):
            return False
        if record(step, header.get("list", "list.json"))["step"]:
            return False
        newer = record(step - 1, "header.json") if step else self.manifest_if_there().header
        keys = ("previous_filters", "previous_without") if step else ("filters", "without")
        return [header.get("previous_filters", []), header.get("previous_without", [])] == [
            newer.get(key, []) for key in keys
        ]

    def in_place(self, rng, kill=None):
        snapshot = rng.choice(self.ids[1:] or self.ids)
        if snapshot == "initial" and rng.random() < 0.8:
            return
        words = [
            "snapshot",
            "restore",
            self.target,
            self.name_of(snapshot, rng),
            "--in-place",
            "--json",
        ]
        self.go_back("restore in place", snapshot, words, kill=kill)

    def brought_by_hand(self, after, filters):
        """Entries that are no longer excluded, and that no apply brought."""
        recorded = self.manifest_if_there()
        return set(filters.split(after)[0]) - recorded.entries.keys() - recorded.uncovered - {b"."}

    def moved_drift(self, before, after):
        """The present places of objects that were edited by hand."""
        objects = {before[path].inode for path in self.drift if path in before and path != b"."}
        return {path for path, entry in after.items() if entry.inode in objects}

    def lost(self, snapshot):
        """The files that a restore would list. A killed one lists none."""
        _, report, _ = self.fsync_lite("snapshot", "restore", self.target, snapshot, "--to", self.copy, "--json")
        shutil.rmtree(self.copy, ignore_errors=True)
        self.tell("rm -r copy")
        return self.listed(report)

    def name_of(self, snapshot, rng):
        index = self.ids.index(snapshot)
        if rng.random() < 0.5:
            return snapshot
        return f"latest~{index}" if index else "latest"

    def go_back(self, what, snapshot, words, kill=None):
        before, manifest = walk(self.target), self.manifest_if_there()
        kept = self.kept[snapshot]
        lost = self.lost(snapshot) if kill and self.drifted else set()
        code, report, errors = self.fsync_lite(*words, kill=kill)
        if kill and code == 137:
            return self.after_a_kill(before, None, None, kept, lost)
        # Excluded entries remain, even if the restored filters include them. They may be in the way.
        strangers = set(self.filters.split(before)[1]) | (manifest.uncovered if manifest else set())
        strangers -= {
            path
            for path, entry in kept.versions[0].items()
            if path not in kept.extra and value(before.get(path)) == value(entry)
        }
        expect_code(what, code, errors, (0, 3) if self.drifted or strangers else (0,))
        if code == 3 and not (report.get("problems") or errors.strip()):
            raise Broken("exit", f"{what}: exit 3 and nothing is listed")
        after = walk(self.target)
        inodes = {before[path].inode for path in strangers if path in before}
        carried = {path for path, entry in after.items() if entry.inode in inodes}
        # After an exchange a directory is another object.
        carried |= self.carried(report, strangers | self.drift) & after.keys()
        staying = (strangers | carried) & after.keys()
        carried |= {above for path in staying for above in parents(path)} - {b"."}
        excused = strangers | carried
        if code == 0:
            # An entry that was excluded then, too, remains unchanged.
            excused -= kept.versions[0].keys() - (carried & kept.extra)
        self.check_back(what, kept, before, after, self.listed(report) | excused)
        self.drift |= self.moved_drift(before, after)
        self.drift |= self.brought_by_hand(after, kept.filters)
        last, self.last = self.last, None
        if what == "undo" and last and code == 0 and not self.drift:
            self.check_undo(last, after, kept)
        # Entries that `--no-delete` left are not treated as names of a file.
        extra = strangers | kept.extra | self.kept[self.ids[0]].extra | self.manifest_if_there().uncovered
        if self.drift:
            extra |= after.keys() - kept.versions[0].keys()
        self.note_step(
            before,
            manifest,
            after,
            kept.filters,
            may_vanish=False,
            drifted=bool(self.drift) or code == 3,
            versions=[],
            extra=extra,
        )
        # An entry that was excluded in that tree has come back unchanged. The old filters do not show why.
        as_it_was = {
            path
            for path, entry in kept.versions[0].items()
            if path not in kept.extra
            and value(entry) == value(after.get(path))
            and all(path in version for version in kept.versions)
        }
        resting = self.manifest_if_there().uncovered - as_it_was
        unknown = strangers | resting | self.unseen(before) | (set(after) if code == 3 else set())
        self.check_manifest(after, kept.filters, unknown, undone=True)

    def check_back(self, what, kept, before, after, listed):
        covered, rest = kept.filters.split(after)
        staying = self.staying(covered, rest) - kept.versions[0].keys()
        unseen = self.unseen(before)
        found = {path: entry for path, entry in covered.items() if path not in staying}
        # Entries that only the target had, after `--no-delete`, may be treated as not brought by an apply.
        listed = listed | self.kept[self.ids[0]].extra
        words = kept.compare(found, listed, self.losses, unseen)
        expect_nothing("snapshot" if what != "undo" else "undo", what, words)

    def staying(self, covered, rest):
        """Directories that exist only because of excluded content."""
        return {above for path in rest for above in parents(path)}

    def check_undo(self, last, after, kept):
        # Excluded entries are not recorded as names of one object, because one of them may have changed
        # meanwhile.
        words = differences(after, last["before"], unlinked=kept.filters.split(last["before"])[1])
        expect_nothing("undo", "the tree is not as before", words)
        self.undone_manifest = last["manifest"]

    def prune(self, rng, kill=None):
        number = rng.choice([1, 2, 3, 5, 0, 0])
        before = walk(self.target)
        rules = ["--keep-last", str(number)] if number else ["--keep-label", KEPT]
        # The present one and the one before it, which is always kept.
        wanted = [name for place, name in enumerate(self.ids) if place < 2 or self.labels[name] == KEPT]
        code, _, errors = self.fsync_lite("snapshot", "prune", *rules, self.target, kill=kill)
        if kill and code == 137:
            return self.after_a_kill(before, None, None, None)
        expect_code("prune", code, errors)
        self.expect_unchanged(before, "prune")
        self.list_snapshots(may_vanish=True)
        if not number and (set(self.ids) ^ set(wanted)) - {"initial"}:
            raise Broken("vanished", f"prune {' '.join(rules)}: others are left", [f"{self.ids}, wanted {wanted}"])

    def label(self, rng):
        before = walk(self.target)
        label = rng.choice([KEPT, f"step-{self.step}"])
        code, _, errors = self.fsync_lite("snapshot", "create", "--label", label, self.target)
        expect_code("label", code, errors)
        self.expect_unchanged(before, "a label")
        self.list_snapshots(may_vanish=False)

    CALLS = (
        "renameat2",
        "linkat",
        "fsync",
        "unlinkat",
        "syncfs",
        "mkdirat",
        "fsetxattr",
        "ioctl",
        "utimensat",
    )

    def kill(self, rng):
        call = rng.choice(self.CALLS)
        kill = (call, rng.choice([1, 2, 3, 5, 8, 13]))
        command = rng.choice(["apply", "apply", "apply", "undo", "in-place", "prune"])
        if self.drift or command == "apply" or not self.can(command):
            filters = self.choose_filters(rng)
            words = self.choose_options(rng, filters)
            self.after_kill = rng.choice([["recover"], ["recover"], ["recover", "--back"], ["recover"]])
            if "--trust-manifest" in words and self.drift:
                words.remove("--trust-manifest")
            self.run_apply(words, filters, kill=kill)
        else:
            self.after_kill = rng.choice([["recover"], ["recover", "--back"]])
            self.command(command)(rng, kill=kill)

    def after_a_kill(self, before, words, filters, kept=None, lost=()):
        """The tree is old or new, and all documents can be read."""
        self.read_documents(random.Random(self.step), codes=(0, 6))
        code, _, errors = self.fsync_lite(*self.after_kill, self.target)
        expect_code("recover", code, errors, law="stuck")
        after = walk(self.target)
        self.last = None
        # A state that is moved into the target moves the root's time, which the next apply restores.
        if (
            before.keys()
            and value(after[b"."]) != value(before[b"."])
            and after[b"."]._replace(modified=0) == before[b"."]._replace(modified=0)
        ):
            self.drift.add(b".")
        old = not differences({**after, b".": before[b"."]} if b"." in self.drift else after, before)
        new, why = words is not None or kept is not None, []
        try:
            if words is not None:
                self.check_mirror(before, after, words, filters, set())
            elif kept:
                self.check_back("restore", kept, before, after, set(lost))
        except Broken as broken:
            new, why = False, broken.details
        if not old and not new:
            raise Broken(
                "mixture",
                "neither the old tree nor the new one",
                ["old: " + line for line in differences(after, before)] + ["new: " + line for line in why],
            )
        present = self.ids[:1]
        self.list_snapshots(may_vanish=words is not None or kept is None, check=False)
        if self.ids[:1] != present:
            if present and present[0] in self.kept:
                self.kept[present[0]].was_found(before)
            if filters is not None:
                self.filters = filters
            elif kept:
                self.filters = kept.filters
            uncovered = self.manifest_if_there().uncovered
            if kept:
                self.drift |= self.brought_by_hand(after, self.filters)
            self.remember(after, self.filters, [], uncovered | (set(after) if self.drift else set()))
            self.drift = set() if words is not None else self.drift

    # --- What holds ---------------------------------------------------------------------------

    def check_mirror(self, before, after, words, filters, unseen):
        wanted, _ = filters.split(walk(self.source))
        covered, rest = filters.split(after)
        _, before_rest = filters.split(before)
        staying = {path for path in self.staying(covered, rest) if path not in wanted}
        if "--no-delete" in words:
            known = {value(entry) for entry in before.values()} | {entry.inode for entry in before.values()}
            staying |= {
                path
                for path, entry in covered.items()
                if path not in wanted and (value(entry) in known or entry.inode in known)
            }
        found = differences(covered, wanted, ignored=staying | unseen)
        expect_nothing("mirror", "the target is not the mirror", found)
        if "--delete-excluded" in words:
            expect_nothing("mirror", "--delete-excluded leaves what is excluded", list(map(show, sorted(rest))))
        else:
            # An entry that is not deleted, also because of its content, may move to an excluded place.
            holders = {above: before[above] for path in before_rest for above in parents(path)}
            known = before if "--no-delete" in words else {**holders, **before_rest}
            self.check_uncovered(before, after, before_rest, rest, known)

    def check_uncovered(self, before, after, before_rest, rest, known):
        """At its place, or where its directory has moved."""

        def tops(part):
            return sorted(path for path in part if not any(above in part for above in parents(path)))

        def image(tree, top):
            inside = (path for path in tree if path == top or below(path, top))
            return top.rsplit(b"/")[-1], {path[len(top) :]: value(tree[path]) for path in inside}

        there = [image(after, top) for top in tops(rest)]
        missing = [
            f"{show(top)}: uncovered, and not as it was"
            for top in tops(before_rest)
            if image(before, top) not in [image(after, top), *there]
        ]
        expect_nothing("uncovered", "what is left out has changed", missing)
        known = {value(entry) for entry in known.values()}
        new = [
            f"{show(path)}: new, and uncovered"
            for path, entry in rest.items()
            if path not in before and value(entry) not in known
        ]
        expect_nothing("uncovered", "what is left out was copied", new)

    def expect_unchanged(self, before, what):
        expect_nothing("unchanged", f"{what} has changed the target", differences(walk(self.target), before))

    def note_step(self, before, manifest, after, filters, may_vanish, drifted, versions, extra, looked=False):
        """`looked`: the run has looked at the whole target, and found all edits."""
        present = self.ids[:1]
        uncertain = self.unseen(before)
        if present and present[0] in self.kept:
            self.kept[present[0]].was_found(before, set() if looked else uncertain)
        self.list_snapshots(may_vanish, check=False)
        stepped = self.ids[:1] != present
        self.filters = filters
        if not stepped:
            if self.ids:
                self.kept[self.ids[0]].also(after, filters)
            if not drifted:
                words = differences(after, before)
                expect_nothing("snapshot", "the target has changed and there is no new snapshot", words)
            return
        self.remember(after, filters, versions, extra)
        self.kept[self.ids[0]].uncertain |= uncertain
        self.last = None if drifted else {"before": before, "manifest": manifest}

    def remember(self, after, filters, versions, extra):
        covered, rest = filters.split(after)
        staying = self.staying(covered, rest)
        self.kept[self.ids[0]] = Kept(filters, [covered, *versions], set(extra) | staying)

    def list_snapshots(self, may_vanish, check=True):
        code, report, errors = self.fsync_lite("snapshot", "list", "--json", self.target)
        expect_code("snapshot list", code, errors)
        ids = [item["id"] for item in report["snapshots"]]
        self.labels = {item["id"]: item.get("label") for item in report["snapshots"]}
        self.before_ids = self.ids
        gone = [snapshot for snapshot in self.ids if snapshot not in ids]
        if gone and not may_vanish and self.can("vanishing"):
            raise Broken("vanished", f"{len(gone)} of {len(self.ids)} snapshots are gone", gone)
        if "initial" in ids and "initial" not in self.kept:
            self.kept["initial"] = Kept(Filters(), [{}], set())
        if check:
            for snapshot in ids:
                if snapshot not in self.kept:
                    raise Broken("snapshot", f"a new snapshot of no step: {snapshot}")
        self.ids = ids

    def manifest_if_there(self):
        path = os.path.join(self.state(), "manifest.json")
        return read_manifest(path) if os.path.exists(path) else None

    def check_manifest(self, after, filters, unseen, undone=False):
        manifest = self.manifest_if_there()
        if manifest is None:
            raise Broken("manifest", "there is none")
        covered, rest = filters.split(after)
        words = manifest.compare(covered, self.staying(covered, rest), unseen, self.kept[self.ids[0]].extra)
        expect_nothing("manifest", "it is not what the target holds", words)
        if undone and self.undone_manifest:
            words = manifest.differences(self.undone_manifest)
            self.undone_manifest = None
            expect_nothing("undo", "the record is not as before", words)

    def look(self, rng, everything=False):
        self.read_documents(rng)
        if self.can("again") and self.ids and (everything or rng.random() < 0.4):
            self.plan(rng)
        if not self.ids:
            return
        ids = self.ids if everything else rng.sample(self.ids, min(len(self.ids), rng.choice([0, 1, 1, 2])))
        for snapshot in ids:
            self.restore_copy(rng, snapshot)

    def read_documents(self, rng, codes=(0,)):
        target = self.target
        commands = [
            ["status", "--json", target],
            ["manifest", "show", "--json", target],
            ["manifest", "list", "--long", target],
            ["snapshot", "verify", target],
        ]
        for command in rng.sample(commands, 2):
            if not self.ids:
                break
            # A file that was edited by hand may have names in the history.
            allowed = codes + ((2, 3, 65) if command[1] == "verify" and self.drifted else ())
            code, _, errors = self.fsync_lite(*command)
            expect_code(" ".join(command[:2]), code, errors, allowed)

    def plan(self, rng):
        """Lists exactly the differences that this walker finds."""
        words = [
            "plan",
            *ALL_GUARDS_OFF,
            *self.filters.options(),
            "--json",
            self.source,
            self.target,
        ]
        code, report, errors = self.fsync_lite(*words)
        if code == 4:
            return
        expect_code("plan", code, errors)
        wanted, _ = self.filters.split(walk(self.source))
        covered, rest = self.filters.split(walk(self.target))
        staying = {path for path in self.staying(covered, rest) if path not in wanted}
        found = differences(covered, wanted, ignored=staying)
        actions = report["actions"]
        if not actions:
            expect_nothing("again", "the plan sees nothing of what differs", found)
        elif not found and not self.are_exchanged(actions):
            raise Broken("again", "the plan has actions, and nothing differs", map(json.dumps, actions))

    def are_exchanged(self, actions):
        """Whether these only follow directories that are, with equal content, where the manifest has others."""
        recorded = self.manifest_if_there().entries

        def inode(path):
            return os.lstat(os.path.join(os.fsencode(self.source), path)).st_ino

        def is_followed(action):
            path = taken(action, "path")
            if action["action"] == "move":
                return inode(path) == recorded[taken(action, "from")]["inode"]
            return action["action"] == "attributes" or inode(path) != recorded[path]["inode"]

        return all(action["type"] == "directory" and is_followed(action) for action in actions)

    def restore_copy(self, rng, snapshot):
        kept = self.kept[snapshot]
        paths = []
        if self.can("paths") and rng.random() < 0.2:
            tops = sorted(path for path in kept.versions[0].keys() - kept.extra if b"/" not in path and path != b".")
            paths = [show(rng.choice(tops))] if tops else []
        code, report, errors = self.fsync_lite(
            "snapshot",
            "restore",
            self.target,
            self.name_of(snapshot, rng),
            *paths,
            "--to",
            self.copy,
            "--json",
        )
        if code in (2, 66) and paths and self.drifted:
            return
        expect_code("restore", code, errors, (0, 3) if self.drifted else (0,))
        if code == 3 and not report.get("problems"):
            raise Broken("exit", "restore: exit 3 and nothing is listed")
        found = walk(self.copy)
        if os.path.lexists(os.path.join(self.copy, ".fsync-lite")):
            raise Broken("snapshot", "the copy has a state")
        shutil.rmtree(self.copy, ignore_errors=True)
        self.tell("rm -r copy")
        unseen = self.unseen() if snapshot == self.ids[0] else set()
        words = (kept.of(paths) if paths else kept).compare(
            found, self.listed(report), self.losses, unseen, root=not paths
        )
        expect_nothing("snapshot", f"latest~{self.ids.index(snapshot)} is not as it was", words)

    # --- Running ------------------------------------------------------------------------------

    def carried(self, report, paths):
        """The new places of these paths, by the directories that a report lists as moved."""
        moves = {
            action["from"].encode(): action["path"].encode()
            for action in report.get("actions", ())
            if action["action"] == "move" and action["type"] == "directory"
        }
        carried = set()
        for path in paths:
            above = next((above for above in parents(path) if above in moves), None)
            if above:
                carried.add(moves[above] + path[len(above) :])
        return carried

    def listed(self, report):
        """The paths that a report lists as lost."""
        return {problem.get("path", "").encode() for problem in report.get("problems", ())}

    def fsync_lite(self, *arguments, kill=None):
        told = " ".join(
            shlex.quote({self.source: "s", self.target: "t", self.copy: "copy"}.get(word, word)) for word in arguments
        )
        command = [self.tool, *arguments]
        if kill:
            call, what = killing(*kill)
            command = traced(command, inject=[(call, what)])
            told = f"strace -f -qq -o /dev/null -e trace={call} -e inject={call}:{what} F {told}"
        else:
            told = f"F {told}"
        self.commands += 1
        try:
            run = run_command(command, seconds=60, cwd=self.target_folder, env=self.environment)
        except subprocess.TimeoutExpired:
            raise Broken("exit", f"{arguments[0]} does not end") from None
        code = 137 if run.was_killed else run.code
        self.tell(f"{told}  # exit {code}")
        errors = run.errors.decode(errors="replace")
        if code < 0 or code in (134, 139):
            raise Broken("exit", f"{arguments[0]} crashes: {code}", errors.splitlines()[-20:])
        report = {}
        if "--json" in arguments and code in (0, 3):
            try:
                report = json.loads(run.output)
            except ValueError:
                raise Broken(
                    "document",
                    f"{' '.join(arguments[:2])}: no JSON",
                    [run.output[:300].decode(errors="replace")],
                ) from None
        return code, report, errors


def first_line(text):
    lines = [line for line in text.splitlines() if not line.startswith("fsync-lite: note")]
    return lines[0] if lines else ""
