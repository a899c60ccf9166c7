/** Prints a figure that a promise asks for, so that it stands in the run's output. */
export function printFigure(text: string): void {
  process.stdout.write(`figure: ${text}\n`);
}
