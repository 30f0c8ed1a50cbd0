// What tests look at, found as the page promises it. Put before each script that a test runs in the page.
const root = () => document.querySelector("[data-time][data-playing]");
const time = () => Number(root().dataset.time);
const playing = () => root().dataset.playing === "true";

// A button by its accessible name.
const button = (name) => {
  const nameOf = (button) => button.getAttribute("aria-label") ?? button.textContent.trim();
  const found = [...document.querySelectorAll("button")].find((button) => nameOf(button) === name);
  if (!found) throw new Error(`the page has no button called "${name}"`);
  return found;
};

const nextFrame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
const nextTask = () => new Promise((done) => setTimeout(done));

// Until the document no longer changes in what came of the latest input, which on a busy machine takes several tasks.
// While the clock plays it always changes: then only for some tasks.
const settled = async () => {
  let changes = 0;
  const observer = new MutationObserver(() => changes++);
  observer.observe(document, { attributes: true, characterData: true, childList: true, subtree: true });
  for (let quiet = 0; quiet < 3; ) {
    const before = changes;
    await nextTask();
    quiet = changes === before || playing() ? quiet + 1 : 0;
  }
  observer.disconnect();
};

// Until that is on the screen.
const drawn = async () => {
  await settled();
  await nextFrame();
  await nextFrame();
};

const press = async (name) => {
  button(name).click();
  await settled();
};

const setSpeed = (factor) => {
  const isSpeed = (option) => parseFloat(option.textContent) === factor;
  for (const select of document.querySelectorAll("select")) {
    const option = [...select.options].find(isSpeed);
    if (!option) continue;
    select.value = option.value;
    for (const type of ["input", "change"]) select.dispatchEvent(new Event(type, { bubbles: true }));
    return;
  }
  throw new Error(`the page has no speed of ${factor}`);
};

// The messages of the diagram in the order they were sent.
const messages = () => {
  const drawnMessages = [...root().querySelectorAll("[data-message]")];
  const ids = drawnMessages.map((message) => Number(message.dataset.id));
  if (ids.some(Number.isNaN)) throw new Error("a message's data-id is not a number");
  drawnMessages.sort((a, b) => a.dataset.id - b.dataset.id);
  return drawnMessages.map(({ dataset: { id, message, kind, from, to } }) => ({ id, message, kind, from, to }));
};

// The diagram's markup, with the attributes in alphabetical order: theirs says nothing.
const markup = (node = root()) => {
  if (!(node instanceof Element)) return node.textContent;
  const attributes = [...node.attributes].map(({ name, value }) => `${name}=${JSON.stringify(value)}`).sort();
  return `<${[node.tagName, ...attributes].join(" ")}>${[...node.childNodes].map((child) => markup(child)).join("")}</>`;
};

// Presses a button until nothing changes any more; returns the diagram's markup before the first time and after each.
const pressAsLongAsItMoves = async (name, most) => {
  const seen = [markup()];
  while (seen.length <= most && !button(name).disabled) {
    const before = time();
    await press(name);
    if (time() === before) break;
    seen.push(markup());
  }
  return seen;
};
