import time

import numpy as np
import pytest
from typer.testing import CliRunner

from bitrawl.cli.urls import urls as urls_app
from bitrawl.languages import same_language
from bitrawl.model_files import model_file
from bitrawl.url import Url
from bitrawl.urls import LinearUrlLanguageModel, language_by_rules
from bitrawl.urls.language_evidence import UrlReader
from bitrawl.urls.language_model import REMEMBERED, UrlLanguageData
from lab.train.url_language import evidence

# Written for this test, not taken from any data; hosts are invented.
MARKED = """
https://www.example.org/fr/about fr
https://example.org/de-AT/preise de
https://example.com/docs/zh-hans/install.html zh
https://ja.example.net/guide ja
https://example.com/?lang=cy cy
https://example.com/view?id=7&locale=pt_BR pt
https://example.com/help.sk.html sk
https://example.com/manual_hu.pdf hu
https://example.org/eus/index.html eu
https://example.org/svenska/start sv
https://example.org/kiswahili/ sw
https://www.example.org/deutsch/seite.html de
https://tt.example.org/wiki/1234 tt
https://example.com/yo/article/99 yo
https://example.com/language/ka/77 ka
https://example.org/gu/ gu
https://example.cat/contacte ca
https://example.com/mt-MT/kuntatt mt
https://example.com/pages?hl=ne ne
https://kk.example.com/a/b/c kk
"""
TOLD = """
https://www.ministerstvo.gov.cz/urad/kontakty cs
https://uudised.ee/arhiiv/2019/eesti-keel et
https://www.zinios.lt/naujienos/lietuva lt
https://www.frettir.is/innlent/vedrid is
https://www.noticias.com.mx/deportes/el-partido-de-ayer es
https://blog.example.com/recetas-de-cocina-para-toda-la-familia es
https://blog.example.com/wie-man-einen-garten-im-fruehling-anlegt de
https://blog.example.com/come-fare-la-pasta-in-casa-con-le-uova it
https://blog.example.com/cach-nau-pho-bo-ngon-tai-nha vi
https://blog.example.com/comment-faire-une-bonne-soupe-aux-legumes fr
https://blog.example.com/cara-membuat-nasi-goreng-yang-enak id
https://blog.example.com/jak-zrobic-dobre-pierogi-z-miesem pl
https://example.com/kako-napraviti-dobru-supu-od-povrca hr
https://example.com/%D0%BD%D0%BE%D0%B2%D0%B8%D0%BD%D0%B8-%D1%81%D1%8C%D0%BE%D0%B3%D0%BE%D0%B4%D0%BD%D1%96-%D1%96-%D0%B7%D0%B0%D0%B2%D1%82%D1%80%D0%B0 uk
https://example.com/%E3%83%8B%E3%83%A5%E3%83%BC%E3%82%B9%E3%81%A8%E5%A4%A9%E6%B0%97 ja
https://example.com/%CE%BD%CE%AD%CE%B1-%CF%84%CE%B7%CF%82-%CE%B7%CE%BC%CE%AD%CF%81%CE%B1%CF%82 el
https://example.com/%E0%AE%9A%E0%AF%86%E0%AE%AF%E0%AF%8D%E0%AE%A4%E0%AE%BF ta
https://example.com/%D7%97%D7%93%D7%A9%D7%95%D7%AA he
https://www.stirileprotv.ro/economie/preturi ro
https://habari.co.tz/michezo/matokeo-ya-mechi sw
https://www.xeberler.az/siyaset/son-xeberler az
https://lajme.al/kosova/shendeti sq
https://www.koran.co.id/berita/harga-bahan-pokok id
https://www.gazete.com.tr/haber/son-dakika tr
https://www.avisen.dk/nyheder/vejret da
https://www.nyheter.no/vaeret/i-dag no
https://www.uutiset.fi/kotimaa/saa-tanaan fi
https://www.jornal.com.br/noticias/politica pt
https://example.co.uk/about-the-company/history en
https://www.example.edu/research/departments/history-of-science en
https://blog.example.com/how-to-grow-tomatoes-in-a-small-garden en
"""


def rows(text):
    return [line.split() for line in text.split("\n") if line]


@pytest.fixture(scope="module")
def model():
    return LinearUrlLanguageModel()


def answers(model, text):
    chances = model.distribution([Url.parse(url) for url, _ in rows(text)])
    return [model.languages[number] for number in chances.argmax(axis=1).tolist()]


def share_right(found, text):
    pairs = list(zip(found, rows(text), strict=True))
    wrong = [(url, language, answer) for answer, (url, language) in pairs if not same_language(answer, language)]
    return 1 - len(wrong) / len(pairs), wrong


def test_a_url_that_names_its_language_is_in_it(model):
    share, wrong = share_right(answers(model, MARKED), MARKED)
    assert share >= 0.95, wrong


def test_country_and_words_tell_the_language_where_nothing_names_it(model):
    share, wrong = share_right(answers(model, TOLD), TOLD)
    assert share >= 0.85, wrong


def test_the_rules_are_beaten_by_twenty_points_and_more(model):
    both = MARKED + TOLD
    by_rules = [language_by_rules(Url.parse(url)) for url, _ in rows(both)]
    assert share_right(answers(model, both), both)[0] >= share_right(by_rules, both)[0] + 0.2


def test_there_are_at_least_160_languages_and_unknown(model):
    assert len(set(model.languages)) - 1 >= 160
    assert model.languages[-1] == "und"


@pytest.mark.parametrize(
    "url",
    ["http://192.0.2.7/12/3456", "http://[2001:db8::7]/?p=12", "http://203.0.113.9:8080/", "http://10.1.2.3/8/9.html"],
)
def test_a_url_of_numbers_is_unknown(model, url):
    assert model.languages[model.distribution([Url.parse(url)])[0].argmax()] == "und"


HOSTILE = [
    "https://example.org/" + "a" * 2000,
    "https://example.org/" + "/".join("%F0%9F%98%80" for _ in range(100)),
    "https://example.org/%FF%FE%00%80",
    "https://xn--e1afmkfd.xn--p1ai/",
    "https://xn--80ak6aa92e.com/",
    "https://example.org/?" + "&".join(f"lang{n}=xx" for n in range(100)),
    "https://localhost/",
    "https://a/",
]


def test_rows_are_distributions_whatever_the_url(model):
    chances = model.distribution([Url.parse(url) for url in HOSTILE])
    assert chances.shape == (len(HOSTILE), len(model.languages))
    assert chances.dtype == np.float32
    np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=1e-4)


def test_no_urls_are_no_rows(model):
    assert model.distribution([]).shape == (0, len(model.languages))


def test_a_url_is_answered_alike_alone_in_a_batch_and_remembered(model):
    batch = [Url.parse(url) for url, _ in rows(MARKED + TOLD)]
    together = model.distribution(batch)
    again = model.distribution(batch)
    alone = np.concatenate([LinearUrlLanguageModel().distribution([url]) for url in batch[:5]])
    np.testing.assert_allclose(together, again, rtol=1e-4)
    np.testing.assert_allclose(together[:5], alone, rtol=1e-3, atol=1e-6)


def test_more_hosts_than_are_remembered_are_still_answered(model):
    many = [Url.parse(f"https://host{number}.example.org/fr/") for number in range(REMEMBERED + 10)]
    assert (model.distribution(many).argmax(axis=1) == model.languages.index("fr")).all()


def test_training_and_running_see_the_same_evidence(model):
    data = UrlLanguageData.load()
    reader = UrlReader(data.languages, data.countries, data.stopped, data.codelike)
    batch = [Url.parse(url) for url, _ in rows(MARKED + TOLD)]
    dense, marks = evidence(data, reader, batch)
    logits = np.einsum("fnl,f->nl", dense, data.dense)
    for number, language, kind in marks:
        logits[number, language] += data.marks[kind]
    np.testing.assert_allclose(model.logits(batch), logits, rtol=1e-3, atol=1e-3)


def test_the_model_loads_quickly_and_is_small():
    file = model_file("url-language.npz")
    assert len(file.read_bytes()) < 5e6
    took = []
    for _ in range(5):
        began = time.process_time()
        UrlLanguageData.load()
        took.append(time.process_time() - began)
    assert min(took) < 0.1


def run(arguments, text):
    return CliRunner().invoke(urls_app, ["language", *arguments], input=text)


def test_the_command_prints_url_language_and_probability():
    result = run([], "https://www.example.org/fr/\nnot a url\n\n")
    first, second = [line.split("\t") for line in result.stdout.splitlines()]
    assert first[:2] == ["https://www.example.org/fr/", "fr"]
    assert 0 < float(first[2]) <= 1
    assert second == ["not a url", "und", "0"]
    assert "1 line is not a URL" in " ".join(result.stderr.split())
    assert result.exit_code == 0


def test_the_command_chooses_among_the_languages_asked_for(tmp_path):
    source = tmp_path / "urls.txt"
    source.write_text("https://www.example.org/fr/\n")
    result = run(["--langs", "en,de", "--top", "3", str(source)], "")
    assert {line.split("\t")[1] for line in result.stdout.splitlines()} == {"en", "de", "und"}


def test_the_command_has_the_rules_too():
    assert run(["--rules"], "https://www.example.org/fr/\nhttps://example.org/\n").stdout.splitlines() == [
        "https://www.example.org/fr/\tfr\t1",
        "https://example.org/\tund\t0",
    ]
