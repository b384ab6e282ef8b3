from __future__ import annotations

from reprokit.model.launch import MARK, Provenance, without_header


def test_the_header_names_the_kit_and_its_subject() -> None:
    origin = Provenance(version="1.2", kit="job", subject="0123456789abcdef", command="reprokit emit")
    assert (
        origin.text == "Made by reprokit 1.2 for the kit job (subject run 0123456789ab) by `reprokit emit`."
    )
    early = Provenance(version="1.2", kit="job", subject=None, command="reprokit emit")
    assert early.text == "Made by reprokit 1.2 for the kit job (no subject run yet) by `reprokit emit`."
    assert origin.text.startswith(MARK)


def test_a_text_without_its_header() -> None:
    origin = Provenance(version="1.2", kit="job", subject=None, command="reprokit emit")
    script = f"#!/bin/sh\n# {origin.text}\nset -e\n\n"
    assert without_header(script) == "#!/bin/sh\nset -e\n\n"
    assert without_header(without_header(script)) == without_header(script)
    assert without_header("no header\r\nat all") == "no header\r\nat all"
