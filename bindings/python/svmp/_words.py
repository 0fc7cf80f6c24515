"""The words of the library, which speaks of the options of the command, for Python."""

from __future__ import annotations

import re


def _backend(found: re.Match[str]) -> str:
    return f"backend='{found[1]}'" + (f" or '{found[2]}'" if found[2] else "")


def in_python(text: str) -> str:
    """A sentence of the library with the options of the command as arguments.

    >>> in_python("Run longer (-t 2000), or start elsewhere (--init gaussian --step adam:0.1). Compare with -m nuts.")
    "Run longer (iterations=2000), or start elsewhere (init='gaussian', step='adam:0.1'). Compare with method='nuts'."
    >>> in_python("Use --backend cuda-f64 to continue it, or write the particles with -o FILE and use --init FILE.")
    "Use backend='cuda-f64' to continue it, or write the particles with fit.save(FILE) and use init=FILE."
    >>> in_python("Without a GPU, use --backend cpu or auto.")
    "Without a GPU, use backend='cpu' or 'auto'."
    """
    if "svmp run" in text:  # a whole command line
        return text
    text = re.sub(r"(?<![\w-])-m (\w+)", r"method='\1'", text)
    text = re.sub(r"(?<![\w-])-t (\d+)", r"iterations=\1", text)
    text = re.sub(r"(?<![\w-])-n (\d+)", r"particles=\1", text)
    text = re.sub(r"(?<![\w-])-t(?![\w-])", "iterations", text)
    text = re.sub(r"(?<![\w-])-o FILE", "fit.save(FILE)", text)
    text = re.sub(r"(?<![\w-])--init FILE", "init=FILE", text)
    text = re.sub(r"(?<![\w-])--backend (?!is\b|or\b|and\b)([a-z][a-z0-9-]*)(?: or (auto)\b)?", _backend, text)
    text = re.sub(r"(?<![\w-])--(coordinates|init|kernel|method|step) (?!is\b|or\b|and\b)([a-z]+(?::[\w.,]*\w)?)", r"\1='\2'", text)
    text = re.sub(r"(?<![\w-])--([a-z-]+)", lambda m: m[1].replace("-", "_"), text)
    return re.sub(r"(?<==')([^']*)' (?=\w+=')", r"\1', ", text)
