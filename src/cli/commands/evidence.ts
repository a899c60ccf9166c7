import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { flagError } from '../../errors.js';
import type { EvidenceHead, EvidenceProblem, EvidenceVerdict } from '../../evidence/verify.js';
import { writePrivately } from '../../files.js';
import { countNoun, formatCount } from '../../reports/text.js';
import { defineCommand, defineDatabaseCommand, mandatory, parsed, text } from '../command.js';
import { exitCodes } from '../exit-code.js';
import { toOutcome } from '../invocation.js';
import { meanings, parseDay, parseMoment, shared } from '../options.js';
import { affected, population } from './evidence-lists.js';

const verify = defineCommand({
  usage: 'verify [folder]',
  description: 'check packs (./evidence): files, sums, chain, signatures; needs no database, key or configuration',
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
    signed.packs === 0 && 'not signed',
    ...signed.signers.map(({ signer, from, through }) => `packs ${from} to ${through} signed by ${signer}`),
    ...erased.map(({ customer, at, by }) => `customer ${customer} was erased at ${at} by ${by}`),
    problems.length === 0
      ? `whole: nothing from pack ${since} to pack ${head.sequence} is missing or changed`
      : `NOT WHOLE: ${countNoun(problems.length, 'problem')}`,
  ];
  return `${describeProblems(problems)}${lines.filter((line) => line).join('\n')}\n`;
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
  description: 'write packs that wait; and missing ones, byte for byte',
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

const show = defineDatabaseCommand({
  usage: 'show <customer>',
  description: 'what proves the screening of one customer at a moment',
  options: {
    at: parsed('<date>', meanings.at, parseMoment),
    roster: shared.roster,
    html: text('<file>', meanings.html),
  },
  examples: ['evidence show C-1042 --at 2026-03-01', 'evidence show C-1042 --html C-1042.html'],
  run: async (app, { argument: reference, options: { at, roster = null, html }, invocation }) => {
    const { showEvidence, toMoment } = await import('../../runs/evidence-show.js');
    const { formatBlocks, listBlocks, renderCertificate } = await import('./evidence-certificate.js');
    const moment = at === undefined ? null : toMoment(at, app.settings.timezone);
    const evidence = await showEvidence(app, { reference, at: moment, roster });
    const blocks = listBlocks(evidence);
    const file = html === undefined ? null : resolve(invocation.folder, html);
    if (file !== null) await writePrivately(file, renderCertificate(evidence, blocks));
    const written = file === null ? '' : `\npage: ${file}\n`;
    const exitCode = evidence.verdict === 'no_run' ? exitCodes.incomplete : exitCodes.complete;
    return toOutcome('nightscreen/evidence-show/1', evidence, `${formatBlocks(blocks)}${written}`, exitCode);
  },
});

const exportOne = defineDatabaseCommand({
  usage: 'export',
  description: 'copy what belongs to a customer or a run, to hand over',
  options: {
    customer: text('<reference>', meanings.customer),
    at: parsed('<date>', meanings.at, parseMoment),
    roster: shared.roster,
    run: text('<id>', meanings.run),
    out: mandatory(text('<folder>', meanings.out)),
    by: shared.by,
  },
  examples: ['evidence export --customer C-1042 --out C-1042', 'evidence export --run 412 --out run-412'],
  run: async (app, { options: { customer, at, roster = null, run, out, by }, invocation }) => {
    const { exportCustomer, exportRun } = await import('../../runs/evidence-export.js');
    const { showEvidence, toMoment } = await import('../../runs/evidence-show.js');
    const { listBlocks, renderCertificate } = await import('./evidence-certificate.js');
    const { findReviewer } = await import('../../runs/review/people.js');
    const folder = resolve(invocation.folder, out);
    const exportChosen = async () => {
      if (run !== undefined && customer === undefined && at === undefined) return exportRun(app, { run, folder });
      if (customer === undefined || run !== undefined)
        throw flagError('--customer', 'give either it or --run; --at needs it');
      const { name } = await findReviewer(app.database, by);
      const moment = at === undefined ? null : toMoment(at, app.settings.timezone);
      const evidence = await showEvidence(app, { reference: customer, at: moment, roster });
      const page = renderCertificate(evidence, listBlocks(evidence));
      return exportCustomer(app, evidence, { folder, page, by: name });
    };
    const exported = await exportChosen();
    const { packs, chain, missing } = exported;
    const words = [
      `${countNoun(packs, 'pack')}, chain from ${chain.from} to ${chain.to.sequence}: ${folder}`,
      ...missing.map((runId) => `the report of ${runId} is no longer there, and not in the folder`),
    ];
    const exitCode = missing.length === 0 ? exitCodes.complete : exitCodes.incomplete;
    return toOutcome('nightscreen/evidence-export/1', exported, `${words.join('\n')}\n`, exitCode);
  },
});

const figures = defineDatabaseCommand({
  usage: 'figures',
  description: 'CSV of nights: screened, held, controls, alerts, packs',
  options: {
    since: mandatory(parsed('<day>', meanings.since, parseDay)),
    until: mandatory(parsed('<day>', meanings.until, parseDay)),
    roster: shared.roster,
    html: text('<file>', meanings.html),
  },
  examples: [
    'evidence figures --since 2026-01-01 --until 2026-03-31',
    'evidence figures --since 2026-01-01 --until 2026-03-31 --html q1',
  ],
  run: async (app, { options: { since, until, roster = null, html }, invocation }) => {
    const { readFigures } = await import('../../runs/evidence-figures.js');
    const { renderCsv } = await import('../../reports/csv.js');
    const { figuresColumns, renderFiguresPage } = await import('./evidence-figures-page.js');
    const found = await readFigures(app, { since, until, roster });
    if (html !== undefined) await writePrivately(resolve(invocation.folder, html), renderFiguresPage(found));
    const csv = [...renderCsv(figuresColumns, found.lines, found.timezone)].join('');
    return toOutcome('nightscreen/evidence-figures/1', found, csv);
  },
});

const exportOfKeys = defineDatabaseCommand({
  usage: 'export',
  description: 'write the keys of all packs to a file, wrapped with EVIDENCE_KEY, for the loss of the database',
  options: { out: mandatory(text('<file>', meanings.out)), by: shared.by },
  examples: ['evidence keys export --out keys.jsonl --by "A. Meyer"', 'evidence keys export --out keys.jsonl --json'],
  run: async (app, { options: { out, by }, invocation }) => {
    const { exportKeys } = await import('../../runs/evidence-keys.js');
    const { findReviewer } = await import('../../runs/review/people.js');
    const { name } = await findReviewer(app.database, by);
    const { keys, copy } = await exportKeys(app, resolve(invocation.folder, out), name);
    const words = `${countNoun(keys, 'key')} written to ${copy.file}; keep EVIDENCE_KEY elsewhere. Each erasure names this copy, which must then be replaced\n`;
    return toOutcome('nightscreen/evidence-keys/1', { keys, copy }, words);
  },
});

const wrapKeys = defineDatabaseCommand({
  usage: 'wrap',
  description: 'wrap all keys with the first key of EVIDENCE_KEY; former ones follow it, with commas between them',
  examples: ['evidence keys wrap', 'evidence keys wrap --json'],
  run: async (app) => {
    const { wrapAllKeys } = await import('../../runs/evidence-keys.js');
    const keys = await wrapAllKeys(app);
    const words = `${countNoun(keys, 'key')} wrapped; backups of the database from before have them as they were\n`;
    return toOutcome('nightscreen/evidence-keys/1', { keys, copy: null }, words);
  },
});

const keys = defineCommand({
  usage: 'keys',
  description: 'export the keys of packs, or wrap them with EVIDENCE_KEY',
  examples: ['evidence keys export --out keys.jsonl', 'evidence keys wrap'],
  commands: [exportOfKeys, wrapKeys],
});

export const command = defineCommand({
  usage: 'evidence',
  description: 'show what proves the screening of a customer; figures of nights; verify and write packs of evidence',
  examples: ['evidence show C-1042 --at 2026-03-01', 'evidence verify'],
  commands: [show, population, affected, figures, exportOne, verify, write, keys],
});
