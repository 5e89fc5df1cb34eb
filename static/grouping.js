// Stores each step at once without leaving the page, and lets keys do what buttons do. Without this
// file each button sends the form.
"use strict";

const work = document.getElementById("work");
const saved = document.getElementById("saved");
const words = JSON.parse(saved.dataset.words);
const waiting = []; // steps that are not acknowledged yet, in their order
let sending = false;
let reloading = false; // nothing is sent any more
let pressed = null; // the value of the button that waits for them
let last = null; // the tile that was clicked last, where a range begins

const tiles = () => [...work.querySelectorAll(".tile")];
const box = (tile) => tile.querySelector("input");
const selected = () => tiles().filter((tile) => box(tile).checked);

// A step is sent until it is acknowledged, unchanged, so that it is stored once.
async function send() {
  if (sending) return;
  sending = true;
  while (waiting.length) {
    const body = new URLSearchParams([...hiddenFields(), ...waiting[0].fields]);
    let page = null;
    for (let wait = 0.5; !(page = await answerTo(body)); wait = Math.min(2 * wait, 8)) {
      saved.textContent = words.later;
      await new Promise((over) => setTimeout(over, wait * 1000));
    }
    const { fields, tiles: about } = waiting.shift();
    about.forEach((tile) => tile.classList.remove("pending"));
    if (!take(page)) return;
    if (page.isRefused) refuse(fields, about);
  }
  sending = false;
  saved.textContent = words.saved;
  // By its value: the steps' answers have replaced the button itself.
  const button = pressed && work.querySelector(`button[value="${pressed}"]`);
  pressed = null;
  if (button) work.requestSubmit(button);
}

const hiddenFields = () => [...work.querySelectorAll("#hidden input")].map((field) => [field.name, field.value]);

async function answerTo(body) {
  const slow = setTimeout(() => (saved.textContent = words.now), 400);
  try {
    const answer = await fetch(work.action, { method: "POST", body, signal: AbortSignal.timeout(30000) });
    if ([429, 500, 502, 503, 504].includes(answer.status)) return null;
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    return null;
  } finally {
    clearTimeout(slow);
  }
}

// Shows the groups of the page that answered; another page than this one is loaded whole. The element
// in which saving.js says what it does stays.
function take(page) {
  if (!page.getElementById("work")) {
    waiting.length = 0;
    reloading = true;
    location.reload();
    return false;
  }
  const focused = document.activeElement.name;
  for (const id of ["hidden", "groups", "placed", "buttons", "faults", "earlier"]) {
    document.getElementById(id).replaceWith(document.adoptNode(page.getElementById(id)));
  }
  const fresh = [...page.querySelectorAll(".tile")];
  tiles().forEach((tile, index) => {
    tile.classList.toggle("placed", fresh[index].classList.contains("placed"));
    tile.querySelector(".tags").replaceWith(document.adoptNode(fresh[index].querySelector(".tags")));
  });
  page.isRefused = Boolean(document.querySelector("#faults *"));
  if (focused && document.activeElement === document.body) work.querySelector(`[name="${focused}"]`)?.focus();
  countSelected();
  return true;
}

// Selects the tiles of a refused step again, and shows the name that was typed. What was pressed
// after it may depend on it, so it is not sent, and the page says so.
function refuse(fields, about) {
  const problems = document.getElementById("problems");
  if (waiting.length || pressed) problems.append(Object.assign(document.createElement("p"), { textContent: words.dropped }));
  waiting.splice(0).forEach((step) => step.tiles.forEach((tile) => tile.classList.remove("pending")));
  pressed = null;
  about.forEach((tile) => (box(tile).checked = true));
  const typed = document.getElementById("group");
  typed.value ||= fields.find(([name]) => name === "group")?.[1] ?? "";
  countSelected();
  problems.scrollIntoView({ block: "nearest" });
}

// Stores a step about the selected tiles, which are selected no longer.
function step(go, more = {}) {
  const about = selected();
  const fields = [["go", go], ...Object.entries(more), ...about.map((tile) => ["document", box(tile).value])];
  about.forEach((tile) => {
    box(tile).checked = false;
    if (go.startsWith("put") || go === "new") tile.classList.add("pending");
  });
  waiting.push({ fields, tiles: about });
  countSelected();
  send();
}

// Puts the selected tiles, or the one in focus last, into a group; then goes on to the next one.
function put(go, more) {
  if (!selected().length && last) box(last).checked = true;
  const about = selected();
  const all = tiles();
  const place = all.indexOf(about.at(-1));
  step(go, more);
  const open = (tile) => !tile.matches(".placed, .pending");
  const after = all.slice(place + 1).find(open) ?? all.find(open) ?? about[0];
  box(after).focus();
}

function countSelected() {
  const number = selected().length;
  const text = document.getElementById("count");
  text.textContent = number ? ` · ${text.dataset.words.replace("{count}", number)}` : "";
  document.getElementById("similar").hidden = !number;
}

// Selects the most similar tile that is in no group yet, of those most like the selected ones.
function selectSimilar() {
  const all = tiles();
  const some = selected();
  const from = some.length ? some : [document.activeElement.closest?.(".tile")].filter(Boolean);
  from.forEach((tile) => (box(tile).checked = true));
  const near = from.map((tile) => tile.dataset.alike.split(" ").slice(0, 5)).flat().filter(Boolean);
  for (const number of near) {
    const tile = all[number - 1];
    if (!tile.matches(".placed, .pending")) box(tile).checked = true;
  }
  countSelected();
}

if ("steps" in work.dataset) {
  work.addEventListener("click", (event) => {
    const button = event.target.closest("button[name=go]");
    if (!button || ["back", "done"].includes(button.value)) return;
    const [action, number] = button.value.split("-");
    // With no tile to put, the form is sent: the page that answers says so, and has what was typed.
    if (["new", "put"].includes(action) && !selected().length && !last) return;
    event.preventDefault();
    const typed = document.getElementById("group");
    if (action === "new") {
      put("new", { group: typed.value });
      typed.value = "";
    } else if (action === "put") put(button.value);
    else if (action === "rename") step(button.value, { [`name-${number}`]: work.elements[`name-${number}`].value });
    else if (action === "merge") step(button.value, { [`into-${number}`]: work.elements[`into-${number}`].value });
    else step(button.value);
  });

  // Before saving.js, which sends the form: the steps come first, then the button.
  work.addEventListener(
    "submit",
    (event) => {
      if (!sending) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      pressed = event.submitter.value;
    },
    { capture: true },
  );
}

// The key presses the form's first button, but here the one beside the name is meant.
work.addEventListener("keydown", (event) => {
  const renamed = /^name-([0-9]+)$/.exec(event.target.name ?? "");
  if (event.key !== "Enter" || !renamed) return;
  event.preventDefault();
  work.querySelector(`button[value="rename-${renamed[1]}"]`).click();
});

work.addEventListener("change", (event) => event.target.closest(".tile") && countSelected());
work.addEventListener("click", (event) => event.target.id === "similar" && selectSimilar());
work.addEventListener("focusin", (event) => (last = event.target.closest(".tile") ?? last));

// With the shift key, all tiles from the last one on.
work.addEventListener("click", (event) => {
  const tile = event.target.closest(".tile");
  if (!tile || event.target.tagName !== "INPUT") return;
  if (event.shiftKey && work.from) {
    const all = tiles();
    const [first, end] = [all.indexOf(work.from), all.indexOf(tile)].sort((a, b) => a - b);
    all.slice(first, end + 1).forEach((each) => (box(each).checked = box(tile).checked));
    countSelected();
  }
  work.from = tile;
});

function columns() {
  const all = tiles();
  const next = all.findIndex((tile) => tile.offsetTop > all[0].offsetTop);
  return next < 0 ? all.length : next;
}

work.addEventListener("keydown", (event) => {
  const tile = event.target.closest(".tile");
  if (!tile || event.ctrlKey || event.metaKey || event.altKey) return;
  const all = tiles();
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns(), ArrowDown: columns() };
  // A letter by its place where another alphabet is typed.
  const key = (/^[ -~]$/.test(event.key) ? event.key : event.code.replace(/^Key/, "")).toLowerCase();
  const group = work.querySelector(`#groups [data-key="${CSS.escape(key)}"]`);
  if (event.key in steps) {
    const other = all[all.indexOf(tile) + steps[event.key]];
    if (other) box(other).focus();
  } else if (group && "steps" in work.dataset) put(group.value);
  else if (key === "n") document.getElementById("group").focus();
  else if (key === "l") selectSimilar();
  else if (key === "z") work.querySelector("[value=undo]")?.click();
  else return;
  event.preventDefault();
});

// "Back" may not ask for the page by its address, see saving.js, where what is selected or typed would be lost.
if (selected().length || document.getElementById("group").value) work.dataset.loses = "";

window.addEventListener("beforeunload", (event) => {
  if (sending && !reloading) event.preventDefault();
});
