"""Did the processes stay on after the failure, and what ended them?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reprokit.analyze.rules.base import rank_list
from reprokit.model.finding import Finding
from reprokit.model.run import Run
from reprokit.model.trace import Ended, Event


class HangAfterFailure:
    """Reads the agent's end record: it waited for the job, so it knows."""

    name = "hang_after_failure"

    def look(self, run: Run, events: Sequence[Event]) -> Iterable[Finding]:
        """One finding where an agent recorded how a failed job ended."""
        if run.failure is None or run.failure.hang_after_failure is None:
            return
        ended = [event for event in events if isinstance(event, Ended)]
        if not ended:
            return
        last = ended[-1]
        if not run.failure.hang_after_failure:
            yield Finding(
                rule=self.name,
                holds=False,
                confidence="established",
                statement=f"The job ended by itself after the failure, with exit code {last.exit_code}.",
                evidence=(last.where,),
            )
            return
        failed = run.failure.failing_ranks
        who = f"After the failure of {rank_list(failed)}" if failed else "After the failure"
        seconds = run.hang.seconds if run.hang else None
        quiet = f" for {seconds:.1f} s" if seconds is not None else ""
        yield Finding(
            rule=self.name,
            holds=True,
            confidence="established",
            statement=f"{who}, nothing moved{quiet} and no process exited; {_ending(run)}.",
            evidence=(last.where,),
            numbers={"quiet_seconds": seconds},
            suggests="Exit with an error when a rank fails, so that the scheduler can end the job.",
        )


def _ending(run: Run) -> str:
    """What ended a hung job, in words."""
    return {
        "agent": "the recording agent ended the processes",
        "time_limit": "the time limit ended the processes",
        "cancelled": "a signal to the recorder ended the processes",
        "signal": "a signal ended the processes",
    }.get(run.ended_by, "what ended the processes is not known")
