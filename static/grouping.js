// Stores each step at once without leaving the page, and lets keys do what buttons do. Without this
// file each button sends the form.
"use strict";

{
  const waiting = []; // steps that are not acknowledged yet, in their order
  let namedFrom = null; // the tile whose key asked for a new group
  const bar = form.querySelector(".bar");

  const tiles = () => [...form.querySelectorAll(".tile")];
  const box = (tile) => tile.querySelector("input");
  const selected = () => tiles().filter((tile) => box(tile).checked);

  async function send() {
    if (sending) return;
    sending = true;
    while (waiting.length) {
      const body = new URLSearchParams([...hiddenFields(), ...waiting[0].fields]);
      const { text } = await acknowledged({ body });
      const page = new DOMParser().parseFromString(text, "text/html");
      while (isPressed) await new Promise((over) => setTimeout(over, 50));
      const { fields, tiles: about } = waiting.shift();
      about.forEach((tile) => tile.classList.remove("pending"));
      if (!take(page)) return;
      if (page.isRefused) refuse(fields, about);
    }
    sending = false;
    saved.textContent = words.saved;
    // By its value: the steps' answers have replaced the button itself.
    const button = pressed && form.querySelector(`button[value="${pressed.value}"]`);
    pressed = null;
    button?.click();
  }

  // A button that is replaced while it is pressed, by a pointer or by the space bar, gets no click.
  let isPressed = false;
  window.addEventListener("pointerdown", () => (isPressed = true));
  window.addEventListener("keydown", (event) => (isPressed ||= event.key === " "));
  for (const end of ["pointerup", "pointercancel", "keyup", "blur"]) {
    window.addEventListener(end, () => setTimeout(() => (isPressed = false)));
  }

  const hiddenFields = () => [...form.querySelectorAll("#hidden input")].map((field) => [field.name, field.value]);

  // Shows the groups of the page that answered; another page than this one is loaded whole. The elements
  // that say what is placed and whether it is saved stay, so that they are read out.
  function take(page) {
    if (!page.getElementById("work")) {
      waiting.length = 0;
      reload();
      return false;
    }
    const { name, value, tagName } = document.activeElement;
    const focused = tagName === "BUTTON" ? `button[value="${value}"]:not(.hidden)` : `[name="${name}"]`;
    const before = document.querySelectorAll("#groups > li").length;
    keepMenu(document.getElementById("more"), page.getElementById("more"));
    for (const id of ["hidden", "groups", "buttons"]) {
      document.getElementById(id).replaceWith(document.adoptNode(page.getElementById(id)));
    }
    const groups = document.querySelectorAll("#groups > li");
    // The one before "cannot be placed" is the newest.
    if (groups.length > before) groups[before - 1].scrollIntoView({ block: "nearest", inline: "nearest" });
    document.getElementById("placed").dataset.words = page.getElementById("placed").dataset.words;
    const fresh = [...page.querySelectorAll(".tile")];
    tiles().forEach((tile, index) => {
      tile.classList.toggle("placed", fresh[index].classList.contains("placed"));
      tile.querySelector(".tags").replaceWith(document.adoptNode(fresh[index].querySelector(".tags")));
    });
    panel()?.remove(); // it was about the groups of before
    const refused = page.querySelector(".bar > .problems");
    if (refused) bar.prepend(document.adoptNode(refused));
    page.isRefused = Boolean(refused);
    if (name && document.activeElement === document.body) form.querySelector(focused)?.focus();
    show();
    return true;
  }

  // A menu that is open while an answer comes stays open, with what is typed in it.
  function keepMenu(menu, fresh) {
    fresh.open = menu.open;
    for (const each of menu.querySelectorAll("details[open]")) {
      fresh.querySelector(`[data-of="${each.dataset.of}"]`)?.setAttribute("open", "");
    }
    for (const field of menu.querySelectorAll("input")) {
      const same = fresh.querySelector(`[name="${field.name}"]`);
      if (same && field.value !== field.defaultValue) same.value = field.value;
    }
  }

  // Selects the tiles of a refused step again, and shows the name that was typed. What was pressed
  // after it may depend on it, so it is not sent, and the page says so.
  function refuse(fields, about) {
    const problems = panel();
    if (waiting.length || pressed) problems.append(Object.assign(document.createElement("p"), { textContent: words.dropped }));
    waiting.splice(0).forEach((step) => step.tiles.forEach((tile) => tile.classList.remove("pending")));
    pressed = null;
    about.forEach((tile) => (box(tile).checked = true));
    const name = fields.find(([field]) => field === "group")?.[1];
    if (name !== undefined) {
      typed().value ||= name;
      askName(true);
    } else problems.focus({ preventScroll: true });
    show();
  }

  // Stores a step about the selected tiles, which are selected no longer.
  function step(go, more = {}) {
    const about = selected();
    const fields = [["go", go], ...Object.entries(more), ...about.map((tile) => ["document", box(tile).value])];
    about.forEach((tile) => {
      box(tile).checked = false;
      if (go.startsWith("put") || go === "new") tile.classList.add("pending");
    });
    closeMenu();
    waiting.push({ fields, tiles: about });
    show();
    send().catch(dropSteps);
  }

  // What is not stored is selected again, and the page says that it was not done.
  function dropSteps(fault) {
    for (const tile of waiting.splice(0).flatMap((step) => step.tiles)) {
      tile.classList.remove("pending");
      box(tile).checked = true;
    }
    show();
    try {
      sendWithoutScript(fault);
    } finally {
      say(words.dropped, "", true);
    }
  }

  // Puts the selected tiles into a group. Keys of a tile, ``from``, mean this one where none is selected,
  // and go on to the next one.
  function put(go, more, from) {
    if (!selected().length && from) box(from).checked = true;
    const about = selected();
    if (!about.length) return say(said().nothing, said().hint, true);
    const all = tiles();
    const place = all.indexOf(about[about.length - 1]);
    step(go, more);
    if (!from) return;
    const open = (tile) => !tile.matches(".placed, .pending");
    const after = all.slice(place + 1).find(open) ?? all.find(open) ?? about[0];
    box(after).focus();
  }

  // Asks for the name of a new group, in the place of the groups.
  function askName(isAsked, from = null) {
    namedFrom = from;
    form.classList.toggle("naming", isAsked);
    if (isAsked) typed().focus();
    show();
  }

  const panel = () => bar.querySelector(":scope > :is(.asks, .problems)");
  const typed = () => document.getElementById("group");
  const said = () => JSON.parse(document.getElementById("placed").dataset.words);

  function say(line, hint, isWrong = false) {
    const state = document.getElementById("placed");
    const [first, second] = state.children;
    if (first.textContent !== line) first.textContent = line;
    if (second.textContent !== hint) second.textContent = hint;
    state.classList.toggle("wrong", isWrong);
  }

  // Says what is selected, or else what is placed.
  function show() {
    const number = selected().length;
    const { placed, hint, selected: some, put, naming } = said();
    const next = form.matches(".naming") ? naming : number ? put : hint;
    say(number ? some.replace("{count}", number) : placed, next);
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
    show();
  }

  form.addEventListener("click", (event) => {
    const button = event.target.closest("button[name=go]");
    if (!("steps" in form.dataset) || !button || ["back", "done", "rest-done", "next"].includes(button.value)) return;
    const [action, number] = button.value.split("-");
    event.preventDefault();
    if (action === "new") {
      const from = namedFrom;
      const name = typed().value;
      if (!selected().length && !from) return say(said().nothing, said().hint, true);
      typed().value = "";
      askName(false);
      document.getElementById("new").focus();
      put("new", { group: name }, from);
    } else if (action === "put") put(button.value);
    else if (action === "take" && !selected().length) say(said().nothing, said().hint, true);
    else if (action === "rename") step(button.value, { [`name-${number}`]: form.elements[`name-${number}`].value });
    else if (action === "merge") step(button.value, { [`into-${number}`]: form.elements[`into-${number}`].value });
    else step(button.value);
  });

  form.addEventListener("click", (event) => {
    const target = event.target.closest("#similar, #new, #cancel, .asks a");
    if (!target) return;
    if (target.id === "similar") {
      closeMenu();
      selectSimilar();
    } else if (target.id === "new") {
      if (selected().length) askName(true);
      else say(said().nothing, said().hint, true);
    } else if (target.id === "cancel") leaveName();
    else look();
    event.preventDefault();
  });

  function leaveName() {
    const from = namedFrom;
    askName(false);
    (from ? box(from) : document.getElementById("new")).focus();
  }

  // Leads back to the first tile that is in no group.
  function look() {
    panel().remove();
    document.getElementById("tile").focus();
  }

  // Enter presses the form's first button, but in a name the one beside it is meant.
  form.addEventListener("keydown", (event) => {
    const renamed = /^name-([0-9]+)$/.exec(event.target.name ?? "");
    const meant = event.target.id === "group" ? "new" : renamed && `rename-${renamed[1]}`;
    if (event.key === "Escape" && meant === "new") leaveName();
    if (event.key !== "Enter" || !meant || event.isComposing) return;
    event.preventDefault();
    form.querySelector(`button[value="${meant}"]`).click();
  });

  // The menu closes by what is done there, by the key Escape, and by a click beside it.
  function closeMenu() {
    const menu = document.getElementById("more");
    for (const each of [menu, ...menu.querySelectorAll("[open]")]) each.open = false;
  }
  document.addEventListener("keydown", (event) => {
    const menu = document.getElementById("more");
    if (event.key !== "Escape" || !menu.open) return;
    closeMenu();
    menu.querySelector("summary").focus();
  });
  document.addEventListener("click", (event) => event.target.closest("#more") || closeMenu());

  form.addEventListener("change", (event) => {
    if (!event.target.closest(".tile")) return;
    bar.querySelector(":scope > .problems")?.remove();
    show();
  });

  // With the shift key, all tiles from the last one on.
  form.addEventListener("click", (event) => {
    const tile = event.target.closest(".tile");
    if (!tile || event.target.tagName !== "INPUT") return;
    if (event.shiftKey && form.from) {
      const all = tiles();
      const [first, end] = [all.indexOf(form.from), all.indexOf(tile)].sort((a, b) => a - b);
      all.slice(first, end + 1).forEach((each) => (box(each).checked = box(tile).checked));
      show();
    }
    form.from = tile;
  });

  form.addEventListener("keydown", (event) => {
    const tile = event.target.closest(".tile");
    if (!tile || event.ctrlKey || event.metaKey || event.altKey) return;
    const all = tiles();
    const move = arrowStep(event.key, all);
    // A letter by its place where another alphabet is typed.
    const key = (/^[ -~]$/.test(event.key) ? event.key : event.code.replace(/^Key/, "")).toLowerCase();
    const group = form.querySelector(`#groups [data-key="${CSS.escape(key)}"]`);
    if (move) {
      const other = all[all.indexOf(tile) + move];
      if (other) box(other).focus();
    } else if (group && "steps" in form.dataset) put(group.value, {}, tile);
    else if (key === "n") {
      if (!selected().length) box(tile).checked = true;
      askName(true, tile);
    }
    else if (key === "l") selectSimilar();
    else if (key === "z") form.querySelector("[value=undo]")?.click();
    else return;
    event.preventDefault();
  });

  form.classList.add("scripted");
  if (typed().value) askName(true);
  show();

  // "Back" may not ask for the page by its address, see saving.js, where what is selected or typed would be lost.
  if (selected().length || typed().value) form.dataset.loses = "";
}
