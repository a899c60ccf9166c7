import { StoreError } from '../errors.js';
import { toArrayLiteral } from './array-literal.js';

/** The text forms of the parameters, the same for both drivers; throws StoreError for a value that has no SQL counterpart here. */
export function toParameters(parameters: readonly unknown[]): (string | null)[] {
  return parameters.map((parameter, index) => toParameter(parameter, index + 1));
}

function toParameter(parameter: unknown, position: number): string | null {
  if (parameter === null) return null;
  if (Array.isArray(parameter)) {
    return toArrayLiteral(parameter.map((element: unknown) => (element === null ? null : toText(element, position))));
  }
  return toText(parameter, position);
}

function toText(value: unknown, position: number): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  if (value instanceof Uint8Array) {
    return `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`;
  }
  throw new StoreError('database_parameter', `parameter $${position} is ${describeType(value)}, which cannot be sent`);
}

function describeType(value: unknown): string {
  if (value instanceof Date) return 'an invalid date';
  return value === undefined ? 'undefined' : `a value of type ${typeof value}`;
}
