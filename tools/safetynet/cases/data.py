"""Outcomes, curves, and where data come from."""

from __future__ import annotations

import gzip
import shutil
import zipfile
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..names import ly, read
from ..record import Record
from . import case
from ._shared import base_file, matrix, patients, plain, registry, star_release

WORLDS = ("registry", "proportional", "interactions", "crossing", "informative_censoring")


def add_dataset(record: Record, key: str, data: Any) -> None:
    """Record what a reader or simulator returned."""
    record.attributes(key, data, "X", "y", "name", "unit", "horizon", "categorical")
    for name in ("subgroups", "entry", "report"):
        value = read(data, name)
        if value is not None:
            record.add(f"{key}/{name}", value)


@case
def outcomes_and_curves(record: Record, folder: Path) -> None:
    """Outcome in every form, horizons, survival curves and Kaplan-Meier."""
    _, y = plain()
    forms = {
        "structured": y.to_structured(),
        "frame": pd.DataFrame({"time": y.time, "event": y.event}),
        "pair": (y.event.astype(int), y.time),
        "rows": y[np.arange(0, 100, 3)],
        "mask": y[y.time > 3],
        "restricted": y.restrict(5.0),
        "censoring": y.censoring(),
        "censoring of restricted": y.restrict(5.0).censoring(),
    }
    for name, form in forms.items():
        record.add(f"outcome/{name}", ly.as_outcome(form))
        record.add(f"horizon/{name}", ly.suggest_horizon(form))
    record.add("as array", np.asarray(y))
    record.add("n_events", y.n_events)

    rng = np.random.default_rng(2)
    steps = np.sort(rng.uniform(0, 1, (6, 9)))[:, ::-1]
    steps[2, 5:] = 0.0
    times = np.cumsum(rng.uniform(0.2, 2.0, 9))
    own = rng.uniform(0, 12, 6)
    for kind in ("step", "linear"):
        curves = ly.SurvivalCurves(times, steps, kind)
        for left in (False, True):
            record.add(f"curves/{kind}/at {left}", curves.at([0.0, times[3], 4.2, 99.0], left=left))
            record.add(f"curves/{kind}/one {left}", curves.at(times[4], left=left))
            record.add(f"curves/{kind}/own {left}", curves.at_own(own, left=left))
            record.add(f"curves/{kind}/after {left}", curves.mean_life_after(own, 10.0, left=left))
            record.add(f"curves/{kind}/after each {left}", curves.mean_life_after_each([0.0, 2.0, 5.5], 8.0, left=left))
        for tau in (0.5, 5.0, 30.0):
            record.add(f"curves/{kind}/mean {tau}", curves.restricted_mean(tau))
        record.add(f"curves/{kind}/some", curves[2:4])
        record.add(f"curves/{kind}/for rows", ly.SurvivalCurves(times, steps[:1], kind).for_rows(4))
    for name, weight in (("plain", None), ("weighted", rng.integers(1, 4, len(y)).astype(float))):
        found = ly.curves.product_limit(y, weight)
        record.add(f"product limit/{name}", found.curves())
        record.add(f"product limit/{name}/greenwood", found.greenwood())


@case
def simulated_registry(record: Record, folder: Path) -> None:
    """Every world of simulate_registry with its truth; candidates, donors and pairs."""
    for world in WORLDS:
        data = registry(150, 1, world)
        add_dataset(record, world, data)
        truth, grid = data.truth, [0.5, 1.0, 5.0, 20.0]
        record.add(f"{world}/lifetime", truth.lifetime)
        record.add(f"{world}/redrawn", truth.redraw(7))
        for tau in (1.0, 10.0, 20.0, np.inf):
            record.add(f"{world}/expected {tau}", truth.expected(tau))
        record.add(f"{world}/curves", truth.curves(grid))
        if world != "informative_censoring":
            record.add(f"{world}/follow-up", truth.censoring(grid))
    for year, world in ((2022.5, "registry"), (1995.0, "crossing")):
        people = ly.data.Population(year, world)
        candidates, donors = people.candidates(40, 1), people.donors(7, 2)
        pairs = people.pairs(candidates, donors, donor=3, incompatible="keep")
        key = f"population {year:g}"
        record.add(f"{key}/candidates", candidates)
        record.add(f"{key}/donors", donors)
        record.add(f"{key}/pairs", pairs)
        record.add(f"{key}/expected", people.lifetimes(pairs).expected(15.0))
        groups = people.compatible(str(donors["donor_blood_group"].iloc[3]), candidates["blood_group"])
        record.add(f"{key}/compatible", np.asarray(groups))


@case
def public_sets(record: Record, folder: Path) -> None:
    """The catalogue, and public data sets with their cohort summaries."""
    listed = ly.data.catalogue()
    record.table("catalogue", listed.drop(columns=[name for name in ("source", "licence", "note") if name in listed]))
    for name in ("veteran", "whas500", "Melanoma", "flchain"):
        data = ly.data.load(name)
        add_dataset(record, name, data)
        summary = ly.data.cohort_summary(data.y, data.X)
        record.attributes(f"{name}/cohort", summary, "cohort", "followup")


FILES_READ: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": ("years;died;age\n2.5;yes;61\n4;no;55\n1;yes;70\n3;no;48\n", {"time": "years", "event": "died"}),
    "decimal commas": (
        "jahre;tot;gewicht;betrag\n2,5;1;61,25;1.234,5\n4,0;0;55,5;2.000,25\n1,75;1;70,125;999,5\n3,5;0;48,0;12,0\n",
        {"time": "jahre", "event": "tot", "unit": "years"},
    ),
    "thousands": (
        'days,dead,amount\n"1,200",1,"12,345.5"\n900,0,"1,000.25"\n"2,400",1,77.5\n30,0,"3,001.0"\n',
        {"time": "days", "event": "dead"},
    ),
    "codes": (
        "id,time,status,zip,grade,score\n"
        + "".join(f"P{i:05d},{1 + i % 7}.5,{1 + i % 2},{7 * i % 40:03d},{i % 3 + 1},{i * 1.5}\n" for i in range(60)),
        {"time": "time", "event": "status", "event_values": [2], "categorical": ["grade"], "unit": "months"},
    ),
    "day first": (
        "entry,exit,event,age\n"
        + "".join(
            f"{1 + i % 28:02d}/{1 + i % 12:02d}/2010,{13 + i % 15}/06/2015,{i % 2},{40 + i}\n" for i in range(30)
        ),
        {"entry": "entry", "exit": "exit", "event": "event", "unit": "days"},
    ),
    "iso dates": (
        "von\tbis\tstatus\tx\n"
        + "".join(
            f"20{i % 10:02d}-03-{1 + i % 28:02d}\t2018-11-{1 + i % 30:02d}\t{i % 2}\t{i / 8}\n" for i in range(24)
        ),
        {"entry": "von", "exit": "bis", "event": "status"},
    ),
    "date format": (
        "a|b|e|x\n" + "".join(f"0{1 + i % 9}.0{1 + i % 8}.99|0{1 + i % 7}.03.04|{i % 2}|{i}\n" for i in range(20)),
        {"entry": "a", "exit": "b", "event": "e", "date_format": "%d.%m.%y", "unit": "months"},
    ),
    "entry beside time": (
        "years,event,start,centre,x\n"
        + "".join(f"{1 + i % 5},{i % 2},{2000 + i % 9},c{i % 3},{i % 11}\n" for i in range(40)),
        {"time": "years", "event": "event", "entry": "start", "subgroups": ["centre"], "horizon": 4.0},
    ),
    "odd columns": (
        "time,event,constant,empty,words,copy,when,flag,inf\n"
        + "".join(
            f"{1 + i},{i % 2},7,,{'few' if i % 9 else 3},{1 + i},2011-01-{1 + i:02d},{i % 3 == 0},{i}e300\n"
            for i in range(28)
        ),
        {"time": "time", "event": "event", "drop": ["copy"]},
    ),
    "row names": (
        "time event x\n" + "".join(f"r{i} {1 + i % 6} {i % 2} {i / 3:.3f}\n" for i in range(25)),
        {"time": "time", "event": "event"},
    ),
    "three decimals": (
        "months;event;dose\n" + "".join(f"{1 + i % 9};{i % 2};{1 + i % 4}.{100 + 7 * i}\n" for i in range(25)),
        {"time": "months", "event": "event"},
    ),
    "missing values": (
        "weeks,event,a,b,c\n"
        + "".join(
            f"{2 + i},{'died' if i % 2 else 'censored'},{i if i % 5 else 'NA'},{'none' if i % 4 else ''},{i % 4}\n"
            for i in range(32)
        )
        + ",,,,\n",
        {"time": "weeks", "event": "event"},
    ),
}


@case
def read_tables(record: Record, folder: Path) -> None:
    """read_table on made-up files: delimiters, dates, codes, decimal commas, encodings, compressed and binary files."""
    for name, (text, options) in FILES_READ.items():
        path = folder / f"{name.replace(' ', '_')}.csv"
        path.write_text(text, encoding="utf-8")
        add_dataset(record, name, ly.data.read_table(path, **options))
    words = "time,event,größe,état\n" + "".join(
        f"{1 + i},{i % 2},{i * 1.25},{'né' if i % 2 else 'là'}\n" for i in range(20)
    )
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"):
        path = folder / f"{encoding}.csv"
        path.write_bytes(words.encode(encoding))
        add_dataset(record, f"encoding {encoding}", ly.data.read_table(path, time="time", event="event"))

    table = patients(60)
    options = {"time": "days", "event": "died", "subgroups": ["hospital"], "entry": "listed"}
    table.to_parquet(folder / "p.parquet")
    table.to_feather(folder / "p.feather")
    table.to_excel(folder / "p.xlsx", index=False)
    table.to_stata(folder / "p.dta", write_index=False)
    csv = table.to_csv(index=False)
    (folder / "p.csv.gz").write_bytes(gzip.compress(csv.encode()))
    with zipfile.ZipFile(folder / "p.zip", "w") as archive:
        archive.writestr("p.csv", csv)
    for path in ("p.parquet", "p.feather", "p.xlsx", "p.dta", "p.csv.gz", "p.zip"):
        add_dataset(record, path, ly.data.read_table(folder / path, **options))
    add_dataset(record, "frame", ly.data.read_table(table, **options))
    zoned = table.assign(
        listed=table["listed"].dt.tz_localize("Europe/Vienna"), days=pd.to_timedelta(table["days"], "D")
    )
    add_dataset(record, "time zones and durations", ly.data.read_table(zoned.astype({"listed": object}), **options))
    sas = {"time": "AGE", "event": "WL_ORG", "event_values": "HR", "keep": ["GENDER", "TBILI"]}
    add_dataset(record, "sas", ly.data.read_table(base_file("thoracic_data.sas7bdat"), **sas))
    add_dataset(record, "text frame", ly.data.read_table(pd.read_csv(StringIO(csv), dtype=str), **options))


@case
def star_files(record: Record, folder: Path) -> None:
    """read_star on a made-up release, as text, Stata and SAS files."""
    made_up = star_release()
    people = made_up.made_up_patients(120, random_state=4, columns=160)
    for kind, write in (("text", made_up.write_text), ("stata", made_up.write_stata)):
        write(folder / kind, people)
        add_dataset(record, kind, ly.data.read_star(folder / kind))
    (folder / "sas").mkdir()
    shutil.copy(base_file("thoracic_data.sas7bdat"), folder / "sas")
    add_dataset(record, "sas", ly.data.read_star(folder / "sas"))


@case
def preprocessing(record: Record, folder: Path) -> None:
    """TablePreprocessor with its settings, on tables, arrays and rows it has not seen."""
    data = registry(300, 2)
    seen, new = data.X.iloc[:200], data.X.iloc[200:]
    tables = {"registry": (seen, new), "patients": (patients(90).drop(columns="listed"),) * 2}
    tables["numbers"] = (plain()[0][:100], plain()[0][100:])
    for name, (train, test) in tables.items():
        for label, options in {"default": {}, "unscaled": {"scale": False}, "first": {"drop_first": True}}.items():
            prepare = ly.data.TablePreprocessor(**options).fit(train)
            key = f"{name}/{label}"
            record.add(f"{key}/train", prepare.transform(train))
            record.add(f"{key}/test", prepare.transform(test))
            record.add(f"{key}/names", prepare.get_feature_names_out())
            record.attributes(key, prepare, "median_", "mean_", "scale_", "numeric_", "categories_")
    coded = ly.data.TablePreprocessor(categorical=["age"]).fit(seen[["age", "sex"]].head(60).round(-1))
    record.add("coded", coded.transform(new[["age", "sex"]].round(-1)))
    record.add("matrix", matrix())
