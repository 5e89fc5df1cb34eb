// Saves each mark at once, and lets arrow keys move among the tiles. Without this file a batch is
// saved by its buttons.
"use strict";

const batch = document.getElementById("batch");
const tiles = [...batch.querySelectorAll(".tiles :is([type=checkbox], select)")];
const status_ = document.getElementById("saved");
const words = JSON.parse(status_.dataset.words);
let changed = false; // since the last form was sent
let sending = false;
let reloading = false; // nothing is sent any more
let pressed = null; // the button that waits for the marks

// As reload() left it; a further reload says nothing.
if (location.hash === "#elsewhere") {
  document.getElementById("elsewhere").hidden = false;
  history.replaceState(null, "", location.pathname + location.search);
}

// A form is sent until it is acknowledged, unchanged, so that it is stored once.
async function save() {
  if (sending) return;
  sending = true;
  while (changed) {
    changed = false;
    const body = new URLSearchParams(new FormData(batch));
    for (let wait = 0.5; !(await sent(body)); wait = Math.min(2 * wait, 8)) {
      status_.textContent = words.later;
      await new Promise((over) => setTimeout(over, wait * 1000));
    }
    if (reloading) return;
  }
  sending = false;
  status_.textContent = words.saved;
  if (pressed) batch.requestSubmit(pressed);
}

async function sent(body) {
  const slow = setTimeout(() => (status_.textContent = words.now), 400);
  try {
    const answer = await fetch(batch.action, {
      method: "POST",
      body,
      headers: { Accept: "application/json" },
      signal: AbortSignal.timeout(30000),
    });
    if ([429, 500, 502, 503, 504].includes(answer.status)) return false;
    if (answer.headers.get("Content-Type") === "application/json") batch.elements.step_key.value = (await answer.json()).key;
    else reload(answer.status === 409);
    return true;
  } catch {
    return false;
  } finally {
    clearTimeout(slow);
  }
}

// Another window was faster, or the study has ended: the page says so.
function reload(isElsewhere) {
  reloading = true;
  if (isElsewhere) location.hash = "elsewhere";
  location.reload();
}

function count() {
  const marked = tiles.filter((tile) => (tile.type === "checkbox" ? tile.checked : tile.value > 0)).length;
  const sum = batch.querySelector("[data-others]");
  sum.textContent = sum.dataset.words.replace("{count}", Number(sum.dataset.others) + marked);
}

batch.addEventListener("change", (event) => {
  if (!tiles.includes(event.target)) return;
  count();
  changed = true;
  if ("steps" in batch.dataset) save();
});

// Before saving.js, which sends the form: the marks come first, then the button.
batch.addEventListener(
  "submit",
  (event) => {
    if (!sending) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    pressed = event.submitter;
  },
  { capture: true },
);

window.addEventListener("beforeunload", (event) => {
  if (sending && !reloading) event.preventDefault();
});

function columns() {
  const top = tiles[0].parentElement.offsetTop;
  const next = tiles.findIndex((tile) => tile.parentElement.offsetTop > top);
  return next < 0 ? tiles.length : next;
}

batch.addEventListener("keydown", (event) => {
  const index = tiles.indexOf(event.target);
  if (index < 0) return;
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns(), ArrowDown: columns() };
  if (event.key in steps) {
    event.preventDefault();
    tiles[index + steps[event.key]]?.focus();
  } else if (/^[0-3]$/.test(event.key)) {
    event.preventDefault();
    set(tiles[index], Number(event.key));
  }
});

function set(tile, grade) {
  if (tile.type === "checkbox") tile.checked = grade > 0;
  else tile.value = grade;
  tile.dispatchEvent(new Event("change", { bubbles: true }));
}

// A click on a picture takes the next grade.
batch.addEventListener("click", (event) => {
  const tile = event.target.closest("label")?.querySelector("select");
  if (!tile || event.target === tile) return;
  event.preventDefault();
  set(tile, (Number(tile.value) + 1) % 4);
  tile.focus();
});
