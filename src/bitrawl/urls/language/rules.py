"""The rule baseline for the language of a URL's page: a part of the URL that is a language code.

García-Romero et al. 2024, section 2.1, after El-Kishky et al. 2020 and Baykan et al. 2013.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from langcodes import data_dicts
from numpy.typing import NDArray
from publicsuffixlist import PublicSuffixList

from bitrawl.languages import claimed_language, same_language
from bitrawl.model import UNDETERMINED, Language
from bitrawl.url import Url
from bitrawl.urls.tokens import UrlParts, host_name, is_address, parameters


class RuleUrlLanguageModel:
    """1 for the language that the rules name, if it was requested; otherwise 1 for "und"."""

    def __init__(self, languages: Sequence[Language]) -> None:
        self.languages = (*languages, UNDETERMINED)

    def distribution(self, urls: Sequence[Url]) -> NDArray[np.float32]:
        rows = np.zeros((len(urls), len(self.languages)), np.float32)
        for row, url in enumerate(urls):
            named = language_by_rules(url)
            rows[row, next((n for n, one in enumerate(self.languages) if same_language(named, one)), -1)] = 1.0
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
    return "" if is_address(host) else _suffixes().publicsuffix(host.partition(":")[0]) or ""


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


@lru_cache(maxsize=1)
def _codes() -> dict[str, Language]:
    """ISO 639-2 has two spellings of some codes (fra, fre)."""
    codes = [*_pairs(data_dicts.LANGUAGE_ALPHA3), *_pairs(data_dicts.LANGUAGE_ALPHA3_BIBLIOGRAPHIC), *_ISO_639_2_ALONE]
    return {code: language for code in codes if (language := claimed_language(code)) != UNDETERMINED}


def _pairs(table: dict[str, str]) -> set[str]:
    return {*table.keys(), *table.values()}


# ISO 639-2 without the codes that correspond to the two-letter table, without collections ("afa") and local use
# ("qaa").
_ISO_639_2_ALONE = (  # noqa: SIM905 (a list would be 250 lines)
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
