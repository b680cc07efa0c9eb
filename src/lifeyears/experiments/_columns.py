"""Where a data set keeps what a protocol asks for: the simulated registry's names, the STAR files', and plain ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from ..data import Dataset

NAMES = {  # in any case, the first that is there
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
ERAS = ("transplant_year", "tx_year", "listyr", "era", "year")


def column_of(data: Dataset, wanted: str) -> pd.Series | None:
    """A column, a feature or not, by what it says; None if the data set does not have it."""
    table = data.table
    found = {str(name).lower(): place for place, name in reversed(list(enumerate(table.columns)))}
    places = [found[name] for name in NAMES[wanted] if name in found]
    return table.iloc[:, places[0]] if places else None


def era_columns(data: Dataset) -> list[Any]:
    """Features that tell when a subject entered."""
    return [name for name in data.X.columns if str(name).lower() in ERAS]
