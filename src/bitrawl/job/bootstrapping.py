"""A topic, seeds and bilingual sites from the name of a subject, in a folder that `mine` reads.

How far a bootstrap is, and what came of it, stands in two files of its folder, which others may read at any time.
"""

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

import msgspec
import tomli_w

from bitrawl import files
from bitrawl.crawling import user_agent
from bitrawl.discover.site_lists import SiteAnswer, SiteVerdict, from_json_lines, json_lines
from bitrawl.errors import ConfigError, StoreError
from bitrawl.file_names import BOOTSTRAP, FOUND_SITES
from bitrawl.files import NO_JSON
from bitrawl.folder_files import FolderFiles, check_inputs
from bitrawl.job import fetching
from bitrawl.job.fetching import POLITE, FetchPolicy
from bitrawl.job.site_checks import SiteQuestion, check_sites
from bitrawl.languages import language_name, parse_language
from bitrawl.model import Capture, Language, Link, Skip
from bitrawl.protocols import Fetcher
from bitrawl.topic.wiki_api import AnswerCache, ApiWiki, WikiClient
from bitrawl.topic.wiki_articles import Extent, Wiki, edition_code, edition_language
from bitrawl.topic.wiki_dump import DumpWiki
from bitrawl.topic.wiki_topic import (
    CitedSite,
    Exclusion,
    Material,
    TermRow,
    Wanted,
    gather,
    read_table,
    table,
    topic_lines,
)
from bitrawl.url import Url, seeds_from

PROGRESS, FOUND = "progress.json", "found.json"
TOPIC, TERMS, SEEDS, SITES = "topic.txt", "terms.tsv", "seeds.txt", FOUND_SITES

Decoded = TypeVar("Decoded")


class BootstrapStep(StrEnum):
    """What a bootstrap is doing. One that has failed tells by its last step what it failed at."""

    ASKING = "asking"  # whether a wiki answers there
    SEARCHING = "searching"  # for the category
    READING = "reading"  # articles, their translations and links
    CHECKING = "checking"  # whether the cited sites are bilingual


class BootstrapProgress(msgspec.Struct, frozen=True):
    """How far a bootstrap is at one moment."""

    step: BootstrapStep
    wiki: str = ""  # its host; empty for a dump
    done: int = 0  # answers of the wiki, or sites that were checked
    total: int = 0  # sites to check


class BilingualSite(msgspec.Struct, frozen=True):
    """A cited site that probably has translations."""

    home: str  # a URL
    languages: tuple[Language, ...]
    articles: int  # of the wiki that cite it


class BootstrapSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What a bootstrap has found and written."""

    category: str
    articles: int
    categories: int
    complete: bool = True  # otherwise the category has more articles than were read
    terms: dict[Language, int]
    excluded: dict[str, int]  # titles, by reason
    edited: bool  # whether the topic is made from a table that a person has edited
    seeds: int
    cited: int  # sites
    checked: int
    sites: tuple[BilingualSite, ...] = ()
    advice: tuple[str, ...] = ()  # for the command line
    topic_file: ClassVar[str] = TOPIC
    terms_file: ClassVar[str] = TERMS
    sites_file: ClassVar[str] = SITES

    @property
    def candidates(self) -> int:
        return len(self.sites)


class ProgressFile:
    """Keeps the progress in the folder."""

    def __init__(self, folder: Path, wiki: str = "") -> None:
        self._folder = folder
        self._now = BootstrapProgress(BootstrapStep.ASKING, wiki)

    def begin(self, step: BootstrapStep, total: int = 0) -> None:
        self._now = BootstrapProgress(step, self._now.wiki, 0, total)
        self._write()

    def count(self) -> None:
        """Count one more step that is done."""
        self._now = msgspec.structs.replace(self._now, done=self._now.done + 1)
        self._write()

    def _write(self) -> None:
        files.write(self._folder / PROGRESS, msgspec.json.encode(self._now))


def _decoded(path: Path, kind: type[Decoded]) -> Decoded | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, *NO_JSON):
        return None


CACHE = "cache"
OWN_FILES = FolderFiles(
    "a topic of bitrawl bootstrap",
    (BOOTSTRAP, PROGRESS),  # the first and the last that is written
    (TOPIC, TERMS, SEEDS, SITES, BOOTSTRAP, CACHE, PROGRESS, FOUND),
    re.compile(
        "|".join(map(re.escape, (TOPIC, TERMS, SEEDS, SITES, BOOTSTRAP, PROGRESS, FOUND)))
        + f"|{CACHE}/(?:wiki|sites)/.+"
    ).fullmatch,
    re.compile(r"intent\.json|run\.log(?:\.1)?").fullmatch,
)

Tell = Callable[[str], None]


class BootstrapRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a bootstrap is to bring."""

    category: str
    langs: tuple[str, ...]
    wiki: str = "en"  # the address of an API, of a wiki, or the code of an edition of Wikipedia
    dump: str = ""  # a folder of SQL files, in place of the wiki
    depth: int = 2
    max_articles: int = 5000
    keep: tuple[Exclusion, ...] = ()
    editions: bool = True
    check_sites: bool = True
    max_sites: int = 100  # that are checked
    site_seeds: int = 3

    def languages(self) -> dict[Language, Language]:
        """Those asked for, each with the language of the edition that has it: zh-Hant is in the Chinese one."""
        wanted = [parse_language(code) for code in self.langs]
        return {language: edition_language(edition_code(language)) for language in wanted}


class Bootstrapped(NamedTuple):
    """A finished bootstrap, for a job that begins with it."""

    topic: Path
    seeds: list[str]  # pages that the articles cite; the sites that most articles cite come first
    sites: list[str]  # home pages of sites that are probably bilingual
    langs: tuple[str, ...] = ()  # that it was asked for; none if a person made the folder


class BootstrapFolder(NamedTuple):
    """The folder of a bootstrap, while it runs or after."""

    path: Path

    @property
    def has_begun(self) -> bool:
        return OWN_FILES.holds(self.path)

    def progress(self) -> BootstrapProgress | None:
        """None before it has begun."""
        return _decoded(self.path / PROGRESS, BootstrapProgress)

    def found(self) -> BootstrapSummary | None:
        """None before it has ended."""
        return _decoded(self.path / FOUND, BootstrapSummary)

    def read(self) -> Bootstrapped:
        """Raises `ConfigError` if the folder holds none. If the table of terms was edited, its topic is made again.

        A person may have made the folder: a topic is enough then, with the lists of seeds and sites that it has.
        """
        folder, request = self.path, _earlier_request(self.path)
        if request is None and (folder / TOPIC).exists() and not (folder / CACHE).exists():
            seeds, sites = (_listed(folder / name) if (folder / name).exists() else [] for name in (SEEDS, SITES))
            return Bootstrapped(folder / TOPIC, seeds, sites)
        if request is None:
            raise ConfigError(
                f'{folder} holds no finished bootstrap. Run: bitrawl bootstrap "NAME" --langs CODES --out {folder}'
            )
        if _edited(folder):
            _write_topic(folder, read_table(_content(folder / TERMS), str(folder / TERMS)), request)
        return Bootstrapped(folder / TOPIC, _listed(folder / SEEDS), _listed(folder / SITES), request.langs)

    def described(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of a job with the topic of a finished bootstrap, and with its languages and seeds where the job names none.

        A job with several languages begins at the sites that are probably bilingual, if there are any. The seeds are cited by
        articles about the topic: they are no examples of it. Raises `ConfigError`.
        """
        bootstrapped = self.read()
        langs = settings.get("langs") or list(bootstrapped.langs)
        several = len(langs) != 1
        seeds = settings.get("seeds") or (bootstrapped.sites if several and bootstrapped.sites else bootstrapped.seeds)
        topic = {"terms": str(bootstrapped.topic), "hub": True, **settings.get("topic", {})}
        return {**settings, **({"langs": langs} if langs else {}), "seeds": list(seeds), "topic": topic}


async def bootstrap(
    request: BootstrapRequest,
    folder: Path,
    *,
    policy: FetchPolicy = POLITE,
    fresh: bool = False,
    tell: Tell = lambda _line: None,
) -> BootstrapSummary:
    """Ask the wiki, check the sites it cites, write the folder. What the folder's cache has is not asked again."""
    _check(request, policy, folder, fresh=fresh)
    if fresh:
        OWN_FILES.delete(folder)
    notes = ProgressFile(folder, "" if request.dump else endpoint(request.wiki).host)
    material = await _gathered(request, folder, policy, notes, tell)
    sites = material.citations.sites
    checked: dict[Url, SiteVerdict] = {}
    if request.check_sites and sites and len(request.languages()) > 1:
        tell(f"Checking {min(len(sites), request.max_sites)} of {len(sites)} cited sites for translations …")
        notes.begin(BootstrapStep.CHECKING, min(len(sites), request.max_sites))
        checked = await _checked(sites[: request.max_sites], request, folder, policy, notes)
    return _written(request, folder, material, checked)


def endpoint(wiki: str) -> Url:
    """The API of that wiki: "de" is the German Wikipedia, and a site without a path has it at /w/api.php."""
    if "/" not in wiki and "." not in wiki:
        return Url.parse(f"https://{edition_code(parse_language(wiki))}.wikipedia.org/w/api.php")
    url = Url.parse(wiki if "://" in wiki else f"https://{wiki}")
    return url if url.path.endswith(".php") else Url.parse("/w/api.php", base=url)


def _check(request: BootstrapRequest, policy: FetchPolicy, folder: Path, *, fresh: bool) -> None:
    """Mistakes that can be told before anything is asked."""
    check_inputs(folder, [request.dump] if request.dump else [])
    if fresh:
        OWN_FILES.check_fresh(folder)
    else:
        OWN_FILES.check_new(folder)
    if not request.category.strip():
        raise ConfigError('the name of the category is empty; give one, for example "Occupational safety and health"')
    if not request.languages():
        raise ConfigError("no languages are named; add them, for example --langs de,it")
    if not request.dump:
        endpoint(request.wiki)
    if policy.contact:
        user_agent(policy.contact)
    before = _earlier_request(folder)
    if before is not None and before != request and not fresh and _edited(folder):
        raise ConfigError(
            f"{folder / TERMS} was edited, and this command asks for something else, which would replace it. "
            "Choose another --out, or add --fresh to start over"
        )


async def _gathered(
    request: BootstrapRequest, folder: Path, policy: FetchPolicy, notes: ProgressFile, tell: Tell
) -> Material:
    languages = tuple(dict.fromkeys(request.languages().values()))
    wanted = Wanted(Extent(request.depth, request.max_articles, languages), request.keep, request.editions)
    if request.dump:
        tell(f"Reading the dump in {request.dump} …")
        return await _from(DumpWiki(Path(request.dump)), request, wanted, notes)
    address = endpoint(request.wiki)
    tell(f"Asking {address.host} for the category …")
    notes.begin(BootstrapStep.ASKING)
    async with fetching.api_web(policy) as web:
        answers = AnswerCache(folder / CACHE / "wiki")
        client = WikiClient(address, _NotedFetcher(web, notes), answers, fetching.SystemClock())
        return await _from(await ApiWiki.found(client), request, wanted, notes)


class _NotedFetcher:
    """Counts the answers."""

    def __init__(self, web: Fetcher, notes: ProgressFile) -> None:
        self._web = web
        self._notes = notes

    async def fetch(self, link: Link) -> Capture | Skip:
        answer = await self._web.fetch(link)
        self._notes.count()
        return answer


async def _from(wiki: Wiki, request: BootstrapRequest, wanted: Wanted, notes: ProgressFile) -> Material:
    others = tuple(language for language in wanted.extent.languages if language != wiki.language)
    extent = msgspec.structs.replace(wanted.extent, languages=others)
    notes.begin(BootstrapStep.SEARCHING)
    category = await wiki.category(request.category)
    notes.begin(BootstrapStep.READING)
    return await gather(wiki, category, msgspec.structs.replace(wanted, extent=extent))


async def _checked(
    sites: Sequence[CitedSite], request: BootstrapRequest, folder: Path, policy: FetchPolicy, notes: ProgressFile
) -> dict[Url, SiteVerdict]:
    """By home page. What was learned is kept, but for sites that did not answer."""
    cache, verdicts = AnswerCache(folder / CACHE / "sites"), dict[Url, SiteVerdict]()
    for home in map(_home, sites):
        if (earlier := _cached_verdict(cache.load(home))) is not None:
            verdicts[home] = earlier
            notes.count()
    by_host = {home.host: home for home in map(_home, sites) if home not in verdicts}
    question = SiteQuestion(tuple(by_host.values()), tuple(request.languages()), policy=policy)
    async for verdict in check_sites(question):
        home = by_host[verdict.site]
        verdicts[home] = verdict
        notes.count()
        if verdict.verdict is not SiteAnswer.UNKNOWN:
            cache.save(home, json_lines([verdict]))
    return verdicts


def _home(site: CitedSite) -> Url:
    return Url.parse(f"{site.urls[0].origin}/")


def _cached_verdict(content: bytes | None) -> SiteVerdict | None:
    try:
        return from_json_lines(content)[0] if content else None
    except NO_JSON:
        return None


def _written(
    request: BootstrapRequest, folder: Path, material: Material, checked: Mapping[Url, SiteVerdict]
) -> BootstrapSummary:
    edited = _edited(folder)
    rows: Sequence[TermRow] = material.rows
    made = table(rows, [material.language, *request.languages().values()]).encode()
    if edited:
        rows = read_table(_content(folder / TERMS), str(folder / TERMS))
    else:
        files.write(folder / TERMS, made)
    terms = _write_topic(folder, rows, request)
    candidates = list(_bilingual(material.citations.sites, checked))
    seeds = [url for site in material.citations.sites for url in site.urls[: request.site_seeds]]
    files.write(folder / SEEDS, "".join(f"{url}\n" for url in seeds))
    files.write(folder / SITES, "".join(map(_site_lines, candidates)))
    summary = BootstrapSummary(
        category=material.category,
        articles=material.articles,
        categories=material.categories,
        complete=material.complete,
        terms=terms,
        excluded=dict(Counter(row.why.partition(";")[0] for row in material.rows if not row.keep).most_common()),
        edited=edited,
        seeds=len(seeds),
        cited=len(material.citations.sites),
        checked=len(checked),
        sites=tuple(candidates),
        advice=tuple(_advice(request, material, terms, checked, candidates)),
    )
    files.write(folder / FOUND, msgspec.json.encode(summary))
    _describe(folder, request, made)
    return summary


def _write_topic(folder: Path, rows: Sequence[TermRow], request: BootstrapRequest) -> dict[Language, int]:
    """How many terms it has in each language."""
    languages = request.languages()
    lines = list(topic_lines(rows, languages))
    head = f"# {' '.join(request.category.split())}: made by bitrawl bootstrap from {TERMS}. Each line is weight:term=class>language\n"
    files.write(folder / TOPIC, head + "".join(f"{line}\n" for _, line in lines))
    return dict.fromkeys(languages, 0) | Counter(language for language, _ in lines)


def _bilingual(sites: Iterable[CitedSite], checked: Mapping[Url, SiteVerdict]) -> Iterator[BilingualSite]:
    for site in sites:
        verdict = checked.get(_home(site))
        if verdict is not None and verdict.verdict is SiteAnswer.BILINGUAL:
            yield BilingualSite(str(_home(site)), tuple(sorted(verdict.languages)), site.articles)


def _site_lines(site: BilingualSite) -> str:
    """A comment and the home page: a list of seeds that tells why."""
    cited = "1 article" if site.articles == 1 else f"{site.articles} articles"
    return f"# {', '.join(site.languages)}; cited by {cited}\n{site.home}\n"


def _describe(folder: Path, request: BootstrapRequest, made: bytes) -> None:
    """Written last: a folder that has it is finished. By the digest of the table as made, an edited one is known."""
    described = {**msgspec.to_builtins(request), "terms_sha256": hashlib.sha256(made).hexdigest()}
    files.write(folder / BOOTSTRAP, tomli_w.dumps(described))


def _earlier_request(folder: Path) -> BootstrapRequest | None:
    described = _described(folder)
    if described is None:
        return None
    try:
        return msgspec.convert(
            {key: value for key, value in described.items() if key != "terms_sha256"}, BootstrapRequest
        )
    except msgspec.ValidationError as error:
        raise ConfigError(f"{folder / BOOTSTRAP}: {error}; run bitrawl bootstrap with --fresh") from error


def _described(folder: Path) -> dict[str, object] | None:
    try:
        return tomllib.loads((folder / BOOTSTRAP).read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(
            f"{folder / BOOTSTRAP} cannot be read: {error}; run bitrawl bootstrap with --fresh"
        ) from error


def _edited(folder: Path) -> bool:
    """Whether a person has changed the table since it was written."""
    described = _described(folder)
    if described is None or not (folder / TERMS).exists():
        return False
    return described.get("terms_sha256") != hashlib.sha256(_content(folder / TERMS)).hexdigest()


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from error


def _listed(path: Path) -> list[str]:
    return seeds_from(_content(path), str(path))


def _advice(
    request: BootstrapRequest,
    material: Material,
    terms: Mapping[Language, int],
    checked: Mapping[Url, SiteVerdict],
    candidates: Sequence[BilingualSite],
) -> Iterator[str]:
    """What is missing, and what to try."""
    for language, count in terms.items():
        if not count:
            yield _no_terms(request, material, language)
    if not material.complete:
        yield (
            f"The category has more articles than were read. Raise --max-articles ({request.max_articles}), or lower "
            f"--depth ({request.depth})."
        )
    if not material.citations.sites:
        yield "The articles cite no site outside the wiki. Give seeds of your own to bitrawl mine, or try --depth 3."
    elif checked and not candidates:
        unread = sum(verdict.verdict is SiteAnswer.UNKNOWN for verdict in checked.values())
        yield (
            f"None of the sites checked has translated pages ({len(checked)} checked, {unread} could not be read). "
            "Check more of them with --max-sites, or mine the seeds."
        )


def _no_terms(request: BootstrapRequest, material: Material, language: Language) -> str:
    name, code = language_name(language), edition_code(language)
    if request.languages()[language] == material.language:
        return f"No title is a term in {name}. Look at {TERMS}: the column why names the reason, and --keep-names keeps names."
    if request.dump:
        return f"No article has a title in {name}. Does the folder of the dump hold langlinks.sql.gz? A deeper tree (--depth {request.depth + 1}) has more."
    return (
        f"No article has a title in {name}. Try a deeper tree (--depth {request.depth + 1}), a wider category, or begin with "
        f"that edition: --wiki {code} and the name of the category in {name}."
    )
