import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { formatBlocks, listBlocks, renderCertificate } from '../../../../src/cli/commands/evidence-certificate.js';
import { verifyEvidence } from '../../../../src/evidence/verify.js';
import { toFileRoster } from '../../../../src/roster/settings.js';
import { evidenceSettingsSchema } from '../../../../src/runs/app-context.js';
import { showEvidence, toMoment } from '../../../../src/runs/evidence-show.js';
import { acceptRun } from '../../../../src/runs/screening/accept-run.js';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { openHeldSites } from '../../../helpers/held-world.js';
import { decide, findAlerts, makeAcceptance, openSmallSites } from '../../../helpers/small-site.js';
import { controls, dayMs, fileOf, minuteMs, people, signal, toCsv, writeRoster } from '../../../helpers/small-world.js';

/** What the command prints. */
const print = (evidence: Awaited<ReturnType<typeof showEvidence>>): string => formatBlocks(listBlocks(evidence));

describeOnPostgres('the evidence about a customer', (open, databases) => {
  const openSite = openSmallSites(open);
  const { beginAfterHeld } = openHeldSites(databases);

  it('is the run, the call, the answer and the pack; no results are said plainly', async () => {
    const { work, run } = await openSite();
    const dir = await mkdtemp(join(tmpdir(), 'nightscreen-evidence-'));
    const app = await work({ settings: { controls, evidence: evidenceSettingsSchema.parse({ dir }) } });
    const night = await run(app, { writeReport: true });
    const evidence = await showEvidence(app, { reference: 'C-3' });
    const { head } = await verifyEvidence(dir);
    expect(evidence).toMatchObject({
      verdict: 'screened',
      roster: 'people',
      state: { state: 'clear' },
      record: { version: 1, parties: [{ name: people[2] }] },
      runs: [
        {
          runId: night.runId,
          controls: { passed: 4, failed: 0 },
          hold: null,
          reports: [{ revision: 1 }],
          packs: [{ sequence: 1, manifestSha256: head?.sha256, folder: join(dir, '1', '1') }],
          parties: [
            {
              name: people[2],
              type: 'person',
              reason: 'new',
              outcome: 'screened',
              calls: [{ status: 201, outcome: 'ok', serviceRequestId: expect.any(String) }],
              answer: {
                total: 0,
                truncated: false,
                matches: [],
                pack: 1,
              },
            },
          ],
        },
      ],
      alerts: [],
    });
    expect(print(evidence)).toMatch(/result\s+screened, no results\n/);
    expect(print(evidence)).toContain('does not disclose the versions of its lists');
  });

  it('of a hit has the match, its alert, and only the dispositions made by then, with the facts that were seen', async () => {
    const { database, work, run } = await openSite();
    const app = await work({ offsetMs: -dayMs });
    await run(app);
    await decide(database, await findAlerts(database, 'C-1'));
    const now = await work();
    const evidence = await showEvidence(now, { reference: 'C-1' });
    expect(evidence).toMatchObject({
      verdict: 'screened',
      runs: [
        {
          hasPacks: false,
          parties: [{ answer: { total: 1, hits: 1, matches: [{ rank: 1, id: 'amla_one', isHit: true }] } }],
        },
      ],
      alerts: [
        {
          listed: { id: 'amla_one' },
          events: [{ kind: 'opened' }],
          dispositions: [
            {
              kind: 'decided',
              verdict: 'false_positive',
              reason: 'another birth date',
              seen: { listed: { name: 'wilhelmina achterberg' }, customer: { name: 'wilhelmina achterberg' } },
            },
          ],
        },
      ],
    });
    expect(print(evidence)).toMatch(/result\s+screened, 1 result, 1 hit\n/);
    expect(print(evidence)).toContain('evidence: off');
    const before = await showEvidence(now, { reference: 'C-1', at: new Date(Date.now() - dayMs / 2) });
    expect(before).toMatchObject({ state: { state: 'open_alert' }, alerts: [{ dispositions: [] }] });
  });

  it('of a held night does not count until the night is accepted', async () => {
    const { app, held, work } = await beginAfterHeld();
    const waits = await showEvidence(app, { reference: 'C-30' });
    expect(waits).toMatchObject({
      verdict: 'not_screened',
      because: 'held',
      runs: [{ runId: held.runId, hold: { reasons: expect.arrayContaining([expect.stringContaining('vanished')]) } }],
    });
    expect(waits.runs[0]?.parties).toMatchObject([{ outcome: 'failed', because: 'held', answer: { total: 0 } }]);
    expect(print(waits)).toContain('NOT SCREENED');
    expect(print(waits)).toMatch(/answer\s+does not count: no results/);
    const heldAt = new Date();
    const later = await work({ offsetMs: minuteMs });
    await acceptRun(later, held.runId, await makeAcceptance(later), signal);
    const { by } = await makeAcceptance(later);
    const accepted = await showEvidence(await work({ offsetMs: 2 * minuteMs }), { reference: 'C-30' });
    expect(accepted).toMatchObject({ verdict: 'screened', runs: [{ acceptances: [{ acceptedBy: by.name }] }] });
    const atThatTime = await showEvidence(await work({ offsetMs: 2 * minuteMs }), { reference: 'C-30', at: heldAt });
    expect(atThatTime).toMatchObject({ verdict: 'not_screened', because: 'held' });
  });

  it('of a failed search names the failure, with each call', async () => {
    const { sandbox, work, run } = await openSite();
    sandbox.setFaults([{ name: people[2] ?? '', status: 400 }]);
    const app = await work();
    await run(app);
    const evidence = await showEvidence(app, { reference: 'C-3' });
    expect(evidence).toMatchObject({
      verdict: 'not_screened',
      because: 'http_400',
      state: { state: 'not_screened' },
      runs: [{ parties: [{ outcome: 'failed', answer: null, calls: [{ status: 400, outcome: 'error_status' }] }] }],
    });
    expect(print(evidence)).not.toContain('no results');
  });

  it('is of the last night at or before the moment; before the first one there is none', async () => {
    const { work, run } = await openSite();
    const first = await run(await work({ offsetMs: -2 * dayMs }));
    const second = await run(await work());
    const app = await work({ offsetMs: minuteMs });
    const between = new Date(Date.now() - dayMs);
    expect((await showEvidence(app, { reference: 'C-1' })).runs[0]?.runId).toBe(second.runId);
    expect((await showEvidence(app, { reference: 'C-1', at: between })).runs.map(({ runId }) => runId)).toEqual([
      first.runId,
    ]);
    const before = await showEvidence(app, { reference: 'C-1', at: new Date(Date.now() - 3 * dayMs) });
    expect(before).toMatchObject({ verdict: 'no_run', because: 'not_in_scope', runs: [] });
    expect(print(before)).toContain('no run had this customer in scope by then');
  });

  it('of a customer whom the newest run skipped names the run that searched last', async () => {
    const { work, run } = await openSite();
    const first = await run(await work({ offsetMs: -60 * minuteMs }));
    const app = await work();
    const second = await run(app);
    const evidence = await showEvidence(app, { reference: 'C-3' });
    expect(evidence).toMatchObject({ verdict: 'screened_earlier', because: 'not_due' });
    expect(evidence.runs.map(({ runId }) => runId)).toEqual([second.runId, first.runId]);
    expect(evidence.runs.map(({ parties }) => parties[0]?.outcome)).toEqual(['skipped', 'screened']);
  });

  it('a customer of two rosters needs the name of one, and an unknown one is refused', async () => {
    const { work, run } = await openSite();
    const app = await work();
    await run(app);
    await run(app, { roster: toFileRoster('others', await writeRoster(people.slice(0, 2))) });
    await expect(showEvidence(app, { reference: 'C-1' })).rejects.toThrow(/--roster: several rosters .*others, people/);
    expect(await showEvidence(app, { reference: 'C-1', roster: 'others' })).toMatchObject({ roster: 'others' });
    await expect(showEvidence(app, { reference: 'C-99' })).rejects.toThrow('no roster had a customer C-99');
  });

  it('as a page has no script, and a name of a customer is text', async () => {
    const { roster, work, run } = await openSite();
    const name = '<script>alert(1)</script>';
    await writeFile(fileOf(roster), toCsv([name, 'Tamsin Oyelaran']));
    const app = await work();
    await run(app);
    const evidence = await showEvidence(app, { reference: 'C-1' });
    const chunks: string[] = [];
    for await (const chunk of renderCertificate(evidence, listBlocks(evidence))) chunks.push(chunk);
    const page = chunks.join('');
    expect(page).not.toContain('<script');
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).toContain("default-src 'none'");
    expect(page).toContain('no results');
    expect(page).toContain('does not disclose the versions of its lists');
  });

  it('a day counts to its end in the configured time zone', () => {
    expect(toMoment({ day: '2026-03-28' }, 'UTC').toISOString()).toBe('2026-03-28T23:59:59.999Z');
    expect(toMoment({ day: '2026-03-29' }, 'Europe/Copenhagen').toISOString()).toBe('2026-03-29T21:59:59.999Z');
    const moment = new Date('2026-03-28T02:00:00Z');
    expect(toMoment(moment, 'Europe/Copenhagen')).toBe(moment);
  });
});
