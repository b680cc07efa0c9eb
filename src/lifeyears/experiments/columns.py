"""Which columns of a data set hold what a protocol needs, by the names they have in registries and elsewhere.

This is the only place where the name of a column matters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from ..data import Dataset

COLUMN_NAMES = {  # by role; in any case, the first that is there
    "age": ("age",),
    "sex": ("sex", "gender"),
    "race_ethnicity": ("race_ethnicity", "ethcat", "race", "ethnicity"),
    "insurance": ("insurance", "pri_payment_tcr"),
    "region": ("region",),
    "blood_group": ("blood_group", "abo"),
    "antibodies": ("antibodies_class_1", "cpra", "init_cpra", "pramr_cl1"),
    "centre": ("centre", "center", "ctr_code"),
    "centre_volume": ("centre_volume",),
}
ERA_NAMES = ("transplant_year", "tx_year", "listyr", "era", "year")


def find_column(data: Dataset, role: str) -> pd.Series | None:
    """Find the column of a data set that has a role, whether it is a feature or not.

    Parameters
    ----------
    data : Dataset
    role : str
        A key of `COLUMN_NAMES`, such as "centre".

    Returns
    -------
    Series or None
        None if the data set has no column of that role.

    Examples
    --------
    >>> import lifeyears as ly
    >>> data = ly.data.simulate_registry(n=60)
    >>> find_column(data, "centre").name, find_column(data, "sex").name
    ('centre', 'sex')
    """
    table = data.table
    places = {str(name).lower(): place for place, name in reversed(list(enumerate(table.columns)))}
    known = [places[name] for name in COLUMN_NAMES[role] if name in places]
    return table.iloc[:, known[0]] if known else None


def find_era_columns(data: Dataset) -> list[str]:
    """List the features that tell when a subject entered."""
    return [name for name in data.X.columns if str(name).lower() in ERA_NAMES]
