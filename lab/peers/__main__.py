"""Run the suites of others whose data is in a folder. Exit 1 if a case fails or passes that is not expected to.

python -m lab.peers --data FOLDER [--wayback VENV/bin/wayback] [SUITE…]

FOLDER holds the suites in any arrangement, such as clones of their repositories. pywb needs a virtual environment of its own.
"""

import argparse
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lab.peers import archives
from lab.peers.suites import SUITES, Case, Suite

EXPECTED = Path(__file__).with_name("expected.toml")
SHOWN = 200  # characters of what was wanted and found
WARCIO, PYWB = "warcio", "pywb"


class Outcome(NamedTuple):
    """How a suite went."""

    cases: int
    failed: tuple[Case, ...]  # and were not expected to
    excused: int  # failed as expected
    passed: tuple[str, ...]  # were expected to fail
    too_few: bool = False

    @property
    def is_news(self) -> bool:
        return bool(self.failed or self.passed or self.too_few)


def expected() -> dict[str, dict[str, str]]:
    """The reason by case, by suite."""
    return tomllib.loads(EXPECTED.read_text("utf-8"))


def judged(cases: Iterable[Case], excuses: Mapping[str, str], fewest: int = 1) -> Outcome:
    """A case that is expected to fail and is not there has neither failed nor passed: data differs with its age."""
    count, failed, right = 0, [], set()
    for case in cases:
        count += 1
        if case.wanted == case.found:
            right.add(case.name)
        else:
            failed.append(case)
    news = tuple(case for case in failed if case.name not in excuses)
    return Outcome(count, news, len(failed) - len(news), tuple(sorted(right & excuses.keys())), count < fewest)


def found(suite: Suite, data: Path) -> Path | None:
    """The first file in the folder that has the suite's name at its end."""
    name = Path(suite.marker).name
    return next((path for path in sorted(data.rglob(name)) if path.as_posix().endswith(f"/{suite.marker}")), None)


def described(name: str, outcome: Outcome) -> Iterator[str]:
    right = outcome.cases - len(outcome.failed) - outcome.excused
    yield f"{name}: {right:,} of {outcome.cases:,} pass; {outcome.excused} fail as expected"
    if outcome.too_few:
        yield "  too few cases: is this the whole suite?"
    for case in outcome.failed:
        yield f"  FAILS {case.name}\n    wanted {case.wanted[:SHOWN]!r}\n    found  {case.found[:SHOWN]!r}"
    for passed in outcome.passed:
        yield f"  PASSES NOW {passed}: take it out of {EXPECTED.name}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.peers", description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder with the data of the suites")
    parser.add_argument("--wayback", type=Path, help="pywb's command, for the replay of what bitrawl writes")
    names = (*(suite.name for suite in SUITES), WARCIO, PYWB)
    parser.add_argument("suites", nargs="*", help=f"of {', '.join(names)}; all if none is named")
    asked = parser.parse_args(arguments)
    chosen = asked.suites or names
    if not set(chosen) <= set(names):
        parser.error(f"the suites are {', '.join(names)}")
    excuses, missing, is_news = expected(), [], False
    for name, cases, fewest in _runs(asked.data, asked.wayback, chosen):
        if isinstance(cases, str):
            missing.append(f"{name} was not found: {cases}")
            continue
        outcome = judged(cases, excuses.get(name, {}), fewest)
        is_news = is_news or outcome.is_news
        print("\n".join(described(name, outcome)), flush=True)
    print("\n".join(missing))
    return int(is_news)


def _runs(data: Path, wayback: Path | None, chosen: Sequence[str]) -> Iterator[tuple[str, Iterator[Case] | str, int]]:
    """Each suite, with its cases or with the place where they are to be had."""
    for suite in SUITES:
        if suite.name in chosen:
            place = found(suite, data)
            yield suite.name, suite.source if place is None else suite.cases(place), suite.fewest
    if not {WARCIO, PYWB} & set(chosen):
        return
    with tempfile.TemporaryDirectory() as folder:
        files, bodies = archives.archived(Path(folder) / "job")
        if WARCIO in chosen:
            yield WARCIO, archives.checked(files), 1
        if PYWB in chosen and wayback is not None:
            yield PYWB, archives.replayed(files, bodies, wayback.absolute(), Path(folder)), 40
        elif PYWB in chosen:
            yield PYWB, "install pywb into a virtual environment of its own, and name it: --wayback VENV/bin/wayback", 1


if __name__ == "__main__":
    sys.exit(main())
