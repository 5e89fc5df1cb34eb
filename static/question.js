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
const NTH = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];

const letterOf = (select) => select.name.slice("rank-".length);
const andJoin = (words) => (words.length > 1 ? words.slice(0, -1).join(", ") + " and " + words.at(-1) : words.join(""));

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
  const parts = groups.map(({ letters, place }) =>
    letters.length > 1 ? `${andJoin(letters)} tie for ${NTH[place - 1]}` : `${letters[0]} ${NTH[place - 1]}`,
  );
  if (groups.length && missing.length) parts.push(`${andJoin(missing)} ${missing.length > 1 ? "have" : "has"} no place yet`);
  echo.textContent = parts.length ? `${echo.dataset.start}${parts.join("; ")}.` : "";
  ownOrder.replaceChildren(writtenOrder(groups));
}

// The same markup as the macro written_order.
function writtenOrder(groups) {
  const order = document.createElement("span");
  order.className = "order";
  groups.forEach(({ letters, place }, index) => {
    if (index) order.append(" ", element("span", "than", ">"), " ");
    const tier = element("span", "tier", "");
    tier.append(element("small", "", String(place)), letters.join(" = "));
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

places.forEach((select) =>
  select.addEventListener("change", () => {
    // As with "other: ____": whoever fills it in means it, unless a method is ticked.
    if (select.value && !choices.some((box) => box.checked)) own.checked = true;
    describe();
  }),
);
choices.forEach((box) =>
  box.addEventListener("change", () => {
    if (!box.checked) return;
    choices.forEach((other) => {
      if ((other === own) !== (box === own)) other.checked = false;
    });
  }),
);
describe();

// Seconds in view, by the browser's own steady clock.
let inView = 0;
let since = document.visibilityState === "visible" ? performance.now() : null;
document.addEventListener("visibilitychange", () => {
  if (since !== null) inView += performance.now() - since;
  since = document.visibilityState === "visible" ? performance.now() : null;
});
form.addEventListener("submit", () => {
  const seconds = form.querySelector("[name=active_seconds]");
  if (seconds) seconds.value = ((inView + (since === null ? 0 : performance.now() - since)) / 1000).toFixed(1);
});

document.getElementById("problems")?.focus();
