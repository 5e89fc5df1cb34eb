// Keeps what was begun in a form through a reload: in this tab, under the key that the form names,
// until the server fills in something else. The question page has its own way, in question.js.
"use strict";

{
  // A reason that is sent with the last of many steps, through all the pages before.
  for (const area of document.querySelectorAll("textarea[data-keep]")) {
    try {
      area.value ||= sessionStorage.getItem(area.dataset.keep) ?? "";
      area.addEventListener("input", () => sessionStorage.setItem(area.dataset.keep, area.value));
    } catch {
      break; // a browser that keeps nothing
    }
  }

  for (const form of document.querySelectorAll("form[data-keep]")) {
    const key = form.getAttribute("data-keep"); // a field called "dataset" would be form.dataset
    const controls = [...form.querySelectorAll("input:not([type=hidden]), select, textarea")];
    const values = () => controls.map((control) => (control.type === "radio" ? control.checked : control.value));
    const filledIn = JSON.stringify(values());
    let before = filledIn; // what the server had filled in when this was begun

    function keep() {
      try {
        sessionStorage.setItem(key, JSON.stringify({ filledIn: before, now: values() }));
      } catch {
        return; // a browser that keeps nothing
      }
    }

    try {
      const kept = JSON.parse(sessionStorage.getItem(key) ?? "null");
      if (document.getElementById("problems")) {
        before = kept?.filledIn ?? filledIn; // the page asked for by its address has that filled in: see saving.js
        keep();
      } else if (kept?.filledIn === filledIn && JSON.stringify(kept.now) !== filledIn) {
        controls.forEach((control, nth) => {
          if (control.type === "radio") control.checked = kept.now[nth];
          else control.value = kept.now[nth];
        });
        document.getElementById("kept").hidden = false;
      }
    } catch {
      sessionStorage.removeItem(key);
    }
    form.addEventListener("input", keep);
  }
}
