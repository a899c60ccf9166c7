// HEALTHCHECK of the image: asks /healthz of the address that the container's command serves (`--metrics`).
// A command that serves nothing (`rescreen`, a scheduler without `--metrics`) is healthy as long as it runs.
import { readFileSync } from 'node:fs';

const [commandLine = '/proc/1/cmdline', timeoutMs = 5_000] = process.argv.slice(2);
const words = readFileSync(commandLine, 'utf8').split('\0');
const address = words.map((word, index) =>
  word === '--metrics' ? words[index + 1] : /^--metrics=(.*)$/.exec(word)?.[1],
);
const [, host = '', port] = /^(.*):(\d+)$/.exec(address.find((each) => each !== undefined) ?? '') ?? [];
if (port !== undefined) {
  const reached = { '': '127.0.0.1', '0.0.0.0': '127.0.0.1', '[::]': '[::1]' }[host] ?? host;
  try {
    const { status } = await fetch(`http://${reached}:${port}/healthz`, {
      signal: AbortSignal.timeout(Number(timeoutMs)),
    });
    if (status !== 200) throw new Error(`status ${status}`);
  } catch (error) {
    process.stderr.write(`/healthz of ${reached}:${port} gives no answer: ${error.message}\n`);
    process.exit(1);
  }
}
