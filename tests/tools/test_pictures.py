"""The pictures of the README are whole, load nothing, and show what the checkout has."""

import re
import xml.etree.ElementTree as ET

import pytest

from tools import pictures


def words(name: str) -> str:
    """The words of a picture, a space between its pieces, without what is spaces only to be drawn."""
    root = ET.parse(pictures.IMAGES / name).getroot()
    texts = [" ".join(part for part in text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    return re.sub(r"\s+", "", " ".join(texts))


@pytest.mark.parametrize("name", ["overview.svg", "session.svg"])
def test_a_picture_loads_nothing_and_is_on_the_readme(name: str) -> None:
    text = (pictures.IMAGES / name).read_text()
    assert re.findall(r"https?://[^\s\"<]*", text) == ["http://www.w3.org/2000/svg"]
    assert "url(" not in text and "<script" not in text
    assert f"docs/images/{name}" in (pictures.ROOT / "README.md").read_text()


def test_the_overview_shows_the_example() -> None:
    program = "".join(line for line in pictures.PROGRAM.read_text().splitlines(True) if not line.startswith("#"))
    assert re.sub(r"\s+", "", program) in words("overview.svg")


def test_the_session_shows_its_commands() -> None:
    shown = words("session.svg")
    for command in pictures.SESSION:
        assert re.sub(r"\s+", "", f"$ {command}") in shown
    assert "statusoptimal" in shown and "error[FW2006]" in shown
