"""What a node runs and what it refuses. No program of it is run here."""

import os
import tempfile
import unittest
from unittest import mock

from stowage_node import allowed, devices

UID = "0b8e7a2c-2d52-4c4b-9a34-0a2b4a2e9d11"


class Lists(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.directory = os.path.join(os.path.realpath(self.folder.name), "sparse")
        os.mkdir(self.directory, 0o700)

    def load(self, text):
        path = os.path.join(self.folder.name, "allowed")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o644)
        # Whoever runs the tests is root's stand-in.
        with mock.patch.object(allowed, "ROOT", os.geteuid()):
            return allowed.load(path)

    def rules(self, *lines):
        return self.load("".join(f"{line}\n" for line in (f"directory {self.directory}", *lines)))

    def assertRefused(self, argv, reason="command", rules=None):
        with self.assertRaises(allowed.Refusal, msg=repr(argv)) as caught:
            (rules or self.rules()).check(argv)
        self.assertEqual(caught.exception.reason, reason)
        return str(caught.exception)

    def test_what_steps_run_is_allowed(self):
        file = f"{self.directory}/{UID}"
        for argv in (
            ["mkdir", "-p", "-m", "0700", "--", self.directory],
            ["truncate", "-s", "1073741824", "--", f"{file}.partial"],
            ["mkfs.ext4", "-q", "-F", "-m", "0", "-U", UID, f"{file}.partial"],
            ["mv", "-T", "--", f"{file}.partial", file],
            ["losetup", "/dev/loop7", file],
            ["stat", "-f", "-c", "%a|%S", "--", os.path.dirname(self.directory)],
        ):
            self.rules().check(argv)

    def test_logical_volumes_of_listed_groups_alone(self):
        block = f"{self.folder.name}/block"
        names = {"dm-0": "vg0-root", "dm-1": "vg0--old-data", "dm-2": "vg1-data", "dm-3": "vg0-pool_tdata", "dm-4": "vg0-luks"}
        for device, name in names.items():
            os.makedirs(f"{block}/{device}/dm")
            uuid = {"dm-3": f"LVM-{'a' * 64}-tdata", "dm-4": "CRYPT-LUKS2-x"}.get(device, f"LVM-{'a' * 64}")
            for file, text in (("name", name), ("uuid", uuid)):
                with open(f"{block}/{device}/dm/{file}", "w", encoding="utf-8") as found:
                    found.write(f"{text}\n")
        with mock.patch.object(devices, "BLOCK", block):
            rules = self.rules("group vg0")
        rules.check(["wipefs", "--all", "--force", "/dev/dm-0"])
        rules.check(["lvchange", "--activate", "n", "vg0/data1"])
        with mock.patch.object(devices, "is_in_use", lambda path: path == "/dev/dm-0"):
            self.assertIn("in use", self.assertRefused(["wipefs", "--all", "--force", "/dev/dm-0"], rules=rules))
            self.assertIn("in use", self.assertRefused(["mkfs.ext4", "-q", "-F", "-U", UID, "/dev/dm-0"], rules=rules))
        for device in ("dm-1", "dm-2", "dm-3", "dm-4", "dm-5"):
            self.assertRefused(["wipefs", "--all", "--force", f"/dev/{device}"], rules=rules)
        self.assertRefused(["lvchange", "--activate", "n", "vg1/data1"], rules=rules)
        self.assertRefused(["lvchange", "--activate", "n", "vg0/data1"])

    def test_a_list_of_attempts_beyond_it(self):
        file = f"{self.directory}/{UID}"
        for argv in (
            [],
            [["sh"]],
            ["sh", "-c", "id"],
            ["/bin/sh", "-c", "id"],
            ["bash"],
            ["env", "losetup"],
            ["python3", "-c", "1"],
            ["/usr/sbin/losetup", "/dev/loop7", file],
            ["cp", "/etc/shadow", file],
            ["cat", "/etc/shadow"],
            ["cat", f"/var/lib/stowage/volumes/../../../../etc/{UID}.intent"],
            ["losetup", "/dev/loop7", "/etc/shadow"],
            ["losetup", "/dev/loop7", f"{self.directory}/../{UID}"],
            ["losetup", "/dev/loop7", f"{file}\n"],
            ["losetup", "--offset", "1", "/dev/loop7", file],
            ["losetup", "-d", "/dev/loop7", "/dev/loop8"],
            ["mkfs.ext4", "-q", "-F", "-U", UID, "/dev/sda"],
            ["mkfs.ext4", "-q", "-F", "-d", "/etc", "-U", UID, f"{file}.partial"],
            ["mkfs.xfs", "-q", "-f", "-m", f"uuid={UID}", "/etc/passwd"],
            ["dd", "if=/dev/zero", "of=/dev/sda"],
            ["rm", "-f", "--", "/etc/shadow"],
            ["rm", "-rf", "--", self.directory],
            ["mount", "-t", "xfs", "-o", "suid", "--", "/dev/loop7", f"/run/stowage/mounts/{UID}"],
            ["losetup\0", "-d", "/dev/loop7"],
        ):
            self.assertRefused(argv)

    def test_a_symbolic_link_in_a_directory_is_refused(self):
        os.symlink("/etc/shadow", f"{self.directory}/{UID}")
        said = self.assertRefused(["losetup", "/dev/loop7", f"{self.directory}/{UID}"])
        self.assertIn("symbolic link", said)

    def test_devices_are_those_listed_and_their_partitions(self):
        rules = self.rules("device /dev/sdb", "device /dev/nvme0n1")
        mkfs = ["mkfs.ext4", "-q", "-F", "-U", UID]
        with mock.patch.object(devices, "is_in_use", return_value=False):
            for path in ("/dev/sdb", "/dev/sdb3", "/dev/nvme0n1", "/dev/nvme0n1p12"):
                rules.check([*mkfs, path])
            for path in ("/dev/sdbb", "/dev/sdc", "/dev/nvme0n10", "/dev/nvme0n1p", "/dev/../dev/sdb", "sdb"):
                self.assertRefused([*mkfs, path], rules=rules)

    def test_without_a_device_none_is_allowed(self):
        self.assertRefused(["wipefs", "--all", "--force", "/dev/sdb"])
        self.assertRefused(["flock", "-x", "-w", "60", "/dev/sdb", "cat"])

    def test_what_destroys_a_device_in_use_is_refused_and_a_look_is_not(self):
        rules = self.rules("device /dev/sdb")
        with mock.patch.object(devices, "is_in_use", return_value=True):
            for argv in (
                ["mkfs.xfs", "-q", "-f", "-m", f"uuid={UID}", "/dev/sdb"],
                ["wipefs", "--all", "--force", "/dev/sdb"],
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

    def test_guards_and_locks_of_a_step_are_checked_before_it_runs(self):
        rules = self.rules()
        harmless = ["test", "-S", "/run/udev/control"]
        rules.check_step({"name": "", "argv": harmless, "guards": [{"argv": harmless}]})
        for step in (
            {"argv": ["sh"], "guards": []},
            {"argv": harmless, "guards": [{"argv": ["sh"]}]},
            {"argv": harmless, "guards": [], "lock": "/dev/sda"},
        ):
            with self.assertRaises(allowed.Refusal):
                rules.check_step(step)

    def test_a_job_for_another_node_is_refused(self):
        self.rules().check_node("n1", "n1")
        with self.assertRaises(allowed.Refusal):
            self.rules().check_node("n2", "n1")
        self.rules("node n2").check_node("n2", "n1")
        with self.assertRaises(allowed.Refusal):
            self.rules("node n2").check_node("n1", "n1")

    def test_a_file_that_says_something_else_or_is_not_roots_is_refused(self):
        for text in ("directory\n", "shell /bin/sh\n", "directory relative\n", "directory /\n", "directory /a/..\n"):
            with self.assertRaises(allowed.Refusal, msg=text) as caught:
                self.load(text)
            self.assertEqual(caught.exception.reason, "file")
        self.load("# nothing\n\n  device /dev/sdb # with a word\n")
        path = os.path.join(self.folder.name, "allowed")
        os.chmod(path, 0o666)
        with self.assertRaises(allowed.Refusal), mock.patch.object(allowed, "ROOT", os.geteuid()):
            allowed.load(path)
        with self.assertRaises(allowed.Refusal):
            allowed.load(f"{path}.none")
        os.chmod(self.directory, 0o777)
        with self.assertRaises(allowed.Refusal):
            self.rules()


if __name__ == "__main__":
    unittest.main()
