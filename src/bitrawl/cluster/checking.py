"""Whether a run over many sites is as bitrawl left it: what is done, the parts, and the checkpoints of the others."""

import shlex
from collections.abc import Iterator

import msgspec

from bitrawl.cluster.bundles import BUNDLES, read_bundles
from bitrawl.cluster.checkpoint import check_checkpoint
from bitrawl.cluster.parts import CHECKPOINTS, DONE, PARTS, PartState, checkpoint, done, part
from bitrawl.cluster.places import LocalPlace, Place, place
from bitrawl.errors import StoreError
from bitrawl.job.folder import JobFolder
from bitrawl.job.folder_check import Checked, Condition, check, check_corpus
from bitrawl.show.wording import counted

_AGAIN = "Run the same command again: its sites are mined again, and the others are left as they are."


def check_run(address: str, *, repair: bool = False) -> Iterator[Checked]:
    """What is wrong, and what is sound as one line. Parts that are not on this machine's disks are not read."""
    out = place(address)
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
        corpus = check_corpus(out.path / "merged", f"bitrawl merge {shlex.quote(address)}")
        if corpus is not None:
            yield corpus


def _part(out: Place, name: str, *, repair: bool) -> Iterator[Checked]:
    """What is wrong with the part of a bundle."""
    where = f"{PARTS}/{name}"
    try:
        how = done(out, name)
    except StoreError as error:
        if repair:
            (part(out, name) / DONE).delete()
        yield _found(f"{where}/{DONE}", str(error).partition(" is damaged: ")[2], repair=repair)
        return
    folder = part(out, name)
    if how is None or how.state is not PartState.MINED or not isinstance(folder, LocalPlace):
        return
    wrong = [one for one in check(JobFolder(folder.path)) if one.condition is not Condition.SOUND]
    if any(one.name == "job.sqlite" for one in wrong) and repair:
        (folder / DONE).delete()
    for one in wrong:
        lost = one.name == "job.sqlite"
        yield (
            _found(f"{where}/{one.name}", one.found, repair=repair)
            if lost
            else msgspec.structs.replace(one, name=f"{where}/{one.name}")
        )


def _checkpoints(out: Place, *, repair: bool) -> Iterator[Checked]:
    for name in (out / CHECKPOINTS).names():
        saved = checkpoint(out, name)
        try:
            check_checkpoint(saved)
        except StoreError as error:
            if repair:
                saved.delete()
            yield _found(f"{CHECKPOINTS}/{name}", str(error).partition(" is damaged: ")[2] or str(error), repair=repair)


def _found(name: str, found: str, *, repair: bool) -> Checked:
    found = found.partition(" The other sites")[0]
    return Checked(
        name, Condition.REPAIRED if repair else Condition.DAMAGED, found, _AGAIN if repair else "Use --repair."
    )
