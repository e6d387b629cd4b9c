"""The tables of a job's database. They are created here, when a ledger is opened for writing."""

from bitrawl.model import OWN_REQUESTS

VERSION = 5
"""The version of the format. A ledger of another version is refused with advice, never converted."""

# The state of a link. Each URL has one row, and each row ends as a page or as a skip with its reason.
QUEUED, LEASED, PAGE, SKIPPED = range(4)

OWN = "links.kind IN ('{}')".format("', '".join(OWN_REQUESTS))
"""A condition on links: requests that only the crawler itself made."""

# What the crawl writes
_LEDGER = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS links (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    host TEXT NOT NULL,
    site TEXT NOT NULL,
    kind TEXT NOT NULL,
    state INTEGER NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 1,
    score REAL NOT NULL,
    stage TEXT, reason TEXT, detail TEXT,
    link BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS next ON links (host, attempt, score DESC, id) WHERE state = 0;
CREATE TABLE IF NOT EXISTS fetches (
    seq INTEGER PRIMARY KEY,
    url TEXT NOT NULL, kind TEXT NOT NULL, score REAL NOT NULL, attempt INTEGER NOT NULL,
    status INTEGER NOT NULL, bytes INTEGER NOT NULL, at REAL NOT NULL, took REAL NOT NULL,
    language TEXT, outcome TEXT NOT NULL,
    file TEXT, offset INTEGER,
    relevance REAL, relevant INTEGER, perplexity REAL
);
CREATE TABLE IF NOT EXISTS pages (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    site TEXT NOT NULL,
    language TEXT NOT NULL,
    title TEXT NOT NULL,
    digest TEXT NOT NULL,
    signature INTEGER NOT NULL,
    page BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS page_sites ON pages (site, id);
CREATE TABLE IF NOT EXISTS sitemaps (url TEXT PRIMARY KEY, site TEXT NOT NULL, sitemap BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sitemap_sites ON sitemaps (site);
CREATE TABLE IF NOT EXISTS sites (site TEXT PRIMARY KEY, knowledge BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS robots (origin TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;
"""

# What mining writes
_FINDINGS = """
CREATE TABLE IF NOT EXISTS pairs (
    id INTEGER PRIMARY KEY,
    site TEXT NOT NULL, lang_a TEXT NOT NULL, lang_b TEXT NOT NULL, score REAL NOT NULL, pair BLOB NOT NULL,
    alignment BLOB NOT NULL, partial INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS pair_sites ON pairs (site);
CREATE INDEX IF NOT EXISTS pair_languages ON pairs (lang_a, lang_b, site, id);
CREATE TABLE IF NOT EXISTS alignments (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, site TEXT NOT NULL, count INTEGER NOT NULL, segments BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS alignment_sites ON alignments (site);
CREATE INDEX IF NOT EXISTS alignment_counts ON alignments (count);
CREATE TABLE IF NOT EXISTS faults (
    id INTEGER PRIMARY KEY, site TEXT NOT NULL,
    url TEXT NOT NULL, stage TEXT NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS fault_sites ON faults (site);
CREATE TABLE IF NOT EXISTS duplicates (url TEXT PRIMARY KEY, site TEXT NOT NULL, repeats TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS refusals (
    site TEXT NOT NULL, url_a TEXT NOT NULL, url_b TEXT NOT NULL, reason TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS refusal_sites ON refusals (site);
CREATE TABLE IF NOT EXISTS patterns (site TEXT NOT NULL, pattern TEXT NOT NULL, pairs INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS mined (site TEXT PRIMARY KEY, pages INTEGER NOT NULL, settings TEXT NOT NULL) WITHOUT ROWID;
"""

SCHEMA = _LEDGER + _FINDINGS
LAST_TABLE = "mined"
"""The table that is created last: if it exists, all of them do."""
