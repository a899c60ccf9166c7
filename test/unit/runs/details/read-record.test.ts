import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isNamedEntity, readRecord, withheldLink } from '../../../../src/runs/screening/details.js';

it('a record without links is kept byte for byte', () => {
  const plain = fc.jsonValue({ maxDepth: 2 }).filter((value) => !/[?]|url/i.test(JSON.stringify(value)));
  fc.assert(
    fc.property(plain, fc.constantFrom(0, 2), (value, indent) => {
      const body = JSON.stringify(value, null, indent);
      expect(readRecord(body, isNamedEntity)).toMatchObject({ body, withheldLinks: 0 });
    }),
    { numRuns: 50 },
  );
});

it('whatever stands under url, and every link with parameters, is withheld, and nothing else', () => {
  const signed = 'https://media.example/a.png?X-Signature=abc&Expires=300';
  const body = `{"id":"amla_1","n":1.10,"media":[{"URL" : "https:\\/\\/media.example\\/b.png","page":1}],
    "note":"see ${signed} (page 2?) or /c.png?sig=1, by = or / ?","source":"https://list.example/party/7","url":null,"big":12345678901234567890}`;
  const { body: kept, withheldLinks } = readRecord(body, isNamedEntity);
  expect(withheldLinks).toBe(2);
  expect(kept).toBe(
    `{"id":"amla_1","n":1.10,"media":[{"URL" : "${withheldLink}","page":1}],
    "note":"see ${withheldLink} (page 2?) or ${withheldLink} by = or / ?","source":"https://list.example/party/7","url":null,"big":12345678901234567890}`,
  );
});

it('no link with parameters survives, wherever it stands and however it is escaped', () => {
  const path = fc.stringMatching(/^[a-zA-Z0-9/._~%-]{0,20}$/);
  const link = path.map((rest) => `https://media.example/${rest}?page=1&signature=secret7of9`);
  const escapeAll = (text: string): string =>
    [...text].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  fc.assert(
    fc.property(link, fc.string(), fc.boolean(), (url, name, isEscaped) => {
      const text = isEscaped ? escapeAll(url) : url;
      const body = `{${JSON.stringify(name)}:["${text}",{"deep":"seen at ${text}"}],"${text}":1}`;
      const { body: kept, withheldLinks } = readRecord(body, isNamedEntity);
      expect(withheldLinks).toBeGreaterThanOrEqual(3);
      expect(JSON.stringify(JSON.parse(kept))).not.toContain('secret7of9');
    }),
  );
});

it('names the AML entities that a record names, each once', () => {
  const body =
    '{"entity":"aml_Bx7fQ2","all":["aml_000001","aml_Bx7fQ2","amla_Cx7fQ2","aml_","an aml_Dx7fQ2"],"aml_Ex7fQ2":1,"type":"aml_entity"}';
  expect(readRecord(body, isNamedEntity).namedIds).toEqual(['aml_Bx7fQ2', 'aml_000001']);
});

it('reads a megabyte of text without a space in a moment', () => {
  const body = JSON.stringify({ image: 'A'.repeat(1_000_000), escaped: '\\"'.repeat(200_000), tail: 'x?y=1' });
  expect(readRecord(body, isNamedEntity)).toMatchObject({ body, withheldLinks: 0 });
}, 1_000);
