// Saves each mark at once, and lets arrow keys move among the tiles. Without this file a batch is
// saved by its buttons.
"use strict";

{
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
    for (const [sum, number] of [[form.querySelector("strong[data-others]"), marked()], [document.getElementById("looked"), seen]]) {
      sum.textContent = sum.dataset.words.replace("{count}", Number(sum.dataset.others) + number);
    }
    offer();
  }

  // A tile is seen once its picture is there and 60 % of it were in view for half a second: between the
  // query's picture where that sticks to the top, and the bar that sticks to the bottom, and not behind an
  // enlarged picture. Of one that is higher than the page, as much as fits counts.
  const places = [...form.querySelectorAll(".tile")];
  const bar = form.querySelector(".done");
  const query = form.querySelector(".query aside > a");
  const since = new Map(); // when a tile came into view
  let unseen = places.filter((tile) => !("seen" in tile.dataset));

  function look() {
    const [now, end] = [performance.now(), bar.getBoundingClientRect().top];
    const isVisible = document.visibilityState === "visible" && !document.querySelector("dialog[open]");
    const over = query?.getBoundingClientRect();
    const before = unseen.length;
    unseen = unseen.filter((tile) => {
      const box = tile.getBoundingClientRect();
      const top = over && over.left < box.right && over.right > box.left && over.top < box.bottom ? Math.max(over.bottom, 0) : 0;
      const picture = tile.querySelector("label img");
      const isThere = !picture || (picture.complete && picture.naturalWidth > 0);
      const isInView = isVisible && isThere && Math.min(box.bottom, end) - Math.max(box.top, top) >= 0.6 * Math.min(box.height, end - top);
      if (!isInView) since.delete(tile);
      else if (!since.has(tile)) since.set(tile, now);
      return !isInView || now - since.get(tile) < 500;
    });
    if (unseen.length < before) tell();
    if (!unseen.length || !form.isConnected) clearInterval(looking);
  }

  // The numbers of the tiles that were in view, which the form sends; without this script it sends none.
  function tell() {
    const numbers = places.map((_, index) => index + 1);
    sight.value = numbers.filter((number) => !unseen.includes(places[number - 1])).join(" ");
    count();
  }
  const sight = Object.assign(document.createElement("input"), { type: "hidden", name: "seen" });
  form.append(sight);
  const looking = setInterval(look, 100);

  // The next batch is what Enter and the coloured button lead to, until a batch had no match.
  function offer() {
    const next = bar.querySelector("[value=next]");
    const isOver = "exhausted" in form.dataset || (form.elements.batch.value > 1 && !unseen.length);
    const primary = next && (marked() || !isOver) ? next : bar.querySelector("[value=done]");
    for (const button of bar.querySelectorAll("[value=next], [value=done]")) button.classList.toggle("go", button === primary);
    form.querySelector("button.hidden").value = primary.value;
  }

  form.addEventListener("change", (event) => {
    if (!tiles.includes(event.target)) return;
    count();
    changed = true;
    if ("steps" in form.dataset) save().catch(sendWithoutScript);
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
