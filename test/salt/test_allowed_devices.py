"""Tests which commands on devices a node allows. The tests run none of them."""

import errno
import os
import unittest
from unittest import mock

from lists import UID, ListsCase
from stowage_node import allowed, devices, volumes


class Devices(ListsCase):
    def test_allows_listed_devices_and_their_partitions(self):
        rules = self.rules("device /dev/sdb", "device /dev/nvme0n1")
        mkfs = ["mkfs.ext4", "-q", "-F", "-U", UID]
        with mock.patch.object(devices, "is_in_use", return_value=False):
            for path in ("/dev/sdb", "/dev/sdb3", "/dev/nvme0n1", "/dev/nvme0n1p12"):
                rules.check([*mkfs, path])
            for path in ("/dev/sdbb", "/dev/sdc", "/dev/nvme0n10", "/dev/nvme0n1p", "/dev/../dev/sdb", "sdb"):
                self.assertRefused([*mkfs, path], rules=rules)

    def test_a_persistent_link_is_removed_for_its_own_volume_alone(self):
        rm = ["rm", "-f", "--", f"/dev/disk/by-uuid/{UID}"]
        rules = self.rules("device /dev/sdb")
        self.assertIn("does not belong to the Volume", self.assertRefused(rm, rules=rules))
        rules.subject = UID.replace("0", "1")
        self.assertIn("does not belong to the Volume", self.assertRefused(rm, rules=rules))
        rules.subject = UID
        rules.check(rm)
        with mock.patch.object(os.path, "exists", return_value=True):
            for leads_to, listed in (("/dev/sdb", True), ("/dev/sdb1", True), ("/dev/sda1", False), ("/etc/passwd", False)):
                with mock.patch.object(os.path, "realpath", return_value=leads_to):
                    if listed:
                        rules.check(rm)
                    else:
                        self.assertIn(leads_to, self.assertRefused(rm, rules=rules))
        own = ["rm", "-f", "--", f"/dev/disk/by-id/stowage-{UID}"]
        rules.check(own)
        with mock.patch.object(os.path, "exists", return_value=True):
            rules.check(own)
        self.assertRefused([*own[:-1], own[-1].replace("0", "1")], rules=rules)
        with self.assertRaises(allowed.Refusal):
            rules.check_look(rm)

    def test_the_rule_of_a_persistent_link_is_written_for_its_own_volume_alone(self):
        other = UID.replace("0", "1")
        rules = self.rules()

        def find(uid, link):
            text = f'SUBSYSTEM=="block",ATTRS{{diskseq}}=="7",SYMLINK+="disk/{link}"\\n'
            return ["find", "/dev/null", "-fprintf", f"/run/udev/rules.d/61-stowage-{uid}.rules", text]

        self.assertIn("does not belong to the Volume", self.assertRefused(find(UID, f"by-id/stowage-{UID}"), rules=rules))
        rules.subject = UID
        rules.check(find(UID, f"by-id/stowage-{UID}"))
        rules.check(find(UID, f"by-uuid/{UID}"))
        for uid, link in ((other, f"by-id/stowage-{UID}"), (UID, f"by-id/stowage-{other}"), (UID, f"by-uuid/{other}")):
            self.assertIn("does not belong to the Volume", self.assertRefused(find(uid, link), rules=rules))

    def test_the_guid_of_a_partition_that_is_in_use_is_kept(self):
        rules = self.rules("device /dev/sdb", "device /dev/nvme0n1")
        for disk, partition in (("/dev/sdb", "/dev/sdb2"), ("/dev/nvme0n1", "/dev/nvme0n1p2")):
            argv = ["sgdisk", f"--partition-guid=2:{UID}", disk]
            for known, used, refused in (
                ([partition], [disk], None),
                ([partition], [partition, disk], partition),
                # The kernel does not show which partition is in use.
                ([], [disk], disk),
                ([], [], None),
            ):
                with mock.patch.object(os.path, "exists", lambda path, known=known: path in known), mock.patch.object(
                    devices, "is_in_use", lambda path, used=used: path in used
                ), mock.patch.object(rules, "directories", []):
                    if refused is None:
                        rules.check(argv)
                    else:
                        self.assertIn(f"{refused} is in use", self.assertRefused(argv, rules=rules))

    def test_a_device_whose_use_is_unknown_counts_as_in_use(self):
        for error, used in (
            *((each, True) for each in (errno.EBUSY, errno.EPERM, errno.EACCES, errno.EIO)),
            *((each, False) for each in (errno.ENOENT, errno.ENXIO)),
        ):
            with mock.patch.object(os, "open", side_effect=OSError(error, "")):
                self.assertEqual(devices.is_in_use("/dev/sdb"), used, error)
        self.assertFalse(devices.is_in_use(self.directory))

    def test_reads_only_the_guids_of_a_disk(self):
        rules = self.rules("device /dev/sdb")
        os.makedirs(f"{self.folder.name}/sys/sdb")
        with open(f"{self.folder.name}/sys/sdb/size", "w", encoding="utf-8") as file:
            file.write("2048\n")
        with mock.patch.object(volumes, "SYSFS", f"{self.folder.name}/sys"):
            for at in (568, 4152, (1 << 20) - 456, (1 << 20) - 4040):
                rules.check(["od", "-A", "n", "-t", "x1", "-j", str(at), "-N", "16", "/dev/sdb"])
            for at, disk in ((0, "/dev/sdb"), (1024, "/dev/sdb"), (567, "/dev/sdb"), (568, "/dev/sdb7")):
                self.assertRefused(["od", "-A", "n", "-t", "x1", "-j", str(at), "-N", "16", disk], rules=rules)

    def test_a_list_without_devices_allows_none(self):
        self.assertRefused(["wipefs", "--all", "--force", "/dev/sdb"])
        self.assertRefused(["flock", "-x", "-w", "60", "/dev/sdb", "cat"])

    def test_a_device_in_use_may_be_read_and_not_destroyed(self):
        rules = self.rules("device /dev/sdb")
        with mock.patch.object(devices, "is_in_use", return_value=True):
            for argv in (
                ["mkfs.xfs", "-q", "-f", "-m", f"uuid={UID}", "/dev/sdb"],
                ["mkfs.xfs", "-q", "-f", "-n", "ftype=1", "-m", f"uuid={UID}", "/dev/sdb"],
                ["wipefs", "--all", "--force", "/dev/sdb"],
                ["partx", "--delete", "/dev/sdb"],
            ):
                self.assertIn("in use", self.assertRefused(argv, rules=rules))
            rules.check(["mkfs.ext4", "-n", "-q", "-F", "/dev/sdb", "8M"])
            rules.check(["blkid", "-p", "-o", "export", "/dev/sdb"])

    def test_a_loop_device_of_a_file_elsewhere_is_not_changed(self):
        with mock.patch.object(devices, "backing_file", return_value="/srv/other"):
            self.assertIn("/srv/other", self.assertRefused(["losetup", "-d", "/dev/loop7"]))
            self.assertRefused(["e2fsck", "-f", "-p", "/dev/loop7"])
            self.assertRefused(["flock", "-x", "-w", "60", "/dev/loop7", "cat"])
            self.rules().check(["losetup", "-j", "/dev/loop7"])
        with mock.patch.object(devices, "backing_file", return_value=f"{self.directory}/{UID}"):
            self.rules().check(["losetup", "-d", "/dev/loop7"])


if __name__ == "__main__":
    unittest.main()
