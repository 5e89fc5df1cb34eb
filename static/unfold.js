// Unfolds the part that a link within the page leads to. Newer browsers do so by themselves.
"use strict";

function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target?.closest("details:not([open])");
  if (!folded) return;
  folded.open = true;
  target.scrollIntoView();
}

addEventListener("hashchange", unfold);
unfold();
