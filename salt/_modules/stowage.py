"""
Salt module of Stowage: observes the node, and starts or joins jobs by their keys.

Every function takes the name of the intended node, and the version of this module that the caller
expects. Each returns a mapping with either `answer`, the result, or `refused`, the kind of refusal.
"""

# Salt has this directory on its path while it loads this file.
from stowage_node import allowed, jobs
from stowage_node import observe as observing

#: Version of these functions; others are refused. A change of their meaning increases it.
VERSION = 1

#: Option of the minion's configuration with the path of the node's list.
FILE_OPTION = "stowage_allowed"


def observe(node, version, probes):
    """
    Runs commands that only read. `probes`: lists of arguments.
    Returns for each: [exit status, output, errors], the latter two in base64. Status 127 means that
    the program is missing.
    """
    return _guarded(node, version, lambda rules: observing.observe(rules, probes))


def submit(node, version, subject, job, steps, wait, probes=()):
    """
    Starts a job, or joins the one with this key. Returns its state as `poll` does, once it no
    longer runs, or after `wait` seconds. A refusal before any step ran is returned as `refused`,
    and removes the job. A later refusal ends the job as `guarded`.
    `probes`: commands to run after a success. The state has their results as `seen`, in the form of
    `observe`.
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
    """Returns states of jobs, `[subject, job]` each, once one has ended, or after `wait` seconds."""
    return _guarded(node, version, lambda rules: jobs.poll(keys, wait))


def forget(node, version, subject):
    """Removes all jobs of a subject. Returns False while one of them runs."""
    return _guarded(node, version, lambda rules: jobs.forget(subject))


def subjects(node, version):
    """Returns the subjects that have jobs."""
    return _guarded(node, version, lambda rules: jobs.subjects())


def _guarded(node, version, work):
    """
    Returns the result of `work`, or its refusal. Refuses calls for another node or version. Salt
    itself reports other exceptions.
    """
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
