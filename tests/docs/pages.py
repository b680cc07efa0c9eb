"""The pages as a test sees them: blocks of code with the line they begin at, commands within the text, links."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LONG = re.compile(r"<!-- long: (?P<why>.+?)(?:; in tests (?P<changes>.+?))? -->", re.S)
FENCE = re.compile(
    r"^(?P<before><!-- long: (?:(?!-->).)*-->\n)?"
    r"```(?P<language>\{?[\w-]*\}?)[^\n]*\n(?P<code>.*?)^```$"
    r"(?P<after>\n<!-- long: (?:(?!-->).)*-->)?",
    re.M | re.S,
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, the line of the page it begins at, and whether it takes long.

    A block that takes long says so on the page, in a comment on the line before or after:
    ``<!-- long: why; in tests `n=4000` → `n=500` -->``. The default tests make these changes, and give commands the
    smaller sizes of `SMALL` in test_pages.py; `pytest -m hours` runs the block as it stands.
    """

    language: str
    code: str
    line: int
    long: bool
    changes: tuple[tuple[str, str], ...]

    def small(self) -> str:
        code = self.code
        for old, new in self.changes:
            assert old in code, f"line {self.line}: the comment changes {old!r}, which the block does not have"
            code = code.replace(old, new)
        return code


def all_pages() -> list[Path]:
    """README and every page of docs; none where the tests were copied without them."""
    docs = ROOT / "docs"
    if not (ROOT / "README.md").exists():
        return []
    made = ("_build", "api", "gallery", "examples")
    return [ROOT / "README.md", *sorted(p for p in docs.rglob("*.md") if p.relative_to(docs).parts[0] not in made)]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        mark = LONG.search(f"{match['before'] or ''}{match['after'] or ''}")
        changes = re.findall(r"`([^`]+)` → `([^`]*)`", (mark["changes"] or "") if mark else "")
        line = text.count("\n", 0, match.start("code"))
        found.append(Block(match["language"], match["code"], line, mark is not None, tuple(changes)))
    return found


def commands_within(page: Path) -> list[str]:
    """What the text names as commands, in `code` and in blocks that show output."""
    text = page.read_text(encoding="utf-8")
    shown = [line for block in blocks_of(page) if block.language == "text" for line in block.code.splitlines()]
    inline = re.findall(r"`([^`\n]+(?:\n[^`\n]+)?)`", FENCE.sub("", text))
    starts = re.compile(r"(lifeyears [a-z]|make [a-z]|python (docs|benchmarks|stress|tests)/)")
    return [" ".join(command.split("#")[0].split()) for command in [*shown, *inline] if starts.match(command)]


def links_of(page: Path) -> list[str]:
    """Links and pictures that point to files here."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    return [target.split("#")[0] for target in targets if "://" not in target and target.split("#")[0]]
