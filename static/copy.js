// Copy a text; the buttons appear if the browser lets pages copy.
"use strict";

const copyStatus = document.getElementById("copied");

async function copy(button) {
  const isCopied = await navigator.clipboard.writeText(button.dataset.copy).then(
    () => true,
    () => false,
  );
  copyStatus.textContent = isCopied
    ? `${button.dataset.name} is copied.`
    : "The browser does not let this page copy. Select the text and copy it yourself.";
}

if (navigator.clipboard) {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
}
