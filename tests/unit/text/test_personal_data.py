"""What of a text is personal data, and what only looks so."""

import pytest

from bitrawl.model import Language
from bitrawl.text.personal_data import NATIONAL_NUMBERS, personal_data, regions_of

REGIONS = ("FR", "DE", "US", "GB")


def _found(text: str, *regions: str) -> list[tuple[str, str]]:
    return [(str(one.kind), text[one.start : one.end]) for one in personal_data(text, regions or REGIONS)]


@pytest.mark.parametrize(
    ("kind", "text", "written"),
    [
        ("email", "Write to jane.doe+list@mail.example.org, please.", "jane.doe+list@mail.example.org"),
        ("email", "jane [at] example [dot] org", "jane [at] example [dot] org"),
        ("email", "<mailto:jörg@müller.de>", "jörg@müller.de"),
        ("phone", "Call +44 20 7946 0018 now", "+44 20 7946 0018"),
        ("phone", "Tél. 01 42 68 53 00", "01 42 68 53 00"),
        ("phone", "Fax: (202) 456-1111", "(202) 456-1111"),
        ("phone", "John (202-456-1111) called", "202-456-1111"),
        ("iban", "IBAN GB29 NWBK 6016 1331 9268 19 BIC NWBKGB2L", "GB29 NWBK 6016 1331 9268 19"),
        ("iban", "DE89370400440532013000", "DE89370400440532013000"),
        ("card", "Visa 4111 1111 1111 1111", "4111 1111 1111 1111"),
        ("card", "378282246310005", "378282246310005"),
        ("ip", "from 93.184.216.34.", "93.184.216.34"),
        ("ip", "http://93.184.216.34:8080/", "93.184.216.34"),
        ("ip", "host 2606:2800:220:1:248:1893:25c8:1946 is up", "2606:2800:220:1:248:1893:25c8:1946"),
        ("id", "Codice fiscale RCCMNL83S18D969H", "RCCMNL83S18D969H"),
        ("id", "NIR 2 95 10 99 126 111 93", "2 95 10 99 126 111 93"),
        ("id", "CPF 390.533.447-05", "390.533.447-05"),
    ],
)
def test_it_is_found_as_it_is_written(kind: str, text: str, written: str) -> None:
    assert (kind, written) in _found(text)


VALUES = {
    "email": "jane.doe@example.com",
    "phone": "+36 20 123 4567",
    "iban": "DE89370400440532013000",
    "card": "4111111111111111",
    "ip": "93.184.216.34",
    "id": "44051401359",
}
GLUED = {
    "Korean": "메일은{}으로 보내세요",
    "Chinese": "请把信息发到{}谢谢。",
    "Chinese full stop": "账号{}。请",
    "Japanese": "連絡先は{}です",
    "Thai": "โปรดติดต่อที่{}ครับ",
    "Lao": "ຕິດຕໍ່ທີ່{}ເດີ້",
    "Khmer": "សូមទាក់ទង{}ផង",
    "Burmese": "ဆက်သွယ်ရန်{}သို့",
    "Arabic": "تواصلوا على و{}، شكرا",
    "Hebrew": "פנו אל ב-{}, תודה",
    "Hebrew glued": "פנו ל{}ותודה",
    "Hindi": "कृपया{}पर लिखें",
    "Hungarian": "Írjon a(z) {}-nak még ma",
    "Hungarian with an accent": "A cím {}-ről jött",
    "Hungarian without a hyphen": "A cím {}nek szól",
    "Estonian": "Kirjutage {}-le täna",
    "Finnish": "Kirjoita {}:lle tänään",
    "Turkish": "Lütfen {}'e yazın",
    "Turkish apostrophe": "Lütfen {}’dan sorun",
    "German": "Die {}-Adresse gilt",
    "Markdown underscores": "Ask _{}_ now",
    "Markdown bold": "Ask __{}__ or **{}** now",
    "brackets": "Ask <{}> now",
    "link": "[{}](mailto:{})",
    "marks": "\u200f\u202b{}\u202c\u200e",
    "zero width": "a\u200b {}\u200b\ufeff",
}


@pytest.mark.parametrize("glue", GLUED)
@pytest.mark.parametrize("kind", VALUES)
def test_it_is_found_whatever_it_is_glued_to(kind: str, glue: str) -> None:
    text = GLUED[glue].format(*2 * [VALUES[kind]])
    assert _found(text, "PL", "HU") == [(kind, VALUES[kind])] * text.count(VALUES[kind])


@pytest.mark.parametrize(
    ("text", "written", "regions"),
    [
        ("请拨打13800138000咨询", "13800138000", "CN"),
        ("010-1234-5678로 전화", "010-1234-5678", "KR"),
        ("ต่อที่0812345678ครับ", "0812345678", "TH"),
        ("電話03-3580-3311まで", "03-3580-3311", "JP"),
        ("電話（０３）３５８０－３３１１まで", "（０３）３５８０－３３１１", "JP"),
        ("ב-050-234-5678 בערב", "050-234-5678", "IL"),
        ("اتصل ٠٥٠ ١٢٣ ٤٥٦٧ الآن", "٠٥٠ ١٢٣ ٤٥٦٧", "SA"),
    ],
)
def test_a_national_number_is_found_between_letters(text: str, written: str, regions: str) -> None:
    assert ("phone", written) in _found(text, regions)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("ｊａｎｅ＠ｅｘａｍｐｌｅ．ｃｏｍまで", "ｊａｎｅ＠ｅｘａｍｐｌｅ．ｃｏｍ"),
        ("jane\u200b@exam\u00adple\u200b.com", "jane\u200b@exam\u00adple\u200b.com"),
        ("卡号４１１１１１１１１１１１１１１１已", "４１１１１１１１１１１１１１１１"),
        ("بطاقة ٤١١١ ١١١١ ١١١١ ١١١١.", "٤١١١ ١١١١ ١١١١ ١١١١"),
        ("账号ＤＥ８９３７０４００４４０５３２０１３０００。", "ＤＥ８９３７０４００４４０５３２０１３０００"),
        ("IP地址:９３．１８４．２１６．３４", "９３．１８４．２１６．３４"),
        ("IBANDE89370400440532013000BIC", "DE89370400440532013000"),
        ("请发到12345@qq.com谢谢", "12345@qq.com"),
        ("поштата иван@пример.рф", "иван@пример.рф"),
        ("राम@उदाहरण.भारत", "राम@उदाहरण.भारत"),
        ("例子 info@例子.中国请", "info@例子.中国"),
        ("Mail jane@example.deTelefon", "jane@example.de"),
        ("Mail jane@example.comra", "jane@example.com"),
        ("Mail jane@example.com.请", "jane@example.com"),
        ("?to=jane%40example.com&x", "jane%40example.com"),
        ("Write to jane@firm.co.za now", "jane@firm.co.za"),
        ("ই-মেইল jane@firm.com.bdএ", "jane@firm.com.bd"),
        ("genannt »jane@example.com« ist", "jane@example.com"),
    ],
)
def test_it_is_found_in_the_digits_and_letters_of_any_script(text: str, written: str) -> None:
    assert [found for _, found in _found(text)] == [written]


@pytest.mark.parametrize(
    "text",
    [
        "getty@tty1.service, a@b, user@host:~$, root@db1.localdomain, @jane@host",
        "pkg@1.2.3, icon@2x.png, [email protected]",
        "file_4111111111111111_a and a-4111111111111111 and 4111111111111111ff",
        "123e4567-e89b-12d3-a456-4111111111111111-4a",
        "v93.184.216.34 and lib-93.184.216.34 and 93.184.216.34rc1 and 93.184.216.34-rc1",
        "订单20240101123456，共12345678901元，2024年01月15日，版本1.8.0.181已发布",
        "坐标39.904211，116.407395；书号978-7-302-51234-1",
        "59.329323, 18.068581 and #0142685300 and 50 000 000",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert _found(text, "CN", "SE", "FR", "US") == []


@pytest.mark.parametrize(
    "text",
    [
        "Debian 12.4.0.1 and Java 1.8.0.181",
        "version 3.10.2.15",
        "127.0.0.1, 192.168.1.10, 10.0.0.1, 255.255.255.0",
        "the networks 93.184.216.0/24 and 2a00:1450:4001::/48",
        "GB29 NWBK 6016 1331 9268 18",  # a wrong checksum
        "4111 1111 1111 1112",
        "ISBN 978-3-16-148410-0, ISBN 0672313413",
        "12.11.2006, 2006-11-12, 12/11/2006 10:30:00",
        "1,234,567.89 EUR, 12 345 678 €, 1 000 000 000",
        "10.000.000 and 3.14159265358979",
        "Boston, MA 02110-1301",
        "a ratio of 5 @ 20, a @decorator, user@localhost",
        "00:1b:44:11:3a:b7 and 12:30:45",
        "max_requests: 1000000000",
        "commit 4111111111111111a and id=4111111111111111",
    ],
)
def test_it_stays(text: str) -> None:
    assert _found(text) == []


def test_a_number_that_is_only_digits_counts_in_its_own_country() -> None:
    assert _found("44051401359", "PL") == [("id", "44051401359")]
    assert _found("44051401359", "FR") == []


def test_a_telephone_number_without_a_country_code_counts_in_its_own_country() -> None:
    assert _found("01 42 68 53 00", "FR") == [("phone", "01 42 68 53 00")]
    assert _found("01 42 68 53 00", "US") == []


def test_the_country_comes_from_the_host_and_from_the_language() -> None:
    assert regions_of("www.example.co.uk", Language("cy")) == ("GB",)
    assert regions_of("www.example.ch:8080", Language("fr")) == ("CH", "FR")
    assert regions_of("www.example.org", Language("pt-BR")) == ("BR",)


def test_each_national_number_has_a_checksum_that_the_library_knows() -> None:
    names = [number.module for number in NATIONAL_NUMBERS]
    assert len(set(names)) == len(names)
    for number in NATIONAL_NUMBERS:
        assert personal_data("1 000 000 000 000", (number.region,)) == []


LONG = 300_000
HOSTILE = (
    "1",
    "1.",
    "1 ",
    "(1",
    "1-",
    "+1",
    "0:",
    "A1 ",
    "DE12",
    ".",
    "_",
    "@",
    "a@",
    "@a.b",
    "[at]",
    "\u200b1",
    "@中.中",
    "4111 ",
    "a%40",
)


@pytest.mark.parametrize("part", HOSTILE)
def test_a_long_line_costs_linear_time(part: str) -> None:
    """What is slower than linear takes minutes to hours here."""
    assert _found(part * (LONG // len(part)) + "@", "CN") == []


def test_many_values_cost_linear_time() -> None:
    assert len(_found("x@b.org 93.184.216.34 " * 20_000)) == 40_000
