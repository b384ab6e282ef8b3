from __future__ import annotations

import pytest

from reprokit.parse.prefixes import Stripped, strip, without_controls


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text", Stripped("plain text")),
        (
            "[rank3]: Traceback (most recent call last):",
            Stripped("Traceback (most recent call last):", rank=3),
        ),
        ('[rank3]:   File "a.py"', Stripped('  File "a.py"', rank=3)),
        ("[rank7]:", Stripped("", rank=7)),
        (
            "[rank1]:[E810 03:04:11.06 ProcessGroupNCCL.cpp:683]",
            Stripped("[E810 03:04:11.06 ProcessGroupNCCL.cpp:683]", rank=1),
        ),
        (
            "[default0]: [2026-10-02 03:04:05] iteration",
            Stripped(" [2026-10-02 03:04:05] iteration", local_rank=0),
        ),
        ("[default3]:[rank11]: MemoryError", Stripped("MemoryError", rank=11, local_rank=3)),
        (" 3: [rank3]:     main()", Stripped("    main()", rank=3, task=3)),
        (" 3:", Stripped("", task=3)),
        ("12:  [2026-10-02 03:04:05] iteration", Stripped(" [2026-10-02 03:04:05] iteration", task=12)),
        ("0: Traceback (most recent call last):", Stripped("Traceback (most recent call last):", task=0)),
        ('0:   File "a.py", line 1, in f', Stripped('  File "a.py", line 1, in f', task=0)),
        ("0:     main()", Stripped("    main()", task=0)),
        (
            "0: torch.OutOfMemoryError: CUDA out of memory.",
            Stripped("torch.OutOfMemoryError: CUDA out of memory.", task=0),
        ),
        ("0: slurmstepd: error: x", Stripped("slurmstepd: error: x", task=0)),
        # no labels
        ("3: apples", Stripped("3: apples")),
        ("13:49:43.350 [I] Created", Stripped("13:49:43.350 [I] Created")),
        (
            "[Rank 0] (after 2 iterations) memory (GB) |",
            Stripped("[Rank 0] (after 2 iterations) memory (GB) |"),
        ),
        ("[titan] 2026-02-10", Stripped("[titan] 2026-02-10")),
        ("[rank12345678]: x", Stripped("[rank12345678]: x")),
    ],
)
def test_prefixes(text: str, expected: Stripped) -> None:
    assert strip(text) == expected


def test_prefixes_are_taken_a_bounded_number_of_times() -> None:
    assert strip("[rank1]: " * 20).text == "[rank1]: " * 12


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[1;35mMemoryError\x1b[0m: x", "MemoryError: x"),
        ("\x1b]8;;http://a/b\x1b\\link\x1b]8;;\x07", "link"),
        ("\x1b(Bplain\x1b", "plain"),
        ("a\0b\0", "ab"),
        ("no controls", "no controls"),
    ],
)
def test_control_sequences(text: str, expected: str) -> None:
    assert without_controls(text) == expected
