"""What n-grams cannot tell apart: the standards of Serbo-Croatian and the two Chinese scripts.

The standards differ in words, the scripts in characters.
"""

import math
import re
from functools import lru_cache

STANDARDS = ("bs", "hr", "sr")
# Log-odds of one marker. Swept 0–3 on the tuning half of lab/bench/language.py (2026-11): flat from 1.5.
_WEIGHT = 2.0
# The old vowel "jat" is je or ije in Bosnian, Croatian and Montenegrin, and e in most of Serbian: mjesto, vrijeme;
# mesto, vreme. Loan words with -jekt- and sovjet are not evidence.
_JAT = re.compile(r"ije[bcčćdđfghklmnprsštvzž]|(?<!so)[bdmpstv]je(?!k[cta])[bcčćdđghklmnprsštvzž]")
# The share of words that show it, on the same data.
_JAT_RATE, _NO_JAT_RATE = 0.047, 0.004

# Words and beginnings of words (with *) that one or two of the standards prefer, from common descriptions of their
# differences, not learned from data. None is proof, but several are. Montenegrin shares its words with Bosnian and
# Serbian and has no row.
_MARKERS = {
    ("hr",): """
        te kako jest tko nitko itko svatko tisuć* tjed* siječ* veljač* ožujk* ožujak travnj* travanj svibnj* svibanj lipnj* lipanj
        srpnj* srpanj kolovoz* rujn* rujan listopad* studen* prosinc* prosinac zrakoplov* vlak vlaka vlakov* kolodvor*
        glazb* sveučiliš* nogomet* znanost* znanstv* zemljopis* sukladno izvješć* gospodarst* ljekarn* tvornic* točk*
        točn* uporab* rabi kruh* uvjet* tijekom glede unatoč europ* kemij* povij* redatelj* skladatelj* čimbenik*
        sustav* stajališ* promidžb* nazočn* suradnj* suradnik* nadomjest* kazališ* zaklad* tipkovnic*
        računal* mirovin* proračun* pučanst* mrkv* rajčic* kolodvor* vijeć*
        županij* domovnic* putovnic* odvjetni* zemljovid* brzojav* tjelovježb* pozornost* udruga udruge udrugu udrug
        udrugama dvojb* središ* veleposlan* ravnatelj* časnik* postrojb* rabljen* otok* cijepiv*
        organizira* kontrolira* financij* financir* uljudb* ozračj* primjeric* priopć* ljestvic* desetljeć*
    """,
    (
        "bs",
    ): "historij* lahk* mehk* kahv* polahk* hudožest* halal* sevdah* rahat* sabah* uvehn* duhan* sahat* hlje* sehar*",
    ("sr",): """
        gde negde nigde svugde ovde onde uvek pre posle vreme mesto mesta mestu mesec* dete deca dece deci reka
        reke reči reč čovek* svetu sveta svetsk* mleko mleka lep lepa lepo lepe ceo cela celo cele dve obe dvema
        hteo htela hteti videti videla voleo volela želeo želela živeo živela devojk* devojč* primer primera
        primeri* rešenj* rešava* nedelj* ponedelj* sreda sredu leto letos sneg* belo bela beli vera veri veruj* sled*
        posled* poslednj* delo dela delu deo delov* deluj* uspeh* uspeš* smer* izveštaj* savet* opštin* opšt* sveštenik*
        vazduh* hleb* supa šargarep* bezbedn* bekstv* pobed* menja* promen* umetn* razume* upotreb* sopstven* zahtev*
        istorij* oficir* srećan hemij* muzik* štamp* hrišćan* demokratij* vaspitan* snabdeva*
        biće moraće imaće uradiću dobiće postaće
    """,
    ("bs", "sr"): """
        šta ko niko neko svako hiljad* avgust* januar* februar* mart martu marta april* juni juna junu juli jula julu
        septembar* septembr* oktobar* oktobr* novembar* novembr* decembar* decembr* fudbal* univerzitet* saobraćaj*
        uslov* tačk* tačn* evrop* voz vozom vozov* apotek* fabrik* privred* štampa* takođe tokom nauk* nauč* sistem*
        muzik* hemij* pozorišt* odbran* aerodrom* kafa kafu kafe porodic* sarad* sopstven* upotreb* komand*
        kompozitor* reditelj* advokat* ambasador* ostrv* vijek* vek veka veku vekov* pasoš* budžet* penzij* organizova*
    """,
    ("bs", "hr"): """
        gdje negdje nigdje svugdje ovdje uvijek prije poslije vrijeme mjesto mjesta mjestu mjesec* dijete djeca djece
        djeci rijeka rijeke rijeci riječ* čovjek* svijet* mlijek* lijep* cijel* dvije obje htio htjela htjeti vidjeti
        vidio vidjela volio voljela živio živjela djevojk* djevojč* primjer* rješ* nedjelj* ponedjelj* srijed* ljet*
        snijeg* bijel* vjer* slijed* sljed* posljed* djel* dio uspjeh* uspješ* smjer* savjet* općin* opć* također
        pobjed* mijenja* promjen* umjetn* razumije* zahtjev* izvjest* izvješt* porijekl* stijen* lijev* rijetk* vijest*
    """,
}
_WORD = re.compile(r"[a-zčćžšđ]+")


def standard_odds(text: str) -> dict[str, float]:
    """Log-odds of each of `STANDARDS`, by the words of a text in Latin Serbo-Croatian."""
    exact, stems = _markers()
    odds = dict.fromkeys(STANDARDS, 0.0)
    lower = text.lower()
    words = _WORD.findall(lower)
    for word in set(words):
        favoured = exact.get(word) or next((stems[word[:n]] for n in range(len(word), 2, -1) if word[:n] in stems), ())
        for standard in favoured:
            odds[standard] += _WEIGHT
    # Two Poisson rates: a long text without a single jat is Serbian, even without a marker.
    seen = len(_JAT.findall(lower))
    odds["sr"] += len(words) * (_JAT_RATE - _NO_JAT_RATE) - seen * math.log(_JAT_RATE / _NO_JAT_RATE)
    return odds


@lru_cache(maxsize=1)
def _markers() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    exact: dict[str, tuple[str, ...]] = {}
    stems: dict[str, tuple[str, ...]] = {}
    for favoured, words in _MARKERS.items():
        for word in words.split():
            target = stems if word.endswith("*") else exact
            known = target.get(word.rstrip("*"), ())
            target[word.rstrip("*")] = tuple(sorted({*known, *favoured}))
    return exact, stems


def chinese_script(text: str) -> str:
    """Either "Hans" or "Hant". Empty if every character is common to both, or if the evidence is equal."""
    simplified, traditional = _chinese_characters()
    balance = sum((character in simplified) - (character in traditional) for character in text)
    return "Hans" if balance > 0 else "Hant" if balance < 0 else ""


@lru_cache(maxsize=1)
def _chinese_characters() -> tuple[frozenset[str], frozenset[str]]:
    """The characters that only the mainland's GB 2312 or only Taiwan's Big5 has, from Python's own codecs."""
    ideographs = [chr(code) for code in range(0x4E00, 0xA000)]
    mainland = {character for character in ideographs if character.encode("gb2312", "ignore")}
    taiwan = {character for character in ideographs if character.encode("big5", "ignore")}
    return frozenset(mainland - taiwan), frozenset(taiwan - mainland)
