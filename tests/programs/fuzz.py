"""A long run over written programs: how many gradients are right, wrong, refused.

    python tests/programs/fuzz.py 5000 --jobs 2
    python tests/programs/fuzz.py 1 --seed 17 --show
    python tests/programs/fuzz.py 1000 --higher       # tangents and second derivatives

Prints the counts, the line of every refusal, and every failing program, made small. Exits 1 if a gradient is
wrong or if more than 1 program in 50 is refused.
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import random
import signal
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from programs.higher import judge_higher
from programs.program import Outcome, Program, judge
from programs.shrink import shrunk
from programs.writer import EVERYTHING, READING, Dice, write
from verified import verify_every_stage

LIMIT = 30  # seconds for one program


def written(seed: int, features: frozenset[str]) -> Program:
    """The program of a seed."""
    return write(Dice(random.Random(seed)), features)


def judged(job: tuple[int, frozenset[str], bool]) -> tuple[int, Outcome]:
    seed, features, higher = job
    return seed, limited(written(seed, features), higher)


def limited(program: Program, higher: bool) -> Outcome:
    """The judgement of a program; a gradient that does not end is wrong."""

    def stop(signum: int, frame: object) -> None:
        raise TimeoutError(f"no gradient after {LIMIT} s")

    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    try:
        return judge_higher(program) if higher else judge(program)
    finally:
        signal.alarm(0)


def main() -> int:
    options = parse()
    features = READING if options.reading else EVERYTHING
    features -= set(options.without)
    if options.only:
        features = features & (READING | set(options.only))
    jobs = [(seed, features, options.higher) for seed in range(options.seed, options.seed + options.programs)]
    if options.show:
        for seed, *_ in jobs:
            print(f"# seed {seed}\n{written(seed, features)}\n")
    verify_every_stage(setattr)
    began = time.perf_counter()
    outcomes: dict[int, Outcome] = {}
    if options.jobs > 1:
        context = multiprocessing.get_context("spawn")
        with context.Pool(options.jobs, verify_every_stage, (setattr,)) as pool:
            outcomes.update(pool.imap_unordered(judged, jobs, chunksize=10))
    else:
        outcomes.update(map(judged, jobs))
    seconds = time.perf_counter() - began
    return report(outcomes, features, seconds, options)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", type=int, nargs="?", default=500)
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first program")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--higher", action="store_true", help="judge tangents and second derivatives")
    parser.add_argument("--reading", action="store_true", help="only programs without in-place mutation")
    parser.add_argument("--only", nargs="*", default=[], metavar="FEATURE", help="of the writing features")
    parser.add_argument("--without", nargs="*", default=[], metavar="FEATURE", choices=sorted(EVERYTHING))
    parser.add_argument("--failures", type=int, default=5, help="how many failing programs to make small")
    parser.add_argument("--show", action="store_true", help="print every program")
    return parser.parse_args()


def report(
    outcomes: dict[int, Outcome], features: frozenset[str], seconds: float, options: argparse.Namespace
) -> int:
    higher, limit = options.higher, options.failures
    by_verdict = collections.Counter(outcome.verdict for outcome in outcomes.values())
    for seed in sorted(outcomes):
        if outcomes[seed].verdict == "refused":
            print(f"seed {seed} is refused:\n{outcomes[seed].reason}\n")
    wrong = sorted(seed for seed in outcomes if outcomes[seed].verdict == "wrong")
    for seed in wrong[:limit]:
        small = shrunk(written(seed, features), lambda program: limited(program, higher).verdict == "wrong")
        print(f"seed {seed} is wrong: {outcomes[seed].reason}\n")
        print(f"made small: {limited(small, higher).reason}\n\n{small}\n")
    if wrong[limit:]:
        print(f"also wrong: seeds {', '.join(map(str, wrong[limit:]))}\n")
    counts = ", ".join(
        f"{by_verdict[verdict]} {verdict}" for verdict in ("right", "wrong", "refused", "dropped")
    )
    print(f"{len(outcomes)} programs in {seconds:.0f} s: {counts}")
    judged_programs = len(outcomes) - by_verdict["dropped"]
    return int(bool(wrong) or 50 * by_verdict["refused"] > judged_programs)


if __name__ == "__main__":
    sys.exit(main())
