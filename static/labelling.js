// Saves each mark at once, counts what is marked and seen, and lets arrow keys move among the tiles. Without
// this file a page is saved by its buttons.
"use strict";

{
  const tiles = [...form.querySelectorAll(".tiles :is([type=checkbox], select)")];
  const radios = [...form.querySelectorAll(".tiles [type=radio]")]; // of named grades
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
      readKey(await acknowledged({ body, headers: { Accept: "application/json" } }));
      if (reloading) return;
    }
    sending = false;
    saved.textContent = words.saved;
    const button = pressed;
    pressed = null; // the browser may keep the page and show it again
    button?.click();
  }

  // Another window was faster, or the study has ended: the page says so.
  function readKey({ answer, text }) {
    if (answer.headers.get("Content-Type") === "application/json") form.elements.step_key.value = JSON.parse(text).key;
    else {
      if (answer.status === 409) location.hash = "elsewhere";
      reload();
    }
  }

  const marked = () => tiles.filter((tile) => (tile.type === "checkbox" ? tile.checked : tile.value > 0)).length;

  function count() {
    const seen = places.length - unseen.length;
    for (const [sum, number] of [[document.getElementById("marked"), marked()], [looked, seen]]) {
      if (sum) sum.textContent = sum.dataset.words.replace("{count}", Number(sum.dataset.others) + number);
    }
    document.getElementById("looked-bar").value = Number(looked.dataset.others) + seen;
    offer();
  }

  // A tile is seen once its picture is there and 60 % of it were in view for half a second: between what was
  // searched for and the answer bar, where these stay in view, and not behind an enlarged picture. Of one that
  // is higher than what is between them, as much as fits counts.
  const places = [...form.querySelectorAll(".tile")];
  const bar = form.querySelector(".bar");
  const searched = form.querySelector(".find");
  const looked = document.getElementById("looked");
  const since = new Map(); // when a tile came into view
  const isOpen = (tile) => (radios.length ? !tile.querySelector(":checked") : !("seen" in tile.dataset));
  let unseen = places.filter(isOpen);

  function look() {
    if (!bar.isConnected) return clearInterval(looking); // another page was shown in the place of this one
    const now = performance.now();
    const top = Math.max(searched.getBoundingClientRect().bottom, 0);
    const end = Math.min(bar.getBoundingClientRect().top, document.documentElement.clientHeight);
    const isVisible = document.visibilityState === "visible" && !document.querySelector("dialog[open]");
    const before = unseen.length;
    unseen = unseen.filter((tile) => {
      const box = tile.getBoundingClientRect();
      const picture = tile.querySelector("label img");
      const isThere = !picture || (picture.complete && picture.naturalWidth > 0);
      const isInView = isVisible && isThere && Math.min(box.bottom, end) - Math.max(box.top, top) >= 0.6 * Math.min(box.height, end - top);
      if (!isInView) since.delete(tile);
      else if (!since.has(tile)) since.set(tile, now);
      return !isInView || now - since.get(tile) < 500;
    });
    if (unseen.length < before) tell();
    if (!unseen.length) clearInterval(looking);
  }

  // The numbers of the tiles that were in view, which the form sends; without this script it sends none.
  function tell() {
    const numbers = places.map((_, index) => index + 1);
    sight.value = numbers.filter((number) => !unseen.includes(places[number - 1])).join(" ");
    count();
  }
  const sight = Object.assign(document.createElement("input"), { type: "hidden", name: "seen" });
  if (!radios.length) form.append(sight); // a named grade says itself that its document was judged
  const looking = radios.length ? null : setInterval(look, 100);

  // The next page is what Enter and the coloured button lead to, until a page had no match. The buttons stay in
  // their places, so that none moves under a thumb.
  function offer() {
    const [next, done] = ["next", "done"].map((value) => bar.querySelector(`.way [value=${value}]`));
    const isOver = "exhausted" in form.dataset || (form.elements.batch.value > 1 && !unseen.length);
    const primary = next && (!done || marked() || !isOver) ? next : done;
    for (const button of [next, done]) button?.classList.toggle("go", button === primary);
    form.querySelector("button.hidden").value = primary.value;
  }

  form.addEventListener("change", (event) => {
    if (![...tiles, ...radios].includes(event.target)) return;
    if (radios.length) unseen = places.filter(isOpen);
    count();
    changed = true;
    if ("steps" in form.dataset) save().catch(sendWithoutScript);
  });

  // A digit chooses the grade of that number, and goes on to the next document.
  form.addEventListener("keydown", (event) => {
    const place = places.indexOf(event.target.closest(".tile"));
    const [of, next] = [place, place + 1].map((each) => [...(places[each]?.querySelectorAll("[type=radio]") ?? [])]);
    const chosen = place < 0 || event.ctrlKey || event.metaKey || event.altKey ? null : of.find((radio) => radio.value === event.key);
    if (!chosen) return;
    event.preventDefault();
    chosen.checked = true;
    chosen.dispatchEvent(new Event("change", { bubbles: true }));
    (next.find((radio) => radio.checked) ?? next[0] ?? chosen).focus();
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

  // "Show them" has shown where they are: the question asked back has its answer.
  form.addEventListener("click", (event) => {
    if (event.target.closest(".asks a")) setTimeout(() => form.querySelector(".asks")?.remove());
  });

  // The tick in the page's head stands for "saved" alone.
  const tick = document.querySelector("#saved-mark svg");
  const showTick = () => tick?.toggleAttribute("hidden", saved.textContent !== words.saved);
  new MutationObserver(showTick).observe(saved, { childList: true });

  tell();

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
}
