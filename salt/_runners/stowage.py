"""
Salt runner of Stowage: calls the functions of Stowage's module, on one minion at a time.

With a runner, Stowage's account needs no right to publish. Salt accepts a list of functions if any
of them is allowed, and allows saltutil.find_job to all. So an account that may publish anything may
run everything (salt.utils.minions, auth_check).
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
    Calls a function and waits `patience` seconds for its end, and LONGER if the minion reports that
    it still works. Returns a mapping: empty if the minion is unknown, else with the key `minion`.
    Its value is False if the minion does not answer, else a mapping with `ret` and `retcode`.
    """
    # 0 and values other than numbers would wait forever.
    if isinstance(patience, bool) or not isinstance(patience, (int, float)) or not 0 < patience <= PATIENCE:
        raise ValueError(f"patience must be a number of seconds above 0 and up to {PATIENCE}: {patience!r}")
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
            raise salt.exceptions.SaltClientTimeout(f"minion {minion} still runs the function")
        return {minion: {"ret": found["return"], "retcode": found.get("retcode")}}


def start(minion, function, arguments):
    """Starts a function. Returns `jid` and `minions`, or an empty mapping for an unknown minion."""
    with _client() as client:
        return client.run_job(*_target(minion, function), kwarg=arguments, tgt_type="list")


def _client():
    return salt.client.get_local_client(mopts=dict(__opts__))


def _returned(client, jid, minion, wait):
    """Returns the return event of a job, or None if there is none within `wait` seconds."""
    tag = f"salt/job/{jid}/ret/{minion}"
    event = client.event.get_event(wait=wait, tag=tag, full=True)
    return event and event["data"]


def _is_at_work(client, jid, minion):
    """Returns whether the minion reports that it still runs the job."""
    said = client.cmd([minion], "saltutil.find_job", [jid], tgt_type="list", timeout=FIND_JOB, gather_job_timeout=1)
    return bool(said and said.get(minion))


def _target(minion, function):
    """Returns the target, as a list so that no ID is taken for a pattern, and the function."""
    if function not in FUNCTIONS:
        raise ValueError(f"not a function of Stowage's module: {function!r}")
    if not isinstance(minion, str) or not minion or "," in minion:
        raise ValueError(f"not a minion ID: {minion!r}")
    return [minion], f"stowage.{function}"
