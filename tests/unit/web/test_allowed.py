import re
from importlib import resources
from pathlib import Path

import pytest

from bitrawl import config
from bitrawl.config import SETTINGS, Job
from bitrawl.crawling import FetchSection
from bitrawl.errors import ConfigError, FieldError
from bitrawl.store.folder import JobFolder
from bitrawl.topic.term_list import read_terms
from bitrawl.web import allowed
from bitrawl.web.allowed import Upload, Uploads
from bitrawl.web.job_list import Command, JobVerb
from bitrawl.web.messages import typed_languages
from bitrawl.web.operator_settings import LimitsSection, Settings, WikiSection

LEAST = {"seeds": "www.example.org", "languages": "en, fr"}
PLAIN = Settings()


def job_of(folder: Path, given: dict[str, object], settings: Settings = PLAIN, uploads: Uploads | None = None) -> Job:
    allowed.mining({**LEAST, **given}, settings, uploads).prepare(folder)
    return JobFolder(folder).job()


def mistakes_of(given: dict[str, object], settings: Settings = PLAIN, uploads: Uploads | None = None) -> dict[str, str]:
    with pytest.raises(FieldError) as error:
        allowed.mining({**LEAST, **given}, settings, uploads)
    return {name: str(message) for name, message in error.value.fields.items()}


def test_the_least_that_a_person_types_is_a_job_with_the_budget_of_the_server(tmp_path: Path):
    asked = allowed.mining(LEAST, PLAIN).prepare(tmp_path)
    assert asked.command == Command(JobVerb.MINE)
    assert asked.sites == ("example.org",)
    job = JobFolder(tmp_path).job()
    assert job.seeds == ["https://www.example.org/"]
    assert job.langs == ["en", "fr"]
    assert (job.budget.pages, job.budget.megabytes, job.budget.minutes) == (20_000, 2000, 720)
    assert job.politeness.delay == 1.0


def test_everything_that_is_allowed_reaches_the_job(tmp_path: Path):
    job = job_of(
        tmp_path,
        {
            "seeds": "https://a.example/\nb.example/x",
            "languages": ["French", "Deutsch"],
            "contact": "me@example.org",
            "name": "My job",
            "terms": "50:acid rain>fr\n",
            "texts": "Un texte.",
            "like": "https://c.example/",
            "hub": "on",
            "topic_threshold": "0.7",
            "pages": "100",
            "megabytes": 5,
            "minutes": "1.5",
            "scope": "site",
            "same_host": True,
            "under": "/docs",
            "depth": "3",
            "strategy": "adaptive",
            "exhaustive": "true",
            "delay": "2",
            "formats": ["tmx", "Moses"],
            "min_score": "0.5",
            "min_coverage": 0.1,
            "min_length_ratio": 0.3,
            "min_language": 0.4,
            "min_words": "2",
            "types": "1:1, 1:2",
            "refuse": ["code", " url "],
            "duplicates": "true",
        },
    )
    assert job.seeds == ["https://a.example/", "https://b.example/x"]
    assert job.langs == ["fr", "de"]
    assert job.fetch.contact == "me@example.org"
    assert (tmp_path / "given/terms.txt").read_text() == "50:acid rain>fr\n"
    assert job.topic.terms == str(tmp_path / "given/terms.txt")
    assert job.topic.texts == [str(tmp_path / "given/texts")]
    assert (job.topic.hub, job.topic.threshold, job.topic.like) == (True, 0.7, ["https://c.example/"])
    assert (job.budget.pages, job.budget.megabytes, job.budget.minutes) == (100, 5, 1.5)
    assert (job.scope.same_host, job.scope.under, job.scope.depth) == (True, ["/docs/"], 3)
    assert (job.exhaustive, job.politeness.delay) == (True, 2)
    assert job.export.formats == ["tmx", "moses"]
    assert job.judge.score == 0.5
    assert (job.judge.coverage, job.judge.length_ratio, job.judge.language, job.judge.words) == (0.1, 0.3, 0.4, 2)
    assert (job.judge.types, job.judge.refuse, job.judge.duplicates) == (("1:1", "1:2"), ("code", "url"), True)


FORBIDDEN = (
    *("allow_private", "connect_to", "proxy", "cookies", "ignore_opt_outs", "opt_outs", "encoder", "dictionary"),
    *("url_language_model", "url_pair_model", "replay", "warc", "backlinks", "against", "language_models", "workers"),
    *("fetch", "fetch.proxy", "politeness", "topic", "parallel", "per_host", "one_site", "buckets", "url_pair"),
)


@pytest.mark.parametrize("name", FORBIDDEN)
@pytest.mark.parametrize("value", ["x", "", True, {"proxy": "http://x"}])
def test_what_only_the_operator_may_set_is_refused_by_name(name: str, value: object):
    assert "only the operator" in mistakes_of({name: value})[name]


def test_no_setting_of_the_command_line_is_allowed_unless_it_is_listed():
    keys = {field.key for field in allowed.MINING.values()}
    assert keys & {setting.key for setting in SETTINGS.values() if setting.help} == {
        *("langs", "strategy", "exhaustive", "topic.like", "topic.hub", "scope.reach", "scope.include"),
        *("scope.exclude", "scope.same_host", "scope.under", "scope.depth", "politeness.delay", "fetch.contact"),
        *(
            "budget.pages",
            "budget.minutes",
            "budget.megabytes",
            "export.anonymise",
            "export.formats",
            "judge.score",
            "align.characters",
        ),
    }


def test_an_unknown_key_is_named_with_the_nearest_one():
    assert mistakes_of({"page": 3})["page"] == "there is no setting page; did you mean pages?"
    assert mistakes_of({"zzz": 3})["zzz"] == "there is no setting zzz"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("languages", "en, frensh"),
        ("languages", ""),
        ("languages", 7),
        ("seeds", ""),
        ("seeds", "ftp://example.org/"),
        ("seeds", "file:///etc/passwd"),
        ("seeds", "https://user:secret@example.org/"),
        ("seeds", "https://"),
        ("seeds", ["https://a.example/", 3]),
        ("seeds", "x" * 3000),
        ("pages", "0"),
        ("pages", "20001"),
        ("pages", "1.5"),
        ("pages", "many"),
        ("pages", True),
        ("megabytes", "nan"),
        ("minutes", "1e999"),
        ("minutes", "-1"),
        ("delay", "0.9"),
        ("delay", "-1"),
        ("contact", "me (at) home"),
        ("contact", "a\x00b"),
        ("scope", "universe"),
        ("scope", "web"),
        ("strategy", "fastest"),
        ("strategy", "terms"),
        ("formats", "exe"),
        ("formats", "text"),
        ("under", "docs"),
        ("under", "//evil.example/"),
        ("include", "docs.*"),
        ("exclude", "//x"),
        ("exclude", "/x\n" * 101),
        ("hub", "perhaps"),
        ("min_score", "2"),
        ("depth", "-1"),
        ("name", "x" * 3000),
        ("texts", [3]),
        ("terms", 3),
    ],
)
def test_a_mistake_is_told_at_its_field(field: str, value: object):
    assert set(mistakes_of({field: value})) == {field}


def test_all_mistakes_are_told_at_once():
    assert set(mistakes_of({"pages": "x", "languages": "xxxxxx", "proxy": "y"})) == {"pages", "languages", "proxy"}


@pytest.mark.parametrize(
    ("prefix", "matches", "spares"),
    [
        ("/news/", "https://a.example/news/1", "https://a.example/old/news/1"),
        ("/a.b", "http://a.example/a.b/c", "http://a.example/axb/c"),
        ("/(a+)+$", "http://a.example/(a+)+$", "http://a.example/aaaa"),
        ("/übung", "http://a.example/%C3%BCbung/1", "http://a.example/ubung"),
        ("https://a.example/x", "https://a.example/x/y", "https://b.example/?u=https://a.example/x"),
    ],
)
def test_a_prefix_is_no_pattern(tmp_path: Path, prefix: str, matches: str, spares: str):
    (pattern,) = job_of(tmp_path, {"exclude": prefix}).scope.exclude
    assert re.search(pattern, matches)
    assert not re.search(pattern, spares)


def test_the_operators_settings_win_but_a_politer_delay_stays(tmp_path: Path):
    operator = Settings(
        job={
            "fetch": {"contact": "boss@example.org", "allow_private": True},
            "politeness": {"delay": 0.5, "per_host": 2},
            "discovery": {"backlinks": ["http://graph.example/"]},
        }
    )
    job = job_of(tmp_path, {"contact": "me@example.org", "delay": "3"}, operator)
    assert job.fetch.contact == "boss@example.org"
    assert job.fetch.allow_private
    assert (job.politeness.delay, job.politeness.per_host) == (3, 2)
    assert job_of(tmp_path, {}, operator).politeness.delay == 0.5
    assert "delay" in mistakes_of({"delay": "0.4"}, operator)
    slow = Settings(job={"politeness": {"delay": 5.0}})
    assert "between 5 and" in mistakes_of({"delay": "2"}, slow)["delay"]


def test_uploads_are_kept_under_names_of_ours(tmp_path: Path):
    uploads = Uploads(
        seeds=Upload("../../seeds", b"# list\nhttps://b.example/\nhttps://www.example.org/\n"),
        terms=Upload("../../../etc/terms.TSV", b"term\tlanguage\nacid rain\ten\n"),
        texts=(Upload("../a.html", b"<p>One"), Upload("/etc/passwd", b"Two")),
    )
    job = job_of(tmp_path, {}, uploads=uploads)
    assert job.seeds == ["https://www.example.org/", "https://b.example/"]
    found = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert found == ["given/terms.tsv", "given/texts/1.html", "given/texts/2.txt", "job.toml"]


def test_an_archive_is_moved_into_the_folder_and_asks_no_site(tmp_path: Path):
    archive = tmp_path / "upload"
    archive.write_bytes(b"\x1f\x8bxx")
    folder = tmp_path / "job"
    folder.mkdir()
    asked = allowed.mining({"languages": "en fr"}, PLAIN, Uploads(warc=archive))
    assert asked.prepare(folder).sites == ()
    assert JobFolder(folder).job().warc == [str(folder / "given/archive.warc.gz")]
    assert not archive.exists()


def test_the_example_of_the_terms_field_is_right_with_and_without_its_language(tmp_path: Path):
    hint = (resources.files("bitrawl.web") / "templates/start_form.html").read_text("utf-8")
    [example] = re.findall(r"100:[^.\"]+>en", hint)
    for number, terms in enumerate((example, example.removesuffix(">en"))):
        job = job_of(tmp_path / str(number), {"terms": terms})
        topic_terms = read_terms(Path(job.topic.terms), job.languages())
        assert [len(topic_terms.of(language)) for language in job.languages()] == [1, number]


def test_a_term_list_that_cannot_be_read_is_told_at_its_field_without_our_paths(tmp_path: Path):
    with pytest.raises(FieldError) as error:
        job_of(tmp_path, {"terms": "much:nonsense"})
    assert set(error.value.fields) == {"terms"}
    assert str(tmp_path) not in str(error.value)


def test_a_seed_list_that_is_no_text_is_told_at_its_field():
    assert set(mistakes_of({}, uploads=Uploads(seeds=Upload("x", b"\xff\xfe\x00")))) == {"seeds"}


def test_a_search_for_sites(tmp_path: Path):
    settings = Settings(job={"discovery": {"backlinks": ["http://graph.example/"]}})
    asked = allowed.discovery({**LEAST, "downloads": "50"}, settings)
    assert asked.prepare(tmp_path).command == Command(JobVerb.DISCOVER)
    found = JobFolder(tmp_path).job().discovery
    assert (found.walk, found.downloads, found.backlinks) == ("cocitation", 50, ["http://graph.example/"])
    for given, field in (
        ({"languages": "en"}, "languages"),
        ({"strategy": "adaptive"}, "strategy"),
        ({"scope": "web"}, "scope"),
    ):
        with pytest.raises(FieldError) as error:
            allowed.discovery({**LEAST, **given}, PLAIN)
        assert set(error.value.fields) == {field}


def test_a_bootstrap_cannot_smuggle_flags(tmp_path: Path):
    asked = allowed.bootstrapping({"category": "--allow-private", "languages": "de, it", "contact": "--fresh"}, PLAIN)
    assert asked.prepare(tmp_path).command.arguments == (
        *("--langs=de,it", "--wiki=en", "--contact=--fresh", "--", "--allow-private"),
    )
    assert asked.sites == ("wikipedia.org",)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"category": ""}, "category"),
        ({"languages": ""}, "languages"),
        ({"wiki": "http://10.0.0.1/api.php"}, "wiki"),
        ({"dump": "/etc"}, "dump"),
        ({"allow_private": "on"}, "allow_private"),
        ({"depth": "9"}, "depth"),
    ],
)
def test_a_mistake_in_a_bootstrap_is_told_at_its_field(given: dict[str, object], field: str):
    with pytest.raises(FieldError) as error:
        allowed.bootstrapping({"category": "Rain", "languages": "de", **given}, PLAIN)
    assert set(error.value.fields) == {field}


OWN = WikiSection(
    editions={"en": "http://10.0.0.7/en/api.php", "de": "http://wiki.intra:8080/de/api.php"}, allow_private=True
)


@pytest.mark.parametrize(
    ("edition", "asked_first"), [("", OWN.editions["en"]), ("en", OWN.editions["en"]), ("German", OWN.editions["de"])]
)
def test_a_topic_comes_from_the_operators_wiki_and_only_that_may_be_private(edition: str, asked_first: str):
    asked = allowed.bootstrapping({"category": "Rain", "languages": "de", "wiki": edition}, Settings(wiki=OWN))
    assert asked.arguments == (
        "--langs=de",
        f"--wiki={asked_first}",
        *(f"--private-wiki={address}" for address in OWN.editions.values()),
        "--",
        "Rain",
    )
    public = Settings(wiki=WikiSection(editions={"en": "https://wiki.example.org/w/api.php"}))
    assert "--private-wiki" not in " ".join(
        allowed.bootstrapping({"category": "R", "languages": "de"}, public).arguments
    )


@pytest.mark.parametrize("wiki", ["fr", "http://10.0.0.1/api.php", "http://10.0.0.7/en/api.php"])
def test_users_choose_among_the_editions_that_the_operator_named(wiki: str):
    with pytest.raises(FieldError) as error:
        allowed.bootstrapping({"category": "Rain", "languages": "de", "wiki": wiki}, Settings(wiki=OWN))
    assert set(error.value.fields) == {"wiki"}


def test_going_on_takes_the_largest_budget_unless_one_is_given():
    small = Settings(limits=LimitsSection(pages=500))
    assert allowed.going_on({}, small)["budget"]["pages"] == 500
    assert allowed.going_on({"pages": "400"}, small)["budget"]["pages"] == 400
    assert allowed.going_on({}, small)["exhaustive"] is True
    with pytest.raises(FieldError, match="at most 500"):
        allowed.going_on({"pages": 501}, small)


def test_a_larger_limit_changes_that_limit_alone_and_none_of_the_operators():
    small = Settings(limits=LimitsSection(pages=500))
    assert allowed.larger_limit({"pages": "400"}, small) == {"budget": {"pages": 400}}
    assert allowed.larger_limit({"downloads": 2000}, small) == {"discovery": {"downloads": 2000}}
    with pytest.raises(FieldError, match="at most 500"):
        allowed.larger_limit({"pages": 501}, small)
    with pytest.raises(FieldError, match="exhaustive"):
        allowed.larger_limit({"exhaustive": True}, small)
    fixed = Settings(job={"budget": {"pages": 100}})
    assert allowed.larger_limit({"pages": 400}, fixed) == {"budget": {"pages": 100}}


def test_what_a_search_found_fills_the_form_of_a_mining_job(tmp_path: Path):
    job = Job(langs=["en", "fr"], seeds=["https://x.example/"], fetch=FetchSection(contact="me@x.example"))
    config.write(job, tmp_path / "job.toml")
    with pytest.raises(ConfigError, match="nothing has been found"):
        allowed.handed_over(JobFolder(tmp_path))
    (tmp_path / "sites.txt").write_text("# found\nhttps://a.example/\n")
    assert allowed.handed_over(JobFolder(tmp_path)) == {
        "seeds": "https://a.example/",
        "languages": "en, fr",
        "contact": "me@x.example",
    }


@pytest.mark.parametrize(
    ("typed", "codes"),
    [
        ("en,fr", ["en", "fr"]),
        ("en fr", ["en", "fr"]),
        ("French and German", ["fr", "de"]),
        ("français; Deutsch", ["fr", "de"]),
        ("中文 / العربية", ["zh", "ar"]),
        ("Scottish Gaelic, en", ["gd", "en"]),
        ("anglais et allemand", ["en", "de"]),
        ("fr, French", ["fr"]),
        ("pt-BR", ["pt-BR"]),
        (" , ", []),
    ],
)
def test_languages_are_read_as_people_type_them(typed: str, codes: list[str]):
    assert typed_languages(typed) == codes
