"""Made-up STAR thoracic releases in the real format: no patient of these ever lived.

About ninety columns bear the names the reader knows; the others, up to the 549 of a real file, are fillers
with made-up names. The order is shuffled, as it changes from release to release.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

COLUMNS = 549
FLAGS = [
    "TAH",
    "ONVENT",
    "ICU",
    "INOTROPIC",
    "CEREB_VASC",
    "MALIG_TCR",
    "IMPL_DEFIBRIL",
    "CIG_USE",
    "CREAT2_OLD",
    "PRIOR_CARD_SURG_TCR",
    "DIAL_AFTER_LIST",
    "INFECT_IV_DRUG_TRR",
    "STEROID",
    "TRANSFUSIONS",
    "HIST_COCAINE_DON",
    "ALCOHOL_HEAVY_DON",
    "CLIN_INFECT_DON",
    "HIST_CIG_DON",
    "HIST_HYPERTENS_DON",
    "HEPARIN_DON",
    "INSULIN_DON",
]
CODES = {
    "THORACIC_DGN": [1000, 1001, 1007, 1049, 1200, 1498],
    "TCR_DGN": [1000, 1007, 1049],
    "DIAG": [1000, 1001, 1007, 1049],
    "INIT_STAT": [2010, 2020, 2030, 2110, 2120, 2140, 2160],
    "END_STAT": [2010, 2020, 2110, 2120, 2130],
    "FUNC_STAT_TRR": [2020, 2050, 2070, 998],
    "MED_COND_TRR": [1, 2, 3],
    "EDUCATION": [2, 3, 4, 5, 998],
    "ECMO_TRR": [0, 1],
    "IABP_TRR": [0, 1],
    "VENTILATOR_TRR": [0, 1],
    "VAD_BRAND1_TRR": [202, 205, 208, 312],
    "COD_CAD_DON": [1, 2, 3, 4],
    "DEATH_MECH_DON": [3, 7, 9, 11],
    "SHARE_TY": [3, 4, 5],
    "DA1": [1, 2, 3, 11, 24],
    "RDR1": [1, 4, 7, 15],
    "ETHCAT": [1, 2, 4, 5, 998],
    "ETHCAT_DON": [1, 2, 4],
    "PRI_PAYMENT_TCR": [1, 2, 3, 4],
    "PRI_PAYMENT_TRR": [1, 2, 3],
    "REGION": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    "CITIZENSHIP": [1, 2, 3],
    # known only after the transplant
    "COD": [2400, 2800, 998],
    "GRF_FAIL_CAUSE": [1, 2],
    "ACUTE_REJ_EPI": [1, 2, 3],
    "FUNC_STAT_TRF": [2020, 2070],
    "LASTFUNO": [10, 20, 800],
    "REM_CD": [4, 13],
}
TEXTS = {
    "GENDER": ["M", "F"],
    "ABO": ["O", "A", "B", "AB", "Z"],
    "ABO_DON": ["O", "A", "B", "AB", "UNK"],
    "GENDER_DON": ["M", "F"],
    "HCV_SEROSTATUS": ["N", "P", "ND", "U"],
    "CMV_DON": ["N", "P", "C", "I"],
    "LIFE_SUP_TRR": ["Y", "N"],
    "PERM_STATE": ["OH", "TX", "CA", "ZZ"],
    "AGE_GROUP": ["A"],
    "CTR_CODE": ["C1", "C2", "C3"],
    "OPO_CTR_CODE": ["P1", "P2"],
    "STATUS_TRR": ["V"],
    # known only after the transplant
    "PX_STAT": ["A", "D", "L"],
    "GRF_STAT": ["Y", "N"],
    "PST_STROKE": ["Y", "N", "U"],
    "PST_DIAL": ["Y", "N", "U"],
    "TRTREJ1Y": ["Y", "N"],
    "ECMO_72HOURS": ["Y", "N", "U"],
    "REINTUBATED": ["Y", "N"],
}
NUMBERS = {
    "AGE_DON": (15, 60, 0),
    "HGT_CM_CALC": (150, 195, 1),
    "WGT_KG_CALC": (50, 120, 1),
    "BMI_CALC": (18, 38, 1),
    "HGT_CM_DON_CALC": (150, 195, 1),
    "WGT_KG_DON_CALC": (50, 120, 1),
    "CREAT_TRR": (0.6, 3.5, 2),
    "CREAT_DON": (0.5, 4, 2),
    "TBILI": (0.2, 5, 1),
    "HEMO_CO_TRR": (2, 8, 1),
    "HEMO_PCW_TRR": (5, 35, 0),
    "ISCHTIME": (1, 6, 1),
    "DISTANCE": (0, 900, 0),
    "DAYSWAIT_CHRON": (1, 900, 0),
    "LV_EJECT": (45, 75, 0),
    "HLAMIS": (0, 6, 0),
    "CPRA": (0, 100, 0),
    "LOS": (5, 60, 0),
}
DATES = (
    "INIT_DATE",
    "ADMISSION_DATE",
    "ADMIT_DATE_DON",
    "DEATH_DATE",
    "COMPOSITE_DEATH_DATE",
    "END_DATE",
    "TITERA_DATE",
)
FILLERS = ("FLAG", "CODE", "AMOUNT", "EMPTY", "SAME", "DATE")


def made_up_patients(n: int = 400, random_state: int = 0, columns: int = COLUMNS) -> pd.DataFrame:
    """Make candidates and recipients: hearts, lungs, children, listed only, lost; columns shuffled."""
    rng = np.random.default_rng(random_state)
    transplanted = pd.to_datetime("1995-01-01") + pd.to_timedelta(rng.integers(0, 9_000, n), unit="D")
    made: dict[str, object] = {
        "PT_CODE": rng.permutation(n) + 100_000.0,
        "TRR_ID_CODE": [f"A{number:06d}" for number in rng.permutation(n)],
        "ORGAN": rng.choice(["HR", "HR", "HR", "LU", "HL"], n),
        "WL_ORG": rng.choice(["HR", "LU"], n),
        "AGE": rng.integers(18, 72, n).astype(float),
        "TX_DATE": transplanted.to_series(index=range(n)),
        "TX_YEAR": transplanted.year.to_numpy(float),
        "GTIME": np.round(rng.exponential(3_000, n)),
        "GSTATUS": rng.integers(0, 2, n).astype(float),
    }
    made["PTIME"] = made["GTIME"] + np.round(rng.exponential(200, n))
    made["PSTATUS"] = np.where(rng.random(n) < 0.8, made["GSTATUS"], 0.0)
    for name in FLAGS:
        made[name] = _some_missing(rng.choice(["Y", "N", "U"], n, p=[0.3, 0.6, 0.1]).astype(object), rng)
    for name, values in CODES.items():
        made[name] = _some_missing(rng.choice(values, n).astype(float), rng)
    for name, texts in TEXTS.items():
        made[name] = _some_missing(rng.choice(texts, n).astype(object), rng)
    for name, (low, high, digits) in NUMBERS.items():
        made[name] = _some_missing(np.round(rng.uniform(low, high, n), digits), rng)
    for name in DATES:
        before = name not in ("DEATH_DATE", "COMPOSITE_DEATH_DATE")
        days = pd.to_timedelta(rng.integers(1, 700, n) * (1 if before else -1), unit="D")
        made[name] = _some_missing(pd.Series(transplanted - days), rng)
    for number in range(columns - len(made)):
        kind = FILLERS[number % len(FILLERS)]
        made[f"FILLER_{kind}_{number:03d}"] = _filler(kind, n, rng)
    frame = pd.DataFrame(made)
    odd = np.arange(n)
    frame.loc[odd % 11 == 3, ["TX_DATE", "TX_YEAR", "GTIME", "GSTATUS", "PTIME", "PSTATUS"]] = np.nan  # listed only
    frame.loc[odd % 13 == 4, "AGE"] = 11.0
    frame.loc[odd % 17 == 5, ["GTIME", "PTIME"]] = np.nan
    frame.loc[odd % 7 == 2, "ORGAN"] = None  # then the organ listed for counts
    return frame[rng.permutation(frame.columns)]


def kind_of(name: str) -> str:
    """How a column is stored: number, text or date."""
    if name in ("TX_DATE", *DATES) or "_DATE_" in name:
        return "date"
    if name in FLAGS or name in TEXTS or name in ("ORGAN", "WL_ORG", "TRR_ID_CODE", "RECOV_OUT_US") or "_FLAG_" in name:
        return "text"
    return "number"


def write_text(folder: Path, patients: pd.DataFrame, stem: str = "THORACIC_DATA") -> Path:
    """As THORACIC_DATA.DAT and .htm; returns the .DAT."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = {name: _as_text(patients[name]) for name in patients}
    lines = ["\t".join(row) for row in zip(*columns.values(), strict=True)]
    data = folder / f"{stem}.DAT"
    data.write_bytes("".join(line + "\r\n" for line in lines).encode("cp1252"))
    write_names(folder / f"{stem}.htm", list(patients.columns))
    return data


def write_names(path: Path, names: list[str]) -> None:
    """As the .htm that SAS writes: one table, a row a column."""
    heads = "".join(
        f'<th class="r header" scope="col">{head}</th>\n'
        for head in ("Obs", "LABEL", "FORMAT", "LENGTH", "TYPE", "START", "END")
    )
    rows = []
    for number, name in enumerate(names, start=1):
        kind = kind_of(name)
        style, storage = {"date": ("MMDDYY", "Numeric"), "text": ("$", "Character")}.get(kind, ("&nbsp;", "Numeric"))
        cells = (name, style, 10, storage, 10 * number - 9, 10 * number)
        cells_html = "".join(f'<td class="l data">{cell}</td>\n' for cell in cells)
        rows.append(f'<tr>\n<th class="r rowheader" scope="row">{number}</th>\n{cells_html}</tr>\n')
    page = (
        "<!DOCTYPE html>\n<html>\n<head>\n"
        '<meta http-equiv="Content-type" content="text/html; charset=windows-1252">\n'
        "<title>SAS Output</title>\n<style>.data { color: #000 }</style>\n</head>\n<body>\n"
        "<p>Thoracic file – columns</p>\n<table>\n<thead>\n<tr>\n"
        f"{heads}</tr>\n</thead>\n<tbody>\n{''.join(rows)}</tbody>\n</table>\n</body>\n</html>\n"
    )
    path.write_bytes(page.encode("cp1252"))


def write_stata(folder: Path, patients: pd.DataFrame) -> Path:
    """As thoracic_data.dta."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "thoracic_data.dta"
    table = patients.copy()
    for name in table:
        if kind_of(name) == "text":
            table[name] = table[name].astype(object).where(table[name].notna(), "")
    days = {name: "td" for name in table if kind_of(name) == "date"}
    table.to_stata(path, write_index=False, convert_dates=days, version=118)
    return path


def write_csv(path: Path, patients: pd.DataFrame) -> None:
    """As the table from which R makes the SAS file: empty for missing, dates as YYYY-MM-DD."""
    patients.to_csv(path, index=False, date_format="%Y-%m-%d", lineterminator="\n")


def read_csv(path: Path) -> pd.DataFrame:
    """What `write_csv` wrote."""
    patients = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
    made = {}
    for name in patients:
        kind = kind_of(name)
        column = patients[name]
        made[name] = column.astype(object) if kind == "text" else column
        if kind == "number":
            made[name] = column.astype(float)
        elif kind == "date":
            made[name] = pd.to_datetime(column, format="%Y-%m-%d")
    return pd.DataFrame(made)


def _some_missing(values, rng: np.random.Generator, share: float = 0.08):
    column = pd.Series(values)
    return column.mask(pd.Series(rng.random(len(column)) < share))


def _filler(kind: str, n: int, rng: np.random.Generator):
    if kind == "FLAG":
        return _some_missing(rng.choice(["Y", "N", "U"], n).astype(object), rng)
    if kind == "CODE":
        return _some_missing(rng.integers(1, 9, n).astype(float), rng)
    if kind == "AMOUNT":
        return _some_missing(np.round(rng.uniform(0, 100, n), 2), rng)
    if kind == "SAME":
        return np.full(n, 7.0)
    if kind == "DATE":
        return pd.Series(pd.to_datetime("2001-02-03") + pd.to_timedelta(rng.integers(0, 99, n), unit="D"))
    return _some_missing(rng.integers(0, 5, n).astype(float), rng, share=0.97)  # EMPTY


def _as_text(column: pd.Series) -> list[str]:
    kind = kind_of(str(column.name))
    if kind == "text":
        return ["" if pd.isna(value) else str(value) for value in column]
    if kind == "date":
        return ["" if pd.isna(value) else value.strftime("%m/%d/%Y") for value in column]
    return ["." if pd.isna(value) else f"{value:.10g}" for value in column]
