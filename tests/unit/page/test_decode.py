import pytest

from bitrawl.page.decode import codec, decode

RUSSIAN = "<p>Съешь же ещё этих мягких французских булок, да выпей чаю.</p>" * 4
JAPANESE = "<p>吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。</p>" * 4
CHINESE = "<p>四川省的人们喜欢在茶馆里喝茶聊天，谈论天气和庄稼。</p>" * 4
KOREAN = "<p>모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.</p>" * 4
FRENCH = "<p>Dès Noël où un zéphyr haï me vêt de glaçons würmiens, je dîne d’exquis rôtis.</p>" * 4
GREEK = "<p>Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια.</p>" * 4
ARABIC = "<p>يولد جميع الناس أحرارا متساوين في الكرامة والحقوق وقد وهبوا عقلا وضميرا</p>" * 4


@pytest.mark.parametrize(
    ("text", "encoding", "claim"),
    [
        (RUSSIAN, "utf-8", ""),
        (RUSSIAN, "cp1251", "windows-1251"),
        (RUSSIAN, "koi8-r", "KOI8-R"),
        (JAPANESE, "cp932", "Shift_JIS"),
        (JAPANESE, "cp932", "x-sjis"),
        (JAPANESE, "euc_jp", "EUC-JP"),
        (JAPANESE, "iso2022_jp", "iso-2022-jp"),
        (CHINESE, "gb18030", "gb2312"),
        (CHINESE, "gb18030", "gbk"),
        (CHINESE, "big5hkscs", "big5"),
        (KOREAN, "cp949", "ks_c_5601-1987"),
        (KOREAN, "cp949", "euc-kr"),
        (FRENCH, "cp1252", "iso-8859-1"),
        (FRENCH, "cp1252", "us-ascii"),
        (GREEK, "iso8859-7", "iso-8859-7"),
        (ARABIC, "cp1256", "windows-1256"),
    ],
)
@pytest.mark.parametrize("place", ["header", "meta", "http-equiv"])
def test_a_declared_charset_is_read_as_browsers_read_it(text, encoding, claim, place):
    if encoding == "big5hkscs":
        text = text.translate(str.maketrans("们欢馆里谈论气庄", "們歡館裡談論氣莊")).replace(
            "喜歡在茶館裡", "喜歡在茶館裏"
        )
        text = text.encode("big5hkscs", "ignore").decode("big5hkscs")
    header = f"text/html; charset={claim}" if place == "header" and claim else "text/html"
    meta = {
        "header": "",
        "meta": f"<meta charset='{claim}'>",
        "http-equiv": f'<META http-equiv="Content-Type" content="text/html; charset={claim}">',
    }[place]
    body = (meta if claim else "").encode("ascii") + text.encode(encoding)
    assert decode(body, header).text.endswith(text)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (KOREAN, "cp949"),
        (FRENCH, "cp1252"),
        (GREEK, "cp1253"),
        (ARABIC, "cp1256"),
        (CHINESE, "gb18030"),
    ],
)
@pytest.mark.parametrize("header", ["text/html", "text/html; charset=utf-8", "text/html; charset=nonsense"])
def test_an_undeclared_or_nonsensical_charset_is_detected(text, encoding, header):
    assert decode(text.encode(encoding), header).text == text


@pytest.mark.parametrize("claim", ["iso-8859-1", "windows-1251", "shift_jis", "gb2312", "us-ascii"])
@pytest.mark.parametrize("text", [RUSSIAN, JAPANESE, FRENCH])
def test_a_lying_charset_is_corrected_when_the_bytes_are_utf_8(text, claim):
    assert decode(text.encode(), f"text/html;charset={claim}") == (text, "utf-8")


@pytest.mark.parametrize(("text", "encoding"), [(RUSSIAN, "cp1251"), (JAPANESE, "cp932"), (GREEK, "cp1253")])
def test_a_servers_default_of_latin_1_does_not_beat_the_bytes(text, encoding):
    assert decode(text.encode(encoding), "text/html; charset=ISO-8859-1").text == text


def test_the_authors_meta_beats_a_servers_default_of_latin_1():
    body = b"<meta charset=iso-8859-2>" + "Zażółć gęślą jaźń".encode("iso8859-2")
    assert decode(body, "text/html; charset=ISO-8859-1").text.endswith("Zażółć gęślą jaźń")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_beats_any_claim_and_is_no_text(encoding):
    assert decode(FRENCH.encode(encoding), "text/html; charset=koi8-r").text == FRENCH


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_its_mark_is_seen_by_its_zeros(encoding):
    assert decode(FRENCH.encode(encoding)) == (FRENCH, encoding)


def test_a_body_cut_within_a_character_stays_utf_8():
    decoded = decode(JAPANESE.encode()[:-6])
    assert decoded.charset == "utf-8"
    assert decoded.text[:-1] == JAPANESE[:-5]


def test_a_few_broken_bytes_do_not_make_utf_8_something_else():
    body = (JAPANESE * 5).encode() + b"\xff\xfe broken" + (JAPANESE * 5).encode()
    assert decode(body).charset == "utf-8"


def test_a_charset_in_a_comment_is_not_declared():
    body = b"<!-- <meta charset=koi8-r> --><meta charset=windows-1251>" + RUSSIAN.encode("cp1251")
    assert decode(body).text.endswith(RUSSIAN)


@pytest.mark.parametrize("label", ["utf-7", "rot13", "base64", "idna", "unicode_escape", "undefined", "mbcs", "\0", ""])
def test_a_codec_that_is_no_charset_of_the_web_is_refused(label):
    assert codec(label) is None


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("latin1", "cp1252"),
        (" ISO_8859-1:1987 ", "cp1252"),
        ("iso88592", "iso8859-2"),
        ("iso-8859-8-i", "iso8859-8"),
        ("x-cp1253", "cp1253"),
        ("csKSC56011987", "cp949"),
        ("koi8-ru", "koi8-u"),
        ("x-x-big5", "big5hkscs"),
        ("tis-620", "cp874"),
        ("utf8", "utf-8"),
    ],
)
def test_labels_mean_what_the_encoding_standard_says(label, expected):
    assert codec(label) == expected


@pytest.mark.parametrize(
    "body", [b"", b"\0", b"\0" * 999, bytes(range(256)) * 9, b"\xff", b"\xff\xfe", b"\x1b$B", b"<meta charset="]
)
@pytest.mark.parametrize("header", ["", "charset", "charset=", "charset=\xff", "text/html; charset=iso-2022-jp"])
def test_no_bytes_raise(body, header):
    assert isinstance(decode(body, header).text, str)


@pytest.mark.parametrize("header", ["", "text/html; charset=utf-8", "text/html; charset=shift_jis"])
def test_japanese_with_escapes_needs_no_declaration(header: str):
    assert decode(JAPANESE.encode("iso2022_jp"), header).text == JAPANESE


# Of the Universal Declaration of Human Rights, article 1 and the beginning of the preamble, in both scripts.
SIMPLIFIED = (
    "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。"
    "鉴于对人类家庭所有成员的固有尊严及其平等的和不移的权利的承认，乃是世界自由、正义与和平的基础。"
)
TRADITIONAL = (
    "人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神相對待。"
    "鑑於對人類家庭所有成員的固有尊嚴及其平等的和不移的權利的承認，乃是世界自由、正義與和平的基礎。"
)


@pytest.mark.parametrize("claim", ["gb2312", "gbk", "gb18030"])
@pytest.mark.parametrize("length", [30, 80, 2000])
@pytest.mark.parametrize("place", ["header", "meta"])
def test_big5_that_claims_to_be_gb2312_is_decoded_as_big5(claim, length, place):
    text = f"<p>{(TRADITIONAL * 30)[:length]}</p>"
    meta = f"<meta charset={claim}>" if place == "meta" else ""
    header = f"text/html; charset={claim}" if place == "header" else "text/html"
    decoded = decode(meta.encode() + text.encode("big5"), header)
    assert decoded.text == meta + text
    assert decoded.charset == "big5hkscs"


@pytest.mark.parametrize("length", [30, 80, 2000])
def test_gbk_that_claims_to_be_big5_is_decoded_as_gb18030(length):
    text = f"<p>{(SIMPLIFIED * 30)[:length]}</p>"
    assert decode(text.encode("gbk"), "text/html; charset=big5") == (text, "gb18030")


def test_shift_jis_that_claims_to_be_gb2312_is_decoded_as_shift_jis():
    assert decode(JAPANESE.encode("cp932"), "text/html; charset=gb2312") == (JAPANESE, "cp932")


@pytest.mark.parametrize("length", [2, 5, 30, 2000])
@pytest.mark.parametrize(
    ("text", "encoding", "claim"),
    [
        (SIMPLIFIED, "gb2312", "gb2312"),
        (TRADITIONAL, "gbk", "gbk"),
        (TRADITIONAL, "big5", "big5"),
        (TRADITIONAL, "big5hkscs", "big5-hkscs"),
        ("".join(filter(str.isalpha, JAPANESE)), "euc_jp", "euc-jp"),
        ("".join(filter(str.isalpha, KOREAN)), "cp949", "euc-kr"),
        ("蜥蜴蜻蜓蟋蟀蚱蜢蜈蚣蟑螂蝙蝠麒麟饕餮魑魅魍魉", "gb2312", "gb2312"),  # rare characters only
        ("㗎嘅喺咁啲嚟㩒冚唔係冇嗰個", "big5hkscs", "big5"),  # Cantonese
        ("镕喆堃祎玥昇淼", "gb18030", "gbk"),  # names
    ],
)
def test_a_right_claim_is_never_overruled_by_rare_characters(text, encoding, claim, length):
    text = (text * 200)[:length]
    assert decode(text.encode(encoding), f"text/html; charset={claim}").text == text


@pytest.mark.parametrize(
    "before", ["<meta charset=big5>", "<meta charset=utf-8>", "\x01\x02", "<?xml encoding='latin1'?>"]
)
def test_neither_markup_nor_control_characters_mislead_the_detector(before: str):
    text = "В этом году библиотека открывается в десять часов, а по воскресеньям в полдень."
    assert decode((before + text).encode("cp1251")) == (before + text, "cp1251")
