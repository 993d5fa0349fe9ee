"""Items 37 to 41 of the checklist: hooks and custom Functions."""

from __future__ import annotations

import gc
import re
import weakref

import numpy as np
import pytest

from adjoin import runtime as rt
from adjoin.runtime import tensor
from adjoin.runtime.autograd import grad, graph


def leaf(*values):
    return tensor(values[0] if len(values) == 1 else list(values), requires_grad=True)


def test_37_tensor_hooks():
    x = leaf(1.0, 2.0)
    y = x * 2
    order = []
    y.register_hook(lambda g: order.append(("first", g.tolist())))
    y.register_hook(lambda g: g * 10)
    last = y.register_hook(lambda g: order.append(("last", g.tolist())))
    y.sum().backward()
    assert order == [("first", [1.0, 1.0]), ("last", [10.0, 10.0])]
    assert x.grad.tolist() == [20.0, 20.0]
    last.remove()
    last.remove()
    with x.register_hook(lambda g: g * 0):
        assert grad((x * x).sum(), x)[0].tolist() == [0.0, 0.0]
    assert grad((x * x).sum(), x)[0].tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="requires grad"):
        tensor(1.0).register_hook(print)
    before = x.grad.tolist()
    with x.register_hook(lambda g: g[:1]), pytest.raises(ValueError, match=re.escape("(2,) to (1,)")):
        (x * x).sum().backward()
    assert x.grad.tolist() == before


def test_38_other_hooks():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 5)
    y.sum().backward()
    assert y.grad.tolist() == [5.0, 5.0] and y.retains_grad

    seen = []
    y = x * 3
    y.grad_fn.register_hook(lambda ins, outs: seen.append((ins[0].tolist(), outs[0].tolist())))
    y.grad_fn.register_prehook(lambda outs: (outs[0] * 2,))
    x.grad = None
    y.sum().backward()
    assert seen == [([6.0, 6.0], [2.0, 2.0])] and x.grad.tolist() == [6.0, 6.0]
    y = x * 3
    y.grad_fn.register_hook(lambda ins, outs: (ins[0] * 100,))
    x.grad = None
    y.sum().backward()
    assert x.grad.tolist() == [300.0, 300.0]

    done = []
    with x.register_post_accumulate_grad_hook(lambda t: done.append(t is x and t.grad.tolist())):
        x.grad = None
        x.sum().backward()
    assert done == [[1.0, 1.0]]
    with pytest.raises(RuntimeError, match="leaf"):
        y.register_post_accumulate_grad_hook(print)

    w, together = leaf(3.0), []
    with graph.register_multi_grad_hook(
        [x, w], lambda gs: together.append([None if g is None else g.tolist() for g in gs])
    ):
        (x.sum() * w).backward()
    assert together == [[[3.0, 3.0], 3.0]]


def test_39_exceptions_keep_their_type():
    x = leaf(1.0)

    def fail(g):
        raise KeyError("mine")

    with x.register_hook(fail), pytest.raises(KeyError, match="mine"):
        (x * 2).backward()
    assert x.grad is None


class Scale(rt.Function):
    @staticmethod
    def forward(ctx, x, factor, offset=0.0):
        assert not rt.is_grad_enabled()
        ctx.save_for_backward(x, None)
        ctx.factor = factor
        return x * factor + offset

    @staticmethod
    def backward(ctx, g):
        x, nothing = ctx.saved_tensors
        assert nothing is None and ctx.needs_input_grad == (True, False)
        return g * ctx.factor, None


def test_40_functions():
    x = leaf(1.0, 2.0)
    y = Scale.apply(x, 3.0, offset=1.0)
    assert y.tolist() == [4.0, 7.0] and repr(y) == "tensor([4., 7.], grad_fn=<ScaleBackward>)"
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match=r"ScaleBackward.*retain_graph=True"):
        y.sum().backward()

    a = x * 1.0
    y = Scale.apply(a, 3.0)
    a.add_(1)
    with pytest.raises(RuntimeError, match=r"ScaleBackward.*\(2,\).*version 1, expected version 0"):
        y.sum().backward()
    with pytest.raises(TypeError, match="save_for_backward"):

        class SavesANumber(rt.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(2.0)
                return x.clone()

        SavesANumber.apply(x)


def test_40_saved_results_and_second_order():
    class Exp(rt.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

    x = leaf(0.5, 1.0)
    assert rt.autograd.gradcheck(Exp.apply, (x,)) and rt.autograd.gradgradcheck(Exp.apply, (x,))


def test_40_marks():
    class Parts(rt.Function):
        @staticmethod
        def forward(ctx, x):
            whole = x.floor()
            ctx.mark_non_differentiable(whole)
            ctx.set_materialize_grads(False)
            return whole, x - whole, x * 2

        @staticmethod
        def backward(ctx, whole, rest, double):
            assert whole is None and double is None
            return rest

    x = leaf(1.25, 2.5)
    whole, rest, double = Parts.apply(x)
    assert not whole.requires_grad and rest.requires_grad and rest.output_nr == 1 and double.output_nr == 2
    rest.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]

    class Double(rt.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            x.mul_(2)
            return x

        @staticmethod
        def backward(ctx, g):
            return 2 * g

    x = leaf(1.0, 2.0)
    a = x * 1.0
    b = Double.apply(a)
    assert b is a and a._version >= 1 and a.grad_fn.name() == "DoubleBackward"
    b.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="leaf"):
        Double.apply(leaf(1.0))

    class Materialized(rt.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            assert b.tolist() == [0.0, 0.0]
            return 2 * a + 3 * b

    x = leaf(1.0, 2.0)
    Materialized.apply(x)[0].sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_40_once_differentiable_and_setup_context():
    class Square(rt.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        @rt.once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    x = leaf(3.0)
    (g,) = grad(Square.apply(x), x, create_graph=True)
    assert g.item() == 6.0
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.backward()


def function(name, result):
    def forward(ctx, x):
        return x * 1.0

    def backward(ctx, g):
        return result(g)

    return type(name, (rt.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def test_41_wrong_functions():
    x = leaf(1.0, 2.0)
    for result, error, match in [
        (lambda g: (g, g), RuntimeError, "WrongBackward returned 2 gradients, expected 1"),
        (
            lambda g: g[:1].reshape(1, 1).expand(3, 1),
            ValueError,
            re.escape("WrongBackward returned gradient 0 of shape (3, 1), expected (2,)"),
        ),
        (lambda g: 1.0, TypeError, "WrongBackward returned float"),
    ]:
        with pytest.raises(error, match=match):
            function("Wrong", result).apply(x).sum().backward()
        assert x.grad is None
    assert function("Fine", lambda g: (g, None)).apply(x).sum().backward() is None

    class NoBackward(rt.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

    with pytest.raises(NotImplementedError, match="backward"):
        NoBackward.apply(x).sum().backward()

    class NoTensor(rt.Function):
        @staticmethod
        def forward(ctx, x):
            return 1.0

    with pytest.raises(TypeError, match=r"NoTensor.forward returned float"):
        NoTensor.apply(x)


def test_a_function_without_a_gradient_is_a_leaf():
    assert Scale.apply(tensor(1.0), 2.0).is_leaf
    with rt.no_grad():
        assert Scale.apply(leaf(1.0), 2.0).is_leaf
    assert np.isclose(Scale.apply(tensor(1.0), 2.0).item(), 2.0)


def test_a_function_class_is_let_go():
    def used():
        made = function("Local", lambda g: g)
        made.apply(leaf(1.0, 2.0)).sum().backward()
        return weakref.ref(made)

    kept = used()
    gc.collect()  # a class is in cycles with itself
    assert kept() is None
