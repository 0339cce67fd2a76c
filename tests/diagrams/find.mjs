// Finds the diagrams of the repository.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const BLOCK = /^ *``` *mermaid *\n(.*?)^ *``` *$/gms;

/** Returns each different diagram once, under the first name by which it is found. */
export function find(repository) {
  const names = (folder, ending) =>
    readdirSync(join(repository, folder), { recursive: true })
      .filter((name) => name.endsWith(ending))
      .sort()
      .map((name) => `${folder}/${name}`);
  const content = (name) => readFileSync(join(repository, name), "utf8");
  const files = names("diagrams", ".mmd").map((name) => ({ name, text: content(name) }));
  const blocks = ["README.md", ...names("docs", ".md")].flatMap((name) =>
    [...content(name).matchAll(BLOCK)].map((match, index) => ({ name: `${name}, block ${index + 1}`, text: match[1] })),
  );
  const first = new Map();
  for (const diagram of [...files, ...blocks]) {
    if (!first.has(diagram.text)) first.set(diagram.text, diagram);
  }
  return [...first.values()];
}
