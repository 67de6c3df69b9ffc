"""
What Stowage's account may do at the salt-master: call the functions of Stowage's module, on one minion at a time.

It is a runner, so that the account needs no right to publish. Salt checks a list of functions by whether any of them is
allowed, and allows saltutil.find_job to all: who may publish anything may run everything (salt.utils.minions, auth_check).
"""

import salt.client
import salt.exceptions

FUNCTIONS = ("observe", "submit", "poll", "forget", "subjects")

#: Maximum time (s) that Stowage waits for an answer. A thread of salt-api waits with it.
PATIENCE = 30

#: Time (s) in which a minion that did not answer must report that it is still working.
FIND_JOB = 5

#: Additional time (s) for the answer of such a minion.
LONGER = 10


def call(minion, function, arguments, patience):
    """
    Calls a function and waits `patience` seconds for its end, a little longer for a minion that is at work still. Answers a
    mapping: empty without such a minion; else with `minion`, which is False where it does not answer, and else has `ret` and
    `retcode`.
    """
    # 0 and anything that is no number would wait forever.
    if isinstance(patience, bool) or not isinstance(patience, (int, float)) or not 0 < patience <= PATIENCE:
        raise ValueError(f"not a number of seconds up to {PATIENCE}: {patience!r}")
    with _client() as client:
        job = client.run_job(*_target(minion, function), kwarg=arguments, tgt_type="list", listen=True)
        if minion not in job.get("minions", ()):
            return {}
        # LocalClient.cmd polls 100 times a second, and never ends while a minion reports its work.
        found = _returned(client, job["jid"], minion, patience)
        if found is None and not _is_at_work(client, job["jid"], minion):
            return {minion: False}
        found = found or _returned(client, job["jid"], minion, LONGER)
        if found is None:
            raise salt.exceptions.SaltClientTimeout(f"{minion} is at work still")
        return {minion: {"ret": found["return"], "retcode": found.get("retcode")}}


def start(minion, function, arguments):
    """Starts a function. Answers a mapping: empty without such a minion, else with `jid` and `minions`."""
    with _client() as client:
        return client.run_job(*_target(minion, function), kwarg=arguments, tgt_type="list")


def _client():
    return salt.client.get_local_client(mopts=dict(__opts__))


def _returned(client, jid, minion, wait):
    """What a job returned, once it has; None where it has not after `wait` seconds."""
    tag = f"salt/job/{jid}/ret/{minion}"
    event = client.event.get_event(wait=wait, tag=tag, full=True)
    return event and event["data"]


def _is_at_work(client, jid, minion):
    """Whether the minion says so."""
    said = client.cmd([minion], "saltutil.find_job", [jid], tgt_type="list", timeout=FIND_JOB, gather_job_timeout=1)
    return bool(said and said.get(minion))


def _target(minion, function):
    """A list of one, so that no id is taken for a pattern."""
    if function not in FUNCTIONS:
        raise ValueError(f"not a function of Stowage's module: {function!r}")
    if not isinstance(minion, str) or not minion or "," in minion:
        raise ValueError(f"not the id of a minion: {minion!r}")
    return [minion], f"stowage.{function}"
