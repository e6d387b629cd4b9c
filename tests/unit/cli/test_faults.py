"""A command that cannot do its work tells the web app so by a value, if the app started it."""

from pathlib import Path

import msgspec
import pytest

from bitrawl import errors
from bitrawl.cli import main
from bitrawl.endings import Fault, FaultSentence
from bitrawl.errors import FAULT_FILE, BitrawlError, CategoryError


def test_a_command_that_fails_notes_the_kind_of_its_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(FAULT_FILE, str(tmp_path / "fault.json"))
    monkeypatch.setattr("sys.argv", ["bitrawl", "mine", "--out", str(tmp_path / "job")])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert msgspec.json.decode((tmp_path / "fault.json").read_bytes(), type=Fault) == Fault(FaultSentence.CONFIG)


def test_a_command_of_a_terminal_writes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(FAULT_FILE, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["bitrawl", "mine", "--out", "job"])
    with pytest.raises(SystemExit):
        main()
    assert list(tmp_path.iterdir()) == []


FORMS = {
    *(errors.UrlError, errors.FieldError, errors.RefusedError, errors.OutdatedError),
    *(errors.ClusterError, errors.UnwantedError, errors.NothingFoundError),
}
"""Of a form, a cluster, a command that nobody waits for or a call from Python: no job of the app ends with these."""


@pytest.mark.parametrize(
    "kind", [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, BitrawlError)]
)
def test_every_kind_of_error_is_told_apart(kind: type[BitrawlError]):
    fault = Fault.of(
        kind({})
        if kind is errors.FieldError
        else CategoryError("x", category="x")
        if kind is CategoryError
        else kind("x")
    )
    assert fault.message.text
    assert fault.tip.message.text
    assert kind in FORMS or fault.kind == kind.__name__
