"""The verdict on a fit. No other module decides it."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any, Optional

from ._judge import Judged, judge_chains, recorded_advice
from ._run import RunResult
from ._sample import Sample

_FEW_PARTICLES = 10  # with fewer, no discrepancy is significant


@dataclass(frozen=True)
class Verdict:
    """The verdict of the diagnostics on a fit.

    Attributes:
        word: ``"passed"``, ``"failed"``, ``"not converged"``, ``"undecided"``, ``"not examined"``, ``"exact"``, ``"modes"``,
            ``"diverged"`` or ``"unknown"``.
        sentence: what was found and what to do.
        evidence: the numbers behind the verdict.
        record: the lines that a file records, as written by the command.

    A verdict is true if the fit can be used: ``assert fit.verdict``.
    """

    word: str
    sentence: str
    evidence: dict[str, Any] = field(default_factory=dict, repr=False)
    record: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    def __bool__(self) -> bool:
        return self.word in ("passed", "exact")

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        return f'<p style="color:{"#1a7f37" if self else "#b35900"}">{html.escape(self.sentence)}</p>'


def judge_examined(judged: Judged) -> Verdict:
    """The library's own verdict."""
    return Verdict(judged.word, f"{judged.sentence} {judged.advice}".strip(), judged.evidence, judged.record)


def _of_particles(result: RunResult) -> Verdict:
    measured = result.measured
    if result.judged is not None:
        return judge_examined(result.judged)
    if measured is None:
        return Verdict("unknown", "The Stein discrepancy was not measured.")
    evidence: dict[str, Any] = dict(measured.total)
    beyond, nodes = measured.beyond, len(measured.nodes)
    evidence["nodes_beyond"] = beyond
    if result.sample.count < _FEW_PARTICLES:
        return Verdict("unknown", f"Fewer than {_FEW_PARTICLES} particles: too few to judge convergence.", evidence)
    if beyond:
        return Verdict(
            "not converged",
            f"Not converged: {len(beyond)} of {nodes} nodes {'is' if len(beyond) == 1 else 'are'} farther from the posterior than "
            f"exact draws would be (worst: {beyond[0]}). Run longer, start from init='gaussian', or compare with sample().",
            evidence,
        )
    who = "The node passes" if nodes == 1 else f"All {nodes} nodes pass"
    return Verdict(
        "passed", f"{who}: the discrepancy and the moments are within the limits for exact draws.", evidence
    )


def judge(result: RunResult) -> Verdict:
    """The verdict on the result of a run."""
    if result.outcome == "diverged":
        return Verdict("diverged", "The particles diverged: take smaller steps or use another start. Do not use these numbers.")
    if result.kind == "modes":
        return Verdict("modes", "These particles are modes and not a sample of the posterior: do not use their spread.")
    if result.kind == "draws":
        return Verdict("exact", "The particles are independent draws from the posterior.")
    if result.kind == "chains" and result.sample.are_chains:
        made = judge_examined(result.judged or judge_chains(result.sample, result.settings))
    else:
        made = _of_particles(result)
    if result.outcome != "stopped":
        return made
    stopped = f"Stopped after iteration {result.iterations} of {result.requested}."
    return Verdict(made.word, f"{stopped} {made.sentence}", made.evidence, made.record)


def judge_sample(sample: Sample, recorded: dict[str, str]) -> Verdict:
    """The verdict on a sample from a file, from its record."""
    beyond: Optional[str] = recorded.get("ksd_beyond")
    if "verdict_text" in recorded:
        word = recorded["verdict"]
        return Verdict(word, f"{recorded['verdict_text']} {recorded_advice(recorded)}".strip())
    if sample.are_chains:
        return judge_examined(judge_chains(sample, recorded))
    if beyond is not None:
        count = int(beyond.split()[0])
        if count:
            return Verdict("not converged", f"Not converged: {count} nodes are farther from the posterior than exact draws would be.")
        return Verdict("passed", "All nodes pass: their discrepancies are within the limits for exact draws.")
    return Verdict("unknown", "The file does not record how the particles were produced.")
