"""The paper's numbers (on UNOS, which is not public), to stand beside ours: means and deviations over 25 folds."""
# ruff: noqa: E501 (rows of tables)

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..._typing import Json

if TYPE_CHECKING:
    import pandas as pd

PAPER_TABLES = {
    "table_1": """
    model    | method       | c_index       | auc           | ndcg_1        | ndcg_5        | ndcg_10       | ndcg_50       | ndcg_100      | ndcg
    KM       | none         | .500 ± .000   | .500 ± .000   | .230 ± .185   | .213 ± .082   | .229 ± .064   | .253 ± .032   | .270 ± .027   | .850 ± .003
    KM       | bootstrapped | .636 ± .003** | .754 ± .011** | .437 ± .261** | .413 ± .123** | .424 ± .092** | .427 ± .040** | .446 ± .027** | .902 ± .003**
    Cox      | none         | .623 ± .004   | .763 ± .011   | .288 ± .211   | .343 ± .114   | .360 ± .082   | .411 ± .045   | .424 ± .032   | .898 ± .003
    Cox      | bootstrapped | .637 ± .003** | .770 ± .010** | .494 ± .256** | .425 ± .117** | .425 ± .095** | .426 ± .045** | .442 ± .034** | .903 ± .003**
    AFT      | none         | .631 ± .003   | .744 ± .009   | .264 ± .228   | .246 ± .107   | .272 ± .093   | .352 ± .045   | .389 ± .032   | .895 ± .003
    AFT      | bootstrapped | .639 ± .003** | .758 ± .012** | .401 ± .246** | .420 ± .114** | .421 ± .084** | .421 ± .041** | .443 ± .025** | .903 ± .003**
    DeepSurv | none         | .626 ± .003   | .766 ± .011   | .272 ± .234   | .276 ± .144   | .330 ± .101   | .375 ± .042   | .405 ± .030   | .897 ± .003
    DeepSurv | bootstrapped | .637 ± .003** | .769 ± .011** | .406 ± .254** | .400 ± .154** | .403 ± .114** | .423 ± .052** | .439 ± .037** | .903 ± .003**
    DeepHit  | none         | .626 ± .003   | .748 ± .012   | .216 ± .220   | .283 ± .128   | .318 ± .107   | .371 ± .055   | .395 ± .034   | .895 ± .004
    DeepHit  | bootstrapped | .637 ± .003** | .765 ± .012** | .450 ± .272** | .376 ± .123** | .387 ± .090** | .422 ± .049** | .435 ± .032** | .902 ± .003**
    """,
    "table_2": """
    model    | method       | c_index       | auc_5         | EY_ndcg_1     | EY_ndcg_5     | IPCW_ndcg_1   | IPCW_ndcg_5
    KM       | none         | .500 ± .000   | .500 ± .000   | .647 ± .288   | .610 ± .158   | .430 ± .388   | .350 ± .189
    KM       | bootstrapped | .618 ± .004** | .643 ± .005** | .888 ± .184** | .833 ± .108** | .758 ± .523** | .688 ± .284**
    Cox      | none         | .601 ± .004   | .627 ± .005   | .699 ± .271   | .729 ± .100   | .155 ± .414   | .198 ± .202
    Cox      | bootstrapped | .618 ± .004** | .652 ± .005** | .834 ± .066** | .800 ± .056** | .370 ± .468** | .427 ± .260**
    AFT      | none         | .599 ± .004   | .636 ± .004   | .600 ± .312   | .682 ± .153   | .068 ± .129   | .081 ± .068
    AFT      | bootstrapped | .617 ± .004** | .652 ± .005** | .810 ± .194** | .778 ± .105** | .128 ± .179   | .178 ± .130**
    DeepSurv | none         | .601 ± .004   | .627 ± .005   | .600 ± .333   | .622 ± .142   | .183 ± .302   | .112 ± .113
    DeepSurv | bootstrapped | .617 ± .004** | .650 ± .005** | .759 ± .169   | .756 ± .094** | .269 ± .521   | .355 ± .334**
    DeepHit  | none         | .590 ± .004   | .582 ± .008   | .649 ± .284   | .650 ± .130   | .192 ± .458   | .175 ± .178
    DeepHit  | bootstrapped | .613 ± .003** | .620 ± .006** | .730 ± .306*  | .769 ± .102** | .601 ± .659** | .487 ± .257**
    """,
    "table_a6": """
    relevance | nuisance | ndcg_1 | ndcg_5 | ndcg_10 | ndcg_50 | ndcg_100 | ndcg
    IPCW      | KM       | 77.8   | 83.1   | 78.7    | 81.3    | 85.8     | 91.1
    IPCW      | Cox      | 80.9   | 73.8   | 76.9    | 72.9    | 74.7     | 83.1
    IPCW      | –        | 80.9   | 79.6   | 77.8    | 79.1    | 80.0     | 87.1
    EY        | KM       | 83.6   | 83.2   | 84.5    | 85.5    | 84.6     | 86.1
    EY        | Cox      | 82.3   | 81.1   | 81.7    | 83.4    | 81.7     | 83.7
    EY        | AFT      | 83.2   | 82.6   | 83.5    | 84.6    | 83.7     | 85.7
    EY        | DeepSurv | 83.1   | 82.2   | 82.8    | 84.1    | 83.2     | 85.4
    EY        | DeepHit  | 81.7   | 79.3   | 80.7    | 82.5    | 81.5     | 82.3
    EY        | –        | 80.9   | 83.1   | 89.3    | 91.1    | 92.9     | 91.1
    """,
    "table_a7": """
    model    | method       | ndcg_1        | ndcg_5        | ndcg_10       | ndcg_50       | ndcg_100
    KM       | none         | .647 ± .288   | .610 ± .158   | .604 ± .094   | .614 ± .040   | .612 ± .027
    KM       | bootstrapped | .888 ± .184** | .833 ± .108** | .824 ± .075** | .790 ± .036** | .773 ± .029**
    Cox      | none         | .699 ± .271   | .729 ± .100   | .729 ± .065   | .729 ± .036   | .730 ± .022
    Cox      | bootstrapped | .834 ± .066** | .800 ± .056** | .801 ± .045** | .776 ± .033** | .769 ± .024**
    AFT      | none         | .600 ± .312   | .682 ± .153   | .707 ± .105   | .732 ± .042   | .718 ± .028
    AFT      | bootstrapped | .810 ± .194** | .778 ± .105** | .767 ± .081** | .760 ± .032** | .752 ± .027**
    DeepSurv | none         | .600 ± .333   | .622 ± .142   | .631 ± .106   | .676 ± .047   | .690 ± .034
    DeepSurv | bootstrapped | .759 ± .169   | .756 ± .094** | .757 ± .065** | .757 ± .039** | .752 ± .032**
    DeepHit  | none         | .649 ± .284   | .650 ± .130   | .647 ± .088   | .669 ± .043   | .685 ± .039
    DeepHit  | bootstrapped | .730 ± .306*  | .769 ± .102** | .759 ± .093** | .763 ± .046** | .755 ± .035**
    """,
    "table_a8": """
    model    | method       | ndcg_1        | ndcg_5        | ndcg_10       | ndcg_50       | ndcg_100
    KM       | none         | .430 ± .388   | .350 ± .189   | .322 ± .138   | .296 ± .080   | .287 ± .064
    KM       | bootstrapped | .758 ± .523** | .688 ± .284** | .619 ± .221** | .539 ± .111** | .516 ± .078**
    Cox      | none         | .155 ± .414   | .198 ± .202   | .177 ± .131   | .213 ± .070   | .244 ± .056
    Cox      | bootstrapped | .370 ± .468** | .427 ± .260** | .412 ± .212** | .323 ± .089** | .332 ± .074**
    AFT      | none         | .068 ± .129   | .081 ± .068   | .087 ± .052   | .094 ± .033   | .107 ± .032
    AFT      | bootstrapped | .128 ± .179   | .178 ± .130** | .213 ± .113** | .212 ± .062** | .223 ± .048**
    DeepSurv | none         | .183 ± .302   | .112 ± .113   | .148 ± .099   | .183 ± .062   | .223 ± .057
    DeepSurv | bootstrapped | .269 ± .521   | .355 ± .334** | .322 ± .244** | .292 ± .124** | .302 ± .088**
    DeepHit  | none         | .192 ± .458   | .175 ± .178   | .153 ± .120   | .239 ± .071   | .292 ± .064
    DeepHit  | bootstrapped | .601 ± .659** | .487 ± .257** | .439 ± .205** | .421 ± .110** | .421 ± .079**
    """,
    "cohort": """
    patients | censored | censored_percent | features | categorical_features
    60055    | 29707    | 49.47            | 92       | 46
    """,
    "follow_up": """
    follow_up       | all           | observed | censored
    Median          | 5.60          | 5.71     | 5.25
    75th percentile | 10.83         | 11.46    | 10.01
    90th percentile | 16.32         | 17.01    | 15.82
    95th percentile | 20.01         | 20.37    | 19.64
    99th percentile | 26.76         | 26.42    | 27.01
    Maximum         | 36.02         | 35.25    | 36.02
    """,
}
_CELL = re.compile(r"(\d*\.?\d+)(?: ± (\d*\.\d+)(\**))?")


def load_paper_table(name: str) -> pd.DataFrame:
    """Load a table of the paper with the keys of ours: "ndcg_1_sd" and "ndcg_1_stars" beside "ndcg_1".

    Examples
    --------
    >>> row = load_paper_table("table_1").loc[3]
    >>> row["model"], row["method"], float(row["ndcg_1"]), float(row["ndcg_1_sd"]), row["ndcg_1_stars"]
    ('Cox', 'bootstrapped', 0.494, 0.256, '**')
    """
    import pandas as pd

    header, *rows = ([cell.strip() for cell in line.split("|")] for line in PAPER_TABLES[name].strip().splitlines())
    records: list[Json] = []
    for cells in rows:
        row: Json = {}
        for column, cell in zip(header, cells, strict=True):
            match = _CELL.fullmatch(cell)
            if match is None:
                row[column] = None if cell == "–" else cell
                continue
            number, spread, stars = match.groups()
            row[column] = float(number) if "." in number else int(number)
            if spread is not None:
                row |= {f"{column}_sd": float(spread), f"{column}_stars": stars}
        records.append(row)
    return pd.DataFrame(records)
