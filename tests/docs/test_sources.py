"""What the repository cites exists in it: headings of docs/sources, pages, and anchors of links."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from docs.check_links import FENCE, HEADING, broken_links

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("src", "tests", "benchmarks", "docs", "examples")
KINDS = {".py", ".md", ".toml", ".kif", ".txt"}

CITATION = re.compile(r"(?:\((?:[^()\n]*; )?|\[)sources: ([^()\[\]\n]*)([)\]]?)")
PAGE = re.compile(r"\b(?:docs/[\w./-]+|[A-Z]+)\.md\b")  # not report.md, which a program may write
ELSEWHERE = re.compile(r"\b(?:FACTS|DESIGN|fact.sheets?)\b|§ ?\d")  # pages and their sections that are not here


@cache
def texts() -> dict[Path, str]:
    """Every text of the repository but this one, which has wrong citations on purpose."""
    files = [file for name in FOLDERS for file in (ROOT / name).rglob("*") if file.suffix in KINDS]
    files += [file for file in ROOT.iterdir() if file.suffix in KINDS or file.name == "Makefile"]
    return {file: file.read_text(encoding="utf-8") for file in files if file != Path(__file__).resolve()}


@cache
def headings() -> tuple[str, ...]:
    """What may be cited: headings of the pages of sources, up to their colon, in small letters."""
    pages = [ROOT / "docs" / "sources.md", *sorted((ROOT / "docs" / "sources").glob("*.md"))]
    titles = [title for page in pages for title in HEADING.findall(FENCE.sub("", texts()[page]))]
    return tuple(title.partition(":")[0].strip().lower() for title in titles)


def wrong_citations(text: str) -> list[str]:
    """Cited headings that do not exist, and citations that do not end on their line."""
    known = set(headings())
    found = []
    for cited, end in CITATION.findall(text):
        names = [name.strip() for name in cited.split(";")]
        found += [name for name in names if not end or name.lower() not in known]
    return found


def pages_elsewhere(text: str) -> list[str]:
    """Mentions of pages that the repository does not hold."""
    names = {file.name for file in texts() if file.suffix == ".md"}
    lost = [page for page in PAGE.findall(text) if page.rpartition("/")[2] not in names]
    return lost + ELSEWHERE.findall(text)


def test_every_citation_names_a_heading() -> None:
    wrong = {str(file.relative_to(ROOT)): wrong_citations(text) for file, text in texts().items()}
    assert {file: names for file, names in wrong.items() if names} == {}
    assert sum(len(CITATION.findall(text)) for text in texts().values()) > 100


def test_every_heading_can_be_told_from_the_others() -> None:
    assert [name for name, count in Counter(headings()).items() if count > 1] == []
    assert {"alg. 15", "l8", "table 5.1", "loss functions"} <= set(headings())


def test_no_text_points_to_a_page_outside_the_repository() -> None:
    lost = {str(file.relative_to(ROOT)): pages_elsewhere(text) for file, text in texts().items()}
    assert {file: pages for file, pages in lost.items() if pages} == {}


def test_every_link_and_anchor_leads_somewhere() -> None:
    pages = [file for file in texts() if file.suffix == ".md"]
    assert [line for page in pages for line in broken_links(page)] == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("as published (sources: Alg. 15).", []),
        ("(Eq. 7.1; sources: ranked reward; L8)", []),
        ("see [sources: perfect values](sources/games.md#perfect-values)", []),
        ("def reached(stones: int, sources: set[int]) -> None: ...", []),
        ("(sources: Alg. 16)", ["Alg. 16"]),
        ("(Table 5.1; sources: arena; nothing)", ["nothing"]),
        ("(sources: opposition\nsolved)", ["opposition"]),
    ],
)
def test_wrong_citations_are_found(text: str, wrong: list[str]) -> None:
    assert wrong_citations(text) == wrong


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("docs/rewards.md and RESULTS.md say it; report.md is written, and **/*.md means all", []),
        ("see FACTS, or DESIGN D2", ["FACTS", "DESIGN"]),
        ("as in docs/plan.md and NOTES.md", ["docs/plan.md", "NOTES.md"]),
        ("as in the fact sheet, §4", ["fact sheet", "§4"]),
    ],
)
def test_pages_outside_the_repository_are_found(text: str, lost: list[str]) -> None:
    assert pages_elsewhere(text) == lost


def test_links_without_an_end_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("docs.check_links.ROOT", tmp_path)
    page, other = tmp_path / "page.md", tmp_path / "other.md"
    other.write_text("# Title\n\n## L8: sides, once more\n\n## Twice\n\n## Twice\n")
    links = "[a](other.md#l8-sides-once-more) [b](other.md#sides) [c](#page) [d](#pages) [e](none.md#a)"
    page.write_text(f"# Page\n\n{links}\n")
    ends = ["other.md#sides names no heading", "#pages names no heading", "none.md#a does not exist"]
    assert broken_links(page) == [f"page.md: {end}" for end in ends]
    page.write_text("[a](other.md#twice) [b](other.md#twice-1) [c](other.md#twice-2)\n")
    assert broken_links(page) == ["page.md: other.md#twice-2 names no heading"]
