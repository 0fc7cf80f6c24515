"""Whether a fit can be trusted. This is the one place that decides it."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np

from ._judge import Judged
from ._library import constants
from ._run import RunResult
from ._sample import Sample, summarise
from ._words import in_python

_FEW_PARTICLES = 10  # with fewer, no discrepancy stands out from chance


@dataclass(frozen=True)
class Verdict:
    """What the diagnostics say about a fit.

    Attributes:
        word: ``"converged"``, ``"not converged"``, ``"undecided"``, ``"not examined"``, ``"exact"``, ``"modes"``, ``"diverged"`` or
            ``"unknown"``.
        sentence: what was found and what to do.
        evidence: the numbers behind it.

    A verdict is true if the fit can be used: ``assert fit.verdict``.
    """

    word: str
    sentence: str
    evidence: dict[str, Any] = field(default_factory=dict, repr=False)

    def __bool__(self) -> bool:
        return self.word in ("converged", "exact")

    def __str__(self) -> str:
        return self.sentence

    @property
    def recorded(self) -> str:
        """The word in files, which is the command's: "passed" or "failed" for particles that were examined."""
        if self.word == "not converged" and self.evidence.get("finding") == constants["SVMP_FAILED"]:
            return "failed"
        return "passed" if self.word == "converged" else self.word

    def _repr_html_(self) -> str:
        return f'<p style="color:{"#1a7f37" if self else "#b35900"}">{html.escape(self.sentence)}</p>'


def judge_examined(judged: Judged) -> Verdict:
    """The library's own verdict on particles: "passed", "failed", "undecided" or "not examined", and vetoes."""
    veto = judged.evidence.get("veto", 0)
    word = "converged" if judged.clear else "not converged"
    if not judged.clear and veto == constants["SVMP_VETO_NONE"] and judged.finding in ("undecided", "not examined"):
        word = judged.finding
    elif veto == constants["SVMP_VETO_FEW"] and judged.finding != "failed":
        word = "not examined"
    return Verdict(word, f"{judged.sentence} {judged.advice}".strip(), judged.evidence)


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
        "converged", f"{who}: by kernel and moments, none is farther from the posterior than exact draws would be.", evidence
    )


def _of_chains(sample: Sample) -> Verdict:
    """R-hat and effective draws with the limits of the command: docs/diagnostics.md."""
    chains = sample.chains
    needed = 100.0 * chains if chains <= 4 else max(400.0, 10.0 * chains)
    limit = max(1.01, math.sqrt(1 + 2 * chains / needed))
    _, mixing = summarise(sample, np.arange(len(sample.names), dtype=np.intp))
    r_hat = np.array([m.r_hat for m in mixing])
    draws = np.array([np.fmin(m.bulk_draws, m.tail_draws) for m in mixing])
    divergent = int(np.nansum(sample.statistics.get("divergent__", np.zeros(1)) != 0))
    if np.isnan(r_hat).all():
        return Verdict("unknown", "R-hat is not defined: nothing varies, or a chain has fewer than 6 draws.", {"divergent": divergent})
    worst, fewest = int(np.nanargmax(r_hat)), int(np.nanargmin(draws)) if not np.isnan(draws).all() else 0
    evidence = {"r_hat": float(r_hat[worst]), "effective_draws": float(draws[fewest]), "divergent": divergent}
    said = []
    if r_hat[worst] > limit:
        said.append(
            f"R-hat is above {limit:.4g} for {int((r_hat > limit).sum())} of {len(r_hat)} variables (worst: {sample.names[worst]}, "
            f"{r_hat[worst]:.3f}): the chains have not mixed. Run more warm-up or draws."
        )
    if draws[fewest] < needed:
        said.append(
            f"Fewer than {needed:.0f} effective draws for {int((draws < needed).sum())} of {len(draws)} variables (fewest: "
            f"{sample.names[fewest]}, {draws[fewest]:.0f}). Run more draws."
        )
    if divergent:
        said.append(f"{divergent} draws diverged: the draws may miss regions of the posterior. Try a larger target_accept.")
    if said:
        return Verdict("not converged", " ".join(said), evidence)
    who = "The chains have mixed" if chains > 1 else "The halves of the chain agree, but several chains would be a stronger test"
    return Verdict(
        "converged", f"{who}: R-hat is at most {r_hat[worst]:.3f}, and there are at least {draws[fewest]:.0f} effective draws.", evidence
    )


def judge(result: RunResult) -> Verdict:
    """The verdict on the result of a run."""
    if result.outcome == "diverged":
        return Verdict("diverged", "The particles diverged: take smaller steps or another start. These numbers are of no use.")
    if result.kind == "modes":
        return Verdict("modes", "These particles are modes and not a sample of the posterior: do not use their spread.")
    if result.kind == "draws":
        return Verdict("exact", "The particles are independent draws from the posterior.")
    made = _of_chains(result.sample) if result.kind == "chains" else _of_particles(result)
    if result.outcome != "stopped":
        return made
    stopped = f"Stopped after iteration {result.iterations} of {result.requested}."
    return Verdict(made.word, f"{stopped} {made.sentence}", made.evidence)


def judge_sample(sample: Sample, recorded: dict[str, str]) -> Verdict:
    """The verdict on a sample from a file, from its record."""
    if sample.are_chains:
        return _of_chains(sample)
    beyond: Optional[str] = recorded.get("ksd_beyond")
    if "verdict_text" in recorded:
        word = {"passed": "converged", "failed": "not converged"}.get(recorded["verdict"], recorded["verdict"])
        return Verdict(word, in_python(f"{recorded['verdict_text']} {recorded.get('verdict_advice', '')}".strip()))
    if beyond is not None:
        count = int(beyond.split()[0])
        if count:
            return Verdict("not converged", f"Not converged: {count} nodes are farther from the posterior than exact draws would be.")
        return Verdict("converged", "All nodes pass: none is farther from the posterior than exact draws would be.")
    return Verdict("unknown", "The file does not say how the particles were made.")
