"""A run over many sites: planned, mined until each bundle has a part, merged and checked.

What is finished stays, what dies is halved, what fails is told. A fault of a machine is never final: the bundle is tried
once more, then left to the next run, with what it has done.
"""

import csv
import io
import shlex
import shutil
import tempfile
import tomllib
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bitrawl import arguments, config, files
from bitrawl.cluster.bundle_process import BundleOrder
from bitrawl.cluster.bundles import (
    CHECKPOINTS,
    DONE,
    PROGRESS,
    UNDONE,
    Bundle,
    Died,
    Done,
    Figures,
    LeftBundle,
    MachineFault,
    PartState,
    SiteOutcome,
    bundled,
    checkpoint,
    done,
    failed,
    finished_jobs,
    machines_of,
    mark_done,
    next_round,
    part,
    progress,
    read_bundles,
    sites_of,
    undone,
    undone_file,
    usual_size,
    written_bundles,
)
from bitrawl.cluster.checkpoint import check_checkpoint, save_archive
from bitrawl.cluster.executor import Executor
from bitrawl.cluster.places import LocalPlace, Place, is_here, is_run, place
from bitrawl.config import Group, Job, described, inputs_of
from bitrawl.corpus import MergeFacts
from bitrawl.crawling import Reach
from bitrawl.errors import ConfigError, StoreError
from bitrawl.file_names import BUNDLES, DESCRIPTION, LEDGER, MERGE, MERGED, PARTS, REPORT, SHARD, SITES_TABLE
from bitrawl.folder_files import FolderFiles, check_inputs
from bitrawl.job import (
    Checked,
    Condition,
    CorpusStatus,
    FolderKind,
    JobFolder,
    OpenedJob,
    OpenedMerge,
    OpenedRun,
    StartOver,
    kind_of,
)
from bitrawl.show import counted

JOB = DESCRIPTION
FAILED = "failed.tsv"
_WRITTEN = (JOB, BUNDLES, PARTS, PROGRESS, CHECKPOINTS, UNDONE, MERGED)
TRIES = 2  # for a bundle whose machine had a fault
MOST_FAULTS = 5  # in a row: then it is not one machine, and going on would help nobody
_AGAIN = "Run the same command again: its sites are mined again, and the others are left as they are."

Tell = Callable[[str], None]


class Tally(msgspec.Struct):
    """How far a run is."""

    sites: int  # all
    round: int = 1
    finished: Figures = Figures()  # of the bundles that are done
    earlier: Figures = Figures()  # what of that was done before this run
    failed: list[SiteOutcome] = []  # sites without a page, through no fault of the machine
    bundles: int = 0  # done, without those that were halved
    faults: dict[str, LeftBundle] = {}  # bundles that are not done because of the machine, by name

    def add(self, how: Done) -> None:
        if how.state is PartState.HALVED:
            return
        self.bundles += 1
        self.finished += how.figures
        self.failed = [*self.failed, *how.failed]

    @property
    def left(self) -> int:
        """Sites that are not done."""
        return self.sites - self.finished.sites


class Run:
    """One driver's view of a run: what it was asked to do, and how far that is."""

    def __init__(
        self, out: Place, bundles: Sequence[Bundle], order: Callable[[Bundle], BundleOrder], *, number: int = 1
    ) -> None:
        """`number` is that of the round."""
        self.tally = Tally(sites=sum(len(bundle.sites) for bundle in bundles), round=number)
        self._out = out
        self._order = order
        self._faults: Counter[str] = Counter()
        self._under_way = {left.name: left for bundle in bundles for left in self._unfinished(bundle)}
        self._left_before = {name: record for name, record in undone(out).items() if name in self._under_way}
        self.tally.faults = dict(self._left_before)
        self.tally.earlier = self.tally.finished

    @property
    def todo(self) -> int:
        """Bundles that are not done yet."""
        return len(self._under_way)

    def finish(self, executor: Executor, tell: Tell = lambda _fault: None) -> None:
        """Do what is left. Bundles that stay undone are in `tally.faults`; the same command tries them again.

        Faults are told when they happen.
        """
        self.tally.faults = {}
        self._submit(executor, list(self._under_way.values()))
        in_a_row = 0  # Kills do not count: they concern one bundle.
        while self._under_way:
            order, outcome = executor.ended()
            bundle = self._under_way.pop(order.bundle.name)
            self._submit(executor, self._next(bundle, outcome))
            if not isinstance(outcome, MachineFault):
                in_a_row = 0
                continue
            tell(f"bundle {bundle.name}: {outcome.reason}")
            in_a_row += not outcome.killed
            if in_a_row >= MOST_FAULTS:
                for left in list(self._under_way.values()):
                    self._leave(left, outcome)
                return

    def running(self) -> Figures:
        """What the bundles that are not done have brought so far, as far as they told."""
        figures = (progress(self._out, name) for name in list(self._under_way))
        return sum((each for each in figures if each is not None), Figures())

    def _unfinished(self, bundle: Bundle) -> Sequence[Bundle]:
        """The bundle, or what is left of its halves; what is done is counted."""
        how = done(self._out, bundle.name)
        if how is None:
            return [bundle]
        others = [left for other in _others(bundle, how) for left in self._unfinished(other)]
        if how.round < self.tally.round and how.state is not PartState.HALVED:
            return [bundle.without(how.again), *others]
        self.tally.add(how)
        return others

    def _submit(self, executor: Executor, bundles: Iterable[Bundle]) -> None:
        for bundle in bundles:
            self._under_way[bundle.name] = bundle
            executor.submit(self._order(bundle))

    def _next(self, bundle: Bundle, outcome: Done | Died | MachineFault) -> Sequence[Bundle]:
        """Count what ended; what is to be done now because of it."""
        if isinstance(outcome, MachineFault):
            return self._after_fault(bundle, outcome)
        if isinstance(outcome, Died):
            return self._halved(bundle, outcome.reason)
        self.tally.add(outcome)
        if bundle.name in self._left_before:
            undone_file(self._out, bundle.name).delete()
        return _others(bundle, outcome)

    def _after_fault(self, bundle: Bundle, fault: MachineFault) -> Sequence[Bundle]:
        """A bundle that was killed in an earlier run too is halved: one site of it may take all memory.

        Its halves fetch their pages again, so that is the last resort.
        """
        self._faults[bundle.name] += 1
        if self._faults[bundle.name] < TRIES:
            return [bundle]
        before = self._left_before.get(bundle.name)
        if fault.killed and before and before.killed and len(bundle.sites) > 1:
            checkpoint(self._out, bundle.name).delete()
            return self._halved(bundle, fault.reason)
        self._leave(bundle, fault)
        return []

    def _halved(self, bundle: Bundle, reason: str) -> Sequence[Bundle]:
        """Its halves. A site alone has none: it has failed."""
        is_alone = len(bundle.sites) == 1
        halved = Done(bundle.name, PartState.HALVED, ended=reason, again=bundle.apart)
        how = msgspec.structs.replace(failed(bundle, reason) if is_alone else halved, round=self.tally.round)
        mark_done(self._out, how)
        return self._next(bundle, how)

    def _leave(self, bundle: Bundle, fault: MachineFault) -> None:
        """Leave the bundle to the next run."""
        record = LeftBundle(bundle.name, [site.site for site in bundle.sites], fault.reason, fault.killed)
        self.tally.faults[bundle.name] = record
        with suppress(StoreError):  # The place may be what has the fault.
            undone_file(self._out, bundle.name).write(msgspec.json.encode(record))


class MachineShare(NamedTuple):
    """Which of several machines this is, if they do not know of each other: the first of three is 0/3."""

    number: int = 0
    parts: int = 1


def read_share(raw: str) -> MachineShare:
    """Read a share as in "2/5"; raises `ConfigError`."""
    number, mark, parts = raw.partition("/")
    if not mark or not number.isdecimal() or not parts.isdecimal() or int(number) >= int(parts):
        raise ConfigError(f"--part {raw!r} is not understood; the first of three parts is 0/3, and the last one 2/3")
    return MachineShare(int(number), int(parts))


class RunRequest(NamedTuple):
    """How a run is to be done, beside its job."""

    out: str  # the address of a place
    at_once: int  # bundles, over all machines
    share: MachineShare = MachineShare()
    size: int | None = None  # sites of a bundle
    scratch: Path | None = None
    retry_failed: bool = False
    refresh: bool = False  # visit all sites again if nothing is left to do


def asked_job(settings: Mapping[str, Any], file: Path | None, *, refresh: bool = False) -> Job:
    """The job of all bundles; raises `ConfigError` for what only one process can hold to."""
    described = config.read(file) if file is not None else {}
    job = config.resolve(config.merged(described, settings), where=str(file) if file else "")
    OpenedRun.check_settings(job, refresh=refresh)
    if job.scope.reach is Reach.WEB:
        raise ConfigError("--scope web crosses sites, and a run over many sites is divided by site; leave it out")
    for name in ("pages", "minutes", "megabytes"):
        if getattr(job.budget, name) is not None:
            raise ConfigError(
                f"--max-{name} limits one job, and there are many here; limit each site with --site-{name}"
            )
    return job


def check_place(job: Job, address: str, inputs: Sequence[Path], *, fresh: StartOver = StartOver.NO) -> None:
    """Raise `ConfigError` if a run would write over files of others, or if it reads something that lies in its place."""
    out = place(address)
    if isinstance(out, LocalPlace):
        check_inputs(out.path, [*inputs, *inputs_of(job)])
        ours = _run_files(out.path)
        if fresh:
            ours.check_fresh(out.path)
        else:
            _check_same(job, out)
            ours.check_new(out.path)
    elif fresh is StartOver.KEEP_ARCHIVE and (out / PARTS).names():
        raise ConfigError(
            f"{out} holds what was fetched, which --fresh cannot move aside there; choose another --out, or add"
            " --delete-archive to delete it"
        )


def _start_over(out: Place, *, delete_archive: bool) -> None:
    """Remove what a run has written. What was fetched is set aside, on a disk; elsewhere `check_place` has refused that."""
    if not isinstance(out, LocalPlace):
        for name in _WRITTEN:
            (out / name).delete()
        return
    if not delete_archive:
        aside = JobFolder(out.path).free_archive
        for name in (out / PARTS).names():
            JobFolder(out.path / PARTS / name).set_archive_aside(aside / name)
        for name in (out / CHECKPOINTS).names():
            save_archive(checkpoint(out, name), aside / name)
    _run_files(out.path).delete(out.path)


def _run_files(folder: Path) -> FolderFiles:
    merged = JobFolder(folder).own_files  # the corpora of a run have the names that those of a job have
    parts = {path.name: JobFolder(path).own_files for path in folder.glob(f"{PARTS}/*")}

    def is_made(name: str) -> bool:
        top, _, rest = name.partition("/")
        if top == PARTS and (below := rest.partition("/"))[0] in parts:
            part_files = parts[below[0]]
            return bool(below[2] == DONE or part_files.is_made(below[2]) or part_files.is_kept(below[2]))
        if top == MERGED:
            return rest in (MERGE, REPORT, SITES_TABLE, FAILED) or bool(merged.is_made(rest))
        return top in (JOB, BUNDLES, PROGRESS, CHECKPOINTS, UNDONE)

    return FolderFiles("a run over many sites", (BUNDLES,), _WRITTEN, is_made, merged.is_kept)


def plan(job: Job, request: RunRequest, *, fresh: StartOver = StartOver.NO) -> Run:
    """A run that is new, or goes on; the place holds its job and its bundles from now on."""
    out = place(request.out)
    if fresh:
        _start_over(out, delete_archive=fresh is StartOver.DELETE_ARCHIVE)
    _check_same(job, out)
    sites = sites_of(job)
    size = request.size or usual_size(len(sites), request.at_once)
    bundles = written_bundles(out, lambda: bundled(sites, size, machines_of(job)), job)
    text = config.text_of(job).encode()
    if not (out / JOB).write_new(text) and (out / JOB).read() != text:
        (out / JOB).write(text)
    bare = msgspec.structs.replace(job, seeds=[], warc=[])
    scratch = str(request.scratch.absolute()) if request.scratch else ""
    ours = bundles.of_part(*request.share)
    if request.retry_failed:
        retry_failed(out, ours)

    def run(number: int) -> Run:
        return Run(
            out, ours, lambda bundle: BundleOrder(str(out), scratch, bundles.run, bare, bundle, number), number=number
        )

    planned = run(bundles.round)
    return run(next_round(out, bundles).round) if request.refresh and not planned.todo else planned


def existing_run(address: str) -> Run | None:
    """A run as it is in its place, to look at; None if there is none."""
    out = place(address)
    bundles = read_bundles(out)

    def order(_bundle: Bundle) -> BundleOrder:
        raise ConfigError("this run is only looked at")

    return Run(out, bundles.bundles, order, number=bundles.round) if bundles else None


def check_undivided(out: str) -> None:
    """Raise `ConfigError` if a folder that one job asks for holds a run in bundles."""
    if is_run(out):
        raise ConfigError(
            f"{out} holds sites in bundles; resume with the same --workers, --cluster or --part, or choose another --out"
        )


def retry_failed(out: Place, bundles: Iterable[Bundle]) -> None:
    """Let the next run mine the sites again that brought nothing through no fault of the machine."""
    for bundle in bundles:
        how = done(out, bundle.name)
        if how is None:
            continue
        retry_failed(out, _others(bundle, how))
        names = [site.site for site in how.failed]
        if names and len(names) == len(how.sites):
            (part(out, bundle.name) / DONE).delete()  # first: without it there is no part
            part(out, bundle.name).delete()
        elif names:
            figures = msgspec.structs.replace(how.figures, sites=how.figures.sites - len(names))
            sites = [site for site in how.sites if not site.failed]
            mark_done(out, msgspec.structs.replace(how, sites=sites, figures=figures, again=names))


def shards_of(address: str, scratch: Path) -> list[Path]:
    """The shards of all finished parts of a run, on this disk: those of a store are copied into `scratch`."""
    out = place(address)
    shards = [_here(part(out, name) / SHARD, scratch / name) for name in finished_jobs(out)]
    if not shards:
        raise ConfigError(f"no part of {address} is finished yet")
    return shards


def merge_run(
    address: str, settings: Mapping[str, Any], tell: Tell, *, only: bool = False, to: Path | None = None
) -> MergeFacts:
    """Write the merged corpus of a run, and the list of sites that failed, into its own place."""
    out = place(address)
    if is_monolingual(address):
        raise ConfigError(
            f"{address} has one language, so its parts are not merged; each is a job with a corpus:"
            f" bitrawl export {shlex.quote(address)}/{PARTS}/NUMBER"
        )
    with tempfile.TemporaryDirectory(prefix="bitrawl-merge-") as scratch:
        merged = out / MERGED
        target = _here(merged, Path(scratch, MERGED))
        shards = shards_of(address, Path(scratch, "shards"))
        facts = OpenedMerge(target).merge_again(settings, jobs=shards, only=only, to=to, tell=tell)
        if to is None:
            files.write(target / FAILED, _table(failed_sites(out)))
        if to is None and not isinstance(merged, LocalPlace):
            merged.upload(target)
    return facts


def is_monolingual(address: str) -> bool:
    """Whether a run is in one language."""
    content = (place(address) / JOB).read()
    return content is not None and len(tomllib.loads(content.decode()).get("langs", ())) == 1


def merge_folders(
    addresses: Iterable[str], out: Path, settings: Mapping[str, Any], *, langs: Sequence[str] = (), tell: Tell
) -> MergeFacts:
    """Merge jobs, and all finished parts of runs over many sites, into one corpus."""
    addresses = list(addresses)
    check_inputs(out, [address for address in addresses if "://" not in address])
    with tempfile.TemporaryDirectory(prefix="bitrawl-merge-") as scratch:
        folders: list[Path] = []
        for number, address in enumerate(addresses):
            folders += shards_of(address, Path(scratch, str(number))) if is_run(address) else [Path(address)]
        return OpenedMerge(out).merge(folders, settings, langs=langs, tell=tell)


class RunStatus(NamedTuple):
    """How far a run is."""

    parts: str  # their address
    tally: Tally
    running: Figures  # of the bundles that are not done, as far as they told
    merged: CorpusStatus | None  # None before it is merged, and of a run that is not on this machine's disks


class MinedRun(OpenedRun):
    """A run over many sites, by the address of its place."""

    def merged_here(self) -> Path:
        """Of a run elsewhere: a copy, which lasts as long as this object."""
        if is_here(self.address):
            return super().merged_here()
        copy = Path(tempfile.mkdtemp(prefix="bitrawl-merged-"))
        weakref.finalize(self, shutil.rmtree, copy, ignore_errors=True)
        (place(self.address) / MERGED).download(copy)
        if not any(copy.iterdir()):
            raise ConfigError(f"{self.address} has no merged corpus. Run: bitrawl export {shlex.quote(self.address)}")
        return copy

    def status(self) -> RunStatus:
        """How far the run is, and its merged corpus."""
        if (run := existing_run(self.address)) is None:
            raise self.nothing_there()
        is_merged = is_here(self.address) and kind_of(self.folder / MERGED) is FolderKind.MERGED
        merged = OpenedMerge(self.folder / MERGED).status() if is_merged else None
        return RunStatus(self.parts, run.tally, run.running(), merged)

    @contextmanager
    def jobs_here(self) -> Iterator[tuple[Iterable[Path], int]]:
        out, bundles = place(self.address), read_bundles(place(self.address))
        with tempfile.TemporaryDirectory(prefix="bitrawl-diff-") as scratch:
            jobs = (_here(part(out, name), Path(scratch, name)) for name in finished_jobs(out))
            yield jobs, bundles.round if bundles else 1

    def check(self, *, repair: bool = False) -> Iterator[Checked]:
        """What is wrong, and what is sound as one line. Parts that are not on this machine's disks are not read."""
        out = place(self.address)
        try:
            bundles = read_bundles(out)
            yield Checked(BUNDLES, Condition.SOUND, counted(len(bundles.bundles) if bundles else 0, "bundle"))
        except StoreError as error:
            yield Checked(BUNDLES, Condition.DAMAGED, str(error))
        sound = 0
        for name in (out / PARTS).names():
            wrong = list(_part(out, name, repair=repair))
            sound += not wrong
            yield from wrong
        yield Checked(f"{PARTS}/", Condition.SOUND, f"{counted(sound, 'part')} as written")
        yield from _checkpoints(out, repair=repair)
        if isinstance(out, LocalPlace):
            yield from super().check()

    def report(self) -> str:
        """Where the report is, which the last merge has written."""
        if (place(self.merged) / REPORT).read() is None:
            raise ConfigError(
                f"{self.address} has not been merged yet. Run: bitrawl export {shlex.quote(self.address)}"
            )
        return f"{self.merged}/{REPORT}"

    def export(
        self,
        *,
        only: bool = False,
        to: Path | None = None,
        tell: Tell = lambda _line: None,
        **settings: Any,
    ) -> MergeFacts:
        """Merge its parts again, with other settings, as the flags of `bitrawl export`."""
        tables = described(settings, [Group.CORPUS])
        return merge_run(self.address, tables, tell, only=arguments.yes_or_no("only", only), to=to)


def failed_sites(out: Place) -> list[SiteOutcome]:
    """Sites that brought nothing, and why."""
    parts = [done(out, name) for name in (out / PARTS).names()]
    return [site for how in parts if how is not None and how.state is not PartState.HALVED for site in how.failed]


def _check_same(job: Job, out: Place) -> None:
    content = (out / JOB).read()
    if content is None:
        if LEDGER in out.names():
            raise ConfigError(f"{out} holds another job; choose another --out")
        return
    if (out / BUNDLES).read() is None and LEDGER in out.names():
        raise ConfigError(
            f"{out} holds a job of one process; resume without --workers, --cluster and --part, or choose another --out"
        )
    try:
        earlier = config.typed(tomllib.loads(content.decode()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StoreError(f"{out}/{JOB} is not TOML: {error}") from error
    config.continues(job, earlier)


def _others(bundle: Bundle, how: Done) -> Sequence[Bundle]:
    """The bundles that have what a part left to them."""
    halves = bundle.without(how.again).halves() if how.state is PartState.HALVED else ()
    again = bundle.again(how.again)
    return [*halves, again] if again.sites else halves


def _here(shard: Place, copy: Path) -> Path:
    if isinstance(shard, LocalPlace):
        return Path(str(shard))
    shard.download(copy)
    return copy


def _table(sites: Sequence[SiteOutcome]) -> str:
    text = io.StringIO(newline="")
    table = csv.writer(text, delimiter="\t", lineterminator="\n")
    table.writerow(("site", "why"))
    table.writerows((site.site, " ".join(site.failed.split())) for site in sites)
    return text.getvalue()


def _part(out: Place, name: str, *, repair: bool) -> Iterator[Checked]:
    """What is wrong with the part of a bundle."""
    where = f"{PARTS}/{name}"
    try:
        how = done(out, name)
    except StoreError as error:
        if repair:
            (part(out, name) / DONE).delete()
        yield _damaged(f"{where}/{DONE}", str(error).partition(" is damaged: ")[2], repair=repair)
        return
    folder = part(out, name)
    if how is None or how.state is not PartState.MINED or not isinstance(folder, LocalPlace):
        return
    wrong = [file for file in OpenedJob(folder.path).check() if file.condition is not Condition.SOUND]
    if any(file.name == LEDGER for file in wrong) and repair:
        (folder / DONE).delete()
    for file in wrong:
        if file.name == LEDGER:
            yield _damaged(f"{where}/{file.name}", file.found, repair=repair)
        else:
            yield msgspec.structs.replace(file, name=f"{where}/{file.name}")


def _checkpoints(out: Place, *, repair: bool) -> Iterator[Checked]:
    for name in (out / CHECKPOINTS).names():
        saved = checkpoint(out, name)
        try:
            check_checkpoint(saved)
        except StoreError as error:
            if repair:
                saved.delete()
            yield _damaged(
                f"{CHECKPOINTS}/{name}", str(error).partition(" is damaged: ")[2] or str(error), repair=repair
            )


def _damaged(name: str, fault: str, *, repair: bool) -> Checked:
    fault = fault.partition(" The other sites")[0]
    if repair:
        return Checked(name, Condition.REPAIRED, fault, _AGAIN)
    return Checked(name, Condition.DAMAGED, fault, "Use --repair.")
