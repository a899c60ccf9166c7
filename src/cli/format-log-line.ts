import { toVisibleText } from '../reports/visible-text.js';

const ownFields: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'msg', 'err']);

const describeValue = (value: unknown): string =>
  typeof value === 'string' ? (/^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(value)) : JSON.stringify(value);

function describeError(error: unknown): string[] {
  if (typeof error !== 'object' || error === null) return [];
  const { code, message, stack, cause } = { code: '', message: '', stack: '', cause: null, ...error };
  const head = `  ${code === '' ? '' : `${code}: `}${message}`;
  return [head, ...(stack === '' ? [] : stack.split('\n').slice(1)), ...describeError(cause)];
}

/** A JSON line of the log as a person reads it: time of day, level, what, and the facts; an error with its causes on lines of its own. */
export function formatLogLine(line: string): string {
  const fields: unknown = JSON.parse(line);
  if (typeof fields !== 'object' || fields === null) return line;
  const { level, time, msg, err } = { level: '', time: '', msg: '', err: undefined, ...fields };
  const facts = Object.entries(fields).flatMap(([name, value]) =>
    ownFields.has(name) ? [] : [`${name}=${describeValue(value)}`],
  );
  const head = [String(time).slice(11, 19), String(level).padEnd(5), String(msg), ...facts].join(' ');
  return [head, ...describeError(err)].map((each) => `${toVisibleText(each)}\n`).join('');
}
