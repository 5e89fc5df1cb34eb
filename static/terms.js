// Words of the glossary: Escape hides a meaning, and one that would leave the page moves to the left. Without
// this file a meaning stays as long as its word has the pointer or the focus.
"use strict";

const shownTerms = () => [...document.querySelectorAll(".term")].filter((term) => term.matches(":hover, :focus-within"));

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") for (const term of shownTerms()) term.classList.add("closed");
});
for (const type of ["pointerover", "focusin"]) {
  document.addEventListener(type, ({ target }) => {
    for (const term of document.querySelectorAll(".term.closed")) if (!shownTerms().includes(term)) term.classList.remove("closed");
    const term = target.closest?.(".term");
    if (!term) return;
    term.classList.remove("left");
    term.classList.toggle("left", term.querySelector(".meaning").getBoundingClientRect().right > document.documentElement.clientWidth);
  });
}

// On a phone the tab of this page is brought into view, where the browser lacks scroll-initial-target. Its
// place changes once the fonts have come.
function showTab() {
  const tab = document.querySelector(".sections [aria-current]");
  if (tab) tab.parentElement.scrollLeft += tab.getBoundingClientRect().right - tab.parentElement.getBoundingClientRect().right;
}

addEventListener("load", showTab);
showTab();
