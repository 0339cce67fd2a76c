// Reads the labels of a diagram in the form that src/machine/diagram.rs prints.

const NAME = "\\w+";
const END = `(?:${NAME}|\\[\\*\\])`;
/** The lines of each type of diagram; every group is a label, and `edge` marks an arrow. */
const LINES = {
  "stateDiagram-v2": [
    { line: `(${NAME})` },
    { line: `state "([^"]+)" as ${NAME}` },
    { line: `state (${NAME}) \\{` },
    { line: "\\}" },
    { line: `${END} --> ${END}(?:: (.+))?`, edge: true },
  ],
  "flowchart LR": [
    { line: `${NAME}\\(\\[(.+)\\]\\)` },
    { line: `${NAME} -- "([^"]+)" --> ${NAME}`, edge: true },
    { line: `${NAME} -\\. "([^"]+)" \\.-> ${NAME}\\["([^"]+)"\\]`, edge: true },
  ],
};

/** Returns the labels of a diagram and the number of its edges; a line of another form is an error. */
export function read(text) {
  const [type, ...lines] = text.trimEnd().split("\n");
  const labels = [];
  let edges = 0;
  for (const line of lines.map((line) => line.trim())) {
    const forms = (LINES[type] ?? []).map((form) => ({ ...form, match: line.match(new RegExp(`^${form.line}$`)) }));
    const form = forms.find(({ match }) => match);
    if (!form) throw new Error(`this line of a ${type} is not in the form that is printed: ${line}`);
    labels.push(...form.match.slice(1).filter((label) => label !== undefined));
    edges += form.edge ? 1 : 0;
  }
  return { labels, edges };
}
