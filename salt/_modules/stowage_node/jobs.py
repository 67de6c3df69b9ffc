"""
Jobs of this node, in the same directory and with the same locks as the scripts that Stowage sends
over ssh. So each transport finds, joins and awaits the jobs of the other.

A job's lock is on the output file of its programs. It is taken before the job's directory gets its
name: every process that sees the directory sees the lock held until the job and all its programs
have ended.
"""

import base64
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from .allowed import Refusal

#: Directory of jobs. It is on a tmpfs: after a reboot, which ends all jobs, none is found.
FOLDER = "/run/stowage/jobs"

#: Maximum characters of a job's output in a response.
OUTPUT_TAIL = 4096

#: Maximum wait of a poll, in seconds.
LONGEST = 300

#: Starts a job as a process that is no child of the minion, which kills its children when it ends.
RUNNER = (
    "import os, sys; os.fork() and os._exit(0); sys.path.append(sys.argv[1]); "
    "from stowage_node import runner; runner.main(*sys.argv[2:])"
)


def submit(subject, job, steps, allowed_file, node):
    """
    Starts a job unless one with its key exists. `allowed_file`: path of the node's list. `node`:
    name of the node, for messages of the job.
    """
    _own()
    folder = _folder(subject, job)
    if os.path.isdir(folder):
        return
    os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
    _sweep(os.path.dirname(folder))
    new = tempfile.mkdtemp(prefix=".new.", dir=os.path.dirname(folder))
    with open(f"{new}/steps", "w", encoding="utf-8") as file:
        json.dump(steps, file)
    output = os.open(f"{new}/output", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        fcntl.flock(output, fcntl.LOCK_EX)
        try:
            os.rename(new, folder)
        except OSError:
            # Another submission of this key was first: its directory exists and is not empty.
            shutil.rmtree(new)
            return
        package = os.path.dirname(os.path.abspath(__file__))
        subprocess.run(
            # Without site-packages, which Python takes a while to find.
            [sys.executable, "-I", "-S", "-c", RUNNER, os.path.dirname(package), folder, str(output), allowed_file, node],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            pass_fds=[output],
            start_new_session=True,
            check=True,
        )
    finally:
        os.close(output)


def poll(keys, wait):
    """
    Returns the states of jobs in the order of their keys, once one has ended, or after `wait`
    seconds, at most LONGEST.
    """
    # With this order of arguments, NaN yields LONGEST.
    wait = min(LONGEST, wait)
    _own()
    folders = [_folder(*key) for key in keys]
    began = time.monotonic()
    while True:
        lines = [_line(folder) for folder in folders]
        waited = time.monotonic() - began
        if any(line != "running" for line in lines) or waited >= wait:
            return [_state(folder, line) for folder, line in zip(folders, lines)]
        time.sleep(min(pause_after(waited), wait - waited))


def raise_refused(subject, job):
    """
    Raises the Refusal of a job that this node refused before any step ran, and removes the job. The
    outcome shows nothing about the volume, and the same job is retried once the list allows it.
    """
    folder = _folder(subject, job)
    word, *rest = _line(folder).split(" ")
    if word == "denied":
        output = _read(f"{folder}/output") or ""
        shutil.rmtree(folder, ignore_errors=True)
        raise Refusal("command", output.strip(), [base64.b64decode(rest[1]).decode(errors="replace")])


def pause_after(waited):
    """
    Returns the pause (s) before the next check of jobs. It grows with the time waited: an end is
    noticed late by a small part of the job's duration.
    """
    return min(max(0.005, waited / 20), 0.2)


def forget(subject):
    """Removes all jobs of a subject, or returns False if one of them runs."""
    _own()
    folder = _folder(subject, "x")[: -len("/x")]
    if not os.path.isdir(folder):
        return True
    with open(f"{folder}/lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        if any(is_locked(f"{folder}/{each}/output") for each in os.listdir(folder) if each != "lock"):
            return False
        shutil.rmtree(folder)
    return True


def subjects():
    """Returns the subjects that have jobs."""
    _own()
    if not os.path.isdir(FOLDER):
        return []
    return sorted(each for each in os.listdir(FOLDER) if os.path.isdir(f"{FOLDER}/{each}"))


def begun(folder):
    """Returns the jobs of a subject that have begun a step, and so no longer wait for its lock."""
    return [each for each in os.listdir(folder) if os.path.exists(f"{folder}/{each}/step")]


def is_locked(path):
    """Returns whether a process holds a lock on the file. Returns False for a missing file."""
    try:
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        pass
    return False


def _own():
    """
    Creates the directory of jobs. Raises Refusal if another user owns it: that user could forge
    results.
    """
    os.makedirs(os.path.dirname(FOLDER), mode=0o755, exist_ok=True)
    try:
        os.mkdir(FOLDER, mode=0o700)
    except FileExistsError:
        found = os.lstat(FOLDER)
        if found.st_uid != os.geteuid() or not os.path.isdir(FOLDER) or os.path.islink(FOLDER):
            raise Refusal("jobs", f"{FOLDER} must be a directory of user {os.geteuid()}; its owner is user {found.st_uid}") from None


def _folder(subject, job):
    for name in (subject, job):
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,99}", str(name)):
            raise Refusal("jobs", f"invalid name of a job or subject: {name!r}")
    # The subject's lock file is in the same directory.
    if job == "lock":
        raise Refusal("jobs", f"invalid name of a job: {job!r}")
    return f"{FOLDER}/{subject}/{job}"


def _sweep(folder):
    """Removes incomplete submissions of crashed processes. A current one is younger, or locked."""
    for each in os.listdir(folder):
        path = f"{folder}/{each}"
        if each.startswith(".new.") and time.time() - os.stat(path).st_mtime > 60:
            if not is_locked(f"{path}/output"):
                shutil.rmtree(path, ignore_errors=True)


def _line(folder):
    """Returns the result of a job; without one, `not-found`, `running` or `died`."""
    result = _read(f"{folder}/result")
    if result is not None:
        return result.strip()
    if not os.path.isdir(folder):
        return "not-found"
    if is_locked(f"{folder}/output"):
        return "running"
    # The job may have ended between the two reads.
    return (_read(f"{folder}/result") or "died").strip()


def _state(folder, line):
    word, *rest = line.split(" ")
    step = (_read(f"{folder}/step") or "").split("\0")
    output = (_read(f"{folder}/output") or "")[-OUTPUT_TAIL:]
    # The submitter gets an error instead. Other callers get the reason of the end.
    if word == "denied":
        word = "guarded"
    state = {"state": word}
    if len(step) == 2 and word not in ("not-found", "succeeded"):
        state["step"] = {"name": step[0], "command": step[1]}
    if word in ("failed", "raced"):
        state.update(exit=int(rest[0]), output=output)
    if word == "running" and output:
        state["output"] = output
    if word == "guarded":
        state.update(refusal=_read(f"{folder}/refusal") or "", output=output)
        reason = _read(f"{folder}/reason")
        if reason is not None:
            state["reason"] = reason
    return state


def _read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
