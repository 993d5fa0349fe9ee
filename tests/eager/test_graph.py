"""Items 42 to 44 of the checklist: the graph, long chains, memory and threads."""

from __future__ import annotations

import gc
import threading
import time
import weakref

import numpy as np

from adjoin import runtime as rt
from adjoin.runtime import tensor
from adjoin.runtime.saving import shape_only
from adjoin.runtime.support import real_if_real, unbroadcast


def leaf(*values):
    return tensor(values[0] if len(values) == 1 else list(values), requires_grad=True)


def test_42_structure():
    x, y = leaf(2.0), leaf(3.0)
    z = x * y
    assert [type(node).__name__ for node, _ in z.grad_fn.next_functions] == ["AccumulateGrad"] * 2
    assert z.grad_fn.next_functions[0][0].variable is x and z.grad_fn.next_functions[1][0].variable is y
    assert z.grad_fn.next_functions[0][0] is z.grad_fn.next_functions[0][0]
    w = z + 1
    assert w.grad_fn.next_functions == ((z.grad_fn, 0), (None, 0))
    parts = (x * rt.ones(4)).split(2)
    assert (parts[1] * 2).grad_fn.next_functions[0] == (parts[0].grad_fn, 1)
    assert parts[0].grad_fn.next_functions[0][0].name() == "MulBackward0"


def test_42_each_node_runs_once_newest_first():
    x = leaf(2.0)
    a = x * 3
    b, c = a * 2, a * 5
    d = b + c
    order = []
    for name, y in [("a", a), ("b", b), ("c", c), ("d", d)]:
        y.grad_fn.register_hook(lambda ins, outs, name=name: order.append((name, outs[0].item())))
    d.backward()
    assert order == [("d", 1.0), ("c", 1.0), ("b", 1.0), ("a", 7.0)]
    assert x.grad.item() == 21.0


def test_43_long_chains():
    x = leaf(1.0, 2.0)

    def run():
        y = x
        start = time.perf_counter()
        for _ in range(25_000):
            y = (y * 1.00001).sin() + x - 0.1
        forward = time.perf_counter() - start
        start = time.perf_counter()
        y.sum().backward()
        return time.perf_counter() - start, forward

    pairs = [run() for _ in range(2)]
    assert min(b for b, _ in pairs) < 4 * min(f for _, f in pairs)
    y = x
    for _ in range(300_000):
        y = y + 1
    del y  # without recursion
    v = rt.zeros(4) + x[0]
    for _ in range(20_000):
        v = v.reshape(2, 2).reshape(4)
    del v


def test_43_diamonds():
    x = leaf(1.0)
    y = x
    for _ in range(60):
        y = y + y
    y.backward()
    assert x.grad.item() == 2.0**60


def test_43_memory_is_freed_without_the_collector():
    gc.collect()
    gc.disable()
    try:
        x = leaf(1.0, 2.0)
        a = x * 2
        a[0] = a[1] * 3
        v = a[1:]
        v *= 2
        b = a.exp().reshape(2, 1).sum(axis=0)
        parts = rt.split(rt.cat([b, a]), 3)
        watched = [weakref.ref(t) for t in (x, a, v, b, *parts)] + [
            weakref.ref(b.grad_fn),
            weakref.ref(a.grad_fn),
        ]

        class Exp(rt.Function):
            @staticmethod
            def forward(ctx, x):
                y = x.exp()
                ctx.save_for_backward(x, y)
                return y

            @staticmethod
            def backward(ctx, g):
                return g * ctx.saved_tensors[1]

        e = Exp.apply(b)
        watched += [weakref.ref(e), weakref.ref(e.grad_fn)]
        (e.sum() + parts[0].sum()).backward()
        watched.append(weakref.ref(x.grad))
        del x, a, v, b, e, parts
        assert [w() for w in watched] == [None] * len(watched)
    finally:
        gc.enable()


def test_43_only_what_a_rule_names_is_kept():
    x = leaf(1.0, 2.0)
    for y in (x + 1, x.sum(), x.reshape(2, 1), x[0], rt.cat([x, x]), x.mean(axis=0), -x):
        assert not y.grad_fn.plan.saves
    array = x * 1.0
    kept = weakref.ref(array)
    y = array.sum()
    del array
    assert kept() is None and y.requires_grad


def test_what_helpers_ask_of_an_operand_is_known():
    """A helper that reads a value where it only asked its shape would make every node hold its operands."""
    for helper in (unbroadcast, real_if_real):
        assert shape_only(helper) == {"x"}
    x, y = leaf(1.0, 2.0), rt.zeros(2)
    y[:1] = x[1:]
    assert not y.grad_fn.plan.saves


def test_44_threads():
    x, y = rt.ones(100, requires_grad=True), leaf(2.0)
    start = threading.Barrier(8)

    def work():
        start.wait()
        for _ in range(50):
            (x * y).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(x.grad.numpy(), np.full(100, 800.0)) and y.grad.item() == 40_000.0


def test_44_backward_runs_in_the_thread_of_the_caller():
    x, found = leaf(1.0), []
    y = x * 2
    y.register_hook(lambda g: found.append(threading.get_ident()))
    thread = threading.Thread(target=lambda: (y.backward(), found.append(threading.get_ident())))
    thread.start()
    thread.join()
    assert found[0] == found[1] != threading.get_ident()
