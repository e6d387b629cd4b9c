"""How a crawl is set up: which links belong to it, how hard it may hit a host, where it stops, how it fetches and draws."""

from enum import StrEnum
from importlib.util import find_spec
from typing import Annotated

import msgspec

from bitrawl.choices import MEGABYTE, Count, Seconds
from bitrawl.model import DocumentType
from bitrawl.version import PROJECT_PAGE

ADAPTIVE_CEILING = 30.0  # seconds; Heritrix' own upper bound for a slow server


class Reach(StrEnum):
    """How far from the seeds a job may go."""

    SITE = "site"  # the hosts of the seeds, and those of their translations
    DOMAIN = "domain"  # all hosts of the seeds' domains
    WEB = "web"


class Gone(StrEnum):
    """What becomes of the segments of a page that a further round finds missing."""

    DROP = "drop"  # as if the page had never been there: the corpus is that of the site as it is
    KEEP = "keep"


class Render(StrEnum):
    """Which pages a browser draws, by running their scripts."""

    NEVER = "never"
    AUTO = "auto"  # those that show signs of it, where it brings something
    ALWAYS = "always"


class ScopeRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which links belong to the job."""

    reach: Reach = Reach.SITE
    include: list[str] = []  # regular expressions; a link must match one
    exclude: list[str] = []  # regular expressions; a link must match none
    same_host: bool = False  # stay on the hosts of the seeds
    under: list[str] = []  # paths, as in "/docs/"; a link must be below one
    one_site: list[list[str]] = []  # hosts that are one site: [["example.org", "exemple.org"]]
    depth: Annotated[int, msgspec.Meta(ge=0)] | None = None  # links away from the seeds
    types: list[DocumentType] = msgspec.field(default_factory=lambda: list(DocumentType))  # besides sitemaps
    sitemaps: bool = True
    probe: bool = True  # ask each host for a page that cannot exist, to know its soft 404s
    gone: Gone = Gone.DROP  # what was found on pages that are gone when the job is visited again

    @property
    def keeps_gone(self) -> bool:
        """Whether what was found on pages that are gone stays in the corpus."""
        return self.gone is Gone.KEEP


class Politeness(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How hard a host may be hit. robots.txt is not optional."""

    delay: Seconds = 1.0  # between two visits to a host; Crawl-delay and Retry-After are honoured on top
    parallel: Count = 16  # visits at once, over all hosts; those that wait for a slow host are not counted
    per_host: Count = 1  # connections at once to one host
    attempts: Count = 3
    backoff: Seconds = 5.0  # before the second attempt, doubled for each failure in a row
    opt_outs: bool = True  # honour noai and TDM reservations

    @property
    def to_archives(self) -> "Politeness":
        """An archive minds no delay, and no number of connections."""
        return msgspec.structs.replace(self, delay=0.0, per_host=self.parallel)

    def delay_after(self, took: float, *, asked: float = 0.0) -> float:
        """Seconds until the next visit to a host whose answer took so long; `asked` is its Crawl-delay or Retry-After.

        Without a delay, nothing is adapted to slow answers either.
        """
        slow = min(took, ADAPTIVE_CEILING) if self.delay else 0.0
        return max(self.delay, asked, slow)


class Budget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where to stop; what is not set has no limit. Queued links stay queued for a run with a larger budget."""

    pages: Count | None = None
    megabytes: Annotated[float, msgspec.Meta(gt=0)] | None = None
    minutes: Annotated[float, msgspec.Meta(gt=0)] | None = None
    site_pages: Count | None = None
    site_megabytes: Annotated[float, msgspec.Meta(gt=0)] | None = None
    site_minutes: Annotated[float, msgspec.Meta(gt=0)] | None = None
    site_hosts: Count = 100  # hosts of one site that are visited; those of the seeds always are

    def of_site(self) -> "Budget":
        """What one site may take."""
        return Budget(pages=self.site_pages, megabytes=self.site_megabytes, minutes=self.site_minutes)


class FetchSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to ask for a page."""

    contact: str = ""  # an address or a URL for webmasters, in the User-Agent
    proxy: str = ""  # the usual environment variables are read as well
    allow_private: bool = False  # visit addresses that are not on the public internet
    connect_to: dict[str, str] = {}  # "*.test" = "127.0.0.1:8000"
    cookies: bool = False
    timeout: Annotated[float, msgspec.Meta(gt=0)] = 60.0  # seconds for one page, all in all
    megabytes: Annotated[float, msgspec.Meta(gt=0)] = 10.0  # of one page as sent; twice as much unpacked

    @property
    def public_contact(self) -> str:
        """What webmasters are told: whom the user named, or our page."""
        return self.contact or PROJECT_PAGE

    @property
    def most_bytes(self) -> int:
        """Of one page as sent."""
        return int(self.megabytes * MEGABYTE)


class RenderSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The browser that draws pages by running their scripts."""

    when: Render | None = None  # without it: auto if the extra browser is installed, otherwise never
    browser: str = ""  # a Chromium: its path, or the ws:// or http:// address of one that runs
    tabs: Annotated[int, msgspec.Meta(ge=1, le=64)] = 4  # pages at once
    seconds: Annotated[float, msgspec.Meta(gt=0)] = 20.0  # for one page
    megabytes: Annotated[int, msgspec.Meta(ge=128)] = 512  # of memory for one page

    @property
    def mode(self) -> Render:
        """What holds on this machine."""
        return self.when or (Render.AUTO if find_spec("playwright") is not None else Render.NEVER)

    @property
    def is_asked_for(self) -> bool:
        """Whether the user wants a browser, and not only has one."""
        return self.when not in (None, Render.NEVER) or (bool(self.browser) and self.runs_scripts)

    @property
    def draws_all(self) -> bool:
        return self.mode is Render.ALWAYS

    @property
    def runs_scripts(self) -> bool:
        return self.mode is not Render.NEVER
