// The answer bar of an ordering question: letters that are tapped from best to worst, what will be saved in
// words, methods and an own order excluding each other, and what was begun kept through a reload. Everything
// works without this file.
"use strict";

{
  const form = document.getElementById("vote");
  const echo = document.getElementById("echo");
  const pad = document.getElementById("pad");
  const equal = document.getElementById("equal");
  const undo = document.getElementById("undo");
  const reason = document.getElementById("reason"); // where the study asks for one
  // The places are kept in the selects, which are what is sent.
  const places = [...form.querySelectorAll("select[name^=rank-]")].sort((a, b) => (a.name < b.name ? -1 : 1));
  const choices = [...form.querySelectorAll("input[type=checkbox][name=choice]")];
  const own = choices.find((box) => box.value === "own"); // where an own order came before the methods
  const methods = choices.filter((box) => box !== own);
  const keys = [...pad.querySelectorAll("[data-letter]")];
  // The page's language, ready to be filled: own_order_words in language.py.
  const words = JSON.parse(echo.dataset.words);

  const letterOf = (select) => select.name.slice("rank-".length);
  const letters = places.map(letterOf);
  const fill = (text, parts) => text.replace(/\{(\w+)\}/g, (_, name) => parts[name]);
  const last = (all) => all[all.length - 1];
  const andJoin = (all) => (all.length > 1 ? fill(words.and, { words: all.slice(0, -1).join(", "), last: last(all) }) : all.join(""));
  const ticked = () => methods.filter((box) => box.checked);
  const named = (boxes) => fill(words.methods[boxes.length - 1], { labels: andJoin(boxes.map((box) => box.value).sort()) });

  // The own order: groups of letters, best first. ``byItself``: the letter that was placed without a tap.
  let order = [];
  let nextIsEqual = false;
  let byItself = "";
  let unticked = []; // methods whose ticks the first letter took away, which undo restores

  const placed = () => order.flat();
  const isWhole = () => placed().length === letters.length;
  const placeOf = (number) => order.slice(0, number).flat().length; // of a group, from 0

  function readPlaces() {
    const chosen = places.filter((select) => select.value);
    const levels = [...new Set(chosen.map((select) => Number(select.value)))].sort((a, b) => a - b);
    order = levels.map((level) => chosen.filter((select) => Number(select.value) === level).map(letterOf));
  }

  function writePlaces() {
    for (const select of places) {
      const group = order.findIndex((some) => some.includes(letterOf(select)));
      select.value = group < 0 ? "" : String(placeOf(group) + 1);
    }
  }

  const inWords = () =>
    order
      .map((group, number) =>
        group.length > 1
          ? fill(words.tied[placeOf(number)], { letters: andJoin(group) })
          : fill(words.alone[placeOf(number)], { letter: group[0] }),
      )
      .reduce((before, after) => fill(words.row, { before, after }));

  // A screen of the practice asks for an order, or for ticks.
  const goal = echo.dataset.goal ? JSON.parse(echo.dataset.goal) : {};
  const inNotation = () => order.map((group) => [...group].sort().join("=")).join(">");

  function describe() {
    const boxes = ticked();
    if (boxes.length) {
      const isPart = goal.ticks && boxes.every((box) => goal.ticks.includes(box.value));
      if (isPart && boxes.length < goal.ticks.length) return goal.more;
      return (isPart ? "✓ " : "") + fill(words.ticked, { methods: named(boxes) });
    }
    if (!order.length) return "";
    const done = goal.order && inNotation() === goal.order ? "✓ " : "";
    const sentence = done + fill(isWhole() ? words.mine : words.soFar, { ordering: inWords() });
    const off = unticked.length ? ` ${fill(words.off[unticked.length - 1], { methods: named(unticked) })}` : "";
    return sentence + off;
  }

  // Texts and states change; no element is replaced, so that a click is never lost in WebKit.
  function show() {
    const said = describe();
    echo.classList.toggle("chosen", Boolean(said));
    const text = said || echo.dataset.hint;
    if (echo.textContent !== text) echo.textContent = text;
    const all = placed();
    for (const key of keys) {
      key.setAttribute("aria-pressed", String(all.includes(key.dataset.letter)));
      if (all.includes(key.dataset.letter)) key.classList.remove("missing");
    }
    const lastIsTied = isWhole() && last(order).length > 1 && last(order).includes(byItself);
    equal.setAttribute("aria-pressed", String(nextIsEqual || lastIsTied));
    equal.disabled = !order.length;
    undo.disabled = !order.length && !unticked.length;
    for (const place of document.querySelectorAll("[data-place]")) {
      const group = order.findIndex((some) => some.includes(place.dataset.place));
      const isTied = group >= 0 && order[group].length > 1;
      place.textContent = group < 0 ? "" : (isTied ? "= " : "") + words.short[placeOf(group)];
      place.closest("[data-list]")?.classList.toggle("placed", group >= 0);
    }
    const shownOrder = own?.closest("label").querySelector(".order");
    if (shownOrder && isWhole()) {
      if (shownOrder.textContent !== inNotation()) shownOrder.textContent = inNotation();
    }
  }

  function changed() {
    writePlaces();
    show();
    keep();
    mend();
  }

  // A letter goes behind the last one, or beside it after "="; a placed letter is taken out. The last letter
  // needs no tap; one that it gets all the same confirms its place.
  function tap(letter) {
    if (letter === byItself) {
      byItself = "";
      return show();
    }
    byItself = "";
    if (placed().includes(letter)) {
      order = order.map((group) => group.filter((other) => other !== letter)).filter((group) => group.length);
    } else {
      if (!order.length) untick();
      if (nextIsEqual && order.length) last(order).push(letter);
      else order.push([letter]);
      const left = letters.filter((other) => !placed().includes(other));
      if (left.length === 1) {
        byItself = left[0];
        order.push(left);
      }
    }
    nextIsEqual = false;
    useOwn();
    changed();
  }

  function untick() {
    unticked = ticked();
    for (const box of unticked) box.checked = false;
  }

  function useOwn() {
    if (!own) return;
    for (const box of ticked()) box.checked = false;
    own.checked = order.length > 0;
  }

  // After the last letter "=" ties it with the one before, or parts them again.
  function tapEqual() {
    const end = last(order);
    if (!isWhole()) nextIsEqual = !nextIsEqual && order.length > 0;
    else if (end.length > 1) {
      byItself = end.pop();
      order.push([byItself]);
    } else if (order.length > 1) {
      byItself = order.pop()[0];
      last(order).push(byItself);
    }
    useOwn();
    changed();
  }

  // Undo is computed from the order itself, so that it works after a reload.
  function takeBack() {
    const drop = () => {
      last(order).pop();
      if (!last(order).length) order.pop();
    };
    if (nextIsEqual) nextIsEqual = false;
    else if (order.length) {
      if (isWhole() && byItself) drop();
      if (order.length) drop();
    }
    byItself = "";
    if (!order.length) {
      for (const box of unticked) box.checked = true;
      unticked = [];
    }
    useOwn();
    changed();
  }

  keys.forEach((key) => key.addEventListener("click", () => tap(key.dataset.letter)));
  equal.addEventListener("click", tapEqual);
  undo.addEventListener("click", takeBack);

  // On the keys, letters can be typed: only there, so that no key of a screen reader is taken.
  pad.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // The code is the key's place: another alphabet's keyboard has the letters there.
    const typed = [event.key.toUpperCase(), event.code.replace("Key", "")];
    const letter = letters.find((name) => typed.includes(name));
    if (letter) tap(letter);
    else if (event.key === "=") tapEqual();
    else if (event.key === "Backspace") takeBack();
    else return;
    event.preventDefault();
  });

  places.forEach((select) =>
    select.addEventListener("change", () => {
      readPlaces();
      useOwn();
      changed();
    }),
  );
  reason?.addEventListener("input", keep);
  methods.forEach((box) =>
    box.addEventListener("change", () => {
      unticked = [];
      if (own) own.checked = false; // its order stays, so that it can be taken again
      else if (box.checked) order = [];
      nextIsEqual = false;
      byItself = "";
      changed();
    }),
  );
  own?.addEventListener("change", () => {
    if (own.checked) for (const box of methods) box.checked = false;
    changed();
  });

  // What is wrong no more is not marked any more.
  function mend() {
    for (const select of places) if (select.value) select.removeAttribute("aria-invalid");
    const isReady = ticked().length > 0 || isWhole();
    if (isReady && !form.querySelector("[aria-invalid]")) document.querySelector(".problems")?.remove();
  }

  // What was begun is kept in this tab, under the key of the answer that the page showed.
  const key = form.querySelector("[name=submission_key]")?.value || location.pathname + location.search;
  const filledIn = () => [choices.map((box) => box.checked), places.map((select) => select.value), reason?.value ?? ""];
  const keptNote = document.getElementById("kept"); // practice keeps nothing
  function keep() {
    if (!keptNote) return;
    try {
      sessionStorage.setItem(key, JSON.stringify([...filledIn(), unticked.map((box) => box.value), byItself]));
    } catch {
      return; // a browser that keeps nothing
    }
  }
  function fillInAgain() {
    const kept = keptNote && JSON.parse(sessionStorage.getItem(key) ?? "null");
    if (!kept) return;
    const [ticks, values, text, off, letter] = kept;
    unticked = methods.filter((box) => off.includes(box.value));
    byItself = letter;
    if (JSON.stringify(filledIn()) === JSON.stringify([ticks, values, text])) return;
    choices.forEach((box, nth) => (box.checked = Boolean(ticks[nth])));
    places.forEach((select, nth) => (select.value = values[nth] ?? ""));
    if (reason) reason.value = text ?? "";
    keptNote.hidden = false;
    mend();
  }

  // Whether folded scores of the methods were opened; without this script the form does not know.
  const scoresSeen = form.querySelector("[name=scores_seen]");
  if (scoresSeen) {
    const opened = form.querySelector("details.scores");
    if (keptScores() !== "yes" && scoresSeen.value !== "yes") scoresSeen.value = "no";
    else scoresSeen.value = "yes";
    opened.addEventListener("toggle", () => {
      if (!opened.open) return;
      scoresSeen.value = "yes";
      try {
        sessionStorage.setItem(`${key} scores`, "yes");
      } catch {
        return; // a browser that keeps nothing
      }
    });
  }
  function keptScores() {
    try {
      return sessionStorage.getItem(`${key} scores`);
    } catch {
      return null;
    }
  }

  // With this script the keys take the place of the selects, and of their ids: errors link to them.
  pad.hidden = false;
  document.getElementById("selects").hidden = true;
  for (const tapped of keys) {
    const select = places.find((one) => letterOf(one) === tapped.dataset.letter);
    tapped.id = select.id;
    tapped.setAttribute("aria-keyshortcuts", tapped.dataset.letter);
    select.removeAttribute("id");
  }
  try {
    fillInAgain();
  } catch {
    sessionStorage.removeItem(key);
  }
  readPlaces();
  show();
  // What was sent back is kept, as "Back" asks for the page by its address: see saving.js.
  if (document.getElementById("problems")) keep();
  // Fields that a browser fills in again after “Back” are filled in after this script has run.
  window.addEventListener("pageshow", () => {
    readPlaces();
    show();
  });
}
