import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { compileCli, runCli } from '../helpers/cli-process.js';
import { listenOnLoopback } from '../helpers/loopback.js';
import { people, watchlist, writeRoster } from '../helpers/small-world.js';

/** Installs what `deploy/opentelemetry` asks for as docs/metrics.md says, and looks at what a collector is sent of a run. */
const folder = await mkdtemp(join(tmpdir(), 'nightscreen-tracing-'));
const cli = await compileCli();
const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
const received: Buffer[] = [];
const collector = createServer((request, response) => {
  void buffer(request).then((body) => {
    received.push(body);
    response.end();
  });
});
try {
  const port = await listenOnLoopback(collector);
  const tracing = join(folder, 'tracing');
  await cp(new URL('../../deploy/opentelemetry', import.meta.url), tracing, { recursive: true });
  execFileSync('npm', ['install', '--engine-strict', '--omit=dev', '--no-audit', '--no-fund'], { cwd: tracing });

  const environment = {
    NIGHTSCREEN_BASE_URL: sandbox.url,
    NIGHTSCREEN_API_KEY: sandbox.privateKey,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    NODE_OPTIONS: `--import=${pathToFileURL(join(tracing, 'preload.mjs')).href}`,
    NIGHTSCREEN_TRACE_ATTEMPTS: 'all',
  };
  const words = ['onboard', '--file', await writeRoster(people), '--json'];
  const { exitCode, stdout, stderr } = await runCli(words, { folder, environment });
  assert.equal(exitCode, 0, stderr);
  const { runId }: { runId: string } = JSON.parse(stdout);

  // Protobuf holds text as it is.
  const sent = Buffer.concat(received).toString('utf8');
  for (const text of ['nightscreen', 'run onboard', 'stage screen', 'aml.search', runId]) {
    assert(sent.includes(text), `no span says ${text}`);
  }
  for (const name of people) assert(!sent.includes(name), 'a span names a customer');
  assert(!sent.includes(sandbox.privateKey), 'a span holds the key');

  // Nobody collects: the run is none the worse.
  const nobody = { ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' };
  const alone = await runCli(words, { folder, environment: nobody });
  assert.equal(alone.exitCode, 0, alone.stderr);
  process.stdout.write(`traces: ${received.length} requests, ${sent.length} bytes for ${people.length} customers\n`);
} finally {
  collector.closeAllConnections();
  collector.close();
  await sandbox.close();
  await cli.remove();
  await rm(folder, { recursive: true, force: true });
}
