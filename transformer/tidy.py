"""Keep the directory of generated modules small: what nobody has used for long is removed.

In: the directory, once something has been written to it. Out: nothing; at most `MOST_FILES` modules remain,
and none that was last used more than `MOST_DAYS` ago.

    touch(path, status)     # a module was used: its time of change says so, to the day
    tidy(directory)         # now and then, by the process that has just written

Only files that have the names and the form of adjoin's own, and belong to the user, are ever removed. Any
number of processes may do this at once: a file that is gone already is no error, and a process that is about
to import one that has just gone generates it again. What a process has imported, it keeps.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path

__all__ = ["MOST_DAYS", "MOST_FILES", "tidy", "touch"]

MOST_FILES = 4000
MOST_DAYS = 90
_DAY = 86400.0
_MODULE = re.compile(r"\w+_[0-9a-f]{32}\.py", re.ASCII)
_TEMPORARY = re.compile(r"\.\w+\.tmp", re.ASCII)


def touch(path: Path, status: os.stat_result) -> None:
    """Note that a module is used. Its time of change is kept to the day: Python's own cache depends on it."""
    if time.time() - status.st_mtime > _DAY:
        with contextlib.suppress(OSError):
            os.utime(path)


def tidy(directory: Path) -> None:
    """Remove the modules that were not used for long, and what was compiled of them; those used last stay."""
    now = time.time()
    modules = sorted(_files(directory, _MODULE), reverse=True)
    old = [
        path for at, (used, path) in enumerate(modules) if at >= MOST_FILES or now - used > MOST_DAYS * _DAY
    ]
    old += [path for written, path in _files(directory, _TEMPORARY) if now - written > _DAY]
    kept = {path.stem for _, path in modules} - {path.stem for path in old}
    compiled = re.compile(r"(\w+_[0-9a-f]{32})\.[\w.-]+\.pyc", re.ASCII)
    for written, path in _files(directory / "__pycache__", compiled):
        if path.name.partition(".")[0] not in kept and now - written > _DAY:
            old.append(path)
    for path in old:
        with contextlib.suppress(OSError):
            path.unlink()


def _files(directory: Path, name: re.Pattern[str]) -> Iterator[tuple[float, Path]]:
    """The user's own files of such names, each with its time of change."""
    try:
        entries = list(os.scandir(directory))
    except OSError:
        return
    for entry in entries:
        if name.fullmatch(entry.name):
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode) and _is_the_users(status):
                    yield status.st_mtime, Path(entry.path)


def _is_the_users(status: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
