"""Arrays that are not NumPy's: a strict stand-in everywhere, and CuPy where there is a GPU."""

from __future__ import annotations

import numpy as np
import pytest
from standin import DeviceArray

from adjoin import runtime as rt
from adjoin.runtime.autograd import grad
from adjoin.runtime.tensors import leaf


def cupy_works():
    return rt.cuda.is_available()


def on_cupy(array):
    import cupy

    return cupy.asarray(array)


PLACES = [
    pytest.param(DeviceArray, id="stand-in"),
    pytest.param(
        on_cupy, id="cupy", marks=[pytest.mark.gpu, pytest.mark.skipif(not cupy_works(), reason="no GPU")]
    ),
]


def there(place, *shape, seed=0):
    return np.random.default_rng(seed).uniform(0.4, 1.6, shape), lambda a: leaf(place(a.copy()), True)


def stores(x, y):
    a = x * 1.0
    a[0] = y[1]
    v = a[:, 1:]
    v *= y[0, 0]
    v.T[0].exp_()
    return (a * a).sum()


PROGRAMS = {
    "arithmetic": lambda x, y: ((x * y + 2.0) / (y - 3.0) - x**2).sum(),
    "reflected": lambda x, y: (1.0 / x + (2.0 - y) * 3.0).mean(),
    "exp log": lambda x, y: (x.exp() + y.log() + x.sqrt() * y.tanh()).sum(),
    "numpy functions": lambda x, y: np.sum(np.sin(x) * np.maximum(x, y)),
    "matmul": lambda x, y: (x @ y.T).sum(),
    "reductions": lambda x, y: (x.sum(axis=0) * y.mean(axis=0)).sum() + x.max() + y.var(),
    "shapes": lambda x, y: (x.reshape(3, 2) @ y).T.sum() + x.unsqueeze(0).squeeze(0).sum(),
    "indexing": lambda x, y: x[0].sum() + (x[:, 1:] * y[:, :2]).sum() + y[1, 2],
    "joining": lambda x, y: (rt.cat([x, y]) * rt.stack([x, y]).reshape(4, 3)).sum(),
    "choosing": lambda x, y: rt.where(x > 1.0, x, y).sum() + x.clip(0.5, 1.0).sum() + x.relu().sum(),
    "softmax": lambda x, y: (rt.softmax(x, dim=1) * y).sum(),
    "broadcasting": lambda x, y: (x * y[0]).sum(),
    "stores": lambda x, y: stores(x, y),
    "norm": lambda x, y: x.norm() + abs(y).sum(),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(place, name):
    program = PROGRAMS[name]
    a, move = there(place, 2, 3)
    b, _ = there(place, 2, 3, seed=1)
    x, y = move(a), move(b)
    program(x, y).backward()
    u, v = leaf(a, True), leaf(b, True)
    program(u, v).backward()
    for device, host in ((x, u), (y, v)):
        if host.grad is None:
            assert device.grad is None
            continue
        assert type(device.grad._array) is type(device._array)
        assert device.grad.shape == host.shape and device.grad.dtype == host.dtype
        np.testing.assert_allclose(device.grad._array.get(), host.grad.numpy(), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("place", PLACES)
def test_second_order_and_steps(place):
    a, move = there(place, 3)
    x = move(a)
    (first,) = grad((x**3).sum(), x, create_graph=True)
    (second,) = grad(first.sum(), x)
    np.testing.assert_allclose(second._array.get(), 6 * a)
    optimiser = rt.optim.Adam([x], lr=0.1)
    for _ in range(3):
        optimiser.zero_grad()
        (x * x).sum().backward()
        optimiser.step()
    assert type(x._array) is type(place(a))


@pytest.mark.parametrize("place", PLACES)
def test_mixing_is_refused(place):
    a, move = there(place, 3)
    x, host = move(a), rt.ones(3)
    with pytest.raises(RuntimeError, match="device"):
        x * host
    with pytest.raises(RuntimeError, match=r"cpu\(\)"):
        x.detach().numpy()
    assert x.numpy(force=True).tolist() == a.tolist()
    assert "device=" in repr(x) and x.tolist() == a.tolist()


def test_without_a_gpu():
    if rt.cuda.is_available():
        pytest.skip("there is a GPU")
    assert rt.cuda.device_count() == 0
    with pytest.raises(RuntimeError, match="no GPU"):
        rt.ones(2).cuda()
    x = rt.ones(2, requires_grad=True)
    assert (
        x.cpu() is x and x.to("cpu") is x and str(x.device) == "cpu" and x.device == "cpu" and not x.is_cuda
    )
    with pytest.raises(RuntimeError, match="no device is called"):
        x.to(rt.Device("tpu"))


@pytest.mark.gpu
@pytest.mark.skipif(not cupy_works(), reason="no GPU")
def test_moving_is_recorded():
    x = rt.ones(3, requires_grad=True)
    y = x.cuda() * 2
    assert y.is_cuda and not y.cpu().is_cuda
    y.sum().backward()
    assert not x.grad.is_cuda and x.grad.tolist() == [2.0, 2.0, 2.0]
