"""What the kernel tells of block devices."""

import errno
import os
import re


def pattern_of(paths):
    """A pattern of the kernel's names of devices and of their partitions, also of those that are yet to be made."""
    names = sorted(
        {os.path.basename(path) for path in paths if os.path.dirname(path) == "/dev" and os.path.basename(path)}
    )
    partitions = (re.escape(name) + ("(?:p[0-9]+)?" if name[-1].isdigit() else "[0-9]*") for name in names)
    return f"(?:{'|'.join(partitions)})" if names else "(?!)"


def backing_file(path):
    """The file of a loop device or of its partition; None where it has none."""
    loop = re.match(r"/dev/(loop\d+)(p\d+)?$", path)
    try:
        with open(f"/sys/block/{loop[1]}/loop/backing_file", encoding="utf-8") as file:
            return file.read().strip()
    except (TypeError, OSError):
        return None


def changes(argv):
    """Whether a command on the list does more to a device than look at it."""
    program, *words = argv
    if program == "losetup":
        return "-d" in words or "-c" in words
    return program not in ("blkid", "find", "lsblk", "udevadm")


def destroys(argv):
    """Whether a command on the list writes over all that a device carries."""
    program, *words = argv
    if program.startswith("mkfs."):
        return "-n" not in words
    if program == "wipefs":
        return "--all" in words
    if program == "sgdisk":
        return "--clear" in words
    return program == "dd" and any(word.startswith("of=/dev/") and word != "of=/dev/null" for word in words)


def is_in_use(path):
    """Mounted, swap, held by another device: whoever wants it for itself alone does not get it (open(2), O_EXCL)."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        return error.errno == errno.EBUSY
    return False
