"""Block devices, as the kernel reports them."""

import errno
import os
import re


def pattern_of(paths):
    """
    Returns a pattern for the kernel's names of devices and of their partitions, including
    partitions that do not exist yet.
    """
    names = sorted(
        {os.path.basename(path) for path in paths if os.path.dirname(path) == "/dev" and os.path.basename(path)}
    )
    partitions = (re.escape(name) + ("(?:p[0-9]+)?" if name[-1].isdigit() else "[0-9]*") for name in names)
    return f"(?:{'|'.join(partitions)})" if names else "(?!)"


def backing_file(path):
    """Returns the backing file of a loop device or its partition; None for other devices."""
    loop = re.match(r"/dev/(loop\d+)(p\d+)?$", path)
    try:
        with open(f"/sys/block/{loop[1]}/loop/backing_file", encoding="utf-8") as file:
            return file.read().strip()
    except (TypeError, OSError):
        return None


def changes(argv):
    """Returns whether a listed command does more to a device than read it."""
    program, *words = argv
    if program == "losetup":
        return "-d" in words or "-c" in words
    if program in ("dd", "mkfs.ext4", "wipefs"):
        return destroys(argv)
    return program not in ("blkid", "blockdev", "find", "lsblk", "od", "stat", "udevadm")


def destroys(argv):
    """
    Returns whether a listed command overwrites the content of a device, removes its partitions or
    changes its identity.
    """
    program, *words = argv
    if program.startswith("mkfs."):
        # `-n` is a dry run of mkfs.ext4, and an option with a value of mkfs.xfs.
        return program != "mkfs.ext4" or "-n" not in words
    if program == "wipefs":
        return "--all" in words
    if program == "sgdisk":
        return "--clear" in words or words[0].startswith("--partition-guid=")
    if program == "partx":
        return "--delete" in words
    if program == "blkdiscard":
        return True
    # stowage-adopt changes the identity of a device.
    if program == "sh":
        return words[2:3] == ["stowage-adopt"]
    return program == "dd" and any(word.startswith("of=/dev/") and word != "of=/dev/null" for word in words)


def destroyed(path, argv):
    """
    Returns the device that must not be in use: the partition, if the command changes only one
    partition of the disk `path` and the kernel knows it; else `path`.
    """
    found = argv[0] == "sgdisk" and re.match(r"--partition-guid=(\d+):", argv[1])
    partition = found and f"{path}{'p' if path[-1].isdigit() else ''}{found[1]}"
    return partition if partition and os.path.exists(partition) else path


def is_in_use(path):
    """
    Returns whether a device is mounted, used as swap or held by another device: the kernel then
    refuses to open it exclusively (open(2), O_EXCL). Any other error counts as in use, but a missing
    device does not.
    """
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        return error.errno not in (errno.ENOENT, errno.ENXIO, errno.ENODEV)
    return False
