"""
What may be run on this node: the commands of commands.py, on the devices and in the directories that a file of root's
lists. Whatever else a caller asks for is refused before anything of it has run.
"""

import glob
import os
import re
import stat

from . import devices
from .commands import COMMANDS

#: One `node NAME`, `directory PATH`, `device PATH` or `group NAME` (of volumes, LVM's) a line; a device may hold wildcards as in a shell.
FILE = "/etc/stowage/allowed"

#: Where programs are looked for, whatever the environment says.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

#: Whose the list and the directories are.
ROOT = 0

#: Records of what was asked, beside the disk; places where file systems are grown.
OWN = ("/var/lib/stowage", "/run/stowage")


class Refusal(Exception):
    """`reason`: 'node', 'file', 'command' or 'jobs', by which the caller tells what helps."""

    def __init__(self, reason, message, argv=()):
        super().__init__(message)
        self.reason = reason
        self.command = " ".join(argv)


def load(path):
    """Reads the file anew. A file that others than root can write is as good as none."""
    rules = {"node": [], "directory": [], "device": [], "group": []}
    try:
        with open(path, encoding="utf-8") as file:
            if not _is_roots(os.fstat(file.fileno())):
                raise Refusal("file", f"{path} is not root's alone: others can write it")
            lines = file.read().splitlines()
    except FileNotFoundError:
        raise Refusal("file", f"{path} is not there") from None
    for number, line in enumerate(lines, 1):
        word, _, value = line.partition("#")[0].strip().partition(" ")
        if not word:
            continue
        if word not in rules or not value.strip():
            raise Refusal("file", f"{path}, line {number}: neither node, directory, device nor group: {line.strip()}")
        rules[word].append(value.strip())
    for directory in rules["directory"]:
        if os.path.normpath(directory) != directory or not directory.startswith("/") or directory == "/":
            raise Refusal("file", f"{path}: {directory} is no directory by its full path")
        if os.path.exists(directory) and not _is_roots(os.stat(directory)):
            raise Refusal("file", f"{path}: others than root can write in {directory}")
    return Rules(path, rules["node"], rules["directory"], rules["device"], rules["group"])


class Rules:
    """What one file allows."""

    def __init__(self, file, nodes, directories, patterns, groups):
        self.file = file
        self.nodes = nodes
        self.directories = directories
        self.device = devices.pattern_of(path for pattern in patterns for path in _found(pattern))
        self.logical = devices.pattern_of_logical(groups)
        parents = {parent for directory in directories for parent in _parents(directory)}
        words = {
            "{directory}": _one_of(directories),
            "{folder}": _one_of([*directories, *sorted(parents)]),
            "{device}": self.device,
            "{group}": _one_of(groups),
            "{logical}": self.logical,
        }
        self.patterns = {}
        for command in COMMANDS:
            program, _, arguments = command.partition(" ")
            pattern = re.sub(r"\{[a-z]+\}", lambda found: words.get(found[0], found[0]), arguments)
            # Compiled when it is asked for: each call is a process of its own, and asks for few.
            self.patterns.setdefault(program, []).append(pattern)

    def check_node(self, node, minion):
        """A job that went astray, by a wrong minion id, would work on the disks of another node."""
        names = self.nodes or [minion]
        if node not in names:
            raise Refusal("node", f"this machine is {', '.join(map(str, names))}, not {node}")

    def check_step(self, step):
        """Before a job begins, so that none of it has run."""
        for guard in step["guards"]:
            self.check(guard["argv"])
        self.check(step["argv"])
        if step.get("lock") is not None:
            self.check_lock(step["lock"])

    def check_lock(self, device):
        """A lock on a device is taken for a job's own program, and is listed as a command of its own."""
        self.check(["flock", "-x", "-w", "60", device, "cat"])

    def check(self, argv):
        """Refuses a command that is not on the list, or whose paths lead elsewhere than they say."""
        if not argv or not all(isinstance(word, str) and "\0" not in word for word in argv):
            raise Refusal("command", "that is no command", [repr(argv)])
        arguments = " ".join(argv[1:])
        if not any(re.fullmatch(pattern, arguments) for pattern in self.patterns.get(argv[0], [])):
            raise Refusal("command", "no command on its list is this one", argv)
        for word in argv[1:]:
            for path in re.findall(r"(?:^|=)(/[^=]*)$", word):
                self._check_path(path, argv)

    def _check_path(self, path, argv):
        if ".." in path.split("/"):
            raise Refusal("command", f"{path} leads out of its directory", argv)
        if path.startswith((*(f"{each}/" for each in self.directories), *(f"{each}/" for each in OWN))):
            if os.path.islink(path):
                raise Refusal("command", f"{path} is a symbolic link", argv)
        listed = path.startswith("/dev/") and re.fullmatch(f"{self.device}|{self.logical}", path[len("/dev/") :])
        if not listed and devices.changes(argv):
            file = devices.backing_file(path)
            if file is not None and not file.startswith(tuple(f"{each}/" for each in self.directories)):
                raise Refusal("command", f"{path} has the file {file}, which is in no listed directory", argv)
        if listed and devices.destroys(argv) and devices.is_in_use(path):
            raise Refusal("command", f"{path} is in use: the kernel does not give it to one user alone", argv)


def _is_roots(found):
    return found.st_uid == ROOT and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _found(pattern):
    """A device that is away is listed all the same; of a link it is not known then which one it was."""
    return map(os.path.realpath, glob.glob(pattern) if glob.has_magic(pattern) else [pattern])


def _parents(path):
    while (path := os.path.dirname(path)) != "/":
        yield path


def _one_of(words):
    """A pattern of these words; nothing matches where there are none."""
    return f"(?:{'|'.join(map(re.escape, words))})" if words else "(?!)"
