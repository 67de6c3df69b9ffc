"""Observation of a node: commands that only read, in one round trip."""

import base64
import subprocess

from . import programs


def observe(rules, probes):
    """Returns the results of all probes. Checks every probe before the first runs."""
    for argv in probes:
        rules.check_look(argv)
    return [_probe(argv) for argv in probes]


def _probe(argv):
    status, output, errors = programs.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # Like $(…) in a shell: without final newlines.
    return [status, *(base64.b64encode(text.rstrip(b"\n")).decode() for text in (output, errors))]
