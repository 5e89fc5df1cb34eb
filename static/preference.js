// Chooses an answer by the keys 1 to 4, and saves it by Enter.
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
