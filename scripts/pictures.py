"""Writes the pictures of the viewer and the report of the demo data for the README and the documentation.

`python scripts/pictures.py` needs the extras `view` and `vision`, Playwright, and Chromium; `--report` writes the report alone.
"""

import argparse
import io
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from datasets_core import ClassLabel, Dataset, Features, Image, List, Value, config
from datasets_core.viewer.opening import open_reference, open_rows
from datasets_core.viewer.report import report_of
from datasets_core.viewer.server import Viewer

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "_static" / "view"
SIZE = {"width": 1280, "height": 640}


def drawn(number: int) -> tuple[bytes, list[list[int]]]:
    """Return a picture of some ellipses, and their boxes."""
    from PIL import Image as Pillow
    from PIL import ImageDraw

    random = np.random.default_rng(number)
    picture = Pillow.new("RGB", (480, 360), tuple(int(each) for each in random.integers(170, 235, 3)))
    pen, boxes = ImageDraw.Draw(picture), []
    for _ in range(3):
        x, y = int(random.integers(10, 330)), int(random.integers(10, 230))
        width, height = int(random.integers(50, 140)), int(random.integers(50, 120))
        pen.ellipse([x, y, x + width, y + height], fill=tuple(int(each) for each in random.integers(30, 200, 3)))
        boxes.append([x, y, width, height])
    sink = io.BytesIO()
    picture.save(sink, "PNG")
    return sink.getvalue(), boxes


def shapes() -> Dataset:
    """Return pictures with boxes, labels, captions and conversations."""
    words = ("round", "wide", "tall")
    rows = []
    for number in range(60):
        data, boxes = drawn(number)
        rows.append(
            {
                "image": {"bytes": data, "path": f"{number}.png"},
                "objects": {"bbox": boxes, "category": [number % 3, (number + 1) % 3, 0]},
                "label": number * number % 3,
                "caption": f"Three ellipses, one of them {words[number % 3]}, on a light ground.",
                "chat": [
                    {"role": "user", "content": "How many ellipses are there?"},
                    {"role": "assistant", "content": f"Three, and one of them is {words[number % 3]}."},
                ],
            }
        )
    names = ClassLabel(names=list(words))
    features = Features(
        {
            "image": Image(),
            "objects": {"bbox": List(List(Value("float32"))), "category": List(names)},
            "label": names,
            "caption": Value("string"),
            "chat": List({"role": Value("string"), "content": Value("string")}),
        }
    )
    return Dataset.from_list(rows, features=features)


def filtered(page: Any) -> None:
    """Drag over a histogram and click a bar."""
    box = page.locator(".histogram").nth(2).bounding_box()
    page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 20, steps=4)
    page.mouse.up()
    page.locator(".bar").first.click()


def opened_row(page: Any) -> None:
    """Open a row."""
    page.locator("#row-1 .gutter").click()


def changes(page: Any) -> None:
    """Open the page of the changes."""
    page.get_by_role("tab", name="Changes").click()


def take(given: Any, name: str, act: Any, scheme: str) -> None:
    """Take a picture of the page of a dataset."""
    from playwright.sync_api import sync_playwright

    viewer = Viewer(given).start()
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        options: Any = {"viewport": SIZE, "color_scheme": scheme}
        page: Any = browser.new_context(**options).new_page()
        page.goto(viewer.url)
        page.wait_for_timeout(1500)
        act(page)
        page.wait_for_timeout(1500)
        page.screenshot(path=FOLDER / f"{name}.png")
        browser.close()
    viewer.close()
    print(FOLDER / f"{name}.png")


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", action="store_true", help="write the report alone")
    only_report = parser.parse_args().report
    with tempfile.TemporaryDirectory() as folder, config.using(cache_dir=folder):
        birds = open_reference({"path": str(ROOT / "scripts" / "demo" / "penguins")})
        report_of(birds, ROOT / "docs" / "_static" / "report.html")
        if only_report:
            return
        FOLDER.mkdir(parents=True, exist_ok=True)
        table = open_reference({"path": str(ROOT / "scripts" / "demo" / "penguins_csv")})
        take(table, "filter", filtered, "light")
        take(open_rows(shapes()), "images", lambda page: None, "light")
        take(open_rows(shapes()), "row", opened_row, "dark")
        rows = table.queries.splits["train"]
        other = rows.map(lambda row, number: {"island": "Dreamland" if number % 90 == 3 else row["island"]}, with_indices=True)
        take(open_rows(rows, other.select(range(342))), "changes", changes, "light")


if __name__ == "__main__":
    main()
