"""Pages of the repository that stand outside `docs/`: how to contribute, what changed, and the long forms of diagnostics."""

from __future__ import annotations

from pathlib import PurePosixPath

from fwdsl.diagnostics.catalogue import families

from .links import FILES, ROOT, for_site, page_of, slug


def repository_pages() -> dict[str, str]:
    """The pages by their paths below `docs/reference`."""
    copied = [PurePosixPath(name) for name, page in FILES.items() if page.startswith("reference/project/")]
    catalogue = sorted(ROOT.glob("fwdsl/diagnostics/catalogue/FW?.md"))
    copied += [PurePosixPath(path.relative_to(ROOT).as_posix()) for path in catalogue]
    found = {f"{page_of(path).removeprefix('reference/')}.md": _copy(path) for path in copied}
    for path in catalogue:
        # what is not accepted need not be made of words of the language
        page = f"errors/{path.name}"
        found[page] = found[page].replace("```fw\n", "```{code-block} fw\n:force:\n")
    return {**found, "errors/index.md": _errors()}


def _copy(path: PurePosixPath) -> str:
    return for_site((ROOT / path).read_text(encoding="utf-8"), path, page_of(path))


def _errors() -> str:
    """The list of all codes, by family."""
    parts = [
        "# Errors and warnings\n\nEvery diagnostic has a code. `fwdsl explain FW2032` prints what stands on these pages: the rule, a program that is "
        "not accepted, and one that is.\n"
    ]
    for prefix, family in families().items():
        parts.append(f"## {prefix}nnn: {family.title}\n")
        parts += [
            f"- [{code}]({prefix}.md#{slug(f'{code}: {entry.title}')}): {entry.title}"
            for code, entry in family.entries.items()
        ]
        parts.append("")
    toctree = "\n".join(families())
    return "\n".join([*parts, f"```{{toctree}}\n:hidden:\n\n{toctree}\n```\n"])
