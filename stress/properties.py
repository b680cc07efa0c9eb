"""Property tests, many more examples than the suite takes, and then each property once on cohorts of up to 1,000,000.

    python stress/properties.py [--examples 200] [--seed 0]

The properties are those of tests/stress/test_properties.py.
"""

import argparse
import os
import sys
import time
import traceback

from common import HERE, ONE_THREAD, write

os.environ |= ONE_THREAD
sys.path.insert(0, str(HERE.parent / "tests" / "stress"))

LARGE = (10_000, 100_000, 1_000_000)
# what a property costs grows with n: these are tried up to so many rows (curves of n rows × 512 times are kept)
LARGEST = {
    "test_means_of_curves_are_bounded_and_add_up": 100_000,
    "test_relevance_follows_the_rows_and_the_unit": 100_000,
    "test_survival_times_censoring_is_the_share_still_there": 10_000,  # all pairs
    "test_a_ranker_says_years_within_the_horizon_whatever_the_size": 100_000,
}


def many(test, seed: int) -> dict:
    """One property on random small cohorts; Hypothesis shrinks a failure to the smallest."""
    import hypothesis

    inner, tried = test.hypothesis.inner_test, [0]

    def counted(*args, **kwargs):
        tried[0] += 1
        return inner(*args, **kwargs)

    test.hypothesis.inner_test = counted
    start = time.perf_counter()
    failure = ""
    try:
        hypothesis.seed(seed)(test)()
    except Exception:
        failure = traceback.format_exc()[-1500:]
    finally:
        test.hypothesis.inner_test = inner
    return {"examples": tried[0], "failure": failure, "s": round(time.perf_counter() - start, 1)}


def large(name: str, test, n: int, seed: int) -> str:
    """One property on one large cohort, its other arguments drawn by the seed; the failure, if any."""
    import test_properties as properties

    others = {
        "test_restriction_goes_as_far_as_it_is_told_and_no_further": (5.0,),
        "test_means_of_curves_are_bounded_and_add_up": (9.0, 2.0),
        "test_metrics_do_not_see_the_unit_of_time": (365.25,),
        "test_metrics_see_the_order_of_scores_only": ("rank",),
        "test_models_do_not_see_the_order_of_rows": ("cox",),
        "test_models_speak_in_the_unit_of_the_times": ("aft", 12.0),
        "test_a_weight_of_two_is_the_cohort_twice": ("cox",),
        "test_a_constant_column_changes_nothing": ("cox", 1.0),
        "test_relevance_follows_the_rows_and_the_unit": ("dr",),
        "test_a_ranker_says_years_within_the_horizon_whatever_the_size": ("paper",),
    }
    if name == "test_a_constant_score_is_worth_a_random_pick":

        class Drawn:
            def draw(self, strategy):
                return 1

        others[name] = (Drawn(),)
    try:
        test.hypothesis.inner_test(properties.Cohort(n, seed, bool(seed % 2)), *others.get(name, ()))
    except Exception:
        return traceback.format_exc()[-1500:]
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--largest", type=int, default=max(LARGE))
    parser.add_argument("--only")
    asked = parser.parse_args()
    os.environ["LIFEYEARS_EXAMPLES"] = str(asked.examples)
    import test_properties as properties

    tests = {name: test for name, test in vars(properties).items() if name.startswith("test_")}
    found = {}
    for name, test in tests.items():
        if asked.only and asked.only not in name:
            continue
        found[name] = many(test, asked.seed)
        reach = min(LARGEST.get(name, max(LARGE)), asked.largest)
        found[name]["rows reached"] = 400
        for n in (n for n in LARGE if n <= reach):
            failure = large(name, test, n, asked.seed)
            if failure:
                found[name]["failure"] += f"\nn = {n:,}: {failure}"
                break
            found[name]["rows reached"] = n
        print(f"{name}: {found[name]}", flush=True)
    failed = [name for name, row in found.items() if row["failure"]]
    examples = sum(row["examples"] for row in found.values())
    print(f"{len(found)} properties, {examples:,} examples, {len(failed)} failed")
    if not asked.only:
        results = {"seed": asked.seed, "properties": len(found), "examples": examples, "failed": failed, "found": found}
        write("properties", f"python stress/properties.py --examples {asked.examples}", results)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
