"""Items 1 to 16 of the checklist: attributes, leaves, repr, dtypes and shapes."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

from adjoin import runtime as rt
from adjoin.runtime import tensor


def test_01_fresh_leaf():
    x = tensor(3.0, requires_grad=True)
    assert x.grad is None and x.grad_fn is None and x.is_leaf
    assert x._version == 0
    assert x.output_nr == 0 and x.retains_grad is False


def test_02_results():
    x, c = tensor([1.0, 2.0], requires_grad=True), tensor([1.0, 2.0])
    y = x * c
    assert not y.is_leaf and y.grad_fn is not None and y.requires_grad
    z = c * 2
    assert z.is_leaf and z.grad_fn is None and not z.requires_grad


def test_03_grad_of_a_non_leaf_warns():
    y = tensor(3.0, requires_grad=True) * 2
    with pytest.warns(UserWarning, match="retain_grad"):
        assert y.grad is None
    z = tensor(3.0, requires_grad=True) * 2
    z.retain_grad()
    z.backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert z.grad.item() == 1.0


def test_04_requires_grad_of_a_non_leaf():
    y = tensor(3.0, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="detach"):
        y.requires_grad = False
    assert y.requires_grad


def test_05_what_cannot_be_set():
    x = tensor(3.0, requires_grad=True)
    with pytest.raises(AttributeError):
        x.grad_fn = None
    with pytest.raises(AttributeError):
        x.is_leaf = False
    with pytest.raises(TypeError, match="bool"):
        x.requires_grad = 1


def test_06_setting_grad():
    x = tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(ValueError, match=re.escape("(3,)") + ".*" + re.escape("(2,)")):
        x.grad = tensor([1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match=r"float32.*float64"):
        x.grad = tensor([1.0, 2.0], dtype=rt.float32)
    with pytest.raises(TypeError, match="ndarray"):
        x.grad = np.ones(2)
    with pytest.raises(RuntimeError, match="own"):
        x.grad = x
    x.grad = tensor([1.0, 2.0])
    del x.grad
    assert x.grad is None
    assert x.requires_grad_() is x


def test_07_history_of_an_update():
    w = tensor(1.0, requires_grad=True)
    w = w - 0.1 * w
    assert not w.is_leaf
    a, b = tensor(2.0, requires_grad=True), tensor(3.0)
    y = a * b
    b.requires_grad = True
    a.requires_grad = False
    y.backward()
    assert b.grad is None and a.grad is None


def test_08_no_node():
    x = tensor([1.0], requires_grad=True)
    assert x.astype(rt.float64) is x and +x is x and x.to(rt.float64) is x
    assert x.float().grad_fn.name() == "ToCopyBackward0"


def test_09_data_and_detach():
    x = tensor([1.0, 2.0], requires_grad=True)
    d = x.data
    assert not d.requires_grad and np.shares_memory(d.numpy(), x.detach().numpy())
    y = (x * x).sum()
    d[0] = 100.0  # unnoticed, as it says
    y.backward()
    assert x.grad.tolist() == [200.0, 4.0]

    x = tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    x.detach()[0] = 100.0
    with pytest.raises(RuntimeError, match=r"version 1.*expected version 0"):
        y.backward()


def test_10_repr():
    x = tensor(3.0, requires_grad=True)
    assert repr(x) == "tensor(3., requires_grad=True)"
    assert repr(x * 2) == "tensor(6., grad_fn=<MulBackward0>)"
    assert repr(tensor([1.0, 2.5])) == "tensor([1. , 2.5])"
    y = tensor([1.0], dtype=rt.float32, requires_grad=True)
    assert repr(y * 2) == "tensor([2.], dtype=float32, grad_fn=<MulBackward0>)"
    assert repr(tensor([1, 2])) == "tensor([1, 2])"
    assert repr(tensor([True])) == "tensor([ True])"
    assert repr(rt.zeros(0, 3)) == "tensor([], size=(0, 3))"
    long = repr(rt.ones(11, requires_grad=True) * 1.5)
    assert all(len(line) <= 82 for line in long.splitlines()) and long.endswith("grad_fn=<MulBackward0>)")
    assert repr(tensor([[1.0, 2.0], [3.0, 4.0]])) == "tensor([[1., 2.],\n        [3., 4.]])"


def names():
    x = tensor([1.0, 2.0], requires_grad=True)
    m = tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    return [
        (x + x, "Add"),
        (x - x, "Sub"),
        (1 - x, "Rsub"),
        (x * x, "Mul"),
        (x / x, "Div"),
        (-x, "Neg"),
        (x**2, "Pow"),
        (x.exp(), "Exp"),
        (x.log(), "Log"),
        (x.sqrt(), "Sqrt"),
        (x.sum(), "Sum"),
        (x.sum(axis=0), "Sum"),
        (x.mean(), "Mean"),
        (m @ m, "Mm"),
        (m @ x, "Mv"),
        (x @ x, "Dot"),
        (x.view(2, 1), "View"),
        (m.T, "Permute"),
        (m.transpose(0, 1), "Transpose"),
        (m[0], "Select"),
        (m[0, 1], "Select"),
        (x[0:1], "Slice"),
        (x[[0, 0]], "Index"),
        (x.unsqueeze(0), "Unsqueeze"),
        (x.expand(3, 2), "Expand"),
        (rt.cat([x, x]), "Cat"),
        (x.clamp(0, 1), "Clamp"),
        (x.max(), "Max"),
        (x.abs(), "Abs"),
        (x.relu(), "Relu"),
    ]


def test_11_names_of_nodes():
    for y, name in names():
        assert y.grad_fn.name() == name + "Backward0"
        assert re.fullmatch(rf"<{name}Backward0 object at 0x[0-9a-f]+>", repr(y.grad_fn))

    class Sq(rt.Function):
        @staticmethod
        def forward(ctx, x):
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g

    assert Sq.apply(tensor(1.0, requires_grad=True)).grad_fn.name() == "SqBackward"


def test_12_format():
    assert f"{tensor(3.14159):.2f}" == "3.14"
    assert f"{tensor([3.14159]):.2f}" == "3.14"
    assert f"{tensor([1.0, 2.0])}" == "tensor([1., 2.])"
    with pytest.raises(TypeError, match=re.escape("(2,)")):
        f"{tensor([1.0, 2.0]):.2f}"


@pytest.mark.parametrize("data", [1, [True], [1, 2]])
def test_13_only_floating_tensors_require_grad(data):
    with pytest.raises(RuntimeError, match="floating"):
        tensor(data, requires_grad=True)
    x = tensor(data)
    with pytest.raises(RuntimeError, match="floating"):
        x.requires_grad = True
    with pytest.raises(RuntimeError, match="floating"):
        x.requires_grad_()
    assert tensor(1j, requires_grad=True).requires_grad


def test_14_gradients_have_the_shape_and_dtype_of_the_leaf():
    x = rt.ones(3, dtype=rt.float32, requires_grad=True)
    b = rt.ones(2, 1, requires_grad=True)
    y = (x * 2.5 + 1) * b
    assert (x * 2.5 + 1).dtype == np.float32 and y.dtype == np.float64
    y.sum().backward()
    assert x.grad.shape == (3,) and x.grad.dtype == np.float32
    assert b.grad.shape == (2, 1) and b.grad.dtype == np.float64
    assert x.grad.tolist() == [5.0, 5.0, 5.0] and b.grad.tolist() == [[10.5], [10.5]]


def test_15_shape_mismatches():
    x, y = rt.ones(3, requires_grad=True), rt.ones(4)
    with pytest.raises(ValueError, match=re.escape("(3,) and (4,)") + ".*dimension 0"):
        x + y
    with pytest.raises(RuntimeError, match=re.escape("(2, 3) and (2, 3)") + ".*3 columns meet 2 rows"):
        rt.ones(2, 3, requires_grad=True) @ rt.ones(2, 3)
    with pytest.raises(ValueError, match=re.escape("(2, 3)")):
        rt.ones(2, 3).reshape(4)
    with pytest.raises(ValueError, match=re.escape("(2, 3) and (2, 2)")):
        rt.cat([rt.ones(2, 3), rt.ones(2, 2)])


def test_16_no_gradient_and_zero_gradient():
    x = tensor([1.5, -2.5], requires_grad=True)
    for y in (x > 0, x == x, x.argmax(), rt.isnan(x), rt.zeros_like(x), np.isfinite(x)):
        assert not y.requires_grad
    for step in (rt.floor, rt.round, rt.sign, rt.ceil, np.floor, np.round, np.sign):
        x.grad = None
        step(x).sum().backward()
        assert x.grad.tolist() == [0.0, 0.0]


def test_4_requires_grad_of_a_non_leaf_cannot_be_set_at_all():
    y = rt.ones(2, requires_grad=True) * 2
    for value in (True, False):
        with pytest.raises(RuntimeError, match="leaves"):
            y.requires_grad = value
    assert y.requires_grad_() is y
