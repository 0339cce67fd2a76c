// Draws every diagram with every version of Mermaid, and compares each picture with the diagram's text.
//
// node check.mjs REPOSITORY CHROMIUM PROFILE, where PROFILE is an empty folder for the browser's files.
import { readFileSync } from "node:fs";
import { Browser } from "./browser.mjs";
import { find } from "./find.mjs";
import { PLANTED } from "./planted.mjs";
import { read } from "./read.mjs";

/** A picture of more edges cannot be read. */
const MOST_EDGES = 40;

const [repository, chromium, profile] = process.argv.slice(2);
const diagrams = [];
const faults = [];
for (const { name, text } of find(repository)) {
  try {
    const { labels, edges } = read(text);
    if (edges > MOST_EDGES) throw new Error(`${edges} edges; at most ${MOST_EDGES} can be read`);
    diagrams.push({ name, text, labels });
  } catch (error) {
    faults.push(`${name}: ${error.message}`);
  }
}
if (diagrams.length === 0) faults.push("no diagram can be drawn");
const browser = await Browser.launch(chromium, profile);
try {
  for (const { alias, version } of versions()) {
    const started = Date.now();
    const page = await browser.open(alias);
    for (const diagram of diagrams) {
      const found = await differences(page, diagram);
      faults.push(...found.map((fault) => `${diagram.name}, Mermaid ${version}: ${fault}`));
    }
    for (const { name, diagram, fault } of PLANTED) {
      const found = await differences(page, diagram);
      if (!found.some((each) => fault.test(each))) faults.push(`Mermaid ${version}: ${name} is not found`);
    }
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    console.log(`Mermaid ${version}: ${diagrams.length} diagrams drawn, ${PLANTED.length} planted faults tried, ${seconds} s`);
    await page.close();
  }
} finally {
  await browser.close();
}
faults.forEach((fault) => console.error(fault));
process.exitCode = faults.length > 0 ? 1 : 0;

/** The versions of Mermaid that package.json pins, each under its own alias. */
function versions() {
  const json = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
  const aliases = Object.keys(json("package.json").dependencies).filter((name) => name.startsWith("mermaid"));
  const versions = aliases.map((alias) => ({ alias, version: json(`node_modules/${alias}/package.json`).version }));
  const majors = versions.map(({ version }) => version.split(".")[0]);
  if (versions[0].version !== "11.12.1" || majors.join() !== "11,11,12") {
    throw new Error("Mermaid 11.12.1, another 11 and a 12 are to draw");
  }
  return versions;
}

/** Returns a sentence for each difference between a diagram's labels and its picture. */
async function differences(page, { text, labels }) {
  let picture;
  try {
    picture = await page.draw(text);
  } catch (error) {
    return [`it is not drawn: ${error.message.replace(/\s+/g, " ")}`];
  }
  const missing = without(labels, picture.texts).map((label) => `"${label}" is not in the picture`);
  const surplus = without(picture.texts, labels).map((label) => `"${label}" is in the picture alone`);
  const empty = picture.width > 0 && picture.height > 0 ? [] : [`the picture is ${picture.width} by ${picture.height}`];
  return [...missing, ...surplus, ...empty];
}

/** Returns the texts that are left after each of the others took one away. */
function without(texts, others) {
  const left = [...texts];
  for (const other of others) {
    const index = left.indexOf(other);
    if (index >= 0) left.splice(index, 1);
  }
  return left;
}
