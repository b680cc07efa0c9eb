"""docs/stress_tables.md from the JSON in results/: every figure of the stress page comes from there.

python stress/page.py
"""

from common import HERE, read


def table(head: list[str], rows: list[list]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def source(found: dict) -> str:
    return f"`{found['command']}`, {found['machine']}\n"


def properties(found: dict) -> str:
    rows = []
    for name, row in found["found"].items():
        words = name.removeprefix("test_").replace("_", " ")
        rows.append([words, f"{row['examples']:,}", f"{row['rows reached']:,}", "no" if row["failure"] else "yes"])
    words = f"{found['properties']} properties, {found['examples']:,} cohorts, seed {found['seed']}, "
    words += f"{len(found['failed'])} failed."
    return f"{words}\n\n{table(['property', 'cohorts', 'largest', 'holds'], rows)}\n{source(found)}"


def fuzz(found: dict) -> str:
    rows = [
        [name, f"{row['inputs']:,}", f"{row['read']:,}", f"{row['refused']:,}", row["slowest s"], len(row["failures"])]
        for name, row in found["targets"].items()
    ]
    words = f"{found['inputs']:,} inputs, seed {found['seed']}, {found['failures']} failures."
    head = ["reader", "inputs", "read", "refused in words", "slowest, s", "failures"]
    return f"{words}\n\n{table(head, rows)}\n{source(found)}"


def faults(found: dict) -> str:
    words = {True: "yes", False: "no", None: "not tried here"}
    rows = []
    for name, row in found["faults"].items():
        said = row.get("said") or row.get("failure") or row.get("not tried") or ""
        if "kills" in row:
            said = f"{row['kills']} kills"
        if "kinds" in row:
            said = ", ".join(row["kinds"])
        if "sizes" in row:
            said = f"at {', '.join(str(each['kB']) for each in row['sizes'])} kB: {row['sizes'][0]['said']}"
        rows.append([name, words[row["survived"]], said.replace("|", "/")])
    return f"{table(['fault', 'nothing lost, the same bytes', 'details'], rows)}\n{source(found)}"


def cluster(found: dict) -> str:
    cohorts = found["cohorts"]
    names = ["base model", "one machine", "two workers", "the truth"]
    rows = [
        [row["seed"], *(f"{row[f'{name}, years']:.2f}" for name in names), *row["rounds"], row["correlation of scores"]]
        for row in cohorts
    ]
    summary, settings = found["summary"], found["settings"]
    words = (
        f"Years per allocation by the truth, lists of {settings['waitlist']}, {settings['rows']:,} rows, "
        f"{settings['partitions']} partitions on {settings['workers']} workers. Lost on two workers: "
        f"{summary['lost on two workers, years']:.3f} years (standard error {summary['standard error']:.3f})."
    )
    head = ["seed", *names, "trees on one", "trees on two", "correlation of scores"]
    return f"{words}\n\n{table(head, rows)}\n{source(found)}"


def scale(found: dict) -> str:
    rows = []
    for work, by_rows in found["found"].items():
        cells = [work]
        for n in found["settings"]["rows"]:
            row = by_rows.get(str(n))
            if row is None:
                cells += ["–", "–"]
            elif "failed" in row:
                cells += [row["failed"], "–"]
            else:
                cells += [f"{row['cpu s']:,.1f}", f"{row['peak MiB'] / 1024:.2f}"]
        rows.append(cells)
    head = ["work"]
    for n in found["settings"]["rows"]:
        head += [f"{n:,}: s", "GiB"]
    return f"{table(head, rows)}\n{source(found)}"


PARTS = {
    "Properties": properties,
    "Fuzzing": fuzz,
    "Faults": faults,
    "Rows": scale,
    "Two workers": cluster,
}


def main() -> None:
    files = {
        "Properties": "properties",
        "Fuzzing": "fuzz",
        "Faults": "faults",
        "Rows": "scale",
        "Two workers": "cluster",
    }
    parts = []
    for title, made in PARTS.items():
        found = read(files[title])
        if found:
            parts.append(f"### {title}\n\n{made(found)}")
    (HERE.parent / "docs" / "stress_tables.md").write_text("\n".join(parts))


if __name__ == "__main__":
    main()
