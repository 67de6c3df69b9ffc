"""Checks that only root can write to a path. `root`: a user that counts as root, beside user 0."""

import os
import stat


def is_roots(found, root):
    """Returns whether root owns a file (os.stat_result), and no other user can write to it."""
    return found.st_uid in (0, root) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def replaceable(path, root):
    """
    Returns the first directory on the way to a path, also by links, in which users other than root
    could replace an entry; None if there is none.
    """
    folder = "/"
    for name in path.split("/")[1:]:
        place = f"{folder.rstrip('/')}/{name}"
        above = os.stat(folder)
        found = os.lstat(place) if os.path.lexists(place) else None
        # A sticky directory such as /tmp: only root removes files that root owns.
        kept = found and found.st_uid in (0, root) and above.st_uid in (0, root) and above.st_mode & stat.S_ISVTX
        if not (is_roots(above, root) or kept):
            return folder
        if found is None:
            return None
        if stat.S_ISLNK(found.st_mode):
            beyond = replaceable(os.path.join(folder, os.readlink(place)), root)
            if beyond is not None:
                return beyond
        folder = os.path.realpath(place)
    return None
