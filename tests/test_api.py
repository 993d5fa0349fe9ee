"""The public face: what `grad` returns, how it is called, what it caches, what it refuses."""

import builtins
import dataclasses
import functools
import inspect
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import adjoin
from adjoin.transformer import load
from adjoin.transformer.gradient import Gradient

ROOT = Path(__file__).resolve().parent.parent
VECTOR = np.array([0.7, 1.9, -1.3])
DTYPE = np.dtype("f8")


def square(x):
    return np.sum(x * x)


def product(x, y):
    return np.sum(x * y)


@adjoin.grad
def slope(x):
    """The slope of a cube."""
    return x**3


# -- the object ---------------------------------------------------------------------------------------


def test_the_object_looks_like_the_function():
    assert slope.__name__ == "slope"
    assert slope.__doc__ == "The slope of a cube."
    assert slope.__module__ == __name__
    assert str(inspect.signature(slope)) == "(x)"
    assert slope.primal(2.0) == 8.0
    assert slope.primal is slope.__wrapped__


def test_repr_is_short_and_says_what_it_is():
    assert repr(slope) == "<gradient of slope with respect to x>"
    assert repr(adjoin.grad(product, argnums=(1, 0))) == "<gradient of product with respect to y, x>"
    assert (
        repr(adjoin.value_and_grad(product, argnames="y"))
        == "<value and gradient of product with respect to y>"
    )
    assert "argument 7" in repr(adjoin.grad(product, argnums=7))
    assert repr(adjoin.grad(slope)) == "<gradient of <gradient of slope with respect to x> with respect to x>"


def test_source_is_that_of_the_last_call():
    def total(x):
        return np.sum(np.sin(x))

    gradient = adjoin.grad(total)
    gradient(VECTOR)
    for_vectors = gradient.source
    gradient(np.eye(2, dtype=np.float32))
    gradient(2.0)
    for_numbers = gradient.source
    assert gradient.source_for(VECTOR) == for_vectors
    assert gradient.source == for_vectors
    assert gradient.source_for(2.0) == for_numbers
    for text in (for_vectors, for_numbers):
        assert "def total_grad(x):" in text
        assert "import adjoin" not in text
        compile(text, "total_grad.py", "exec")


def test_source_before_any_call():
    def stated(w: float, X: "f8[:, :]"):  # noqa: F821
        return w * np.sum(X)

    assert "unbroadcast" not in adjoin.grad(stated).source
    assert "def square_grad(x):" in adjoin.grad(square).source
    liked = adjoin.grad(square, like="x: f8[:]")
    assert liked.source == liked.source_for(VECTOR)


def test_source_does_not_run_the_function():
    def f(x):
        raise ValueError("it runs")

    def g(x):
        print(x)
        return x * x

    assert "x" in adjoin.grad(g).source_for(2.0)
    with pytest.raises((ValueError, adjoin.AdjoinError)):
        adjoin.grad(f)(2.0)


def test_in_a_notebook_the_source_is_shown():
    pytest.importorskip("pygments")
    assert "square_grad" in adjoin.grad(square, like="x: f8[:]")._repr_html_()
    assert "<span" in adjoin.grad(square, like="x: f8[:]")._repr_html_()


def test_in_a_notebook_without_pygments(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygments", None)
    assert adjoin.grad(square, like="x: f8[:]")._repr_html_().startswith("<pre>")


def test_in_a_notebook_what_is_refused_is_said():
    assert "ADJ102" in adjoin.grad(sum)._repr_html_()


def test_forward_and_adjoint():
    gradient = adjoin.grad(product, argnums=(0, 1))
    value, saved = gradient.forward(VECTOR, 2 * VECTOR)
    assert value == product(VECTOR, 2 * VECTOR)
    for _ in range(2):
        x_bar, y_bar = gradient.adjoint(saved, 3.0)
        np.testing.assert_array_equal(x_bar, 6 * VECTOR)
        np.testing.assert_array_equal(y_bar, 3 * VECTOR)
    assert repr(saved) == "<saved by product_forward>"


def test_only_functions_have_gradients():
    with pytest.raises(TypeError, match="a function is needed"):
        adjoin.grad(3.0)


def test_positions_are_integers():
    with pytest.raises(TypeError, match="argnums"):
        adjoin.grad(product, argnums="x")
    with pytest.raises(TypeError, match="argnums"):
        adjoin.grad(product, argnums=True)


# -- arguments ----------------------------------------------------------------------------------------


def test_positions_and_names_together():
    def f(x, y, z):
        return x * y * z

    assert adjoin.grad(f, argnums=2, argnames="x")(2.0, 3.0, 5.0) == (6.0, 15.0)
    assert adjoin.grad(f, argnums=0, argnames=("y",))(2.0, 3.0, 5.0) == (15.0, 10.0)
    assert adjoin.grad(f, argnames=("y",))(2.0, 3.0, 5.0) == (10.0,)
    assert adjoin.grad(f, argnums=(-1,))(2.0, 3.0, 5.0) == (6.0,)


def test_every_way_of_passing_an_argument():
    def f(a, /, b, c=5.0, *rest, d, e=7.0, **more):
        s = a * b * c * d * e
        for r in rest:
            s = s * r
        for m in more.values():
            s = s * m
        return s

    names = ("a", "b", "c", "d", "e")
    gradient = adjoin.grad(f, argnames=names)
    values = {"a": 2.0, "b": 3.0, "c": 5.0, "d": 11.0, "e": 7.0}
    total = np.prod(list(values.values()))
    want = tuple(total / values[name] for name in names)
    np.testing.assert_allclose(gradient(2.0, 3.0, d=11.0), want)
    np.testing.assert_allclose(gradient(2.0, d=11.0, b=3.0), want)
    np.testing.assert_allclose(gradient(2.0, e=7.0, d=11.0, c=5.0, b=3.0), want)
    np.testing.assert_allclose(gradient(2.0, 3.0, 5.0, 13.0, 17.0, d=11.0), np.multiply(want, 13.0 * 17.0))
    np.testing.assert_allclose(gradient(2.0, 3.0, d=11.0, f=19.0), np.multiply(want, 19.0))
    np.testing.assert_allclose(
        adjoin.grad(f, argnums=(3, -1))(2.0, 3.0, 5.0, 13.0, 17.0, d=11.0), [total * 17.0, total * 13.0]
    )
    np.testing.assert_allclose(adjoin.grad(f, argnames="g")(2.0, 3.0, d=11.0, g=19.0), total)


def test_a_wrong_call_is_the_type_error_that_python_raises():
    with pytest.raises(TypeError, match="missing a required argument: 'y'"):
        adjoin.grad(product)(1.0)
    with pytest.raises(TypeError, match="too many positional"):
        adjoin.grad(product)(1.0, 2.0, 3.0)
    with pytest.raises(TypeError, match="unexpected keyword"):
        adjoin.grad(product)(1.0, 2.0, z=3.0)


def test_partial():
    def f(x, y, z):
        return x * y * z

    assert adjoin.grad(functools.partial(f, 2.0))(3.0, 5.0) == 10.0
    assert adjoin.grad(functools.partial(f, z=5.0), argnums=1)(2.0, 3.0) == 10.0
    assert adjoin.grad(functools.partial(f, z=5.0))(2.0, 3.0, z=7.0) == 21.0
    assert adjoin.grad(functools.partial(f, 2.0), argnames="z")(3.0, z=5.0) == 6.0


@dataclasses.dataclass
class Point:
    x: float
    y: np.ndarray


def test_structures_keep_their_form():
    def f(p, n):
        return p["a"][0] * n + np.sum(p["a"][1]) + p["b"]

    p = {"a": [2.0, np.float32([1.0, 2.0])], "b": np.float64(3.0)}
    found = adjoin.grad(f)(p, 3)
    assert list(found) == ["a", "b"]
    assert found["a"][0] == 3.0
    assert type(found["a"][0]) is float
    assert found["a"][1].dtype == np.float32
    np.testing.assert_array_equal(found["a"][1], [1.0, 1.0])
    assert type(found["b"]) is np.float64


@pytest.mark.parametrize(
    "x",
    [
        2.0,
        np.float32(2.0),
        np.float64(2.0),
        np.array(2.0),
        np.array(2.0, "f4"),
        np.array([2.0], "f4"),
        2.0 + 0j,
    ],
)
def test_type_shape_and_dtype_are_those_of_the_argument(x):
    def constant(x):
        return 1.0

    for f in (lambda x: np.real(np.sum(x)), lambda x: np.sum(np.real(x * x)) * 0.5, constant):
        found = adjoin.grad(f)(x)
        assert type(found) is type(x)
        assert np.shape(found) == np.shape(x)
        assert np.asarray(found).dtype == np.asarray(x).dtype


def test_gradients_own_their_memory():
    def f(x, y):
        return np.sum(x) + np.sum(y)

    def g(x, y):
        return x @ y

    for function in (f, g, product):
        x, y = VECTOR.copy(), np.ones(3)
        gradient = adjoin.grad(function, argnums=(0, 1))
        value, saved = gradient.forward(x, y)
        for found in (gradient(x, y), gradient.adjoint(saved, 1.0), gradient.adjoint(saved, 1.0)):
            for one, other in [(0, x), (0, y), (1, x), (1, y), (0, found[1])]:
                assert not np.shares_memory(found[one], other)
                assert found[one].flags.writeable


def test_the_identity_does_not_hand_out_its_seed():
    value, pullback = adjoin.vjp(lambda x: x, VECTOR)
    seed = np.ones(3)
    (found,) = pullback(seed)
    assert found is not seed
    assert not np.shares_memory(found, seed)
    np.testing.assert_array_equal(found, seed)


# -- methods ------------------------------------------------------------------------------------------


class Model:
    def __init__(self, w):
        self.w = w

    @adjoin.grad
    def loss(self, x):
        return np.sum(self.w * x * x)

    @adjoin.grad(argnums=1)
    def second(self, x, y):
        return x * y * y

    def plain(self, x):
        return np.sum(self.w * x)


def test_methods():
    model = Model(2.0)
    np.testing.assert_array_equal(model.loss(VECTOR), 4 * VECTOR)
    assert model.second(2.0, 3.0) == 12.0
    np.testing.assert_array_equal(adjoin.grad(model.plain)(VECTOR), [2.0, 2.0, 2.0])
    assert isinstance(Model.loss, Gradient)
    assert model.loss.primal(VECTOR) == model.w * np.sum(VECTOR**2)


def test_instances_share_code_and_nothing_else():
    one, two, arrays = Model(2.0), Model(3.0), Model(np.array([1.0, 2.0, 3.0]))
    for _ in range(2):
        np.testing.assert_array_equal(one.loss(VECTOR), 4 * VECTOR)
        np.testing.assert_array_equal(two.loss(VECTOR), 6 * VECTOR)
        np.testing.assert_array_equal(arrays.loss(VECTOR), 2 * arrays.w * VECTOR)
    assert one.loss.source_for(VECTOR) == two.loss.source_for(VECTOR)
    one.w = 5.0
    np.testing.assert_array_equal(one.loss(VECTOR), 10 * VECTOR)


# -- what the code was made for, and what is there now --------------------------------------------------

FACTOR = 2.0
MODE = "times"


def scaled(x):
    return x * FACTOR


def uses_globals(x):
    return np.sum(scaled(x)) if MODE == "times" else np.sum(x)


def test_globals_are_read_at_each_call(monkeypatch):
    gradient = adjoin.grad(uses_globals)
    assert gradient(1.0) == 2.0
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert gradient(1.0) == 3.0
    monkeypatch.setitem(globals(), "FACTOR", np.array([1.0, 2.0]))
    assert gradient(1.0) == 3.0
    monkeypatch.setitem(globals(), "MODE", "plain")
    assert gradient(1.0) == 1.0


def test_helpers_may_be_replaced(monkeypatch):
    gradient = adjoin.grad(uses_globals)
    assert gradient(1.0) == 2.0
    monkeypatch.setitem(globals(), "scaled", lambda x: x * x * 5.0)
    assert gradient(1.0) == 10.0


def test_builtins_may_be_shadowed(monkeypatch):
    def f(x):
        return abs(x)

    gradient = adjoin.grad(f)
    assert gradient(-2.0) == -1.0
    monkeypatch.setitem(globals(), "abs", lambda x: x * x)
    assert gradient(-2.0) == -4.0


def test_closures_are_read_at_each_call():
    def make():
        k = 2.0

        def f(x):
            return k * x

        def change(value):
            nonlocal k
            k = value

        return f, change

    f, change = make()
    gradient = adjoin.grad(f)
    assert gradient(1.0) == 2.0
    change(5.0)
    assert gradient(1.0) == 5.0


def test_functions_as_arguments_are_told_apart():
    def f(g, x):
        return g(x) * x

    gradient = adjoin.grad(f, argnums=1)
    for k in (2.0, 3.0):
        assert gradient(lambda x, k=k: k * x, 1.0) == 2 * k
    assert gradient(np.exp, 0.0) == 1.0


def test_constants_as_arguments_are_told_apart():
    def f(x, mode, flag):
        y = x * x if mode == "square" else x
        return 3.0 * y if flag else y

    gradient = adjoin.grad(f)
    assert gradient(2.0, "square", False) == 4.0
    assert gradient(2.0, "plain", False) == 1.0
    assert gradient(2.0, "square", True) == 12.0
    assert gradient(2.0, None, 1) == 3.0


def test_a_size_of_one_is_another_kind():
    gradient = adjoin.grad(product, argnums=(0, 1))
    for n in (3, 1, 3):
        x_bar, y_bar = gradient(np.ones(n), VECTOR)
        np.testing.assert_allclose(x_bar, VECTOR if n == 3 else [np.sum(VECTOR)])
        np.testing.assert_allclose(y_bar, np.ones(3))


def test_what_operators_mean_other_things_for_is_refused():
    with pytest.raises(adjoin.AdjoinError, match="asarray"):
        adjoin.grad(square)(np.ma.masked_array([1.0, 2.0], [True, False]))


# -- vjp and jacobian -----------------------------------------------------------------------------------


def test_vjp_of_structures():
    def f(p, n, x):
        return {"sum": p["w"] * x + n, "parts": (np.sin(x), "text")}

    value, pullback = adjoin.vjp(f, {"w": 2.0}, 3, VECTOR)
    np.testing.assert_array_equal(value["sum"], 2 * VECTOR + 3)
    p_bar, n_bar, x_bar = pullback({"sum": np.ones(3), "parts": (2 * np.ones(3), None)})
    assert np.isclose(p_bar["w"], np.sum(VECTOR))
    assert n_bar is None
    np.testing.assert_allclose(x_bar, 2.0 + 2 * np.cos(VECTOR))


def test_vjp_of_something_without_a_gradient():
    value, pullback = adjoin.vjp(lambda n, s: n * 2, 3, "text")
    assert value == 6
    assert pullback(1.0) == (None, None)


def test_vjp_with_keywords_held_constant():
    def f(x, *, k):
        return x * k

    value, pullback = adjoin.vjp(f, 2.0, k=3.0)
    assert value == 6.0
    assert pullback(1.0) == (3.0,)


@pytest.mark.parametrize("seed", [np.ones(2), np.ones((3, 1)), 1.0, (np.ones(3),), np.ones(3) * 1j, "text"])
def test_a_seed_has_the_form_of_the_value(seed):
    value, pullback = adjoin.vjp(lambda x: x * x, VECTOR)
    with pytest.raises(adjoin.AdjoinError) as caught:
        pullback(seed)
    assert caught.value.code == "ADJ305"


def test_a_seed_is_taken_in_the_dtype_of_the_value():
    value, pullback = adjoin.vjp(lambda x: x * x, VECTOR.astype("f4"))
    (found,) = pullback(np.array([1, 2, 3]))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, 2 * VECTOR * [1, 2, 3], rtol=1e-6)


def test_a_seed_is_not_changed():
    def f(x):
        y = x * 1.0
        y[0] = 0.0
        return y

    value, pullback = adjoin.vjp(f, VECTOR)
    seed = np.ones(3)
    (found,) = pullback(seed)
    np.testing.assert_array_equal(seed, np.ones(3))
    np.testing.assert_array_equal(found, [0.0, 1.0, 1.0])


def test_jacobian_of_matrices_and_structures():
    def f(p):
        return p["A"] @ p["x"]

    p = {"A": np.arange(6.0).reshape(2, 3), "x": VECTOR}
    found = adjoin.jacobian(f)(p)
    assert found["A"].shape == (2, 2, 3)
    np.testing.assert_array_equal(found["x"], p["A"])
    np.testing.assert_array_equal(found["A"], np.einsum("ij,k->ijk", np.eye(2), VECTOR))


def test_jacobian_of_several_results_and_arguments():
    def f(x, y):
        return x * y, np.sum(x)

    (xy_x, xy_y), (s_x, s_y) = adjoin.jacobian(f, argnums=(0, 1))(VECTOR, 2.0)
    np.testing.assert_array_equal(xy_x, 2 * np.eye(3))
    np.testing.assert_array_equal(xy_y, VECTOR)
    np.testing.assert_array_equal(s_x, np.ones(3))
    assert s_y == 0.0


def test_jacobian_of_a_number():
    assert adjoin.jacobian(lambda x: x * x)(3.0) == 6.0


def test_jacobian_of_nothing():
    assert adjoin.jacobian(lambda x: x * x)(np.zeros(0)).shape == (0, 0)


def test_jacobian_of_a_gradient_is_the_hessian():
    hessian = adjoin.jacobian(adjoin.grad(lambda x: np.sum(x**3)))(VECTOR)
    np.testing.assert_allclose(hessian, np.diag(6 * VECTOR))


def test_jacobian_of_complex_functions_is_refused():
    with pytest.raises(adjoin.AdjoinError, match="convention"):
        adjoin.jacobian(lambda x: x * 1j)(VECTOR)


# -- refusals -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (3, "ADJ301"),
        (True, "ADJ301"),
        (np.arange(3), "ADJ301"),
        (np.int32(3), "ADJ301"),
        ("text", "ADJ302"),
        (None, "ADJ302"),
        ({"n": 3}, "ADJ302"),
        ([], "ADJ302"),
        (Model(2.0), "ADJ302"),
    ],
)
def test_arguments_that_have_no_gradient(value, code):
    def f(x):
        return 1.0

    with pytest.raises(adjoin.AdjoinError) as caught:
        adjoin.grad(f)(value)
    assert caught.value.code == code
    assert caught.value.where is not None
    if code == "ADJ301":
        assert "3.0" in caught.value.rewrite


def test_what_is_not_an_argument():
    for options in ({"argnames": "z"}, {"argnums": 2}, {"argnums": -3}, {"argnames": ("x", "z")}):
        with pytest.raises(adjoin.AdjoinError, match="it has x, y") as caught:
            adjoin.grad(product, **options)(1.0, 2.0)
        assert caught.value.code == "ADJ304"


def test_like_names_parameters_that_exist():
    with pytest.raises(adjoin.AdjoinError, match="no parameter 'z'") as caught:
        adjoin.grad(square, like="z: f8[:]").source
    assert caught.value.code == "ADJ306"


def test_result_that_turns_out_not_to_be_a_number():
    def f(x):
        return x * 2.0

    with pytest.raises(adjoin.AdjoinError) as caught:
        adjoin.value_and_grad(f)(np.ones(3))
    assert caught.value.code == "ADJ303"


# -- caches, processes, copies --------------------------------------------------------------------------


def test_one_signature_is_generated_once(monkeypatch):
    from adjoin.transformer import pipeline

    generated = []
    generate = pipeline.generate
    monkeypatch.setattr(pipeline, "generate", lambda *a: generated.append(a) or generate(*a))

    def f(x):
        return np.sum(x * x * 1.25)

    gradient = adjoin.grad(f)
    for n in (3, 4, 5):
        gradient(np.ones(n))
    adjoin.grad(f)(np.ones(6))
    assert len(generated) == 1
    gradient(np.ones((2, 2)))
    assert len(generated) == 2


PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
import numpy as np, adjoin, model
print(adjoin.grad(model.loss)(np.ones(3)), "libcst" in sys.modules)
"""


def run(folder):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(folder=str(folder))],
        env={"PYTHONPATH": str(ROOT / "src"), "ADJOIN_CACHE_DIR": str(folder / "cache"), "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_second_process_finds_the_code_without_libcst(tmp_path):
    model = tmp_path / "model.py"
    helper = tmp_path / "helper.py"
    helper.write_text("def twice(x):\n    return 2.0 * x\n")
    model.write_text("from helper import twice\n\ndef loss(x):\n    return (twice(x) ** 2).sum()\n")
    assert run(tmp_path) == "[8. 8. 8.] True\n"
    assert run(tmp_path) == "[8. 8. 8.] False\n"
    helper.write_text("def twice(x):\n    return 2.0 * x * 1.5\n")
    assert run(tmp_path) == "[18. 18. 18.] True\n"
    helper.write_text("K = 3\ndef twice(x):\n    return K * x\n")
    assert run(tmp_path) == "[18. 18. 18.] True\n"
    helper.write_text("K = None\ndef twice(x):\n    return x if K is None else K * x\n")
    assert run(tmp_path) == "[2. 2. 2.] True\n"
    helper.write_text("K = 5.0\ndef twice(x):\n    return x if K is None else K * x\n")
    assert run(tmp_path) == "[50. 50. 50.] True\n"


def test_code_is_for_the_function_that_a_name_means():
    special = pytest.importorskip("scipy.special")

    def applied(function):
        def total(x):
            return np.sum(function(x))

        return total

    x = np.array([0.3, 0.8])
    for function in (np.sin, np.cos, special.gammaln, special.digamma, special.exp1):  # the text is the same
        slope = (function(x + 1e-6) - function(x - 1e-6)) / 2e-6
        np.testing.assert_allclose(adjoin.grad(applied(function))(x), slope, rtol=1e-7)


def test_a_function_that_an_object_holds():
    def held(function):
        vectorized = np.vectorize(function)

        def total(x):
            return np.sum(x * vectorized(np.arange(2.0)))

        return total

    assert [
        g(np.ones(2)).tolist() for g in map(adjoin.grad, map(held, [lambda t: t + 1, lambda t: t - 1]))
    ] == [
        [1.0, 2.0],
        [-1.0, 0.0],
    ]


def test_what_a_function_can_get_at_is_not_all_of_numpy():
    from adjoin.transformer.reach import Reach
    from adjoin.transformer.source import read

    assert len(Reach(read(square)).text) < 500


def test_a_dtype_that_is_another_one(monkeypatch):
    gradient = adjoin.grad(lambda x: np.sum(x.astype(DTYPE) ** 3).astype(float))
    x = np.array([0.1])
    np.testing.assert_allclose(gradient(x), 0.03, rtol=1e-12)
    monkeypatch.setitem(globals(), "DTYPE", np.dtype("f4"))
    single = 3 * x.astype("f4") ** 2
    np.testing.assert_array_equal(gradient(x), single.astype(float))


def test_generated_functions_are_seen_by_pythons_tools():
    gradient = adjoin.grad(square)
    gradient(VECTOR)
    function = gradient._last.entries[0]
    assert inspect.getsource(function) in gradient.source
    assert pickle.loads(pickle.dumps(function)) is function
    assert load.text_of(sys.modules[function.__module__]) == gradient.source


def test_pickle_by_reference():
    assert pickle.loads(pickle.dumps(slope)) is slope
    again = pickle.loads(pickle.dumps(adjoin.grad(product, argnums=1)))
    assert again(2.0, 3.0) == 2.0
    assert again.primal is product
    only_name = pickle.loads(pickle.dumps(adjoin.value_and_grad(product, argnames="y")))
    assert only_name(2.0, 3.0) == (6.0, 2.0)


def test_pickle_of_what_cannot_be_found_again():
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(adjoin.grad(lambda x: x))


def test_gradient_of_a_gradient():
    second = adjoin.grad(adjoin.grad(lambda x: FACTOR * x**3))
    assert second(2.0) == 24.0
    assert "def" in second.source
    third = adjoin.grad(second)
    assert third(2.0) == 12.0


class Node:
    """A part of a structure that refers to the whole."""

    def __init__(self, weight, parent):
        self.weight = weight
        self.parent = parent
        self.children = [self]

    def __call__(self, x):
        return x * self.weight


def test_objects_that_refer_to_themselves():
    node = Node(2.0, Node(3.0, None))
    node.parent.parent = node

    def f(x, node):
        return node(x) * node.parent.weight

    gradient = adjoin.grad(f)
    assert gradient(1.0, node) == 6.0
    node.weight = 5.0
    assert gradient(1.0, node) == 15.0


def test_the_same_code_is_written_in_an_interactive_session(monkeypatch):
    def f(x, n):
        for _ in range(n):
            x = x * np.sin(x)
        return x

    monkeypatch.setattr(builtins, "_", "the last result", raising=False)
    assert "for _ in range(n)" in adjoin.grad(f).source_for(1.0, 3)
