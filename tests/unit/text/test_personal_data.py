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


def test_a_long_line_costs_linear_time() -> None:
    assert _found("." * 50_000 + "@") == []
    assert _found("1." * 25_000) == []
    assert _found("A1 " * 20_000) == []
