import tomllib
from pathlib import Path

import msgspec
import pytest

from bitrawl import config
from bitrawl.config import listed
from bitrawl.errors import ConfigError
from bitrawl.job import check
from bitrawl.url import seeds_from

GOOD = {"langs": ["en", "fr"], "seeds": ["https://example.org"]}


def test_a_job_is_written_and_read_back_the_same(tmp_path: Path):
    asked = GOOD | {
        "budget": {"pages": 5},
        "scope": {"one_site": [["a.org", "b.org"]]},
        "fetch": {"connect_to": {"*.test": "127.0.0.1:80"}},
    }
    job = config.resolve(asked)
    config.write(job, tmp_path / "job.toml")
    assert config.resolve(config.read(tmp_path / "job.toml")) == job


def test_codes_and_seeds_are_brought_into_standard_form():
    job = config.resolve({"langs": ["ENG", "fr_FR", "fra"], "seeds": ["HTTPS://Example.org", "https://example.org/"]})
    assert (job.langs[0], job.seeds) == ("en", ["https://example.org/"])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"sedes": []}, "did you mean 'seeds'"),
        ({"politeness": {"dealy": 2}}, r"unknown key 'dealy' in \[politeness\]; did you mean 'delay'"),
        ({"politeness": {"delay": -1}}, r"delay in \[politeness\] is -1; give a number of at least 0"),
        ({"budget": {"pages": "many"}}, r'pages in \[budget\] is "many"; give a whole number'),
        ({"exhaustive": "yes"}, 'exhaustive is "yes"; give true or false'),
        ({"langs": ["en", 3]}, r"langs\[1\] is 3; give a text in quotes"),
        ({"budget": 3}, r"budget is a table: write \[budget\] on a line of its own"),
        ({"delay": 2}, r"unknown key 'delay'; it belongs in \[politeness\]$"),
        ({"megabytes": 2}, r"it belongs in \[analysis\] or \[budget\] or \[fetch\] or \[mining\] or \[render\]$"),
        ({"dealy": 2}, r"unknown key 'dealy'; did you mean 'delay' in \[politeness\]\?"),
        ({"buget": {"pages": 2}}, "unknown key 'buget'; did you mean 'budget'"),
        ({"budget": {"langs": ["en"]}}, r"'langs' does not belong in \[budget\]; write it at the top of the file"),
        ({"export": {"min_score": 0.5}}, r"'min_score' in \[export\]; in a job file it is 'score' in \[judge\]"),
        ({"max-pages": 5}, r"in a job file it is 'pages' in \[budget\]"),
        ({"langs": ["klingonish"]}, "klingonish"),
        ({"langs": []}, "--langs en,fr"),
        ({"langs": ["en-fr"]}, "write --langs en,fr,"),
        ({"langs": ["EN_FR"]}, "write --langs en,fr,"),
        ({"langs": ["en", "en"]}, "one language, English"),
        ({"langs": ["en", "eng", "en-GB"]}, "one language, English"),
        ({"scope": {"include": ["*.html"]}}, "not a valid regular expression"),
        ({"seeds": ["example"]}, "'example' is not a URL; write it in full"),
        ({"seeds": ["https//www.example.org"]}, r"did you mean https://www\.example\.org \?"),
        ({"seeds": ["ftp://example.org/"]}, "only http and https"),
        ({"seeds": ["https://me:secret@example.org/x"]}, "the seed https://example.org/x has a user name"),
        ({"seeds": []}, "nowhere to start"),
        ({"strategy": "depth-first"}, "there is no strategy 'depth-first'; the strategies are breadth-first"),
        ({"export": {"formats": ["foo"]}}, "there is no format 'foo'; the formats are tmx, jsonl"),
        ({"warc": ["/no/such.warc.gz"], "seeds": []}, "no file or folder /no/such.warc.gz"),
        ({"render": {"when": "often"}}, "there is no render mode 'often'; the render modes are never, auto, always"),
        ({"warc": ["x"]}, "--replay"),
        (
            {"export": {"formats": ["tmx", "text"]}},
            "text is not a format for pairs of languages; choose from tmx, jsonl",
        ),
        (
            {"langs": ["fr"], "export": {"formats": ["tmx"]}},
            "tmx is not a format for one language; choose from text, jsonl, xces",
        ),
    ],
)
def test_a_mistake_is_refused_with_its_fix(change, says):
    with pytest.raises(ConfigError, match=says):
        config.resolve(GOOD | change)


@pytest.mark.parametrize(("langs", "formats"), [(["fr"], ["text", "jsonl"]), (["en", "fr"], ["jsonl", "tmx", "tsv"])])
def test_what_is_written_when_nobody_says_depends_on_the_number_of_languages(langs, formats):
    assert config.resolve(GOOD | {"langs": langs}).export.formats == formats


@pytest.mark.parametrize("code", ["en-FR", "pt-br", "pt-BR", "zh-tw", "de-ch", "en-gb", "sr-latn", "es-419", "en"])
def test_a_language_with_its_region_is_one_language(code):
    assert len(config.resolve(GOOD | {"langs": [code]}).langs) == 1


@pytest.mark.parametrize("text", ["en,fr", "en;fr", " en ; fr ", "en,fr,"])
def test_a_flag_lists_with_commas_or_semicolons(text):
    assert listed(text) == ["en", "fr"]


def test_flags_win_over_the_file_key_by_key():
    merged = config.merged(
        {"langs": ["en"], "budget": {"pages": 5, "minutes": 1.0}},
        {"langs": None, "budget": {"pages": 9, "minutes": None}},
    )
    assert merged == {"langs": ["en"], "budget": {"pages": 9, "minutes": 1.0}}


def test_another_job_does_not_continue_in_the_same_folder():
    job = config.resolve(GOOD)
    config.continues(config.resolve(GOOD | {"budget": {"pages": 9}, "seeds": ["https://example.net/"]}), job)
    with pytest.raises(ConfigError, match="--fresh"):
        config.continues(config.resolve(GOOD | {"langs": ["en", "de"]}), job)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("langs = [", r"job.toml is not TOML: it ends too early"),
        ("\x00", "line 1 is not TOML"),
        ("[budget]\npages = 3\nlangs = en,fr", r"line 3 is not TOML: 'langs = en,fr'; put texts in quotes"),
        ('langs: "en,fr"', r'line 1 .*; write key = value, as in langs = "en,fr"'),
        ('langs = "en"\nlangs = "fr"', "line 2 .*; the key is there twice"),
        ("[budget]\npages = 3\n[budget]", "line 3 .*; the table is there twice"),
        ("exhaustive = True", "line 1 .*; write true or false, in lowercase letters"),
    ],
)
def test_a_job_file_that_is_not_toml_is_refused_with_the_line_and_what_to_write(tmp_path: Path, text: str, says: str):
    (tmp_path / "job.toml").write_text(text)
    with pytest.raises(ConfigError, match=says):
        config.read(tmp_path / "job.toml")


def test_a_text_in_a_job_file_stands_for_a_list(tmp_path: Path):
    (tmp_path / "job.toml").write_text(
        'langs = "en,fr"\nseeds = "www.example.org"\n'
        '[export]\nformats = "tmx, TSV"\n[scope]\none_site = "a.org,b.org"\ninclude = "a,b"\n'
    )
    job = config.resolve(config.read(tmp_path / "job.toml"))
    assert (job.langs, job.seeds, job.export.formats) == (["en", "fr"], ["https://www.example.org/"], ["tmx", "tsv"])
    assert (job.scope.one_site, job.scope.include) == ([["a.org", "b.org"]], ["a,b"])


def test_a_seed_list_has_comments_and_blank_lines():
    assert seeds_from(b"\xef\xbb\xbf# sites\n\n https://a.org \r\nhttps://b.org", "seeds.txt") == [
        "https://a.org",
        "https://b.org",
    ]


SECRETS = {
    "langs": ["en", "fr"],
    "seeds": ["https://www.example.org/en/"],
    "replay": ["/home/me/secret/site.warc.gz"],
    "warc": ["/home/me/secret/all.warc.gz"],
    "encoder": "/home/me/secret/labse",
    "url_language_model": "~/secret/urls",
    "url_pair_model": "./secret/pairs",
    "fetch": {
        "contact": "me@secret.test",
        "proxy": "http://me:secret@proxy.test:3128",
        "connect_to": {"*.secret.test": "10.0.0.1:80"},
    },
    "pair": {"dictionary": "/home/me/secret/words.tsv"},
}


def test_a_job_that_is_published_has_no_credentials_no_contact_and_no_paths():
    text = config.public_text_of(msgspec.convert(SECRETS, config.Job))
    assert not any(told in text for told in ("secret", "me@", "home", "proxy.test", "10.0.0.1"))
    public = tomllib.loads(text)
    assert public["seeds"] == ["https://www.example.org/en/"]
    assert (public["replay"], public["warc"]) == (["site.warc.gz"], ["all.warc.gz"])
    assert public["pair"]["dictionary"] == "words.tsv"
    assert [public[name] for name in ("encoder", "url_language_model", "url_pair_model")] == ["labse", "urls", "pairs"]
    assert not any(public["fetch"][name] for name in ("contact", "proxy", "connect_to"))


def test_a_job_that_is_published_keeps_all_that_made_the_corpus():
    asked = {"langs": ["en", "fr"], "seeds": ["https://a.org/@me/"], "encoder": "sentence-transformers/LaBSE"}
    job = config.resolve(asked | {"judge": {"score": 0.4}})
    assert config.public_text_of(job) == config.text_of(job)


def test_a_job_file_keeps_no_password(tmp_path):
    asked = GOOD | {"fetch": {"proxy": "http://me:hush@proxy.test:3128"}}
    config.write(config.resolve(asked), tmp_path / "job.toml")
    written = (tmp_path / "job.toml").read_text()
    assert "hush" not in written
    assert "HTTP_PROXY" in written
    assert config.read(tmp_path / "job.toml")["fetch"]["proxy"] == "http://proxy.test:3128"


@pytest.mark.parametrize("raw", ["https//www.example.org/a", "//www.example.org/a"])
def test_a_mistyped_seed_is_answered_with_what_was_meant(raw):
    with pytest.raises(ConfigError, match=r"did you mean https://www\.example\.org/a \?"):
        config.resolve(GOOD | {"seeds": [raw]})


@pytest.mark.parametrize("content", [b"\xff\xfe\x00\x01", b"https://a.org\n\x80\x81"])
def test_a_seed_list_that_is_no_text_is_refused(content):
    with pytest.raises(ConfigError, match=r"seeds\.bin is not a text file in UTF-8"):
        seeds_from(content, "seeds.bin")


@pytest.mark.parametrize(
    "seed", ["https://me:secret@a.org/", "https://me:secret@a b/", "me:secret@www.a.org", "//me:secret@a.org"]
)
def test_a_password_in_a_seed_is_refused_and_not_repeated(seed):
    with pytest.raises(ConfigError) as caught:
        config.resolve(GOOD | {"seeds": [seed]})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "proxy", ["http://me:se@cret@proxy.org:3128", "me:secret@proxy.org:3128", "http://proxy.org:3128"]
)
def test_a_job_file_has_no_password(proxy):
    text = config.text_of(config.resolve(GOOD | {"fetch": {"proxy": proxy}}))
    assert "cret" not in text
    assert 'proxy.org:3128"' in text


# topics


def topical(tmp_path: Path, **topic: object) -> dict[str, object]:
    (tmp_path / "list.txt").write_text("100:harbour=ports>en\n", "utf-8")
    return {"topic": {"terms": str(tmp_path / "list.txt")} | topic}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"strategy": "terms"}, "the strategy terms needs a topic; name one with --topic FILE"),
        (
            {"strategy": "perplexity"},
            "the strategy perplexity needs a topic; name one with --topic FILE or --texts FOLDER",
        ),
        ({"scope": {"reach": "web"}}, "--scope web needs a topic, .* name one with --topic or --texts"),
        ({"scope": {"reach": "wbe"}}, "there is no scope 'wbe'; the scopes are site, domain, web"),
        (
            {"topic": {"model": "bert", "texts": ["x"]}},
            "there is no topic model 'bert'; the topic models are learned, terms",
        ),
        ({"topic": {"against": ["x"]}}, "say what it is with --topic, --texts or --like"),
        ({"topic": {"text": ["x"]}}, r"unknown key 'text' in \[topic\]; did you mean 'texts'"),
        ({"topic": {"threshold": 7}}, r"threshold in \[topic\]"),
        ({"topic": {"texts": ["x"], "model": "terms"}}, r"--topic FILE\); bitrawl topic learn makes one"),
        ({"topic": {"texts": ["x"]}, "strategy": "terms"}, r"--topic FILE\); bitrawl topic learn makes one"),
        ({"topic": {"like": ["https://a.org/"], "model": "perplexity"}}, r"--texts FOLDER\) or language_models"),
        ({"topic": {"terms": "x"}, "strategy": "perplexity"}, r"--texts FOLDER\) or language_models"),
        ({"topic": {"texts": ["x"], "model": "learned"}, "strategy": "perplexity"}, "remove model = 'learned'"),
        ({"topic": {"texts": ["x"], "language_models": ["en"]}}, '"en=topic.arpa"'),
        ({"topic": {"texts": ["x"], "language_models": ["klingonish=a.arpa"]}}, "klingonish"),
        ({"topic": {"like": ["example"]}}, "'example' is not a URL"),
        ({"topic": {"buckets": [5000.0, 100.0]}}, "--buckets 100,5000"),
        ({"topic": {"buckets": [0.0, 100.0]}}, "--buckets 100,5000"),
        ({"topic": {"buckets": [-5.0, 100.0]}}, "--buckets 100,5000"),
        ({"topic": {"buckets": [float("nan"), 100.0]}}, "--buckets 100,5000"),
        ({"topic": {"buckets": [100.0, float("inf")]}}, "--buckets 100,5000"),
        ({"topic": {"buckets": [100.0]}}, r"buckets in \[topic\] is \[100.0\]; give a list of 2"),
        ({"topic": {"max_perplexity": 1.0}}, r"max_perplexity in \[topic\] is 1.0; give a number greater than 1"),
    ],
)
def test_a_mistake_in_a_topic_is_refused_with_its_fix(change, says):
    with pytest.raises(ConfigError, match=says):
        config.resolve(GOOD | change)


@pytest.mark.parametrize("name", ["terms", "texts", "against", "language_models"])
def test_a_file_of_the_topic_that_is_not_there_is_named_before_anything_is_done(tmp_path: Path, name: str):
    gone = str(tmp_path / "gone.txt")
    value = {"terms": gone, "language_models": [f"en={gone}"]}.get(name, [gone])
    job = config.resolve(GOOD | topical(tmp_path, **{name: value}))
    with pytest.raises(ConfigError, match=f"there is no file or folder {gone}"):
        check(job)


def test_a_job_can_be_read_after_the_files_of_its_topic_are_gone(tmp_path: Path):
    job = config.resolve(GOOD | topical(tmp_path, texts=[str(tmp_path)]))
    check(job)
    config.write(job, tmp_path / "job.toml")
    (tmp_path / "list.txt").unlink()
    assert config.resolve(config.read(tmp_path / "job.toml")) == job


def test_pages_that_the_topic_is_like_are_seeds_and_stay_apart_in_the_job(tmp_path: Path):
    job = config.resolve({"langs": ["en"], "topic": {"like": ["HTTPS://a.org", "https://a.org/"]}})
    assert (job.seeds, job.topic.like, [str(url) for url in job.seed_urls()]) == (
        [],
        ["https://a.org/"],
        ["https://a.org/"],
    )
    config.write(job, tmp_path / "job.toml")
    assert config.resolve(config.read(tmp_path / "job.toml")) == job


@pytest.mark.parametrize(
    ("strategy", "model", "judges"),
    [
        ("adaptive", None, "learned"),
        ("terms", None, "terms"),
        ("breadth-first", "terms", "terms"),
        ("terms", "learned", "learned"),
    ],
)
def test_what_judges_pages_follows_the_strategy_unless_it_is_named(tmp_path: Path, strategy, model, judges):
    more = {} if model is None else {"model": model}
    assert config.resolve(GOOD | topical(tmp_path, **more) | {"strategy": strategy}).topic_model() == judges
    assert config.resolve(GOOD).topic_model() is None


@pytest.mark.parametrize(
    "other", [{}, {"texts": ["y"]}, {"like": ["https://b.org/"]}, {"hub": True}, {"model": "terms"}, {"against": ["z"]}]
)
def test_a_job_with_another_topic_does_not_continue_in_the_same_folder(tmp_path: Path, other):
    asked = GOOD | topical(tmp_path)
    config.continues(config.resolve(asked), config.resolve(asked))
    config.continues(config.resolve(GOOD | topical(tmp_path, buckets=[10.0, 20.0])), config.resolve(asked))
    changed = config.resolve(GOOD | topical(tmp_path, **other) if other else GOOD)
    for now, before in ((changed, config.resolve(asked)), (config.resolve(asked), changed)):
        with pytest.raises(ConfigError, match=r"topic\.\w+ = .*--out, or start over with --fresh"):
            config.continues(now, before)


def test_a_published_job_names_the_files_of_its_topic_without_their_folders(tmp_path: Path):
    text = config.public_text_of(
        config.resolve(GOOD | topical(tmp_path, texts=["/home/me/bees"], language_models=["en=/home/me/bees.arpa"]))
    )
    assert "/home/me" not in text
    assert str(tmp_path) not in text
    assert 'terms = "list.txt"' in text
    assert '"en=bees.arpa"' in text
