"""Tests which commands a node allows and refuses. The tests run none of them."""

import os
import unittest
from unittest import mock

from lists import UID, ListsCase
from stowage_node import allowed, devices


class Lists(ListsCase):
    def test_allows_the_commands_of_steps(self):
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

    def test_refuses_commands_that_are_not_on_the_list(self):
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
            ["mount", "-t", "xfs", "-o", "nosuid,nodev,noexec", "--", "/dev/loop7", f"/run/stowage/mounts/{UID}"],
            ["mkdir", "-p", "-m", "0700", "--", f"/run/stowage/mounts/{UID}"],
            ["losetup\0", "-d", "/dev/loop7"],
        ):
            self.assertRefused(argv)

    def test_searches_only_the_directories_of_the_kubelet(self):
        def search(root, name="data-1.a", last="-print"):
            plugin = "kubernetes.io~local-volume"
            return [
                *("find", "-H", f"{root}/plugins/kubernetes.io/local-volume/mounts/{name}"),
                *(f"{root}/plugins/{plugin}/volumeDevices/{name}", f"{root}/pods", "/dev/null"),
                *("-ignore_readdir_race", "-maxdepth", "4"),
                *("(", "-path", f"{root}/pods/*/*", "!", "-name", "volumes", "!", "-name", "volumeDevices"),
                *("!", "-name", plugin, "!", "-path", f"*/{plugin}/{name}", "-prune", ")", "-o"),
                *("(", "-path", f"*/local-volume/mounts/{name}", "-prune", "-o", "-path", f"*/volumeDevices/{name}/*"),
                *("-o", "-path", f"*/{plugin}/{name}", "-o", "-path", "/dev/null", ")", "!", "-empty", last),
            ]

        rules, other = self.rules(), self.rules("kubelet /data/kubelet")
        rules.check_look(search("/var/lib/kubelet"))
        other.check_look(search("/data/kubelet"))
        self.assertRefused(search("/data/kubelet"), rules=rules)
        # The list's directory replaces the default one.
        self.assertRefused(search("/var/lib/kubelet"), rules=other)
        self.assertRefused(search("/data/kubelet/../../etc"), rules=other)
        self.assertRefused(search("/data/kubelet", "../x"), rules=other)
        self.assertRefused(search("/data/kubelet", "*"), rules=other)
        self.assertRefused(search("/data/kubelet", last="-delete"), rules=other)

    def test_allows_read_only_loops_and_the_sync_before_a_detach(self):
        file = f"{self.directory}/{UID}"
        rules = self.rules()
        rules.check(["losetup", "-r", "--partscan", "/dev/loop900", file])
        rules.check(["sync", "/dev/loop900p1", "/dev/loop900", file])
        for argv in (
            ["losetup", "-r", "/dev/loop900", "/etc/shadow"],
            ["losetup", "-r", "/dev/sda", file],
            ["sync", "/dev/sda", file],
            ["sync", "/dev/loop900", "/etc/shadow"],
        ):
            self.assertRefused(argv)
            with self.assertRaises(allowed.Refusal):
                rules.check_look(argv)
        with mock.patch.object(devices, "backing_file", lambda path: "/elsewhere/x"):
            self.assertRefused(["sync", "/dev/loop900", file])

    def test_a_symbolic_link_in_a_directory_is_refused(self):
        os.symlink("/etc/shadow", f"{self.directory}/{UID}")
        said = self.assertRefused(["losetup", "/dev/loop7", f"{self.directory}/{UID}"])
        self.assertIn("symbolic link", said)

    def test_checks_the_paths_in_every_argument(self):
        rules = self.rules("device /dev/sdb", "group vg0")
        file = f"{self.directory}/{UID}"
        zeros = ["bs=1M", "iflag=count_bytes", "oflag=seek_bytes,direct", "seek=0", "count=1", "conv=notrunc,nocreat,fsync", "status=none"]
        with mock.patch.object(devices, "is_in_use", return_value=True):
            for argv in (
                ["wipefs", "--all --force /dev/sdb"],
                ["wipefs", "--all", "--force /dev/sdb"],
                ["dd", "if=/dev/zero of=/dev/sdb", *zeros],
                ["dd", "if=/dev/zero", "of=/dev/sdb bs=1M", *zeros[1:]],
                ["losetup", "-d /dev/loop7"],
                ["rm", "-f", "--", f"{file} {file}"],
                ["blkid", "-p", "-O", "0", "-S", "9", "-o", "export", "/dev/disk/by-id/a=b"],
                ["dd", "if=/dev/disk/by-id/a=b", "of=/dev/null", "bs=1M", "count=4", "iflag=skip_bytes", "skip=0", "status=none"],
                ["stat", "-L", "-c", "%F|%t:%T", "--", "/dev/a=b/../../etc"],
            ):
                self.assertRefused(argv, rules=rules)
        rules.check(["find", "-H", self.directory, "-mindepth", "1", "-maxdepth", "1", "-name", "*-*-*-*-*", "-printf", "%y %s %f\\n"])

    def test_checks_the_preconditions_and_the_lock_of_a_step_before_it_runs(self):
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


if __name__ == "__main__":
    unittest.main()
