"""The folder of somebody who follows the documentation: the texts, lists, archives and jobs that its examples name."""

import gzip
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from documented_commands import ROOT
from example_web import ADDRESSES, ARTICLES, NAMES, PAGES, SITE, path_of

ENVIRONMENT = "100:acid rain>en\n100:environment>en\n80:pollution>en\n100:pluies acides>fr\n100:environnement>fr\n80:pollution>fr\n"
OTHER_JOBS = ("one", "two", "three", "four", "environment")
TUNED = "jobs/perplexity"
"""A job with buckets: it stands for any job that is tuned."""
REFRESHED = "jobs/refreshed"
"""A job that was visited twice: it stands for any job whose rounds are compared."""


def write_files(folder: Path) -> None:
    """All but what bitrawl makes itself."""
    lists = {
        "a.txt": "\n".join(ARTICLES["acid-rain"]["de"]) + "\n",
        "b.txt": "\n".join(ARTICLES["acid-rain"]["fr"]) + "\n",
        "pairs.tsv": "a.txt\tb.txt\n",
        "urls.txt": "\n".join(ADDRESSES) + "\n",
        "sites.txt": f"{SITE}/\n",
        "seeds.txt": f"{SITE}/\n",
        "found/sites.txt": f"{SITE}/\n",
        "page.html": PAGES["/acid-rain"],
        "environment.txt": ENVIRONMENT,
        "better.txt": ENVIRONMENT,
        "topic.txt": ENVIRONMENT,
        "job.toml": re.findall(r"```toml\n(.*?)```", (ROOT / "docs/reference/job-file.md").read_text(), re.DOTALL)[0],
        "truth.tsv": "url_a\turl_b\tlang_a\tlang_b\n"
        + "".join(f"{SITE}{path_of(key, 'en')}\t{SITE}{path_of(key, 'fr')}\ten\tfr\n" for key in ARTICLES),
        "links.tsv": f"https://www.hub.example/links.html\t{SITE}/\tExample\tMuseums\n",
    }
    for key in ARTICLES:
        lists[f"folder-of-html-files/{key or 'home'}.html"] = PAGES[f"/{key}"]
        lists[f"texts/{key or 'home'}.txt"] = lists[f"my-articles/{key or 'home'}.txt"] = "\n".join(
            2 * ARTICLES[key]["en"]
        )
    lists["other-texts/safety.txt"] = "\n".join(ARTICLES["safety"]["en"])
    for name, text in lists.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    (folder / "links.tsv.gz").write_bytes(gzip.compress(lists["links.tsv"].encode()))
    _write_link_graph(folder / "cc-graph")
    _write_dump(folder / "dumps/enwiki")


def _write_link_graph(folder: Path) -> None:
    folder.mkdir()
    release = "cc-main-2024-nov-feb-apr-domain"
    (folder / f"{release}-vertices.txt.gz").write_bytes(gzip.compress(b"0\texample.hub\t1\n1\torg.example\t2\n"))
    (folder / f"{release}-edges.txt.gz").write_bytes(gzip.compress(b"0\t1\n"))


def _write_dump(folder: Path) -> None:
    """The SQL files of a wiki with one category, which holds our articles."""
    folder.mkdir(parents=True)
    articles = dict(enumerate(filter(None, ARTICLES), 10))
    tables = {
        "page": ("page_id page_namespace page_title page_is_redirect", [
            "(1,14,'Health_and_safety_at_work',0)",
            *(f"({number},0,'{ARTICLES[key]['en'][0].replace(' ', '_')}',0)" for number, key in articles.items())]),
        "linktarget": ("lt_id lt_namespace lt_title", ["(500,14,'Health_and_safety_at_work')"]),
        "categorylinks": ("cl_from cl_type cl_target_id", [f"({number},'page',500)" for number in articles]),
        "langlinks": ("ll_from ll_lang ll_title", [
            f"({number},'{code}','{ARTICLES[key][code][0]}')" for number, key in articles.items() for code in NAMES]),
        "externallinks": ("el_id el_from el_to_domain_index el_to_path", [
            f"({number},{number},'https://org.example.www.','/{key}')" for number, key in articles.items()]),
        "page_props": ("pp_page pp_propname pp_value", ["(10,'wikibase_item','Q1')"]),
    }  # fmt: skip
    for table, (columns, rows) in tables.items():
        described = "\n".join(f"  `{column}` varbinary(255) NOT NULL DEFAULT ''," for column in columns.split())
        content = f"CREATE TABLE `{table}` (\n{described}\n  PRIMARY KEY (`x`)\n) ENGINE=InnoDB;\n"
        content += f"INSERT INTO `{table}` VALUES {','.join(rows)};\n"
        (folder / f"enwiki-20261101-{table}.sql.gz").write_bytes(gzip.compress(content.encode()))


def mine_jobs(folder: Path, bitrawl: Callable[..., object]) -> None:
    """One job, copied for each name that the examples give to another, and the archives that are taken from it."""
    jobs = folder / "jobs"
    bitrawl("mine", f"{SITE}/", "--langs", "en,fr", "--out", jobs / "example", "--exhaustive")
    for name in OTHER_JOBS:
        shutil.copytree(jobs / "example", jobs / name)
    shutil.copytree(jobs / "example", folder / REFRESHED)
    bitrawl("mine", "--refresh", "--out", folder / REFRESHED, "--quiet")
    buckets = ("--langs", "en", "--texts", folder / "texts", "--strategy", "perplexity")
    bitrawl("crawl", f"{SITE}/", *buckets, "--out", folder / TUNED, "--quiet")
    bitrawl("discover", "graph", "build", folder / "cc-graph", "--out", folder / "graph", "--quiet")
    archive = next((jobs / "example/warc").glob("*.warc.gz"))
    for name in ("site.warc.gz", "web.warc.gz", "crawls/a.warc.gz", "segments/a.warc.gz", "by-site/00000.warc.gz"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(archive, folder / name)
