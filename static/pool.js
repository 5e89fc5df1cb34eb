// Say how many studies are computed while the page is waited for; without this file the browser just waits.
"use strict";

const MILLISECONDS_BETWEEN = 700;

document.querySelectorAll("form[data-progress]").forEach((form) => {
  let isDownload = false; // Safari before 15.4 does not say which button sent a form
  document.addEventListener("click", (event) => (isDownload = event.target.closest("[name=download]") !== null), { capture: true });
  form.addEventListener("submit", () => {
    if (isDownload) return;
    const chosen = form.querySelectorAll(".kept li, [name=study]:checked").length;
    const files = [...form.querySelectorAll("[type=file]")].reduce((sum, field) => sum + field.files.length, 0);
    const status = form.querySelector(":scope > [role=status]");
    const [bar, message] = status.children;
    const show = (done) => {
      bar.max = chosen + files;
      bar.value = done;
      message.textContent = `${done} of ${chosen + files} studies computed`;
    };
    status.hidden = false;
    show(0);
    setInterval(async () => {
      const headers = { Accept: "application/json" };
      const answer = await fetch(form.dataset.progress, { headers }).catch(() => null);
      if (answer?.ok) show((await answer.json()).done);
    }, MILLISECONDS_BETWEEN);
  });
});
