"""Pictures of the page for the docs: `python docs/make_app_images.py`; needs chromium and Playwright."""

import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

IMAGES = Path(__file__).parent / "images"


def pictures(page, address):
    page.goto(address)
    page.get_by_role("button", name="Load the sample").click()
    page.locator("#curve svg").wait_for()
    page.locator("#other").select_option("cox")
    expect(page.locator("#curve path.line")).to_have_count(2, timeout=60_000)
    keep(page, "match")
    page.get_by_role("link", name="Compare").click()
    page.locator("#compare-content table").first.wait_for()
    keep(page, "compare")
    page.get_by_role("link", name="Policy lab").click()
    page.locator("#rate-scale").fill("0.1")
    page.locator("#rate-replicates").fill("6")
    page.get_by_role("button", name="Run").click()
    page.locator("#policy-results svg").first.wait_for(timeout=900_000)
    page.locator("#policy-progress").wait_for(state="hidden")
    keep(page, "policy")


def keep(page, name):
    page.mouse.move(5, 5)
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=IMAGES / f"app-{name}.png", full_page=True)


def main():
    command = [sys.executable, "-m", "lifeyears", "serve", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = next(line for line in server.stdout if line.startswith("Lifeyears on"))
        address = line.split()[2]
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 860})
            page.set_default_timeout(120_000)
            pictures(page, address)
            phone = browser.new_context(viewport={"width": 390, "height": 1500}, color_scheme="dark").new_page()
            phone.goto(address)
            phone.get_by_role("button", name="Load the sample").click()
            phone.locator("#curve svg").wait_for(timeout=120_000)
            phone.screenshot(path=IMAGES / "app-phone.png")
            browser.close()
    finally:
        server.terminate()
        server.wait(20)


if __name__ == "__main__":
    main()
