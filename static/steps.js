// What labelling and grouping have alike: each step is sent at once without leaving the page, a button waits
// for the steps before it, arrow keys move among the tiles, and "+" shows a picture larger. It runs before
// labelling.js or grouping.js. It shares names with them, see sending.js.
"use strict";

var form = document.querySelector("[name=step_key]").form;
var saved = document.getElementById("saved"); // says whether all steps are
var words = JSON.parse(saved.dataset.words);
var sending = false;
var reloading = false; // nothing is sent any more
var pressed = null; // the button that waits for the steps

// Sends a step until it is acknowledged, unchanged, so that it is stored once; returns the answer and its text.
async function acknowledged(request) {
  for (let wait = 0.5; ; wait = Math.min(2 * wait, 8)) {
    const slow = setTimeout(() => (saved.textContent = words.now), 400);
    const sent = await post(form.action, request);
    clearTimeout(slow);
    if (sent && ![429, 500, 502, 503, 504].includes(sent.answer.status)) return sent;
    saved.textContent = words.later;
    await new Promise((over) => setTimeout(over, wait * 1000));
  }
}

// With a fault of these scripts the browser sends the form from now on; its console has the fault.
function sendWithoutScript(fault) {
  delete form.dataset.steps;
  sending = false;
  saved.textContent = "";
  pressed?.click();
  throw fault;
}

function reload() {
  reloading = true;
  location.reload();
}

// Before saving.js, which sends the form: the steps come first, then the button.
form.addEventListener(
  "submit",
  (event) => {
    if (!sending) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    pressed = buttonOf(form);
  },
  { capture: true },
);

window.addEventListener("beforeunload", (event) => {
  if (sending && !reloading) event.preventDefault();
});

// How many tiles further an arrow key leads; undefined for another key.
function arrowStep(key, tiles) {
  const next = tiles.findIndex((tile) => tile.offsetTop > tiles[0].offsetTop);
  const columns = next < 0 ? tiles.length : next;
  return { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[key];
}

// "+" on a tile shows its picture larger, or its whole text.
form.addEventListener("keydown", (event) => {
  const zoom = event.target.closest(".tile")?.querySelector("[data-larger]");
  if (event.key !== "+" || !zoom || event.ctrlKey || event.metaKey) return; // with Ctrl the browser zooms
  event.preventDefault();
  zoom.click();
});
