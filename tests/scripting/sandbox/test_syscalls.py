"""The table of system calls: no name twice, no number twice, and the numbers that the kernel's own headers give."""

import re
from pathlib import Path

import pytest

from datasets_core.scripting.sandbox import kernel

TABLES = [kernel.allowed, kernel.ruled, kernel.pretended, kernel.unsupported, kernel.refused]
HEADERS = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")


@pytest.mark.parametrize("machine", kernel.MACHINES)
def test_each_call_stands_once(machine: str) -> None:
    entries = [entry for table in TABLES for entry in table(machine).items()]
    assert len({name for name, _ in entries}) == len({number for _, number in entries}) == len(entries)


@pytest.mark.parametrize("machine", kernel.MACHINES)
def test_a_number_leads_back_to_its_name(machine: str) -> None:
    assert {
        name for table in TABLES for name, number in table(machine).items() if kernel.name_of(number, machine) != name
    } == set()


@pytest.mark.skipif(not HEADERS.exists(), reason="the kernel's headers are not installed")
def test_the_numbers_are_those_of_the_kernel() -> None:
    theirs = {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)", HEADERS.read_text())}
    ours = {name: number for table in TABLES for name, number in table("x86_64").items()}
    assert {name for name, number in ours.items() if name in theirs and theirs[name] != number} == set()
