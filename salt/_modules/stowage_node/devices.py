"""What the kernel tells of block devices."""

import errno
import glob
import os
import re

#: What the kernel tells of block devices.
BLOCK = "/sys/class/block"


def pattern_of(paths):
    """A pattern of the kernel's names of devices and of their partitions, also of those that are yet to be made."""
    names = sorted(
        {os.path.basename(path) for path in paths if os.path.dirname(path) == "/dev" and os.path.basename(path)}
    )
    partitions = (re.escape(name) + ("(?:p[0-9]+)?" if name[-1].isdigit() else "[0-9]*") for name in names)
    return f"(?:{'|'.join(partitions)})" if names else "(?!)"


def pattern_of_logical(groups):
    """A pattern of the kernel's names of the logical volumes that there are in these volume groups, not of what they are made of."""
    found = []
    for folder in glob.glob(f"{BLOCK}/dm-*"):
        try:
            with open(f"{folder}/dm/uuid", encoding="utf-8") as uuid, open(f"{folder}/dm/name", encoding="utf-8") as name:
                is_logical, full = re.fullmatch(r"LVM-[A-Za-z0-9]{64}", uuid.read().strip()), name.read().strip()
        except OSError:
            continue
        # Hyphens within the names of group and volume are doubled; no name begins with one.
        if is_logical and any(re.match(re.escape(each.replace("-", "--")) + "-[^-]", full) for each in groups):
            found.append(os.path.basename(folder))
    return f"(?:{'|'.join(sorted(found))})" if found else "(?!)"


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
