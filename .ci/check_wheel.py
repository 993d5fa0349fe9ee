"""Check what a wheel and a source distribution hold: all of the package, nothing else, nothing twice.

python .ci/check_wheel.py dist/adjoin-0.1.0-py3-none-any.whl dist/adjoin-0.1.0.tar.gz
"""

import sys
import tarfile
import zipfile
from pathlib import Path


def tracked(root: Path) -> set[str]:
    """The package's files as a wheel should have them."""
    files = {f"adjoin/{p.name}" for p in (root / "src/adjoin").iterdir() if p.is_file()}
    for part in ("runtime", "transformer"):
        files |= {f"adjoin/{path.relative_to(root)}" for path in (root / part).rglob("*.py")}
    return files


def main(wheel: str, sdist: str) -> None:
    root = Path(__file__).resolve().parent.parent
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert len(names) == len(set(names)), "a file twice"
    package = {name for name in names if ".dist-info/" not in name}
    expected = tracked(root)
    assert package == expected, f"too many: {package - expected}, missing: {expected - package}"
    assert {"adjoin/__init__.py", "adjoin/py.typed"} <= package
    assert any(name.endswith("licenses/LICENSE") for name in names), "no licence"

    with tarfile.open(sdist) as archive:
        names = [member.name.partition("/")[2] for member in archive.getmembers()]
    for needed in ("pyproject.toml", "LICENSE", "README.md", "runtime/rule.py", "transformer/errors.py"):
        assert needed in names, f"the source distribution lacks {needed}"
    print(f"{len(package)} files in the wheel, {len(names)} in the source distribution")


if __name__ == "__main__":
    main(*sys.argv[1:])
