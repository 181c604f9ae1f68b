"""Links of Markdown pages: where they stand, where they lead on the forge and on the site, and whether what they lead to is there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
MADE = ROOT / "docs" / "reference"
"""The folder of the pages that are written when the site is built."""

#: Code, whose brackets are no links: fenced blocks, and spans in backticks.
_CODE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[^\n]*\n.*?^(?P=fence)[ \t]*$|(?P<tick>`+)(?!`).*?(?<!`)(?P=tick)(?!`)", re.M | re.S
)
_LINK = re.compile(
    r"(?P<open>!?\[(?:[^\[\]]|\[[^\[\]]*\]\([^()]*\)|\[[^\[\]]*\])*+\])\((?P<target>[^()\s]+)(?P<title>\s+\"[^\"]*\")?\)"
)
_ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:", re.I)

#: Folders with one page of the site for all, and files with a page of their own.
FOLDERS = {
    "benchmarks/results": "reference/benchmarks/index",
    "docs": "index",
    "docs/gallery": "auto_gallery/index",
    "examples": "reference/programs/index",
    "fwdsl/diagnostics/catalogue": "reference/errors/index",
}
FILES = {
    "README.md": "index",
    "CHANGELOG.md": "reference/project/changelog",
    "CONTRIBUTING.md": "reference/project/contributing",
    "SECURITY.md": "reference/project/security",
    "benchmarks/README.md": "reference/benchmarks/measuring",
    "docs/README.md": "index",
}
#: The first page of the gallery, which sphinx-gallery writes.
GALLERY = ROOT / "docs" / "auto_gallery" / "index.rst"
_PATTERNS = (
    ("fwdsl/diagnostics/catalogue/FW?.md", "reference/errors/"),
    ("benchmarks/results/*.md", "reference/benchmarks/"),
    ("examples/*.fw", "reference/programs/"),
)


@dataclass(frozen=True)
class Link:
    """A link: its words in brackets, its target as written, its line."""

    words: str
    target: str
    line: int

    @property
    def is_elsewhere(self) -> bool:
        """True if it leads out of the repository."""
        return bool(_ELSEWHERE.match(self.target)) or self.target.startswith("//")

    @property
    def path(self) -> str:
        return unquote(self.target.partition("#")[0])

    @property
    def anchor(self) -> str:
        return unquote(self.target.partition("#")[2])


def _without_code(markdown: str) -> str:
    """The page with spaces in the place of code, so that positions stay."""
    return _CODE.sub(lambda m: re.sub(r"[^\n]", "\0", m[0]), markdown)


def links(markdown: str) -> Iterator[Link]:
    """The links of a page, pictures among them."""
    plain = _without_code(markdown)
    for match in _LINK.finditer(plain):
        words = markdown[match.start("open") : match.end("open")]
        yield Link(words, match["target"], markdown.count("\n", 0, match.start()) + 1)


def slug(heading: str) -> str:
    """The address that the forge gives a heading, and MyST too: small letters, no punctuation, hyphens for spaces."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip()).lower()
    return re.sub(r" ", "-", re.sub(r"[^\w\s-]", "", text))


@cache
def anchors(text: str) -> frozenset[str]:
    """The addresses within a page: those of its headings, numbered where one comes again, and those that it names in HTML."""
    bare = re.sub(r"^(`{3,}|~{3,})[^\n]*\n.*?^\1[ \t]*$", "", text, flags=re.M | re.S)
    seen: dict[str, int] = {}
    for heading in re.findall(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", bare, re.M):
        name = slug(heading.replace("`", ""))
        times = seen[name] = seen.get(name, -1) + 1
        if times:
            seen[f"{name}-{times}"] = 0
    return frozenset(
        (*seen, *re.findall(r"<a (?:id|name)=\"([^\"]+)\"", bare), *re.findall(r"^\(([\w-]+)\)=$", bare, re.M))
    )


def markdown_files() -> list[Path]:
    """The Markdown files of the repository that people read: at its top, in `docs`, of benchmarks, editors and diagnostics."""
    folders = ("docs", "benchmarks", "editors", "fwdsl/diagnostics/catalogue")
    nested = (path for folder in folders for path in (ROOT / folder).rglob("*.md"))
    kept = (p for p in nested if not p.is_relative_to(MADE) and not {"_build", "node_modules"} & set(p.parts))
    return [*sorted(ROOT.glob("*.md")), *sorted(kept)]


def broken(page: Path, made: Mapping[str, str]) -> list[str]:
    """The faults of the links of a page within the repository, a line each: files that are not there, addresses that no heading has.

    `made` are the pages that are written when the site is built, by their paths below `docs/reference`.
    """
    found = []
    for link in links(page.read_text(encoding="utf-8")):
        if link.is_elsewhere:
            continue
        target = (page.parent / link.path).resolve() if link.path else page
        where = f"{page.relative_to(ROOT) if page.is_relative_to(ROOT) else page}:{link.line}: {link.target}"
        if target.is_relative_to(MADE):
            text = made.get(target.relative_to(MADE).as_posix())
        else:
            text = target.read_text(encoding="utf-8") if target.suffix == ".md" and target.is_file() else None
            text = "" if text is None and target.exists() else text
        if text is None:
            found.append(f"{where}: there is no such file")
        elif link.anchor and link.anchor not in anchors(text):
            found.append(f"{where}: no heading has this address")
    return found


def broken_in_made(made: Mapping[str, str]) -> list[str]:
    """The faults of the links between pages that are written when the site is built, and from them to those of `docs`."""
    found = []
    for name, text in made.items():
        if not name.endswith(".md"):
            continue
        for link in links(text):
            if link.is_elsewhere:
                continue
            # from the top of `docs`, or from the page
            inside = ROOT / "docs" / link.path[1:] if link.path.startswith("/") else (MADE / name).parent / link.path
            target = Path(os.path.normpath(inside)) if link.path else MADE / name
            if target == GALLERY:
                continue  # the gallery writes it, from scripts that are there
            if target.is_relative_to(MADE):
                other = made.get(target.relative_to(MADE).as_posix())
            else:
                other = target.read_text(encoding="utf-8") if target.is_file() else None
            if other is None:
                found.append(f"{name}:{link.line}: {link.target}: there is no such file")
            elif link.anchor and link.anchor not in anchors(other):
                found.append(f"{name}:{link.line}: {link.target}: no heading has this address")
    return found


def page_of(path: PurePosixPath) -> str:
    """The page of the site (without suffix) that a file or folder of the repository has; "" where it has none."""
    name = path.as_posix()
    if name in FILES or name in FOLDERS:
        return FILES.get(name) or FOLDERS[name]
    if path.suffix == ".md" and path.parts[0] == "docs":
        return path.relative_to("docs").with_suffix("").as_posix()
    for pattern, folder in _PATTERNS:
        if path.match(pattern) and len(path.parts) == pattern.count("/") + 1:
            return folder + path.stem
    return ""


def for_site(markdown: str, source: PurePosixPath, page: str) -> str:
    """A page of the repository as the site has it: links lead to the site's pages; those to folders without one are words.

    `source` is the file that the text is of, `page` the page of the site that it becomes. Other files are offered for download.
    """
    plain = _without_code(markdown)
    parts, done = [], 0
    for match in _LINK.finditer(plain):
        link = Link("", match["target"], 0)
        if link.is_elsewhere or not link.path or link.path.startswith("/"):
            continue
        words = markdown[match.start("open") : match.end("open")]
        parts += [markdown[done : match.start()], _site_link(words, link, source, page)]
        done = match.end()
    return "".join([*parts, markdown[done:]])


def _site_link(words: str, link: Link, source: PurePosixPath, page: str) -> str:
    target = PurePosixPath(os.path.normpath(source.parent / link.path))
    other = page_of(target)
    if other:
        # the front page has other headings than the README
        anchor = f"#{link.anchor}" if link.anchor and other != "index" else ""
        suffix = "rst" if other.startswith("auto_gallery/") else "md"  # the gallery writes its own pages
        return f"{words}(/{other}.{suffix}{anchor})"
    if (ROOT / target).is_dir():
        return words[1:-1]
    near = os.path.relpath(ROOT / target, (ROOT / "docs" / page).parent)
    return f"{words}({PurePosixPath(near)})"
