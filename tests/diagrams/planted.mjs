// Faults that the check must find in every version, since a check that takes anything would find none.
const diagram = (lines, labels) => ({ text: ["stateDiagram-v2", ...lines, ""].join("\n"), labels });

export const PLANTED = [
  {
    name: "a state on a line of its own behind the keyword",
    diagram: diagram(
      ["  state Deleting", "  state Existing {", "    state Ready", "  }", "  Existing --> Deleting: DeletionRequested"],
      ["Deleting", "Existing", "Ready", "DeletionRequested"],
    ),
    fault: /^it is not drawn: /,
  },
  {
    name: "a state without its name",
    diagram: diagram(["  state Pending <<choice>>", "  Pending --> Ready: AllReady"], ["Pending", "Ready", "AllReady"]),
    fault: /^"Pending" is not in the picture$/,
  },
  {
    name: "an arrow without its label",
    diagram: diagram(["  Ready", "  Ready --> Stopped"], ["Ready", "Stopped", "AllStopped"]),
    fault: /^"AllStopped" is not in the picture$/,
  },
  {
    name: "a text that no label explains",
    diagram: diagram(["  Ready", "  Ready --> Stopped: AllStopped"], ["Ready", "Stopped"]),
    fault: /^"AllStopped" is in the picture alone$/,
  },
];
