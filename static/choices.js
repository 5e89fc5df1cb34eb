// The answer bar of a declared answer: its first line says what will be saved, in the words that are beside each
// control; a control that is asked only with some answers is out of use with others. All works without this file.
"use strict";

{
  const echo = document.getElementById("echo");
  const form = echo.closest("form");
  const controls = [...form.querySelectorAll("[data-said]")];
  const dependent = [...form.querySelectorAll("[data-before]")];

  function isAsked({ dataset }) {
    const before = form.querySelector(`[name="${dataset.before}"]:checked:enabled`);
    return Boolean(before) && JSON.parse(dataset.values).includes(before.value);
  }

  function describe(control) {
    if (control.disabled) return "";
    if (control.type === "radio") return control.checked ? control.dataset.said : "";
    return control.value.trim() && `${control.dataset.said} ${control.value.trim()}.`;
  }

  // Texts and states change; no element is replaced, so that a click is never lost in WebKit.
  function show() {
    for (const field of dependent) {
      const isOut = !isAsked(field);
      for (const control of field.querySelectorAll("input, textarea")) control.disabled = isOut;
    }
    const said = controls.map(describe).filter(Boolean).join(" ");
    echo.classList.toggle("chosen", Boolean(said));
    if (echo.textContent !== (said || echo.dataset.hint)) echo.textContent = said || echo.dataset.hint;
  }

  form.addEventListener("input", show);
  show();
  // Fields that a browser fills in again after “Back” are filled in after this script has run.
  window.addEventListener("pageshow", show);
}
