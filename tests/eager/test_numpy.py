"""Items 48 to 52 of the checklist, and the deviations: NumPy, copying, indexing, kinks."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pytest

from adjoin import runtime as rt
from adjoin.runtime import tensor
from adjoin.runtime.autograd import gradcheck


def leaf(*values):
    return tensor(values[0] if len(values) == 1 else list(values), requires_grad=True)


def gradient(function, *values):
    x = leaf(*values)
    function(x).sum().backward()
    return x.grad.tolist()


def test_48_to_numpy_and_back():
    x = leaf(1.0, 2.0)
    for convert in (lambda: x.numpy(), lambda: np.asarray(x), lambda: np.array(x)):
        with pytest.raises(RuntimeError, match="detach"):
            convert()
    assert x.numpy(force=True).tolist() == [1.0, 2.0]
    d = x.detach()
    assert np.shares_memory(d.numpy(), x.detach().numpy()) and np.asarray(d).tolist() == [1.0, 2.0]
    array = np.array([1.0, 2.0])
    copied, shared = tensor(array), rt.from_numpy(array)
    array[0] = 5.0
    assert copied.tolist() == [1.0, 2.0] and shared.tolist() == [5.0, 2.0]
    assert rt.as_tensor(x) is x


def test_49_copies():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    y = copy.deepcopy(x)
    assert y.grad.tolist() == [2.0, 4.0] and y.requires_grad and y.grad is not x.grad
    with pytest.raises(RuntimeError, match=r"leaves.*detach"):
        copy.deepcopy(x * 2)
    z = pickle.loads(pickle.dumps(x * 2))
    assert z.is_leaf and z.grad_fn is None and z.tolist() == [2.0, 4.0]


def test_50_python_protocols():
    x = leaf(1.0, 2.0)
    for convert in (bool, float, int, lambda t: t.item()):
        with pytest.raises(RuntimeError, match=re.escape("(2,)")):
            convert(x)
    assert float(leaf(2.5)) == 2.5 and int(tensor([3])) == 3 and bool(tensor([[True]]))
    y = tensor([1.0, 2.0])
    assert (x == y).tolist() == [True, True] and hash(x) != hash(y) and len({x, y, x}) == 2
    assert [row.tolist() for row in rt.eye(2)] == [[1.0, 0.0], [0.0, 1.0]]
    for use in (len, list):
        with pytest.raises(TypeError, match="0-d"):
            use(tensor(1.0))
    assert [10, 20, 30][tensor(1)] == 20


def test_51_indexing():
    assert gradient(lambda x: x[[0, 0, 1]], 1.0, 2.0, 3.0) == [2.0, 1.0, 0.0]
    assert gradient(lambda x: x[tensor([0, 2, 2])], 1.0, 2.0, 3.0) == [1.0, 0.0, 2.0]
    assert gradient(lambda x: x[x > 1.5], 1.0, 2.0, 3.0) == [0.0, 1.0, 1.0]
    assert gradient(lambda x: x[::-2], 1.0, 2.0, 3.0) == [1.0, 0.0, 1.0]
    with pytest.raises(IndexError, match=r"index 5 .*dimension 0 of size 3"):
        leaf(1.0, 2.0, 3.0)[5]
    with pytest.raises(IndexError, match=r"index 4 .*dimension 1 of size 4"):
        rt.zeros(3, 4)[..., 4]
    with pytest.raises(IndexError, match=r"index 7.*size 3"):
        leaf(1.0, 2.0, 3.0)[[0, 7]]
    with pytest.raises(IndexError, match="3 indices"):
        rt.zeros(3, 4)[0, 0, 0]
    array = np.arange(24.0).reshape(2, 3, 4)
    picked = tensor(array, requires_grad=True)[[0, 1], :, [1, 2]]  # NumPy's order of axes
    assert np.array_equal(picked.detach().numpy(), array[[0, 1], :, [1, 2]]) and picked.shape == (2, 3)


def test_52_kinks():
    assert gradient(abs, -1.0, 0.0, 2.0) == [-1.0, 0.0, 1.0]
    assert gradient(rt.relu, -1.0, 0.0, 2.0) == [0.0, 0.0, 1.0]
    assert gradient(lambda x: x.norm(), 0.0, 0.0) == [0.0, 0.0]
    assert gradient(lambda x: x.max(), 1.0, 3.0, 3.0) == [0.0, 0.5, 0.5]
    assert gradient(lambda x: x.min(), 1.0, 1.0, 3.0) == [0.5, 0.5, 0.0]
    assert gradient(lambda x: x.median(), 1.0, 2.0, 2.0, 2.0, 5.0)[0] == 0.0
    assert gradient(lambda x: x.max(axis=0), 1.0, 3.0, 3.0) == [0.0, 0.5, 0.5]  # as the rule table has it
    assert gradient(lambda x: x.clip(0.0, 1.0), -1.0, 0.0, 0.5, 1.0, 2.0) == [0.0, 1.0, 1.0, 1.0, 0.0]
    assert gradient(lambda x: x.prod(), 2.0, 0.0, 3.0) == [0.0, 6.0, 0.0]
    assert np.allclose(gradient(abs, 3 + 4j), 0.6 + 0.8j)
    assert np.allclose(gradient(lambda z: (z * z).real, 3 + 4j), 6 - 8j)


def test_a_store_into_an_array_does_not_lose_the_graph():
    x, array = tensor(2.0, requires_grad=True), np.zeros((2, 2))
    for value in (x, x * 2, tensor(1j, requires_grad=True)):
        for target in (array, array.astype(complex)):
            with pytest.raises((RuntimeError, ValueError)) as caught:
                target[0, 1] = value
            assert "lose its gradient" in str(caught.value.__cause__ or caught.value)
            with pytest.raises(RuntimeError):
                target[0] = value
    assert not array.any()
    array[0, 1] = x.detach()
    array[1, 1] = float(x)
    with rt.no_grad():
        array[0, 0] = x
    assert array.tolist() == [[2.0, 2.0], [0.0, 2.0]]
    t = rt.zeros(2)
    t[0] = x
    {}[0.0] = x
    assert t.requires_grad


def test_52_structural_zeros_stay_zero():
    assert gradient(lambda x: np.where(x > 0, np.sqrt(x), 0.0), 0.0, 4.0) == [0.0, 0.25]
    assert gradient(lambda x: rt.where(x > 0, x.log() / x, 0.0), 0.0, 1.0) == [0.0, 1.0]
    x = leaf(0.0, 4.0)
    (g,) = rt.grad(np.where(x > 0, np.sqrt(x), 0.0).sum(), x, create_graph=True)
    (h,) = rt.grad(g.sum(), x)
    assert np.allclose(h.numpy(), [0.0, -0.25 * 4.0**-1.5])


def test_numpy_functions_record():
    x = leaf(1.0, 2.0)
    for y in (
        np.sin(x),
        np.sum(x),
        np.concatenate([x, x]),
        np.stack([x, np.ones(2)]),
        np.ones(2) + x,
        np.float64(2.0) * x,
        np.ones((3, 2)) @ x,
        np.add.reduce(x),
        np.maximum(x, 1.5),
        np.linalg.norm(x),
        np.einsum("i,i", x, x),
        np.where(np.array([True, False]), x, 0.0),
        np.mean(x, axis=0, keepdims=True),
    ):
        assert isinstance(y, rt.Tensor) and y.requires_grad and y.grad_fn is not None
    assert np.shape(x) == (2,) and np.ndim(x) == 1 and np.size(x) == 2 and not np.iscomplexobj(x)
    with pytest.raises(LookupError, match="rule"):
        np.gcd.accumulate(tensor([2, 4]))
    with pytest.raises(LookupError, match="rule"):
        np.apply_along_axis(np.sum, 0, x)


def test_numpy_semantics():
    assert (tensor(1) / tensor(2)).dtype == np.float64 and tensor(1.0).dtype == np.float64
    assert np.isclose(tensor([1.0, 2.0, 3.0]).var().item(), 2 / 3)
    assert (tensor([1], dtype=rt.float32) + tensor([1], dtype=rt.int64)).dtype == np.float64
    assert (tensor([1.0], dtype=rt.float32) * 2.0).dtype == np.float32


def test_both_vocabularies():
    m = tensor([[1.0, 2.0], [3.0, 4.0]])
    assert m.sum(dim=0).tolist() == m.sum(axis=0).tolist() == [4.0, 6.0]
    assert m.mean(dim=1, keepdim=True).shape == m.mean(axis=1, keepdims=True).shape == (2, 1)
    assert m.mm(m).tolist() == (m @ m).tolist() == rt.matmul(m, m).tolist()
    assert m.transpose(0, 1).tolist() == m.T.tolist() == m.t().tolist()
    assert m.unsqueeze(0).shape == np.expand_dims(m, 0).shape == (1, 2, 2)
    assert m.view(4).tolist() == m.reshape((4,)).tolist() == m.flatten().tolist()
    assert m.numel() == m.size == 4 and m.dim() == m.ndim == 2


@pytest.mark.parametrize(
    "function",
    [
        rt.sigmoid,
        rt.softplus,
        rt.gelu,
        lambda x: rt.softmax(x, dim=1),
        lambda x: rt.log_softmax(x, axis=1),
        lambda x: rt.logsumexp(x, dim=0),
        lambda x: rt.logsumexp(x),
        lambda x: rt.cross_entropy(x, tensor([0, 2])),
        lambda x: rt.mse_loss(x, rt.ones(2, 3)),
        lambda x: x.std(axis=0),
        lambda x: x.flatten().cumsum() * x.flatten().cumprod(),
        lambda x: rt.sort(x, axis=1),
        lambda x: rt.flip(rt.roll(x, 1, axis=1), 0),
        lambda x: rt.tril(x @ x.T),
        lambda x: rt.inv(x @ x.T),
        lambda x: rt.einsum("ij,kj->ik", x, x),
        lambda x: rt.tile(x, (2, 1))[1:, [0, 0, 2]],
    ],
)
def test_operations(function):
    x = tensor(np.random.default_rng(0).uniform(0.2, 1.5, (2, 3)), requires_grad=True)
    assert gradcheck(function, (x,))
    assert rt.autograd.gradgradcheck(function, (x,))


def test_a_constant_array_may_change_afterwards():
    x, c = leaf(1.0, 2.0), np.array([3.0, 4.0])
    y = (x * c).sum()
    c[:] = 0
    y.backward()
    assert x.grad.tolist() == [3.0, 4.0]


def test_methods_of_both_habits():
    x = tensor([0.3, -0.5, 0.9], requires_grad=True)
    m = tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    assert x.gt(0).tolist() == (x > 0).tolist() == [True, False, True] and not x.isnan().requires_grad
    assert x.le(0.3).tolist() == [True, True, False] and x.eq(x).all() and not x.ne(x).any()
    assert tensor([1.0, np.inf, np.nan]).isfinite().tolist() == [True, False, False]
    assert x.half().dtype == np.float16
    assert m.tril().tolist() == [[1.0, 0.0], [3.0, 4.0]] and m.triu(1).tolist() == [[0.0, 2.0], [0.0, 0.0]]
    assert [part.tolist() for part in x.chunk(2)] == [[0.3, -0.5], [0.9]]
    picked = x.index_select(0, tensor([2, 0]))
    assert picked.tolist() == [0.9, 0.3] and picked.grad_fn.name() == "IndexSelectBackward0"
    for function in (rt.softmax, rt.log_softmax):
        assert gradcheck(lambda m: function(m, 0), (m,)) and gradcheck(lambda m: function(m), (m,))
        assert rt.autograd.gradgradcheck(lambda m: function(m, dim=1), (m,))
    assert m.softmax(dim=1).grad_fn.name() == "SoftmaxBackward0"
    wide = tensor([1000.0, 1000.0, -np.inf])
    assert wide.softmax(0).tolist() == [0.5, 0.5, 0.0]
