"""Runs jobs as separate processes, with harmless programs."""

import fcntl
import json
import os
import tempfile
import threading
import time
import unittest
from unittest import mock

from stowage_node import allowed, jobs, runner

#: Commands of tests, instead of those of volumes.
COMMANDS = [r"true ", r"false ", r"sleep [0-9.]+", r"cat ", r"tee {directory}/[a-z]+", r"ls {directory}(/[a-z]+)?", r"no-such-program ", r"timeout -s KILL 0.05 sleep 5"]


def step(*argv, **more):
    return {"name": argv[0], "argv": list(argv), "guards": [], **more}


class Jobs(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = os.path.realpath(temporary.name)
        self.directory = f"{self.folder}/data"
        os.mkdir(self.directory)
        self.file = f"{self.folder}/allowed"
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(f"directory {self.directory}\n")
        for patched in (
            mock.patch.object(jobs, "FOLDER", f"{self.folder}/jobs"),
            mock.patch.object(
                jobs,
                "RUNNER",
                "import os, sys; os.fork() and os._exit(0); sys.path.append(sys.argv[1]); from stowage_node import allowed, runner; "
                f"allowed.ROOT = os.geteuid(); allowed.COMMANDS = {COMMANDS!r}; runner.main(*sys.argv[2:])",
            ),
        ):
            patched.start()
            self.addCleanup(patched.stop)

    def submit(self, job, *steps, subject="v1"):
        jobs.submit(subject, job, list(steps), self.file, "n1")

    def state(self, job, wait=120, subject="v1"):
        return jobs.poll([[subject, job]], wait)[0]

    def waiting(self, job):
        """Submits a job that runs until the returned function is called: its step opens a pipe without a reader."""
        path = f"{self.directory}/gate"
        os.mkfifo(path)
        readers = []

        def go():
            readers.append(os.open(path, os.O_RDONLY | os.O_NONBLOCK))

        self.addCleanup(lambda: [os.close(reader) for reader in readers])
        self.addCleanup(self.state, job)
        self.addCleanup(go)
        self.submit(job, step("tee", path), step("tee", f"{self.directory}/one"))
        return go

    def until(self, look):
        deadline = time.monotonic() + 120
        while not look():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_steps_run_in_order_with_their_input(self):
        said = "it's $(id)\n"
        self.submit("a", step("tee", f"{self.directory}/one", stdin=said), step("ls", f"{self.directory}/one"))
        self.assertEqual(self.state("a"), {"state": "succeeded"})
        with open(f"{self.directory}/one", encoding="utf-8") as file:
            self.assertEqual(file.read(), said)

    def test_a_step_that_fails_ends_the_job(self):
        self.submit("a", step("ls", f"{self.directory}/none"), step("tee", f"{self.directory}/two"))
        state = self.state("a")
        self.assertEqual((state["state"], state["exit"], state["step"]["name"]), ("failed", 2, "ls"))
        self.assertIn("No such file", state["output"])
        self.assertFalse(os.path.exists(f"{self.directory}/two"))
        self.submit("b", step("false", mayRace=True))
        self.assertEqual(self.state("b")["state"], "raced")
        self.submit("c", step("no-such-program"))
        self.assertEqual(self.state("c")["exit"], 127)

    def test_a_killed_program_counts_as_a_conflict(self):
        self.submit("a", step("timeout", "-s", "KILL", "0.05", "sleep", "5"))
        state = self.state("a")
        self.assertEqual((state["state"], state["exit"]), ("raced", 137))

    def test_a_precondition_that_fails_ends_the_job_before_the_step(self):
        guard = {"argv": ["ls", self.directory], "expect": {"exit": 0, "stdout": {"is": ""}}, "refusal": "not empty"}
        self.submit("a", step("tee", f"{self.directory}/one", guards=[guard]))
        self.assertEqual(self.state("a"), {"state": "succeeded"})
        self.submit("b", step("tee", f"{self.directory}/two", guards=[guard]))
        state = self.state("b")
        self.assertEqual((state["state"], state["refusal"], state["output"]), ("guarded", "not empty", "one\n"))
        self.assertNotIn("reason", state)
        self.assertFalse(os.path.exists(f"{self.directory}/two"))

    def test_reports_the_reason_of_a_precondition_unchanged(self):
        reason = {"code": "DirectoryNotEmpty", "parameters": {"directory": 'it\'s "é"'}}
        guard = {"argv": ["ls", self.directory], "expect": {"stdout": {"is": "one"}}, "refusal": "empty", "reason": reason}
        self.submit("a", step("true", guards=[guard]))
        state = self.state("a")
        self.assertEqual((state["refusal"], json.loads(state["reason"])), ("empty", reason))

    def test_a_known_key_starts_no_job(self):
        go = self.waiting("a")
        self.submit("a", step("tee", f"{self.directory}/two"))
        self.assertEqual(self.state("a", wait=0)["state"], "running")
        go()
        self.assertEqual(self.state("a"), {"state": "succeeded"})
        self.submit("a", step("tee", f"{self.directory}/two"))
        self.assertEqual(sorted(os.listdir(self.directory)), ["gate", "one"])

    def test_jobs_of_a_subject_run_one_after_the_other(self):
        go = self.waiting("a")
        self.until(lambda: jobs.begun(f"{jobs.FOLDER}/v1"))
        self.submit("b", step("ls", f"{self.directory}/one"))
        go()
        self.assertEqual(self.state("b"), {"state": "succeeded"})

    def test_a_job_without_processes_has_died_and_an_unknown_job_is_not_found(self):
        os.makedirs(f"{jobs.FOLDER}/v1/a", mode=0o700)
        os.chmod(jobs.FOLDER, 0o700)
        with open(f"{jobs.FOLDER}/v1/a/output", "w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.assertEqual(self.state("a", wait=0), {"state": "running"})
        self.assertEqual(self.state("a"), {"state": "died"})
        self.assertEqual(self.state("b"), {"state": "not-found"})

    def test_a_refusal_before_the_first_step_is_an_error_of_submit_and_can_be_retried(self):
        self.submit("a", step("cat", "/etc/passwd"), step("true"))
        # Another caller may read the result first.
        self.assertEqual(self.state("a")["state"], "guarded")
        with self.assertRaises(allowed.Refusal) as caught:
            jobs.raise_refused("v1", "a")
        self.assertEqual(caught.exception.command, "cat /etc/passwd")
        self.assertEqual(str(caught.exception), "the command is not on its list")
        self.assertEqual(self.state("a"), {"state": "not-found"})
        jobs.raise_refused("v1", "a")

    def test_a_refusal_after_the_first_step_is_the_result_until_the_job_is_purged(self):
        self.submit("a", step("true"), step("cat", "/etc/passwd"), step("tee", f"{self.directory}/one"))
        self.submit("b", step("true"), subject="v2")
        self.state("b", subject="v2")
        self.state("a")
        for _ in range(2):
            # A refused job does not affect others.
            other, state = jobs.poll([["v2", "b"], ["v1", "a"]], 10)
            self.assertEqual(other, {"state": "succeeded"})
            self.assertEqual((state["state"], state["step"]["command"]), ("guarded", "cat /etc/passwd"))
            self.assertEqual(state["refusal"], "node n1 refuses 'cat /etc/passwd': the command is not on its list")
            parameters = {"node": "n1", "found": "the command is not on its list", "command": "cat /etc/passwd"}
            self.assertEqual(json.loads(state["reason"]), {"code": "CommandNotListed", "parameters": parameters})
            jobs.raise_refused("v1", "a")
        self.submit("a", step("tee", f"{self.directory}/two"))
        self.assertEqual(self.state("a")["state"], "guarded")
        self.assertEqual(os.listdir(self.directory), [])
        self.until(lambda: jobs.forget("v1"))
        self.assertEqual(self.state("a"), {"state": "not-found"})

    def test_purges_ended_jobs_and_no_running_ones(self):
        go = self.waiting("a")
        self.assertEqual(jobs.subjects(), ["v1"])
        self.assertFalse(jobs.forget("v1"))
        go()
        self.state("a")
        # A job writes its result right before it ends.
        self.until(lambda: jobs.forget("v1"))
        self.assertEqual(jobs.subjects(), [])
        self.assertTrue(jobs.forget("v1"))

    def test_a_poll_returns_at_the_first_result(self):
        self.waiting("a")
        self.submit("b", step("true"), subject="v2")
        began = time.monotonic()
        states = jobs.poll([["v1", "a"], ["v2", "b"]], 120)
        self.assertLess(time.monotonic() - began, 120)
        self.assertEqual([each["state"] for each in states], ["running", "succeeded"])

    def test_a_poll_waits_at_most_the_maximum(self):
        # Bounds a poll that does wait.
        end = threading.Timer(60, self.waiting("a"))
        self.addCleanup(end.cancel)
        end.start()
        with mock.patch.object(jobs, "LONGEST", 0.1):
            for wait in (float("nan"), 1e300, -1):
                self.assertEqual(self.state("a", wait=wait)["state"], "running")

    def test_pauses_between_reads_grow_with_the_time_waited(self):
        for waited, pause in ((0, 0.005), (0.1, 0.005), (0.3, 0.015), (2, 0.1), (300, 0.2)):
            self.assertAlmostEqual(jobs.pause_after(waited), pause)

    def test_refuses_names_with_paths_and_a_linked_directory(self):
        for name in ("../x", "a/b", "", "A", ".new", None, "lock"):
            with self.assertRaises(allowed.Refusal):
                self.state(name)
        os.symlink("/tmp", f"{self.folder}/elsewhere")
        with mock.patch.object(jobs, "FOLDER", f"{self.folder}/elsewhere"):
            with self.assertRaises(allowed.Refusal):
                jobs.subjects()

    def test_jobs_of_another_user_are_not_read(self):
        os.mkdir(jobs.FOLDER)
        with mock.patch("os.geteuid", return_value=os.geteuid() + 1):
            with self.assertRaises(allowed.Refusal) as caught:
                jobs.subjects()
        self.assertEqual(caught.exception.reason, "jobs")

    def test_jobs_of_one_subject_run_one_after_the_other(self):
        names = ("first", "second", "third")
        for name in names:
            self.submit(name, step("sleep", "0.3"))
        keys = [("v1", name) for name in names]
        most = 0
        states = jobs.poll(keys, 0)
        while any(state["state"] == "running" for state in states):
            most = max(most, sum("step" in state for state in states if state["state"] == "running"))
            time.sleep(0.02)
            states = jobs.poll(keys, 0)
        self.assertEqual([state["state"] for state in states], ["succeeded"] * 3)
        # The maximum is 0 if this process did not run meanwhile.
        self.assertLessEqual(most, 1)

    def test_evaluates_expectations(self):
        for expect, status, text, holds in (
            ({}, 3, "x", True),
            ({"exit": 0}, 1, "", False),
            ({"stdout": {"is": "a"}}, 0, "a", True),
            ({"stdout": {"is": "a"}}, 0, "ab", False),
            ({"stdout": {"has": "a", "lacks": "c"}}, 0, "ab", True),
            ({"stdout": {"has": "a", "lacks": "b"}}, 0, "ab", False),
            ({"stdout": {"has": "c", "lacks": "d"}}, 0, "ab", False),
            ({"exit": None, "stdout": {"is": ""}}, 1, "", True),
        ):
            self.assertEqual(runner.holds(expect, status, text), holds, (expect, status, text))


if __name__ == "__main__":
    unittest.main()
