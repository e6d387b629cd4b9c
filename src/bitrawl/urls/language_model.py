"""Predicts the language of a page from its URL: marks, country, and the n-grams of its words, for each language.

Each kind of evidence has one weight, which all languages share. So codes, names, countries' domains and words also
count for languages without training URLs. docs/decisions/url-language.md has the reasons and the figures.

`RuleUrlLanguageModel` is the baseline: a part of the URL that is a language code (García-Romero et al. 2024, section 2.1,
after El-Kishky et al. 2020 and Baykan et al. 2013).
"""

from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from langcodes import data_dicts
from numpy.typing import NDArray

from bitrawl.languages import claimed_language, same_language
from bitrawl.model import UNDETERMINED, Language
from bitrawl.model_files import model_file
from bitrawl.text.arrays import Floats32, Ints, RememberedRows
from bitrawl.text.language import ngram_keys
from bitrawl.url import Url, public_suffixes
from bitrawl.urls.language_evidence import KINDS, MEANT, Form, PartEvidence, UrlPlace, UrlReader
from bitrawl.urls.tokens import UrlParts, host_name, is_address, parameters

# Country domains that are sold to everybody, mostly as listed by Google Search Central (2026).
SOLD = frozenset([
    "ac", "ad", "ai", "as", "bz", "cc", "cd", "co", "cx", "dj", "fm", "gg", "gl", "im", "io", "is", "la", "ly",
    "me", "ms", "nu", "pw", "sc", "sh", "sr", "st", "su", "tk", "to", "tv", "vc", "ws",
])  # fmt: skip
ENGLISH = Language("en")
# The model file was made with these. Change them only with a new training. All are judgements.
LEAST_SHARE = 0.002  # of a country's population; smaller groups are not counted
STEP = 0.4  # nats, for an n-gram's weight
DAMPING = 8  # n-grams without weight that are added to each mean

# Rows of a kilobyte each. Pages near each other share links and folders: on four site packs and a crawl of 40 hosts, 8192
# rows spared 3 % of the words, and no URL, more than 1024 (2026-11-18).
REMEMBERED = 2048  # URLs, and words of their parts
REMEMBERED_HOSTS = 8192  # a crawl may go round thousands of them


class Dense(IntEnum):
    """Evidence that every language has to some degree.

    English has its own, because it is also the web's common language.
    """

    PRIOR = 0
    ENGLISH = 1
    HOST_ROOT = 2  # the sum of n-gram weights, divided by the root of their number
    HOST_MEAN = 3
    PATH_ROOT = 4
    PATH_MEAN = 5
    HOST_ENGLISH = 6
    PATH_ENGLISH = 7
    SHARE = 8  # of the population of the country that the domain belongs to
    LOG_SHARE = 9
    OFFICIAL = 10
    SHARE_ENGLISH = 11
    SOLD_SHARE = 12  # the same for country domains that are sold to everybody
    SOLD_ENGLISH = 13
    GENERIC_ENGLISH = 14
    NAMED_SHARE = 15  # of the population of a country that a segment or label could name
    UNKNOWN = 16
    UNKNOWN_PATH = 17  # logarithm of the number of n-grams
    UNKNOWN_HOST = 18
    UNKNOWN_MARKS = 19
    UNKNOWN_COUNTRY = 20
    # by how much the words fit that language better than English, in which slugs of any page are written
    HOST_OVER = 21
    PATH_OVER = 22
    WEALTH = 23
    WEALTH_ABROAD = 24  # the same if the domain belongs to a country, where it counts less
    POVERTY_MARKED = 25  # of a language that is named: then it counts less, too
    UNKNOWN_ADDRESS = 26  # the host is an IP address


class UrlNgrams(NamedTuple):
    """n-grams of 2 to 5 bytes, and how much likelier than average their last byte is in each language."""

    keys: NDArray[np.uint32]  # the polynomial hashes, sorted
    weights: NDArray[np.int8]  # n-grams × languages, in steps
    multiplier: int

    def score(self, texts: Sequence[bytes]) -> Floats32:
        """For each text, the sum of the weights by language and, in the last column, the number of known n-grams."""
        data = np.frombuffer(b"\0" + b"\0".join(texts) + b"\0", np.uint8)
        ngrams = self._find(data)
        places = np.flatnonzero(ngrams >= 0)
        ends = np.flatnonzero(data == 0)
        bounds = np.searchsorted(places, ends).tolist()
        rows = ngrams[places]
        scores = np.zeros((len(texts), self.weights.shape[1] + 1), np.float32)
        for number, (begin, end) in enumerate(pairwise(bounds)):
            if end > begin:
                scores[number, :-1] = np.add.reduce(self.weights.take(rows[begin:end], axis=0), axis=0, dtype=np.int16)
        scores *= np.float32(STEP)
        scores[:, -1] = np.diff(bounds)
        return scores

    def _find(self, data: NDArray[np.uint8]) -> Ints:
        """The row of the longest known n-gram that ends at each byte, or -1."""
        keys = ngram_keys(data, self.multiplier)
        rows = np.searchsorted(self.keys, keys)
        np.minimum(rows, len(self.keys) - 1, out=rows)
        hits = self.keys.take(rows) == keys
        ngrams = np.full(len(data), -1, np.int64)
        for row, hit in zip(rows, hits, strict=True):
            np.copyto(ngrams, row, where=hit)
        ngrams[data == 0] = -1
        return ngrams


class UrlLanguageData(NamedTuple):
    """Everything that training made: the tables and the weights of the evidence."""

    languages: tuple[Language, ...]  # without "und"
    ngrams: UrlNgrams
    prior: Floats32  # logarithm of the number of speakers, by language
    wealth: Floats32  # logarithm of their total income: richer languages have more of the web
    countries: tuple[str, ...]
    shares: Floats32  # countries × languages
    official: Floats32
    stopped: frozenset[str]
    wordlike: frozenset[str]  # codes that are words of English
    particles: frozenset[str]  # codes that are words of some language
    dense: Floats32  # by `Dense`
    marks: Floats32  # by kind

    @classmethod
    def load(cls, path: Path | None = None) -> "UrlLanguageData":
        """The package's model, or one that `python -m lab.train url-language` wrote."""
        with np.load(path or model_file("url-language.npz")) as data:
            fields: dict[str, Any] = {name: data[name] for name in data.files}
        packed = fields.pop("weights")
        weights = np.empty((len(packed), 2 * packed.shape[1]), np.int8)
        weights[:, 0::2], weights[:, 1::2] = packed & 15, packed >> 4
        languages = tuple(map(Language, str(fields["languages"]).split()))
        weights = np.ascontiguousarray(weights[:, : len(languages)]) - np.int8(int(fields.pop("zero")))
        fields["ngrams"] = UrlNgrams(fields.pop("keys"), weights, int(fields.pop("multiplier")))
        fields["languages"] = languages
        fields["countries"] = tuple(str(fields["countries"]).split())
        for name in ("shares", "official"):
            fields[name] = fields[name].astype(np.float32)
        for name in ("stopped", "wordlike", "particles"):
            fields[name] = frozenset(str(fields[name]).split())
        return cls(**fields)

    @property
    def codelike(self) -> tuple[frozenset[str], frozenset[str]]:
        """What a code may be instead: for a part that stands alone, and for a token among others."""
        return self.wordlike, self.particles


@lru_cache(maxsize=2)
def _loaded(path: Path) -> UrlLanguageData:
    return UrlLanguageData.load(path)


class LinearUrlLanguageModel:
    """The default `UrlLanguageModel`.

    It remembers URLs, because a site's pages link to the same ones, and hosts and segments, because its URLs share
    them. The links of a page that was just seen cost a tenth of new ones.
    """

    def __init__(self, data: UrlLanguageData | None = None) -> None:
        self._data = data = data or _loaded(model_file("url-language.npz"))
        self.languages: tuple[Language, ...] = (*data.languages, UNDETERMINED)
        self._english = data.languages.index(ENGLISH)
        self._reader = UrlReader(data.languages, data.countries, data.stopped, data.codelike)
        self._urls = RememberedRows(self._chances, REMEMBERED, len(self.languages))
        self._hosts = RememberedRows(self._host_logits, REMEMBERED_HOSTS)
        self._words = RememberedRows(data.ngrams.score, REMEMBERED)
        # A mark's weight by kind and language.
        self._marks = data.marks[:, None] + data.dense[Dense.POVERTY_MARKED] * poverty(data.wealth)
        self._shares = data.shares * data.dense[Dense.NAMED_SHARE]

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        """The package's model, or one that `python -m lab.train url-language` wrote."""
        return cls(UrlLanguageData.load(path))

    def distribution(self, urls: Sequence[Url]) -> Floats32:
        return self._urls.rows(urls)

    def _chances(self, urls: Sequence[Url]) -> Floats32:
        logits = self.logits(urls)
        logits -= logits.max(axis=1, keepdims=True)
        chances: Floats32 = np.exp(logits, out=logits)
        chances /= chances.sum(axis=1, keepdims=True)
        return chances

    def logits(self, urls: Sequence[Url]) -> Floats32:
        """The log-odds of each language for each URL, before the softmax."""
        weights = self._data.dense
        read = [self._reader.pieces(url) for url in urls]
        logits = self._hosts.rows([host for host, _ in read])
        scores = self._path_scores([pieces for _, pieces in read])
        count = scores[:, -1:]
        root, mean = 1 / np.sqrt(count + 1), 1 / (count + DAMPING)
        scores = scores[:, :-1]
        logits[:, :-1] += scores * (weights[Dense.PATH_ROOT] * root + weights[Dense.PATH_MEAN] * mean)
        english = scores[:, self._english, None]
        logits[:, self._english] += weights[Dense.PATH_ENGLISH] * (english * root)[:, 0]
        logits[:, :-1] += np.maximum(scores - english, 0) * (weights[Dense.PATH_OVER] * root)
        logits[:, -1] += weights[Dense.UNKNOWN_PATH] * np.log1p(count[:, 0])
        self._add_marks(logits, [pieces for _, pieces in read])
        return logits

    def _path_scores(self, paths: Sequence[Sequence[PartEvidence]]) -> Floats32:
        """The sum of n-gram weights by language and, in the last column, the number of n-grams."""
        words = [[piece.words for piece in pieces if piece.words] for pieces in paths]
        scores = np.zeros((len(paths), len(self.languages)), np.float32)
        worded = [number for number, texts in enumerate(words) if texts]
        if worded:
            starts = [0, *accumulate(len(words[number]) for number in worded)][:-1]
            rows = self._words.rows([text for texts in words for text in texts])
            scores[worded] = np.add.reduceat(rows, starts, axis=0)
        return scores

    def _add_marks(self, logits: Floats32, paths: Sequence[Sequence[PartEvidence]]) -> None:
        marks = self._marks
        for number, pieces in enumerate(paths):
            marked = False
            for piece in pieces:
                for kind, language in piece.marks:
                    logits[number, language] += marks[kind, language]
                    marked = True
                for country in piece.countries:
                    logits[number, :-1] += self._shares[country]
            if marked:
                logits[number, -1] += self._data.dense[Dense.UNKNOWN_MARKS]

    def _host_logits(self, hosts: Sequence[str]) -> Floats32:
        evidence = host_evidence(self._data, self._reader, hosts)
        logits: Floats32 = np.einsum("fhl,f->hl", evidence, self._data.dense)
        self._add_marks(logits, [[self._reader.host(host)] for host in hosts])
        return logits


def poverty(wealth: Floats32) -> Floats32:
    """How much lower a language's income is than the richest one's: kinds of marks × languages.

    0 for kinds of marks that may be there by chance.
    """
    meant = np.array([UrlPlace(kind // len(Form)) in MEANT for kind in range(KINDS)])
    return np.outer(meant, wealth.max() - wealth).astype(np.float32)


def host_evidence(data: UrlLanguageData, reader: UrlReader, hosts: Sequence[str]) -> Floats32:
    """The `Dense` evidence of hosts alone: evidence × hosts × languages, with "und" last."""
    evidence = np.zeros((len(Dense), len(hosts), len(data.languages) + 1), np.float32)
    english = data.languages.index(ENGLISH)
    scores = data.ngrams.score([reader.host(host).words for host in hosts])
    count, scores = scores[:, -1:], scores[:, :-1]
    evidence[Dense.PRIOR, :, :-1] = data.prior
    evidence[Dense.WEALTH, :, :-1] = data.wealth
    evidence[Dense.ENGLISH, :, english] = 1
    evidence[Dense.HOST_ROOT, :, :-1] = scores / np.sqrt(count + 1)
    evidence[Dense.HOST_MEAN, :, :-1] = scores / (count + DAMPING)
    evidence[Dense.HOST_ENGLISH, :, english] = evidence[Dense.HOST_ROOT, :, english]
    evidence[Dense.HOST_OVER, :, :-1] = np.maximum(scores - scores[:, english, None], 0) / np.sqrt(count + 1)
    evidence[Dense.UNKNOWN, :, -1] = 1
    evidence[Dense.UNKNOWN_HOST, :, -1] = np.log1p(count[:, 0])
    for number, host in enumerate(hosts):
        label, country = reader.domain(host)
        evidence[Dense.UNKNOWN_ADDRESS, number, -1] = is_address(host)
        if country is None:
            evidence[Dense.GENERIC_ENGLISH, number, english] = 1
        elif label in SOLD:
            evidence[Dense.SOLD_SHARE, number, :-1] = data.shares[country]
            evidence[Dense.SOLD_ENGLISH, number, english] = 1
        else:
            share = data.shares[country]
            evidence[Dense.SHARE, number, :-1] = share
            evidence[Dense.LOG_SHARE, number, :-1] = np.log(np.maximum(share, LEAST_SHARE) / LEAST_SHARE)
            evidence[Dense.OFFICIAL, number, :-1] = data.official[country]
            evidence[Dense.WEALTH_ABROAD, number, :-1] = data.wealth
            evidence[Dense.SHARE_ENGLISH, number, english] = 1
            evidence[Dense.UNKNOWN_COUNTRY, number, -1] = 1
    return evidence


class RuleUrlLanguageModel:
    """1 for the language that the rules name, if it was requested; otherwise 1 for "und"."""

    def __init__(self, languages: Sequence[Language]) -> None:
        self.languages = (*languages, UNDETERMINED)

    def distribution(self, urls: Sequence[Url]) -> Floats32:
        rows = np.zeros((len(urls), len(self.languages)), np.float32)
        for row, url in enumerate(urls):
            named = language_by_rules(url)
            rows[row, next((n for n, language in enumerate(self.languages) if same_language(named, language)), -1)] = (
                1.0
            )
        return rows


def language_by_rules(url: Url) -> Language:
    """The first part that is a code of ISO 639-1 or 639-2; "und" if none is.

    Parameter values, directory names, public suffix, subdomain: this order was the best on the paper's data. A page's
    own name counts as a directory, because "example.org/fr" is written with and without its slash.
    """
    host, segments, query = UrlParts.of(url)
    values = [value for _, value in parameters(query)]
    for component in (*values, *segments, _public_suffix(host), *host_name(host).subdomains):
        if (language := _codes().get(component.lower())) is not None:
            return language
    return UNDETERMINED


@lru_cache(maxsize=8192)
def _public_suffix(host: str) -> str:
    """Also for a host that is only a suffix (gov.uk), where `host_name` would take the first label as a name."""
    return "" if is_address(host) else public_suffixes().publicsuffix(host.partition(":")[0]) or ""


@lru_cache(maxsize=1)
def _codes() -> dict[str, Language]:
    """ISO 639-2 has two spellings of some codes (fra, fre)."""
    codes = [*_pairs(data_dicts.LANGUAGE_ALPHA3), *_pairs(data_dicts.LANGUAGE_ALPHA3_BIBLIOGRAPHIC), *_ISO_639_2_ALONE]
    return {code: language for code in codes if (language := claimed_language(code)) != UNDETERMINED}


def _pairs(table: dict[str, str]) -> set[str]:
    return {*table.keys(), *table.values()}


# ISO 639-2 without the codes that correspond to the two-letter table, without collections ("afa") and local use
# ("qaa").
_ISO_639_2_ALONE = (
    "ace ach ada ady afh ain akk ale alt ang anp arc arn arp arw ast awa bal ban bas bej bem bho bik bin bla bra "
    "bua bug byn cad car ceb chb chg chk chm chn cho chp chr chy cop crh csb dak dar del den dgr din doi dsb dua "
    "dum dyu efi egy eka elx enm ewo fan fat fil fon frm fro frr frs fur gaa gay gba gez gil gmh goh gon gor got "
    "grb grc gsw gwi hai haw hil hit hmn hsb hup iba ilo inh jbo jpr jrb kaa kab kac kam kaw kbd kha kho kmb kok "
    "kos kpe krc krl kru kum kut lad lah lam lez lol loz lua lui lun luo lus mad mag mai mak man mas mdf mdr men "
    "mga mic min mnc mni moh mos mus mwl mwr myv nap nds new nia niu nog non nqo nso nwc nym nyn nyo nzi osa ota "
    "pag pal pam pap pau peo phn pon pro raj rap rar rom rup sad sah sam sas sat scn sco sel sga shn sid sma smj "
    "smn sms snk sog srn srr suk sus sux syc syr tem ter tet tig tiv tkl tlh tli tmh tog tpi tsi tum tvl tyv udm "
    "uga umb vai vot wal war was xal yao yap zap zbl zen zgh zun zza "
).split()
