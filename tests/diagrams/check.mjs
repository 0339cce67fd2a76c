// Parses every printed diagram with the package that draws it; a broken one is named.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { JSDOM } from "jsdom";

// Mermaid looks for a page when it is imported.
const page = new JSDOM("<!doctype html><body></body>");
globalThis.window = page.window;
globalThis.document = page.window.document;
const { default: mermaid } = await import("mermaid");

const MOST_EDGES = 40;
const folder = process.argv[2];
const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith(".mmd"));
let wrong = 0;
for (const file of files) {
  const text = readFileSync(join(folder, file), "utf8");
  const edges = text.split("\n").filter((line) => /--|-\./.test(line)).length;
  try {
    const { diagramType } = await mermaid.parse(text);
    if (edges > MOST_EDGES) throw new Error(`${edges} edges; at most ${MOST_EDGES} can be read`);
    console.log(`${file}: ${diagramType}, ${edges} edges`);
  } catch (error) {
    wrong += 1;
    console.error(`${file}: ${error.message}`);
  }
}
// A parser that takes anything would let a broken diagram pass.
const refuses = await mermaid.parse("stateDiagram-v2\n  A --> : x }").then(() => false, () => true);
if (!refuses) console.error("the parser takes nonsense");
process.exit(files.length === 0 || wrong > 0 || !refuses ? 1 : 0);
