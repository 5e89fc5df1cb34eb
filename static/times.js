// Shows times in the reader's time zone, in the language of the page. Without this file they are in UTC.
"use strict";

const language = document.documentElement.lang;
const clock = new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
  timeZoneName: "short",
});

for (const time of document.querySelectorAll("time[datetime]")) {
  time.textContent = clock.format(new Date(time.dateTime));
}
