"""What makes the models that ship in the package: `python -m lab.train MODEL`, one module for each model.

| model | module | learned from | written to |
|---|---|---|---|
| boilerplate | `boilerplate` | trafilatura's evaluation pages: strings that are main text, and that are not | models/boilerplate.npz |
| language | `language` | py3langid's n-grams, CLDR's numbers of writers, labelled sentences | models/language.npz |
| frequencies | `frequencies` | word lists of the package wordfreq | models/frequencies.npz |
| url-language | `url_language`, with `url_language_tables` (n-grams, countries) and `url_language_words` (their words) | labelled URLs; words of public packages | models/url-language.npz |
| url-pairs | `url_pairs`, with `trees` (LightGBM to numpy) | sites with known pairs of URLs (`url_examples`) | models/url-pairs.npz |
| pairs | `pairs` | site packs: frozen sites with known pairs (`site_packs`) | models/pairs.npz |
| adaptive | `adaptive` | replays of the same site packs | models/adaptive.json |
| link-predictor | `link_predictor` | links of an archived web with known pairs, and of site packs | models/link-predictor.npz |
| url-language-transformer, url-pairs-transformer | `url_transformers` | your labelled URLs | a folder; none ships |

`recipes` is the table of them, and what runs one. Shared: `site_packs`, `url_examples` (sites to learn URL pairs from),
`url_negatives` (wrong pairs made of right ones), `folds` (no site is learned from and measured on).

The package itself imports nothing of this (import-linter). It needs the group `lab`, transformers the extra `neural`.
"""

from collections.abc import Callable

Tell = Callable[[str], None]
"""Gets a line from time to time about the progress of training."""


def silent(line: str) -> None:
    """A `Tell` that ignores the lines."""
