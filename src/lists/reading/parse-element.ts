import { XMLParser, XMLValidator } from 'fast-xml-parser';
import type { z } from 'zod';
import { toListError } from './list-error.js';
import type { XmlElement } from './split-elements.js';

/** Makes a reader of elements whose shape is `schema`; elements named in `repeated` are lists. Its errors are ConfigErrors with the line. */
export function createElementParser<T>(
  path: string,
  schema: z.ZodType<T>,
  repeated: readonly string[],
): (element: XmlElement) => T {
  const parser = new XMLParser({
    parseTagValue: false,
    removeNSPrefix: true,
    htmlEntities: true,
    isArray: (name) => repeated.includes(name),
  });
  return ({ name, line, text }) => {
    const validity = XMLValidator.validate(text);
    if (validity !== true) {
      throw toListError(
        path,
        line + validity.err.line - 1,
        `is not well-formed: ${validity.err.msg} Take the list from its publisher again`,
      );
    }
    const parsed: unknown = parser.parse(text);
    const value: unknown = typeof parsed === 'object' && parsed !== null ? Reflect.get(parsed, name) : undefined;
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    const missing = result.error.issues.map((issue) => issue.path.join('.')).join(', ');
    throw toListError(path, line, `<${name}> is not as the publisher writes it (${missing}): take the list again`);
  };
}
