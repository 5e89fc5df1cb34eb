// Copying personal links: the buttons appear where the browser lets a page copy.
"use strict";

const told = document.getElementById("copied");

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    told.textContent = `The link of ${button.dataset.name} is copied.`;
  } catch {
    told.textContent = "The browser does not let this page copy; select the link and copy it.";
  }
}

if (navigator.clipboard) {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
}
