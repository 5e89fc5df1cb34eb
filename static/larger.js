// Shows a picture larger, above the page; without this script its link opens it in another tab.
"use strict";

{
  const links = [...document.querySelectorAll("[data-larger]")];
  const dialog = document.getElementById("larger");
  const image = document.createElement("img");
  const view = document.createElement("figure"); // which scrolls where the picture is a panorama
  view.append(image);
  dialog.prepend(view);
  const [text, caption] = ["p", "span"].map((name) => dialog.querySelector(name));
  const [previous, next, close] = dialog.querySelectorAll("button");
  let strip = [];
  let shown = 0;

  function show(number) {
    shown = (number + strip.length) % strip.length;
    const link = strip[shown];
    const small = link.querySelector("img") ?? link.parentElement.querySelector("img"); // or beside it
    dialog.classList.remove("wide", "tall");
    view.removeAttribute("tabindex"); // else it, and no button, would get the focus
    image.src = link.href;
    image.alt = caption.textContent = small.alt;
    view.setAttribute("aria-label", small.alt);
    text.textContent = link.parentElement.querySelector("p.text, .text p, .words")?.textContent ?? "";
    previous.hidden = next.hidden = strip.length < 2;
  }

  image.addEventListener("load", () => {
    const shape = image.naturalWidth / image.naturalHeight;
    dialog.classList.toggle("wide", shape > 2);
    dialog.classList.toggle("tall", shape < 0.5);
    if (shape > 2 || shape < 0.5) view.tabIndex = 0;
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
