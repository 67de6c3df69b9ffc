"""Runs programs: as lists of arguments, without a shell, in a fixed environment."""

import shutil
import subprocess

#: Search path of programs, whatever the environment contains.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

ENVIRONMENT = {"LC_ALL": "C", "PATH": PATH}

#: Exit status of a shell for a missing program.
MISSING = 127


def run(argv, **how):
    """
    Runs a program. Returns its exit status and, if they are pipes, its output and errors in bytes.
    `how`: arguments of subprocess.Popen, and `input`.
    """
    program = shutil.which(argv[0], path=PATH)
    if program is None:
        return MISSING, b"", f"{argv[0]}: not found\n".encode()
    said = how.pop("input", None)
    how.setdefault("stdin", subprocess.DEVNULL if said is None else subprocess.PIPE)
    with subprocess.Popen(
        argv, executable=program, cwd="/", env=ENVIRONMENT, umask=0o077, **how
    ) as process:
        output, errors = process.communicate(said)
    # Like a shell: 128 plus the number of the signal.
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return status, output or b"", errors or b""
