"""The documentation as a site: every page has a place in it, links hold there, and nothing comes from other hosts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import palaestra
from palaestra.cli import verbs_page

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MENU = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
LOADED = re.compile(r"""<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//[^"'\s>]+""")


def pages() -> Iterator[str]:
    for page in sorted(DOCS.rglob("*.md")):
        yield page.relative_to(DOCS).as_posix()


def test_every_page_has_a_place_in_the_menu() -> None:
    named = set(re.findall(r"(\S+\.md|\S+/)$", MENU, re.MULTILINE))
    lost = [page for page in pages() if page not in named and f"{page.rpartition('/')[0]}/" not in named]
    assert lost == [], "add a line below nav: in mkdocs.yml"
    at_root = {"index.md", "RESULTS.md", "CHANGELOG.md", "CONTRIBUTING.md"}
    assert [name for name in named - at_root if not (DOCS / name).exists()] == []


def test_the_page_of_verbs_is_up_to_date() -> None:
    page = (DOCS / "verbs.md").read_text(encoding="utf-8")
    assert page == verbs_page.markdown(), "make it again: make pages"


def test_the_reference_holds_every_name_of_the_package() -> None:
    shown = re.findall(r"^::: (\S+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(shown) == sorted(f"{home}.{name}" for name, home in palaestra._HOMES.items())


def test_versions_are_the_same_everywhere() -> None:
    for name, pattern in (("pyproject.toml", r'^version = "(.*)"$'), ("CITATION.cff", r"^version: (.*)$")):
        found = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        assert found is not None and found[1] == palaestra.__version__, name
    docker, pins = ((ROOT / name).read_text(encoding="utf-8") for name in ("Dockerfile", "constraints.txt"))
    assert set(re.findall(r"torch==\S+", docker)) == set(re.findall(r"^torch==\S+", pins, re.MULTILINE))


def test_the_changelog_has_fixed_headings_in_order_one_section_a_version() -> None:
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    order = ["Added", "Changed", "Deprecated", "Fixed", "Removed"]
    versions = re.split(r"^## ", log, flags=re.MULTILINE)[1:]
    assert versions[0].startswith(palaestra.__version__)
    assert len({text.split(",")[0] for text in versions}) == len(versions)
    for text in versions:
        headings = re.findall(r"^### (.*)$", text, re.MULTILINE)
        assert headings == [heading for heading in order if heading in headings]


@pytest.mark.slow
def test_the_site_is_built_strictly_and_loads_nothing_from_other_hosts(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, timeout=600, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    site = tmp_path / "site"
    made = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    assert len(made) > 40
    assert {page.name: LOADED.findall(text) for page, text in made.items() if LOADED.search(text)} == {}
    assert '<h1 id="palaestra">' in made[site / "index.html"]
    assert "Learn a game by self-play, to the end that the configuration sets" in made[site / "api.html"]
    assert "gumbel" in (site / "search" / "search_index.js").read_text(encoding="utf-8")
    assert 'href="results/judging.html"' in made[site / "how-it-works.html"]
    assert 'href="../RESULTS.html' in made[site / "sources" / "published.html"]
