// The question page, made nicer: the own ordering echoed while places are chosen, letters that
// can be dragged to a place, "None of these" and the methods excluding each other, and the time
// the page was in view. Everything works without this file.
"use strict";

const form = document.getElementById("vote");
const echo = document.getElementById("echo");
const places = [...form.querySelectorAll("select[name^=rank-]")].sort((a, b) => (a.name < b.name ? -1 : 1));
const choices = [...form.querySelectorAll("input[name=choice]")];
const own = choices.find((box) => box.value === "own");
// One's own column beside the orderings of the methods; not there before one sees these.
const cells = [...form.querySelectorAll("[data-place]:not([data-place=''])")];
const unplaced = document.getElementById("to-place");
// The page's language, ready to be filled: words_for_own_ordering in language.py.
const words = JSON.parse(echo.dataset.words);

const letterOf = (select) => select.name.slice("rank-".length);
const fill = (text, parts) => text.replace(/\{(\w+)\}/g, (_, name) => parts[name]);
const andJoin = (all) => (all.length > 1 ? fill(words.and, { words: all.slice(0, -1).join(", "), last: all.at(-1) }) : all.join(""));
const inARow = (all) => all.reduce((before, after) => fill(words.row, { before, after }));

// Groups of letters from best to worst, each with its place in competition ranking.
function tiers() {
  const chosen = places.filter((select) => select.value);
  const levels = [...new Set(chosen.map((select) => Number(select.value)))].sort((a, b) => a - b);
  let ahead = 0;
  return levels.map((level) => {
    const letters = chosen.filter((select) => Number(select.value) === level).map(letterOf);
    const tier = { letters, place: ahead + 1 };
    ahead += letters.length;
    return tier;
  });
}

const placesOf = (groups) => new Map(groups.flatMap(({ letters, place }) => letters.map((letter) => [letter, place])));

function describe() {
  const groups = tiers();
  const missing = places.filter((select) => !select.value);
  const said = missing.length ? soFar(missing.map(letterOf)) : inWords(groups);
  const unused = said && choices.some((box) => box !== own && box.checked);
  echo.textContent = said ? fill(words.own, { ordering: said }) + (unused ? ` ${words.unused}` : "") : "";
  draw(groups, missing);
}

function inWords(groups) {
  return inARow(
    groups.map(({ letters, place }) =>
      letters.length > 1
        ? fill(words.tied[place - 1], { letters: andJoin(letters) })
        : fill(words.alone[place - 1], { letter: letters[0] }),
    ),
  );
}

// An order that lacks lists is said as it was chosen: the places may still shift.
function soFar(missing) {
  const chosen = places.filter((select) => select.value).sort((a, b) => a.value - b.value);
  if (!chosen.length) return "";
  const list = chosen.map((select) => fill(words.chosen[select.value - 1], { letter: letterOf(select) })).join(", ");
  return fill(words.soFar[missing.length - 1], { chosen: list, missing: andJoin(missing) });
}

// One's own column, like the methods': what stands at each place. Until every list has one,
// letters stand where they were put.
function draw(groups, missing) {
  if (unplaced) {
    unplaced.hidden = !missing.length || !(own.checked || groups.length);
    unplaced.replaceChildren(text("small", "", words.drag), ...missing.map(chip));
  }
  const placeOf = placesOf(groups);
  for (const cell of cells) {
    const at = (select) => (missing.length ? Number(select.value) : placeOf.get(letterOf(select)));
    const here = places.filter((select) => select.value && at(select) === Number(cell.dataset.place));
    cell.replaceChildren(...here.flatMap((select, nth) => [...(nth ? [text("span", "tie", " = ")] : []), chip(select)]));
  }
}

function text(name, className, said) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = said;
  return made;
}

// A letter that can be dragged to a place: it sets its select. Who cannot drag has the selects.
function chip(select) {
  const letter = text("span", "chip", letterOf(select));
  letter.addEventListener("pointerdown", (event) => hold(event, letter, select));
  return letter;
}

function hold(event, letter, select) {
  if (event.button) return;
  event.preventDefault();
  let cell;
  const at = ({ clientX, clientY }) => document.elementFromPoint(clientX, clientY)?.closest("[data-place]");
  const move = (now) => {
    letter.style.translate = `${now.clientX - event.clientX}px ${now.clientY - event.clientY}px`;
    cell?.classList.remove("under");
    cell = at(now);
    cell?.classList.add("under");
  };
  const end = (now) => {
    controller.abort();
    cell?.classList.remove("under");
    letter.classList.remove("held");
    letter.style.translate = "";
    if (now.type === "pointerup" && cell) put(select, cell.dataset.place);
  };
  const controller = new AbortController();
  const listen = (kind, what) => window.addEventListener(kind, what, { signal: controller.signal });
  const ofThisPointer = (what) => (now) => now.pointerId === event.pointerId && what(now);
  letter.classList.add("held");
  listen("pointermove", ofThisPointer(move));
  listen("pointerup", ofThisPointer(end));
  listen("pointercancel", ofThisPointer(end));
  listen("keydown", (now) => now.key === "Escape" && end(now));
}

// Where every list has a place, the rows are places as counted: 1, 1, 2 stands in the rows 1, 1, 3. So
// the others take the places of the rows in which one sees them.
function put(select, place) {
  if (places.every((one) => one.value)) {
    const placeOf = placesOf(tiers());
    for (const one of places) one.value = placeOf.get(letterOf(one));
  }
  if (select.value === place) return;
  select.value = place;
  select.dispatchEvent(new Event("change"));
}

// As with "other: ____": whoever fills it in means it, unless a method is ticked; and
// whoever empties it again did not.
let tickedForThem = false;
function placed(select) {
  if (own && select.value && !choices.some((box) => box.checked)) own.checked = tickedForThem = true;
  if (tickedForThem && places.every((one) => !one.value)) own.checked = tickedForThem = false;
  describe();
}
places.forEach((select) => select.addEventListener("change", () => placed(select)));
// A place may be chosen before this script is there.
places.filter((select) => select.value && !select.selectedOptions[0].defaultSelected).forEach(placed);
choices.forEach((box) =>
  box.addEventListener("change", () => {
    tickedForThem = false;
    choices.forEach((other) => {
      if (box.checked && (other === own) !== (box === own)) other.checked = false;
    });
    describe();
  }),
);
describe();
// Fields that a browser fills in again after “Back” are filled in after this script has run.
window.addEventListener("pageshow", describe);

// Seconds in view, by the browser's own steady clock.
const field = form.querySelector("[name=active_seconds]");
let inView = Number(field?.value ?? 0) * 1000; // what an answer that was refused had taken
let since = document.visibilityState === "visible" ? performance.now() : null;
document.addEventListener("visibilitychange", () => {
  if (since !== null) inView += performance.now() - since;
  since = document.visibilityState === "visible" ? performance.now() : null;
});
form.addEventListener("submit", () => {
  if (field) field.value = ((inView + (since === null ? 0 : performance.now() - since)) / 1000).toFixed(1);
});
