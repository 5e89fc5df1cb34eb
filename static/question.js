// The question page, made nicer: the own ordering echoed while places are chosen,
// "None of these" and the methods excluding each other, and the time the page was
// in view. Everything works without this file.
"use strict";

const form = document.getElementById("vote");
const echo = document.getElementById("echo");
const ownOrder = document.getElementById("own-order");
const places = [...form.querySelectorAll("select[name^=rank-]")].sort((a, b) => (a.name < b.name ? -1 : 1));
const choices = [...form.querySelectorAll("input[name=choice]")];
const own = choices.find((box) => box.value === "own");
// The page's language, ready to be filled: words_for_own_ordering in wording.py.
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

function describe() {
  const groups = tiers();
  const missing = places.filter((select) => !select.value).map(letterOf);
  const said = missing.length ? soFar(missing) : inWords(groups);
  const unused = said && choices.some((box) => box !== own && box.checked);
  echo.textContent = said ? fill(words.own, { ordering: said }) + (unused ? ` ${words.unused}` : "") : "";
  ownOrder?.replaceChildren(...(missing.length ? [] : [writtenOrder(groups)]));
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

// The same markup as the macro written_order.
function writtenOrder(groups) {
  const order = document.createElement("span");
  order.className = "order";
  groups.forEach(({ letters, place }, index) => {
    if (index) order.append(" ", element("span", "than", ">"), " ");
    const tier = element("span", "tier", "");
    tier.append(element("small", "", String(place)));
    letters.forEach((letter, nth) => tier.append(...(nth ? [" ", element("span", "tie", "="), " "] : []), letter));
    order.append(tier);
  });
  return order;
}

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.textContent = text;
  return made;
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
