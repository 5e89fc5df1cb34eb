// Shows a picture larger, or a whole text, above the page; without this script its link opens another tab.
"use strict";

{
  const links = [...document.querySelectorAll("[data-larger]")];
  const dialog = document.getElementById("larger");
  const image = document.createElement("img");
  const view = document.createElement("figure"); // which scrolls a panorama, and a text
  view.append(image);
  dialog.prepend(view);
  const [text, caption] = ["p", "span"].map((name) => dialog.querySelector(name));
  const ofPictures = dialog.getAttribute("aria-label");
  const [previous, next, close] = dialog.querySelectorAll("button");
  let strip = [];
  let shown = 0;

  function show(number) {
    shown = (number + strip.length) % strip.length;
    const link = strip[shown];
    const isText = link.dataset.larger === "text";
    dialog.classList.remove("wide", "tall", "page");
    dialog.classList.toggle("text", isText);
    dialog.setAttribute("aria-label", isText ? dialog.dataset.text : ofPictures);
    previous.hidden = next.hidden = strip.length < 2;
    if (isText) showText(link);
    else showPicture(link);
  }

  async function showText(link) {
    text.textContent = "";
    caption.textContent = link.getAttribute("aria-label") ?? "";
    view.setAttribute("aria-label", caption.textContent || dialog.dataset.text);
    view.tabIndex = 0; // the arrow keys scroll
    view.replaceChildren();
    const page = await fetch(link.href).then((answer) => (answer.ok ? answer.text() : "")).catch(() => "");
    if (strip[shown] !== link) return;
    const article = new DOMParser().parseFromString(page, "text/html").querySelector("article");
    view.replaceChildren(article ?? dialog.dataset.lost);
    view.scrollTo(0, 0);
  }

  function showPicture(link) {
    const small = link.querySelector("img") ?? link.parentElement.querySelector("img"); // or beside it
    view.replaceChildren(image);
    view.removeAttribute("tabindex"); // else it, and no button, would get the focus
    image.src = link.href;
    image.alt = caption.textContent = small.alt;
    view.setAttribute("aria-label", small.alt);
    text.textContent = link.parentElement.querySelector(".doc")?.textContent ?? "";
  }

  image.addEventListener("load", () => {
    const shape = image.naturalWidth / image.naturalHeight;
    dialog.classList.toggle("wide", shape > 2);
    dialog.classList.toggle("tall", shape < 0.5);
    dialog.classList.toggle("page", shape <= 2 && image.naturalWidth > 640); // a screenshot, in its own size
    if (shape > 2 || shape < 0.5 || image.naturalWidth > 640) view.tabIndex = 0;
    view.scrollTo(0, 0);
  });
  // Browsers before 2022 lack dialogs that keep the page behind them out of reach.
  for (const link of dialog.showModal ? links : []) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab was asked for
      event.preventDefault();
      strip = [...(link.closest(".results") ?? link.parentElement).querySelectorAll("[data-larger]")];
      show(strip.indexOf(link));
      dialog.showModal();
    });
  }
  previous.addEventListener("click", () => show(shown - 1));
  next.addEventListener("click", () => show(shown + 1));
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("keydown", (event) => {
    if (event.target === view) return; // it scrolls
    if (event.key === "ArrowLeft") show(shown - 1);
    else if (event.key === "ArrowRight") show(shown + 1);
  });
  // On a tile back to its control, where the arrow keys go on.
  dialog.addEventListener("close", () => (strip[shown]?.closest(".tile")?.querySelector("input:not([type=hidden]), select") ?? strip[shown])?.focus());
}
