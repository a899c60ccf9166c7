/**
 * An object as JSON in chunks: one key per line, and one line per entry of an array or of a list that comes in batches, so that two
 * reports can be compared by line.
 */
export async function* renderJson(document: Readonly<Record<string, unknown>>): AsyncGenerator<string> {
  let opening = '{\n';
  for (const [key, value] of Object.entries(document)) {
    yield `${opening}${JSON.stringify(key)}: `;
    if (Array.isArray(value)) yield* renderEntries([value]);
    else if (isInBatches(value)) yield* renderEntries(value);
    else yield JSON.stringify(value);
    opening = ',\n';
  }
  yield opening === '{\n' ? '{}\n' : '\n}\n';
}

const isInBatches = (value: unknown): value is AsyncIterable<readonly unknown[]> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

async function* renderEntries(
  batches: Iterable<readonly unknown[]> | AsyncIterable<readonly unknown[]>,
): AsyncGenerator<string> {
  let opening = '[\n';
  for await (const entries of batches) {
    for (const entry of entries) {
      yield `${opening}${JSON.stringify(entry)}`;
      opening = ',\n';
    }
  }
  yield opening === '[\n' ? '[]' : '\n]';
}
