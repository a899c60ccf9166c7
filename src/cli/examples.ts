/** Examples for the end of a command's help. */
export const examples = (lines: readonly string[]): string =>
  `\nExample${lines.length > 1 ? 's' : ''}:\n${lines.map((line) => `  $ nightscreen ${line}`).join('\n')}\n`;
