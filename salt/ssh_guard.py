#!/usr/bin/python3 -I
"""
Forced command of an ssh key: reads one request in JSON, and calls that function of Stowage's Salt
module, within the limits of the node's list. The command that the ssh client requests is ignored.

    {"function": "observe", "arguments": {"node": "n1", "version": 1, "probes": [["true"]]}}

Argument: path of the list. Default: /etc/stowage/allowed. Setup: docs/ssh-guard.md.
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


#: Maximum characters of a request. The longest job, a wipe of a disk in parts, has a tenth of that.
LONGEST = 8 << 20


class NoRequest(Exception):
    """Raised for input that is not a request."""


def answer(text, file=allowed.FILE):
    """Returns the response of the module to a request, both in JSON. Raises NoRequest."""
    if len(text) > LONGEST:
        raise NoRequest(f"the request is longer than {LONGEST} characters")
    try:
        request = json.loads(text)
        function, arguments = request["function"], request["arguments"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise NoRequest("not a request: this key is only for `stowage --ssh-guard`, and runs no commands") from None
    if function not in FUNCTIONS:
        raise NoRequest(f"not a function of Stowage's module: {function!r}")
    # Salt sets this in its modules.
    stowage.__opts__ = {"id": socket.gethostname(), stowage.FILE_OPTION: file}
    return json.dumps(getattr(stowage, function)(**arguments))


def main(arguments):
    """Prints the response. Exits with status 1 and a message if the input is not a request."""
    try:
        print(answer(sys.stdin.read(LONGEST + 1), *arguments))
    except NoRequest as error:
        sys.exit(f"ssh_guard: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
