/** An object as JSON in chunks: one key per line, and one line per entry of an array, so that two reports can be compared by line. */
export function* renderJson(document: Readonly<Record<string, unknown>>): Generator<string> {
  let opening = '{\n';
  for (const [key, value] of Object.entries(document)) {
    yield `${opening}${JSON.stringify(key)}: `;
    if (Array.isArray(value) && value.length > 0) yield* renderEntries(value);
    else yield JSON.stringify(value);
    opening = ',\n';
  }
  yield opening === '{\n' ? '{}\n' : '\n}\n';
}

function* renderEntries(entries: readonly unknown[]): Generator<string> {
  let opening = '[\n';
  for (const entry of entries) {
    yield `${opening}${JSON.stringify(entry)}`;
    opening = ',\n';
  }
  yield '\n]';
}
