import numpy as np
import pytest

from bitrawl.discover.suggestions import TokenLanguages, places
from bitrawl.model import Language, Link, LinkKind, Page
from bitrawl.url import Url
from lab.train.folds import splits
from lab.train.link_predictor import Example, fitted, held_out

HOME = Url.parse("https://a.test/")
EN, FR = Language("en"), Language("fr")


def link(path: str, anchor: str) -> Link:
    return Link(Url.parse(path, base=HOME), LinkKind.PAGE, HOME, anchor=anchor)


def test_training_is_calibrated_on_hosts_that_were_not_seen():
    chance = np.random.default_rng(0)
    examples = []
    for host in range(40):
        for _ in range(20):
            leads = bool(chance.random() < 0.3)
            to = link("/fr/", anchor="Français") if leads == (chance.random() < 0.8) else link("/about", anchor="About")
            examples.append(Example(f"{host}.test", places(to, TokenLanguages(EN, FR)), leads))
    model = fitted(examples)
    logits = held_out(examples)
    assert len(splits([one.host for one in examples], 5)) == 5
    switchers = [one.leads for one, logit in zip(examples, logits, strict=True) if logit > np.median(logits)]
    (likelihood,) = model.likelihoods([link("/fr/", anchor="Français")], Page(HOME, EN), FR)
    assert likelihood == pytest.approx(np.mean(switchers), abs=0.15)
