// The question page, made nicer: letters that are tapped from best to worst or dragged to another
// place, one's own ordering in words, "My own ordering" and the methods excluding each other, and what
// was begun kept through a reload. Everything works without this file.
"use strict";

{
  const form = document.getElementById("vote");
  const echo = document.getElementById("echo");
  // The places are kept in the selects, which are what is sent.
  const places = [...form.querySelectorAll("select[name^=rank-]")].sort((a, b) => (a.name < b.name ? -1 : 1));
  const choices = [...form.querySelectorAll("input[type=checkbox][name=choice]")];
  const own = choices.find((box) => box.value === "own");
  const keys = [...form.querySelectorAll("[data-letter]")];
  const equal = document.getElementById("equal");
  const reason = document.getElementById("reason"); // where the study asks for one
  const undo = document.getElementById("undo");
  const slots = document.getElementById("slots");
  // The page's language, ready to be filled: words_for_own_ordering in language.py.
  const words = JSON.parse(echo.dataset.words);

  const letterOf = (select) => select.name.slice("rank-".length);
  const selectOf = (letter) => places.find((select) => letterOf(select) === letter);
  const missing = () => places.filter((select) => !select.value).map(letterOf);
  const fill = (text, parts) => text.replace(/\{(\w+)\}/g, (_, name) => parts[name]);
  const last = (all) => all[all.length - 1];
  const andJoin = (all) => (all.length > 1 ? fill(words.and, { words: all.slice(0, -1).join(", "), last: last(all) }) : all.join(""));
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

  function inWords(groups) {
    return inARow(
      groups.map(({ letters, place }) =>
        letters.length > 1
          ? fill(words.tied[place - 1], { letters: andJoin(letters) })
          : fill(words.alone[place - 1], { letter: letters[0] }),
      ),
    );
  }

  // An order that lacks lists is written as it was chosen: the places may still shift.
  function soFar(unplaced) {
    const chosen = places.filter((select) => select.value).sort((a, b) => a.value - b.value);
    if (!chosen.length) return "";
    const list = chosen.map((select) => fill(words.chosen[select.value - 1], { letter: letterOf(select) })).join(", ");
    return fill(words.soFar[unplaced.length - 1], { chosen: list, missing: andJoin(unplaced) });
  }

  function describe() {
    const unplaced = missing();
    const ordering = unplaced.length ? soFar(unplaced) : inWords(tiers());
    const unused = ordering && choices.some((box) => box !== own && box.checked);
    echo.textContent = ordering ? fill(words.own, { ordering }) + (unused ? ` ${words.unused}` : "") : "";
    for (const part of [slots, echo]) part.classList.toggle("unused", unused);
    draw(unplaced);
  }

  // The keys show the places of their letters; the slots what stands at each place. WebKit fires no click
  // on what was replaced since it was pressed: texts change, and a slot is filled again only if it differs.
  const shown = new Map(); // the letters in each slot
  function draw(unplaced) {
    const placeOf = new Map(tiers().flatMap(({ letters, place }) => letters.map((letter) => [letter, place])));
    for (const key of keys) {
      const place = placeOf.get(key.dataset.letter);
      key.setAttribute("aria-pressed", String(Boolean(place)));
      key.lastElementChild.textContent = place ? words.places[place - 1] : "–";
      if (place) key.classList.remove("missing");
    }
    undo.disabled = !past.length && unplaced.length === places.length;
    equal.disabled = unplaced.length === places.length;
    slots.hidden = unplaced.length === places.length;
    for (const slot of slots.children) {
      const letters = places.map(letterOf).filter((letter) => String(placeOf.get(letter)) === slot.dataset.place);
      if (shown.get(slot) === letters.join()) continue;
      shown.set(slot, letters.join());
      slot.lastElementChild.replaceChildren(...letters.flatMap((letter, nth) => [...(nth ? [" = "] : []), chip(letter)]));
    }
  }

  function element(name, text) {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
  }

  // Tapping: a letter goes behind the last one, or beside it after "="; a placed letter is taken out.
  // The last letter needs no tap; one that it gets all the same confirms its place.
  const past = [];
  let lastLetter = null;
  let nextIsEqual = false;

  function change(groups) {
    past.push(places.map((select) => select.value));
    setPlaces(groups);
  }

  function setPlaces(groups) {
    let ahead = 0;
    for (const select of places) select.value = "";
    for (const letters of groups) {
      for (const letter of letters) selectOf(letter).value = String(ahead + 1);
      ahead += letters.length;
    }
    placed();
  }

  function tap(letter) {
    const isConfirmed = letter === lastLetter;
    lastLetter = null;
    if (isConfirmed) return;
    const groups = tiers().map(({ letters }) => letters);
    if (selectOf(letter).value) {
      change(groups.map((letters) => letters.filter((other) => other !== letter)).filter((letters) => letters.length));
    } else {
      if (nextIsEqual && groups.length) last(groups).push(letter);
      else groups.push([letter]);
      const left = missing().filter((other) => other !== letter);
      if (left.length === 1) groups.push(left);
      change(groups);
      if (left.length === 1) lastLetter = left[0];
    }
    setEqual(false);
  }

  function setEqual(on) {
    nextIsEqual = on;
    equal.setAttribute("aria-pressed", String(on));
  }

  keys.forEach((key) => key.addEventListener("click", () => key.dataset.dragged || tap(key.dataset.letter)));
  equal.addEventListener("click", () => {
    const groups = tiers().map(({ letters }) => letters);
    if (missing().length || groups.length < 2) setEqual(!nextIsEqual);
    else change([...groups.slice(0, -2), groups.slice(-2).flat()]); // the last one was placed by itself
  });
  undo.addEventListener("click", () => {
    lastLetter = null;
    // An order that was stored earlier has no past in this tab: its last letter is taken out.
    if (past.length) past.pop().forEach((value, nth) => (places[nth].value = value));
    else selectOf(tiers().pop().letters.pop()).value = "";
    setEqual(false);
    placed();
  });

  // Beside the keys, letters can be typed: only there, so that no key of a screen reader is taken.
  document.getElementById("pad").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // The code is the key's place: another alphabet's keyboard has the letters there.
    const typed = [event.key.toUpperCase(), event.code.replace("Key", "")];
    const letter = keys.map((key) => key.dataset.letter).find((name) => typed.includes(name));
    if (letter) tap(letter);
    else if (event.key === "=") equal.click();
    else if (event.key === "Backspace") undo.click();
    else return;
    event.preventDefault();
  });

  // Dragging: a letter is put to the place at which it is let go. Who cannot drag has the keys.
  function chip(letter) {
    const made = element("b", letter);
    made.addEventListener("pointerdown", (event) => hold(event, made, letter));
    return made;
  }
  keys.forEach((key) => key.addEventListener("pointerdown", (event) => hold(event, key, key.dataset.letter)));

  function hold(event, held, letter) {
    if (event.button) return;
    let slot;
    delete held.dataset.dragged;
    const move = (now) => {
      if (now.pointerId !== event.pointerId) return; // another finger
      const [x, y] = [now.clientX - event.clientX, now.clientY - event.clientY];
      if (!held.dataset.dragged && Math.hypot(x, y) < 8) return; // a tap
      held.dataset.dragged = "yes";
      slots.hidden = false;
      held.classList.add("held");
      held.style.transform = `translate(${x}px, ${y}px)`;
      slot?.classList.remove("under");
      slot = document.elementFromPoint(now.clientX, now.clientY)?.closest("[data-place]");
      slot?.classList.add("under");
    };
    const end = (now) => {
      if (now.pointerId !== event.pointerId && now.key !== "Escape") return;
      for (const [kind, listener] of listeners) window.removeEventListener(kind, listener);
      if (!held.dataset.dragged) return; // the click follows
      slot?.classList.remove("under");
      held.classList.remove("held");
      held.style.transform = "";
      if (now.type === "pointerup" && slot) put(letter, slot.dataset.place);
      else describe();
      setTimeout(() => delete held.dataset.dragged); // after the click that follows
    };
    const listeners = [["pointermove", move], ["pointerup", end], ["pointercancel", end], ["keydown", end]];
    for (const [kind, listener] of listeners) window.addEventListener(kind, listener);
  }

  // The slots are places as counted: 1, 1, 2 stands in the slots 1, 1, 3. So the others take the places
  // of the slots in which one sees them.
  function put(letter, place) {
    lastLetter = null;
    past.push(places.map((select) => select.value));
    for (const { letters, place: seen } of tiers()) for (const other of letters) selectOf(other).value = String(seen);
    selectOf(letter).value = place;
    placed();
  }

  // As with "other: ____": who fills it in means it, who empties it did not. Beside a ticked method it is
  // not used: letters never change a vote, which may be out of view.
  let tickedForThem = false;
  function placed() {
    const any = places.some((select) => select.value);
    if (own && any && !choices.some((box) => box.checked)) own.checked = tickedForThem = true;
    if (tickedForThem && !any) own.checked = tickedForThem = false;
    changed();
  }

  function changed() {
    describe();
    keep();
    mend();
  }

  places.forEach((select) => select.addEventListener("change", placed));
  reason?.addEventListener("input", keep);
  choices.forEach((box) =>
    box.addEventListener("change", () => {
      tickedForThem = false;
      choices.forEach((other) => {
        if (box.checked && (other === own) !== (box === own)) other.checked = false;
      });
      if (box === own) changed();
      else placed(); // without the last method one's own ordering is used again
    }),
  );

  // What is wrong no more is not marked any more.
  function mend() {
    for (const select of places) if (select.value) select.removeAttribute("aria-invalid");
    const isOwn = !own || own.checked;
    const ready = isOwn ? !missing().length : choices.some((box) => box.checked);
    if (ready && !reason?.matches("[aria-invalid]")) document.querySelector(".problems")?.remove();
  }

  // What was begun is kept in this tab, under the key of the answer that the page showed.
  const key = form.querySelector("[name=submission_key]")?.value || location.pathname;
  const filledIn = () => [choices.map((box) => box.checked), places.map((select) => select.value), reason?.value ?? ""];
  function keep() {
    try {
      sessionStorage.setItem(key, JSON.stringify([...filledIn(), past, tickedForThem]));
    } catch {
      return; // a browser that keeps nothing
    }
  }
  function fillInAgain() {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? "null");
    if (!kept) return;
    const [ticks, values, words, before, forThem] = kept;
    past.push(...before);
    tickedForThem = forThem;
    if (JSON.stringify(filledIn()) === JSON.stringify([ticks, values, words])) return;
    choices.forEach((box, nth) => (box.checked = Boolean(ticks[nth])));
    places.forEach((select, nth) => (select.value = values[nth] ?? ""));
    if (reason) reason.value = words ?? "";
    document.getElementById("kept").hidden = false;
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
  document.getElementById("pad").hidden = false;
  document.getElementById("selects").hidden = true;
  for (const tapped of keys) {
    const select = selectOf(tapped.dataset.letter);
    tapped.id = select.id;
    tapped.append(element("small", "–"));
    tapped.setAttribute("aria-keyshortcuts", tapped.dataset.letter);
    select.removeAttribute("id");
  }
  // Beside lists of pictures, a list's key is where its letter is.
  for (const tapped of keys) document.querySelector(`[data-put="${tapped.dataset.letter}"]`)?.replaceChildren(tapped);
  // A place may be chosen before this script is there.
  if (places.some((select) => select.value && !select.selectedOptions[0].defaultSelected)) placed();
  try {
    fillInAgain();
  } catch {
    sessionStorage.removeItem(key);
  }
  describe();
  // What was sent back is kept, as "Back" asks for the page by its address: see saving.js.
  if (document.getElementById("problems")) keep();
  // Fields that a browser fills in again after “Back” are filled in after this script has run.
  window.addEventListener("pageshow", describe);
}
