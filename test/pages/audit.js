// Looks a page over in the browser and returns what is wrong with it, as a list of sentences. Everything is computed from
// what the browser has made of the page: layout, styles after the cascade, media queries.
({open}) => {
  const wrong = [];
  if (open) {
    for (const d of document.querySelectorAll("details")) d.open = true;
  }
  const visible = (el) => el.checkVisibility({contentVisibilityAuto: true, visibilityProperty: true}) && el.getClientRects().length > 0;
  const where = (el) => el.tagName.toLowerCase() + (el.id ? "#" + el.id : "") + " " + JSON.stringify((el.textContent || "").trim().slice(0, 40));

  // The page does not scroll sideways.
  const root = document.scrollingElement;
  if (root.scrollWidth > root.clientWidth) {
    const wide = [...document.querySelectorAll("body *")].filter((el) => !el.closest(".scroll") && el.getBoundingClientRect().right > root.clientWidth + 1);
    wrong.push(`the page is ${root.scrollWidth} wide in ${root.clientWidth}: ${wide.slice(0, 3).map(where).join(", ")}`);
  }

  // Structure.
  if (!document.documentElement.lang) wrong.push("no lang");
  if (!document.title.trim()) wrong.push("no title");
  const headings = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")];
  if (headings.filter((h) => h.tagName === "H1").length !== 1) wrong.push("not one h1");
  let level = 0;
  for (const h of headings) {
    const n = Number(h.tagName[1]);
    if (n > level + 1) wrong.push(`h${n} after h${level}: ${where(h)}`);
    if (!h.textContent.trim()) wrong.push(`an empty h${n}`);
    level = n;
  }
  for (const th of document.querySelectorAll("th")) {
    if (!["row", "col"].includes(th.getAttribute("scope"))) wrong.push("no scope: " + where(th));
  }
  for (const table of document.querySelectorAll("table")) {
    const widths = new Set([...table.rows].map((r) => r.cells.length));
    if (widths.size !== 1) wrong.push("rows of different length: " + where(table));
    if (!table.caption) wrong.push("no caption: " + where(table));
  }
  for (const img of document.querySelectorAll("img")) {
    if (!img.hasAttribute("alt")) wrong.push("no alt: " + where(img));
  }
  for (const figure of document.querySelectorAll("figure")) {
    if (!figure.querySelector("figcaption")) wrong.push("no figcaption: " + where(figure));
  }
  const ids = [...document.querySelectorAll("[id]")].map((el) => el.id);
  if (new Set(ids).size !== ids.length) wrong.push("an id twice: " + ids.filter((id, i) => ids.indexOf(id) !== i)[0]);
  for (const el of document.querySelectorAll("[aria-labelledby]")) {
    for (const id of el.getAttribute("aria-labelledby").split(" ")) {
      if (!document.getElementById(id)) wrong.push(`aria-labelledby names no element: ${id}`);
    }
  }
  for (const a of document.querySelectorAll("a[href^='#']")) {
    if (!document.getElementById(decodeURIComponent(a.hash.slice(1)))) wrong.push("a link leads nowhere: " + a.hash);
  }
  for (const el of document.querySelectorAll(".scroll")) {
    if (el.tabIndex !== 0) wrong.push("not to be scrolled with keys: " + where(el));
  }
  for (const el of document.querySelectorAll("script, iframe, object, embed, link, [style], [onload], [onerror], [onclick]")) {
    wrong.push("does not belong here: " + where(el));
  }

  // A piece of text must not leave the drawing or the box that it stands in.
  const inside = (text, box) => text.left >= box.left - 1 && text.right <= box.right + 1 && text.top >= box.top - 1 && text.bottom <= box.bottom + 1;
  for (const text of document.querySelectorAll("svg text")) {
    const t = text.getBoundingClientRect(), svg = text.closest("svg").getBoundingClientRect();
    if (t.width > 0 && !inside(t, svg)) wrong.push("leaves its picture: " + where(text));
    const rect = text.parentElement.querySelector(":scope > rect");
    if (t.width > 0 && rect && !inside(t, rect.getBoundingClientRect())) wrong.push("leaves its box: " + where(text));
  }

  // Contrast of each text with what is behind it: 4.5 (WCAG AA).
  const parse = (css) => {
    const m = css.match(/rgba?\(([^)]+)\)/);
    if (!m) return null;
    const [r, g, b, a = 1] = m[1].split(/[,/ ]+/).filter(Boolean).map(Number);
    return {r, g, b, a};
  };
  const over = (top, below) => ({
    r: top.r * top.a + below.r * (1 - top.a), g: top.g * top.a + below.g * (1 - top.a), b: top.b * top.a + below.b * (1 - top.a), a: 1,
  });
  const canvas = getComputedStyle(document.documentElement).colorScheme.includes("dark") && matchMedia("(prefers-color-scheme: dark)").matches && matchMedia("screen").matches
    ? {r: 18, g: 18, b: 18, a: 1} : {r: 255, g: 255, b: 255, a: 1};
  const behind = (el) => {
    const layers = [];
    for (let e = el; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c && c.a > 0) layers.push(c);
      if (c && c.a === 1) break;
    }
    return layers.reduceRight((below, top) => over(top, below), canvas);
  };
  const behindInPicture = (text) => {
    const svg = text.closest("svg"), t = text.getBoundingClientRect();
    const x = (t.left + t.right) / 2, y = (t.top + t.bottom) / 2;
    let color = behind(svg.parentElement);
    for (const shape of svg.querySelectorAll("rect, circle")) {
      if (text.compareDocumentPosition(shape) & Node.DOCUMENT_POSITION_FOLLOWING) continue;
      const b = shape.getBoundingClientRect(), fill = parse(getComputedStyle(shape).fill);
      if (fill && fill.a > 0 && b.left <= x && x <= b.right && b.top <= y && y <= b.bottom) color = over(fill, color);
    }
    return color;
  };
  const luminance = ({r, g, b}) => {
    const [lr, lg, lb] = [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * lr + 0.7152 * lg + 0.0722 * lb;
  };
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  let texts = 0, lowest = 21;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const el = node.parentElement;
    if (!node.data.trim() || ["TITLE", "DESC", "title", "desc"].includes(el.tagName) || !visible(el)) continue;
    const drawn = el.closest("svg");
    const style = getComputedStyle(el);
    const ink = parse(drawn ? style.fill : style.color);
    const paper = drawn ? behindInPicture(el) : behind(el);
    if (!ink || !paper) {
      wrong.push("no colour of " + where(el));
      continue;
    }
    const ratio = contrast(over(ink, paper), paper);
    texts++;
    lowest = Math.min(lowest, ratio);
    if (ratio < 4.5) wrong.push(`contrast ${ratio.toFixed(2)}: ${where(el)}`);
  }
  // Lines of a picture that say something: 3 (WCAG, non-text contrast).
  for (const line of document.querySelectorAll("svg .sign, svg .line")) {
    const stroke = parse(getComputedStyle(line).stroke), box = line.closest(".box, g")?.querySelector("rect, circle");
    const paper = box && parse(getComputedStyle(box).fill) || behind(line.closest("svg").parentElement);
    if (stroke && contrast(stroke, paper) < 3) wrong.push("a line one hardly sees: " + line.getAttribute("class"));
  }
  const hidden = [...document.querySelectorAll("details > :not(summary)")].filter((el) => !visible(el)).length;
  return {wrong, texts, lowest, hidden, details: document.querySelectorAll("details").length, page: getComputedStyle(document.body).backgroundColor,
    text: document.body.innerText, pictures: document.querySelectorAll("svg").length};
}
