"""Every compiled kernel is compiled by a test and agrees with a plain twin on random arguments."""

import ast
import copy
import importlib
import pkgutil
from pathlib import Path

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from twins import ELSEWHERE, INNER, TWINS

import lifeyears as ly
from lifeyears.simulation.worlds.heart._pair_law import split_effects, tabulate_expected_life

TESTS = Path(__file__).resolve().parents[1]
SOURCE = Path(ly.__file__).parent


def list_kernels():
    """Dispatchers in any module of Lifeyears by name: the first part of their module, and their own."""
    kernels = {}
    for found in pkgutil.walk_packages(ly.__path__, "lifeyears."):
        if found.name.endswith("__main__"):
            continue
        try:
            module = importlib.import_module(found.name)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("lifeyears"):
                raise
            continue  # it needs an extra that is not installed here
        for name, value in vars(module).items():
            if isinstance(value, Dispatcher) and value.py_func.__module__ == found.name:
                key = f"{found.name.split('.')[1]}.{name}"
                assert kernels.setdefault(key, value) is value, f"two kernels are called {key}"
    return kernels


KERNELS = list_kernels()


def test_every_compiled_function_of_the_source_is_listed():
    """Also those that no module holds under a name, such as one made inside a function."""
    written = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute | ast.Name) and ast.unparse(node) in ("njit", "numba.njit", "numba.jit"):
                written.append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert len(written) == len(KERNELS), (written, sorted(KERNELS))


def test_every_kernel_has_a_twin_and_every_twin_a_kernel():
    named = [name for twin in TWINS for name in twin.kernels] + [*INNER, *ELSEWHERE]
    assert len(named) == len(set(named))
    assert set(named) == set(KERNELS)


@pytest.mark.parametrize("inner", INNER)
def test_inner_kernels_are_called_by_a_kernel_that_has_a_twin(inner):
    caller = INNER[inner][0]
    function = KERNELS[caller].py_func
    assert any(function.__globals__.get(name) is KERNELS[inner] for name in function.__code__.co_names)
    while caller in INNER:
        caller = INNER[caller][0]
    assert caller in ELSEWHERE or any(caller in twin.kernels for twin in TWINS)


def assert_near(ours, theirs, rtol):
    if isinstance(theirs, tuple):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_near(one, other, rtol)
    elif theirs is None:
        assert ours is None
    else:
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: "-".join(twin.kernels))
def test_kernels_agree_with_their_twins(twin, seed):
    ours = twin.draw(np.random.default_rng(seed))
    theirs = copy.deepcopy(ours)
    kernels = [KERNELS[name] for name in twin.kernels]
    result = twin.fast(ours, *kernels) if twin.fast else kernels[0](*ours)
    assert_near(result, twin.plain(*theirs), twin.rtol)
    for one, other in zip(ours, theirs, strict=True):  # also what was written into the arguments
        assert_near(one, other, twin.rtol)
    assert all(kernel.signatures for kernel in kernels)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_the_tests_of_twins_elsewhere_exist(name):
    path, _, test = ELSEWHERE[name].partition("::")
    tree = ast.parse((TESTS / path).read_text())
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_kernels_with_twins_elsewhere_are_compiled():
    config = ly.simulation.Config(world=ly.simulation.World().scaled(1 / 60), years=0.5, replicates=1)
    ly.simulation.simulate(["oracle"], config=config, n_jobs=1)
    population = ly.data.Population(2022.5)  # the law of pairs may have come inside a cached run_events
    candidates, donors = population.candidates(1, random_state=0), population.donors(1, random_state=0)
    law, one = split_effects(candidates, donors, config.world), np.zeros(1, dtype=np.int64)
    KERNELS["simulation.expect_lives"](
        one, one, np.zeros(1), 1, *law, tabulate_expected_life("registry", 2022.5, 20.0), np.zeros(1)
    )
    assert all(KERNELS[name].signatures for name in ELSEWHERE)
