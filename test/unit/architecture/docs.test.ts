import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** Made from the code by `npm run docs:schemas`, but for what stands between its tables. */
const reference = 'docs/configuration.md';
const mostWordsOfReadme = 900;
const mostWordsOfPages = 26_000;
const mostWordsOfSentence = 25;

const pages = readdirSync('docs')
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);
const read = (file: string): string => readFileSync(file, 'utf8');

/** Of everything, code and tables included; the rules of tables, dashes of lists and the like are no words. */
const countWords = (text: string): number => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/** Paragraphs, items of lists and headings: code is one word, a link its text; blocks of code, tables and addresses are left out. */
const listBlocks = (text: string): readonly string[] =>
  text
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .replaceAll(/^\s*\|.*$/gm, '\n')
    .replaceAll(/`[^`\n]+`/g, 'code')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/https?:\/\/\S+/g, '')
    .replaceAll('**', '')
    .split(/\n\s*\n|\n(?=\s*(?:[-#>]|\d+\.) )/);

/** Sentences end with a full stop, a question mark or an exclamation mark before a space. */
const listSentences = (text: string): readonly string[] =>
  listBlocks(text).flatMap((block) => block.trim().split(/(?<=[.!?][)"]?)\s+/));

it(`README has at most ${mostWordsOfReadme} words, and begins with what the product is and with two commands`, () => {
  const readme = read('README.md');
  expect(countWords(readme)).toBeLessThanOrEqual(mostWordsOfReadme);
  const top = readme.split('\n').slice(0, 10).join('\n');
  for (const part of ['anti-money-laundering (AML)', 'npm ci && npm start', 'npm ci && npm test']) {
    expect(top).toContain(part);
  }
});

it(`all pages but the reference have at most ${mostWordsOfPages} words together`, () => {
  const counted = pages.filter((page) => page !== reference).map((page) => countWords(read(page)));
  expect(counted.length).toBeGreaterThan(20);
  expect(counted.reduce((sum, words) => sum + words, 0)).toBeLessThanOrEqual(mostWordsOfPages);
});

it('each page begins with the question that it answers', () => {
  expect(pages.filter((page) => !/^# .+\n\n[A-Z][^.!?]*\?/.test(read(page)))).toEqual([]);
});

it(`no sentence has more than ${mostWordsOfSentence} words`, () => {
  const long = [...pages, 'README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'].flatMap((file) =>
    listSentences(read(file))
      .filter((sentence) => countWords(sentence) > mostWordsOfSentence)
      .map((sentence) => `${file}: ${countWords(sentence)} words: ${sentence.replaceAll(/\s+/g, ' ')}`),
  );
  expect(long).toEqual([]);
});

it('a sentence that is too long would be found, in a paragraph and in an item of a list', () => {
  const long = Array.from({ length: mostWordsOfSentence + 1 }, (_, index) => `word${index}`).join(' ');
  const longest = (text: string): number => Math.max(...listSentences(text).map(countWords));
  expect(longest(`Short.\n\n${long}, which goes on. Short.`)).toBe(29);
  expect(longest(`- **Bold.** ${long}.\n- Short \`code of several words\`.`)).toBe(26);
  expect(longest(`Not \`counted at all\`:\n\n\`\`\`sh\n${long}\n\`\`\`\n\n| ${long} |\n`)).toBe(2);
});

it('each threat of the page on security names a test, and each actor has one', () => {
  const text = read('docs/security.md');
  const defended = text.slice(text.indexOf('## What is defended'), text.indexOf('## What is not defended'));
  const actors = defended.split(/^### /m).slice(1);
  expect(actors.length).toBeGreaterThanOrEqual(7);
  const threats = actors.map((actor) => actor.match(/^\| (?!threat|-).*$/gm) ?? []);
  expect(threats.filter((rows) => rows.length === 0)).toEqual([]);
  expect(threats.flat().filter((row) => !/`test\/[^`]+\.test\.ts` \|$/.test(row))).toEqual([]);
});
