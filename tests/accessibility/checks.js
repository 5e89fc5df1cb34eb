// Checks that need a laid-out page. Each returns what is wrong, in words.
"use strict";

window.checks = (() => {
  const FOCUSABLE = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";

  const style = (one, pseudo) => getComputedStyle(one, pseudo);
  const box = (one) => one.getBoundingClientRect();
  const tell = (one) => {
    const named = [...one.attributes].filter(({ name }) => ["id", "name", "class", "href", "value"].includes(name));
    const said = (one.textContent || "").trim().replace(/\s+/g, " ").slice(0, 40);
    return `<${one.localName}${named.map(({ name, value }) => ` ${name}="${value.slice(0, 40)}"`).join("")}> ${said}`;
  };
  const isHidden = (one) => {
    const { width, height } = box(one);
    return !one.checkVisibility({ visibilityProperty: true }) || width <= 1 || height <= 1;
  };
  const isTuckedAway = (one) => one.closest(":not(:focus-within)") && [...ancestors(one)].some((a) => style(a).clipPath !== "none" || box(a).right <= 0);
  function* ancestors(one) {
    for (let at = one; at; at = at.parentElement) yield at;
  }
  const shown = (selector) => [...document.querySelectorAll(selector)].filter((one) => !isHidden(one) && !isTuckedAway(one));

  // The texts that can be seen on an element.
  function textsOn(one) {
    const walker = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      const around = walker.currentNode.parentElement;
      if (!isHidden(around) && !isTuckedAway(around) && !around.closest("select, svg")) found.push(walker.currentNode);
    }
    return found;
  }
  function rightOf(text) {
    const range = document.createRange();
    range.selectNode(text);
    return Math.max(0, ...[...range.getClientRects()].map(({ right }) => right));
  }

  // 1.4.10: what is wider than the page, and what scrolls but cannot be reached or has no name.
  function sideways() {
    const page = document.documentElement;
    const over = page.scrollWidth - page.clientWidth;
    const wrong = over > 0 ? [`the page scrolls ${over} px sideways: ${widest()}`] : [];
    for (const one of document.querySelectorAll("body *")) {
      if (isHidden(one) || one.scrollWidth <= one.clientWidth + 1 || !["auto", "scroll"].includes(style(one).overflowX)) continue;
      if (one.matches("textarea, input, select")) continue;
      const isNamed = one.matches("[role=region], [role=group], nav, section, pre") && (one.ariaLabel || one.getAttribute("aria-labelledby") || one.matches("pre"));
      if (one.tabIndex < 0 && !one.querySelector(FOCUSABLE)) wrong.push(`scrolls, but not by keyboard: ${tell(one)}`);
      if (!isNamed) wrong.push(`scrolls without a name: ${tell(one)}`);
      if (!one.querySelector("table, svg, img") && !one.matches("pre, nav, .chips")) wrong.push(`scrolls, and is no table: ${tell(one)}`);
    }
    return wrong;
  }
  const widest = () =>
    tell([...document.querySelectorAll("main *, header *, footer *")].filter((one) => !isHidden(one) && !inScroller(one)).reduce((a, b) => (box(b).right > box(a).right ? b : a)));
  const inScroller = (one) => [...ancestors(one.parentElement)].some((a) => a !== document.body && a !== document.documentElement && style(a).overflowX !== "visible");

  // 1.4.4, 1.4.10, 1.4.12: text that its box cuts off.
  function cutOff() {
    const wrong = [];
    for (const one of document.querySelectorAll("body *")) {
      if (isHidden(one) || !one.textContent.trim() || one.closest("svg, textarea") || isTuckedAway(one) || one.matches("progress, select, option")) continue;
      const { overflowX, overflowY, webkitLineClamp } = style(one);
      if (webkitLineClamp !== "none" && one.closest(".doc")) continue; // a link leads to all of it
      const [wide, tall] = [one.scrollWidth - one.clientWidth, one.scrollHeight - one.clientHeight];
      if (["hidden", "clip"].includes(overflowX) && wide > 1) wrong.push(`cut off by ${wide} px: ${tell(one)}`);
      if (["hidden", "clip"].includes(overflowY) && tall > 2) wrong.push(`cut off by ${tall} px below: ${tell(one)}`);
      if (one.matches("button, .go, a") && style(one).display !== "inline" && wide > 1) wrong.push(`runs ${wide} px out of its button: ${tell(one)}`);
    }
    for (const cell of document.querySelectorAll("td, th")) {
      if (isHidden(cell) || isTuckedAway(cell)) continue;
      const beyond = Math.max(0, ...textsOn(cell).map((text) => rightOf(text))) - box(cell).right;
      if (beyond > 3) wrong.push(`runs ${Math.round(beyond)} px out of its cell: ${tell(cell)}`);
    }
    return wrong;
  }

  // 2.5.3: what is read on a control is in its name, so that it can be called by it.
  const words = (text) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(" ");
  const seenOn = (one) => words(textsOn(one).map(({ data }) => data).join(" "));
  function misnamed() {
    axe.setup(document.body);
    const found = [];
    for (const one of document.querySelectorAll("a[href], button, summary, input:not([type=hidden]), select, textarea")) {
      if (!one.checkVisibility({ visibilityProperty: true })) continue;
      const name = words(axe.commons.text.accessibleText(one));
      const seen = one.matches("input, select, textarea") ? [...(one.labels ?? [])].map(seenOn).join(" ") : seenOn(one);
      if (!name.replaceAll(" ", "").includes(seen.replaceAll(" ", ""))) found.push(`one reads “${seen}”, its name is “${name}”: ${tell(one)}`);
    }
    axe.teardown();
    return found;
  }

  // 2.5.8: 24 px, or so far from others that a circle of 24 px touches nothing; 2.5.5 with 44.
  function area(one) {
    const label = one.matches("input[type=checkbox], input[type=radio]") ? one.closest("label") ?? one.labels?.[0] : null;
    const boxes = [box(one), ...(label ? [box(label)] : [])];
    const [left, top] = [Math.min(...boxes.map((b) => b.left)), Math.min(...boxes.map((b) => b.top))];
    const [right, bottom] = [Math.max(...boxes.map((b) => b.right)), Math.max(...boxes.map((b) => b.bottom))];
    return { left, top, right, bottom, width: right - left, height: bottom - top, x: (left + right) / 2, y: (top + bottom) / 2 };
  }
  const inSentence = (one) =>
    one.matches("a, summary, button") && style(one).display.startsWith("inline") && /\p{L}/u.test([...one.parentElement.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join(""));
  const distance = (point, to) => Math.hypot(Math.max(to.left - point.x, 0, point.x - to.right), Math.max(to.top - point.y, 0, point.y - to.bottom));
  function small(least = 24) {
    const all = shown(FOCUSABLE.replace(", [tabindex]", "")).map((one) => ({ one, area: area(one) }));
    const isSmall = ({ area }) => area.width < least - 0.5 || area.height < least - 0.5;
    return all
      .filter((it) => isSmall(it) && !inSentence(it.one))
      .filter((it) => least > 24 || all.some((other) => other !== it && (distance(it.area, other.area) < 12 || (isSmall(other) && !inSentence(other.one) && Math.hypot(it.area.x - other.area.x, it.area.y - other.area.y) < 24))))
      .map(({ one, area }) => `${Math.round(area.width)} × ${Math.round(area.height)} px: ${tell(one)}`);
  }
  function smallAnswers() {
    const form = document.querySelector("[name=choice]:not([type=hidden]), select[name^=rank-]")?.closest("form");
    if (!form) return [];
    const least = 44;
    return [...form.querySelectorAll("button, input[name=choice]:not([type=hidden]), select, .way a")]
      .filter((one) => !isHidden(one) || one.matches("input"))
      .map((one) => ({ one, area: area(one) }))
      .filter(({ area }) => area.width < least - 0.5 || area.height < least - 0.5)
      .map(({ one, area }) => `${Math.round(area.width)} × ${Math.round(area.height)} px: ${tell(one)}`);
  }

  // Text that is hard to read on a phone, what is folded included.
  function tinyText(least = 13) {
    const folded = [...document.querySelectorAll("details:not([open])")];
    for (const one of folded) one.open = true;
    const sizes = new Map(textsOn(document.body).filter(({ data }) => data.trim()).map(({ parentElement }) => [parentElement, parseFloat(style(parentElement).fontSize)]));
    for (const one of folded) one.open = false;
    return [...sizes].filter(([, size]) => size < least).map(([one, size]) => `${size} px: ${tell(one)}`);
  }

  // 2.3.3: what moves although motion is to be reduced.
  function moving() {
    const lasts = (times) => times.split(",").some((time) => parseFloat(time) > 0);
    const found = [];
    for (const one of document.querySelectorAll("*")) {
      for (const pseudo of [undefined, "::before", "::after"]) {
        const { transitionDuration, animationName, animationDuration, scrollBehavior } = style(one, pseudo);
        if (lasts(transitionDuration) || (animationName !== "none" && lasts(animationDuration)) || scrollBehavior === "smooth") found.push(`moves: ${tell(one)}`);
      }
    }
    return found;
  }

  // Colours, as numbers from 0 to 1.
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  function rgba(colour) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].map((part) => part / 255);
  }
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  function background(one) {
    const layers = [...ancestors(one)].map((a) => rgba(style(a).backgroundColor));
    return layers.reverse().reduce((under, layer) => over(layer, under), rgba("Canvas"));
  }
  const light = (colour) => colour.slice(0, 3).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, n) => sum + c * [0.2126, 0.7152, 0.0722][n], 0);
  const contrast = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };

  // 1.4.11: the edge or the surface of what can be filled in or pressed. A button that is words
  // alone, like a link, is known by these; axe-core looks at their contrast.
  function faint() {
    const found = [];
    for (const one of shown("input:not([type=hidden], [type=checkbox], [type=radio], [type=file]), select, textarea, button")) {
      const isWords = one.matches("button") && !parseFloat(style(one).borderTopWidth) && rgba(style(one).backgroundColor)[3] === 0;
      if (isWords) continue;
      const around = background(one.parentElement);
      const edge = parseFloat(style(one).borderTopWidth) ? contrast(over(rgba(style(one).borderTopColor), around), around) : 1;
      const best = Math.max(edge, contrast(background(one), around));
      if (best < 3) found.push(`edge ${best.toFixed(1)}:1: ${tell(one)}`);
    }
    return found;
  }

  // 2.4.7, 2.4.11, 1.4.11: whether focus can be seen, on everything that takes it.
  const looks = (one) => [...ancestors(one)].slice(0, 4).map((a) => ["outlineStyle", "outlineWidth", "outlineColor", "boxShadow", "borderColor", "backgroundColor"].map((name) => style(a)[name]).join(" "));
  function ring(one) {
    for (const a of [...ancestors(one)].slice(0, 4)) {
      const { outlineStyle, outlineWidth, outlineColor } = style(a);
      if (outlineStyle === "auto") return 21; // the browser's own, which it makes visible
      if (outlineStyle !== "none" && parseFloat(outlineWidth) >= 2) return contrast(over(rgba(outlineColor), background(a.parentElement ?? a)), background(a.parentElement ?? a));
    }
    return 0;
  }
  function isCovered(one) {
    const { left, top, right, bottom } = area(one);
    const points = [0.1, 0.5, 0.9].flatMap((x) => [0.1, 0.5, 0.9].map((y) => [left + (right - left) * x, top + (bottom - top) * y]));
    return !points.some(([x, y]) => {
      const hit = document.elementFromPoint(x, y);
      return hit && (one.contains(hit) || hit.contains(one) && hit !== document.body && hit !== document.documentElement && !hit.matches("main") || one.closest("label")?.contains(hit));
    });
  }
  function unseen() {
    const found = [];
    const before = document.activeElement;
    before?.blur();
    for (const one of document.querySelectorAll(FOCUSABLE)) {
      if (one.tabIndex < 0 || one.disabled || !one.checkVisibility({ visibilityProperty: true })) continue;
      const quiet = looks(one).join();
      one.focus();
      if (document.activeElement !== one) continue;
      if (looks(one).join() === quiet) found.push(`focus changes nothing: ${tell(one)}`);
      else if (ring(one) < 3) found.push(`focus ring ${ring(one).toFixed(1)}:1: ${tell(one)}`);
      if (isCovered(one)) found.push(`focused, but covered: ${tell(one)}`);
      one.blur();
    }
    scrollTo(0, 0);
    before?.focus({ preventScroll: true });
    return found;
  }

  // The same of what has focus now, as it came by a key.
  function unseenFocus(one) {
    if (one === document.body) return [];
    if (one instanceof HTMLIFrameElement) return one.contentWindow.checks.unseenFocus(one.contentDocument.activeElement);
    const found = ring(one) < 3 ? [`focus ring ${ring(one).toFixed(1)}:1: ${tell(one)}`] : [];
    return isCovered(one) ? [...found, `focused, but covered: ${tell(one)}`] : found;
  }

  // 1.3.2, 2.4.3: what would be reached or read in another order than it is seen in.
  function turned() {
    const found = [];
    for (const one of document.querySelectorAll("body *")) {
      const { order, flexDirection, float } = style(one);
      if (one.tabIndex > 0) found.push(`tabindex ${one.tabIndex}: ${tell(one)}`);
      if (order !== "0") found.push(`order ${order}: ${tell(one)}`);
      if (flexDirection.endsWith("reverse")) found.push(`${flexDirection}: ${tell(one)}`);
      if (float === "right") found.push(`float right: ${tell(one)}`);
    }
    return found;
  }

  // 3.3.1, 3.3.3, 4.1.3: what went wrong is told, where it is, and at the field.
  async function errors() {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); // autofocus takes a frame
    const marked = [...document.querySelectorAll("[aria-invalid=true]")];
    const links = [...document.querySelectorAll("[role=alert] a[href^='#'], .problems a[href^='#'], [tabindex='-1'] a[href^='#']")];
    const found = [];
    const active = document.activeElement;
    const told = document.querySelector("main [role=alert]") ?? (active?.matches("main [tabindex='-1']") ? active : null);
    if (!told?.textContent.trim()) found.push(`what is wrong is not announced; focus is on ${tell(active)}`);
    for (const link of links) {
      link.focus();
      link.click();
      const to = document.getElementById(decodeURIComponent(link.hash.slice(1)));
      const reached = document.activeElement;
      if (!to || !(reached === to || to.contains(reached)) || reached === document.body) found.push(`a link does not lead into its field: ${tell(link)}`);
    }
    for (const one of marked) {
      const ids = (one.getAttribute("aria-errormessage") ?? one.getAttribute("aria-describedby") ?? "").split(" ");
      if (!ids.some((id) => document.getElementById(id)?.textContent.trim())) found.push(`marked as wrong without saying why: ${tell(one)}`);
    }
    return found;
  }

  const spacing = new CSSStyleSheet();
  spacing.replaceSync("* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important; } p { margin-bottom: 2em !important; }");
  const spread = (on) => void (document.adoptedStyleSheets = on ? [spacing] : []);

  return { sideways, cutOff, misnamed, small, smallAnswers, tinyText, moving, faint, unseen, unseenFocus, turned, errors, spread };
})();
