// What will be saved in words, how much better only where a list is preferred, answers by the keys 1 to 4, and
// which list a narrow page shows. Everything works without this file.
"use strict";

{
  const form = document.getElementById("pair");
  const echo = document.getElementById("echo");
  const strength = document.getElementById("strength"); // where the study asks for it
  const words = JSON.parse(echo.dataset.words); // chosen_words of survey/kinds/preference/pages.py
  const valueOf = (name) => form.querySelector(`[name=${name}]:checked`)?.value;
  const fill = (sentence, name, word) => sentence.replace(`{${name}}`, word);

  function describe() {
    const preferred = valueOf("preferred");
    const isList = preferred in words.by_how_much;
    const size = isList && strength ? words.strengths[valueOf("strength")] : undefined;
    const sentences = preferred ? [size ? fill(words.by_how_much[preferred], "strength", size) : words.chosen[preferred]] : [];
    for (const [name, sentence] of Object.entries(words.satisfied)) {
      const points = valueOf(name);
      if (points) sentences.push(fill(sentence, "points", points));
    }
    return sentences.join(" ");
  }

  // Texts and states change; no element is replaced, so that a click is never lost in WebKit.
  function show() {
    for (const size of form.querySelectorAll("[name=strength]")) size.disabled = !(valueOf("preferred") in words.by_how_much);
    const said = describe();
    echo.classList.toggle("chosen", Boolean(said));
    if (echo.textContent !== (said || echo.dataset.hint)) echo.textContent = said || echo.dataset.hint;
  }

  form.addEventListener("change", show);
  show();
  // Fields that a browser fills in again after “Back” are filled in after this script has run.
  window.addEventListener("pageshow", show);

  // On the numbers that say how satisfied one is, keys choose among these.
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("textarea, [type=text], select, dialog *");
    const group = event.target.closest(".satisfied") ?? document.getElementById("preferred");
    const choice = group.querySelectorAll("[type=radio]")[Number(event.key) - 1];
    if (isTyping || !choice || event.ctrlKey || event.metaKey || event.altKey) return;
    choice.click();
    choice.focus();
  });

  const links = [...document.querySelectorAll(".switch a")];
  const lists = links.map((link) => document.querySelector(link.hash));
  function follow() {
    const isAtEnd = scrollY > 0 && innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const shown = isAtEnd || lists[1].getBoundingClientRect().top < innerHeight * 0.45 ? 1 : 0;
    links.forEach((link, nth) => {
      if (nth === shown) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  }
  if (links.length) {
    window.addEventListener("scroll", follow, { passive: true });
    follow();
  }
}
