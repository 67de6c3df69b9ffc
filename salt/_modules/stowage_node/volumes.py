"""Which logical volumes may be changed: what LVM tells of them, and the kernel of their devices."""

import json
import os
import re
import subprocess

from . import programs

#: Directory in which the kernel describes its block devices.
SYSFS = "/sys/class/block"

#: Tags that lvcreate gives a logical volume of Stowage. No caller can add one to another volume.
TAG = r"stowage\.dev/(uid|unfinished)=[0-9a-f-]{36}"

#: Device-mapper's name of a logical volume, with hyphens doubled. A third part marks an internal
#: device of LVM.
NAME = r"((?:[^-]|--)+)-((?:[^-]|--)+)"

#: Offsets of a GPT's GUIDs, from the beginning and from the end, for sectors of 512 and 4096 bytes.
GUIDS = (512 + 56, 4096 + 56), (512 - 56, 4096 - 56)


class Volumes:
    """
    Those of the groups that a node's list names. What has Stowage's tag may be changed, and what the list has as a device
    by its path, `/dev/GROUP/NAME`. Methods answer why something is refused, or None.
    """

    def __init__(self, groups, patterns):
        self.groups = groups
        self.patterns = patterns
        self.known = {}
        self.disks = None

    def refuse_change(self, name, uuid=None, early=False, config=()):
        """
        `name`: GROUP/NAME. `uuid`: of the device that is meant, as device-mapper has it.
        `early`: a job is to begin, which may make it first; it is asked for again right before it is changed.
        `config`: what LVM is told of disks: another group may have the name. A device is told by its UUID.
        """
        if uuid is not None:
            config = ("--select", f"vg_uuid={_hyphens(uuid[4:36])}&&lv_uuid={_hyphens(uuid[36:])}")
        key = (name, *config)
        if not early or key not in self.known:
            self.known[key] = _look(name, config)
        found = self.known[key]
        if found is None and uuid is None:
            return None if early else f"LVM tells of no logical volume {name}"
        if found is None or uuid not in (None, found[0]):
            return f"its device is not that of the logical volume {name}"
        if not found[1] and not self._is_listed(f"/dev/{name}"):
            return f"the logical volume {name} has no tag of Stowage's and is not listed as the device /dev/{name}"
        return None

    def refuse_path(self, path, argv, changes, early):
        """Of a device, by the kernel's name or by LVM's."""
        if reads_extents(argv):
            return None if path == "/dev/null" or path in self._physical() else f"{path} is no disk of a listed group"
        device = _device(path)
        if re.fullmatch(r"/dev/dm-\d+", path):
            if device is None or device[0].partition("/")[0] not in self.groups:
                return f"{path} is no logical volume of a listed group"
            looks = not changes and (argv[0] != "od" or reads_a_guid(path, argv))
            return None if looks else self.refuse_change(*device, early)
        name = path[len("/dev/") :]
        if not changes or not re.fullmatch(r"[^/:]+/[^/:]+", name) or name.partition("/")[0] not in self.groups:
            return None
        if early:
            return self.refuse_change(name, early=True)
        # udev may have left a stale link.
        if device is None or device[0] != name:
            return f"{path} does not lead to the logical volume {name}"
        return self.refuse_change(*device)

    def _is_listed(self, path):
        # Few calls need this import, and without it a job's process starts sooner.
        from pathlib import PurePosixPath  # pylint: disable=import-outside-toplevel

        return any(each.startswith("/dev/") and PurePosixPath(path).match(each) for each in self.patterns)

    def _physical(self):
        if self.disks is None:
            rows = _report("pvs", "pv", ("vg_name", "pv_name"))
            self.disks = {row["pv_name"] for row in rows if row["vg_name"] in self.groups}
        return self.disks


def named(argv):
    """GROUP/NAME of what a command of LVM changes, on the list as it is; None where it changes none."""
    if argv[0] not in ("lvchange", "lvextend", "lvremove", "lvrename"):
        return None
    # Harmless: reloading a device's own table, deactivating inner devices, which LVM does only
    # without an active pool, and activating a thin pool.
    argv = [word for at, word in enumerate(argv) if "--config" not in argv[max(at - 1, 0) : at + 1]]
    harmless = r"--refresh [^/ ]+/[^/ ]+|--activate n [^/ ]+/[^/ ]+_t(meta|data)|--activate y .*--select lv_attr=~\^t [^/ ]+/[^/ ]+"
    if re.fullmatch(f"lvchange ({harmless})", " ".join(argv)):
        return None
    return next(word for word in argv[1:] if re.fullmatch(r"[A-Za-z0-9_+.][A-Za-z0-9_+.-]*/[^/:=]+", word))


def reads_extents(argv):
    """Whether a command on the list looks into free extents, which it finds on a physical volume."""
    program, *words = argv
    return (
        program == "blockdev"
        or (program == "blkid" and "-O" in words)
        or (program == "dd" and "count=4" in words and "iflag=skip_bytes" in words)
    )


def config_of(argv):
    """What a command on the list tells LVM of the disks that it may see."""
    return ("--config", argv[argv.index("--config") + 1]) if "--config" in argv else ()


def _hyphens(uuid):
    """As LVM writes a UUID, of which device-mapper has the letters alone."""
    parts = re.fullmatch(r"(.{6})(.{4})(.{4})(.{4})(.{4})(.{4})(.{6})", uuid)
    return "-".join(parts.groups()) if parts else uuid


def _look(name, options):
    """Device-mapper's UUID for it and whether it has the tag; None where LVM does not tell."""
    where = options if options[:1] == ("--select",) else (*options, "--", name)
    rows = _report("lvs", "lv", ("vg_uuid", "lv_uuid", "lv_tags"), *where)
    if len(rows) != 1:
        return None
    [row] = rows
    uuid = (row["vg_uuid"] + row["lv_uuid"]).replace("-", "")
    return f"LVM-{uuid}", any(re.fullmatch(TAG, tag) for tag in row["lv_tags"].split(","))


def _report(program, key, fields, *where):
    argv = [program, "--reportformat", "json", "-o", ",".join(fields), *where]
    status, output, _ = programs.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(output)["report"][0][key] if status == 0 else []


def _device(path):
    """GROUP/NAME and device-mapper's UUID of a logical volume's device; None for any other."""
    kernel = os.path.basename(os.path.realpath(path))
    try:
        name, uuid = (_read(f"{SYSFS}/{kernel}/dm/{what}") for what in ("name", "uuid"))
    except OSError:
        return None
    parts = re.fullmatch(NAME, name)
    if parts is None or not re.fullmatch(r"LVM-[A-Za-z0-9]{64}", uuid):
        return None
    return "/".join(part.replace("--", "-") for part in parts.groups()), uuid


def reads_a_guid(path, argv):
    """Else `od` would tell all that a device holds."""
    try:
        size = int(_read(f"{SYSFS}/{os.path.basename(path)}/size")) * 512
    except FileNotFoundError:
        return False
    first, last = GUIDS
    return int(argv[argv.index("-j") + 1]) in (*first, *(size - each for each in last))


def _read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().strip()
