"""The whole rule table through the eager runtime: first order as the rule says, second as differences."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from standin import DeviceArray

from adjoin import runtime as rt
from adjoin.runtime.autograd import grad, gradgradcheck
from adjoin.runtime.device import to_host
from adjoin.runtime.eager_rules import OWN
from adjoin.runtime.fast import FAST_BINARY, FAST_UNARY
from adjoin.runtime.record import record
from adjoin.runtime.rule import TABLE, NoRule
from adjoin.runtime.tensors import Tensor
from adjoin.runtime.tensors import leaf as leaf_of

#: What has no second derivative at its samples (kinks, singular matrices, single precision), or what a rule's
#: helpers refuse to record: an error, never a number.
NO_SECOND_ORDER = {"float16", "float32", "complex64", "longdouble"}


def is_numpy(function):
    module = getattr(function, "__module__", None) or ""
    owner = getattr(function, "__self__", None)
    return isinstance(function, np.ufunc) or isinstance(owner, np.ufunc) or module.startswith("numpy")


def name_of(function):
    owner = getattr(function, "__self__", None)
    prefix = owner.__name__ + "." if isinstance(owner, np.ufunc) else ""
    return prefix + getattr(function, "__name__", str(function))


CASES = [
    pytest.param(function, rule, id=name_of(function))
    for function, rule in [*TABLE.items(), *((rule.functions[0], rule) for rule in OWN.values())]
    if rule.kind != "nondifferentiable" and rule.samples and is_numpy(function)
]


def is_float(value):
    return isinstance(value, float | complex) or (
        isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fc"
    )


class Call:
    """One sample: its arguments with tensors in place of the differentiable arrays."""

    def __init__(self, function, rule, sample):
        args = list(sample() if callable(sample) else sample)
        kwargs = args.pop() if args and isinstance(args[-1], dict) else {}
        self.function, self.rule = function, rule
        self.bound = rule.bind(args, kwargs)
        self.leaves = []
        given = rule.signature.bind(*args, **kwargs).arguments
        self.active = [name for name in rule.wrt if name in given]
        active = {name: self.lifted(self.bound[name]) for name in self.active}
        new = {**self.bound, **active}
        self.args, self.kwargs = [], {}
        for name, parameter in rule.signature.parameters.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                self.args.extend(new[name])
            elif name in kwargs:
                self.kwargs[name] = new[name]
            elif parameter.kind is not parameter.KEYWORD_ONLY and len(self.args) < len(args):
                self.args.append(new[name])

    def lifted(self, value):
        if is_float(value):
            self.leaves.append(rt.tensor(value, requires_grad=True))
            return self.leaves[-1]
        if isinstance(value, list | tuple) and any(map(is_float, flat(value))):
            return type(value)(self.lifted(part) for part in value)
        return value

    def outputs(self, *leaves):
        new = {id(old): leaf for old, leaf in zip(self.leaves, leaves, strict=True)}

        def substituted(value):
            if isinstance(value, Tensor):
                return new[id(value)]
            if type(value) in (list, tuple):
                return type(value)(substituted(part) for part in value)
            return value

        result = record(
            self.function,
            [substituted(a) for a in self.args],
            {name: substituted(value) for name, value in self.kwargs.items()},
        )
        return (result,) if isinstance(result, Tensor) else tuple(result)


def plain(value):
    if isinstance(value, Tensor):
        return value.detach().numpy()
    return type(value)(plain(part) for part in value) if type(value) in (list, tuple) else value


def flat(value):
    return [leaf for part in value for leaf in flat(part)] if isinstance(value, list | tuple) else [value]


@pytest.mark.parametrize(("function", "rule"), CASES)
def test_first_order(function, rule):
    """The eager gradient is the rule's adjoint, in the shape and dtype of each leaf."""
    checked = 0
    for sample in rule.samples:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call = Call(function, rule, sample)
            if not call.leaves:
                continue
            try:
                outputs = call.outputs(*call.leaves)
            except ValueError:
                assert function in (np.histogramdd, np.unique)  # ragged operands, which are no tensor
                continue
            roots = [out for out in outputs if isinstance(out, Tensor) and out.requires_grad]
            rng = np.random.default_rng(0)
            seeds = [rt.tensor(rng.uniform(0.5, 1.5, r.shape).astype(r.dtype)) for r in roots]
            found = grad(roots, call.leaves, seeds, allow_unused=True, materialize_grads=True)
            expected = by_rule(call, rule, outputs, roots, seeds)
        for leaf, g, e in zip(call.leaves, found, expected, strict=True):
            assert g.shape == leaf.shape and g.dtype == leaf.dtype
            if e is not None:
                np.testing.assert_allclose(g.numpy(), np.broadcast_to(e, g.shape), rtol=1e-12, atol=1e-14)
        checked += 1
    assert checked or function in (np.unique,)


@pytest.mark.parametrize(("function", "rule"), CASES)
def test_results_one_by_one(function, rule):
    """Of several results, each may be the only one with a gradient; the gradients add up to that of all."""
    for sample in rule.samples:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call = Call(function, rule, sample)
            if not call.leaves:
                continue
            try:
                outputs = call.outputs(*call.leaves)
            except ValueError:
                continue
            roots = [out for out in outputs if isinstance(out, Tensor) and out.requires_grad]
            if len(roots) < 2:
                continue
            options = {"retain_graph": True, "allow_unused": True, "materialize_grads": True}
            seeds = [rt.ones_like(root) for root in roots]
            together = grad(roots, call.leaves, seeds, **options)
            singly = [
                grad(root, call.leaves, seed, **options) for root, seed in zip(roots, seeds, strict=True)
            ]
        for i, whole in enumerate(together):
            total = np.sum([parts[i].numpy() for parts in singly], axis=0)
            np.testing.assert_allclose(total, whole.numpy(), rtol=1e-9, atol=1e-9)


def by_rule(call, rule, outputs, roots, seeds):
    """What `Rule.vjp` gives, one entry a leaf."""
    given = {id(root): seed.numpy() for root, seed in zip(roots, seeds, strict=True)}
    multiple = isinstance(record_plain(call), tuple | list)
    g = tuple(given.get(id(out)) for out in outputs) if multiple else given[id(outputs[0])]
    active = [n for n in call.active if any(is_float(v) for v in flat(call.bound[n]))]
    bound = {n: boxed(v) if n in active else v for n, v in call.bound.items()}
    adjoints = rule.vjp(active, g, record_plain(call), bound)
    found = []
    for name, adjoint in zip(active, adjoints, strict=True):
        values, parts = flat(call.bound[name]), flat(adjoint)
        found.extend(p for v, p in zip(values, parts, strict=True) if is_float(v))
    return found


def boxed(value):
    if is_float(value):
        return np.array(value)
    return type(value)(boxed(part) for part in value) if type(value) in (list, tuple) else value


def record_plain(call):
    return call.function(*map(plain, call.args), **{n: plain(v) for n, v in call.kwargs.items()})


def arrays_of(rule, count):
    """The samples of a rule that are just `count` arrays or numbers."""
    for sample in rule.samples:
        args = list(sample() if callable(sample) else sample)
        if len(args) == count and all(is_float(a) for a in args):
            yield [np.array(a) for a in args]


@pytest.mark.parametrize("function", [*FAST_UNARY, *FAST_BINARY], ids=name_of)
def test_the_short_way_is_the_long_way(function):
    """Operators and common functions have a path of their own; it gives what the general one does."""
    rule, short = TABLE[function], FAST_UNARY.get(function) or FAST_BINARY[function]
    count = 1 if function in FAST_UNARY else 2
    for arrays in arrays_of(rule, count):
        for active in ((True,),) if count == 1 else ((True, True), (True, False), (False, True)):
            found = []
            for operation in (short, lambda *args: record(function, args)):
                leaves = [rt.tensor(a, requires_grad=r) for a, r in zip(arrays, active, strict=True)]
                with np.errstate(all="ignore"):
                    out = operation(*leaves)
                    out.backward(rt.ones_like(out))
                grads = [leaf.grad.numpy() for leaf in leaves if leaf.requires_grad]
                found.append([out.detach().numpy(), *grads])
            for a, b in zip(*found, strict=True):
                assert a.dtype == b.dtype
                np.testing.assert_array_equal(a, b)


#: What refuses arrays of another library in some sample, with a TypeError, never a number; and why.
HOST_ONLY = {
    **dict.fromkeys(
        ["array", "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray"]
        + ["require"],
        "makes NumPy's arrays: its argument has no say",
    ),
    **dict.fromkeys(
        ["arange", "fftfreq", "rfftfreq", "full", "fromiter", "kaiser"],
        "takes numbers, which one of the device does not turn into by itself",
    ),
    **dict.fromkeys(
        ["complex64", "complex128", "float16", "float32", "float64", "longdouble"], "makes NumPy's scalars"
    ),
    **dict.fromkeys(["append", "insert", "pad"], "its values come in a list, of which NumPy makes an array"),
}


@pytest.mark.parametrize(("function", "rule"), CASES)
def test_on_a_device(function, rule):
    """The same gradients for arrays of a strict other type, found by NumPy's protocols alone."""
    for sample in rule.samples:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call = Call(function, rule, sample)
            if not call.leaves:
                continue
            try:
                expected = gradients(call, call.leaves, call.args, call.kwargs)
            except ValueError:
                continue  # ragged operands, which are no tensor
            leaves = [leaf_of(DeviceArray(np.array(x.detach().numpy())), True) for x in call.leaves]
            new = {id(x): y for x, y in zip(call.leaves, leaves, strict=True)}
            kwargs = {name: moved(value, new) for name, value in call.kwargs.items()}
            try:
                found = gradients(call, leaves, [moved(a, new) for a in call.args], kwargs)
            except (TypeError, ValueError):
                if name_of(function) not in HOST_ONLY:
                    raise
                continue
        for a, b in zip(expected, found, strict=True):
            if name_of(function) not in HOST_ONLY:
                assert type(b._array) is DeviceArray
            np.testing.assert_allclose(to_host(b._array), a.numpy(), rtol=1e-9, atol=1e-12)


def gradients(call, leaves, args, kwargs):
    result = record(call.function, args, kwargs)
    results = [result] if isinstance(result, Tensor) else list(result)
    roots = [out for out in results if isinstance(out, Tensor) and out.requires_grad]
    return grad(roots, leaves, [rt.ones_like(r) for r in roots], allow_unused=True, materialize_grads=True)


def moved(value, new):
    if isinstance(value, Tensor):
        return new[id(value)]
    if isinstance(value, np.ndarray):
        return DeviceArray(value.copy())
    return type(value)(moved(part, new) for part in value) if type(value) in (list, tuple) else value


@pytest.mark.parametrize(("function", "rule"), CASES)
def test_second_order(function, rule):
    """The gradient's gradient is that of central differences, or it is refused."""
    if name_of(function) in NO_SECOND_ORDER:
        pytest.skip("not in double precision")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in rule.samples[:2]:
            call = Call(function, rule, sample)
            if not call.leaves or sum(leaf.size for leaf in call.leaves) > 9:
                continue

            def outputs(*leaves, call=call):
                return tuple(
                    o for o in call.outputs(*leaves) if isinstance(o, Tensor) and o.dtype.kind in "fc"
                )

            try:
                assert gradgradcheck(outputs, tuple(call.leaves), atol=1e-4)
            except (NoRule, RuntimeError) as error:
                if "is not that of central differences" in str(error):
                    raise


CALLS = [
    lambda x, y: np.where(np.array([True, False, True]), x, y),
    lambda x, y: np.where(x > 0.5, 2.0, y),
    lambda x, y: np.concatenate([x, y, x]),
    lambda x, y: np.stack((x, y), axis=1),
    lambda x, y: np.clip(x, 0.4, y),
    lambda x, y: x.clip(0.4, None),
    lambda x, y: np.sum(x * y, axis=0, keepdims=True),
    lambda x, y: (x * y).sum(axis=0),
    lambda x, y: np.max(x, axis=0) * y,
    lambda x, y: np.transpose(np.reshape(x, (3, 1)), [1, 0]) * y,
    lambda x, y: np.prod(x, keepdims=True) * np.cumsum(y),
    lambda x, y: np.einsum("i,j->ij", x, y),
    lambda x, y: x * np.array([1.0, 2.0, 3.0]) + np.float64(2.0) * y,
    lambda x, y: np.split(x, [1])[1] * y[:2],
    lambda x, y: np.take(x, [2, 0, 0]) * y,
    lambda x, y: rt.relu(x - 0.5) * rt.sigmoid(y),
    lambda x, y: x.unsqueeze(0).transpose(0, 1) @ y.unsqueeze(0),
    lambda x, y: x[1] * y[-1:],
]


@pytest.mark.parametrize("call", CALLS)
def test_a_call_of_a_known_form_is_the_same_call(call):
    """Values, gradients and second derivatives of the first call by a route, and of later ones."""
    found = []
    for _ in range(3):
        x = rt.tensor([0.3, 0.9, 0.6], requires_grad=True)
        y = rt.tensor([1.2, 0.7, 0.5], requires_grad=True)
        assert gradgradcheck(call, (x, y))
        out = call(x, y)
        grads = grad(out, (x, y), rt.ones_like(out), allow_unused=True, materialize_grads=True)
        found.append([out.detach().numpy(), *(g.numpy() for g in grads)])
        for one in (True, False):  # other forms of the same call
            x = rt.tensor([0.3, 0.9, 0.6], requires_grad=one)
            y = rt.tensor([1.2, 0.7, 0.5], requires_grad=not one)
            other = call(x, y)
            if other.requires_grad:
                (g,) = grad(
                    other, x if one else y, rt.ones_like(other), allow_unused=True, materialize_grads=True
                )
                np.testing.assert_array_equal(g.numpy(), found[0][1 if one else 2])
        with rt.no_grad():
            assert call(x, y).is_leaf
    for again in found[1:]:
        for a, b in zip(found[0], again, strict=True):
            np.testing.assert_array_equal(a, b)
