"""
What may be run on this node: the commands of commands.py, on the devices and in the directories that a file of root's
lists. Whatever else a caller asks for is refused before anything of it has run.
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
    """`reason`: 'node', 'file', 'command' or 'jobs', by which the caller tells what helps."""

    def __init__(self, reason, message, argv=()):
        super().__init__(message)
        self.reason = reason
        self.command = " ".join(argv)


def load(path, subject=None):
    """
    Reads the file anew. A file that others than root can write is as good as none.
    `subject`: that of the job whose steps are checked; None for looks.
    """
    rules = {"node": [], "directory": [], "device": [], "group": [], "kubelet": []}
    try:
        with open(path, encoding="utf-8") as file:
            if not roots.is_roots(os.fstat(file.fileno()), ROOT):
                raise Refusal("file", f"{path} is not root's alone: others can write it")
            lines = file.read().splitlines()
    except FileNotFoundError:
        raise Refusal("file", f"{path} is not there") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal("file", f"{path} can't be read: {error}") from None
    for number, line in enumerate(lines, 1):
        word, _, value = re.sub(r"(^|\s)#.*", "", line).strip().partition(" ")
        if not word:
            continue
        if word not in rules or not value.strip():
            raise Refusal("file", f"{path}, line {number}: neither node, directory, device, group nor kubelet: {line.strip()}")
        rules[word].append(value.strip())
    for directory in rules["directory"]:
        if os.path.normpath(directory) != directory or not directory.startswith("/") or directory == "/":
            raise Refusal("file", f"{path}: {directory} is no directory by its full path")
        if os.path.islink(directory):
            raise Refusal("file", f"{path}: {directory} is a symbolic link to {os.readlink(directory)}")
        if os.path.exists(directory) and not roots.is_roots(os.stat(directory), ROOT):
            raise Refusal("file", f"{path}: others than root can write in {directory}")
        above = roots.replaceable(directory, ROOT)
        if above is not None:
            raise Refusal("file", f"{path}: others than root can write in {above}, where {directory} is")
    for group in rules["group"]:
        if not re.fullmatch(r"(?!\.+$)[A-Za-z0-9_+.][A-Za-z0-9_+.-]*", group):
            raise Refusal("file", f"{path}: {group} is no name of a volume group")
    for kubelet in rules["kubelet"]:
        if os.path.normpath(kubelet) != kubelet or not kubelet.startswith("/") or kubelet == "/":
            raise Refusal("file", f"{path}: {kubelet} is no root folder of the kubelet by its full path")
    return Rules(path, rules["node"], rules["directory"], rules["device"], rules["group"], subject, rules["kubelet"])


class Rules:
    """What one file allows."""

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
        # Compiled on demand: each call is a process of its own, and needs few patterns.
        self.patterns = _by_program(COMMANDS, words)
        self.looks = _by_program(LOOKS, words)

    def check_node(self, node, minion):
        """A job that went astray, by a wrong minion id, would work on the disks of another node."""
        names = self.nodes or [minion]
        if node not in names:
            raise Refusal("node", f"this machine is {', '.join(map(str, names))}, not {node}")

    def check_step(self, step):
        """Before a job begins, so that none of it has run."""
        # lvcreate would read a consent to destroy data there. Records and secrets come from there.
        if step.get("stdin") and step["argv"][:1] != ["dd"] and not _is_told(step["argv"]):
            raise Refusal("command", "it is told something on its standard input", step["argv"])
        for guard in step["guards"]:
            self.check(guard["argv"], early=True)
        self.check(step["argv"], early=True)
        if step.get("lock") is not None:
            self.check_lock(step["lock"], early=True)

    def check_lock(self, device, early=False):
        """A lock on a device is taken for a job's own program, and is listed as a command of its own."""
        self.check(["flock", "-x", "-w", "60", device, "cat"], early)

    def check_look(self, argv):
        """Refuses what is no command that only reads, too."""
        self.check(argv, patterns=self.looks)

    def check(self, argv, early=False, patterns=None):
        """
        Refuses a command that is not on the list, or whose paths lead elsewhere than they say.
        `early`: not right before it runs. A logical volume need not be there yet. `patterns`: default: all of the list.
        """
        patterns = patterns or self.patterns
        if not argv or not all(isinstance(word, str) and "\0" not in word for word in argv):
            raise Refusal("command", "that is no command", [repr(argv)])
        arguments = " ".join(argv[1:])
        # A script has several lines.
        flags = re.DOTALL if argv[0] == "sh" else 0
        if not any(re.fullmatch(pattern, arguments, flags) for pattern in patterns.get(argv[0], [])):
            raise Refusal("command", "no command on its list is this one", argv)
        # Paths after a space would not be checked.
        if any(" " in word and word != SPACED for word in _words(argv)):
            raise Refusal("command", "no argument of these has a space", argv)
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
            raise Refusal("command", f"{path} leads out of its directory", argv)
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
                raise Refusal("command", f"{path} has the file {file}, which is in no listed directory", argv)
        if path.startswith("/dev/") and not listed:
            refused = self.volumes.refuse_path(path, argv, devices.changes(argv), early)
            if refused:
                raise Refusal("command", refused, argv)
        if listed and argv[0] == "od" and not volumes.reads_a_guid(path, argv):
            raise Refusal("command", "no GUID of a partition table is there", argv)
        if path.startswith("/dev/") and devices.destroys(argv):
            device = devices.destroyed(path, argv)
            if devices.is_in_use(device):
                raise Refusal("command", f"{device} is in use: the kernel does not give it to one user alone", argv)

    def _check_rule(self, argv):
        """A rule makes the link of the job's own Volume, and no other's."""
        path, rule = argv[argv.index("-fprintf") + 1 :][:2]
        link = re.search(r'SYMLINK\+="([^"]*)"', rule)
        # A job with the prefix `path-` makes udev prefer the Volume's device.
        subject = self.subject and re.sub("^path-", "", self.subject)
        if subject is None or not path.endswith(f"-{subject}.rules") or not link[1].endswith(subject):
            raise Refusal("command", f"{path} is not of the Volume that this job is for", argv)

    def _check_link(self, path, argv):
        """A persistent link goes with what the job's own Volume had, and others keep theirs."""
        if self.subject is not None and path == f"/dev/disk/by-id/stowage-{self.subject}":
            return
        if os.path.basename(path) != self.subject:
            raise Refusal("command", f"{path} is not of the Volume that this job is for", argv)
        device = os.path.realpath(path)
        if os.path.exists(device) and not self._lists(device):
            raise Refusal("command", f"{path} leads to {device}, which is not listed", argv)

    def _lists(self, path):
        return path.startswith("/dev/") and re.fullmatch(self.device, path[len("/dev/") :])


def _is_told(argv):
    """What fills volumes reads a secret there, and nothing else: it asks nothing."""
    return list(argv[:2]) == ["sh", "-c"] and argv[3:4] in TOLD and argv[4:5] and argv[4] in SCRIPTS


def _words(argv):
    """The arguments without scripts that a shell is to run, which are ours to the letter or count as any word."""
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
    """A device that is away is listed all the same; of a link it is not known then which one it was."""
    return map(os.path.realpath, glob.glob(pattern) if glob.has_magic(pattern) else [pattern])


def _parents(path):
    while (path := os.path.dirname(path)) != "/":
        yield path


def _one_of(words):
    """A pattern of these words; nothing matches where there are none."""
    return f"(?:{'|'.join(map(re.escape, words))})" if words else "(?!)"
