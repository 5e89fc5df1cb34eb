// Chooses an answer by the keys 1 to 4.
"use strict";

{
  const pair = document.getElementById("pair");
  const choices = [...pair.querySelectorAll("[name=preferred]")];

  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("textarea, [type=text], dialog *");
    const choice = choices[Number(event.key) - 1];
    if (isTyping || !choice || event.ctrlKey || event.metaKey || event.altKey) return;
    choice.click();
    choice.focus();
  });
}
