"""The page in a real browser: headless Chromium, driven by Playwright."""

import io
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core import ClassLabel, Dataset, DatasetDict, Features, Image, Value, Video
from datasets_core.viewer import server
from datasets_core.viewer.opening import open_rows
from datasets_core.viewer.server import Answers, Viewer
from datasets_core.viewer.widget import answered, script

from .conftest import ATTACK, SVG, every_kind, numbers

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
playwright = pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"), pytest.mark.slow]
expect = playwright.expect
AXE = Path(__file__).parent / "vendor" / "axe.js"
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 780}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = started.chromium.launch(
            executable_path=CHROMIUM, args=[*arguments, "--autoplay-policy=no-user-gesture-required"]
        )
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Opens a viewer of a dataset in a page; nothing may fail in its console, and no script of the data may run."""
    viewers: list[Viewer] = []
    contexts: list[Any] = []
    told: list[str] = []

    def open_page(
        given: Any,
        other: Any = None,
        *,
        size: dict[str, int] = WIDE,
        scheme: str = "light",
        place: str = "",
        is_plain: bool = True,
    ) -> Any:
        viewer = given if isinstance(given, Viewer) else Viewer(open_rows(given, other)).start()
        if viewer is not given:
            viewers.append(viewer)
        context = chromium.new_context(viewport=size, color_scheme=scheme)
        contexts.append(context)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("console", lambda message: told.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: told.append(str(error)))
        page.goto(viewer.url + place)
        page.viewer = viewer
        if is_plain:
            expect(page.locator(".grid [role=row][data-state=full]").first).to_be_visible(timeout=30_000)
        return page

    open_page.told = told  # type: ignore[attr-defined]
    yield open_page
    for context in contexts:
        context.close()
    for viewer in viewers:
        viewer.close()
    assert [text for text in told if "ERR_CONNECTION_REFUSED" not in text and "status of 400" not in text] == []


def _cells(page: Any, column: int) -> list[str]:
    """The texts of a column on screen, by its place among all columns."""
    return [text.strip() for text in page.locator(f".body [role=gridcell][aria-colindex='{column + 2}']").all_inner_texts()]


def _rows(page: Any) -> Any:
    return page.locator(".status span").first


def _exact(page: Any) -> None:
    expect(page.locator(".chart.approximate, .chart.waiting")).to_have_count(0)


def test_ten_million_rows_scroll_to_the_last_with_a_request_for_each_step(visit: Any) -> None:
    page = visit(Dataset(pa.table({"n": np.arange(10_000_000), "x": np.zeros(10_000_000, np.float32)})))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/api/rows") else None)
    page.locator(".grid").focus()
    page.keyboard.press("End")
    expect(page.locator("#row-9999999 .cell.number").first).to_have_text("9999999")
    assert len(asked) <= 2
    asked.clear()
    page.mouse.move(400, 500)
    page.mouse.wheel(0, -3000)
    expect(page.locator("#row-9999890 .cell.number").first).to_have_text("9999890")
    assert len(asked) <= 2
    page.keyboard.press("Home")
    expect(page.locator("#row-0 .cell.number").first).to_have_text("0")
    assert page.locator(".body .row").count() < 60


def test_sorting_by_a_name_and_back(visit: Any) -> None:
    page = visit(numbers(500))
    page.get_by_role("button", name="Sort by i").click()
    page.get_by_role("button", name="Sort by i").click()
    expect(page.locator("#row-0 .gutter")).to_have_text("499")
    expect(page.locator(".columnhead[aria-colindex='2']")).to_have_attribute("aria-sort", "descending")
    page.go_back()
    expect(page.locator("#row-0 .gutter")).to_have_text("0")
    expect(page.locator(".columnhead[aria-colindex='2']")).to_have_attribute("aria-sort", "ascending")


def test_a_drag_over_a_histogram_filters_rows_and_the_other_pictures(visit: Any) -> None:
    page = visit(numbers(600))
    _exact(page)
    box = page.locator(".histogram").first.bounding_box()
    page.mouse.move(box["x"] + 1, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 - 1, box["y"] + 20, steps=5)
    page.mouse.up()
    expect(_rows(page)).to_contain_text("of 300 (50% of 600)")
    expect(page.locator(".bar .count").first).to_have_text("100")
    page.locator(".bar").first.click()
    expect(_rows(page)).to_contain_text("of 100")
    assert len(set(_cells(page, 2))) == 1
    page.get_by_role("button", name="Clear all").click()
    expect(_rows(page)).to_contain_text("of 600")


def test_the_other_pictures_follow_while_the_mouse_is_down(visit: Any) -> None:
    page = visit(numbers(600))
    _exact(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    box = page.locator(".histogram").first.bounding_box()
    page.mouse.move(box["x"] + 1, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 - 1, box["y"] + 20, steps=4)
    expect(page.locator(".bar .count").first).to_have_text("100")
    expect(_rows(page)).to_have_text("rows 300 (50% of 600)")
    assert set(asked) == {"pictures"} and page.locator(".chip").count() == 0
    page.mouse.up()
    expect(_rows(page)).to_contain_text("of 300 (50% of 600)")
    expect(page.locator(".chip")).to_have_count(1)


def test_a_column_is_filtered_by_keyboard(visit: Any) -> None:
    page = visit(numbers(600))
    _exact(page)
    page.get_by_role("button", name="Column kind: details").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="kind")).to_be_visible()
    page.keyboard.press("Space")
    expect(_rows(page)).to_contain_text("of 200")
    page.get_by_role("button", name="Column x: details").click()
    page.get_by_label("to", exact=True).select_option("12")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(page.locator(".chip")).to_have_count(2)


def test_search_and_nothing_found(visit: Any) -> None:
    page = visit(numbers(300))
    page.keyboard.press("/")
    page.keyboard.type("row 29")
    page.keyboard.press("Enter")
    expect(_rows(page)).to_contain_text("of 11 ")
    page.locator(".search").fill("no such text")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No row matches.")).to_be_visible()
    page.get_by_role("button", name="Remove search and filters").click()
    expect(_rows(page)).to_contain_text("of 300")


def test_sql(visit: Any) -> None:
    page = visit(numbers(300))
    page.get_by_role("button", name="SQL", exact=True).click()
    page.get_by_label("SQL query").fill("select kind, count(*) as n from ds group by kind order by kind")
    page.get_by_role("button", name="Run").click()
    try:
        import duckdb as _  # noqa: F401
    except ImportError:
        expect(page.get_by_role("alert")).to_contain_text("datasets_core[duckdb]")
        return
    expect(_rows(page)).to_have_text(re.compile("^rows 1–3 of 3"))
    expect(page.locator(".body [role=gridcell][aria-colindex='2']").last).not_to_have_text("")
    assert _cells(page, 0) == ["high", "low", "mid"]
    page.get_by_label("SQL query").fill("select")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("alert")).to_contain_text("failed")


def test_a_row_by_keyboard_its_link_and_the_back_button(visit: Any) -> None:
    page = visit(numbers(300))
    page.locator("#row-4 .gutter").click()
    expect(page.get_by_role("complementary")).to_contain_text("Row 4")
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("k")
    expect(page.get_by_role("complementary")).to_contain_text("Row 5")
    assert page.url.endswith("#row=5")
    other = visit(page.viewer, place="#row=5&sort=%5B%5B%22i%22%2Ctrue%5D%5D")
    expect(other.get_by_role("complementary")).to_contain_text("Row 5")
    expect(other.get_by_role("complementary")).to_contain_text("295 of 300")
    other.keyboard.press("Escape")
    expect(other.get_by_role("complementary")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.go_back()
    expect(page.get_by_role("complementary")).to_have_count(0)


def test_a_split_expression_and_one_that_is_wrong(visit: Any) -> None:
    page = visit(DatasetDict({"train": numbers(100), "test": numbers(50)}))
    for text, told in (("train[10%:20%]+test[:5]", "of 15"), ("test", "of 50")):
        page.locator(".split").fill(text)
        page.locator(".split").press("Enter")
        expect(_rows(page)).to_contain_text(told)
    page.locator(".split").fill("tran")
    page.locator(".split").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Unknown split 'tran'")


def test_columns_are_hidden_moved_and_resized(visit: Any) -> None:
    page = visit(numbers(100))
    names = lambda: [text.strip() for text in page.locator(".columnhead .name:not(.bar .name)").all_inner_texts()]  # noqa: E731
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("dialog").get_by_label("x", exact=False).first.uncheck()
    page.keyboard.press("Escape")
    expect(page.get_by_role("columnheader")).to_have_count(5)
    page.get_by_role("button", name="Column i: details").click()
    page.get_by_role("button", name="Move right").click()
    shown = page.locator(".columnhead").evaluate_all(
        "heads => heads.sort((a, b) => a.offsetLeft - b.offsetLeft).map(head => head.querySelector('.sort .name').textContent)"
    )
    assert shown[:2] == ["kind", "i"], names()
    before = page.locator(".columnhead").first.bounding_box()["width"]
    grip = page.locator(".grip").first.bounding_box()
    page.mouse.move(grip["x"] + 4, grip["y"] + 30)
    page.mouse.down()
    page.mouse.move(grip["x"] + 84, grip["y"] + 30, steps=4)
    page.mouse.up()
    widths = page.locator(".columnhead").evaluate_all("heads => heads.map(head => head.offsetWidth)")
    assert round(before) + 80 in widths


def test_what_is_on_screen_is_copied_as_python(visit: Any) -> None:
    page = visit(numbers(300))
    _exact(page)
    page.locator(".bar").nth(1).click()
    expect(_rows(page)).to_contain_text("of 100")
    page.get_by_role("button", name="Copy as Python").click()
    expect(page.get_by_role("dialog")).to_contain_text("Copied.")
    names: dict[str, Any] = {"ds": numbers(300)}
    exec(page.evaluate("navigator.clipboard.readText()"), names)
    assert len(names["ds"]) == 100


def test_every_kind_of_cell_and_sound_that_plays(visit: Any) -> None:
    page = visit(every_kind())
    page.set_viewport_size({"width": 3000, "height": 900})
    expect(page.locator(".body img").first).to_be_visible()
    expect(page.locator(".body canvas.heat").first).to_be_visible()
    expect(page.locator(".boxes rect").first).to_be_attached()
    expect(page.locator(".body .failure").first).to_contain_text("cannot be decoded")
    expect(page.locator(".wave path").first).to_be_attached()
    player = page.locator(".body audio").first
    player.evaluate("player => player.play()")
    page.wait_for_function("() => document.querySelector('.body audio').currentTime > 0")
    assert player.evaluate("player => player.duration") == pytest.approx(0.5)
    page.locator(".body .shown").first.click()
    expect(page.locator("dialog img")).to_be_visible()
    page.wait_for_function("() => document.querySelector('dialog img').naturalWidth === 40")


VIDEO = """async () => {
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("2d");
    const recorder = new MediaRecorder(canvas.captureStream(20), { mimeType: "video/webm;codecs=vp8" });
    const parts = [];
    recorder.ondataavailable = event => parts.push(event.data);
    recorder.start();
    for (let step = 0; step < 12; step += 1) {
        context.fillStyle = `hsl(${30 * step} 60% 60%)`;
        context.fillRect(0, 0, 300, 150);
        await new Promise(resolve => setTimeout(resolve, 40));
    }
    await new Promise(resolve => { recorder.onstop = resolve; recorder.stop(); });
    return [...new Uint8Array(await new Blob(parts).arrayBuffer())];
}"""


def test_a_video_plays_and_a_damaged_one_is_told(visit: Any, chromium: Any) -> None:
    blank = chromium.new_page()
    film = bytes(blank.evaluate(VIDEO))
    blank.close()
    rows = [{"film": {"bytes": film, "path": "a.webm"}}, {"film": {"bytes": film[:60], "path": "b.webm"}}]
    page = visit(Dataset.from_list(rows, features=Features({"film": Video()})))
    player = page.locator("#row-0 video")
    player.evaluate("player => player.play()")
    page.wait_for_function("() => document.querySelector('#row-0 video').currentTime > 0")
    assert player.evaluate("player => player.videoWidth") == 300
    expect(page.locator("#row-1 .failure")).to_contain_text("cannot play")


def test_rows_are_saved_by_the_page(visit: Any, tmp_path: Path) -> None:
    page = visit(numbers(300))
    _exact(page)
    page.locator(".bar").first.click()
    expect(_rows(page)).to_contain_text("of 100")
    for label, read in (("CSV", Dataset.from_csv), ("JSON Lines", Dataset.from_json), ("Parquet", Dataset.from_parquet)):
        page.get_by_role("button", name="Save").click()
        with page.expect_download() as found:
            page.get_by_role("button", name=label, exact=True).click()
        path = tmp_path / found.value.suggested_filename
        found.value.save_as(path)
        saved = read(str(path), cache_dir=str(tmp_path / "cache"))
        assert len(saved) == 100 and len(set(saved["kind"][:])) == 1


def test_a_viewer_that_ends_is_told_and_found_again(visit: Any) -> None:
    viewer = Viewer(open_rows(numbers(300)), token="same").start()
    page = visit(viewer)
    viewer.close()
    page.locator(".search").fill("row 1")
    page.locator(".search").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("does not answer")
    again = Viewer(open_rows(numbers(300)), port=viewer.port, token="same").start()
    try:
        expect(page.get_by_role("alert")).to_have_count(0, timeout=20_000)
        expect(page.locator(".grid [role=row][data-state=full]").first).to_be_visible()
    finally:
        page.close()
        again.close()


def test_two_tabs_do_not_disturb_each_other(visit: Any) -> None:
    one = visit(numbers(300))
    other = one.context.new_page()
    other.goto(one.url.partition("#")[0])
    expect(other.locator("#row-0")).to_be_visible()
    other.get_by_role("button", name="Sort by i").click()
    other.get_by_role("button", name="Sort by i").click()
    expect(other.locator("#row-0 .gutter")).to_have_text("299")
    expect(one.locator("#row-0 .gutter")).to_have_text("0")


def test_changes_and_facts_have_pages_of_their_own(visit: Any) -> None:
    page = visit(numbers(20), numbers(21))
    page.get_by_role("tab", name="Changes").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("20 rows, then 21 rows")
    page.get_by_role("tab", name="Dataset").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("Features")
    page.go_back()
    expect(page.get_by_role("tab", name="Changes")).to_have_attribute("aria-selected", "true")


def test_a_wide_dataset_draws_the_columns_on_screen_alone(visit: Any) -> None:
    page = visit(Dataset(pa.table({f"c{n}": np.arange(200) + n for n in range(500)})))
    assert page.locator(".columnhead").count() < 20
    page.locator(".grid").evaluate("grid => { grid.scrollLeft = 1e6; }")
    expect(page.locator("#row-0 .cell.number").last).to_have_text("499")


# -- attacks -----------------------------------------------------------------------------------------------------------


def test_no_script_of_the_data_runs(visit: Any) -> None:
    rows = [
        {
            ATTACK: ATTACK,
            "deep": {ATTACK: [ATTACK]},
            "kind": 0,
            "svg": {"bytes": SVG, "path": f"{ATTACK}.svg"},
            "url": "javascript:window.hurt=1",
        }
        for _ in range(5)
    ]
    features = Features(
        {
            ATTACK: Value("string"),
            "deep": {ATTACK: [Value("string")]},
            "kind": ClassLabel(names=[ATTACK]),
            "svg": Image(),
            "url": Value("string"),
        }
    )
    dataset = Dataset.from_list(rows, features=features)
    dataset.info.description = dataset.info.citation = dataset.info.homepage = ATTACK
    page = visit(dataset)
    _exact(page)
    page.locator("#row-1 .gutter").click()
    expect(page.get_by_role("complementary")).to_contain_text("<script>")
    page.get_by_role("button", name=re.compile("^Column .*script")).click()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Dataset").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("onerror")
    assert page.evaluate("window.hurt") is None
    assert page.locator("script").count() == 2 and page.locator("img[src=x]").count() == 0
    asked = {"view": json.dumps({"split": "train"}), "column": "svg", "row": "0", "path": "[]", "as": "file"}
    address = page.evaluate("asked => `/media?${new URLSearchParams(asked)}`", asked)
    with page.expect_download():
        page.evaluate("address => { location.href = address; }", address)
    assert page.evaluate("window.hurt") is None


def test_a_page_of_another_site_gets_nothing(visit: Any, tmp_path: Path) -> None:
    page = visit(numbers(10))
    port = page.viewer.port
    evil = page.context.new_page()
    (tmp_path / "evil.html").write_text("<p>evil</p>")
    evil.goto((tmp_path / "evil.html").as_uri())
    script = """async address => {
        const results = [];
        for (const mode of ["cors", "no-cors"]) {
            try {
                const answer = await fetch(address, {credentials: "include", mode});
                results.push(answer.type + answer.status);
            } catch (error) { results.push("refused"); }
        }
        const image = new Image();
        await new Promise(done => {
            image.onload = () => { results.push("image"); done(); };
            image.onerror = done;
            image.src = address;
        });
        return results;
    }"""
    visit.told.clear()
    for address in (
        f"http://127.0.0.1:{port}/api/about",
        f"http://127.0.0.1:{port}/",
        f"http://localhost:{port}/static/icon.svg",
    ):
        assert set(evil.evaluate(script, address)) <= {"refused", "opaque0"}
    visit.told.clear()
    other = page.context.browser.new_context().new_page()
    assert other.goto(f"http://127.0.0.1:{port}/").status == 403
    other.context.close()
    visit.told.clear()


# -- looks -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_every_state_is_accessible_and_fits_the_screen(visit: Any, scheme: str, size: dict[str, int]) -> None:
    page = visit(every_kind(), every_kind(), size=size, scheme=scheme)
    _exact(page)

    def check(state: str) -> None:
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        told = [
            f"{each['id']}: {each['nodes'][0]['html'][:200]} {each['nodes'][0]['failureSummary']}"
            for each in found["violations"]
        ]
        assert told == [], state
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), state

    check("rows")
    page.locator("#row-0 .gutter").click()
    expect(page.locator(".drawer .field").first).to_be_visible()
    check("a row")
    page.keyboard.press("Escape")
    page.get_by_role("button", name=re.compile("^Column number")).click()
    check("a column")
    page.keyboard.press("Escape")
    page.locator(".search").fill("nothing at all")
    page.locator(".search").press("Enter")
    expect(page.get_by_text("No row matches.")).to_be_visible()
    check("nothing found")
    page.locator(".search").fill("")
    page.locator(".search").press("Enter")
    page.locator(".split").fill("tran")
    page.locator(".split").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Unknown split 'tran'")
    page.get_by_role("button", name="SQL", exact=True).click()
    check("an error, and the box of queries")
    page.get_by_role("button", name="keys").click()
    check("the keys")
    page.keyboard.press("Escape")
    for name in ("Dataset", "Changes"):
        page.get_by_role("tab", name=name).click()
        expect(page.locator(".page:not([hidden]) h2").first).to_be_visible()
        check(name)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_is_accessible_and_asks_for_nothing(chromium: Any, tmp_path: Path, scheme: str) -> None:
    path = DatasetDict({"train": every_kind(), "test": every_kind()}).report(tmp_path / "report.html")
    page = chromium.new_context(viewport=WIDE, color_scheme=scheme).new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(Path(path).as_uri())
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    assert [f"{each['id']}: {each['nodes'][0]['html'][:200]} {each['nodes'][0]['failureSummary']}" for each in found] == []
    page.context.close()


def test_the_widget_needs_no_eval_and_asks_for_nothing(chromium: Any) -> None:
    """As in VS Code, whose page of outputs forbids both."""
    import base64

    answers = Answers(open_rows(every_kind()))

    def asked(message: dict[str, Any]) -> Any:
        told, buffers = answered(answers, json.loads(json.dumps(message)))
        return [told, [base64.b64encode(data).decode() for data in buffers]]

    page = chromium.new_page()
    faults: list[str] = []
    requests: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: requests.append(request.url))
    page.expose_function("asked", asked)
    policy = "default-src 'none'; script-src blob:; style-src 'unsafe-inline'; img-src blob: data:; media-src blob:"
    shown = f'<meta http-equiv="Content-Security-Policy" content="{policy}"><body data-vscode-theme-kind="vscode-dark">'
    page.route("http://notebook.invalid/", lambda route: route.fulfill(body=shown, content_type="text/html"))
    page.goto("http://notebook.invalid/")
    page.evaluate(
        """async ([code, style]) => {
            document.head.append(Object.assign(document.createElement("style"), { textContent: style }));
            const heard = new Set();
            const model = {
                on: (_, run) => heard.add(run), off: (_, run) => heard.delete(run),
                send: async message => {
                    const [told, parts] = await window.asked(message);
                    const bytes = part => Uint8Array.from(atob(part), each => each.charCodeAt(0));
                    const buffers = parts.map(part => new DataView(bytes(part).buffer));
                    heard.forEach(run => run(told, buffers));
                },
            };
            const own = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
            own.default.render({ model, el: document.body });
        }""",
        [script(), (Path(server.__file__).parent / "static" / "style.css").read_text(encoding="utf-8")],
    )
    expect(page.locator("#row-0 .cell.number").first).to_have_text("1.5")
    expect(page.locator(".dv")).to_have_attribute("data-theme", "dark")
    page.locator("#row-0 .gutter").click()
    expect(page.get_by_role("complementary")).to_contain_text("Good day.")
    page.wait_for_function("() => [...document.images].some(image => image.naturalWidth === 40)")
    page.close()
    assert faults == []
    assert [url for url in requests if not url.startswith(("blob:", "data:"))] == ["http://notebook.invalid/"]


def test_a_printed_report_has_all_columns(chromium: Any, tmp_path: Path) -> None:
    pdf = pytest.importorskip("pypdfium2")
    rows = every_kind()
    page = chromium.new_page()
    page.goto(Path(rows.report(tmp_path / "report.html")).as_uri())
    found = pdf.PdfDocument(page.pdf(format="A4", print_background=True))
    page.close()
    last = " ".join(part.get_textpage().get_text_range() for part in list(found)[-2:])
    assert "Rows of train" in last and all(name in last for name in rows.column_names)
    found.close()


LOOKS = {"rows": ("light", WIDE, ""), "row": ("dark", WIDE, "#row=1"), "phone": ("light", PHONE, ""),
         "dataset": ("dark", PHONE, "#tab=dataset"), "sorted": ("light", WIDE, "#sort=[[%22x%22,true]]&q=row")}  # fmt: skip


@pytest.mark.parametrize("name", LOOKS)
def test_the_page_looks_as_it_did(visit: Any, name: str) -> None:
    """Screenshots in a tenth of their size, so that other fonts do not matter.

    The kept ones are in `looks/`; `DATASETS_CORE_LOOKS=write` writes them again after a change that is meant.
    """
    from PIL import Image as Pillow

    scheme, size, place = LOOKS[name]
    page = visit(numbers(300), size=size, scheme=scheme, place=place, is_plain=name != "dataset")
    if name == "dataset":
        expect(page.get_by_role("tabpanel")).to_contain_text("Features")
    else:
        _exact(page)
    page.evaluate("document.activeElement.blur()")
    small = Pillow.open(io.BytesIO(page.screenshot())).convert("RGB").resize((size["width"] // 10, size["height"] // 10))
    path = Path(__file__).parent / "looks" / f"{name}.png"
    if os.environ.get("DATASETS_CORE_LOOKS") == "write":
        small.save(path)
    kept = np.asarray(Pillow.open(path), np.int16)
    differs = np.abs(np.asarray(small, np.int16) - kept).max(axis=2)
    assert differs.mean() < 6 and (differs > 60).mean() < 0.03, (
        f"{path.name}: {differs.mean():.1f}, {(differs > 60).mean():.1%}"
    )


def test_the_layout_stays(visit: Any) -> None:
    """Places and sizes of the parts of the page, with a tolerance of some pixels for other fonts."""
    page = visit(numbers(300))
    _exact(page)
    expected = {".top": (0, 0, 1280, 44), ".grid": (0, 89, 1280, 683), ".headgroup": (0, 89, 1280, 118),
                ".status": (0, 772, 1280, 28), "#row-0": (0, 207, 1280, 30), ".columnhead": (64, 89, 116, 117)}  # fmt: skip
    for selector, (x, y, width, height) in expected.items():
        box = page.locator(selector).first.bounding_box()
        for name, wanted in (("x", x), ("y", y), ("width", width), ("height", height)):
            assert abs(box[name] - wanted) <= 16, (selector, box)
