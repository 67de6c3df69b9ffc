"""Tests the forced command of sshd: it accepts only requests in JSON."""

import io
import json
import os
import socket
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, "salt")

import ssh_guard
import stowage
from stowage_node import allowed


class Guard(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.file = f"{os.path.realpath(temporary.name)}/allowed"
        patched = mock.patch.object(allowed, "ROOT", os.geteuid())
        patched.start()
        self.addCleanup(patched.stop)
        self.allow("node n1\n")

    def allow(self, text):
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(text)

    def ask(self, function, **arguments):
        arguments = {"node": "n1", "version": stowage.VERSION, **arguments}
        return json.loads(ssh_guard.answer(json.dumps({"function": function, "arguments": arguments}), self.file))

    def test_returns_the_answers_of_the_module(self):
        self.assertEqual(self.ask("observe", probes=[["true"]]), {"version": 1, "answer": [[0, "", ""]]})
        self.assertEqual(self.ask("observe", version=0, probes=[])["refused"], "version")

    def test_refuses_requests_that_the_list_does_not_allow(self):
        for argv in (["sh", "-c", "true"], ["cat", "/etc/shadow"], ["mkfs.ext4", "-q", "-F", "/dev/sda"]):
            self.assertEqual(self.ask("observe", probes=[argv])["refused"], "command")
        self.assertEqual(self.ask("observe", node="n2", probes=[["true"]])["refused"], "node")
        os.chmod(self.file, 0o666)
        self.assertEqual(self.ask("observe", probes=[["true"]])["refused"], "file")

    def test_observes_the_node_after_a_job_that_succeeded(self):
        looks = {"subject": "v1", "job": "a", "steps": [], "wait": 0, "probes": [["true"], ["cat", "/proc/swaps"]]}
        raised = mock.patch.object(stowage.jobs, "raise_refused")
        with mock.patch.object(stowage.jobs, "submit") as submit, mock.patch.object(stowage.jobs, "poll") as poll, raised:
            poll.side_effect = lambda *_: [{"state": "succeeded"}]
            [state] = self.ask("submit", **looks)["answer"]
            self.assertEqual((state["seen"][0], state["seen"][1][0]), ([0, "", ""], 0))
            submit.assert_called_once_with("v1", "a", [], self.file, "n1")
            self.assertEqual(self.ask("submit", **{**looks, "probes": [["sh"]]})["refused"], "command")
            self.assertEqual(self.ask("submit", **{**looks, "probes": []})["answer"], [{"state": "succeeded"}])
            for other in ("running", "failed", "not-found"):
                poll.side_effect = lambda *_, state=other: [{"state": state}]
                self.assertEqual(self.ask("submit", **looks)["answer"], [{"state": other}])

    def test_a_node_without_a_listed_name_has_its_host_name(self):
        self.allow("")
        self.assertEqual(self.ask("observe", probes=[["true"]])["refused"], "node")
        self.assertIn("answer", self.ask("observe", node=socket.gethostname(), probes=[["true"]]))

    def test_reads_at_most_the_length_of_a_request(self):
        class Endless(io.StringIO):
            """Raises an error if it is read to the end."""

            def read(self, size=-1):
                if size < 0:
                    raise MemoryError
                return "x" * size

        with mock.patch.object(sys, "stdin", Endless()), self.assertRaisesRegex(SystemExit, "longer than 8388608 characters"):
            ssh_guard.main([self.file])

    def test_refuses_text_that_is_no_request(self):
        for text in ("", "touch /tmp/x\n", "[]", '"observe"', "{}", '{"function": "observe"}', "null", "[" * 100000):
            with self.assertRaisesRegex(ssh_guard.NoRequest, "runs no commands"):
                ssh_guard.answer(text, self.file)
        for function in ("_guarded", "__import__", "allowed.load", ["observe"], None):
            with self.assertRaisesRegex(ssh_guard.NoRequest, "not a function"):
                ssh_guard.answer(json.dumps({"function": function, "arguments": {}}), self.file)


if __name__ == "__main__":
    unittest.main()
