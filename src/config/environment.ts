import { readFileSync } from 'node:fs';
import { ConfigError, type ConfigProblem } from '../errors.js';
import { findOddFile } from '../files.js';
import type { SettingPath } from './source-file.js';
import { variables } from './variables.js';

/** The variables of a process, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Secrets that Nightscreen itself knows by name; each may also be given as `NAME_FILE`. */
export const secretNames: readonly string[] = variables.flatMap(({ name, isSecret }) => (isSecret ? [name] : []));

/** A secret and the variable that gave it. */
export interface Secret {
  name: string;
  value: string;
  /** `NAME` or `NAME_FILE`. */
  from: string;
}

const toProblem = (from: string, message: string): ConfigProblem => ({ where: `env ${from}`, path: '', message });

/** Reads a secret from `NAME` or from the file that `NAME_FILE` names; undefined when neither is set; throws ConfigError. */
export function readSecret(environment: Environment, name: string): Secret | undefined {
  const fileVariable = `${name}_FILE`;
  const value = environment[name]?.trim();
  const file = environment[fileVariable];
  if (value && file) throw new ConfigError([toProblem(fileVariable, `is set together with ${name}; set only one`)]);
  if (value) return { name, value, from: name };
  if (!file) return undefined;
  const odd = findOddFile(file);
  if (odd !== null) throw new ConfigError([toProblem(fileVariable, `names a file that ${odd} (${file})`)]);
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new ConfigError([toProblem(fileVariable, `names a file that cannot be read (${file})`)], { cause: error });
  }
  if (text === '') throw new ConfigError([toProblem(fileVariable, `names an empty file (${file})`)]);
  return { name, value: text, from: fileVariable };
}

/** The settings that the environment overrides; a variable that is set but empty counts as not set. */
export function listOverrides(environment: Environment): { path: SettingPath; value: string; origin: string }[] {
  return variables.flatMap(({ name, overrides }) => {
    // What a file or a command gave often ends with a line break.
    const value = environment[name]?.replace(/[\r\n]+$/, '');
    return overrides && value ? [{ path: overrides, value, origin: `env ${name}` }] : [];
  });
}
