import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import type { EvidenceHead, EvidenceProblem, EvidenceVerdict } from '../../evidence/verify.js';
import { countNoun, formatCount } from '../../reports/text.js';
import { defineCommand, defineDatabaseCommand, parsed, text } from '../command.js';
import { exitCodes } from '../exit-code.js';
import { toOutcome } from '../invocation.js';

const verify = defineCommand({
  usage: 'verify [folder]',
  description:
    'check packs of evidence (./evidence): files, digests, lines, sums, chain and signatures; needs no database, no key, no configuration',
  options: {
    head: parsed('<number:sha256>', 'a pack that an old report or mail names; it must be in the chain', parseHead),
    publicKey: text('<file>', 'the Ed25519 public key (PEM) that must have signed the packs'),
  },
  examples: ['evidence verify', 'evidence verify /mnt/copy/evidence --public-key evidence.pub'],
  run: async ({ argument = 'evidence', options: { head, publicKey }, invocation }) => {
    const { verifyEvidence } = await import('../../evidence/verify.js');
    const key = publicKey === undefined ? undefined : await readFile(resolve(invocation.folder, publicKey), 'utf8');
    const verdict = await verifyEvidence(resolve(invocation.folder, argument), { head, publicKey: key });
    const isWhole = verdict.problems.length === 0 && verdict.packs > 0;
    const exitCode = isWhole ? exitCodes.complete : exitCodes.incomplete;
    return toOutcome('nightscreen/evidence-verdict/1', { ...verdict }, describeVerdict(verdict), exitCode);
  },
});

/** A pack as reports name it: its place in the chain and the digest of its manifest. */
function parseHead(given: string): EvidenceHead {
  const [, sequence, sha256] = /^(\d{1,9}):([0-9a-f]{64})$/i.exec(given) ?? [];
  if (sequence === undefined || sha256 === undefined) {
    throw new InvalidArgumentError('It is the number of a pack, a colon, and the SHA-256 of its manifest.');
  }
  return { sequence: Number(sequence), sha256: sha256.toLowerCase() };
}

const mostShown = 20;

function describeVerdict({
  organisation,
  packs,
  records,
  since,
  head,
  erased,
  signed,
  problems,
}: EvidenceVerdict): string {
  if (head === null) return `${describeProblems(problems)}there is no pack of evidence\n`;
  const lines = [
    `evidence of ${organisation}: ${countNoun(packs, 'pack')} with ${countNoun(records, 'record')}`,
    `from pack ${since} to pack ${head.sequence}, whose manifest has the SHA-256 ${head.sha256}`,
    signed.packs === 0
      ? 'not signed'
      : `${signed.packs} of ${countNoun(packs, 'pack')} signed by ${signed.signers.join(', ')}`,
    ...erased.map(({ customer, at, by }) => `customer ${customer} was erased at ${at} by ${by}`),
    problems.length === 0
      ? `whole: nothing from pack ${since} to pack ${head.sequence} is missing or changed`
      : `NOT WHOLE: ${countNoun(problems.length, 'problem')}`,
  ];
  return `${describeProblems(problems)}${lines.join('\n')}\n`;
}

function describeProblems(problems: readonly EvidenceProblem[]): string {
  const shown = problems.slice(0, mostShown).map(({ pack, file, line, what }) => {
    const place = [pack, file].filter((part) => part !== null).join('/');
    return `${place}${line === null ? '' : ` line ${line}`}${place === '' ? '' : ': '}${what}\n`;
  });
  const left = problems.length - shown.length;
  return `${shown.join('')}${left > 0 ? `and ${formatCount(left)} more; --json lists all\n` : ''}`;
}

const write = defineDatabaseCommand({
  usage: 'write',
  isForEach: true,
  description: 'write the packs that wait, and those that are missing from the folder again, byte for byte',
  examples: ['evidence write', 'evidence write --json'],
  run: async (app) => {
    const { writeMissingPacks, writePacks } = await import('../../runs/packs.js');
    // Those that wait follow what is missing.
    const { made, lost } = await writeMissingPacks(app);
    const isAll = await writePacks(app);
    const words = [
      ...lost,
      made.length + lost.length === 0 ? 'no pack was missing' : `made again: ${made.join(', ') || 'none'}`,
      isAll ? 'none waits' : 'not all that wait could be written',
    ];
    const exitCode = isAll && lost.length === 0 ? exitCodes.complete : exitCodes.incomplete;
    return toOutcome('nightscreen/evidence-written/1', { made, lost, isAll }, `${words.join('\n')}\n`, exitCode);
  },
});

export const command = defineCommand({
  usage: 'evidence',
  description: 'verify the packs of evidence that runs write, and write missing ones',
  examples: ['evidence verify', 'evidence write'],
  commands: [verify, write],
});
