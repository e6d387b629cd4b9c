import subprocess
import sys
from importlib import import_module

import pytest

import bitrawl.job
from lab.house import SOURCE, door_names, modules

ROOMS = {module.name: door_names(module) for module in modules(SOURCE) if door_names(module)}


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_at_a_door_is_there_and_is_no_module_of_the_room(room):
    shown = {name: getattr(import_module(room), name) for name in ROOMS[room]}
    assert [name for name, thing in shown.items() if getattr(thing, "__name__", "").startswith(f"{room}.")] == []


def test_a_name_that_is_not_shown_is_not_there():
    with pytest.raises(AttributeError, match=r"module 'bitrawl.job' has no attribute 'JobFolders'"):
        _ = bitrawl.job.JobFolders
    with pytest.raises(AttributeError, match="no attribute 'door_'"):
        _ = bitrawl.job.door_


def test_a_room_loads_only_what_is_used():
    code = "import sys, bitrawl.job; sys.exit('bitrawl.job.running' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
