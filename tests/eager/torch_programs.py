"""Random programs of tensors, run by PyTorch and by the eager runtime, and what they must agree on.

In: a seed. Out: lines of Python in which `T` is either library (`program`), and everything that can be seen
of running them (`observe`): after each line whether it raised, and of every tensor its values, shape,
version, `requires_grad`, `is_leaf`, and `.grad`. A line that raised ends the program. Where the two may
differ (`compare`), ours goes on where PyTorch refuses, or NumPy's layout of memory decides what is a view.

    python tests/eager/torch_programs.py 2000 --seed 7
"""

import argparse
import random
import re
import warnings

import numpy as np

__all__ = ["compare", "observe", "program"]

STORES = re.compile(r"_\(|\] [-+*/]?=|[-+*/]=")  # in place
SHAPES = [(), (3,), (2, 3), (3, 2), (1, 3)]


class Writer:
    """Writes one program: `shapes` holds the variables that exist so far."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.shapes = {}
        self.count = 0
        self.memory = {}  # variables that may share it have the same entry

    # -- names -------------------------------------------------------------------------------------------

    def new(self, shape, expression):
        self.count += 1
        name = f"t{self.count}"
        self.lines.append(f"{name} = {expression}")
        self.shapes[name] = shape
        self.memory[name] = name
        return name

    def any(self, test=lambda shape: True):
        """A variable, the later ones more often, or None."""
        fit = [name for name, shape in self.shapes.items() if test(shape)]
        if not fit:
            return None
        return fit[min(len(fit) - 1, int(len(fit) * self.random.random() ** 0.6))]

    def other(self, x, shape):
        """A variable to store into a part of `x` of this shape; it shares no part of the memory, only all."""
        name = self.any(lambda s: _fits(s, shape))
        return name if name == x or (name and self.memory[name] != self.memory[x]) else None

    def number(self):
        return round(self.random.uniform(0.3, 1.7), 2)

    def values(self, shape):
        if not shape:
            return self.number()
        return [self.values(shape[1:]) for _ in range(shape[0])]

    # -- lines -------------------------------------------------------------------------------------------

    def leaf(self):
        shape = self.random.choice(SHAPES)
        grad = self.random.random() < 0.75
        self.new(shape, f"T.tensor({self.values(shape)}, dtype=T.float64, requires_grad={grad})")

    def unary(self):
        x = self.any()
        f = self.random.choice(["sin", "exp", "tanh", "neg", "clone", "abs", "square", "sigmoid", "relu"])
        self.new(self.shapes[x], f"{x}.{f}()")

    def constant(self):
        x = self.any()
        form = self.random.choice(
            [
                "{x} * {c}",
                "{x} + {c}",
                "{c} - {x}",
                "{x} / {c}",
                "{x} ** 2",
                "{c} * {x}",
                "{x} ** 3.0",
                "+{x}",
            ]
        )
        self.new(self.shapes[x], form.format(x=x, c=self.number()))

    def binary(self):
        x, y = self.any(), self.any()
        try:
            shape = np.broadcast_shapes(self.shapes[x], self.shapes[y])
        except ValueError:
            if self.random.random() < 0.9:
                return
            shape = self.shapes[x]
        self.new(shape, f"{x} {self.random.choice('+-*/')} {y}")

    def product(self):
        x = self.any(lambda s: len(s) == 2)
        y = x and self.any(lambda s: len(s) and s[0] == self.shapes[x][1])
        if y:
            self.new(self.shapes[x][:1] + self.shapes[y][1:], f"{x} @ {y}")

    def view(self):
        x = self.any()
        shape = self.shapes[x]
        forms = [(shape, "{x}.detach()"), ((1, *shape), "{x}.unsqueeze(0)"), (shape, "{x}.data")]
        size = int(np.prod(shape))
        forms += [((size,), "{x}.reshape(-1)"), ((1, size), f"{{x}}.reshape(1, {size})")]
        if shape:
            i = self.random.randrange(-shape[0], shape[0])
            a, b = sorted(self.random.sample(range(shape[0] + 1), 2))
            forms += [(shape[1:], f"{{x}}[{i}]")] * 2 + [((b - a, *shape[1:]), f"{{x}}[{a}:{b}]")] * 3
            forms += [(shape, "{x}.expand_as({x})"), ((2, *shape), f"{{x}}.expand(2, *{list(shape)})")]
            forms += [((shape[0], 1, *shape[1:]), "{x}[:, None]")]
        if len(shape) == 2 and shape[1] > 1:
            forms += [(shape[::-1], "{x}.T"), (shape[::-1], "{x}.transpose(0, 1)")] * 2
            forms += [(shape[:1], "{x}[:, 1]"), (shape[:1] + (2,), "{x}[:, 1:3]"), (shape[1:], "{x}[0, :]")]
        if len(shape) < 3:
            form = self.random.choice([f for f in forms if len(f[0]) < 3])
            made = self.new(form[0], form[1].format(x=x))
            self.memory[made] = self.memory[x]
            if ":, 1:3" in form[1]:
                self.shapes[made] = (shape[0], min(2, shape[1] - 1))

    def reduce(self):
        x = self.any()
        shape = self.shapes[x]
        f = self.random.choice(["sum", "mean"])
        if shape and self.random.random() < 0.6:
            d = self.random.randrange(len(shape))
            self.new(shape[:d] + shape[d + 1 :], f"{x}.{f}(dim={d})")
        else:
            self.new((), f"{x}.{f}()")

    def join(self):
        x = self.any(lambda s: len(s) > 0)
        y = x and self.any(lambda s: len(s) == len(self.shapes[x]) and s[1:] == self.shapes[x][1:])
        if y:
            shape = (self.shapes[x][0] + self.shapes[y][0], *self.shapes[x][1:])
            self.new(shape, f"T.cat([{x}, {y}])")

    def inplace(self):
        x = self.any()
        c = self.number()
        y = self.other(x, self.shapes[x])
        lines = [f"{x}.add_({c})", f"{x}.mul_({c})", f"{x}.zero_()", f"{x}.fill_({c})", f"{x}.sin_()"]
        lines += [f"{x} *= {c}", f"{x}.exp_()", f"{x}.neg_()", f"{x}.tanh_()"]
        if y:
            lines += [f"{x}.add_({y})", f"{x}.mul_({y})", f"{x}.copy_({y})", f"{x} -= {y}", f"{x} /= {y}"] * 2
        self.lines.append(self.random.choice(lines))

    def store(self):
        x = self.any(lambda s: len(s) > 0)
        if x is None:
            return
        shape = self.shapes[x]
        i = self.random.randrange(shape[0])
        a, b = sorted(self.random.sample(range(shape[0] + 1), 2))
        key, part = self.random.choice([(f"{i}", shape[1:]), (f"{a}:{b}", (b - a, *shape[1:])), (":", shape)])
        y = self.other(x, part)
        value = y if y and self.random.random() < 0.7 else self.number()
        self.lines.append(f"{x}[{key}] {self.random.choice(['=', '=', '+=', '*='])} {value}")

    def mode(self):
        start = len(self.lines)
        self.random.choice([self.inplace, self.store, self.constant, self.unary])()
        if len(self.lines) > start:
            mode = self.random.choice(["T.no_grad()", "T.no_grad()", "T.enable_grad()"])
            self.lines[-1] = f"with {mode}: {self.lines[-1]}"

    def flag(self):
        x = self.any()
        form = ["{x}.requires_grad_()", "{x}.requires_grad_(False)", "{x}.requires_grad = True"]
        form += ["{x}.retain_grad()"] * 4 + ["{x}.register_hook(lambda g: g * 2)"] * 2
        form += ["{x}.register_hook(lambda g: seen.append(g.tolist()))", "{x}.grad = None"]
        form += ["{x}.grad.zero_()", "{x}.grad = {x}.detach().clone()", "{x} = {x}.clone()"]
        self.lines.append(self.random.choice(form).format(x=x))

    def backward(self):
        x = self.any()
        options = self.random.choice(["", "retain_graph=True", "retain_graph=True", "create_graph=True"])
        if self.random.random() < 0.2:
            y = self.any()
            options = ", ".join(filter(None, [options, f"inputs=[{y}]"]))
        seed = self.random.random()
        if self.shapes[x] == () or seed < 0.3:
            self.lines.append(
                f"{x}.sum().backward({options})" if self.shapes[x] else f"{x}.backward({options})"
            )
        elif seed < 0.9:
            rest = f", {options}" if options else ""
            self.lines.append(f"{x}.backward(T.tensor({self.values(self.shapes[x])}, dtype=T.float64){rest})")
        else:
            self.lines.append(f"{x}.backward({options})")

    def several(self):
        x, y = self.any(), self.any()
        options = self.random.choice(["", ", retain_graph=True"])
        seeds = [f"T.tensor({self.values(self.shapes[v])}, dtype=T.float64)" for v in (x, y)]
        self.lines.append(f"T.autograd.backward([{x}, {y}], [{', '.join(seeds)}]{options})")

    def grad(self):
        x, y, z = self.any(), self.any(), self.any()
        options = self.random.choice(
            ["", ", retain_graph=True", ", create_graph=True", ", allow_unused=True"]
        )
        if self.random.random() < 0.5:
            self.new(self.shapes[y], f"T.autograd.grad({x}.sum(), {y}{options})[0].clone()")
        else:
            self.lines.append(
                f"seen.append([g if g is None else g.tolist() for g in "
                f"T.autograd.grad({x}.sum(), ({y}, {z}){options})])"
            )

    def write(self):
        self.leaf()
        steps = [
            (self.leaf, 2), (self.unary, 6), (self.constant, 5), (self.binary, 8), (self.product, 2),
            (self.view, 10), (self.reduce, 2), (self.join, 2), (self.inplace, 7), (self.store, 5),
            (self.mode, 3), (self.flag, 5), (self.backward, 5), (self.several, 1), (self.grad, 3),
        ]  # fmt: skip
        kinds, weights = zip(*steps)
        for step in self.random.choices(kinds, weights, k=self.random.randrange(6, 26)):
            step()
        self.lines.append(f"{self.any()}.sum().backward()")
        return self.lines


def _fits(small, large):
    try:
        return np.broadcast_shapes(small, large) == large
    except ValueError:
        return False


def program(seed):
    """The lines of one program."""
    return Writer(seed).write()


# -- running one ---------------------------------------------------------------------------------------------


def seen_of(tensor):
    """What can be seen of a tensor."""
    try:
        tensor.is_leaf
    except RuntimeError:  # a view made under no_grad, whose base was changed since
        return {"values": np.array(tensor.detach().numpy())}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gradient = tensor.grad
    return {
        "values": np.array(tensor.detach().numpy()),
        "requires_grad": tensor.requires_grad,
        "is_leaf": tensor.is_leaf,
        "version": tensor._version,
        "retains_grad": tensor.retains_grad and not tensor.is_leaf,
        "is_view": tensor._base is not None,
        "grad": None if gradient is None else np.array(gradient.detach().numpy()),
    }


def observe(lines, library):
    """For each line whether it raised; and what can be seen of the variables after it."""
    scope = {"T": library, "seen": []}
    found = []
    for line in lines:
        error = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(line, scope)
        except Exception as raised:
            error = raised
        tensors = {
            name: seen_of(value) for name, value in scope.items() if name[0] == "t" and name[1:].isdigit()
        }
        found.append((error, tensors, list(scope["seen"])))
        if error is not None:
            break
    return found


def same(a, b):
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        if a is None or b is None:
            return False
        return a.shape == b.shape and a.dtype == b.dtype and _close(a, b)
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return _close(a, b) if isinstance(a, float) else a == b


def _close(a, b):
    return bool(np.allclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True))


def compare(lines, torch, ours):
    """None if both libraries agree, or where they first do not."""
    with np.errstate(all="ignore"):
        theirs, mine = observe(lines, torch), observe(lines, ours)
    for i, (line, (e, ts, s), (f, us, r)) in enumerate(zip(lines, theirs, mine)):
        shown = "\n".join(lines[: i + 1])
        if e is not None and "unsupported operation" in str(e):
            return None  # operands that share memory: NumPy computes what was meant
        if f is not None and "cannot be written to" in str(f):
            return None  # expand() gives memory that NumPy does not write to
        if e is not None and f is None:
            if "modified by an inplace operation" in str(e):
                return None  # we keep what an operation in place overwrites
            if "a second time" in str(e) and (STORES.search(shown) or "inputs=" in shown):
                return None  # nothing was saved by a store, or beyond the inputs, that could have been freed
            target = us.get(re.search(r"t\d+", line)[0])
            if "a leaf Variable that requires grad" in str(e) and target["is_view"] and not target["is_leaf"]:
                return None  # a view of what got a history since, which PyTorch had not looked up yet
        if (e is None) != (f is None):
            return f"{shown}\n  PyTorch: {e!r}\n  ours: {f!r}"
        for name in ts:
            for what in ts[name] if e is None else ["values"]:  # theirs may leave half a backward in `.grad`
                if what == "requires_grad" and "requires_grad" in shown.partition("\n")[2]:
                    return (
                        None  # a view of what came to require grad: theirs asks the base, which gets nothing
                    )
                if what == "is_view" and "reshape" in line:
                    return None
                if (
                    what == "grad"
                    and ts[name][what] is not None
                    and np.isnan(np.asarray(ts[name][what], dtype=float)).any()
                ):
                    return None  # 0 * inf: what is zero by structure stays zero here
                if not same(ts[name][what], us[name][what]):
                    return (
                        f"{shown}\n  {name}.{what}: PyTorch {ts[name][what]}, ours {us[name][what]} ({e!r})"
                    )
        if e is None and not same(s, r) and "no_grad" not in shown:  # theirs forgets hooks of views there
            return f"{shown}\n  seen: PyTorch {s}, ours {r}"
    return None


def main():
    import torch

    from adjoin import runtime

    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shown", type=int, default=10)
    chosen = parser.parse_args()
    failed = 0
    for seed in range(chosen.seed, chosen.seed + chosen.count):
        difference = compare(program(seed), torch, runtime)
        if difference:
            failed += 1
            if failed <= chosen.shown:
                print(f"--- seed {seed}\n{difference}")
    print(f"{chosen.count - failed} agree, {failed} differ")


if __name__ == "__main__":
    main()
