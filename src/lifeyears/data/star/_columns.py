"""What the columns of a STAR thoracic file are, by name: which may be features, which values are plausible.

Rules are patterns rather than lists, because the number and order of columns change from release to release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

OUTCOMES = {"graft": ("GTIME", "GSTATUS"), "patient": ("PTIME", "PSTATUS")}
ORGANS = ("ORGAN", "WL_ORG")  # transplanted, and listed for
TRANSPLANT, PATIENT, DATE, AGE = "TRR_ID_CODE", "PT_CODE", "TX_DATE", "AGE"

DURATIONS = (
    "INIT_DATE",
    "ACTIVATE_DATE",
    "ADMISSION_DATE",
    "ADMIT_DATE_DON",
    "RECOVERY_DATE_DON",
    "REFERRAL_DATE",
)

NO_USE = "a date without a known use"

LEFT_OUT = [
    (r"GTIME|GSTATUS|PTIME|PSTATUS", "it is the outcome"),
    (
        # COD_CAD_DON, the cause of the donor's death, is known before the transplant and stays.
        r"COD\d?(_OSTXT)?|COD_WL.*|COD_LIV_DON|GRF_.*|PX_STAT.*|\w*DEATH_DATE|LOS|DISCHARGE_DATE|TRTREJ.*"
        r"|ACUTE_REJ.*|PST_.*|\w+_TRF|LASTFUNO|RETXDATE|REM_CD|\w+_72HOURS|POST_TX_.*|REINTUBATED",
        "known only after the transplant",
    ),
    (r"PT_CODE|DONOR_ID|\w+_ID_CODE", "an identifier"),
    (r"\w+_CTR_CODE", "an identifier of a centre; CTR_CODE is kept among the subgroups"),
    (r"\w+_OSTXT", "free text"),
    (r"\w*CHECKINTIME|TRANSPLANT_TIME|\w*TIMEZONEID", "a time of day"),
    (
        r"VAL_DT_.*|STATUS_(TCR|TRR|DDR|LDR)|DATA_(TRANSPLANT|WAITLIST)|TXED|END_DATE",
        "paperwork of the registry",
    ),
    (r"ORGAN|WL_ORG", "used to choose the rows"),
    (r"TX_YEAR", "taken from TX_DATE"),
    (r"YR_ENTRY_US\w*", "immigration; CITIZENSHIP is kept among the subgroups"),
    (r"(?!(TX_DATE|" + "|".join(DURATIONS) + r")$)\w*DATE(_\w+)?", NO_USE),
]

SUBGROUPS = (
    r"ETHCAT(_DON)?|ETHNICITY|RACE\w*|PRI_PAYMENT_\w+|REGION|PERM_STATE(_TRR)?|HOME_STATE_DON"
    r"|CITIZENSHIP(_DON)?|CITIZEN_COUNTRY|TRANSPLANT_COUNTRY|RECOV_COUNTRY|RECOV_OUT_US|CTR_CODE"
)

MEASUREMENTS = (
    r"AGE(_DON)?|INIT_AGE|LISTYR|\w*(HGT_CM|WGT_KG|BMI)\w*|\w+_GROWTH_\w+|HEMO_\w+|\w*CREAT\w*|TBILI\w*|BUN_DON"
    r"|SG[OP]T_DON|TOT_SERUM_ALBUM|ISCHTIME|DISTANCE|DAYS\w+|(INIT_|END_)?CPRA(_PEAK)?|PRA(MR|PK)\w*|(A|B|DR|HLA)MIS"
    r"|\w+_LAS|\w+_CAS|\w+_SCORE|\w+_SUBSCORE|FEV1\w*|FVC\w*|PCO2\w*|PO2\w*|\w+_O2|O2_REQ_CALC|PRVTXDIF|NUM_PREV_TX"
    r"|PREV_TX_ANY_N|PH_DON|HEMATOCRIT_DON|\w+_(INIT|POST)_DON|\w+_CATH_OLD_DON|LV_EJECT|RESUSCIT_DUR"
    r"|(PRE)?TITER[AB]|TOTAL_PERFUSION_TIME|CANCER_FREE_INT_DON"
)

# Codes with so many values that they would pass for numbers: diagnoses, devices, HLA antigens.
CODES = r"\w*_?DGN|DIAG|\w+_BRAND\d\w*|MALIG_TY\w*|[DR](A|B|DR)[12]|INO_PROCURE_AGENT_\d"

# First match wins. Outside is a slip of the pen or of the unit, not a patient.
PLAUSIBLE = [
    (r"AGE(_DON)?|INIT_AGE", 0, 100),
    (r"\w*HGT_CM\w*", 40, 230),
    (r"\w*WGT_KG\w*", 2, 250),
    (r"\w+_GROWTH_\w+", 0, 100),
    (r"\w*BMI\w*", 8, 80),
    (r"HEMO_CO_\w+", 0.5, 20),
    (r"HEMO_PCW_\w+", 0, 80),
    (r"HEMO_PA_DIA_\w+", 0, 100),
    (r"HEMO_PA_MN_\w+", 1, 120),
    (r"HEMO_SYS_\w+", 5, 150),
    (r"\w*CREAT\w*", 0.1, 30),
    (r"TBILI\w*", 0, 60),
    (r"BUN_DON", 0, 300),
    (r"SG[OP]T_DON", 0, 20_000),
    (r"TOT_SERUM_ALBUM", 0.5, 9.9),
    (r"ISCHTIME", 0.1, 24),
    (r"LV_EJECT", 5, 95),
    (r"PH_DON", 6.5, 8),
    (r"HEMATOCRIT_DON", 5, 70),
    (r"DISTANCE", 0, 6_000),
    (r"DAYS\w+|PRVTXDIF", 0, 20_000),
    (r"(INIT_|END_)?CPRA(_PEAK)?|PRA(MR|PK)\w*", 0, 100),
    (r"HLAMIS", 0, 6),
    (r"(A|B|DR)MIS", 0, 2),
]

MISSING_EVERYWHERE = frozenset({"U", "UNK", "998"})
MISSING_CODES = [
    (r"ABO(_DON)?", frozenset({"Z"})),
    (r"(PERM|HOME)_STATE\w*", frozenset({"ZZ"})),
    (r"DIAB", frozenset({"5"})),  # of unknown type
    (r"BRONCHO_\w+", frozenset({"7"})),
    (r"CHEST_XRAY_DON", frozenset({"999"})),
    # serology: not done, cannot disclose, indeterminate, pending
    (r"(HBV|HCV|HIV|CMV|EBV|HTLV\d?|VDRL|HBSAB|HEP_C)\w*", frozenset({"ND", "C", "I", "PD"})),
]


def explain_exclusion(name: str) -> str | None:
    """Say why a column cannot be a feature, judged by its name alone; None if it can.

    Examples
    --------
    >>> explain_exclusion("COD2"), explain_exclusion("COD_CAD_DON")
    ('known only after the transplant', None)
    """
    return next((why for pattern, why in LEFT_OUT if re.fullmatch(pattern, name)), None)


def is_subgroup(name: str) -> bool:
    """Return whether a column is race, insurance, geography or centre: for reports, not for prediction."""
    return re.fullmatch(SUBGROUPS, name) is not None


def is_measurement(name: str) -> bool:
    """Return whether a column holds a quantity rather than a code."""
    return re.fullmatch(MEASUREMENTS, name) is not None


def is_code(name: str) -> bool:
    """Return whether a column holds a code with so many values that it would pass for a quantity."""
    return re.fullmatch(CODES, name) is not None


def find_plausible_range(name: str) -> tuple[float, float] | None:
    """Return the lowest and highest value a patient or donor can have; None where there is no such limit."""
    return next(((low, high) for pattern, low, high in PLAUSIBLE if re.fullmatch(pattern, name)), None)


def find_missing_codes(name: str) -> frozenset[str]:
    """Return the codes that stand for an unknown value in this column."""
    found: Iterable[frozenset[str]] = (codes for pattern, codes in MISSING_CODES if re.fullmatch(pattern, name))
    return MISSING_EVERYWHERE.union(*found)
