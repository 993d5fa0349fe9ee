"""Generated text becomes a module in a real file, so that every tool of Python sees it.

In: the text of a generated module, a name and a key. Out: the imported module. `find` gives a module that was
written before, by this process or another, and needs nothing but the standard library to do so.

    key = key_of(source.text, repr(options), signature)
    module = find("loss", key) or load(text, "loss", key, about={"argnums": [0]})
    module.__file__         # ~/.cache/adjoin/loss_5f2c....py
    module.__about__        # {'argnums': [0]}

The files lie in the user's cache directory (`ADJOIN_CACHE_DIR` names another), written whole or not at all;
`tidy` removes those that were not used for long.
A directory or file that someone else owns or may write to is never imported from; there, and where nothing
can be written, modules live in memory, with their lines in `linecache`.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import itertools
import json
import linecache
import os
import re
import stat
import sys
import tempfile
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import platformdirs

from .tidy import tidy, touch

__all__ = ["cache_directory", "find", "key_of", "load", "text_of"]

_PACKAGE = "adjoin._generated"
_MARK = "# adjoin: "  # the last line of a file: a digest of what is above it, and `about`


# -- keys --------------------------------------------------------------------------------------------


def key_of(*parts: str) -> str:
    """The key of everything that a generated module depends on.

    This version of adjoin is part of every key, down to the state of its own files, so that nothing written
    by another version, or before an edit, is ever found.

    >>> key_of("ab", "c") == key_of("a", "bc")
    False
    """
    digest = hashlib.sha256(_fingerprint().encode())
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(encoded) + encoded)
    return digest.hexdigest()[:32]


@functools.cache
def _fingerprint() -> str:
    from .. import __version__

    here = Path(__file__).resolve().parent
    runtime = here.parent / "runtime"
    folders = [here, *_subfolders(here), runtime, *_subfolders(runtime)]
    found = [__version__]
    for folder in folders:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:  # inside a zip file: the version has to do
            continue
        for entry in entries:
            if entry.name.endswith(".py"):
                status = entry.stat()
                found.append(f"{entry.name} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(found)


def _subfolders(folder: Path) -> list[Path]:
    try:
        return sorted(Path(e.path) for e in os.scandir(folder) if e.is_dir() and e.name != "__pycache__")
    except OSError:
        return []


# -- the directory -----------------------------------------------------------------------------------


def cache_directory(create: bool = False) -> Path | None:
    """Where generated modules are kept, or None if no place is this user's alone to write to."""
    path = Path(os.environ.get("ADJOIN_CACHE_DIR") or platformdirs.user_cache_path("adjoin", appauthor=False))
    try:
        if create:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except OSError:
        return None
    return path if stat.S_ISDIR(status.st_mode) and _is_private(status) else None


def _is_private(status: os.stat_result) -> bool:
    if not hasattr(os, "geteuid"):  # Windows: the profile directory is the user's own
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _read(path: Path) -> tuple[str, dict[str, Any]] | None:
    """Text and `about` of a file, if it is whole, ours, and unchanged since it was written."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            status = os.fstat(file.fileno())
            if not _is_private(status):
                return None
            content = file.read()
    except (OSError, UnicodeDecodeError):
        return None
    text, mark, last = content.rpartition(_MARK)
    digest, _, about = last.partition(" ")
    if not mark or digest != _digest(text, about):
        return None
    touch(path, status)
    found: dict[str, Any] = json.loads(about)
    return text, found


def _digest(text: str, about: str) -> str:
    return hashlib.sha256(f"{text}\0{about.strip()}".encode()).hexdigest()[:32]


def _write(path: Path, content: str) -> bool:
    """Put a file in its place in one step, so that no other process ever reads half of it."""
    try:
        handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
    except OSError:
        return False
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        return False
    return True


# -- modules -----------------------------------------------------------------------------------------


def load(text: str, name: str, key: str, about: Mapping[str, Any] | None = None) -> types.ModuleType:
    """Import the text as ``adjoin._generated.<name>_<key>``.

    Args:
        text: the module's source.
        name: for people to recognise it by: the function's name.
        key: from `key_of`; the same key always means the same text.
        about: what the caller wants to know of the module when it is found again, as JSON has it; it is the
            module's ``__about__``.
    """
    content = json.dumps(dict(about or {}), sort_keys=True)
    module_name = _module_name(name, key)
    if not text.endswith("\n"):
        text += "\n"
    directory = cache_directory(create=True)
    path = None if directory is None else directory / f"{module_name.rpartition('.')[2]}.py"
    if path is None or not _write(path, f"{text}{_MARK}{_digest(text, content)} {content}\n"):
        _MEMORY[module_name] = text, json.loads(content)
    elif next(_WRITTEN) % _BETWEEN == 0:
        tidy(path.parent)
    loaded = sys.modules.get(module_name)
    if loaded is not None and text_of(loaded) == text and loaded.__about__ == json.loads(content):
        return loaded
    sys.modules.pop(module_name, None)
    importlib.invalidate_caches()
    return importlib.import_module(module_name)


def find(name: str, key: str) -> types.ModuleType | None:
    """The module that was loaded under this name and key before, by any process, or None."""
    module_name = _module_name(name, key)
    loaded = sys.modules.get(module_name)
    if loaded is not None:
        return loaded
    if _FINDER.find_spec(module_name) is None:
        return None
    try:
        return importlib.import_module(module_name)
    except (ImportError, OSError):  # taken away, or changed, since it was found
        return None


def text_of(module: types.ModuleType) -> str:
    """The source text that `load` was given."""
    loader = module.__spec__.loader if module.__spec__ else None
    assert isinstance(loader, _FileLoader | _MemoryLoader)
    return loader.text


def _module_name(name: str, key: str) -> str:
    return f"{_PACKAGE}.{re.sub(r'[^0-9A-Za-z_]+', '_', name).strip('_')[:60] or 'function'}_{key}"


#: How many files are written between two looks at the directory, the first file in a process being one.
_BETWEEN = 100
_WRITTEN = itertools.count()

#: Text and `about` of the modules that are in no file.
_MEMORY: dict[str, tuple[str, dict[str, Any]]] = {}


class _FileLoader(importlib.machinery.SourceFileLoader):
    """Imports a file of the cache directory."""

    def __init__(self, fullname: str, path: str, text: str, about: dict[str, Any]) -> None:
        super().__init__(fullname, path)
        self.text = text
        self.about = about

    def get_source(self, fullname: str) -> str:
        return self.text  # also when the file has gone

    def exec_module(self, module: types.ModuleType) -> None:
        module.__dict__["__about__"] = self.about
        super().exec_module(module)


class _MemoryLoader(importlib.abc.InspectLoader):
    """Imports text that is in no file; `linecache` has its lines."""

    def __init__(self, path: str, text: str, about: dict[str, Any]) -> None:
        self.path = path
        self.text = text
        self.about = about

    def get_source(self, fullname: str) -> str:
        return self.text

    def get_code(self, fullname: str) -> types.CodeType:
        return compile(self.text, self.path, "exec", dont_inherit=True)

    def exec_module(self, module: types.ModuleType) -> None:
        lines = self.text.splitlines(keepends=True)
        linecache.cache[self.path] = (len(self.text), None, lines, self.path)
        module.__dict__["__about__"] = self.about
        module.__file__ = self.path
        super().exec_module(module)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of ``adjoin._generated``, and no others."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, name = fullname.rpartition(".")
        if package != _PACKAGE:
            return None
        if fullname in _MEMORY:
            place = f"<adjoin {name}>"
            loader = _MemoryLoader(place, *_MEMORY[fullname])
            return importlib.machinery.ModuleSpec(fullname, loader, origin=place)
        directory = cache_directory()
        found = None if directory is None else _read(directory / f"{name}.py")
        if directory is None or found is None:
            return None
        file = str(directory / f"{name}.py")
        return importlib.util.spec_from_file_location(
            fullname, file, loader=_FileLoader(fullname, file, *found)
        )


_FINDER = _Finder()
sys.meta_path.append(_FINDER)
