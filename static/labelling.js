// Saves each mark at once, and lets arrow keys move among the tiles. Without this file a batch is
// saved by its buttons.
"use strict";

const tiles = [...form.querySelectorAll(".tiles :is([type=checkbox], select)")];
let changed = false; // since the last form was sent

// As readKey() left it; a further reload says nothing.
if (location.hash === "#elsewhere") {
  document.getElementById("elsewhere").hidden = false;
  history.replaceState(null, "", location.pathname + location.search);
}

async function save() {
  if (sending) return;
  sending = true;
  while (changed) {
    changed = false;
    const body = new URLSearchParams(new FormData(form));
    await acknowledged({ body, headers: { Accept: "application/json" } }, readKey);
    if (reloading) return;
  }
  sending = false;
  saved.textContent = words.saved;
  const button = pressed;
  pressed = null; // the browser may keep the page and show it again
  if (button) form.requestSubmit(button);
}

// Another window was faster, or the study has ended: the page says so.
async function readKey(answer) {
  if (answer.headers.get("Content-Type") === "application/json") form.elements.step_key.value = (await answer.json()).key;
  else {
    if (answer.status === 409) location.hash = "elsewhere";
    reload();
  }
}

function count() {
  const marked = tiles.filter((tile) => (tile.type === "checkbox" ? tile.checked : tile.value > 0)).length;
  const sum = form.querySelector("[data-others]");
  sum.textContent = sum.dataset.words.replace("{count}", Number(sum.dataset.others) + marked);
}

form.addEventListener("change", (event) => {
  if (!tiles.includes(event.target)) return;
  count();
  changed = true;
  if ("steps" in form.dataset) save();
});

form.addEventListener("keydown", (event) => {
  const index = tiles.indexOf(event.target);
  if (index < 0) return;
  const move = arrowStep(event.key, tiles.map((tile) => tile.closest(".tile")));
  if (move) {
    event.preventDefault();
    tiles[index + move]?.focus();
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
form.addEventListener("click", (event) => {
  const tile = event.target.closest("label")?.querySelector("select");
  if (!tile || event.target === tile) return;
  event.preventDefault();
  set(tile, (Number(tile.value) + 1) % 4);
  tile.focus();
});
