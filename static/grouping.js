// Stores each step at once without leaving the page, and lets keys do what buttons do. Without this
// file each button sends the form.
"use strict";

{
  const waiting = []; // steps that are not acknowledged yet, in their order
  let last = null; // the tile that was clicked last, where a range begins

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

  // Shows the groups of the page that answered; another page than this one is loaded whole. The element
  // in which saving.js says what it does stays.
  function take(page) {
    if (!page.getElementById("work")) {
      waiting.length = 0;
      reload();
      return false;
    }
    const { name, value, tagName } = document.activeElement;
    const focused = tagName === "BUTTON" ? `button[value="${value}"]:not(.hidden)` : `[name="${name}"]`;
    for (const id of ["hidden", "groups", "placed", "buttons", "faults", "earlier"]) {
      document.getElementById(id).replaceWith(document.adoptNode(page.getElementById(id)));
    }
    const fresh = [...page.querySelectorAll(".tile")];
    tiles().forEach((tile, index) => {
      tile.classList.toggle("placed", fresh[index].classList.contains("placed"));
      tile.querySelector(".tags").replaceWith(document.adoptNode(fresh[index].querySelector(".tags")));
    });
    document.querySelector(".asks")?.remove(); // it was about the groups of before
    page.isRefused = Boolean(document.querySelector("#faults *"));
    if (name && document.activeElement === document.body) form.querySelector(focused)?.focus();
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
    send().catch(dropSteps);
  }

  // What is not stored is selected again, and the page says that it was not done.
  function dropSteps(fault) {
    for (const tile of waiting.splice(0).flatMap((step) => step.tiles)) {
      tile.classList.remove("pending");
      box(tile).checked = true;
    }
    countSelected();
    try {
      sendWithoutScript(fault);
    } finally {
      saved.textContent = words.dropped;
    }
  }

  // Puts the selected tiles, or the one in focus last, into a group; then goes on to the next one.
  function put(go, more) {
    if (!selected().length && last) box(last).checked = true;
    const about = selected();
    const all = tiles();
    const place = all.indexOf(about[about.length - 1]);
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

  form.addEventListener("click", (event) => {
    const button = event.target.closest("button[name=go]");
    if (!("steps" in form.dataset) || !button || ["back", "done", "next"].includes(button.value)) return;
    const [action, number] = button.value.split("-");
    // With no tile to put, the form is sent: the page that answers says so, and has what was typed.
    if (["new", "put"].includes(action) && !selected().length && !last) return;
    event.preventDefault();
    const typed = document.getElementById("group");
    if (action === "new") {
      put("new", { group: typed.value });
      typed.value = "";
    } else if (action === "put") put(button.value);
    else if (action === "rename") step(button.value, { [`name-${number}`]: form.elements[`name-${number}`].value });
    else if (action === "merge") step(button.value, { [`into-${number}`]: form.elements[`into-${number}`].value });
    else step(button.value);
  });

  // Enter presses the form's first button, but in a name the one beside it is meant.
  form.addEventListener("keydown", (event) => {
    const renamed = /^name-([0-9]+)$/.exec(event.target.name ?? "");
    const meant = event.target.id === "group" ? "new" : renamed && `rename-${renamed[1]}`;
    if (event.key !== "Enter" || !meant || event.isComposing) return;
    event.preventDefault();
    form.querySelector(`button[value="${meant}"]`).click();
  });

  form.addEventListener("change", (event) => event.target.closest(".tile") && countSelected());
  form.addEventListener("click", (event) => event.target.id === "similar" && selectSimilar());
  form.addEventListener("focusin", (event) => (last = event.target.closest(".tile") ?? last));

  // With the shift key, all tiles from the last one on.
  form.addEventListener("click", (event) => {
    const tile = event.target.closest(".tile");
    if (!tile || event.target.tagName !== "INPUT") return;
    if (event.shiftKey && form.from) {
      const all = tiles();
      const [first, end] = [all.indexOf(form.from), all.indexOf(tile)].sort((a, b) => a - b);
      all.slice(first, end + 1).forEach((each) => (box(each).checked = box(tile).checked));
      countSelected();
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
    } else if (group && "steps" in form.dataset) put(group.value);
    else if (key === "n") document.getElementById("group").focus();
    else if (key === "l") selectSimilar();
    else if (key === "z") form.querySelector("[value=undo]")?.click();
    else return;
    event.preventDefault();
  });

  // "Back" may not ask for the page by its address, see saving.js, where what is selected or typed would be lost.
  if (selected().length || document.getElementById("group").value) form.dataset.loses = "";
}
