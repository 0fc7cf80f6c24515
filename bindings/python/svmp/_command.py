"""The command ``svmp`` of an installed package."""

from __future__ import annotations

import os
import sys

from ._library import find_command


def main() -> None:
    """Executes the command that was built with the library."""
    command = find_command()
    if command is None:
        sys.exit("svmp: the command is not in this installation")
    os.execv(command, ["svmp", *sys.argv[1:]])
