"""The binding agrees with the headers: layouts equal those of a C compiler, and every function in use is declared."""

import ctypes
import re
from pathlib import Path

import pytest

import svmp
from svmp import _library
from svmp._header import HeaderError, Interface

from conftest import ROOT

EVERYTHING = _library.read_interface((*_library._HEADERS, "svmp_slam.h", "svmp_agents.h"))
ABI = ROOT / "tests" / "abi" / "svmp.abi"


@pytest.fixture(scope="module")
def abi():
    if not ABI.is_file():
        pytest.skip("tests/abi/svmp.abi is not here")
    rows = [line.split() for line in ABI.read_text().splitlines()]
    return [row for row in rows if not re.match(r"svmp_(plugin|host)|SVMP_PLUGIN", row[1])]  # between C and C


def test_every_symbol_is_bound(abi):
    assert {row[1] for row in abi if row[0] == "symbol"} == set(EVERYTHING.functions)


def test_layouts_are_those_of_the_compiler(abi):
    structs, enums = EVERYTHING.structs, EVERYTHING.enums
    fields = {}
    for row in abi:
        if row[0] == "size" and row[1] in structs:
            assert ctypes.sizeof(structs[row[1]]) == int(row[2]), row
        elif row[0] == "size":
            assert row[1] in enums and int(row[2]) == ctypes.sizeof(ctypes.c_int), row
        elif row[0] == "field":
            struct, name = row[1].split(".")
            descriptor = getattr(structs[struct], name)
            assert (descriptor.offset, descriptor.size) == (int(row[2]), int(row[3])), row
            fields.setdefault(struct, []).append(name)
    for name, struct in structs.items():
        assert [field for field, *_ in struct._fields_] == fields[name]


def test_constants_are_those_of_the_compiler(abi):
    assert {row[1]: int(row[2]) for row in abi if row[0] == "constant"} == EVERYTHING.constants


def test_functions_in_use_are_declared():
    used = set()
    for path in Path(svmp.__file__).parent.glob("*.py"):
        used |= set(re.findall(r"\b(?:lib|slam)\.(svmp_\w+)", path.read_text()))
    assert used and used <= set(EVERYTHING.functions)


def test_another_header_is_noticed():
    text = "typedef struct svmp_moments { double mean, sd; float q05; } svmp_moments;"
    with pytest.raises(HeaderError, match="float"):
        Interface([text])
    made = Interface(["typedef struct svmp_moments { double mean; int sd; } svmp_moments;"])
    assert made.structs["svmp_moments"].sd.size == 4


def test_arrays_in_structs():
    made = Interface(["enum { SVMP_MANY = 3 };\ntypedef struct svmp_a { char name[5], other[2]; double x[SVMP_MANY]; const char *t, *u; } svmp_a;"])
    struct = made.structs["svmp_a"]
    assert [(name, getattr(struct, name).offset, getattr(struct, name).size) for name, _ in struct._fields_] == [
        ("name", 0, 5),
        ("other", 5, 2),
        ("x", 8, 24),
        ("t", 32, 8),
        ("u", 40, 8),
    ]


def test_version_is_that_of_the_library():
    assert svmp.__version__ == (ROOT / "VERSION").read_text().strip()
