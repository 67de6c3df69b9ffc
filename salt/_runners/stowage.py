"""
What Stowage's account may do at the salt-master: call the functions of Stowage's module, on one minion at a time.

It is a runner, so that the account needs no right to publish. Salt checks a list of functions by whether any of them is
allowed, and allows saltutil.find_job to all: who may publish anything may run everything (salt.utils.minions, auth_check).
"""

import salt.client

FUNCTIONS = ("observe", "submit", "poll", "forget", "subjects")

#: How long a minion that did not answer has to say that it is at work still, in s.
FIND_JOB = 5


def call(minion, function, arguments, patience):
    """
    Calls a function and waits `patience` seconds for its end. Answers a mapping: empty without such a minion; else with
    `minion`, which is False where it does not answer, and else has `ret` and `retcode`.
    """
    with _client() as client:
        return client.cmd(
            *_target(minion, function),
            kwarg=arguments,
            tgt_type="list",
            timeout=patience,
            gather_job_timeout=FIND_JOB,
            full_return=True,
        )


def start(minion, function, arguments):
    """Starts a function. Answers a mapping: empty without such a minion, else with `jid` and `minions`."""
    with _client() as client:
        return client.run_job(*_target(minion, function), kwarg=arguments, tgt_type="list")


def _client():
    return salt.client.get_local_client(mopts=dict(__opts__))


def _target(minion, function):
    """A list of one, so that no id is taken for a pattern."""
    if function not in FUNCTIONS:
        raise ValueError(f"not a function of Stowage's module: {function!r}")
    if not isinstance(minion, str) or not minion or "," in minion:
        raise ValueError(f"not the id of a minion: {minion!r}")
    return [minion], f"stowage.{function}"
