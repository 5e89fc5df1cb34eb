// “Copy as text” shows the answer as text, and copies it where the browser lets pages copy.
"use strict";

for (const part of document.querySelectorAll("details.copied")) {
  part.addEventListener("toggle", async () => {
    if (!part.open || !navigator.clipboard) return;
    const isCopied = await navigator.clipboard.writeText(part.querySelector("pre").textContent).then(
      () => true,
      () => false,
    );
    part.querySelector("[role=status]").textContent = isCopied
      ? "The text is copied."
      : "The browser does not let this page copy. Select the text and copy it yourself.";
  });
}
