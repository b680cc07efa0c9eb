"""The page as one file: head, contents, sections, style and scripts, and a policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib

from ._elements import Page, embed_json, escape
from ._static import static_text


def assemble_page(page: Page, title: str, subtitle: str, facts: list[tuple[str, str]]) -> str:
    """Assemble the whole page. Scripts and style run only if their hash is the one given in the head."""
    style, own, plotly = (static_text(name) for name in ("report.css", "report.js", "plotly-basic.min.js"))
    scripts = f"{_hash(plotly)} {_hash(own)}"
    # plotly adds one empty style element and fills it by rules; it sets positions by style attributes
    policy = (
        f"default-src 'none'; script-src {scripts}; style-src-elem {_hash(style)} {_hash('')}; "
        "style-src-attr 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    contents = "".join(f'<li><a href="#{key}">{escape(name)}</a></li>' for key, name, _ in page.sections)
    body = "".join(
        f'<section id="{key}" aria-labelledby="title-{key}"><h2 id="title-{key}">{escape(name)}'
        f'<a class="anchor" href="#{key}" aria-label="Link to the section {escape(name)}">#</a></h2>{html}</section>\n'
        for key, name, html in page.sections
    )
    listed_facts = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#answer">Skip to the answer</a>
<header id="top">
<p class="brand">Lifeyears report</p>
<h1>{escape(title)}</h1>
<p class="subtitle">{escape(subtitle)}</p>
<dl class="facts">{listed_facts}</dl>
</header>
<div class="columns">
<nav aria-label="Contents"><details open><summary>Contents</summary><ol>{contents}</ol></details></nav>
<main>
<noscript><p class="warning mild">Without scripts there are no charts; every number is in the tables.</p></noscript>
{body}</main>
</div>
<footer><p>Research use only. Not a medical device.</p></footer>
<script type="application/json" id="charts">{embed_json(page.charts)}</script>
<script>{plotly}</script>
<script>{own}</script>
</body>
</html>
"""


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
