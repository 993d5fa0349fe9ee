"""Functions, and for each the gradient that a person would write: the standard for what adjoin writes.

`cases()` lists name, function, gradient by hand, the argument it is of, and arguments. They set the standard
for the generated code, not its spelling: the user's names and comments stay, only values that the reverse
sweep needs get a name, only what is overwritten *and* needed is saved, and no helper is called where the
kinds of the values make it unnecessary. `x_bar` is the adjoint of `x`.
"""

import numpy as np


# 1 -- straight line: no tape at all, values the reverse sweep does not need are never computed
def loss(w, X, y):
    p = 1 / (1 + np.exp(-(X @ w)))  # predicted probability
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def loss_grad(w, X, y):  # signature: w float64[1], X float64[2], y float64[1]
    # p = 1 / (1 + np.exp(-(X @ w)))
    e = np.exp(-(X @ w))
    d = 1 + e
    p = 1 / d  # predicted probability
    # return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
    term_bar = -1.0 / p.size
    p_bar = term_bar * y / p - term_bar * (1 - y) / (1 - p)
    # p = 1 / (1 + np.exp(-(X @ w)))
    d_bar = -p_bar * p / d
    w_bar = X.T @ -(d_bar * e)
    return w_bar


# 2 -- scalars in a loop: pure Python floats, one list, no helper calls
def horner(a, n):
    s = a
    for i in range(n):
        s = s * a + 0.5
    return s


def horner_grad(a, n):  # signature: a float, n int
    s = a
    s_saved = []
    for i in range(n):
        s_saved.append(s)
        s = s * a + 0.5
    s_bar = 1.0
    a_bar = 0.0
    for i in reversed(range(n)):
        s = s_saved.pop()
        # s = s * a + 0.5
        a_bar += s_bar * s
        s_bar = s_bar * a
    # s = a
    a_bar += s_bar
    return a_bar


# 3 -- in-place stencil: the buffer's adjoint is updated in place too; u is never copied per step
def misfit(k, u0, target, steps):
    u = u0.copy()
    for n in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum((u - target) ** 2)


def misfit_grad(k, u0, target, steps):  # k float, u0 float64[1], target float64[1], steps int
    u = u0.copy()
    lap_saved = []
    for n in range(steps):
        lap = u[2:] - 2 * u[1:-1] + u[:-2]
        lap_saved.append(lap)  # for k_bar
        u[1:-1] += k * lap
    # return np.sum((u - target) ** 2)
    u_bar = 2 * (u - target)
    k_bar = 0.0
    for n in reversed(range(steps)):
        lap = lap_saved.pop()
        # u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
        lap_bar = k * u_bar[1:-1]
        k_bar += np.sum(u_bar[1:-1] * lap)
        u_bar[2:] += lap_bar
        u_bar[1:-1] -= 2 * lap_bar
        u_bar[:-2] += lap_bar
    return k_bar


# 4 -- a view is written through: the adjoint of a view is a view of the adjoint
def view_write(x):
    a = x * 1.0
    v = a[1:]
    v[0] = 5.0 * x[0]
    return np.sum(a * a)


def view_write_grad(x):  # x float64[1]
    a = x * 1.0
    v = a[1:]
    v[0] = 5.0 * x[0]
    # return np.sum(a * a)
    a_bar = 2 * a
    v_bar = a_bar[1:]
    x_bar = np.zeros_like(x)
    # v[0] = 5.0 * x[0]
    x_bar[0] += 5.0 * v_bar[0]
    v_bar[0] = 0
    # a = x * 1.0
    x_bar += a_bar
    return x_bar


# 5 -- the same source, two meanings: `b += 1.0` changes `a` when they are one array, not when floats
def aug_alias(x):
    a = x * 1.0
    b = a
    b += 1.0
    return np.sum(a * b)


def aug_alias_grad_array(x):  # x float64[1]: a and b are one buffer
    a = x * 1.0
    b = a
    b += 1.0
    b_bar = 2 * b
    x_bar = b_bar
    return x_bar


def aug_alias_grad_scalar(x):  # x float: b is a new number
    a = x * 1.0
    b = a + 1.0
    a_bar = b + a
    x_bar = a_bar
    return x_bar


# 6 -- early return inside a loop: count the trips taken, walk them backwards
def early(x):
    s = 0.0
    for i in range(10):
        s = s + x**i
        if s > 5.0:
            return s * x
    return s


def early_grad(x):  # x float
    s = 0.0
    trips = 0
    returned = False
    for i in range(10):
        trips += 1
        s = s + x**i
        if s > 5.0:
            returned = True
            break
    if returned:
        # return s * x
        s_bar = x
        x_bar = s
    else:
        # return s
        s_bar = 1.0
        x_bar = 0.0
    for i in reversed(range(10)[:trips]):
        # s = s + x**i
        x_bar += s_bar * i * x ** (i - 1) if i else 0.0
    return x_bar


# 7 -- buffers swapped in a loop: the shadow of each buffer follows the same names
def swap(k, n):
    u = np.zeros(9)
    v = np.zeros(9)
    u[4] = 1.0
    for t in range(n):
        v[1:-1] = u[1:-1] + k * (u[2:] - 2 * u[1:-1] + u[:-2])
        u, v = v, u
    return np.sum(u[3:6] ** 2)


def swap_grad(k, n):  # k float, n int
    u = np.zeros(9)
    v = np.zeros(9)
    u[4] = 1.0
    lap_saved = []
    for t in range(n):
        lap = u[2:] - 2 * u[1:-1] + u[:-2]
        lap_saved.append(lap)
        v[1:-1] = u[1:-1] + k * lap
        u, v = v, u
    # return np.sum(u[3:6] ** 2)
    u_bar = np.zeros_like(u)
    v_bar = np.zeros_like(v)
    u_bar[3:6] += 2 * u[3:6]
    k_bar = 0.0
    for t in reversed(range(n)):
        lap = lap_saved.pop()
        # u, v = v, u
        u_bar, v_bar = v_bar, u_bar
        # v[1:-1] = u[1:-1] + k * (u[2:] - 2 * u[1:-1] + u[:-2])
        g = v_bar[1:-1].copy()
        v_bar[1:-1] = 0
        k_bar += np.sum(g * lap)
        g_lap = k * g
        u_bar[1:-1] += g - 2 * g_lap
        u_bar[2:] += g_lap
        u_bar[:-2] += g_lap
    return k_bar


# 8 -- a user function that only reads: it gets a forward / adjoint pair of its own
def cell(h, W, x):
    return np.tanh(W @ h + x)


def rnn(W, xs, h):
    for x in xs:
        h = cell(h, W, x)
    return np.sum(h**2)


def cell_forward(h, W, x):
    out = np.tanh(W @ h + x)
    return out, (h, out)


def cell_adjoint(saved, out_bar, W):
    h, out = saved
    z_bar = out_bar * (1 - out * out)
    return W.T @ z_bar, np.outer(z_bar, h)  # h_bar, W_bar


def rnn_grad(W, xs, h):  # W float64[2], xs float64[2], h float64[1]
    cell_saved = []
    for x in xs:
        h, saved = cell_forward(h, W, x)
        cell_saved.append(saved)
    # return np.sum(h ** 2)
    h_bar = 2 * h
    W_bar = np.zeros_like(W)
    for x in reversed(xs):
        # h = cell(h, W, x)
        h_bar, W_add = cell_adjoint(cell_saved.pop(), h_bar, W)
        W_bar += W_add
    return W_bar


# 9 -- a hundred steps over numbers
def steps(x, n):
    s = 0.0
    for i in range(n):
        s = s * x + x
    return s


def steps_grad(x, n):  # x float, n int
    s = 0.0
    s_saved = []
    for i in range(n):
        s_saved.append(s)
        s = s * x + x
    s_bar = 1.0
    x_bar = 0.0
    for i in reversed(range(n)):
        s = s_saved.pop()
        # s = s * x + x
        x_bar += s_bar * s + s_bar
        s_bar = s_bar * x
    return x_bar


# 10 -- a small layer: what is not arithmetic costs more than the arithmetic
def layer(W, x, b):
    return np.sum(np.tanh(W @ x + b))


def layer_grad(W, x, b):  # W float64[2], x float64[1], b float64[1]
    h = np.tanh(W @ x + b)
    # return np.sum(np.tanh(W @ x + b))
    z_bar = 1 - h * h
    return z_bar[:, None] * x


# 11 -- logistic regression of 1000 rows is example 1 again, with arrays that are no longer small
def cases():
    """Name, function, gradient by hand, the argument it is of, arguments."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4)), (rng.random(50) > 0.5) * 1.0
    X_large, y_large = rng.normal(size=(1000, 20)), (rng.random(1000) > 0.5) * 1.0
    W = rng.normal(size=(3, 3)) / 3
    return [
        ("loss", loss, loss_grad, 0, (rng.normal(size=4), X, y)),
        ("horner", horner, horner_grad, 0, (0.9, 12)),
        ("misfit", misfit, misfit_grad, 0, (0.2, rng.random(12), rng.random(12), 15)),
        ("view_write", view_write, view_write_grad, 0, (np.array([1.0, 2.0, 3.0]),)),
        ("aug_alias, array", aug_alias, aug_alias_grad_array, 0, (np.array([1.0, 2.0]),)),
        ("aug_alias, float", aug_alias, aug_alias_grad_scalar, 0, (3.0,)),
        ("early, returned", early, early_grad, 0, (1.5,)),
        ("early, to the end", early, early_grad, 0, (0.3,)),
        ("swap", swap, swap_grad, 0, (0.2, 20)),
        ("rnn", rnn, rnn_grad, 0, (W, rng.normal(size=(6, 3)), rng.normal(size=3))),
        ("100 steps", steps, steps_grad, 0, (0.7, 100)),
        ("tanh layer", layer, layer_grad, 0, (W, rng.normal(size=3), rng.normal(size=3))),
        ("loss, 1000 x 20", loss, loss_grad, 0, (rng.normal(size=20) / 10, X_large, y_large)),
    ]
