"""Tests which files a node accepts as its list."""

import os
import unittest
from unittest import mock

from lists import ListsCase
from stowage_node import allowed


class ListFile(ListsCase):
    def test_an_entry_of_the_list_is_no_pattern(self):
        rules = self.load("directory /srv/a.b\n")
        rules.check(["mkdir", "-p", "-m", "0700", "--", "/srv/a.b"])
        for directory in ("/srv/a-b", "/srv/a/b"):
            self.assertRefused(["mkdir", "-p", "-m", "0700", "--", directory], rules=rules)

    def test_refuses_a_file_with_other_lines_or_another_owner(self):
        for text in (
            *("directory\n", "shell /bin/sh\n", "directory relative\n", "directory /\n", "directory /a/..\n"),
            *("group\n", "group -x\n", "group ..\n", "group /dev/vg0\n", "group vg0/pool\n", "group vg*\n"),
            *("kubelet\n", "kubelet kubelet\n", "kubelet /\n", "kubelet /a/../b\n"),
        ):
            with self.assertRaises(allowed.Refusal, msg=text) as caught:
                self.load(text)
            self.assertEqual(caught.exception.reason, "file")
        self.load("# nothing\n\n  device /dev/sdb # with a word\n")
        self.load("group vg0\n").check(["lvs", "--config", 'devices{filter=["a|^/dev/vdb$|","r|.*|"]}', "--noheadings", "-o", "lv_uuid", "vg0/data1"])
        path = os.path.join(self.folder.name, "allowed")
        os.chmod(path, 0o666)
        with self.assertRaises(allowed.Refusal), mock.patch.object(allowed, "ROOT", os.geteuid()):
            allowed.load(path)
        with self.assertRaises(allowed.Refusal):
            allowed.load(f"{path}.none")
        os.chmod(self.directory, 0o777)
        with self.assertRaises(allowed.Refusal):
            self.rules()

    def test_reports_a_file_that_cannot_be_read(self):
        path = os.path.join(self.folder.name, "allowed")
        with open(path, "wb") as file:
            file.write(b"# caf\xe9\nnode n1\n")
        os.mkdir(f"{path}.d")
        for each in (path, f"{path}.d"):
            with self.assertRaises(allowed.Refusal) as caught, mock.patch.object(allowed, "ROOT", os.geteuid()):
                allowed.load(each)
            self.assertEqual(caught.exception.reason, "file")
            self.assertIn(f"cannot read {each}: ", str(caught.exception))

    def test_a_comment_begins_a_line_or_follows_a_space(self):
        rules = self.load(f"# a\ndirectory {self.directory}#1 # b\n\t# c\nnode n#1\t#d\n")
        self.assertEqual(rules.directories, [f"{self.directory}#1"])
        self.assertEqual(rules.nodes, ["n#1"])

    def test_a_directory_that_others_can_exchange_is_refused(self):
        base = os.path.realpath(self.folder.name)

        def refused(directory):
            with self.assertRaises(allowed.Refusal, msg=directory) as caught:
                self.load(f"directory {directory}\n")
            self.assertEqual(caught.exception.reason, "file")
            return str(caught.exception)

        os.symlink(self.directory, f"{base}/link")
        self.assertIn(f"{base}/link is a symbolic link to {self.directory}", refused(f"{base}/link"))
        os.makedirs(f"{base}/open/root/sparse")
        os.chmod(f"{base}/open", 0o777)
        for each in ("root/sparse", "root", "root/none"):
            self.assertIn(f"write to {base}/open, on the path of", refused(f"{base}/open/{each}"))
        # Through a link owned by root, too.
        os.symlink("open/root", f"{base}/by")
        self.assertIn(f"write to {base}/open, on the path of", refused(f"{base}/by/sparse"))
        # With a sticky directory like /tmp, existing files are safe, but anyone can create missing
        # ones.
        os.chmod(f"{base}/open", 0o1777)
        for each in ("open/root/sparse", "open/root/none", "by/sparse"):
            self.load(f"directory {base}/{each}\n")
        self.assertIn(f"write to {base}/open, on the path of", refused(f"{base}/open/none"))
        if os.geteuid() == 0:
            os.chown(f"{base}/open/root", 65534, 65534)
            self.assertIn(f"write to {base}/open, on the path of", refused(f"{base}/open/root/sparse"))


if __name__ == "__main__":
    unittest.main()
