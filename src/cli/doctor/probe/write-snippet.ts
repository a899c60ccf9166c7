import { stringify } from 'yaml';
import type { ProbeFacts } from './probe.js';

/** What was found as configuration to paste; valid as it is, and what is only taken for granted is marked. */
export function writeSnippet({ mode, nameField }: ProbeFacts): string {
  const service = { ...(mode === null ? {} : { mode }), aml: { nameField: nameField.name } };
  const text = stringify({ service });
  const line = `nameField: ${nameField.name}`;
  return nameField.isProven ? text : text.replace(line, `${line} # not proven: --spend 2 tries it`);
}
