"""A term list learned from texts: words and phrases that are more frequent there than anywhere else."""

from collections.abc import Sequence

import numpy as np

from bitrawl.errors import ConfigError
from bitrawl.model import Language
from bitrawl.text.keyness import Keyness, Rates, unnested
from bitrawl.text.phrases import Phrases, Texts
from bitrawl.topic.term_list import Term, TermList

MIN_WORDS = 300  # Judgement: in less text than a page, chance decides what is frequent.
MOST_TERMS = (
    150  # As many as a person will read. On the Ebola pages (2026-11), 60 and 300 tell them apart about as well.
)


def learn_terms(
    texts: Sequence[str],
    language: Language,
    *,
    background: Rates | None = None,
    against: Sequence[str] = (),
    size: int = MOST_TERMS,
) -> TermList:
    """The terms that tell these texts from the language in general, the most telling first, with weights from 1 to 100.

    A term is chosen by its log-likelihood (Dunning 1993) against what `background` and the texts of `against` lead to
    expect. Without a background, words that all texts have, beside any other word, are taken for those of every subject.
    Raises `ConfigError` if there is too little text.
    """
    phrases = Phrases(Texts(language, texts))
    if phrases.words < MIN_WORDS:
        raise ConfigError(
            f"the texts have {phrases.words} words in all, too few to learn terms from; give at least {MIN_WORDS}, better 5,000"
        )
    keyness = Keyness(phrases, background, against)
    spread = phrases.spread(keyness.key)
    key = keyness.key & (spread >= (2 if len(texts) > 2 else 1))
    chosen = np.flatnonzero(unnested(phrases, key))
    chosen = chosen[np.argsort(-keyness.likelihoods[chosen], kind="stable")][:size]
    if not len(chosen):
        raise ConfigError("no word is more frequent in the texts than expected; give more texts, all on one subject")
    # A term that few texts have is weaker. One more is expected than there is, lest a word that the background lacks be
    # infinitely special.
    strength = np.sqrt(keyness.likelihoods[chosen] * spread[chosen] / len(texts))
    odds = np.log2(1 + phrases.count[chosen] / (keyness.expected[chosen] + 0.5))
    # Between what is certain and what is special: a rare phrase tells more about a page than its count does.
    weights = np.maximum(1.0, np.round(100 * np.sqrt(strength / strength.max() * odds / odds.max())))
    written = phrases.forms(phrases.numbered(chosen.tolist()))
    terms = [
        Term(written[phrase], weight, (), language)
        for phrase, weight in zip(chosen.tolist(), weights.tolist(), strict=True)
    ]
    return TermList(tuple(sorted(terms, key=lambda term: -term.weight)))
