import time

import numpy as np
import pytest

from bitrawl.model import Language
from bitrawl.model_files import model_file
from bitrawl.url import Url
from bitrawl.urls import TreeUrlPairModel

MODEL = TreeUrlPairModel()


def pair(a, b):
    return Url.parse(f"http://s.test/{a}"), Url.parse(f"http://s.test/{b}")


PARALLEL = [
    pair("en/news/2019/report.html", "fr/news/2019/report.html"),
    pair("about_eng.asp", "about_fra.asp"),
    pair("docs/intro.de.html", "docs/intro.ja.html"),
    pair("guide/setup", "es/guide/setup"),
    pair("page?id=4711&lang=en", "page?id=4711&lang=pl"),
    pair("english/contact.htm", "deutsch/contact.htm"),
    pair("en-GB/products/x200", "it-IT/products/x200"),
]
OTHER = [
    pair("en/news/2019/report.html", "fr/contact/form.html"),
    pair("en/news/report.html", "en/news/budget.html"),
    pair("page?id=4711&lang=en", "page?id=4712&lang=en"),
    pair("docs/intro.de.html", "blog/2014/05/cats"),
    pair("guide/setup", "guide/remove"),
    pair("garden", "kitchen"),
]


@pytest.mark.parametrize("two", PARALLEL)
def test_versions_of_a_page_are_likely(two):
    assert MODEL.parallel([two])[0] > 0.5


@pytest.mark.parametrize("two", OTHER)
def test_different_pages_are_unlikely(two):
    assert MODEL.parallel([two])[0] < 0.5


def test_the_order_of_the_two_does_not_matter_and_all_is_a_probability():
    every = PARALLEL + OTHER
    forwards, backwards = MODEL.parallel(every), MODEL.parallel([(b, a) for a, b in every])
    assert np.array_equal(forwards, backwards)
    assert forwards.dtype == np.float32
    assert ((forwards >= 0) & (forwards <= 1)).all()


def test_no_pairs_give_no_probabilities():
    assert MODEL.parallel([]).shape == (0,)


def test_languages_that_were_not_requested_count_against_a_pair():
    asked = TreeUrlPairModel(languages=(Language("en"), Language("fr")))
    wanted, other = pair("en/a/setup.html", "fr/a/setup.html"), pair("en/a/setup.html", "de/a/setup.html")
    assert asked.parallel([wanted])[0] > asked.parallel([other])[0]


def test_the_model_is_small_and_loads_quickly():
    file = model_file("url-pairs.npz")
    assert len(file.read_bytes()) < 2_000_000
    started = time.process_time()
    TreeUrlPairModel.load()
    assert time.process_time() - started < 0.1
