"""Pictures of the report for the docs: python docs/make_report_images.py [FOLDER]; without one, a demo is run."""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from lifeyears.cli import run
from lifeyears.report import write_report

IMAGES = Path(__file__).parent / "images"
VIEWS = {  # name: width, height, colour scheme, medium
    "light": (1400, 1150, "light", "screen"),
    "dark": (1400, 1150, "dark", "screen"),
    "phone": (360, 1150, "light", "screen"),
    "print": (718, 1015, "light", "print"),
}


def main(folder: Path) -> None:
    path = write_report(folder).resolve()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name, (width, height, scheme, medium) in VIEWS.items():
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.emulate_media(media=medium, color_scheme=scheme)
            page.goto(path.as_uri())
            page.wait_for_function("document.documentElement.dataset.ready === 'true'")
            if medium == "print":
                page.evaluate("document.body.style.padding = '28px 32px'")  # the paper's margins
            page.screenshot(path=IMAGES / f"report-{name}.png")
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as out:
            run(["demo", "--out", f"{out}/run"])
            main(Path(out) / "run")
