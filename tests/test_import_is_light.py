import subprocess
import sys

import pytest

HEAVY = ("pandas", "sklearn", "lightgbm", "numba", "torch", "matplotlib", "scipy")


@pytest.mark.parametrize(
    "code",
    [
        "import lifeyears as ly; ly.as_outcome(([1], [1.0])); dir(ly)",
        "import lifeyears.cli",
        "from typer.testing import CliRunner; from lifeyears.cli import app; "
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0",
    ],
)
def test_nothing_heavy_is_imported(code):
    check = f"import sys\n{code}\nprint([name for name in {HEAVY} if name in sys.modules])"
    out = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True).stdout
    assert out.strip().endswith("[]")


def test_unknown_names_are_refused():
    import lifeyears as ly

    with pytest.raises(AttributeError, match="no attribute 'modles'"):
        _ = ly.modles
