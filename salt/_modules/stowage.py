"""
Stowage's hands on a node: looks, and jobs that are started, or joined, by their key.

Every function takes the name of the node that it is meant for, and the version of this module that the caller knows.
Each answers a mapping with one of: `answer`, what was asked for; `refused`, why this node does not do it.
"""

# Salt has this directory on its path while it loads this file.
from stowage_node import allowed, jobs
from stowage_node import observe as observing

#: Version of these functions; other callers are refused. A change of meaning increases it.
VERSION = 1

#: Option of the minion's configuration with the path of the node's list.
FILE_OPTION = "stowage_allowed"


def observe(node, version, probes):
    """
    Runs commands that only read. `probes`: lists of arguments.
    Answers for each: [exit status, output, errors], both in base64. 127 is a program that is not there.
    """
    return _guarded(node, version, lambda rules: observing.observe(rules, probes))


def submit(node, version, subject, job, steps, wait, probes=()):
    """
    Starts a job, or joins the one of this key, and answers its state as `poll` does, once it is no longer running or
    `wait` seconds are over. What this node refuses before a step has run is answered as that, and nothing is kept of it; what
    it refuses later is an end of the job: `guarded`. `probes`: what is looked at where it has succeeded; the state has it as `seen`, as `observe`
    answers it.
    """

    def start(rules):
        rules.subject = subject
        for step in steps:
            rules.check_step(step)
        jobs.submit(subject, job, steps, rules.file, node)
        [state] = jobs.poll([[subject, job]], wait)
        jobs.raise_refused(subject, job)
        if probes and state["state"] == "succeeded":
            # Devices may have changed while the job ran.
            state["seen"] = observing.observe(allowed.load(rules.file), probes)
        return [state]

    return _guarded(node, version, start)


def poll(node, version, keys, wait):
    """The states of jobs, `[subject, job]` each, once one of them is no longer running or `wait` seconds are over."""
    return _guarded(node, version, lambda rules: jobs.poll(keys, wait))


def forget(node, version, subject):
    """Removes what is kept of a subject's jobs. False while one of them runs."""
    return _guarded(node, version, lambda rules: jobs.forget(subject))


def subjects(node, version):
    """The subjects that anything is kept of."""
    return _guarded(node, version, lambda rules: jobs.subjects())


def _guarded(node, version, work):
    """Refuses what is not for this node, and tells refusals from failures, which Salt reports by itself."""
    if version != VERSION:
        return {"version": VERSION, "refused": "version", "found": f"version {VERSION}"}
    try:
        rules = allowed.load(__opts__.get(FILE_OPTION, allowed.FILE))
        rules.check_node(node, __opts__.get("id"))
        return {"version": VERSION, "answer": work(rules)}
    except allowed.Refusal as refusal:
        return {
            "version": VERSION,
            "refused": refusal.reason,
            "found": str(refusal),
            "command": refusal.command,
        }
