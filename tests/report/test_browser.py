"""The page in a browser: no error, no request; tables sort, pictures show, nothing overflows."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.compared import compared
from toprank.report import Report, make

webdriver = pytest.importorskip("selenium.webdriver")

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="there is no chromium with its chromedriver (Debian: chromium, chromium-driver)",
)

#: A phone, a tablet, a desk.
WIDTHS = (390, 768, 900, 1280)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_page_load_timeout(60)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def page(report: Report, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "report.html"
    report.write(path)
    return path.as_uri()


def show(browser: Any, page: str, width: int = 1400, scheme: str = "light") -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_shows(browser: Any, page: str, width: int, scheme: str) -> None:
    browser.get_log("browser")
    browser.get_log("performance")
    show(browser, page, width, scheme)
    assert browser.get_log("browser") == []
    messages = [json.loads(one["message"])["message"] for one in browser.get_log("performance")]
    asked = [
        one["params"]["request"]["url"]
        for one in messages
        if one["method"] == "Network.requestWillBeSent"
    ]
    assert set(asked) == {page}
    overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(overflow) <= 0
    sizes = browser.execute_script(
        "return Array.from(document.querySelectorAll('figure svg'), own => {"
        "const box = own.getBoundingClientRect(); return [box.width, box.height]; })"
    )
    assert len(sizes) == 4
    assert all(wide > 250 and high > 80 for wide, high in sizes)
    answer = browser.find_element("css selector", ".headline")
    assert answer.rect["y"] + answer.rect["height"] < 900  # on the first screen
    tiles = browser.find_elements("css selector", ".tile")
    tops = {tile.rect["y"] for tile in tiles}
    assert len(tops) == (len(tiles) if width < 672 else 1)  # all below, or all beside each other
    if width > 900:
        first = browser.find_element("css selector", "#first-table tbody tr:last-child")
        assert first.rect["y"] < 900  # and its last row begins there, long as the names are


def test_an_id_is_in_one_piece(browser: Any, tmp_path: Path) -> None:
    made = make(compared(), ids=[f"TX-{k:09d}" for k in range(400)])
    made.write(tmp_path / "report.html")
    show(browser, (tmp_path / "report.html").as_uri(), width=390)
    for table in ("first-table", "top-table"):
        lines = browser.execute_script(
            "return Array.from(document.querySelectorAll(arguments[0]), "
            "own => own.getClientRects().length)",
            f"#{table} .id",
        )
        assert set(lines) == {1}


def test_nothing_in_the_data_runs(browser: Any, page: str) -> None:
    show(browser, page)
    assert browser.execute_script("return document.scripts.length") == 1
    text = browser.find_element("css selector", "#top-table").text
    assert "<script>alert(1)</script>" in text


def test_light_and_dark_differ_and_can_be_read(browser: Any, page: str) -> None:
    found = {}
    for scheme in ("light", "dark"):
        show(browser, page, scheme=scheme)
        found[scheme] = browser.execute_script(
            "const style = getComputedStyle(document.body);"
            "return [style.backgroundColor, style.color]"
        )
        brightness = [
            sum(int(part) for part in colour[4:-1].split(",")) for colour in found[scheme]
        ]
        assert abs(brightness[0] - brightness[1]) > 500
    assert found["light"] != found["dark"]


def test_tables_sort_by_a_press_and_by_a_key(browser: Any, page: str) -> None:
    show(browser, page)
    for table in ("models-table", "tests-table", "top-table"):
        count = len(browser.find_elements("css selector", f"#{table} thead button"))
        assert count > 2
        for place in range(count):
            for _ in range(2):
                button = browser.find_elements("css selector", f"#{table} thead button")[place]
                if place % 2:
                    button.send_keys("\ue007")  # Enter
                else:
                    browser.execute_script("arguments[0].click()", button)
                head = button.find_element("xpath", "./..")
                column = browser.execute_script("return arguments[0].cellIndex", head)
                values = browser.execute_script(
                    "return Array.from(document.querySelectorAll(arguments[0]), "
                    "row => row.cells[arguments[1]].dataset.value)",
                    f"#{table} tbody tr",
                    column,
                )
                keys = _keys(values)
                down = head.get_attribute("aria-sort") == "descending"
                assert keys == sorted(keys, reverse=down)
        sorts = browser.find_elements("css selector", f"#{table} th[aria-sort]")
        assert len(sorts) == 1
    said = browser.find_elements("css selector", "#models [aria-live]")[0]
    assert said.get_attribute("textContent").startswith("Sorted by ")


def _keys(values: list[str]) -> list[Any]:
    try:
        return [float(value) for value in values]
    except ValueError:
        return [value.lower() for value in values]


def test_it_prints(browser: Any, page: str, tmp_path: Path) -> None:
    show(browser, page, scheme="dark")
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]},
    )
    back = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert back == "rgb(255, 255, 255)"
    hidden = browser.execute_script(
        "return getComputedStyle(document.querySelector('nav')).display"
    )
    assert hidden == "none"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
