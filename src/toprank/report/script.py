"""What the page does: tables that sort by the column whose heading is pressed."""

SCRIPT = """
"use strict";
for (const table of document.querySelectorAll("table.sorts")) {
  const heads = table.tHead.rows[0].cells, body = table.tBodies[0];
  const said = table.parentElement.parentElement.querySelector("[aria-live]");
  for (const head of heads) {
    const button = head.querySelector("button");
    if (!button) continue;
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") ===
        (head.dataset.first === "descending" ? "descending" : "ascending")
        ? head.dataset.first !== "descending" : head.dataset.first === "descending";
      const place = head.cellIndex, sign = down ? -1 : 1;
      const key = row => row.cells[place].dataset.value ?? row.cells[place].textContent.trim();
      const number = text => text !== "" && !isNaN(text);
      const rows = Array.from(body.rows);
      rows.sort((one, other) => {
        const a = key(one), b = key(other);
        return sign * (number(a) && number(b) ? a - b : a.localeCompare(b));
      });
      for (const row of rows) body.append(row);
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      if (said) said.textContent = "Sorted by " + button.textContent.trim() +
        (down ? ", largest first." : ", smallest first.");
    });
  }
}
"""

__all__ = ["SCRIPT"]
