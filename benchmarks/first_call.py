"""The first call of a gradient: with an empty cache, and in a second process that finds it there.

    python benchmarks/first_call.py

Times of calls are after the imports; those of a process that generates include LibCST. The aims are 0.3 s,
and 30 ms without importing LibCST.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from timing import table

SCRIPT = """
import json, sys, time
began = time.perf_counter()
import numpy as np
numpy_imported = time.perf_counter()
import adjoin
grad = adjoin.grad
if sys.argv[1:]:  # what reads and writes source, LibCST included: only a process that generates needs it
    import adjoin.transformer.pipeline
imported = time.perf_counter()
from fifty_lines import objective, example_args
args = example_args()
gradient = grad(objective)
called = time.perf_counter()
gradient(*args)
first = time.perf_counter()
gradient(*args)
second = time.perf_counter()
print(json.dumps({
    "import": imported - numpy_imported, "first": first - called, "next": second - first,
    "libcst": "libcst" in sys.modules,
}))
"""


def run(cache, *imports):
    """One fresh process, with the cache directory given; with `imports`, all modules are imported first."""
    here = Path(__file__).resolve().parent
    paths = [str(here), *sys.path]
    env = {
        **os.environ,
        "ADJOIN_CACHE_DIR": cache,
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *imports], env=env, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    with tempfile.TemporaryDirectory() as unused:
        run(unused, "all")  # so that Python's own caches of the imports are warm
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        for name, aim in [("empty cache", "300"), ("second process", "30"), ("third process", "30")]:
            got = run(cache, *(["all"] if aim == "300" else []))
            times = [f"{got[key] * 1e3:.1f}" for key in ("import", "first", "next")]
            rows.append([name, *times, aim, "yes" if got["libcst"] else "no"])
    columns = ["process", "imports", "first call", "next call", "aim of the first", "LibCST imported"]
    table("First call of the gradient of fifty lines (ms)", columns, rows)


if __name__ == "__main__":
    main()
