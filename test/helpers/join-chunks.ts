/** What comes in chunks as one text. */
export async function joinChunks(chunks: Iterable<string> | AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += chunk;
  return text;
}
