"""A walk through automatic differentiation with `Tensor`, in the order in which tutorials teach it.

In: nothing. Out: every step with what it prints. Run it with ``python examples/eager_basics.py``.
"""

from __future__ import annotations

import warnings
from pathlib import Path

from adjoin import backward, grad, no_grad, tensor
from adjoin.runtime import autograd, draw, eye, lift, ones_like


def title(text: str) -> None:
    print(f"\n# {text}")


title("A tensor and its attributes")
x = tensor(2.0, requires_grad=True)
print(x, "data:", x.data, "requires_grad:", x.requires_grad, "grad:", x.grad)
print("grad_fn:", x.grad_fn, "is_leaf:", x.is_leaf, "dtype:", x.dtype, "shape:", x.shape)

title("The graph of z = x * y")
y = tensor(3.0, requires_grad=True)
z = x * y
print(z, "is_leaf:", z.is_leaf)
print("grad_fn:", z.grad_fn.name(), "<-", [node.name() for node, _ in z.grad_fn.next_functions])
picture = draw(z)
print(picture.mermaid())  # in a notebook, `picture` alone shows the SVG

title("Backward from a scalar: z = x**2 + y")
z = x**2 + y
z.backward()
print("dz/dx:", x.grad, "dz/dy:", y.grad)

title("Gradients accumulate until they are zeroed")
(x**2 + y).backward()
print("after a second backward:", x.grad)
x.grad.zero_()  # in place; `x.grad = None` forgets it instead
y.grad = None
print("zeroed:", x.grad, y.grad)

title("A result that is not a scalar needs a gradient of its shape")
v = tensor([1.0, 2.0, 3.0], requires_grad=True)
w = v * v
try:
    w.backward()
except RuntimeError as error:
    print("error:", error)

title("The gradient is the vector of a Jacobian-vector product: x.view(1, 2) @ y")
a = tensor([2.0, 1.0], requires_grad=True)
b = tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
c = a.view(1, 2) @ b
print("c:", c)
c.backward(ones_like(c), retain_graph=True)
print("with ones, the row sums of b:", a.grad)
a.grad = b.grad = None
c.sum().backward()
print("which is what c.sum().backward() gives:", a.grad)

title("Other weights: each element of the result counts as much as its weight")
w.backward(tensor([1.0, 0.1, 0.01]))
print("2 * v * weights:", v.grad)

title("Several roots at once, with grad_tensors")
v.grad = None
backward([(v * v).sum(), v * 3], grad_tensors=[tensor(1.0), tensor([1.0, 0.0, 10.0])])
print("2 * v + 3 * weights:", v.grad)

title("The whole Jacobian, row by row")
rows = [autograd.grad(v * v, v, seed)[0].tolist() for seed in eye(3)]
print(rows, "or at once:", autograd.functional.jacobian(lambda v: v * v, v).tolist())

title(".data and .detach() share memory; only detach() notices changes")
p = tensor([1.0, 2.0], requires_grad=True)
q = (p * p).sum()
p.data[0] = 10.0  # the graph saved p, and now reads the new value: wrong, and nobody knows
q.backward()
print("after a change through .data:", p.grad, "(of the values [1., 2.] it was [2., 4.])")
p = tensor([1.0, 2.0], requires_grad=True)
q = (p * p).sum()
p.detach()[0] = 10.0
try:
    q.backward()
except RuntimeError as error:
    print("after a change through .detach():", error)

title("no_grad: nothing is recorded")
with no_grad():
    r = x * 2
print(r, "requires_grad:", r.requires_grad)
with no_grad():
    x -= 0.1  # how an optimiser changes a leaf
print("changed in place:", x, "is_leaf:", x.is_leaf)

title("retain_graph: a graph is freed by backward, unless it is retained")
x = tensor(2.0, requires_grad=True)
z = x**3
z.backward(retain_graph=True)
z.backward()
print("twice 3 * x**2:", x.grad)
try:
    z.backward()
except RuntimeError as error:
    print("error:", error)

title("create_graph: derivatives of derivatives")
x = tensor(2.0, requires_grad=True)
(first,) = autograd.grad(x**3, x, create_graph=True)
(second,) = autograd.grad(first, x, create_graph=True)
(third,) = autograd.grad(second, x)
print(first.item(), second.item(), third.item())

title("inputs: only these leaves get a gradient")
x, y = tensor(2.0, requires_grad=True), tensor(3.0, requires_grad=True)
(x * y).backward(inputs=[x])
print(x.grad, y.grad)

title("The .grad of a result is not kept, unless asked for")
h = x * y
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    _ = h.grad
print("warning:", caught[0].message)
h.retain_grad()
(h * h).backward()
print("retained:", h.grad)

title("A generated gradient is one node; its backward is generated too")


@grad
def energy(x):
    e = 0.0
    for i in range(1, len(x)):
        e += (x[i] - x[i - 1] ** 2) ** 2
    return e


v.grad = None
g = energy(v)
print(g)
g.backward(ones_like(g))
print("the Hessian of the energy times ones:", v.grad)
print("the energy itself:", lift(energy)(v))

title("A picture of a graph")
loss = ((v * v).sum() + x * y).log()
path = Path("eager_graph.svg")
draw(loss).save(path)
print("written:", path)
