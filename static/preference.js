// Chooses an answer by the keys 1 to 4, saves it by Enter, and counts how long the page is in view.
"use strict";

const pair = document.getElementById("pair");
const choices = [...pair.querySelectorAll("[name=preferred]")];

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("[type=radio]")) {
    event.preventDefault(); // the first button of the form is "Back"
    pair.requestSubmit(pair.querySelector("button.go"));
  }
  const isTyping = event.target.matches("textarea, [type=text], dialog *");
  const choice = choices[Number(event.key) - 1];
  if (isTyping || !choice || event.ctrlKey || event.metaKey || event.altKey) return;
  choice.click();
  choice.focus();
});

// Seconds in view, by the browser's own steady clock.
const field = pair.querySelector("[name=active_seconds]");
let inView = Number(field.value) * 1000; // what an answer that was refused had taken
let since = document.visibilityState === "visible" ? performance.now() : null;
document.addEventListener("visibilitychange", () => {
  if (since !== null) inView += performance.now() - since;
  since = document.visibilityState === "visible" ? performance.now() : null;
});
pair.addEventListener("submit", () => {
  field.value = ((inView + (since === null ? 0 : performance.now() - since)) / 1000).toFixed(1);
});
