"""Base class of tests of a node's list. The tests run no listed program."""

import os
import tempfile
import unittest
from unittest import mock

from stowage_node import allowed

UID = "0b8e7a2c-2d52-4c4b-9a34-0a2b4a2e9d11"


class ListsCase(unittest.TestCase):
    """Provides a node with a list, and a directory that the list allows."""

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
        # The user who runs the tests stands for root.
        with mock.patch.object(allowed, "ROOT", os.geteuid()):
            return allowed.load(path)

    def rules(self, *lines):
        return self.load("".join(f"{line}\n" for line in (f"directory {self.directory}", *lines)))

    def assertRefused(self, argv, reason="command", rules=None):
        with self.assertRaises(allowed.Refusal, msg=repr(argv)) as caught:
            (rules or self.rules()).check(argv)
        self.assertEqual(caught.exception.reason, reason)
        return str(caught.exception)
