// Lists that grow: a table's headings sort it, and a field finds rows. Without this file they remain
// in the order in which they were sent.
"use strict";

// A number is compared as a whole: by its digits, as a collator reads them, 2.25 would come after 2.5.
const collator = new Intl.Collator(undefined, { sensitivity: "base" });
const NUMBER = /((?:^[-−])?\d+(?:,\d{3})*(?:\.\d+)?)/;
const sortKey = (cell) => cell.querySelector("time")?.dateTime ?? cell.textContent.trim();
const numberOf = (part) => Number(part.replaceAll(",", "").replace("−", "-"));

// Splitting leaves texts at even places and numbers at odd ones.
function compare(a, b) {
  const [first, second] = [a.split(NUMBER), b.split(NUMBER)];
  for (let i = 0; i < Math.min(first.length, second.length); i++) {
    const order = i % 2 ? numberOf(first[i]) - numberOf(second[i]) : collator.compare(first[i], second[i]);
    if (order) return order;
  }
  return first.length - second.length;
}

// By region, so that a part of the page that is loaded again is sorted as it was.
const sorted = new Map();

function regionOf(table) {
  return table.closest("[role=region]").getAttribute("aria-label");
}

function sort(table, column, direction) {
  const body = table.tBodies[0];
  const rows = [...body.rows].sort((a, b) => direction * compare(sortKey(a.cells[column]), sortKey(b.cells[column])));
  body.append(...rows);
  [...table.tHead.rows[0].cells].forEach((heading, index) => {
    if (index === column) heading.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
    else heading.removeAttribute("aria-sort");
  });
  sorted.set(regionOf(table), { column, direction });
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    if (heading.querySelector(".hidden")) return; // a column of buttons
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => sort(table, column, heading.getAttribute("aria-sort") === "ascending" ? -1 : 1));
  });
  const before = sorted.get(regionOf(table));
  if (before) sort(table, before.column, before.direction);
}

function makeFindable(field) {
  const line = field.closest(".finding");
  const status = line.querySelector("[role=status]");
  const rows = () => [...document.querySelectorAll(`[role=region][aria-label="${field.dataset.finds}"] tbody tr`)];
  line.hidden = false;
  const find = () => {
    const wanted = field.value.trim().toLowerCase();
    for (const row of rows()) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    status.textContent = wanted ? `${rows().filter((row) => !row.hidden).length} of ${rows().length}` : "";
  };
  field.addEventListener("input", find);
  window.addEventListener("pageshow", find); // after “Back” the browser may fill it in again
}

const makeAllSortable = (part) => part.querySelectorAll("table.sortable").forEach(makeSortable);
makeAllSortable(document);
document.querySelectorAll("[data-finds]").forEach(makeFindable);
document.addEventListener("fresh", (event) => makeAllSortable(event.target));
