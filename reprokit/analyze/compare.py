"""Two runs side by side. Figures are compared only for the same rank, key and point, before either failed."""

from __future__ import annotations

from reprokit.model.facts import Where
from reprokit.model.finding import Finding
from reprokit.model.run import MemoryFigures, Run
from reprokit.model.units import Size, signed
from reprokit.model.verdict import Comparison, Delta

FIELDS = ("kind", "site", "exception", "statement", "phase", "iteration", "ranks", "then_hung")
"""Fields of a fingerprint that are compared one by one."""

TITLES = {
    "kind": "failure kind",
    "site": "site",
    "exception": "exception class",
    "statement": "failing statement",
    "phase": "phase",
    "iteration": "iteration in progress",
    "ranks": "failing ranks",
    "then_hung": "hang after the failure",
}


def words(value: object) -> str:
    """A fingerprint field for people; unknown is said as unknown."""
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (tuple, list)):
        return ", ".join(str(item) for item in value) or "none named"
    return str(value)


def memory_deltas(a: Run, b: Run) -> tuple[Delta, ...]:
    """Figures both runs printed for the same rank after the same iteration, `b - a` in bytes."""
    first = {(line.rank, line.after_iteration): line for line in a.memory}
    second = {(line.rank, line.after_iteration): line for line in b.memory}
    shared = [key for key in first if key in second]
    deltas = []
    for rank, iteration in sorted(shared, key=lambda key: (key[1], -1 if key[0] is None else key[0])):
        one, two = first[rank, iteration], second[rank, iteration]
        for name, size in one.values.items():
            if name in two.values:
                deltas.append(_delta(name, one, two, size, two.values[name]))
    return tuple(deltas)


def _delta(name: str, one: MemoryFigures, two: MemoryFigures, a: Size, b: Size) -> Delta:
    return Delta(
        what=name,
        rank=one.rank,
        point=f"after iteration {one.after_iteration}",
        a_bytes=a.bytes,
        b_bytes=b.bytes,
        delta_bytes=b.bytes - a.bytes,
        a=one.where,
        b=two.where,
        a_printed=a.printed,
        b_printed=b.printed,
    )


def headline(deltas: tuple[Delta, ...]) -> Delta | None:
    """The delta that says most about a peak: the highest watermark of allocated memory at the latest equal point."""
    peaks = [delta for delta in deltas if "max" in delta.what and "allocated" in delta.what]
    latest = [delta for delta in peaks if delta.point == peaks[-1].point]
    return max(latest, key=lambda delta: max(delta.a_bytes, delta.b_bytes), default=None)


def compare(a: Run, b: Run) -> Comparison:
    """All of it: fingerprints field by field, figures rank by rank, what follows."""
    same: list[str] = []
    differs: dict[str, tuple[str, str]] = {}
    if a.fingerprint is not None and b.fingerprint is not None:
        for name in FIELDS:
            one, two = getattr(a.fingerprint, name), getattr(b.fingerprint, name)
            if one == two:
                same.append(name)
            else:
                differs[name] = (words(one), words(two))
    deltas = memory_deltas(a, b)
    return Comparison(
        a=a.id,
        b=b.id,
        by_rank=deltas,
        same_in=tuple(same),
        differs_in=differs,
        deltas=tuple(delta_sentence(delta) for delta in deltas),
        findings=(*_same_site(a, b), *_peak_growth(a, b, deltas)),
    )


def delta_sentence(delta: Delta) -> str:
    """`rank 0, after iteration 2: mem-max-allocated-gigabytes from 0.1 GB to 0.2 GB (+95.37 MiB)`."""
    rank = f"rank {delta.rank}, " if delta.rank is not None else ""
    change = signed(delta.delta_bytes) if delta.delta_bytes else "no difference"
    return f"{rank}{delta.point}: {delta.what} from {delta.a_printed} to {delta.b_printed} ({change})"


def _same_site(a: Run, b: Run) -> list[Finding]:
    if a.failure is None or b.failure is None or not a.failure.site or not b.failure.site:
        return []
    same = a.failure.site == b.failure.site
    both = (
        f"Both runs failed in {a.failure.site}."
        if same
        else (f"{a.id} failed in {a.failure.site}, {b.id} in {b.failure.site}.")
    )
    evidence = tuple(where for run in (a, b) for where in _failures(run)[:1])
    return [
        Finding(rule="same_site", holds=same, confidence="established", statement=both, evidence=evidence)
    ]


def _failures(run: Run) -> list[Where]:
    return [rank.failure.where for rank in run.ranks if rank.failure]


def _peak_growth(a: Run, b: Run, deltas: tuple[Delta, ...]) -> list[Finding]:
    """Growth is said as a difference; what caused it is not in these figures."""
    delta = headline(deltas)
    if delta is None:
        return []
    grew = delta.delta_bytes > 0
    return [
        Finding(
            rule="peak_growth",
            holds=grew,
            confidence="established",
            statement=f"{b.id} against {a.id}, {delta_sentence(delta)}.",
            evidence=(delta.a, delta.b),
            numbers={"delta_bytes": delta.delta_bytes},
        )
    ]
