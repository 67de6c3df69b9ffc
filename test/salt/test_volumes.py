"""Tests which logical volumes a node allows its caller to change."""

import unittest

from fake_lvm import fake_lvm
from stowage_node import allowed
from stowage_node.commands import SCRIPTS

UID = "0b8e7a2c-2d52-4c4b-9a34-0a2b4a2e9d11"
TAG = f"stowage.dev/uid={UID}"
UUID = "abcdef-5555-6666-7777-8888-9999-LVUUID"
OTHER = UUID.replace("5555", "5550")
OURS = {"name": "vg0/data1", "uuid": UUID, "tags": f"x,{TAG}", "device": "dm-3"}
ROOT = {"name": "vg0/root", "uuid": OTHER, "tags": f"backup,not.{TAG},stowage.dev/uid=x", "device": "dm-4"}
ELSEWHERE = {"name": "vg1/data1", "uuid": UUID, "tags": TAG, "device": "dm-5"}

ONLY = 'devices{filter=["a|^/dev/vdb$|","a|^/dev/mapper/mpath[.]a$|","r|.*|"]}'
CONFIG = ["--config", f"allocation{{use_blkid_wiping=1}}{ONLY}"]
NEW = ["--name", "data9", "--addtag", TAG]
THICK = [*NEW, "--extents", "9", "--wipesignatures", "y", "--zero", "y"]
SELECT = f"lv_uuid={UUID}&&lv_tags={{{TAG}}}&&lv_attr=~^[-VrRmMC]...-"


def lvm(program, *words):
    """Returns a command of LVM that sees only the disks of the group, as Stowage runs it."""
    return [program, "--config", ONLY, *words]


def remove(name, select=SELECT):
    return lvm("lvremove", "--yes", "--select", select, name)


def grow(device):
    launcher = next(each for each in SCRIPTS if ' stowage-grow "$@"' in each)
    script = next(each for each in SCRIPTS if " stowage-grow-inside " in each)
    return ["sh", "-c", launcher, "stowage-grow", script, device, UID, "ext4"]


def changes(device):
    """Returns commands that write to a device by its kernel name."""
    return (
        ["wipefs", "--all", "--force", device],
        ["mkfs.ext4", "-q", "-F", "-U", UID, device],
        ["mkfs.xfs", "-q", "-f", "-m", f"uuid={UID}", device],
        ["dd", "if=/dev/zero", f"of={device}", "bs=1M", "iflag=count_bytes", "oflag=seek_bytes,direct", "seek=0", "count=1", "conv=notrunc,nocreat,fsync", "status=none"],
        ["blkdiscard", "--offset", "0", "--length", "1", device],
        ["cmp", "--bytes=1", "--", device, "/dev/zero"],
        grow(device),
        ["flock", "-x", "-w", "60", device, "cat"],
    )


def of(name):
    """Returns commands of LVM on a logical volume, and commands on its path."""
    return (
        lvm("lvextend", "--extents", "9", name, "/dev/vdb:1-9"),
        lvm("lvchange", "--activate", "n", name),
        lvm("lvchange", "--activate", "y", "--ignoreactivationskip", name),
        lvm("lvchange", "--addtag", TAG, name),
        lvm("lvchange", "--deltag", TAG, name),
        remove(name),
        ["mkfs.ext4", "-q", "-F", "-U", UID, f"/dev/{name}"],
        ["mkfs.xfs", "-q", "-f", "-m", f"uuid={UID}", f"/dev/{name}"],
        ["flock", "-x", "-w", "60", f"/dev/{name}", "cat"],
    )


def looks(device):
    return (
        ["blkid", "-p", "-o", "export", device],
        ["lsblk", "--raw", "-n", "-d", "-b", "-o", "KNAME,MAJ:MIN,PKNAME,TYPE,SIZE,RO,SERIAL,WWN", device],
        ["wipefs", "-J", "-n", device],
        ["dd", f"if={device}", "of=/dev/null", "bs=1M", "count=4", "status=none"],
        *(["od", "-A", "n", "-t", "x1", "-j", str(at), "-N", "16", device] for at in (568, 4152, (1 << 30) - 456, (1 << 30) - 4040)),
    )


class Logical(unittest.TestCase):
    def setUp(self):
        self.asked = fake_lvm(self, OURS, ROOT, ELSEWHERE)

    def rules(self, *devices, groups=("vg0",)):
        return allowed.Rules("", [], [], list(devices), list(groups))

    def refused(self, argv, rules=None, early=False):
        with self.assertRaises(allowed.Refusal, msg=repr(argv)) as caught:
            (rules or self.rules()).check(argv, early)
        self.assertEqual(caught.exception.reason, "command")
        return str(caught.exception)

    def test_changes_volumes_with_the_tag(self):
        for argv in (*changes("/dev/dm-3"), *of("vg0/data1"), *looks("/dev/dm-3")):
            self.rules().check(argv)

    def test_only_observes_other_volumes_of_the_group(self):
        for argv in (*changes("/dev/dm-4"), *of("vg0/root")):
            for early in (False, True):
                self.assertIn("no tag of Stowage,", self.refused(argv, early=early))
        for argv in looks("/dev/dm-4"):
            self.rules().check(argv)

    def test_an_observation_does_not_read_the_content_of_other_volumes(self):
        for at in (0, 567, 1 << 20):
            self.refused(["od", "-A", "n", "-t", "x1", "-j", str(at), "-N", "16", "/dev/dm-4"])

    def test_refuses_all_commands_on_other_groups(self):
        for argv in (*changes("/dev/dm-5"), *looks("/dev/dm-5")):
            for early in (False, True):
                self.assertIn("of a listed volume group", self.refused(argv, early=early))
        for argv in of("vg1/data1"):
            self.refused(argv)
        for argv in (*changes("/dev/dm-3"), *of("vg0/data1"), ["lvcreate", "--config", ONLY, *NEW, "--virtualsize", "9b", "--thinpool", "pool", "vg0"]):
            self.refused(argv, self.rules(groups=()))
        self.rules(groups=("vg0", "vg1")).check(["wipefs", "--all", "--force", "/dev/dm-5"])

    def test_changes_a_volume_listed_by_its_path_without_the_tag(self):
        for listed in ("/dev/vg0/root", "/dev/vg0/r*"):
            for argv in of("vg0/root"):
                self.rules(listed).check(argv)
        for argv in changes("/dev/dm-4"):
            self.rules("/dev/vg0/root").check(argv)
        for other in ("/dev/vg0/roo", "/dev/vg1/root", "/dev/*", "*", "root"):
            self.refused(lvm("lvchange", "--addtag", TAG, "vg0/root"), self.rules(other))

    def test_refuses_to_destroy_a_volume_in_use(self):
        fake_lvm(self, {**OURS, "device": "dm-9"})
        self.assertIn("in use", self.refused(["wipefs", "--all", "--force", "/dev/dm-9"]))
        self.assertIn("in use", self.refused(["blkdiscard", "--offset", "0", "--length", "1", "/dev/dm-9"]))

    def test_refuses_another_device_of_the_same_name(self):
        fake_lvm(self, {**OURS, "kernel": {"dm/uuid": "LVM-" + "x" * 64}})
        self.assertIn("not that of", self.refused(["wipefs", "--all", "--force", "/dev/dm-3"]))
        # A stale link of udev.
        fake_lvm(self, {**OURS, "link": "dm-4"}, ROOT)
        self.assertIn("does not lead to", self.refused(["mkfs.ext4", "-q", "-F", "-U", UID, "/dev/vg0/data1"]))

    def test_refuses_devices_that_are_no_logical_volume_or_internal_to_lvm(self):
        crypt = {"dm/uuid": "CRYPT-LUKS2-x-y", "dm/name": "vg0-data1"}
        pool = {"dm/uuid": f"LVM-{'x' * 64}-tpool", "dm/name": "vg0-data1-tpool"}
        for kernel in (crypt, pool):
            fake_lvm(self, {**OURS, "kernel": kernel})
            self.refused(["wipefs", "--all", "--force", "/dev/dm-3"])
        fake_lvm(self, {**OURS, "kernel": {"dm/uuid": f"LVM-{'x' * 64}-real"}})
        self.refused(["wipefs", "-J", "-n", "/dev/dm-3"])
        self.refused(["wipefs", "--all", "--force", "/dev/dm-77"])
        self.refused(["wipefs", "--all", "--force", "/dev/mapper/vg0-data1"])

    def test_activates_only_thin_pools_without_the_tag(self):
        activate = lvm("lvchange", "--activate", "y", "--ignoreactivationskip")
        self.rules().check([*activate, "--select", "lv_attr=~^t", "vg0/pool"])
        self.refused([*activate, "--select", "lv_attr=~^t", "vg1/pool"])
        self.refused([*activate, "--select", "lv_attr=~^[t-]", "vg0/root"])
        self.assertIn("no tag of Stowage,", self.refused([*activate, "vg0/root"]))

    def test_distinguishes_names_with_hyphens(self):
        fake_lvm(self, {**OURS, "name": "vg0/da-ta"})
        self.rules().check(["wipefs", "--all", "--force", "/dev/dm-3"])
        self.rules().check(["mkfs.ext4", "-q", "-F", "-U", UID, "/dev/vg0/da-ta"])
        # A logical volume of a group vg0-old.
        fake_lvm(self, {**OURS, "kernel": {"dm/name": "vg0--old-data1"}})
        self.assertIn("of a listed volume group", self.refused(["wipefs", "--all", "--force", "/dev/dm-3"]))

    def test_a_job_may_create_the_volume_that_it_changes(self):
        mkfs = ["mkfs.ext4", "-q", "-F", "-U", UID, "/dev/vg0/data9"]
        self.rules().check_step({"argv": mkfs, "guards": [], "lock": "/dev/vg0/data9"})
        for argv in (mkfs, remove("vg0/data9")):
            self.refused(argv)
        fake_lvm(self, {**OURS, "hidden": True})
        self.refused(["wipefs", "--all", "--force", "/dev/dm-3"], early=True)

    def test_refuses_an_answer_of_the_caller_to_a_question_of_lvm(self):
        step = {"argv": ["lvcreate", *CONFIG, *THICK, "vg0"], "guards": [], "stdin": ""}
        self.rules().check_step(step)
        with self.assertRaises(allowed.Refusal):
            self.rules().check_step({**step, "stdin": "y\n"})

    def test_queries_lvm_once_when_a_job_begins_and_again_before_each_change(self):
        rules = self.rules()
        step = {"argv": grow("/dev/dm-3"), "guards": [], "lock": "/dev/dm-3"}
        for _ in range(3):
            rules.check_step(step)
        rules.check(step["argv"])
        rules.check(step["argv"])
        for argv in looks("/dev/dm-3"):
            rules.check(argv)
        with open(self.asked, encoding="utf-8") as file:
            self.assertEqual(file.read(), "lvs\n" * 3)

    def test_creates_volumes_only_in_the_group_and_with_the_options_of_stowage(self):
        self.rules().check(["lvcreate", *CONFIG, *THICK, "vg0"])
        self.rules().check(["lvcreate", "--yes", *CONFIG, *THICK, "vg0", "/dev/vdb:1-9"])
        self.rules().check(["lvcreate", "--config", ONLY, *NEW, "--virtualsize", "9b", "--thinpool", "pool", "vg0"])
        for argv in (
            ["lvcreate", *CONFIG, *THICK, "vg1"],
            ["lvcreate", "--config", ONLY, *NEW, "--virtualsize", "9b", "--thinpool", "pool", "vg1"],
            ["lvcreate", "--config", ONLY, *NEW, "--virtualsize", "9b", "--thinpool", "vg1/pool", "vg0"],
            ["lvcreate", *THICK, "vg0"],
            ["lvcreate", "--config", "devices/filter=[]", *THICK, "vg0"],
            ["lvcreate", "--config", "allocation{use_blkid_wiping=1}", *THICK, "vg0"],
            ["lvcreate", *NEW, "--virtualsize", "9b", "--thinpool", "pool", "vg0"],
            ["lvcreate", *CONFIG, *CONFIG, *THICK, "vg0"],
            ["lvcreate", "--yes", *CONFIG, *THICK, "vg0"],
            ["lvcreate", *CONFIG, *THICK, "vg0", "/dev/../etc:1-9"],
            ["lvcreate", "--snapshot", *CONFIG, *THICK, "vg0"],
        ):
            self.refused(argv)

    def test_removes_volumes_only_by_the_tag(self):
        for argv in (
            lvm("lvremove", "--yes", "vg0/data1"),
            lvm("lvremove", "--yes", "vg0"),
            ["lvremove", *remove("vg0/data1")[3:]],
            ["lvremove", "--config", 'devices{filter=["a|.*|"]}', *remove("vg0/data1")[3:]],
            remove("vg0"),
            remove("vg0/data1", f"lv_uuid={UUID}"),
            remove("vg0/data1", SELECT.replace("...-", "...a")),
            remove("vg0/data1", f"{SELECT}||lv_name=root"),
            [*remove("vg0/data1"), "vg0/root"],
            lvm("lvremove", "--yes", "--select", f"{SELECT} vg0/data1"),
            lvm("lvchange", "--addtag", f"{TAG} vg0/root"),
            ["lvrename", "vg0/root", "vg0/data1"],
            lvm("lvrename", "vg0/root", "vg1/data1"),
            ["lvconvert", "--merge", "vg0/data1"],
            ["vgchange", "--activate", "n", "vg0"],
            lvm("lvchange", "--addtag", "backup", "vg0/data1"),
        ):
            self.refused(argv)

    def test_reads_free_extents_only_on_disks_of_the_group(self):
        def reads(disk):
            return (
                ["blockdev", "--flushbufs", disk],
                ["blkid", "-p", "-O", "1", "-S", "9", "-o", "export", disk],
                ["dd", f"if={disk}", "of=/dev/null", "bs=1M", "count=4", "iflag=skip_bytes", "skip=1", "status=none"],
            )

        for argv in reads("/dev/vdb"):
            self.rules().check(argv)
        for disk in ("/dev/vdc", "/dev/sda", "/dev/dm-4"):
            for argv in reads(disk):
                self.refused(argv)


if __name__ == "__main__":
    unittest.main()
