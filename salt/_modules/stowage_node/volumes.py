"""Logical volumes that may be changed, by the reports of LVM and of the kernel."""

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
    Logical volumes in the groups of a node's list. Volumes with Stowage's tag may be changed, and
    volumes that the list has as a device, `/dev/GROUP/NAME`. Methods return the reason of a
    refusal, or None.
    """

    def __init__(self, groups, patterns):
        self.groups = groups
        self.patterns = patterns
        self.known = {}
        self.disks = None

    def refuse_change(self, name, uuid=None, early=False, config=()):
        """
        Returns why the logical volume must not be changed, or None. `name`: GROUP/NAME.
        `uuid`: UUID of the device, as device-mapper has it.
        `early`: the check at the start of a job, which may create the volume first. Another check
        follows right before the change.
        `config`: options that limit the disks that LVM sees, since another group may have the same
        name. With `uuid`, the UUID selects the volume instead.
        """
        if uuid is not None:
            config = ("--select", f"vg_uuid={_hyphens(uuid[4:36])}&&lv_uuid={_hyphens(uuid[36:])}")
        key = (name, *config)
        if not early or key not in self.known:
            self.known[key] = _look(name, config)
        found = self.known[key]
        if found is None and uuid is None:
            return None if early else f"LVM reports no logical volume {name}"
        if found is None or uuid not in (None, found[0]):
            return f"the device is not that of logical volume {name}"
        if not found[1] and not self._is_listed(f"/dev/{name}"):
            return f"logical volume {name} has no tag of Stowage, and /dev/{name} is not a listed device"
        return None

    def refuse_path(self, path, argv, changes, early):
        """Returns why a device must not be used, or None. `path`: the kernel's or LVM's."""
        if reads_extents(argv):
            if path == "/dev/null" or path in self._physical():
                return None
            return f"{path} is not a physical volume of a listed volume group"
        device = _device(path)
        if re.fullmatch(r"/dev/dm-\d+", path):
            if device is None or device[0].partition("/")[0] not in self.groups:
                return f"{path} is not a logical volume of a listed volume group"
            looks = not changes and (argv[0] != "od" or reads_a_guid(path, argv))
            return None if looks else self.refuse_change(*device, early)
        name = path[len("/dev/") :]
        if not changes or not re.fullmatch(r"[^/:]+/[^/:]+", name) or name.partition("/")[0] not in self.groups:
            return None
        if early:
            return self.refuse_change(name, early=True)
        # udev may have left a stale link.
        if device is None or device[0] != name:
            return f"{path} does not lead to logical volume {name}"
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
    """Returns the GROUP/NAME that a listed LVM command changes; None if it changes none."""
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
    """Returns whether a listed command reads free extents of a physical volume."""
    program, *words = argv
    return (
        program == "blockdev"
        or (program == "blkid" and "-O" in words)
        or (program == "dd" and "count=4" in words and "iflag=skip_bytes" in words)
    )


def config_of(argv):
    """Returns the options of a listed command that limit the disks that LVM sees."""
    return ("--config", argv[argv.index("--config") + 1]) if "--config" in argv else ()


def _hyphens(uuid):
    """Returns a UUID as LVM writes it. Device-mapper omits the hyphens."""
    parts = re.fullmatch(r"(.{6})(.{4})(.{4})(.{4})(.{4})(.{4})(.{6})", uuid)
    return "-".join(parts.groups()) if parts else uuid


def _look(name, options):
    """Returns device-mapper's UUID and whether the volume has the tag; None if LVM reports none."""
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
    """Returns GROUP/NAME and device-mapper's UUID of a logical volume; None for other devices."""
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
    """Returns whether `od` reads a GUID of a GPT. Elsewhere it would disclose content."""
    try:
        size = int(_read(f"{SYSFS}/{os.path.basename(path)}/size")) * 512
    except FileNotFoundError:
        return False
    first, last = GUIDS
    return int(argv[argv.index("-j") + 1]) in (*first, *(size - each for each in last))


def _read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().strip()
