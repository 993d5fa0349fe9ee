"""Every benchmark in turn: `python -m benchmarks`, or the names of some: `python -m benchmarks memory`."""

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

NAMES = ["worked", "kernel_ratios", "memory", "first_call", "derivatives", "eager"]

for name in sys.argv[1:] or NAMES:
    if name not in NAMES:
        sys.exit(f"no benchmark {name!r}; there are {', '.join(NAMES)}")
    importlib.import_module(name).main()
    print()
