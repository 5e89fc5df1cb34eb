// How participants' pages send forms: what the other scripts share, so it runs before them. Scripts run again
// where a page is shown in the place of another; names that they share are therefore functions and "var".
"use strict";

var PATIENCE = 30000; // longer than the server waits for its database

// Returns the answer and its text, null without a connection or an answer in time. Other errors are faults of
// the scripts: they are thrown.
async function post(address, options) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), PATIENCE);
  const answer = await fetch(address, { method: "POST", signal: controller.signal, ...options }).catch(() => null);
  const text = answer && (await answer.text().catch(() => null));
  clearTimeout(timer);
  return text === null ? null : { answer, text };
}

// Shows a page in the place of this one, whose address and entry in the history stay. Its scripts run. It begins at
// its top, as any other does, but for a page that says itself where to look.
function showPage(html) {
  document.open();
  document.addEventListener("DOMContentLoaded", () => document.querySelector("[autofocus]") ?? scrollTo(0, 0));
  document.write(html);
  document.close();
}

// The button that sends a form. Also Enter clicks one. Safari before 15.4 lacks event.submitter.
var clickedButton = null;
document.addEventListener("click", (event) => (clickedButton = event.target.closest("button") ?? clickedButton), { capture: true });

function buttonOf(form) {
  return clickedButton?.form === form ? clickedButton : null;
}
