"""Process of a job, which no parent awaits: runs the steps in its directory, writes the result."""

import base64
import fcntl
import json
import os
import shlex
import stat
import subprocess
import time

from . import allowed, jobs, programs

#: Timeout (s) of a step for the lock of its device, which udev holds while it reads the device.
LOCK_TIMEOUT = 60

#: Maximum characters of a reason's parameter. A command may be longer.
LONGEST = 512


class Ended(Exception):
    """Raised to end a job with a result other than success."""


def main(folder, output, allowed_file, node):
    """
    Runs the job in `folder`. `output`: number of a descriptor on the file that programs print to,
    which holds the job's lock. `node`: name of this node.
    """
    os.umask(0o077)
    os.chdir(folder)
    lock = os.open("../lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    # A program of an earlier job, whose runner was killed, may still run.
    for each in jobs.begun(".."):
        with open(f"../{each}/output", "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
    # A job that was purged while it waited must not run.
    try:
        if not os.path.samefile(".", folder):
            return
    except FileNotFoundError:
        return
    with open("steps", encoding="utf-8") as file:
        steps = json.load(file)
    job = Job(int(output), lock, allowed_file, os.path.basename(os.path.dirname(folder)))
    try:
        for step in steps:
            job.run(step)
        result = "succeeded"
    except Ended as ended:
        result = str(ended)
    except allowed.Refusal as refusal:
        job.print(f"{refusal}\n")
        what = f" '{refusal.command}'" if refusal.command else ""
        write("reason", json.dumps(reason_of(refusal, node)))
        write("refusal", f"node {node} refuses{what}: {refusal}")
        # If a step has run, this is an end like any other.
        result = "guarded" if job.ran else f"denied {_encoded('root')} {_encoded(refusal.command)}"
    write("result", f"{result}\n")
    # Frees the locks at once, so that an ended job can be purged.
    os._exit(0)  # pylint: disable=protected-access


class Job:
    """Runs steps. Programs inherit the descriptors, so that the locks are held while one runs."""

    def __init__(self, output, lock, allowed_file, subject):
        self.output = output
        self.subject = subject
        self.allowed_file = allowed_file
        self.held = [lock]
        self.ran = False

    def run(self, step):
        """Runs a step. Raises Ended if it fails, and allowed.Refusal if this node refuses it."""
        write("step", f"{step['name']}\0{shlex.join(step['argv'])}")
        os.ftruncate(self.output, 0)
        # Devices come and go while a job runs.
        rules = allowed.load(self.allowed_file, self.subject)
        failure = "raced" if step.get("mayRace") else "failed"
        device = None
        if step.get("lock") is not None:
            rules.check_lock(step["lock"])
            device = self._lock(step["lock"], failure)
            self.held.append(device)
        try:
            for guard in step["guards"]:
                rules.check(guard["argv"])
                self._look(guard)
            rules.check(step["argv"])
            self.ran = True
            said = step.get("stdin")
            status, _, errors = programs.run(
                step["argv"],
                input=None if said is None else said.encode(),
                stdout=self.output,
                stderr=self.output,
                pass_fds=self.held,
            )
            os.write(self.output, errors)
            if status != 0:
                # A signal (1 to 64) killed the program, in a shutdown or for lack of memory. The
                # status does not concern the program's work.
                killed = 128 < status <= 192
                raise Ended(f"{'raced' if killed else failure} {status}")
        finally:
            if device is not None:
                self.held.remove(device)
                os.close(device)

    def print(self, text):
        """Appends to the output of the programs."""
        os.write(self.output, text.encode())

    def _look(self, guard):
        status, found, errors = programs.run(
            guard["argv"], stdout=subprocess.PIPE, stderr=self.output, pass_fds=self.held
        )
        os.write(self.output, errors)
        # Like $(…) in a shell.
        text = found.rstrip(b"\n").decode(errors="surrogateescape")
        if holds(guard["expect"], status, text):
            # Messages of a passed precondition are irrelevant.
            os.ftruncate(self.output, 0)
            return
        # Earlier versions of Stowage send no reason.
        if guard.get("reason") is not None:
            write("reason", json.dumps(guard["reason"]))
        write("refusal", guard["refusal"])
        if text:
            os.write(self.output, found.rstrip(b"\n") + b"\n")
        raise Ended("guarded")

    def _lock(self, path, failure):
        # Opened read-only, since udev reads a device again once a writer closes it.
        try:
            device = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            if not stat.S_ISBLK(os.fstat(device).st_mode):
                raise OSError(f"{path} is no block device")
        except OSError as error:
            self.print(f"{error}\n")
            raise Ended(f"{failure} 1") from None
        deadline = time.monotonic() + LOCK_TIMEOUT
        while True:
            try:
                fcntl.flock(device, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return device
            except BlockingIOError:
                if time.monotonic() > deadline:
                    self.print(f"{path} was locked by another program for {LOCK_TIMEOUT} s\n")
                    raise Ended(f"{failure} 1") from None
                time.sleep(0.05)


def reason_of(refusal, node):
    """
    Returns the reason of a refusal, as src/api/reasons/nodes.ts lists it. Stowage accepts at most
    1024 characters in a parameter.
    """
    code = "AllowedListInvalid" if refusal.reason == "file" else "CommandNotListed"
    parameters = {"node": node, "found": str(refusal), "command": refusal.command}
    return {"code": code, "parameters": {name: value[:LONGEST] for name, value in parameters.items() if value}}


def holds(expect, status, text):
    """
    Returns whether a command has the expected exit status (`exit`) and output (`stdout`): equal to
    `is`, or with `has` and without `lacks`.
    """
    if expect.get("exit") is not None and status != expect["exit"]:
        return False
    said = expect.get("stdout")
    if said is None:
        return True
    if "is" in said:
        return text == said["is"]
    return said["has"] in text and said["lacks"] not in text


def write(name, text):
    """Writes a file atomically."""
    with open(f"{name}.new", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    os.rename(f"{name}.new", name)


def _encoded(text):
    return base64.b64encode(text.encode(errors="surrogateescape")).decode()
