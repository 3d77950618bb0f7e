"use strict";
// Tooltips: the <title> of a mark, at once and where the pointer is.
const tip = document.getElementById("tip");
for (const title of document.querySelectorAll("svg.picture title")) {
  const mark = title.parentNode;
  if (mark.tagName === "svg") continue;
  mark.dataset.tip = title.textContent;
  mark.setAttribute("aria-label", title.textContent);
  title.remove();
}
for (const svg of document.querySelectorAll("svg.picture")) {  // else the browser's own tooltip would show it everywhere
  const title = svg.querySelector("title");
  svg.removeAttribute("aria-labelledby");
  svg.setAttribute("aria-label", title.textContent + ". " + svg.querySelector("desc").textContent);
  title.remove();
}
function tell(mark, x, y) {
  document.querySelector("[data-told]")?.removeAttribute("data-told");
  tip.hidden = !mark;
  if (!mark) return;
  if (tip.textContent !== mark.dataset.tip) tip.textContent = mark.dataset.tip;
  const box = tip.getBoundingClientRect(), gap = 14;
  const left = x + gap + box.width > innerWidth ? x - gap - box.width : x + gap;
  const top = y + gap + box.height > innerHeight ? y - gap - box.height : y + gap;
  tip.style.left = Math.max(4, left) + "px";
  tip.style.top = Math.max(4, top) + "px";
}
for (const kind of ["pointermove", "pointerdown"])  // a finger does not move
  document.addEventListener(kind, event => tell(event.target.closest?.("[data-tip]"), event.clientX, event.clientY));

// By keys: arrows go from mark to mark of a picture that has the focus, Escape ends it.
for (const figure of document.querySelectorAll("figure .box")) {
  const marks = [...figure.querySelectorAll("[data-tip]")];
  let at = -1;
  figure.addEventListener("keydown", event => {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (event.key === "Escape") return tell(null);
    if (!step || !marks.length) return;
    event.preventDefault();
    at = at < 0 ? (step > 0 ? 0 : marks.length - 1) : (at + step + marks.length) % marks.length;
    marks[at].scrollIntoView({block: "nearest", inline: "nearest"});
    const box = marks[at].getBoundingClientRect();
    tell(marks[at], box.left + box.width / 2, box.top + box.height / 2);
    marks[at].dataset.told = "";
  });
  figure.addEventListener("blur", () => tell(null));
}

// Tables: a click on a column's name sorts by it, the next one the other way round.
for (const button of document.querySelectorAll("thead button"))
  button.addEventListener("click", () => {
    const head = button.parentNode, row = head.parentNode, body = row.parentNode.parentNode.tBodies[0];
    const column = [...row.children].indexOf(head), up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of row.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = line => {
      const cell = line.children[column];
      return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
    };
    const lines = [...body.rows].sort((a, b) => {
      const x = key(a), y = key(b);
      const numbers = (typeof y === "number") - (typeof x === "number");  // rows without a number come last
      return numbers || (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1);
    });
    body.append(...lines);
  });

// Zoom: buttons, or the wheel with Ctrl; then the picture can be dragged.
function zoom(svg, factor, fx = .5, fy = .5) {
  svg.dataset.whole ??= svg.getAttribute("viewBox");
  const whole = svg.dataset.whole.split(" ").map(Number), [x, y, w, h] = svg.getAttribute("viewBox").split(" ").map(Number);
  if (factor === 0) return svg.setAttribute("viewBox", svg.dataset.whole);
  const scale = Math.min(1, Math.max(1 / 40, w / factor / whole[2]));
  const width = whole[2] * scale, height = whole[3] * scale;
  const left = Math.min(Math.max(x + (w - width) * fx, 0), whole[2] - width);
  const top = Math.min(Math.max(y + (h - height) * fy, 0), whole[3] - height);
  svg.setAttribute("viewBox", [left, top, width, height].join(" "));
  svg.style.cursor = scale < 1 ? "grab" : "";
}
for (const svg of document.querySelectorAll("svg.picture")) {
  svg.addEventListener("wheel", event => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const box = svg.getBoundingClientRect();
    zoom(svg, event.deltaY < 0 ? 1.25 : .8, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
  }, {passive: false});
  svg.addEventListener("pointermove", event => {
    if (event.buttons !== 1 || !svg.dataset.whole) return;
    const [x, y, w, h] = svg.getAttribute("viewBox").split(" ").map(Number), whole = svg.dataset.whole.split(" ").map(Number);
    const scale = w / svg.getBoundingClientRect().width;
    const left = Math.min(Math.max(x - event.movementX * scale, 0), whole[2] - w);
    const top = Math.min(Math.max(y - event.movementY * scale, 0), whole[3] - h);
    svg.setAttribute("viewBox", [left, top, w, h].join(" "));
  });
}
for (const button of document.querySelectorAll("[data-zoom]"))
  button.addEventListener("click", () => zoom(button.closest("figure").querySelector("svg"), Number(button.dataset.zoom)));

// Numbers of a picture, as a file. CSV was escaped as text of XML.
for (const button of document.querySelectorAll("[data-save]"))
  button.addEventListener("click", () => {
    const {save, as} = button.dataset;
    let text = document.getElementById(save + "-" + as).textContent;
    if (as === "csv") for (const [from, to] of [["&lt;", "<"], ["&gt;", ">"], ["&quot;", "\""], ["&amp;", "&"]]) text = text.replaceAll(from, to);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], {type: as === "csv" ? "text/csv" : "application/json"}));
    link.download = save + "." + as;
    link.click();
    URL.revokeObjectURL(link.href);
  });

// For tests (#check): the faults of this page at this width, as an attribute of the root element.
if (location.hash === "#check") addEventListener("load", () => {
  const wrong = [];
  if (document.documentElement.scrollWidth > innerWidth) wrong.push("the page is wider than the window");
  for (const svg of document.querySelectorAll("svg.picture")) {
    const all = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll("text")].map(t => [t.textContent, t.getBoundingClientRect()]);
    for (const [text, box] of texts)
      if (box.left < all.left - 1 || box.right > all.right + 1 || box.top < all.top - 1 || box.bottom > all.bottom + 1) wrong.push(svg.ariaLabel + ": cut: " + text);
    const slack = all.width / svg.viewBox.baseVal.width;  // a pixel of the picture, for letters that do not fill their boxes
    for (let i = 0; i < texts.length; ++i)
      for (let j = 0; j < i; ++j) {
        const [a, b] = [texts[i][1], texts[j][1]];
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > slack && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5 * slack) wrong.push("overlap: " + texts[i][0] + " / " + texts[j][0]);
      }
  }
  const mark = document.querySelector("[data-tip]");
  if (mark) {
    const box = mark.getBoundingClientRect();
    mark.dispatchEvent(new PointerEvent("pointermove", {bubbles: true, clientX: box.left, clientY: box.top}));
    if (tip.hidden || tip.textContent !== mark.dataset.tip) wrong.push("the tooltip does not show");
    tip.hidden = true;
    const figure = mark.closest(".box");
    figure.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", cancelable: true}));
    if (tip.hidden || tip.textContent !== mark.dataset.tip) wrong.push("no key tells what a mark is");
    figure.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));
    if (!tip.hidden) wrong.push("Escape leaves the tooltip");
  }
  for (const line of document.querySelectorAll(".lines p"))
    if (line.scrollWidth > line.clientWidth) wrong.push("a line is cut: " + line.textContent);
  let sorted = 0;
  for (const head of document.querySelectorAll("thead th")) {
    const column = [...head.parentNode.children].indexOf(head), body = head.closest("table").tBodies[0];
    head.firstChild.click();
    const cells = [...body.rows].map(row => row.children[column]).filter(cell => cell.dataset.value !== undefined).map(cell => Number(cell.dataset.value));
    if (cells.some((value, i) => i > 0 && value < cells[i - 1])) wrong.push("not sorted by " + head.textContent);
    sorted += cells.length > 1;
  }
  document.documentElement.dataset.check = JSON.stringify({wrong, sorted, pictures: document.querySelectorAll("svg.picture").length, requests: performance.getEntriesByType("resource").filter(entry => !entry.name.startsWith("data:")).length});
});
