"""Published figures of the US heart list, to compare a simulation with."""

from __future__ import annotations

from dataclasses import dataclass

TOLERANCE = 15.0  # per cent
LISTED_IN_4 = ("status when listed", "status 4")


@dataclass(frozen=True)
class PublishedFigure:
    """A published figure, and which number of a simulation is compared with it.

    Attributes
    ----------
    label : str
        What it is called.
    measure : str
        A measure of the whole list, or of `level`; where `by_status`, the status that transplants per 100
        patient-years are of.
    published, source : float, str
    level : (grouping, level) or None
    by_status : bool
    share : bool
        Published in per cent, while the simulation has a share.
    promised : bool
        Whether the simulation must come near it; the others are only shown.
    """

    label: str
    measure: str
    published: float
    source: str
    level: tuple[str, str] | None = None
    by_status: bool = False
    share: bool = False
    promised: bool = True


PUBLISHED = (
    PublishedFigure("listed a year", "listed_per_year", 4446.0, "new adult listings, 2022"),
    PublishedFigure("transplanted a year", "transplants_per_year", 3668.0, "adult transplants, 2022"),
    PublishedFigure("waiting", "waiting", 3000.0, "patient-years behind 122.5 transplants per 100, 2022"),
    PublishedFigure("deaths per 100 patient-years", "waitlist_deaths_per_100_patient_years", 8.7, "2022"),
    PublishedFigure("alive after 1 year, %", "survival_1_year", 90.3, "recipients of 2011–13", share=True),
    PublishedFigure("alive after 5 years, %", "survival_5_years", 79.6, "recipients of 2011–13", share=True),
    PublishedFigure(
        "taken at the first offer, %", "first_offer_accepted", 32.0, "2007–2017", share=True, promised=False
    ),
    *(
        PublishedFigure(
            f"transplants per 100 patient-years in {status}", status, rate, "2023", by_status=True, promised=False
        )
        for status, rate in (("status 1", 2226.0), ("status 2", 1088.0))
    ),
    PublishedFigure(
        "listed in status 4: days to transplant, median",
        "waiting_days_median",
        67.0,
        "2018–2022",
        level=LISTED_IN_4,
        promised=False,
    ),
    PublishedFigure(
        "listed in status 4: transplanted, %",
        "transplanted_of_listed",
        62.0,
        "2018–2022, some of them still waiting",
        level=LISTED_IN_4,
        share=True,
        promised=False,
    ),
)
