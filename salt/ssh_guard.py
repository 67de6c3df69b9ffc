#!/usr/bin/python3 -I
"""
Stowage's hands on a node for whoever comes by ssh, as the forced command of a key: it reads one request, JSON, and does
what the Salt module does for the same one, as far as the node's list allows. What ssh was asked to run does not matter.

    {"function": "observe", "arguments": {"node": "n1", "version": 1, "probes": [["true"]]}}

Its argument: where the list is. Default: /etc/stowage/allowed. docs/ssh-guard.md tells how it is set up.
"""

import json
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "_modules"))

# pylint: disable=wrong-import-position
import stowage
from stowage_node import allowed

FUNCTIONS = ("observe", "submit", "poll", "forget", "subjects")


#: Maximum characters of a request. The longest job, which wipes a disk part by part, has a tenth.
LONGEST = 8 << 20


class NoRequest(Exception):
    """What was read is none."""


def answer(text, file=allowed.FILE):
    """What the module answers to a request, JSON like it. Raises NoRequest."""
    if len(text) > LONGEST:
        raise NoRequest(f"a request has no more than {LONGEST} characters")
    try:
        request = json.loads(text)
        function, arguments = request["function"], request["arguments"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise NoRequest("this key is for `stowage --ssh-guard` alone: it takes requests, and runs no commands") from None
    if function not in FUNCTIONS:
        raise NoRequest(f"not a function of Stowage's module: {function!r}")
    # Salt sets this in its modules.
    stowage.__opts__ = {"id": socket.gethostname(), stowage.FILE_OPTION: file}
    return json.dumps(getattr(stowage, function)(**arguments))


def main(arguments):
    """Exit status 1, with a line that says why, where there was no request."""
    try:
        print(answer(sys.stdin.read(LONGEST + 1), *arguments))
    except NoRequest as error:
        sys.exit(f"ssh_guard: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
