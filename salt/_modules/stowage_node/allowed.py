"""
Commands that may run on this node: those of commands.py, on the devices and in the directories of
a list that root owns. A request with any other command is refused before a part of it runs.
"""

import glob
import os
import re

from . import devices, roots, volumes
from .commands import COMMANDS, LOOKS, SCRIPTS

#: Allowed list. A line is `node NAME`, `directory PATH`, `device PATH`, `group NAME` (of LVM) or
#: `kubelet PATH` (its root directory). A device may have a shell's wildcards.
FILE = "/etc/stowage/allowed"

#: Root directory of the kubelet, if the list names none.
KUBELET = "/var/lib/kubelet"

#: User, in addition to user 0, that may own the list and the directories.
ROOT = 0

#: The only argument with spaces in listed commands: the output format of find.
SPACED = r"%y %s %f\n"

#: Scripts that read their standard input.
TOLD = (["stowage-image"], ["stowage-archive"], ["stowage-backup"])

#: Directories of Stowage's records on the disk, and of temporary mounts.
OWN = ("/var/lib/stowage", "/run/stowage")


class Refusal(Exception):
    """
    Raised if this node refuses a request. `reason`: 'node', 'file', 'command' or 'jobs', from which
    the caller derives the remedy.
    """

    def __init__(self, reason, message, argv=()):
        super().__init__(message)
        self.reason = reason
        self.command = " ".join(argv)


def load(path, subject=None):
    """
    Reads the list. Raises Refusal if it is missing or invalid, or if users other than root can
    write to it. `subject`: that of the job whose steps are checked; None for observations.
    """
    rules = {"node": [], "directory": [], "device": [], "group": [], "kubelet": []}
    try:
        with open(path, encoding="utf-8") as file:
            if not roots.is_roots(os.fstat(file.fileno()), ROOT):
                raise Refusal("file", f"users other than root can write to {path}")
            lines = file.read().splitlines()
    except FileNotFoundError:
        raise Refusal("file", f"{path} does not exist") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal("file", f"cannot read {path}: {error}") from None
    for number, line in enumerate(lines, 1):
        word, _, value = re.sub(r"(^|\s)#.*", "", line).strip().partition(" ")
        if not word:
            continue
        if word not in rules or not value.strip():
            raise Refusal("file", f"{path}, line {number}: must be node, directory, device, group or kubelet, and a value: {line.strip()}")
        rules[word].append(value.strip())
    for directory in rules["directory"]:
        if os.path.normpath(directory) != directory or not directory.startswith("/") or directory == "/":
            raise Refusal("file", f"{path}: directory {directory} must be a normalized absolute path other than /")
        if os.path.islink(directory):
            raise Refusal("file", f"{path}: directory {directory} is a symbolic link to {os.readlink(directory)}")
        if os.path.exists(directory) and not roots.is_roots(os.stat(directory), ROOT):
            raise Refusal("file", f"{path}: users other than root can write to directory {directory}")
        above = roots.replaceable(directory, ROOT)
        if above is not None:
            raise Refusal("file", f"{path}: users other than root can write to {above}, on the path of directory {directory}")
    for group in rules["group"]:
        if not re.fullmatch(r"(?!\.+$)[A-Za-z0-9_+.][A-Za-z0-9_+.-]*", group):
            raise Refusal("file", f"{path}: {group} is not a valid name of a volume group")
    for kubelet in rules["kubelet"]:
        if os.path.normpath(kubelet) != kubelet or not kubelet.startswith("/") or kubelet == "/":
            raise Refusal("file", f"{path}: kubelet {kubelet} must be a normalized absolute path other than /")
    return Rules(path, rules["node"], rules["directory"], rules["device"], rules["group"], subject, rules["kubelet"])


class Rules:
    """Rules of one list."""

    def __init__(self, file, nodes, directories, patterns, groups, subject=None, kubelets=()):
        self.file = file
        self.subject = subject
        self.nodes = nodes
        self.directories = directories
        self.device = devices.pattern_of(path for pattern in patterns for path in _found(pattern))
        self.volumes = volumes.Volumes(groups, patterns)
        parents = {parent for directory in directories for parent in _parents(directory)}
        words = {
            "{directory}": _one_of(directories),
            "{folder}": _one_of([*directories, *sorted(parents)]),
            "{device}": self.device,
            "{group}": _one_of(groups),
            "{kubelet}": _one_of(kubelets or [KUBELET]),
        }
        # Compiled on demand: each call is a separate process, and needs few patterns.
        self.patterns = _by_program(COMMANDS, words)
        self.looks = _by_program(LOOKS, words)

    def check_node(self, node, minion):
        """Refuses a request for another node, such as one with a wrong minion ID."""
        names = self.nodes or [minion]
        if node not in names:
            raise Refusal("node", f"this machine is {', '.join(map(str, names))}, not {node}")

    def check_step(self, step):
        """Checks a step before the job begins, so that a refused job has not run at all."""
        # lvcreate would read a consent to destroy data. dd reads records, and scripts secrets.
        if step.get("stdin") and step["argv"][:1] != ["dd"] and not _is_told(step["argv"]):
            raise Refusal("command", "the command must not have standard input", step["argv"])
        for guard in step["guards"]:
            self.check(guard["argv"], early=True)
        self.check(step["argv"], early=True)
        if step.get("lock") is not None:
            self.check_lock(step["lock"], early=True)

    def check_lock(self, device, early=False):
        """Checks the lock on a device, which the list has as a separate command."""
        self.check(["flock", "-x", "-w", "60", device, "cat"], early)

    def check_look(self, argv):
        """Checks a command of an observation, which must only read."""
        self.check(argv, patterns=self.looks)

    def check(self, argv, early=False, patterns=None):
        """
        Refuses a command that is not on the list, or whose paths lead elsewhere.
        `early`: the check before a job begins, when a logical volume may not exist yet.
        `patterns`: listed commands; default: all.
        """
        patterns = patterns or self.patterns
        if not argv or not all(isinstance(word, str) and "\0" not in word for word in argv):
            raise Refusal("command", "a command must be a non-empty list of strings without NUL", [repr(argv)])
        arguments = " ".join(argv[1:])
        # A script has several lines.
        flags = re.DOTALL if argv[0] == "sh" else 0
        if not any(re.fullmatch(pattern, arguments, flags) for pattern in patterns.get(argv[0], [])):
            raise Refusal("command", "the command is not on its list", argv)
        # Paths after a space would not be checked.
        if any(" " in word and word != SPACED for word in _words(argv)):
            raise Refusal("command", "arguments must not contain spaces", argv)
        if "-fprintf" in argv:
            self._check_rule(argv)
        volume = volumes.named(argv)
        refused = volume and self.volumes.refuse_change(volume, early=early, config=volumes.config_of(argv))
        if refused:
            raise Refusal("command", refused, argv)
        for word in _words(argv)[1:]:
            path = re.fullmatch(r"(?:[A-Za-z-]+=)?(/.*)", word)
            if path is not None:
                self._check_path(path[1], argv, early)

    def _check_path(self, path, argv, early):
        if ".." in path.split("/"):
            raise Refusal("command", f"{path} must not contain ..", argv)
        if path.startswith((*(f"{each}/" for each in self.directories), *(f"{each}/" for each in OWN))):
            if os.path.islink(path):
                raise Refusal("command", f"{path} is a symbolic link", argv)
        if argv[0] == "rm" and path.startswith("/dev/"):
            self._check_link(path, argv)
            return
        listed = self._lists(path)
        if not listed and devices.changes(argv):
            file = devices.backing_file(path)
            if file is not None and not file.startswith(tuple(f"{each}/" for each in self.directories)):
                raise Refusal("command", f"{path} has the backing file {file}, which is in no listed directory", argv)
        if path.startswith("/dev/") and not listed:
            refused = self.volumes.refuse_path(path, argv, devices.changes(argv), early)
            if refused:
                raise Refusal("command", refused, argv)
        if listed and argv[0] == "od" and not volumes.reads_a_guid(path, argv):
            raise Refusal("command", "only the GUIDs of a partition table may be read", argv)
        if path.startswith("/dev/") and devices.destroys(argv):
            device = devices.destroyed(path, argv)
            if devices.is_in_use(device):
                raise Refusal("command", f"{device} is in use: it cannot be opened exclusively", argv)

    def _check_rule(self, argv):
        """Refuses a udev rule that creates the link of a Volume other than that of the job."""
        path, rule = argv[argv.index("-fprintf") + 1 :][:2]
        link = re.search(r'SYMLINK\+="([^"]*)"', rule)
        # A job with the prefix `path-` makes udev prefer the Volume's device.
        subject = self.subject and re.sub("^path-", "", self.subject)
        if subject is None or not path.endswith(f"-{subject}.rules") or not link[1].endswith(subject):
            raise Refusal("command", f"{path} does not belong to the Volume of this job", argv)

    def _check_link(self, path, argv):
        """
        Refuses to remove a persistent link, unless it is that of the job's own Volume. A link by
        UUID must also lead to a listed device or nowhere.
        """
        if self.subject is not None and path == f"/dev/disk/by-id/stowage-{self.subject}":
            return
        if os.path.basename(path) != self.subject:
            raise Refusal("command", f"{path} does not belong to the Volume of this job", argv)
        device = os.path.realpath(path)
        if os.path.exists(device) and not self._lists(device):
            raise Refusal("command", f"{path} leads to {device}, which is not listed", argv)

    def _lists(self, path):
        return path.startswith("/dev/") and re.fullmatch(self.device, path[len("/dev/") :])


def _is_told(argv):
    """Returns whether a script runs that reads a secret from standard input. It asks nothing."""
    return list(argv[:2]) == ["sh", "-c"] and argv[3:4] in TOLD and argv[4:5] and argv[4] in SCRIPTS


def _words(argv):
    """Returns the arguments without texts that are exactly Stowage's scripts for a shell."""
    if list(argv[:2]) != ["sh", "-c"]:
        return argv
    return [word for at, word in enumerate(argv) if at not in (2, 4) or word not in SCRIPTS]


def _by_program(commands, words):
    patterns = {}
    for command in commands:
        program, _, arguments = command.partition(" ")
        pattern = re.sub(r"\{[a-z]+\}", lambda found: words.get(found[0], found[0]), arguments)
        patterns.setdefault(program, []).append(pattern)
    return patterns


def _found(pattern):
    """Returns the devices of a list entry, also missing ones. A missing link stays unresolved."""
    return map(os.path.realpath, glob.glob(pattern) if glob.has_magic(pattern) else [pattern])


def _parents(path):
    while (path := os.path.dirname(path)) != "/":
        yield path


def _one_of(words):
    """Returns a pattern for these words. Without words, it matches nothing."""
    return f"(?:{'|'.join(map(re.escape, words))})" if words else "(?!)"
