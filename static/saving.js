// Saves a form without leaving its page, so that a lost connection or a busy server costs
// nothing: the same form, with the same submission key, is sent until it is acknowledged. Of a
// question it also sends how long it was in view. It is sent once: the page of a refused form is shown from
// the answer. Without this file the browser sends forms as usual.
// A researcher may call a field "submit" or "action", and form.submit is then that field: what forms
// have of their own is reached in other ways here.
"use strict";

// What the page asked back is about the answer of before: it goes once that is changed.
for (const kind of ["input", "change", "click"]) {
  document.addEventListener(kind, (event) => {
    const asks = document.querySelector(".asks");
    const target = event.target.closest(kind === "click" ? "[data-letter], #equal, #undo" : "input, select");
    if (asks && target?.form === asks.closest("form") && !asks.contains(target)) asks.remove();
  });
}

// What gets focus is scrolled clear of the answer bar (question.css), however high it is now.
{
  const judging = document.querySelector(".judging");
  const bar = judging?.querySelector(".bar");
  if (bar) new ResizeObserver(() => judging.style.setProperty("--bar", `${bar.offsetHeight + 16}px`)).observe(bar);
}

// A browser brings the caret of a text into view, though the answer bar may cover it.
document.addEventListener("focusin", ({ target }) => {
  if (target.matches(".judging textarea, .judging [type=text]")) target.scrollIntoView({ block: "nearest" });
});

{
  const WAITS = [1, 2, 4, 8]; // seconds; the last one again and again
  const NOT_NOW = [429, 502, 503, 504];

  function keepSaving(form, status) {
    const words = JSON.parse(status.dataset.saving);
    let pressed = null; // the button that was
    let saving = false;
    let hurry = null; // ends a wait early

    // True once the browser is led on, or shows the page that answers: an error, or what it asks back.
    async function attempt() {
      const body = new URLSearchParams(new FormData(form));
      if (pressed?.name) body.append(pressed.name, pressed.value);
      const sent = await post(form.getAttribute("action"), { body });
      if (!sent || NOT_NOW.includes(sent.answer.status)) return false;
      window.removeEventListener("beforeunload", warn);
      if (sent.answer.redirected) location.assign(sent.answer.url);
      else showPage(sent.text);
      return true;
    }

    // With a fault of these scripts the browser sends the form; its console has the fault.
    function sendWithoutScript(fault) {
      window.removeEventListener("beforeunload", warn);
      if (pressed?.name) status.after(hidden(pressed.name, pressed.value));
      HTMLFormElement.prototype.submit.call(form);
      throw fault;
    }

    async function save(failures = 0) {
      if (saving) return hurry?.();
      saving = true;
      for (let failed = failures; ; failed++) {
        if (failed) await wait(WAITS[Math.min(failed, WAITS.length) - 1]);
        const slow = setTimeout(() => (status.textContent = words.now), failed ? 0 : 400);
        const done = await attempt();
        clearTimeout(slow);
        if (done) return;
        window.addEventListener("beforeunload", warn);
      }
    }

    function wait(seconds) {
      status.textContent = words.later.replace("{seconds}", seconds);
      return new Promise((over) => {
        hurry = over;
        setTimeout(over, seconds * 1000);
        window.addEventListener("online", over, { once: true });
      });
    }

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      pressed = buttonOf(form);
      save().catch(sendWithoutScript);
    });
    window.addEventListener("pageshow", (event) => {
      if (!event.persisted) return;
      saving = false; // the browser kept the page and shows it again
      status.textContent = "";
    });
    if (status.dataset.again !== undefined) {
      pressed = form.querySelector(`button[name=go][value="${status.dataset.again}"]`);
      save(1).catch(sendWithoutScript);
    }
  }

  const warn = (event) => event.preventDefault();

  function hidden(name, value) {
    return Object.assign(document.createElement("input"), { type: "hidden", name, value });
  }

  // A fault that is being mended is not marked any more; the list of faults goes with the last one.
  document.addEventListener("input", (event) => {
    const target = event.target.closest("[aria-invalid]"); // the control, or the group of a radio button
    if (!target) return;
    target.removeAttribute("aria-invalid");
    document.getElementById(`${target.id}-error`)?.remove();
    document.querySelector(`.problems a[href="#${target.id}"]`)?.closest("li").remove();
    if (!document.querySelector(".problems li")) document.querySelector(".problems")?.remove();
  });

  // "Back" to a page that the browser sent, and that was sent back, would end in an error of the browser, as no
  // page is in its cache. So it is asked for by its address then ("/begin" has no page to be asked for), unless the page's
  // script, which ran before this one, says that something would be lost by it.
  const asking = document.querySelector("[data-saving]")?.closest("form");
  const isSentBack = document.getElementById("problems") && !document.querySelector("[data-again]");
  const mayAsk = asking?.getAttribute("action") === location.pathname && !location.pathname.endsWith("/begin");
  if (isSentBack && mayAsk && !("loses" in asking.dataset)) {
    history.replaceState(null, "", location.href);
  }

  // The seconds that a question is in view, by the browser's own steady clock.
  const seconds = document.querySelector("[name=active_seconds]");
  if (seconds) {
    let inView = Number(seconds.value) * 1000; // what an answer that was refused had taken
    let since = null; // null while the page is hidden
    const count = () => {
      const now = performance.now();
      if (since !== null) inView += now - since;
      since = document.visibilityState === "visible" ? now : null;
    };
    count();
    document.addEventListener("visibilitychange", count);
    // Before the listener below, which reads the form.
    seconds.form.addEventListener("submit", () => {
      count();
      seconds.value = (inView / 1000).toFixed(1);
    });
  }

  document.querySelectorAll("[data-saving]").forEach((status) => keepSaving(status.closest("form"), status));

  // A page that is shown in the place of another does not focus this by itself.
  document.querySelector("[autofocus]")?.focus();
}
