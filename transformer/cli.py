"""The command `adjoin`: gradients of functions in files and modules, without writing a program.

In: arguments of a command line. Out: text, or a file; the exit status is 0, 1 (a stale file, a wrong
gradient, a refusal) or 2 (a command that makes no sense).

    adjoin show model.py:loss --like "w: f8[:], X: f8[:, :], y: f8[:]"
    adjoin build model.py:loss -o loss_grad.py          # a module that needs NumPy alone
    adjoin build model.py:loss -o loss_grad.py --check  # is the file what would be written?
    adjoin check model.py:loss --like "w: f8[k], X: f8[n, k], y: f8[n]"
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import importlib.util
import inspect
import os
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .errors import AdjoinError
from .gradient import FIRST, Gradient, gradient_of
from .guard import guarded
from .kinds import UNKNOWN
from .variants import Variant

__all__ = ["main"]

OK, FAILED, USAGE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit status."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except AdjoinError as error:
        print(f"error: {error}", file=sys.stderr)
        for note in getattr(error, "__notes__", ()):
            print(note, file=sys.stderr)
        return FAILED
    except _Usage as error:
        print(f"adjoin: {error}", file=sys.stderr)
        return USAGE
    except BrokenPipeError:  # `adjoin show ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK


class _Usage(Exception):
    """A command that cannot be carried out as it was given."""


def _parser() -> argparse.ArgumentParser:
    from .. import __version__

    parser = argparse.ArgumentParser("adjoin", description="Gradients of NumPy functions, as NumPy source.")
    parser.add_argument("--version", action="version", version=f"adjoin {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    show = commands.add_parser("show", help="print the gradient of a function")
    build = commands.add_parser("build", help="write the gradient to a file that needs NumPy alone")
    check = commands.add_parser("check", help="compare the gradient with differences")
    for command, run in ((show, _show), (build, _build), (check, _check)):
        command.set_defaults(run=run)
        command.add_argument("function", help="module:function or path/file.py:function")
        command.add_argument(
            "--like", help="kinds of the arguments: \"w: f8[:], X: f8[:, :], n: int, mode: 'fast'\""
        )
    for command in (show, build):
        command.add_argument("--argnums", type=_positions, help="positions: 0, or 0,2 (default: 0)")
        command.add_argument("--argnames", type=_names, help="names: w, or w,b")
        command.add_argument("--value", action="store_true", help="value and gradient")
        command.add_argument("--split", action="store_true", help="a forward and an adjoint function")
        command.add_argument("--has-aux", action="store_true", help="the function returns (value, aux)")
    build.add_argument("-o", "--output", type=Path, required=True, help="the file to write")
    build.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if the file is not up to date"
    )
    return parser


def _positions(text: str) -> int | tuple[int, ...]:
    found = tuple(int(part) for part in text.split(",") if part.strip())
    return found if "," in text else found[0]


def _names(text: str) -> str | tuple[str, ...]:
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    return found if "," in text else found[0]


# -- commands ----------------------------------------------------------------------------------------


def _show(options: argparse.Namespace) -> int:
    gradient = _gradient(options)
    text = _variant(options, gradient).text
    unknown = [name for name, kind in gradient._stated_kinds(gradient._read()).items() if kind == UNKNOWN]
    if unknown:
        print(
            f"note: nothing is known of {', '.join(unknown)}, so this is for anything; "
            f"with --like \"{unknown[0]}: f8[:]\", say, it is far shorter",
            file=sys.stderr,
        )
    if not sys.stdout.isatty():
        print(text, end="")
        return OK
    try:
        from rich.console import Console
        from rich.syntax import Syntax
    except ImportError:
        print(text, end="")
    else:
        Console().print(Syntax(text, "python", background_color="default"))
    return OK


def _build(options: argparse.Namespace) -> int:
    path: Path = options.output
    gradient = _gradient(options)
    variant = _variant(options, gradient)
    checked = guarded(variant.text, variant.entries[0].__name__, variant.kinds)
    text = (_header(options.function, gradient, variant) + checked).encode()
    try:
        found = path.read_bytes() if path.exists() else None
        if options.check and found != text:
            print(f"{path} is {'not there' if found is None else 'stale'}; build it again", file=sys.stderr)
            return FAILED
        if found != text:
            path.write_bytes(text)
    except OSError as error:
        raise _Usage(f"{path}: {error.strerror}") from None
    return OK


def _header(function: str, gradient: Gradient, variant: Variant) -> str:
    """Where a file comes from: the same wherever and whenever it is built."""
    from .. import __version__

    place, _, name = function.rpartition(":")
    origin = f"{Path(place).name}:{name}"
    lines = [
        f"The gradient of {origin}, written by adjoin {__version__}. Build it again rather than edit it."
    ]
    if isinstance(gradient._like, str):
        lines.append(f"For {' '.join(gradient._like.split())}; a size `:` is any but 1.")
    outside = [p for p in inspect.signature(variant.entries[0]).parameters if p not in variant.kinds]
    if outside:
        lines.append(f"To be passed by name, as they stand outside the function: {', '.join(outside)}.")
    return "".join(f"# {line}\n" for line in lines)


def _check(options: argparse.Namespace) -> int:
    import numpy as np

    from .check import check
    from .like import sample

    gradient = _gradient(options)
    source = gradient._read()
    rng, sizes = np.random.default_rng(0), dict[str, int]()
    given = _literals(gradient._like)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    kinds = gradient._stated_kinds(source)
    unknown = [name for name, kind in kinds.items() if kind == UNKNOWN and name not in given]
    if unknown:
        raise _Usage(f"which kinds do {', '.join(unknown)} have? --like \"{unknown[0]}: f8[:]\", for example")
    for name, kind in kinds.items():
        value = given[name] if name in given else sample(kind, rng, sizes)
        if name in gradient._positional(source) and not named:
            positional.append(value)
        else:
            named[name] = value
    return OK if check(gradient.primal, *positional, **named).ok else FAILED


def _literals(like: Any) -> dict[str, Any]:
    """The parameters that a `like` gives a value, and not just a kind."""
    found: dict[str, Any] = {}
    tree = (
        ast.parse("{" + like.replace("?", "unknown") + "}", mode="eval").body
        if isinstance(like, str)
        else None
    )
    if isinstance(tree, ast.Dict):
        for key, value in zip(tree.keys, tree.values, strict=True):
            with contextlib.suppress(ValueError, TypeError):
                found[key.id] = ast.literal_eval(value)  # type: ignore[union-attr]
    return found


def _gradient(options: argparse.Namespace) -> Gradient:
    """The gradient that a command is about; a decorator decides what the command line leaves open."""
    function = _function(options.function)
    wanted = {key: getattr(options, key, None) for key in ("argnums", "argnames", "has_aux", "like")}
    primal = function
    if isinstance(function, Gradient):
        primal = function.primal
        says = dict(function._options)
        if wanted["argnums"] is not None or wanted["argnames"] is not None:
            del says["argnums"], says["argnames"]
        wanted = {key: given or says.get(key) for key, given in wanted.items()}
    if wanted["argnums"] is None:
        wanted["argnums"] = FIRST
    return gradient_of(primal, with_value=getattr(options, "value", False), **wanted)


def _variant(options: argparse.Namespace, gradient: Gradient) -> Variant:
    return gradient._without_arguments("split" if options.split else None)


# -- finding the function ----------------------------------------------------------------------------


def _function(name: str) -> Any:
    """The object that ``module:name`` or ``file.py:name`` names."""
    place, colon, path = name.rpartition(":")
    if not colon or not place or not path:
        raise _Usage(f"{name!r} is neither module:function nor file.py:function")
    found: Any = _module(place)
    for part in path.split("."):
        if not hasattr(found, part):
            raise _Usage(f"{place} has no {part!r}")
        found = getattr(found, part)
    if not callable(found):
        raise _Usage(f"{name} is a {type(found).__name__}, not a function")
    return found


def _module(place: str) -> types.ModuleType:
    if not place.endswith(".py"):
        sys.path.insert(0, os.getcwd())
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as error:
            raise _Usage(str(error)) from None
    path = Path(place)
    if not path.exists():
        raise _Usage(f"there is no file {place}")
    sys.path.insert(0, str(path.resolve().parent))  # where its own imports are found, as for a script
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    raise SystemExit(main())
